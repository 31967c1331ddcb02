//! GNU `getopt_long` over the bytes of a command line.
//!
//! It does what the C library does for a program that gives it an option
//! string and a list of long options: short options in bundles, arguments
//! glued or apart, long options cut to an unambiguous prefix, options and
//! operands in any order, `--` as the end. Its complaints are the C library's,
//! to the letter, and begin with `argv[0]` as it was given.
//!
//! It knows nothing of pgbench, and it does not decode: an operand that is no
//! UTF-8 comes out as it went in.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One option as the scanner needs to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec<Id> {
    /// The long name, without the dashes.
    pub long: &'static str,
    /// The short letter, if there is one.
    pub short: Option<u8>,
    /// True where an argument must follow.
    pub takes_value: bool,
    /// False for options that must be written out. Options that pgbench does
    /// not have are such: they must not make `--la` ambiguous, which everyone's
    /// scripts may say.
    pub abbreviable: bool,
    /// What the scanner answers with.
    pub id: Id,
}

/// A complaint of the scanner. `Display` leaves out the leading `ARGV0: `,
/// since only the caller knows how it was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Complaint {
    /// A long option that nobody knows; the text after `--`.
    Unrecognized(Vec<u8>),
    /// A prefix of several long options.
    Ambiguous {
        /// The text after `--`, an argument behind `=` included.
        typed: Vec<u8>,
        /// The candidates, in the order of the list.
        candidates: Vec<&'static str>,
    },
    /// `--opt=value` for an option without an argument.
    NoValueAllowed(&'static str),
    /// A long option at the end of the line that wants an argument.
    LongNeedsValue(&'static str),
    /// A short option that nobody knows.
    Invalid(u8),
    /// A short option at the end of the line that wants an argument.
    ShortNeedsValue(u8),
}

impl Complaint {
    /// The complaint without the program's name and without a newline. Bytes,
    /// because the C library repeats what was typed, whatever it was.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Unrecognized(typed) => {
                out.extend_from_slice(b"unrecognized option '--");
                out.extend_from_slice(typed);
                out.push(b'\'');
            }
            Self::Ambiguous { typed, candidates } => {
                out.extend_from_slice(b"option '--");
                out.extend_from_slice(typed);
                out.extend_from_slice(b"' is ambiguous; possibilities:");
                for name in candidates {
                    out.extend_from_slice(format!(" '--{name}'").as_bytes());
                }
            }
            Self::NoValueAllowed(name) => {
                out.extend_from_slice(
                    format!("option '--{name}' doesn't allow an argument").as_bytes(),
                );
            }
            Self::LongNeedsValue(name) => {
                out.extend_from_slice(format!("option '--{name}' requires an argument").as_bytes());
            }
            Self::Invalid(letter) => {
                out.extend_from_slice(b"invalid option -- '");
                out.extend_from_slice(&[*letter, b'\'']);
            }
            Self::ShortNeedsValue(letter) => {
                out.extend_from_slice(b"option requires an argument -- '");
                out.extend_from_slice(&[*letter, b'\'']);
            }
        }
        out
    }
}

/// Walks over the arguments; each call of [`Scanner::next_option`] gives one
/// option, and [`Scanner::into_operands`] what is left when there are no more.
#[derive(Debug)]
pub struct Scanner<'a, Id> {
    specs: &'a [Spec<Id>],
    args: VecDeque<OsString>,
    operands: Vec<OsString>,
    /// The rest of a bundle of short options.
    bundle: VecDeque<u8>,
    /// Stop at the first operand, as POSIX has it and GNU only on request.
    posixly_correct: bool,
}

impl<'a, Id: Copy> Scanner<'a, Id> {
    /// `args` are those after `argv[0]`. `posixly_correct` is whether the
    /// environment variable of that name is set.
    pub fn new(
        specs: &'a [Spec<Id>],
        args: impl IntoIterator<Item = OsString>,
        posixly_correct: bool,
    ) -> Self {
        Self {
            specs,
            args: args.into_iter().collect(),
            operands: Vec::new(),
            bundle: VecDeque::new(),
            posixly_correct,
        }
    }

    /// The next option with its argument, in the order of the command line.
    pub fn next_option(&mut self) -> Option<Result<(Id, Option<OsString>), Complaint>> {
        if !self.bundle.is_empty() {
            return Some(self.short());
        }
        while let Some(arg) = self.args.pop_front() {
            let bytes = arg.as_bytes();
            if bytes == b"--" {
                self.operands.extend(self.args.drain(..));
                return None;
            }
            if let Some(long) = bytes.strip_prefix(b"--") {
                return Some(self.long(long));
            }
            if bytes.len() > 1 && bytes[0] == b'-' {
                self.bundle.extend(&bytes[1..]);
                return Some(self.short());
            }
            self.operands.push(arg);
            if self.posixly_correct {
                self.operands.extend(self.args.drain(..));
            }
        }
        None
    }

