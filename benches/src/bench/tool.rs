//! The command line of each tool, and what it says at its end.

use std::path::Path;

use crate::floor;

use super::case::{Case, Phase, Protocol, RATE_TPS, Suite, Tool, name};
use super::postgres::SCALE;
use super::raw::Run;
use super::server::Address;

/// The scale of the load suite, and its rows: a branch has 100,000 accounts,
/// 10 tellers and itself.
pub(super) const LOAD_SCALE: u32 = 50;
const LOAD_ROWS: u64 = LOAD_SCALE as u64 * 100_011;

/// The script for `pgdyno run`, from the folder in which `make bench` runs.
const SELECT_ONLY: &str = "benches/select-only.sql";
/// What starts may wait for each other: at 5,000 a second five on average, and
/// little beside the time that a real database takes to answer.
const SLACK: &str = "1ms";

/// What is to be run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) case: Case,
    pub(super) tool: Tool,
    pub(super) phase: Phase,
    pub(super) address: &'a Address,
    /// Of the steady phase.
    pub(super) seconds: u32,
}

impl Job<'_> {
    /// The command line.
    pub(super) fn command(&self, program: &Path) -> Vec<String> {
        let mut words = vec![program.display().to_string()];
        words.extend(match self.tool {
            Tool::Floor => self.floor(),
            Tool::Pgbench => self.pgbench(),
            Tool::Pgdyno | Tool::PgdynoEpoll => self.pgdyno(),
            Tool::Sysbench => self.sysbench(),
            Tool::PgdynoJobs2 => self.pgdyno_init(),
            Tool::PgdynoSlack => self.pgdyno_run(),
        });
        words
    }

    fn length(&self) -> [String; 2] {
        match self.phase {
            Phase::Connect => ["-t".to_owned(), "1".to_owned()],
            Phase::Steady => ["-T".to_owned(), self.seconds.to_string()],
        }
    }

    fn server(&self) -> Vec<String> {
        let Address { host, port, user, .. } = self.address;
        split(&format!("-h {host} -p {port} -U {user}"))
    }

    fn floor(&self) -> Vec<String> {
        let Case { clients, protocol, .. } = self.case;
        let mut words = self.server();
        words.extend(split(&format!("-M {} -c {clients} -s {SCALE}", name(protocol))));
        words.extend(self.length());
        if self.case.suite == Suite::Rate && self.phase == Phase::Steady {
            words.extend(split(&format!("-R {RATE_TPS}")));
        }
        words.push(self.address.database.to_owned());
        words
    }

    fn pgbench(&self) -> Vec<String> {
        let Case { suite, clients, protocol, .. } = self.case;
        let mut words = self.server();
        if suite == Suite::Load {
            words.extend(split(&format!("-i -q -s {LOAD_SCALE} -I dtg")));
        } else {
            let script = if suite == Suite::Tpcb { "-b tpcb-like" } else { "-S" };
            let protocol = name(protocol);
            // One thread: the figure is a core's.
            words.extend(split(&format!("-n {script} -M {protocol} -c {clients} -j 1")));
            words.extend(self.length());
            if suite == Suite::Rate && self.phase == Phase::Steady {
                words.extend(split(&format!("-R {RATE_TPS}")));
            }
        }
        words.push(self.address.database.to_owned());
        words
    }

    fn pgdyno(&self) -> Vec<String> {
        let mut words = vec!["pgbench".to_owned()];
        if self.tool == Tool::PgdynoEpoll {
            words.extend(split("--poller epoll"));
        }
        words.extend(self.pgbench());
        words
    }

    fn sysbench(&self) -> Vec<String> {
        let Address { host, port, user, database, .. } = self.address;
        let clients = self.case.clients;
        let length = match self.phase {
            Phase::Connect => format!("--events={clients} --time=0"),
            Phase::Steady => format!("--time={}", self.seconds),
        };
        let prepared = match self.case.protocol {
            Protocol::Simple => "disable",
            Protocol::Prepared => "auto",
        };
        split(&format!(
            "oltp_point_select --db-driver=pgsql --pgsql-host={host} --pgsql-port={port} \
             --pgsql-user={user} --pgsql-db={database} --tables=1 --table-size=100000 \
             --db-ps-mode={prepared} --threads={clients} {length} run"
        ))
    }

    fn pgdyno_init(&self) -> Vec<String> {
        let Address { host, port, user, database, .. } = self.address;
        let mut words = vec![
            "init".to_owned(),
            format!("host={host} port={port} user={user} dbname={database}"),
        ];
        words.extend(split(&format!("--workload tpcb --scale {LOAD_SCALE} --jobs 2")));
        words
    }

    /// The rate suite with starts that wait for each other, which pgbench's
    /// options have no word for.
    fn pgdyno_run(&self) -> Vec<String> {
        let Address { host, port, user, database, folder, .. } = self.address;
        let records = folder.display();
        let mut words = vec![
            "run".to_owned(),
            format!("host={host} port={port} user={user} dbname={database}"),
        ];
        let clients = self.case.clients;
        words.extend(split(&format!("--script {SELECT_ONLY} -s {SCALE} -c {clients} -j 1")));
        words.extend(split(&format!("-q --target-stats off --records {records} --json -")));
        words.extend(self.length());
        if self.phase == Phase::Steady {
            words.extend(split(&format!("-R {RATE_TPS} --timer-slack {SLACK}")));
        }
        words
    }

    /// Fills in what the tool said. Says why where it said too little.
    pub(super) fn read(&self, stdout: &str, stderr: &str, run: &mut Run) -> Result<(), String> {
        if self.case.suite == Suite::Load {
            run.transactions = LOAD_ROWS;
            run.generate_s = number_after(stderr, "client-side generate ")
                .or_else(|| seconds_after(stderr, "rows in "))
                .or_else(|| seconds_after(stdout, "rows in "));
            return Ok(());
        }
        match self.tool {
            Tool::Floor => {
                let said: floor::Outcome =
                    serde_json::from_str(stdout).map_err(|error| error.to_string())?;
                run.transactions = said.transactions;
                run.tps = Some(said.transactions as f64 / (said.wall_us.max(1) as f64 / 1e6));
                run.connect_ms = Some(said.connect_wall_us as f64 / 1e3);
            }
            Tool::Sysbench => {
                let count = number_after(stdout, "transactions:");
                run.transactions = count.ok_or("it names no number of transactions")? as u64;
                let per_second = stdout.split("transactions:").nth(1).unwrap_or_default();
                run.tps = number_after(per_second, "(");
            }
            Tool::PgdynoSlack => {
                let record: serde_json::Value =
                    serde_json::from_str(stdout).map_err(|error| error.to_string())?;
                let committed = record["totals"]["counts"]["committed"].as_u64();
                run.transactions = committed.ok_or("it names no number of transactions")?;
                run.tps = record["totals"]["tps"].as_f64();
                run.connect_ms = record["connections"]["initial_s"].as_f64().map(|s| s * 1e3);
            }
            Tool::Pgbench | Tool::Pgdyno | Tool::PgdynoEpoll | Tool::PgdynoJobs2 => {
                let count = number_after(stdout, "transactions actually processed:");
                run.transactions = count.ok_or("it names no number of transactions")? as u64;
                run.tps = number_after(stdout, "tps =");
                run.connect_ms = number_after(stdout, "initial connection time =");
            }
        }
        Ok(())
    }
}

