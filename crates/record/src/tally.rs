//! The counters that a worker keeps while it measures, and their exact sum.
//!
//! A worker owns one [`Tally`]; nothing in it is shared. Recording a committed
//! transaction touches integers and two histograms and never allocates; only a
//! failure may (its SQLSTATE is counted in a map). Every counter is an integer,
//! so merging is exact, associative and commutative: the tallies of n workers,
//! or of n drivers, are the tally of one.

use std::collections::BTreeMap;

use crate::conflict::Conflicts;
use crate::endpoint::EndpointTally;
use crate::latency::Latencies;
use crate::sqlstate::{FailureClass, SqlState};

/// The times of one transaction, in µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionTimes {
    /// From the scheduled time (under a rate; otherwise the actual start) to
    /// the end, all tries included.
    pub response_us: u64,
    /// From the actual start to the end, all tries included.
    pub service_us: u64,
    /// From the scheduled time to the actual start; 0 without a rate.
    pub lag_us: u64,
}

/// Everything one worker counted over one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// By index of the script (transaction type).
    pub scripts: Vec<ScriptTally>,
    /// By index of the statement, over all scripts. What each index means is
    /// in the list of [`crate::StatementInfo`] that the run was made with.
    pub statements: Vec<StatementTally>,
    /// Connections made.
    pub connections: ConnectTally,
    /// By endpoint, where they are counted apart; else empty.
    pub endpoints: Vec<EndpointTally>,
    /// Counters of a workload's own, where it has any; it knows what they mean.
    pub counters: Vec<u64>,
}

/// Counters of one transaction type.
///
/// Each transaction ends in exactly one of committed, rolled back, failed,
/// unknown and skipped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptTally {
    /// Transactions committed.
    pub committed: u64,
    /// Of the committed: those in which a statement that should write rows
    /// wrote fewer than it should. They did not do their work, and goodput
    /// leaves them out.
    pub committed_without_effect: u64,
    /// Rows that the writes of committed transactions touched in their last
    /// try, by the command tags.
    pub rows_written: u64,
    /// Of the committed: those above the latency limit.
    pub late: u64,
    /// Rolled back because the rules of the transaction say so: neither
    /// committed nor failed. They did their work, so their times are among the
    /// response and service times (TPC-C, clause 5.3.3, counts them in).
    pub rolled_back: u64,
    /// Failed with 40001 after the last try.
    pub failed_serialization: u64,
    /// Failed with 40P01 after the last try.
    pub failed_deadlock: u64,
    /// Failed otherwise.
    pub failed_other: u64,
    /// All failed ones by SQLSTATE.
    pub failed_by_sqlstate: BTreeMap<SqlState, u64>,
    /// The connection was lost while a commit was on its way.
    pub unknown: u64,
    /// Not started, because the schedule was behind by more than the limit.
    pub skipped: u64,
    /// Transactions that took more than one try, failed ones included.
    pub retried: u64,
    /// Tries beyond the first, over all transactions.
    pub retries: u64,
    /// Why tries were repeated.
    pub retries_by_sqlstate: BTreeMap<SqlState, u64>,
    /// Time spent in tries that did not commit, µs.
    pub lost_us_sum: u64,
    /// Tries that conflicts ended.
    pub conflicts: Conflicts,
    /// Response times of transactions that were committed or rolled back on
    /// purpose.
    pub response: Latencies,
    /// Their service times.
    pub service: Latencies,
    /// Sum of the schedule lags of committed transactions, µs.
    pub lag_us_sum: u64,
    /// Largest schedule lag of a committed transaction, µs.
    pub lag_us_max: u64,
}

/// Counters of one statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementTally {
    /// Executions that succeeded.
    pub executions: u64,
    /// Sum of the rows in the command tags.
    pub rows: u64,
    /// Executions whose command tag said fewer rows than expected (none, where
    /// nothing else is declared).
    pub short: u64,
    /// Executions whose command tag said no row.
    pub no_row: u64,
    /// Executions that ended the transaction as failed.
    pub failures: u64,
    /// Executions after whose failure the transaction was tried again.
    pub retries: u64,
    /// Sum of the times of successful executions, µs.
    pub time_us_sum: u64,
    /// Times of successful executions, where they were asked for.
    pub latency: Option<Latencies>,
}

