//! Detection, retries and settings of every dialect, with a probe that plays
//! the server.

use super::{ALL, version_num};
use crate::ddl::{IndexSpec, Spread, TableSpec};
use crate::detect::{Probe, ProbeError, detect};
use crate::dialect::{Dialect, Isolation, RetryClass, dialect_by_host, dialect_by_name};

/// A server: parameters that it reports, and questions that it answers. All
/// other questions are an error to it.
#[derive(Default)]
struct Server {
    parameters: Vec<(&'static str, &'static str)>,
    answers: Vec<(&'static str, Vec<Option<&'static str>>)>,
    asked: Vec<String>,
}

impl Probe for Server {
    fn parameter(&self, name: &str) -> Option<String> {
        self.parameters.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned())
    }

    fn first_row(&mut self, sql: &str) -> Result<Option<Vec<Option<String>>>, ProbeError> {
        self.asked.push(sql.to_owned());
        let answer = self.answers.iter().find(|(part, _)| sql.contains(part));
        Ok(answer.map(|(_, row)| row.iter().map(|v| v.map(str::to_owned)).collect()))
    }
}

const PG: &str = "PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc";

/// What every PostgreSQL answers to the questions of the others.
fn plain() -> Vec<(&'static str, Vec<Option<&'static str>>)> {
    vec![
        ("limitless_subclusters", vec![None, Some(PG)]),
        ("alloydb.", vec![None, Some(PG)]),
        ("cloudsql.", vec![None, Some(PG)]),
        ("aurora_version", vec![None, Some(PG)]),
        ("server_version_num", vec![Some(PG), Some("160004")]),
    ]
}

/// A PostgreSQL that answers one question otherwise.
fn postgres_but(question: &'static str, first: &'static str) -> Server {
    let mut answers = vec![(question, vec![Some(first), Some(PG)])];
    answers.extend(plain());
    Server { parameters: vec![("server_version", "16.4")], answers, asked: Vec::new() }
}

fn cases() -> Vec<(&'static str, Server, usize)> {
    let told =
        |parameters: Vec<(&'static str, &'static str)>| Server { parameters, ..Server::default() };
    let dsql = Server {
        parameters: vec![("server_version", "16.15")],
        answers: vec![("sys.dsql_major_version()", vec![Some("1"), Some("PostgreSQL 16")])],
        asked: Vec::new(),
    };
    let crdb = vec![("server_version", "13.0.0"), ("crdb_version", "CockroachDB CCL v24.2.4")];
    let limitless = "rds_aurora.limitless_subclusters";
    vec![
        ("cockroachdb", told(crdb), 0),
        ("yugabytedb", told(vec![("server_version", "15.12-YB-2025.2.2.2-b0")]), 0),
        ("yugabytedb", told(vec![("server_version", "11.2-YB-2024.1.3.1-b0")]), 0),
        ("aurora-dsql", dsql, 1),
        ("aurora-limitless", postgres_but(limitless, limitless), 2),
        ("citus", postgres_but("extname = 'citus'", "13.2-1"), 3),
        ("alloydb", postgres_but("alloydb.iam_authentication", "off"), 4),
        ("cloudsql", postgres_but("cloudsql.iam_authentication", "on"), 5),
        ("aurora-postgres", postgres_but("aurora_version", "aurora_version"), 6),
        ("postgres", postgres_but("nothing", ""), 7),
    ]
}

/// Each kind is recognised from what its server says, with its version and a
/// reason, by as many questions as its place in the order needs and no more.
#[test]
fn every_kind_is_recognised() {
    for (name, mut server, questions) in cases() {
        let found = detect(&mut server).unwrap();
        assert_eq!(found.dialect.name(), name);
        assert!(found.known && !found.how.is_empty() && !found.version.is_empty(), "{name}");
        assert!(found.version_num.is_some_and(|num| num >= 110_000), "{name}");
        assert_eq!(server.asked.len(), questions, "{name}: {:?}", server.asked);
    }
    let tested: Vec<&str> = cases().iter().map(|(name, ..)| *name).collect();
    assert!(ALL.iter().all(|dialect| tested.contains(&dialect.name())));
}

/// A kind is recognised by its own dialect and by no other, whatever the order.
#[test]
fn no_kind_is_taken_for_another() {
    for (name, mut server, _) in cases() {
        for dialect in ALL.iter().filter(|d| d.name() != name && d.name() != "postgres") {
            let found = dialect.recognise(&mut server).unwrap();
            assert!(found.is_none(), "{name} is taken for {}", dialect.name());
        }
    }
}

/// Versions are read as PostgreSQL counts them.
#[test]
fn version_numbers() {
    for (text, num) in [
        ("16.15", Some(160_015)),
        ("13.0.0", Some(130_000)),
        ("15.12-YB-2025.2.2.2-b0", Some(150_012)),
        ("18beta1", Some(180_000)),
        ("", None),
        ("v1", None),
        ("99999999999.1", None),
    ] {
        assert_eq!(version_num(text), num, "{text}");
    }
}

fn named(name: &str) -> &'static dyn Dialect {
    dialect_by_name(name).unwrap()
}

