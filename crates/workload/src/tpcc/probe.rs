//! Looks whether TPC-C's tables are there, and what they were loaded with.

use super::random::Constants;
use super::{DISTRICTS, Loaded, Profile, Tpcc, functions};
use crate::audit::{AccessError, ProbeError, read_figures};
use crate::session::{Session, SqlError};
use crate::workload::Found;

const WHAT: &str = "looking for the tables";
const PARAMETERS_QUERY: &str = "SELECT name, value FROM tpcc_parameters";
const ROWS_QUERY: &str = "SELECT (SELECT count(*) FROM warehouse) AS warehouses, \
     (SELECT count(*) FROM district) AS districts, \
     (SELECT coalesce(max(w_id), 0) FROM warehouse) AS last";

/// What the tables tell of their load; `None` where a part of it is missing.
fn read_loaded(session: &mut dyn Session) -> Result<Option<Loaded>, AccessError> {
    let (_, rows) = session.query(PARAMETERS_QUERY).map_err(|source| AccessError::Statement {
        what: WHAT,
        sql: PARAMETERS_QUERY.to_owned(),
        source,
    })?;
    let value = |wanted: &str| {
        rows.iter().find_map(|row| match row.as_slice() {
            [Some(name), Some(value)] if name == wanted => Some(value.as_str()),
            _ => None,
        })
    };
    let number = |name: &str| value(name).and_then(|text| text.parse::<u64>().ok());
    let told = || {
        let profile = value("profile").and_then(Profile::by_name)?;
        let (c_last, c_id, ol_i_id) = (number("c_last")?, number("c_id")?, number("ol_i_id")?);
        let constants = Constants { c_last, c_id, ol_i_id };
        let (warehouses, seed) = (number("warehouses")?, number("seed")?);
        Some(Loaded { constants, profile, warehouses, seed })
    };
    Ok(told())
}

/// What the tables were loaded with, read where it was not yet.
pub(super) fn loaded(tpcc: &Tpcc, session: &mut dyn Session) -> Result<Loaded, AccessError> {
    if let Some(loaded) = tpcc.loaded() {
        return Ok(loaded);
    }
    let told = read_loaded(session)?;
    told.ok_or_else(|| AccessError::Answer {
        what: WHAT,
        sql: PARAMETERS_QUERY.to_owned(),
        answer: "rows are missing".to_owned(),
    })
}

/// Looks for the tables, and remembers what they were loaded with.
pub(super) fn probe(
    tpcc: &Tpcc,
    session: &mut dyn Session,
    target: &str,
) -> Result<Found, ProbeError> {
    const WORKLOAD: &str = "tpcc";
    let command = |scale: u64| {
        let mut command = format!("pgdyno init {target} --workload {WORKLOAD} --scale {scale}");
        let params = tpcc.params.told();
        for (name, value) in params.iter().filter(|(name, _)| *name == "profile") {
            if tpcc.params.profile != Profile::Faithful {
                command.push_str(&format!(" --param {name}={value}"));
            }
        }
        if tpcc.params.procs {
            command.push_str(" --param procs=1");
        }
        command
    };
    let missing = |source: SqlError| ProbeError::Missing {
        workload: WORKLOAD,
        words: source.text,
        command: command(tpcc.scale),
    };
    let incomplete = |found: String, scale: u64| ProbeError::Incomplete {
        workload: WORKLOAD,
        found,
        command: command(scale),
    };
    let told = match read_loaded(session) {
        Ok(told) => told,
        Err(AccessError::Statement { source, .. }) if source.is_undefined_table() => {
            return Err(missing(source));
        }
        Err(error) => return Err(error.into()),
    };
    let Some(loaded) = told else {
        return Err(incomplete("tpcc_parameters has not all of its rows".to_owned(), tpcc.scale));
    };
    let scale = loaded.warehouses;
    let found = match read_figures(session, WHAT, ROWS_QUERY) {
        Ok(found) => found,
        Err(AccessError::Statement { source, .. }) if source.is_undefined_table() => {
            return Err(missing(source));
        }
        Err(error) => return Err(error.into()),
    };
    let warehouses = i128::from(scale);
    let fits = ["warehouses", "last"].iter().all(|figure| found.get(figure) == warehouses)
        && found.get("districts") == warehouses * i128::from(DISTRICTS);
    if !fits {
        let (rows, districts) = (found.get("warehouses"), found.get("districts"));
        let found = format!("{rows} of {scale} warehouses, {districts} districts");
        return Err(incomplete(found, scale));
    }
    if loaded.profile != tpcc.params.profile {
        let (is, wanted) = (loaded.profile.name(), tpcc.params.profile.name());
        let found = format!("they were loaded with profile={is}, not profile={wanted}");
        return Err(incomplete(found, scale));
    }
    if tpcc.params.procs {
        let found = read_figures(session, WHAT, &functions::count_query())?;
        let (count, all) = (found.get("routines"), functions::ROUTINES.len());
        if count < all as i128 {
            let found = format!("{count} of {all} routines for procs=1");
            return Err(incomplete(found, scale));
        }
    }
    // The tables of a run do not change; a second look finds the same.
    let _ = tpcc.loaded.set(loaded);
    Ok(Found { scale })
}
