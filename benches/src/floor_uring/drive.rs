//! The measured interval: queue the sends, one system call, count.

use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::time::Instant;

use pgdyno_ring::{Event, Inbox, Key, Ring, Wait};

use crate::floor::drive::SILENCE_MAX;
use crate::floor::{Client, Length};

/// Runs the clients and gives the number of answers.
pub(super) fn drive(clients: &mut [Client], length: Length) -> io::Result<u64> {
    let (ring, inbox) = pgdyno_ring::open(clients.len())?;
    let mut run = Run { ring, inbox, clients, answers: 0, waiting: 0 };
    run.turns(length)?;
    own_threads_only()?;
    Ok(run.answers)
}

struct Run<'a> {
    ring: Ring,
    inbox: Inbox,
    clients: &'a mut [Client],
    answers: u64,
    /// Clients that wait for an answer.
    waiting: usize,
}

impl Run<'_> {
    fn turns(&mut self, length: Length) -> io::Result<()> {
        let mut heard = Instant::now();
        let deadline = match length {
            Length::Time(time) => Some(heard + time),
            Length::Transactions(_) => None,
        };
        for index in 0..self.clients.len() {
            self.receive(index)?;
            self.waiting += usize::from(self.send(index, false)?);
        }
        let mut events = Vec::new();
        while self.waiting > 0 {
            self.ring.wait(&mut self.inbox, Wait::within(SILENCE_MAX), &mut events)?;
            let now = Instant::now();
            // A wait may also end for a signal, or for the moment of one before.
            if !events.is_empty() {
                heard = now;
            } else if now - heard >= SILENCE_MAX {
                return Err(io::Error::new(ErrorKind::TimedOut, "no answer any more"));
            }
            let over = deadline.is_some_and(|deadline| now >= deadline);
            for event in events.drain(..) {
                self.serve(event, over)?;
            }
        }
        Ok(())
    }

    fn serve(&mut self, event: Event, over: bool) -> io::Result<()> {
        match event {
            Event::Received { key, buffer, armed } => {
                let index = key.index as usize;
                let complete = self.clients[index].take(self.inbox.bytes(&buffer))?;
                self.inbox.give_back(buffer);
                if !armed {
                    self.receive(index)?;
                }
                if complete {
                    self.answers += 1;
                    self.waiting -= usize::from(!self.send(index, over)?);
                }
                Ok(())
            }
            Event::Starved { key } => self.receive(key.index as usize),
            Event::Ended { error: Some(error), .. } | Event::Unsent { taken: Err(error), .. } => {
                Err(error)
            }
            Event::Ended { key, error: None } => {
                self.clients[key.index as usize].take(&[]).map(drop)
            }
            // A socket that has nothing outstanding takes a hundred bytes whole.
            Event::Unsent { taken: Ok(taken), .. } => {
                let short = format!("a send ended after {taken} bytes");
                Err(io::Error::new(ErrorKind::WriteZero, short))
            }
            // Nothing is watched.
            Event::Readable => Ok(()),
        }
    }

    fn receive(&mut self, index: usize) -> io::Result<()> {
        self.ring.receive(self.clients[index].socket.as_raw_fd(), key(index))
    }

    /// Queues the next request; false where there is none.
    fn send(&mut self, index: usize, over: bool) -> io::Result<bool> {
        let client = &mut self.clients[index];
        if !client.begin(over) {
            return Ok(false);
        }
        let mut bytes = self.ring.spare();
        bytes.extend_from_slice(&client.request);
        self.ring.send(client.socket.as_raw_fd(), key(index), bytes)?;
        Ok(true)
    }
}

/// Connections are made once, so there is one generation.
const fn key(index: usize) -> Key {
    Key { index: index as u32, generation: 0 }
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
