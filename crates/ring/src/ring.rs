//! The ring itself: requests in, completions out.
#![allow(unsafe_code, reason = "io_uring is shared memory and addresses")]

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, TimeoutFlags, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use nix::errno::Errno;
use nix::sys::socket::MsgFlags;

use crate::inbox::{Inbox, Memory};
use crate::refused::refused;
use crate::{Event, Key, Wait};

/// Requests that are handed to the kernel at once. A request may wait until so
/// many others are made: 64 take some 0.1 ms.
const SUBMISSIONS: u32 = 64;

/// Buffers for what comes in. A wait brings few answers at once (Linux since
/// 6.13 hands over some twenty), and the fewer buffers, the nearer the cache
/// that they lie in. Where they do not do, receives are begun anew.
const BUFFERS: u16 = 256;

/// The only group of buffers.
const GROUP: u16 = 0;

/// The kernel's limit of completions.
const COMPLETIONS_MAX: usize = 1 << 16;

/// Buffers for sends that are kept for the next ones.
const SPARES_MAX: usize = 1024;

/// A buffer for sends that grew beyond this is given back to the system.
const SPARE_BYTES_MAX: usize = 16 * 1024;

/// Room in a new buffer for sends.
const SPARE_BYTES: usize = 1024;

/// The kernel copies the bytes while it takes the request (`MSG_DONTWAIT`), or
/// says that it did not. A success makes no completion, so a short send must
/// not be one: `MSG_WAITALL`.
const SEND_FLAGS: MsgFlags =
    MsgFlags::MSG_DONTWAIT.union(MsgFlags::MSG_WAITALL).union(MsgFlags::MSG_NOSIGNAL);

/// What a completion is about, in the upper two bits of its user data.
const KIND_SHIFT: u32 = 62;
const RECEIVE: u64 = 0;
const SEND: u64 = 1;
const WATCH: u64 = 2;
const ALARM: u64 = 3;

/// What of a turn's number stands in the user data of a send.
const TURN_MASK: u32 = (1 << (KIND_SHIFT - 32)) - 1;

/// A ring for the connections of one thread.
pub struct Ring {
    // Dropped before the memory that the kernel writes through it.
    io: IoUring,
    memory: Arc<Memory>,
    /// What was handed over since the last wait: their number is the user data.
    sending: Vec<Sending>,
    spares: Vec<Vec<u8>>,
    turn: u32,
    alarms: Alarms,
}

struct Sending {
    key: Key,
    bytes: Vec<u8>,
}

/// The ends of waits. One that is set stays set over the waits that something
/// else ends: while it is still to come, a later moment needs none of its own.
#[derive(Default)]
struct Alarms {
    /// Those still to come, the next one last: each was set because it comes
    /// before all that were.
    at_ns: Vec<u64>,
    /// The last one for the kernel, which reads it when it takes the request:
    /// the ring may have moved by then, this does not.
    time: Box<Timespec>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("turn", &self.turn).finish_non_exhaustive()
    }
}

/// A ring for so many connections, and where their bytes arrive. The calling
/// thread becomes the only one that may use it.
///
/// # Errors
/// What the kernel or the container refused, and what a person can do.
pub fn open(connections: usize) -> io::Result<(Ring, Inbox)> {
    // Bytes that came are bounded by the buffers; what else completes are ends
    // of receives, also of connections that were closed, and failed sends.
    let completions = usize::from(BUFFERS) + 3 * connections + 2 * SUBMISSIONS as usize;
    let completions = completions.next_power_of_two().min(COMPLETIONS_MAX);
    let io = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_cqsize(completions as u32)
        .build(SUBMISSIONS)
        .map_err(|error| refused("io_uring_setup", &error))?;
    let features = io.params();
    if !features.is_feature_skip_cqe_on_success() || !features.is_feature_ext_arg() {
        let old = io::Error::from_raw_os_error(Errno::EINVAL as i32);
        return Err(refused("io_uring_setup", &old));
    }
    let inbox = Inbox::new(BUFFERS)?;
    let (memory, address, entries) = inbox.registration();
    // SAFETY: the ring holds the memory, and is closed before it lets go of it.
    unsafe { io.submitter().register_buf_ring_with_flags(address, entries, GROUP, 0) }
        .map_err(|error| refused("registering a ring of buffers", &error))?;
    let ring = Ring {
        io,
        memory,
        sending: Vec::new(),
        spares: Vec::new(),
        turn: 1,
        alarms: Alarms::default(),
    };
    Ok((ring, inbox))
}

impl Ring {
    /// The number of waits so far, never 0: what was sent in this turn has not
    /// necessarily reached the kernel.
    #[must_use]
    pub const fn turn(&self) -> u32 {
        self.turn
    }

