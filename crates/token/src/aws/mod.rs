//! Login tokens of AWS: Aurora DSQL's, and those of RDS and Aurora.
//!
//! A token is a presigned URL without its scheme. It is signed here, on this
//! machine; nothing is sent to AWS for it. Whether it is accepted shows when
//! it is used.

#[cfg(feature = "aws")]
mod chain;
mod credentials;
mod profile;
mod sigv4;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;
use pgdyno_wire::auth::{Login, Made, PasswordMaker};
use pgdyno_wire::conninfo::Env;
use pgdyno_wire::secret::Secret;

use profile::Files;
use sigv4::{Credentials, Request, presign};

/// How long a token can be used to connect. RDS takes no other; DSQL's own
/// default (Aurora DSQL User Guide, authentication tokens).
const EXPIRES: Duration = Duration::from_secs(900);

/// A token this close to its end is not used any more: clocks differ, and a
/// handshake takes time.
const RESERVE: Duration = Duration::from_secs(60);

/// The user of DSQL that needs another action than all others.
const DSQL_ADMIN: &str = "admin";

/// Whose tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Amazon Aurora DSQL.
    AuroraDsql,
    /// Amazon RDS and Aurora with IAM database authentication.
    Rds,
}

/// Where credentials and region come from; taken from the surroundings once.
#[derive(Clone)]
pub struct AwsSettings {
    /// `--aws-region` or its like.
    region_asked: Option<String>,
    /// `--aws-profile` or its like.
    profile_asked: Option<String>,
    /// `AWS_PROFILE`.
    profile_env: Option<String>,
    /// `AWS_REGION` or `AWS_DEFAULT_REGION`.
    region_env: Option<String>,
    from_env: Option<Credentials>,
    files: Files,
}

impl fmt::Debug for AwsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsSettings")
            .field("region_asked", &self.region_asked)
            .field("profile", &self.profile_name())
            .finish_non_exhaustive()
    }
}

impl AwsSettings {
    /// Reads the environment; files are read when a token is made.
    #[must_use]
    pub fn new(env: &dyn Env, region: Option<String>, profile: Option<String>) -> Self {
        let var = |name: &str| env.var(name).filter(|value| !value.is_empty());
        let from_env = var("AWS_ACCESS_KEY_ID").zip(var("AWS_SECRET_ACCESS_KEY"));
        Self {
            region_asked: region,
            profile_asked: profile,
            profile_env: var("AWS_PROFILE"),
            region_env: var("AWS_REGION").or_else(|| var("AWS_DEFAULT_REGION")),
            from_env: from_env.map(|(key_id, secret)| Credentials {
                key_id,
                secret: Secret::new(secret),
                session_token: var("AWS_SESSION_TOKEN").map(Secret::new),
                expires: None,
            }),
            files: Files::find(env),
        }
    }

    fn profile_name(&self) -> &str {
        self.profile_asked.as_deref().or(self.profile_env.as_deref()).unwrap_or("default")
    }

    /// As asked for; else as the host's name says, which cannot be wrong; else
    /// as the surroundings say.
    fn region(&self, host: &str) -> Result<String, String> {
        let known = self.region_asked.clone().or_else(|| region_of_host(host).map(str::to_owned));
        if let Some(region) = known.or_else(|| self.region_env.clone()) {
            return Ok(region);
        }
        let profile = self.files.profile(self.profile_name())?;
        profile.get("region").map(str::to_owned).ok_or_else(|| {
            format!(
                "the host \"{host}\" does not tell its AWS region\nhint: say --aws-region, or set \
                 AWS_REGION"
            )
        })
    }
}

/// Makes tokens.
#[derive(Debug, Clone)]
pub struct TokenMaker {
    service: Service,
    settings: AwsSettings,
}

impl TokenMaker {
    /// Tokens of a service.
    #[must_use]
    pub const fn new(service: Service, settings: AwsSettings) -> Self {
        Self { service, settings }
    }
}

impl PasswordMaker for TokenMaker {
    fn differs_by_login(&self) -> bool {
        true
    }

    fn make(&self, login: &Login, stop: &AtomicBool) -> Result<Made, String> {
        let region = self.settings.region(&login.host)?;
        let credentials = credentials::find(&self.settings, stop)?;
        let now = Timestamp::now();
        let left = match credentials.expires {
            None => EXPIRES,
            Some(end) => Duration::try_from(end.duration_since(now))
                .map_err(|_| "the AWS credentials have expired".to_owned())?
                .min(EXPIRES),
        };
        // A token without a lifetime would be made again and again.
        if left <= RESERVE {
            return Err(format!("the AWS credentials end within {} s", RESERVE.as_secs()));
        }
        let with_port = format!("{}:{}", login.host, login.port);
        let is_admin = login.user == DSQL_ADMIN;
        let dsql = [("Action", if is_admin { "DbConnectAdmin" } else { "DbConnect" })];
        let rds = [("Action", "connect"), ("DBUser", login.user.as_str())];
        let (host, query, service) = match self.service {
            Service::AuroraDsql => (login.host.as_str(), dsql.as_slice(), "dsql"),
            Service::Rds => (with_port.as_str(), rds.as_slice(), "rds-db"),
        };
        let request = Request { host, query, region: &region, service, expires: EXPIRES };
        let password = presign(&request, &credentials, now);
        Ok(Made { password, lifetime: Some(left.saturating_sub(RESERVE)) })
    }
}

