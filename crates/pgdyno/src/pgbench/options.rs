//! The one table of pgbench's options.
//!
//! Each entry carries everything there is to say about an option: its names,
//! its argument, the mode it belongs to, its help text, and words to test it
//! with. The scanner's list, the help text and the tests walk over this table;
//! an option that is not in it does not exist.
//!
//! The order of the entries is pgbench's own (options with a letter, then those
//! without), because an ambiguous prefix is answered with the candidates in this
//! order. The help has another order, which is why its entries carry a rank.

use super::getopt::Spec;

/// The options, by their long names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the long name of an option, described in OPTIONS")]
pub enum Id {
    Builtin,
    Client,
    Connect,
    Dbname,
    Define,
    File,
    Fillfactor,
    Host,
    Initialize,
    InitSteps,
    Jobs,
    Log,
    LatencyLimit,
    NoVacuum,
    Port,
    Progress,
    Protocol,
    Quiet,
    ReportPerCommand,
    Rate,
    Scale,
    SelectOnly,
    SkipSomeUpdates,
    Time,
    Transactions,
    Username,
    VacuumAll,
    UnloggedTables,
    Tablespace,
    IndexTablespace,
    SamplingRate,
    AggregateInterval,
    ProgressTimestamp,
    LogPrefix,
    ForeignKeys,
    RandomSeed,
    ShowScript,
    Partitions,
    PartitionMethod,
    FailuresDetailed,
    MaxTries,
    VerboseErrors,
    ExitOnAbort,
    Debug,
    ContinueOnError,
    LatencyPercentiles,
    Json,
    Poller,
}

/// In which mode an option may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Only with `-i`.
    Init,
    /// Only without.
    Bench,
    /// With and without.
    Both,
}

/// The sections of the help text, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// "Initialization options".
    Init,
    /// "Options to select what to run".
    What,
    /// "Benchmarking options".
    Bench,
    /// What pgbench 18 does not have.
    Extra,
    /// "Common options".
    Common,
}

/// One place of an option in the help text.
#[derive(Debug, Clone, Copy)]
pub struct Help {
    /// The section.
    pub section: Section,
    /// Its place within the section; the gaps mean nothing.
    pub rank: u8,
    /// What it does; a newline starts another line below.
    pub text: &'static str,
}

/// How the tests try an option.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// An argument that is accepted; for options without one, empty.
    pub good: &'static str,
    /// Further options without which `good` is refused (`-l` for log options).
    pub with: &'static str,
    /// Arguments that are refused while options are read, with the first line of the refusal.
    pub bad: &'static [(&'static str, &'static str)],
}

/// Everything about one option.
#[derive(Debug, Clone, Copy)]
pub struct Opt {
    /// Which.
    pub id: Id,
    /// The letter.
    pub short: Option<u8>,
    /// The long name.
    pub long: &'static str,
    /// The argument's name in the help, with what stands before the description.
    pub value: Option<&'static str>,
    /// The mode.
    pub mode: Mode,
    /// Its places in the help.
    pub help: &'static [Help],
    /// Its test.
    pub trial: Trial,
}

