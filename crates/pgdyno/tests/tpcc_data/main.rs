//! TPC-C's tables on real servers: loaded in every way, looked at, and damaged
//! on purpose. Each test is named by the assertions that it makes; one load
//! serves as many of them as it can.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]
#![allow(clippy::print_stderr, reason = "what is skipped is told")]

mod checks;
mod planted;
mod profiles;
mod routines;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords};
use pgdyno_engine::load::{LoadPlan, LoadReport, SilentLoad, load};
use pgdyno_target::{Dialect, EmbeddedConfig, EmbeddedServer, dialect_by_name, postgres};
use pgdyno_wire::options::{Host, Options, SslMode};
use pgdyno_wire::secret::Secret;
use pgdyno_wire::{ConnectContext, Connection};
use pgdyno_workload::{Choice, Reset, Session, Workload, audit, make};

const SEED: u64 = 20;

fn server(variable: &str) -> EmbeddedServer {
    let bin_dir = std::env::var_os(variable).map(PathBuf::from);
    if bin_dir.is_none() {
        eprintln!("{variable} names no server: whatever is found is used");
    }
    let settings = [("shared_buffers", "128MB"), ("max_wal_size", "2GB")];
    let config = EmbeddedConfig {
        bin_dir,
        no_fsync: true,
        settings: settings.map(|(name, value)| (name.into(), value.into())).to_vec(),
        ..EmbeddedConfig::default()
    };
    EmbeddedServer::start(&config).unwrap()
}

fn tpcc(scale: u64, params: &[(&str, &str)]) -> Box<dyn Workload> {
    let params: Vec<(String, String)> =
        params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    make(&Choice { name: "tpcc", scale, params: &params }).unwrap()
}

fn fill(
    options: &Options,
    dialect: &dyn Dialect,
    workload: &dyn Workload,
    jobs: u32,
) -> LoadReport {
    let plan = LoadPlan {
        workload,
        dialect,
        endpoints: &[ConnectContext::new(options).unwrap()],
        jobs: NonZeroU32::new(jobs).unwrap(),
        seed: SEED,
        method: None,
        resume: false,
    };
    load(&plan, &SilentLoad, &AtomicBool::new(false)).unwrap()
}

fn connect(options: &Options) -> Connection {
    let context: Arc<ConnectContext> = ConnectContext::new(options).unwrap();
    Connection::connect(&context).unwrap()
}

/// The single value of a query.
fn value(session: &mut dyn Session, sql: &str) -> String {
    let (_, rows) = session.query(sql).unwrap();
    rows[0][0].clone().unwrap_or_default()
}

/// Names of the conditions that do not hold.
fn violated(
    session: &mut dyn Session,
    workload: &dyn Workload,
    dialect: &dyn Dialect,
) -> Vec<&'static str> {
    audit::read_conditions(session, workload, dialect, true)
        .unwrap()
        .into_iter()
        .filter(|(_, violations)| *violations != 0)
        .map(|(condition, _)| condition.name)
        .collect()
}

/// For each table its rows and a sum over all of them, dates left out.
fn checksums(session: &mut dyn Session, workload: &dyn Workload) -> Vec<(String, String)> {
    let of_table = |table: pgdyno_workload::Table| {
        let columns: Vec<&str> = table
            .columns
            .iter()
            .copied()
            .filter(|name| !["c_since", "h_date", "o_entry_d", "ol_delivery_d"].contains(name))
            .collect();
        let (name, columns) = (table.name, columns.join(", "));
        let sum = "sum(hashtextextended(concat_ws('|', ";
        let sql = format!("SELECT count(*) || ' ' || {sum}{columns}), 0)::numeric) FROM {name}");
        (name.to_owned(), value(session, &sql))
    };
    workload.tables().into_iter().map(of_table).collect()
}

/// Rows of all tables at two warehouses, as the standard counts them. The lines
/// of a district are 30,000 exactly, which it allows.
const ROWS_OF_TWO: [(&str, u64); 10] = [
    ("item", 100_000),
    ("warehouse", 2),
    ("district", 20),
    ("stock", 200_000),
    ("customer", 60_000),
    ("history", 60_000),
    ("orders", 60_000),
    ("new_order", 18_000),
    ("order_line", 600_000),
    ("tpcc_parameters", 6),
];

