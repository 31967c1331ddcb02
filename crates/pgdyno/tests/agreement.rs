//! TPS and latency agree with pgbench's on the same server.
//!
//! A sanity check and no benchmark: it shows that both count the same things
//! over the same time. It is a test binary of its own so that no other test
//! runs at the same time.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the figures, where the test is run by hand"
)]
#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]

use std::path::PathBuf;
use std::process::Command;

use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
use serde_json::Value;

/// Runs of each, by turns.
const TURNS: usize = 3;

/// Seconds of one run.
const SECONDS: &str = "1";

/// How far the medians may lie apart. Generous: the machine may be busy, and
/// without optimisation the driver itself takes a good part of a transaction.
const FACTOR_MAX: f64 = if cfg!(debug_assertions) { 3.0 } else { 2.0 };

/// What one run came to.
#[derive(Debug, Clone, Copy)]
struct Figures {
    tps: f64,
    latency_ms: f64,
}

struct Bench {
    server: EmbeddedServer,
    records: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        let config = EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() };
        let server = EmbeddedServer::start(&config).unwrap();
        let bench = Self { server, records: tempfile::tempdir().unwrap() };
        bench.pgdyno(&["init", "--scale", "2"]);
        bench
    }

    /// Both programs connect by the same variables.
    fn command(&self, program: &PathBuf, args: &[&str]) -> String {
        let options = self.server.options_unix();
        let host = &options.hosts[0];
        let output = Command::new(program)
            .args(args)
            .current_dir(self.records.path())
            .env("PGHOST", &host.name)
            .env("PGPORT", host.port.to_string())
            .env("PGUSER", &options.user)
            .env("PGDATABASE", &options.dbname)
            .env("PGPASSWORD", host.password.as_ref().unwrap().reveal())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn pgdyno(&self, args: &[&str]) -> String {
        self.command(&env!("CARGO_BIN_EXE_pgdyno").into(), args)
    }

    /// The same load by pgdyno.
    fn by_pgdyno(&self, script: &str) -> Figures {
        let script = format!("builtin:{script}");
        let args = ["run", "-f", &script, "-s", "2", "-T", SECONDS, "-c", "2", "-j", "1"];
        let record: Value =
            serde_json::from_str(&self.pgdyno(&[&args[..], &["--json", "-"]].concat())).unwrap();
        let totals = &record["totals"];
        Figures {
            tps: totals["tps"].as_f64().unwrap(),
            latency_ms: totals["response"]["mean_us"].as_f64().unwrap() / 1000.0,
        }
    }

    /// The same load by pgbench.
    fn by_pgbench(&self, script: &str) -> Figures {
        let args = ["-n", "-b", script, "-s", "2", "-T", SECONDS, "-c", "2", "-j", "1", "-M"];
        let text = self.command(&self.pgbench(), &[&args[..], &["prepared"]].concat());
        let figure = |before: &str| {
            let rest = &text[text.find(before).unwrap() + before.len()..];
            rest.split_whitespace().next().unwrap().parse().unwrap()
        };
        Figures { tps: figure("tps = "), latency_ms: figure("latency average = ") }
    }

    fn pgbench(&self) -> PathBuf {
        self.server.installation().bin_dir.join("pgbench")
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The medians of pgdyno's and pgbench's TPS and mean latency lie within a
/// small factor of each other, for a load that writes and one that reads.
#[test]
fn pgbench_measures_the_same() {
    let bench = Bench::start();
    if !bench.pgbench().exists() {
        let text = format!("{} is not there", bench.pgbench().display());
        assert!(std::env::var_os("PGDYNO_TEST_REQUIRE").is_none(), "{text}");
        eprintln!("skipped: {text}");
        return;
    }
    for script in ["tpcb-like", "select-only"] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            ours.push(bench.by_pgdyno(script));
            theirs.push(bench.by_pgbench(script));
        }
        let of = |figures: &[Figures], pick: fn(&Figures) -> f64| {
            median(figures.iter().map(pick).collect())
        };
        for pick in [|f: &Figures| f.tps, |f: &Figures| f.latency_ms] {
            let ratio = of(&ours, pick) / of(&theirs, pick);
            assert!(
                (1.0 / FACTOR_MAX..=FACTOR_MAX).contains(&ratio),
                "{script}: factor {ratio:.2}; pgdyno {ours:?}, pgbench {theirs:?}"
            );
        }
        println!("{script}: pgdyno {ours:?}, pgbench {theirs:?}");
    }
}
