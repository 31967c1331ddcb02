//! A worker in the making: its share of the plan as clients and streams.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use mio::Waker;
use pgdyno_record::EndpointTally;
use pgdyno_record::latency::Latencies;
use pgdyno_record::tally::Tally;
use pgdyno_script::choice::ScriptChoice;
use pgdyno_script::names;
use pgdyno_script::random::{Prng, Streams};
use pgdyno_script::vars::Vars;
use pgdyno_workload::Seat;

use super::client::{Client, Replies, State};
use super::core::{Clock, Control, Core, FromWorker, limits};
use super::endpoints::Endpoints;
use super::log::{Log, LogColumns};
use super::measure::Figures;
use super::procedure::Procedure;
use super::ring::{Boarding, Crowd};
use super::schedule::Schedule;
use super::{BUFFER_BYTES, Worker};
use crate::connect::ConnectLimiter;
use crate::observe::Observer;
use crate::plan::RunPlan;
use crate::poller::Poller;
use crate::request::Requests;
use crate::timers::Timers;

/// What all workers of a run share, read-only.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) plan: Arc<RunPlan>,
    pub(crate) requests: Arc<Requests>,
    pub(crate) choice: Arc<ScriptChoice>,
    pub(crate) streams: Streams,
    pub(crate) stores: bool,
    /// When sessions take to `io_uring`.
    pub(crate) boarding: Boarding,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) control: Arc<Control>,
    pub(crate) clock: Clock,
    pub(crate) limiter: Option<Arc<ConnectLimiter>>,
    /// For each endpoint, whether it was told that it is down.
    pub(crate) endpoints_told: Arc<[AtomicBool]>,
}

/// Tells a client's own stream (choice of scripts, jitter) from its stream of
/// random functions; any constant does.
const OWN_STREAM_MARK: u64 = 0x7067_6479_6e6f_6f77;

/// Room in the buffer for requests, so that the first few do not make it grow.
const OUT_BYTES: usize = 1024;

/// Makes worker `index`, and what wakes it.
///
/// # Errors
/// No descriptor for the poller, or the log file cannot be made.
pub(crate) fn start(
    setup: &Setup,
    index: u32,
    to_coordinator: Sender<FromWorker>,
) -> io::Result<(Worker, Arc<Waker>)> {
    let plan = &setup.plan;
    let poller = Poller::new()?;
    let waker = poller.waker();
    let (first, count) = plan.share(index);
    let clients = make_clients(setup, first, count);
    let scripts = plan.program.types.len();
    let mut tally = Tally::new(scripts, setup.requests.slots.len(), plan.statement_latency);
    let counters = plan.terminals.as_ref().map_or(0, |terminals| terminals.counters().len());
    tally.counters = vec![0; counters];
    tally.endpoints = endpoint_tallies(plan);
    tally.reserve(plan.rate.is_some());
    let mut loop_delay = Latencies::new();
    loop_delay.reserve();
    let (transactions_max, latency_limit_ns) = limits(plan);
    let threads = setup.streams.threads().nth(index as usize);
    let fallback = Prng::new(plan.seed);
    let log = match &plan.log {
        Some(log) => Some(Log::open(log, index, log_columns(plan))?),
        None => None,
    };
    let core = Core {
        index,
        observer: Arc::clone(&setup.observer),
        control: Arc::clone(&setup.control),
        to_coordinator,
        clock: setup.clock,
        now_ns: 0,
        poller,
        ring: None,
        generation: 0,
        later: Vec::new(),
        timers: Timers::with_capacity(clients.len()),
        figures: Figures::new(tally),
        endpoints: Endpoints::new(plan, &setup.endpoints_told),
        limiter: setup.limiter.clone(),
        log,
        end_ns: u64::MAX,
        transactions_max,
        latency_limit_ns,
        schedule: Schedule::new(plan, index, threads.map_or(fallback, |s| s.throttle)),
        choice_random: threads.map_or(fallback, |streams| streams.choice),
        sample_random: threads.map_or(fallback, |streams| streams.sampling),
        live: count,
        ready: 0,
        aborted: 0,
        begun: false,
        gave_up: false,
        debugging: plan.debug,
        start_failure: None,
        loop_delay,
        served: 0,
        again: VecDeque::with_capacity(clients.len()),
        broken: Vec::with_capacity(clients.len()),
        ready_clients: Vec::with_capacity(clients.len()),
        spare_out: Vec::with_capacity(OUT_BYTES),
        name: Vec::new(),
    };
    let buffer = vec![0; BUFFER_BYTES];
    Ok((
        Worker {
            core,
            clients,
            setup: setup.clone(),
            buffer,
            reception: None,
            crowd: Crowd::default(),
        },
        waker,
    ))
}

