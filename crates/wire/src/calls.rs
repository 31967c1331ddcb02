//! The two system calls of the request path: `send` and `recv`.
//!
//! The C library's are points at which a thread can be cancelled: in a process
//! of several threads each call turns cancellation on before it enters the
//! kernel and off behind it, two locked instructions for something that nothing
//! here ever asks for, and 1.6 % of a transaction's CPU on a Unix socket. On
//! Linux rustix enters the kernel directly and keeps the error out of
//! thread-local memory; on other systems it calls the C library. It brings no
//! unsafe code into this crate, as `libc::syscall` would.

use std::io;
use std::os::fd::AsFd;

use rustix::net::{RecvFlags, SendFlags};

/// A peer that is gone must be an error, not a signal.
#[cfg(target_os = "linux")]
const SEND_FLAGS: SendFlags = SendFlags::NOSIGNAL;
/// Elsewhere Rust's start-up code ignores SIGPIPE.
#[cfg(not(target_os = "linux"))]
const SEND_FLAGS: SendFlags = SendFlags::empty();

/// The last bytes wait for the end of the stream.
#[cfg(target_os = "linux")]
const LAST_FLAGS: SendFlags = SEND_FLAGS.union(SendFlags::MORE);
#[cfg(not(target_os = "linux"))]
const LAST_FLAGS: SendFlags = SEND_FLAGS;

/// Sends what the socket takes now, and says how much that is.
///
/// # Errors
/// `WouldBlock` where it takes nothing, `Interrupted`, or the socket's error.
#[inline]
pub(crate) fn send(socket: impl AsFd, data: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, data, SEND_FLAGS)?)
}

/// Sends bytes after which the socket will be closed.
///
/// # Errors
/// As [`send`].
pub(crate) fn send_last(socket: impl AsFd, data: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, data, LAST_FLAGS)?)
}

/// Receives what is there; 0 is the end of the stream.
///
/// # Errors
/// `WouldBlock` where nothing is there, `Interrupted`, or the socket's error.
#[inline]
pub(crate) fn recv(socket: impl AsFd, into: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, into, RecvFlags::empty())?.0)
}
