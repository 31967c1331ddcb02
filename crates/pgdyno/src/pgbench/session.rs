//! Where to connect, made once from the command line and libpq's other sources.

use std::sync::Arc;

use pgdyno_wire::connect::ConnectContext;
use pgdyno_wire::conninfo::{ProcessEnv, resolve};
use pgdyno_wire::secret::Secret;
use pgdyno_wire::{Connection, Error};

use super::message::Messages;
use super::plan::Connection as Typed;
use super::prompt;

/// A server to connect to, as often as needed.
#[derive(Debug)]
pub struct Server {
    /// For the engine's connections.
    pub context: Arc<ConnectContext>,
}

impl Server {
    /// Resolves what was typed, the environment, service and password files.
    /// `program` is the application's name where nothing else gives one.
    ///
    /// # Errors
    /// What libpq would say, to be followed by what the connection was for.
    pub fn resolve(typed: &Typed, program: &str, messages: &Messages) -> Result<Self, String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let overrides = [
            ("host", text(&typed.host)),
            ("port", text(&typed.port)),
            ("user", text(&typed.user)),
            ("dbname", typed.dbname.clone()),
            ("fallback_application_name", program.to_owned()),
        ];
        let resolved =
            resolve(None, &overrides, &ProcessEnv).map_err(|error| error.message().to_owned())?;
        for warning in &resolved.warnings {
            messages.raw(format!("{warning}\n").as_bytes());
        }
        let context = ConnectContext::new(&resolved.options).map_err(|error| error.to_string())?;
        Ok(Self { context })
    }

    /// Opens a session that shows the server's notices on stderr. Asks for a
    /// password once, where the server wants one that nobody gave.
    ///
    /// # Errors
    /// The error's text as libpq words it.
    pub fn connect(&mut self, messages: &Messages) -> Result<Connection, String> {
        let connected = match Connection::connect(&self.context) {
            Err(error) if wants_password(&error) => {
                let password = prompt::password().map_err(|_| error.to_string())?;
                self.set_password(&password).map_err(|error| error.to_string())?;
                Connection::connect(&self.context)
            }
            other => other,
        };
        let mut connection = connected.map_err(|error| error.to_string())?;
        let messages = messages.clone();
        connection.set_notice_handler(move |notice| messages.raw(format!("{notice}\n").as_bytes()));
        Ok(connection)
    }

    fn set_password(&mut self, password: &Secret) -> Result<(), Error> {
        let mut options = self.context.options().clone();
        for host in &mut options.hosts {
            host.password = Some(password.clone());
        }
        self.context = ConnectContext::new(&options)?;
        Ok(())
    }
}

/// The server asked for a password and there was none to give.
fn wants_password(error: &Error) -> bool {
    error.to_string().ends_with("no password supplied")
}
