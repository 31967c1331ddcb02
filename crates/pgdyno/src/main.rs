//! The command line of pgdyno: which face is wanted, and its exit code.

use std::process::ExitCode;

/// A load generator that is built without optimisation measures itself.
const BUILT_FOR_SPEED: bool = !cfg!(debug_assertions);

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let argv0 = args.next().unwrap_or_else(|| "pgdyno".into());
    let rest: Vec<_> = args.collect();
    let called_pgbench =
        std::path::Path::new(&argv0).file_name().is_some_and(|name| name == "pgbench");
    if called_pgbench {
        return ExitCode::from(pgdyno::pgbench::main(&argv0, rest));
    }
    if rest.first().is_some_and(|word| word == "pgbench") {
        return ExitCode::from(pgdyno::pgbench::main(&"pgbench".into(), rest.into_iter().skip(1)));
    }
    ExitCode::from(pgdyno::commands::main(BUILT_FOR_SPEED))
}
