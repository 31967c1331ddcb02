//! Settings that a person asks for at the start of a session, checked before
//! connecting: some databases end the connection over one they do not know.

use pgdyno_wire::options::Options;

use crate::dialect::Dialect;

/// Checks all settings of all endpoints: those in `options` (`-c name=value`,
/// `--name=value`, as in `PGOPTIONS`) and those of pgdyno's own.
///
/// # Errors
/// The first that the dialect knows to be refused, with the reason.
pub fn check(dialect: &dyn Dialect, all: &[Options]) -> Result<(), String> {
    for options in all {
        for (name, _) in &options.runtime_params {
            dialect.check_setting(name)?;
        }
        for name in names(options.server_options.as_deref().unwrap_or_default()) {
            dialect.check_setting(&name)?;
        }
    }
    Ok(())
}

/// Names of the settings in a server's command line (PostgreSQL manual, "Server
/// Configuration, Parameter Interaction via the Shell"). A dash in `--name` is
/// an underscore.
fn names(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("-c") {
            Some("") => words.next(),
            Some(glued) => Some(glued),
            None => word.strip_prefix("--"),
        };
        names.extend(
            setting.and_then(|s| s.split_once('=')).map(|(name, _)| name.replace('-', "_")),
        );
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::dialect_by_name;
    use pgdyno_wire::conninfo::{self, MapEnv};

    /// Every way of writing a setting is read.
    #[test]
    fn settings_are_found() {
        let line = "-c a=1 -cb=2  --c-d=3 -x --nothing -c";
        assert_eq!(names(line), ["a", "b", "c_d"]);
        assert!(names("").is_empty());
    }

    /// What DSQL would end the connection for is refused here, and told.
    #[test]
    fn forbidden_settings_are_refused() {
        let dsql = dialect_by_name("aurora-dsql").unwrap();
        let check = |options: &str| {
            let env = MapEnv::new("os").with("PGOPTIONS", options);
            let found = conninfo::resolve(Some("host=h"), &[], &env).unwrap();
            super::check(dsql, &[found.options])
        };
        assert_eq!(check("-c search_path=a"), Ok(()));
        assert!(check("-c search_path=a -c statement_timeout=1").unwrap_err().contains("timeout"));
    }
}
