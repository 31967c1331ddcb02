//! The verdicts: a closed list, each entry with its evidence. How they come
//! about and how they are put into words is not known here.

use serde::{Deserialize, Serialize};

use crate::conflict::ConflictVerdict;

/// How much a verdict takes from the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing: it speaks for the figure.
    Good,
    /// Worth knowing when reading the figure.
    Note,
    /// The figure does not mean what it seems to mean.
    Warning,
    /// The figure must not be used.
    Fatal,
}

/// Time of the measured interval in which nothing was committed, in whole
/// seconds of the timeline: less than one in a row is not seen, and what chance
/// can make at the run's own rate is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Silence {
    /// All of it, s.
    pub seconds: u64,
    /// Where the longest begins, s from the start of the measured interval.
    pub from_s: u64,
    /// Where the longest ends.
    pub to_s: u64,
}

/// One thing that can be said about a run, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Verdict {
    /// The transactions per second neither drifted nor varied much.
    Steady {
        /// Coefficient of variation of the per-second TPS, beyond what counting
        /// alone would give.
        variation: f64,
        /// (second half − first half) / whole, of the mean TPS.
        drift: f64,
    },
    /// They varied, or drifted.
    Unsteady {
        /// As above.
        variation: f64,
        /// As above.
        drift: f64,
    },
    /// Too few full seconds to say whether it was steady.
    TooShort {
        /// Full seconds measured.
        seconds: u64,
        /// Full seconds needed.
        seconds_needed: u64,
    },
    /// The first part of the measured interval was clearly slower than the
    /// rest: the target was still warming up.
    NotWarmedUp {
        /// Mean TPS of the first tenth of the run.
        first_tps: f64,
        /// Mean TPS of the second half.
        later_tps: f64,
    },
    /// The load generator was the bottleneck.
    DriverSaturated {
        /// The rule that was broken, with figures.
        reason: String,
    },
    /// A statement that should touch rows found none, or fewer than declared.
    WritesFoundNoRow {
        /// Index of its script, from 0.
        script: u32,
        /// Index of the command, from 0.
        command: u32,
        /// First line of the statement.
        statement: String,
        /// Share (0..=1) of its executions that touched fewer rows than they
        /// should: none, where nothing else is declared.
        share: f64,
        /// Variables that its WHERE asks for at once, though they are drawn
        /// independently; empty where this does not explain it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        independent: Vec<String>,
    },
    /// A check that the work was done failed.
    AuditFailed {
        /// Name of the audit.
        audit: String,
        /// Found − expected, as text; `?` when unknown.
        off_by: String,
    },
    /// The workload has no check, or none could be made.
    NotAudited {
        /// Checks that were skipped.
        skipped: u64,
    },
    /// Transactions failed.
    Failures {
        /// Share (0..=1) of all transactions.
        share: f64,
        /// The most frequent SQLSTATE.
        sqlstate: String,
    },
    /// Connections were lost and made anew, or an endpoint did no work.
    EndpointTrouble {
        /// Connections lost while their clients had not ended.
        lost: u64,
        /// Endpoints that lost some, `host:port`; none where there is one.
        lossy: Vec<String>,
        /// Endpoints that committed nothing, though clients were dealt to them.
        idle: Vec<String>,
        /// Where connections were lost: time in which nobody committed anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silent: Option<Silence>,
    },
    /// Tries were lost because other transactions were in the way.
    Conflicts {
        /// How many, of which kinds, and what may be the reason.
        #[serde(flatten)]
        conflicts: ConflictVerdict,
    },
    /// More tries were repeated than transactions committed.
    RetriesDominate {
        /// Tries beyond the first per committed transaction.
        retries_per_commit: f64,
    },
    /// Commits of unknown outcome.
    UnknownOutcomes {
        /// How many.
        count: u64,
    },
    /// The schedule could not be kept: the target was slower than the rate.
    RateNotReached {
        /// Offered, transactions per second.
        rate_tps: f64,
        /// Committed per second.
        tps: f64,
    },
    /// A signal ended the run early.
    Interrupted,
    /// Errors ended the run early.
    Aborted {
        /// The first error.
        reason: String,
    },
    /// Some clients ended by an error; the others went on.
    ClientsAborted {
        /// How many.
        aborted: u32,
        /// Of how many.
        clients: u32,
    },
    /// Nothing was committed.
    NothingCommitted,
}

/// A verdict as it stands in a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRecord {
    /// How much it takes from the figure.
    pub severity: Severity,
    /// What it is, and its evidence.
    pub verdict: Verdict,
    /// The same in one sentence.
    pub text: String,
    /// What to do about it; empty where nothing is to be done.
    pub advice: String,
}
