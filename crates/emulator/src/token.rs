//! Passwords: the form of an IAM token.
//!
//! A token is a presigned URL without its scheme: `host/?Action=DbConnect&…`,
//! with the time of signing and its lifetime in the query. Everything but the
//! signature is looked at.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, civil::DateTime, tz::TimeZone};

use crate::refusal::Refusal;

/// The user that needs the action `DbConnectAdmin`.
pub(crate) const ADMIN: &str = "admin";

/// Clocks differ; AWS accepts signatures from five minutes ahead.
const CLOCK_SKEW_MAX: SignedDuration = SignedDuration::from_mins(5);

/// How the time of signing is written.
const AMZ_DATE: &str = "%Y%m%dT%H%M%SZ";

/// `invalid_authorization_specification`: not recorded, PostgreSQL's own for it.
const DENIED: &str = "28000";

/// Decides on a password for a user at a time.
pub(crate) fn check(password: &str, user: &str, now: Timestamp) -> Result<(), Refusal> {
    let denied = || Refusal::new(DENIED, "unable to accept connection, access denied");
    let query = password.split_once("/?").map(|(_, query)| query).ok_or_else(denied)?;
    let get = |name: &str| {
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)
    };
    let value = |name: &str| get(name).map(|(_, value)| value).ok_or_else(denied);
    let action = if user == ADMIN { "DbConnectAdmin" } else { "DbConnect" };
    let signed_with = value("X-Amz-Algorithm")? == "AWS4-HMAC-SHA256";
    if value("Action")? != action || !signed_with || value("X-Amz-Signature")?.is_empty() {
        return Err(denied());
    }
    let seconds: i64 = value("X-Amz-Expires")?.parse().map_err(|_| denied())?;
    let signed = DateTime::strptime(AMZ_DATE, value("X-Amz-Date")?)
        .and_then(|time| time.to_zoned(TimeZone::UTC))
        .map_err(|_| denied())?
        .timestamp();
    let age = now.duration_since(signed);
    if age > SignedDuration::from_secs(seconds) {
        let expired = signed.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(signed);
        let show = |time: Timestamp| time.strftime(AMZ_DATE).to_string();
        let hint =
            format!("Signature expired: {} is now earlier than {}", show(expired), show(now));
        return Err(denied().with_hint(hint));
    }
    if age < -CLOCK_SKEW_MAX {
        return Err(denied().with_hint("Signature not yet current"));
    }
    Ok(())
}

/// What has the form of a token of `admin`, signed by nobody: good for this
/// emulator, and for nothing else.
#[must_use]
pub fn sample_token(host: &str, lifetime: Duration) -> String {
    let signed = Timestamp::now().strftime(AMZ_DATE);
    format!(
        "{host}/?Action=DbConnectAdmin&X-Amz-Algorithm=AWS4-HMAC-SHA256\
         &X-Amz-Credential=emulator&X-Amz-Date={signed}&X-Amz-Expires={}\
         &X-Amz-SignedHeaders=host&X-Amz-Signature=unsigned",
        lifetime.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(action: &str, date: &str) -> String {
        format!(
            "localhost/?Action={action}&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date={date}\
             &X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=00"
        )
    }

    /// A token is good for its user and its time only, and nothing else is one.
    #[test]
    fn tokens() {
        let now: Timestamp = "2026-11-21T04:00:00Z".parse().unwrap();
        let good = token("DbConnectAdmin", "20261121T035900Z");
        assert_eq!(check(&good, "admin", now), Ok(()));
        assert!(check(&good, "reader", now).is_err());
        assert!(check(&token("DbConnect", "20261121T035900Z"), "reader", now).is_ok());
        let old = check(&token("DbConnectAdmin", "20261121T034459Z"), "admin", now).unwrap_err();
        assert!(old.hint.is_some_and(|hint| hint.starts_with("Signature expired")));
        for bad in ["", "secret", "localhost/?Action=DbConnectAdmin", "/?X-Amz-Date=1"] {
            assert!(check(bad, "admin", now).is_err(), "{bad}");
        }
        assert!(check(&token("DbConnectAdmin", "20261121T050000Z"), "admin", now).is_err());
    }
}
