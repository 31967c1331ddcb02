//! `pgdyno init`: makes and loads the tables of a workload.

use std::num::NonZeroU32;

use pgdyno_workload::{Choice, make};

use crate::cli::InitArgs;
use crate::failure::Failure;
use crate::opened::{Opened, Wishes};
use crate::terminal::Terminal;
use crate::{filling, signals};

/// Makes the tables anew and fills them.
pub(crate) fn init(args: &InitArgs, terminal: &Terminal) -> Result<(), Failure> {
    let stop = signals::stop_flag().map_err(Failure::not_completed)?;
    let choice =
        Choice { name: &args.workload.workload, scale: args.scale, params: &args.workload.params };
    let workload = make(&choice).map_err(Failure::usage)?;
    let wishes = Wishes { clients: args.jobs, isolation: None };
    let opened = Opened::open(&args.target, wishes, terminal, &stop)?;
    if opened.is_embedded {
        terminal.warn(
            "the embedded server is gone when this ends, and the tables with it; \
             \"pgdyno run embedded\" loads by itself",
        );
    }
    let jobs = NonZeroU32::new(args.jobs).unwrap_or(NonZeroU32::MIN);
    filling::fill(&opened, workload.as_ref(), jobs, args.seed, terminal, &stop)?;
    opened.close(terminal);
    Ok(())
}
