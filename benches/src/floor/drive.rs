//! The measured interval: send, wait, recv, count.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::{Client, EVENTS_MAX, Length, READ_BYTES, frames};

/// How long every client may be without an answer.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Runs the clients and gives the number of answers.
pub(super) fn drive(clients: &mut [Client], length: Length) -> io::Result<u64> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    for (index, client) in clients.iter().enumerate() {
        // Readable only. Interest in writability would have the kernel report
        // an event each time that the server reads from a Unix socket.
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        epoll.add(&client.socket, EpollEvent::new(flags, index as u64))?;
    }
    let silence = EpollTimeout::try_from(SILENCE_MAX).map_err(io::Error::other)?;
    let deadline = match length {
        Length::Time(time) => Some(Instant::now() + time),
        Length::Transactions(_) => None,
    };
    let mut events = vec![EpollEvent::empty(); EVENTS_MAX];
    let mut input = vec![0; READ_BYTES];
    let mut answers = 0;
    let mut waiting = 0_usize;
    for client in clients.iter_mut() {
        waiting += usize::from(client.send(false)?);
    }
    while waiting > 0 {
        let count = match epoll.wait(&mut events, silence) {
            Err(Errno::EINTR) => continue,
            Ok(0) => return Err(io::Error::new(ErrorKind::TimedOut, "no answer any more")),
            other => other?,
        };
        let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        for event in &events[..count] {
            let client = &mut clients[event.data() as usize];
            if client.receive(&mut input)? {
                answers += 1;
                waiting -= usize::from(!client.send(over)?);
            }
        }
    }
    Ok(answers)
}

impl Client {
    /// Sends the next request; false where there is none.
    pub(super) fn send(&mut self, over: bool) -> io::Result<bool> {
        if !self.begin(over) {
            return Ok(false);
        }
        // A socket that has nothing outstanding takes a hundred bytes whole.
        (&self.socket).write_all(&self.request)?;
        Ok(true)
    }

    /// Reads once; true where the answer is complete.
    pub(super) fn receive(&mut self, input: &mut [u8]) -> io::Result<bool> {
        let count = match (&self.socket).read(input) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        self.take(&input[..count])
    }

    /// Accounts for a request that is about to be sent; false where there is
    /// none.
    pub(crate) fn begin(&mut self, over: bool) -> bool {
        if over || self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.got_bytes = 0;
        true
    }

    /// Accounts for bytes that came; true where the answer is complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> io::Result<bool> {
        if bytes.is_empty() {
            let gone = "the server hung up in the middle of the run";
            return Err(io::Error::new(ErrorKind::ConnectionAborted, gone));
        }
        self.got_bytes += bytes.len();
        if self.got_bytes == self.answer_bytes {
            return Ok(true);
        }
        if self.got_bytes > self.answer_bytes || frames::ends_ready(bytes) {
            let words = frames::complaint(bytes);
            let words = words.unwrap_or_else(|| "the answer's length changed".to_owned());
            return Err(io::Error::other(words));
        }
        Ok(false)
    }
}