/// Counters of connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectTally {
    /// Time from the start of connecting to the first ReadyForQuery, of every
    /// connection that was made. Its count is the number of connections.
    pub setup: Latencies,
    /// Attempts that failed.
    pub failed: u64,
    /// Time spent closing connections, µs. pgbench's `-C` counts it.
    pub close_us_sum: u64,
    /// Connections that ended while their client had not.
    pub lost: u64,
    /// Connections left because they were too old.
    pub renewed: u64,
    /// Time that clients waited for leave to connect, µs.
    pub waited_us_sum: u64,
}

impl Tally {
    /// A tally with a slot for each script and statement. Allocates everything
    /// that recording needs. `statement_histograms` costs 190 KB per statement.
    #[must_use]
    pub fn new(scripts: usize, statements: usize, statement_histograms: bool) -> Self {
        let statement = StatementTally {
            latency: statement_histograms.then(Latencies::new),
            ..StatementTally::default()
        };
        Self {
            scripts: vec![ScriptTally::default(); scripts],
            statements: vec![statement; statements],
            connections: ConnectTally::default(),
            endpoints: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// Allocates now what recording transactions will need, the service times
    /// only where `scheduled`: for a tally that is recorded in while measuring.
    pub fn reserve(&mut self, scheduled: bool) {
        for script in &mut self.scripts {
            script.response.reserve();
            if scheduled {
                script.service.reserve();
            }
        }
        let statements = self.statements.iter_mut().filter_map(|s| s.latency.as_mut());
        let endpoints = self.endpoints.iter_mut().filter_map(|e| e.response.as_mut());
        statements.chain(endpoints).for_each(Latencies::reserve);
    }

    /// Adds all of `other`. A tally with fewer slots grows to the longer one.
    pub fn merge(&mut self, other: &Self) {
        merge_slots(&mut self.scripts, &other.scripts, ScriptTally::merge);
        merge_slots(&mut self.statements, &other.statements, StatementTally::merge);
        self.connections.merge(&other.connections);
        merge_slots(&mut self.endpoints, &other.endpoints, EndpointTally::merge);
        merge_slots(&mut self.counters, &other.counters, |mine, theirs| *mine += theirs);
    }

    /// All transaction types as one.
    #[must_use]
    pub fn total(&self) -> ScriptTally {
        let mut total = ScriptTally::default();
        for script in &self.scripts {
            total.merge(script);
        }
        total
    }

    /// Sets everything back to zero and keeps the memory. Connections made
    /// before are forgotten as well; see [`Tally::clear_work`].
    pub fn clear(&mut self) {
        self.clear_work();
        self.connections.clear();
        self.endpoints.iter_mut().for_each(EndpointTally::clear);
    }

    /// Forgets transactions and statements but not the connections, which were
    /// made before the work began: the end of the warm-up, without an
    /// allocation.
    pub fn clear_work(&mut self) {
        self.scripts.iter_mut().for_each(ScriptTally::clear);
        self.statements.iter_mut().for_each(StatementTally::clear);
        self.endpoints.iter_mut().for_each(EndpointTally::clear_work);
        self.counters.fill(0);
    }
}

impl ScriptTally {
    /// Counts a committed transaction that took `tries` tries. `late`: above
    /// the latency limit. `effect`: every write touched the rows it should.
    #[inline]
    pub fn commit(&mut self, times: TransactionTimes, tries: u32, late: bool, effect: bool) {
        self.committed += 1;
        self.committed_without_effect += u64::from(!effect);
        self.late += u64::from(late);
        self.count_tries(tries);
        self.response.record(times.response_us);
        self.service.record(times.service_us);
        self.lag_us_sum += times.lag_us;
        self.lag_us_max = self.lag_us_max.max(times.lag_us);
    }

    /// As [`ScriptTally::commit`], for a transaction without a schedule that
    /// took `us`: its service time is its response time, so only one histogram
    /// is touched. Needs [`ScriptTally::service_is_response`] at the end.
    #[inline]
    pub fn commit_unscheduled(&mut self, us: u64, tries: u32, late: bool, effect: bool) {
        self.committed += 1;
        self.committed_without_effect += u64::from(!effect);
        self.late += u64::from(late);
        self.count_tries(tries);
        self.response.record(us);
    }

    /// Fills in the service times after [`ScriptTally::commit_unscheduled`].
    pub fn service_is_response(&mut self) {
        self.service = self.response.clone();
    }

    /// Counts a transaction that failed with `sqlstate` after `tries` tries.
    pub fn fail(&mut self, sqlstate: SqlState, tries: u32) {
        match sqlstate.failure_class() {
            FailureClass::Serialization => self.failed_serialization += 1,
            FailureClass::Deadlock => self.failed_deadlock += 1,
            FailureClass::Other => self.failed_other += 1,
        }
        *self.failed_by_sqlstate.entry(sqlstate).or_default() += 1;
        self.count_tries(tries);
    }

    /// Counts a transaction that was rolled back because its rules say so.
    /// `scheduled`: as between [`ScriptTally::commit`] and
    /// [`ScriptTally::commit_unscheduled`].
    pub fn roll_back(&mut self, times: TransactionTimes, tries: u32, scheduled: bool) {
        self.rolled_back += 1;
        self.count_tries(tries);
        self.response.record(times.response_us);
        if scheduled {
            self.service.record(times.service_us);
        }
    }

    /// Counts a transaction whose commit may or may not have happened.
    pub fn unknown(&mut self, tries: u32) {
        self.unknown += 1;
        self.count_tries(tries);
    }

    /// Counts a transaction that the schedule gave up before its start.
    #[inline]
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Notes why a try is repeated and the time, µs, that it had taken. The
    /// try itself is counted when the transaction ends.
    pub fn retry(&mut self, sqlstate: SqlState, lost_us: u64) {
        *self.retries_by_sqlstate.entry(sqlstate).or_default() += 1;
        self.lost_us_sum += lost_us;
    }

    /// All failed transactions.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed_serialization + self.failed_deadlock + self.failed_other
    }

    /// All transactions, whatever their end.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.committed + self.rolled_back + self.failed() + self.unknown + self.skipped
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.committed += other.committed;
        self.committed_without_effect += other.committed_without_effect;
        self.rows_written += other.rows_written;
        self.late += other.late;
        self.rolled_back += other.rolled_back;
        self.failed_serialization += other.failed_serialization;
        self.failed_deadlock += other.failed_deadlock;
        self.failed_other += other.failed_other;
        merge_counts(&mut self.failed_by_sqlstate, &other.failed_by_sqlstate);
        self.unknown += other.unknown;
        self.skipped += other.skipped;
        self.retried += other.retried;
        self.retries += other.retries;
        merge_counts(&mut self.retries_by_sqlstate, &other.retries_by_sqlstate);
        self.lost_us_sum += other.lost_us_sum;
        self.conflicts.merge(&other.conflicts);
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.lag_us_sum += other.lag_us_sum;
        self.lag_us_max = self.lag_us_max.max(other.lag_us_max);
    }

