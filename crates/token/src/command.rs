//! A command that prints a password.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pgdyno_wire::auth::{Login, Made, PasswordMaker};
use pgdyno_wire::secret::Secret;

use crate::process;

/// How long a password of a command counts as fresh where nobody says: as
/// long as the tokens of AWS live, the most common thing for it to print.
pub const LIFETIME_DEFAULT: Duration = Duration::from_secs(15 * 60);

/// How long a command may take. Tools that ask a service over the network
/// take seconds; a person at a prompt may take longer, but not much.
pub const TIME_MAX: Duration = Duration::from_secs(60);

/// A command, run by the shell; the first line that it prints is the password.
#[derive(Clone)]
pub struct PasswordCommand {
    command: Secret,
    lifetime: Duration,
    time_max: Duration,
}

impl fmt::Debug for PasswordCommand {
    /// Without the command: people write secrets into commands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordCommand").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

impl PasswordCommand {
    /// A command whose password serves for `lifetime` before it is asked again.
    #[must_use]
    pub fn new(command: impl Into<String>, lifetime: Duration) -> Self {
        Self { command: Secret::new(command), lifetime, time_max: TIME_MAX }
    }

    /// With another limit than [`TIME_MAX`] for a run of it.
    #[must_use]
    pub fn with_time_max(self, time_max: Duration) -> Self {
        Self { time_max, ..self }
    }
}

impl PasswordMaker for PasswordCommand {
    /// The command is not told who logs in where.
    fn differs_by_login(&self) -> bool {
        false
    }

    fn make(&self, _: &Login, stop: &AtomicBool) -> Result<Made, String> {
        let failed = |words: String| format!("the password command {words}");
        let output = process::run(self.command.reveal(), self.time_max, stop).map_err(failed)?;
        let said = output.complaint();
        let stdout = output.checked().map_err(failed)?;
        let text = String::from_utf8(stdout)
            .map_err(|_| failed("printed something that is not UTF-8".to_owned()))?;
        let line = text.lines().next().unwrap_or_default();
        if line.is_empty() {
            return Err(failed(format!("printed no password{said}")));
        }
        Ok(Made { password: Secret::new(line), lifetime: Some(self.lifetime) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(command: &str) -> Result<String, String> {
        let command = PasswordCommand::new(command, LIFETIME_DEFAULT);
        let made = command.make(&Login::default(), &AtomicBool::new(false))?;
        assert_eq!(made.lifetime, Some(LIFETIME_DEFAULT));
        Ok(made.password.reveal().to_owned())
    }

    /// The first line is the password, whatever follows, with its blanks.
    #[test]
    fn the_first_line_counts() {
        assert_eq!(made("printf 'a b \\r\\nsecond\\n'").as_deref(), Ok("a b "));
        assert_eq!(made("printf \"it's\"").as_deref(), Ok("it's"));
    }

    /// No password is a failure that says what the command said.
    #[test]
    fn nothing_printed() {
        for (command, told) in [
            ("true", "the password command printed no password and said nothing"),
            ("echo; echo locked >&2", "the password command printed no password and said: locked"),
            ("exit 7", "the password command ended with exit status 7 and said nothing"),
            ("printf '\\377'", "the password command printed something that is not UTF-8"),
        ] {
            assert_eq!(made(command).unwrap_err(), told, "{command}");
        }
    }

    /// A command stays out of what is printed of it.
    #[test]
    fn debug_hides_the_command() {
        let command = PasswordCommand::new("echo hunter2", LIFETIME_DEFAULT);
        assert!(!format!("{command:?}").contains("hunter2"));
    }
}