/// Assertions 1 to 3: two warehouses over one connection in one frozen
/// transaction and over two on PostgreSQL 18, over eight on 15 with foreign
/// keys and routines: the loader finds counts, sums, the rules of fresh tables
/// and all conditions in order, the rows are as many as they must be, and the
/// same each time. Then errors are planted, and at last the routines are
/// called (assertions 16 to 22).
#[test]
fn a01_a02_a03_loads_agree_and_errors_are_caught() {
    let newer = server("PGDYNO_TEST_PG18_BIN");
    let plain = tpcc(2, &[]);
    let report = fill(&newer.options_unix(), postgres(), &*plain, 1);
    assert!(report.frozen && report.rows() == 1_098_028, "{}", report.rows());
    let mut session = connect(&newer.options_unix());
    let expected = checksums(&mut session, &*plain);
    for ((name, sum), (table, rows)) in expected.iter().zip(ROWS_OF_TWO) {
        assert!(name == table && sum.starts_with(&format!("{rows} ")), "{name}: {sum}");
    }
    let report = fill(&newer.options_unix(), postgres(), &*plain, 2);
    assert!(!report.frozen && report.rows() == 1_098_028, "{}", report.rows());
    assert_eq!(checksums(&mut session, &*plain), expected, "over two connections");
    drop(session);
    newer.stop().unwrap();

    let older = server("PGDYNO_TEST_PG15_BIN");
    let two = tpcc(2, &[("procs", "1"), ("foreign-keys", "1")]);
    let report = fill(&older.options_unix(), postgres(), &*two, 8);
    assert!(!report.frozen && report.rows() == 1_098_028, "{}", report.rows());
    let mut session = connect(&older.options_unix());
    assert_eq!(violated(&mut session, &*two, postgres()), Vec::<&str>::new());
    assert_eq!(checksums(&mut session, &*two), expected, "over eight connections");
    base_is_fresh(&mut session, &*two);
    figures_go_beyond_32_bits(&mut session, &*two);
    keys_are_there(&mut session);
    wrong_tables_are_told(&mut session, &*two);
    planted::fresh_rules_catch(&mut session, &*two);
    planted::stock_is_compared_with_the_load(&mut session, &*two);
    // One that knows nothing of the load: the rows are fewer.
    planted::errors_are_caught(&mut session, &*tpcc(1, &[]));
    Session::execute(&mut session, "RESET search_path").unwrap();
    routines::do_their_work(&mut session);
    // One that knows nothing of the load: stock was set for the routines.
    assert_eq!(violated(&mut session, &*tpcc(2, &[]), postgres()), Vec::<&str>::new());
    profiles::one_client_uses_all_warehouses(&older, &mut session);
    drop(session);
    older.stop().unwrap();
}

/// Sums of order numbers and amounts are more than 32 bits hold, on large
/// scales and after long runs: they are read as they are.
fn figures_go_beyond_32_bits(session: &mut Connection, workload: &dyn Workload) {
    Session::execute(session, "BEGIN").unwrap();
    Session::execute(session, "UPDATE district SET d_next_o_id = 2000000000").unwrap();
    Session::execute(session, "UPDATE warehouse SET w_ytd = 90000000000000.01").unwrap();
    let figures = audit::read(session, workload, postgres()).unwrap();
    assert_eq!(figures.get("sum(d_next_o_id)"), 40_000_000_000);
    assert_eq!(figures.get("sum(w_ytd) in cents"), 18_000_000_000_000_002);
    assert_eq!(violated(session, workload, postgres()), ["tpcc 1", "tpcc 2", "tpcc 8"]);
    Session::execute(session, "ROLLBACK").unwrap();
}

/// The figures say that nothing was changed since the load, so that a reset
/// has nothing to do; after a change it wants a load.
fn base_is_fresh(session: &mut Connection, workload: &dyn Workload) {
    let base = audit::read(session, workload, postgres()).unwrap();
    let [found] = workload.judge_base(&base).try_into().unwrap();
    assert!(found.text.ends_with("freshly loaded"), "{}", found.text);
    let reset = |session: &mut Connection| workload.reset(session, postgres()).unwrap();
    assert_eq!(reset(session), Reset::Done { rows: 0 });
    Session::execute(session, "BEGIN").unwrap();
    Session::execute(session, "UPDATE district SET d_next_o_id = 3002 WHERE d_id = 3").unwrap();
    assert!(matches!(reset(session), Reset::Reload { .. }));
    Session::execute(session, "ROLLBACK").unwrap();
}

/// The ten foreign keys are there and were checked; so are keys and indexes.
fn keys_are_there(session: &mut dyn Session) {
    let count = |session: &mut dyn Session, what: &str| {
        value(session, &format!("SELECT count(*) FROM {what}"))
    };
    assert_eq!(count(session, "pg_constraint WHERE contype = 'f' AND convalidated"), "10");
    let own = "pg_index JOIN pg_class ON oid = indexrelid \
               WHERE indisvalid AND relnamespace = 'public'::regnamespace AND indisprimary";
    assert_eq!(count(session, own), "9");
    assert_eq!(count(session, &own.replace("AND indisprimary", "AND NOT indisprimary")), "2");
}

