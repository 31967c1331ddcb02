//! A target with the door open: reachable, and known for what it is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pgdyno_target::dialect::{Dialect, Isolation};
use pgdyno_target::embedded::{EmbeddedConfig, EmbeddedServer};
use pgdyno_target::resolve::{self, Place, Resolved, Surroundings, Target, Why};
use pgdyno_target::{Detected, detect, dialect_by_host, settings};
use pgdyno_wire::Connection;
use pgdyno_wire::connect::ConnectContext;
use pgdyno_wire::conninfo::ProcessEnv;
use pgdyno_wire::options::Options;

use crate::cli::TargetArgs;
use crate::failure::{self, Failure};
use crate::terminal::Terminal;

/// What runs need of connections, apart from where they go.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wishes {
    /// Sessions at once; an embedded server is made large enough.
    pub(crate) clients: u32,
    /// The isolation level of all transactions.
    pub(crate) isolation: Option<Isolation>,
}

/// Sessions that pgdyno itself needs beside the clients: audits, loading, and
/// those that a server keeps for its superuser.
const SPARE_CONNECTIONS: u32 = 40;

/// How long a server that says that it is starting up is waited for, for the
/// sake of the audits. Recovery after a crash takes as long as half a
/// checkpoint's worth of WAL; more is nothing to wait for without a word.
const COME_BACK_MAX: Duration = Duration::from_secs(60);

/// Of several hosts one may be gone and answer nothing.
const OWN_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How often such a server is asked.
const COME_BACK_LOOK: Duration = Duration::from_millis(200);

/// The server is starting, recovering or stopping (PostgreSQL manual,
/// Appendix A).
const CANNOT_CONNECT_NOW: &str = "57P03";

/// An open target. Dropping it stops an embedded server.
pub(crate) struct Opened {
    pub(crate) name: Option<String>,
    pub(crate) endpoints: Vec<Arc<ConnectContext>>,
    /// What the endpoints are made from, in the same order.
    pub(crate) options: Vec<Options>,
    pub(crate) dialect: &'static dyn Dialect,
    /// How tables are made, where a person chose it.
    pub(crate) table_params: Vec<(String, String)>,
    pub(crate) detected: Detected,
    pub(crate) is_embedded: bool,
    /// What the person typed, for commands that are suggested.
    pub(crate) word: String,
    pub(crate) server: Option<EmbeddedServer>,
    /// All endpoints as one, for pgdyno's own sessions: the first that works.
    own: Option<Arc<ConnectContext>>,
    /// What was asked for with `--set`.
    pub(crate) session_settings: BTreeMap<String, String>,
}

impl Opened {
    /// Resolves the target, starts the embedded server where it is that, and
    /// asks the server what it is.
    pub(crate) fn open(
        args: &TargetArgs,
        wishes: Wishes,
        terminal: &Terminal,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let word = args.target.as_deref();
        let settings = args.login.settings.as_slice();
        for (name, value) in settings {
            pgdyno_record::redact::hold_back(name, value);
        }
        let found = found(args)?;
        for warning in &found.warnings {
            terminal.warn(&warning.to_string());
        }
        match &found.why {
            why @ Why::Environment { .. } => {
                terminal.say(&format!("{}.", capital(&why.to_string())));
            }
            why @ Why::EmbeddedByDefault => {
                terminal.say(&format!("{}: embedded.", capital(&why.to_string())));
            }
            _ => {}
        }
        let opened = match found.place {
            Place::Server(target) => {
                if args.no_fsync {
                    terminal.warn("--no-fsync concerns the embedded server only");
                }
                let name = matches!(found.why, Why::Named { .. }).then(|| target.name.clone());
                Self::reach(&target, name, None, word, settings, wishes, stop)
            }
            Place::Embedded => {
                let server = start_embedded(args.no_fsync, wishes.clients, terminal, stop)?;
                let target = server.target();
                let name = Some(target.name.clone());
                Self::reach(&target, name, Some(server), word, settings, wishes, stop)
            }
        }?;
        if let Some(isolation) = wishes.isolation {
            opened.confirm_isolation(isolation, terminal, stop)?;
        }
        Ok(opened)
    }

    /// Reads the level back: some servers run another one than was asked for,
    /// without a word.
    fn confirm_isolation(
        &self,
        asked: Isolation,
        terminal: &Terminal,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), Failure> {
        let Some(query) = self.dialect.effective_isolation_query() else { return Ok(()) };
        // A server that cannot say is no reason not to run.
        let Ok(results) = self.connect(stop)?.simple_query(query) else { return Ok(()) };
        let effective = results.last().and_then(|result| result.get(0, 0)).unwrap_or_default();
        if !effective.is_empty() && !effective.eq_ignore_ascii_case(&asked.to_string()) {
            terminal.warn(&format!(
                "{asked} was asked for, but {} runs transactions at {effective}",
                self.dialect.title()
            ));
        }
        Ok(())
    }

