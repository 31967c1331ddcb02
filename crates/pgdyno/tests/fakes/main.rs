//! Every dialect against servers that play its part: recognised, tried again,
//! commits of unknown outcome, endpoints learnt and clients dealt over them.
//! The texts are those that the databases' manuals and issue trackers print.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod costs;
mod dialects;
mod endpoints;
mod limits;
mod retries;
mod server;
mod waits;

use std::process::Command;

use serde_json::Value;

/// One transaction of two statements that cost a client a round trip each.
const SCRIPT: &str = "BEGIN;\nUPDATE t SET n = n + 1 WHERE id = 1;\nEND;\n";

/// What a call said, and the record that it left.
struct Said {
    code: i32,
    out: String,
    err: String,
    record: Value,
}

/// Runs the binary in a folder of its own, with nothing of the environment.
fn pgdyno(args: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.sql"), SCRIPT).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pgdyno"))
        .args(args)
        .current_dir(folder.path())
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let record = std::fs::read_to_string(folder.path().join("out.json")).unwrap_or_default();
    Said {
        code: output.status.code().unwrap(),
        out: text(&output.stdout),
        err: text(&output.stderr),
        record: serde_json::from_str(&record).unwrap_or_default(),
    }
}

/// `pgdyno run TARGET` with the script and these words.
fn run(target: &str, words: &str) -> Said {
    let mut args = vec!["run", target, "-f", "t.sql", "--json", "out.json"];
    args.extend(words.split_whitespace());
    pgdyno(&args)
}

/// One host, or several.
fn target(ports: &[u16]) -> String {
    let hosts = vec!["127.0.0.1"; ports.len()].join(",");
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    format!("host={hosts} port={} user=u dbname=d sslmode=disable", ports.join(","))
}

impl Said {
    fn count(&self, name: &str) -> u64 {
        let count = self.record["totals"]["counts"][name].as_u64();
        count.unwrap_or_else(|| panic!("no {name}: {}\n{}", self.out, self.err))
    }

    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }
}
