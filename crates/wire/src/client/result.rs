//! What a statement gave, as text.

use crate::backend::{CommandTag, DataRow, ProtocolError, RowDescription};

/// The result of one statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryResult {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows; `None` is NULL. Bytes that are not UTF-8 are replaced.
    pub rows: Vec<Vec<Option<String>>>,
    /// The command and its count; `None` for an empty statement.
    pub tag: Option<CommandTag>,
}

impl QueryResult {
    /// A value; `None` for NULL and for one that is not there.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> Option<&str> {
        self.rows.get(row)?.get(column)?.as_deref()
    }

    pub(super) fn described(body: &[u8]) -> Result<Self, ProtocolError> {
        let description = RowDescription::parse(body)?;
        let columns = description
            .columns()
            .map(|column| Ok(lossy(column?.name)))
            .collect::<Result<_, ProtocolError>>()?;
        Ok(Self { columns, ..Self::default() })
    }

    pub(super) fn push_row(&mut self, body: &[u8]) -> Result<(), ProtocolError> {
        let row = DataRow::parse(body)?
            .values()
            .map(|value| Ok(value?.map(lossy)))
            .collect::<Result<_, ProtocolError>>()?;
        self.rows.push(row);
        Ok(())
    }

    /// The outer `None`: there is not exactly one row with a column.
    pub(super) fn into_only_value(self) -> Option<Option<String>> {
        let [row] = <[Vec<_>; 1]>::try_from(self.rows).ok()?;
        row.into_iter().next()
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
