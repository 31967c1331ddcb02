//! From the word on the command line to a target.
//!
//! The word is a connection URI, a keyword string, a name from
//! `pgdyno.toml`, or `embedded`. Without a word the PG* variables count, and
//! where none of them is set, `embedded`. The way that was taken is part of
//! the answer, so that the command line can say it.

use std::fmt;
use std::path::{Path, PathBuf};

use pgdyno_wire::conninfo::{self, ConnInfoError, Env, is_connection_string};
use pgdyno_wire::options::Options;

use crate::config::{Config, ConfigError, FILE_NAME, Warning, with_hint};
use crate::dialect::{Dialect, UnknownDialect, dialect_by_name};
use crate::login::Login;

/// The word that stands for the throw-away server.
pub const EMBEDDED: &str = "embedded";

/// The variables that say which server is meant, or who one is there. Others,
/// such as `PGCONNECT_TIMEOUT` or `PGSSLMODE`, say how to connect: they are
/// often set for good, and must not turn the default into a server that
/// nobody asked for. All of them count once a connection is made.
const PLACE_VARIABLES: [&str; 8] = [
    "PGHOST",
    "PGHOSTADDR",
    "PGPORT",
    "PGDATABASE",
    "PGUSER",
    "PGPASSWORD",
    "PGSERVICE",
    "PGSERVICEFILE",
];

/// A database under test.
#[derive(Debug, Clone)]
pub struct Target {
    /// For people and records; never holds a secret.
    pub name: String,
    /// One set of connection options for each endpoint; at least one.
    pub options: Vec<Options>,
    /// The dialect that was asked for; `None` means: detect it.
    pub dialect: Option<&'static dyn Dialect>,
    /// How passwords are made, as the target's own entry says; it is in
    /// `options` already.
    pub login: Login,
}

/// Where the database is.
#[derive(Debug, Clone)]
pub enum Place {
    /// On a server that is running already.
    Server(Target),
    /// On a throw-away server, to be started.
    Embedded,
}

/// Which way the target was found. `Display` says it to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The word is a connection URI.
    Uri,
    /// The word is a keyword string (it contains `=`).
    Keywords,
    /// The word is a name in this file.
    Named {
        /// The configuration file.
        file: PathBuf,
    },
    /// The word is `embedded`.
    EmbeddedAsked,
    /// There was no word, and these PG* variables are set.
    Environment {
        /// Their names.
        variables: Vec<&'static str>,
    },
    /// There was neither a word nor a PG* variable.
    EmbeddedByDefault,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uri => f.write_str("a connection URI was given"),
            Self::Keywords => f.write_str("a connection string was given"),
            Self::Named { file } => write!(f, "named in {}", file.display()),
            Self::EmbeddedAsked => f.write_str("the embedded server was asked for"),
            Self::Environment { variables } => {
                write!(f, "no target was given, {} counts", variables.join(", "))
            }
            Self::EmbeddedByDefault => {
                f.write_str("no target was given and no PG* variable is set")
            }
        }
    }
}

/// A target, and how it was found.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Where the database is.
    pub place: Place,
    /// Which way it was found.
    pub why: Why,
    /// What a person should know, such as a password in a readable file.
    pub warnings: Vec<Warning>,
}

/// What resolution looks at, apart from the word.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// `--config FILE`: look at this file and no other.
    pub config_file: Option<&'a Path>,
    /// `--dialect NAME`: overrides the file and detection.
    pub dialect: Option<&'a str>,
    /// How passwords are made; over what the file says.
    pub login: Option<&'a Login>,
    /// The working folder, for `./pgdyno.toml`.
    pub folder: &'a Path,
    /// The environment: PG*, `XDG_CONFIG_HOME`, home, and variables in values.
    pub env: &'a dyn Env,
}

/// A target could not be resolved.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The word is neither a connection string nor a known name.
    #[error(
        "there is no target \"{word}\"\n{}\nhint: a target is a connection URI \
         (postgresql://host/db), a keyword string (host=… dbname=…), a name from {FILE_NAME}, or \
         {EMBEDDED}",
        where_it_was_sought(known, looked_at)
    )]
    UnknownTarget {
        /// The word.
        word: String,
        /// The names that exist.
        known: Vec<String>,
        /// The files looked at, and whether they exist.
        looked_at: Vec<(PathBuf, bool)>,
    },
    /// The file of `--config` does not exist.
    #[error("--config {}: no such file", .0.display())]
    NoConfigFile(PathBuf),
    /// A configuration file is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A connection string, or the PG* variables, are wrong.
    #[error("{}", with_hint(.0.message(), .0.hint()))]
    Connection(ConnInfoError),
    /// `--dialect` names none.
    #[error("--dialect: {0}")]
    Dialect(#[from] UnknownDialect),
    /// The ways to log in contradict each other or the target.
    #[error("{0}")]
    Login(String),
}

