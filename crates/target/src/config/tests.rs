//! Tests of `pgdyno.toml`: what is read, what is refused, and where.

use super::*;

fn config(text: &str, mode: u32) -> Result<Config, ConfigError> {
    Config::from_text(Path::new("pgdyno.toml"), text.to_owned(), mode)
}

fn fault(text: &str) -> String {
    config(text, 0o600).map(|_| ()).unwrap_err().to_string()
}

fn target(text: &str, env: &MapEnv) -> (Target, Vec<Warning>) {
    config(text, 0o600).unwrap().target("t", env).unwrap().unwrap()
}

/// Keys win over the dsn, numbers and booleans are texts, variables are filled in.
#[test]
fn reads_a_target() {
    let text = "[targets.t]\ndsn = \"postgresql://a@h1:1/d\"\nport = 5433\nuser = \"${WHO}\"\n\
                password = \"${PW:-none}\"\nsslsni = false\ndialect = \"PostgreSQL\"\n";
    let (target, warnings) = target(text, &MapEnv::new("os").with("WHO", "bench"));
    let [options] = target.options.as_slice() else { panic!("one endpoint") };
    assert_eq!((options.hosts[0].name.as_str(), options.hosts[0].port), ("h1", 5433));
    assert_eq!((options.user.as_str(), options.dbname.as_str()), ("bench", "d"));
    assert_eq!(
        options.hosts[0].password.as_ref().map(pgdyno_wire::secret::Secret::reveal),
        Some("none")
    );
    assert!(options.ssl.no_sni);
    assert_eq!(target.dialect.map(Dialect::name), Some("postgres"));
    assert_eq!(warnings, Vec::new());
}

/// Each endpoint is a set of options of its own, in the order given.
#[test]
fn endpoints_are_separate() {
    let text = "[targets.t]\nport = 6000\nuser = \"u\"\n\
                endpoints = [\"a\", \"b:7000\", \"[::1]:8000\", \"::2\", \"/run/pg\"]\n";
    let (target, _) = target(text, &MapEnv::new("os"));
    let places: Vec<(String, u16)> =
        target.options.iter().map(|o| (o.hosts[0].name.clone(), o.hosts[0].port)).collect();
    let expected = [("a", 6000), ("b", 7000), ("::1", 8000), ("::2", 6000), ("/run/pg", 6000)];
    assert_eq!(places, expected.map(|(host, port)| (host.to_owned(), port)));
}

/// Whatever is not known is named with its place and with what exists.
#[test]
fn unknown_keys_have_a_place() {
    let text = fault("[targets.t]\nhost = \"h\"\n  hots = \"x\"\n");
    assert!(text.starts_with("pgdyno.toml:3:3: unknown key \"hots\" of a target"), "{text}");
    assert!(text.contains("dsn, endpoints, dialect, ") && text.contains("host,"), "{text}");
    let text = fault("[target.t]\nhost = \"h\"\n");
    assert_eq!(text, "pgdyno.toml:1:2: unknown key \"target\"; there is: targets");
}

/// Values that cannot be are refused at their place.
#[test]
fn wrong_values_have_a_place() {
    for (text, expected) in [
        ("[targets.t]\nhost = [1]\n", "pgdyno.toml:2:8: host is a text"),
        ("[targets.t]\ndialect = \"mysql\"\n", "pgdyno.toml:2:11: there is no dialect \"mysql\""),
        ("[targets.t]\nendpoints = []\n", "pgdyno.toml:2:13: endpoints is a list"),
        ("[targets.t]\nendpoints = [\"a\", 1]\n", "pgdyno.toml:2:19: endpoints is a list"),
        (
            "[targets.t]\nendpoints = [\"a\"]\nhost = \"b\"\n",
            "pgdyno.toml:3:8: a target has either",
        ),
        ("[targets.embedded]\nhost = \"b\"\n", "pgdyno.toml:1:10: the name \"embedded\" is taken"),
        ("targets = 1\n", "pgdyno.toml:1:1: targets is a table"),
        ("[targets.t]\nhöst = \"é\" x\n", "pgdyno.toml:2:"),
    ] {
        let found = fault(text);
        assert!(found.starts_with(expected), "{text:?} gave {found}");
    }
}

