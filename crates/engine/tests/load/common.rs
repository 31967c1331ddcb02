//! A throw-away server, and the few things that every test does with it.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_engine::load::{LoadError, LoadObserver, LoadPlan, LoadReport, SilentLoad, load};
use pgdyno_target::{EmbeddedConfig, EmbeddedServer, postgres};
use pgdyno_wire::Connection;
use pgdyno_wire::connect::ConnectContext;
use pgdyno_workload::{Choice, Session, Workload, make};

/// A server with small buffers and without fsync: these tests do not measure.
pub(crate) fn server() -> EmbeddedServer {
    let config = EmbeddedConfig {
        no_fsync: true,
        settings: vec![("shared_buffers".into(), "32MB".into())],
        ..EmbeddedConfig::default()
    };
    EmbeddedServer::start(&config).unwrap()
}

pub(crate) fn context(server: &EmbeddedServer) -> Arc<ConnectContext> {
    ConnectContext::new(&server.options_tcp()).unwrap()
}

pub(crate) fn connect(server: &EmbeddedServer) -> Connection {
    Connection::connect(&context(server)).unwrap()
}

pub(crate) fn workload(name: &str, scale: u64) -> Box<dyn Workload> {
    make(&Choice { name, scale, params: &[] }).unwrap()
}

pub(crate) fn load_with(
    server: &EmbeddedServer,
    workload: &dyn Workload,
    jobs: u32,
    observer: &dyn LoadObserver,
    interrupt: &AtomicBool,
) -> Result<LoadReport, LoadError> {
    let plan = LoadPlan {
        workload,
        dialect: postgres(),
        endpoints: &[context(server)],
        jobs: NonZeroU32::new(jobs).unwrap(),
        seed: 1,
        method: None,
        resume: false,
    };
    load(&plan, observer, interrupt)
}

pub(crate) fn load_quietly(
    server: &EmbeddedServer,
    workload: &dyn Workload,
    jobs: u32,
) -> LoadReport {
    load_with(server, workload, jobs, &SilentLoad, &AtomicBool::new(false)).unwrap()
}

/// The single value of a query.
pub(crate) fn value(session: &mut dyn Session, sql: &str) -> String {
    let (_, rows) = session.query(sql).unwrap();
    rows[0][0].clone().unwrap_or_default()
}
