//! Transaction control and settings of the session.

use super::{Kind, Plan, Run, Statement};
use crate::refusal::{Refusal, UNDEFINED};

/// Settings that a session may change, besides `enable_…` of the planner.
const SETTABLE: [&str; 12] = [
    "application_name",
    "client_encoding",
    "datestyle",
    "disable_sync_create_index",
    "dsql.enable_batched_nestloop",
    "extra_float_digits",
    "intervalstyle",
    "names",
    "role",
    "search_path",
    "time",
    "timezone",
];

/// What DSQL says that it is; recorded in September 2026.
pub(crate) const SERVER_VERSION: &str = "16.15";
/// The same as a number.
pub(crate) const SERVER_VERSION_NUM: &str = "160015";

/// True where a session may change the setting.
pub(crate) fn is_settable(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SETTABLE.contains(&name.as_str()) || name.starts_with("enable_")
}

/// The refusal of a setting.
pub(crate) fn not_settable(name: &str) -> Refusal {
    Refusal::unsupported(format!("setting configuration parameter \"{name}\" not supported"))
}

pub(super) fn transaction(s: &Statement<'_>) -> Result<Plan, Refusal> {
    match s.word(0) {
        "begin" | "start" => {
            isolation(s)?;
            Ok(Plan::Begin { read_only: follows(s, &["read", "only"]) })
        }
        "commit" | "end" if s.word(1) != "prepared" => Ok(Plan::Commit),
        "rollback" | "abort" if !s.contains("to") && s.word(1) != "prepared" => Ok(Plan::Rollback),
        "savepoint" => Err(unsupported("SAVEPOINT")),
        "release" => Err(unsupported("RELEASE")),
        "rollback" | "abort" if s.contains("to") => Err(unsupported("ROLLBACK TO")),
        "rollback" => Err(unsupported("ROLLBACK PREPARED")),
        "prepare" if s.word(1) == "transaction" => Err(unsupported("PREPARE TRANSACTION")),
        "prepare" => Err(Refusal::unsupported("unsupported statement: Prepare")),
        _ => Err(unsupported("COMMIT PREPARED")),
    }
}

fn unsupported(what: &str) -> Refusal {
    Refusal::unsupported(format!("unsupported transaction statement: {what}"))
}

/// REPEATABLE READ is the one level that there is.
fn isolation(s: &Statement<'_>) -> Result<(), Refusal> {
    for (words, shown) in [
        (["level", "serializable", ""], "SERIALIZABLE"),
        (["level", "read", "committed"], "READ COMMITTED"),
        (["level", "read", "uncommitted"], "READ UNCOMMITTED"),
    ] {
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        if follows(s, &words) {
            return Err(Refusal::unsupported(format!("Unsupported isolation level: {shown}")));
        }
    }
    Ok(())
}

fn follows(s: &Statement<'_>, words: &[&str]) -> bool {
    (0..s.tokens.len()).any(|index| s.has(index, words))
}

pub(super) fn set(s: &Statement<'_>) -> Result<Run, Refusal> {
    let at = if matches!(s.word(1), "session" | "local") { 2 } else { 1 };
    let name = s.word(at);
    match name {
        "transaction" => {
            isolation(s)?;
            return Err(not_settable("TRANSACTION"));
        }
        "characteristics" => return Err(not_settable("SESSION CHARACTERISTICS")),
        "authorization" => return Err(not_settable("session_authorization")),
        "constraints" => return Ok(Run::new(Kind::Read, s.text())),
        "all" => return Ok(Run::new(Kind::Setting, s.text())),
        _ => {}
    }
    let full = match s.tokens.get(at + 1) {
        Some(dot) if dot.is_sign(".") => format!("{name}.{}", s.word(at + 2)),
        _ => s.tokens.get(at).map_or_else(String::new, |token| token.text.clone()),
    };
    if !is_settable(&full) {
        return Err(not_settable(&full));
    }
    // Settings of DSQL's own mean nothing to the server behind, which takes
    // any name with a dot, but not this one.
    if full == "disable_sync_create_index" {
        let mut run = Run::new(Kind::Read, "SELECT WHERE false");
        run.tag = Some("SET");
        return Ok(run);
    }
    Ok(Run::new(Kind::Setting, s.text()))
}

pub(super) fn show(s: &Statement<'_>) -> Result<Run, Refusal> {
    let answer = match s.word(1) {
        "server_version" => SERVER_VERSION,
        "server_version_num" => SERVER_VERSION_NUM,
        // PostgreSQL 16 has them no more.
        name @ ("lc_collate" | "lc_ctype") => {
            let message = format!("unrecognized configuration parameter \"{name}\"");
            return Err(Refusal::new(UNDEFINED, message));
        }
        _ => return Ok(Run::new(Kind::Read, s.text())),
    };
    let mut run = Run::new(Kind::Read, &format!("SELECT '{answer}'::text AS {}", s.word(1)));
    run.tag = Some("SHOW");
    Ok(run)
}
