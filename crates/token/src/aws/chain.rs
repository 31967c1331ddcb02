//! The official chain of credential providers, for what needs requests to AWS:
//! roles, single sign-on, the metadata of machines and containers.

use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_credential_types::provider::ProvideCredentials as _;
use jiff::Timestamp;
use pgdyno_wire::secret::Secret;

use super::sigv4::Credentials;

/// How long the chain may take. It asks one provider after the other, and a
/// machine without metadata answers none of them.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Asks the chain. Runs on the thread of the one who makes passwords, which
/// may wait.
///
/// # Errors
/// The words of the chain.
pub(super) fn find(profile: Option<&str>) -> Result<Credentials, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("could not start: {error}"))?;
    runtime.block_on(async {
        tokio::time::timeout(TIME_MAX, ask(profile))
            .await
            .map_err(|_| format!("no answer within {} s", TIME_MAX.as_secs()))?
    })
}

async fn ask(profile: Option<&str>) -> Result<Credentials, String> {
    let mut loader = aws_config::defaults(BehaviorVersion::latest());
    if let Some(profile) = profile {
        loader = loader.profile_name(profile);
    }
    let config = loader.load().await;
    let provider = config.credentials_provider().ok_or("there is no provider")?;
    let found = provider.provide_credentials().await.map_err(|error| {
        // The outer error says only that it failed.
        let source = std::error::Error::source(&error).map(ToString::to_string);
        source.unwrap_or_else(|| error.to_string())
    })?;
    Ok(Credentials {
        key_id: found.access_key_id().to_owned(),
        secret: Secret::new(found.secret_access_key()),
        session_token: found.session_token().map(Secret::new),
        expires: found.expiry().and_then(|end| Timestamp::try_from(end).ok()),
    })
}
