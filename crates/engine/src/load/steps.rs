//! The phases of a load, one after the other.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use pgdyno_target::dialect::LoadMethod;
use pgdyno_workload::{Table, TableStatement};

use super::LoadPlan;
use super::chunks::{Chunk, Chunks};
use super::error::{Failure, LoadError};
use super::link::Link;
use super::patience::{Counts, Patience};
use super::plan::{self, Way};
use super::progress::{LoadObserver, LoadReport, LoadedTable, Phase, Progress, TableProgress};
use super::threads::Watch;
use super::values::write_insert;

/// COPY text made and sent at a time, per worker. More gave no more speed, as
/// a socket takes about 200 KiB at once; less costs system calls.
const SEND_BYTES: u64 = 256 << 10;

/// One load under way.
pub(super) struct Steps<'a> {
    plan: &'a LoadPlan<'a>,
    observer: &'a dyn LoadObserver,
    interrupt: &'a AtomicBool,
    /// Obeyed by all connections of this load.
    stop: Arc<AtomicBool>,
    tables: Vec<Table>,
    state: Vec<TableState>,
    phases: Vec<(Phase, Duration)>,
    bytes: AtomicU64,
    way: Way,
    retries: Counts,
}

/// How far a table is, shared by the workers.
#[derive(Default)]
struct TableState {
    rows_done: AtomicU64,
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
            way: Way::new(plan.dialect, plan.method, plan.jobs, None),
            retries: Counts::default(),
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
        let (workload, dialect) = (self.plan.workload, self.plan.dialect);
        let version = links.first().and_then(Link::server_version_num);
        self.way = Way::new(dialect, self.plan.method, self.plan.jobs, version);
        self.one_by_one(Phase::Drop, &mut links, &workload.drop_statements(dialect))?;
        let create = plan::create(workload, dialect, self.way.frozen);
        self.one_by_one(Phase::Create, &mut links, &create)?;
        let cpu_before = cpu_time();
        self.rows(&mut links)?;
        let client_cpu = cpu_time().saturating_sub(cpu_before);
        self.side_by_side(Phase::Keys, &mut links, &workload.key_statements(dialect))?;
        self.side_by_side(Phase::Settle, &mut links, &workload.settle_statements(dialect))?;
        self.check(&mut links)?;
        Ok(client_cpu)
    }

    /// Tries statements again that the server says were not done; with
    /// `frozen` all of them are one transaction, and then there is no again.
    fn patiently<T>(&self, mut work: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
        if self.way.frozen {
            return work();
        }
        Patience::new(self.plan.dialect, &self.stop, &self.retries).with(work)
    }

    /// One statement, and the wait for the job that it may leave in the server.
    fn statement(&self, link: &mut Link, sql: &str) -> Result<(), Failure> {
        let done = self.patiently(|| link.execute(sql, || head(sql)))?;
        let wait = done.job.and_then(|job| self.plan.dialect.wait_for_job(&job));
        let Some(wait) = wait else { return Ok(()) };
        self.patiently(|| link.execute(&wait, || format!("waiting for {}", head(sql)))).map(drop)
    }

    fn connect(&mut self) -> Result<Vec<Link>, Failure> {
        let plan = self.plan;
        let stop = Arc::clone(&self.stop);
        let contexts = plan.endpoints.iter().cycle().take(plan.jobs.get() as usize);
        self.phase(Phase::Connect, contexts, |_, context| Link::connect(context, &stop))
    }

    /// Statements in order, on the first connection.
    fn one_by_one(
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

    /// Statements of different tables, over as many connections as there are.
    fn side_by_side(
        &mut self,
        phase: Phase,
        links: &mut [Link],
        statements: &[TableStatement],
    ) -> Result<(), Failure> {
        if statements.is_empty() {
            return Ok(());
        }
        let next = AtomicUsize::new(0);
        // Some databases take one change of the schema at a time.
        let one_ddl = self.plan.dialect.transaction_limits().ddl_statements.is_some();
        let jobs = if one_ddl { 1 } else { statements.len() };
        let run = |steps: &Self, link: &mut Link| {
            while let Some(statement) = statements.get(next.fetch_add(1, Ordering::Relaxed)) {
                steps.statement(link, &statement.sql)?;
            }
            Ok(())
        };
        self.phase(phase, links.iter_mut().take(jobs), run).map(drop)
    }

    fn rows(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let chunks = Chunks::new(&self.tables, self.way.batch);
        let next = AtomicU64::new(0);
        let run = |steps: &Self, link: &mut Link| {
            let mut text = Vec::new();
            while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                steps.chunk(link, &chunk, &mut text)?;
            }
            if steps.way.frozen {
                link.execute("COMMIT", || "COMMIT of all rows".to_owned())?;
            }
            Ok(())
        };
        self.phase(Phase::Rows, links.iter_mut(), run).map(drop)
    }

    /// One chunk, as often as it takes.
    fn chunk(&self, link: &mut Link, chunk: &Chunk, text: &mut Vec<u8>) -> Result<(), Failure> {
        let begun = Instant::now();
        let (table, state) = (&self.tables[chunk.table], &self.state[chunk.table]);
        let word = match self.way.method {
            LoadMethod::Copy => "COPY",
            _ => "INSERT",
        };
        let what = || {
            let (first, last) = (chunk.rows.start + 1, chunk.rows.end);
            format!("{word} of rows {first} to {last} into {}", table.name)
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
        let taken = self.patiently(|| match self.way.method {
            LoadMethod::Copy => self.copy(link, chunk, text, &what, &mut tell),
            _ => self.insert(link, chunk, text, &what, &mut tell),
        })?;
        let sent = chunk.rows.end - chunk.rows.start;
        if taken != sent {
            let (found, expected) =
                (format!("{taken} rows from {}", what()), format!("{sent} rows"));
            return Err(LoadError::Check { table: table.name, found, expected }.into());
        }
        let mut span = state.span.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let first = span.map_or(begun, |(first, _)| first.min(begun));
        *span = Some((first, Instant::now()));
        Ok(())
    }

    /// One COPY: its text is made and sent piece by piece. Gives the rows that
    /// the server took.
    fn copy(
        &self,
        link: &mut Link,
        chunk: &Chunk,
        text: &mut Vec<u8>,
        what: &dyn Fn() -> String,
        tell: &mut dyn FnMut(u64, usize),
    ) -> Result<u64, Failure> {
        let table = &self.tables[chunk.table];
        let piece = (SEND_BYTES / u64::from(table.row_bytes_max).max(1)).max(1);
        let mut row = chunk.rows.start;
        let fill = |text: &mut Vec<u8>| {
            let end = chunk.rows.end.min(row + piece);
            self.plan.workload.write_rows(chunk.table, row..end, self.plan.seed, text);
            tell(end, text.len());
            row = end;
            !text.is_empty()
        };
        link.copy(&self.way.statement(table), what, text, fill)
    }

    /// One INSERT of all rows of a chunk.
    fn insert(
        &self,
        link: &mut Link,
        chunk: &Chunk,
        text: &mut Vec<u8>,
        what: &dyn Fn() -> String,
        tell: &mut dyn FnMut(u64, usize),
    ) -> Result<u64, Failure> {
        let table = &self.tables[chunk.table];
        text.clear();
        self.plan.workload.write_rows(chunk.table, chunk.rows.clone(), self.plan.seed, text);
        let mut sql = String::with_capacity(text.len() * 3);
        write_insert(table.name, table.columns, &String::from_utf8_lossy(text), &mut sql);
        tell(chunk.rows.end, text.len());
        link.execute(&sql, what).map(|done| done.rows)
    }

    /// Counts rows and adds up keys, and compares both with the plan.
    fn check(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let tables = self.tables.clone();
        // The largest table first, so that it does not end alone.
        let mut order: Vec<&Table> = tables.iter().collect();
        order.sort_by_key(|table| std::cmp::Reverse(table.rows));
        let next = AtomicUsize::new(0);
        let run = |steps: &Self, link: &mut Link| {
            while let Some(table) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                steps.check_table(link, table)?;
            }
            Ok(())
        };
        self.phase(Phase::Check, links.iter_mut().take(order.len()), run).map(drop)
    }

    fn check_table(&self, link: &mut Link, table: &Table) -> Result<(), Failure> {
        let (mut rows, mut keys) = (0, 0);
        let (mut rows_expected, mut keys_expected) = (0, 0);
        for look in plan::looks(table, self.plan.dialect.count_rows_max()) {
            let what = || format!("counting the rows of {}", table.name);
            let figures = self.patiently(|| link.figures(&look.sql, what))?;
            rows += figures.get("rows");
            keys += figures.get("keys");
            rows_expected += look.rows;
            keys_expected += look.keys;
        }
        if (rows, keys) == (rows_expected, keys_expected) {
            return Ok(());
        }
        let told = |rows: i128, keys: i128| format!("{rows} rows with a sum of keys of {keys}");
        Err(LoadError::Check {
            table: table.name,
            found: told(rows, keys),
            expected: told(rows_expected, keys_expected),
        }
        .into())
    }

    /// Runs one phase in threads, and notes how long it took.
    fn phase<I: Send, O: Send>(
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
            jobs: self.plan.jobs.get(),
            frozen: self.way.frozen,
            tables: tables.collect(),
            bytes: self.bytes.load(Ordering::Relaxed),
            phases: self.phases,
            retries: self.retries.all(),
            client_cpu,
        }
    }
}

/// A statement's beginning, enough to recognise it in a message.
fn head(sql: &str) -> String {
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
