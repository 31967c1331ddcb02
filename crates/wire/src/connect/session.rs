//! What a session is told while it starts, and whether it is the wanted kind.

use std::collections::BTreeMap;

use crate::backend::{BackendKeyData, ParameterStatus, ProtocolError, ServerError};
use crate::options::TargetSessionAttrs;

/// What the server reported before it was ready.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) pid: i32,
    pub(super) key: Vec<u8>,
    pub(super) parameters: BTreeMap<String, String>,
    pub(super) notices: Vec<ServerError>,
}

impl Session {
    pub(super) fn set_parameter(&mut self, body: &[u8]) -> Result<(), ProtocolError> {
        let status = ParameterStatus::parse(body)?;
        self.parameters.insert(lossy(status.name), lossy(status.value));
        Ok(())
    }

    pub(super) fn set_key(&mut self, body: &[u8]) -> Result<(), ProtocolError> {
        let data = BackendKeyData::parse(body)?;
        self.pid = data.pid;
        self.key = data.key.to_vec();
        Ok(())
    }

    fn is_on(&self, parameter: &str) -> Option<bool> {
        self.parameters.get(parameter).map(|value| value == "on")
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// What remains to be asked before a session is known to be the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    ReadOnly,
    InRecovery,
}

impl Question {
    pub(super) const fn sql(self) -> &'static str {
        match self {
            Self::ReadOnly => "SHOW transaction_read_only",
            Self::InRecovery => "SELECT pg_catalog.pg_is_in_recovery()",
        }
    }

    /// `SHOW` answers on and off, a boolean t and f.
    pub(super) fn is_yes(answer: &[u8]) -> bool {
        answer.starts_with(b"on") || answer.starts_with(b"t")
    }
}

/// The verdict on a session, or the question that will give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Accept,
    /// libpq's reason.
    Reject(&'static str),
    Ask(Question),
}

/// Judges by what the server reported of itself (14 on), else asks.
pub(super) fn judge(wanted: TargetSessionAttrs, session: &Session) -> Verdict {
    let in_recovery = session.is_on("in_hot_standby");
    match wanted {
        TargetSessionAttrs::Any => Verdict::Accept,
        TargetSessionAttrs::ReadWrite | TargetSessionAttrs::ReadOnly => {
            match (session.is_on("default_transaction_read_only"), in_recovery) {
                (Some(read_only), Some(in_recovery)) => verdict(wanted, read_only || in_recovery),
                _ => Verdict::Ask(Question::ReadOnly),
            }
        }
        TargetSessionAttrs::Primary
        | TargetSessionAttrs::Standby
        | TargetSessionAttrs::PreferStandby => {
            in_recovery.map_or(Verdict::Ask(Question::InRecovery), |yes| verdict(wanted, yes))
        }
    }
}

/// Judges by the answer: read-only for the first two, in recovery for the rest.
pub(super) const fn verdict(wanted: TargetSessionAttrs, yes: bool) -> Verdict {
    match (wanted, yes) {
        (TargetSessionAttrs::ReadWrite, true) => Verdict::Reject("session is read-only"),
        (TargetSessionAttrs::ReadOnly, false) => Verdict::Reject("session is not read-only"),
        (TargetSessionAttrs::Primary, true) => Verdict::Reject("server is in hot standby mode"),
        (TargetSessionAttrs::Standby | TargetSessionAttrs::PreferStandby, false) => {
            Verdict::Reject("server is not in hot standby mode")
        }
        _ => Verdict::Accept,
    }
}

/// As libpq's `PQserverVersion`: 150012 for `15.12 (Debian …)`, 90624 for
/// `9.6.24`, 0 where it is no version.
pub(super) fn version_num(text: &str) -> u32 {
    let numbers: Vec<u32> = text
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()
        .unwrap_or_default()
        .split('.')
        .map_while(|part| part.parse().ok().filter(|number| *number < 10_000))
        .collect();
    match *numbers.as_slice() {
        [major, minor, ..] if major >= 10 => major * 10_000 + minor,
        [major, minor, patch, ..] => major * 10_000 + minor * 100 + patch,
        [major, minor] => major * 10_000 + minor * 100,
        [major] => major * 10_000,
        [] => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version texts of old, new and unborn servers give libpq's numbers.
    #[test]
    fn versions() {
        for (text, number) in [
            ("15.12 (Debian 15.12-0+deb12u2)", 150_012),
            ("18beta1", 180_000),
            ("9.6.24", 90_624),
            ("13.0.0", 130_000),
            ("11.2-YB-2.21", 110_002),
            ("CockroachDB", 0),
            ("99999999999", 0),
        ] {
            assert_eq!(version_num(text), number, "{text}");
        }
    }

    /// What the server reports decides; where it is silent, it is asked.
    #[test]
    fn verdicts() {
        let mut session = Session::default();
        assert_eq!(
            judge(TargetSessionAttrs::ReadWrite, &session),
            Verdict::Ask(Question::ReadOnly)
        );
        assert_eq!(
            judge(TargetSessionAttrs::Primary, &session),
            Verdict::Ask(Question::InRecovery)
        );
        session.set_parameter(b"in_hot_standby\0on\0").unwrap();
        session.set_parameter(b"default_transaction_read_only\0off\0").unwrap();
        for (wanted, accepted) in [
            (TargetSessionAttrs::Any, true),
            (TargetSessionAttrs::ReadWrite, false),
            (TargetSessionAttrs::ReadOnly, true),
            (TargetSessionAttrs::Primary, false),
            (TargetSessionAttrs::Standby, true),
            (TargetSessionAttrs::PreferStandby, true),
        ] {
            assert_eq!(judge(wanted, &session) == Verdict::Accept, accepted, "{wanted:?}");
        }
    }
}
