//! SQL commands: their pieces and parameters, and the texts that are sent.

use std::ops::Range;

use crate::error::ScriptError;
use crate::names::{Names, Slot, is_name_byte, is_name_start};
use crate::statement::{SqlKind, statements};
use crate::vars::Vars;

/// Most bytes of an SQL command's first line in reports.
pub const SQL_LABEL_MAX: usize = 127;

/// Most variables of one statement in the extended protocol: pgbench's limit
/// of 256 words in a command, less one.
pub const PARAMS_MAX: usize = 255;

/// An SQL command of a script: one statement, or several joined by `\;`.
#[derive(Debug, Clone)]
pub struct Sql {
    /// The text with `\;` and `\:` resolved and variables as written.
    pub text: Box<[u8]>,
    /// The text cut into what is copied and what is replaced, for the simple protocol.
    pub pieces: Box<[Piece]>,
    /// The text with `$1`, `$2`, … for the variables, for the extended protocol.
    pub numbered: Box<[u8]>,
    /// The variables of `numbered` in order; a repeated name appears again.
    pub params: Box<[Slot]>,
    /// `\gset` or `\aset` behind it.
    pub store: Option<Store>,
    /// One for each statement. More than one: the extended protocol would refuse it.
    pub kinds: Box<[SqlKind]>,
    /// For each statement: whether it writes within its WITH, where its
    /// command tag does not count.
    pub hides_writes: Box<[bool]>,
    /// Rows that a comment `-- pgdyno: rows N` just before it declares.
    pub rows_declared: Option<u64>,
}

/// A piece of an SQL text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Copied: a range of [`Sql::text`].
    Literal(Range<usize>),
    /// A variable.
    Var {
        /// Where its value is.
        slot: Slot,
        /// `:name` in [`Sql::text`], which stays if the variable is not defined.
        original: Range<usize>,
    },
}

/// Where results go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Which results count.
    pub mode: StoreMode,
    /// Put before the column's name.
    pub prefix: Box<[u8]>,
}

/// `\gset` or `\aset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMode {
    /// `\gset`: the last result, which must have one row.
    Gset,
    /// `\aset`: the last row of every result that has rows.
    Aset,
}

impl Sql {
    /// Appends the text for the simple protocol. Variables that are not
    /// defined stay as written. Allocates only where `out` must grow.
    pub fn write_simple(&self, vars: &Vars, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(range) => out.extend_from_slice(&self.text[range.clone()]),
                Piece::Var { slot, original } => {
                    if !vars.write_text(*slot, out) {
                        out.extend_from_slice(&self.text[original.clone()]);
                    }
                }
            }
        }
    }

    /// Whether it is several statements, which the extended protocol refuses.
    #[must_use]
    pub fn is_combined(&self) -> bool {
        self.kinds.len() > 1
    }

    /// Rows that statement `part` is declared to touch at least. In a group
    /// the declaration is for the first statement that writes, or else for the
    /// first that is not about the transaction itself: `BEGIN` has no rows.
    #[must_use]
    pub fn rows_declared_of(&self, part: usize) -> Option<u64> {
        let is_control =
            |kind: &SqlKind| matches!(kind, SqlKind::Begin | SqlKind::Commit | SqlKind::Rollback);
        let meant = self
            .kinds
            .iter()
            .position(|kind| kind.writes())
            .or_else(|| self.kinds.iter().position(|kind| !is_control(kind)))
            .unwrap_or(0);
        self.rows_declared.filter(|_| part == meant)
    }

    /// Whether a statement of it ends a transaction block by committing.
    #[must_use]
    pub fn commits(&self) -> bool {
        self.kinds.contains(&SqlKind::Commit)
    }

    /// The first line of statement `part`, for reports: what
    /// [`crate::Command::label`] is for the whole.
    #[must_use]
    pub fn label_of(&self, part: usize) -> String {
        let span = statements(&self.text).into_iter().nth(part).map(|found| found.span);
        let text = span.and_then(|span| self.text.get(span)).unwrap_or_default();
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        String::from_utf8_lossy(&line[..line.len().min(SQL_LABEL_MAX)]).trim_end().to_owned()
    }

    /// The text as text, for reports.
    #[must_use]
    pub fn text_lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.text)
    }

    /// Whether the extended protocol can carry its variables.
    ///
    /// # Errors
    /// More than [`PARAMS_MAX`].
    pub fn check_params(&self) -> Result<(), ScriptError> {
        if self.params.len() > PARAMS_MAX {
            return Err(ScriptError::TooManyArguments { sql: self.text_lossy().into_owned() });
        }
        Ok(())
    }
}

/// Cuts a text at its variables and numbers them.
///
/// Quotes and comments are not respected, as in pgbench: in `'a:b'` the `:b`
/// is a variable. A run of colons before anything but a letter is passed over whole.
pub(crate) fn cut(text: &[u8], names: &mut Names) -> (Vec<Piece>, Vec<u8>, Vec<Slot>) {
    let (mut pieces, mut numbered, mut params) = (Vec::new(), Vec::new(), Vec::new());
    let (mut literal, mut at) = (0, 0);
    while let Some(colon) = memchr::memchr(b':', &text[at..]).map(|offset| at + offset) {
        let name = colon + 1;
        if !text.get(name).is_some_and(|&byte| is_name_start(byte)) {
            at = end_while(text, colon, |byte| byte == b':');
            continue;
        }
        let end = end_while(text, name, is_name_byte);
        if literal < colon {
            pieces.push(Piece::Literal(literal..colon));
        }
        let slot = names.intern(&text[name..end]);
        pieces.push(Piece::Var { slot, original: colon..end });
        params.push(slot);
        numbered.extend_from_slice(&text[literal..colon]);
        numbered.extend_from_slice(format!("${}", params.len()).as_bytes());
        (literal, at) = (end, end);
    }
    if literal < text.len() {
        pieces.push(Piece::Literal(literal..text.len()));
    }
    numbered.extend_from_slice(&text[literal..]);
    (pieces, numbered, params)
}

