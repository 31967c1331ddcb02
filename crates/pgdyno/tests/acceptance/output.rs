//! What is printed where, and that what was measured is never lost.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use nix::pty::{Winsize, openpty};
use nix::sys::signal::Signal;

use crate::support::record::{count, ended, parse};
use crate::support::{Database, Room, Server};

/// `pgdyno run` on a database, as a command that is yet to be started.
fn command(database: &Database<'_>, room: &Room, args: &[&str]) -> std::process::Command {
    let target = database.uri_plain();
    let all: Vec<&str> = ["run", &target].into_iter().chain(args.iter().copied()).collect();
    let mut command = room.command(&all);
    command.env("PGPASSWORD", database.server.password());
    command
}

/// With --json - standard output is the record and nothing else; with
/// --json FILE the file is, and the summary is printed; the record that every
/// run leaves is the same text.
#[test]
fn json_is_the_record_and_nothing_else() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    let outcome = database.run(&room, &["-c", "2", "-t", "20", "--json", "-"]).exits(0);
    assert!(outcome.out.starts_with('{') && outcome.out.ends_with("}\n"));
    assert_eq!(parse(&outcome.out), room.record());

    let room = database.server.room();
    let outcome = database.run(&room, &["-c", "2", "-t", "20", "--json", "a.json"]).exits(0);
    let text = std::fs::read_to_string(room.path().join("a.json")).unwrap();
    assert_eq!(parse(&text), room.record());
    outcome.shows(&["transactions/s", "40 committed", "3 of 3 passed"]);

    // The folder for records is the caller's choice; --quiet leaves the result.
    let room = database.server.room();
    let args = ["--quiet", "-c", "1", "-t", "2", "--records", "pgdyno-runs/deep/er"];
    let outcome = database.run(&room, &args).exits(0);
    assert_eq!(count(&room.record(), "committed"), 2);
    assert_eq!(outcome.err, "");
    outcome.shows(&["2 committed"]);
}

/// A record that cannot be written where it was wished for does not cost the
/// summary.
#[test]
fn a_record_without_a_place_is_told() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    room.write("file", "not a folder");
    let outcome = database.run(&room, &["-c", "1", "-t", "2", "--records", "file/x"]);
    outcome.says(&["the record could not be kept", "file/x"]).shows(&["2 committed"]);
}

/// The first Ctrl-C ends the run in order: summary, record, audits, exit
/// code 2; so does SIGTERM.
#[test]
fn an_interrupted_run_is_summed_up() {
    let database = Server::shared().loaded();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let room = database.server.room();
        let mut run = room.start(command(&database, &room, &["-c", "4", "-T", "100"]));
        run.wait_for(" tps", 1);
        run.signal(signal);
        let outcome = run.finish().exits(2);
        let record = room.record();
        assert_eq!(ended(&record), "interrupted");
        assert!(count(&record, "committed") > 0);
        assert!(record["totals"]["seconds"].as_f64().unwrap() < 60.0);
        outcome.shows(&["transactions/s", "interrupted", "3 of 3 passed"]);
    }
}

/// An interrupt before anything was measured says so.
#[test]
fn an_interrupt_in_the_warm_up_is_told() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    let args = ["-c", "2", "-T", "100", "--warmup", "100"];
    let mut run = room.start(command(&database, &room, &args));
    run.wait_for("Running", 1);
    std::thread::sleep(Duration::from_millis(300));
    run.signal(Signal::SIGINT);
    run.finish().exits(2);
    let record = room.record();
    assert_eq!(ended(&record), "interrupted");
    assert_eq!(count(&record, "committed"), 0);
}

/// A second Ctrl-C does not wait for a transaction that hangs.
#[test]
fn a_second_interrupt_ends_at_once() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    room.write("sleep.sql", "select pg_sleep(100);\n");
    let args = ["-f", "sleep.sql", "-c", "1", "-T", "100"];
    let mut run = room.start(command(&database, &room, &args));
    run.wait_for("Running", 1);
    std::thread::sleep(Duration::from_millis(300));
    run.signal(Signal::SIGINT);
    assert!(!run.ends_within(Duration::from_millis(300)), "{}", run.err());
    run.signal(Signal::SIGINT);
    // A run that had waited for its transaction would end with another code.
    assert!(run.ends_within(Duration::from_secs(30)), "it waited: {}", run.err());
    assert_eq!(run.finish().code(), 130);
}

