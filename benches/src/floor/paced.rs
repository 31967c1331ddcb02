//! The measured interval at a fixed rate: what a client on epoll must pay that
//! starts each transaction when it is due, and not later.
//!
//! Gaps are exponential, as pgbench's. Nothing is skipped: where no client is
//! idle, starts wait.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use super::drive::SILENCE_MAX;
use super::{Client, EVENTS_MAX, Length, READ_BYTES};

/// The timer's place among the events.
const TIMER: u64 = u64::MAX;

/// When transactions are due.
struct Pace {
    gap_mean_s: f64,
    /// State of a xorshift generator.
    state: u64,
    /// Since the beginning.
    due: Duration,
}

impl Pace {
    fn next(&mut self) {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        // 53 bits, above 0 and up to 1.
        let unit = ((self.state >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        self.due += Duration::from_secs_f64(-unit.ln() * self.gap_mean_s);
    }
}

/// Runs the clients at `tps` transactions per second and gives the number of
/// answers.
pub(super) fn drive(clients: &mut [Client], length: Length, tps: f64) -> io::Result<u64> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    for (index, client) in clients.iter().enumerate() {
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        epoll.add(&client.socket, EpollEvent::new(flags, index as u64))?;
    }
    let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
    let readable = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
    epoll.add(timer.as_fd(), EpollEvent::new(readable, TIMER))?;
    let silence = EpollTimeout::try_from(SILENCE_MAX).map_err(io::Error::other)?;
    let mut events = vec![EpollEvent::empty(); EVENTS_MAX];
    let mut input = vec![0; READ_BYTES];
    let mut idle: Vec<usize> = (0..clients.len()).rev().collect();
    let mut pace =
        Pace { gap_mean_s: 1.0 / tps, state: 0x9E37_79B9_7F4A_7C15, due: Duration::ZERO };
    let begin = Instant::now();
    let (mut answers, mut waiting, mut timed) = (0, 0_usize, Duration::ZERO);
    pace.next();
    loop {
        let now = begin.elapsed();
        let over = matches!(length, Length::Time(time) if now >= time);
        while !over && pace.due <= now {
            let Some(index) = idle.pop() else { break };
            // A client without a transaction left is idle no more.
            if clients[index].send(false)? {
                waiting += 1;
                pace.next();
            }
        }
        if waiting == 0 && (over || idle.is_empty()) {
            return Ok(answers);
        }
        // Set only when it changes: answers end more waits than starts do.
        if timed != pace.due && !over && !idle.is_empty() {
            timed = pace.due;
            let left = timed.saturating_sub(begin.elapsed()).max(Duration::from_nanos(1));
            let after = Expiration::OneShot(TimeSpec::from_duration(left));
            timer.set(after, TimerSetTimeFlags::empty())?;
        }
        let count = match epoll.wait(&mut events, silence) {
            Err(Errno::EINTR) => continue,
            Ok(0) => return Err(io::Error::new(ErrorKind::TimedOut, "no answer any more")),
            other => other?,
        };
        for event in events[..count].iter().filter(|event| event.data() != TIMER) {
            let index = event.data() as usize;
            if clients[index].receive(&mut input)? {
                answers += 1;
                waiting -= 1;
                idle.push(index);
            }
        }
    }
}