    fn reach(
        target: &Target,
        name: Option<String>,
        server: Option<EmbeddedServer>,
        word: Option<&str>,
        settings: &[(String, String)],
        wishes: Wishes,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let mut options = target.options.clone();
        for one in &mut options {
            one.application_name.get_or_insert_with(|| "pgdyno".to_owned());
        }
        if let Some(dialect) = target.dialect.or_else(|| by_host(&options)) {
            settings::check(dialect, &options).map_err(Failure::usage)?;
            check_settings(dialect, settings)?;
        }
        let mut opened = Self {
            name,
            endpoints: contexts(&options)?,
            options,
            dialect: pgdyno_target::postgres(),
            table_params: Vec::new(),
            detected: unknown(),
            is_embedded: server.is_some(),
            word: word.unwrap_or_default().to_owned(),
            server,
            own: None,
            session_settings: BTreeMap::new(),
        };
        let mut connection = opened.connect(stop)?;
        opened.detected =
            detect(&mut connection).map_err(|error| Failure::not_completed(error.to_string()))?;
        opened.dialect = target.dialect.unwrap_or(opened.detected.dialect);
        opened.set(settings)?;
        if let Some(isolation) = wishes.isolation {
            opened.isolate(isolation)?;
        }
        Ok(opened)
    }

    /// All further sessions begin with these. As parameters of their start they
    /// cost no round trip, and hold for every session that a client opens.
    fn set(&mut self, settings: &[(String, String)]) -> Result<(), Failure> {
        if settings.is_empty() {
            return Ok(());
        }
        check_settings(self.dialect, settings)?;
        for one in &mut self.options {
            one.runtime_params.extend_from_slice(settings);
        }
        self.session_settings = settings.iter().cloned().collect();
        self.endpoints = contexts(&self.options)?;
        self.own = None;
        Ok(())
    }

    /// All further sessions run at this level. How that is said, and whether it
    /// may be said at all, is known only with the dialect.
    fn isolate(&mut self, isolation: Isolation) -> Result<(), Failure> {
        let setting = self.dialect.isolation_setting(isolation).map_err(Failure::usage)?;
        let Some((name, value)) = setting else { return Ok(()) };
        for one in &mut self.options {
            one.runtime_params.push((name.to_owned(), value.clone()));
        }
        self.endpoints = contexts(&self.options)?;
        self.own = None;
        Ok(())
    }

    /// Where pgdyno's own sessions go: to the first host that works of all
    /// endpoints.
    pub(crate) fn own(&self) -> Result<Arc<ConnectContext>, Failure> {
        if let Some(own) = &self.own {
            return Ok(Arc::clone(own));
        }
        match self.endpoints.as_slice() {
            [one] => Ok(Arc::clone(one)),
            _ => merged(&self.options),
        }
    }

    /// From now on pgdyno's own sessions may go to these endpoints as well.
    pub(crate) fn widen(&mut self, more: &[Options]) -> Result<(), Failure> {
        let all: Vec<Options> = self.options.iter().chain(more).cloned().collect();
        self.own = Some(merged(&all)?);
        Ok(())
    }

    /// A session of pgdyno's own. It gives up once `stop` is set.
    pub(crate) fn connect(&self, stop: &Arc<AtomicBool>) -> Result<Connection, Failure> {
        let own = self.own()?;
        Connection::connect_interruptible(&own, Some(Arc::clone(stop)))
            .map_err(|error| failure::connecting(&error))
    }

    /// As [`Opened::connect`], for what a run can do without: a host that
    /// answers nothing is given up after `max`, and no flag is looked at.
    pub(crate) fn connect_within(&self, max: Duration) -> Result<Connection, Failure> {
        let mut options = self.own()?.options().clone();
        options.connect_timeout = Some(options.connect_timeout.map_or(max, |own| own.min(max)));
        let contexts = contexts(&[options])?;
        let context = contexts.first().ok_or_else(|| Failure::not_completed("no endpoint"))?;
        Connection::connect(context).map_err(|error| failure::connecting(&error))
    }

    /// As [`Opened::connect`], but a server that is starting over after a crash
    /// is waited for, at most [`COME_BACK_MAX`]. One that is gone is not.
    pub(crate) fn connect_again(
        &self,
        terminal: &Terminal,
        stop: &Arc<AtomicBool>,
    ) -> Result<Connection, Failure> {
        let own = self.own()?;
        let begin = Instant::now();
        let mut told = false;
        loop {
            let error = match Connection::connect_interruptible(&own, Some(Arc::clone(stop))) {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            };
            let may_come = error.sqlstate().is_some_and(|code| code.as_str() == CANNOT_CONNECT_NOW);
            if !may_come || begin.elapsed() > COME_BACK_MAX {
                return Err(failure::connecting(&error));
            }
            if !std::mem::replace(&mut told, true) {
                terminal.say("Waiting for the server to take connections again …");
            }
            std::thread::sleep(COME_BACK_LOOK);
        }
    }

