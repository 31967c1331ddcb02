//! What is refused, in which words, and that no secret is among them.

use super::*;
use crate::secret::Secret;

fn refused(cases: &[(&str, &str)]) {
    for (dsn, message) in cases {
        assert_eq!(err(dsn).to_string(), *message, "{dsn}");
    }
}

/// A URI that cannot be read is refused in libpq's words.
#[test]
fn strings_that_cannot_be_read() {
    refused(&[
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
        ("postgres://h?&", "missing key/value separator \"=\" in URI query parameter: \"\""),
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
    ]);
}

/// Keyword strings, host lists and ports are refused in libpq's words.
#[test]
fn keyword_strings_and_places() {
    refused(&[
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
    ]);
}

/// Values that a parameter does not take are refused in libpq's words.
#[test]
fn values_that_are_none() {
    refused(&[
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
    ]);
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
