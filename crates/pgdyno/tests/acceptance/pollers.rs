//! Both ways of waiting do the same work, and the record names the one used.

use std::collections::BTreeMap;

use nix::errno::Errno;
use nix::sys::signal::Signal;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::failures::KILLED;
use crate::support::record::{count, reasons};
use crate::support::server::{Wanted, signal};
use crate::support::{Database, Room, Server};

const POLLERS: [&str; 2] = ["epoll", "io-uring"];

/// `io_uring_setup`, on every architecture.
const IO_URING_SETUP: i64 = 425;

/// False where the machine, or the container that the tests run in, has no
/// `io_uring`.
fn has_ring() -> bool {
    let error = pgdyno_ring::probe().err();
    if let Some(error) = &error {
        eprintln!("one poller is not tried: {error}");
    }
    error.is_none()
}

fn pollers() -> impl Iterator<Item = &'static str> {
    let ring = has_ring();
    POLLERS.into_iter().filter(move |name| ring || *name == "epoll")
}

fn used(room: &Room) -> String {
    room.record()["plan"]["poller"].as_str().unwrap().to_owned()
}

/// Requests and answers that are longer than every buffer, an answer in many
/// pieces, two requests in a turn, pauses, results that are kept, and errors.
const SCRIPTS: [(&str, &str); 6] = [
    ("rows", "select aid, filler from pgbench_accounts where aid <= 20000;\n"),
    (
        "long",
        "select repeat('x', 3000000) as x, length(repeat('y', 70000)) as y \\gset\nselect 1;\n",
    ),
    ("pause", "select 1;\n\\sleep 1 ms\nselect 2;\n"),
    ("error", "begin;\nselect 1 / 0;\nend;\n"),
    ("nothing", "\\set x 1\n"),
    (
        "write",
        "\\set aid random(1, 100000)\nbegin;\nupdate pgbench_accounts set abalance = \
               abalance + 1 where aid = :aid;\nend;\n",
    ),
];

/// A pipeline of some MB, sent while its answers, some MB as well, come in.
fn pipeline() -> String {
    let filler = "z".repeat(1 << 20);
    let one = format!("select length('{filler}'), repeat('a', 1000000);\n");
    format!("\\startpipeline\n{}\\endpipeline\n", one.repeat(4))
}

fn work(database: &Database<'_>, room: &Room, poller: &str, name: &str) -> (u64, u64, u64) {
    let file = format!("{name}.sql");
    let protocol = if name == "pipeline" { "extended" } else { "prepared" };
    let args = [
        "-f",
        &file,
        "-c",
        "5",
        "-j",
        "2",
        "-t",
        "6",
        "--seed",
        "1",
        "--continue-on-error",
        "-M",
        protocol,
        "--poller",
        poller,
    ];
    // A run that commits nothing says so by its code.
    database.run(room, &args).exits(if name == "error" { 2 } else { 0 });
    let record = room.record();
    let ring = poller == "io-uring";
    assert_eq!(used(room), if ring { "io_uring" } else { "epoll" }, "{name}");
    let rows = record["statements"].as_array().map_or(0, |statements| {
        statements.iter().map(|statement| statement["rows"].as_u64().unwrap_or(0)).sum()
    });
    (count(&record, "committed"), count(&record, "failed"), rows)
}

/// Whatever a script asks for, both do it as often and see as many rows.
#[test]
fn the_same_work() {
    let database = Server::shared().loaded();
    for (name, text) in SCRIPTS.into_iter().chain([("pipeline", &*pipeline())]) {
        let mut done = BTreeMap::new();
        for poller in pollers() {
            let room = database.server.room();
            room.write(&format!("{name}.sql"), text);
            done.insert(poller, work(&database, &room, poller, name));
        }
        let expected = if name == "error" { (0, 30) } else { (30, 0) };
        for (poller, (committed, failed, rows)) in &done {
            assert_eq!((*committed, *failed), expected, "{name}, {poller}");
            assert_eq!(*rows, done["epoll"].2, "{name}, {poller}");
        }
    }
}

/// Clients whose server is killed end with the same words.
#[test]
fn killed_servers() {
    for poller in pollers() {
        let server = Server::start(Wanted { tls: None, max_connections: 12 });
        let database = server.empty();
        database.init(1);
        let room = server.room();
        let args = ["run", &database.uri_plain(), "-c", "4", "-T", "100", "--poller", poller];
        let mut command = room.command(&args);
        command.env("PGPASSWORD", server.password());
        let mut run = room.start(command);
        run.wait_for(" tps", 1);
        signal(&server.pids(), Signal::SIGKILL);
        let outcome = run.finish();
        assert_eq!(outcome.code(), 2, "{outcome:?}");
        let (record, words) = (room.record(), reasons(&room.record()));
        assert!(count(&record, "committed") > 0);
        assert!(KILLED.iter().any(|known| words.contains(known)), "{poller}: {words}");
    }
}

/// A kernel or container that forbids `io_uring` is no obstacle, and whoever
/// asks for it by name is told what forbids it.
#[test]
fn forbidden() {
    let database = Server::shared().loaded();
    let action = SeccompAction::Errno(Errno::EPERM as u32);
    let run = |poller: &str| {
        let room = database.server.room();
        let outcome = database.run(&room, &["-c", "2", "-t", "5", "--poller", poller]);
        (room, outcome)
    };
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let rules = [(IO_URING_SETUP, vec![])].into_iter().collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    // The filter is of this thread and of what it starts.
    std::thread::scope(|scope| {
        let confined = || {
            seccompiler::apply_filter(&program).unwrap();
            let (room, outcome) = run("auto");
            assert_eq!(outcome.exits(0).err.matches("io_uring").count(), 0);
            assert_eq!((used(&room), count(&room.record(), "committed")), ("epoll".into(), 10));
            let (room, outcome) = run("io-uring");
            assert_eq!(outcome.code(), 2, "{outcome:?}");
            let error = outcome.one_error();
            for word in ["io_uring is not to be had", "kernel.io_uring_disabled"] {
                assert!(error.contains(word), "{error}");
            }
            assert!(room.records().is_empty());
        };
        scope.spawn(confined).join().unwrap();
    });
}