    /// Has the next wait end when a descriptor is readable, once.
    ///
    /// # Errors
    /// The kernel takes no request.
    pub fn watch(&mut self, fd: RawFd) -> io::Result<()> {
        const READABLE: u32 = nix::poll::PollFlags::POLLIN.bits() as u32;
        let poll = opcode::PollAdd::new(Fd(fd), READABLE).build();
        self.push(&poll.user_data(WATCH << KIND_SHIFT))
    }

    /// Begins to receive on a non-blocking socket. It holds the socket: closing
    /// the descriptor does not close the connection, `shutdown` does.
    ///
    /// # Errors
    /// The kernel takes no request.
    pub fn receive(&mut self, fd: RawFd, key: Key) -> io::Result<()> {
        let receive = opcode::RecvMulti::new(Fd(fd), GROUP).build();
        self.push(&receive.user_data(receive_data(key)))
    }

    /// Queues bytes, to be handed over with the next [`Ring::submit`] or
    /// [`Ring::wait`]. One send of a connection in each turn: of two, the first
    /// might be refused and the second taken. The descriptor must stay open
    /// until then.
    ///
    /// # Errors
    /// The kernel takes no request; the bytes are lost.
    pub fn send(&mut self, fd: RawFd, key: Key, bytes: Vec<u8>) -> io::Result<()> {
        let data = SEND << KIND_SHIFT
            | u64::from(self.turn & TURN_MASK) << 32
            | u64::from(self.sending.len() as u32);
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let send = opcode::Send::new(Fd(fd), bytes.as_ptr(), length);
        let send = send.flags(SEND_FLAGS.bits()).build().flags(Flags::SKIP_SUCCESS);
        self.sending.push(Sending { key, bytes });
        self.push(&send.user_data(data))
    }

    /// An empty buffer for the next send.
    #[must_use]
    pub fn spare(&mut self) -> Vec<u8> {
        self.spares.pop().unwrap_or_else(|| Vec::with_capacity(SPARE_BYTES))
    }

    fn push(&mut self, entry: &Entry) -> io::Result<()> {
        loop {
            // SAFETY: a receive names no memory but the buffers, which outlive
            // the ring. The kernel reads an alarm's moment and copies the bytes
            // of a send (`SEND_FLAGS`) when it takes the request. Until then the
            // moment is in its box; the bytes are in `sending`, whose items may
            // move but not what they point to.
            match unsafe { self.io.submission().push(entry) } {
                Ok(()) => return Ok(()),
                Err(_) => self.submit()?,
            }
        }
    }

