//! The nesting of `\if`, `\elif`, `\else`, `\endif`: checked once, then jumps.

use crate::error::ScriptError;
use crate::script::{Command, CommandKind};

/// An `\if` that is still open.
struct Open {
    /// The If, its Elifs and its Else so far.
    branches: Vec<usize>,
    else_seen: bool,
}

/// Checks that conditionals nest, and fills in where they jump.
pub(crate) fn link_conditionals(script: &str, commands: &mut [Command]) -> Result<(), ScriptError> {
    let mut open: Vec<Open> = Vec::new();
    for at in 0..commands.len() {
        let refuse =
            |what| Err(ScriptError::Condition { script: script.to_owned(), command: at + 1, what });
        match &commands[at].kind {
            CommandKind::If { .. } => open.push(Open { branches: vec![at], else_seen: false }),
            CommandKind::Elif { .. } => match open.last_mut() {
                None => return refuse("\\elif without matching \\if"),
                Some(last) if last.else_seen => return refuse("\\elif after \\else"),
                Some(last) => last.branches.push(at),
            },
            CommandKind::Else { .. } => match open.last_mut() {
                None => return refuse("\\else without matching \\if"),
                Some(last) if last.else_seen => return refuse("\\else after \\else"),
                Some(last) => {
                    last.else_seen = true;
                    last.branches.push(at);
                }
            },
            CommandKind::Endif => match open.pop() {
                None => return refuse("\\endif without matching \\if"),
                Some(last) => link(commands, &last.branches, at),
            },
            _ => {}
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let (script, command) = (script.to_owned(), commands.len() + 1);
    Err(ScriptError::Condition { script, command, what: "\\if without matching \\endif" })
}

fn link(commands: &mut [Command], branches: &[usize], endif: usize) {
    for (index, &branch) in branches.iter().enumerate() {
        let next = branches.get(index + 1).copied().unwrap_or(endif);
        match &mut commands[branch].kind {
            CommandKind::If { otherwise, .. } => *otherwise = next,
            CommandKind::Elif { otherwise, end, .. } => (*otherwise, *end) = (next, endif),
            CommandKind::Else { end } => *end = endif,
            _ => {}
        }
    }
}
