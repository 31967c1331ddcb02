//! The ways to name a target, and what is said where one does not do.

use crate::support::record::count;
use crate::support::{Database, Room, Server};

/// A short run of select-only.
const SHORT: &[&str] = &["-c", "1", "-t", "5", "-w", "select-only"];

fn run(room: &Room, env: &[(&str, &str)], target: &[&str], more: &[&str]) -> u64 {
    let args: Vec<&str> = ["run"].iter().chain(target).chain(SHORT).chain(more).copied().collect();
    room.run_with(env, &args).exits(0);
    count(room.records().last().unwrap(), "committed")
}

fn uri_with_password(database: &Database<'_>) -> String {
    let password = database.server.password();
    database.uri_plain().replacen('@', &format!(":{password}@"), 1)
}

/// init and run take a URI, a keyword string, and the PG* variables, each
/// with its password, which the record does not keep.
#[test]
fn uri_keywords_and_variables() {
    let server = Server::shared();
    let (database, password) = (server.empty(), server.password());
    let uri = uri_with_password(&database);
    let room = server.room();
    let outcome = room.run(&["init", &uri, "--workload", "tpcb", "--scale", "1"]).exits(0);
    outcome.says(&["100,011 rows"]);
    assert_eq!(run(&room, &[], &[&uri], &[]), 5);
    let room = server.room();
    let keywords = format!("{} password={password}", database.keywords_unix());
    room.run(&["init", &keywords]).exits(0);
    assert_eq!(run(&room, &[], &[&keywords], &[]), 5);
    let room = server.room();
    let port = server.port().to_string();
    let user = server.user();
    let env = [
        ("PGHOST", "127.0.0.1"),
        ("PGPORT", &*port),
        ("PGUSER", &*user),
        ("PGDATABASE", &*database.name),
        ("PGPASSWORD", &*password),
    ];
    assert_eq!(run(&room, &env, &[], &[]), 5);
    let told = room.run_with(&env, &["run", "-c", "1", "-t", "1"]).exits(0);
    told.says(&["PGHOST"]);
}

/// A password file serves, and one that others can read does not.
#[test]
fn password_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Server::shared();
    let database = server.loaded();
    let room = server.room();
    room.write(".pgpass", &format!("127.0.0.1:*:*:*:{}\n", server.password()));
    let path = room.path().join(".pgpass");
    let mode = |mode| {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o600);
    let env = [("PGPASSFILE", path.to_str().unwrap())];
    let target = database.uri_plain();
    assert_eq!(run(&room, &env, &[&target], &[]), 5);
    mode(0o644);
    let refused = room.run_with(&env, &["run", &target, "-t", "1"]).exits(2);
    refused.says(&[".pgpass", "group or world access", "no password supplied"]);
}

/// A name from pgdyno.toml serves, with its secret from the environment; the
/// record knows the target by that name.
#[test]
fn a_name_from_the_file() {
    let server = Server::shared();
    let database = server.loaded();
    let room = server.room();
    room.write(
        "pgdyno.toml",
        &format!(
            "[targets.bench]\ndsn = \"{}\"\n",
            database.uri_plain().replacen('@', ":${BENCH_PASSWORD}@", 1)
        ),
    );
    let password = server.password();
    assert_eq!(run(&room, &[("BENCH_PASSWORD", &password)], &["bench"], &[]), 5);
    assert_eq!(room.record()["target"]["name"], "bench");
    let unset = room.run(&["run", "bench", "-t", "1"]).exits(1);
    unset.says(&["pgdyno.toml:2:", "BENCH_PASSWORD"]);
    let unknown = room.run(&["run", "bensh", "-t", "1"]).exits(1);
    unknown.says(&["bensh", "bench"]);
}

/// A key that pgdyno.toml does not have is an error with file, line and
/// column, before anything is connected to.
#[test]
fn unknown_keys_have_a_place() {
    let room = Room::new();
    room.write("pgdyno.toml", "[targets.bench]\nhost = \"h\"\n  dns = \"postgresql://h/d\"\n");
    let outcome = room.run(&["run", "bench", "-t", "1"]).exits(1);
    let outcome = outcome.says(&["pgdyno.toml:3:3", "dns"]);
    outcome.one_error();
    room.write("other.toml", "[targets.bench\n");
    room.run(&["run", "bench", "--config", "other.toml"]).exits(1).says(&["other.toml:1:"]);
}

