//! What Ctrl-C does: it cancels the running statement of an initialization, and
//! ends a benchmark in order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_wire::client::CancelHandle;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::message::Messages;

/// The exit code after a second interrupt: by convention 128 + SIGINT.
const EXIT_INTERRUPTED: i32 = 130;

/// From now on an interrupt sends a cancel request; the statement then fails
/// with the server's own words, and with it the program.
///
/// A thread waits for the signal, since a request needs a connection of its
/// own and a signal handler may not make one. Where the system gives no
/// handler or thread, Ctrl-C keeps ending the program at once.
pub(super) fn cancel_on_interrupt(cancel: CancelHandle, messages: &Messages) {
    let Ok(mut signals) = Signals::new([SIGINT]) else { return };
    let teller = messages.clone();
    let waiting = std::thread::Builder::new().name("interrupt".into());
    let spawned = waiting.spawn(move || {
        for _ in signals.forever() {
            let text = match cancel.cancel() {
                Ok(()) => "Cancel request sent\n".to_owned(),
                Err(error) => format!("Could not send cancel request: {error}\n"),
            };
            teller.raw(text.as_bytes());
        }
    });
    if spawned.is_err() {
        messages.raw(b"Ctrl-C will not cancel statements: no thread could be started\n");
    }
}

/// A flag that the first interrupt sets, so that a run ends in order and its
/// report is written; a second one ends the program at once. Without a handler
/// the first does.
pub(super) fn stop_on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    // In this order: the first signal finds the flag unset and passes.
    let at_once = flag::register_conditional_shutdown(SIGINT, EXIT_INTERRUPTED, Arc::clone(&stop));
    if let Ok(id) = at_once
        && flag::register(SIGINT, Arc::clone(&stop)).is_err()
    {
        // Alone, the handler would never see the flag set, and Ctrl-C would do nothing.
        signal_hook::low_level::unregister(id);
    }
    stop
}
