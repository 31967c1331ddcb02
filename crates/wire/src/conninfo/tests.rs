//! The grammar as a whole: libpq's own cases, the manual's examples, layering,
//! secrets, and the way back from options to a URI.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use super::parameter::PARAMETERS;
use super::*;
use crate::options::*;
use crate::secret::Secret;

fn env() -> MapEnv {
    MapEnv::new("me")
}

fn ok(dsn: &str) -> Options {
    ok_in(dsn, &env())
}

fn ok_in(dsn: &str, env: &MapEnv) -> Options {
    match resolve(Some(dsn), &[], env) {
        Ok(resolved) => resolved.options,
        Err(error) => panic!("{dsn}: {error}"),
    }
}

fn err(dsn: &str) -> ConnInfoError {
    match resolve(Some(dsn), &[], &env()) {
        Ok(resolved) => panic!("{dsn}: read as {}", resolved.options),
        Err(error) => error,
    }
}

/// The values as libpq's own test program prints them, in its order.
fn listed(dsn: &str) -> Result<String, String> {
    let params = parse(dsn).map_err(|error| error.to_string())?;
    let shown = PARAMETERS.iter().filter_map(|parameter| {
        Some(format!("{}={}", parameter.keyword, params.get(parameter.keyword)?))
    });
    Ok(shown.collect::<Vec<_>>().join(" "))
}

/// Every URI in libpq's regression test is read as libpq reads it.
#[test]
fn uris_of_libpqs_regression_test() {
    for (uri, expected) in [
        (
            "postgresql://uri-user:secret@host:12345/db",
            "user=uri-user password=secret dbname=db host=host port=12345",
        ),
        ("postgresql://uri-user@host:12345/db", "user=uri-user dbname=db host=host port=12345"),
        ("postgresql://uri-user@host/db", "user=uri-user dbname=db host=host"),
        ("postgresql://host:12345/db", "dbname=db host=host port=12345"),
        ("postgresql://host/db", "dbname=db host=host"),
        ("postgresql://uri-user@host:12345/", "user=uri-user host=host port=12345"),
        ("postgresql://uri-user@host/", "user=uri-user host=host"),
        ("postgresql://uri-user@", "user=uri-user"),
        ("postgresql://host:12345/", "host=host port=12345"),
        ("postgresql://host:12345", "host=host port=12345"),
        ("postgresql://host/", "host=host"),
        ("postgresql://host", "host=host"),
        ("postgresql://", ""),
        ("postgresql://?hostaddr=127.0.0.1", "hostaddr=127.0.0.1"),
        ("postgresql://example.com?hostaddr=63.1.2.4", "host=example.com hostaddr=63.1.2.4"),
        ("postgresql://%68ost/", "host=host"),
        ("postgresql://host/db?user=uri-user", "user=uri-user dbname=db host=host"),
        (
            "postgresql://host/db?user=uri-user&port=12345",
            "user=uri-user dbname=db host=host port=12345",
        ),
        (
            "postgresql://host/db?u%73er=someotheruser&port=12345",
            "user=someotheruser dbname=db host=host port=12345",
        ),
        ("postgresql://host:12345?user=uri-user", "user=uri-user host=host port=12345"),
        ("postgresql://host?user=uri-user", "user=uri-user host=host"),
        ("postgresql://host?", "host=host"),
        ("postgresql://[::1]:12345/db", "dbname=db host=::1 port=12345"),
        ("postgresql://[::1]/db", "dbname=db host=::1"),
        ("postgresql://[2001:db8::1234]/", "host=2001:db8::1234"),
        ("postgresql://[200z:db8::1234]/", "host=200z:db8::1234"),
        ("postgresql://[::1]", "host=::1"),
        ("postgres://", ""),
        ("postgres:///", ""),
        ("postgres:///db", "dbname=db"),
        ("postgres://uri-user@/db", "user=uri-user dbname=db"),
        ("postgres://?host=/path/to/socket/dir", "host=/path/to/socket/dir"),
        ("postgres://@host", "host=host"),
        ("postgres://host:/", "host=host"),
        ("postgres://:12345/", "port=12345"),
        ("postgres://otheruser@?host=/no/such/directory", "user=otheruser host=/no/such/directory"),
        (
            "postgres://otheruser@/?host=/no/such/directory",
            "user=otheruser host=/no/such/directory",
        ),
        (
            "postgres://otheruser@:12345/db?host=/path/to/socket",
            "user=otheruser dbname=db host=/path/to/socket port=12345",
        ),
        ("postgres://:12345?host=/path/to/socket", "host=/path/to/socket port=12345"),
        ("postgres://%2Fvar%2Flib%2Fpostgresql/dbname", "dbname=dbname host=/var/lib/postgresql"),
        ("postgresql://host?sslmode=disable", "host=host sslmode=disable"),
    ] {
        assert_eq!(listed(uri).as_deref(), Ok(expected), "{uri}");
    }
}

