//! SQLSTATE: the five characters by which a server names an outcome.
//!
//! A `Copy` value of five bytes, so that the request path can count outcomes
//! without allocating. Only the codes that pgdyno acts on have names here;
//! the whole list is in the PostgreSQL manual, "PostgreSQL Error Codes".

use std::fmt;

/// A SQLSTATE code, such as `40001`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SqlState([u8; 5]);

/// Writes the constants and their names from one list.
macro_rules! codes {
    ($($constant:ident = $code:literal, $name:literal;)*) => {
        impl SqlState {
            $(
                #[doc = concat!("`", $code, "`, ", $name, ".")]
                pub const $constant: Self = Self::from_literal($code);
            )*

            /// PostgreSQL's name of the condition (`serialization_failure`),
            /// where it is one of those listed here.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$constant => Some($name),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    SUCCESSFUL_COMPLETION = "00000", "successful_completion";
    CONNECTION_EXCEPTION = "08000", "connection_exception";
    CONNECTION_DOES_NOT_EXIST = "08003", "connection_does_not_exist";
    CONNECTION_FAILURE = "08006", "connection_failure";
    PROTOCOL_VIOLATION = "08P01", "protocol_violation";
    FEATURE_NOT_SUPPORTED = "0A000", "feature_not_supported";
    DIVISION_BY_ZERO = "22012", "division_by_zero";
    UNIQUE_VIOLATION = "23505", "unique_violation";
    FOREIGN_KEY_VIOLATION = "23503", "foreign_key_violation";
    CHECK_VIOLATION = "23514", "check_violation";
    NOT_NULL_VIOLATION = "23502", "not_null_violation";
    ACTIVE_SQL_TRANSACTION = "25001", "active_sql_transaction";
    READ_ONLY_SQL_TRANSACTION = "25006", "read_only_sql_transaction";
    IN_FAILED_SQL_TRANSACTION = "25P02", "in_failed_sql_transaction";
    INVALID_SQL_STATEMENT_NAME = "26000", "invalid_sql_statement_name";
    INVALID_AUTHORIZATION_SPECIFICATION = "28000", "invalid_authorization_specification";
    INVALID_PASSWORD = "28P01", "invalid_password";
    INVALID_CATALOG_NAME = "3D000", "invalid_catalog_name";
    TRANSACTION_INTEGRITY_CONSTRAINT_VIOLATION = "40002", "transaction_integrity_constraint_violation";
    SERIALIZATION_FAILURE = "40001", "serialization_failure";
    STATEMENT_COMPLETION_UNKNOWN = "40003", "statement_completion_unknown";
    DEADLOCK_DETECTED = "40P01", "deadlock_detected";
    SYNTAX_ERROR = "42601", "syntax_error";
    INSUFFICIENT_PRIVILEGE = "42501", "insufficient_privilege";
    UNDEFINED_COLUMN = "42703", "undefined_column";
    UNDEFINED_TABLE = "42P01", "undefined_table";
    UNDEFINED_FUNCTION = "42883", "undefined_function";
    UNDEFINED_OBJECT = "42704", "undefined_object";
    DUPLICATE_TABLE = "42P07", "duplicate_table";
    DUPLICATE_OBJECT = "42710", "duplicate_object";
    INSUFFICIENT_RESOURCES = "53000", "insufficient_resources";
    DISK_FULL = "53100", "disk_full";
    OUT_OF_MEMORY = "53200", "out_of_memory";
    TOO_MANY_CONNECTIONS = "53300", "too_many_connections";
    CONFIGURATION_LIMIT_EXCEEDED = "53400", "configuration_limit_exceeded";
    PROGRAM_LIMIT_EXCEEDED = "54000", "program_limit_exceeded";
    OBJECT_NOT_IN_PREREQUISITE_STATE = "55000", "object_not_in_prerequisite_state";
    LOCK_NOT_AVAILABLE = "55P03", "lock_not_available";
    OPERATOR_INTERVENTION = "57000", "operator_intervention";
    QUERY_CANCELED = "57014", "query_canceled";
    ADMIN_SHUTDOWN = "57P01", "admin_shutdown";
    CRASH_SHUTDOWN = "57P02", "crash_shutdown";
    CANNOT_CONNECT_NOW = "57P03", "cannot_connect_now";
    DATABASE_DROPPED = "57P04", "database_dropped";
    IDLE_SESSION_TIMEOUT = "57P05", "idle_session_timeout";
    INTERNAL_ERROR = "XX000", "internal_error";
}

impl SqlState {
    /// For the table above only: a wrong length stops the compiler.
    const fn from_literal(code: &'static str) -> Self {
        let bytes = code.as_bytes();
        assert!(bytes.len() == 5, "a SQLSTATE has five characters");
        Self([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4]])
    }

    /// Reads a code; `None` unless it is five digits or upper-case letters.
    #[must_use]
    pub fn from_bytes(code: &[u8]) -> Option<Self> {
        let bytes: [u8; 5] = code.try_into().ok()?;
        bytes.iter().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()).then_some(Self(bytes))
    }

    /// The code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only ASCII gets in; see `from_bytes`.
        std::str::from_utf8(&self.0).unwrap_or("?????")
    }

    /// The first two characters, which name the class.
    #[must_use]
    pub const fn class(self) -> [u8; 2] {
        [self.0[0], self.0[1]]
    }

    /// Class 08: the connection itself failed.
    #[must_use]
    pub fn is_connection_exception(self) -> bool {
        self.class() == *b"08"
    }

    /// Class 40: the transaction was rolled back and may be tried again.
    #[must_use]
    pub fn is_transaction_rollback(self) -> bool {
        self.class() == *b"40"
    }

    /// Class 28: the user or the password was not accepted.
    #[must_use]
    pub fn is_authorization_failure(self) -> bool {
        self.class() == *b"28"
    }

    /// Class 53: memory, disk or connections ran out.
    #[must_use]
    pub fn is_insufficient_resources(self) -> bool {
        self.class() == *b"53"
    }

    /// The two outcomes that pgbench's `--max-tries` retries.
    #[must_use]
    pub fn is_serialization_or_deadlock(self) -> bool {
        self == Self::SERIALIZATION_FAILURE || self == Self::DEADLOCK_DETECTED
    }
}

impl std::str::FromStr for SqlState {
    type Err = InvalidSqlState;

    fn from_str(code: &str) -> Result<Self, Self::Err> {
        Self::from_bytes(code.as_bytes()).ok_or(InvalidSqlState)
    }
}

/// A text that is no SQLSTATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SQLSTATE has five characters, each a digit or an upper-case letter")]
pub struct InvalidSqlState;

impl fmt::Display for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqlState({})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes print as they were read, and anything else is refused.
    #[test]
    fn reads_and_prints() {
        let code: SqlState = "40001".parse().unwrap();
        assert_eq!(code, SqlState::SERIALIZATION_FAILURE);
        assert_eq!(code.to_string(), "40001");
        assert_eq!(code.name(), Some("serialization_failure"));
        assert!(code.is_transaction_rollback() && code.is_serialization_or_deadlock());
        for bad in ["", "4000", "400011", "4000a", "40\n01"] {
            assert_eq!(bad.parse::<SqlState>(), Err(InvalidSqlState), "{bad:?}");
        }
    }
}
