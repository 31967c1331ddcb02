//! Listening, and the life of the emulator as a whole.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pgdyno_wire::options::Options;
use pgdyno_wire::{ConnectContext, Connection};

use crate::config::{Config, Encryption};
use crate::shared::{Bucket, Shared, lock};
use crate::{EmulatorError, catalog, startup, tls};

/// How often the listener looks whether it should stop.
const ACCEPT_TICK: Duration = Duration::from_millis(20);

/// Settings of the sessions behind. The deadlock detector ends circles of
/// sessions that are busy with each other's rows, so it must be quick; the
/// superuser may set it. The last one tells the emulator's sessions from
/// others for the sake of the limits of objects.
const SESSION_SETTINGS: [(&str, &str); 4] = [
    ("default_transaction_isolation", "repeatable read"),
    ("TimeZone", "UTC"),
    ("deadlock_timeout", "20ms"),
    ("pgdyno.emulator", "on"),
];

/// A running emulator. Dropping it ends its sessions.
pub struct Emulator {
    shared: Arc<Shared>,
    address: SocketAddr,
    listener: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Emulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emulator").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Emulator {
    /// Prepares the server behind, and listens.
    ///
    /// # Errors
    /// [`EmulatorError`].
    pub fn start(config: Config) -> Result<Self, EmulatorError> {
        let mut control = Connection::connect(&ConnectContext::new(&config.upstream)?)?;
        catalog::set_up(&mut control)?;
        let tls = match &config.encryption {
            Encryption::Required { names, certificate } => {
                Some(tls::make(names, certificate.as_deref())?)
            }
            Encryption::Off => None,
        };
        let listen = |address| -> std::io::Result<(TcpListener, SocketAddr)> {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = listen(config.listen)
            .map_err(|source| EmulatorError::Listen { address: config.listen, source })?;
        let shared = Arc::new(Shared {
            upstream: ConnectContext::new(&session_options(&config.upstream))?,
            tls,
            control: Mutex::new(control),
            sessions: Mutex::new(HashMap::new()),
            catalog: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            bucket: Mutex::new(Bucket::full(&config.limits)),
            config,
        });
        let for_thread = Arc::clone(&shared);
        let listener = thread::Builder::new()
            .name("emulator".to_owned())
            .spawn(move || accept(&listener, &for_thread))
            .map_err(EmulatorError::Thread)?;
        Ok(Self { shared, address, listener: Some(listener) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The file to verify the emulator's certificate by; `None` without TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<&Path> {
        self.shared.tls.as_ref().map(|tls| tls.certificate.as_path())
    }

    /// Sessions that are open now.
    #[must_use]
    pub fn session_count(&self) -> usize {
        lock(&self.shared.sessions).len()
    }
}

impl Emulator {
    /// Ends what still runs behind, which may take for ever.
    fn end_statements(&self) {
        let pids: Vec<i32> = lock(&self.shared.sessions).keys().copied().collect();
        for pid in pids {
            // A session that has ended by itself is what is wanted.
            let sql = format!("SELECT pg_terminate_backend({pid})");
            let _ = lock(&self.shared.control).execute(&sql);
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.end_statements();
        if let Some(listener) = self.listener.take() {
            // It has nothing to say but that it is over.
            let _ = listener.join();
        }
    }
}

fn session_options(upstream: &Options) -> Options {
    let mut options = upstream.clone();
    let settings = SESSION_SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    options.runtime_params.extend(settings);
    options.application_name = Some("pgdyno emulator".to_owned());
    options
}

/// Accepts until told to stop, then waits for the sessions' threads.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let open = Arc::new(AtomicUsize::new(0));
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    while !shared.stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                threads.retain(|thread| !thread.is_finished());
                threads.extend(spawn(stream, shared, &open));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(ACCEPT_TICK),
            // Out of descriptors, for example: the next one may fare better.
            Err(_) => thread::sleep(ACCEPT_TICK),
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn spawn(
    stream: TcpStream,
    shared: &Arc<Shared>,
    open: &Arc<AtomicUsize>,
) -> Option<JoinHandle<()>> {
    let (shared, open) = (Arc::clone(shared), Arc::clone(open));
    let may_come = lock(&shared.bucket).take(&shared.config.limits, Instant::now());
    let place = open.fetch_add(1, Ordering::Relaxed);
    let admission = if !may_come {
        startup::Admission::RateExceeded
    } else if place >= shared.config.limits.connections_max {
        startup::Admission::TooMany
    } else {
        startup::Admission::Free
    };
    let for_thread = Arc::clone(&open);
    let spawned = thread::Builder::new().name("emulator session".to_owned()).spawn(move || {
        // A client that goes away is the usual end; there is nobody to tell.
        let _ = startup::serve(stream, &shared, admission);
        for_thread.fetch_sub(1, Ordering::Relaxed);
    });
    if spawned.is_err() {
        open.fetch_sub(1, Ordering::Relaxed);
    }
    spawned.ok()
}
