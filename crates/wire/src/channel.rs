//! A connected socket, with TLS or without: bytes in, bytes out.
//!
//! Never blocks: the socket is non-blocking, and a call that cannot go on
//! returns `WouldBlock`. Without TLS, [`Channel::send`] and [`Channel::recv`]
//! are one system call each and copy nothing.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use rustls::ClientConnection;
use socket2::Socket;

use crate::calls;

/// A non-blocking, connected socket, and TLS above it where negotiated.
#[derive(Debug)]
pub struct Channel {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
}

impl Channel {
    /// Takes a connected, non-blocking socket.
    pub(crate) const fn plain(socket: Socket) -> Self {
        Self { socket, tls: None }
    }

    /// Puts TLS on top. The handshake is driven by [`Channel::handshake`].
    pub(crate) fn start_tls(&mut self, tls: ClientConnection) {
        self.tls = Some(Box::new(tls));
    }

    /// Sends what fits now; returns how much of `data` was taken. With TLS,
    /// bytes taken may still wait for the socket: see [`Channel::wants_write`].
    ///
    /// # Errors
    /// `WouldBlock` where nothing could be taken; else the socket's error, or
    /// `InvalidData` for a failure of TLS.
    #[inline]
    pub fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => calls::send(&self.socket, data),
            Some(tls) => send_tls(tls, &self.socket, data),
        }
    }

    /// Sends the last bytes, as far as that is possible without waiting, and
    /// closes. Over TCP the two leave as one packet: sent by itself, a goodbye
    /// costs both sides as much as a request.
    pub fn close(mut self, last: &[u8]) {
        // The server ends the session in any case once the socket is closed.
        if self.is_tls() {
            let _ = self.send(last);
            self.shutdown();
        } else {
            let _ = calls::send_last(&self.socket, last);
        }
    }

    /// As [`Channel::close`], for a socket that something else holds as well,
    /// such as a receive of `io_uring`: the connection ends all the same.
    pub fn hang_up(self, last: &[u8]) {
        let _ = calls::send_last(&self.socket, last);
        self.end();
    }

    /// Ends the connection, and keeps the socket: whoever receives on it hears
    /// of the end.
    pub fn end(&self) {
        // One that is not connected any more has ended.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }

    /// Receives what is there; 0 means that the server has closed.
    ///
    /// # Errors
    /// `WouldBlock` where nothing is there; else as [`Channel::send`].
    #[inline]
    pub fn recv(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => calls::recv(&self.socket, buf),
            Some(tls) => recv_tls(tls, &self.socket, buf),
        }
    }

    /// True while TLS holds bytes that the socket has not taken: wait for the
    /// socket to become writable and call [`Channel::flush`]. Never without TLS.
    #[inline]
    #[must_use]
    pub fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Hands TLS' remaining bytes to the socket.
    ///
    /// # Errors
    /// `WouldBlock` where some are left.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            None => Ok(()),
            Some(tls) => flush_tls(tls, &self.socket),
        }
    }

    /// True where TLS may hold decrypted bytes that no readiness of the socket
    /// will announce: call [`Channel::recv`] again. Never without TLS. A caller
    /// who receives until `WouldBlock` need not ask.
    #[inline]
    pub fn has_pending(&mut self) -> bool {
        match &mut self.tls {
            None => false,
            Some(tls) => {
                tls.process_new_packets().is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
            }
        }
    }

    /// True where the bytes are encrypted.
    #[must_use]
    pub const fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// The TLS session, for its version, cipher and the server's certificate.
    #[must_use]
    pub fn tls(&self) -> Option<&ClientConnection> {
        self.tls.as_deref()
    }

    /// Goes on with the TLS handshake; true once it is complete.
    ///
    /// # Errors
    /// `WouldBlock` where the socket must become ready (for writing if
    /// [`Channel::wants_write`], else for reading); else as [`Channel::send`].
    pub(crate) fn handshake(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        loop {
            flush_tls(tls, &self.socket)?;
            if !tls.is_handshaking() {
                return Ok(());
            }
            if read_tls(tls, &self.socket)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The socket itself, for its options and pending errors.
    pub(crate) const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Says goodbye as far as that is possible without waiting. Dropping the
    /// channel afterwards closes the socket.
    pub fn shutdown(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            // The server closes anyway; nobody is left to hear of an error.
            let _ = flush_tls(tls, &self.socket);
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for Channel {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// The socket as `Read` and `Write`, by the system calls of [`calls`].
struct Wire<'a>(&'a Socket);

impl Read for Wire<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        calls::recv(self.0, buf)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        calls::send(self.0, buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A failure of TLS as an `io::Error` that keeps rustls' own inside.
fn tls_failed(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn flush_tls(tls: &mut ClientConnection, socket: &Socket) -> io::Result<()> {
    while tls.wants_write() {
        if tls.write_tls(&mut Wire(socket))? == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
    }
    Ok(())
}

fn send_tls(tls: &mut ClientConnection, socket: &Socket, data: &[u8]) -> io::Result<usize> {
    // Older records first, or rustls' own buffer would only grow to its limit.
    match flush_tls(tls, socket) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let taken = tls.writer().write(data)?;
    match flush_tls(tls, socket) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        Ok(()) | Err(_) if taken == 0 && !data.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
        Ok(()) | Err(_) => Ok(taken),
    }
}

/// One read of the socket into TLS, decrypted; 0 at the end of the stream.
fn read_tls(tls: &mut ClientConnection, socket: &Socket) -> io::Result<usize> {
    let read = tls.read_tls(&mut Wire(socket))?;
    if let Err(error) = tls.process_new_packets() {
        // The alert tells the server why; it may not be listening any more.
        let _ = flush_tls(tls, socket);
        return Err(tls_failed(error));
    }
    Ok(read)
}

fn recv_tls(tls: &mut ClientConnection, socket: &Socket, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match tls.reader().read(buf) {
            // PostgreSQL does not always send a close_notify; a stream cut
            // short shows as a message cut short.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            other => return other,
        }
        read_tls(tls, socket)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thousands of clients each hold one: without TLS it is two words, and
    /// TLS lies behind a pointer.
    #[test]
    fn is_small() {
        assert!(size_of::<Channel>() <= 16);
    }

    /// Without TLS bytes pass unchanged, an empty socket says so at once, and a
    /// peer that is gone is an end or an error, never a signal.
    #[test]
    fn plain_bytes_and_ends() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut channel = Channel::plain(Socket::from(std::os::fd::OwnedFd::from(ours)));
        let mut buf = [0; 8];
        assert_eq!(channel.recv(&mut buf).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        (&theirs).write_all(b"abc").unwrap();
        assert_eq!(channel.recv(&mut buf).unwrap(), 3);
        assert_eq!(&buf[..3], b"abc");
        assert_eq!(channel.send(b"xyz").unwrap(), 3);
        assert!(!channel.wants_write() && !channel.has_pending() && !channel.is_tls());
        let full = std::iter::repeat_with(|| channel.send(&[0; 65536]).err()).flatten().next();
        assert_eq!(full.unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(theirs);
        assert!(channel.send(b"x").is_err());
        assert!(matches!(channel.recv(&mut buf), Ok(0) | Err(_)));
    }

    /// The last bytes reach the other side, and then the end, over TCP and over
    /// a Unix socket.
    #[test]
    fn goodbye_and_end() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (tcp_peer, _) = listener.accept().unwrap();
        let (unix, unix_peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let tcp: (_, Box<dyn Read>) = (Socket::from(tcp), Box::new(tcp_peer));
        let unix: (_, Box<dyn Read>) =
            (Socket::from(std::os::fd::OwnedFd::from(unix)), Box::new(unix_peer));
        for (ours, mut theirs) in [tcp, unix] {
            ours.set_nonblocking(true).unwrap();
            Channel::plain(ours).close(b"goodbye");
            let mut said = Vec::new();
            theirs.read_to_end(&mut said).unwrap();
            assert_eq!(said, b"goodbye");
        }
    }
}