/// Without any target the embedded server is taken, and that is said.
#[test]
fn embedded_by_default() {
    let room = Room::new();
    let outcome = room.run(&["run", "--scale", "1", "--no-fsync", "-c", "1", "-t", "5"]).exits(0);
    outcome.says(&[": embedded.", "Starting a throw-away PostgreSQL"]);
    let record = room.record();
    assert_eq!(record["target"]["name"], "embedded");
    assert_eq!(record["workload"]["scale"], 1);
    assert_eq!(count(&record, "committed"), 5);
}

/// Tables that are missing, or half there, are told with the command that
/// makes them; with a password in the target, that command is shown without.
#[test]
fn missing_tables_name_the_command() {
    let server = Server::shared();
    let database = server.empty();
    let room = server.room();
    let uri = uri_with_password(&database);
    let outcome = room.run(&["run", &uri, "-t", "1"]).exits(2);
    let error = outcome.one_error();
    for word in ["pgbench_", "does not exist", "pgdyno init", "--workload tpcb", &database.name] {
        assert!(error.contains(word), "not said: {word:?} in {error}");
    }
    let half = server.loaded();
    half.sql("delete from pgbench_tellers where tid > 4");
    let outcome = half.run(&server.room(), &["-t", "1"]).exits(2);
    outcome.says(&["4 tellers", "pgdyno init", "--scale 1"]);
}

/// The keyword string of a target is quoted in the command that is suggested,
/// so that it can be pasted into a shell.
#[test]
fn the_suggested_command_can_be_pasted() {
    let server = Server::shared();
    let database = server.empty();
    let keywords = database.keywords_unix();
    let room = server.room();
    let env = [("PGPASSWORD", &*server.password())];
    let outcome = room.run_with(&env, &["run", &keywords, "-t", "1"]).exits(2);
    let error = outcome.one_error();
    let line = error.lines().find(|line| line.contains("pgdyno init")).unwrap();
    let command = &line[line.find("pgdyno init").unwrap()..];
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("set -- {command}; echo \"$3\"")]);
    let echoed = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    assert_eq!(echoed.trim(), keywords, "{command}");
}

/// Wrong words on the command line are a usage error: exit code 1, the wrong
/// word, and a way on; help works everywhere.
#[test]
fn usage_errors_and_help() {
    let room = Room::new();
    let wrong: &[(&[&str], &str)] = &[
        (&["run", "--bogus"], "--bogus"),
        (&["run", "-T", "5x"], "5x"),
        (&["run", "-T", "1", "-t", "1"], "cannot be used with"),
        (&["run", "-c", "0"], "0"),
        (&["demo", "--scale", "0"], "0"),
        (&["frobnicate"], "frobnicate"),
        (&["init", "--workload", "tpcx"], "tpcx"),
        (&["run", "embedded", "--workload", "tpcx"], "tpcx"),
        (&["run", "embedded", "--param", "x=1"], "x"),
        (&["run", "host=h prt=1"], "\"prt\""),
        (&["run", "postgresql://h:port/d"], "port"),
        (&["run", "embedded", "-D", "x=1"], "--define"),
        (&["run", "embedded", "--max-tries", "0", "-t", "1"], "--max-tries"),
        (&["run", "--retry-backoff", "2s..1s"], "FIRST..MAX"),
        (&["run", "--dialect", "oracle", "host=h"], "oracle"),
    ];
    for (args, word) in wrong {
        let outcome = room.run(args).exits(1).says(&[word]);
        assert!(outcome.out.is_empty(), "{args:?}: {outcome:?}");
        assert!(!outcome.err.contains("Starting"), "{args:?}: {outcome:?}");
    }
    for args in [&["--help"][..], &["demo", "--help"], &["init", "-h"], &["run", "--help"]] {
        let outcome = room.run(args).exits(0);
        assert!(outcome.out.contains("Usage: pgdyno") && outcome.err.is_empty(), "{outcome:?}");
    }
    assert!(room.run(&["pgbench", "--help"]).exits(0).out.contains("--client=NUM"));
    assert!(room.run(&["--version"]).exits(0).out.contains(env!("CARGO_PKG_VERSION")));
}
