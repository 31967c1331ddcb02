//! The system's refusals in words that a person can act on.

use std::io;

use nix::errno::Errno;

/// What a person can do about a refusal.
pub(crate) fn refused(what: &str, error: &io::Error) -> io::Error {
    let hint = match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
        Errno::EPERM | Errno::EACCES => {
            " (forbidden: by the container's seccomp profile, or by sysctl kernel.io_uring_disabled)"
        }
        Errno::ENOSYS => " (this kernel has none, or a seccomp profile hides it)",
        Errno::EINVAL => " (this kernel is too old: Linux 6.1 is needed)",
        Errno::ENOMEM => " (too little memory may be locked: see ulimit -l)",
        _ => "",
    };
    io::Error::new(error.kind(), format!("io_uring is not to be had: {what}: {error}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A refusal names the reason that a person can act on.
    #[test]
    fn refusals_are_explained() {
        let words = |errno: Errno| {
            refused("io_uring_setup", &io::Error::from_raw_os_error(errno as i32)).to_string()
        };
        assert!(words(Errno::EPERM).contains("kernel.io_uring_disabled"));
        assert!(words(Errno::EINVAL).contains("6.1"));
        assert!(words(Errno::ENOSYS).contains("seccomp"));
        assert!(!words(Errno::EIO).contains("()"));
    }
}
