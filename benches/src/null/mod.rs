//! A tiny PostgreSQL front that answers any sync at once.
//!
//! It speaks enough of the protocol for pgbench, sysbench and pgdyno to start
//! and to run: trust authentication, simple and extended queries, transaction
//! status. It parses no SQL beyond the first keyword and keeps no data. What a
//! client costs against it is the client's own cost and the kernel's.
//!
//! With a delay it answers after a known time, and with stalls it falls silent
//! at known times: that is the truth against which a load generator's latency
//! clock is tested.

mod answer;
mod clock;
mod connection;
mod listen;
mod session;
mod worker;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use clock::Clock;
use listen::Listeners;
use worker::{Inbox, Worker};

/// How the null server behaves.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address for TCP; `None` does not listen on TCP.
    pub host: Option<String>,
    /// The port, also in the name of the Unix socket; 0 takes a free one.
    pub port: u16,
    /// The folder of the Unix socket `.s.PGSQL.<port>`; `None` makes none.
    pub socket_dir: Option<PathBuf>,
    /// Worker threads, each with its own epoll; at least 1.
    pub threads: usize,
    /// The time between a request's arrival and its answer.
    pub delay: Duration,
    /// A stall begins after each such time, counted from the moment when the
    /// first session opened while no other was open; zero means no stalls.
    pub stall_every: Duration,
    /// How long a stall lasts. Answers that are due in it leave at its end.
    pub stall: Duration,
    /// What `select count(*) from pgbench_branches` says.
    pub scale: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host: Some("127.0.0.1".to_owned()),
            port: 0,
            socket_dir: None,
            threads: 1,
            delay: Duration::ZERO,
            stall_every: Duration::ZERO,
            stall: Duration::ZERO,
            scale: 1,
        }
    }
}

/// What the server can say about its own punctuality.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Punctuality {
    /// Answers that were held back by a delay or a stall.
    pub answers: u64,
    /// The sum of their lateness: time of sending minus time due, in ns.
    pub late_ns_sum: u64,
    /// The greatest lateness, in ns.
    pub late_ns_max: u64,
}

impl Punctuality {
    fn add(&mut self, late_ns: u64) {
        self.answers += 1;
        self.late_ns_sum += late_ns;
        self.late_ns_max = self.late_ns_max.max(late_ns);
    }

    fn merge(&mut self, other: Self) {
        self.answers += other.answers;
        self.late_ns_sum += other.late_ns_sum;
        self.late_ns_max = self.late_ns_max.max(other.late_ns_max);
    }

    /// The mean lateness in microseconds; zero where nothing was held.
    #[must_use]
    pub fn late_us_mean(&self) -> f64 {
        if self.answers == 0 {
            return 0.0;
        }
        self.late_ns_sum as f64 / self.answers as f64 / 1e3
    }
}

/// A running null server. Dropping it stops it.
#[derive(Debug)]
pub struct NullServer {
    tcp: Option<SocketAddr>,
    port: u16,
    unix: Option<PathBuf>,
    inboxes: Vec<Arc<Inbox>>,
    workers: Vec<JoinHandle<io::Result<Punctuality>>>,
}

impl NullServer {
    /// Opens the sockets and starts the worker threads. Connections are
    /// accepted from the moment that this returns.
    ///
    /// # Errors
    /// A socket could not be opened, a thread or its epoll not be made, or
    /// neither TCP nor a Unix socket was asked for.
    pub fn start(config: &Config) -> io::Result<Self> {
        let listeners = Listeners::open(config)?;
        let (tcp, port, unix) = (listeners.tcp_address, listeners.port, listeners.path.clone());
        let inboxes = (0..config.threads.max(1))
            .map(|_| Inbox::new().map(Arc::new))
            .collect::<io::Result<Vec<_>>>()?;
        let clock = Arc::new(Clock::new(config));
        let mut server = Self { tcp, port, unix, inboxes: inboxes.clone(), workers: Vec::new() };
        let mut listeners = Some(listeners);
        for index in 0..inboxes.len() {
            let worker = Worker::new(
                index,
                listeners.take(),
                inboxes.clone(),
                Arc::clone(&clock),
                config.scale,
            )?;
            let thread = std::thread::Builder::new().name(format!("null-{index}"));
            server.workers.push(thread.spawn(move || worker.run())?);
        }
        Ok(server)
    }

    /// The TCP address that it listens on.
    #[must_use]
    pub fn tcp(&self) -> Option<SocketAddr> {
        self.tcp
    }

    /// The port, of TCP and in the name of the Unix socket.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path of the Unix socket.
    #[must_use]
    pub fn unix(&self) -> Option<&PathBuf> {
        self.unix.as_ref()
    }

    /// Stops the threads and removes the Unix socket.
    ///
    /// # Errors
    /// A worker had ended with an error of epoll or of a timer.
    pub fn stop(mut self) -> io::Result<Punctuality> {
        self.end()
    }

    fn end(&mut self) -> io::Result<Punctuality> {
        for inbox in &self.inboxes {
            inbox.stop.store(true, Ordering::Release);
            inbox.wake()?;
        }
        let mut sum = Punctuality::default();
        for worker in self.workers.drain(..) {
            let ended = worker.join().map_err(|_| io::Error::other("a worker panicked"))?;
            sum.merge(ended?);
        }
        if let Some(path) = self.unix.take() {
            std::fs::remove_file(path)?;
        }
        Ok(sum)
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        // Who wants to know how it ended calls `stop`.
        let _ = self.end();
    }
}
