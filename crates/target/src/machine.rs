//! Facts about the machine that runs pgdyno, for the record.
//!
//! Only what bears on a measurement: no host name, user, address or path.

/// The machine under the driver. `None` where the system does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name.
    pub cpu_model: Option<String>,
    /// Processors that this process may use.
    pub cpus: usize,
    /// Physical memory in bytes, or the container's limit where that is less.
    pub memory_bytes: Option<u64>,
    /// The operating system's kernel and its release.
    pub kernel: String,
    /// The processor's architecture, such as `x86_64`.
    pub arch: String,
}
