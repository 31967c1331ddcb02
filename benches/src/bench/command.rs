//! The command line of `pgdyno-bench`.

/// Reads the command line and does what it says.
///
/// # Errors
/// Anything that kept it from being done.
pub fn main() -> anyhow::Result<()> {
    anyhow::bail!("nothing to measure was named")
}
