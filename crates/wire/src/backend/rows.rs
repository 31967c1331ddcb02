//! RowDescription and DataRow: the shape of a result, and its rows.

use super::{ProtocolError, Reader};

/// The columns of a result, as the server described them.
#[derive(Debug, Clone, Copy)]
pub struct RowDescription<'a> {
    count: u16,
    rest: &'a [u8],
}

/// One column of a [`RowDescription`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column<'a> {
    /// Its name, in the client's encoding.
    pub name: &'a [u8],
    /// The OID of its type.
    pub type_oid: u32,
}

impl<'a> RowDescription<'a> {
    /// Reads the body of a RowDescription message.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(body: &'a [u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader(body);
        let count = reader.u16().ok_or(ProtocolError::Malformed("RowDescription"))?;
        Ok(Self { count, rest: reader.0 })
    }

    /// How many columns.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// True for a result without columns (`SELECT` alone).
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The columns, left to right.
    #[must_use]
    pub const fn columns(&self) -> Columns<'a> {
        Columns { left: self.count, reader: Reader(self.rest) }
    }
}

/// Iterator over [`RowDescription::columns`]. Ends after the first malformed one.
#[derive(Debug, Clone)]
pub struct Columns<'a> {
    left: u16,
    reader: Reader<'a>,
}

impl<'a> Iterator for Columns<'a> {
    type Item = Result<Column<'a>, ProtocolError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let column = read_column(&mut self.reader);
        if column.is_none() {
            self.left = 0;
        }
        Some(column.ok_or(ProtocolError::Malformed("RowDescription")))
    }
}

/// Name, table, attribute, type, size, modifier, format; only two matter here.
fn read_column<'a>(reader: &mut Reader<'a>) -> Option<Column<'a>> {
    let name = reader.cstr()?;
    let _table_and_attribute = reader.bytes(6)?;
    let type_oid = reader.i32()?.cast_unsigned();
    let _size_modifier_format = reader.bytes(8)?;
    Some(Column { name, type_oid })
}

/// One row of a result.
#[derive(Debug, Clone, Copy)]
pub struct DataRow<'a> {
    count: u16,
    rest: &'a [u8],
}

impl<'a> DataRow<'a> {
    /// Reads the body of a DataRow message.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(body: &'a [u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader(body);
        let count = reader.u16().ok_or(ProtocolError::Malformed("DataRow"))?;
        Ok(Self { count, rest: reader.0 })
    }

    /// How many values.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// True for a row without columns.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The values, left to right; `None` is NULL.
    #[must_use]
    pub const fn values(&self) -> Values<'a> {
        Values { left: self.count, reader: Reader(self.rest) }
    }
}

/// Iterator over [`DataRow::values`]. Ends after the first malformed one.
#[derive(Debug, Clone)]
pub struct Values<'a> {
    left: u16,
    reader: Reader<'a>,
}

impl<'a> Iterator for Values<'a> {
    type Item = Result<Option<&'a [u8]>, ProtocolError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let value = read_value(&mut self.reader);
        if value.is_none() {
            self.left = 0;
        }
        Some(value.ok_or(ProtocolError::Malformed("DataRow")))
    }
}

/// The inner `None` is NULL, the outer one a row cut short.
fn read_value<'a>(reader: &mut Reader<'a>) -> Option<Option<&'a [u8]>> {
    match reader.i32()? {
        -1 => Some(None),
        len => reader.bytes(usize::try_from(len).ok()?).map(Some),
    }
}
