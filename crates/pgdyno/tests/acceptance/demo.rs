//! The embedded server leaves nothing behind, however pgdyno ends.

use std::os::unix::process::CommandExt as _;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::{User, geteuid};

use crate::support::leftovers::{assert_none, await_none, files, processes};
use crate::support::record::{count, ended};
use crate::support::room::Running;
use crate::support::server::signal;
use crate::support::{Outcome, Room};

/// The smallest demo.
const DEMO: &[&str] = &["demo", "-T", "1", "--scale", "1", "-c", "2", "--no-fsync"];

/// The demo as it is: server, load, seconds, audits, summary, record; and
/// nothing is left of the server.
#[test]
fn the_demo_leaves_nothing() {
    let room = Room::new();
    let outcome = room.run(&["demo", "-T", "2", "--scale", "1"]).exits(0);
    assert_none(&room.tmp(), "after the end");
    let outcome = outcome.says(&[
        "Starting a throw-away PostgreSQL",
        "durability on",
        "100,011 rows",
        "of warm-up",
        " tps",
    ]);
    outcome.shows(&["transactions/s", "3 of 3 passed", "8 clients", "record"]);
    let record = room.record();
    assert_eq!(
        (ended(&record), record["target"]["settings"]["fsync"].as_str()),
        ("completed", Some("on"))
    );
    assert!(count(&record, "committed") > 0);
    assert_eq!(record["load"]["rows"], 100_011);
    // One line for each second of warm-up and run, and none after them.
    let seconds = outcome_lines(&room, " tps");
    assert_eq!(seconds, 4, "{}", room.path().display());
}

/// Lines of standard error that hold `text`.
fn outcome_lines(room: &Room, text: &str) -> usize {
    let err = std::fs::read_to_string(room.path().join("stderr.txt")).unwrap();
    err.lines().filter(|line| line.contains(text)).count()
}

