//! A worker: one thread, one event loop, many clients.
//!
//! The loop serves only the clients whose socket is ready or whose time has
//! come; what it does for a transaction does not depend on how many other
//! clients wait. Between two waits nothing is allocated, locked or sent.

mod advance;
mod client;
mod commands;
mod core;
mod endpoints;
mod failures;
pub(crate) mod log;
mod measure;
mod prepared;
mod procedure;
mod renew;
mod replies;
mod ring;
mod schedule;
mod session;
mod start;
mod turn;
mod usage;

use std::sync::mpsc::Receiver;
use std::time::Duration;

use pgdyno_record::driver::WorkerHealth;
use pgdyno_record::tally::Tally;
use pgdyno_script::choice::ScriptChoice;

use self::client::{Awaited, Client, State};
use self::core::Core;
pub(crate) use self::core::{Clock, Control, FromWorker};
pub(crate) use self::endpoints::told_flags;
use self::log::Log;
pub(crate) use self::measure::Interval;
pub(crate) use self::ring::{Boarding, READY_MIN};
pub(crate) use self::session::ConnectError;
pub(crate) use self::start::{Setup, start};
use crate::plan::RunPlan;
use crate::poller::Poller;
use crate::request::Requests;

/// How many connections a worker has under way at once while it starts. More
/// would only queue in the server's listen backlog.
const CONNECTING_MAX: usize = 64;

/// While clients connect, a wish to stop is looked for so often.
const CONNECTING_LOOK: Duration = Duration::from_millis(100);

/// The worker's read buffer: the replies of one wake-up, many times over.
const BUFFER_BYTES: usize = 64 * 1024;

/// What stays the same during a run.
#[derive(Clone, Copy)]
struct Cx<'a> {
    plan: &'a RunPlan,
    requests: &'a Requests,
    choice: &'a ScriptChoice,
    /// Some command has `\gset` or `\aset`.
    stores: bool,
    /// Somebody looks at rows: a command that stores, or terminals.
    reads_rows: bool,
}

/// Whether a client can go on at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Again,
    Wait,
}

/// What the coordinator says when all are connected.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Go {
    /// Run.
    Begin(Interval),
    /// Others could not connect.
    GiveUp,
}

/// What a worker leaves.
#[derive(Debug)]
pub(crate) struct WorkerResult {
    pub(crate) measured: Tally,
    pub(crate) warmup: Tally,
    pub(crate) drain: Tally,
    pub(crate) health: WorkerHealth,
    /// Its sessions ran on `io_uring`.
    pub(crate) on_ring: bool,
    pub(crate) aborted: u32,
    /// Scheduled starts that had passed without a client to make them.
    pub(crate) queued: u64,
    /// It wanted everything to end.
    pub(crate) gave_up: bool,
    /// When its last client ended.
    pub(crate) ended_ns: u64,
    /// When its measured interval ended, by plan or by an interrupt.
    pub(crate) stop_ns: u64,
    /// Why the run could not start.
    pub(crate) start_failure: Option<(u32, ConnectError)>,
    /// To be dropped by the thread that made the worker.
    pub(crate) _made_before: MadeBefore,
}

/// What holds descriptors that are older than the worker's thread. The thread
/// closes only its own copies of them (see [`own_descriptors`]).
#[derive(Debug)]
pub(crate) struct MadeBefore {
    _poller: Poller,
    _log: Option<Log>,
}

/// Gives the calling thread a table of descriptors of its own. In a table that
/// threads share, each system call on a socket takes and gives back a reference
/// to it: 80 to 100 ns of the 1.5 µs that a send and a receive on a Unix socket
/// take. What is open already is open in both tables, under the same number;
/// what is opened from now on belongs to this thread alone.
///
/// A system that refuses it, as some containers do, is only slower.
fn own_descriptors() {
    #[cfg(target_os = "linux")]
    let _ = nix::sched::unshare(nix::sched::CloneFlags::CLONE_FILES);
}

/// A worker and its clients.
pub(crate) struct Worker {
    core: Core,
    clients: Vec<Client>,
    setup: Setup,
    buffer: Vec<u8>,
    /// While the sessions are on a ring: where their answers arrive.
    reception: Option<ring::Reception>,
    /// How many clients its waits serve, where that decides on a ring.
    crowd: ring::Crowd,
}

impl Worker {
    /// Connects, waits for the others, runs, and ends its sessions.
    pub(crate) fn run(mut self, go: &Receiver<Go>) -> WorkerResult {
        own_descriptors();
        let setup = self.setup.clone();
        let cx = Cx {
            plan: &setup.plan,
            requests: &setup.requests,
            choice: &setup.choice,
            stores: setup.stores,
            reads_rows: setup.stores || setup.plan.terminals.is_some(),
        };
        let connected = cx.plan.reconnect || self.connect_all(cx);
        if connected && setup.boarding == Boarding::AtOnce {
            self.open_ring();
        }
        self.core.tell(FromWorker::Ready { connected });
        match go.recv() {
            Ok(Go::Begin(interval)) if connected => self.drive(cx, interval),
            _ => {}
        }
        self.finish()
    }

