//! The real pgbench and ours, side by side.
//!
//! Each case is run by both on the same server with the same arguments, files
//! and environment. Exit code, stdout, stderr, log files and what is left in
//! the database are compared after times have been masked. What may differ is
//! listed, with reasons, in `ALLOWED.md`; a case that needs it says so.
//!
//! `PGDYNO_COMPAT_ONLY=TEXT` runs only the cases whose names hold TEXT;
//! `PGDYNO_COMPAT_PROGRAM=FILE` compares another build.

#![expect(clippy::print_stderr, reason = "tests tell of skips and differences")]

mod case;
mod expressions;
mod extra;
mod mask;
mod run;
mod server;

use std::path::PathBuf;

use case::{Case, CaseFile};
use server::Server;

const ALLOWED: &str = include_str!("ALLOWED.md");

/// Runs all cases of a file; every case that differs is shown, not only the first.
fn compare(text: &str) {
    let file: CaseFile = toml::from_str(text).expect("a file of cases");
    for allowed in file.case.iter().filter_map(|case| case.allowed.as_ref()) {
        let heading = format!("## {}\n", allowed.why);
        assert!(ALLOWED.contains(&heading), "ALLOWED.md has no {heading:?}");
    }
    let only = std::env::var("PGDYNO_COMPAT_ONLY").unwrap_or_default();
    let cases: Vec<&Case> = file.case.iter().filter(|case| case.name.contains(&only)).collect();
    if cases.is_empty() {
        return;
    }
    let Some(bin) = server::find_programs() else { return };
    let server = Server::start(bin);
    let ours = our_program();
    let mut differing = Vec::new();
    for case in &cases {
        let want = run::observe(&server, case, &server.pgbench());
        let got = run::observe(&server, case, &ours);
        server.clean_up(case);
        if want != got {
            eprintln!("=== {}\npgbench {}", case.name, case.args);
            eprintln!("{}", difference(&want, &got));
            differing.push(case.name.as_str());
        }
    }
    assert!(
        differing.is_empty(),
        "{} of {} cases differ: {}",
        differing.len(),
        cases.len(),
        differing.join(", ")
    );
}

fn our_program() -> PathBuf {
    std::env::var_os("PGDYNO_COMPAT_PROGRAM")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_pgdyno")), PathBuf::from)
}

/// Both texts where they differ: common lines at both ends are left out, but for two.
fn difference(want: &str, got: &str) -> String {
    let (want, got): (Vec<_>, Vec<_>) = (want.lines().collect(), got.lines().collect());
    let shorter = want.len().min(got.len());
    let head = (0..shorter).take_while(|&i| want[i] == got[i]).count();
    let tail =
        (1..=shorter - head).take_while(|&i| want[want.len() - i] == got[got.len() - i]).count();
    let from = head.saturating_sub(2);
    let part = |lines: &[&str]| {
        lines[from..lines.len() - tail]
            .iter()
            .map(|line| format!("    {line:?}\n"))
            .collect::<String>()
    };
    format!("  pgbench:\n{}  pgdyno:\n{}", part(&want), part(&got))
}

/// Command lines that end before a connection is made.
#[test]
fn command_line() {
    compare(include_str!("cases/cli.toml"));
}

/// Connections that fail, and where their parts come from.
#[test]
fn connections() {
    compare(include_str!("cases/connect.toml"));
}

/// What the script parser refuses and accepts.
#[test]
fn scripts() {
    compare(include_str!("cases/script.toml"));
}

/// Expressions and meta commands when they run.
#[test]
fn expressions() {
    compare(include_str!("cases/expr.toml"));
}

/// Benchmarks and their reports.
#[test]
fn benchmarks() {
    compare(include_str!("cases/run.toml"));
}

/// Initialization.
#[test]
fn initialization() {
    compare(include_str!("cases/init.toml"));
}

/// Log files.
#[test]
fn logs() {
    compare(include_str!("cases/log.toml"));
}

/// Serialization failures and deadlocks.
#[test]
fn retries() {
    compare(include_str!("cases/retry.toml"));
}

/// Expressions made at random have the same values and the same errors.
#[test]
fn generated_expressions() {
    let Some(bin) = server::find_programs() else { return };
    let server = Server::start_trusting(bin, 60);
    expressions::compare_generated(&server, &our_program());
}

/// A thousand clients on one thread start, run and end in order.
#[test]
fn many_clients() {
    let Some(bin) = server::find_programs() else { return };
    let server = Server::start_trusting(bin, 1010);
    extra::a_thousand_clients(&server, &our_program());
}

/// What cannot be compared: our own options, and interrupts.
#[test]
fn beyond_pgbench() {
    let Some(bin) = server::find_programs() else { return };
    let server = Server::start(bin);
    let ours = our_program();
    extra::percentiles_and_json(&server, &ours);
    extra::continue_on_error(&server, &ours);
    extra::interrupted_run(&server, &ours);
    extra::interrupted_initialization(&server, &ours);
}