/// Odd URIs are read as libpq 18 was seen to read them.
#[test]
fn odd_uris() {
    for (uri, expected) in [
        ("postgres://h,i:5,%2C", "host=h,i,, port=,5,"),
        ("postgres://h/  d  ", "dbname=d host=h"),
        ("postgres:// h", "host=h"),
        ("postgres://h?dbname=a&", "dbname=a host=h"),
        ("postgres://h?dbname=", "dbname= host=h"),
        ("postgres://h?ssl=true", "host=h sslmode=require"),
        ("postgres://h?requiressl=1", "host=h sslmode=require"),
        ("postgres://h?user=a@b", "user=h?user=a host=b"),
        ("postgres://u%20x@h", "user=u x host=h"),
        ("postgres://a,b:1,c:2/d", "dbname=d host=a,b,c port=,1,2"),
        ("postgres://[::1]:1,[fe80::2]/", "host=::1,fe80::2 port=1,"),
    ] {
        assert_eq!(listed(uri).as_deref(), Ok(expected), "{uri}");
    }
}

/// Broken strings are refused in libpq's words.
#[test]
fn errors_in_libpqs_words() {
    for (dsn, message) in [
        (
            "postgresql://host/db?u%7aer=someotheruser&port=12345",
            "invalid URI query parameter: \"uzer\"",
        ),
        ("postgresql://host?uzer=", "invalid URI query parameter: \"uzer\""),
        ("postgres://h?ssl=false", "invalid URI query parameter: \"ssl\""),
        ("postgre://", "missing \"=\" after \"postgre://\" in connection info string"),
        (
            "postgres://[::1",
            "end of string reached when looking for matching \"]\" in IPv6 host address in URI: \"postgres://[::1\"",
        ),
        ("postgres://[]", "IPv6 host address may not be empty in URI: \"postgres://[]\""),
        (
            "postgres://[::1]z",
            "unexpected character \"z\" at position 17 in URI (expected \":\" or \"/\"): \"postgres://[::1]z\"",
        ),
        (
            "postgresql://host?zzz",
            "missing key/value separator \"=\" in URI query parameter: \"zzz\"",
        ),
        (
            "postgresql://host?value1&value2",
            "missing key/value separator \"=\" in URI query parameter: \"value1\"",
        ),
        (
            "postgresql://host?key=key=value",
            "extra key/value separator \"=\" in URI query parameter: \"key\"",
        ),
        (
            "postgres://h?&dbname=a",
            "missing key/value separator \"=\" in URI query parameter: \"\"",
        ),
        (
            "postgres://h?dbname=a&&",
            "missing key/value separator \"=\" in URI query parameter: \"\"",
        ),
        ("postgres://host?dbname=%XXfoo", "invalid percent-encoded token: \"%XXfoo\""),
        ("postgresql://a%00b", "forbidden value %00 in percent-encoded value: \"a%00b\""),
        ("postgresql://%zz", "invalid percent-encoded token: \"%zz\""),
        ("postgresql://%1", "invalid percent-encoded token: \"%1\""),
        ("postgresql://%", "invalid percent-encoded token: \"%\""),
        (
            "postgres://h/a b",
            "unexpected spaces found in \"a b\", use percent-encoded spaces (%20) instead",
        ),
        ("host", "missing \"=\" after \"host\" in connection info string"),
        ("=x", "invalid connection option \"\""),
        ("hots=x", "invalid connection option \"hots\""),
        ("host='x", "unterminated quoted string in connection info string"),
        ("host=a,b hostaddr=127.0.0.1", "could not match 2 host names to 1 hostaddr values"),
        ("host=a,b port=1,2,3", "could not match 3 port numbers to 2 hosts"),
        ("port=x", "invalid integer value \"x\" for connection option \"port\""),
        ("port=5x", "invalid integer value \"5x\" for connection option \"port\""),
        ("port=0", "invalid port number: \"0\""),
        ("port=-5", "invalid port number: \"-5\""),
        ("port=65536", "invalid port number: \"65536\""),
        (
            "port=99999999999",
            "invalid integer value \"99999999999\" for connection option \"port\"",
        ),
        ("hostaddr=x", "could not parse network address \"x\": Name or service not known"),
        ("sslmode=x", "invalid sslmode value: \"x\""),
        ("sslmode=''", "invalid sslmode value: \"\""),
        ("channel_binding=x", "invalid channel_binding value: \"x\""),
        ("require_auth=x", "invalid require_auth value: \"x\""),
        ("require_auth=md5,", "invalid require_auth value: \"\""),
        (
            "require_auth=md5,!password",
            "negative require_auth method \"!password\" cannot be mixed with non-negative methods",
        ),
        (
            "require_auth=!md5,password",
            "require_auth method \"password\" cannot be mixed with negative methods",
        ),
        ("require_auth=md5,md5", "require_auth method \"md5\" is specified more than once"),
        ("target_session_attrs=x", "invalid target_session_attrs value: \"x\""),
        ("load_balance_hosts=x", "invalid load_balance_hosts value: \"x\""),
        (
            "connect_timeout=x",
            "invalid integer value \"x\" for connection option \"connect_timeout\"",
        ),
        ("keepalives=''", "invalid integer value \"\" for connection option \"keepalives\""),
        ("gssencmode=x", "invalid gssencmode value: \"x\""),
        ("sslnegotiation=x", "invalid sslnegotiation value: \"x\""),
        (
            "sslnegotiation=direct",
            "weak sslmode \"prefer\" may not be used with sslnegotiation=direct (use \"require\", \"verify-ca\", or \"verify-full\")",
        ),
        (
            "sslrootcert=system sslmode=require",
            "weak sslmode \"require\" may not be used with sslrootcert=system (use \"verify-full\")",
        ),
        ("ssl_min_protocol_version=x", "invalid \"ssl_min_protocol_version\" value: \"x\""),
        (
            "ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=tlsv1.2",
            "invalid SSL protocol version range",
        ),
        ("max_protocol_version=x", "invalid max_protocol_version value: \"x\""),
        (
            "min_protocol_version=latest max_protocol_version=3.0",
            "\"min_protocol_version\" is greater than \"max_protocol_version\"",
        ),
        ("sslcertmode=x", "invalid sslcertmode value: \"x\""),
        ("service=a", "definition of service \"a\" not found"),
    ] {
        assert_eq!(err(dsn).to_string(), message, "{dsn}");
    }
}

