//! `--param`: which are the workload's, and which say how the target's tables
//! are made.

use pgdyno_target::{Dialect, Largest, dialects};
use pgdyno_wire::Connection;
use pgdyno_workload::{Workload, workloads};

use crate::cli::WorkloadArgs;
use crate::failure::Failure;

/// The parameters that a workload is made with.
pub(crate) fn of_workload(args: &WorkloadArgs) -> Vec<(String, String)> {
    args.params.iter().filter(|(name, _)| !is_of_tables(args, name)).cloned().collect()
}

/// The parameters of the target's tables.
pub(crate) fn of_tables(args: &WorkloadArgs) -> Vec<(String, String)> {
    args.params.iter().filter(|(name, _)| is_of_tables(args, name)).cloned().collect()
}

/// A name that the workload knows is the workload's.
fn is_of_tables(args: &WorkloadArgs, name: &str) -> bool {
    let entry = workloads().iter().find(|entry| entry.name == args.workload);
    let own = entry.is_some_and(|entry| entry.params.iter().any(|param| param.name == name));
    let known = || dialects().iter().flat_map(|dialect| dialect.table_params());
    !own && known().any(|param| param.name == name)
}

/// The dialect with tables as chosen.
pub(crate) fn applied(
    dialect: &'static dyn Dialect,
    workload: &dyn Workload,
    params: &[(String, String)],
) -> Result<&'static dyn Dialect, Failure> {
    if params.is_empty() {
        return Ok(dialect);
    }
    let chosen = dialect.with_table_params(params, largest(workload)).map_err(Failure::usage)?;
    Ok(chosen.unwrap_or(dialect))
}

/// The parameters that tables are to be made anew with: those that were given,
/// else those that the tables have, where the database tells. One that does not
/// tell has none.
///
/// # Errors
/// The tables could not be made anew as they are: nobody knows how they are, or
/// they have partitions that no parameter makes.
pub(crate) fn to_keep(
    given: &[(String, String)],
    dialect: &dyn Dialect,
    workload: &dyn Workload,
    session: &mut Connection,
) -> Result<Vec<(String, String)>, Failure> {
    let query = largest(workload).and_then(|largest| dialect.table_params_query(largest.table));
    let Some(query) = query.filter(|_| given.is_empty()) else { return Ok(given.to_vec()) };
    let results = session.simple_query(&query).map_err(|error| {
        Failure::not_completed(format!(
            "whether the tables have partitions cannot be asked: {error}\n\
             hint: nothing was dropped; say how they are to be made with --param, or load them \
             with pgdyno init"
        ))
    })?;
    let rows = results.into_iter().flat_map(|result| result.rows);
    let pair = |row: Vec<Option<String>>| match <[Option<String>; 2]>::try_from(row) {
        Ok([Some(name), Some(value)]) => Some((name, value)),
        _ => None,
    };
    let found: Vec<(String, String)> = rows.filter_map(pair).collect();
    let refused = dialect.with_table_params(&found, largest(workload)).err();
    match refused {
        None => Ok(found),
        Some(reason) => Err(Failure::not_completed(format!(
            "the tables have {}, which cannot be made anew: {reason}\n\
             hint: nothing was dropped; choose others with --param, or load the tables with \
             pgdyno init",
            words(&found)
        ))),
    }
}

/// Parameters as a person would give them.
pub(crate) fn words(params: &[(String, String)]) -> String {
    let words: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(", ")
}

fn largest(workload: &dyn Workload) -> Option<Largest> {
    let tables = workload.tables();
    let table = tables.iter().max_by_key(|table| table.rows).filter(|table| table.rows > 0)?;
    let counter = table.key_sum.as_ref().filter(|sum| sum.counts).map(|sum| sum.expression);
    Some(Largest { table: table.name, rows: table.rows, counter })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that means both is the workload's: tpcc cuts its tables itself, by
    /// warehouse. No other workload hides a name of the target's tables.
    #[test]
    fn the_workload_comes_first() {
        for entry in workloads() {
            for param in dialects().iter().flat_map(|dialect| dialect.table_params()) {
                let own = entry.params.iter().any(|own| own.name == param.name);
                let is_known = (entry.name, param.name) == ("tpcc", "partitions");
                assert_eq!(own, is_known, "{}: {}", entry.name, param.name);
            }
        }
        let params = vec![("partitions".to_owned(), "1".to_owned())];
        let args = WorkloadArgs { workload: "tpcc".to_owned(), params: params.clone() };
        assert_eq!((of_workload(&args), of_tables(&args)), (params, vec![]));
    }

    /// What nobody knows is left to the workload, which says what it has.
    #[test]
    fn each_gets_its_own() {
        let param = |name: &str| (name.to_owned(), "2".to_owned());
        let args = WorkloadArgs {
            workload: "tpcb".to_owned(),
            params: vec![param("partitions"), param("pieces"), param("mistyped")],
        };
        assert_eq!(of_tables(&args), [param("partitions")]);
        assert_eq!(of_workload(&args), [param("pieces"), param("mistyped")]);
    }
}