    /// Sets everything back to zero and keeps the histograms' memory.
    pub fn clear(&mut self) {
        let (mut response, mut service) =
            (std::mem::take(&mut self.response), std::mem::take(&mut self.service));
        response.clear();
        service.clear();
        *self = Self { response, service, ..Self::default() };
    }

    #[inline]
    fn count_tries(&mut self, tries: u32) {
        if tries > 1 {
            self.retried += 1;
            self.retries += u64::from(tries - 1);
        }
    }
}

impl StatementTally {
    /// Counts a successful execution that took `us` and touched `rows` rows,
    /// where at least `rows_expected` were to be touched.
    #[inline]
    pub fn execute(&mut self, us: u64, rows: u64, rows_expected: u64) {
        self.executions += 1;
        self.rows += rows;
        self.short += u64::from(rows < rows_expected);
        self.no_row += u64::from(rows == 0);
        self.time_us_sum += us;
        if let Some(latency) = &mut self.latency {
            latency.record(us);
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.executions += other.executions;
        self.rows += other.rows;
        self.short += other.short;
        self.no_row += other.no_row;
        self.failures += other.failures;
        self.retries += other.retries;
        self.time_us_sum += other.time_us_sum;
        match (&mut self.latency, &other.latency) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (None, Some(theirs)) => self.latency = Some(theirs.clone()),
            (_, None) => {}
        }
    }