/// A mistyped name comes with the one that was meant and with all there are.
#[test]
fn unknown_options_name_what_exists() {
    for dsn in ["hots=x", "postgres://h?hots=x"] {
        let error = err(dsn);
        assert_eq!(error.kind(), ConnInfoErrorKind::UnknownOption);
        let hint = error.hint().unwrap_or_default();
        assert!(hint.starts_with("did you mean \"host\"?"), "{hint}");
        for parameter in PARAMETERS {
            assert!(hint.contains(parameter.keyword), "{hint}");
        }
    }
}

/// What libpq could do and we cannot is refused by name; what changes nothing
/// for us is accepted.
#[test]
fn unsupported_values_say_so() {
    for dsn in [
        "gssencmode=require",
        "replication=true",
        "sslcertmode=require",
        "sslcrldir=/x",
        "scram_client_key=AAAA",
        "sslkeylogfile=/x",
        "min_protocol_version=3.2",
        "ssl_max_protocol_version=TLSv1 ssl_min_protocol_version=TLSv1",
    ] {
        let error = err(dsn);
        assert_eq!(error.kind(), ConnInfoErrorKind::Unsupported, "{error}");
        let keyword = dsn.split('=').next().unwrap_or_default();
        assert!(error.message().contains(keyword), "{error}");
        assert!(!error.message().contains("AAAA"), "{error}");
    }
    let accepted = "gssencmode=prefer krbsrvname=x gsslib=gssapi gssdelegation=1 sslcompression=1 \
        replication=off sslcertmode=allow max_protocol_version=latest min_protocol_version=3.0 \
        ssl_min_protocol_version=TLSv1 oauth_issuer=x oauth_client_secret=y";
    assert_eq!(ok(accepted), ok(""));
}