/// Starts a demo and does something to it at some moment.
fn demo_and(room: &Room, deed: impl FnOnce(&mut Running<'_>)) -> Outcome {
    let mut running = room.start(room.command(DEMO));
    deed(&mut running);
    running.finish()
}

/// Ctrl-C at any moment ends in order with exit code 2: no process, no folder.
/// The moments are while initdb runs, while the server starts, while rows are
/// loaded, in the warm-up and in the run.
#[test]
fn an_interrupt_at_any_moment_leaves_nothing() {
    for milliseconds in [0, 30, 150, 400, 700, 1000, 1300, 2500] {
        let room = Room::new();
        let outcome = demo_and(&room, |demo| {
            demo.wait_for("Starting", 1);
            std::thread::sleep(Duration::from_millis(milliseconds));
            demo.signal(Signal::SIGINT);
        });
        let when = format!("after an interrupt at {milliseconds} ms");
        assert_eq!(outcome.code(), 2, "{when}: {outcome:?}");
        assert_none(&room.tmp(), &when);
        // Either there is a summary, or one line says why there is none.
        if room.records().is_empty() {
            assert!(outcome.one_error().contains("interrupted"), "{when}: {outcome:?}");
        } else {
            outcome.shows(&["transactions/s"]);
        }
    }
}

/// An interrupt in the midst of the load, and one in the midst of the run.
#[test]
fn an_interrupt_in_load_or_run_leaves_nothing() {
    let room = Room::new();
    let command = room.command(&["demo", "--scale", "200", "--no-fsync"]);
    let mut demo = room.start(command);
    demo.wait_for("Loading", 1);
    demo.signal(Signal::SIGINT);
    let outcome = demo.finish().exits(2);
    assert!(outcome.one_error().contains("interrupted while loading"), "{outcome:?}");
    assert_none(&room.tmp(), "after an interrupt while loading");

    let room = Room::new();
    let mut demo = room.start(room.command(&["demo", "--scale", "1", "-T", "60", "--no-fsync"]));
    demo.wait_for(" tps", 3);
    demo.signal(Signal::SIGINT);
    demo.finish().exits(2).shows(&["interrupted", "3 of 3 passed"]);
    assert_eq!(ended(&room.record()), "interrupted");
    assert_none(&room.tmp(), "after an interrupt while running");
}

/// A second Ctrl-C ends at once, and nothing is left a moment later.
#[test]
fn two_interrupts_leave_nothing() {
    let room = Room::new();
    demo_and(&room, |demo| {
        demo.wait_for("Running", 1);
        demo.signal(Signal::SIGINT);
        demo.signal(Signal::SIGINT);
    });
    await_none(&room.tmp(), "after two interrupts");
}

/// After kill -9 of pgdyno nothing is left a moment later.
#[test]
fn a_killed_demo_leaves_nothing() {
    for word in ["Starting", "Loading", "Running"] {
        let room = Room::new();
        let mut demo = room.start(room.command(DEMO));
        demo.wait_for(word, 1);
        demo.signal(Signal::SIGKILL);
        assert!(demo.ends_within(Duration::from_secs(10)));
        await_none(&room.tmp(), &format!("after kill -9 at {word:?}"));
    }
}

/// After kill -9 of pgdyno and of its guard, the next start cleans up: the
/// server's processes and its folder.
#[test]
fn the_next_start_cleans_up() {
    let room = Room::new();
    let mut demo = room.start(room.command(DEMO));
    demo.wait_for("Running", 1);
    let guards: Vec<u32> = processes(&room.tmp())
        .into_iter()
        .filter(|(_, line)| line.contains("pgdyno-guard"))
        .map(|(pid, _)| pid)
        .collect();
    assert_eq!(guards.len(), 1, "{:?}", processes(&room.tmp()));
    signal(&guards, Signal::SIGKILL);
    demo.signal(Signal::SIGKILL);
    assert!(demo.ends_within(Duration::from_secs(10)));
    assert_eq!(files(&room.tmp()).len(), 1);
    assert!(!processes(&room.tmp()).is_empty(), "the server should have survived");
    room.run(&["run", "embedded", "-s", "1", "--no-fsync", "-c", "1", "-t", "1"]).exits(0);
    assert_none(&room.tmp(), "after the next start");
}

/// Without root the server runs as the caller.
#[test]
fn an_unprivileged_user_can_do_it() {
    if !geteuid().is_root() {
        // Then every other test here has shown it.
        return;
    }
    let user = User::from_name("nobody").unwrap().unwrap();
    let room = Room::new();
    let own = room.path().join("own");
    std::fs::create_dir(&own).unwrap();
    nix::unistd::chown(&own, Some(user.uid), Some(user.gid)).unwrap();
    let mut command = room.command(DEMO);
    command.current_dir(&own).env("HOME", &own).uid(user.uid.as_raw()).gid(user.gid.as_raw());
    room.start(command).finish().exits(0).shows(&["3 of 3 passed"]);
    assert_none(&room.tmp(), "after an unprivileged demo");
    assert!(own.join("pgdyno-runs").is_dir());
}

/// Two demos at the same time do not get into each other's way.
#[test]
fn two_at_a_time() {
    let rooms = [Room::new(), Room::new()];
    let command = |room: &Room| {
        // The same folder for both servers.
        let mut command = room.command(DEMO);
        command.env("TMPDIR", rooms[0].tmp());
        command
    };
    let demos: Vec<Running<'_>> = rooms.iter().map(|room| room.start(command(room))).collect();
    for demo in demos {
        demo.finish().exits(0);
    }
    assert_none(&rooms[0].tmp(), "after two demos");
}

/// Where no server is found, what was looked at and the way out are told.
#[test]
fn without_a_server_the_way_out_is_told() {
    let room = Room::new();
    let mut command = room.command(DEMO);
    command.env("PGDYNO_PG_BIN", room.path());
    let outcome = room.start(command).finish().exits(2);
    let error = outcome.one_error();
    assert!(error.contains("PGDYNO_PG_BIN"), "{error}");
    assert_none(&room.tmp(), "after nothing was started");
}
