//! Real servers with SCRAM passwords, and databases on them.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
use pgdyno_wire::options::Options;
use pgdyno_wire::{ConnectContext, Connection};

use super::Room;
use super::authority::{self, Valid};
use super::room::LOOK_EVERY;

/// The database that others are copied from: tables at scale 1.
const TEMPLATE: &str = "loaded";

/// Why a test of TLS is skipped.
const NO_TLS: &str = "this PostgreSQL was built without TLS";

/// How long a server may take to read its settings again.
const RELOAD_MAX: Duration = Duration::from_secs(30);

/// Turns what is skipped into a failure, for CI.
const REQUIRE_VARIABLE: &str = "PGDYNO_TEST_REQUIRE";

/// A server that goes away with the test.
pub(crate) struct Server {
    embedded: EmbeddedServer,
    has_tls: bool,
}

/// What is special about a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) tls: Option<Valid>,
    pub(crate) max_connections: u32,
}

impl Server {
    /// The server that most tests share: with TLS, without fsync, and with
    /// tables at scale 1 to copy from. Its guard ends it with this process.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Server> = OnceLock::new();
        SHARED.get_or_init(|| {
            let server = Self::start(Wanted { tls: Some(Valid::Now), max_connections: 100 });
            server.sql("postgres", &format!("create database {TEMPLATE}"));
            let loaded = Database { server: &server, name: TEMPLATE.to_owned() };
            loaded.init(1);
            server
        })
    }

    pub(crate) fn start(wanted: Wanted) -> Self {
        let settings = [
            ("shared_buffers", "64MB"),
            // Autovacuum would keep copies of the template waiting.
            ("autovacuum", "off"),
            // What was acknowledged must survive the death of a process; only
            // the death of the machine may cost it.
            ("synchronous_commit", "on"),
        ];
        let config = EmbeddedConfig {
            no_fsync: true,
            max_connections: wanted.max_connections,
            settings: settings.map(|(name, value)| (name.into(), value.into())).to_vec(),
            ..EmbeddedConfig::default()
        };
        let embedded = EmbeddedServer::start(&config).unwrap();
        let mut server = Self { embedded, has_tls: false };
        if let Some(valid) = wanted.tls {
            server.turn_on_tls(valid);
        }
        server
    }

    /// The files lie in the server's folder, and go away with it.
    fn turn_on_tls(&mut self, valid: Valid) {
        authority::write(&self.embedded.data_dir(), valid);
        let mut session = self.connect("postgres").unwrap();
        match session.simple_query("alter system set ssl = on") {
            Ok(_) => {}
            // PostgreSQL can be built without TLS, and for some is.
            Err(error) if error.to_string().contains("not supported by this build") => return,
            Err(error) => panic!("{error}"),
        }
        session.simple_query("select pg_reload_conf()").unwrap();
        let begin = Instant::now();
        while self.sql("postgres", "show ssl")[0][0].as_deref() != Some("on") {
            assert!(begin.elapsed() < RELOAD_MAX, "{}", self.embedded.log_tail());
            std::thread::sleep(LOOK_EVERY);
        }
        self.has_tls = true;
    }

    /// False where the server was built without TLS, which fails a test run
    /// that asks for everything, and is told otherwise.
    pub(crate) fn has_tls(&self) -> bool {
        if !self.has_tls {
            assert!(std::env::var_os(REQUIRE_VARIABLE).is_none(), "{NO_TLS}");
            eprintln!("skipped: {NO_TLS}");
        }
        self.has_tls
    }

    pub(crate) fn password(&self) -> String {
        let options = self.embedded.options_tcp();
        options.hosts[0].password.as_ref().unwrap().reveal().to_owned()
    }

    pub(crate) fn port(&self) -> u16 {
        self.embedded.options_tcp().hosts[0].port
    }

    pub(crate) fn user(&self) -> String {
        self.embedded.options_tcp().user
    }

    /// The folder of the Unix socket.
    pub(crate) fn socket_folder(&self) -> String {
        self.embedded.options_unix().hosts[0].name.clone()
    }

    /// The authority's certificate.
    pub(crate) fn root(&self) -> PathBuf {
        self.embedded.data_dir().join(authority::ROOT)
    }

    /// The postmaster's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.embedded.pid()
    }

    /// The process ids of all its processes; the postmaster first, so that it
    /// has no time to tell of the death of the others.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let postmaster = self.pid();
        let path = format!("/proc/{postmaster}/task/{postmaster}/children");
        let text = std::fs::read_to_string(path).unwrap();
        let children = text.split_whitespace().map(|pid| pid.parse().unwrap());
        [postmaster].into_iter().chain(children).collect()
    }

    /// A folder for calls, in which this server's password must not turn up.
    pub(crate) fn room(&self) -> Room {
        Room::with_secret(&self.password())
    }

    fn options(&self, database: &str) -> Options {
        Options { dbname: database.to_owned(), ..self.embedded.options_unix() }
    }

    fn connect(&self, database: &str) -> Result<Connection, pgdyno_wire::Error> {
        Connection::connect(&ConnectContext::new(&self.options(database))?)
    }

    /// Runs SQL over a session of its own.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> Vec<Vec<Option<String>>> {
        let mut session = self.connect(database).unwrap();
        let results = session.simple_query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        results.into_iter().flat_map(|result| result.rows).collect()
    }

    /// A database of the caller's own, empty.
    pub(crate) fn empty(&self) -> Database<'_> {
        self.create("template1")
    }

    /// A database of the caller's own, with tables at scale 1.
    pub(crate) fn loaded(&self) -> Database<'_> {
        self.create(TEMPLATE)
    }

    pub(crate) fn create(&self, template: &str) -> Database<'_> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("db{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("create database {name} template {template}"));
        Database { server: self, name }
    }
}

