//! Runs one case by one program and collects everything that is to be seen of it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::case::{Case, expand};
use crate::mask;
use crate::server::Server;

/// Longer than any case takes on a loaded machine by far; a hang is a failure.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs `program` under the name `pgbench` and describes what came of it.
pub(crate) fn observe(server: &Server, case: &Case, program: &Path) -> String {
    server.prepare(case);
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in &case.files {
        std::fs::write(folder.path().join(name), expand(text)).expect("a file");
    }
    let output = execute(server, case, program, folder.path());
    let mut seen = String::new();
    let status = output.status.code().map_or("a signal".to_owned(), |code| code.to_string());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let _ = writeln!(seen, "--- exit code {status}");
    let _ = writeln!(seen, "--- stdout\n{}", mask::output(&text(&output.stdout), case, false));
    let _ = writeln!(seen, "--- stderr\n{}", mask::output(&text(&output.stderr), case, true));
    if case.logs {
        describe_logs(&mut seen, case, folder.path());
    }
    for query in &case.after {
        for query in written_out(query) {
            let rows = server.sql(case.db.name(), &query);
            let mut rows: Vec<&str> = rows.lines().collect();
            rows.sort_unstable();
            let _ = writeln!(seen, "--- {query}\n{}", rows.join("\n"));
        }
    }
    seen
}

fn execute(server: &Server, case: &Case, program: &Path, folder: &Path) -> Output {
    let mut command = if case.terminal {
        terminal_command(case, program)
    } else {
        let mut command = Command::new(program);
        command.arg0("pgbench").args(case.words());
        command
    };
    let mut child = command
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").as_deref().unwrap_or(OsStr::new("/usr/bin:/bin")))
        .env("LC_ALL", "C")
        // For `script`, whose shell must be able to set argv[0].
        .env("SHELL", "/bin/bash")
        .env("HOME", folder)
        .env("PGDATABASE", case.db.name())
        .envs(server.env().iter().map(|(name, value)| (name, value)))
        .envs(&case.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    let (done, finished) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        let started = Instant::now();
        if finished.recv_timeout(PATIENCE).is_err() && started.elapsed() >= PATIENCE {
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
    });
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut shown = Vec::new();
    if case.terminal && !case.stdin.is_empty() {
        let stdout = child.stdout.as_mut().expect("a pipe");
        read_to_prompt(stdout, &mut shown);
    }
    // A program that does not read its input may be gone already.
    let _ = stdin.write_all(server.fill_in(&case.stdin).as_bytes());
    drop(stdin);
    let mut output = child.wait_with_output().expect("the program ends");
    drop(done);
    guard.join().expect("the guard ends");
    output.stdout.splice(0..0, shown);
    output
}

/// Reads until a password is asked for, or the end. A program throws away what
/// was typed on its terminal before it asked: on a busy machine the password
/// was gone, and echoed. Once it has asked it must take what is typed, which
/// pgdyno did not always, for it asked first.
fn read_to_prompt(stdout: &mut impl Read, shown: &mut Vec<u8>) {
    const PROMPT: &[u8] = b"Password: ";
    let mut byte = [0];
    while !shown.ends_with(PROMPT) && matches!(stdout.read(&mut byte), Ok(1)) {
        shown.push(byte[0]);
    }
}

/// `script` gives a terminal; it wants one line for a shell.
fn terminal_command(case: &Case, program: &Path) -> Command {
    let mut line = format!("exec -a pgbench '{}'", program.display());
    for word in case.words() {
        let _ = write!(line, " '{word}'");
    }
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]);
    command
}

fn describe_logs(seen: &mut String, case: &Case, folder: &Path) {
    let mut logs: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path))
        .filter(|(name, _)| !case.files.contains_key(name))
        .map(|(name, path)| mask::log(&name, &std::fs::read_to_string(path).expect("a log"), case))
        .collect();
    logs.sort();
    for (name, text) in logs {
        let _ = writeln!(seen, "--- log {name}\n{text}");
    }
}

/// The catalog's view of pgbench's tables: columns, storage, keys, partitions.
const CATALOG: [&str; 4] = [
    "select c.relname, c.relkind, c.relpersistence, c.reloptions, c.relispartition, \
     pg_get_expr(c.relpartbound, c.oid), pg_get_partkeydef(c.oid) \
     from pg_class c where relnamespace = 'public'::regnamespace",
    "select attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull \
     from pg_attribute a join pg_class c on c.oid = attrelid \
     where c.relnamespace = 'public'::regnamespace and attnum > 0",
    "select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint \
     where connamespace = 'public'::regnamespace",
    "select indrelid::regclass, pg_get_indexdef(indexrelid) from pg_index i \
     join pg_class c on c.oid = indrelid where c.relnamespace = 'public'::regnamespace",
];

/// The sizes of all tables as VACUUM saw them.
const PAGES: &str = "select relname, reltuples, relpages from pg_class \
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')";

/// The rows of pgbench's tables, as counts and checksums.
const TABLES: [&str; 4] =
    ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"];

fn written_out(query: &str) -> Vec<String> {
    let catalog = CATALOG.iter().map(|query| (*query).to_owned());
    match query {
        "@catalog" => catalog.collect(),
        "@tables" => catalog
            .chain([PAGES.to_owned()])
            .chain(TABLES.map(|table| {
                format!("select count(*), sum(hashtext(t::text)::bigint) from {table} t")
            }))
            .collect(),
        other => vec![other.to_owned()],
    }
}
