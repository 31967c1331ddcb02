//! Initialization: tables, rows, keys, in the steps that were asked for.
//!
//! What each step prints is pgbench's, and everything goes to stderr. One
//! connection does it all, so that the rows can be frozen while they are
//! loaded: COPY FREEZE works only in the transaction that emptied the table.

pub mod ddl;
pub mod progress;
pub mod rows;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use pgdyno_wire::{Connection, Error};

use super::message::{Fatal, Level, Messages};
use super::plan::{InitPlan, Step};
use super::session::Server;
use super::{connection_failed, interrupt};
use progress::Progress;
use rows::{CHUNK_ROWS, Table};

/// From this server version on COPY FREEZE does what it promises for pgbench.
const FREEZE_VERSION_MIN: u32 = 140_000;

/// Does the steps of a plan and says how long they took.
///
/// # Errors
/// No connection, or the first statement that failed.
pub fn initialize(server: &mut Server, plan: &InitPlan, messages: &Messages) -> Result<(), Fatal> {
    let connection =
        server.connect(messages).map_err(|error| connection_failed(error, "initialization"))?;
    interrupt::cancel_on_interrupt(connection.cancel_handle(), messages);
    let mut initializer = Initializer { connection, plan, messages };
    let mut took = Vec::new();
    for step in &plan.steps {
        let started = Instant::now();
        initializer.run(*step)?;
        took.push((step_name(*step), started.elapsed()));
    }
    messages.raw(summary(&took).as_bytes());
    Ok(())
}

/// `done in …`
fn summary(took: &[(&str, Duration)]) -> String {
    let total: Duration = took.iter().map(|(_, time)| *time).sum();
    let parts: Vec<String> =
        took.iter().map(|(name, time)| format!("{name} {:.2} s", time.as_secs_f64())).collect();
    format!("done in {:.2} s ({}).\n", total.as_secs_f64(), parts.join(", "))
}

const fn step_name(step: Step) -> &'static str {
    match step {
        Step::DropTables => "drop tables",
        Step::CreateTables => "create tables",
        Step::GenerateClientSide => "client-side generate",
        Step::GenerateServerSide => "server-side generate",
        Step::Vacuum => "vacuum",
        Step::PrimaryKeys => "primary keys",
        Step::ForeignKeys => "foreign keys",
    }
}

struct Initializer<'a> {
    connection: Connection,
    plan: &'a InitPlan,
    messages: &'a Messages,
}

impl Initializer<'_> {
    fn run(&mut self, step: Step) -> Result<(), Fatal> {
        match step {
            Step::DropTables => {
                self.tell("dropping old tables...");
                self.execute(ddl::DROP_TABLES)
            }
            Step::CreateTables => self.create_tables(),
            Step::GenerateClientSide => self.generate_client_side(),
            Step::GenerateServerSide => self.generate_server_side(),
            Step::Vacuum => {
                self.tell("vacuuming...");
                self.execute_all(ddl::VACUUM)
            }
            Step::PrimaryKeys => {
                self.tell("creating primary keys...");
                self.execute_all(ddl::primary_keys(self.plan))
            }
            Step::ForeignKeys => {
                self.tell("creating foreign keys...");
                self.execute_all(ddl::FOREIGN_KEYS)
            }
        }
    }

    fn create_tables(&mut self) -> Result<(), Fatal> {
        self.tell("creating tables...");
        self.execute_all(ddl::create_tables(self.plan))?;
        if let Some(partitions) = self.plan.partitions {
            self.tell(&format!("creating {} partitions...", partitions.count));
        }
        self.execute_all(ddl::create_partitions(self.plan))
    }

    fn generate_server_side(&mut self) -> Result<(), Fatal> {
        self.tell("generating data (server-side)...");
        self.execute_all(["begin", ddl::TRUNCATE_TABLES])?;
        self.execute_all(ddl::generate_server_side(self.plan.scale))?;
        self.execute("commit")
    }

    fn generate_client_side(&mut self) -> Result<(), Fatal> {
        self.tell("generating data (client-side)...");
        self.execute_all(["begin", ddl::TRUNCATE_TABLES])?;
        for table in Table::ALL {
            let sql = self.copy_statement(table)?;
            self.fill(table, &sql)?;
        }
        self.execute("commit")
    }

    /// Rows are frozen where the server can and the table is an ordinary one.
    fn copy_statement(&mut self, table: Table) -> Result<String, Fatal> {
        const RELKIND: &str =
            "SELECT relkind FROM pg_catalog.pg_class WHERE oid=$1::pg_catalog.regclass";
        let found = self
            .connection
            .query_params(RELKIND, &[Some(table.name())])
            .map_err(|error| refused(&error, RELKIND))?;
        let ordinary = found.get(0, 0) == Some("r");
        let freeze = if ordinary && self.connection.server_version_num() >= FREEZE_VERSION_MIN {
            " with (freeze on)"
        } else {
            ""
        };
        Ok(format!("copy {} from stdin{freeze}", table.name()))
    }

    fn fill(&mut self, table: Table, sql: &str) -> Result<(), Fatal> {
        let total = table.rows(self.plan.scale);
        let terminal = std::io::stderr().is_terminal();
        let mut progress = Progress::new(table.name(), total, self.plan.quiet, terminal);
        let messages = self.messages;
        let mut copy = self
            .connection
            .copy_in(sql)
            .map_err(|error| Fatal::new(format!("unexpected copy in result: {error}")))?;
        let started = Instant::now();
        let (mut done, mut chunk) = (0, Vec::new());
        while done < total {
            let end = (done + CHUNK_ROWS).min(total);
            chunk.clear();
            table.write(done + 1, end + 1, &mut chunk);
            copy.send(&chunk).map_err(|error| copy_failed(&error))?;
            done = end;
            let line = progress.at(done, started.elapsed());
            if !line.is_empty() {
                messages.raw(line.as_bytes());
            }
        }
        copy.finish().map_err(|error| copy_failed(&error))?;
        messages.raw(progress.end().as_bytes());
        Ok(())
    }

    fn tell(&self, text: &str) {
        self.messages.raw(format!("{text}\n").as_bytes());
    }

    fn execute(&mut self, sql: &str) -> Result<(), Fatal> {
        self.connection.execute(sql).map(|_| ()).map_err(|error| refused(&error, sql))
    }

    fn execute_all<S: AsRef<str>>(
        &mut self,
        statements: impl IntoIterator<Item = S>,
    ) -> Result<(), Fatal> {
        statements.into_iter().try_for_each(|sql| self.execute(sql.as_ref()))
    }
}

fn refused(error: &Error, sql: &str) -> Fatal {
    Fatal::new(format!("query failed: {error}")).with(Level::Detail, format!("Query was: {sql}"))
}

/// libpq shows the server's error by itself, without a prefix; then pgbench
/// names the call that failed.
fn copy_failed(error: &Error) -> Fatal {
    Fatal::quiet(1).with_bare(format!("{error}\n")).with(Level::Error, "PQendcopy failed")
}