/// An option in one section of the help, without refusals.
const fn opt(
    (id, short, long): (Id, u8, &'static str),
    value: &'static str,
    mode: Mode,
    help: &'static [Help],
) -> Opt {
    Opt {
        id,
        short: if short == 0 { None } else { Some(short) },
        long,
        value: if value.is_empty() { None } else { Some(value) },
        mode,
        help,
        trial: Trial { good: "", with: "", bad: &[] },
    }
}

impl Opt {
    const fn good(mut self, good: &'static str) -> Self {
        self.trial.good = good;
        self
    }

    const fn with(mut self, with: &'static str) -> Self {
        self.trial.with = with;
        self
    }

    const fn bad(mut self, bad: &'static [(&'static str, &'static str)]) -> Self {
        self.trial.bad = bad;
        self
    }
}

macro_rules! help {
    ($($section:ident $rank:literal $text:expr),+) => {
        &[$(Help { section: Section::$section, rank: $rank, text: $text }),+]
    };
}

/// No letter.
const LONG: u8 = 0;

/// All options. The table is long because there are many; nothing here decides.
#[rustfmt::skip]
pub const OPTIONS: &[Opt] = &[
    opt((Id::Builtin, b'b', "builtin"), "NAME[@W]", Mode::Bench,
        help![What 1 "add builtin script NAME weighted at W (default: 1)\n(use \"-b list\" to list available scripts)"])
        .good("select-only@2")
        .bad(&[
            ("nope", "no builtin script found for name \"nope\""),
            ("s", "ambiguous builtin name: 2 builtin scripts found for prefix \"s\""),
            ("se@x", "invalid weight specification: @x"),
            ("se@-1", "weight specification out of range (0 .. 2147483647): -1"),
            ("se@2147483648", "weight specification out of range (0 .. 2147483647): 2147483648"),
        ]),
    opt((Id::Client, b'c', "client"), "NUM", Mode::Bench,
        help![Bench 1 "number of concurrent database clients (default: 1)"])
        .good("4")
        .bad(&[
            ("three", "invalid value \"three\" for option -c/--client"),
            ("4x", "invalid value \"4x\" for option -c/--client"),
            ("0", "-c/--client must be in range 1..2147483647"),
            ("", "-c/--client must be in range 1..2147483647"),
            ("2147483648", "-c/--client must be in range 1..2147483647"),
            ("99999999999999999999", "-c/--client must be in range 1..2147483647"),
        ]),
    opt((Id::Connect, b'C', "connect"), "", Mode::Bench,
        help![Bench 2 "establish new connection for each transaction"]),
    opt((Id::Dbname, b'd', "dbname"), "DBNAME", Mode::Both,
        help![Common 2 "database name to connect to"])
        .good("some"),
    opt((Id::Define, b'D', "define"), "VARNAME=VALUE", Mode::Bench,
        help![Bench 3 "define variable for use by custom script"])
        .good("a=b=c")
        .bad(&[
            ("foobla", "invalid variable definition: \"foobla\""),
            ("a=", "invalid variable definition: \"a=\""),
            ("=b", "invalid variable definition: \"=b\""),
            ("1a=2", "option: invalid variable name: \"1a\""),
        ]),
    opt((Id::File, b'f', "file"), "FILENAME[@W]", Mode::Bench,
        help![What 2 "add script FILENAME weighted at W (default: 1)"])
        .bad(&[
            ("no/such", "could not open file \"no/such\": No such file or directory"),
            ("/@x", "invalid weight specification: @x"),
        ]),
    opt((Id::Fillfactor, b'F', "fillfactor"), "NUM", Mode::Init,
        help![Init 3 "set fill factor"])
        .good("90")
        .bad(&[
            ("9", "-F/--fillfactor must be in range 10..100"),
            ("101", "-F/--fillfactor must be in range 10..100"),
            ("ten", "invalid value \"ten\" for option -F/--fillfactor"),
        ]),
    opt((Id::Host, b'h', "host"), "HOSTNAME", Mode::Both,
        help![Common 3 "database server host or socket directory"])
        .good("/somewhere"),
    opt((Id::Initialize, b'i', "initialize"), "", Mode::Init,
        help![Init 1 "invokes initialization mode"]),
    opt((Id::InitSteps, b'I', "init-steps"), "[dtgGvpf]+ (default \"dtgvp\")", Mode::Init,
        help![Init 2 "run selected initialization steps, in the specified order\n\
            d: drop any existing pgbench tables\n\
            t: create the tables used by the standard pgbench scenario\n\
            g: generate data, client-side\n\
            G: generate data, server-side\n\
            v: invoke VACUUM on the standard tables\n\
            p: create primary key indexes on the standard tables\n\
            f: create foreign keys between the standard tables"])
        .good("dt gf")
        .bad(&[
            ("", "no initialization steps specified"),
            ("dta", "unrecognized initialization step \"a\""),
        ]),
    opt((Id::Jobs, b'j', "jobs"), "NUM", Mode::Bench,
        help![Bench 4 "number of threads (default: 1)"])
        .good("2")
        .bad(&[
            ("eleven", "invalid value \"eleven\" for option -j/--jobs"),
            ("0", "-j/--jobs must be in range 1..2147483647"),
        ]),
    opt((Id::Log, b'l', "log"), "", Mode::Bench,
        help![Bench 5 "write transaction times to log file"]),
    opt((Id::LatencyLimit, b'L', "latency-limit"), "NUM", Mode::Bench,
        help![Bench 6 "count transactions lasting more than NUM ms as late"])
        .good("1.5e1ms")
        .bad(&[
            ("0.0", "invalid latency limit: \"0.0\""),
            ("-1", "invalid latency limit: \"-1\""),
            ("x", "invalid latency limit: \"x\""),
        ]),
    opt((Id::NoVacuum, b'n', "no-vacuum"), "", Mode::Both,
        help![Init 4 "do not run VACUUM during initialization", Bench 8 "do not run VACUUM before tests"]),
    opt((Id::Port, b'p', "port"), "PORT", Mode::Both,
        help![Common 4 "database server port number"])
        .good("5433"),
    opt((Id::Progress, b'P', "progress"), "NUM", Mode::Bench,
        help![Bench 9 "show thread progress report every NUM seconds"])
        .good("1")
        .bad(&[
            ("0", "-P/--progress must be in range 1..2147483647"),
            ("x", "invalid value \"x\" for option -P/--progress"),
        ]),
    opt((Id::Protocol, b'M', "protocol"), "simple|extended|prepared", Mode::Bench,
        help![Bench 7 "protocol for submitting queries (default: simple)"])
        .good("prepared")
        .bad(&[
            ("no-such-mode", "invalid query mode (-M): \"no-such-mode\""),
            ("Simple", "invalid query mode (-M): \"Simple\""),
        ]),
    opt((Id::Quiet, b'q', "quiet"), "", Mode::Init,
        help![Init 5 "quiet logging (one message each 5 seconds)"]),
    opt((Id::ReportPerCommand, b'r', "report-per-command"), "", Mode::Bench,
        help![Bench 10 "report latencies, failures, and retries per command"]),
    opt((Id::Rate, b'R', "rate"), "NUM", Mode::Bench,
        help![Bench 11 "target rate in transactions per second"])
        .good("12.5")
        .bad(&[("0.0", "invalid rate limit: \"0.0\""), ("-3", "invalid rate limit: \"-3\"")]),
    opt((Id::Scale, b's', "scale"), "NUM", Mode::Both,
        help![Init 6 "scaling factor", Bench 12 "report this scale factor in output"])
        .good("3")
        .bad(&[
            ("two", "invalid value \"two\" for option -s/--scale"),
            ("0", "-s/--scale must be in range 1..2147483647"),
        ]),
    opt((Id::SelectOnly, b'S', "select-only"), "", Mode::Bench,
        help![What 4 "perform SELECT-only transactions\n(same as \"-b select-only\")"]),
    opt((Id::SkipSomeUpdates, b'N', "skip-some-updates"), "", Mode::Bench,
        help![What 3 "skip updates of pgbench_tellers and pgbench_branches\n(same as \"-b simple-update\")"]),
    opt((Id::Time, b'T', "time"), "NUM", Mode::Bench,
        help![Bench 14 "duration of benchmark test in seconds"])
        .good("5")
        .bad(&[
            ("ten", "invalid value \"ten\" for option -T/--time"),
            ("0", "-T/--time must be in range 1..2147483647"),
        ]),
    opt((Id::Transactions, b't', "transactions"), "NUM", Mode::Bench,
        help![Bench 13 "number of transactions each client runs (default: 10)"])
        .good("5")
        .bad(&[
            ("zil", "invalid value \"zil\" for option -t/--transactions"),
            ("-1", "-t/--transactions must be in range 1..2147483647"),
        ]),
    opt((Id::Username, b'U', "username"), "USERNAME", Mode::Both,
        help![Common 5 "connect as specified database user"])
        .good("someone"),
    opt((Id::VacuumAll, b'v', "vacuum-all"), "", Mode::Bench,
        help![Bench 15 "vacuum all four standard tables before tests"]),
    opt((Id::UnloggedTables, LONG, "unlogged-tables"), "", Mode::Init,
        help![Init 12 "create tables as unlogged tables"]),
    opt((Id::Tablespace, LONG, "tablespace"), "TABLESPACE", Mode::Init,
        help![Init 11 "create tables in the specified tablespace"])
        .good("space"),
    opt((Id::IndexTablespace, LONG, "index-tablespace"), "TABLESPACE", Mode::Init,
        help![Init 8 "create indexes in the specified tablespace"])
        .good("space"),
    opt((Id::SamplingRate, LONG, "sampling-rate"), "NUM", Mode::Bench,
        help![Bench 24 "fraction of transactions to log (e.g., 0.01 for 1%)"])
        .good("0.5")
        .with("-l")
        .bad(&[("0", "invalid sampling rate: \"0\""), ("1.1", "invalid sampling rate: \"1.1\"")]),
    opt((Id::AggregateInterval, LONG, "aggregate-interval"), "NUM", Mode::Bench,
        help![Bench 17 "aggregate data over NUM seconds"])
        .good("5")
        .with("-l")
        .bad(&[
            ("-3", "--aggregate-interval must be in range 1..2147483647"),
            ("x", "invalid value \"x\" for option --aggregate-interval"),
        ]),
    opt((Id::ProgressTimestamp, LONG, "progress-timestamp"), "", Mode::Bench,
        help![Bench 22 "use Unix epoch timestamps for progress"])
        .with("-P1"),
    opt((Id::LogPrefix, LONG, "log-prefix"), "PREFIX", Mode::Bench,
        help![Bench 20 "prefix for transaction time log file\n(default: \"pgbench_log\")"])
        .good("some/log")
        .with("-l"),
    opt((Id::ForeignKeys, LONG, "foreign-keys"), "", Mode::Init,
        help![Init 7 "create foreign key constraints between tables"]),
    opt((Id::RandomSeed, LONG, "random-seed"), "SEED", Mode::Bench,
        help![Bench 23 "set random seed (\"time\", \"rand\", integer)"])
        .good("42")
        .bad(&[("one", "unrecognized random seed option \"one\""), ("", "unrecognized random seed option \"\"")]),
    opt((Id::ShowScript, LONG, "show-script"), "NAME", Mode::Bench,
        help![Bench 25 "show builtin script code, then exit"])
        .bad(&[("nope", "no builtin script found for name \"nope\"")]),
    opt((Id::Partitions, LONG, "partitions"), "NUM", Mode::Init,
        help![Init 10 "partition pgbench_accounts into NUM parts (default: 0)"])
        .good("3")
        .bad(&[
            ("-1", "--partitions must be in range 0..2147483647"),
            ("x", "invalid value \"x\" for option --partitions"),
        ]),
    opt((Id::PartitionMethod, LONG, "partition-method"), "(range|hash)", Mode::Init,
        help![Init 9 "partition pgbench_accounts with this method (default: range)"])
        .good("HASH")
        .with("--partitions=2")
        .bad(&[("BAD", "invalid partition method, expecting \"range\" or \"hash\", got: \"BAD\"")]),
    opt((Id::FailuresDetailed, LONG, "failures-detailed"), "", Mode::Bench,
        help![Bench 19 "report the failures grouped by basic types"]),
    opt((Id::MaxTries, LONG, "max-tries"), "NUM", Mode::Bench,
        help![Bench 21 "max number of tries to run transaction (default: 1)"])
        .good("3")
        .bad(&[("-10", "invalid number of maximum tries: \"-10\"")]),
    opt((Id::VerboseErrors, LONG, "verbose-errors"), "", Mode::Bench,
        help![Bench 26 "print messages of all errors"]),
    opt((Id::ExitOnAbort, LONG, "exit-on-abort"), "", Mode::Bench,
        help![Bench 18 "exit when any client is aborted"]),
    opt((Id::Debug, LONG, "debug"), "", Mode::Both,
        help![Common 1 "print debugging output"]),
    // Not pgbench 18's: never abbreviated, so that pgbench's abbreviations stay what they were.
    opt((Id::ContinueOnError, LONG, "continue-on-error"), "", Mode::Bench,
        help![Extra 1 "count a transaction with an SQL error as failed\nand go on with the next (as PostgreSQL 19's pgbench)"]),
    opt((Id::LatencyPercentiles, LONG, "latency-percentiles"), "LIST", Mode::Bench,
        help![Extra 3 "report these percentiles of the latency (e.g., 50,95,99.9)"])
        .good("50,99.9")
        .bad(&[
            ("", "invalid latency percentiles: \"\""),
            ("50,x", "invalid latency percentiles: \"50,x\""),
            ("101", "invalid latency percentiles: \"101\""),
        ]),
    opt((Id::Json, LONG, "json"), "FILE", Mode::Bench,
        help![Extra 2 "write the results to FILE as JSON"])
        .good("out.json"),
    opt((Id::Poller, LONG, "poller"), "auto|epoll|io-uring", Mode::Bench,
        help![Extra 4 "how to wait for the connections (default: auto)"])
        .good("epoll")
        .bad(&[("select", "invalid poller: \"select\"")]),
];

/// The scanner's list.
#[must_use]
pub fn specs() -> Vec<Spec<Id>> {
    OPTIONS
        .iter()
        .map(|o| Spec {
            long: o.long,
            short: o.short,
            takes_value: o.value.is_some(),
            abbreviable: !is_extra(o),
            id: o.id,
        })
        .collect()
}

/// The table's entry of an option.
///
/// # Panics
/// Never: a test holds that every [`Id`] has its entry, in the order of the table.
#[must_use]
pub fn entry(id: Id) -> &'static Opt {
    &OPTIONS[id as usize]
}

