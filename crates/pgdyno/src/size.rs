//! `pgdyno size`: which scale has the size that is wanted, per kind of
//! database; and whether loaded tables have the size that was expected.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_report::format;
use pgdyno_target::{Dialect, dialect_by_name, dialects};
use pgdyno_workload::size::{self, Expected};
use pgdyno_workload::{Choice, Workload, make};
use serde::Serialize;

use crate::cli::SizeArgs;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::table_params;
use crate::terminal::Terminal;

/// A kind of database with what was found for it; the names are those of the
/// JSON.
#[derive(Debug, Serialize)]
struct Row {
    dialect: &'static str,
    scale: u64,
    bytes: u64,
    bytes_per_unit: u64,
    basis: &'static str,
    basis_words: &'static str,
    tolerance: f64,
}

#[derive(Debug, Serialize)]
struct Told {
    workload: String,
    ram_bytes: Option<u64>,
    cached: Option<f64>,
    usable: Option<f64>,
    /// What the data is to take.
    data_bytes: Option<u64>,
    sizes: Vec<Row>,
}

/// Computes and prints.
pub(crate) fn size(args: &SizeArgs, terminal: &Terminal) -> Result<(), Failure> {
    let wanted = wanted_dialects(args)?;
    let data = args.ram.map(|ram| (ram as f64 * args.usable / args.cached) as u64);
    let mut sizes = Vec::new();
    for dialect in wanted {
        sizes.push(row(args, dialect, data)?);
    }
    let given = args.ram.is_some();
    let told = Told {
        workload: args.workload.workload.clone(),
        ram_bytes: args.ram,
        cached: given.then_some(args.cached),
        usable: given.then_some(args.usable),
        data_bytes: data,
        sizes,
    };
    let text = if args.json {
        let json = serde_json::to_string_pretty(&told)
            .map_err(|e| Failure::not_completed(format!("could not write the JSON: {e}")))?;
        format!("{json}\n")
    } else {
        shown(&told)
    };
    terminal.result(&text);
    Ok(())
}

fn wanted_dialects(args: &SizeArgs) -> Result<Vec<&'static dyn Dialect>, Failure> {
    match &args.dialect {
        Some(name) => dialect_by_name(name)
            .map(|dialect| vec![dialect])
            .map_err(|error| Failure::usage(format!("--dialect: {error}"))),
        None => Ok(dialects().iter().rev().copied().collect()),
    }
}

fn row(args: &SizeArgs, dialect: &'static dyn Dialect, data: Option<u64>) -> Result<Row, Failure> {
    let params = table_params::of_workload(&args.workload);
    let (name, params) = (args.workload.workload.as_str(), params.as_slice());
    let unknown = || {
        Failure::usage(format!(
            "the size of workload \"{name}\" is not known\nhint: load it at a small scale and \
             look at its tables"
        ))
    };
    let sized = size::scale_for(name, params, dialect, data.unwrap_or(0))
        .map_err(Failure::usage)?
        .ok_or_else(unknown)?;
    let (scale, expected) = match args.scale {
        Some(scale) => {
            let workload = make(&Choice { name, scale, params }).map_err(Failure::usage)?;
            (scale, size::expected(workload.as_ref(), dialect).ok_or_else(unknown)?)
        }
        None => (sized.scale, sized.expected),
    };
    Ok(Row {
        dialect: dialect.name(),
        scale,
        bytes: expected.bytes,
        bytes_per_unit: sized.unit_bytes,
        basis: expected.basis.word(),
        basis_words: expected.basis.words(),
        tolerance: expected.basis.tolerance(),
    })
}

fn shown(told: &Told) -> String {
    let mut out = String::new();
    if let (Some(ram), Some(cached), Some(usable), Some(data)) =
        (told.ram_bytes, told.cached, told.usable, told.data_bytes)
    {
        out.push_str(&format!(
            "{} of memory, of which {} ({}) holds data; for {} of the data in it: {} of tables\n",
            format::bytes(ram),
            format::bytes((ram as f64 * usable) as u64),
            format::share(usable),
            format::share(cached),
            format::bytes(data),
        ));
    }
    out.push_str(&format!("Size of {} as freshly loaded:\n", told.workload));
    let heads = ["dialect", "scale", "size", "per unit", ""];
    out.push_str(&line(heads.map(str::to_owned)));
    for row in &told.sizes {
        out.push_str(&line([
            row.dialect.to_owned(),
            format::count(row.scale),
            format::bytes(row.bytes),
            format::bytes(row.bytes_per_unit),
            format!("{} (within {})", row.basis_words, format::share(row.tolerance)),
        ]));
    }
    out.push_str("A run adds rows, dead rows and the log.\n");
    out
}

fn line([dialect, scale, size, unit, basis]: [String; 5]) -> String {
    let text = format!("  {dialect:<17} {scale:>13} {size:>9} {unit:>9}  {basis}");
    format!("{}\n", text.trim_end())
}

/// Compares the size of freshly loaded tables with the expected one, and says
/// so where it is off. A server that does not tell is no reason to fail.
pub(crate) fn compare(
    opened: &Opened,
    workload: &dyn Workload,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let Some(expected) = size::expected(workload, opened.dialect) else { return Ok(()) };
    let Some(query) = opened.dialect.table_size_query() else {
        terminal.say(&format!(
            "  expected size {}; {} does not tell the tables' size",
            format::bytes(expected.bytes),
            opened.dialect.title()
        ));
        return Ok(());
    };
    let mut session = opened.connect(stop)?;
    let mut found = 0;
    let tables = workload.tables();
    for table in &tables {
        // The name is the workload's own word, without a quotation mark.
        let sql = query.replace("$1", &format!("'{}'", table.name));
        let Ok(bytes) = session.query_one_i64(&sql) else { return Ok(()) };
        found += u64::try_from(bytes).unwrap_or(0);
    }
    tell(expected, found, tables.len(), terminal);
    Ok(())
}

fn tell(expected: Expected, found: u64, tables: usize, terminal: &Terminal) {
    let words = format!(
        "the tables take {}, {} were expected ({})",
        format::bytes(found),
        format::bytes(expected.bytes),
        expected.basis.words()
    );
    if expected.fits(found, tables) {
        terminal.say(&format!("  {words}"));
    } else {
        terminal.warn(&format!(
            "{words}: off by more than {}; a figure of what is cached by \"pgdyno size\" does \
             not hold here",
            format::share(expected.basis.tolerance())
        ));
    }
}
