//! What is read: libpq's own cases and the manual's examples.

use std::time::Duration;

use super::*;

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
