//! `pgdyno init`: makes and loads the tables of a workload.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_engine::load;
use pgdyno_target::dialect::LoadMethod;
use pgdyno_target::{Dialect, dialect_by_name, postgres};
use pgdyno_workload::{Choice, Workload, make};

use crate::cli::{InitArgs, InitAudit, LoadMethodArg};
use crate::failure::Failure;
use crate::opened::{self, Opened, Wishes};
use crate::terminal::Terminal;
use crate::{catalog, dry_run, filling, full_check, signals, size, table_params};

/// Rows of one INSERT, and single INSERTs of one transaction. Advice for
/// distributed databases goes from 128 to 2,000; beyond some hundred the round
/// trip no longer counts.
const INSERT_ROWS: u32 = 500;

/// Makes the tables anew and fills them.
pub(crate) fn init(args: &InitArgs, terminal: &Terminal) -> Result<(), Failure> {
    let stop = signals::stop_flag().map_err(Failure::not_completed)?;
    let params = table_params::of_workload(&args.workload);
    let choice = Choice { name: &args.workload.workload, scale: args.scale, params: &params };
    let workload = make(&choice).map_err(Failure::usage)?;
    if args.dry_run {
        return show(args, workload.as_ref(), terminal, &stop);
    }
    let mut opened = Opened::open(&args.target, wishes(args), terminal, &stop)?;
    opened.table_params = table_params::of_tables(&args.workload);
    if opened.is_embedded {
        terminal.warn(
            "the embedded server is gone when this ends, and the tables with it; \
             \"pgdyno run embedded\" loads by itself",
        );
    }
    let wanted = filling::Wanted {
        jobs: jobs(args),
        seed: args.seed,
        method: method(args),
        resume: args.resume,
        can_resume: !opened.is_embedded,
    };
    filling::fill_by(&opened, workload.as_ref(), wanted, terminal, &stop)?;
    size::compare(&opened, workload.as_ref(), terminal, &stop)?;
    catalog::compare(&opened, workload.as_ref(), terminal, &stop)?;
    if args.audit == InitAudit::Full {
        full_check::ask(&opened, workload.as_ref(), jobs(args), terminal, &stop)?;
    }
    opened.close(terminal);
    Ok(())
}

fn wishes(args: &InitArgs) -> Wishes {
    Wishes { clients: args.jobs, isolation: None }
}

fn jobs(args: &InitArgs) -> NonZeroU32 {
    NonZeroU32::new(args.jobs).unwrap_or(NonZeroU32::MIN)
}

fn method(args: &InitArgs) -> Option<LoadMethod> {
    args.load_method.map(|method| match method {
        LoadMethodArg::Copy => LoadMethod::Copy,
        LoadMethodArg::Insert => LoadMethod::Insert { rows_per_statement: INSERT_ROWS },
        LoadMethodArg::InsertSingle => {
            LoadMethod::InsertSingle { rows_per_transaction: INSERT_ROWS }
        }
        LoadMethodArg::Server => LoadMethod::Server,
    })
}

/// Prints what would be sent. Connects only where the server has to say what
/// it is.
fn show(
    args: &InitArgs,
    workload: &dyn Workload,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let (dialect, version_num): (&'static dyn Dialect, _) = match &args.target.dialect {
        Some(name) => {
            (dialect_by_name(name).map_err(|e| Failure::usage(format!("--dialect: {e}")))?, None)
        }
        None if opened::is_embedded(&args.target)? => (postgres(), None),
        None => {
            let opened = Opened::open(&args.target, wishes(args), terminal, stop)?;
            (opened.dialect, opened.detected.version_num)
        }
    };
    let dialect =
        table_params::applied(dialect, workload, &table_params::of_tables(&args.workload))?;
    workload.check(dialect).map_err(Failure::usage)?;
    let (method, jobs, seed, resume) = (method(args), jobs(args), args.seed, args.resume);
    let how = load::How { workload, dialect, method, jobs, seed, resume };
    let planned = load::planned(&how, version_num);
    terminal.result(&dry_run::text(workload, dialect, &planned));
    Ok(())
}
