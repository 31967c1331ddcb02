//! The phases of a load, one after the other.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use pgdyno_workload::{Condition, Table, TableStatement};

use super::LoadPlan;
use super::chunks::{Chunk, Chunks};
use super::error::{Failure, LoadError};
use super::link::Link;
use super::marks::{self, Before, Done, Mark};
use super::patience::{Counts, Patience};
use super::plan::{self, How, Way};
use super::progress::{
    Begun, LoadObserver, LoadReport, LoadedTable, Phase, Progress, TableProgress,
};
use super::sending::Sending;
use super::threads::Watch;

/// A mark, or something else, is there already.
const UNIQUE_VIOLATION: &str = "23505";

/// One load under way.
pub(super) struct Steps<'a> {
    pub(super) plan: &'a LoadPlan<'a>,
    observer: &'a dyn LoadObserver,
    interrupt: &'a AtomicBool,
    /// Obeyed by all connections of this load.
    pub(super) stop: Arc<AtomicBool>,
    tables: Vec<Table>,
    state: Vec<TableState>,
    phases: Vec<(Phase, Duration)>,
    bytes: AtomicU64,
    way: Way,
    retries: Counts,
    sessions_renewed: AtomicU64,
    /// Chunks that an earlier load has left.
    chunks_found: Done,
    /// Statements for keys that it has left.
    keys_found: Vec<u64>,
    begun: Begun,
}

