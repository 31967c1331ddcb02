//! The phases of a load, one after the other.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use pgdyno_workload::{Table, TableStatement};

use super::LoadPlan;
use super::chunks::{Chunk, Chunks};
use super::error::{Failure, LoadError};
use super::link::Link;
use super::marks::{Done, Mark};
use super::patience::{Counts, Patience};
use super::plan::{How, Way};
use super::progress::{
    Begun, LoadObserver, LoadReport, LoadedTable, Phase, Progress, TableProgress,
};
use super::sending::Sending;
use super::threads::Watch;

/// One load under way.
pub(super) struct Steps<'a> {
    pub(super) plan: &'a LoadPlan<'a>,
    pub(super) observer: &'a dyn LoadObserver,
    interrupt: &'a AtomicBool,
    /// Obeyed by all connections of this load.
    pub(super) stop: Arc<AtomicBool>,
    pub(super) tables: Vec<Table>,
    pub(super) state: Vec<TableState>,
    phases: Vec<(Phase, Duration)>,
    bytes: AtomicU64,
    pub(super) way: Way,
    retries: Counts,
    sessions_renewed: AtomicU64,
    /// Chunks that an earlier load has left.
    pub(super) chunks_found: Done,
    /// Statements for keys that it has left.
    pub(super) keys_found: Vec<u64>,
    begun: Begun,
}

/// How far a table is, shared by the workers.
#[derive(Default)]
pub(super) struct TableState {
    pub(super) rows_done: AtomicU64,
    /// Of these, those that an earlier load has left.
    pub(super) rows_found: u64,
    /// When its first chunk began and its last one so far was confirmed.
    span: Mutex<Option<(Instant, Instant)>>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(
        plan: &'a LoadPlan<'a>,
        observer: &'a dyn LoadObserver,
        interrupt: &'a AtomicBool,
    ) -> Self {
        let tables = plan.workload.tables();
        Self {
            plan,
            observer,
            interrupt,
            stop: Arc::new(AtomicBool::new(false)),
            state: tables.iter().map(|_| TableState::default()).collect(),
            tables,
            phases: Vec::new(),
            bytes: AtomicU64::new(0),
            way: Way::new(&plan.how(), None),
            retries: Counts::default(),
            sessions_renewed: AtomicU64::new(0),
            chunks_found: Done::default(),
            keys_found: Vec::new(),
            begun: Begun::Anew,
        }
    }

    /// All phases in order.
    pub(super) fn all(mut self) -> Result<LoadReport, LoadError> {
        match self.try_all() {
            Ok(client_cpu) => Ok(self.report(client_cpu)),
            Err(Failure::Error(error)) => Err(error),
            Err(Failure::Stopped) => {
                let now = self.progress(Phase::Rows, Duration::ZERO);
                let (rows_done, rows_total) = (now.rows_done(), now.rows_total());
                Err(LoadError::Interrupted { rows_done, rows_total })
            }
        }
    }

    fn try_all(&mut self) -> Result<Duration, Failure> {
        let mut links = self.connect()?;
        let version = links.first().and_then(Link::server_version_num);
        self.way = Way::new(&self.plan.how(), version);
        self.check_method()?;
        let before = self.look_back(&mut links)?;
        self.begun = self.begin(&mut links, &before)?;
        self.observer.begun(self.begun);
        let cpu_before = cpu_time();
        self.rows(&mut links)?;
        let client_cpu = cpu_time().saturating_sub(cpu_before);
        let (workload, dialect) = (self.plan.workload, self.plan.dialect);
        if !matches!(self.begun, Begun::Anew) {
            self.drop_invalid(&mut links)?;
        }
        self.keys(&mut links, &workload.key_statements(dialect))?;
        self.settle(&mut links, &workload.settle_statements(dialect))?;
        self.check(&mut links)?;
        Ok(client_cpu)
    }

