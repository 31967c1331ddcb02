//! A case: a command line and what surrounds it, as data.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseFile {
    pub(crate) case: Vec<Case>,
}

/// What is run by both programs and how it is compared.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Words as a shell splits them, single quotes only; `@repeat:N:TEXT@` stands for N times TEXT.
    pub(crate) args: String,
    /// Files in the working folder, by name.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) stdin: String,
    #[serde(default)]
    pub(crate) db: Db,
    /// SQL before each of the two runs.
    #[serde(default)]
    pub(crate) before: String,
    /// Queries after each run, whose results are compared; `@tables` and `@catalog` stand for many.
    #[serde(default)]
    pub(crate) after: Vec<String>,
    /// The tables are made anew before each run, because a run changes what is compared.
    #[serde(default)]
    pub(crate) reset: bool,
    #[serde(default)]
    pub(crate) mask: Vec<Mask>,
    /// Log files are compared.
    #[serde(default)]
    pub(crate) logs: bool,
    /// The programs are run on a terminal, where stdout and stderr are one.
    #[serde(default)]
    pub(crate) terminal: bool,
    /// An allowed difference: its heading in ALLOWED.md, and the lines that are left out
    /// of the comparison because of it, by their beginnings.
    pub(crate) allowed: Option<Allowed>,
}

/// An allowed difference.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    pub(crate) why: String,
    pub(crate) lines: Vec<String>,
}

/// The database that a case runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Db {
    /// pgbench's tables at scale 1.
    #[default]
    Tpcb,
    /// No tables; whatever is left of a case is removed.
    Empty,
    /// pgbench's tables, accounts in three partitions.
    Partitioned,
}

impl Db {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tpcb => "compat",
            Self::Empty => "compat_empty",
            Self::Partitioned => "compat_partitioned",
        }
    }
}

/// What depends on time or chance in one case and must not be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mask {
    /// Numbers of transactions, because the run is limited by time.
    Counts,
    /// The order of lines on stderr, because several clients write them.
    SortStderr,
    /// The process id in file names in messages.
    Pid,
    /// The number of a client in messages.
    ClientNumber,
    /// The server's debug messages, which tell of its plans.
    NoDebugNotices,
}

impl Case {
    /// The words of the command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
        for c in expand(&self.args).chars() {
            match c {
                '\'' => {
                    quoted = !quoted;
                    word.get_or_insert_default();
                }
                ' ' if !quoted => words.extend(word.take()),
                c => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }
}

/// Writes out `@repeat:N:TEXT@`.
pub(crate) fn expand(text: &str) -> String {
    let Some((before, rest)) = text.split_once("@repeat:") else { return text.to_owned() };
    let (count, rest) = rest.split_once(':').expect("a colon after the count");
    let (body, after) = rest.split_once('@').expect("an at sign after the text");
    let count = count.parse().expect("a count");
    format!("{before}{}{}", body.repeat(count), expand(after))
}