/// Quotes, backslashes and blanks mean what they mean to libpq.
#[test]
fn keyword_strings() {
    for (dsn, expected) in [
        ("host=localhost port=5432 dbname=mydb", "dbname=mydb host=localhost port=5432"),
        ("  host = a\tport\n=\n5 ", "host=a port=5"),
        ("host='a'port=5", "host=a port=5"),
        ("host= port=5", "host=port=5"),
        ("host=a\\", "host=a"),
        ("dbname='it''s'", ""),
        ("dbname='it\\'s \\\\ b'", "dbname=it's \\ b"),
        ("dbname=a\\ b", "dbname=a b"),
        ("dbname=a'b'", "dbname=a'b'"),
        ("host='' user=u host=b", "user=u host=b"),
        ("requiressl=0", "sslmode=prefer"),
        ("", ""),
    ] {
        if dsn.contains("''s") {
            // A quote is doubled in SQL, not here: the second begins a name.
            assert!(listed(dsn).is_err(), "{dsn}");
        } else {
            assert_eq!(listed(dsn).as_deref(), Ok(expected), "{dsn}");
        }
    }
}

/// A database name is taken for a connection string where libpq does so.
#[test]
fn connection_strings_are_recognised() {
    for text in ["postgres://", "postgresql://h", "a=b", "="] {
        assert!(is_connection_string(text), "{text}");
    }
    for text in ["", "postgres", "postgres:/x", "Postgres://h", "mysql://h", "my db"] {
        assert!(!is_connection_string(text), "{text}");
    }
}

/// The manual's examples for URIs lead to the places that it says.
#[test]
fn examples_of_the_manual() {
    let options = ok(
        "postgresql://host1:123,host2:456/somedb?target_session_attrs=any&application_name=myapp",
    );
    let places: Vec<String> = options.hosts.iter().map(ToString::to_string).collect();
    assert_eq!(places, ["host1:123", "host2:456"]);
    assert_eq!(options.dbname, "somedb");
    assert_eq!(options.application_name.as_deref(), Some("myapp"));
    let options = ok("postgresql://user@localhost:5433/mydb?options=-c%20synchronous_commit%3Doff");
    assert_eq!(options.server_options.as_deref(), Some("-c synchronous_commit=off"));
    let options = ok("postgresql:///dbname?host=/var/lib/postgresql");
    assert!(options.hosts[0].is_unix());
    assert_eq!(
        options.hosts[0].socket_path().as_deref(),
        Some("/var/lib/postgresql/.s.PGSQL.5432")
    );
    let options = ok("postgresql://[2001:db8::1234]/database");
    assert_eq!(options.hosts[0].to_string(), "[2001:db8::1234]:5432");
    let options = ok("host=localhost port=5432 dbname=mydb connect_timeout=10");
    assert_eq!(options.connect_timeout, Some(Duration::from_secs(10)));
}

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

/// Each variable reaches its option.
#[test]
fn every_variable_counts() {
    let env = env()
        .with("PGHOST", "h1,h2")
        .with("PGHOSTADDR", "10.0.0.1,10.0.0.2")
        .with("PGPORT", "6000")
        .with("PGUSER", "u")
        .with("PGPASSWORD", "secret")
        .with("PGDATABASE", "d")
        .with("PGSSLMODE", "verify-ca")
        .with("PGSSLNEGOTIATION", "direct")
        .with("PGSSLROOTCERT", "/root.crt")
        .with("PGSSLCERT", "/c.crt")
        .with("PGSSLKEY", "/c.key")
        .with("PGSSLCRL", "/c.crl")
        .with("PGSSLSNI", "0")
        .with("PGREQUIREPEER", "postgres")
        .with("PGREQUIREAUTH", "scram-sha-256")
        .with("PGCHANNELBINDING", "require")
        .with("PGTARGETSESSIONATTRS", "primary")
        .with("PGLOADBALANCEHOSTS", "random")
        .with("PGCONNECT_TIMEOUT", "3")
        .with("PGCLIENTENCODING", "auto")
        .with("PGOPTIONS", "-c a=b")
        .with("PGAPPNAME", "app")
        .with("PGSSLMINPROTOCOLVERSION", "TLSv1.3")
        .with("PGTZ", "UTC")
        .with("PGDATESTYLE", "ISO")
        .with("PGGEQO", "DEFAULT");
    let host = |name: &str, addr: &str| Host {
        name: name.into(),
        addr: addr.parse().ok(),
        port: 6000,
        password: Some(Secret::new("secret")),
    };
    let expected = Options {
        hosts: vec![host("h1", "10.0.0.1"), host("h2", "10.0.0.2")],
        user: "u".into(),
        dbname: "d".into(),
        server_options: Some("-c a=b".into()),
        application_name: Some("app".into()),
        client_encoding: Some("UTF8".into()),
        connect_timeout: Some(Duration::from_secs(3)),
        tcp_user_timeout: None,
        keepalives: Keepalives::default(),
        ssl: Ssl {
            mode: SslMode::VerifyCa,
            negotiation: SslNegotiation::Direct,
            root_cert: SslRootCert::File(PathBuf::from("/root.crt")),
            cert: Some(PathBuf::from("/c.crt")),
            key: Some(PathBuf::from("/c.key")),
            key_password: None,
            crl: Some(PathBuf::from("/c.crl")),
            no_sni: true,
            tls13_only: true,
            tls12_only: false,
        },
        channel_binding: ChannelBinding::Require,
        require_auth: Some("scram-sha-256".into()),
        require_peer: Some("postgres".into()),
        target_session_attrs: TargetSessionAttrs::Primary,
        load_balance_hosts: LoadBalanceHosts::Random,
        runtime_params: vec![("datestyle".into(), "ISO".into()), ("timezone".into(), "UTC".into())],
    };
    assert_eq!(ok_in("", &env), expected);
    assert_eq!(ok_in("", &MapEnv::new("me").with("PGREQUIRESSL", "1")).ssl.mode, SslMode::Require);
}

