//! Splits a script into commands and reads meta commands.

use crate::conditional::link_conditionals;
use crate::error::{ParseError, ScriptError};
use crate::expr::{self, Expr};
use crate::lex::{Collected, SqlLexer, Stop};
use crate::names::{Names, is_valid_name};
use crate::number;
use crate::script::{
    Amount, Command, CommandKind, Script, Shell, ShellWord, Sleep, Target, WORDS_MAX,
};
use crate::sql::{SQL_LABEL_MAX, Sql, Store, StoreMode};

impl Script {
    /// Compiles a script. `name` is the file's name or a built-in script's description.
    ///
    /// # Errors
    /// A fault in the text, an empty script, or conditionals that do not nest.
    pub fn parse(name: &str, source: &[u8], names: &mut Names) -> Result<Self, ScriptError> {
        parse_script(name, source, names)
    }
}

/// See [`Script::parse`].
fn parse_script(name: &str, source: &[u8], names: &mut Names) -> Result<Script, ScriptError> {
    // pgbench holds scripts as C strings.
    let source = memchr::memchr(0, source).map_or(source, |end| &source[..end]);
    let mut reader = Reader { name, source, names, commands: Vec::new() };
    let mut lexer = SqlLexer::new(source);
    let mut collected = Collected::default();
    loop {
        let stop = lexer.next(&mut collected);
        if !collected.text.is_empty() {
            reader.sql(std::mem::take(&mut collected), lexer.at, stop);
        }
        match stop {
            Stop::Semicolon => {}
            Stop::Backslash => {
                collected = Collected::default();
                lexer.at = reader.meta(lexer.at - 1)?;
            }
            Stop::End => break,
        }
    }
    if reader.commands.is_empty() {
        return Err(ScriptError::Empty { script: name.to_owned() });
    }
    let mut commands = reader.commands;
    link_conditionals(name, &mut commands)?;
    Ok(Script { name: name.to_owned(), commands, source: source.into() })
}

struct Reader<'a, 'n> {
    name: &'a str,
    source: &'a [u8],
    names: &'n mut Names,
    commands: Vec<Command>,
}

/// A word of a meta command.
struct Word {
    bytes: Vec<u8>,
    at: usize,
}

impl Word {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn is(&self, other: &str) -> bool {
        self.bytes.eq_ignore_ascii_case(other.as_bytes())
    }
}

/// A meta command while it is read.
struct Meta {
    /// Offset of its backslash.
    start: usize,
    /// Behind what was read.
    end: usize,
    words: Vec<Word>,
}

impl Reader<'_, '_> {
    fn line_of(&self, offset: usize) -> u32 {
        let before = &self.source[..offset.min(self.source.len())];
        memchr::memchr_iter(b'\n', before).count() as u32 + 1
    }

    fn sql(&mut self, collected: Collected, end: usize, stop: Stop) {
        let end = if stop == Stop::Backslash { end - 1 } else { end };
        let text = collected.text;
        let label = &text[..memchr::memchr(b'\n', &text).unwrap_or(text.len())];
        let label = String::from_utf8_lossy(&label[..label.len().min(SQL_LABEL_MAX)]).into_owned();
        let kind = CommandKind::Sql(Box::new(Sql::new(text, collected.rows_declared, self.names)));
        let line = self.line_of(collected.start);
        let span = collected.start..end;
        self.commands.push(Command { line, span, label, words: Vec::new(), kind });
    }

    /// Reads the meta command whose backslash is at `start`; gives the offset behind it.
    fn meta(&mut self, start: usize) -> Result<usize, Box<ParseError>> {
        let mut meta = Meta { start, end: start + 1, words: Vec::new() };
        self.take_word(&mut meta);
        let Some(name) = meta.words.first() else { return Ok(meta.end) };
        let takes = |names: &[&str]| names.iter().any(|other| name.is(other));
        let kind = if takes(&["set", "if", "elif"]) {
            Some(self.with_expression(&mut meta)?)
        } else {
            while self.take_word(&mut meta) {
                if meta.words.len() > WORDS_MAX {
                    return Err(self.error(&meta, false, "too many arguments", None, None));
                }
            }
            self.with_words(&meta)?
        };
        if let Some(kind) = kind {
            self.commands.push(Command {
                line: self.line_of(start),
                span: start..meta.end,
                label: self.text_of(start, meta.end),
                words: shown_words(&kind, &meta.words),
                kind,
            });
        }
        Ok(meta.end)
    }

