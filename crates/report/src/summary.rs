//! One screen about a run: the figure, whether it can be believed, and the
//! evidence for that.
//!
//! The page is a headline, a line on what was run, sections with a label on
//! the left and facts on the right, and the warnings with their advice. It
//! says only what the record holds; the judgement was made there.

use std::path::Path;

use pgdyno_record::{RunRecord, Severity, VerdictRecord};

use crate::style::{Style, Tone, columns_of, cut, wrap};

mod effects;
mod endpoints;
mod headline;
mod sections;
mod target;
mod tpcc;

/// Columns before the facts: two blanks, the label, two blanks.
const LABEL_COLUMNS: usize = 16;

/// Warnings shown; the rest is in the record. More would push the figure off
/// the screen.
const WARNINGS_MAX: usize = 6;

/// Columns of a statement's text within a warning's line.
const WARNING_COLUMNS_MAX: usize = 220;

/// The summary of a run, with the end of its last line. `record_path` is where
/// the record lies, when it was kept; it alone may be wider than the page.
#[must_use]
pub fn summary(record: &RunRecord, style: &Style, record_path: Option<&Path>) -> String {
    let mut page = Page { style, lines: Vec::new() };
    page.blank();
    headline::add(&mut page, record);
    page.blank();
    sections::add(&mut page, record);
    warnings(&mut page, &record.verdicts);
    if let Some(path) = record_path {
        page.blank();
        // Not broken over lines: it is there to be copied.
        let path = path.display().to_string().replace(char::is_control, " ");
        page.section_as_is("record", &[path]);
    }
    page.blank();
    page.lines.concat()
}

/// A page that grows by lines, none wider than the style says.
struct Page<'a> {
    style: &'a Style,
    lines: Vec<String>,
}

impl Page<'_> {
    /// Columns that facts may take.
    fn fact_columns(&self) -> usize {
        self.style.columns() - LABEL_COLUMNS
    }

    fn blank(&mut self) {
        self.lines.push("\n".to_owned());
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}\n", text.trim_end()));
    }

    /// A label and its lines of facts, which are wrapped where need be.
    fn section(&mut self, label: &str, facts: &[String]) {
        let width = self.fact_columns();
        let facts = facts.iter().flat_map(|fact| wrap(&self.style.clean(fact), width));
        let facts: Vec<String> = facts.collect();
        self.section_as_is(label, &facts);
    }

    /// A label and lines that fit and may hold colours.
    fn section_as_is(&mut self, label: &str, lines: &[String]) {
        for (at, line) in lines.iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let padded = format!("  {label:<width$}  ", width = LABEL_COLUMNS - 4);
            let label = self.style.paint(Tone::Quiet, &padded);
            self.line(&format!("{label}{line}"));
        }
    }
}

/// Verdicts that take something from the figure, each with its advice.
fn warnings(page: &mut Page<'_>, verdicts: &[VerdictRecord]) {
    let said: Vec<&VerdictRecord> =
        verdicts.iter().filter(|verdict| verdict.severity > Severity::Good).collect();
    if said.is_empty() {
        return;
    }
    page.blank();
    for (at, verdict) in said.iter().take(WARNINGS_MAX).enumerate() {
        // Two statements that find no row need the same advice only once.
        let repeated = said.get(at + 1).is_some_and(|next| next.advice == verdict.advice);
        warning(page, verdict, !repeated || at + 1 == WARNINGS_MAX);
    }
    if said.len() > WARNINGS_MAX {
        page.line(&format!("  and {} more in the record", said.len() - WARNINGS_MAX));
    }
}

fn warning(page: &mut Page<'_>, verdict: &VerdictRecord, with_advice: bool) {
    let style = page.style;
    let (mark, tone) = match verdict.severity {
        Severity::Fatal => (if style.unicode { "✗" } else { "x" }, Tone::Bad),
        Severity::Warning => ("!", Tone::Warning),
        Severity::Note | Severity::Good => (if style.unicode { "·" } else { "-" }, Tone::Quiet),
    };
    let width = style.columns() - 4;
    let text = cut(&style.clean(&verdict.text), WARNING_COLUMNS_MAX, style.unicode);
    for (at, line) in wrap(&text, width).iter().enumerate() {
        let mark = if at == 0 { style.paint(tone, mark) } else { " ".to_owned() };
        page.line(&format!("  {mark} {line}"));
    }
    let advice = if with_advice { verdict.advice.as_str() } else { "" };
    for line in wrap(&style.clean(advice), width - 2) {
        page.line(&format!("      {}", style.paint(Tone::Quiet, &line)));
    }
    debug_assert!(columns_of(mark) == 1, "the text is indented by one column");
}

#[cfg(test)]
mod tests;
