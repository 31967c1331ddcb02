//! Servers that lie: every lie is caught by the audits of every workload.
//!
//! Three lies, told of each table that a workload's own statements write: one
//! update in a hundred is swallowed; one insert in a hundred becomes nothing;
//! and another session writes back what it had read before the run, which is
//! a lost update. The jobs come from the registry, so a new workload is lied
//! to as well. Each kind of lie is told once to each workload;
//! `PGDYNO_TEST_LIES=all`, as `make test-long` has it, tells each of every
//! table.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use pgdyno_script::{Names, Script};
use pgdyno_workload::{Body, workloads};
use serde_json::Value;

use crate::support::room::LOOK_EVERY;
use crate::support::{Database, Room};
use crate::templates::{Templates, made};

/// Jobs side by side: the servers wait for disks and locks, too.
const THREADS: usize = 3;

/// How long a run may take to change a row that the second session can spoil.
const PLANTED_MAX: Duration = Duration::from_secs(60);

/// Tries enough for every conflict.
const LOAD: [&str; 6] = ["-c", "2", "--max-tries", "10000", "--audit", "full"];

/// The level at which a lie is one: no update may be lost that is written over.
///
/// For all others there are no retries at read committed, and so no lie is
/// told to a try that is rolled back, where it does no harm and is rightly
/// not seen.
fn level(job: &Job) -> [&'static str; 2] {
    let is_written_over = matches!(job.lie, Lie::WriteBack { .. }) && job.workload == "transfer";
    ["--isolation", if is_written_over { "repeatable-read" } else { "read-committed" }]
}

/// Every hundredth time, beginning with the fifth: also what is rare in a mix
/// is lied about once.
const SOMETIMES: &str = "nextval('lies') % 100 = 5";

#[derive(Debug, Clone, PartialEq, Eq)]
enum Lie {
    /// Updates of the table that do nothing.
    Swallow { table: String },
    /// Inserts into the table that do nothing, by a rule; by a trigger where
    /// the insert stands within WITH, where no rule may.
    Vanish { table: String, by_rule: bool },
    /// Columns of a row written back as they were before the run.
    WriteBack { table: String, columns: Vec<String> },
}

#[derive(Debug, Clone)]
struct Job {
    workload: &'static str,
    lie: Lie,
}

/// Workloads with more rows at scale 1 take long to copy and to audit.
const ROWS_SHORT_MAX: u64 = 400_000;

/// The lies of every workload that writes.
fn jobs() -> VecDeque<Job> {
    let tells_all = std::env::var("PGDYNO_TEST_LIES").is_ok_and(|value| value == "all");
    let mut all = VecDeque::new();
    for entry in workloads() {
        let mut lies = lies_about(entry.name);
        let rows: u64 = made(entry.name).tables().iter().map(|table| table.rows).sum();
        if !tells_all {
            let mut kinds = Vec::new();
            lies.retain(|lie| {
                let kind = std::mem::discriminant(lie);
                let is_new = !kinds.contains(&kind);
                kinds.push(kind);
                is_new
            });
        }
        // The long ones first, so that no thread has one alone at the end.
        for lie in lies {
            let job = Job { workload: entry.name, lie };
            if rows > ROWS_SHORT_MAX { all.push_front(job) } else { all.push_back(job) }
        }
    }
    all
}

fn lies_about(workload: &str) -> Vec<Lie> {
    let mut lies = Vec::new();
    let mut updated: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut inserted: BTreeMap<String, bool> = BTreeMap::new();
    for transaction in made(workload).transactions() {
        let (Body::Script(text) | Body::Procedure(text)) = transaction.body else { continue };
        let script = Script::parse("s", text.as_bytes(), &mut Names::new()).unwrap();
        for sql in script.commands.iter().filter_map(|command| command.kind.sql()) {
            let words = words(&sql.text_lossy());
            for (table, columns) in updates(&words) {
                updated.insert(table, columns);
            }
            let has_with = sql.hides_writes.contains(&true);
            for table in inserts(&words) {
                *inserted.entry(table).or_insert(true) &= !has_with;
            }
        }
    }
    for (table, columns) in updated {
        lies.push(Lie::Swallow { table: table.clone() });
        lies.push(Lie::WriteBack { table, columns });
    }
    for (table, by_rule) in inserted {
        lies.push(Lie::Vanish { table, by_rule });
    }
    lies
}

