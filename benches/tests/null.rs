//! The null server and the floor, against each other and against the real
//! pgbench.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use pgdyno_benches::floor::{self, Address, Length, Protocol};
use pgdyno_benches::floor_uring;
use pgdyno_benches::null::{Config, NullServer};

fn floor_config(address: Address, clients: usize, length: Length) -> floor::Config {
    floor::Config {
        address,
        user: "postgres".to_owned(),
        database: "postgres".to_owned(),
        clients,
        length,
        rate_tps: None,
        protocol: Protocol::Prepared,
        scale: 1,
    }
}

fn tcp(server: &NullServer) -> Address {
    Address::Tcp(server.tcp().expect("listens on TCP by default"))
}

/// Every request is answered once, over TCP and Unix socket, in both
/// protocols, with one thread and with two.
#[test]
fn answers_every_request() {
    for threads in [1, 2] {
        let dir = tempfile::tempdir().unwrap();
        let socket_dir = Some(dir.path().to_owned());
        let server =
            NullServer::start(&Config { threads, socket_dir, ..Config::default() }).unwrap();
        let unix = Address::Unix(server.unix().unwrap().clone());
        for address in [tcp(&server), unix] {
            for protocol in [Protocol::Simple, Protocol::Prepared] {
                let length = Length::Transactions(50);
                let config =
                    floor::Config { protocol, ..floor_config(address.clone(), 70, length) };
                let outcome = floor::run(&config).unwrap();
                assert_eq!(outcome.transactions, 70 * 50, "{protocol:?} with {threads} threads");
            }
        }
        server.stop().unwrap();
    }
}

/// At a rate every request is answered once as well, by clients or by time; and
/// it takes the time that the rate says, at least.
#[test]
fn a_rate_is_kept() {
    let server = NullServer::start(&Config::default()).unwrap();
    let rate_tps = Some(2000.0);
    let by_number = floor_config(tcp(&server), 10, Length::Transactions(40));
    let outcome = floor::run(&floor::Config { rate_tps, ..by_number }).unwrap();
    assert_eq!(outcome.transactions, 400);
    // 400 gaps have 200 ms on average and a deviation of 10 ms.
    assert!(outcome.wall_us > 100_000, "{}", outcome.wall_us);
    let by_time = floor_config(tcp(&server), 10, Length::Time(Duration::from_millis(300)));
    let outcome = floor::run(&floor::Config { rate_tps, ..by_time }).unwrap();
    assert!((1..=900).contains(&outcome.transactions), "{}", outcome.transactions);
    server.stop().unwrap();
}

/// The client over `io_uring` has every request answered once, also by more
/// clients than there is room for submissions or buffers; where it is forbidden
/// it says so before anything is sent.
#[test]
fn io_uring_answers_every_request() {
    let dir = tempfile::tempdir().unwrap();
    let socket_dir = Some(dir.path().to_owned());
    let server = NullServer::start(&Config { socket_dir, ..Config::default() }).unwrap();
    let unix = Address::Unix(server.unix().unwrap().clone());
    for address in [tcp(&server), unix] {
        for clients in [1, 300] {
            let config = floor_config(address.clone(), clients, Length::Transactions(50));
            match floor_uring::run(&config) {
                Ok(outcome) => assert_eq!(outcome.transactions, 50 * clients as u64),
                Err(error) => {
                    let words = error.to_string();
                    assert!(words.starts_with("io_uring is not to be had"), "{words}");
                }
            }
        }
    }
    server.stop().unwrap();
}

/// A delay delays: 20 requests one after the other take 20 delays, and not
/// twice that. The bound above is loose, for busy machines.
#[test]
fn delay_is_kept() {
    let delay = Duration::from_millis(5);
    let server = NullServer::start(&Config { delay, ..Config::default() }).unwrap();
    let length = Length::Transactions(20);
    let outcome = floor::run(&floor_config(tcp(&server), 4, length)).unwrap();
    let expected_us = 20 * 5000;
    assert!(outcome.wall_us >= expected_us, "{outcome:?}");
    assert!(outcome.wall_us < 2 * expected_us, "{outcome:?}");
    let end = server.stop().unwrap();
    // Preparing, the first request, and the 20 that were counted.
    assert_eq!(end.answers, 4 * 22);
}

/// Nothing is answered within a stall. With 10 ms a request a second has room
/// for 100; the stalls take 500 ms of it, which leaves 50 and the one that each
/// stall lets go at its end.
#[test]
fn stalls_are_kept() {
    let server = NullServer::start(&Config {
        delay: Duration::from_millis(10),
        stall_every: Duration::from_millis(300),
        stall: Duration::from_millis(200),
        ..Config::default()
    })
    .unwrap();
    let length = Length::Time(Duration::from_secs(1));
    let outcome = floor::run(&floor_config(tcp(&server), 1, length)).unwrap();
    assert!((10..=56).contains(&outcome.transactions), "{outcome:?}");
    assert_eq!(server.stop().unwrap().answers, outcome.transactions + 2);
}

/// A refused client ends with the server's words, not with a panic.
#[test]
fn refusal_is_an_error() {
    let gone = {
        let server = NullServer::start(&Config::default()).unwrap();
        tcp(&server)
    };
    let refused = floor::run(&floor_config(gone, 1, Length::Transactions(1)));
    assert!(refused.is_err());
}

fn pgbench() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join("pgbench")).find(|path| path.is_file())
}

/// The real pgbench starts and runs, in each of its modes and with its own
/// scripts, and finds nothing to complain about.
#[test]
#[expect(clippy::print_stderr, reason = "says why it is skipped")]
fn pgbench_is_content() {
    let Some(program) = pgbench() else {
        eprintln!("skipped: no pgbench is installed");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let socket_dir = Some(dir.path().to_owned());
    let server = NullServer::start(&Config { socket_dir, ..Config::default() }).unwrap();
    let unix = dir.path().display().to_string();
    for host in ["127.0.0.1", &unix] {
        for mode in ["simple", "extended", "prepared"] {
            for script in ["select-only", "tpcb-like", "simple-update"] {
                let output = Command::new(&program)
                    .args(["-h", host, "-p", &server.port().to_string(), "-U", "postgres"])
                    .args(["-M", mode, "-b", script, "-c", "3", "-t", "20", "postgres"])
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&output.stdout);
                let complaint = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{mode} {script}: {complaint}");
                assert!(said.contains("actually processed: 60/60"), "{mode} {script}: {said}");
                assert!(said.contains("scaling factor: 1\n"), "{said}");
                assert!(!complaint.contains("error"), "{mode} {script}: {complaint}");
            }
        }
    }
}