    /// The arguments that are no options, in order. Complete once
    /// [`Scanner::next_option`] has given `None`.
    #[must_use]
    pub fn into_operands(self) -> Vec<OsString> {
        self.operands
    }

    fn short(&mut self) -> Result<(Id, Option<OsString>), Complaint> {
        let letter = self.bundle.pop_front().unwrap_or_default();
        let Some(spec) = self.specs.iter().find(|s| s.short == Some(letter)) else {
            return Err(Complaint::Invalid(letter));
        };
        if !spec.takes_value {
            return Ok((spec.id, None));
        }
        if !self.bundle.is_empty() {
            let glued: Vec<u8> = self.bundle.drain(..).collect();
            return Ok((spec.id, Some(OsString::from_vec(glued))));
        }
        // The next word whatever it looks like: `-c --` gives `--` to `-c`.
        match self.args.pop_front() {
            Some(value) => Ok((spec.id, Some(value))),
            None => Err(Complaint::ShortNeedsValue(letter)),
        }
    }

    fn long(&mut self, typed: &[u8]) -> Result<(Id, Option<OsString>), Complaint> {
        let (name, value) = match typed.iter().position(|b| *b == b'=') {
            Some(at) => (&typed[..at], Some(OsStr::from_bytes(&typed[at + 1..]).to_owned())),
            None => (typed, None),
        };
        let spec = self.find_long(name, typed)?;
        match (spec.takes_value, value) {
            (false, None) => Ok((spec.id, None)),
            (false, Some(_)) => Err(Complaint::NoValueAllowed(spec.long)),
            (true, Some(value)) => Ok((spec.id, Some(value))),
            (true, None) => match self.args.pop_front() {
                Some(value) => Ok((spec.id, Some(value))),
                None => Err(Complaint::LongNeedsValue(spec.long)),
            },
        }
    }

