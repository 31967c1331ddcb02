//! Whatever the way of loading, the rows are the same.

use std::process::Command;

use crate::crashes::{checksum, finish};
use crate::server::Server;

/// One value of a query.
fn value(server: &Server, sql: &str) -> String {
    server.try_connect().unwrap().query_one_text(sql).unwrap().unwrap_or_default()
}

/// Copied, inserted, made by the server, or spread over partitions: every
/// column of every row is the same, and so are the keys.
#[test]
fn rows_are_the_same_in_every_way() {
    let server = Server::start();
    finish(&server, "-j 2", false);
    let expected = checksum(&server);
    for way in [
        "-j 1",
        "-j 1 --resume",
        "-j 2 --load-method insert-single",
        "-j 2 --load-method server",
        "-j 1 --param partitions=3",
        "-j 2 --param partitions=4 --param partition-method=hash --load-method server",
    ] {
        finish(&server, way, false);
        let found = checksum(&server);
        // Partitions have keys of their own.
        let kept: Vec<&str> = found.split(' ').take(4).collect();
        assert!(expected.starts_with(&kept.join(" ")), "{way}: {found}, not {expected}");
        assert!(found.ends_with(" no marks") && found.contains("pgbench_accounts_pkey"), "{found}");
        let parts = "SELECT string_agg(n, ' ') FROM (SELECT count(*)::text AS n FROM \
                     pgbench_accounts GROUP BY tableoid ORDER BY tableoid::regclass::text) p";
        let parts = value(&server, parts);
        match way {
            "-j 1 --param partitions=3" => assert_eq!(parts, "33334 33334 33332"),
            _ if way.contains("partitions=4") => assert_eq!(parts.split(' ').count(), 4, "{parts}"),
            _ => assert_eq!(parts, "100000", "{way}"),
        }
    }
}

/// Tables that a run makes anew, because putting them back would cost more, are
/// made as they were: in their partitions, unless others are asked for.
#[test]
fn a_reset_keeps_partitions() {
    let server = Server::start();
    finish(&server, "-j 2 --param partitions=3 --param partition-method=hash", false);
    let mut session = server.try_connect().unwrap();
    let parts = "SELECT (SELECT count(*) FROM pg_partition_tree('pgbench_accounts') WHERE isleaf) \
                 || (SELECT partstrat::text FROM pg_partitioned_table WHERE partrelid = \
                 'pgbench_accounts'::regclass)";
    let reset = |given: &str| {
        let words = server.words();
        let mut args = vec!["run", &words, "-t", "1", "--reset", "--target-stats", "off"];
        args.extend(given.split_whitespace());
        let folder = tempfile::tempdir().unwrap();
        let records = folder.path().join("records").display().to_string();
        args.extend(["--records", &records]);
        pgdyno(&args)
    };
    // Every row is another than it was loaded.
    let others = "UPDATE pgbench_accounts SET abalance = 1";
    let rows = "SELECT count(*) || ' ' || sum(abalance) FROM pgbench_accounts";
    for (given, found, kept) in [
        ("", "3h", "made as they were: partitions=3, partition-method=hash"),
        ("--param partitions=2", "2r", ""),
        ("", "2r", "made as they were: partitions=2, partition-method=range"),
    ] {
        session.execute(others).unwrap();
        let (code, told) = reset(given);
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains("loading anew") && told.contains(kept), "{told}");
        assert_eq!(told.contains("made as they were"), !kept.is_empty(), "{told}");
        assert_eq!(value(&server, parts), found);
        assert_eq!(value(&server, rows).split(' ').next(), Some("100000"));
    }
    // What no parameter makes is not made otherwise without a word.
    for sql in [
        "ALTER TABLE pgbench_accounts RENAME TO ranges",
        "CREATE TABLE pgbench_accounts (LIKE ranges) PARTITION BY LIST (bid)",
        "CREATE TABLE list PARTITION OF pgbench_accounts DEFAULT",
        "INSERT INTO pgbench_accounts SELECT * FROM ranges",
        others,
    ] {
        session.execute(sql).unwrap();
    }
    let (code, told) = reset("");
    assert_ne!(code, Some(0), "{told}");
    assert!(told.contains("partition-method=list, which cannot be made anew"), "{told}");
    assert_eq!(value(&server, rows), "100000 100000");
}

/// Runs pgdyno: its exit code, and what it complained about.
fn pgdyno(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pgdyno")).args(args).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A load that was broken off is gone on with by the same command only; each
/// difference is named, and nothing is touched.
#[test]
fn another_load_is_not_gone_on_with() {
    let server = Server::start();
    let mut session = server.try_connect().unwrap();
    finish(&server, "-j 2", false);
    // What a load leaves that dies right before its end.
    session
        .execute("CREATE TABLE pgdyno_load (part varchar(8), number bigint, words text)")
        .unwrap();
    session
        .execute(
            "INSERT INTO pgdyno_load VALUES ('tables', 0, NULL), ('plan', 0, \
             E'workload=tpcb\\nscale=1\\nseed=5\\ncut of pgbench_accounts=100000 by 69905')",
        )
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pgdyno"))
        .args(["-q", "init", &server.words(), "--seed", "6", "-s", "2", "--resume"])
        .args(["--load-method", "insert", "--param", "partitions=3"])
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}");
    for part in [
        "scale 1 (now 2)",
        "seed 5 (now 6)",
        "load method none (now insert)",
        "param partitions none (now 3)",
        "hint: ",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert_eq!(value(&server, "SELECT count(*)::text FROM pgbench_accounts"), "100000");
    // Nothing is run on such tables, though all rows are there.
    let (code, words) = pgdyno(&["-q", "run", &server.words(), "-t", "1"]);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("broken off") && words.contains("--resume"), "{words}");
    // Nor where the marks do not say what they are of.
    session.execute("UPDATE pgdyno_load SET part = 'other' WHERE part = 'plan'").unwrap();
    let (code, words) = pgdyno(&["-q", "run", &server.words(), "-t", "1"]);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("broken off"), "{words}");
    session.execute("UPDATE pgdyno_load SET part = 'plan' WHERE part = 'other'").unwrap();
    // Another workload takes the marks away, and says so.
    let (code, words) = pgdyno(&["-q", "init", &server.words(), "--workload", "scan"]);
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("the load of workload tpcb that was broken off"), "{words}");
    // Without the word, everything is made anew, and nothing of it stays.
    finish(&server, "-j 2", false);
    assert!(checksum(&server).ends_with(" no marks"));
}
