//! A hot row under REPEATABLE READ and SERIALIZABLE: pgbench and its drop-in
//! tell the same story of failures and retries, and neither loses or doubles a
//! commit. The row itself is the witness: each commit adds one to it.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
use pgdyno_wire::Connection;
use pgdyno_wire::connect::ConnectContext;

const CLIENTS: u64 = 8;
const TRANSACTIONS: u64 = 60;

/// The SELECT takes the snapshot, the sleep lets others commit meanwhile.
const SCRIPT: &str = "\
BEGIN;
SELECT n FROM hot WHERE id = 1;
\\sleep 200 us
UPDATE hot SET n = n + 1 WHERE id = 1;
END;
";

/// What a report says, and by how much the row grew.
#[derive(Debug)]
struct Story {
    processed: u64,
    failed: u64,
    retried: u64,
    retries: u64,
    grown: u64,
}

struct Bench {
    server: EmbeddedServer,
    folder: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        let config = EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() };
        let server = EmbeddedServer::start(&config).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("hot.sql"), SCRIPT).unwrap();
        let bench = Self { server, folder };
        let mut session = bench.session();
        session.execute("CREATE TABLE hot (id int PRIMARY KEY, n bigint NOT NULL)").unwrap();
        session.execute("INSERT INTO hot VALUES (1, 0)").unwrap();
        bench
    }

    fn session(&self) -> Connection {
        Connection::connect(&ConnectContext::new(&self.server.options_unix()).unwrap()).unwrap()
    }

    fn count(&self) -> u64 {
        let n = self.session().query_one_i64("SELECT n FROM hot WHERE id = 1").unwrap();
        u64::try_from(n).unwrap()
    }

    fn run(&self, program: &Path, face: &[&str], isolation: &str, tries: &str) -> Story {
        let options = self.server.options_unix();
        let host = &options.hosts[0];
        let before = self.count();
        let output = Command::new(program)
            .args(face)
            .args(["-n", "-f", "hot.sql", "-c", "8", "-j", "2", "-t", "60", "--max-tries", tries])
            .current_dir(self.folder.path())
            .env("PGHOST", &host.name)
            .env("PGPORT", host.port.to_string())
            .env("PGUSER", &options.user)
            .env("PGDATABASE", &options.dbname)
            .env("PGPASSWORD", host.password.as_ref().unwrap().reveal())
            .env("PGOPTIONS", format!("-c default_transaction_isolation={isolation}"))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{text}\n{told}");
        let figure = |name: &str| {
            let rest = text.split(name).nth(1).unwrap_or("0");
            rest.trim().split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap_or(0)
        };
        Story {
            processed: figure("actually processed:"),
            failed: figure("failed transactions:"),
            retried: figure("transactions retried:"),
            retries: figure("number of retries:"),
            grown: self.count() - before,
        }
    }
}

/// With one try most conflicts fail, with many they are retried; every commit
/// that is reported is in the row, and nothing else, with both programs.
#[test]
fn same_story_and_nothing_lost() {
    let bench = Bench::start();
    let pgbench = bench.server.installation().bin_dir.join("pgbench");
    if !pgbench.exists() {
        let text = format!("{} is not there", pgbench.display());
        assert!(std::env::var_os("PGDYNO_TEST_REQUIRE").is_none(), "{text}");
        eprintln!("skipped: {text}");
        return;
    }
    let ours: PathBuf = env!("CARGO_BIN_EXE_pgdyno").into();
    for isolation in ["repeatable\\ read", "serializable"] {
        for tries in ["1", "1000"] {
            for (program, face) in [(&pgbench, &[][..]), (&ours, &["pgbench"][..])] {
                let story = bench.run(program, face, isolation, tries);
                let told = format!("{isolation}, {tries} tries, {}: {story:?}", program.display());
                assert_eq!(story.processed + story.failed, CLIENTS * TRANSACTIONS, "{told}");
                assert_eq!(story.processed, story.grown, "{told}");
                if tries == "1" {
                    assert!(story.failed > 0 && story.retries == 0, "{told}");
                } else {
                    assert!(story.failed == 0 && story.retried > 0, "{told}");
                    assert!(story.retries >= story.retried, "{told}");
                }
            }
        }
    }
}
