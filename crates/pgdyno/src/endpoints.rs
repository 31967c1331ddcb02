//! The endpoints of a run: given or learnt from the target, tried, measured and
//! put in order. How clients are dealt over them is the engine's business.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use pgdyno_engine::endpoint_name;
use pgdyno_engine::outcome::RunOutcome;
use pgdyno_engine::plan::{Balance, ConnectPlan, ConnectRate};
use pgdyno_record::{EndpointRecord, EndpointTally, EndpointsRecord};
use pgdyno_report::format;
use pgdyno_target::discovery::{self, Discovery};
use pgdyno_wire::Connection;
use pgdyno_wire::connect::ConnectContext;
use pgdyno_wire::options::{Host, LoadBalanceHosts, Options, TargetSessionAttrs};

use crate::cli::{BalanceArg, EndpointArgs};
use crate::failure::Failure;
use crate::opened::{self, Opened};
use crate::terminal::Terminal;

/// With several endpoints, how long one may take to accept a connection where
/// nothing else is said (`connect_timeout`). A host that is gone answers
/// nothing, and libpq's default would wait for ever.
const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

/// An address that was learnt and not given: wrong ones are common, and the
/// person waits.
const LEARNT_TIMEOUT_MAX: Duration = Duration::from_secs(5);

/// Round trips measured for each endpoint; the median of few is enough to tell
/// a rack from a continent.
const ROUND_TRIPS: usize = 9;

/// Share of the target's limit of new connections that clients use; the rest
/// is for audits and for whoever else connects.
const RATE_SHARE: f64 = 0.9;

/// The endpoints of a run.
pub(crate) struct Endpoints {
    /// At least one.
    pub(crate) contexts: Vec<Arc<ConnectContext>>,
    balance: BalanceArg,
    /// By place in `contexts`.
    round_trips: Vec<Option<Duration>>,
    discovered_by: Option<&'static str>,
    left_out: Vec<String>,
}

impl Endpoints {
    /// Finds, tries and orders the endpoints, and says so where there are
    /// several. pgdyno's own sessions go on to any of them.
    pub(crate) fn find(
        args: &EndpointArgs,
        opened: &mut Opened,
        terminal: &Terminal,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let given = one_each(&opened.options);
        let balance = args.balance.unwrap_or_else(|| balance_default(&opened.options));
        let mut found = Self {
            contexts: opened.endpoints.clone(),
            balance,
            round_trips: vec![None; opened.endpoints.len()],
            discovered_by: None,
            left_out: Vec::new(),
        };
        let question = opened.dialect.discovery().filter(|_| !args.no_discover && given.len() == 1);
        if balance == BalanceArg::First {
            found.contexts = vec![opened.own()?];
            found.round_trips = vec![None];
            return Ok(found);
        }
        let mut candidates: Vec<Candidate> = given.into_iter().map(Candidate::given).collect();
        if let Some(question) = question {
            candidates = found.learn(&question, candidates, opened, terminal, stop)?;
        }
        if candidates.len() > 1 || found.discovered_by.is_some() {
            found.try_all(candidates, opened, terminal, stop)?;
        }
        Ok(found)
    }

    /// Asks the target for its endpoints. What was given stays where nothing
    /// else can be had.
    fn learn(
        &mut self,
        question: &Discovery,
        given: Vec<Candidate>,
        opened: &Opened,
        terminal: &Terminal,
        stop: &Arc<AtomicBool>,
    ) -> Result<Vec<Candidate>, Failure> {
        let Some(first) = given.first().map(|one| one.options.clone()) else { return Ok(given) };
        let Some(host) = first.hosts.first() else { return Ok(given) };
        let mut connection = opened.connect(stop)?;
        let answer = match discovery::discover(&mut connection, question, host) {
            Ok(answer) => answer,
            Err(words) => {
                let words = words.lines().next().unwrap_or_default().to_owned();
                terminal.say(&format!(
                    "The endpoints could not be asked of {}; the one given is used: {words}",
                    question.by
                ));
                return Ok(given);
            }
        };
        self.left_out = answer.left_out;
        if answer.told.is_empty() {
            return Ok(given);
        }
        self.discovered_by = Some(question.by);
        let mut all = if question.keeps_given { given } else { Vec::new() };
        for told in answer.told {
            let is_known = all.iter().any(|known| known.options.hosts.first() == Some(&told.host));
            if !is_known {
                all.push(Candidate::learnt(&first, told.host, told.other));
            }
        }
        Ok(all)
    }