fn is_extra(option: &Opt) -> bool {
    option.help.iter().any(|h| h.section == Section::Extra)
}

/// The column in which descriptions start.
const HELP_COLUMN: usize = 27;

/// The text of `--help`. `program` is the name in the first lines.
#[must_use]
pub fn help(program: &str) -> String {
    let mut out = format!(
        "{program} is a benchmarking tool for PostgreSQL.\n\nUsage:\n  {program} [OPTION]... [DBNAME]\n"
    );
    for (section, title) in [
        (Section::Init, "Initialization options:"),
        (Section::What, "Options to select what to run:"),
        (Section::Bench, "Benchmarking options:"),
        (Section::Extra, "Options that PostgreSQL 18's pgbench does not have:"),
        (Section::Common, "Common options:"),
    ] {
        out.push_str(&format!("\n{title}\n"));
        let mut lines: Vec<(u8, String)> = OPTIONS
            .iter()
            .flat_map(|o| o.help.iter().map(move |h| (o, h)))
            .filter(|(_, h)| h.section == section)
            .map(|(o, h)| (h.rank, help_lines(&left_column(o), h.text)))
            .collect();
        lines.sort();
        out.extend(lines.into_iter().map(|(_, text)| text));
        if section == Section::Common {
            out.push_str(&help_lines("  -V, --version", "output version information, then exit"));
            out.push_str(&help_lines("  -?, --help", "show this help, then exit"));
        }
    }
    out.push_str(
        "\nReport bugs to <pgsql-bugs@lists.postgresql.org>.\n\
         PostgreSQL home page: <https://www.postgresql.org/>\n",
    );
    out
}

