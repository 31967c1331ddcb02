//! A server that plays its part by a script: what it reports of itself, and
//! what it answers to which statement. It speaks enough of the protocol for
//! sessions, simple and prepared statements and transactions, and keeps no
//! data. One thread for each connection.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Asks for TLS, for GSS encryption, and to cancel: none is offered.
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;

/// What a statement is answered with.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Rows of as many columns, then `SELECT n`.
    Rows(Vec<Vec<Option<String>>>),
    /// SQLSTATE and message.
    Error(&'static str, String),
    /// As an error, but the connection is closed right after it.
    LastWords(&'static str, String),
    /// The connection is closed without a word.
    HangUp,
}

/// Stands for a session that begins once a transaction has ended: those of the
/// clients that are not their first.
pub(crate) const LATER_SESSION: &str = "(a later session)";

/// An answer to statements that hold a text.
#[derive(Debug, Clone)]
struct Rule {
    part: &'static str,
    answer: Answer,
    /// How often it is given; afterwards the rule is gone.
    times: usize,
    delay: Duration,
}

/// What a server is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    parameters: Vec<(&'static str, &'static str)>,
    rules: Vec<Rule>,
}

impl Part {
    /// A server that reports these parameters when a session starts.
    pub(crate) fn new(parameters: &[(&'static str, &'static str)]) -> Self {
        Self { parameters: parameters.to_vec(), rules: Vec::new() }
    }

    /// Answers statements that hold `part` with one row.
    pub(crate) fn row(self, part: &'static str, columns: &[Option<&str>]) -> Self {
        let row = columns.iter().map(|column| column.map(str::to_owned)).collect();
        self.always(part, Answer::Rows(vec![row]))
    }

    /// Answers statements that hold `part`.
    pub(crate) fn always(self, part: &'static str, answer: Answer) -> Self {
        self.times(usize::MAX, part, answer)
    }

    /// Answers the next so many statements that hold `part`. Of several rules
    /// that fit, the one that was given first counts until it is used up.
    pub(crate) fn times(mut self, times: usize, part: &'static str, answer: Answer) -> Self {
        self.rules.push(Rule { part, answer, times, delay: Duration::ZERO });
        self
    }

    /// Thinks before it answers statements that hold `part`.
    pub(crate) fn slow(mut self, delay: Duration, part: &'static str, answer: Answer) -> Self {
        self.rules.push(Rule { part, answer, times: usize::MAX, delay });
        self
    }
}

#[derive(Debug)]
struct Shared {
    parameters: Vec<(&'static str, &'static str)>,
    rules: Mutex<Vec<Rule>>,
    /// Every statement that was executed.
    heard: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl Shared {
    fn answer(&self, sql: &str) -> Option<Answer> {
        let mut rules = self.rules.lock().unwrap();
        let rule = rules.iter_mut().find(|rule| rule.times > 0 && sql.contains(rule.part))?;
        if rule.times < usize::MAX {
            rule.times -= 1;
        }
        let (answer, delay) = (rule.answer.clone(), rule.delay);
        drop(rules);
        std::thread::sleep(delay);
        Some(answer)
    }
}

/// A server that plays a part until it is dropped.
pub(crate) struct Fake {
    pub(crate) port: u16,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Fake {
    pub(crate) fn start(part: Part) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").unwrap(), part)
    }

    /// On a socket that was bound before, so that its port could be told.
    pub(crate) fn listen(listener: TcpListener, part: Part) -> Self {
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            parameters: part.parameters,
            rules: Mutex::new(part.rules),
            heard: Mutex::new(Vec::new()),
            stop: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || {
            for socket in listener.incoming() {
                if own.stop.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(socket) = socket else { continue };
                let shared = Arc::clone(&own);
                std::thread::spawn(move || {
                    // The client is gone, or was hung up on.
                    let _ = Session::new(socket, shared).and_then(|mut session| session.serve());
                });
            }
        });
        Self { port, shared, acceptor: Some(acceptor) }
    }

