//! Connecting: start-up, preparing, and one request to learn the length of its
//! answer.

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use socket2::{Domain, SockAddr, Socket, Type};

use super::{Address, Client, Config, EVENTS_MAX, Length, READ_BYTES, frames};

/// Connections that are being made at a time. PostgreSQL starts a process for
/// each; more at once make it no faster and overflow its backlog.
const IN_FLIGHT_MAX: usize = 64;

/// Accounts in a branch, from pgbench's schema.
const ACCOUNTS_PER_SCALE: u64 = 100_000;

/// Spreads neighbouring clients over the table: a prime, so that no two of
/// fewer than 100,000 clients meet.
const ACCOUNT_STRIDE: u64 = 7919;

/// How long nothing may happen while connecting.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// A connection in the making: what is still to be sent, last first, and what
/// came since the last send.
struct Opening {
    socket: Socket,
    to_send: Vec<Vec<u8>>,
    got: Vec<u8>,
}

/// Connects every client.
pub(super) fn connect(config: &Config) -> io::Result<Vec<Client>> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let mut opening: Vec<Option<Opening>> = Vec::with_capacity(config.clients);
    let mut clients: Vec<Option<Client>> = (0..config.clients).map(|_| None).collect();
    let mut ready = 0;
    let mut events = vec![EpollEvent::empty(); EVENTS_MAX];
    let mut input = vec![0; READ_BYTES];
    let silence = EpollTimeout::try_from(SILENCE_MAX).map_err(io::Error::other)?;
    while ready < config.clients {
        while opening.len() < config.clients && opening.len() - ready < IN_FLIGHT_MAX {
            let index = opening.len();
            let new = open(config, index)?;
            let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
            epoll.add(&new.socket, EpollEvent::new(flags, index as u64))?;
            opening.push(Some(new));
        }
        let count = epoll.wait(&mut events, silence)?;
        if count == 0 {
            return Err(io::Error::new(ErrorKind::TimedOut, "the server does not answer"));
        }
        for event in &events[..count] {
            let index = event.data() as usize;
            let Some(one) = opening[index].as_mut() else { continue };
            if !one.advance(&mut input)? {
                continue;
            }
            if let Some(one) = opening[index].take() {
                epoll.delete(&one.socket)?;
                clients[index] = Some(one.into_client(config, index));
                ready += 1;
            }
        }
    }
    Ok(clients.into_iter().flatten().collect())
}

fn open(config: &Config, index: usize) -> io::Result<Opening> {
    let (domain, address) = match &config.address {
        Address::Tcp(address) => (Domain::for_address(*address), SockAddr::from(*address)),
        Address::Unix(path) => (Domain::UNIX, SockAddr::unix(path)?),
    };
    let socket = Socket::new(domain, Type::STREAM, None)?;
    // Blocking while it connects: on one machine that takes microseconds, or
    // as long as the server's backlog is full, which is worth waiting for.
    socket.connect(&address)?;
    socket.set_nonblocking(true)?;
    if domain != Domain::UNIX {
        socket.set_tcp_nodelay(true)?;
    }
    let mut to_send = vec![frames::request(config.protocol, account(config, index))];
    to_send.extend(frames::prepare(config.protocol));
    (&socket).write_all(&frames::startup(&config.user, &config.database))?;
    Ok(Opening { socket, to_send, got: Vec::new() })
}

fn account(config: &Config, index: usize) -> u64 {
    let accounts = ACCOUNTS_PER_SCALE * u64::from(config.scale.max(1));
    1 + (index as u64 * ACCOUNT_STRIDE) % accounts
}

impl Opening {
    /// Reads what there is and sends what is next; true once the last answer
    /// is complete.
    fn advance(&mut self, input: &mut [u8]) -> io::Result<bool> {
        loop {
            match (&self.socket).read(input) {
                Ok(0) => {
                    let words = frames::complaint(&self.got);
                    let words = words.unwrap_or_else(|| "the server hung up".to_owned());
                    return Err(io::Error::new(ErrorKind::ConnectionAborted, words));
                }
                Ok(count) => self.got.extend_from_slice(&input[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
            if let Some(words) = frames::complaint(&self.got) {
                return Err(io::Error::other(words));
            }
            if frames::ends_ready(&self.got) {
                let Some(next) = self.to_send.pop() else { return Ok(true) };
                self.got.clear();
                (&self.socket).write_all(&next)?;
            }
        }
    }

    fn into_client(self, config: &Config, index: usize) -> Client {
        Client {
            socket: self.socket,
            request: frames::request(config.protocol, account(config, index)).into(),
            answer_bytes: self.got.len(),
            got_bytes: 0,
            left: match config.length {
                Length::Time(_) => u64::MAX,
                Length::Transactions(number) => number,
            },
        }
    }
}