/// How far a table is, shared by the workers.
#[derive(Default)]
struct TableState {
    rows_done: AtomicU64,
    /// Of these, those that an earlier load has left.
    rows_found: u64,
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
        self.keys(&mut links, &workload.key_statements(dialect))?;
        self.settle(&mut links, &workload.settle_statements(dialect))?;
        self.check(&mut links)?;
        Ok(client_cpu)
    }

    fn how(&self) -> How<'a> {
        self.plan.how()
    }

    /// True where chunks and keys leave marks.
    const fn marks(&self) -> bool {
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

    /// Does `work` and writes its mark, both or neither. `None` where the mark
    /// is there already, so that nothing was to be done.
    fn marked<T>(
        &self,
        link: &mut Link,
        mark: Mark,
        mut work: impl FnMut(&mut Link) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let sql = mark.statement();
        self.patiently(|| {
            // The mark first: it waits for whoever writes the same one.
            let noted = link
                .together(&["BEGIN", &sql], || format!("the mark of a step in {}", marks::TABLE));
            let done = match noted {
                Err(failure) if failure.is(UNIQUE_VIOLATION) => {
                    link.roll_back();
                    return Ok(None);
                }
                Err(failure) => Err(failure),
                Ok(_) => work(link),
            };
            let ended = done.and_then(|done| {
                link.execute("COMMIT", || "COMMIT of a step and its mark".to_owned())?;
                Ok(Some(done))
            });
            if ended.is_err() {
                link.roll_back();
            }
            ended
        })
    }

    fn connect(&mut self) -> Result<Vec<Link>, Failure> {
        let plan = self.plan;
        let stop = Arc::clone(&self.stop);
        let contexts = plan.endpoints.iter().cycle().take(plan.jobs.get() as usize);
        self.phase(Phase::Connect, contexts, |_, context| Link::connect(context, &stop))
    }

    /// What an earlier load has left, its chunks included where they count.
    fn look_back(&mut self, links: &mut [Link]) -> Result<Before, Failure> {
        let identity = plan::identity(&self.how(), &self.way);
        let resume = self.plan.resume;
        let look = |steps: &Self, link: &mut Link| steps.read_marks(link, &identity, resume);
        let mut found = self.phase(Phase::Drop, links.iter_mut().take(1), look)?;
        let (before, chunks) = found.pop().unwrap_or((Before::Nothing, Done::default()));
        self.chunks_found = chunks;
        Ok(before)
    }

    fn read_marks(
        &self,
        link: &mut Link,
        identity: &marks::Identity,
        resume: bool,
    ) -> Result<(Before, Done), Failure> {
        const UNDEFINED_TABLE: &str = "42P01";
        let what = || format!("reading {}", marks::TABLE);
        let rows = match self.patiently(|| link.rows(&marks::look(), what)) {
            Err(failure) if failure.is(UNDEFINED_TABLE) => {
                return Ok((Before::Nothing, Done::default()));
            }
            rows => rows?,
        };
        let before = Before::judge(&rows, identity);
        let mut done = Done::default();
        let mut from = (resume && matches!(before, Before::Same { .. })).then_some(0);
        while let Some(number) = from {
            let page = self.patiently(|| link.rows(&marks::page(number), what))?;
            from = done.add_page(&page);
        }
        Ok((before, done))
    }

    /// Brings the target to where rows can be loaded.
    fn begin(&mut self, links: &mut [Link], before: &Before) -> Result<Begun, Failure> {
        if self.plan.resume {
            match before {
                Before::Same { keys } => return Ok(self.go_on(keys)),
                Before::Other(differences) => {
                    return Err(LoadError::OtherLoad { differences: differences.join(", ") }.into());
                }
                // Tables that look complete may be those of another load, which
                // this one was to replace when it was broken off: with another
                // seed they would have the same counts.
                Before::Nothing | Before::Scraps => {}
            }
        }
        self.chunks_found = Done::default();
        self.make_tables(links, *before == Before::Nothing)?;
        Ok(Begun::Anew)
    }

    /// Takes what is there as done.
    fn go_on(&mut self, keys: &[u64]) -> Begun {
        self.keys_found = keys.to_vec();
        let chunks = Chunks::new(&self.tables, self.way.batch);
        for chunk in self.chunks_found.iter().filter_map(|number| chunks.get(number)) {
            let rows = chunk.rows.end - chunk.rows.start;
            self.state[chunk.table].rows_found += rows;
            self.state[chunk.table].rows_done.fetch_add(rows, Ordering::Relaxed);
        }
        Begun::Continued { rows: self.state.iter().map(|state| state.rows_found).sum() }
    }

    /// Drops and creates, in an order in which a crash at any point leaves
    /// either nothing to go on with or the whole of it.
    fn make_tables(&mut self, links: &mut [Link], no_marks: bool) -> Result<(), Failure> {
        let (workload, dialect) = (self.plan.workload, self.plan.dialect);
        let plan_statement = marks::plan_statement(&plan::identity(&self.how(), &self.way));
        let new_marks = || {
            let create = marks::create(dialect).into_iter();
            create.chain([plan_statement.clone()]).collect::<Vec<_>>()
        };
        let drop = workload.drop_statements(dialect);
        let mut before = if no_marks { Vec::new() } else { vec![marks::forget()] };
        let mut after = Vec::new();
        if !self.marks() {
            after = marks::drop(dialect);
        } else if no_marks {
            before.extend(new_marks());
        } else {
            after = marks::drop(dialect);
            after.extend(new_marks());
        }
        let all: Vec<String> = before.into_iter().chain(drop).chain(after).collect();
        self.one_by_one(Phase::Drop, links, &all)?;
        let mut create = plan::create(workload, dialect, self.way.frozen);
        if self.marks() {
            create.push(Mark::Tables.statement());
        }
        self.one_by_one(Phase::Create, links, &create)
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
                return steps.marked(link, key, work).map(drop);
            }
            steps.statement_once(link, sql, is_new)?;
            steps.statement(link, &key.statement())
        })
    }

    /// What makes the tables fit for a run; no harm where it is done again.
    fn settle(&mut self, links: &mut [Link], all: &[TableStatement]) -> Result<(), Failure> {
        self.side_by_side(Phase::Settle, links, all, |steps, link, number| {
            steps.statement(link, &all[number].sql)
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
        let chunks = Chunks::new(&self.tables, self.way.batch);
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
            let done = self.marked(link, Mark::Chunk(number), &mut send)?;
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

    /// Counts rows and adds up keys, and compares both with the plan; then
    /// there is nothing left to go on with.
    fn check(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let tables = self.tables.clone();
        // The largest table first, so that it does not end alone.
        let mut order: Vec<&Table> = tables.iter().collect();
        order.sort_by_key(|table| std::cmp::Reverse(table.rows));
        let fresh = self.plan.workload.fresh_conditions(self.plan.dialect);
        let next = AtomicUsize::new(0);
        let run = |steps: &Self, link: &mut Link| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let condition = number.checked_sub(order.len()).map(|number| fresh.get(number));
                match (order.get(number), condition) {
                    (Some(table), _) => steps.check_table(link, table)?,
                    (None, Some(Some(condition))) => steps.check_condition(link, condition)?,
                    (None, _) => return Ok(()),
                }
            }
        };
        self.phase(Phase::Check, links.iter_mut().take(order.len() + fresh.len()), run)?;
        if self.marks() {
            self.one_by_one(Phase::Check, links, &marks::drop(self.plan.dialect))?;
        }
        Ok(())
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

    /// A rule of the workload's own for freshly loaded tables.
    fn check_condition(&self, link: &mut Link, condition: &Condition) -> Result<(), Failure> {
        let what = || format!("checking \"{}\"", condition.name);
        let figures = self.patiently(|| link.figures(&condition.sql, what))?;
        match figures.iter().next() {
            Some((_, 0)) => Ok(()),
            told => {
                let (name, title) = (condition.name, condition.title);
                let violations = told.map_or(0, |(_, violations)| violations);
                Err(LoadError::Fresh { name, title, violations }.into())
            }
        }
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
