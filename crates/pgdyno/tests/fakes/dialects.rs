//! The parts: what each kind of database says of itself.

use crate::server::{Fake, Part};
use crate::{pgdyno, target};

const PG: &str = "PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc";

/// All kinds, by the names of their dialects.
pub(crate) const NAMES: [&str; 9] = [
    "cockroachdb",
    "yugabytedb",
    "aurora-dsql",
    "aurora-limitless",
    "citus",
    "alloydb",
    "cloudsql",
    "aurora-postgres",
    "postgres",
];

/// A server of that kind.
pub(crate) fn part(name: &str) -> Part {
    let plain = || Part::new(&[("server_version", "16.4")]);
    // What every PostgreSQL answers to the questions of the others.
    let rest = |part: Part| {
        part.row("limitless_subclusters", &[None, Some(PG)])
            .row("alloydb.", &[None, Some(PG)])
            .row("cloudsql.", &[None, Some(PG)])
            .row("aurora_version", &[None, Some(PG)])
            .row("server_version_num", &[Some(PG), Some("160004")])
    };
    match name {
        "cockroachdb" => {
            Part::new(&[("server_version", "13.0.0"), ("crdb_version", "CockroachDB CCL v24.2.4")])
        }
        "yugabytedb" => Part::new(&[("server_version", "15.12-YB-2025.2.2.2-b0")]),
        "aurora-dsql" => Part::new(&[("server_version", "16.15")])
            .row("sys.dsql_major_version()", &[Some("1"), Some("PostgreSQL 16")]),
        "aurora-limitless" => rest(plain().row(
            "rds_aurora.limitless_subclusters",
            &[Some("rds_aurora.limitless_subclusters"), Some(PG)],
        )),
        "citus" => rest(plain().row("extname = 'citus'", &[Some("13.2-1"), Some(PG)])),
        "alloydb" => rest(plain().row("alloydb.iam_authentication", &[Some("off"), Some(PG)])),
        "cloudsql" => rest(plain().row("cloudsql.iam_authentication", &[Some("on"), Some(PG)])),
        "aurora-postgres" => {
            rest(plain().row("aurora_version", &[Some("aurora_version"), Some(PG)]))
        }
        "postgres" => rest(plain()),
        other => panic!("no part for {other}"),
    }
}

/// Each kind is recognised over the wire, with its version and a reason, and
/// none is taken for another.
#[test]
fn every_kind_is_recognised() {
    for name in NAMES {
        let server = Fake::start(part(name));
        let said = pgdyno(&["detect", &target(&[server.port]), "--json"]).exits(0);
        let told: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(told["dialect"], name, "{told}");
        assert_eq!(told["recognised"], true, "{told}");
        for words in ["version", "how"] {
            assert!(told[words].as_str().is_some_and(|text| !text.is_empty()), "{words}: {told}");
        }
    }
    let listed = pgdyno(&["detect", "--dialect", "none-such", "host=127.0.0.1"]).exits(1);
    assert!(NAMES.iter().all(|name| listed.err.contains(name)), "{}", listed.err);
}
