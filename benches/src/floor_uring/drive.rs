//! The measured interval: queue the sends, one system call, count.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Instant;

use crate::floor::drive::SILENCE_MAX;
use crate::floor::{Client, Length};

use super::ring::{Event, Ring};

/// Runs the clients and gives the number of answers.
pub(super) fn drive(clients: &mut [Client], length: Length) -> io::Result<u64> {
    for client in clients.iter() {
        // A receive on a non-blocking socket gives up where nothing has come;
        // on a blocking one the kernel keeps it until something comes.
        client.socket.set_nonblocking(false)?;
    }
    let sockets: Vec<RawFd> = clients.iter().map(|client| client.socket.as_raw_fd()).collect();
    // Copies, because a client changes while its request is with the kernel.
    let requests: Vec<Box<[u8]>> = clients.iter().map(|client| client.request.clone()).collect();
    // One for each answer that can be on its way.
    let mut ring = Ring::new(&sockets, clients.len(), SILENCE_MAX)?;
    let answers = turns(&mut ring, clients, &requests, length)?;
    own_threads_only()?;
    Ok(answers)
}

fn turns<'a>(
    ring: &mut Ring<'a>,
    clients: &mut [Client],
    requests: &'a [Box<[u8]>],
    length: Length,
) -> io::Result<u64> {
    let deadline = match length {
        Length::Time(time) => Some(Instant::now() + time),
        Length::Transactions(_) => None,
    };
    let mut answers = 0;
    let mut waiting = 0_usize;
    for (slot, client) in clients.iter_mut().enumerate() {
        ring.arm(slot)?;
        if client.begin(false) {
            ring.send(slot, &requests[slot])?;
            waiting += 1;
        }
    }
    while waiting > 0 {
        ring.wait()?;
        let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        while let Some(event) = ring.next()? {
            let (slot, buffer, count, armed) = match event {
                Event::Received { slot, buffer, count, armed } => (slot, buffer, count, armed),
                Event::Starved { slot } => {
                    ring.arm(slot)?;
                    continue;
                }
            };
            let client = &mut clients[slot];
            let complete = client.take(buffer.map_or(&[], |id| ring.bytes(id, count)))?;
            if let Some(id) = buffer {
                ring.give_back(id);
            }
            if !armed {
                ring.arm(slot)?;
            }
            if complete {
                answers += 1;
                if client.begin(over) {
                    ring.send(slot, &requests[slot])?;
                } else {
                    waiting -= 1;
                }
            }
        }
    }
    Ok(answers)
}

/// Fails where the kernel has taken work to threads of its own: the figures
/// would be of something else.
fn own_threads_only() -> io::Result<()> {
    for thread in std::fs::read_dir("/proc/self/task")?.flatten() {
        let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        if name.starts_with("iou-") {
            return Err(io::Error::other(format!("io_uring started {}", name.trim())));
        }
    }
    Ok(())
}
