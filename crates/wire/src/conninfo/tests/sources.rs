//! Where values come from: layers, variables, service file, password file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::options::*;
use crate::secret::Secret;

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
        password_source: None,
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
