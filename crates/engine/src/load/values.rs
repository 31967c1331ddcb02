//! Rows as COPY text, turned into one `INSERT` for servers that take no COPY.
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

/// One value: escapes of COPY undone, quotation marks doubled. A backslash in
/// a plain string is a backslash (`standard_conforming_strings`).
fn push_value(value: &str, sql: &mut String) {
    if value == "\\N" {
        sql.push_str("NULL");
        return;
    }
    sql.push('\'');
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        let plain = match c {
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
        };
        if plain == '\'' {
            sql.push('\'');
        }
        sql.push(plain);
    }
    sql.push('\'');
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
}
