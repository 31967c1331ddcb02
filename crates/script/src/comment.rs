//! What a line comment says to pgdyno. Whether it stands where it counts is
//! [`crate::declared`]'s business.

/// The rows that a line comment declares: `-- pgdyno: rows N`.
pub(crate) fn rows(comment: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(comment).ok()?.strip_prefix("--")?.trim();
    let behind = text.strip_prefix("pgdyno:")?.trim_start().strip_prefix("rows")?;
    let number = behind.trim_start();
    let is_apart = number.len() < behind.len();
    // Rust would also take "+1".
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    if is_apart && is_number { number.parse().ok() } else { None }
}
