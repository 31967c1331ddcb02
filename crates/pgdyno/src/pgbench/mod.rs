//! The pgbench face: the same options, messages, outputs and exit codes.
//!
//! A command line goes through two levels ([`typed`], [`plan`]) and then
//! either fills tables ([`init`]) or runs ([`run`]). Whoever calls this need
//! not know which.

pub mod cnum;
pub mod getopt;
pub mod init;
mod interrupt;
pub mod message;
pub mod options;
pub mod plan;
mod prompt;
pub mod run;
pub mod scripts;
pub mod session;
pub mod setup;
pub mod summary;
pub mod typed;
pub mod watch;

use std::ffi::OsString;
use std::io::Write;

use message::{Fatal, Level, Messages};
use plan::{PgbenchPlan, Task};
use scripts::Library;
use session::Server;
use typed::Typed;

/// The release of pgbench that this face behaves as. Its output is what this
/// release prints; a banner names it, and the server's too where that differs.
pub const PGBENCH_VERSION: &str = "18.6";

/// The same as PostgreSQL's `server_version_num`.
pub const PGBENCH_VERSION_NUM: u32 = 180_006;

/// The exit code of a run in which a client was aborted.
const EXIT_ABORTED: u8 = 2;

/// What `--version` prints. It begins as pgbench's does, which is what scripts
/// look at, and says in parentheses what it is, as distributions' packages do.
#[must_use]
pub fn version_line(program: &str) -> String {
    format!("{program} (PostgreSQL) {PGBENCH_VERSION} (pgdyno {})", env!("CARGO_PKG_VERSION"))
}

/// Runs as pgbench. `argv0` is how it was called, `args` what follows.
/// Gives back the exit code.
#[must_use]
pub fn main(argv0: &OsString, args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let mut messages = Messages::from_argv0(argv0);
    // Only as the very first argument; elsewhere they are unknown options.
    match args.first().and_then(|first| first.to_str()) {
        Some("--help" | "-?") => return print(&options::help(messages.program())),
        Some("--version" | "-V") => {
            return print(&format!("{}\n", version_line(messages.program())));
        }
        _ => {}
    }
    match serve(args, &mut messages) {
        Ok(code) => code,
        Err(fatal) => {
            messages.fatal(&fatal);
            fatal.code
        }
    }
}

fn serve(args: Vec<OsString>, messages: &mut Messages) -> Result<u8, Fatal> {
    let mut library = Library::default();
    let typed = Typed::read(args, messages, &mut library)?;
    let plan = PgbenchPlan::make(typed, &mut library, &messages.try_help())?;
    match plan.task {
        Task::Initialize(init) => {
            let mut server = resolve(&plan.connection, "initialization", messages)?;
            init::initialize(&mut server, &init, messages)?;
            Ok(0)
        }
        Task::Run(bench) => {
            let mut server = resolve(&plan.connection, "setup", messages)?;
            run::run(&mut server, &bench, library, messages)
        }
    }
}

/// `purpose` is what the connection is for, as the message of its failure says.
fn resolve(
    connection: &plan::Connection,
    purpose: &str,
    messages: &Messages,
) -> Result<Server, Fatal> {
    Server::resolve(connection, messages.program(), messages)
        .map_err(|text| connection_failed(text, purpose))
}

fn connection_failed(text: String, purpose: &str) -> Fatal {
    Fatal::new(text).with(Level::Error, format!("could not create connection for {purpose}"))
}

fn print(text: &str) -> u8 {
    // A reader that went away is no failure of ours.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    0
}
