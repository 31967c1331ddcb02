//! CommandComplete: which command ended, and how many rows it touched.

/// The commands that a load or an audit tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are SQL's")]
pub enum CommandKind {
    Select,
    Insert,
    Update,
    Delete,
    Merge,
    Copy,
    Fetch,
    Move,
    Begin,
    Commit,
    Rollback,
    /// Anything else, such as DDL.
    Other,
}

impl CommandKind {
    /// True for commands whose row count says how much was written.
    #[must_use]
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Delete | Self::Merge | Self::Copy)
    }
}

/// A command tag, such as `UPDATE 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandTag {
    /// The command.
    pub kind: CommandKind,
    /// Rows read or written; `None` where the command does not count any.
    pub rows: Option<u64>,
}

impl CommandTag {
    /// Reads the body of a CommandComplete message. Unknown commands are
    /// [`CommandKind::Other`], never an error: servers have their own.
    #[inline]
    #[must_use]
    pub fn parse(body: &[u8]) -> Self {
        let text = body.strip_suffix(&[0]).unwrap_or(body);
        // A tag is some ten bytes: to look at one after the other takes half of
        // what `memchr` takes to begin.
        let word_end = text.iter().position(|byte| *byte == b' ').unwrap_or(text.len());
        let kind = match &text[..word_end] {
            b"SELECT" => CommandKind::Select,
            b"INSERT" => CommandKind::Insert,
            b"UPDATE" => CommandKind::Update,
            b"DELETE" => CommandKind::Delete,
            b"MERGE" => CommandKind::Merge,
            b"COPY" => CommandKind::Copy,
            b"FETCH" => CommandKind::Fetch,
            b"MOVE" => CommandKind::Move,
            b"BEGIN" | b"START" => CommandKind::Begin,
            // A COMMIT of a failed transaction answers ROLLBACK.
            b"COMMIT" => CommandKind::Commit,
            b"ROLLBACK" => CommandKind::Rollback,
            _ => CommandKind::Other,
        };
        Self { kind, rows: Self::rows(body) }
    }

    /// As [`CommandTag::parse`], the rows alone.
    #[inline]
    #[must_use]
    pub fn rows(body: &[u8]) -> Option<u64> {
        let text = body.strip_suffix(&[0]).unwrap_or(body);
        match text {
            // Those of nearly every statement of a benchmark.
            [.., b' ', digit @ b'0'..=b'9'] => Some(u64::from(digit - b'0')),
            _ => trailing_number(text),
        }
    }

    /// As [`CommandTag::parse`], only whether it is [`CommandKind::Rollback`].
    #[inline]
    #[must_use]
    pub fn is_rollback(body: &[u8]) -> bool {
        body.strip_prefix(b"ROLLBACK").is_some_and(|rest| matches!(rest, [] | [0] | [b' ', ..]))
    }
}

/// The number at the end: `INSERT 0 5` counts 5; the 0 is a former row's OID.
fn trailing_number(text: &[u8]) -> Option<u64> {
    let start = text.iter().rposition(|byte| *byte == b' ')? + 1;
    let digits = &text[start..];
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts come from the end of the tag, and only from digits.
    #[test]
    fn tags() {
        for (text, kind, rows) in [
            (&b"INSERT 0 5\0"[..], CommandKind::Insert, Some(5)),
            (b"UPDATE 0\0", CommandKind::Update, Some(0)),
            (b"SELECT 18446744073709551615\0", CommandKind::Select, Some(u64::MAX)),
            (b"SELECT 18446744073709551616\0", CommandKind::Select, None),
            (b"INSERT 0 0\0", CommandKind::Insert, Some(0)),
            (b"UPDATE x\0", CommandKind::Update, None),
            (b"ROLLBACK\0", CommandKind::Rollback, None),
            (b"ROLLBACK PREPARED\0", CommandKind::Rollback, None),
            (b"ROLLBACKS\0", CommandKind::Other, None),
            (b"BEGIN\0", CommandKind::Begin, None),
            (b"START TRANSACTION\0", CommandKind::Begin, None),
            (b"CREATE TABLE\0", CommandKind::Other, None),
            (b"COPY 7", CommandKind::Copy, Some(7)),
            (b"", CommandKind::Other, None),
            (b" ", CommandKind::Other, None),
        ] {
            assert_eq!(CommandTag::parse(text), CommandTag { kind, rows }, "{text:?}");
            assert_eq!(CommandTag::rows(text), rows, "{text:?}");
            let is_rollback = kind == CommandKind::Rollback;
            assert_eq!(CommandTag::is_rollback(text), is_rollback, "{text:?}");
        }
    }
}
