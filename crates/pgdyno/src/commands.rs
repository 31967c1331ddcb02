//! What each subcommand calls, and the exit code.

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue};
use pgdyno_record::redact::MASK;

use crate::cli::{Cli, Command};
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{audit, demo, detect, emulate, init, run, size, workloads};

/// Parses the command line and does what it says. Gives back the exit code.
#[must_use]
pub fn main(built_for_speed: bool) -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            mask_setting(&mut error);
            // A closed pipe is the only way for this to fail.
            let _ = error.print();
            return u8::from(error.use_stderr());
        }
    };
    let terminal = Terminal::look(cli.quiet);
    if !built_for_speed {
        terminal.say("note: this pgdyno was built without optimisation; its own cost is too high");
    }
    let done = match cli.command {
        Command::Demo(args) => demo::demo(&args, &terminal),
        Command::Init(args) => init::init(&args, &terminal),
        Command::Workloads(args) => workloads::run(&args, &terminal),
        Command::Size(args) => size::size(&args, &terminal),
        Command::Detect(args) => detect::detect(&args, &terminal),
        Command::Audit(args) => audit::audit(&args, &terminal),
        Command::Run(args) => run::run(&args, &terminal),
        Command::Emulate(args) => emulate::emulate(&args, &terminal),
        Command::Pgbench { args } => return crate::pgbench::main(&"pgbench".into(), args),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => {
            tell(&failure, &terminal);
            failure.exit_code()
        }
    }
}

/// A setting that was not understood may be a secret.
fn mask_setting(error: &mut clap::Error) {
    let is_setting =
        error.get(ContextKind::InvalidArg).is_some_and(|arg| arg.to_string().starts_with("--set "));
    if is_setting && error.get(ContextKind::InvalidValue).is_some() {
        let mask = ContextValue::String(MASK.to_owned());
        error.insert(ContextKind::InvalidValue, mask);
    }
}

fn tell(failure: &Failure, terminal: &Terminal) {
    if !failure.told {
        terminal.error(failure.to_string().trim_end());
    }
}