    /// Makes all sessions, some at a time; false where one failed.
    fn connect_all(&mut self, cx: Cx<'_>) -> bool {
        let mut next = 0;
        let total = self.clients.len();
        let mut told = 0;
        while (self.core.ready as usize) < total {
            if self.core.start_failure.is_some() || self.core.control.is_stopping() {
                return false;
            }
            while next < total && next - (self.core.ready as usize) < CONNECTING_MAX {
                renew::begin(&mut self.core, cx, &mut self.clients[next]);
                advance::advance(&mut self.core, cx, &mut self.clients[next]);
                next += 1;
            }
            if (self.core.ready as usize) < total {
                let timeout = self.until_next(CONNECTING_LOOK);
                self.turn(cx, timeout);
            }
            if self.core.ready >= told + 50 {
                told = self.core.ready;
                advance::tell_connected(&self.core);
            }
        }
        advance::tell_connected(&self.core);
        true
    }

    fn drive(&mut self, cx: Cx<'_>, interval: Interval) {
        let core = &mut self.core;
        core.begun = true;
        core.end_ns = interval.end_ns;
        core.schedule.begin(interval.begin_ns);
        core.tick();
        core.figures.begin(interval);
        let unix_us = core.clock.unix_us(core.now_ns);
        if let Some(log) = &mut core.log {
            log.start(unix_us);
        }
        self.begin_clients(cx, interval.begin_ns);
        while self.core.live > 0 && !self.core.control.is_abandoned() {
            let timeout = self.until_next(Duration::MAX);
            self.turn(cx, timeout);
            if self.core.now_ns >= self.core.figures.next_turn_ns() {
                self.core.turn_clock();
            }
            if self.core.control.is_stopping() {
                self.core.schedule.stop(self.core.now_ns);
                if !cx.plan.measure_drain {
                    self.core.figures.stop(self.core.now_ns);
                }
                self.stop_waiting(cx);
            }
        }
        self.abandon();
        let core = &mut self.core;
        core.schedule.end(core.now_ns.min(core.end_ns));
    }

    /// Lets every client begin, at once or when its place in the ramp comes.
    fn begin_clients(&mut self, cx: Cx<'_>, begin_ns: u64) {
        for client in self.clients.iter_mut().filter(|client| !client.has_ended()) {
            let due_ns = begin_ns + cx.plan.ramp_offset(client.id).as_nanos() as u64;
            // The clock is read for each: sending the first requests of
            // thousands of clients takes milliseconds.
            if self.core.tick() < due_ns {
                self.core.timers.add(due_ns, client.index);
            }
            client.state = State::Ramping { due_ns };
            advance::advance(&mut self.core, cx, client);
        }
    }

    /// After a wish to stop: clients that wait for the clock end at once.
    fn stop_waiting(&mut self, cx: Cx<'_>) {
        for client in &mut self.clients {
            if client.state.is_between_transactions() || client.state == State::Connecting {
                advance::advance(&mut self.core, cx, client);
            }
        }
    }

    /// Closes what is still open when there is no more time.
    fn abandon(&mut self) {
        for client in &mut self.clients {
            if client.has_ended() {
                continue;
            }
            if client.commit_in_flight && matches!(client.state, State::Awaiting(Awaited::Command))
            {
                advance::count(&mut self.core, client, advance::End::Unknown);
            }
            advance::finish(&mut self.core, client);
        }
    }

    fn finish(mut self) -> WorkerResult {
        let ended_ns = self.core.tick();
        for client in &mut self.clients {
            session::close(&mut self.core, client);
        }
        let on_ring = self.core.ring.is_some();
        // Its descriptor is this thread's own.
        self.core.ring = None;
        self.reception = None;
        let unix_us = self.core.clock.unix_us(ended_ns);
        if let Some(log) = &mut self.core.log
            && let Err(error) = log.finish(unix_us)
        {
            self.core.error(&format!("could not write to the transaction log: {error}"));
            self.core.gave_up = true;
        }
        let last = self.core.figures.end();
        // A second after the measured interval has nothing of its own.
        if self.core.begun && !last.is_empty() {
            let second = Box::new(last);
            self.core.tell(FromWorker::Second { worker: self.core.index, second, closing: true });
        }
        self.core.tell(FromWorker::Ended { worker: self.core.index });
        self.into_result(ended_ns, on_ring)
    }

    fn into_result(self, ended_ns: u64, on_ring: bool) -> WorkerResult {
        let core = self.core;
        let mut figures = core.figures;
        if !core.schedule.exists() {
            figures.service_is_response();
        }
        let used = figures.usage_at_stop.unwrap_or_default().since(figures.usage_at_start);
        let stop_ns = figures.stop_ns();
        let wall_ns = ended_ns.min(stop_ns).saturating_sub(figures.start_ns());
        let health = WorkerHealth {
            clients: self.clients.len() as u32,
            cpu_user_us: used.user_us,
            cpu_system_us: used.system_us,
            cpu_wait: used.wait,
            wall_us: wall_ns / 1000,
            transactions: figures.measured.total().finished(),
            loop_delay: core.loop_delay,
        };
        WorkerResult {
            measured: figures.measured,
            warmup: figures.warmup,
            drain: figures.drain,
            health,
            on_ring,
            aborted: core.aborted,
            queued: core.schedule.queued(),
            gave_up: core.gave_up,
            ended_ns,
            stop_ns,
            start_failure: core.start_failure,
            _made_before: MadeBefore { _poller: core.poller, _log: core.log },
        }
    }
}
