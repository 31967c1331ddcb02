//! What the target counts of itself around a run: read before it and after it,
//! never meanwhile. Whatever goes wrong here is a note in the record.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pgdyno_engine::plan::RunPlan;
use pgdyno_record::TargetStatistics;
use pgdyno_target::statistics::{self, Reading, Statistics};

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
    /// They were read, and what sessions wait for is sampled.
    Begun(Statistics, Reading, Option<WarmupWaits>),
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
        let statistics = opened.dialect.statistics(opened.detected.version_num);
        let has_none = statistics.queries.is_empty() && statistics.plans.is_none();
        if wanted == TargetStatsArg::Off || has_none {
            return Self::Nothing;
        }
        match opened.connect(stop) {
            Ok(mut connection) => {
                let reading = statistics::read(&mut connection, &statistics.queries);
                let now = statistics.waits_now.filter(|_| plan.before_measuring() >= WARMUP_MIN);
                let waits = now.map(|sql| WarmupWaits::start(connection, sql));
                Self::Begun(statistics, reading, waits)
            }
            Err(error) => Self::Failed(in_one_line(&error)),
        }
    }

    /// What is to hear of the run's seconds.
    pub(crate) fn clock(&self) -> Option<WarmupClock> {
        match self {
            Self::Begun(_, _, Some(waits)) => Some(waits.clock()),
            _ => None,
        }
    }

    /// Reads again, and takes the differences. A server that is starting over
    /// is not waited for here: what it counted is lost in any case.
    pub(crate) fn end(self, opened: &Opened, plan: &RunPlan) -> Option<TargetStatistics> {
        let failed = |words: String| {
            Some(TargetStatistics { notes: vec![words], ..TargetStatistics::default() })
        };
        let (statistics, before, waits) = match self {
            Self::Nothing => return None,
            Self::Failed(words) => return failed(words),
            Self::Begun(statistics, before, waits) => (statistics, before, waits),
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
        Some(all)
    }
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