/// A variable that is not set is named with file and line, for the target that
/// is asked for and for no other.
#[test]
fn unset_variable_has_a_place() {
    let text =
        "[targets.t]\nhost = \"h\"\npassword = \"x${NOT_THERE}\"\n[targets.u]\nhost = \"h\"\n";
    let config = config(text, 0o600).unwrap();
    let error = config.target("t", &MapEnv::new("os")).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("pgdyno.toml:3:12: "), "{error}");
    assert!(error.contains("variable NOT_THERE is not set"), "{error}");
    assert!(config.target("u", &MapEnv::new("os")).unwrap().is_some());
    assert!(config.target("v", &MapEnv::new("os")).unwrap().is_none());
}

/// A wrong connection string is reported at its place.
#[test]
fn wrong_dsn_has_a_place() {
    let text = "[targets.t]\ndsn = \"postgresql://h:port/\"\n";
    let config = config(text, 0o600).unwrap();
    let error = config.target("t", &MapEnv::new("os")).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("pgdyno.toml:2:7: "), "{error}");
}

/// Plain passwords are warned of in files that others may read, and nowhere else.
#[test]
fn warns_of_readable_passwords() {
    let env = MapEnv::new("os").with("PW", "s3cret").with("H", "h");
    for (line, mode, expected) in [
        ("password = \"s3cret\"", 0o644, true),
        ("password = \"s3cret\"", 0o640, true),
        ("password = \"s3cret\"", 0o600, false),
        ("password = \"${PW}\"", 0o644, false),
        ("dsn = \"postgresql://u:s3cret@${H}/\"", 0o644, true),
        ("dsn = \"postgresql://u:${PW}@h/\"", 0o644, false),
        ("dsn = \"host=h password=s3cret\"", 0o604, true),
        ("dsn = \"host=h\"", 0o644, false),
    ] {
        let config = config(&format!("[targets.t]\n{line}\n"), mode).unwrap();
        let (_, warnings) = config.target("t", &env).unwrap().unwrap();
        assert_eq!(!warnings.is_empty(), expected, "{line} {mode:o}");
        assert!(warnings.iter().all(|w| !w.to_string().contains("s3cret")));
    }
}

/// Neither errors nor `Debug` show what the file says of secrets.
#[test]
fn secrets_stay_inside() {
    let text = "[targets.t]\npassword = \"s3cret\n";
    assert!(!fault(text).contains("s3cret"), "{}", fault(text));
    let config = config("[targets.t]\npassword = \"s3cret\"\n", 0o600).unwrap();
    let shown = format!("{config:?}");
    assert!(!shown.contains("s3cret") && shown.contains("\"t\""), "{shown}");
}

/// The keys of how passwords are made are read, the command as it stands, and
/// wrong values have a place.
#[test]
fn ways_to_log_in() {
    let text = "[targets.t]\nhost = \"h\"\npassword_command = \"echo ${NOT_SET}\"\n\
                password_lifetime = \"5min\"\n";
    let (target, _) = target(text, &MapEnv::new("os"));
    let command = target.login.password_command.as_ref().map(Secret::reveal);
    assert_eq!(command, Some("echo ${NOT_SET}"));
    assert_eq!(target.login.password_lifetime, Some(std::time::Duration::from_secs(300)));
    assert!(!format!("{target:?}").contains("echo"));
    for (line, expected) in [
        ("auth = \"kerberos\"", "pgdyno.toml:2:8: auth is \"password\" or \"aws-iam\""),
        ("password_lifetime = \"1 week\"", "pgdyno.toml:2:21: a lifetime is a whole number"),
    ] {
        let config = config(&format!("[targets.t]\n{line}\n"), 0o600).unwrap();
        let error = config.target("t", &MapEnv::new("os")).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
