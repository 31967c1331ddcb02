//! How one logs in where the password is no fixed text: a command that prints
//! it, or a token of AWS.
//!
//! What was asked for, on the command line or in `pgdyno.toml`, becomes the
//! password source of a target's options. A target that takes nothing but
//! tokens gets them without being asked; whether it is one is the dialect's
//! knowledge, by the host's name.

use std::sync::Arc;
use std::time::Duration;

use pgdyno_token::command::LIFETIME_DEFAULT;
use pgdyno_token::{AwsSettings, PasswordCommand, Service, TokenMaker};
use pgdyno_wire::auth::{PasswordMaker, PasswordSource};
use pgdyno_wire::conninfo::Env;
use pgdyno_wire::options::{Host, Options, SslMode, SslRootCert};
use pgdyno_wire::secret::Secret;

use crate::dialect::{Dialect, dialect_by_host};
use crate::resolve::Target;

/// Shorter lifetimes would be over before the password is used.
const LIFETIME_MIN: Duration = Duration::from_secs(1);

/// What was asked for; nothing by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Login {
    /// Run by the shell; the first line that it prints is the password. A
    /// secret, because people write secrets into commands.
    pub password_command: Option<Secret>,
    /// How long such a password serves before the command is run again.
    pub password_lifetime: Option<Duration>,
    /// Whether passwords are tokens of AWS; `None` is: where the dialect says so.
    pub aws_iam: Option<bool>,
    /// The region of tokens, where the host's name does not tell or is wrong.
    pub aws_region: Option<String>,
    /// The profile of AWS's own files whose credentials sign.
    pub aws_profile: Option<String>,
}

impl Login {
    /// This over what another says. One way to get a password excludes the
    /// other, so the stronger one's counts alone.
    #[must_use]
    pub fn over(&self, below: &Self) -> Self {
        let mut below = below.clone();
        if self.aws_iam == Some(true) {
            below.password_command = None;
            below.password_lifetime = None;
        }
        if self.password_command.is_some() {
            below.aws_iam = None;
            below.aws_region = None;
            below.aws_profile = None;
        }
        let own = self.clone();
        Self {
            password_command: own.password_command.or(below.password_command),
            password_lifetime: own.password_lifetime.or(below.password_lifetime),
            aws_iam: own.aws_iam.or(below.aws_iam),
            aws_region: own.aws_region.or(below.aws_region),
            aws_profile: own.aws_profile.or(below.aws_profile),
        }
    }

    /// Gives the target's options the source of their passwords.
    ///
    /// # Errors
    /// What contradicts itself, or is not safe; for people.
    pub fn apply(&self, target: &mut Target, env: &dyn Env) -> Result<(), String> {
        self.check()?;
        let asked = target.dialect;
        refuse_without_name(&target.options)?;
        if let Some(command) = &self.password_command {
            let lifetime = self.password_lifetime.unwrap_or(LIFETIME_DEFAULT);
            let maker = PasswordCommand::new(command.reveal(), lifetime);
            give(&mut target.options, Arc::new(maker));
            return Ok(());
        }
        let Some(service) = self.service(&target.options, asked) else {
            return self.refuse_idle_aws();
        };
        for options in &mut target.options {
            encrypt(options)?;
        }
        let settings = AwsSettings::new(env, self.aws_region.clone(), self.aws_profile.clone());
        give(&mut target.options, Arc::new(TokenMaker::new(service, settings)));
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        if self.password_command.is_some() && self.aws_iam == Some(true) {
            return Err("a password command and AWS IAM tokens exclude each other".to_owned());
        }
        match self.password_lifetime {
            Some(_) if self.password_command.is_none() => {
                Err("a password lifetime belongs to a password command, and there is none"
                    .to_owned())
            }
            Some(lifetime) if lifetime < LIFETIME_MIN => {
                Err(format!("a password lifetime is at least {} s", LIFETIME_MIN.as_secs()))
            }
            _ => Ok(()),
        }
    }

