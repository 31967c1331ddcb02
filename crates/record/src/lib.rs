//! What a run leaves behind: histograms, counters, the timeline, the run
//! record and its verdicts, and the folder on disk.
//!
//! Two kinds of types live here. Those that a worker fills while it measures
//! ([`Latencies`], [`Tally`], [`Second`]) are plain counters that merge exactly,
//! so that n workers, or n drivers, add up to one. Those that go to disk
//! ([`RunRecord`] and its parts) are made once, after the run.
//!
//! Nothing here knows a server, a socket or a terminal.

pub mod conflict;
pub mod driver;
pub mod endpoint;
pub mod latency;
pub mod redact;
pub mod run;
pub mod sqlstate;
pub mod store;
pub mod tally;
pub mod target_statistics;
pub mod timeline;
pub mod tpcc;
pub mod verdict;

pub use conflict::{ConflictKind, ConflictRecord, ConflictVerdict, Conflicts};
pub use driver::{CpuWait, DriverRecord, Saturation, WorkerHealth, WorkerRecord};
pub use endpoint::{EndpointRecord, EndpointTally, EndpointsRecord};
pub use latency::{Latencies, LatencyError, LatencyRecord};
pub use run::{
    Audit, AuditOutcome, BackoffPlan, ConnectionRecord, Counts, EndKind, Ended, Endpoint, Limit,
    LoadRecord, LoadedTable, MachineRecord, PlanRecord, ResetHow, ResetRecord, RunRecord,
    SCHEMA_VERSION, ScheduleRecord, ScriptInfo, Sections, StatementInfo, StatementKind,
    StatementRecord, TargetRecord, TlsRecord, Totals, TransactionRecord, WorkloadRecord,
};
pub use sqlstate::{FailureClass, SqlState, SqlStateClass};
pub use store::{Store, StoreError};
pub use tally::{ConnectTally, ScriptTally, StatementTally, Tally, TransactionTimes};
pub use target_statistics::{
    StatementPlan, StatisticsFigure, StatisticsGroup, StatisticsKind, StatisticsRow,
    TargetStatistics,
};
pub use timeline::{Point, Second, SecondClock, Timeline, TimelineRecord};
pub use tpcc::{TpccRecord, TpccType};
pub use verdict::{Severity, Verdict, VerdictRecord, judge};
