//! Rows that the server makes, against those that are sent.

use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;

use pgdyno_engine::load::{LoadError, LoadPlan, SilentLoad, load};
use pgdyno_target::dialect::LoadMethod;
use pgdyno_target::{Dialect, EmbeddedServer, dialect_by_name, dialects, postgres};
use pgdyno_workload::{Session, Workload, workloads};

use crate::common::{connect, context, server, value, workload};

const SEED: u64 = 11;

fn load_by(
    server: &EmbeddedServer,
    workload: &dyn Workload,
    dialect: &dyn Dialect,
    method: LoadMethod,
) -> Result<(), LoadError> {
    let plan = LoadPlan {
        workload,
        dialect,
        endpoints: &[context(server)],
        jobs: NonZeroU32::new(2).unwrap(),
        seed: SEED,
        method: Some(method),
        resume: false,
    };
    load(&plan, &SilentLoad, &AtomicBool::new(false)).map(drop)
}

/// Every column of every row of all tables, whatever their order.
fn checksums(session: &mut dyn Session, workload: &dyn Workload) -> Vec<(String, String)> {
    let one = |table: &str| {
        format!(
            "SELECT count(*) || ' ' || sum(hashtextextended(t::text, 0)::numeric) FROM {table} t"
        )
    };
    let tables = workload.tables().into_iter().filter(|table| table.rows > 0);
    tables.map(|table| (table.name.to_owned(), value(session, &one(table.name)))).collect()
}

/// Whether the server makes the rows of any table.
fn offers(workload: &dyn Workload, dialect: &dyn Dialect) -> bool {
    let tables = workload.tables();
    (0..tables.len())
        .any(|table| tables[table].rows > 0 && workload.server_rows(table, dialect, SEED).is_some())
}

/// Each workload that says its rows in SQL makes the same rows in the server
/// as here, in one chunk or in many; those that do not are refused in words.
#[test]
fn server_makes_the_same_rows() {
    let server = server();
    let mut session = connect(&server);
    let dsql = dialect_by_name("aurora-dsql").unwrap();
    // Workloads with the same statements are tried once.
    let mut tried: Vec<Vec<Option<String>>> = Vec::new();
    for entry in workloads() {
        let workload = workload(entry.name, 1);
        let tables = workload.tables().len();
        let selects: Vec<Option<String>> =
            (0..tables).map(|table| workload.server_rows(table, postgres(), SEED)).collect();
        if !offers(&*workload, postgres()) {
            let error = load_by(&server, &*workload, postgres(), LoadMethod::Server).unwrap_err();
            assert!(matches!(error, LoadError::NoServerRows { .. }), "{error}");
            assert!(error.to_string().contains(entry.name), "{error}");
            continue;
        }
        if tried.contains(&selects) {
            continue;
        }
        load_by(&server, &*workload, postgres(), LoadMethod::Copy).unwrap();
        let expected = checksums(&mut session, &*workload);
        for dialect in [postgres(), dsql] {
            load_by(&server, &*workload, dialect, LoadMethod::Server).unwrap();
            let found = checksums(&mut session, &*workload);
            assert_eq!(found, expected, "{} {}", entry.name, dialect.name());
        }
        tried.push(selects);
    }
    assert!(!tried.is_empty(), "no workload says its rows in SQL");
    server.stop().unwrap();
}

/// A SELECT names both ends of its range, in every dialect.
#[test]
fn ranges_have_two_ends() {
    for entry in workloads() {
        let workload = workload(entry.name, 1);
        for dialect in dialects() {
            for table in 0..workload.tables().len() {
                if let Some(select) = workload.server_rows(table, *dialect, SEED) {
                    let both = select.contains(":first") && select.contains(":last");
                    assert!(both, "{} {}: {select}", entry.name, dialect.name());
                }
            }
        }
    }
}
