//! What values mean: defaults, timeouts, hosts, TLS.

use std::time::Duration;

use super::*;
use crate::options::*;

/// Nothing given: the usual socket, port 5432, and the user's name twice.
#[test]
fn defaults() {
    let options = ok("");
    assert_eq!(options.hosts.len(), 1);
    assert_eq!(options.hosts[0].name, "/var/run/postgresql");
    assert_eq!(options.hosts[0].port, 5432);
    assert_eq!((options.user.as_str(), options.dbname.as_str()), ("me", "me"));
    assert_eq!(options.ssl, Ssl::default());
    assert_eq!(options.connect_timeout, None);
    assert_eq!(ok("user=u").dbname, "u");
    let elsewhere = ok_in("host=,x", &env().with_socket_dir("/tmp"));
    assert_eq!(elsewhere.hosts[0].name, "/tmp");
    let nameless = resolve(None, &[], &env().without_os_user());
    assert_eq!(nameless.map_err(|error| error.kind()), Err(ConnInfoErrorKind::User));
    assert!(resolve(Some("user=u"), &[], &env().without_os_user()).is_ok());
}

/// Timeouts: one second is one second, zero and less are no limit (libpq 18).
#[test]
fn timeouts() {
    assert_eq!(ok("connect_timeout=1").connect_timeout, Some(Duration::from_secs(1)));
    assert_eq!(ok("connect_timeout=' 7 '").connect_timeout, Some(Duration::from_secs(7)));
    assert_eq!(ok("connect_timeout=0").connect_timeout, None);
    assert_eq!(ok("connect_timeout=-1").connect_timeout, None);
    assert_eq!(ok("tcp_user_timeout=250").tcp_user_timeout, Some(Duration::from_millis(250)));
    let keepalives = ok("keepalives=0 keepalives_idle=5 keepalives_count=0").keepalives;
    let idle = Some(Duration::from_secs(5));
    assert_eq!(keepalives, Keepalives { on: false, idle, interval: None, count: None });
}

/// Hosts, addresses and ports line up; one port serves all hosts.
#[test]
fn several_hosts() {
    let ports = |dsn: &str| ok(dsn).hosts.iter().map(|host| host.port).collect::<Vec<_>>();
    assert_eq!(ports("host=a,b,c port=7"), [7, 7, 7]);
    assert_eq!(ports("host=a,b,c port=7,,9"), [7, 5432, 9]);
    assert_eq!(ports("postgres://a:1,b"), [1, 5432]);
    let options = ok("host=a,/tmp,c hostaddr=127.0.0.1,,::1");
    assert_eq!(options.hosts[0].addr, "127.0.0.1".parse().ok());
    assert!(options.hosts[1].is_unix());
    assert_eq!(options.hosts[2].addr, "::1".parse().ok());
    let options = ok("hostaddr=127.0.0.1,::1");
    assert_eq!(options.hosts[1].name, "");
    assert_eq!(options.hosts[1].to_string(), "[::1]:5432");
}

/// TLS versions become what the TLS library can be told.
#[test]
fn tls_versions() {
    assert!(ok("ssl_min_protocol_version=tlsv1.3").ssl.tls13_only);
    assert!(ok("ssl_max_protocol_version=TLSv1.2").ssl.tls12_only);
    let both = ok("ssl_min_protocol_version=TLSv1.2 ssl_max_protocol_version=TLSv1.3").ssl;
    assert!(!both.tls12_only && !both.tls13_only);
    assert!(ok("sslsni=0").ssl.no_sni && !ok("sslsni=1").ssl.no_sni);
}

/// The system's store of roots demands the strictest check, also when it comes
/// from the environment, and yields to nothing weaker but an error.
#[test]
fn system_roots_verify_fully() {
    let system = env().with("PGSSLROOTCERT", "system");
    assert_eq!(ok_in("host=h", &system).ssl.mode, SslMode::VerifyFull);
    assert_eq!(ok("sslrootcert=system").ssl.mode, SslMode::VerifyFull);
    assert!(resolve(Some("sslmode=prefer"), &[], &system).is_err());
    assert!(resolve(None, &[], &system.clone().with("PGSSLMODE", "require")).is_err());
    assert_eq!(ok("sslnegotiation=direct sslmode=require").ssl.negotiation, SslNegotiation::Direct);
}
