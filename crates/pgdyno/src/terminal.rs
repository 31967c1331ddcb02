//! Where words for people go, and how they may look there.
//!
//! Standard output is for results only; everything else goes to standard
//! error. A reader that has gone away (a closed pipe) is no failure.

use std::io::{self, IsTerminal as _, Write as _};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pgdyno_report::Style;

/// What the two streams can show.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// Standard output's looks.
    pub(crate) out: Style,
    /// Standard error's looks.
    pub(crate) err: Style,
    /// Standard error is a terminal: lines may be drawn over.
    pub(crate) err_is_terminal: bool,
    /// Only errors and results.
    quiet: bool,
}

impl Terminal {
    /// Looks at the streams and at `NO_COLOR`, `COLUMNS` and the locale.
    pub(crate) fn look(quiet: bool) -> Self {
        let unicode = speaks_unicode();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let style = |terminal: bool| Style {
            width: if terminal { width() } else { Style::default().width },
            color: terminal && !no_color && !dumb,
            unicode,
        };
        let err_is_terminal = io::stderr().is_terminal();
        Self {
            out: style(io::stdout().is_terminal()),
            err: style(err_is_terminal),
            err_is_terminal: err_is_terminal && !dumb,
            quiet,
        }
    }

    /// Only errors and results are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A result, as it is.
    pub(crate) fn result(&self, text: &str) {
        let mut out = io::stdout().lock();
        // `pgdyno run | head -1` is a wish, not a fault.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// What is being done, or was found: one line.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.line(text);
        }
    }

    /// What a person should know.
    pub(crate) fn warn(&self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    /// Why it did not work.
    pub(crate) fn error(&self, text: &str) {
        self.line(&format!("pgdyno: error: {text}"));
    }

    /// One line on standard error. What others said is left as it is.
    fn line(&self, text: &str) {
        if self.err.unicode || text.is_ascii() {
            eprint_line(text);
        } else {
            eprint_line(&text.replace('…', "..."));
        }
    }

    /// A progress bar over `total` rows; invisible where nobody would see it.
    pub(crate) fn bar(&self, total: u64) -> ProgressBar {
        let draw = if self.err_is_terminal && !self.quiet {
            ProgressDrawTarget::stderr_with_hz(8)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(total), draw);
        let blocks = if self.err.unicode { "█▉▊▋▌▍▎▏ " } else { "##-" };
        // A narrow terminal gets the figures without the bar.
        let template = if self.err.columns() < 60 {
            "  {msg} {percent}% {per_sec} {eta}"
        } else {
            "  {msg:22} {bar:24} {percent:>3}%  {per_sec} rows/s  {eta} left"
        };
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("per_sec", |state: &indicatif::ProgressState, w: &mut dyn std::fmt::Write| {
                let _ = write!(w, "{}", pgdyno_report::format::rate(state.per_sec()));
            })
            .progress_chars(blocks);
        bar.with_style(style)
    }
}

fn eprint_line(text: &str) {
    let text = pgdyno_record::redact::without_held_back(text);
    let mut err = io::stderr().lock();
    // Nobody is left to tell that nobody listens.
    let _ = writeln!(err, "{text}");
}

/// Columns of the terminal behind standard error or output.
fn width() -> usize {
    let size = console::Term::stderr().size_checked();
    let size = size.or_else(|| console::Term::stdout().size_checked());
    size.map_or(Style::default().width, |(_, columns)| usize::from(columns))
}

/// UTF-8 in the locale, as the C library would find it.
fn speaks_unicode() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_none_or(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
}
