//! What the target counts of itself around a run: read before it and after it,
//! never meanwhile. Whatever goes wrong here is a note in the record.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pgdyno_engine::plan::RunPlan;
use pgdyno_record::TargetStatistics;
use pgdyno_target::statistics::{self, Reading, Statistics};
use pgdyno_wire::Connection;
use pgdyno_wire::connect::Endpoint;

use crate::cli::TargetStatsArg;
use crate::opened::Opened;
use crate::samples;
use crate::warmup_waits::{Seen, WarmupClock, WarmupWaits};

/// How long a host may take to accept the session for the second reading; one
/// that answers nothing must not hold up the end of a run.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// A warm-up in which nothing can be sampled: of its seconds the first and the
/// last half are not.
const WARMUP_MIN: Duration = Duration::from_secs(2);

/// The statistics of a run that is about to begin.
pub(crate) enum Around {
    /// Nobody wants them, or the target has none.
    Nothing,
    /// They were read, and what sessions wait for is sampled; with the server
    /// that was asked, where there are several.
    Begun(Statistics, Reading, Option<WarmupWaits>, Option<String>),
    /// They could not be read; why.
    Failed(String),
}

impl Around {
    /// Reads what is there before the run.
    pub(crate) fn begin(
        wanted: TargetStatsArg,
        opened: &Opened,
        plan: &RunPlan,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let mut statistics = opened.dialect.statistics(opened.detected.version_num);
        let has_none = statistics.queries.is_empty() && statistics.plans.is_none();
        if wanted == TargetStatsArg::Off || has_none {
            return Self::Nothing;
        }
        match opened.connect(stop) {
            Ok(mut connection) => {
                let reading = statistics::read(&mut connection, &statistics.queries);
                if reading.counts_waits(&statistics.queries) {
                    statistics.waits_now = None;
                }
                let node = one_of_several(&connection);
                let now = statistics.waits_now.filter(|_| plan.before_measuring() >= WARMUP_MIN);
                let waits = now.map(|sql| WarmupWaits::start(connection, sql));
                Self::Begun(statistics, reading, waits, node)
            }
            Err(error) => Self::Failed(in_one_line(&error)),
        }
    }

    /// What is to hear of the run's seconds.
    pub(crate) fn clock(&self) -> Option<WarmupClock> {
        match self {
            Self::Begun(_, _, Some(waits), _) => Some(waits.clock()),
            _ => None,
        }
    }

    /// Reads again, and takes the differences. A server that is starting over
    /// is not waited for here: what it counted is lost in any case.
    pub(crate) fn end(self, opened: &Opened, plan: &RunPlan) -> Option<TargetStatistics> {
        let failed = |words: String| {
            Some(TargetStatistics { notes: vec![words], ..TargetStatistics::default() })
        };
        let (statistics, before, waits, node) = match self {
            Self::Nothing => return None,
            Self::Failed(words) => return failed(words),
            Self::Begun(statistics, before, waits, node) => (statistics, before, waits, node),
        };
        let waits = waits.map(WarmupWaits::end);
        // Without the flag: a run that was interrupted has statistics as well.
        let mut connection = match opened.connect_within(CONNECT_MAX) {
            Ok(connection) => connection,
            Err(error) => return failed(in_one_line(&error)),
        };
        if let Some(sessions) = statistics.sessions {
            statistics::wait_for_sessions(&mut connection, sessions);
        }
        let after = statistics::read_again(&mut connection, &statistics.queries, &before);
        let mut all = statistics::compare(&statistics.queries, &before, &after);
        if let Some(plans) = &statistics.plans {
            let samples = samples::of_program(&plan.program, plan.seed);
            let (plans, notes) = statistics::explain(&mut connection, plans, &samples);
            all.plans = plans;
            all.notes.extend(notes);
        }
        if statistics.waits_now.is_some() {
            add_waits(&mut all, waits.unwrap_or_default());
        }
        if let (Some(first), Some(second)) = (node, one_of_several(&connection)) {
            statistics::name_servers(&mut all, &first, &second);
        }
        Some(all)
    }
}

/// The server that a session goes to, where it is one of several.
fn one_of_several(connection: &Connection) -> Option<String> {
    let own = connection.endpoint();
    // A name with several addresses is one server.
    let is_other = |other: &Endpoint| (&other.host, other.port) != (&own.host, own.port);
    let is_one_of_several = connection.context().endpoints().iter().any(is_other);
    is_one_of_several.then(|| format!("{}:{}", own.host, own.port))
}

/// What was seen in the warm-up, or why nothing was.
fn add_waits(all: &mut TargetStatistics, seen: Seen) {
    let group = seen.samples.group();
    if let Some(words) = seen.failed {
        all.notes.push(format!("wait events: {words}"));
    } else if group.is_none() {
        let words = "the server keeps no count of them; they are sampled in the warm-up, and there \
                     was none, or one too short (--warmup 3s)";
        all.notes.push(format!("wait events: {words}"));
    }
    all.groups.extend(group.filter(|group| !group.rows.is_empty()));
}

fn in_one_line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

    use pgdyno_record::RunRecord;
    use pgdyno_report::Style;
    use pgdyno_target::statistics::WaitSamples;

    use super::*;

    const EXAMPLE: &str = include_str!("../../record/schema/run-record-1.example.json");

    fn page(statistics: TargetStatistics) -> String {
        let mut record: RunRecord = serde_json::from_str(EXAMPLE).unwrap();
        record.target_statistics = Some(statistics);
        pgdyno_report::summary(&record, &Style::default(), None)
    }

    fn added(seen: Seen) -> TargetStatistics {
        let mut all = TargetStatistics::default();
        add_waits(&mut all, seen);
        all
    }

    /// What was seen in the warm-up is told as that, with what kept it from
    /// being more; where nothing was seen a note says why.
    #[test]
    fn what_was_seen_is_told() {
        let mut samples = WaitSamples::default();
        let row = ["Lock", "tuple", "3"].map(|text| Some(text.to_owned())).to_vec();
        samples.add([row].iter());
        samples.add([].iter());
        let failed = Some("timed out".to_owned());
        let all = added(Seen { samples, failed });
        let figures = &all.group("wait_events_in_warmup").unwrap().rows[0].figures;
        assert_eq!(figures["sessions_mean"].after, Some(1.5));
        assert_eq!(all.notes, ["wait events: timed out"]);
        let told = page(all);
        assert!(told.contains("waits in the warm-up: Lock:tuple 100 %"), "{told}");
        assert!(!told.contains("warm-up included"), "{told}");
        let none = added(Seen::default());
        assert!(none.groups.is_empty() && none.notes[0].contains("--warmup 3s"), "{none:?}");
    }
}
