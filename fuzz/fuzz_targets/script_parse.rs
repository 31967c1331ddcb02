//! Any bytes as a script: compiling them must not panic, and what comes out
//! must be sound: spans in order, jumps within the script, pieces that make up the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pgdyno_script::{CommandKind, Names, Piece, Script, ScriptError, Vars};

fuzz_target!(|source: &[u8]| {
    let mut names = Names::new();
    let script = match Script::parse("fuzz", source, &mut names) {
        Ok(script) => script,
        Err(ScriptError::Parse(error)) => {
            assert!(!error.to_string().is_empty());
            return;
        }
        Err(_) => return,
    };
    let vars = Vars::new(&names);
    let (count, mut end) = (script.commands.len(), 0);
    assert!(count > 0);
    for (at, command) in script.commands.iter().enumerate() {
        assert!(command.span.start >= end && command.span.end <= script.source.len());
        end = command.span.end;
        match &command.kind {
            CommandKind::Sql(sql) => {
                let mut sent = Vec::new();
                sql.write_simple(&vars, &mut sent);
                assert_eq!(&*sent, &*sql.text, "no variable is defined");
                let mut covered = 0;
                for piece in &sql.pieces {
                    let (Piece::Literal(range) | Piece::Var { original: range, .. }) = piece;
                    assert_eq!(range.start, covered);
                    covered = range.end;
                }
                assert_eq!(covered, sql.text.len());
                assert!(!sql.kinds.is_empty());
            }
            CommandKind::If { otherwise, .. } => assert!((at + 1..count).contains(otherwise)),
            CommandKind::Elif { otherwise, end, .. } => {
                assert!((at + 1..count).contains(otherwise) && end >= otherwise);
            }
            CommandKind::Else { end } => assert!((at + 1..count).contains(end)),
            CommandKind::Sleep(sleep) => drop(sleep.duration_us(&vars)),
            CommandKind::Shell(shell) => drop(shell.line(&vars)),
            _ => {}
        }
    }
});
