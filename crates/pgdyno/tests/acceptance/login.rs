//! Passwords that are made anew, and settings that sessions begin with.

use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords};
use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
use pgdyno_wire::{ConnectContext, Connection};

use crate::support::record::count;
use crate::support::{Room, Server};

/// A role of the caller's own on the shared server, and where it connects.
fn role(name: &str, password: &str) -> String {
    let server = Server::shared();
    server.sql("postgres", &format!("create role {name} login password '{password}'"));
    format!("postgresql://{name}@127.0.0.1:{}/postgres?sslmode=disable", server.port())
}

fn lines(room: &Room, file: &str) -> usize {
    std::fs::read_to_string(room.path().join(file)).unwrap().lines().count()
}

/// One run of the command serves all clients and pgdyno's own sessions, and
/// neither the password nor the command is in what is printed or kept.
#[test]
fn one_command_for_all() {
    let password = "hush-4711";
    let target = role("by_command", password);
    let room = Room::with_secret(password);
    room.write("s.sql", "SELECT 1;\n");
    let command = format!("echo run >> runs; echo {password}");
    let args =
        ["run", &target, "-f", "s.sql", "-c", "4", "-t", "5", "--password-command", &command];
    room.run(&args).exits(0);
    assert_eq!(count(&room.record(), "committed"), 20);
    assert_eq!(lines(&room, "runs"), 1);
}

/// A command that fails, or says nothing, ends the call with its own words.
#[test]
fn commands_that_fail() {
    let target = role("by_none", "x");
    let room = Room::new();
    room.write(
        "pgdyno.toml",
        &format!(
            "[targets.t]\ndsn = \"{target}\"\npassword_command = \"echo sealed >&2; exit 9\"\n"
        ),
    );
    for (args, told) in [
        (vec!["detect", "t"], "the password command ended with exit status 9 and said: sealed"),
        (
            vec!["detect", "t", "--password-command", "true"],
            "the password command printed no password",
        ),
        (vec!["detect", "t", "--aws-iam"], "hint: say sslmode=verify-full, or require"),
        (vec!["detect", "t", "--password-lifetime", "0"], "a lifetime is a whole number"),
    ] {
        let outcome = room.run(&args);
        assert_ne!(outcome.code(), 0, "{outcome:?}");
        outcome.says(&[told]);
    }
}

/// A password that is changed in mid-run is asked for again by the connection
/// that is refused with the old one; no transaction fails.
#[test]
fn changed_in_mid_run() {
    let target = role("by_change", "one");
    let room = Room::new();
    room.write("pw", "one\n");
    // The first transaction changes it, and the command has known of it since
    // it was asked for the first time.
    room.write("s.sql", "ALTER ROLE by_change PASSWORD 'two';\n");
    let command = "echo run >> runs; cat pw; echo two > pw";
    let args = ["run", &target, "-f", "s.sql", "-c", "1", "-t", "3", "-C", "--password-command"];
    let args: Vec<&str> = args.into_iter().chain([command]).collect();
    room.run(&args).exits(0);
    let record = room.record();
    assert_eq!((count(&record, "committed"), count(&record, "failed")), (3, 0));
    assert_eq!(lines(&room, "runs"), 2);
}

/// Where each transaction connects, an old password is renewed while the run
/// goes on.
#[test]
fn renewed_in_mid_run() {
    let target = role("by_time", "x");
    let room = Room::new();
    room.write("s.sql", "SELECT 1;\n");
    let command = "echo run >> runs; echo x";
    let args = ["run", &target, "-f", "s.sql", "-c", "2", "-T", "2", "-R", "50", "-C"];
    let more = ["--password-lifetime", "1s", "--password-command", command];
    let args: Vec<&str> = args.into_iter().chain(more).collect();
    room.run(&args).exits(0);
    assert!(lines(&room, "runs") >= 2);
    assert_eq!(count(&room.record(), "failed"), 0);
}