/// Overrides beat the string, the string the service, the service the
/// environment, and that the defaults.
#[test]
fn layers_lie_in_order() -> std::io::Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("services");
    fs::write(&file, "[s]\nhost=service\nport=1\nuser=service\ndbname=service\n")?;
    let env = env()
        .with("PGSERVICEFILE", file.display().to_string())
        .with("PGHOST", "env")
        .with("PGPORT", "2")
        .with("PGUSER", "env")
        .with("PGAPPNAME", "env")
        .with("PGSERVICE", "s");
    let overrides = [("host", "override".to_owned()), ("port", String::new())];
    let options = match resolve(Some("host=dsn user=dsn"), &overrides, &env) {
        Ok(resolved) => resolved.options,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(options.hosts[0].name, "override");
    assert_eq!(options.user, "dsn");
    assert_eq!(options.hosts[0].port, 1);
    assert_eq!(options.dbname, "service");
    assert_eq!(options.application_name.as_deref(), Some("env"));
    assert_eq!(options.ssl.mode, SslMode::Prefer);
    Ok(())
}

/// A database name that is a connection string wins over the host before it
/// and yields to what comes after, as in pgbench; a second one is a name.
#[test]
fn dbname_expands() {
    let pair = |name: &'static str, value: &str| (name, value.to_owned());
    let overrides = [
        pair("host", "early"),
        pair("port", "1"),
        pair("dbname", "postgres://late:2/x"),
        pair("user", "after"),
        pair("fallback_application_name", "pgbench"),
    ];
    let options = match resolve(None, &overrides, &env()) {
        Ok(resolved) => resolved.options,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(options.describe(), "postgresql://after@late:2/x?application_name=pgbench");
    let twice = [pair("dbname", "d"), pair("dbname", "a=b")];
    match resolve(None, &twice, &env()) {
        Ok(resolved) => assert_eq!(resolved.options.dbname, "a=b"),
        Err(error) => panic!("{error}"),
    }
    let named =
        resolve(None, &[pair("fallback_application_name", "p")], &env().with("PGAPPNAME", "e"));
    assert_eq!(named.ok().and_then(|n| n.options.application_name).as_deref(), Some("e"));
    assert!(resolve(None, &[pair("hots", "x")], &env()).is_err());
}

/// An empty value in a string or variable stops the search below it.
#[test]
fn empty_values_are_values() {
    let env = env().with("PGHOST", "env").with("PGSSLMODE", "");
    assert_eq!(ok_in("host='' sslmode=disable", &env).hosts[0].name, "/var/run/postgresql");
    assert!(resolve(None, &[], &env).is_err());
}

/// Where service files lie and what they may hold.
#[test]
fn service_files() -> std::io::Result<()> {
    let dir = tempfile::tempdir()?;
    let (home, shared) = (dir.path().join("home"), dir.path().join("etc"));
    fs::create_dir_all(&home)?;
    fs::create_dir_all(&shared)?;
    fs::write(
        home.join(".pg_service.conf"),
        "# a comment\n[other]\nhost=wrong\n\n  [mine]  \n  host=right  \r\nport=7\nhost=second\n[mine]\nport=8\n\
         [nested]\nservice=mine\n[typo]\nhots=x\n[blank]\nhost = x\n[none]\nhost\n[ldap]\nldap://x\n[mine2]\nhost=x\n",
    )?;
    fs::write(shared.join("pg_service.conf"), "[shared]\nhost=shared\n[mine]\nhost=wrong\n")?;
    let env = env()
        .with("HOME", home.display().to_string())
        .with("PGSYSCONFDIR", shared.display().to_string());
    let mine = ok_in("service=mine", &env);
    assert_eq!(mine.hosts[0].to_string(), "right:7");
    assert_eq!(ok_in("service=shared", &env).hosts[0].name, "shared");
    let by_env = ok_in("", &env.clone().with("PGSERVICE", "shared"));
    assert_eq!(by_env.hosts[0].name, "shared");
    let place = format!("service file \"{}\", line", home.join(".pg_service.conf").display());
    for (service, message) in [
        ("nested", format!("nested service specifications not supported in {place} 12")),
        ("typo", format!("syntax error in {place} 14")),
        ("blank", format!("syntax error in {place} 16")),
        ("none", format!("syntax error in {place} 18")),
        ("ldap", format!("LDAP look-up of connection parameters is not supported in {place} 20")),
        ("absent", "definition of service \"absent\" not found".to_owned()),
    ] {
        let error = resolve(Some(&format!("service={service}")), &[], &env);
        assert_eq!(error.map_err(|e| e.to_string()).err(), Some(message));
    }
    let lost = env.with("PGSERVICEFILE", "/no/such/file");
    let error = resolve(Some("service=mine"), &[], &lost).map_err(|e| e.to_string()).err();
    assert_eq!(error.as_deref(), Some("service file \"/no/such/file\" not found"));
    Ok(())
}

fn passwords(dsn: &str, env: &MapEnv) -> (Vec<Option<String>>, Vec<String>) {
    match resolve(Some(dsn), &[], env) {
        Ok(resolved) => {
            let hosts = resolved.options.hosts.into_iter();
            let shown = hosts.map(|host| host.password.map(|secret| secret.reveal().to_owned()));
            (shown.collect(), resolved.warnings)
        }
        Err(error) => panic!("{dsn}: {error}"),
    }
}

/// Each host gets its own password; a given one makes the file superfluous.
#[test]
fn password_file_serves_each_host() -> std::io::Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join(".pgpass");
    fs::write(&file, "a:1:*:*:pa\nb:5432:*:*:pb\nlocalhost:*:*:*:local\n10.0.0.1:*:*:*:addr\n")?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
    let env = env().with("HOME", dir.path().display().to_string());
    let some = |text: &str| Some(text.to_owned());
    let (found, warnings) = passwords("host=a,b,c,,/tmp port=1,,,,", &env);
    assert_eq!(found, [some("pa"), some("pb"), None, some("local"), None]);
    assert!(warnings.is_empty());
    assert_eq!(passwords("hostaddr=10.0.0.1", &env).0, [some("addr")]);
    assert_eq!(passwords("host=a port=1 hostaddr=10.0.0.1", &env).0, [some("pa")]);
    assert_eq!(passwords("host=a port=01", &env).0, [None]);
    assert_eq!(passwords("host=a port=1 password=given", &env).0, [some("given")]);
    assert_eq!(passwords("host=a port=1 passfile=/no/such", &env), (vec![None], vec![]));
    Ok(())
}

