//! Finds the dialect of a live server.
//!
//! The dialects are asked one after the other, in the order of
//! [`dialects`]; the first that recognises the server is it. The questions go
//! through [`Probe`], so that this crate's rules do not depend on how a
//! session sends a query.

use pgdyno_wire::Connection;

use crate::dialect::{Dialect, Evidence, dialects, postgres};

/// The connection was lost while the server was being asked what it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not ask the server what it is: {0}")]
pub struct ProbeError(pub String);

/// What detection needs of a session.
pub trait Probe {
    /// The last value that the server reported for a parameter
    /// (ParameterStatus), such as `server_version`.
    fn parameter(&self, name: &str) -> Option<String>;

    /// The first row of a query, as text; `None` where there is no row, or
    /// where the server answered with an SQL error.
    ///
    /// # Errors
    /// The connection is lost.
    fn first_row(&mut self, sql: &str) -> Result<Option<Vec<Option<String>>>, ProbeError>;
}

impl Probe for Connection {
    fn parameter(&self, name: &str) -> Option<String> {
        Self::parameter(self, name).map(str::to_owned)
    }

    fn first_row(&mut self, sql: &str) -> Result<Option<Vec<Option<String>>>, ProbeError> {
        match self.simple_query(sql) {
            Ok(results) => Ok(results.into_iter().next().and_then(|r| r.rows.into_iter().next())),
            Err(error) if error.server().is_some() && !self.is_broken() => Ok(None),
            Err(error) => Err(ProbeError(error.to_string())),
        }
    }
}

/// What a live server was found to be.
#[derive(Debug, Clone)]
pub struct Detected {
    /// The dialect to use: PostgreSQL's where nothing was recognised.
    pub dialect: &'static dyn Dialect,
    /// False where no dialect recognised the server and PostgreSQL is an
    /// assumption.
    pub known: bool,
    /// The version as the server words it; empty where it says nothing.
    pub version: String,
    /// `server_version_num`, where there is one (150019 is 15.19).
    pub version_num: Option<u32>,
    /// How it was recognised, for people.
    pub how: String,
}

/// Asks a live server what it is.
///
/// # Errors
/// The connection is lost.
pub fn detect(probe: &mut dyn Probe) -> Result<Detected, ProbeError> {
    for dialect in dialects() {
        if let Some(Evidence { version, version_num, how }) = dialect.recognise(probe)? {
            return Ok(Detected { dialect: *dialect, known: true, version, version_num, how });
        }
    }
    let version = probe.parameter("server_version").unwrap_or_default();
    let how = format!(
        "no known kind recognised it (server_version \"{version}\"); PostgreSQL is assumed"
    );
    Ok(Detected { dialect: postgres(), known: false, version, version_num: None, how })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Answers {
        server_version: Option<&'static str>,
        row: Option<Vec<Option<String>>>,
    }

    impl Probe for Answers {
        fn parameter(&self, name: &str) -> Option<String> {
            (name == "server_version").then_some(self.server_version)?.map(str::to_owned)
        }

        fn first_row(&mut self, _sql: &str) -> Result<Option<Vec<Option<String>>>, ProbeError> {
            Ok(self.row.clone())
        }
    }

    /// A stranger is taken for PostgreSQL, and said to be an assumption.
    #[test]
    fn stranger_is_an_assumption() {
        let row = Some(vec![Some("StrangeDB 3".to_owned()), None]);
        let found = detect(&mut Answers { server_version: Some("9.5.0"), row }).unwrap();
        assert!(!found.known);
        assert_eq!(found.dialect.name(), "postgres");
        assert!(found.how.contains("9.5.0") && found.how.contains("assumed"), "{}", found.how);
    }

    /// An SQL error in answer to the question is not the end.
    #[test]
    fn refused_question_is_an_answer() {
        let found = detect(&mut Answers { server_version: None, row: None }).unwrap();
        assert!(!found.known);
        assert_eq!(found.version, "");
    }
}