fn where_it_was_sought(known: &[String], looked_at: &[(PathBuf, bool)]) -> String {
    let files: Vec<String> = looked_at
        .iter()
        .map(|(file, exists)| {
            format!("{}{}", file.display(), if *exists { "" } else { " (does not exist)" })
        })
        .collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("named targets: {known}; looked at: {}", files.join(", "))
}

/// Resolves the word on the command line, or its absence.
///
/// # Errors
/// The word is no URI, no keyword string and no known name; a configuration
/// file, a connection string or a dialect's name is wrong.
pub fn resolve(word: Option<&str>, around: &Surroundings<'_>) -> Result<Resolved, ResolveError> {
    let asked = around.dialect.map(dialect_by_name).transpose()?;
    let mut resolved = match word {
        Some(EMBEDDED) => embedded(Why::EmbeddedAsked),
        Some(word) if is_connection_string(word) => from_string(word, around)?,
        Some(word) => from_name(word, around)?,
        None => from_environment(around)?,
    };
    log_in(&mut resolved.place, asked, around)?;
    Ok(resolved)
}

/// Applies what the command line says of dialect and passwords.
fn log_in(
    place: &mut Place,
    dialect: Option<&'static dyn Dialect>,
    around: &Surroundings<'_>,
) -> Result<(), ResolveError> {
    let nothing = Login::default();
    let asked = around.login.unwrap_or(&nothing);
    let Place::Server(target) = place else {
        if *asked == nothing {
            return Ok(());
        }
        let words = "the embedded server has a password of its own; it takes no other";
        return Err(ResolveError::Login(words.to_owned()));
    };
    target.dialect = dialect.or(target.dialect);
    let login = asked.over(&target.login);
    login.apply(target, around.env).map_err(ResolveError::Login)?;
    target.login = login;
    Ok(())
}

fn embedded(why: Why) -> Resolved {
    Resolved { place: Place::Embedded, why, warnings: Vec::new() }
}

fn from_string(word: &str, around: &Surroundings<'_>) -> Result<Resolved, ResolveError> {
    // What begins like a URI is one, even with a `=` in it; see conninfo.
    let is_uri = word.starts_with("postgresql://") || word.starts_with("postgres://");
    connection(Some(word), if is_uri { Why::Uri } else { Why::Keywords }, around)
}

fn from_environment(around: &Surroundings<'_>) -> Result<Resolved, ResolveError> {
    let variables: Vec<&'static str> = PLACE_VARIABLES
        .into_iter()
        .filter(|name| around.env.var(name).is_some_and(|value| !value.is_empty()))
        .collect();
    if variables.is_empty() {
        return Ok(embedded(Why::EmbeddedByDefault));
    }
    connection(None, Why::Environment { variables }, around)
}

fn connection(
    dsn: Option<&str>,
    why: Why,
    around: &Surroundings<'_>,
) -> Result<Resolved, ResolveError> {
    let found = conninfo::resolve(dsn, &[], around.env).map_err(ResolveError::Connection)?;
    let name = display_name(&found.options);
    let target =
        Target { name, options: vec![found.options], dialect: None, login: Login::default() };
    Ok(Resolved {
        place: Place::Server(target),
        why,
        warnings: found.warnings.into_iter().map(Warning::Connection).collect(),
    })
}

/// Host, port and database: enough to know it again, and no secret.
fn display_name(options: &Options) -> String {
    let hosts: Vec<String> = options.hosts.iter().map(ToString::to_string).collect();
    format!("{} database {}", hosts.join(","), options.dbname)
}

fn from_name(word: &str, around: &Surroundings<'_>) -> Result<Resolved, ResolveError> {
    let mut known = Vec::new();
    let mut looked_at = Vec::new();
    for file in config_files(around) {
        let config = Config::read(&file)?;
        if config.is_none() && around.config_file.is_some() {
            return Err(ResolveError::NoConfigFile(file));
        }
        looked_at.push((file.clone(), config.is_some()));
        let Some(config) = config else { continue };
        if let Some((target, warnings)) = config.target(word, around.env)? {
            let why = Why::Named { file };
            return Ok(Resolved { place: Place::Server(target), why, warnings });
        }
        known.extend(config.names().map(str::to_owned));
    }
    known.sort();
    known.dedup();
    Err(ResolveError::UnknownTarget { word: word.to_owned(), known, looked_at })
}