/// Words, and signs each by itself, in lower case.
fn words(sql: &str) -> Vec<String> {
    let mut spaced = String::new();
    for letter in sql.to_lowercase().chars() {
        if letter.is_alphanumeric() || "_.:'\"".contains(letter) {
            spaced.push(letter);
        } else {
            spaced.extend([' ', letter, ' ']);
        }
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// The tables that are updated, each with the columns that are set.
fn updates(words: &[String]) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for at in 0..words.len() {
        let [update, table, set, rest @ ..] = &words[at..] else { continue };
        if update == "update" && set == "set" {
            found.push((table.clone(), columns(rest)));
        }
    }
    found
}

/// `a = …, b = …`, up to whatever ends it.
fn columns(words: &[String]) -> Vec<String> {
    let (mut depth, mut is_next) = (0_usize, true);
    let mut found = Vec::new();
    for word in words {
        match word.as_str() {
            "(" => depth += 1,
            ")" if depth == 0 => break,
            ")" => depth -= 1,
            "where" | "from" | "returning" | ";" if depth == 0 => break,
            "," if depth == 0 => is_next = true,
            name if std::mem::take(&mut is_next) => found.push(name.to_owned()),
            _ => {}
        }
    }
    found
}

fn inserts(words: &[String]) -> Vec<String> {
    let is = |at: usize, word: &str| words[at] == word;
    (2..words.len())
        .filter(|at| is(at - 2, "insert") && is(at - 1, "into"))
        .map(|at| words[at].clone())
        .collect()
}

/// The names that are read from statements are those that are written there.
#[test]
fn statements_are_read() {
    let words = words(
        "WITH a AS (UPDATE t SET x = x + f(1, 2), y = CASE WHEN z THEN 1 ELSE 2 END WHERE k = :k) \
         INSERT INTO h (k) SELECT k FROM s FOR UPDATE",
    );
    assert_eq!(updates(&words), [("t".to_owned(), vec!["x".to_owned(), "y".to_owned()])]);
    assert_eq!(inserts(&words), ["h"]);
}

/// Every lie fails a run of every workload whose work it touches, by an audit.
#[test]
fn every_lie_is_caught_in_every_workload() {
    let jobs = Mutex::new(jobs());
    let number = jobs.lock().unwrap().len();
    eprintln!("{number} lies");
    assert!(number > 20, "only {number} lies");
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let Some(job) = jobs.lock().unwrap().pop_front() else { return };
                    if let Some(fault) = tell(&job) {
                        faults.lock().unwrap().push(fault);
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} of {number} lies:\n{}", faults.len(), faults.join("\n"));
}

/// Tells one lie; what is said where nobody caught it.
fn tell(job: &Job) -> Option<String> {
    let templates = Templates::shared();
    let database = templates.copy(job.workload);
    database.sql("create sequence lies");
    let room = templates.room();
    let code = match &job.lie {
        Lie::Swallow { table } => {
            database.sql(&trigger(table, "update"));
            short_run(&database, &room, job)
        }
        Lie::Vanish { table, by_rule: true } => {
            database.sql(&format!(
                "create rule lie as on insert to {table} where {SOMETIMES} do instead nothing"
            ));
            short_run(&database, &room, job)
        }
        Lie::Vanish { table, by_rule: false } => {
            database.sql(&trigger(table, "insert"));
            short_run(&database, &room, job)
        }
        Lie::WriteBack { table, columns } => spoiled_run(&database, &room, job, table, columns),
    };
    let record = room.record();
    let is_caught = has_failed_audit(&record) || is_loud(&record);
    templates.drop(database);
    (code != 2 || !is_caught).then(|| format!("{job:?}: exit code {code}, {}", record["audits"]))
}

fn has_failed_audit(record: &Value) -> bool {
    record["audits"].as_array().unwrap().iter().any(|audit| audit["outcome"] == "failed")
}

/// A terminal that gets no row where it must get one cannot go on: that lie
/// was not even believed.
fn is_loud(record: &Value) -> bool {
    record["ended"]["how"] == "aborted"
}

/// An update that changes nothing does no harm where it is swallowed; it is
/// let through, and not counted. (OLD is null for an insert.)
fn trigger(table: &str, event: &str) -> String {
    format!(
        "create function lie() returns trigger language plpgsql as $$ begin \
             if new is distinct from old then \
                 if {SOMETIMES} then return null; end if; \
             end if; return new; end $$; \
         create trigger lie before {event} on {table} for each row execute function lie()"
    )
}

fn short_run(database: &Database<'_>, room: &Room, job: &Job) -> i32 {
    let words =
        [&["-w", job.workload, "-t", "200", "--seed", "11"][..], &LOAD, &level(job)].concat();
    database.run(room, &words).code()
}

/// A run that is ended once another session has written back what it read before.
fn spoiled_run(
    database: &Database<'_>,
    room: &Room,
    job: &Job,
    table: &str,
    columns: &[String],
) -> i32 {
    database.sql(&format!("create table read_before as select * from {table}"));
    let target = database.uri_plain();
    let words = ["run", &target, "-w", job.workload, "-T", "300"];
    let words = [&words[..], &LOAD, &level(job)].concat();
    let mut command = room.command(&words);
    command.env("PGPASSWORD", database.server.password());
    let running = room.start(command);
    let write_back = write_back(database, table, columns);
    let begin = Instant::now();
    while database.sql(&write_back).is_empty() {
        assert!(begin.elapsed() < PLANTED_MAX, "{job:?}: no row was changed: {}", running.err());
        std::thread::sleep(LOOK_EVERY);
    }
    running.signal(Signal::SIGINT);
    running.finish().code()
}

/// The statement of the second session: one row that the run has changed gets
/// its old values.
fn write_back(database: &Database<'_>, table: &str, columns: &[String]) -> String {
    let keys = database.value(&format!(
        "select string_agg(attname, ',') from pg_index join pg_attribute \
         on attrelid = indrelid and attnum = any(indkey) where indisprimary \
         and indrelid = '{table}'::regclass"
    ));
    let same_row = keys.split(',').map(|key| format!("old.{key} = now.{key}"));
    let same_row = same_row.collect::<Vec<_>>().join(" and ");
    let list = |of: &str| {
        let names = columns.iter().map(|column| format!("{of}{column}"));
        names.collect::<Vec<_>>().join(", ")
    };
    format!(
        "with changed as (select now.ctid as place, {old} from {table} now \
             join read_before old on {same_row} where ({new}) is distinct from ({old}) limit 1) \
         update {table} set {assigned} from changed where {table}.ctid = place returning 1",
        old = list("old."),
        new = list("now."),
        assigned = columns
            .iter()
            .map(|column| format!("{column} = changed.{column}"))
            .collect::<Vec<_>>()
            .join(", "),
    )
}
