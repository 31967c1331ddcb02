//! Whose signature: the environment, a profile's keys, or the command that a
//! profile names.
//!
//! Without the feature `aws` there are no roles, no single sign-on and no
//! credentials of a machine or container: these need requests to AWS.

use std::sync::atomic::AtomicBool;

use jiff::Timestamp;
use pgdyno_wire::secret::Secret;
use serde::Deserialize;

use super::AwsSettings;
use super::profile::Profile;
use super::sigv4::Credentials;
use crate::{command, process};

/// Settings of a profile that need requests to AWS.
const NEEDS_REQUESTS: [&str; 6] = [
    "role_arn",
    "sso_session",
    "sso_start_url",
    "source_profile",
    "credential_source",
    "web_identity_token_file",
];

/// What always works.
const WAYS_OUT: &str = "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN \
    (aws configure export-credentials --format env prints them), name a profile that has keys or \
    a credential_process, or use --password-command";

/// Finds credentials, read anew each time: those of a file may have been
/// renewed meanwhile.
///
/// # Errors
/// There are none, or what names them is wrong; with the way out.
pub(super) fn find(settings: &AwsSettings, stop: &AtomicBool) -> Result<Credentials, String> {
    if settings.profile_asked.is_none()
        && let Some(credentials) = &settings.from_env
    {
        return Ok(credentials.clone());
    }
    let name = settings.profile_name();
    let profile = settings.files.profile(name)?;
    if let Some(credentials) = of_profile(name, &profile, stop)? {
        return Ok(credentials);
    }
    from_chain(settings).map_err(|words| refusal(settings, name, &profile, words.as_deref()))
}

fn of_profile(
    name: &str,
    profile: &Profile,
    stop: &AtomicBool,
) -> Result<Option<Credentials>, String> {
    match (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key")) {
        (Some(key_id), Some(secret)) => {
            return Ok(Some(Credentials {
                key_id: key_id.to_owned(),
                secret: Secret::new(secret),
                session_token: profile.get("aws_session_token").map(Secret::new),
                expires: None,
            }));
        }
        (Some(_), None) => {
            return Err(format!("profile \"{name}\" has no aws_secret_access_key"));
        }
        (None, _) => {}
    }
    let Some(command) = profile.get("credential_process") else { return Ok(None) };
    let failed = |words: String| format!("the credential_process of profile \"{name}\" {words}");
    let output = process::run(command, command::TIME_MAX, stop)
        .and_then(process::Output::checked_in_silence)
        .map_err(failed)?;
    parse_process(&output).map(Some).map_err(failed)
}

/// What a `credential_process` prints (AWS documentation, "Sourcing
/// credentials with an external process").
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Printed {
    version: u32,
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<String>,
}

fn parse_process(output: &[u8]) -> Result<Credentials, String> {
    // Without the parser's words: they may quote what was printed.
    let printed: Printed = serde_json::from_slice(output)
        .map_err(|_| "printed no JSON with Version, AccessKeyId and SecretAccessKey".to_owned())?;
    if printed.version != 1 {
        return Err(format!("printed version {}; only 1 is known", printed.version));
    }
    let expires = printed.expiration.map(|text| text.parse::<Timestamp>());
    Ok(Credentials {
        key_id: printed.access_key_id,
        secret: Secret::new(printed.secret_access_key),
        session_token: printed.session_token.map(Secret::new),
        expires: expires.transpose().map_err(|_| "printed an Expiration that is no time")?,
    })
}

fn refusal(settings: &AwsSettings, name: &str, profile: &Profile, chain: Option<&str>) -> String {
    let found = match profile.first_of(&NEEDS_REQUESTS) {
        Some(key) => format!("profile \"{name}\" uses {key}, which needs requests to AWS"),
        None if profile.exists => format!("profile \"{name}\" has no keys"),
        None => format!(
            "there are no AWS credentials: none in the environment, and no profile \"{name}\" in {}",
            settings.files.shown()
        ),
    };
    let chain = match chain {
        Some(words) => format!("; AWS's own chain of providers says: {words}"),
        None => String::new(),
    };
    let feature = if cfg!(feature = "aws") { "" } else { ", or a build with the feature \"aws\"" };
    format!("{found}{chain}\nhint: {WAYS_OUT}{feature}")
}