    fn find_long(&self, name: &[u8], typed: &[u8]) -> Result<&'a Spec<Id>, Complaint> {
        if let Some(exact) = self.specs.iter().find(|s| s.long.as_bytes() == name) {
            return Ok(exact);
        }
        let begins: Vec<&Spec<Id>> = self
            .specs
            .iter()
            .filter(|s| s.abbreviable && s.long.as_bytes().starts_with(name))
            .collect();
        match begins.as_slice() {
            [] => Err(Complaint::Unrecognized(typed.to_vec())),
            [one] => Ok(one),
            several => Err(Complaint::Ambiguous {
                typed: typed.to_vec(),
                candidates: several.iter().map(|s| s.long).collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPECS: &[Spec<char>] = &[
        Spec { long: "client", short: Some(b'c'), takes_value: true, abbreviable: true, id: 'c' },
        Spec { long: "connect", short: Some(b'C'), takes_value: false, abbreviable: true, id: 'C' },
        Spec { long: "log", short: Some(b'l'), takes_value: false, abbreviable: true, id: 'l' },
        Spec { long: "log-prefix", short: None, takes_value: true, abbreviable: true, id: 'p' },
        Spec { long: "logical", short: None, takes_value: false, abbreviable: false, id: 'x' },
    ];

    type Seen = (Vec<(char, Option<String>)>, Vec<String>, Option<String>);

    fn scan(args: &[&str]) -> Seen {
        scan_as(args, false)
    }

    fn scan_as(args: &[&str], posix: bool) -> Seen {
        let mut scanner = Scanner::new(SPECS, args.iter().map(OsString::from), posix);
        let mut seen = Vec::new();
        while let Some(next) = scanner.next_option() {
            match next {
                Ok((id, value)) => {
                    seen.push((id, value.map(|v| v.to_string_lossy().into_owned())));
                }
                Err(complaint) => {
                    let text = String::from_utf8_lossy(&complaint.text()).into_owned();
                    return (seen, Vec::new(), Some(text));
                }
            }
        }
        let rest = scanner.into_operands();
        (seen, rest.iter().map(|v| v.to_string_lossy().into_owned()).collect(), None)
    }

    fn options(args: &[&str]) -> String {
        let (seen, operands, complaint) = scan(args);
        if let Some(text) = complaint {
            return text;
        }
        let mut out: Vec<String> = seen
            .into_iter()
            .map(|(id, value)| value.map_or_else(|| id.to_string(), |v| format!("{id}={v}")))
            .collect();
        out.extend(operands);
        out.join(" ")
    }

    /// The C library's habits, each seen on the real thing.
    #[test]
    fn habits_of_getopt_long() {
        for (args, want) in [
            (&["-c4", "-Cl"][..], "c=4 C l"),
            (&["-Clc", "4"], "C l c=4"),
            (&["db", "-C", "x", "-l"], "C l db x"),
            (&["-C", "--", "-l", "--log"], "C -l --log"),
            (&["-", "-C"], "C -"),
            (&["-c", "--", "-C"], "c=-- C"),
            (&["--client=4", "--client", "5", "--client="], "c=4 c=5 c="),
            (&["--cl", "4", "--con"], "c=4 C"),
            (&["--log", "--log-", "x", "--log-p=y=z"], "l p=x p=y=z"),
            (&["--logical"], "x"),
        ] {
            assert_eq!(options(args), want, "{args:?}");
        }
    }

    /// Complaints are the C library's, to the letter.
    #[test]
    fn complaints_of_getopt_long() {
        for (args, want) in [
            (&["--x"][..], "unrecognized option '--x'"),
            (&["--unk=5"], "unrecognized option '--unk=5'"),
            (&["--logi"], "unrecognized option '--logi'"),
            (&["--c=5"], "option '--c=5' is ambiguous; possibilities: '--client' '--connect'"),
            (&["--lo"], "option '--lo' is ambiguous; possibilities: '--log' '--log-prefix'"),
            (&["--con=1"], "option '--connect' doesn't allow an argument"),
            (&["--cl"], "option '--client' requires an argument"),
            (&["-x"], "invalid option -- 'x'"),
            (&["-C-"], "invalid option -- '-'"),
            (&["-c"], "option requires an argument -- 'c'"),
        ] {
            assert_eq!(options(args), want, "{args:?}");
        }
    }

    /// With POSIXLY_CORRECT options end at the first operand.
    #[test]
    fn posix_order_ends_at_the_first_operand() {
        let (seen, operands, _) = scan_as(&["-C", "db", "-l"], true);
        assert_eq!(seen, [('C', None)]);
        assert_eq!(operands, ["db", "-l"]);
    }

    /// Bytes that are no text pass through unchanged.
    #[test]
    fn bytes_pass_through() {
        let raw = OsString::from_vec(vec![b'-', b'c', 0xff, b'=']);
        let mut scanner = Scanner::new(SPECS, [raw, OsString::from_vec(vec![0xfe])], false);
        let first = scanner.next_option().expect("one option").expect("no complaint");
        assert_eq!(first, ('c', Some(OsString::from_vec(vec![0xff, b'=']))));
        assert!(scanner.next_option().is_none());
        assert_eq!(scanner.into_operands(), [OsString::from_vec(vec![0xfe])]);
    }

    /// One option in one of its spellings: what it must give, and the words.
    fn spelled() -> impl Strategy<Value = ((char, Option<String>), Vec<String>)> {
        let value = "[a-z0-9=-]{0,6}";
        prop_oneof![
            value.prop_map(|v| (('c', Some(v.clone())), vec!["-c".into(), v])),
            "[a-z0-9=-]{1,6}".prop_map(|v| (('c', Some(v.clone())), vec![format!("-c{v}")])),
            (2..=6_usize, value).prop_map(|(n, v)| {
                (('c', Some(v.clone())), vec![format!("--{}={v}", &"client"[..n])])
            }),
            (2..=6_usize, value).prop_map(|(n, v)| {
                (('c', Some(v.clone())), vec![format!("--{}", &"client"[..n]), v])
            }),
            (2..=7_usize).prop_map(|n| (('C', None), vec![format!("--{}", &"connect"[..n])])),
            Just((('l', None), vec!["-l".into()])),
            Just((('l', None), vec!["--log".into()])),
        ]
    }

    proptest! {
        /// Any mixture of spellings and operands gives the same options and operands.
        #[test]
        fn spelling_and_order_do_not_matter(
            words in prop::collection::vec(
                prop_oneof![spelled().prop_map(Ok), "[a-z]{0,5}".prop_map(Err)],
                0..12,
            ),
        ) {
            let mut line = Vec::new();
            let (mut want_options, mut want_operands) = (Vec::new(), Vec::new());
            for word in words {
                match word {
                    Ok((option, spelling)) => {
                        want_options.push(option);
                        line.extend(spelling);
                    }
                    Err(operand) => {
                        want_operands.push(operand.clone());
                        line.push(operand);
                    }
                }
            }
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let (seen, operands, complaint) = scan(&line);
            prop_assert_eq!(complaint, None);
            prop_assert_eq!(seen, want_options);
            prop_assert_eq!(operands, want_operands);
        }

        /// Whatever is typed, the scanner ends and loses no operand after `--`.
        #[test]
        fn never_hangs_or_panics(args in prop::collection::vec("[-=clCx]{0,5}", 0..8)) {
            let mut line: Vec<&str> = args.iter().map(String::as_str).collect();
            scan(&line);
            line.insert(0, "--");
            prop_assert_eq!(scan(&line).1, args);
        }
    }
}
