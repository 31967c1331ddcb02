//! What all connections with the same options share.

use std::sync::Arc;
use std::time::Instant;

use super::endpoint::Endpoint;
use crate::auth::{Answer, Credentials, Login, Password, RequireAuth, SaltedKeyCache};
use crate::error::Error;
use crate::frontend;
use crate::options::{LoadBalanceHosts, Options, SslMode};
use crate::tls::{self, Tls};

/// Everything that is made once, however many connections follow. Cheap to
/// share; `Send` and `Sync`.
#[derive(Debug)]
pub struct ConnectContext {
    options: Options,
    endpoints: Vec<Endpoint>,
    tls: Option<Tls>,
    require_auth: RequireAuth,
    salted_keys: Arc<SaltedKeyCache>,
    /// The start-up message; the same for each connection.
    startup: Vec<u8>,
}

impl ConnectContext {
    /// Resolves names, reads certificates and checks policies. Blocks while
    /// names are looked up.
    ///
    /// # Errors
    /// Options that contradict each other, certificates or keys that cannot be
    /// used. A name that does not resolve is an error of the attempt that
    /// would use it, as other hosts may do.
    pub fn new(options: &Options) -> Result<Arc<Self>, Error> {
        Self::with_salted_keys(options, Arc::default())
    }

    /// As [`ConnectContext::new`], with a cache that contexts of other options
    /// use as well (another database of the same server, say).
    ///
    /// # Errors
    /// As [`ConnectContext::new`].
    pub fn with_salted_keys(
        options: &Options,
        salted_keys: Arc<SaltedKeyCache>,
    ) -> Result<Arc<Self>, Error> {
        tls::check_combinations(&options.ssl)?;
        let require_auth: RequireAuth =
            options.require_auth.as_deref().unwrap_or_default().parse().map_err(
                |error: crate::auth::InvalidRequireAuth| Error::config(error.to_string()),
            )?;
        let tls = match Tls::new(options) {
            // Plain is as good for these modes, as in libpq.
            Err(_) if options.ssl.mode < SslMode::Require => None,
            other => other?,
        };
        let endpoints: Vec<Endpoint> = options
            .hosts
            .iter()
            .enumerate()
            .flat_map(|(index, host)| Endpoint::resolve(index, host))
            .collect();
        if endpoints.is_empty() {
            return Err(Error::config("there is no host to connect to"));
        }
        let startup = startup_message(options)?;
        let options = options.clone();
        Ok(Arc::new(Self { options, endpoints, tls, require_auth, salted_keys, startup }))
    }

    /// The options that it was made from.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// All addresses of all hosts, in the order of the options.
    #[must_use]
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The cache of SCRAM's salted keys.
    #[must_use]
    pub const fn salted_keys(&self) -> &Arc<SaltedKeyCache> {
        &self.salted_keys
    }

    pub(super) const fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    pub(super) fn startup(&self) -> &[u8] {
        &self.startup
    }

    /// The password for an endpoint, where passwords are made anew.
    pub(super) fn ask_password(&self, endpoint: &Endpoint) -> Option<Answer> {
        let source = self.options.password_source.as_ref()?;
        Some(source.ask(&self.login(endpoint)))
    }

    /// See [`PasswordSource::refused`](crate::auth::PasswordSource).
    pub(super) fn password_refused(
        &self,
        endpoint: &Endpoint,
        password: &Password,
        began: Instant,
    ) -> bool {
        let source = self.options.password_source.as_ref();
        source.is_some_and(|source| source.refused(&self.login(endpoint), password, began))
    }

    fn login(&self, endpoint: &Endpoint) -> Login {
        Login { host: endpoint.host.clone(), port: endpoint.port, user: self.options.user.clone() }
    }

    /// What authentication with an endpoint needs.
    pub(super) fn credentials<'a>(
        &'a self,
        endpoint: &Endpoint,
        made: Option<&'a Password>,
        tls: bool,
        end_point: Option<&'a [u8]>,
    ) -> Credentials<'a> {
        Credentials {
            user: &self.options.user,
            password: made
                .map(|made| &made.secret)
                .or(self.options.hosts[endpoint.host_index].password.as_ref()),
            require_auth: &self.require_auth,
            channel_binding: self.options.channel_binding,
            tls,
            end_point,
            cache: &self.salted_keys,
        }
    }

    /// The endpoints in the order in which one connection tries them,
    /// beginning with those of `first_host`.
    pub(super) fn order(&self, first_host: usize) -> Vec<usize> {
        let hosts = self.options.hosts.len();
        let mut order: Vec<usize> = (0..self.endpoints.len()).collect();
        if self.options.load_balance_hosts == LoadBalanceHosts::Random {
            // Hosts in random order, and the addresses of each as well.
            let ranks = shuffled(hosts);
            let within = shuffled(order.len());
            order.sort_by_key(|at| (ranks[self.endpoints[*at].host_index], within[*at]));
        } else {
            // Stable: the addresses of a host keep the resolver's order.
            order.sort_by_key(|at| {
                (self.endpoints[*at].host_index + hosts - first_host % hosts) % hosts
            });
        }
        order
    }
}

/// A random permutation of `0..len`. Where the system has no randomness it is
/// the identity: the balance is lost, the connection is not.
fn shuffled(len: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by_cached_key(|_| getrandom::u64().unwrap_or_default());
    order
}

fn startup_message(options: &Options) -> Result<Vec<u8>, Error> {
    let optional = [
        ("options", &options.server_options),
        ("application_name", &options.application_name),
        ("client_encoding", &options.client_encoding),
    ];
    let mut params = vec![("user", options.user.as_str()), ("database", options.dbname.as_str())];
    for (name, value) in optional {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            // `auto` asks for the locale's encoding; this crate works in UTF-8.
            let automatic = name == "client_encoding" && value == "auto";
            params.push((name, if automatic { "UTF8" } else { value }));
        }
    }
    params
        .extend(options.runtime_params.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let mut message = Vec::new();
    frontend::startup(&mut message, params)
        .map_err(|error| Error::config(format!("connection options: {error}")))?;
    Ok(message)
}