    /// Whose tokens the passwords are, if any.
    fn service(&self, options: &[Options], asked: Option<&dyn Dialect>) -> Option<Service> {
        let mut hosts = options.iter().flat_map(|one| &one.hosts);
        let by_host = hosts.clone().next().and_then(|host| dialect_by_host(&host.name));
        let dialect = asked.or(by_host);
        match self.aws_iam {
            Some(true) => Some(dialect.and_then(Dialect::token_service).unwrap_or(Service::Rds)),
            Some(false) => None,
            None => {
                // By the name alone: a stand-in elsewhere may take anything.
                let needs = by_host.is_some_and(Dialect::takes_only_tokens);
                let has_none =
                    hosts.all(|host| host.password.as_ref().is_none_or(Secret::is_empty));
                if needs && has_none { by_host.and_then(Dialect::token_service) } else { None }
            }
        }
    }

    /// A region or a profile that nothing looks at is a mistake.
    fn refuse_idle_aws(&self) -> Result<(), String> {
        match (&self.aws_region, &self.aws_profile) {
            (None, None) => Ok(()),
            _ => Err("an AWS region or profile is for AWS IAM tokens, which are not in use here\n\
                      hint: say --aws-iam, or auth = \"aws-iam\" in pgdyno.toml"
                .to_owned()),
        }
    }
}

fn give(all: &mut [Options], maker: Arc<dyn PasswordMaker>) {
    // One for all endpoints, so that one thread makes one password at a time.
    let source = PasswordSource::new(maker);
    for options in all {
        options.password_source = Some(source.clone());
    }
}

/// A service that finds the database by the name in TLS needs that name.
fn refuse_without_name(all: &[Options]) -> Result<(), String> {
    for options in all.iter().filter(|options| options.ssl.no_sni) {
        for host in &options.hosts {
            if let Some(dialect) = dialect_by_host(&host.name).filter(|d| d.takes_only_tokens()) {
                return Err(format!(
                    "{} finds the cluster by the host's name in TLS; sslsni=0 keeps it back",
                    dialect.title()
                ));
            }
        }
    }
    Ok(())
}

/// A token is a password that works for anybody: never in clear text, and
/// where the name says which service it must be, only to that service.
fn encrypt(options: &mut Options) -> Result<(), String> {
    let on_sockets = options.hosts.iter().all(Host::is_unix);
    if options.ssl.mode == SslMode::Disable && !on_sockets {
        return Err("AWS IAM tokens travel as passwords in clear text, and sslmode=disable would \
                    show them to the network\nhint: say sslmode=verify-full, or require"
            .to_owned());
    }
    if options.ssl.mode < SslMode::Require && !on_sockets {
        let by_name = |host: &str| dialect_by_host(host).is_some_and(Dialect::takes_only_tokens);
        let is_known = options.hosts.iter().all(|host| by_name(&host.name));
        if is_known && options.ssl.root_cert == SslRootCert::Default {
            options.ssl.mode = SslMode::VerifyFull;
            options.ssl.root_cert = SslRootCert::System;
        } else {
            options.ssl.mode = SslMode::Require;
        }
    }
    Ok(())
}