fn left_column(option: &Opt) -> String {
    let mut left = String::from("  ");
    if let Some(letter) = option.short {
        left.push_str(&format!("-{}, ", char::from(letter)));
    }
    left.push_str(&format!("--{}", option.long));
    if let Some(value) = option.value {
        left.push_str(&format!("={value}"));
    }
    left
}

fn help_lines(left: &str, text: &str) -> String {
    let mut out = left.to_owned();
    // A description needs one blank before it; where there is no room it starts a line of its own.
    let mut fresh = left.len() < HELP_COLUMN;
    for line in text.lines() {
        let used = if fresh { out.len() } else { 0 };
        if !fresh {
            out.push('\n');
        }
        out.push_str(&" ".repeat(HELP_COLUMN - used));
        out.push_str(line);
        fresh = false;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The table has one entry for each option, in the order of [`Id`], and no name twice.
    #[test]
    fn one_entry_for_each_option() {
        for (at, option) in OPTIONS.iter().enumerate() {
            assert_eq!(option.id as usize, at, "{}", option.long);
            assert!(!option.help.is_empty(), "{} has no help", option.long);
        }
        assert_eq!(Id::Poller as usize + 1, OPTIONS.len());
        let names: BTreeSet<_> = OPTIONS.iter().map(|o| o.long).collect();
        assert_eq!(names.len(), OPTIONS.len());
        let letters: Vec<_> = OPTIONS.iter().filter_map(|o| o.short).collect();
        assert_eq!(letters.iter().collect::<BTreeSet<_>>().len(), letters.len());
    }

    /// The help text without our own section is that of pgbench 18, byte for byte.
    /// Skipped only where no such pgbench is named by PGDYNO_TEST_PG18_BIN.
    #[test]
    #[allow(clippy::print_stderr, reason = "a skipped test says why")]
    fn help_is_pgbenchs() {
        let Some(folder) = std::env::var_os("PGDYNO_TEST_PG18_BIN") else {
            eprintln!("skipped: PGDYNO_TEST_PG18_BIN names no folder with a pgbench 18");
            return;
        };
        let real = std::process::Command::new(std::path::Path::new(&folder).join("pgbench"))
            .arg("--help")
            .output()
            .expect("pgbench runs");
        let real = String::from_utf8(real.stdout).expect("help is text");
        let ours = help("pgbench");
        let start = ours.find("\nOptions that").expect("our section");
        let end = ours.find("\nCommon options:").expect("the next section");
        assert_eq!(format!("{}{}", &ours[..start], &ours[end..]), real);
    }
}
