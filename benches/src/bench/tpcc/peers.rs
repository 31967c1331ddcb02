//! Where the peers are, if they are there at all. Nothing is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::contender::Contender;
use crate::bench::places::in_path;

/// The peers that were found.
#[derive(Debug, Clone, Default)]
pub(super) struct Peers {
    go_tpc: Option<PathBuf>,
    hammerdb: Option<PathBuf>,
    benchbase: Option<PathBuf>,
}

impl Peers {
    /// `PGDYNO_GO_TPC` and `PGDYNO_HAMMERDB` name the programs `go-tpc` and
    /// `hammerdbcli` where they are not in the path, `PGDYNO_BENCHBASE` the file
    /// `benchbase.jar`.
    pub(super) fn find() -> Self {
        let named = |variable: &str| {
            std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file())
        };
        // They are run in another folder than this one.
        let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Self {
            go_tpc: named("PGDYNO_GO_TPC").or_else(|| in_path("go-tpc")).map(whole),
            hammerdb: named("PGDYNO_HAMMERDB").or_else(|| in_path("hammerdbcli")).map(whole),
            benchbase: named("PGDYNO_BENCHBASE").filter(|_| java().is_some()).map(whole),
        }
    }

    /// The file of a peer; none of those that are not there, and of pgdyno.
    pub(super) fn of(&self, contender: Contender) -> Option<&Path> {
        match contender {
            Contender::GoTpc => self.go_tpc.as_deref(),
            Contender::Hammerdb => self.hammerdb.as_deref(),
            Contender::Benchbase => self.benchbase.as_deref(),
            _ => None,
        }
    }

    /// What go-tpc says of itself. HammerDB says it in each run; BenchBase
    /// nowhere.
    pub(super) fn go_tpc_version(&self) -> Option<String> {
        let output = Command::new(self.go_tpc.as_deref()?).arg("version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
    }
}

/// `$JAVA_HOME/bin/java`, or the one in the path.
pub(super) fn java() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/java"));
    home.filter(|path| path.is_file()).or_else(|| in_path("java"))
}