/// Sends a signal to processes of a server that a test has started.
pub(crate) fn signal(pids: &[u32], signal: Signal) {
    for pid in pids {
        // One may have ended because of the one before.
        let _ = kill(Pid::from_raw(i32::try_from(*pid).unwrap()), signal);
    }
}

/// A database of one test.
pub(crate) struct Database<'s> {
    pub(crate) server: &'s Server,
    pub(crate) name: String,
}

impl Database<'_> {
    /// A URI without a password, over TCP.
    pub(crate) fn uri_tcp(&self) -> String {
        let server = self.server;
        format!("postgresql://{}@127.0.0.1:{}/{}", server.user(), server.port(), self.name)
    }

    /// A URI without TLS, over TCP.
    pub(crate) fn uri_plain(&self) -> String {
        format!("{}?sslmode=disable", self.uri_tcp())
    }

    /// A keyword string for TCP under TLS with everything checked.
    pub(crate) fn keywords_verified(&self) -> String {
        let server = self.server;
        format!(
            "host=localhost hostaddr=127.0.0.1 port={} user={} dbname={} sslmode=verify-full \
             sslrootcert={}",
            server.port(),
            server.user(),
            self.name,
            server.root().display()
        )
    }

    /// A keyword string for the Unix socket.
    pub(crate) fn keywords_unix(&self) -> String {
        let server = self.server;
        format!(
            "host={} port={} user={} dbname={}",
            server.socket_folder(),
            server.port(),
            server.user(),
            self.name
        )
    }

    /// Loads tables with the binary.
    pub(crate) fn init(&self, scale: u64) {
        let room = self.server.room();
        let (target, scale) = (self.uri_plain(), scale.to_string());
        room.run_with(&[("PGPASSWORD", &self.server.password())], &["init", &target, "-s", &scale])
            .exits(0);
    }

    /// The first column of the first row.
    pub(crate) fn value(&self, sql: &str) -> String {
        let rows = self.sql(sql);
        rows.first().and_then(|row| row.first().cloned().flatten()).unwrap_or_default()
    }

    pub(crate) fn sql(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        self.server.sql(&self.name, sql)
    }

    /// Runs `pgdyno run` on it over TCP, with the password in PGPASSWORD.
    pub(crate) fn run(&self, room: &Room, args: &[&str]) -> super::Outcome {
        let target = self.uri_plain();
        let all: Vec<&str> = ["run", &target].into_iter().chain(args.iter().copied()).collect();
        room.run_with(&[("PGPASSWORD", &self.server.password())], &all)
    }
}
