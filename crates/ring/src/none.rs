//! Where there is no `io_uring`: a ring that cannot be made, so that callers
//! need not ask which system they run on.

use std::convert::Infallible;
use std::io;
use std::os::fd::RawFd;

use crate::{Event, Filled, Key, Wait};

/// Cannot be made.
#[derive(Debug)]
pub struct Ring(Infallible);

/// Cannot be made.
#[derive(Debug)]
pub struct Inbox(Infallible);

/// Says that there is none.
///
/// # Errors
/// Always.
pub fn probe() -> io::Result<()> {
    nowhere()
}

/// Says that there is none.
///
/// # Errors
/// Always.
pub fn open(_connections: usize) -> io::Result<(Ring, Inbox)> {
    nowhere()
}

fn nowhere<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "io_uring is only to be had on Linux"))
}

#[allow(missing_docs, reason = "see the ring of Linux")]
#[allow(clippy::missing_errors_doc, reason = "see the ring of Linux")]
impl Ring {
    pub fn turn(&self) -> u32 {
        match self.0 {}
    }
    pub fn watch(&mut self, _fd: RawFd) -> io::Result<()> {
        match self.0 {}
    }
    pub fn receive(&mut self, _fd: RawFd, _key: Key) -> io::Result<()> {
        match self.0 {}
    }
    pub fn send(&mut self, _fd: RawFd, _key: Key, _bytes: Vec<u8>) -> io::Result<()> {
        match self.0 {}
    }
    pub fn spare(&mut self) -> Vec<u8> {
        match self.0 {}
    }
    pub fn submit(&mut self) -> io::Result<()> {
        match self.0 {}
    }
    pub fn wait(&mut self, _: &mut Inbox, _: Wait, _: &mut Vec<Event>) -> io::Result<()> {
        match self.0 {}
    }
}

#[allow(missing_docs, reason = "see the inbox of Linux")]
impl Inbox {
    pub fn bytes(&self, _filled: &Filled) -> &[u8] {
        match self.0 {}
    }
    pub fn give_back(&mut self, _filled: Filled) {
        match self.0 {}
    }
}