    /// Hands over all that is queued, without a wait. To be called before a
    /// descriptor is closed that may be named in it: its number may be another
    /// connection's by the time that the kernel reads it.
    ///
    /// # Errors
    /// The kernel takes no request.
    pub fn submit(&mut self) -> io::Result<()> {
        self.memory.publish();
        while !self.io.submission().is_empty() {
            match self.io.submit() {
                Ok(0) => return Err(io::Error::other("the kernel takes no request")),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Hands over what is queued, and has what has come completed.
    fn look(&mut self) -> io::Result<usize> {
        const GETEVENTS: u32 = 1;
        let queued = self.io.submission().len() as u32;
        // A wait for no time at all would set and take back a timer, which can
        // cost a hundred times as much as the look itself.
        // SAFETY: no argument is handed over.
        unsafe { self.io.submitter().enter::<()>(queued, 0, GETEVENTS, None) }
    }

    /// Hands over what is queued, waits for something, and puts all that there
    /// is into `events`. It may be nothing.
    ///
    /// # Errors
    /// The kernel takes no request.
    pub fn wait(
        &mut self,
        inbox: &mut Inbox,
        wait: Wait,
        events: &mut Vec<Event>,
    ) -> io::Result<()> {
        assert!(inbox.is_over(&self.memory), "another ring's inbox");
        events.clear();
        self.memory.publish();
        let result = match wait {
            Wait::Not => self.look(),
            Wait::Until { at_ns } => {
                self.set_alarm(at_ns)?;
                self.io.submit_and_wait(1)
            }
        };
        if let Err(error) = result {
            match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                // A signal came, or there are completions to be taken first.
                Errno::EINTR | Errno::EBUSY | Errno::EAGAIN => {}
                _ => return Err(error),
            }
        }
        self.collect(inbox, events)
    }

    fn set_alarm(&mut self, at_ns: u64) -> io::Result<()> {
        // 146 years; what stands above it says that it is an alarm.
        let at_ns = at_ns.min((1 << KIND_SHIFT) - 1);
        let alarms = &mut self.alarms;
        if alarms.at_ns.last().is_some_and(|next_ns| *next_ns <= at_ns) {
            return Ok(());
        }
        alarms.at_ns.push(at_ns);
        *alarms.time = Timespec::from(Duration::from_nanos(at_ns));
        let request = opcode::Timeout::new(&raw const *alarms.time).flags(TimeoutFlags::ABS);
        self.push(&request.build().user_data(ALARM << KIND_SHIFT | at_ns))
    }

    fn collect(&mut self, inbox: &mut Inbox, events: &mut Vec<Event>) -> io::Result<()> {
        for entry in self.io.completion() {
            let data = entry.user_data();
            match data >> KIND_SHIFT {
                ALARM => self.alarms.has_gone_off(data & !(ALARM << KIND_SHIFT)),
                SEND => events.push(unsent(&entry, self.turn, &mut self.sending)?),
                RECEIVE => events.push(received(&entry, inbox)),
                _ => events.push(Event::Readable),
            }
        }
        if !self.io.submission().is_empty() {
            // The kernel has not taken all; the rest is for the next wait.
            return Ok(());
        }
        // A turn is never 0, also after four billion.
        self.turn = self.turn.checked_add(1).unwrap_or(1);
        for sent in self.sending.drain(..) {
            let mut bytes = sent.bytes;
            let keeps = (1..=SPARE_BYTES_MAX).contains(&bytes.capacity());
            if keeps && self.spares.len() < SPARES_MAX {
                bytes.clear();
                self.spares.push(bytes);
            }
        }
        Ok(())
    }
}

impl Alarms {
    fn has_gone_off(&mut self, at_ns: u64) {
        if let Some(number) = self.at_ns.iter().rposition(|known_ns| *known_ns == at_ns) {
            self.at_ns.remove(number);
        }
    }
}

const fn receive_data(key: Key) -> u64 {
    let generation = (key.generation % Key::GENERATIONS) as u64;
    RECEIVE << KIND_SHIFT | generation << 32 | key.index as u64
}

/// A send that was not taken whole. It completes in the call that hands it
/// over, and so in its own turn; were it ever later, nobody could tell what
/// became of the request.
fn unsent(entry: &cqueue::Entry, turn: u32, sending: &mut [Sending]) -> io::Result<Event> {
    let (data, result) = (entry.user_data(), entry.result());
    let (of_turn, number) = ((data >> 32) as u32 & TURN_MASK, data as u32 as usize);
    let sent = sending.get_mut(number).filter(|_| of_turn == turn & TURN_MASK);
    let Some(sent) = sent else {
        return Err(io::Error::other("io_uring told of a send when its turn was over"));
    };
    // Below zero it is the negative error number.
    let taken = match usize::try_from(result).map_err(|_| Errno::from_raw(-result)) {
        Ok(count) => Ok(count),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(0),
        Err(errno) => Err(errno.into()),
    };
    Ok(Event::Unsent { key: sent.key, bytes: std::mem::take(&mut sent.bytes), taken })
}

fn received(entry: &cqueue::Entry, inbox: &mut Inbox) -> Event {
    let (data, flags, result) = (entry.user_data(), entry.flags(), entry.result());
    let generation = (data >> 32) as u32 % Key::GENERATIONS;
    let key = Key { index: data as u32, generation };
    let result = usize::try_from(result).map_err(|_| Errno::from_raw(-result));
    let buffer = cqueue::buffer_select(flags);
    match (result, buffer) {
        (Ok(bytes), Some(id)) if bytes > 0 => {
            let buffer = inbox.filled(id, bytes);
            return Event::Received { key, buffer, armed: cqueue::more(flags) };
        }
        (_, Some(id)) => inbox.give_back(inbox.filled(id, 0)),
        (_, None) => {}
    }
    match result {
        Ok(_) => Event::Ended { key, error: None },
        Err(Errno::ENOBUFS | Errno::EINTR) => Event::Starved { key },
        Err(errno) => Event::Ended { key, error: Some(errno.into()) },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]
mod tests {
    use super::*;
    use crate::probe;

    /// Short waits before a far moment leave nothing behind. The far alarm,
    /// which was still to come, was set anew after each of them: thousands
    /// within a second, and all went off together.
    #[test]
    fn alarms_do_not_pile_up() {
        if probe().is_err() {
            return;
        }
        const HOUR: Duration = Duration::from_secs(3600);
        let (mut ring, mut inbox) = open(1).unwrap();
        let Wait::Until { at_ns: far_ns } = Wait::within(HOUR) else { panic!("a moment") };
        let mut events = Vec::new();
        ring.set_alarm(far_ns).unwrap();
        ring.submit().unwrap();
        for _ in 0..20 {
            let near = Wait::within(Duration::from_micros(100));
            ring.wait(&mut inbox, near, &mut events).unwrap();
            assert_eq!(ring.alarms.at_ns, [far_ns]);
            ring.set_alarm(far_ns).unwrap();
            assert!(ring.io.submission().is_empty(), "set again");
        }
    }
}
