//! The password file: lines of `host:port:database:user:password`.
//!
//! PostgreSQL manual, "The Password File". The first line that matches counts.
//! A file that others may read is left alone, with libpq's warning.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::secret::Secret;

/// More than any password file written by people or their tools.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Permission bits of group and world.
const MODE_OTHERS: u32 = 0o077;

/// A password file, read.
#[derive(Default)]
pub(crate) struct PassFile {
    lines: Vec<Vec<u8>>,
}

impl PassFile {
    /// Reads a file. One that is not there or cannot be read counts as empty,
    /// as in libpq: most people have none.
    ///
    /// The second value is the warning about a file that was left alone.
    pub(crate) fn read(path: &Path) -> (Self, Option<String>) {
        let Ok(metadata) = path.metadata() else {
            return (Self::default(), None);
        };
        let shown = path.display();
        if !metadata.is_file() {
            let warning = format!("WARNING: password file \"{shown}\" is not a plain file");
            return (Self::default(), Some(warning));
        }
        if metadata.permissions().mode() & MODE_OTHERS != 0 {
            let warning = format!(
                "WARNING: password file \"{shown}\" has group or world access; \
                 permissions should be u=rw (0600) or less"
            );
            return (Self::default(), Some(warning));
        }
        let mut bytes = Vec::new();
        let done =
            File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
        if done.is_err() {
            return (Self::default(), None);
        }
        (Self::from_bytes(&bytes), None)
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
            .map(<[u8]>::to_vec)
            .collect();
        Self { lines }
    }

    /// The password of the first line that fits. A password that is not
    /// UTF-8 cannot be held and counts as none.
    pub(crate) fn find(&self, host: &str, port: &str, dbname: &str, user: &str) -> Option<Secret> {
        let password = self.lines.iter().find_map(|line| {
            let mut rest = line.as_slice();
            for wanted in [host, port, dbname, user] {
                rest = after_field(rest, wanted.as_bytes())?;
            }
            Some(unescaped(rest))
        })?;
        String::from_utf8(password).ok().filter(|text| !text.is_empty()).map(Secret::new)
    }
}

/// What follows the field, if the field is `*` or means `wanted`.
fn after_field<'a>(line: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    if let Some(rest) = line.strip_prefix(b"*:") {
        return Some(rest);
    }
    let mut wanted = wanted.iter();
    let mut bytes = line.iter();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b':' => return wanted.next().is_none().then_some(bytes.as_slice()),
            b'\\' => bytes.next()?,
            _ => byte,
        };
        if wanted.next() != Some(byte) {
            return None;
        }
    }
    None
}

/// The password up to the next bare colon, without its backslashes.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut bytes = field.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b':' => break,
            // A backslash at the very end stands for itself.
            b'\\' => out.push(*bytes.next().unwrap_or(&b'\\')),
            _ => out.push(*byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(line: &str, host: &str, port: &str, dbname: &str, user: &str) -> Option<String> {
        PassFile::from_bytes(line.as_bytes())
            .find(host, port, dbname, user)
            .map(|secret| secret.reveal().to_owned())
    }

    /// Fields match literally, by `*`, and through backslashes; a line that is
    /// short, or longer or shorter in a field, does not match.
    #[test]
    fn lines_match_as_in_libpq() {
        for (line, expected) in [
            ("h:5432:d:u:pw", Some("pw")),
            ("*:*:*:*:pw", Some("pw")),
            ("h:*:d:*:pw\r\n", Some("pw")),
            ("\\h:54\\32:d:u:pw", Some("pw")),
            ("h:5432:d:u:p\\:w\\\\x", Some("p:w\\x")),
            ("h:5432:d:u:pw:rest", Some("pw")),
            ("h:5432:d:u:pw\\", Some("pw\\")),
            ("h:5432:d:u: p w ", Some(" p w ")),
            ("h:5432:d:u:", None),
            ("h:5432:d:u", None),
            ("*:*:*:*", None),
            ("hh:5432:d:u:pw", None),
            (":5432:d:u:pw", None),
            ("h*:5432:d:u:pw", None),
            ("#h:5432:d:u:pw", None),
            (" h:5432:d:u:pw", None),
            ("\\", None),
            ("x:*:*:*:no\n\n# c\nh:*:*:*:yes\n*:*:*:*:late", Some("yes")),
        ] {
            assert_eq!(password(line, "h", "5432", "d", "u").as_deref(), expected, "{line:?}");
        }
    }

    /// A colon or a backslash in a name is written with a backslash.
    #[test]
    fn names_with_colons_match() {
        assert_eq!(password("\\:\\:1:1:d\\\\b:*:pw", "::1", "1", "d\\b", "u"), Some("pw".into()));
        assert_eq!(password("::1:1:*:*:pw", "::1", "1", "d", "u"), None);
    }
}