/// A lifetime in words: a number of seconds, or with a unit `s`, `min`, `h`.
///
/// # Errors
/// It is none.
pub fn lifetime(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit_s = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => 0,
    };
    let number = digits.trim().parse::<u32>().ok().filter(|number| *number > 0 && unit_s > 0);
    number
        .map(|number| Duration::from_secs(u64::from(number) * unit_s))
        .ok_or_else(|| "a lifetime is a whole number of s, min or h, such as 15min".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_wire::conninfo::{MapEnv, resolve};

    const DSQL: &str = "host=abc.dsql.us-east-1.on.aws user=admin dbname=postgres";

    fn applied(dsn: &str, login: &Login) -> Result<Options, String> {
        let env = MapEnv::new("os");
        let options = resolve(Some(dsn), &[], &env).unwrap().options;
        let mut target = Target {
            name: "t".to_owned(),
            options: vec![options],
            dialect: None,
            login: Login::default(),
        };
        login.apply(&mut target, &env)?;
        Ok(target.options.remove(0))
    }

    fn shown(options: &Options) -> String {
        format!("{:?}", options.password_source)
    }

    /// A host of DSQL gets tokens over verified TLS without a word, unless a
    /// password was given or tokens were declined.
    #[test]
    fn dsql_gets_tokens() {
        let options = applied(DSQL, &Login::default()).unwrap();
        assert!(shown(&options).contains("AuroraDsql"), "{}", shown(&options));
        assert_eq!(options.ssl.mode, SslMode::VerifyFull);
        assert_eq!(options.ssl.root_cert, SslRootCert::System);
        let fixed = applied(&format!("{DSQL} password=x"), &Login::default()).unwrap();
        let declined = Login { aws_iam: Some(false), ..Login::default() };
        for options in [fixed, applied(DSQL, &declined).unwrap()] {
            assert_eq!((options.password_source, options.ssl.mode), (None, SslMode::Prefer));
        }
        let required = applied(&format!("{DSQL} sslmode=require"), &Login::default()).unwrap();
        assert_eq!(required.ssl.mode, SslMode::Require);
    }

    /// Tokens that were asked for are RDS's elsewhere, over TLS at least.
    #[test]
    fn tokens_on_request() {
        let login = Login { aws_iam: Some(true), ..Login::default() };
        let options = applied("host=db.x.eu-west-1.rds.amazonaws.com", &login).unwrap();
        assert!(shown(&options).contains("Rds"), "{}", shown(&options));
        assert_eq!(options.ssl.mode, SslMode::Require);
        assert_eq!(applied("host=h", &Login::default()).unwrap().password_source, None);
    }

    /// What is unsafe, or contradicts itself, is refused with a reason.
    #[test]
    fn refusals() {
        let aws = Login { aws_iam: Some(true), ..Login::default() };
        let command = Login { password_command: Some("x".into()), ..Login::default() };
        let both = Login { aws_iam: Some(true), ..command.clone() };
        let short = Login { password_lifetime: Some(Duration::ZERO), ..command };
        let alone = Login { password_lifetime: Some(Duration::from_secs(9)), ..Login::default() };
        let idle = Login { aws_region: Some("r".to_owned()), ..Login::default() };
        for (dsn, login, word) in [
            ("host=h sslmode=disable", &aws, "clear text"),
            ("host=h", &both, "exclude"),
            ("host=h", &short, "at least"),
            ("host=h", &alone, "there is none"),
            ("host=h", &idle, "not in use"),
            (&format!("{DSQL} sslsni=0"), &Login::default(), "sslsni"),
        ] {
            let error = applied(dsn, login).unwrap_err();
            assert!(error.contains(word), "{dsn}: {error}");
        }
    }

    /// The stronger source's way excludes the weaker one's other way.
    #[test]
    fn over() {
        let command = Login {
            password_command: Some("x".into()),
            password_lifetime: Some(Duration::from_secs(60)),
            ..Login::default()
        };
        let aws =
            Login { aws_iam: Some(true), aws_profile: Some("p".to_owned()), ..Login::default() };
        assert_eq!(aws.over(&command), aws);
        assert_eq!(command.over(&aws), command);
        let region = Login { aws_region: Some("r".to_owned()), ..Login::default() };
        let together = Login { aws_region: Some("r".to_owned()), ..aws.clone() };
        assert_eq!(region.over(&aws), together);
        assert_eq!(Login::default().over(&command), command);
    }

    /// Lifetimes have units, and nonsense is refused.
    #[test]
    fn lifetimes() {
        let seconds = |text| lifetime(text).map(|time| time.as_secs());
        assert_eq!(seconds("15min"), Ok(900));
        assert_eq!((seconds("90"), seconds("90s"), seconds("2h")), (Ok(90), Ok(90), Ok(7200)));
        for bad in ["", "0", "min", "1.5h", "-1", "1d", "99999999999"] {
            assert!(lifetime(bad).is_err(), "{bad}");
        }
    }
}
