//! Looks whether TPC-C's tables are there, and what they were loaded with.

use super::random::{A_C_LAST, Constants};
use super::{DISTRICTS, Loaded, Profile, Tpcc, functions};
use crate::audit::read_figures;
use crate::error::{AccessError, ProbeError};
use crate::session::{Session, SqlError};
use crate::workload::Found;

const WHAT: &str = "looking for the tables";
const PARAMETERS_QUERY: &str = "SELECT name, value FROM tpcc_parameters";
const ROWS_QUERY: &str = "SELECT (SELECT count(*) FROM warehouse) AS warehouses, \
     (SELECT count(*) FROM district) AS districts, \
     (SELECT coalesce(max(w_id), 0) FROM warehouse) AS last";

/// What the tables tell of their load, or what is wrong with that.
fn read_loaded(session: &mut dyn Session) -> Result<Result<Loaded, String>, AccessError> {
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
    Ok(told()
        .ok_or_else(|| "tpcc_parameters has not all of its rows".to_owned())
        .and_then(in_range))
}

/// A run takes its own constant for last names at a distance from the load's;
/// no load has one that is out of range, and to such there is no distance.
fn in_range(loaded: Loaded) -> Result<Loaded, String> {
    match loaded.constants.c_last {
        0..=A_C_LAST => Ok(loaded),
        c_last => Err(format!(
            "tpcc_parameters has c_last = {c_last}, which is 0 to {A_C_LAST} in every load"
        )),
    }
}

/// What the tables were loaded with, read where it was not yet.
pub(super) fn loaded(tpcc: &Tpcc, session: &mut dyn Session) -> Result<Loaded, AccessError> {
    if let Some(loaded) = tpcc.loaded() {
        return Ok(loaded);
    }
    let loaded = read_loaded(session)?.map_err(|answer| AccessError::Answer {
        what: WHAT,
        sql: PARAMETERS_QUERY.to_owned(),
        answer,
    })?;
    // The tables of a run do not change; a second look finds the same.
    let _ = tpcc.loaded.set(loaded);
    Ok(loaded)
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
    let loaded = told.map_err(|wrong| incomplete(wrong, tpcc.scale))?;
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
        let found = read_figures(session, WHAT, &functions::count_query(tpcc.params.profile))?;
        let (count, all) = (found.get("routines"), functions::ROUTINES.len());
        if count < all as i128 {
            let found = format!("{count} of {all} routines for procs=1 as this version makes them");
            return Err(incomplete(found, scale));
        }
    }
    let _ = tpcc.loaded.set(loaded);
    Ok(Found { scale })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Row;
    use crate::tpcc::Params;

    /// Answers about one warehouse and its parameters.
    struct Tables(u64);

    impl Session for Tables {
        fn query(&mut self, sql: &str) -> Result<(Vec<String>, Vec<Row>), SqlError> {
            let c_last = self.0.to_string();
            let rows = if sql == PARAMETERS_QUERY {
                let names = ["seed", "warehouses", "c_last", "c_id", "ol_i_id", "profile"];
                let values = ["7", "1", c_last.as_str(), "5", "6", "faithful"];
                let row = |(name, value): (&str, &str)| vec![Some(name.into()), Some(value.into())];
                return Ok((vec![], names.into_iter().zip(values).map(row).collect()));
            } else {
                ["1", "10", "1"].map(|value| Some(value.to_owned())).to_vec()
            };
            let columns = ["warehouses", "districts", "last"].map(str::to_owned).to_vec();
            Ok((columns, vec![rows]))
        }

        fn execute(&mut self, _: &str) -> Result<u64, SqlError> {
            Ok(0)
        }
    }

    /// A constant that no load can have is refused by its name: with it a run
    /// would look for a constant of its own for ever.
    #[test]
    fn constants_out_of_range_are_refused() {
        let look = |c_last| {
            let tpcc = Tpcc::new(1, Params::default());
            let found = probe(&tpcc, &mut Tables(c_last), "host=h");
            (found, loaded(&Tpcc::new(1, Params::default()), &mut Tables(c_last)))
        };
        let (found, read) = look(255);
        assert_eq!(found.unwrap().scale, 1);
        assert_eq!(read.unwrap().constants.c_last, 255);
        for c_last in [256, 400, u64::MAX] {
            let (found, read) = look(c_last);
            let wanted = format!("c_last = {c_last}, which is 0 to 255");
            let told = found.unwrap_err().to_string();
            assert!(told.contains(&wanted) && told.contains("pgdyno init"), "{told}");
            let told = read.unwrap_err().to_string();
            assert!(told.contains(&wanted), "{told}");
        }
    }
}