    /// What the server is, for people.
    pub(crate) fn detected_title(&self) -> String {
        let title = self.dialect.title();
        match self.detected.version_num {
            Some(num) if num >= 100_000 => {
                format!("{title} {}.{}", num / 10_000, num % 10_000)
            }
            _ => title.to_owned(),
        }
    }

    /// The embedded server, ended; nothing to do for others.
    pub(crate) fn close(self, terminal: &Terminal) {
        if let Some(server) = self.server
            && let Err(error) = server.stop()
        {
            terminal.warn(&format!("the embedded server did not stop in order: {error}"));
        }
    }
}

/// One set of options with the hosts of all, each once.
fn merged(options: &[Options]) -> Result<Arc<ConnectContext>, Failure> {
    let mut all = options.iter().cloned();
    let Some(mut one) = all.next() else {
        return Err(Failure::usage("the target has no endpoint"));
    };
    for host in all.flat_map(|other| other.hosts) {
        if !one.hosts.contains(&host) {
            one.hosts.push(host);
        }
    }
    if one.hosts.len() > 1 {
        one.connect_timeout.get_or_insert(OWN_CONNECT_TIMEOUT);
    }
    ConnectContext::new(&one).map_err(|error| failure::connecting(&error))
}

pub(crate) fn contexts(options: &[Options]) -> Result<Vec<Arc<ConnectContext>>, Failure> {
    options
        .iter()
        .map(|one| ConnectContext::new(one).map_err(|error| failure::connecting(&error)))
        .collect()
}

/// The dialect that all hosts' names give away.
fn by_host(options: &[Options]) -> Option<&'static dyn Dialect> {
    let mut hosts = options.iter().flat_map(|one| &one.hosts);
    let dialect = dialect_by_host(&hosts.next()?.name)?;
    hosts.all(|host| dialect.owns_host(&host.name)).then_some(dialect)
}

fn check_settings(dialect: &dyn Dialect, settings: &[(String, String)]) -> Result<(), Failure> {
    settings
        .iter()
        .try_for_each(|(name, _)| dialect.check_setting(name))
        .map_err(|reason| Failure::usage(format!("--set: {reason}")))
}

/// True where the words mean the throw-away server.
pub(crate) fn is_embedded(args: &TargetArgs) -> Result<bool, Failure> {
    Ok(matches!(found(args)?.place, Place::Embedded))
}

fn found(args: &TargetArgs) -> Result<Resolved, Failure> {
    let folder = std::env::current_dir()
        .map_err(|e| Failure::usage(format!("cannot tell the working folder: {e}")))?;
    let login = args.login.login();
    let around = Surroundings {
        config_file: args.config.as_deref(),
        dialect: args.dialect.as_deref(),
        login: Some(&login),
        folder: &folder,
        env: &ProcessEnv,
    };
    resolve::resolve(args.target.as_deref(), &around).map_err(Failure::usage)
}

fn unknown() -> Detected {
    Detected {
        dialect: pgdyno_target::postgres(),
        known: false,
        version: String::new(),
        version_num: None,
        how: String::new(),
    }
}

fn start_embedded(
    no_fsync: bool,
    clients: u32,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<EmbeddedServer, Failure> {
    let config = EmbeddedConfig {
        no_fsync,
        max_connections: clients.saturating_add(SPARE_CONNECTIONS).max(100),
        cancel: Some(Arc::clone(stop)),
        ..EmbeddedConfig::default()
    };
    terminal.say("Starting a throw-away PostgreSQL …");
    let server = EmbeddedServer::start(&config).map_err(|error| {
        if stop.load(Ordering::Relaxed) {
            Failure::not_completed("interrupted while the embedded server was starting")
        } else {
            Failure::not_completed(error)
        }
    })?;
    let durability = if no_fsync { "durability OFF" } else { "durability on" };
    let tcp = server.options_tcp();
    let port = tcp.hosts.first().map_or(0, |host| host.port);
    terminal.say(&format!(
        "  PostgreSQL {} from {}, port {port} and a Unix socket, {durability}",
        server.installation().version,
        server.installation().bin_dir.display(),
    ));
    if server.is_in_memory() {
        terminal.warn(
            "the server's folder is in memory (tmpfs), so commits wait for no disk; set TMPDIR to \
             a folder on a disk",
        );
    }
    Ok(server)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
