//! Answers that are held back, as by the way to a cluster and back.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords};
use support::Place;

/// Requests that are sent together.
const REQUESTS: usize = 30;

/// Far beyond what anything here takes that is not held back.
const PATIENCE: Duration = Duration::from_secs(60);

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let len = (body.len() as u32 + 4).to_be_bytes();
    [&[tag][..], &len[..], body].concat()
}

/// Reads until so many messages of this kind have come.
fn read_until(stream: &mut TcpStream, tag: u8, count: usize) {
    let mut found = 0;
    while found < count {
        let mut header = [0; 5];
        stream.read_exact(&mut header).unwrap();
        let len = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
        let mut body = vec![0; len - 4];
        stream.read_exact(&mut body).unwrap();
        assert_ne!(header[0], b'E', "{}", String::from_utf8_lossy(&body));
        found += usize::from(header[0] == tag);
    }
}

/// An emulator behind which answers are that late, and a session of it.
fn session(place: &Place, round_trip: Duration) -> (Emulator, TcpStream) {
    let emulator = Emulator::start(Config {
        listen: ([127, 0, 0, 1], 0).into(),
        upstream: place.server.options_unix(),
        encryption: Encryption::Off,
        passwords: Passwords::Any,
        limits: Limits { round_trip, ..Limits::default() },
    })
    .unwrap();
    let mut stream = TcpStream::connect(emulator.address()).unwrap();
    let words = b"\0\x03\0\0user\0admin\0database\0postgres\0\0";
    let len = (words.len() as u32 + 4).to_be_bytes();
    stream.write_all(&[&len[..], words].concat()).unwrap();
    read_until(&mut stream, b'R', 1);
    stream.write_all(&message(b'p', b"any\0")).unwrap();
    read_until(&mut stream, b'Z', 1);
    (emulator, stream)
}

/// What a client with a pipeline sends at once waits once for the way and back,
/// not once for each request; and nothing is answered earlier.
#[test]
fn a_pipeline_waits_once() {
    let place = Place::start();
    let round_trip = Duration::from_secs(3);
    let (_emulator, mut stream) = session(&place, round_trip);
    let request = message(b'Q', b"SELECT 1\0");
    let begun = Instant::now();
    stream.write_all(&request.repeat(REQUESTS)).unwrap();
    read_until(&mut stream, b'Z', REQUESTS);
    let waited = begun.elapsed();
    assert!(waited >= round_trip, "{waited:?}");
    // One after the other they would take 90 s.
    assert!(waited < round_trip * REQUESTS as u32 / 2, "{waited:?}");
}

/// The end of the emulator waits for no answer that is held back.
#[test]
fn the_end_does_not_wait() {
    let place = Place::start();
    place.connect().unwrap().execute("CREATE TABLE t (n int PRIMARY KEY)").unwrap();
    let (emulator, mut stream) = session(&place, Duration::from_secs(600));
    stream.write_all(&message(b'Q', b"INSERT INTO t VALUES (1)\0")).unwrap();
    let mut watcher = place.connect().unwrap();
    let begun = Instant::now();
    while watcher.query_one_i64("SELECT count(*) FROM t").unwrap() == 0 {
        assert!(begun.elapsed() < PATIENCE, "nothing was inserted");
        std::thread::sleep(Duration::from_millis(5));
    }
    let begun = Instant::now();
    drop(emulator);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}
