//! `pgdyno detect`: says what a target is, how that is known, and what is done
//! differently for it.

use pgdyno_target::dialect::{Difference, Isolation};
use serde::Serialize;

use crate::cli::DetectArgs;
use crate::failure::Failure;
use crate::opened::{Opened, Wishes};
use crate::terminal::Terminal;
use crate::{endpoints, signals};

/// What is printed; the names are those of the JSON.
#[derive(Debug, Serialize)]
struct Told {
    dialect: &'static str,
    title: &'static str,
    /// False where the dialect was asked for, or is only assumed.
    recognised: bool,
    version: String,
    how: String,
    endpoints: Vec<String>,
    /// What the target itself tells of, and where.
    endpoints_told: Vec<String>,
    endpoints_told_by: Option<&'static str>,
    isolation_levels: Vec<String>,
    isolation_in_effect: Option<String>,
    limits: Vec<String>,
    differences: Vec<ToldDifference>,
}

#[derive(Debug, Serialize)]
struct ToldDifference {
    what: &'static str,
    why: &'static str,
    source: &'static str,
    verified: bool,
}

/// Connects, asks, and prints.
pub(crate) fn detect(args: &DetectArgs, terminal: &Terminal) -> Result<(), Failure> {
    let stop = signals::stop_flag().map_err(Failure::not_completed)?;
    let opened = Opened::open(&args.target, Wishes::default(), terminal, &stop)?;
    let mut told = tell(&opened);
    if let Some((by, endpoints)) = endpoints::told_by_target(&opened, &stop) {
        (told.endpoints_told_by, told.endpoints_told) = (Some(by), endpoints);
    }
    if let Some(query) = opened.dialect.effective_isolation_query()
        && let Ok(results) = opened.connect(&stop)?.simple_query(query)
    {
        told.isolation_in_effect =
            results.last().and_then(|result| result.get(0, 0)).map(str::to_owned);
    }
    let text = if args.json {
        let json = serde_json::to_string_pretty(&told)
            .map_err(|e| Failure::not_completed(format!("could not write the JSON: {e}")))?;
        format!("{json}\n")
    } else {
        shown(&told)
    };
    opened.close(terminal);
    terminal.result(&text);
    Ok(())
}

fn tell(opened: &Opened) -> Told {
    let (dialect, detected) = (opened.dialect, &opened.detected);
    let as_found = detected.dialect.name() == dialect.name();
    let how = if as_found {
        detected.how.clone()
    } else {
        format!(
            "it was asked for; the server itself was taken for {}: {}",
            detected.dialect.name(),
            detected.how
        )
    };
    let hosts = |options: &pgdyno_wire::options::Options| {
        let hosts: Vec<String> = options.hosts.iter().map(ToString::to_string).collect();
        hosts.join(",")
    };
    Told {
        dialect: dialect.name(),
        title: dialect.title(),
        recognised: as_found && detected.known,
        version: detected.version.clone(),
        how,
        endpoints: opened.options.iter().map(hosts).collect(),
        endpoints_told: Vec::new(),
        endpoints_told_by: None,
        isolation_levels: dialect.isolation_levels().iter().map(Isolation::to_string).collect(),
        isolation_in_effect: None,
        limits: limits(opened),
        differences: dialect.differences().iter().map(difference).collect(),
    }
}

fn difference(one: &Difference) -> ToldDifference {
    let Difference { what, why, source, verified } = *one;
    ToldDifference { what, why, source, verified }
}

fn limits(opened: &Opened) -> Vec<String> {
    let of_transaction = opened.dialect.transaction_limits();
    let of_connections = opened.dialect.connection_limits();
    let mut all = Vec::new();
    let mut add = |value: Option<u64>, words: &str| {
        all.extend(value.map(|value| format!("{value} {words}")));
    };
    add(of_transaction.rows, "rows changed in a transaction");
    add(of_transaction.bytes, "bytes written in a transaction");
    add(of_transaction.age.map(|age| age.as_secs()), "s from begin to end of a transaction");
    add(of_transaction.ddl_statements.map(u64::from), "DDL statement in a transaction");
    add(of_connections.per_second.map(u64::from), "new connections a second");
    add(of_connections.burst.map(u64::from), "new connections at once");
    add(of_connections.session_age.map(|age| age.as_secs()), "s of a session");
    all
}

fn shown(told: &Told) -> String {
    let mut out = format!("{} ({})\n", told.title, told.dialect);
    let mut line = |name: &str, value: &str| {
        out.push_str(&format!("  {name:<18} {value}\n"));
    };
    line("version", &told.version);
    line("how it is known", &told.how);
    for endpoint in &told.endpoints {
        line("endpoint", endpoint);
    }
    for endpoint in &told.endpoints_told {
        let by = told.endpoints_told_by.unwrap_or_default();
        line("told of", &format!("{endpoint} (by {by})"));
    }
    let levels = told.isolation_levels.iter().enumerate().map(|(number, level)| {
        if number == 0 { format!("{level} (default)") } else { level.clone() }
    });
    line("isolation levels", &levels.collect::<Vec<_>>().join(", "));
    if let Some(level) = &told.isolation_in_effect {
        line("level in effect", level);
    }
    for limit in &told.limits {
        line("limit", limit);
    }
    if told.differences.is_empty() {
        out.push_str("Nothing is done differently than for PostgreSQL.\n");
        return out;
    }
    out.push_str("What is done differently than for PostgreSQL:\n");
    for one in &told.differences {
        let doubt = if one.verified { "" } else { " (in doubt)" };
        out.push_str(&format!("  - {}\n    {}{doubt}; {}\n", one.what, one.why, one.source));
    }
    out
}