    pub(super) fn how(&self) -> How<'a> {
        self.plan.how()
    }

    /// True where chunks and keys leave marks.
    pub(super) const fn marks(&self) -> bool {
        !self.way.frozen
    }

    fn check_method(&self) -> Result<(), Failure> {
        if self.way.serves(&self.tables) {
            return Ok(());
        }
        let workload = self.plan.workload.name();
        Err(LoadError::NoServerRows { workload, dialect: self.plan.dialect.title() }.into())
    }

    /// Tries statements again that the server says were not done; with
    /// `frozen` all of them are one transaction, and then there is no again.
    pub(super) fn patiently<T>(
        &self,
        mut work: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.way.frozen {
            return work();
        }
        Patience::new(self.plan.dialect, &self.stop, &self.retries).with(work)
    }

    fn connect(&mut self) -> Result<Vec<Link>, Failure> {
        let plan = self.plan;
        let stop = Arc::clone(&self.stop);
        let contexts = plan.endpoints.iter().cycle().take(plan.jobs.get() as usize);
        self.phase(Phase::Connect, contexts, |_, context| Link::connect(context, &stop))
    }

    /// Statements in order, on the first connection.
    pub(super) fn one_by_one(
        &mut self,
        phase: Phase,
        links: &mut [Link],
        statements: &[String],
    ) -> Result<(), Failure> {
        let run = |steps: &Self, link: &mut Link| {
            statements.iter().try_for_each(|sql| steps.statement(link, sql))
        };
        self.phase(phase, links.iter_mut().take(1), run).map(drop)
    }

    /// Keys and indexes, each once.
    fn keys(&mut self, links: &mut [Link], all: &[TableStatement]) -> Result<(), Failure> {
        let is_new = matches!(self.begun, Begun::Anew);
        self.side_by_side(Phase::Keys, links, all, |steps, link, number| {
            let (key, sql) = (Mark::Key(number as u64), &all[number].sql);
            if steps.keys_found.contains(&(number as u64)) {
                return Ok(());
            }
            if !steps.marks() {
                return steps.statement(link, sql);
            }
            if steps.plan.dialect.ddl_in_transactions() {
                let work = |link: &mut Link| link.execute(sql, || head(sql)).map(drop);
                return steps.marked(link, key, &|| head(sql), work).map(drop);
            }
            steps.statement_once(link, sql, is_new)?;
            steps.statement(link, &key.statement())
        })
    }

    /// What makes the tables fit for a run. Done again where a load goes on;
    /// a foreign key may be there already then.
    fn settle(&mut self, links: &mut [Link], all: &[TableStatement]) -> Result<(), Failure> {
        let is_new = matches!(self.begun, Begun::Anew);
        self.side_by_side(Phase::Settle, links, all, |steps, link, number| {
            steps.statement_once(link, &all[number].sql, is_new)
        })
    }

    /// Statements of different tables, over as many connections as there are.
    fn side_by_side(
        &mut self,
        phase: Phase,
        links: &mut [Link],
        statements: &[TableStatement],
        work: impl Fn(&Self, &mut Link, usize) -> Result<(), Failure> + Sync,
    ) -> Result<(), Failure> {
        if statements.is_empty() {
            return Ok(());
        }
        let next = AtomicUsize::new(0);
        // Some databases take one change of the schema at a time.
        let one_ddl = self.plan.dialect.transaction_limits().ddl_statements.is_some();
        let jobs = if one_ddl { 1 } else { statements.len() };
        let run = |steps: &Self, link: &mut Link| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= statements.len() {
                    return Ok(());
                }
                work(steps, link, number)?;
            }
        };
        self.phase(phase, links.iter_mut().take(jobs), run).map(drop)
    }

    fn rows(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let chunks = Chunks::new(&self.tables, self.way.cut);
        let next = AtomicU64::new(0);
        let run = |steps: &Self, link: &mut Link| {
            let mut text = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(chunk) = chunks.get(number) else { break };
                if !steps.chunks_found.contains(number) {
                    steps.renew(link, number)?;
                    steps.chunk(link, number, &chunk, &mut text)?;
                }
            }
            if steps.way.frozen {
                link.execute("COMMIT", || "COMMIT of all rows".to_owned())?;
            }
            Ok(())
        };
        self.phase(Phase::Rows, links.iter_mut(), run).map(drop)
    }

    /// A new session before the server closes the old one, not for all workers
    /// at once. Not while all is one transaction.
    fn renew(&self, link: &mut Link, number: u64) -> Result<(), Failure> {
        let Some(age) = self.plan.dialect.connection_limits().session_age else { return Ok(()) };
        let percent = 75 + u32::try_from(number % 16).unwrap_or(0);
        if !self.way.frozen && link.renew(age * percent / 100)? {
            self.sessions_renewed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// One chunk, as often as it takes.
    fn chunk(
        &self,
        link: &mut Link,
        number: u64,
        chunk: &Chunk,
        text: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let state = &self.state[chunk.table];
        let sending = Sending {
            workload: self.plan.workload,
            tables: &self.tables,
            way: &self.way,
            seed: self.plan.seed,
        };
        // Rows that were told as sent are not told again: progress never runs
        // backwards.
        let mut told = chunk.rows.start;
        let mut tell = |end: u64, bytes: usize| {
            if end > told {
                state.rows_done.fetch_add(end - told, Ordering::Relaxed);
                self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                told = end;
            }
        };
        let mut send = |link: &mut Link| {
            let taken = sending.send(link, chunk, text, &mut tell)?;
            self.all_taken(&sending, chunk, taken)
        };
        if self.marks() {
            let done =
                self.marked(link, Mark::Chunk(number), &|| sending.what(chunk), &mut send)?;
            if done.is_none() {
                tell(chunk.rows.end, 0);
            }
        } else {
            send(link)?;
        }
        let mut span = state.span.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let first = span.map_or(begun, |(first, _)| first.min(begun));
        *span = Some((first, Instant::now()));
        Ok(())
    }

    fn all_taken(&self, sending: &Sending<'_>, chunk: &Chunk, taken: u64) -> Result<(), Failure> {
        let sent = chunk.rows.end - chunk.rows.start;
        if taken == sent {
            return Ok(());
        }
        let found = format!("{taken} rows from {}", sending.what(chunk));
        let (table, expected) = (self.tables[chunk.table].name, format!("{sent} rows"));
        Err(LoadError::Check { table, found, expected }.into())
    }

    /// Runs one phase in threads, and notes how long it took.
    pub(super) fn phase<I: Send, O: Send>(
        &mut self,
        phase: Phase,
        inputs: impl IntoIterator<Item = I>,
        work: impl Fn(&Self, I) -> Result<O, Failure> + Sync,
    ) -> Result<Vec<O>, Failure> {
        let begun = Instant::now();
        let ended = {
            let this: &Self = self;
            this.watched(phase, inputs, |input| work(this, input))
        };
        self.phases.push((phase, begun.elapsed()));
        ended
    }

    fn watched<I: Send, O: Send>(
        &self,
        phase: Phase,
        inputs: impl IntoIterator<Item = I>,
        work: impl Fn(I) -> Result<O, Failure> + Sync,
    ) -> Result<Vec<O>, Failure> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let begun = Instant::now();
        let tick = || self.observer.progress(&self.progress(phase, begun.elapsed()));
        Watch { interrupt: self.interrupt, stop: &self.stop, tick: &tick }.each(inputs, work)
    }

    fn progress(&self, phase: Phase, phase_elapsed: Duration) -> Progress {
        let tables = self.tables.iter().zip(&self.state).map(|(table, state)| TableProgress {
            table: table.name,
            rows_done: state.rows_done.load(Ordering::Relaxed),
            rows_found: state.rows_found,
            rows_total: table.rows,
        });
        Progress { phase, phase_elapsed, tables: tables.collect() }
    }

    fn report(self, client_cpu: Duration) -> LoadReport {
        let tables = self.tables.iter().zip(&self.state).map(|(table, state)| {
            let span = *state.span.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let elapsed = span.map_or(Duration::ZERO, |(first, last)| last - first);
            LoadedTable { table: table.name, rows: table.rows, elapsed }
        });
        LoadReport {
            begun: self.begun,
            method: self.way.method,
            jobs: self.plan.jobs.get(),
            frozen: self.way.frozen,
            tables: tables.collect(),
            bytes: self.bytes.load(Ordering::Relaxed),
            phases: self.phases,
            retries: self.retries.all(),
            sessions_renewed: self.sessions_renewed.load(Ordering::Relaxed),
            table_params: self.plan.dialect.table_params_in_effect(),
            client_cpu,
        }
    }
}

/// A statement's beginning, enough to recognise it in a message.
pub(super) fn head(sql: &str) -> String {
    const WORDS: usize = 4;
    sql.split_whitespace().take(WORDS).collect::<Vec<_>>().join(" ")
}

/// User and system time of this process so far; zero where the system does
/// not tell.
fn cpu_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Duration::ZERO };
    let micros = |time: nix::sys::time::TimeVal| {
        u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0)
    };
    Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
}