    /// Reads one more word; false at the end of the line, which is then passed.
    fn take_word(&self, meta: &mut Meta) -> bool {
        let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0c | 0x0b);
        loop {
            match self.source[meta.end..] {
                [byte, ..] if blank(byte) => meta.end += 1,
                [b'\\', b'\n', ..] => meta.end += 2,
                [b'\\', b'\r', b'\n', ..] => meta.end += 3,
                [b'\n', ..] => {
                    meta.end += 1;
                    return false;
                }
                [] => return false,
                _ => break,
            }
        }
        let rest = &self.source[meta.end..];
        let length =
            rest.iter().position(|&byte| blank(byte) || byte == b'\n').unwrap_or(rest.len());
        let mut bytes = rest[..length].to_vec();
        let at = meta.end;
        meta.end += length;
        // A word may be glued to the backslash that continues its line.
        if bytes.last() == Some(&b'\\') {
            let newline = match rest[length..] {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => 0,
            };
            if newline > 0 {
                bytes.pop();
                meta.end += newline;
            }
        }
        meta.words.push(Word { bytes, at });
        true
    }

    /// The text from a backslash, without the newline at its end.
    fn text_of(&self, start: usize, end: usize) -> String {
        let mut text = &self.source[start..end];
        while let [rest @ .., b'\n' | b'\r'] = text {
            text = rest;
        }
        String::from_utf8_lossy(text).into_owned()
    }

    fn error(
        &self,
        meta: &Meta,
        with_text: bool,
        message: &str,
        more: Option<String>,
        at: Option<usize>,
    ) -> Box<ParseError> {
        Box::new(ParseError {
            script: self.name.to_owned(),
            line: self.line_of(meta.start),
            message: message.to_owned(),
            more,
            command: meta.words.first().map(Word::text),
            text: with_text.then(|| self.text_of(meta.start, meta.end)),
            column: at.map(|at| at.saturating_sub(meta.start)),
        })
    }

    fn with_expression(&mut self, meta: &mut Meta) -> Result<CommandKind, Box<ParseError>> {
        let target = if meta.words[0].is("set") {
            if !self.take_word(meta) {
                return Err(self.error(meta, false, "missing argument", None, None));
            }
            Some(self.target(&meta.words[1].bytes))
        } else {
            None
        };
        let expr = match expr::parse(self.source, meta.end, self.names) {
            Ok((expr, end)) => {
                meta.end = end;
                expr
            }
            Err(failure) => {
                meta.end = failure.end;
                let (message, at) = (failure.message, Some(failure.at));
                return Err(self.error(meta, true, message, failure.more, at));
            }
        };
        Ok(match target {
            Some(target) => CommandKind::Set { target, expr },
            None if meta.words[0].is("if") => CommandKind::If { cond: expr, otherwise: 0 },
            None => CommandKind::Elif { cond: expr, otherwise: 0, end: 0 },
        })
    }

    fn target(&mut self, name: &[u8]) -> Target {
        if is_valid_name(name) {
            Target::Slot(self.names.intern(name))
        } else {
            Target::Invalid(String::from_utf8_lossy(name).into_owned())
        }
    }

    /// `None` for `\gset` and `\aset`, which belong to the command before them.
    fn with_words(&mut self, meta: &Meta) -> Result<Option<CommandKind>, Box<ParseError>> {
        let (name, count) = (&meta.words[0], meta.words.len());
        let fail = |message| Err(self.error(meta, true, message, None, None));
        let plain = [
            ("else", CommandKind::Else { end: 0 }),
            ("endif", CommandKind::Endif),
            ("startpipeline", CommandKind::StartPipeline),
            ("syncpipeline", CommandKind::SyncPipeline),
            ("endpipeline", CommandKind::EndPipeline),
        ];
        for (plain, kind) in plain {
            if name.is(plain) {
                return if count > 1 { fail("unexpected argument") } else { Ok(Some(kind)) };
            }
        }
        if name.is("sleep") {
            return self.sleep(meta).map(Some);
        }
        if name.is("setshell") {
            if count < 3 {
                return fail("missing argument");
            }
            let target = self.target(&meta.words[1].bytes);
            return Ok(Some(CommandKind::SetShell { target, shell: self.shell(&meta.words[2..]) }));
        }
        if name.is("shell") {
            if count < 2 {
                return fail("missing command");
            }
            return Ok(Some(CommandKind::Shell(self.shell(&meta.words[1..]))));
        }
        let mode = if name.is("gset") {
            StoreMode::Gset
        } else if name.is("aset") {
            StoreMode::Aset
        } else {
            return fail("invalid command");
        };
        if count > 2 {
            return fail("too many arguments");
        }
        self.store(meta, mode)?;
        Ok(None)
    }

    fn store(&mut self, meta: &Meta, mode: StoreMode) -> Result<(), Box<ParseError>> {
        let bytes = meta.words.get(1).map_or(&[][..], |word| &word.bytes);
        let store = Some(Store { mode, prefix: bytes.into() });
        let more = match self.commands.last_mut() {
            Some(Command { kind: CommandKind::Sql(sql), .. }) if sql.store.is_none() => {
                sql.store = store;
                return Ok(());
            }
            // Only a meta command is named: pgbench has no label for SQL yet at this point.
            Some(Command { kind: CommandKind::Sql(_), .. }) | None => None,
            Some(command) => Some(command.label.clone()),
        };
        let mut error = self.error(meta, false, "\\gset must follow an SQL command", more, None);
        error.command = None;
        Err(error)
    }

    fn shell(&mut self, words: &[Word]) -> Shell {
        let words = words.iter().map(|word| match word.bytes[..] {
            [b':', b':', ..] => ShellWord::Text(word.bytes[1..].into()),
            [b':', ref name @ ..] => {
                ShellWord::Var { slot: self.names.intern(name), name: word.text() }
            }
            _ => ShellWord::Text(word.bytes[..].into()),
        });
        Shell { words: words.collect() }
    }
}

