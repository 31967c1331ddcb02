//! Asks a person for a password, without showing it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;

use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use pgdyno_wire::secret::Secret;

/// Longer than any password a server takes.
const LENGTH_MAX: u64 = 4096;

/// Asks on the terminal, or without one on stderr and stdin, as PostgreSQL's
/// programs do.
///
/// # Errors
/// Nothing can be asked, or the input ended.
pub(super) fn password() -> std::io::Result<Secret> {
    let terminal = File::options().read(true).write(true).open("/dev/tty").ok();
    match &terminal {
        Some(terminal) => ask(terminal, terminal),
        None => ask(std::io::stdin(), std::io::stderr()),
    }
}

fn ask(input: impl AsFd, mut output: impl Write) -> std::io::Result<Secret> {
    let before = tcgetattr(&input).ok();
    // What was typed until now is thrown away, so this comes before the prompt:
    // whoever sees that may type.
    if let Some(before) = &before {
        let mut silent = before.clone();
        silent.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(&input, SetArg::TCSAFLUSH, &silent)?;
    }
    let line = prompt(&input, &mut output);
    if let Some(before) = &before {
        tcsetattr(&input, SetArg::TCSAFLUSH, before)?;
    }
    output.write_all(b"\n")?;
    Ok(Secret::new(line?.trim_end_matches(['\r', '\n'])))
}

fn prompt(input: &impl AsFd, output: &mut impl Write) -> std::io::Result<String> {
    output.write_all(b"Password: ")?;
    output.flush()?;
    let mut line = String::new();
    // Read through a limit: the input need not be a person.
    let fd = input.as_fd().try_clone_to_owned()?;
    BufReader::new(File::from(fd).take(LENGTH_MAX)).read_line(&mut line)?;
    Ok(line)
}
