//! TLS in all its modes, against certificates made on the spot.

use std::path::{Path, PathBuf};

use pgdyno_wire::options::{ChannelBinding, Options, SslMode, SslNegotiation, SslRootCert};
use pgdyno_wire::secret::Secret;
use pgdyno_wire::{ConnectContext, Connection};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use tempfile::TempDir;

use crate::common::{Server, Setup, connect, refusal, write_private};

/// An authority of the test's own.
struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name = named(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        std::fs::write(folder.path().join("ca.crt"), params.self_signed(&key).unwrap().pem())
            .unwrap();
        Self { folder, issuer: Issuer::new(params, key) }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// A certificate and its key, as PEM.
    fn issue(&self, common: &str, alternatives: &[&str], expired: bool) -> (String, String) {
        let names: Vec<String> = alternatives.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = named(common);
        if expired {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 2, 3);
        }
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

fn named(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

const TLS_CONF: &str = "ssl = on\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'";

fn tls_server(hba: &str, (cert, key): &(String, String)) -> Server {
    let files = [("server.crt", cert.as_str()), ("server.key", key.as_str())];
    Server::start(&Setup { hba, conf: TLS_CONF, files: &files, bin: None })
}

fn with_tls(server: &Server, mode: SslMode, root: Option<&Path>) -> Options {
    let mut options = server.options();
    options.ssl.mode = mode;
    if let Some(root) = root {
        options.ssl.root_cert = SslRootCert::File(root.to_owned());
    }
    options
}

fn is_encrypted(connection: &mut Connection) -> bool {
    let sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    connection.query_one_text(sql).unwrap().as_deref() == Some("t")
}

/// SCRAM over TLS with the name checked, and bound to the channel; a second
/// connection of the same context does as well.
#[test]
fn verify_full_with_scram_plus() {
    let authority = Authority::new("test authority");
    let hba = "local all all trust\nhostssl all all all scram-sha-256\n";
    let server = tls_server(hba, &authority.issue("x", &["localhost", "127.0.0.1"], false));
    connect(&server.unix_options()).unwrap().execute("alter user postgres password 'p'").unwrap();
    let mut options = with_tls(&server, SslMode::VerifyFull, Some(&authority.root()));
    options.channel_binding = ChannelBinding::Require;
    options.hosts[0].password = Some(Secret::new("p"));
    let context = ConnectContext::new(&options).unwrap();
    for _ in 0..2 {
        let mut connection = Connection::connect(&context).unwrap();
        assert!(is_encrypted(&mut connection));
        // More than one TLS record each way.
        let long = "x".repeat(100_000);
        let sql = format!("select '{long}'");
        assert_eq!(connection.query_one_text(&sql).unwrap(), Some(long));
    }
    // By address as well, and with each version alone.
    options.hosts[0].name = "127.0.0.1".into();
    options.ssl.tls12_only = true;
    assert!(is_encrypted(&mut connect(&options).unwrap()));
    (options.ssl.tls12_only, options.ssl.tls13_only) = (false, true);
    assert!(is_encrypted(&mut connect(&options).unwrap()));
    // The proof is bound: without binding it works too, but only if not required.
    options.channel_binding = ChannelBinding::Disable;
    assert!(is_encrypted(&mut connect(&options).unwrap()));
    options.hosts[0].password = Some(Secret::new("wrong"));
    assert!(refusal(&options).contains("password authentication failed"));
}

/// Wrong name, unknown authority and expiry each have words of their own, and
/// the weaker modes accept what they promise to accept.
#[test]
fn certificates_that_do_not_do() {
    let authority = Authority::new("test authority");
    let other = Authority::new("another authority");
    let server = tls_server("", &authority.issue("db.example", &["db.example"], false));
    let full = with_tls(&server, SslMode::VerifyFull, Some(&authority.root()));
    let at =
        format!("connection to server at \"localhost\" (127.0.0.1), port {} failed: ", server.port);
    assert_eq!(
        refusal(&full),
        format!("{at}server certificate for \"db.example\" does not match host name \"localhost\"")
    );
    assert!(connect(&with_tls(&server, SslMode::VerifyCa, Some(&authority.root()))).is_ok());
    // A root file turns `require` into `verify-ca`.
    for mode in [SslMode::Require, SslMode::VerifyCa] {
        let words = refusal(&with_tls(&server, mode, Some(&other.root())));
        assert!(
            words.starts_with(&format!(
                "{at}SSL error: certificate verify failed: the server's certificate was not \
                 issued by an authority in root certificate file"
            )),
            "{words}"
        );
    }
    assert!(is_encrypted(&mut connect(&with_tls(&server, SslMode::Require, None)).unwrap()));
    // `prefer` falls back to plain where the check fails.
    let mut plain = connect(&with_tls(&server, SslMode::Prefer, Some(&other.root()))).unwrap();
    assert!(!is_encrypted(&mut plain));
    assert!(is_encrypted(&mut connect(&with_tls(&server, SslMode::Prefer, None)).unwrap()));

    let expired = tls_server("", &authority.issue("localhost", &["localhost"], true));
    let words = refusal(&with_tls(&expired, SslMode::VerifyFull, Some(&authority.root())));
    assert!(words.contains("the server's certificate has expired"), "{words}");
    assert!(words.contains("2021-02-03"), "{words}");
}

/// A server's self-signed certificate works as its own root, and a common name
/// as its host's name.
#[test]
fn self_signed_certificate_as_root() {
    let folder = tempfile::tempdir().unwrap();
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name = named("localhost");
        params.is_ca = is_ca;
        let cert = params.self_signed(&key).unwrap().pem();
        let root = folder.path().join("root.crt");
        std::fs::write(&root, &cert).unwrap();
        let server = tls_server("", &(cert, key.serialize_pem()));
        let mut connection = connect(&with_tls(&server, SslMode::VerifyFull, Some(&root))).unwrap();
        assert!(is_encrypted(&mut connection));
    }
}

/// TLS demanded where there is none, by either side.
#[test]
fn demanded_and_absent() {
    let server = Server::trusting();
    assert_eq!(
        refusal(&with_tls(&server, SslMode::Require, None)),
        format!(
            "connection to server at \"localhost\" (127.0.0.1), port {} failed: \
             server does not support SSL, but SSL was required",
            server.port
        )
    );
    assert!(!is_encrypted(&mut connect(&with_tls(&server, SslMode::Prefer, None)).unwrap()));
    let mut options = with_tls(&server, SslMode::Disable, None);
    options.channel_binding = ChannelBinding::Require;
    assert!(refusal(&options).contains("channel binding required, but"));

    let authority = Authority::new("test authority");
    let server = tls_server(
        "hostssl all all all trust\n",
        &authority.issue("localhost", &["localhost"], false),
    );
    let words = refusal(&with_tls(&server, SslMode::Disable, None));
    assert!(words.contains("no pg_hba.conf entry for host \"127.0.0.1\""), "{words}");
    assert!(words.contains("no encryption"), "{words}");
    // `allow` comes back with TLS.
    assert!(is_encrypted(&mut connect(&with_tls(&server, SslMode::Allow, None)).unwrap()));
}

/// `prefer` tries again without TLS where the server refuses it with TLS, and
/// the message has both refusals.
#[test]
fn prefer_tells_of_both_attempts() {
    let authority = Authority::new("test authority");
    let pair = authority.issue("localhost", &["localhost"], false);
    let server = tls_server("hostnossl all all all trust\n", &pair);
    assert!(!is_encrypted(&mut connect(&with_tls(&server, SslMode::Prefer, None)).unwrap()));
    let server = tls_server("host all all all reject\n", &pair);
    let words = refusal(&with_tls(&server, SslMode::Prefer, None));
    let lines: Vec<&str> = words.lines().collect();
    assert_eq!(lines.len(), 2, "{words}");
    assert!(lines[0].ends_with("SSL encryption") && lines[1].ends_with("no encryption"), "{words}");
}

/// A client certificate logs in; without one, or with a stranger's, the reason
/// is told.
#[test]
fn client_certificates() {
    let authority = Authority::new("test authority");
    let (cert, key) = authority.issue("localhost", &["localhost"], false);
    let ca = std::fs::read_to_string(authority.root()).unwrap();
    let server = Server::start(&Setup {
        hba: "hostssl all all all cert\n",
        conf: &format!("{TLS_CONF}\nssl_ca_file = 'ca.crt'"),
        files: &[("server.crt", &cert), ("server.key", &key), ("ca.crt", &ca)],
        bin: None,
    });
    let folder = tempfile::tempdir().unwrap();
    let mut options = with_tls(&server, SslMode::VerifyFull, Some(&authority.root()));
    let install = |issuer: &Authority, user: &str, options: &mut Options| {
        let (cert, key) = issuer.issue(user, &[], false);
        let place = |name: &str| folder.path().join(format!("{user}.{name}"));
        std::fs::write(place("crt"), cert).unwrap();
        write_private(&place("key"), &key);
        options.ssl.cert = Some(place("crt"));
        options.ssl.key = Some(place("key"));
    };
    let words = refusal(&options);
    assert!(words.contains("connection requires a valid client certificate"), "{words}");
    install(&authority, "postgres", &mut options);
    assert!(is_encrypted(&mut connect(&options).unwrap()));
    install(&authority, "somebody", &mut options);
    let words = refusal(&options);
    assert!(words.contains("certificate authentication failed for user \"postgres\""), "{words}");
    install(&Authority::new("another authority"), "stranger", &mut options);
    let words = refusal(&options);
    assert!(
        words.contains("it does not know the authority that issued the client certificate"),
        "{words}"
    );
}

/// A revoked certificate is refused.
#[test]
fn revoked_certificate() {
    use rcgen::{
        CertificateRevocationListParams, KeyIdMethod, KeyUsagePurpose, RevokedCertParams,
        SerialNumber,
    };
    let folder = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name = named("authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let root = folder.path().join("root.crt");
    std::fs::write(&root, params.self_signed(&key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(params, key);
    let mut leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    leaf.serial_number = Some(SerialNumber::from(42_u64));
    let leaf_key = KeyPair::generate().unwrap();
    let cert = leaf.signed_by(&leaf_key, &issuer).unwrap().pem();
    let server = tls_server("", &(cert, leaf_key.serialize_pem()));
    let mut options = with_tls(&server, SslMode::VerifyFull, Some(&root));
    let mut refused_with = |serial: u64| {
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2099, 1, 1),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: vec![RevokedCertParams {
                serial_number: SerialNumber::from(serial),
                revocation_time: date_time_ymd(2024, 1, 1),
                reason_code: None,
                invalidity_date: None,
            }],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let path = folder.path().join("root.crl");
        std::fs::write(&path, list.signed_by(&issuer).unwrap().pem().unwrap()).unwrap();
        options.ssl.crl = Some(path);
        connect(&options).err().map(|error| error.to_string())
    };
    assert_eq!(refused_with(7), None);
    let words = refused_with(42).unwrap();
    assert!(words.contains("the server's certificate was revoked"), "{words}");
}

/// Direct TLS against a server of 17 or later with TLS built in, where one is
/// at hand (`PGDYNO_TEST_PG18_BIN`); an older one hangs up, which is told.
#[test]
fn direct_negotiation_with_a_server() {
    let authority = Authority::new("test authority");
    let (cert, key) = authority.issue("localhost", &["localhost"], false);
    let bin = std::env::var_os("PGDYNO_TEST_PG18_BIN").map(PathBuf::from).filter(|bin| {
        let server = Server::start(&Setup { bin: Some(bin.clone()), ..Setup::default() });
        let library = server.connect().query_one_text("show ssl_library").unwrap();
        library.is_some_and(|library| !library.is_empty())
    });
    let files = [("server.crt", cert.as_str()), ("server.key", key.as_str())];
    let server = Server::start(&Setup { conf: TLS_CONF, files: &files, bin, hba: "" });
    let mut options = with_tls(&server, SslMode::VerifyFull, Some(&authority.root()));
    options.ssl.negotiation = SslNegotiation::Direct;
    if server.connect().server_version_num() < 170_000 {
        let words = refusal(&options);
        assert!(words.contains("closed the connection"), "{words}");
    } else {
        assert!(is_encrypted(&mut connect(&options).unwrap()));
    }
}

/// Direct TLS begins with TLS' own first message, names the protocol by ALPN,
/// and refuses a server that does not name it back; in front of an older
/// server a proxy of the test's own ends the TLS.
#[test]
fn direct_negotiation_through_a_proxy() {
    let authority = Authority::new("test authority");
    let (cert, key) = authority.issue("localhost", &["localhost"], false);
    let server = Server::trusting();
    for (alpn, refused) in [(&b"postgresql"[..], None), (b"", Some("without ALPN"))] {
        let port = tls_proxy(&cert, &key, alpn, server.port);
        let mut options = with_tls(&server, SslMode::VerifyFull, Some(&authority.root()));
        options.hosts[0].port = port;
        options.ssl.negotiation = SslNegotiation::Direct;
        match refused {
            Some(words) => assert!(refusal(&options).contains(words)),
            None => {
                let mut connection = connect(&options).unwrap();
                assert!(connection.channel().is_tls());
                let handle = connection.cancel_handle();
                assert_eq!(connection.query_one_i64("select 6 * 7").unwrap(), 42);
                handle.cancel().unwrap();
            }
        }
    }
}

/// Ends TLS for any number of connections, one thread each, until the test ends.
fn tls_proxy(cert: &str, key: &str, alpn: &[u8], server_port: u16) -> u16 {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    #[cfg(feature = "aws-lc-rs")]
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(not(feature = "aws-lc-rs"))]
    let provider = rustls::crypto::ring::default_provider();
    let mut config = rustls::ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()],
            PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
        )
        .unwrap();
    if !alpn.is_empty() {
        config.alpn_protocols = vec![alpn.to_vec()];
    }
    let config = std::sync::Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let tls = rustls::ServerConnection::new(config.clone()).unwrap();
            let server = std::net::TcpStream::connect(("127.0.0.1", server_port)).unwrap();
            // Ends, with or without an error, when either side hangs up.
            std::thread::spawn(move || forward(tls, client, server));
        }
    });
    port
}

fn forward(
    tls: rustls::ServerConnection,
    client: std::net::TcpStream,
    mut server: std::net::TcpStream,
) -> std::io::Result<()> {
    use std::io::{ErrorKind, Read, Write};
    let pause = Some(std::time::Duration::from_millis(5));
    client.set_read_timeout(pause)?;
    server.set_read_timeout(pause)?;
    let mut stream = rustls::StreamOwned::new(tls, client);
    let mut buf = [0; 16384];
    loop {
        match stream.read(&mut buf) {
            Ok(0) => return Ok(()),
            Ok(len) => server.write_all(&buf[..len])?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        match server.read(&mut buf) {
            Ok(0) => return Ok(()),
            Ok(len) => stream.write_all(&buf[..len])?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}