    /// Sets everything back to zero and keeps the histogram's memory.
    pub fn clear(&mut self) {
        let mut latency = self.latency.take();
        if let Some(latency) = &mut latency {
            latency.clear();
        }
        *self = Self { latency, ..Self::default() };
    }
}

impl ConnectTally {
    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.setup.merge(&other.setup);
        self.failed += other.failed;
        self.close_us_sum += other.close_us_sum;
        self.lost += other.lost;
        self.renewed += other.renewed;
        self.waited_us_sum += other.waited_us_sum;
    }

    /// Sets everything back to zero and keeps the histogram's memory.
    pub fn clear(&mut self) {
        let mut setup = std::mem::take(&mut self.setup);
        setup.clear();
        *self = Self { setup, ..Self::default() };
    }
}

/// Adds counts key by key.
pub(crate) fn merge_counts<K: Ord + Copy>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(*key).or_default() += count;
    }
}

fn merge_slots<T: Clone + Default>(into: &mut Vec<T>, from: &[T], merge: fn(&mut T, &T)) {
    if into.len() < from.len() {
        into.resize_with(from.len(), T::default);
    }
    for (mine, theirs) in into.iter_mut().zip(from) {
        merge(mine, theirs);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One thing that a worker may count.
    #[derive(Clone, Debug)]
    enum Event {
        Commit { script: usize, times: TransactionTimes, tries: u32, late: bool, effect: bool },
        Fail { script: usize, sqlstate: SqlState, tries: u32 },
        RollBack { script: usize, times: TransactionTimes, tries: u32 },
        Unknown { script: usize, tries: u32 },
        Skip { script: usize },
        Retry { script: usize, sqlstate: SqlState, lost_us: u64 },
        Execute { statement: usize, us: u64, rows: u64, rows_expected: u64 },
        Connect { us: u64 },
    }

    const SCRIPTS: usize = 3;
    const STATEMENTS: usize = 4;

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let state = prop::sample::select(vec!["40001", "40P01", "23505", "08006"])
            .prop_map(|text| text.parse::<SqlState>().unwrap());
        let us = 0..10_000_000_u64;
        let times =
            (us.clone(), us.clone(), us.clone()).prop_map(|(response_us, service_us, lag_us)| {
                TransactionTimes { response_us, service_us, lag_us }
            });
        let (script, tries) = (0..SCRIPTS, 1..9_u32);
        let event = prop_oneof![
            (script.clone(), times.clone(), tries.clone())
                .prop_map(|(script, times, tries)| Event::RollBack { script, times, tries }),
            (script.clone(), times, tries.clone(), any::<bool>(), any::<bool>()).prop_map(
                |(script, times, tries, late, effect)| Event::Commit {
                    script,
                    times,
                    tries,
                    late,
                    effect
                }
            ),
            (script.clone(), state.clone(), tries.clone())
                .prop_map(|(script, sqlstate, tries)| Event::Fail { script, sqlstate, tries }),
            (script.clone(), tries).prop_map(|(script, tries)| Event::Unknown { script, tries }),
            script.clone().prop_map(|script| Event::Skip { script }),
            (script, state, us.clone()).prop_map(|(script, sqlstate, lost_us)| Event::Retry {
                script,
                sqlstate,
                lost_us
            }),
            (0..STATEMENTS, us.clone(), 0..3_u64, 0..3_u64).prop_map(
                |(statement, us, rows, rows_expected)| Event::Execute {
                    statement,
                    us,
                    rows,
                    rows_expected
                }
            ),
            us.prop_map(|us| Event::Connect { us }),
        ];
        prop::collection::vec(event, 0..60)
    }

    fn of(events: &[Event]) -> Tally {
        let mut tally = Tally::new(SCRIPTS, STATEMENTS, true);
        for event in events.iter().cloned() {
            match event {
                Event::Commit { script, times, tries, late, effect } => {
                    tally.scripts[script].commit(times, tries, late, effect);
                }
                Event::Fail { script, sqlstate, tries } => {
                    tally.scripts[script].fail(sqlstate, tries);
                }
                Event::RollBack { script, times, tries } => {
                    tally.scripts[script].roll_back(times, tries, true);
                }
                Event::Unknown { script, tries } => tally.scripts[script].unknown(tries),
                Event::Skip { script } => tally.scripts[script].skip(),
                Event::Retry { script, sqlstate, lost_us } => {
                    tally.scripts[script].retry(sqlstate, lost_us);
                }
                Event::Execute { statement, us, rows, rows_expected } => {
                    tally.statements[statement].execute(us, rows, rows_expected);
                }
                Event::Connect { us } => tally.connections.setup.record(us),
            }
        }
        tally
    }

    fn sum<'a>(parts: impl IntoIterator<Item = &'a Tally>) -> Tally {
        let mut sum = Tally::default();
        parts.into_iter().for_each(|part| sum.merge(part));
        sum
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However events are dealt to three workers, and in whatever order and
        /// grouping the workers are added up, the sum is one worker's tally.
        #[test]
        fn merge_is_exact(events in events(), deal in prop::collection::vec(0..3_usize, 60)) {
            let share = |worker| {
                let mine: Vec<Event> = events.iter().zip(&deal)
                    .filter(|(_, dealt)| **dealt == worker)
                    .map(|(event, _)| event.clone())
                    .collect();
                of(&mine)
            };
            let (a, b, c) = (share(0), share(1), share(2));
            let whole = sum([&of(&events)]);
            prop_assert_eq!(&sum([&a, &b, &c]), &whole);
            prop_assert_eq!(&sum([&c, &a, &b]), &whole);
            prop_assert_eq!(&sum([&a, &sum([&b, &c])]), &whole);
        }

        /// Every transaction ends exactly once, and a cleared tally is a new one.
        #[test]
        fn every_end_is_counted_once(events in events()) {
            let mut tally = of(&events);
            let ends = events.iter().filter(|event| matches!(event,
                Event::Commit { .. } | Event::Fail { .. } | Event::Unknown { .. }
                | Event::Skip { .. } | Event::RollBack { .. })).count();
            let total = tally.total();
            prop_assert_eq!(total.finished(), ends as u64);
            prop_assert_eq!(total.failed(), total.failed_by_sqlstate.values().sum::<u64>());
            let done = total.committed + total.rolled_back;
            prop_assert_eq!((done, done), (total.response.count(), total.service.count()));
            tally.clear();
            prop_assert_eq!(tally, Tally::new(SCRIPTS, STATEMENTS, true));
        }
    }

    /// A tally with more slots merges into a smaller one without losing any.
    #[test]
    fn merge_grows() {
        let mut small = Tally::default();
        let mut large = Tally::new(1, 2, false);
        large.statements[1].execute(5, 0, 1);
        small.merge(&large);
        assert_eq!(small, large);
        assert_eq!((small.statements[1].short, small.statements[1].no_row), (1, 1));
    }

    /// Tries beyond the first are retries, whatever the end.
    #[test]
    fn tries_are_counted_at_the_end() {
        let mut script = ScriptTally::default();
        script.commit(TransactionTimes::default(), 1, false, true);
        script.commit(TransactionTimes::default(), 3, true, false);
        script.fail(SqlState::DEADLOCK_DETECTED, 5);
        assert_eq!((script.retried, script.retries), (2, 6));
        assert_eq!((script.late, script.committed_without_effect), (1, 1));
        assert_eq!((script.failed_deadlock, script.failed()), (1, 1));
    }
}