/// `--set` reaches the clients' sessions and the record; what the server does
/// not know it refuses, and what is no setting never gets there.
#[test]
fn settings_of_sessions() {
    let server = Server::shared();
    let database = server.empty();
    let room = server.room();
    // Divides by zero unless both are set.
    room.write(
        "s.sql",
        "SELECT 1 / (current_setting('work_mem') = '7MB' AND current_setting('my.own') = 'a b')\
         ::int;\n",
    );
    let set = ["-f", "s.sql", "-c", "2", "-t", "3", "--set", "work_mem=7MB", "--set", "my.own=a b"];
    database.run(&room, &set).exits(0);
    let record = room.record();
    assert_eq!(record["plan"]["session_settings"]["my.own"], "a b");
    assert!(record["target_statistics"]["groups"].as_array().is_some_and(|all| !all.is_empty()));
    let target = database.uri_plain();
    let env = [("PGPASSWORD", server.password())];
    let env = env.each_ref().map(|(name, value)| (*name, value.as_str()));
    let unknown = room.run_with(&env, &["init", &target, "--set", "nonsense=1"]);
    assert_eq!(unknown.code(), 2, "{unknown:?}");
    unknown.says(&["unrecognized configuration parameter \"nonsense\""]);
    let dsql = ["detect", &target, "--dialect", "aurora-dsql", "--set", "statement_timeout=1"];
    let refused = room.run_with(&env, &dsql);
    assert_eq!(refused.code(), 1, "{refused:?}");
    refused.says(&["--set: Amazon Aurora DSQL refuses the setting \"statement_timeout\""]);
}

/// A setting whose name says that it is a secret reaches the sessions and not
/// the record.
#[test]
fn a_secret_setting_is_not_kept() {
    let server = Server::shared();
    let database = server.empty();
    let room = server.room();
    // Divides by zero with another value; the script's text is in the record.
    room.write(
        "s.sql",
        "SELECT 1 / (md5(current_setting('my.api_token')) = 'ce0b03a425c249404f527b7933b184c0')::int;\n",
    );
    database.run(&room, &["-f", "s.sql", "-t", "1", "--set", "my.api_token=hush hush"]).exits(0);
    let record = room.record();
    assert_eq!(record["plan"]["session_settings"]["my.api_token"], "***");
    assert!(!record.to_string().contains("hush"), "{record}");
    // Neither is what cannot be: the server's words hold it, and the parser's.
    let refused = database.run(&room, &["-t", "1", "--set", "password_encryption=hush hush"]);
    let refused = refused.exits(2);
    let refused = refused.says(&["password_encryption", "***"]);
    assert!(!refused.err.contains("hush"), "{}", refused.err);
    let refused = database.run(&room, &["-t", "1", "--set", "my.api_token:hush"]).exits(1);
    let refused = refused.says(&["***", "NAME=VALUE"]);
    assert!(!refused.err.contains("hush"), "{}", refused.err);
}

/// Tokens that are made here open the stand-in for Aurora DSQL, for the admin
/// and for others, by keys of the environment and of a profile.
#[test]
fn tokens_open_the_stand_in() {
    let server = EmbeddedServer::start(&EmbeddedConfig {
        no_fsync: true,
        settings: vec![("shared_buffers".into(), "32MB".into())],
        ..EmbeddedConfig::default()
    })
    .unwrap();
    let context = ConnectContext::new(&server.options_unix()).unwrap();
    Connection::connect(&context).unwrap().execute("CREATE ROLE app LOGIN").unwrap();
    let emulator = Emulator::start(Config {
        listen: ([127, 0, 0, 1], 0).into(),
        upstream: server.options_unix(),
        encryption: Encryption::Required { names: Vec::new(), certificate: None },
        passwords: Passwords::Token,
        limits: Limits::default(),
    })
    .unwrap();
    let room = Room::with_secret("sosecret");
    let port = emulator.address().port();
    let root = emulator.certificate().unwrap().display().to_string();
    let target = |user: &str| {
        format!(
            "host=localhost hostaddr=127.0.0.1 port={port} user={user} dbname=postgres \
             sslmode=verify-full sslrootcert={root}"
        )
    };
    let iam = ["--aws-iam", "--dialect", "aurora-dsql", "--aws-region", "eu-west-1"];
    let detect = |env: &[(&str, &str)], user: &str, more: &[&str]| {
        let target = target(user);
        let args: Vec<&str> =
            ["detect", &target].into_iter().chain(iam).chain(more.iter().copied()).collect();
        room.run_with(env, &args)
    };
    let keys = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "sosecret")];
    for user in ["admin", "app"] {
        assert!(detect(&keys, user, &[]).exits(0).out.contains("Aurora DSQL"));
    }
    room.write("credentials", "[b]\naws_access_key_id = A\naws_secret_access_key = sosecret\n");
    let file = [("AWS_SHARED_CREDENTIALS_FILE", "credentials")];
    detect(&file, "admin", &["--aws-profile", "b"]).exits(0);
    let none = detect(&[], "admin", &[]);
    assert_eq!(none.code(), 2, "{none:?}");
    none.says(&["there are no AWS credentials", "--password-command"]);
    // RDS's tokens are signed for something else.
    let target = target("admin");
    let args = ["detect", &target, "--aws-iam", "--aws-region", "eu-west-1"];
    room.run_with(&keys, &args).says(&["access denied"]);
    drop(emulator);
}
