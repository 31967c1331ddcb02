//! The ring against real sockets: order, fullness, ends, late completions.
//!
//! Where the system has no `io_uring`, as in many containers, each test says so
//! and ends: nothing else of it can be tried.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]
#![allow(clippy::print_stderr, reason = "a test that cannot be made says so")]

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pgdyno_ring::{BUFFER_BYTES, Event, Inbox, Key, Ring, Wait, open, probe};

const KEY: Key = Key { index: 7, generation: 3 };
const PATIENCE: Duration = Duration::from_secs(20);

struct Case {
    ring: Ring,
    inbox: Inbox,
    ours: UnixStream,
    theirs: UnixStream,
}

/// A ring that receives on one of a pair of sockets; `None` where there is no
/// `io_uring`.
fn case() -> Option<Case> {
    if let Err(error) = probe() {
        eprintln!("not tried: {error}");
        return None;
    }
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    theirs.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut ring, inbox) = open(1).unwrap();
    ring.receive(ours.as_raw_fd(), KEY).unwrap();
    Some(Case { ring, inbox, ours, theirs })
}

impl Case {
    fn wait(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        self.ring.wait(&mut self.inbox, Wait::within(PATIENCE), &mut events).unwrap();
        events
    }

    /// What comes until `bytes` are there, with receives begun anew.
    fn receive(&mut self, bytes: usize) -> Vec<u8> {
        let mut came = Vec::new();
        while came.len() < bytes {
            for event in self.wait() {
                match event {
                    Event::Received { key, buffer, armed } => {
                        assert_eq!(key, KEY);
                        came.extend_from_slice(self.inbox.bytes(&buffer));
                        self.inbox.give_back(buffer);
                        if !armed {
                            self.ring.receive(self.ours.as_raw_fd(), KEY).unwrap();
                        }
                    }
                    Event::Starved { .. } => {
                        self.ring.receive(self.ours.as_raw_fd(), KEY).unwrap();
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        came
    }

    fn send(&mut self, bytes: &[u8]) {
        self.ring.send(self.ours.as_raw_fd(), KEY, bytes.to_vec()).unwrap();
    }
}

/// Some bytes of which no two stretches are alike.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes as u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .take(bytes)
        .collect()
}

/// More than all buffers hold arrives whole and in order.
#[test]
fn a_long_answer_arrives_in_order() {
    let Some(mut case) = case() else { return };
    let sent = pattern(600 * BUFFER_BYTES + 17);
    let theirs = case.theirs.try_clone().unwrap();
    let copy = sent.clone();
    let writer = std::thread::spawn(move || (&theirs).write_all(&copy).unwrap());
    assert!(case.receive(sent.len()) == sent);
    writer.join().unwrap();
}

/// A send leaves with the next submit or wait, whole; its buffer is used again
/// for others.
#[test]
fn sends_leave_with_the_next_wait() {
    let Some(mut case) = case() else { return };
    for round in 0..200_u32 {
        let mut bytes = case.ring.spare();
        assert!(bytes.is_empty());
        bytes.extend_from_slice(&pattern(100 + round as usize));
        case.ring.send(case.ours.as_raw_fd(), KEY, bytes).unwrap();
        if round.is_multiple_of(2) {
            case.ring.submit().unwrap();
        } else {
            let mut events = Vec::new();
            case.ring.wait(&mut case.inbox, Wait::Not, &mut events).unwrap();
            assert!(events.is_empty(), "{events:?}");
        }
        let mut came = vec![0; 100 + round as usize];
        case.theirs.read_exact(&mut came).unwrap();
        assert_eq!(came, pattern(came.len()));
    }
}

/// More sends than the queue holds leave before the wait, none is lost.
#[test]
fn more_sends_than_the_queue_holds() {
    let Some(mut case) = case() else { return };
    for n in 0..200_u32 {
        case.send(&n.to_le_bytes());
    }
    case.ring.submit().unwrap();
    let mut came = vec![0; 800];
    case.theirs.read_exact(&mut came).unwrap();
    let sent: Vec<u8> = (0..200_u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(came, sent);
}

/// A socket that is full takes a part; the bytes come back with their number,
/// and both together are what was sent.
#[test]
fn a_full_socket_gives_the_rest_back() {
    let Some(mut case) = case() else { return };
    let sent = pattern(4 << 20);
    case.send(&sent);
    let events = case.wait();
    let [Event::Unsent { key: KEY, bytes, taken: Ok(taken) }] = &events[..] else {
        panic!("{events:?}");
    };
    assert!(*bytes == sent && *taken > 0 && *taken < sent.len());
    let mut came = vec![0; *taken];
    case.theirs.read_exact(&mut came).unwrap();
    assert!(came == sent[..*taken]);
    // One that is full from the start takes nothing.
    while (&case.ours).write(&sent).is_ok() {}
    case.send(b"x");
    let events = case.wait();
    assert!(matches!(&events[..], [Event::Unsent { taken: Ok(0), .. }]), "{events:?}");
}

/// The other side's end is told after its last bytes, and so is a send to it.
#[test]
fn ends_are_told() {
    let Some(mut case) = case() else { return };
    case.theirs.write_all(b"last words").unwrap();
    case.theirs.shutdown(Shutdown::Both).unwrap();
    let mut words = Vec::new();
    let mut ended = false;
    while !ended {
        for event in case.wait() {
            match event {
                Event::Received { buffer, .. } => {
                    words.extend_from_slice(case.inbox.bytes(&buffer));
                    case.inbox.give_back(buffer);
                }
                Event::Ended { key: KEY, error: None } => ended = true,
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(words, b"last words");
    case.send(b"x");
    let events = case.wait();
    assert!(matches!(&events[..], [Event::Unsent { key: KEY, taken: Err(_), .. }]), "{events:?}");
}

/// The ring holds the socket: closing the descriptor leaves the connection
/// open, and `shutdown` ends it for both sides.
#[test]
fn a_shutdown_ends_what_closing_does_not() {
    let Some(mut case) = case() else { return };
    // The receive is with the kernel.
    case.ring.submit().unwrap();
    case.ours.shutdown(Shutdown::Both).unwrap();
    let mut rest = Vec::new();
    case.theirs.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    let events = case.wait();
    assert!(matches!(&events[..], [Event::Ended { key: KEY, .. }]), "{events:?}");
}

/// A watched descriptor ends a wait once, and is watched again by asking.
#[test]
fn a_watched_descriptor_is_told_once() {
    let Some(mut case) = case() else { return };
    let (watched, mut other) = UnixStream::pair().unwrap();
    other.write_all(b"x").unwrap();
    for _ in 0..2 {
        case.ring.watch(watched.as_raw_fd()).unwrap();
        let events = case.wait();
        assert!(matches!(&events[..], [Event::Readable]), "{events:?}");
        let mut none = Vec::new();
        case.ring.wait(&mut case.inbox, Wait::Not, &mut none).unwrap();
        assert!(none.is_empty(), "{none:?}");
    }
}

/// A wait in which nothing happens ends when its time has come, not before,
/// whatever moments the waits before were given.
#[test]
fn a_wait_lasts_its_time() {
    let Some(mut case) = case() else { return };
    for time_ms in [20, 1, 10, 3, 30] {
        let (time, begin) = (Duration::from_millis(time_ms), Instant::now());
        let wait = Wait::within(time);
        // Waits may end for the alarms of those before, at most once for each.
        for _ in 0..5 {
            let mut events = Vec::new();
            case.ring.wait(&mut case.inbox, wait, &mut events).unwrap();
            assert!(events.is_empty(), "{events:?}");
            if begin.elapsed() >= time {
                break;
            }
        }
        assert!(begin.elapsed() >= time);
    }
}

/// An alarm that is set stays set while answers end the waits.
#[test]
fn an_alarm_outlives_the_wait() {
    let Some(mut case) = case() else { return };
    let (begin, time) = (Instant::now(), Duration::from_millis(20));
    let wait = Wait::within(time);
    let mut answers = 0;
    while begin.elapsed() < time {
        case.theirs.write_all(b"x").unwrap();
        let mut events = Vec::new();
        case.ring.wait(&mut case.inbox, wait, &mut events).unwrap();
        for event in events {
            let Event::Received { buffer, .. } = event else { panic!("{event:?}") };
            case.inbox.give_back(buffer);
            answers += 1;
        }
    }
    assert!(answers > 0);
    let mut events = Vec::new();
    case.ring.wait(&mut case.inbox, wait, &mut events).unwrap();
}

/// What is handed over before a descriptor is closed stays with its own
/// connection. A receive that was still queued then took the bytes of the next
/// connection of the same number, which waited for them without end.
#[test]
fn a_receive_does_not_change_its_connection() {
    let Some(Case { mut ring, mut inbox, ours, theirs: _theirs }) = case() else { return };
    ring.submit().unwrap();
    ours.shutdown(Shutdown::Both).unwrap();
    let (next, mut theirs) = UnixStream::pair().unwrap();
    next.set_read_timeout(Some(PATIENCE)).unwrap();
    // The next connection under the number of the last.
    let mut number = OwnedFd::from(ours);
    nix::unistd::dup2(&next, &mut number).unwrap();
    theirs.write_all(b"for the next").unwrap();
    let mut events = Vec::new();
    ring.wait(&mut inbox, Wait::within(PATIENCE), &mut events).unwrap();
    assert!(matches!(&events[..], [Event::Ended { key: KEY, .. }]), "{events:?}");
    let mut came = [0; 12];
    UnixStream::from(number).read_exact(&mut came).unwrap();
    assert_eq!(&came, b"for the next");
}
