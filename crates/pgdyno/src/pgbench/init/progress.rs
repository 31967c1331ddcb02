//! The progress lines of client-side loading, as text.
//!
//! Pure: it is told rows and elapsed time, and answers with bytes for stderr.
//! Everything is as pgbench words it, so that whoever watches its output with a
//! script goes on to do so.

use std::time::Duration;

/// In the loud mode a line comes after every so many rows.
pub const ROWS_PER_LINE: u64 = 100_000;

/// In the quiet mode the clock is looked at after every so many rows; a table
/// that ends between is not mentioned.
const QUIET_ROWS: u64 = 100;

/// In the quiet mode a line comes after every so many seconds.
const QUIET_STEP_S: f64 = 5.0;

/// Makes the lines of one table.
#[derive(Debug)]
pub struct Progress {
    table: &'static str,
    total: u64,
    quiet: bool,
    terminal: bool,
    /// Length of the line that stands on the terminal.
    shown: usize,
    /// In the quiet mode: the step of time after which the next line is due.
    step: f64,
}

impl Progress {
    /// For `total` rows of `table`. On a terminal lines overwrite each other.
    #[must_use]
    pub const fn new(table: &'static str, total: u64, quiet: bool, terminal: bool) -> Self {
        Self { table, total, quiet, terminal, shown: 0, step: 1.0 }
    }

    /// What to print now that `rows` are sent; empty where it is not the time.
    pub fn at(&mut self, rows: u64, elapsed: Duration) -> String {
        let elapsed_s = elapsed.as_secs_f64();
        let due = if self.quiet {
            rows.is_multiple_of(QUIET_ROWS)
                && (rows >= self.total || elapsed_s >= self.step * QUIET_STEP_S)
        } else {
            rows.is_multiple_of(ROWS_PER_LINE)
        };
        if !due || rows == 0 {
            return String::new();
        }
        self.step = (elapsed_s / QUIET_STEP_S).ceil();
        self.line(rows, elapsed_s)
    }

    /// What to print when the table is done: nothing but a cleared line on a terminal.
    #[must_use]
    pub fn end(&self) -> String {
        if self.terminal && self.shown > 0 {
            return format!("{:width$}\r", "", width = self.shown);
        }
        String::new()
    }

    fn line(&mut self, rows: u64, elapsed_s: f64) -> String {
        let left = self.total.saturating_sub(rows) as f64;
        let remaining_s = left * elapsed_s / rows as f64;
        let percent = u128::from(rows) * 100 / u128::from(self.total.max(1));
        let text = format!(
            "{rows} of {} tuples ({percent}%) of {} done (elapsed {elapsed_s:.2} s, remaining {remaining_s:.2} s)",
            self.total, self.table
        );
        let padding = self.shown.saturating_sub(text.len());
        self.shown = text.len();
        let end = if self.terminal { '\r' } else { '\n' };
        format!("{text}{:padding$}{end}", "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(progress: &mut Progress, rows: u64, ms: u64) -> String {
        progress.at(rows, Duration::from_millis(ms))
    }

    /// The loud mode speaks after every 100000 rows and at no other time.
    #[test]
    fn loud() {
        let mut progress = Progress::new("t", 200_000, false, false);
        assert_eq!(at(&mut progress, 10_000, 9_000), "");
        assert_eq!(
            at(&mut progress, 100_000, 1_500),
            "100000 of 200000 tuples (50%) of t done (elapsed 1.50 s, remaining 1.50 s)\n"
        );
        assert_eq!(progress.end(), "");
        // A table that ends between says nothing at its end.
        assert_eq!(at(&mut Progress::new("t", 10, false, false), 10, 1), "");
    }

    /// The quiet mode speaks every five seconds and at the end.
    #[test]
    fn quiet() {
        let mut progress = Progress::new("t", 1_000_000, true, false);
        assert_eq!(at(&mut progress, 100_000, 4_900), "");
        assert!(at(&mut progress, 200_000, 5_100).starts_with("200000 of 1000000 tuples (20%)"));
        assert_eq!(at(&mut progress, 300_000, 9_900), "");
        assert_ne!(at(&mut progress, 400_000, 10_000), "");
        assert_ne!(at(&mut progress, 1_000_000, 10_001), "");
        assert_ne!(at(&mut Progress::new("t", 100, true, false), 100, 1), "");
        assert_eq!(at(&mut Progress::new("t", 110, true, false), 110, 1), "");
    }

    /// On a terminal a shorter line covers the one before, and the last is wiped away.
    #[test]
    fn terminal_lines_cover_each_other() {
        let mut progress = Progress::new("t", 200_000, false, true);
        let first = at(&mut progress, 100_000, 100_000);
        let second = at(&mut progress, 200_000, 100_000);
        assert!(first.ends_with(")\r") && second.ends_with(" \r"), "{second:?}");
        assert_eq!(first.len(), second.len());
        assert!(progress.end().trim_end_matches('\r').chars().all(|c| c == ' '));
    }
}
