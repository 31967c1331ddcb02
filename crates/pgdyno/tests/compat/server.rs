//! The server and the two programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use pgdyno_target::embedded::{EmbeddedConfig, EmbeddedServer};

use crate::case::{Case, Db};

/// Names the folder with `pgbench`, `psql`, `initdb` and `postgres` of PostgreSQL 18.
const BIN_VARIABLE: &str = "PGDYNO_TEST_PG18_BIN";

/// Turns a missing pgbench from a skip into a failure, for CI.
const REQUIRE_VARIABLE: &str = "PGDYNO_TEST_REQUIRE";

/// The folder with PostgreSQL 18's programs, or why there is none.
pub(crate) fn find_programs() -> Option<PathBuf> {
    let named = std::env::var_os(BIN_VARIABLE).map(PathBuf::from);
    let usual = ["/usr/lib/postgresql/18/bin", "/usr/pgsql-18/bin", "/usr/local/pgsql/bin"];
    let found = named
        .into_iter()
        .chain(usual.into_iter().map(PathBuf::from))
        .find(|folder| is_release_18(&folder.join("pgbench")));
    if found.is_none() {
        let text =
            format!("no pgbench of PostgreSQL 18 was found; {BIN_VARIABLE} names its folder");
        assert!(std::env::var_os(REQUIRE_VARIABLE).is_none(), "{text}");
        eprintln!("skipped: {text}");
    }
    found
}

fn is_release_18(pgbench: &Path) -> bool {
    let output = Command::new(pgbench).arg("--version").output();
    output.is_ok_and(|output| output.stdout.starts_with(b"pgbench (PostgreSQL) 18."))
}

/// A server of its own, with the databases that cases run in.
pub(crate) struct Server {
    server: EmbeddedServer,
    bin: PathBuf,
    env: Vec<(&'static str, String)>,
    password: String,
}

impl Server {
    pub(crate) fn start(bin: PathBuf) -> Self {
        let made = Self::start_bare(bin, 60);
        made.make_databases();
        made
    }

    /// A server that lets everyone in without a password, because a password
    /// costs more than anything else that a client does in a short run.
    pub(crate) fn start_trusting(bin: PathBuf, max_connections: u32) -> Self {
        let made = Self::start_bare(bin, max_connections);
        let rules = made.server.data_dir().join("pg_hba.conf");
        std::fs::write(rules, "local all all trust\n").expect("the rules of access");
        made.sql("postgres", "select pg_reload_conf()");
        made
    }

    fn start_bare(bin: PathBuf, max_connections: u32) -> Self {
        let config = EmbeddedConfig {
            bin_dir: Some(bin.clone()),
            no_fsync: true,
            max_connections,
            // The dialog must not depend on who runs the tests.
            settings: vec![("lc_messages".into(), "C".into()), ("timezone".into(), "UTC".into())],
            ..EmbeddedConfig::default()
        };
        let server = EmbeddedServer::start(&config).expect("the server starts");
        let options = server.options_unix();
        let host = &options.hosts[0];
        let password = host.password.as_ref().map_or("", |secret| secret.reveal());
        let env = vec![
            ("PGHOST", host.name.clone()),
            ("PGPORT", host.port.to_string()),
            ("PGUSER", options.user.clone()),
            ("PGPASSWORD", password.to_owned()),
        ];
        let password = password.to_owned();
        Self { server, bin, env, password }
    }

    /// The real program.
    pub(crate) fn pgbench(&self) -> PathBuf {
        self.bin.join("pgbench")
    }

    /// Where and as whom to connect.
    pub(crate) fn env(&self) -> &[(&'static str, String)] {
        &self.env
    }

    /// Writes out `@password`, the superuser's and every other role's.
    pub(crate) fn fill_in(&self, text: &str) -> String {
        text.replace("@password", &self.password)
    }

    /// Brings the database of a case to where the case starts.
    pub(crate) fn prepare(&self, case: &Case) {
        if case.reset && case.db == Db::Tpcb {
            self.remake_tpcb();
        }
        if case.db == Db::Empty {
            self.sql(Db::Empty.name(), "drop schema public cascade; create schema public");
        }
        if !case.before.is_empty() {
            self.sql(case.db.name(), &self.fill_in(&case.before));
        }
    }

    /// Undoes what a case did to tables that others use.
    pub(crate) fn clean_up(&self, case: &Case) {
        if case.reset && case.db == Db::Tpcb {
            self.remake_tpcb();
        }
    }

    /// Runs SQL and gives back rows as psql writes them unaligned.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let output = Command::new(self.bin.join("psql"))
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("PGOPTIONS", "-c client_min_messages=error")
            .args(["-X", "-q", "-A", "-t", "-d", database, "-c", sql])
            .output()
            .expect("psql runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn make_databases(&self) {
        for name in ["compat_template", Db::Partitioned.name(), Db::Empty.name()] {
            self.sql("postgres", &format!("create database {name}"));
        }
        self.real_init(&["-i", "-q", "compat_template"]);
        self.real_init(&["-i", "-q", "--partitions=3", Db::Partitioned.name()]);
        self.remake_tpcb();
    }

    fn remake_tpcb(&self) {
        self.sql("postgres", "drop database if exists compat with (force)");
        self.sql("postgres", "create database compat template compat_template");
    }

    /// Makes pgbench's tables by the real program.
    pub(crate) fn real_init(&self, args: &[&str]) {
        let output = Command::new(self.pgbench())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .args(args)
            .output()
            .expect("pgbench runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
