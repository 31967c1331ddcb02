//! A sharded database of real servers: two routers before two shards. One
//! router dies in mid-run and comes back; its clients go elsewhere and return,
//! and no commit is lost or done twice.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
use pgdyno_wire::options::Options;
use pgdyno_wire::{ConnectContext, Connection};
use serde_json::Value;

use crate::support::Room;
use crate::support::record::count;
use crate::support::room::LOOK_EVERY;
use crate::support::server::signal;

/// How long anything may take that does come.
const WAIT_MAX: Duration = Duration::from_secs(90);

/// Rows of a branch: the workload's own numbers.
const ACCOUNTS: u32 = 100_000;

const TABLES: [(&str, &str); 4] = [
    ("pgbench_branches", "bid int not null, bbalance int, filler char(88)"),
    ("pgbench_tellers", "tid int not null, bid int not null, tbalance int, filler char(84)"),
    ("pgbench_accounts", "aid int not null, bid int not null, abalance int, filler char(84)"),
    (
        "pgbench_history",
        "tid int, bid int not null, aid int, delta int, mtime timestamp, filler char(22)",
    ),
];

fn start() -> EmbeddedServer {
    let settings = [("shared_buffers", "32MB"), ("autovacuum", "off"), ("max_connections", "60")];
    EmbeddedServer::start(&EmbeddedConfig {
        no_fsync: true,
        settings: settings.map(|(name, value)| (name.into(), value.into())).to_vec(),
        ..EmbeddedConfig::default()
    })
    .unwrap()
}

fn sql(options: &Options, sql: &str) -> Vec<Vec<Option<String>>> {
    let mut session = Connection::connect(&ConnectContext::new(options).unwrap()).unwrap();
    let results = session.simple_query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    results.into_iter().flat_map(|result| result.rows).collect()
}

/// One branch, whole, on a server of its own.
fn fill_shard(server: &EmbeddedServer, branch: u32) {
    let mut text = String::new();
    for (table, columns) in TABLES {
        text.push_str(&format!("create table {table} ({columns});"));
    }
    let (first_teller, first_account) = ((branch - 1) * 10 + 1, (branch - 1) * ACCOUNTS + 1);
    let (last_teller, last_account) = (branch * 10, branch * ACCOUNTS);
    text.push_str(&format!(
        "insert into pgbench_branches values ({branch}, 0, '');
         insert into pgbench_tellers
             select n, {branch}, 0, '' from generate_series({first_teller}, {last_teller}) n;
         insert into pgbench_accounts
             select n, {branch}, 0, '' from generate_series({first_account}, {last_account}) n;
         alter table pgbench_branches add primary key (bid);
         alter table pgbench_tellers add primary key (tid);
         alter table pgbench_accounts add primary key (aid);
         analyze"
    ));
    sql(&server.options_tcp(), &text);
}

/// Tables of no rows of their own: a partition for each shard.
fn make_router(router: &EmbeddedServer, shards: &[EmbeddedServer]) {
    let mut text = "create extension postgres_fdw;".to_owned();
    for (number, shard) in (1..).zip(shards) {
        let options = shard.options_tcp();
        let (host, password) = (&options.hosts[0], options.hosts[0].password.as_ref().unwrap());
        text.push_str(&format!(
            "create server shard{number} foreign data wrapper postgres_fdw
                 options (host '127.0.0.1', port '{}', dbname '{}');
             create user mapping for current_user server shard{number}
                 options (user '{}', password '{}');",
            host.port,
            options.dbname,
            options.user,
            password.reveal()
        ));
    }
    for (table, columns) in TABLES {
        text.push_str(&format!("create table {table} ({columns}) partition by list (bid);"));
        for number in 1..=shards.len() {
            text.push_str(&format!(
                "create foreign table {table}_{number} partition of {table}
                     for values in ({number})
                     server shard{number} options (table_name '{table}');"
            ));
        }
    }
    sql(&router.options_tcp(), &text);
}

/// A router that is started again after its death, on the same port.
struct Again(Child);

impl Again {
    fn start(server: &EmbeddedServer, port: u16) -> Self {
        let data = server.data_dir();
        let owner = std::fs::metadata(&data).unwrap();
        let child = Command::new(server.installation().bin_dir.join("postgres"))
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string()])
            .current_dir("/")
            .uid(owner.uid())
            .gid(owner.gid())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Again {
    /// Before its folder goes.
    fn drop(&mut self) {
        signal(&[self.0.id()], Signal::SIGQUIT);
        let _ = self.0.wait();
    }
}

