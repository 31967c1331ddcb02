//! One thread, one epoll, many connections.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use socket2::Socket;

use super::Punctuality;
use super::clock::{Clock, now_ns};
use super::connection::{Connection, Sent};
use super::listen::Listeners;
use super::session::{Next, Session};

/// Events taken in one wake-up.
const EVENTS_MAX: usize = 1024;
/// Bytes read at once; a request is some hundred.
const READ_BYTES: usize = 1 << 16;

/// Data of events that belong to no connection; slots count from 0.
const EVENT_WAKE: u64 = u64::MAX;
const EVENT_TIMER: u64 = u64::MAX - 1;
const EVENT_LISTENER: u64 = u64::MAX - 256;

/// What other threads may tell a worker.
#[derive(Debug)]
pub(super) struct Inbox {
    sockets: Mutex<Vec<Socket>>,
    pub(super) stop: AtomicBool,
    event: EventFd,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let event = EventFd::from_flags(flags)?;
        Ok(Self { sockets: Mutex::default(), stop: AtomicBool::new(false), event })
    }

    pub(super) fn wake(&self) -> io::Result<()> {
        self.event.write(1)?;
        Ok(())
    }

    fn put(&self, socket: Socket) -> io::Result<()> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
        self.wake()
    }

    fn take(&self) -> Vec<Socket> {
        // Would block where it was woken before; the answer does not matter.
        let _ = self.event.read();
        std::mem::take(&mut self.sockets.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An answer that waits for its time.
#[derive(Debug)]
struct Due {
    at_ns: u64,
    slot: usize,
    serial: u64,
    length: usize,
}

/// The state of one worker thread.
#[derive(Debug)]
pub(super) struct Worker {
    index: usize,
    epoll: Epoll,
    listeners: Option<Listeners>,
    inboxes: Vec<Arc<Inbox>>,
    clock: Arc<Clock>,
    scale: u32,
    timer: TimerFd,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// Connections accepted so far: deals them out, and tells them apart.
    accepted: u64,
    due: VecDeque<Due>,
    /// Answers of the request being served.
    out: Vec<u8>,
    punctuality: Punctuality,
}

impl Worker {
    pub(super) fn new(
        index: usize,
        listeners: Option<Listeners>,
        inboxes: Vec<Arc<Inbox>>,
        clock: Arc<Clock>,
        scale: u32,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let read = |data| EpollEvent::new(EpollFlags::EPOLLIN, data);
        epoll.add(inboxes[index].event.as_fd(), read(EVENT_WAKE))?;
        epoll.add(timer.as_fd(), read(EVENT_TIMER))?;
        for (nth, socket) in listeners.iter().flat_map(|open| &open.sockets).enumerate() {
            epoll.add(socket, read(EVENT_LISTENER + nth as u64))?;
        }
        Ok(Self {
            index,
            epoll,
            listeners,
            inboxes,
            clock,
            scale,
            timer,
            slots: Vec::new(),
            free: Vec::new(),
            accepted: 0,
            due: VecDeque::new(),
            out: Vec::with_capacity(READ_BYTES),
            punctuality: Punctuality::default(),
        })
    }

    pub(super) fn run(mut self) -> io::Result<Punctuality> {
        let mut events = vec![EpollEvent::empty(); EVENTS_MAX];
        let mut input = vec![0; READ_BYTES];
        while !self.inboxes[self.index].stop.load(Ordering::Acquire) {
            let count = match self.epoll.wait(&mut events, EpollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                other => other?,
            };
            for event in &events[..count] {
                match event.data() {
                    EVENT_WAKE => self.adopt()?,
                    EVENT_TIMER => self.release_due()?,
                    data @ EVENT_LISTENER..EVENT_TIMER => {
                        self.accept((data - EVENT_LISTENER) as usize)?;
                    }
                    data => self.serve(data as usize, event.events(), &mut input)?,
                }
            }
        }
        Ok(self.punctuality)
    }

    fn accept(&mut self, nth: usize) -> io::Result<()> {
        loop {
            let Some(listener) = self.listeners.as_ref().and_then(|open| open.sockets.get(nth))
            else {
                return Ok(());
            };
            let Ok((socket, peer)) = listener.accept() else { return Ok(()) };
            if socket.set_nonblocking(true).is_err() {
                continue;
            }
            if !peer.is_unix() {
                // Only a matter of latency; the answer is the same without.
                let _ = socket.set_tcp_nodelay(true);
            }
            let target = (self.accepted % self.inboxes.len() as u64) as usize;
            self.accepted += 1;
            if target == self.index {
                self.insert(socket)?;
            } else {
                self.inboxes[target].put(socket)?;
            }
        }
    }

    fn adopt(&mut self) -> io::Result<()> {
        for socket in self.inboxes[self.index].take() {
            self.accepted += 1;
            self.insert(socket)?;
        }
        Ok(())
    }

    fn insert(&mut self, socket: Socket) -> io::Result<()> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        // Readable only: interest in writability would wake this thread each
        // time that a client reads from a Unix socket.
        let event = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, slot as u64);
        self.epoll.add(&socket, event)?;
        let session = Session::new(self.scale);
        self.slots[slot] = Some(Connection::new(socket, session, self.accepted));
        Ok(())
    }

    fn serve(&mut self, slot: usize, flags: EpollFlags, input: &mut [u8]) -> io::Result<()> {
        let Some(Some(connection)) = self.slots.get_mut(slot) else { return Ok(()) };
        if flags.contains(EpollFlags::EPOLLOUT) {
            match connection.unblock() {
                Ok(Sent::All) => self.listen_for(slot, EpollFlags::empty())?,
                Ok(Sent::Blocked) => {}
                Err(_) => return self.close(slot),
            }
        }
        while let Some(Some(connection)) = self.slots.get_mut(slot) {
            match (&connection.socket).read(input) {
                Ok(0) => return self.close(slot),
                Ok(count) => {
                    self.answer(slot, &input[..count])?;
                    // A short read emptied the socket; the edge will tell.
                    if count < input.len() {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.close(slot),
            }
        }
        Ok(())
    }

    fn answer(&mut self, slot: usize, bytes: &[u8]) -> io::Result<()> {
        let Some(Some(connection)) = self.slots.get_mut(slot) else { return Ok(()) };
        let was_ready = connection.session.is_ready();
        self.out.clear();
        let next = connection.session.feed(bytes, &mut self.out);
        if !was_ready && connection.session.is_ready() {
            self.clock.session_opened();
        }
        if was_ready && next == Next::Go && self.clock.holds() && !self.out.is_empty() {
            return self.hold(slot);
        }
        let sent = if self.out.is_empty() { Ok(Sent::All) } else { connection.send(&self.out) };
        match sent {
            Ok(_) if next == Next::Close => self.close(slot),
            Ok(Sent::All) => Ok(()),
            Ok(Sent::Blocked) => self.listen_for(slot, EpollFlags::EPOLLOUT),
            Err(_) => self.close(slot),
        }
    }

    /// Puts the answers in `out` into the queue.
    fn hold(&mut self, slot: usize) -> io::Result<()> {
        let Some(Some(connection)) = self.slots.get_mut(slot) else { return Ok(()) };
        connection.held.extend_from_slice(&self.out);
        let at_ns = self.clock.due_ns(now_ns());
        self.due.push_back(Due { at_ns, slot, serial: connection.serial, length: self.out.len() });
        if self.due.len() == 1 { self.arm(at_ns) } else { Ok(()) }
    }

    fn arm(&self, at_ns: u64) -> io::Result<()> {
        let at = std::time::Duration::from_nanos(at_ns);
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        Ok(self.timer.set(Expiration::OneShot(TimeSpec::from_duration(at)), flags)?)
    }

    /// Sends every answer whose time has come, and sets the timer to the next.
    fn release_due(&mut self) -> io::Result<()> {
        // Level-triggered: setting the timer anew, or reading it, quiets it.
        let _ = self.timer.unset();
        loop {
            let now = now_ns();
            let Some(first) = self.due.front() else { return Ok(()) };
            if first.at_ns > now {
                return self.arm(first.at_ns);
            }
            let Some(due) = self.due.pop_front() else { return Ok(()) };
            self.punctuality.add(now - due.at_ns);
            let Some(Some(connection)) = self.slots.get_mut(due.slot) else { continue };
            if connection.serial != due.serial {
                continue;
            }
            match connection.release(due.length) {
                Ok(Sent::All) => {}
                Ok(Sent::Blocked) => self.listen_for(due.slot, EpollFlags::EPOLLOUT)?,
                Err(_) => self.close(due.slot)?,
            }
        }
    }

    fn listen_for(&mut self, slot: usize, also: EpollFlags) -> io::Result<()> {
        let Some(Some(connection)) = self.slots.get(slot) else { return Ok(()) };
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLET | also;
        let mut event = EpollEvent::new(flags, slot as u64);
        Ok(self.epoll.modify(&connection.socket, &mut event)?)
    }

    fn close(&mut self, slot: usize) -> io::Result<()> {
        if let Some(connection) = self.slots.get_mut(slot).and_then(Option::take) {
            self.epoll.delete(&connection.socket)?;
            self.free.push(slot);
            if connection.session.is_ready() {
                self.clock.session_closed();
            }
        }
        Ok(())
    }
}
