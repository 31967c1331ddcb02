//! Rows as COPY text, turned into INSERTs for servers that take no COPY, and
//! into the parameters of prepared ones.
//!
//! Every value is written as a string, which the server reads as the column's
//! type, just as COPY does.

/// `INSERT INTO table (columns) VALUES (…), (…)` of all rows in `text`, which
/// is COPY's text format: columns end in a tab, rows in a newline, `\N` is
/// null. Appended to `sql`.
pub(super) fn write_insert(table: &str, columns: &[&str], text: &str, sql: &mut String) {
    sql.push_str(&insert_head(table, columns));
    for (number, row) in text.lines().enumerate() {
        sql.push_str(if number == 0 { " (" } else { ", (" });
        for (number, value) in row.split('\t').enumerate() {
            if number > 0 {
                sql.push_str(", ");
            }
            push_value(value, sql);
        }
        sql.push(')');
    }
}

/// What all INSERTs of a table begin with.
pub(super) fn insert_head(table: &str, columns: &[&str]) -> String {
    format!("INSERT INTO {table} ({}) VALUES", columns.join(", "))
}

/// An INSERT of one row whose values are parameters.
pub(super) fn insert_prepared(table: &str, columns: &[&str]) -> String {
    let places: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
    format!("{} ({})", insert_head(table, columns), places.join(", "))
}

/// The values of one row; `None` is SQL's null.
pub(super) fn fields(row: &str) -> Vec<Option<String>> {
    let value = |text: &str| {
        (text != NULL).then(|| {
            let mut plain = String::with_capacity(text.len());
            unescape(text, |c| plain.push(c));
            plain
        })
    };
    row.split('\t').map(value).collect()
}

/// COPY's word for a null.
const NULL: &str = "\\N";

/// One value as a literal, quotation marks doubled. A backslash in a plain
/// string is a backslash (`standard_conforming_strings`).
fn push_value(value: &str, sql: &mut String) {
    if value == NULL {
        sql.push_str("NULL");
        return;
    }
    sql.push('\'');
    unescape(value, |c| {
        if c == '\'' {
            sql.push('\'');
        }
        sql.push(c);
    });
    sql.push('\'');
}

/// Undoes the escapes of COPY's text format.
fn unescape(value: &str, mut push: impl FnMut(char)) {
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        push(match c {
            '\\' => match chars.next() {
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('v') => '\u{b}',
                Some(other) => other,
                None => '\\',
            },
            c => c,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(text: &str) -> String {
        let mut sql = String::new();
        write_insert("t", &["a", "b"], text, &mut sql);
        sql
    }

    /// Nulls, empty values and every escape come out as SQL means them.
    #[test]
    fn values_keep_their_meaning() {
        assert_eq!(insert("1\t\\N\n-2\t\n"), "INSERT INTO t (a, b) VALUES ('1', NULL), ('-2', '')");
        assert_eq!(
            insert("it's\ta\\tb\\nc\\\\d\n"),
            "INSERT INTO t (a, b) VALUES ('it''s', 'a\tb\nc\\d')"
        );
    }

    /// Parameters hold the plain values, and stand in the order of the columns.
    #[test]
    fn parameters_are_plain_values() {
        let expected = [Some("1"), None, Some("a\\b\tc'"), Some("")].map(|v| v.map(str::to_owned));
        assert_eq!(fields("1\t\\N\ta\\\\b\\tc'\t"), expected);
        assert_eq!(insert_prepared("t", &["a", "b"]), "INSERT INTO t (a, b) VALUES ($1, $2)");
    }
}
