//! Whether there is an `io_uring` here that does what is needed.

use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::refused::refused;
use crate::ring::open;
use crate::{Event, Key, Wait};

/// How long a byte between two sockets of one thread may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tries all that a ring is used for: a byte goes through a pair of sockets.
/// Containers forbid `io_uring`, old kernels lack parts of it, and some have
/// parts that refuse only when they are used.
///
/// # Errors
/// What was refused, and what a person can do about it.
pub fn probe() -> io::Result<()> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let (mut ring, mut inbox) = open(1)?;
    let key = Key { index: 0, generation: 1 };
    ring.receive(ours.as_raw_fd(), key)?;
    ring.watch(theirs.as_raw_fd())?;
    ring.send(ours.as_raw_fd(), key, b"!".to_vec())?;
    let mut events = Vec::new();
    let (mut sent, mut came) = (false, false);
    for _ in 0..4 {
        ring.wait(&mut inbox, Wait::within(PATIENCE), &mut events)?;
        for event in events.drain(..) {
            match event {
                Event::Readable => {
                    sent = true;
                    (&theirs).write_all(b"?")?;
                }
                Event::Received { buffer, .. } => {
                    came = inbox.bytes(&buffer) == b"?";
                    inbox.give_back(buffer);
                }
                Event::Ended { error: Some(error), .. }
                | Event::Unsent { taken: Err(error), .. } => {
                    return Err(refused("a trial on a pair of sockets", &error));
                }
                Event::Ended { .. } | Event::Unsent { .. } | Event::Starved { .. } => {}
            }
        }
        if sent && came {
            return Ok(());
        }
    }
    let silent = "io_uring is not to be had: a byte sent through it did not arrive";
    Err(io::Error::new(io::ErrorKind::Unsupported, silent))
}