/// Tables of another profile, without the routines, or of another size are
/// told with the command that makes the right ones.
fn wrong_tables_are_told(session: &mut Connection, workload: &dyn Workload) {
    let told = |session: &mut Connection, workload: &dyn Workload| {
        workload.probe(session, "there").unwrap_err().to_string()
    };
    assert_eq!(workload.probe(session, "there").unwrap().scale, 2);
    let text = told(session, &*tpcc(2, &[("profile", "hammerdb")]));
    assert!(text.contains("loaded with profile=faithful, not profile=hammerdb"), "{text}");
    assert!(text.contains("init there --workload tpcc --scale 2 --param profile=hammerdb"));
    for (damage, words) in [
        ("DROP FUNCTION slev", "4 of 5 routines for procs=1"),
        // Of the name, and of another tool's making; then of an older version.
        (
            "DROP FUNCTION slev; CREATE FUNCTION slev(int, int) RETURNS int LANGUAGE sql \
             AS 'SELECT 1'",
            "4 of 5 routines for procs=1 as this version makes them",
        ),
        (
            "CREATE OR REPLACE FUNCTION slev(in_w int, in_d int, in_threshold int) RETURNS int \
             LANGUAGE sql AS 'SELECT 1'",
            "4 of 5 routines for procs=1 as this version makes them",
        ),
        ("DELETE FROM tpcc_parameters WHERE name = 'c_last'", "has not all of its rows"),
        ("UPDATE tpcc_parameters SET value = '3' WHERE name = 'warehouses'", "2 of 3 warehouses"),
        ("DROP TABLE tpcc_parameters", "tables of workload \"tpcc\" are not there"),
    ] {
        Session::execute(session, "BEGIN").unwrap();
        session.simple_query(damage).unwrap();
        let text = told(session, workload);
        assert!(text.contains(words) && text.contains("--param procs=1"), "{damage}: {text}");
        Session::execute(session, "ROLLBACK").unwrap();
    }
}

/// Assertions 1 and 3 within Aurora DSQL's rules: one warehouse in small
/// transactions, all conditions asked as they are asked of a real cluster.
#[test]
fn a01_a03_emulator_takes_a_warehouse() {
    let server = server("PGDYNO_TEST_PG15_BIN");
    let emulator = Emulator::start(Config {
        listen: ([127, 0, 0, 1], 0).into(),
        upstream: server.options_unix(),
        encryption: Encryption::Off,
        passwords: Passwords::Any,
        limits: Limits::default(),
    })
    .unwrap();
    let mut options = server.options_tcp();
    options.hosts = vec![Host {
        name: "localhost".into(),
        addr: Some([127, 0, 0, 1].into()),
        port: emulator.address().port(),
        password: Some(Secret::new("any".to_owned())),
    }];
    options.user = "admin".into();
    options.dbname = "postgres".into();
    options.require_auth = None;
    options.ssl.mode = SslMode::Disable;
    let dsql = dialect_by_name("aurora-dsql").unwrap();
    let one = tpcc(1, &[]);
    let report = fill(&options, dsql, &*one, 4);
    assert_eq!(report.rows(), 599_017);
    let mut session = connect(&options);
    assert_eq!(violated(&mut session, &*one, dsql), Vec::<&str>::new());
    let base = audit::read(&mut session, &*one, dsql).unwrap();
    assert!(one.judge_base(&base)[0].text.ends_with("freshly loaded"));
    drop(session);
    drop(emulator);
    server.stop().unwrap();
}

/// HammerDB's tables are loaded with what is known to differ, keep the
/// conditions that are asked of them, and break 10 and 12 from the start. Then
/// its transactions are run.
#[test]
fn a03_hammerdbs_tables() {
    let server = server("PGDYNO_TEST_PG15_BIN");
    let options = server.options_unix();
    let hammerdb = tpcc(1, &[("profile", "hammerdb"), ("partitions", "3"), ("procs", "1")]);
    fill(&options, postgres(), &*hammerdb, 2);
    let mut session = connect(&options);
    assert_eq!(violated(&mut session, &*hammerdb, postgres()), Vec::<&str>::new());
    let faithful = tpcc(1, &[]);
    let broken = violated(&mut session, &*faithful, postgres());
    assert!(broken.contains(&"tpcc 10") && broken.contains(&"tpcc 12"), "{broken:?}");
    let parts = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'order_line'::regclass";
    assert_eq!(value(&mut session, parts), "3");
    profiles::hammerdbs_work_in_both_forms(&server, &mut session, &*hammerdb);
    drop(session);
    server.stop().unwrap();
}