impl Reader<'_, '_> {
    fn sleep(&mut self, meta: &Meta) -> Result<CommandKind, Box<ParseError>> {
        let words = &meta.words;
        if words.len() < 2 {
            return Err(self.error(meta, true, "missing argument", None, None));
        }
        if let Some(extra) = words.get(3) {
            return Err(self.error(meta, true, "too many arguments", None, Some(extra.at)));
        }
        let first = &words[1];
        let mut unit = words.get(2).map(|word| (word.bytes.clone(), word.at));
        let amount = if let [b':', name @ ..] = &first.bytes[..] {
            let text = String::from_utf8_lossy(name).into_owned();
            Amount::Var { slot: self.names.intern(name), name: text }
        } else {
            let (number_end, has_digits) = number_end(&first.bytes);
            if number_end < first.bytes.len() {
                if unit.is_some() || !has_digits {
                    let message = "invalid sleep time, must be an integer";
                    return Err(self.error(
                        meta,
                        true,
                        message,
                        Some(first.text()),
                        Some(first.at),
                    ));
                }
                unit = Some((first.bytes[number_end..].to_vec(), first.at + number_end));
            }
            Amount::Const(number::atoi(&first.bytes))
        };
        let unit_us = match &unit {
            None => 1_000_000,
            Some((unit, _)) if unit.eq_ignore_ascii_case(b"us") => 1,
            Some((unit, _)) if unit.eq_ignore_ascii_case(b"ms") => 1000,
            Some((unit, _)) if unit.eq_ignore_ascii_case(b"s") => 1_000_000,
            Some((unit, at)) => {
                let more = String::from_utf8_lossy(unit).into_owned();
                let message = "unrecognized time unit, must be us, ms or s";
                return Err(self.error(meta, true, message, Some(more), Some(*at)));
            }
        };
        Ok(CommandKind::Sleep(Sleep { command: words[0].text(), amount, unit_us }))
    }
}

/// Where the number at the start of a word ends, its sign included, and whether it has digits.
fn number_end(word: &[u8]) -> (usize, bool) {
    let sign = usize::from(matches!(word.first(), Some(b'+' | b'-')));
    let digits = word[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (sign + digits, digits > 0)
}

/// The words as pgbench keeps them: a unit glued to the number of `\sleep` is there twice.
fn shown_words(kind: &CommandKind, words: &[Word]) -> Vec<String> {
    let mut shown: Vec<String> = words.iter().map(Word::text).collect();
    if let (CommandKind::Sleep(Sleep { amount: Amount::Const(_), .. }), [_, number]) = (kind, words)
    {
        let unit = &number.bytes[number_end(&number.bytes).0..];
        if !unit.is_empty() {
            shown.push(String::from_utf8_lossy(unit).into_owned());
        }
    }
    shown
}

/// For tests and tools: an expression by itself.
impl Expr {
    /// Compiles an expression that is not part of a script.
    ///
    /// # Errors
    /// As in a script, with `expression` as its name.
    pub fn parse(text: &str, names: &mut Names) -> Result<Self, Box<ParseError>> {
        let source = text.as_bytes();
        match expr::parse(source, 0, names) {
            Ok((expr, _)) => Ok(expr),
            Err(failure) => Err(Box::new(ParseError {
                script: "expression".to_owned(),
                line: 1,
                message: failure.message.to_owned(),
                more: failure.more,
                command: None,
                text: Some(text.to_owned()),
                column: Some(failure.at),
            })),
        }
    }
}