/// The region in `<cluster>.dsql….<region>.on.aws`,
/// `<name>.<id>.<region>.rds.amazonaws.com` or, in China,
/// `<name>.<id>.rds.<region>.amazonaws.com.cn`.
fn region_of_host(host: &str) -> Option<&str> {
    let host = host.trim_end_matches('.');
    if let Some(rest) = host.strip_suffix(".on.aws") {
        let (before, region) = rest.rsplit_once('.')?;
        let service = before.rsplit_once('.')?.1;
        return (service.starts_with("dsql") && !region.is_empty()).then_some(region);
    }
    let rest = host.strip_suffix(".amazonaws.com").or(host.strip_suffix(".amazonaws.com.cn"))?;
    let mut labels = rest.rsplit('.');
    match (labels.next()?, labels.next()?) {
        ("rds", region) | (region, "rds") => Some(region),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_wire::conninfo::MapEnv;

    fn made(service: Service, env: &MapEnv, host: &str, user: &str) -> Result<String, String> {
        let settings = AwsSettings::new(env, None, None);
        let login = Login { host: host.to_owned(), port: 5432, user: user.to_owned() };
        let made = TokenMaker::new(service, settings).make(&login, &AtomicBool::new(false))?;
        assert!(made.lifetime.is_some_and(|lifetime| lifetime < EXPIRES));
        Ok(made.password.reveal().to_owned())
    }

    fn keys() -> MapEnv {
        MapEnv::new("os").with("AWS_ACCESS_KEY_ID", "akid").with("AWS_SECRET_ACCESS_KEY", "s")
    }

    /// The action follows from the user, the region from the host.
    #[test]
    fn tokens_say_who_and_where() {
        let dsql = "x.dsql-gamma.eu-west-2.on.aws";
        let token = made(Service::AuroraDsql, &keys(), dsql, "admin").unwrap();
        assert!(token.starts_with(&format!("{dsql}/?Action=DbConnectAdmin&X-Amz-")), "{token}");
        assert!(token.contains("%2Feu-west-2%2Fdsql%2Faws4_request"), "{token}");
        let token = made(Service::AuroraDsql, &keys(), dsql, "app").unwrap();
        assert!(token.contains("?Action=DbConnect&"), "{token}");
        let rds = "db.abc.us-west-1.rds.amazonaws.com";
        let token = made(Service::Rds, &keys(), rds, "a b").unwrap();
        assert!(token.starts_with(&format!("{rds}:5432/?Action=connect&DBUser=a%20b&")), "{token}");
        assert!(token.contains("%2Fus-west-1%2Frds-db%2F"), "{token}");
    }

    /// A host that tells no region needs one from elsewhere.
    #[test]
    fn regions() {
        for (host, region) in [
            ("x.dsql.us-east-1.on.aws", Some("us-east-1")),
            ("vpce.dsql-abc.us-east-1.on.aws.", Some("us-east-1")),
            ("x.cluster-1.eu-north-1.rds.amazonaws.com", Some("eu-north-1")),
            ("x.y.cn-north-1.rds.amazonaws.com.cn", Some("cn-north-1")),
            ("x.y.rds.cn-north-1.amazonaws.com.cn", Some("cn-north-1")),
            ("x.s3.us-east-1.on.aws", None),
            ("localhost", None),
        ] {
            assert_eq!(region_of_host(host), region, "{host}");
        }
        let none = made(Service::Rds, &keys(), "localhost", "u").unwrap_err();
        assert!(none.contains("--aws-region"), "{none}");
        let env = keys().with("AWS_DEFAULT_REGION", "r-1");
        assert!(made(Service::Rds, &env, "localhost", "u").unwrap().contains("%2Fr-1%2F"));
    }

    /// Credentials that are about to end make no token, which would be too old
    /// at once; those that last a little longer do.
    #[test]
    fn credentials_about_to_end() {
        let home = tempfile::tempdir().unwrap();
        let env = MapEnv::new("os")
            .with("AWS_CONFIG_FILE", home.path().join("config").display().to_string())
            .with("HOME", home.path().display().to_string());
        let ending_in = |lasts: Duration| {
            let end = Timestamp::now() + lasts;
            let config = format!(
                "[default]\ncredential_process = echo '{{\"Version\":1,\"AccessKeyId\":\"k\",\
                 \"SecretAccessKey\":\"s\",\"Expiration\":\"{end}\"}}'\n"
            );
            std::fs::write(home.path().join("config"), config).unwrap();
            made(Service::AuroraDsql, &env, "x.dsql.us-east-1.on.aws", "u")
        };
        let refused = ending_in(RESERVE - Duration::from_secs(1)).unwrap_err();
        assert_eq!(refused, "the AWS credentials end within 60 s");
        assert!(ending_in(RESERVE * 10).is_ok());
    }

    /// Nothing secret in what is printed of a maker.
    #[test]
    fn debug_hides_keys() {
        let settings = AwsSettings::new(&keys().with("AWS_SESSION_TOKEN", "tok"), None, None);
        let shown = format!("{:?}", TokenMaker::new(Service::Rds, settings));
        assert!(!shown.contains("akid") && !shown.contains("tok"), "{shown}");
    }
}
