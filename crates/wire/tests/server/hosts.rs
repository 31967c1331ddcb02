//! Several hosts, wanted kinds of servers, and connecting without blocking.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pgdyno_wire::ConnectContext;
use pgdyno_wire::connect::{Connecting, Drive};
use pgdyno_wire::options::{LoadBalanceHosts, Options, TargetSessionAttrs};

use crate::common::{Server, Setup, connect, free_port, host, options, refusal};

/// Dead hosts are passed over, and the failure of all tells of each.
#[test]
fn failover_over_hosts() {
    let server = Server::trusting();
    let (dead, deader) = (free_port(), free_port());
    let hosts = vec![
        host("no-such-host.invalid", 1),
        host("127.0.0.1", dead),
        host("/nonexistent", 5432),
        host("localhost", server.port),
    ];
    let connection = connect(&options(hosts)).unwrap();
    assert_eq!(connection.endpoint().host_index, 3);

    let words = refusal(&options(vec![host("127.0.0.1", dead), host("127.0.0.1", deader)]));
    for port in [dead, deader] {
        let part = format!("at \"127.0.0.1\", port {port} failed: Connection refused");
        assert!(words.contains(&part), "{words}");
    }

    // A server's decision stands: the next host is not asked.
    let mut unknown = options(vec![host("localhost", server.port), host("127.0.0.1", dead)]);
    unknown.dbname = "nowhere".into();
    let words = refusal(&unknown);
    assert!(!words.contains("refused") && words.contains("\"nowhere\" does not exist"), "{words}");
}

/// Each wish for a kind of server is met by the one of a primary and a standby
/// that is of the kind; a read-only default counts as read-only.
#[test]
fn target_session_attrs() {
    use TargetSessionAttrs::{Any, PreferStandby, Primary, ReadOnly, ReadWrite, Standby};
    let primary = Server::trusting();
    let standby = Server::start(&Setup { files: &[("standby.signal", "")], ..Setup::default() });
    let both = |first: &Server, second: &Server| {
        vec![host("localhost", first.port), host("127.0.0.1", second.port)]
    };
    for (wanted, index) in
        [(Any, 0), (ReadWrite, 1), (ReadOnly, 0), (Primary, 1), (Standby, 0), (PreferStandby, 0)]
    {
        let mut wish = options(both(&standby, &primary));
        wish.target_session_attrs = wanted;
        assert_eq!(connect(&wish).unwrap().endpoint().host_index, index, "{wanted:?}");
    }
    let alone = |server: &Server, wanted| {
        let mut wish = server.options();
        wish.target_session_attrs = wanted;
        wish
    };
    assert!(refusal(&alone(&primary, Standby)).ends_with("server is not in hot standby mode"));
    assert!(refusal(&alone(&standby, Primary)).ends_with("server is in hot standby mode"));
    assert!(refusal(&alone(&standby, ReadWrite)).ends_with("session is read-only"));
    assert!(refusal(&alone(&primary, ReadOnly)).ends_with("session is not read-only"));
    connect(&alone(&primary, PreferStandby)).unwrap();
    let mut read_only: Options = alone(&primary, ReadOnly);
    read_only.server_options = Some("-c default_transaction_read_only=on".into());
    connect(&read_only).unwrap();
}

/// A random order uses all hosts in the long run, and a first host of one's
/// own choice is tried first.
#[test]
fn order_of_hosts() {
    let server = Server::trusting();
    let mut wish = options(vec![host("localhost", server.port), host("127.0.0.1", server.port)]);
    let run = |context: &Arc<ConnectContext>, first| {
        let mut connecting = Connecting::start_at(Arc::clone(context), first);
        drive_all(std::slice::from_mut(&mut connecting));
        connecting.finish().unwrap().host_index
    };
    let context = ConnectContext::new(&wish).unwrap();
    assert_eq!([0, 1, 2, 3].map(|first| run(&context, first)), [0, 1, 0, 1]);
    wish.load_balance_hosts = LoadBalanceHosts::Random;
    let context = ConnectContext::new(&wish).unwrap();
    // Forty equal tosses in a row have a chance of one in 2^39.
    let mut seen = [0; 2];
    (0..40).for_each(|_| seen[run(&context, 0)] += 1);
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

/// Drives many attempts at once, each only when its socket is ready.
fn drive_all(connecting: &mut [Connecting]) {
    let mut states = vec![None; connecting.len()];
    loop {
        for (attempt, state) in connecting.iter_mut().zip(&mut states) {
            if *state != Some(Drive::Done) {
                *state = Some(attempt.drive(Instant::now()).unwrap());
            }
        }
        let mut fds: Vec<PollFd<'_>> = connecting
            .iter()
            .zip(&states)
            .filter_map(|(attempt, state)| {
                let flags = match state {
                    Some(Drive::WantRead) => PollFlags::POLLIN,
                    Some(Drive::WantWrite) => PollFlags::POLLOUT,
                    _ => return None,
                };
                attempt.as_fd().map(|fd| PollFd::new(fd, flags))
            })
            .collect();
        if fds.is_empty() {
            return;
        }
        assert!(poll(&mut fds, PollTimeout::from(30_000_u16)).unwrap() > 0, "nothing moves");
    }
}

/// One thread brings up many sessions at the same time.
#[test]
fn many_at_once_without_blocking() {
    let server = Server::trusting();
    for wish in [server.options(), server.unix_options()] {
        let context = ConnectContext::new(&wish).unwrap();
        let mut all: Vec<Connecting> =
            (0..50).map(|_| Connecting::start(Arc::clone(&context))).collect();
        drive_all(&mut all);
        let mut pids: Vec<i32> = all
            .into_iter()
            .map(|connecting| {
                assert_eq!(connecting.generation(), 1);
                let connected = connecting.finish().unwrap();
                assert!(connected.read_ahead.is_empty() && connected.server_version_num > 0);
                connected.backend_pid
            })
            .collect();
        pids.sort_unstable();
        pids.dedup();
        assert_eq!(pids.len(), 50);
    }
}

/// A host that accepts and says nothing costs `connect_timeout`, no more, and
/// the next one is tried.
#[test]
fn silent_host_times_out() {
    let server = Server::trusting();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let mut wish = options(vec![host("127.0.0.1", port), host("localhost", server.port)]);
    wish.connect_timeout = Some(Duration::from_secs(2));
    assert_eq!(connect(&wish).unwrap().endpoint().host_index, 1);
    wish.hosts.truncate(1);
    let error = connect(&wish).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(
        error.to_string(),
        format!("connection to server at \"127.0.0.1\", port {port} failed: timeout expired")
    );
}

/// Something that is no PostgreSQL is recognised as such.
#[test]
fn not_a_postgres() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        use std::io::{Read, Write};
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 64];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        }
    });
    let mut wish = options(vec![host("127.0.0.1", port)]);
    let words = refusal(&wish);
    assert!(words.ends_with("received invalid response to SSL negotiation: H"), "{words}");
    wish.ssl.mode = pgdyno_wire::options::SslMode::Disable;
    let words = refusal(&wish);
    assert!(words.contains("it may not be a PostgreSQL server"), "{words}");
    answering.join().unwrap();
}