/// The host names of DSQL are known by themselves; similar ones are not.
#[test]
fn dsql_hosts() {
    let found = |host| dialect_by_host(host).map(Dialect::name);
    for host in [
        "abcdefghijklmnopqrstuvwxyz.dsql.us-east-1.on.aws",
        "abc.dsql-gamma.eu-west-1.on.aws",
        "ABC.DSQL.us-east-2.ON.AWS",
    ] {
        assert_eq!(found(host), Some("aurora-dsql"), "{host}");
    }
    for host in
        ["localhost", "dsql.us-east-1.on.aws", "a.b.dsql.us-east-1.on.aws", "a.rds.x.on.aws"]
    {
        assert_eq!(found(host), None, "{host}");
    }
}

/// Every documented error means what its documentation says.
#[test]
fn errors_mean_what_is_documented() {
    use RetryClass::{
        Conflict, Deadlock, NotRetryable, OutcomeUnknown, SchemaChanged, Serialization,
    };
    let oc000 = "change conflicts with another transaction (OC000)";
    let oc000_2025 = "change conflicts with another transaction, please retry: (OC000)";
    let oc001 = "schema has been updated by another transaction (OC001)";
    let distributed = "aborting transaction participating in a distributed deadlock";
    let shard = "could not commit transaction for shard 102009 on at least one active node";
    let again = "Operation failed. Try again: Value write after transaction start";
    for (name, sqlstate, message, class) in [
        ("aurora-dsql", "40001", oc000, Conflict),
        ("aurora-dsql", "40001", oc000_2025, Conflict),
        ("aurora-dsql", "40001", "mutation conflicts with another transaction", Conflict),
        ("aurora-dsql", "40001", oc001, SchemaChanged),
        ("aurora-dsql", "OC001", "", SchemaChanged),
        ("aurora-dsql", "OC000", "", Conflict),
        ("aurora-dsql", "54000", "transaction row limit exceeded", NotRetryable),
        ("aurora-limitless", "XX000", distributed, Deadlock),
        ("aurora-limitless", "40P01", "", Deadlock),
        ("cockroachdb", "40001", "restart transaction: RETRY_SERIALIZABLE", Serialization),
        ("cockroachdb", "40003", "result is ambiguous", OutcomeUnknown),
        ("yugabytedb", "40001", "Restart read required at: { read: … }", Serialization),
        ("yugabytedb", "40P01", "deadlock detected", Deadlock),
        ("yugabytedb", "XX000", again, Conflict),
        ("yugabytedb", "XX000", "Timed out: Perform RPC", OutcomeUnknown),
        ("yugabytedb", "XX000", "cache lookup failed", NotRetryable),
        ("citus", "XX000", shard, OutcomeUnknown),
        ("citus", "40001", "shard for the given value does not exist", Serialization),
        ("citus", "40P01", "canceling the transaction since it was involved", Deadlock),
        ("citus", "08006", "connection to the remote node failed", NotRetryable),
        ("alloydb", "40001", "", Serialization),
    ] {
        assert_eq!(named(name).classify(sqlstate, message), class, "{name} {sqlstate} {message}");
    }
    // Nobody tries again what a constraint or the person stopped.
    for dialect in ALL {
        for sqlstate in ["23505", "57014", "25P02", "42601", "22003"] {
            assert_eq!(dialect.classify(sqlstate, "x"), NotRetryable, "{}", dialect.name());
        }
    }
}

/// DSQL's short list of settings is kept before connecting; others take any.
#[test]
fn settings_are_checked() {
    let dsql = named("aurora-dsql");
    for name in ["search_path", "TimeZone", "enable_seqscan", "dsql.enable_batched_nestloop"] {
        assert_eq!(dsql.check_setting(name), Ok(()), "{name}");
    }
    for name in ["statement_timeout", "default_transaction_isolation", "geqo", "work_mem"] {
        let words = dsql.check_setting(name).unwrap_err();
        assert!(words.contains(name) && words.contains("search_path"), "{words}");
        assert_eq!(named("citus").check_setting(name), Ok(()));
    }
}

/// A level is asked for in the way that the database takes, or not at all.
#[test]
fn isolation_levels_are_asked_for() {
    let dsql = named("aurora-dsql");
    assert_eq!(dsql.isolation_setting(Isolation::RepeatableRead), Ok(None));
    assert!(dsql.isolation_setting(Isolation::ReadCommitted).is_err());
    let limitless = named("aurora-limitless");
    let words = limitless.isolation_setting(Isolation::Serializable).unwrap_err();
    assert!(words.ends_with("it offers: read committed, repeatable read"), "{words}");
    let setting = named("cockroachdb").isolation_setting(Isolation::ReadCommitted);
    let expected = ("default_transaction_isolation", "read committed".to_owned());
    assert_eq!(setting, Ok(Some(expected)));
}

