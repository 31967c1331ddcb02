//! `pgdyno emulate`: a stand-in for a database that one has not got.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords, sample_token};
use pgdyno_target::embedded::{EmbeddedConfig, EmbeddedServer};
use pgdyno_target::resolve::{self, Place, Surroundings};
use pgdyno_wire::conninfo::ProcessEnv;
use pgdyno_wire::options::Options;

use crate::cli::{EmulateArgs, Emulated};
use crate::failure::Failure;
use crate::signals;
use crate::terminal::Terminal;

/// Sessions of the embedded server: beyond them a client is told that there
/// are too many. Each costs a process.
const EMBEDDED_CONNECTIONS: u32 = 500;

/// How often the flag of Ctrl-C is looked at.
const STOP_LOOK: Duration = Duration::from_millis(100);

/// How long the token that is printed is accepted: a day's work.
const TOKEN_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Starts the emulator and serves until Ctrl-C.
pub(crate) fn emulate(args: &EmulateArgs, terminal: &Terminal) -> Result<(), Failure> {
    let Emulated::AuroraDsql = args.database;
    let stop = signals::stop_flag().map_err(Failure::not_completed)?;
    let (upstream, mut server) = upstream(args, terminal, &stop)?;
    let emulator = Emulator::start(config(args, upstream)).map_err(Failure::not_completed)?;
    announce(args, &emulator, terminal);
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(STOP_LOOK);
        if server.as_mut().is_some_and(|server| !server.is_running()) {
            return Err(Failure::not_completed("the embedded server has ended by itself"));
        }
    }
    drop(emulator);
    server.map_or(Ok(()), |server| server.stop().map_err(Failure::not_completed))
}

fn config(args: &EmulateArgs, upstream: Options) -> Config {
    let encryption = if args.no_tls {
        Encryption::Off
    } else {
        Encryption::Required { names: args.names.clone(), certificate: args.certificate.clone() }
    };
    Config {
        listen: args.listen,
        upstream,
        encryption,
        passwords: if args.any_password { Passwords::Any } else { Passwords::Token },
        limits: Limits {
            connections_per_second: args.connection_rate,
            connections_burst: args.connection_burst,
            connections_max: args.connections,
            round_trip: args.latency,
            ..Limits::default()
        },
    }
}

/// The server behind, and its owner where it is an embedded one.
fn upstream(
    args: &EmulateArgs,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<(Options, Option<EmbeddedServer>), Failure> {
    let around = Surroundings {
        config_file: None,
        dialect: None,
        login: None,
        folder: Path::new("."),
        env: &ProcessEnv,
    };
    let found = resolve::resolve(Some(&args.upstream), &around).map_err(Failure::usage)?;
    for warning in &found.warnings {
        terminal.warn(&warning.to_string());
    }
    if let Place::Server(target) = found.place {
        let options = target.options.into_iter().next();
        return options
            .map(|options| (options, None))
            .ok_or_else(|| Failure::usage(format!("{} names no server", args.upstream)));
    }
    terminal.say("Starting a throw-away PostgreSQL …");
    let config = EmbeddedConfig {
        // Nothing here outlives the command, and no figure speaks for a disk.
        no_fsync: true,
        max_connections: EMBEDDED_CONNECTIONS,
        cancel: Some(Arc::clone(stop)),
        ..EmbeddedConfig::default()
    };
    let server = EmbeddedServer::start(&config).map_err(Failure::not_completed)?;
    Ok((server.options_unix(), Some(server)))
}

/// Says how to connect. The address is the result; all else is for people.
fn announce(args: &EmulateArgs, emulator: &Emulator, terminal: &Terminal) {
    let port = emulator.address().port();
    let ssl = match emulator.certificate() {
        Some(path) => format!("sslmode=verify-full&sslrootcert={}", path.display()),
        None => "sslmode=disable".to_owned(),
    };
    terminal
        .say("Behaving as Aurora DSQL: its rules, limits and conflicts; not its speed or scale.");
    if args.any_password {
        terminal.say("Any password is taken.");
    } else {
        let token = sample_token("localhost", TOKEN_LIFETIME);
        terminal.say("The password is a token, whose signature is not checked. One for a day:");
        terminal.say(&format!("  export PGPASSWORD='{token}'"));
    }
    terminal.say("Ctrl-C ends it. Connect to:");
    terminal.result(&format!("postgresql://admin@localhost:{port}/postgres?{ssl}\n"));
}
