//! One address to try, and the socket to it.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, TcpKeepalive, Type};

use crate::error::{Error, Kind, os_words};
use crate::options::{Host, Options};

/// How long a Unix socket whose server is behind with accepting is waited for.
/// The system offers no event for this: the choice is between waiting here,
/// polling, and failing, as libpq does ("Resource temporarily unavailable").
/// A server accepts within milliseconds; a second is generous.
const UNIX_BACKLOG_WAIT: Duration = Duration::from_secs(1);

/// One address of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Which of [`Options::hosts`].
    pub host_index: usize,
    /// The host's name, address or socket folder, as given.
    pub host: String,
    /// The port.
    pub port: u16,
    pub(crate) place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Tcp(SocketAddr),
    Unix(String),
    /// The name has no address; the text is libpq's.
    Unknown(String),
}

impl Endpoint {
    /// Looks up the addresses of a host. Never empty: a name that is not known
    /// becomes an endpoint that fails with the reason when it is tried.
    pub(super) fn resolve(host_index: usize, host: &Host) -> Vec<Self> {
        let make = |place| Self {
            host_index,
            host: match host.addr {
                Some(addr) if host.name.is_empty() => addr.to_string(),
                _ => host.name.clone(),
            },
            port: host.port,
            place,
        };
        if host.is_unix() {
            let path = format!("{}/.s.PGSQL.{}", host.name, host.port);
            return vec![make(Place::Unix(path))];
        }
        if let Some(addr) = host.addr {
            return vec![make(Place::Tcp(SocketAddr::new(addr, host.port)))];
        }
        let unknown = |reason: String| {
            let name = &host.name;
            make(Place::Unknown(format!(
                "could not translate host name \"{name}\" to address: {reason}"
            )))
        };
        match (host.name.as_str(), host.port).to_socket_addrs() {
            Ok(found) => {
                let mut endpoints: Vec<Self> = Vec::new();
                for endpoint in found.map(|addr| make(Place::Tcp(addr))) {
                    if !endpoints.contains(&endpoint) {
                        endpoints.push(endpoint);
                    }
                }
                if endpoints.is_empty() {
                    endpoints.push(unknown("the name has no address".to_owned()));
                }
                endpoints
            }
            Err(error) => {
                let words = error.to_string();
                // Rust puts its own words before the resolver's.
                let reason = words.rsplit(": ").next().unwrap_or(&words);
                vec![unknown(reason.to_owned())]
            }
        }
    }

    /// The address, for TCP.
    #[must_use]
    pub const fn addr(&self) -> Option<SocketAddr> {
        match &self.place {
            Place::Tcp(addr) => Some(*addr),
            Place::Unix(_) | Place::Unknown(_) => None,
        }
    }

    /// True for a Unix socket.
    #[must_use]
    pub const fn is_unix(&self) -> bool {
        matches!(self.place, Place::Unix(_))
    }

    /// What libpq puts before a failure to connect.
    pub(super) fn failure_prefix(&self) -> String {
        match &self.place {
            Place::Tcp(addr) => {
                let ip = addr.ip().to_string();
                let host = &self.host;
                let port = self.port;
                if *host == ip {
                    format!("connection to server at \"{host}\", port {port} failed: ")
                } else {
                    format!("connection to server at \"{host}\" ({ip}), port {port} failed: ")
                }
            }
            Place::Unix(path) => format!("connection to server on socket \"{path}\" failed: "),
            Place::Unknown(_) => String::new(),
        }
    }

    /// Begins to connect. The socket is non-blocking; over TCP it need not be
    /// connected yet.
    pub(super) fn open(&self, options: &Options) -> Result<Socket, Error> {
        match &self.place {
            Place::Unknown(reason) => Err(Error::new(Kind::Connect(reason.clone()))),
            Place::Tcp(addr) => self.open_tcp(*addr, options),
            Place::Unix(path) => self.open_unix(path, options),
        }
    }

    fn open_tcp(&self, addr: SocketAddr, options: &Options) -> Result<Socket, Error> {
        let domain = if addr.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
        let socket = new_socket(domain)?;
        set_tcp_options(&socket, options).map_err(|error| {
            Error::new(Kind::Connect(format!("could not set socket options: {}", os_words(&error))))
        })?;
        match socket.connect(&SockAddr::from(addr)) {
            Ok(()) => Ok(socket),
            Err(error) if is_in_progress(&error) => Ok(socket),
            Err(error) => Err(self.refused(&error)),
        }
    }