fn endpoint_tallies(plan: &RunPlan) -> Vec<EndpointTally> {
    let hosts = plan.endpoints.iter().map(|context| context.options().hosts.len()).sum();
    let counted = if plan.connect.count_endpoints { hosts } else { 0 };
    vec![EndpointTally::new(true); counted]
}

fn log_columns(plan: &RunPlan) -> LogColumns {
    LogColumns {
        lag: plan.rate.is_some(),
        skipped: plan.latency_limit.is_some(),
        retries: plan.retry.tries_max.is_none_or(|max| max.get() != 1),
        detailed_failures: plan.detailed_failures,
    }
}

fn make_clients(setup: &Setup, first: u32, count: u32) -> Vec<Client> {
    let streams = setup.streams.clients().skip(first as usize);
    (0..count)
        .zip(streams)
        .map(|(index, random)| make_client(setup, first + index, index, random))
        .collect()
}

fn make_client(setup: &Setup, id: u32, index: u32, random: Prng) -> Client {
    let plan = &setup.plan;
    Client {
        id,
        index,
        endpoint: 0,
        slot: 0,
        away: false,
        close_after: plan.reconnect,
        renew_at_ns: u64::MAX,
        look_at_ns: u64::MAX,
        without_session_since_ns: None,
        end_is_timed: false,
        state: State::Choosing,
        attempt: None,
        session: None,
        out: Vec::new(),
        replies: Replies::default(),
        vars: initial_vars(setup, id),
        procedure: plan.terminals.as_ref().map(|terminals| {
            let (clients, names) = (plan.clients.get(), &plan.program.names);
            let seat = Seat { client: id, clients, seed: plan.seed, names };
            Box::new(Procedure::new(terminals.terminal(&seat)))
        }),
        random,
        random_at_start: random,
        own_random: Prng::new(plan.seed ^ OWN_STREAM_MARK.rotate_left(id) ^ u64::from(id)),
        jitter: Prng::new(plan.seed.rotate_left(32) ^ u64::from(id)),
        script: 0,
        pc: 0,
        in_pipeline: false,
        waited: false,
        scheduled_ns: 0,
        begin_ns: 0,
        try_begin_ns: 0,
        command_begin_ns: 0,
        connect_begin_ns: 0,
        tries: 1,
        transactions: 0,
        without_effect: false,
        rows_written: 0,
        commit_in_flight: false,
        failure: None,
        was_ready: plan.reconnect,
    }
}

/// What every client knows without being told, unless `-D` said otherwise.
fn initial_vars(setup: &Setup, id: u32) -> Vars {
    let plan = &setup.plan;
    let mut vars = plan.program.initial.clone();
    let mut set = |name: &str, value: i64| {
        if let Some(slot) = plan.program.names.lookup(name.as_bytes())
            && !vars.is_set(slot)
        {
            vars.set_int(slot, value);
        }
    };
    set(names::CLIENT_ID, i64::from(id));
    set(names::RANDOM_SEED, plan.seed.cast_signed());
    if let Some(default_seed) = setup.streams.default_seed() {
        set(names::DEFAULT_SEED, default_seed);
    }
    vars
}