/// DSQL's limits hold for what is loaded at once, with room to spare.
#[test]
fn batches_are_within_the_limits() {
    for dialect in ALL {
        let (batch, limits) = (dialect.load_batch(), dialect.transaction_limits());
        if let Some(rows) = limits.rows {
            assert!(batch.rows.is_some_and(|batch| batch <= rows), "{}", dialect.name());
        }
        if let Some(bytes) = limits.bytes {
            assert!(batch.bytes.is_some_and(|batch| batch * 2 <= bytes), "{}", dialect.name());
        }
    }
}

fn accounts(pieces: Option<u32>) -> TableSpec<'static> {
    TableSpec {
        name: "t",
        columns: &[("aid", "int NOT NULL"), ("bid", "int")],
        key: &["aid"],
        spread: Spread::By { by: "bid", beside: Some("b") },
        fillfactor: Some(100),
        pieces,
    }
}

/// The words for tables are those of each database.
#[test]
fn tables_in_each_dialect() {
    let made = |name: &str, pieces| named(name).create_table(&accounts(pieces)).join("; ");
    let plain = "CREATE TABLE t (aid int NOT NULL, bid int, PRIMARY KEY (aid))";
    assert_eq!(made("aurora-dsql", None), plain);
    assert_eq!(made("cockroachdb", None), plain);
    assert_eq!(
        made("cockroachdb", Some(8)),
        "CREATE TABLE t (aid int NOT NULL, bid int, \
         PRIMARY KEY (aid) USING HASH WITH (bucket_count = 8))"
    );
    assert_eq!(
        made("yugabytedb", Some(6)),
        "CREATE TABLE t (aid int NOT NULL, bid int, PRIMARY KEY (aid HASH)) SPLIT INTO 6 TABLETS"
    );
    assert_eq!(
        made("citus", None),
        "CREATE TABLE t (aid int NOT NULL, bid int, PRIMARY KEY (aid, bid)) \
         WITH (fillfactor=100); \
         SELECT create_distributed_table('t', 'bid', colocate_with => 'b')"
    );
    assert_eq!(
        made("aurora-limitless", None),
        "SET rds_aurora.limitless_create_table_mode = 'sharded'; \
         SET rds_aurora.limitless_create_table_shard_key = '{\"bid\"}'; \
         SET rds_aurora.limitless_create_table_collocate_with = 'b'; \
         CREATE TABLE t (aid int NOT NULL, bid int, PRIMARY KEY (aid, bid)); \
         RESET rds_aurora.limitless_create_table_collocate_with; \
         RESET rds_aurora.limitless_create_table_shard_key; \
         RESET rds_aurora.limitless_create_table_mode"
    );
}

/// Small tables are copied to every node where there is such a thing.
#[test]
fn reference_tables() {
    let spec = TableSpec { spread: Spread::Everywhere, ..accounts(Some(4)) };
    assert_eq!(
        named("citus").create_table(&spec)[1..],
        ["SELECT create_reference_table('t')".to_owned()]
    );
    let limitless = named("aurora-limitless").create_table(&spec);
    assert!(limitless[0].ends_with("mode = 'reference'") && limitless.len() == 3);
}

/// DSQL builds indexes beside, and the wait for one takes no foreign words.
#[test]
fn dsql_indexes() {
    let dsql = named("aurora-dsql");
    let index = IndexSpec { name: "i", table: "t", columns: &["a"], unique: false };
    assert_eq!(dsql.create_index(&index), "CREATE INDEX ASYNC i ON t (a)");
    let wait = dsql.wait_for_job("ka4kcmx3rrflxihsv5dm6yv3yu");
    assert_eq!(wait.as_deref(), Some("CALL sys.wait_for_job('ka4kcmx3rrflxihsv5dm6yv3yu')"));
    assert_eq!(dsql.wait_for_job("x'); DROP TABLE t --"), None);
    assert_eq!(named("postgres").wait_for_job("x"), None);
}

/// Every difference says what, why and from where, and each dialect but
/// PostgreSQL has some.
#[test]
fn differences_are_told() {
    for dialect in ALL {
        let differences = dialect.differences();
        assert_eq!(differences.is_empty(), dialect.name() == "postgres", "{}", dialect.name());
        for one in differences {
            assert!(!one.what.is_empty() && !one.why.is_empty() && !one.source.is_empty());
        }
    }
}

/// The manual's table of a dialect.
fn table(dialect: &dyn Dialect) -> String {
    let mut text = String::from("| what pgdyno does | why | source |\n| --- | --- | --- |\n");
    for one in dialect.differences() {
        let doubt = if one.verified { "" } else { " **(in doubt)**" };
        text.push_str(&format!("| {} | {}{doubt} | {} |\n", one.what, one.why, one.source));
    }
    text
}

/// docs/targets.md says the same as the program.
#[test]
fn manual_and_program_agree() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/targets.md");
    let manual = std::fs::read_to_string(file).unwrap();
    for dialect in ALL {
        let heading = format!("## {} (`{}`)\n", dialect.title(), dialect.name());
        assert!(manual.contains(&heading), "no heading {heading}");
        let table = table(dialect);
        let told = dialect.differences().is_empty() || manual.contains(&table);
        assert!(told, "docs/targets.md should hold under {heading}\n{table}");
    }
}