/// A file that others may read, or that is no file, is left alone, with
/// libpq's warning.
#[test]
fn password_file_must_be_private() -> std::io::Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("pass");
    fs::write(&file, "*:*:*:*:pw\n")?;
    let shown = file.display().to_string();
    let env = env().with("PGPASSFILE", &shown);
    for mode in [0o640, 0o604, 0o610] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode))?;
        let expected = format!(
            "WARNING: password file \"{shown}\" has group or world access; permissions should be u=rw (0600) or less"
        );
        assert_eq!(passwords("host=h", &env), (vec![None], vec![expected]));
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400))?;
    assert_eq!(passwords("host=h", &env), (vec![Some("pw".to_owned())], vec![]));
    let folder = dir.path().display().to_string();
    let expected = format!("WARNING: password file \"{folder}\" is not a plain file");
    assert_eq!(passwords(&format!("passfile='{folder}'"), &env), (vec![None], vec![expected]));
    Ok(())
}

/// No error shows a password, wherever in the string it stands and however it
/// breaks the string.
#[test]
fn errors_hide_secrets() {
    for dsn in [
        "postgres://u:hunter@two@h",
        "postgres://u:hunter/two@h",
        "postgres://u:hunter/two@h/d?x=y",
        "postgres://u:hunter%zz@h",
        "postgres://u:hunter%00two@h",
        "postgres://u:hunter two@h",
        "postgres://u:hunter@[::1",
        "postgres://u:hunter@[::1]x",
        "postgres://u:a@b:hunter@h",
        "postgres://u:a/b?hunter@h",
        "postgres://h?password=a&hunter",
        "postgres://h?password=a&hunter=two",
        "postgres://h?password=a=hunter",
        "postgres://h?password=hunter%zz",
        "postgres://h?sslpassword=hunter%zz",
        "postgre://u:hunter@h",
        "postgre://u:hunter@h?a=b",
        "password=a hunter",
        "password=a hunter=b",
        "password='a'hunter'",
        "password='hunter",
        "password=hunter port=x",
        "scram_client_key=hunter",
    ] {
        let error = err(dsn);
        let shown = format!("{error} {error:?} {}", error.hint().unwrap_or_default());
        assert!(!shown.contains("hunter"), "{dsn}: {shown}");
    }
}

