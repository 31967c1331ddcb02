//! The listening sockets.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use socket2::{Domain, SockAddr, Socket, Type};

use super::Config;

/// Connections that may wait to be accepted: more than the largest count of
/// clients measured, so that connecting never waits for a retransmission.
const BACKLOG: i32 = 8192;

/// The sockets that are listened on.
#[derive(Debug)]
pub(super) struct Listeners {
    pub(super) sockets: Vec<Socket>,
    pub(super) tcp_address: Option<SocketAddr>,
    pub(super) port: u16,
    pub(super) path: Option<PathBuf>,
}

impl Listeners {
    pub(super) fn open(config: &Config) -> io::Result<Self> {
        let mut listeners =
            Self { sockets: Vec::new(), tcp_address: None, port: config.port, path: None };
        if let Some(host) = &config.host {
            listeners.open_tcp(host)?;
        }
        if let Some(dir) = &config.socket_dir {
            if listeners.port == 0 {
                listeners.port = free_port()?;
            }
            listeners.open_unix(dir.join(format!(".s.PGSQL.{}", listeners.port)))?;
        }
        if listeners.sockets.is_empty() {
            return Err(io::Error::other("neither a TCP address nor a socket folder was given"));
        }
        Ok(listeners)
    }

    fn open_tcp(&mut self, host: &str) -> io::Result<()> {
        let address = (host, self.port)
            .to_socket_addrs()?
            .next()
            .ok_or_else(|| io::Error::other(format!("\"{host}\" has no address")))?;
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        self.listen(socket, &SockAddr::from(address))?;
        let bound = self.sockets.last().map(Socket::local_addr).transpose()?;
        self.tcp_address = bound.and_then(|bound| bound.as_socket());
        self.port = self.tcp_address.map_or(self.port, |bound| bound.port());
        Ok(())
    }

    fn open_unix(&mut self, path: PathBuf) -> io::Result<()> {
        // A socket file that nobody answers is what a killed server leaves.
        let stale = path.exists() && std::os::unix::net::UnixStream::connect(&path).is_err();
        if stale {
            std::fs::remove_file(&path)?;
        }
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        self.listen(socket, &SockAddr::unix(&path)?)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777))?;
        self.path = Some(path);
        Ok(())
    }

    fn listen(&mut self, socket: Socket, address: &SockAddr) -> io::Result<()> {
        socket.bind(address)?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        self.sockets.push(socket);
        Ok(())
    }
}

/// A number for the Unix socket's name where TCP did not choose one.
fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
