//! Room for the clients' sockets among the files that a process may have open.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Why there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OpenFilesError {
    /// The system's hard limit is below what is needed.
    #[error("need at least {needed} open files, but system limit is {limit}")]
    Limit {
        /// Files that are needed.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// The system does not tell its limit, or does not let it be raised.
    #[error("{call} failed: {}", error.desc())]
    System {
        /// What was called.
        call: &'static str,
        /// What the system said.
        error: nix::Error,
    },
}

/// Raises the limit of open files so that `clients` sockets and `besides` other
/// files fit, and more where the system allows it.
///
/// # Errors
/// When they do not fit.
pub(crate) fn allow(clients: u64, besides: u64) -> Result<(), OpenFilesError> {
    let failed = |call| move |error| OpenFilesError::System { call, error };
    let needed = clients.saturating_add(besides);
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(failed("getrlimit"))?;
    if hard < needed {
        return Err(OpenFilesError::Limit { needed, limit: hard });
    }
    // pgbench raises the limit to what is needed and then runs out, since it has
    // other files open too. Twice as much, where the system allows it, is enough.
    let wanted = needed.saturating_mul(2).min(hard);
    if soft < wanted {
        setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).map_err(failed("setrlimit"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The soft limit is raised to what fits, and what cannot fit is refused with both figures.
    #[test]
    fn raises_or_refuses() {
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        let clients = soft.min(hard - 1);
        assert_eq!(allow(clients, 1), Ok(()));
        let wanted = clients.saturating_add(1).saturating_mul(2).min(hard);
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), (wanted.max(soft), hard));
        if hard < u64::MAX {
            let refused = allow(hard, 1);
            assert_eq!(refused, Err(OpenFilesError::Limit { needed: hard + 1, limit: hard }));
        }
    }
}