fn end_while(text: &[u8], start: usize, keep: impl Fn(u8) -> bool) -> usize {
    text[start..].iter().position(|&byte| !keep(byte)).map_or(text.len(), |offset| start + offset)
}

impl Sql {
    pub(crate) fn new(text: Vec<u8>, rows_declared: Option<u64>, names: &mut Names) -> Self {
        let (pieces, numbered, params) = cut(&text, names);
        let statements = statements(&text);
        Self {
            kinds: statements.iter().map(|found| found.kind).collect(),
            hides_writes: statements.iter().map(|found| found.hides_writes).collect(),
            text: text.into(),
            pieces: pieces.into(),
            numbered: numbered.into(),
            params: params.into(),
            store: None,
            rows_declared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use proptest::prelude::*;

    fn sql(text: &str, names: &mut Names) -> Sql {
        Sql::new(text.as_bytes().to_vec(), None, names)
    }

    fn simple(text: &str, set: &[(&str, Value)]) -> String {
        let mut names = Names::new();
        let sql = sql(text, &mut names);
        let mut vars = Vars::new(&names);
        for (name, value) in set {
            if let Some(slot) = names.lookup(name.as_bytes()) {
                vars.set(slot, *value);
            }
        }
        let mut out = Vec::new();
        sql.write_simple(&vars, &mut out);
        String::from_utf8(out).expect("text")
    }

    /// Defined variables are replaced by their text form, also within quotes; all else stays.
    #[test]
    fn substitution() {
        let set = [
            ("a", Value::Int(-5)),
            ("b", Value::Double(0.1)),
            ("c", Value::Bool(true)),
            ("d", Value::Null),
        ];
        for (text, sent) in [
            ("SELECT :a, :b, :c, :d", "SELECT -5, 0.1, true, NULL"),
            ("SELECT ':a:b'::text, ::a, :::b", "SELECT '-50.1'::text, ::a, :::b"),
            ("SELECT :1, :undefined, :A /* :a */", "SELECT :1, :undefined, :A /* -5 */"),
            ("SELECT x[1:2], a:=:a", "SELECT x[1:2], a:=-5"),
            (":a", "-5"),
            (":", ":"),
            ("", ""),
        ] {
            assert_eq!(simple(text, &set), sent);
        }
    }

    /// In the extended protocol every reference has a number of its own, defined or not.
    #[test]
    fn numbering() {
        let mut names = Names::new();
        let sql = sql("SELECT :a, ':b', :a::int, :1, ::c", &mut names);
        assert_eq!(&*sql.numbered, b"SELECT $1, '$2', $3::int, :1, ::c");
        let params: Vec<_> = sql.params.iter().map(|&slot| names.text(slot)).collect();
        assert_eq!(params, ["a", "b", "a"]);
    }

    /// 255 variables are the most for the extended protocol.
    #[test]
    fn params_max() {
        let mut names = Names::new();
        let text = ":a ".repeat(255);
        assert!(sql(&text, &mut names).check_params().is_ok());
        let text = ":a ".repeat(256);
        let error = sql(&text, &mut names).check_params().expect_err("one too many");
        let said = format!("statement has too many arguments (maximum is 255): {text}");
        assert_eq!(error.to_string(), said);
    }

    /// Each statement of a group has a label of its own.
    #[test]
    fn labels_of_groups() {
        let sql =
            sql("BEGIN; /* x */ SELECT ';'\nFROM t;;\n  UPDATE t SET a = 1", &mut Names::new());
        let labels: Vec<_> = (0..4).map(|part| sql.label_of(part)).collect();
        assert_eq!(labels, ["BEGIN;", "SELECT ';'", "UPDATE t SET a = 1", ""]);
    }

    /// In a group, the declared rows are those of its first write.
    #[test]
    fn declared_rows_of_groups() {
        for (text, part) in [
            ("UPDATE t SET a = 1", 0),
            ("BEGIN; SELECT 1; UPDATE t SET a = 1; DELETE FROM t; END", 2),
            ("BEGIN; SELECT 1; END", 1),
            ("BEGIN", 0),
        ] {
            let sql = Sql::new(text.as_bytes().to_vec(), Some(7), &mut Names::new());
            let declared: Vec<_> =
                (0..sql.kinds.len()).filter(|part| sql.rows_declared_of(*part).is_some()).collect();
            assert_eq!(declared, [part], "{text}");
        }
    }

    proptest! {
        /// With no variable defined, the text goes out as it came, whatever it is.
        #[test]
        fn undefined_is_identity(text in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut names = Names::new();
            let sql = Sql::new(text.clone(), None, &mut names);
            let mut vars = Vars::new(&names);
            for name in [crate::names::SCALE, crate::names::CLIENT_ID] {
                vars.unset(names.lookup(name.as_bytes()).expect("automatic"));
            }
            let mut out = Vec::new();
            sql.write_simple(&vars, &mut out);
            prop_assert_eq!(out, text);
            prop_assert_eq!(
                sql.params.len(),
                sql.pieces.iter().filter(|piece| matches!(piece, Piece::Var { .. })).count()
            );
        }
    }
}
