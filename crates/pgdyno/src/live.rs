//! What a person sees while a run goes on: one line for each second.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pgdyno_engine::observe::{Level, Observer};
use pgdyno_engine::outcome::ClientError;
use pgdyno_record::timeline::Point;
use pgdyno_report::Style;

use crate::assemble::reason;
use crate::warmup_waits::WarmupClock;

/// Notices that are printed; a trigger with RAISE NOTICE would bury all else.
const NOTICES_SHOWN_MAX: usize = 5;

/// Errors of clients that are printed as they happen, one of each kind: enough
/// to see that a run is going wrong. All kinds are in the summary.
const ERRORS_SHOWN_MAX: usize = 3;

/// While clients connect: one line so often.
const CONNECTING_EVERY: Duration = Duration::from_secs(1);

/// Prints to standard error.
pub(crate) struct Live {
    style: Style,
    quiet: bool,
    state: Mutex<State>,
    warmup: Option<WarmupClock>,
}

struct State {
    notices: BTreeSet<String>,
    /// SQLSTATE, place and first line.
    errors: BTreeSet<(Option<String>, Option<String>, String)>,
    last_connecting: Instant,
}

impl Live {
    pub(crate) fn new(style: Style, quiet: bool, warmup: Option<WarmupClock>) -> Self {
        let state = State {
            notices: BTreeSet::new(),
            errors: BTreeSet::new(),
            last_connecting: Instant::now(),
        };
        Self { style, quiet, state: Mutex::new(state), warmup }
    }

    fn line(&self, text: &str) {
        use std::io::Write as _;
        if !self.quiet {
            let text = pgdyno_record::redact::without_held_back(text);
            // Nobody is left to tell that nobody listens.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        }
    }
}

impl Observer for Live {
    /// Errors of clients are told by [`Observer::aborted`], which knows them apart.
    fn message(&self, level: Level, text: &str) {
        if level != Level::Error {
            self.line(text.trim_end());
        }
    }

    fn notice(&self, text: &str) {
        let Ok(mut state) = self.state.lock() else { return };
        let shown = state.notices.len();
        if shown < NOTICES_SHOWN_MAX && state.notices.insert(text.to_owned()) {
            self.line(text.trim_end());
            if shown + 1 == NOTICES_SHOWN_MAX {
                self.line("(further notices are not shown)");
            }
        }
    }

    fn aborted(&self, _: u32, error: &ClientError) {
        let Ok(mut state) = self.state.lock() else { return };
        let shown = state.errors.len();
        if shown == ERRORS_SHOWN_MAX {
            return;
        }
        let first_line = error.text.lines().next().unwrap_or_default().to_owned();
        if state.errors.insert((error.sqlstate.clone(), error.place.clone(), first_line.clone())) {
            let one_line = ClientError { text: first_line, ..error.clone() };
            self.line(&format!("  client {} ended: {}", error.client, reason(&one_line)));
            if shown + 1 == ERRORS_SHOWN_MAX {
                self.line("  (further errors of clients are in the summary only)");
            }
        }
    }

    fn script_debug(&self, line: &str) {
        self.line(line);
    }

    fn connecting(&self, ready: u32, of: u32) {
        let Ok(mut state) = self.state.lock() else { return };
        if ready < of && state.last_connecting.elapsed() >= CONNECTING_EVERY {
            state.last_connecting = Instant::now();
            self.line(&format!("  {ready} of {of} clients connected"));
        }
    }

    fn begins(&self, measured_from: Instant) {
        if let Some(warmup) = &self.warmup {
            warmup.begins(measured_from);
        }
    }

    fn second(&self, point: &Point) {
        if let Some(warmup) = &self.warmup {
            warmup.second();
        }
        self.line(&pgdyno_report::progress(point, 1, &self.style));
    }
}
