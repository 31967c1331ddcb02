//! Tests of the grammar as a whole, by what they defend.

mod errors;
mod grammar;
mod round_trip;
mod sources;
mod values;

use super::*;

fn env() -> MapEnv {
    MapEnv::new("me")
}

fn ok(dsn: &str) -> Options {
    ok_in(dsn, &env())
}

fn ok_in(dsn: &str, env: &MapEnv) -> Options {
    match resolve(Some(dsn), &[], env) {
        Ok(resolved) => resolved.options,
        Err(error) => panic!("{dsn}: {error}"),
    }
}

fn err(dsn: &str) -> ConnInfoError {
    match resolve(Some(dsn), &[], &env()) {
        Ok(resolved) => panic!("{dsn}: read as {}", resolved.options),
        Err(error) => error,
    }
}

/// The values as libpq's own test program prints them, in its order.
fn listed(dsn: &str) -> Result<String, String> {
    let params = parse(dsn).map_err(|error| error.to_string())?;
    let shown = PARAMETERS.iter().filter_map(|parameter| {
        Some(format!("{}={}", parameter.keyword, params.get(parameter.keyword)?))
    });
    Ok(shown.collect::<Vec<_>>().join(" "))
}
