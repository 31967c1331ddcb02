//! How text may look: width, colour, characters. Colour never carries meaning
//! alone; every coloured word says the same without it.

/// What the place where the text goes can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns. Less than [`Style::WIDTH_MIN`] is taken as that.
    pub width: usize,
    /// Whether ANSI colours may be used. The caller decides: a terminal, and
    /// `NO_COLOR` not set.
    pub color: bool,
    /// Whether characters beyond ASCII may be used.
    pub unicode: bool,
}

/// What a piece of text means, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Strong,
    Quiet,
    Good,
    Warning,
    Bad,
}

impl Default for Style {
    /// Plain text of 80 columns: what a file gets.
    fn default() -> Self {
        Self { width: 80, color: false, unicode: true }
    }
}

impl Style {
    /// The narrowest width that text is laid out for.
    pub const WIDTH_MIN: usize = 40;

    /// The widest line: longer ones are hard to read.
    pub const WIDTH_MAX: usize = 100;

    /// The columns that are really used.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.width.clamp(Self::WIDTH_MIN, Self::WIDTH_MAX)
    }

    /// The text in the colour of its tone, or as it is.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "1;31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Text from outside: control characters become blanks, so that a
    /// statement cannot move the cursor, and where only ASCII may be used
    /// everything else becomes `?`.
    pub(crate) fn clean(&self, text: &str) -> String {
        let shown = |c: char| match c {
            c if c.is_control() => ' ',
            '…' | '·' | '−' | 'µ' if !self.unicode => '.',
            c if !self.unicode && !c.is_ascii() => '?',
            c => c,
        };
        text.chars().map(shown).collect()
    }

    /// Between two facts on one line.
    pub(crate) fn dot(&self) -> &'static str {
        if self.unicode { " · " } else { ", " }
    }
}

/// Columns that a text takes; our own texts hold no wide characters.
pub(crate) fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// The text cut to so many columns, with a sign that it was cut.
pub(crate) fn cut(text: &str, columns: usize, unicode: bool) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let sign = if unicode { "…" } else { "..." };
    let kept = columns.saturating_sub(columns_of(sign));
    let head: String = text.chars().take(kept).collect();
    format!("{}{sign}", head.trim_end())
}

/// The words of a text in lines of at most so many columns. A word that is
/// longer by itself is broken.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut rest: Vec<char> = word.chars().collect();
        if used > 0 && used + 1 + rest.len() > columns {
            lines.push(String::new());
            used = 0;
        }
        while rest.len() > columns {
            let tail = rest.split_off(columns);
            lines.push(rest.iter().collect());
            rest = tail;
            lines.retain(|line| !line.is_empty());
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            used += rest.len();
            line.extend(rest);
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Facts side by side, `separator` between them, in lines of at most so many
/// columns; a fact is only broken where it is longer than a line.
pub(crate) fn flow(facts: &[String], separator: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in facts.iter().filter(|fact| !fact.is_empty()) {
        let fits = lines.last().is_some_and(|line| {
            columns_of(line) + columns_of(separator) + columns_of(fact) <= columns
        });
        match lines.last_mut() {
            Some(line) if fits => {
                line.push_str(separator);
                line.push_str(fact);
            }
            _ => lines.extend(wrap(fact, columns)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Text from outside cannot send control sequences to a terminal.
    #[test]
    fn clean_removes_control_characters() {
        let style = Style { unicode: false, ..Style::default() };
        assert_eq!(style.clean("a\x1b[31m\tb\u{9b}ü"), "a [31m b ?");
    }

    proptest! {
        /// Lines never exceed the width, and no character is lost.
        #[test]
        fn wrap_keeps_text_and_width(text in "[a-zä ]{0,200}", columns in 1..50_usize) {
            let lines = wrap(&text, columns);
            prop_assert!(lines.iter().all(|line| columns_of(line) <= columns));
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }

        /// Cut text fits.
        #[test]
        fn cut_fits(text in ".{0,80}", columns in 3..50_usize, unicode: bool) {
            prop_assert!(columns_of(&cut(&text, columns, unicode)) <= columns);
        }
    }
}