/// One Ctrl-C alone ends a run whose transaction hangs, after a while.
#[test]
fn an_interrupt_does_not_wait_for_ever() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    room.write("sleep.sql", "select pg_sleep(100);\n");
    let args = ["-f", "sleep.sql", "-c", "1", "-T", "100"];
    let mut run = room.start(command(&database, &room, &args));
    run.wait_for("Running", 1);
    std::thread::sleep(Duration::from_millis(300));
    run.signal(Signal::SIGINT);
    assert!(run.ends_within(Duration::from_secs(30)), "{}", run.err());
    run.finish().exits(2);
    assert_eq!(ended(&room.record()), "interrupted");
}

/// A reader that goes away early (`| head -1`) is no failure, and the record
/// is kept all the same.
#[test]
fn a_closed_pipe_is_no_failure() {
    let database = Server::shared().loaded();
    for args in [["-c1", "-t5", "--json=-"], ["-c1", "-t5", "--seed=1"]] {
        let room = database.server.room();
        let mut command = command(&database, &room, &args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Closed before the first byte: the harshest reader.
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{err}");
        assert!(!err.contains("panicked"), "{err}");
        assert_eq!(count(&room.record(), "committed"), 5);
    }
}

/// A standard error that nobody reads any more is no failure either.
#[test]
fn a_closed_standard_error_is_no_failure() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    let mut command = command(&database, &room, &["-c", "1", "-t", "5"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{out}");
    assert!(out.contains("5 committed"), "{out}");
}

/// Without a terminal there are plain lines: no control characters, no colour,
/// no line longer than a terminal is wide.
#[test]
fn no_terminal_no_control_characters() {
    let database = Server::shared().empty();
    let target = database.uri_plain();
    let room = database.server.room();
    let password = database.server.password();
    let init = room.run_with(&[("PGPASSWORD", &password)], &["init", &target]).exits(0);
    let run = database.run(&room, &["-c", "2", "-T", "1"]).exits(0);
    for text in [&init.out, &init.err, &run.out, &run.err] {
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{text:?}");
    }
    for line in run.out.lines() {
        assert!(line.chars().count() <= 80 || line.contains("pgdyno-runs"), "{line:?}");
    }
}

/// A locale without UTF-8 gets ASCII.
#[test]
fn a_plain_locale_gets_ascii() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    let mut command = command(&database, &room, &["-c", "1", "-t", "5"]);
    command.env("LC_ALL", "C");
    let outcome = room.start(command).finish().exits(0);
    assert!(outcome.out.is_ascii(), "{}", outcome.out);
    let line = outcome.err.lines().find(|line| !line.is_ascii());
    assert_eq!(line, None);
}

/// What the binary draws on a terminal of so many columns.
fn on_terminal(mut command: std::process::Command, columns: u16) -> String {
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    let side = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
    command.stdout(side(&pty.slave)).stderr(side(&pty.slave)).env("TERM", "xterm-256color");
    let mut child = command.spawn().unwrap();
    drop(pty.slave);
    // The command keeps its ends of the terminal as long as it lives.
    drop(command);
    let mut drawn = Vec::new();
    let mut reader = BufReader::new(std::fs::File::from(pty.master));
    // The end shows as EIO once the last holder of the other side is gone.
    while reader.read_until(b'\n', &mut drawn).is_ok_and(|count| count > 0) {}
    assert!(child.wait().unwrap().success(), "{}", String::from_utf8_lossy(&drawn));
    String::from_utf8_lossy(&drawn).into_owned()
}

/// On a terminal there is colour, and no line is wider than the terminal,
/// however narrow it is.
#[test]
fn a_narrow_terminal_is_kept_to() {
    let database = Server::shared().loaded();
    for columns in [40, 60, 100] {
        let room = database.server.room();
        let drawn = on_terminal(command(&database, &room, &["-c", "2", "-T", "1"]), columns);
        assert!(drawn.contains("\u{1b}["), "no colour: {drawn:?}");
        let plain = console::strip_ansi_codes(&drawn).into_owned();
        let summary = &plain[plain.find("transactions/s").unwrap()..];
        for line in summary.split(['\r', '\n']).filter(|line| !line.contains("pgdyno-runs")) {
            let wide = console::measure_text_width(line);
            assert!(wide <= usize::from(columns), "{wide} columns of {columns}: {line:?}");
        }
    }
}

/// NO_COLOR is obeyed on a terminal.
#[test]
fn no_color_is_obeyed() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    let mut command = command(&database, &room, &["-c", "1", "-t", "5"]);
    command.env("NO_COLOR", "1");
    let drawn = on_terminal(command, 80);
    assert!(drawn.contains("5 committed") && !drawn.contains("\u{1b}["), "{drawn:?}");
}
