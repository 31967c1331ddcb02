//! Ctrl-C: the first ends in order, the second at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code after the second signal: by convention 128 + SIGINT.
const EXIT_AT_ONCE: i32 = 130;

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets. A further one ends
/// the program at once; the embedded server's guard then cleans up behind it.
///
/// # Errors
/// The system refuses a signal handler.
pub(crate) fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds the flag unset and passes.
        flag::register_conditional_shutdown(signal, EXIT_AT_ONCE, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