/// Neither the URI of options nor their debug text holds a secret.
#[test]
fn descriptions_hide_secrets() {
    let options = ok("postgres://u:hunter2@h/d?sslpassword=hunter2&sslmode=require");
    assert_eq!(options.to_string(), "postgresql://u@h:5432/d?sslmode=require");
    let env = options.to_env();
    assert!(!format!("{options:?} {env:?}").contains("hunter2"));
    assert_eq!(env.password, Some(Secret::new("hunter2")));
    assert_eq!(
        env.plain,
        [
            ("PGHOST", "h"),
            ("PGPORT", "5432"),
            ("PGUSER", "u"),
            ("PGDATABASE", "d"),
            ("PGSSLMODE", "require")
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

/// Errors about a place begin as libpq's do.
#[test]
fn failures_are_placed_as_in_libpq() {
    let prefix = |dsn: &str, tried: &str| ok(dsn).hosts[0].failure_prefix(tried.parse().ok());
    assert_eq!(
        prefix("host=localhost", "127.0.0.1"),
        "connection to server at \"localhost\" (127.0.0.1), port 5432 failed"
    );
    assert_eq!(prefix("host=h port=1", ""), "connection to server at \"h\", port 1 failed");
    assert_eq!(prefix("host=::1", "::1"), "connection to server at \"::1\", port 5432 failed");
    assert_eq!(
        prefix("host=h hostaddr=10.0.0.1", "10.0.0.1"),
        "connection to server at \"10.0.0.1\", port 5432 failed"
    );
    assert_eq!(
        prefix("host=/tmp", ""),
        "connection to server on socket \"/tmp/.s.PGSQL.5432\" failed"
    );
    assert_eq!(
        prefix("host=@abc port=1", ""),
        "connection to server on socket \"@abc/.s.PGSQL.1\" failed"
    );
}

fn word() -> impl Strategy<Value = String> {
    // Everything that could confuse a reader of URIs, and more.
    prop_oneof!["[a-z]{1,8}", "[a-z%:@/?&=#+ '\\\\\\[\\]ä€]{1,12}", "\\PC{1,8}"]
        .prop_filter("NUL cannot be said, libpq drops no other", |text| !text.contains('\0'))
}

fn host() -> impl Strategy<Value = Host> {
    let name = prop_oneof![
        "[a-z][a-z0-9.-]{0,12}",
        "/[a-z/% ä]{1,12}",
        "@[a-z/]{1,8}",
        Just("::1".to_owned()),
        Just("2001:db8::5".to_owned()),
    ];
    let addr = prop_oneof![
        3 => Just(None),
        1 => any::<std::net::IpAddr>().prop_map(Some),
    ];
    (name, addr, 1..=u16::MAX).prop_map(|(name, addr, port)| Host {
        name,
        addr,
        port,
        password: None,
    })
}

fn ssl() -> impl Strategy<Value = Ssl> {
    let modes = prop::sample::select(vec![
        SslMode::Disable,
        SslMode::Allow,
        SslMode::Prefer,
        SslMode::Require,
        SslMode::VerifyCa,
        SslMode::VerifyFull,
    ]);
    let path = || prop::option::of(word().prop_map(PathBuf::from));
    (modes, any::<bool>(), path(), path(), 0..3_u8, any::<bool>()).prop_map(
        |(mode, direct, root, cert, version, no_sni)| Ssl {
            mode,
            negotiation: if direct && mode >= SslMode::Require {
                SslNegotiation::Direct
            } else {
                SslNegotiation::Postgres
            },
            root_cert: match root {
                Some(_) if mode == SslMode::VerifyFull && direct => SslRootCert::System,
                Some(path) => SslRootCert::File(path),
                None => SslRootCert::Default,
            },
            key: cert.clone(),
            cert,
            no_sni,
            tls12_only: version == 1,
            tls13_only: version == 2,
            ..Ssl::default()
        },
    )
}

prop_compose! {
    fn any_options()(
        hosts in prop::collection::vec(host(), 1..4),
        user in word(),
        dbname in word(),
        texts in prop::array::uniform3(prop::option::of(word())),
        timeouts in prop::array::uniform4(prop::option::of(1..100_000_u64)),
        keepalives_on in any::<bool>(),
        ssl in ssl(),
        choices in (0..3_u8, 0..6_u8, any::<bool>()),
    ) -> Options {
        let [server_options, application_name, require_peer] = texts;
        Options {
            hosts,
            user,
            dbname,
            server_options,
            application_name,
            client_encoding: None,
            connect_timeout: timeouts[0].map(Duration::from_secs),
            tcp_user_timeout: timeouts[1].map(Duration::from_millis),
            keepalives: Keepalives {
                on: keepalives_on,
                idle: timeouts[2].map(Duration::from_secs),
                interval: timeouts[3].map(Duration::from_secs),
                count: timeouts[0].and_then(|count| u32::try_from(count).ok()),
            },
            ssl,
            channel_binding: [
                ChannelBinding::Disable,
                ChannelBinding::Prefer,
                ChannelBinding::Require,
            ][usize::from(choices.0)],
            require_auth: None,
            require_peer,
            target_session_attrs: [
                TargetSessionAttrs::Any,
                TargetSessionAttrs::ReadWrite,
                TargetSessionAttrs::ReadOnly,
                TargetSessionAttrs::Primary,
                TargetSessionAttrs::Standby,
                TargetSessionAttrs::PreferStandby,
            ][usize::from(choices.1)],
            load_balance_hosts: if choices.2 {
                LoadBalanceHosts::Random
            } else {
                LoadBalanceHosts::Disable
            },
            runtime_params: Vec::new(),
        }
    }
}

proptest! {
    /// Options written as a URI and read again are the same options, whatever
    /// characters their names hold.
    #[test]
    fn uris_round_trip(options in any_options()) {
        let uri = options.describe();
        let again = resolve(Some(&uri), &[], &env());
        prop_assert_eq!(again.map(|resolved| resolved.options), Ok(options), "{}", uri);
    }

    /// Options written as variables and read again are the same, but for what
    /// has no variable.
    #[test]
    fn variables_round_trip(mut options in any_options()) {
        options.keepalives = Keepalives::default();
        options.tcp_user_timeout = None;
        let mut given = env();
        for (name, value) in options.to_env().plain {
            given = given.with(name, value);
        }
        let again = resolve(None, &[], &given);
        prop_assert_eq!(again.map(|resolved| resolved.options), Ok(options));
    }

    /// Any value, quoted, comes back out of a keyword string.
    #[test]
    fn keyword_strings_round_trip(user in word(), dbname in word()) {
        let quote = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
        let dsn = format!("user = '{}'dbname='{}'", quote(&user), quote(&dbname));
        let again = resolve(Some(&dsn), &[], &env());
        let again = again.map(|resolved| (resolved.options.user, resolved.options.dbname));
        prop_assert_eq!(again, Ok((user, dbname)));
    }

    /// Nothing that a person can write makes the reader panic.
    #[test]
    fn no_text_panics(text in "(postgres://)?[a-z%:@/?&=,' \\\\\\[\\]0-9ä\\n]{0,40}") {
        let _ = resolve(Some(&text), &[("dbname", text.clone())], &env());
    }
}