    /// Connects to each, side by side, and measures its round trip.
    fn try_all(
        &mut self,
        candidates: Vec<Candidate>,
        opened: &mut Opened,
        terminal: &Terminal,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), Failure> {
        let tried: Vec<Tried> = std::thread::scope(|scope| {
            let threads: Vec<_> = candidates
                .into_iter()
                .map(|candidate| scope.spawn(|| candidate.try_it(stop)))
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        let mut kept = Vec::new();
        for one in tried {
            match (&one.failure, one.is_given) {
                (None, _) => kept.push(one),
                (Some(words), true) => {
                    terminal.warn(&format!(
                        "{} takes no connection now; its clients go to the others: {words}",
                        one.name
                    ));
                    kept.push(one);
                }
                (Some(words), false) => self.left_out.push(format!("{}: {words}", one.name)),
            }
        }
        for left_out in &self.left_out {
            terminal.warn(&format!("an endpoint is left out: {left_out}"));
        }
        if kept.is_empty() {
            terminal.say("None of the endpoints told of can be reached; the one given is used.");
            self.discovered_by = None;
            return Ok(());
        }
        if self.balance == BalanceArg::Nearest {
            kept.sort_by_key(|one| one.round_trip.unwrap_or(Duration::MAX));
        }
        let options: Vec<Options> = kept.iter().map(|one| one.options.clone()).collect();
        self.contexts = opened::contexts(&options)?;
        self.round_trips = kept.iter().map(|one| one.round_trip).collect();
        self.tell(&kept, terminal);
        opened.widen(&options)
    }

    fn tell(&self, kept: &[Tried], terminal: &Terminal) {
        let from = self.discovered_by.map(|by| format!(" from {by}")).unwrap_or_default();
        let names: Vec<String> = kept
            .iter()
            .map(|one| match one.round_trip {
                Some(time) => {
                    let time = format::duration_us(micros(time), terminal.err.unicode);
                    format!("{} ({time})", one.name)
                }
                None => one.name.clone(),
            })
            .collect();
        let count = format::counted(kept.len() as u64, "endpoint");
        terminal.say(&format!(
            "{count}{from}, {}: {}",
            match self.balance {
                BalanceArg::Even => "clients dealt evenly",
                BalanceArg::Random => "connections dealt by chance",
                BalanceArg::Nearest => "clients to the nearest that works",
                BalanceArg::First => "clients to the first that works",
            },
            names.join(", ")
        ));
    }

    fn is_several(&self) -> bool {
        self.contexts.iter().map(|context| context.options().hosts.len()).sum::<usize>() > 1
    }

    /// How the engine makes and keeps sessions.
    pub(crate) fn connect_plan(&self, args: &EndpointArgs, opened: &Opened) -> ConnectPlan {
        let limits = opened.dialect.connection_limits();
        let known = limits.per_second.map(|per_second| ConnectRate {
            per_second: f64::from(per_second) * RATE_SHARE,
            burst: ((f64::from(limits.burst.unwrap_or(1)) * RATE_SHARE) as u32).max(1),
        });
        ConnectPlan {
            balance: match self.balance {
                BalanceArg::Even => Balance::Even,
                BalanceArg::Random => Balance::Random,
                BalanceArg::Nearest | BalanceArg::First => Balance::Ordered,
            },
            count_endpoints: self.is_several() || self.discovered_by.is_some(),
            rate: args.connect_rate.map_or(known, |given| given.0),
            session_age: args.session_age.map_or(limits.session_age, |given| given.0),
            reconnect_lost: args.reconnect_lost || self.is_several(),
        }
    }

    /// The record's part; none where there is one endpoint.
    pub(crate) fn record(&self, outcome: &RunOutcome) -> Option<EndpointsRecord> {
        if outcome.tally.endpoints.is_empty() {
            return None;
        }
        let seconds = outcome.measured.as_secs_f64();
        let nothing = EndpointTally::default();
        let hosts = self.contexts.iter().zip(&self.round_trips).flat_map(|(context, time)| {
            context.options().hosts.iter().map(move |host| (host, *time))
        });
        let each = hosts.enumerate().map(|(slot, (host, time))| {
            let tally = outcome.tally.endpoints.get(slot).unwrap_or(&nothing);
            let time_us = time.map(|time| micros(time) as u64);
            EndpointRecord::new(host_name(host), host.port, time_us, tally, seconds)
        });
        Some(EndpointsRecord {
            balance: self.balance.name().to_owned(),
            discovered_by: self.discovered_by.map(str::to_owned),
            left_out: self
                .left_out
                .iter()
                .map(|text| pgdyno_record::redact::redact(text))
                .collect(),
            each: each.collect(),
        })
    }
}

/// The endpoints that a target tells of, and where from; none where it does not.
pub(crate) fn told_by_target(
    opened: &Opened,
    stop: &Arc<AtomicBool>,
) -> Option<(&'static str, Vec<String>)> {
    let question = opened.dialect.discovery()?;
    let mut connection = opened.connect(stop).ok()?;
    let given = opened.options.first()?.hosts.first()?;
    let answer = discovery::discover(&mut connection, &question, given).ok()?;
    let names =
        answer.told.iter().map(|told| format!("{}:{}", host_name(&told.host), told.host.port));
    Some((question.by, names.chain(answer.left_out).collect()))
}

/// `load_balance_hosts` and `target_session_attrs` keep their meaning.
fn balance_default(options: &[Options]) -> BalanceArg {
    if options.iter().any(|one| one.target_session_attrs != TargetSessionAttrs::Any) {
        return BalanceArg::First;
    }
    let random = options.iter().any(|one| one.load_balance_hosts == LoadBalanceHosts::Random);
    if random { BalanceArg::Random } else { BalanceArg::Even }
}

/// A set of options for each host.
fn one_each(options: &[Options]) -> Vec<Options> {
    let single = |one: &Options, host: &Host| Options { hosts: vec![host.clone()], ..one.clone() };
    let mut all: Vec<Options> =
        options.iter().flat_map(|one| one.hosts.iter().map(|host| single(one, host))).collect();
    if all.len() > 1 {
        for one in &mut all {
            one.connect_timeout.get_or_insert(CONNECT_TIMEOUT_DEFAULT);
        }
    }
    all
}

fn host_name(host: &Host) -> String {
    match host.addr {
        Some(addr) if host.name.is_empty() => addr.to_string(),
        _ => host.name.clone(),
    }
}

fn micros(time: Duration) -> f64 {
    time.as_micros() as f64
}

/// An endpoint that may be used.
struct Candidate {
    options: Options,
    other: Option<Options>,
    is_given: bool,
}

impl Candidate {
    fn given(options: Options) -> Self {
        Self { options, other: None, is_given: true }
    }

    fn learnt(like: &Options, host: Host, other: Option<Host>) -> Self {
        let to = |host| Options { hosts: vec![host], ..like.clone() };
        let mut options = to(host);
        options.connect_timeout.get_or_insert(CONNECT_TIMEOUT_DEFAULT);
        Self { options, other: other.map(to), is_given: false }
    }

    fn try_it(self, stop: &Arc<AtomicBool>) -> Tried {
        let name = endpoint_name(&self.options);
        let first = round_trip(&self.options, self.is_given, stop);
        let (options, result) = match (first, self.other) {
            (Err(words), Some(other)) => match round_trip(&other, false, stop) {
                Ok(time) => (other, Ok(time)),
                Err(_) => (self.options, Err(words)),
            },
            (first, _) => (self.options, first),
        };
        let name = if result.is_ok() { endpoint_name(&options) } else { name };
        let (round_trip, failure) = match result {
            Ok(time) => (Some(time), None),
            Err(words) => (None, Some(words)),
        };
        Tried { options, name, round_trip, failure, is_given: self.is_given }
    }
}

/// What became of the attempt.
struct Tried {
    options: Options,
    name: String,
    round_trip: Option<Duration>,
    failure: Option<String>,
    is_given: bool,
}

/// The median time of an empty query.
fn round_trip(
    options: &Options,
    is_given: bool,
    stop: &Arc<AtomicBool>,
) -> Result<Duration, String> {
    let mut options = options.clone();
    if !is_given {
        let timeout = options.connect_timeout.unwrap_or(LEARNT_TIMEOUT_MAX);
        options.connect_timeout = Some(timeout.min(LEARNT_TIMEOUT_MAX));
    }
    let in_a_line = |error: pgdyno_wire::Error| {
        error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ")
    };
    let context = ConnectContext::new(&options).map_err(in_a_line)?;
    let mut connection =
        Connection::connect_interruptible(&context, Some(Arc::clone(stop))).map_err(in_a_line)?;
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let begin = Instant::now();
        connection.simple_query("SELECT 1").map_err(in_a_line)?;
        times.push(begin.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_wire::conninfo::{self, MapEnv};

    fn options(dsn: &str) -> Options {
        conninfo::resolve(Some(dsn), &[], &MapEnv::new("os")).unwrap().options
    }

    /// Several hosts become an endpoint each, with their own ports, in both
    /// forms of a connection string, and are not waited for without end.
    #[test]
    fn hosts_become_endpoints() {
        for dsn in ["host=a,b,c port=1,2,3 user=u", "postgresql://u@a:1,b:2,c:3/u"] {
            let each = one_each(&[options(dsn)]);
            let names: Vec<String> = each.iter().map(endpoint_name).collect();
            assert_eq!(names, ["a:1", "b:2", "c:3"], "{dsn}");
            assert!(each.iter().all(|one| one.connect_timeout == Some(CONNECT_TIMEOUT_DEFAULT)));
        }
        let alone = one_each(&[options("host=a user=u")]);
        assert_eq!((alone.len(), alone[0].connect_timeout), (1, None));
        let patient = one_each(&[options("host=a,b user=u connect_timeout=77")]);
        assert_eq!(patient[1].connect_timeout, Some(Duration::from_secs(77)));
    }

    /// What libpq's own words ask for is done unless an option says otherwise.
    #[test]
    fn libpqs_words_count() {
        let default = |dsn| balance_default(&[options(dsn)]);
        assert_eq!(default("host=a,b user=u"), BalanceArg::Even);
        assert_eq!(default("host=a,b user=u load_balance_hosts=random"), BalanceArg::Random);
        let primary = "host=a,b user=u load_balance_hosts=random target_session_attrs=primary";
        assert_eq!(default(primary), BalanceArg::First);
    }
}
