//! What Ctrl-C does while tables are made: it cancels the running statement.

use pgdyno_wire::client::CancelHandle;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;

use super::message::Messages;

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
