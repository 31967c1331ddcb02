//! The worker's wait: which sockets are ready, or which moment has come.
//!
//! `mio` gives epoll and kqueue. It rounds a wait up to whole milliseconds,
//! which would spoil a schedule of thousands of transactions a second, so on
//! Linux the moment is a timerfd among the sockets. It is set when the moment
//! comes nearer, not for each wait: a timeout given to the wait itself would be
//! armed and disarmed each time that the worker sleeps.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};

/// How many ready sockets one wait may report. More stay ready for the next
/// wait; 1024 events are 12 KiB and keep one round short.
const EVENTS_MAX: usize = 1024;

/// The token of the waker and of the timer; clients have their index.
const TOKEN_WAKER: Token = Token(usize::MAX - 1);
#[cfg(target_os = "linux")]
const TOKEN_TIMER: Token = Token(usize::MAX - 2);

/// What a client's socket must be ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// Bytes to read.
    Read,
    /// Room to write; reading is watched as well, for errors and early replies.
    Write,
}

impl From<Want> for Interest {
    fn from(want: Want) -> Self {
        match want {
            Want::Read => Self::READABLE,
            Want::Write => Self::READABLE | Self::WRITABLE,
        }
    }
}

/// How long a wait may last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeout {
    /// From now on; none at all looks once.
    pub(crate) left: Duration,
    /// The moment at which that is over, in ns of the system's monotonic clock.
    pub(crate) at_ns: u64,
}

/// Edge-triggered readiness of many sockets, with waits in nanoseconds.
#[derive(Debug)]
pub(crate) struct Poller {
    poll: Poll,
    events: Events,
    waker: Arc<Waker>,
    #[cfg(target_os = "linux")]
    timer: Timer,
}

