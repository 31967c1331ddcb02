//! What the loading of tables tells while it goes on, and at its end.

use std::time::Duration;

use pgdyno_target::dialect::LoadMethod;

/// The parts of a load, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Connections are made.
    Connect,
    /// Old tables are dropped.
    Drop,
    /// Empty tables are made.
    Create,
    /// Rows are sent.
    Rows,
    /// Indexes that an earlier load has left half made are looked for and dropped.
    Repair,
    /// Keys and indexes are made.
    Keys,
    /// Statistics, vacuum.
    Settle,
    /// Counts and sums are compared with what was to be loaded.
    Check,
}

impl Phase {
    /// All phases in their order.
    pub const ALL: [Self; 8] = [
        Self::Connect,
        Self::Drop,
        Self::Create,
        Self::Rows,
        Self::Repair,
        Self::Keys,
        Self::Settle,
        Self::Check,
    ];

    /// What is being done, for people: continues `pgdyno is …`.
    #[must_use]
    pub const fn doing(self) -> &'static str {
        match self {
            Self::Connect => "connecting",
            Self::Drop => "dropping old tables",
            Self::Create => "creating tables",
            Self::Rows => "loading rows",
            Self::Repair => "looking for indexes left invalid",
            Self::Keys => "creating primary keys",
            Self::Settle => "vacuuming and analyzing",
            Self::Check => "checking counts and sums",
        }
    }
}

/// How far one table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableProgress {
    /// The table.
    pub table: &'static str,
    /// Rows sent so far, and those that were found; more than the server has
    /// confirmed.
    pub rows_done: u64,
    /// Of these, the ones that an earlier load has left.
    pub rows_found: u64,
    /// Rows that it is to have.
    pub rows_total: u64,
}

/// How far a load is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Time since this phase began.
    pub phase_elapsed: Duration,
    /// All tables in the order of loading.
    pub tables: Vec<TableProgress>,
}

impl Progress {
    /// Rows sent so far over all tables.
    #[must_use]
    pub fn rows_done(&self) -> u64 {
        self.tables.iter().map(|table| table.rows_done).sum()
    }

    /// Rows over all tables that an earlier load has left.
    #[must_use]
    pub fn rows_found(&self) -> u64 {
        self.tables.iter().map(|table| table.rows_found).sum()
    }

    /// Rows to be loaded over all tables.
    #[must_use]
    pub fn rows_total(&self) -> u64 {
        self.tables.iter().map(|table| table.rows_total).sum()
    }
}

/// Hears how a load goes on, always on the thread that called
/// [`load`](super::load); `Sync`, because the workers see the load it belongs to.
pub trait LoadObserver: Sync {
    /// Called when a phase begins, when it ends, and about
    /// [ten times a second](super::TICK) while it lasts.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }

    /// Called once, when it is known whether there was something to go on with.
    fn begun(&self, begun: Begun) {
        let _ = begun;
    }

    /// Called before the marks of another workload's load, which was broken
    /// off, are taken away: nothing says any more that its tables are not
    /// complete.
    fn other_given_up(&self, workload: &str) {
        let _ = workload;
    }

    /// Called where the load goes on without something that a person should know
    /// of.
    fn warning(&self, text: &str) {
        let _ = text;
    }
}

/// From where a load began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// From nothing: what was there was dropped.
    Anew,
    /// From what an interrupted load had left.
    Continued {
        /// Rows that were in.
        rows: u64,
    },
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct SilentLoad;

impl LoadObserver for SilentLoad {}

/// What a load did.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadReport {
    /// From where it began.
    pub begun: Begun,
    /// How rows were sent.
    pub method: LoadMethod,
    /// Connections that loaded side by side.
    pub jobs: u32,
    /// True where tables were made and filled in one transaction with
    /// `COPY … FREEZE`.
    pub frozen: bool,
    /// Time of each phase that took place, in order.
    pub phases: Vec<(Phase, Duration)>,
    /// Rows of each table, all confirmed by a count.
    pub tables: Vec<LoadedTable>,
    /// COPY text of all rows in bytes, without the protocol's headers and what
    /// was sent again.
    pub bytes: u64,
    /// Statements that were refused and tried again with success, by SQLSTATE;
    /// most often none.
    pub retries: Vec<(String, u64)>,
    /// Sessions that were made anew before the server would have closed them.
    pub sessions_renewed: u64,
    /// What was chosen of the target's tables.
    pub table_params: Vec<(&'static str, String)>,
    /// CPU time of this process while rows were loaded: user and system.
    pub client_cpu: Duration,
}

/// A table that was loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedTable {
    /// Its name.
    pub table: &'static str,
    /// Rows.
    pub rows: u64,
    /// Time from its first row sent to its last one confirmed; zero where it
    /// has no rows.
    pub elapsed: Duration,
}

impl LoadReport {
    /// Time of a phase; zero where it did not take place.
    #[must_use]
    pub fn phase(&self, phase: Phase) -> Duration {
        self.phases.iter().filter(|(known, _)| *known == phase).map(|(_, time)| *time).sum()
    }

    /// Time of everything.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.phases.iter().map(|(_, elapsed)| *elapsed).sum()
    }

    /// Rows over all tables.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// Rows that were there before it began.
    #[must_use]
    pub fn rows_found(&self) -> u64 {
        match self.begun {
            Begun::Anew => 0,
            Begun::Continued { rows } => rows,
        }
    }

    /// Rows loaded per second while rows were loaded; 0 where that took no time.
    #[must_use]
    pub fn rows_per_s(&self) -> f64 {
        let seconds = self.phase(Phase::Rows).as_secs_f64();
        let rows = self.rows().saturating_sub(self.rows_found());
        if seconds > 0.0 { rows as f64 / seconds } else { 0.0 }
    }
}