fn split(words: &str) -> Vec<String> {
    words.split_ascii_whitespace().map(str::to_owned).collect()
}

/// The number behind the first place where `label` stands.
fn number_after(text: &str, label: &str) -> Option<f64> {
    let rest = text.split_once(label)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The same for a time in minutes, seconds or milliseconds, in seconds.
fn seconds_after(text: &str, label: &str) -> Option<f64> {
    let number = number_after(text, label)?;
    let unit = text.split_once(label)?.1.trim_start();
    let unit = unit.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    match unit {
        _ if unit.starts_with("ms") => Some(number / 1e3),
        _ if unit.starts_with('s') => Some(number),
        _ if unit.starts_with("min") => Some(number * 60.0 + number_after(unit, "min")?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of pgbench's and sysbench's reports are found.
    #[test]
    fn finds_figures() {
        let text = "number of transactions actually processed: 400/400\n\
                    initial connection time = 3.216 ms\ntps = 8932.958149 (without";
        assert_eq!(number_after(text, "transactions actually processed:"), Some(400.0));
        assert_eq!(number_after(text, "tps ="), Some(8_932.958_149));
        assert_eq!(number_after(text, "initial connection time ="), Some(3.216));
        assert_eq!(number_after(text, "latency"), None);
        assert_eq!(number_after("tps = none", "tps ="), None);
    }

    /// Times are understood in the units that `pgdyno init` writes.
    #[test]
    fn finds_times() {
        let text = |time: &str| format!("  5,000,550 rows in {time}, 1,118,187 rows/s; all 7.95 s");
        assert_eq!(seconds_after(&text("4.5 s"), "rows in "), Some(4.5));
        assert_eq!(seconds_after(&text("500 ms"), "rows in "), Some(0.5));
        assert_eq!(seconds_after(&text("1 min 5 s"), "rows in "), Some(65.0));
        assert_eq!(seconds_after(&text("none"), "rows in "), None);
    }
}
