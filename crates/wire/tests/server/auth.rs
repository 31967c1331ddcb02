//! Who gets in, by which proof, and what the others are told.

use pgdyno_wire::SqlState;
use pgdyno_wire::options::Options;
use pgdyno_wire::secret::Secret;

use crate::common::{Server, Setup, connect, free_port, host, options, refusal};

const HBA: &str = "\
local all all trust
host all postgres all trust
host all scram_user all scram-sha-256
host all md5_user all md5
host all clear_user all password
";

const USERS: &str = "\
set password_encryption = 'scram-sha-256';
create user scram_user password 'sécret Ⅸ';
create user clear_user password 'clear';
set password_encryption = 'md5';
create user md5_user password 'md5 pass'";

fn as_user(base: &Options, user: &str, password: Option<&str>) -> Options {
    let mut options = base.clone();
    options.user = user.into();
    for host in &mut options.hosts {
        host.password = password.map(Secret::new);
    }
    options
}

/// Trust, clear text, md5 and SCRAM (with a password that SASLprep changes)
/// let the right password in over TCP, and trust over the Unix socket.
#[test]
fn every_method_lets_in() {
    let server = Server::start(&Setup { hba: HBA, ..Setup::default() });
    let mut trusted = connect(&server.unix_options()).unwrap();
    assert!(trusted.endpoint().is_unix());
    trusted.simple_query(USERS).unwrap();
    let base = server.options();
    for (user, password) in [
        ("postgres", None),
        ("scram_user", Some("sécret Ⅸ")),
        ("scram_user", Some("sécret IX")),
        ("md5_user", Some("md5 pass")),
        ("clear_user", Some("clear")),
    ] {
        let mut connection = connect(&as_user(&base, user, password)).unwrap();
        let shown = connection.query_one_text("select current_user").unwrap();
        assert_eq!(shown.as_deref(), Some(user));
        assert_eq!(connection.parameter("application_name"), Some("pgdyno-wire"));
        assert!(connection.server_version_num() >= 90_600);
    }
}

/// Refusals carry libpq's words, host, port and the server's SQLSTATE.
#[test]
fn refusals_name_host_port_and_reason() {
    let server = Server::start(&Setup { hba: HBA, ..Setup::default() });
    connect(&server.unix_options()).unwrap().simple_query(USERS).unwrap();
    let (base, port) = (server.options(), server.port);
    let at = format!("connection to server at \"localhost\" (127.0.0.1), port {port} failed: ");

    let error = connect(&as_user(&base, "scram_user", Some("wrong"))).unwrap_err();
    let words = "FATAL:  password authentication failed for user \"scram_user\"";
    assert_eq!(error.to_string(), format!("{at}{words}"));
    assert_eq!(error.sqlstate(), Some(SqlState::INVALID_PASSWORD));
    assert_eq!((error.host(), error.port()), (Some("localhost"), Some(port)));

    let mut unknown = base.clone();
    unknown.dbname = "nowhere".into();
    let error = connect(&unknown).unwrap_err();
    assert_eq!(error.to_string(), format!("{at}FATAL:  database \"nowhere\" does not exist"));
    assert_eq!(error.sqlstate(), Some(SqlState::INVALID_CATALOG_NAME));

    let words = refusal(&as_user(&base, "md5_user", None));
    assert_eq!(words, format!("{at}fe_sendauth: no password supplied"));

    let mut strict = as_user(&base, "clear_user", Some("clear"));
    strict.require_auth = Some("scram-sha-256".into());
    let words = refusal(&strict);
    assert_eq!(
        words,
        format!(
            "{at}authentication method requirement \"scram-sha-256\" failed: \
             server requested a cleartext password"
        )
    );
    // The password must not have been sent.
    assert!(!server.log().contains("clear_user"), "{}", server.log());
}

/// Where nobody listens, the system's words and libpq's advice are given.
#[test]
fn nobody_there() {
    let port = free_port();
    let words = refusal(&options(vec![host("127.0.0.1", port)]));
    assert_eq!(
        words,
        format!(
            "connection to server at \"127.0.0.1\", port {port} failed: Connection refused\n\
             \tIs the server running on that host and accepting TCP/IP connections?"
        )
    );
    let words = refusal(&options(vec![host("/nonexistent", 5432)]));
    assert_eq!(
        words,
        "connection to server on socket \"/nonexistent/.s.PGSQL.5432\" failed: No such file or \
         directory\n\tIs the server running locally and accepting connections on that socket?"
    );
    let words = refusal(&options(vec![host("no-such-host.invalid", 5432)]));
    assert!(
        words.starts_with("could not translate host name \"no-such-host.invalid\" to address: "),
        "{words}"
    );
}

/// `requirepeer` compares the user that the server runs as.
#[test]
fn require_peer() {
    let server = Server::trusting();
    let mut options = server.unix_options();
    options.require_peer = Some("somebody".into());
    let words = refusal(&options);
    assert!(words.contains("requirepeer specifies \"somebody\", but actual peer user name is"));
    let actual = words.rsplit('"').nth(1).unwrap().to_owned();
    options.require_peer = Some(actual);
    connect(&options).unwrap();
}

/// The slow part of SCRAM is done once, however many connect, and threads that
/// come at the same time share it.
#[test]
fn salted_key_is_shared() {
    let hba = "local all all trust\nhost all all all scram-sha-256\n";
    let server = Server::start(&Setup { hba, ..Setup::default() });
    // The password verifier below asks for many iterations, so that doing them
    // each time would take much longer than the test may.
    let user = "create user u password 'SCRAM-SHA-256$400000:c2FsdHNhbHRzYWx0c2E=$\
                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:\
                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='";
    connect(&server.unix_options()).unwrap().execute(user).unwrap();
    let context =
        pgdyno_wire::ConnectContext::new(&as_user(&server.options(), "u", Some("p"))).unwrap();
    let begin = std::time::Instant::now();
    assert!(pgdyno_wire::Connection::connect(&context).is_err());
    let first = begin.elapsed();
    let eight_more = || {
        let begin = std::time::Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| pgdyno_wire::Connection::connect(&context).unwrap_err());
            }
        });
        begin.elapsed()
    };
    // Eight more together cost less than one did; a busy machine may stop them
    // for a while, but not each time.
    let rounds: Vec<_> = (0..5).map(|_| eight_more()).collect();
    assert!(rounds.iter().any(|round| *round < first), "{rounds:?} after {first:?}");
}
