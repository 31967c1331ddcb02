//! The coordinator: starts workers, keeps the clock, gathers what they measured.
//!
//! It runs in the caller's thread and touches no socket. While the workers
//! measure, it only adds up finished seconds and listens for a wish to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use mio::Waker;
use pgdyno_record::tally::Tally;
use pgdyno_record::timeline::Timeline;
use pgdyno_script::choice::ScriptChoice;
use pgdyno_script::names::DEFAULT_SEED;
use pgdyno_script::random::Streams;

use crate::connect::ConnectLimiter;
use crate::observe::Observer;
use crate::outcome::{Acknowledged, ClientError, ERRORS_KEPT_MAX, Ended, RunOutcome};
use crate::plan::{ClockStart, DRAIN_MAX, Limit, PollerChoice, RunPlan};
use crate::request::Requests;
use crate::worker::{
    self, Boarding, Clock, Control, FromWorker, Go, Interval, Setup, WorkerResult,
};

/// How often a wish to stop is looked for; a person does not notice less.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Why a run did not begin. Nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A statement that cannot be sent.
    #[error("a statement cannot be sent: {0}")]
    Encode(#[from] pgdyno_wire::frontend::EncodeError),
    /// No transaction type has a weight.
    #[error(transparent)]
    Script(#[from] pgdyno_script::ScriptError),
    /// The system gave no thread, descriptor or log file.
    #[error("worker {worker} cannot start: {error}")]
    Worker {
        /// Its index.
        worker: u32,
        /// The system's words.
        error: std::io::Error,
    },
    /// `io_uring` was asked for by name.
    #[error("{0}")]
    Poller(std::io::Error),
    /// A client could not connect.
    #[error("could not create connection for client {client}: {text}")]
    Connect {
        /// Its number.
        client: u32,
        /// What libpq would say.
        text: String,
        /// SQLSTATE, where the server gave one.
        sqlstate: Option<String>,
    },
    /// Somebody asked for the end before it began.
    #[error("interrupted before the run began")]
    Interrupted,
    /// A worker panicked: a fault of pgdyno's.
    #[error("worker {worker} ended unexpectedly; this is a fault of pgdyno")]
    Panicked {
        /// Its index.
        worker: u32,
    },
}

/// Runs a plan.
///
/// Once `interrupt` is set no transaction begins any more; those under way may
/// finish within [`DRAIN_MAX`], and what was measured is given back.
///
/// # Errors
/// Only where nothing was measured. What happens later is in the outcome.
pub fn run(
    plan: RunPlan,
    observer: Arc<dyn Observer>,
    interrupt: &AtomicBool,
) -> Result<RunOutcome, RunError> {
    let setup = make_setup(plan, observer)?;
    let (to_coordinator, from_workers) = channel();
    let crew = Crew::start(&setup, &to_coordinator)?;
    drop(to_coordinator);
    let connect_begin_ns = setup.clock.now_ns();
    let mut gathered = Gathered::new(crew.threads.len());
    let connected = crew.await_ready(&setup, &from_workers, &mut gathered, interrupt);
    let begin_ns = setup.clock.now_ns();
    let interval = interval(&setup.plan, connect_begin_ns, begin_ns);
    let until_measured = Duration::from_nanos(interval.start_ns.saturating_sub(begin_ns));
    let started_at = SystemTime::now() + until_measured;
    if connected {
        setup.observer.begins(Instant::now() + until_measured);
    }
    crew.say(if connected { Go::Begin(interval) } else { Go::GiveUp });
    if connected {
        crew.oversee(&setup, &from_workers, &mut gathered, interrupt);
    }
    let results = crew.join()?;
    if let Some((client, error)) = results.iter().find_map(|result| result.start_failure.clone()) {
        return Err(RunError::Connect { client, text: error.text, sqlstate: error.sqlstate });
    }
    if !connected {
        return Err(RunError::Interrupted);
    }
    let connecting = Duration::from_nanos(begin_ns - connect_begin_ns);
    Ok(outcome(&setup, gathered, results, &Times { connecting, interval, started_at }))
}

fn make_setup(plan: RunPlan, observer: Arc<dyn Observer>) -> Result<Setup, RunError> {
    let requests = Requests::new(&plan.program)?;
    let weights: Vec<u32> = plan.program.types.iter().map(|kind| kind.weight).collect();
    let choice = ScriptChoice::new(&weights)?;
    let default_seed_given = plan
        .program
        .names
        .lookup(DEFAULT_SEED.as_bytes())
        .is_some_and(|slot| plan.program.initial.is_set(slot));
    let streams = Streams::new(plan.seed, plan.clients.get() as usize, default_seed_given);
    let stores = plan.program.types.iter().any(|kind| {
        kind.script.commands.iter().any(|c| c.kind.sql().is_some_and(|sql| sql.store.is_some()))
    });
    let limiter = plan.connect.rate.map(|rate| Arc::new(ConnectLimiter::new(rate)));
    let endpoints_told = worker::told_flags(&plan);
    let boarding = boarding(&plan)?;
    Ok(Setup {
        boarding,
        plan: Arc::new(plan),
        requests: Arc::new(requests),
        choice: Arc::new(choice),
        streams,
        stores,
        observer,
        control: Arc::new(Control::default()),
        clock: Clock::start(),
        limiter,
        endpoints_told,
    })
}

/// How workers wait where they wait for readiness.
const READINESS: &str =
    if cfg!(any(target_os = "linux", target_os = "android")) { "epoll" } else { "kqueue" };

/// When workers take to `io_uring`, if it is to be had. A session for each
/// transaction has nothing of it: the ring carries those that stay.
fn boarding(plan: &RunPlan) -> Result<Boarding, RunError> {
    let clients = u64::from(plan.clients.get() / plan.workers.get());
    match plan.poller {
        _ if plan.reconnect => Ok(Boarding::Never),
        PollerChoice::Readiness => Ok(Boarding::Never),
        PollerChoice::Auto if clients < worker::READY_MIN => Ok(Boarding::Never),
        PollerChoice::Auto => match pgdyno_ring::probe() {
            Ok(()) => Ok(Boarding::WhenCrowded),
            Err(_) => Ok(Boarding::Never),
        },
        PollerChoice::IoUring => match pgdyno_ring::probe() {
            Ok(()) => Ok(Boarding::AtOnce),
            Err(error) => Err(RunError::Poller(error)),
        },
    }
}

fn interval(plan: &RunPlan, connect_begin_ns: u64, begin_ns: u64) -> Interval {
    let from_ns = match plan.clock_start {
        ClockStart::BeforeConnecting => connect_begin_ns,
        ClockStart::AfterConnecting => begin_ns,
    };
    let warm_ns = from_ns + plan.warmup.as_nanos() as u64;
    // A ramp begins when all are connected. Without one, pgbench's clock, which
    // runs from before connecting, must not be set forward.
    let start_ns = match plan.ramp.as_nanos() as u64 {
        0 => warm_ns,
        ramp_ns => warm_ns.max(begin_ns + ramp_ns),
    };
    let end_ns = match plan.limit {
        Limit::Duration(duration) => start_ns + duration.as_nanos() as u64,
        Limit::Transactions(_) => u64::MAX,
    };
    let stop_ns = if plan.measure_drain { u64::MAX } else { end_ns };
    Interval { begin_ns, start_ns, end_ns, stop_ns }
}

/// The workers' threads, and the ways to reach them.
struct Crew {
    threads: Vec<JoinHandle<WorkerResult>>,
    go: Vec<Sender<Go>>,
    wakers: Vec<Arc<Waker>>,
}

impl Crew {
    fn start(setup: &Setup, to_coordinator: &Sender<FromWorker>) -> Result<Self, RunError> {
        let mut crew = Self { threads: Vec::new(), go: Vec::new(), wakers: Vec::new() };
        for index in 0..setup.plan.workers.get() {
            let failed = |error| RunError::Worker { worker: index, error };
            let started = worker::start(setup, index, to_coordinator.clone());
            let (worker, waker) = started.map_err(|error| {
                crew.give_up(setup);
                failed(error)
            })?;
            let (go, wait_for_go) = channel();
            let thread = std::thread::Builder::new()
                .name(format!("worker {index}"))
                .spawn(move || worker.run(&wait_for_go))
                .map_err(|error| {
                    crew.give_up(setup);
                    failed(error)
                })?;
            crew.threads.push(thread);
            crew.go.push(go);
            crew.wakers.push(waker);
        }
        Ok(crew)
    }

    /// Ends workers that have been started, because another could not be.
    fn give_up(&self, setup: &Setup) {
        setup.control.abandon();
        self.say(Go::GiveUp);
        self.wake();
    }

    fn say(&self, go: Go) {
        for sender in &self.go {
            // A worker that is gone will be missed when it is joined.
            let _ = sender.send(go);
        }
    }

    fn wake(&self) {
        for waker in &self.wakers {
            let _ = waker.wake();
        }
    }

    /// True when all clients of all workers are connected.
    fn await_ready(
        &self,
        setup: &Setup,
        from_workers: &Receiver<FromWorker>,
        gathered: &mut Gathered,
        interrupt: &AtomicBool,
    ) -> bool {
        let clients = setup.plan.clients.get();
        let mut ready = 0;
        while ready < self.threads.len() {
            if interrupt.load(Ordering::Relaxed) && !setup.control.is_stopping() {
                setup.control.stop();
                self.wake();
            }
            match from_workers.recv_timeout(LOOK_EVERY) {
                Ok(FromWorker::Connected { worker, clients: count }) => {
                    gathered.connected[worker as usize] = count;
                    let sum = gathered.connected.iter().sum();
                    setup.observer.connecting(sum, clients);
                }
                Ok(FromWorker::Ready { connected }) => {
                    ready += 1;
                    gathered.all_connected &= connected;
                    if !connected {
                        setup.control.stop();
                        self.wake();
                    }
                }
                Ok(other) => gathered.take(setup, other),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        gathered.all_connected && !setup.control.is_stopping()
    }

    /// Listens until all workers have ended.
    fn oversee(
        &self,
        setup: &Setup,
        from_workers: &Receiver<FromWorker>,
        gathered: &mut Gathered,
        interrupt: &AtomicBool,
    ) {
        let mut stop_at: Option<Instant> = None;
        loop {
            if interrupt.load(Ordering::Relaxed) && stop_at.is_none() {
                gathered.interrupted = true;
                setup.control.stop();
                stop_at = Some(Instant::now() + DRAIN_MAX);
                self.wake();
            }
            if stop_at.is_some_and(|at| Instant::now() >= at) && !setup.control.is_abandoned() {
                setup.control.abandon();
                self.wake();
            }
            match from_workers.recv_timeout(LOOK_EVERY) {
                Ok(message) => {
                    let aborted = matches!(message, FromWorker::Aborted { .. });
                    gathered.take(setup, message);
                    if aborted && setup.plan.exit_on_abort {
                        setup.control.abandon();
                        self.wake();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn join(self) -> Result<Vec<WorkerResult>, RunError> {
        drop(self.go);
        let mut results = Vec::with_capacity(self.threads.len());
        for (worker, thread) in self.threads.into_iter().enumerate() {
            let panicked = |_| RunError::Panicked { worker: worker as u32 };
            results.push(thread.join().map_err(panicked)?);
        }
        Ok(results)
    }
}

/// What the workers said while they ran.
struct Gathered {
    connected: Vec<u32>,
    all_connected: bool,
    timeline: Timeline,
    /// The last second that the observer was told of.
    told: Option<i64>,
    errors: Vec<ClientError>,
    interrupted: bool,
    /// Workers that have ended.
    ended: usize,
}

impl Gathered {
    fn new(workers: usize) -> Self {
        Self {
            connected: vec![0; workers],
            all_connected: true,
            timeline: Timeline::new(workers),
            told: None,
            errors: Vec::new(),
            interrupted: false,
            ended: 0,
        }
    }

    fn take(&mut self, setup: &Setup, message: FromWorker) {
        match message {
            FromWorker::Second { worker, second, closing } => {
                self.timeline.add(worker as usize, *second);
                if !closing {
                    self.tell_seconds(setup);
                }
            }
            FromWorker::Ended { worker } => {
                self.timeline.worker_ended(worker as usize);
                self.ended += 1;
                // What the last worker leaves is not a full second.
                if self.ended < self.connected.len() {
                    self.tell_seconds(setup);
                }
            }
            FromWorker::Aborted { worker, error } => {
                setup.observer.aborted(worker, &error);
                self.keep_error(error);
            }
            FromWorker::Connected { .. } | FromWorker::Ready { .. } => {}
        }
    }

    /// Clients that fail the same way are one error with a count.
    fn keep_error(&mut self, error: ClientError) {
        let alike = |known: &&mut ClientError| {
            known.sqlstate == error.sqlstate
                && known.endpoint == error.endpoint
                && (error.sqlstate.is_some() || cause(&known.text) == cause(&error.text))
        };
        if let Some(known) = self.errors.iter_mut().find(alike) {
            known.count += 1;
        } else if self.errors.len() < ERRORS_KEPT_MAX {
            self.errors.push(error);
        }
    }

    fn tell_seconds(&mut self, setup: &Setup) {
        let points = self.timeline.points();
        let from = match self.told {
            Some(told) => points.partition_point(|point| point.second <= told),
            None => 0,
        };
        for point in &points[from..] {
            setup.observer.second(point);
        }
        self.told = points.last().map(|point| point.second).or(self.told);
    }
}

/// What happened to a client, without its number and without the statement
/// that it happened to: a server that dies meets each client at another one.
fn cause(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("client ") else { return text };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.split_once(": ") {
        Some((place, words)) if place.contains(" aborted in command ") => words,
        _ => rest,
    }
}

struct Times {
    connecting: Duration,
    interval: Interval,
    started_at: SystemTime,
}

fn outcome(
    setup: &Setup,
    gathered: Gathered,
    results: Vec<WorkerResult>,
    times: &Times,
) -> RunOutcome {
    let scripts = setup.plan.program.types.len();
    let (mut tally, mut warmup, mut drain) = (Tally::default(), Tally::default(), Tally::default());
    let mut acknowledged = Acknowledged::new(scripts);
    for result in &results {
        tally.merge(&result.measured);
        warmup.merge(&result.warmup);
        drain.merge(&result.drain);
        for part in [&result.measured, &result.warmup, &result.drain] {
            acknowledged.add(part);
        }
    }
    let ended_ns = results.iter().map(|result| result.ended_ns).max().unwrap_or_default();
    // An interrupt moves the end of the measured interval.
    let stop_ns = results.iter().map(|result| result.stop_ns).max().unwrap_or(u64::MAX);
    let measured_ns = ended_ns.min(stop_ns).saturating_sub(times.interval.start_ns);
    let queued = results.iter().map(|result| result.queued).sum();
    let on_ring = results.iter().any(|result| result.on_ring);
    let clients_aborted = results.iter().map(|result| result.aborted).sum();
    let ended = if gathered.interrupted {
        Ended::Interrupted
    } else if clients_aborted > 0 || results.iter().any(|result| result.gave_up) {
        Ended::Aborted
    } else {
        Ended::Completed
    };
    RunOutcome {
        ended,
        clients_aborted,
        errors: gathered.errors,
        tally,
        warmup,
        drain,
        slots: setup.requests.slots.clone(),
        acknowledged,
        queued,
        timeline: gathered.timeline.finish(),
        poller: if on_ring { "io_uring" } else { READINESS },
        workers: results.into_iter().map(|result| result.health).collect(),
        connecting: times.connecting,
        measured: Duration::from_nanos(measured_ns),
        started_at: times.started_at,
        default_seed: setup.streams.default_seed(),
    }
}

#[cfg(test)]
mod tests {
    use super::cause;

    /// Clients that lose their server at different statements fail alike;
    /// different errors of the same client do not.
    #[test]
    fn one_cause_for_all_clients() {
        let lost = |at: &str| format!("client {at}: server closed the connection");
        let one = lost("1 script 0 aborted in command 7 query 0");
        let other = lost("17 script 1 aborted in command 4 query 1");
        assert_eq!(cause(&one), cause(&other));
        let set = "client 3 aborted in command 2 (set) of script 0; evaluation failed";
        assert_eq!(cause(set), &set["client 3".len()..]);
        assert_ne!(cause(set), cause(&set.replace("evaluation", "assertion")));
    }
}
