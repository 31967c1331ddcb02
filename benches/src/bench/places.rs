//! Where the programs are.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::case::Tool;

/// The programs that were found.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) nullserver: PathBuf,
    pub(super) floor: PathBuf,
    pub(super) pgdyno: Option<PathBuf>,
    pub(super) pgbench: Option<PathBuf>,
    pub(super) sysbench: Option<PathBuf>,
    /// The folder of initdb, postgres and psql.
    pub(super) postgres_bin: Option<PathBuf>,
}

impl Places {
    /// Looks for them. Our own lie beside this program.
    pub(super) fn find() -> Result<Self> {
        let own = std::env::current_exe().context("could not find this program's own file")?;
        // Commands are kept with the results; where somebody keeps his sources
        // is nobody's business.
        let here = std::env::current_dir().unwrap_or_default();
        let own = own.strip_prefix(&here).map_or(own.clone(), |short| Path::new(".").join(short));
        let beside = |name: &str| Some(own.with_file_name(name)).filter(|path| path.is_file());
        let need = |name: &str| {
            beside(name).with_context(|| {
                format!("{name} is not beside {}; build it with `make bench`", own.display())
            })
        };
        let postgres_bin = postgres_bin();
        let peer = postgres_bin.as_ref().map(|dir| dir.join("pgbench"));
        Ok(Self {
            nullserver: need("nullserver")?,
            floor: need("floor")?,
            pgdyno: beside("pgdyno"),
            // The real file rather than a distribution's wrapper script, whose
            // interpreter would be measured with it.
            pgbench: peer.filter(|path| path.is_file()).or_else(|| in_path("pgbench")),
            sysbench: in_path("sysbench"),
            postgres_bin,
        })
    }

    /// The program of a tool.
    pub(super) fn of(&self, tool: Tool) -> Option<&Path> {
        match tool {
            Tool::Floor => Some(&self.floor),
            Tool::Pgdyno | Tool::PgdynoEpoll | Tool::PgdynoJobs2 | Tool::PgdynoSlack => {
                self.pgdyno.as_deref()
            }
            Tool::Pgbench => self.pgbench.as_deref(),
            Tool::Sysbench => self.sysbench.as_deref(),
        }
    }
}

/// The first file of that name in the path.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// `PGDYNO_PG_BIN`, then what `pg_config` says, then Debian's newest.
fn postgres_bin() -> Option<PathBuf> {
    let named = std::env::var_os("PGDYNO_PG_BIN").map(PathBuf::from);
    let asked = || {
        let output = Command::new("pg_config").arg("--bindir").output().ok()?;
        Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
    };
    let mut debian: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    debian.sort_by_key(|path| {
        let version = path.parent().and_then(Path::file_name);
        version.and_then(|name| name.to_str()?.parse::<u32>().ok())
    });
    let usable = |dir: &PathBuf| dir.join("initdb").is_file() && dir.join("postgres").is_file();
    named.into_iter().chain(asked()).chain(debian.into_iter().rev()).find(usable)
}

/// Runs a command to its end; its words are in the error.
pub(super) fn finish(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("could not run {program}"))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        bail!("{program} failed ({}): {words}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
