//! A server with the tables of every workload, made once, to copy from.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use pgdyno_target::postgres;
use pgdyno_workload::{Choice, Workload, make};

use crate::support::server::Wanted;
use crate::support::{Database, Outcome, Room, Server};

/// Enough for the clients of some runs side by side, and for those whose
/// backends are still going away.
const CONNECTIONS_MAX: u32 = 300;

/// The server and its templates: by the statements that make the tables.
pub(crate) struct Templates {
    server: Server,
    names: Mutex<BTreeMap<Vec<String>, String>>,
}

pub(crate) fn made(workload: &str) -> Box<dyn Workload> {
    make(&Choice { name: workload, scale: 1, params: &[] }).unwrap()
}

impl Templates {
    /// The server of all tests that copy from it; its guard ends it with this
    /// process.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Templates> = OnceLock::new();
        SHARED.get_or_init(|| {
            let server = Server::start(Wanted { tls: None, max_connections: CONNECTIONS_MAX });
            Self { server, names: Mutex::new(BTreeMap::new()) }
        })
    }

    /// A database of the caller's own with the tables of a workload at scale 1.
    pub(crate) fn copy(&self, workload: &str) -> Database<'_> {
        let key = made(workload).create_statements(postgres());
        // Held while they are made, so that nobody makes them twice.
        let mut names = self.names.lock().unwrap();
        let template = names.entry(key).or_insert_with(|| {
            let database = self.server.empty();
            let mut words = vec!["-w", workload, "-s", "1"];
            if workload == "tpcc" {
                // The routines are used by who asks for them, and lie idle for the others.
                words.extend(["--param", "procs=1"]);
            }
            self.pgdyno(&database, "init", &words).exits(0);
            database.name
        });
        self.server.create(template)
    }

    fn pgdyno(&self, database: &Database<'_>, command: &str, words: &[&str]) -> Outcome {
        let room = self.server.room();
        let target = database.uri_plain();
        let all: Vec<&str> = [command, &target].into_iter().chain(words.iter().copied()).collect();
        room.run_with(&[("PGPASSWORD", &self.server.password())], &all)
    }

    /// Gives a copy back, so that the disk holds only those in use.
    pub(crate) fn drop(&self, database: Database<'_>) {
        let Database { name, .. } = database;
        self.server.sql("postgres", &format!("drop database {name} with (force)"));
    }

    pub(crate) fn room(&self) -> Room {
        self.server.room()
    }
}
