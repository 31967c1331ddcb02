//! `pgdyno demo`: the whole way once, on a server of its own.

use std::time::Duration;

use crate::cli::{
    AuditWhat, BackoffArg, DemoArgs, EndpointArgs, LoadArgs, OutputArgs, PollerArg, ProtocolArg,
    ResetWhen, RetryArgs, RunArgs, TargetArgs, TargetStatsArg, WorkloadArgs,
};
use crate::failure::Failure;
use crate::login::LoginArgs;
use crate::run;
use crate::terminal::Terminal;

/// Time for caches and connections to settle before anything counts.
const WARMUP: Duration = Duration::from_secs(2);

/// Runs `tpcb` on an embedded server: `pgdyno run embedded` with the demo's sizes.
pub(crate) fn demo(args: &DemoArgs, terminal: &Terminal) -> Result<(), Failure> {
    run::run(&as_run(args), terminal)
}

fn as_run(args: &DemoArgs) -> RunArgs {
    RunArgs {
        target: TargetArgs {
            target: Some("embedded".to_owned()),
            config: None,
            dialect: None,
            no_fsync: args.no_fsync,
            login: LoginArgs::default(),
        },
        workload: WorkloadArgs { workload: "tpcb".to_owned(), params: Vec::new() },
        load: LoadArgs {
            clients: args.clients,
            workers: None,
            time: Some(args.time),
            transactions: None,
            warmup: WARMUP,
            ramp: std::time::Duration::ZERO,
            rate: None,
            rate_steady: false,
            timer_slack: std::time::Duration::ZERO,
            poller: PollerArg::Auto,
            latency_limit: None,
            protocol: ProtocolArg::Prepared,
            reconnect: false,
            isolation: None,
            seed: None,
        },
        endpoints: EndpointArgs::default(),
        retry: RetryArgs {
            max_tries: 1,
            retry_backoff: BackoffArg(None),
            continue_on_error: false,
        },
        output: OutputArgs { json: args.output.json.clone(), records: args.output.records.clone() },
        scripts: Vec::new(),
        defines: Vec::new(),
        scale: Some(args.scale),
        reset: ResetWhen::Never,
        audit: AuditWhat::Auto,
        no_audit: false,
        target_stats: TargetStatsArg::Auto,
        strict: false,
    }
}