    fn open_unix(&self, path: &str, options: &Options) -> Result<Socket, Error> {
        let socket = new_socket(Domain::UNIX)?;
        // A leading zero byte is how Linux spells an abstract name.
        let name = match path.strip_prefix('@') {
            Some(rest) => format!("\0{rest}"),
            None => path.to_owned(),
        };
        let address = SockAddr::unix(&name).map_err(|_| {
            Error::new(Kind::Connect(format!("Unix-domain socket path \"{path}\" is too long")))
        })?;
        let mut result = socket.connect(&address);
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            result = connect_patiently(&socket, &address);
        }
        result.map_err(|error| self.refused(&error))?;
        if let Some(expected) = &options.require_peer {
            check_peer(&socket, expected)?;
        }
        Ok(socket)
    }

    /// libpq's words for a connection that the system refused.
    pub(super) fn refused(&self, error: &io::Error) -> Error {
        let hint = if self.is_unix() {
            "Is the server running locally and accepting connections on that socket?"
        } else {
            "Is the server running on that host and accepting TCP/IP connections?"
        };
        Error::new(Kind::Connect(format!("{}\n\t{hint}", os_words(error))))
    }

    /// The address for a TLS session without a usable name.
    pub(super) fn ip(&self) -> IpAddr {
        self.addr().map_or(IpAddr::from([127, 0, 0, 1]), |addr| addr.ip())
    }
}

fn new_socket(domain: Domain) -> Result<Socket, Error> {
    // One system call instead of three, where the system can.
    #[cfg(target_os = "linux")]
    let open = || Socket::new(domain, Type::STREAM.nonblocking(), None);
    #[cfg(not(target_os = "linux"))]
    let open = || {
        let socket = Socket::new(domain, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    open().map_err(|error: io::Error| {
        Error::new(Kind::Connect(format!("could not create socket: {}", os_words(&error))))
    })
}

fn set_tcp_options(socket: &Socket, options: &Options) -> io::Result<()> {
    socket.set_tcp_nodelay(true)?;
    let keepalives = &options.keepalives;
    if keepalives.on {
        let mut with = TcpKeepalive::new();
        if let Some(idle) = keepalives.idle {
            with = with.with_time(idle);
        }
        if let Some(interval) = keepalives.interval {
            with = with.with_interval(interval);
        }
        if let Some(count) = keepalives.count {
            with = with.with_retries(count);
        }
        // Turns keepalives on as well.
        socket.set_tcp_keepalive(&with)?;
    }
    #[cfg(target_os = "linux")]
    if options.tcp_user_timeout.is_some() {
        socket.set_tcp_user_timeout(options.tcp_user_timeout)?;
    }
    Ok(())
}

fn is_in_progress(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
        || error.raw_os_error() == Some(nix::errno::Errno::EINPROGRESS as i32)
}

/// See [`UNIX_BACKLOG_WAIT`].
fn connect_patiently(socket: &Socket, address: &SockAddr) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    socket.set_write_timeout(Some(UNIX_BACKLOG_WAIT))?;
    let result = socket.connect(address);
    socket.set_write_timeout(None)?;
    socket.set_nonblocking(true)?;
    result
}

/// `requirepeer`: the server must run as that user of the operating system.
fn check_peer(socket: &Socket, expected: &str) -> Result<(), Error> {
    let failed = |reason: String| Error::new(Kind::Auth(reason));
    let uid = peer_uid(socket)
        .map_err(|errno| failed(format!("could not get peer credentials: {}", errno.desc())))?;
    let actual = nix::unistd::User::from_uid(uid)
        .ok()
        .flatten()
        .map_or_else(|| uid.to_string(), |user| user.name);
    if actual == expected {
        return Ok(());
    }
    Err(failed(format!(
        "requirepeer specifies \"{expected}\", but actual peer user name is \"{actual}\""
    )))
}

#[cfg(target_os = "linux")]
fn peer_uid(socket: &Socket) -> nix::Result<nix::unistd::Uid> {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    getsockopt(socket, PeerCredentials).map(|peer| nix::unistd::Uid::from_raw(peer.uid()))
}

#[cfg(not(target_os = "linux"))]
fn peer_uid(socket: &Socket) -> nix::Result<nix::unistd::Uid> {
    nix::unistd::getpeereid(socket).map(|(uid, _)| uid)
}
