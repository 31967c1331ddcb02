//! The ring: what the measured interval asks of the kernel, and nothing more.
#![allow(unsafe_code, reason = "io_uring is shared memory and addresses")]

use std::io::{self, ErrorKind};
use std::marker::PhantomData;
use std::os::fd::RawFd;
use std::time::Duration;

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use nix::errno::Errno;

use super::buffers::Buffers;

/// Requests that are handed to the kernel at once. More in a turn cost one
/// more system call for each 256.
const SUBMISSIONS: u32 = 256;

/// The only group of buffers.
const GROUP: u16 = 0;

/// Stands in the user data of a send; that of a receive is the bare slot.
const SEND: u64 = 1 << 32;

/// `MSG_WAITALL` has the kernel finish a short send by itself: a success makes
/// no completion, so nobody would see the length. `MSG_NOSIGNAL` as ever.
const SEND_FLAGS: i32 = libc_flags::WAITALL | libc_flags::NOSIGNAL;

mod libc_flags {
    use nix::sys::socket::MsgFlags;
    pub(super) const WAITALL: i32 = MsgFlags::MSG_WAITALL.bits();
    pub(super) const NOSIGNAL: i32 = MsgFlags::MSG_NOSIGNAL.bits();
}

/// A ring with its buffers. What is sent must live as long as `'a`: a send may
/// be under way until the ring is gone.
pub(super) struct Ring<'a> {
    // Dropped before the buffers, which the kernel writes through it.
    io: IoUring,
    buffers: Buffers,
    silence: Timespec,
    sent: PhantomData<&'a [u8]>,
}

/// A completion.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// Bytes came, or with a count of 0 the end of the connection.
    Received { slot: usize, buffer: Option<u16>, count: usize, armed: bool },
    /// There was no buffer; the receive has ended.
    Starved { slot: usize },
}

/// Whether the kernel and the container allow all that is needed.
pub(super) fn probe() -> io::Result<()> {
    Ring::new(&[], 1, Duration::ZERO).map(drop)
}

impl<'a> Ring<'a> {
    /// A ring over these connections, which become slots 0, 1, ….
    pub(super) fn new(sockets: &[RawFd], buffers: usize, silence: Duration) -> io::Result<Self> {
        let completions = u32::try_from(sockets.len() * 2).unwrap_or(u32::MAX);
        let io = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(completions.next_power_of_two().max(SUBMISSIONS * 2))
            .build(SUBMISSIONS)
            .map_err(|error| refused("io_uring_setup", &error))?;
        if !io.params().is_feature_skip_cqe_on_success() || !io.params().is_feature_ext_arg() {
            return Err(io::Error::new(ErrorKind::Unsupported, "io_uring is too old here"));
        }
        let submitter = io.submitter();
        if !sockets.is_empty() {
            let done = submitter.register_files(sockets);
            done.map_err(|error| refused("registering files", &error))?;
        }
        let buffers = Buffers::new(buffers)?;
        let (address, entries) = buffers.registration();
        // SAFETY: the memory outlives the ring, see the order of the fields.
        unsafe { submitter.register_buf_ring_with_flags(address, entries, GROUP, 0) }
            .map_err(|error| refused("registering a ring of buffers", &error))?;
        let silence = Timespec::from(silence);
        Ok(Self { io, buffers, silence, sent: PhantomData })
    }

    /// Begins the receive of a slot.
    pub(super) fn arm(&mut self, slot: usize) -> io::Result<()> {
        let receive = opcode::RecvMulti::new(Fixed(slot as u32), GROUP).build();
        self.push(&receive.user_data(slot as u64))
    }

    /// Queues a send on a slot.
    pub(super) fn send(&mut self, slot: usize, bytes: &'a [u8]) -> io::Result<()> {
        let send = opcode::Send::new(Fixed(slot as u32), bytes.as_ptr(), bytes.len() as u32);
        let send = send.flags(SEND_FLAGS).build().flags(Flags::SKIP_SUCCESS);
        self.push(&send.user_data(slot as u64 | SEND))
    }

    fn push(&mut self, entry: &Entry) -> io::Result<()> {
        loop {
            // SAFETY: a receive names no memory but the buffers, which outlive
            // the ring; a send names bytes that live as long as `'a`.
            match unsafe { self.io.submission().push(entry) } {
                Ok(()) => return Ok(()),
                Err(_) => self.io.submit().map(drop)?,
            }
        }
    }

    /// Hands over what is queued and waits for a completion.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        self.buffers.publish();
        let arguments = SubmitArgs::new().timespec(&self.silence);
        match self.io.submitter().submit_with_args(1, &arguments) {
            Ok(_) => Ok(()),
            Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                // There are completions to be taken first.
                Errno::EBUSY | Errno::EINTR => Ok(()),
                Errno::ETIME => Err(io::Error::new(ErrorKind::TimedOut, "no answer any more")),
                _ => Err(error),
            },
        }
    }

    /// The next completion; `None` where there is none yet.
    pub(super) fn next(&mut self) -> io::Result<Option<Event>> {
        let Some(entry) = self.io.completion().next() else { return Ok(None) };
        let (slot, flags) = (entry.user_data(), entry.flags());
        let count = match usize::try_from(entry.result()) {
            Ok(count) => count,
            Err(_) if entry.result() == -(Errno::ENOBUFS as i32) => {
                return Ok(Some(Event::Starved { slot: slot as usize }));
            }
            Err(_) => return Err(io::Error::from_raw_os_error(-entry.result())),
        };
        if slot & SEND != 0 {
            let short = format!("a send ended after {count} bytes");
            return Err(io::Error::new(ErrorKind::WriteZero, short));
        }
        let buffer = cqueue::buffer_select(flags);
        Ok(Some(Event::Received { slot: slot as usize, buffer, count, armed: cqueue::more(flags) }))
    }

    /// The bytes of a buffer that a completion named.
    pub(super) fn bytes(&self, buffer: u16, count: usize) -> &[u8] {
        self.buffers.bytes(buffer, count)
    }

    /// Gives a buffer back, from the next wait on.
    pub(super) fn give_back(&mut self, buffer: u16) {
        self.buffers.give_back(buffer);
    }
}

/// What a person can do about a refusal.
fn refused(what: &str, error: &io::Error) -> io::Error {
    let hint = match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
        Errno::EPERM | Errno::EACCES => {
            "forbidden: by the container's seccomp profile, or by sysctl kernel.io_uring_disabled"
        }
        Errno::ENOSYS => "this kernel has none, or a seccomp profile hides it",
        Errno::EINVAL => "this kernel is too old: Linux 6.1 is needed",
        Errno::ENOMEM => "too little memory may be locked: see ulimit -l",
        _ => "",
    };
    let hint = if hint.is_empty() { String::new() } else { format!(" ({hint})") };
    io::Error::new(error.kind(), format!("io_uring is not to be had: {what}: {error}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A refusal names the reason that a person can act on.
    #[test]
    fn refusals_are_explained() {
        let words = |errno: Errno| {
            refused("io_uring_setup", &io::Error::from_raw_os_error(errno as i32)).to_string()
        };
        assert!(words(Errno::EPERM).contains("kernel.io_uring_disabled"));
        assert!(words(Errno::EINVAL).contains("6.1"));
        assert!(words(Errno::ENOSYS).contains("seccomp"));
        assert!(!words(Errno::EIO).contains("()"));
    }
}