/// The files to look at, in order: a name in an earlier one wins.
fn config_files(around: &Surroundings<'_>) -> Vec<PathBuf> {
    if let Some(file) = around.config_file {
        return vec![file.to_owned()];
    }
    let set = around.env.var("XDG_CONFIG_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let home = set.or_else(|| Some(around.env.home()?.join(".config")));
    let mut files = vec![around.folder.join(FILE_NAME)];
    files.extend(home.map(|home| home.join("pgdyno").join(FILE_NAME)));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_wire::conninfo::MapEnv;
    use std::fs;

    fn with<'a>(folder: &'a Path, env: &'a MapEnv) -> Surroundings<'a> {
        Surroundings { config_file: None, dialect: None, login: None, folder, env }
    }

    fn server(resolved: Resolved) -> Target {
        match resolved.place {
            Place::Server(target) => target,
            Place::Embedded => panic!("embedded"),
        }
    }

    /// The order of the manual: word, then PG* variables, then embedded; and
    /// each way says which it was.
    #[test]
    fn order_of_resolution() {
        let temp = tempfile::tempdir().unwrap();
        let none = MapEnv::new("os");
        let pg = MapEnv::new("os").with("PGHOST", "h").with("PGDATABASE", "d");
        let how = MapEnv::new("os").with("PGSSLMODE", "require").with("PGHOST", "");
        for (word, env, expected) in [
            (None, &none, Why::EmbeddedByDefault),
            (None, &how, Why::EmbeddedByDefault),
            (None, &pg, Why::Environment { variables: vec!["PGHOST", "PGDATABASE"] }),
            (Some("embedded"), &pg, Why::EmbeddedAsked),
            (Some("postgresql://x/y?a=b"), &pg, Why::Uri),
            (Some("dbname=x"), &none, Why::Keywords),
        ] {
            let word = word.map(|w: &str| w.replace("?a=b", "?sslmode=disable"));
            let found = resolve(word.as_deref(), &with(temp.path(), env)).unwrap();
            assert_eq!(found.why, expected, "{word:?}");
            let is_embedded = matches!(found.place, Place::Embedded);
            let meant = matches!(expected, Why::EmbeddedByDefault | Why::EmbeddedAsked);
            assert_eq!(is_embedded, meant);
        }
    }

    /// A name in the working folder wins over the same name at home, and a
    /// name only at home is found.
    #[test]
    fn nearer_file_wins() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("config/pgdyno");
        fs::create_dir_all(&home).unwrap();
        fs::write(temp.path().join(FILE_NAME), "[targets.a]\nhost = \"near\"\n").unwrap();
        let far = "[targets.a]\nhost = \"far\"\n[targets.b]\nhost = \"far\"\n";
        fs::write(home.join(FILE_NAME), far).unwrap();
        let env = MapEnv::new("os")
            .with("XDG_CONFIG_HOME", temp.path().join("config").display().to_string());
        let host = |word| {
            let found = resolve(Some(word), &with(temp.path(), &env)).unwrap();
            server(found).options[0].hosts[0].name.clone()
        };
        assert_eq!((host("a"), host("b")), ("near".to_owned(), "far".to_owned()));
        let mut around = with(temp.path(), &env);
        let file = home.join(FILE_NAME);
        around.config_file = Some(&file);
        assert_eq!(server(resolve(Some("a"), &around).unwrap()).options[0].hosts[0].name, "far");
    }

    /// An unknown name lists the names that exist and the files looked at.
    #[test]
    fn unknown_name_says_what_exists() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join(FILE_NAME), "[targets.prod]\nhost = \"h\"\n").unwrap();
        let env = MapEnv::new("os").with("HOME", "/nowhere");
        let text = resolve(Some("prdo"), &with(temp.path(), &env)).unwrap_err().to_string();
        assert!(text.contains("no target \"prdo\"") && text.contains("targets: prod;"), "{text}");
        assert!(text.contains("/nowhere/.config/pgdyno/pgdyno.toml (does not exist)"), "{text}");
        let mut around = with(temp.path(), &env);
        let missing = temp.path().join("missing.toml");
        around.config_file = Some(&missing);
        let error = resolve(Some("prod"), &around).unwrap_err();
        assert!(matches!(error, ResolveError::NoConfigFile(_)), "{error}");
    }

    /// `--dialect` counts for every way to a server, and an unknown one is refused.
    #[test]
    fn dialect_can_be_forced() {
        let temp = tempfile::tempdir().unwrap();
        let env = MapEnv::new("os");
        let mut around = with(temp.path(), &env);
        around.dialect = Some("pg");
        let target = server(resolve(Some("host=h"), &around).unwrap());
        assert_eq!(target.dialect.map(Dialect::name), Some("postgres"));
        around.dialect = Some("db2");
        assert!(resolve(Some("host=h"), &around).is_err());
    }

    /// The name of a target shows where it is and no password.
    #[test]
    fn names_hold_no_secret() {
        let temp = tempfile::tempdir().unwrap();
        let env = MapEnv::new("os");
        let word = Some("postgresql://u:s3cret@h1:1,h2:2/d");
        let target = server(resolve(word, &with(temp.path(), &env)).unwrap());
        assert_eq!(target.name, "h1:1,h2:2 database d");
        assert!(!format!("{target:?}").contains("s3cret"));
    }
}