#[cfg(feature = "aws")]
fn from_chain(settings: &AwsSettings) -> Result<Credentials, Option<String>> {
    super::chain::find(settings.profile_asked.as_deref()).map_err(Some)
}

#[cfg(not(feature = "aws"))]
fn from_chain(_: &AwsSettings) -> Result<Credentials, Option<String>> {
    Err(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_wire::conninfo::MapEnv;
    use std::fs;

    fn key_of(env: &MapEnv, profile: Option<&str>) -> Result<String, String> {
        let settings = AwsSettings::new(env, None, profile.map(str::to_owned));
        let found = find(&settings, &AtomicBool::new(false))?;
        let token = found.session_token.map(|token| token.reveal().to_owned());
        Ok(format!("{} {} {}", found.key_id, found.secret.reveal(), token.unwrap_or_default()))
    }

    /// The environment wins over files, a profile that was asked for wins over
    /// the environment, and a command's JSON is as good as keys.
    #[test]
    fn order_of_sources() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".aws")).unwrap();
        let file = |name: &str, text: &str| {
            fs::write(home.path().join(".aws").join(name), text).unwrap();
        };
        file(
            "credentials",
            "[default]\naws_access_key_id=d\naws_secret_access_key=ds\n\
             [two]\naws_access_key_id = t\naws_secret_access_key = ts\naws_session_token = tt\n\
             [half]\naws_access_key_id = h\n",
        );
        file(
            "config",
            "[profile p]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\"p\",\
             \"SecretAccessKey\":\"ps\",\"Expiration\":\"2030-01-01T00:00:00Z\"}'\n\
             [profile bad]\ncredential_process = echo secret >&2; exit 1\n\
             [profile role]\nrole_arn = arn:x\nsource_profile = two\n",
        );
        let env = MapEnv::new("os").with("HOME", home.path().display().to_string());
        assert_eq!(key_of(&env, None).as_deref(), Ok("d ds "));
        assert_eq!(key_of(&env, Some("p")).as_deref(), Ok("p ps "));
        let by_variable = env.clone().with("AWS_PROFILE", "two");
        assert_eq!(key_of(&by_variable, None).as_deref(), Ok("t ts tt"));
        let keys = by_variable
            .with("AWS_ACCESS_KEY_ID", "e")
            .with("AWS_SECRET_ACCESS_KEY", "es")
            .with("AWS_SESSION_TOKEN", "et");
        assert_eq!(key_of(&keys, None).as_deref(), Ok("e es et"));
        assert_eq!(key_of(&keys, Some("two")).as_deref(), Ok("t ts tt"));
        let bad = key_of(&env, Some("bad")).unwrap_err();
        assert!(bad.ends_with("ended with exit status 1"), "{bad}");
        assert!(key_of(&env, Some("half")).unwrap_err().contains("no aws_secret_access_key"));
    }

    /// What cannot be had says why and what to do.
    #[cfg(not(feature = "aws"))]
    #[test]
    fn refusals_show_a_way_out() {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join("config");
        fs::write(&config, "[profile role]\nrole_arn = arn:x\n").unwrap();
        let env = MapEnv::new("os").with("AWS_CONFIG_FILE", config.display().to_string());
        let role = key_of(&env, Some("role")).unwrap_err();
        assert!(role.contains("uses role_arn") && role.contains("--password-command"), "{role}");
        let none = key_of(&env, Some("nobody")).unwrap_err();
        assert!(none.contains("no profile \"nobody\"") && none.contains("config"), "{none}");
    }

    /// JSON that is not what it should be is not quoted.
    #[test]
    fn printed_secrets_stay_hidden() {
        for text in ["{\"SecretAccessKey\": \"hunter2\"}", "hunter2"] {
            let error = parse_process(text.as_bytes()).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
