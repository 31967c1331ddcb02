//! The three built-in scripts and how they are found, listed and shown.

use crate::error::ScriptError;

/// A built-in script.
#[derive(Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What `-b` takes.
    pub name: &'static str,
    /// What reports call it.
    pub description: &'static str,
    /// The script.
    pub text: &'static str,
}

/// All built-in scripts, in order of the list.
pub static BUILTINS: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        text: "\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "simple-update",
        description: "<builtin: simple update>",
        text: "\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "select-only",
        description: "<builtin: select only>",
        text: "\\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
",
    },
];

/// The script whose name begins with `name`.
///
/// # Errors
/// None, or several. pgbench prints [`list_text`] after either.
pub fn find(name: &str) -> Result<&'static Builtin, ScriptError> {
    let mut found = BUILTINS.iter().filter(|builtin| builtin.name.starts_with(name));
    match (found.next(), found.count()) {
        (Some(builtin), 0) => Ok(builtin),
        (None, _) => Err(ScriptError::UnknownBuiltin { name: name.to_owned() }),
        (Some(_), more) => {
            Err(ScriptError::AmbiguousBuiltin { name: name.to_owned(), count: more + 1 })
        }
    }
}

/// What `-b list` prints on stderr, with its final newlines.
#[must_use]
pub fn list_text() -> String {
    let mut text = "Available builtin scripts:\n".to_owned();
    for builtin in &BUILTINS {
        text.push_str(&format!("  {:>13}: {}\n", builtin.name, builtin.description));
    }
    text.push('\n');
    text
}

impl Builtin {
    /// What `--show-script` prints on stderr, with its final newlines.
    #[must_use]
    pub fn show_text(&self) -> String {
        format!("-- {}: {}\n{}\n", self.name, self.description, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any unambiguous prefix finds a script.
    #[test]
    fn prefixes() {
        for (prefix, name) in [("t", "tpcb-like"), ("si", "simple-update"), ("se", "select-only")] {
            assert_eq!(find(prefix).expect(prefix).name, name);
        }
        assert_eq!(
            find("s").expect_err("ambiguous").to_string(),
            "ambiguous builtin name: 2 builtin scripts found for prefix \"s\""
        );
        assert_eq!(
            find("x").expect_err("unknown").to_string(),
            "no builtin script found for name \"x\""
        );
        assert_eq!(
            find("").expect_err("all").to_string(),
            "ambiguous builtin name: 3 builtin scripts found for prefix \"\""
        );
    }
}
