//! Connecting; then preparing, and one request to learn the length of its
//! answer.

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use nix::errno::Errno;
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
pub(super) struct Opening {
    socket: Socket,
    to_send: Vec<Vec<u8>>,
    got: Vec<u8>,
}

/// Connects every client and waits until the server is ready for its queries.
pub(super) fn connect(config: &Config) -> io::Result<Vec<Opening>> {
    let mut opening = Vec::with_capacity(config.clients);
    finish(&mut opening, config.clients, |opening, _| {
        opening.push(open(config)?);
        Ok(())
    })?;
    Ok(opening)
}

/// Prepares the statement for every client, and has each make its request once
/// in order to learn the length of the answer.
pub(super) fn prepare(config: &Config, mut opening: Vec<Opening>) -> io::Result<Vec<Client>> {
    finish(&mut opening, config.clients, |opening, index| {
        let one = &mut opening[index];
        one.to_send = vec![frames::request(config.protocol, account(config, index))];
        one.to_send.extend(frames::prepare(config.protocol));
        one.send_next().map(drop)
    })?;
    let clients = opening.into_iter().enumerate();
    Ok(clients.map(|(index, one)| one.into_client(config, index)).collect())
}

/// Begins each of `count` dialogues, some at a time, and reads until all are
/// at their end. `begin` makes the connection, or sends on the one there is.
fn finish(
    opening: &mut Vec<Opening>,
    count: usize,
    mut begin: impl FnMut(&mut Vec<Opening>, usize) -> io::Result<()>,
) -> io::Result<()> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let mut events = vec![EpollEvent::empty(); EVENTS_MAX];
    let mut input = vec![0; READ_BYTES];
    let silence = EpollTimeout::try_from(SILENCE_MAX).map_err(io::Error::other)?;
    let (mut begun, mut done) = (0, 0);
    while done < count {
        while begun < count && begun - done < IN_FLIGHT_MAX {
            begin(opening, begun)?;
            let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
            epoll.add(&opening[begun].socket, EpollEvent::new(flags, begun as u64))?;
            begun += 1;
        }
        let ready = match epoll.wait(&mut events, silence) {
            Err(Errno::EINTR) => continue,
            Ok(0) => return Err(io::Error::new(ErrorKind::TimedOut, "the server is silent")),
            other => other?,
        };
        for event in &events[..ready] {
            let one = &mut opening[event.data() as usize];
            if one.advance(&mut input)? {
                epoll.delete(&one.socket)?;
                done += 1;
            }
        }
    }
    Ok(())
}

fn open(config: &Config) -> io::Result<Opening> {
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
    let startup = frames::startup(&config.user, &config.database);
    let mut one = Opening { socket, to_send: vec![startup], got: Vec::new() };
    one.send_next()?;
    Ok(one)
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
            if frames::ends_ready(&self.got) && !self.send_next()? {
                return Ok(true);
            }
        }
    }

    /// Sends what is next; false where there is nothing.
    fn send_next(&mut self) -> io::Result<bool> {
        let Some(next) = self.to_send.pop() else { return Ok(false) };
        self.got.clear();
        (&self.socket).write_all(&next)?;
        Ok(true)
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
