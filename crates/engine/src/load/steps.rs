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
use super::progress::{LoadObserver, LoadReport, LoadedTable, Phase, Progress, TableProgress};
use super::threads::Watch;

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
    frozen: bool,
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
            frozen: false,
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
        self.frozen = self.can_freeze(&links);
        let (workload, dialect) = (self.plan.workload, self.plan.dialect);
        self.one_by_one(Phase::Drop, &mut links, &workload.drop_statements(dialect))?;
        let mut create = workload.create_statements(dialect);
        if self.frozen {
            create.insert(0, "BEGIN".to_owned());
        }
        self.one_by_one(Phase::Create, &mut links, &create)?;
        let cpu_before = cpu_time();
        self.rows(&mut links)?;
        let client_cpu = cpu_time().saturating_sub(cpu_before);
        self.side_by_side(Phase::Keys, &mut links, &workload.key_statements(dialect))?;
        self.side_by_side(Phase::Settle, &mut links, &workload.settle_statements(dialect))?;
        self.check(&mut links)?;
        Ok(client_cpu)
    }

    /// FREEZE needs the table to be made by the transaction that fills it, so
    /// it is for one connection only. There it saves the vacuum most of its
    /// work: 2 million rows took 1.05 s instead of 1.3 s with keys and
    /// statistics on PostgreSQL 15.
    fn can_freeze(&self, links: &[Link]) -> bool {
        let limits = self.plan.dialect.transaction_limits();
        let unlimited = limits.rows.is_none()
            && limits.bytes.is_none()
            && limits.age.is_none()
            && limits.ddl_statements.is_none();
        let version = links.first().and_then(Link::server_version_num);
        links.len() == 1 && unlimited && self.plan.dialect.can_copy_freeze(version)
    }

    fn connect(&mut self) -> Result<Vec<Link>, Failure> {
        let plan = self.plan;
        let stop = Arc::clone(&self.stop);
        let contexts = plan.endpoints.iter().cycle().take(plan.jobs.get() as usize);
        self.phase(Phase::Connect, contexts, |context| Link::connect(context, &stop))
    }

    /// Statements in order, on the first connection.
    fn one_by_one(
        &mut self,
        phase: Phase,
        links: &mut [Link],
        statements: &[String],
    ) -> Result<(), Failure> {
        let run = |link: &mut Link| {
            statements.iter().try_for_each(|sql| link.execute(sql, || head(sql)).map(drop))
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
        let run = |link: &mut Link| {
            while let Some(statement) = statements.get(next.fetch_add(1, Ordering::Relaxed)) {
                link.execute(&statement.sql, || head(&statement.sql))?;
            }
            Ok(())
        };
        self.phase(phase, links.iter_mut().take(statements.len()), run).map(drop)
    }

    fn rows(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let chunks = Chunks::new(&self.tables, self.plan.dialect.transaction_limits());
        let next = AtomicU64::new(0);
        let work = |steps: &Self, link: &mut Link| {
            let mut text = Vec::new();
            while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                steps.chunk(link, &chunk, &mut text)?;
            }
            if steps.frozen {
                link.execute("COMMIT", || "COMMIT of all rows".to_owned())?;
            }
            Ok(())
        };
        let begun = Instant::now();
        let ended = {
            let this: &Self = self;
            this.watched(Phase::Rows, links.iter_mut(), |link| work(this, link))
        };
        self.phases.push((Phase::Rows, begun.elapsed()));
        ended.map(drop)
    }

    /// One COPY: its text is made and sent piece by piece.
    fn chunk(&self, link: &mut Link, chunk: &Chunk, text: &mut Vec<u8>) -> Result<(), Failure> {
        let table = &self.tables[chunk.table];
        let state = &self.state[chunk.table];
        let begun = Instant::now();
        let what = || {
            let (first, last) = (chunk.rows.start + 1, chunk.rows.end);
            format!("COPY of rows {first} to {last} into {}", table.name)
        };
        let freeze = if self.frozen { " WITH (FREEZE)" } else { "" };
        let columns = table.columns.join(", ");
        let sql = format!("COPY {} ({columns}) FROM STDIN{freeze}", table.name);
        let piece = (SEND_BYTES / u64::from(table.row_bytes_max).max(1)).max(1);
        let mut row = chunk.rows.start;
        let fill = |text: &mut Vec<u8>| {
            let end = chunk.rows.end.min(row + piece);
            self.plan.workload.write_rows(chunk.table, row..end, self.plan.seed, text);
            self.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
            state.rows_done.fetch_add(end - row, Ordering::Relaxed);
            row = end;
            !text.is_empty()
        };
        let taken = link.copy(&sql, what, text, fill)?;
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

    /// Counts rows and adds up keys, and compares both with the plan.
    fn check(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let tables = self.tables.clone();
        // The largest table first, so that it does not end alone.
        let mut order: Vec<&Table> = tables.iter().collect();
        order.sort_by_key(|table| std::cmp::Reverse(table.rows));
        let next = AtomicUsize::new(0);
        let run = |link: &mut Link| {
            while let Some(table) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                check_table(link, table)?;
            }
            Ok(())
        };
        self.phase(Phase::Check, links.iter_mut().take(order.len()), run).map(drop)
    }

    /// Runs one phase in threads, and notes how long it took.
    fn phase<I: Send, O: Send>(
        &mut self,
        phase: Phase,
        inputs: impl IntoIterator<Item = I>,
        work: impl Fn(I) -> Result<O, Failure> + Sync,
    ) -> Result<Vec<O>, Failure> {
        let begun = Instant::now();
        let ended = self.watched(phase, inputs, work);
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
            frozen: self.frozen,
            tables: tables.collect(),
            bytes: self.bytes.load(Ordering::Relaxed),
            phases: self.phases,
            client_cpu,
        }
    }
}

fn check_table(link: &mut Link, table: &Table) -> Result<(), Failure> {
    let sum = table.key_sum.as_ref().map_or("0", |sum| sum.expression);
    let sql =
        format!("SELECT count(*) AS rows, coalesce(sum({sum}), 0) AS keys FROM {}", table.name);
    let figures = link.figures(&sql, || format!("counting the rows of {}", table.name))?;
    let (rows, keys) = (figures.get("rows"), figures.get("keys"));
    let expected_keys = table.key_sum.as_ref().map_or(0, |sum| sum.expected);
    if rows == i128::from(table.rows) && keys == expected_keys {
        return Ok(());
    }
    let told = |rows: String, keys: i128| format!("{rows} rows with a sum of keys of {keys}");
    Err(LoadError::Check {
        table: table.name,
        found: told(rows.to_string(), keys),
        expected: told(table.rows.to_string(), expected_keys),
    }
    .into())
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