/// Asks until the answer is this.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < WAIT_MAX, "never: {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Sessions of the run's clients: those that have run a statement of theirs.
fn clients_at(options: &Options) -> u32 {
    let count = "select count(*) from pg_stat_activity
                 where application_name = 'pgdyno' and pid <> pg_backend_pid()";
    let Ok(context) = ConnectContext::new(options) else { return 0 };
    let Ok(mut session) = Connection::connect(&context) else { return 0 };
    session.query_one_i64(count).map_or(0, |count| u32::try_from(count).unwrap())
}

fn endpoint(record: &Value, port: u16) -> &Value {
    let each = record["endpoints"]["each"].as_array().unwrap();
    each.iter()
        .find(|one| one["port"] == port)
        .unwrap_or_else(|| panic!("no port {port}: {each:?}"))
}

/// With one of two routers killed and started again: its clients go on over
/// the other and come back, each endpoint is told of, and the audits are clean
/// but for commits whose outcome nobody knows.
#[test]
fn a_router_dies_and_comes_back() {
    let filled = |number| {
        let shard = start();
        fill_shard(&shard, number);
        shard
    };
    let (shards, steady, mut mortal) = std::thread::scope(|scope| {
        let (one, two) = (scope.spawn(|| filled(1)), scope.spawn(|| filled(2)));
        let (steady, mortal) = (scope.spawn(start), scope.spawn(start));
        let shards = [one.join().unwrap(), two.join().unwrap()];
        (shards, steady.join().unwrap(), mortal.join().unwrap())
    });
    for router in [&steady, &mortal] {
        make_router(router, &shards);
    }
    let (one, mut two) = (steady.options_tcp(), mortal.options_tcp());
    let password = one.hosts[0].password.clone().unwrap();
    sql(&two, &format!("alter user \"{}\" password '{}'", two.user, password.reveal()));
    two.hosts[0].password = Some(password.clone());
    assert_eq!((&one.user, &one.dbname), (&two.user, &two.dbname));
    let target = format!(
        "host=127.0.0.1,127.0.0.1 port={},{} user={} dbname={} sslmode=disable",
        one.hosts[0].port, two.hosts[0].port, one.user, one.dbname
    );
    let room = Room::with_secret(password.reveal());
    let args = ["run", &target, "--param", "branch=account", "--max-tries", "0"];
    let mut command = room.command(&args);
    command.args(["-c", "6", "-j", "2", "-T", "1h"]).env("PGPASSWORD", password.reveal());
    let mut run = room.start(command);
    wait_until("clients at both routers", || clients_at(&one) == 3 && clients_at(&two) == 3);
    run.wait_for("tps", 2);
    let dead = mortal.pid();
    signal(&[dead], Signal::SIGQUIT);
    run.wait_for("is avoided for now", 1);
    wait_until("all clients at the router that is left", || clients_at(&one) == 6);
    // Until it is waited for, its process id stands in the way of another.
    wait_until("the router's end", || !mortal.is_running());
    let again = Again::start(&mortal, two.hosts[0].port);
    run.wait_for("takes connections again", 1);
    wait_until("clients back", || clients_at(&one) == 3 && clients_at(&two) == 3);
    run.signal(Signal::SIGINT);
    let outcome = run.finish().exits(2).shows(&["2 dealt evenly", "lost"]);
    drop(again);
    let record = room.record();
    assert_eq!(record["ended"]["how"], "interrupted", "{outcome:?}");
    assert_eq!(record["ended"]["clients_aborted"], 0);
    let (first, second) =
        (endpoint(&record, one.hosts[0].port), endpoint(&record, two.hosts[0].port));
    for (one, lost, made) in [(first, 0, 6), (second, 3, 6)] {
        assert_eq!(one["connections_lost"], lost, "{record}");
        assert!(one["connections"].as_u64() >= Some(made), "{one}");
        assert!(one["committed"].as_u64() > Some(0), "{one}");
        assert!(one["round_trip_us"].as_u64() > Some(0), "{one}");
    }
    assert!(second["connections_failed"].as_u64() > Some(0), "{second}");
    assert_eq!(record["connections"]["lost"], 3);
    assert!(count(&record, "unknown") + count(&record, "failed") <= 3, "{record}");
    for audit in record["audits"].as_array().unwrap() {
        assert_eq!(audit["outcome"], "passed", "{audit}");
    }
    assert_eq!(record["endpoints"]["balance"], "even");
}