    /// How many statements that hold `part` were executed.
    pub(crate) fn heard(&self, part: &str) -> usize {
        self.shared.heard.lock().unwrap().iter().filter(|sql| sql.contains(part)).count()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Wakes the acceptor.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// Messages on their way out.
#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn message(&mut self, tag: u8, body: &[u8]) {
        self.0.push(tag);
        self.0.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        self.0.extend_from_slice(body);
    }

    fn ready(&mut self, status: u8) {
        self.message(b'Z', &[status]);
    }

    fn complete(&mut self, tag: &str) {
        self.message(b'C', format!("{tag}\0").as_bytes());
    }

    fn error(&mut self, sqlstate: &str, message: &str) {
        let body = format!("SERROR\0VERROR\0C{sqlstate}\0M{message}\0\0");
        self.message(b'E', body.as_bytes());
    }

    fn rows(&mut self, rows: &[Vec<Option<String>>], described: bool) {
        let columns = rows.first().map_or(0, Vec::len);
        if described {
            self.message(b'T', &description(columns));
        }
        for row in rows {
            let mut body = (row.len() as u16).to_be_bytes().to_vec();
            for value in row {
                match value {
                    Some(text) => {
                        body.extend_from_slice(&(text.len() as u32).to_be_bytes());
                        body.extend_from_slice(text.as_bytes());
                    }
                    None => body.extend_from_slice(&(-1_i32).to_be_bytes()),
                }
            }
            self.message(b'D', &body);
        }
        self.complete(&format!("SELECT {}", rows.len()));
    }
}

/// Columns of text, named by their number.
fn description(columns: usize) -> Vec<u8> {
    let mut body = (columns as u16).to_be_bytes().to_vec();
    for column in 0..columns {
        body.extend_from_slice(format!("c{column}\0").as_bytes());
        body.extend_from_slice(&[0; 6]);
        body.extend_from_slice(&25_u32.to_be_bytes());
        body.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    }
    body
}

struct Session {
    socket: TcpStream,
    shared: Arc<Shared>,
    status: u8,
    statements: HashMap<String, String>,
    portal: String,
    /// An error came; everything is passed over until Sync.
    skipping: bool,
    out: Out,
}