impl Poller {
    /// A new poller.
    ///
    /// # Errors
    /// Where the system has no more descriptors.
    pub(crate) fn new() -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), TOKEN_WAKER)?);
        #[cfg(target_os = "linux")]
        let timer = Timer::new(poll.registry())?;
        Ok(Self {
            poll,
            events: Events::with_capacity(EVENTS_MAX),
            waker,
            #[cfg(target_os = "linux")]
            timer,
        })
    }

    /// Something that other threads end a wait with.
    pub(crate) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    /// Starts watching a client's socket.
    pub(crate) fn add(&self, fd: RawFd, client: u32, want: Want) -> io::Result<()> {
        self.poll.registry().register(&mut SourceFd(&fd), Token(client as usize), want.into())
    }

    /// Stops watching a client's socket. One that is closed leaves by itself.
    pub(crate) fn remove(&self, fd: RawFd) -> io::Result<()> {
        self.poll.registry().deregister(&mut SourceFd(&fd))
    }

    /// Readable while the next wait would end at once. For a worker that waits
    /// for something else as well.
    pub(crate) fn fd(&self) -> RawFd {
        use std::os::fd::AsRawFd as _;
        self.poll.as_raw_fd()
    }

    /// Changes what a client's socket is watched for. Readiness that exists
    /// already is reported again.
    pub(crate) fn change(&self, fd: RawFd, client: u32, want: Want) -> io::Result<()> {
        self.poll.registry().reregister(&mut SourceFd(&fd), Token(client as usize), want.into())
    }

    /// Waits until a socket is ready, the waker was used, or `timeout` is over.
    /// `None` waits without end. It may end too early, for a moment that was
    /// given to a wait before: ask again.
    pub(crate) fn wait(&mut self, timeout: Option<Timeout>) -> io::Result<()> {
        let timeout = self.arm(timeout)?;
        match self.poll.poll(&mut self.events, timeout) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {
                self.events.clear();
                Ok(())
            }
            other => other,
        }
    }

    /// Puts the clients whose sockets are ready, each once, into `clients`, and
    /// whether the other side has closed: such a socket must be read to its
    /// end, since edge-triggered readiness is not reported a second time. To be
    /// called after each wait.
    pub(crate) fn ready(&mut self, clients: &mut Vec<(u32, bool)>) {
        clients.clear();
        for event in &self.events {
            let Token(index) = event.token();
            let closed = event.is_read_closed() || event.is_error();
            match u32::try_from(index) {
                Ok(index) => clients.push((index, closed)),
                #[cfg(target_os = "linux")]
                Err(_) if event.token() == TOKEN_TIMER => self.timer.has_gone_off(),
                Err(_) => {}
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn arm(&mut self, timeout: Option<Timeout>) -> io::Result<Option<Duration>> {
        match timeout {
            Some(t) if t.left > Duration::ZERO => {
                self.timer.set(t)?;
                Ok(None)
            }
            other => Ok(other.map(|t| t.left)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn arm(&mut self, timeout: Option<Timeout>) -> io::Result<Option<Duration>> {
        Ok(timeout.map(|t| t.left))
    }
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Timer {
    fd: nix::sys::timerfd::TimerFd,
    /// The moment that it is set to. While that is still to come, it need not be
    /// set again, not even for a later moment: a wait that ends too early is
    /// followed by another. 0 once it has gone off.
    at_ns: u64,
}

#[cfg(target_os = "linux")]
impl Timer {
    fn new(registry: &mio::Registry) -> io::Result<Self> {
        use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};
        use std::os::fd::{AsFd as _, AsRawFd as _};

        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let fd = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        // Edge-triggered: the expiry count need never be read.
        let raw = fd.as_fd().as_raw_fd();
        registry.register(&mut SourceFd(&raw), TOKEN_TIMER, Interest::READABLE)?;
        Ok(Self { fd, at_ns: 0 })
    }

    /// From its event, not from the clock: were the clock as read a nanosecond
    /// behind, the next wait would rely on a timer that is spent.
    fn has_gone_off(&mut self) {
        self.at_ns = 0;
    }

    fn set(&mut self, until: Timeout) -> io::Result<()> {
        use nix::sys::time::TimeSpec;
        use nix::sys::timerfd::{Expiration, TimerSetTimeFlags};

        let left_ns = u64::try_from(until.left.as_nanos()).unwrap_or(u64::MAX);
        let now_ns = until.at_ns.saturating_sub(left_ns);
        if self.at_ns >= now_ns && self.at_ns != 0 && self.at_ns <= until.at_ns {
            return Ok(());
        }
        let at = TimeSpec::from_duration(Duration::from_nanos(until.at_ns));
        self.fd.set(Expiration::OneShot(at), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        self.at_ns = until.at_ns;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn monotonic_ns() -> u64 {
        use nix::time::{ClockId, clock_gettime};
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
        now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
    }

    fn within(left: Duration) -> Timeout {
        Timeout { left, at_ns: monotonic_ns() + left.as_nanos() as u64 }
    }

    /// A wait of a fraction of a millisecond is not rounded up to one.
    #[test]
    #[cfg(target_os = "linux")]
    fn waits_are_finer_than_a_millisecond() {
        let mut poller = Poller::new().unwrap();
        let wait = Duration::from_micros(200);
        let best = (0..50)
            .map(|_| {
                let start = Instant::now();
                wait_until(&mut poller, within(wait));
                start.elapsed()
            })
            .min()
            .unwrap();
        assert!(best >= wait, "woke too early: {best:?}");
        assert!(best < Duration::from_millis(1), "rounded up: {best:?}");
    }

    /// A wait that something else ended goes on to the same moment, and one
    /// that is set to an earlier moment ends then.
    #[test]
    fn a_timer_outlives_the_wait() {
        let mut poller = Poller::new().unwrap();
        let far = within(Duration::from_millis(40));
        poller.waker().wake().unwrap();
        poller.wait(Some(far)).unwrap();
        assert_eq!(ready(&mut poller), []);
        let near = within(Duration::from_millis(1));
        for until in [near, far] {
            wait_until(&mut poller, until);
        }
        assert!(monotonic_ns() >= far.at_ns);
    }

    /// A later moment, asked for while an earlier one is still to come, is
    /// waited for as well, and so is one after that.
    #[test]
    fn a_later_moment_comes() {
        let mut poller = Poller::new().unwrap();
        let near = within(Duration::from_millis(5));
        poller.waker().wake().unwrap();
        poller.wait(Some(near)).unwrap();
        assert_eq!(ready(&mut poller), []);
        for left_ms in [20, 10, 30] {
            let until = within(Duration::from_millis(left_ms));
            wait_until(&mut poller, until);
            assert!(monotonic_ns() >= until.at_ns);
        }
    }

    fn wait_until(poller: &mut Poller, until: Timeout) {
        loop {
            let left_ns = until.at_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                return;
            }
            poller.wait(Some(Timeout { left: Duration::from_nanos(left_ns), ..until })).unwrap();
            assert_eq!(ready(poller), []);
        }
    }

    fn ready(poller: &mut Poller) -> Vec<(u32, bool)> {
        let mut clients = vec![(7, true)];
        poller.ready(&mut clients);
        clients
    }

    /// Another thread ends a wait that has no end.
    #[test]
    fn waker_ends_a_wait() {
        let mut poller = Poller::new().unwrap();
        let waker = poller.waker();
        let thread = std::thread::spawn(move || waker.wake().unwrap());
        poller.wait(None).unwrap();
        assert_eq!(ready(&mut poller), []);
        thread.join().unwrap();
    }
}