impl Session {
    fn new(socket: TcpStream, shared: Arc<Shared>) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        let mut session = Self {
            socket,
            shared,
            status: b'I',
            statements: HashMap::new(),
            portal: String::new(),
            skipping: false,
            out: Out::default(),
        };
        session.begin()?;
        Ok(session)
    }

    fn begin(&mut self) -> io::Result<()> {
        loop {
            let body = self.read_body()?;
            match body.get(..4).map(|code| u32::from_be_bytes([code[0], code[1], code[2], code[3]]))
            {
                Some(SSL_REQUEST | GSS_REQUEST) => self.socket.write_all(b"N")?,
                Some(CANCEL_REQUEST) | None => return Err(io::ErrorKind::ConnectionAborted.into()),
                Some(_) => break,
            }
        }
        let is_later = self.shared.heard.lock().unwrap().iter().any(|sql| sql == "END");
        if is_later
            && let Some(Answer::Error(sqlstate, message)) = self.shared.answer(LATER_SESSION)
        {
            self.out.error(sqlstate, &message);
            self.flush()?;
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        self.out.message(b'R', &[0; 4]);
        for (name, value) in self.shared.parameters.clone() {
            self.out.message(b'S', format!("{name}\0{value}\0").as_bytes());
        }
        self.out.message(b'K', &[0, 0, 0, 1, 0, 0, 0, 2]);
        self.out.ready(b'I');
        self.flush()
    }

    fn read_body(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.socket.read_exact(&mut length)?;
        let mut body = vec![0; u32::from_be_bytes(length).saturating_sub(4) as usize];
        self.socket.read_exact(&mut body)?;
        Ok(body)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.write_all(&std::mem::take(&mut self.out.0))
    }

    fn serve(&mut self) -> io::Result<()> {
        loop {
            let mut tag = [0];
            self.socket.read_exact(&mut tag)?;
            let body = self.read_body()?;
            match tag[0] {
                b'X' => return Ok(()),
                b'Q' => {
                    let sql = text(&body, 0).0;
                    self.execute(&sql, true)?;
                    self.skipping = false;
                    self.out.ready(self.status);
                    self.flush()?;
                }
                b'S' => {
                    self.skipping = false;
                    self.out.ready(self.status);
                    self.flush()?;
                }
                b'H' => self.flush()?,
                _ if self.skipping => {}
                other => self.extended(other, &body)?,
            }
        }
    }

    fn extended(&mut self, tag: u8, body: &[u8]) -> io::Result<()> {
        match tag {
            b'P' => {
                let (name, next) = text(body, 0);
                self.statements.insert(name, text(body, next).0);
                self.out.message(b'1', &[]);
            }
            b'B' => {
                let name = text(body, text(body, 0).1).0;
                self.portal = self.statements.get(&name).cloned().unwrap_or_default();
                self.out.message(b'2', &[]);
            }
            b'D' => self.out.message(b'n', &[]),
            b'C' => self.out.message(b'3', &[]),
            b'E' => {
                let sql = self.portal.clone();
                self.execute(&sql, false)?;
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        Ok(())
    }

    /// One statement: by the script, else as any server would.
    fn execute(&mut self, sql: &str, described: bool) -> io::Result<()> {
        let sql = sql.trim().trim_end_matches(';');
        self.shared.heard.lock().unwrap().push(sql.to_owned());
        let word = sql.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        let ends = matches!(word.as_str(), "COMMIT" | "END" | "ROLLBACK");
        if self.status == b'E' && !ends {
            self.fail("25P02", "current transaction is aborted");
            return Ok(());
        }
        match self.shared.answer(sql) {
            Some(Answer::Rows(rows)) => {
                self.out.rows(&rows, described);
                return Ok(());
            }
            Some(Answer::Error(sqlstate, message)) => {
                self.fail(sqlstate, &message);
                if ends {
                    self.status = b'I';
                }
                return Ok(());
            }
            Some(Answer::LastWords(sqlstate, message)) => {
                self.out.error(sqlstate, &message);
                self.flush()?;
                self.socket.shutdown(Shutdown::Write)?;
                // What is not read would turn the words into a reset.
                io::copy(&mut self.socket, &mut io::sink())?;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            Some(Answer::HangUp) => {
                let _ = self.socket.shutdown(Shutdown::Both);
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            None => {}
        }
        match word.as_str() {
            "BEGIN" => {
                self.status = b'T';
                self.out.complete("BEGIN");
            }
            "COMMIT" | "END" | "ROLLBACK" => {
                let done = word != "ROLLBACK" && self.status == b'T';
                self.status = b'I';
                self.out.complete(if done { "COMMIT" } else { "ROLLBACK" });
            }
            "UPDATE" | "DELETE" => self.out.complete(&format!("{word} 1")),
            "INSERT" => self.out.complete("INSERT 0 1"),
            "SET" => self.out.complete("SET"),
            "SELECT" if sql == "SELECT 1" => {
                self.out.rows(&[vec![Some("1".to_owned())]], described);
            }
            _ => self.fail("42883", &format!("this server knows nothing of: {sql}")),
        }
        Ok(())
    }

    fn fail(&mut self, sqlstate: &str, message: &str) {
        self.out.error(sqlstate, message);
        self.skipping = true;
        if self.status == b'T' {
            self.status = b'E';
        }
    }
}

/// A text up to its zero byte, and where the next begins.
fn text(body: &[u8], from: usize) -> (String, usize) {
    let rest = body.get(from..).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    (String::from_utf8_lossy(&rest[..end]).into_owned(), from + end + 1)
}
