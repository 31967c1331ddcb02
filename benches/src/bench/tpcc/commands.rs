//! The command line of each contender.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::contender::{Contender, Stage};
use super::peers::{Peers, java};
use super::{CLIENTS, LOAD_CONNECTIONS, WAREHOUSES, settings};
use crate::bench::places::Places;

/// Seconds of BenchBase's short run. It cannot be given a number of
/// transactions, and a Java program compiles itself in its first seconds;
/// whatever falls into these is taken off.
const BENCHBASE_SHORT_S: u32 = 3;

/// One run of one contender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) contender: Contender,
    pub(super) stage: Stage,
    pub(super) port: u16,
    /// Where files for this run may be made.
    pub(super) folder: &'a Path,
    /// Of the steady stage.
    pub(super) seconds: u32,
}

impl Task<'_> {
    /// The command line; none where the tool is not there. Files that it reads
    /// are written.
    pub(super) fn command(&self, places: &Places, peers: &Peers) -> Result<Option<Vec<String>>> {
        let program = match self.contender {
            Contender::Pgbench => places.pgbench.as_deref(),
            Contender::PgdynoSql | Contender::PgdynoProcs | Contender::PgdynoHammerdb => {
                places.pgdyno.as_deref()
            }
            peer => peers.of(peer),
        };
        let Some(program) = program else { return Ok(None) };
        Ok(Some(match self.contender {
            Contender::Pgbench => self.pgbench(program),
            Contender::PgdynoSql | Contender::PgdynoProcs | Contender::PgdynoHammerdb => {
                self.pgdyno(program)
            }
            Contender::GoTpc => self.go_tpc(program),
            Contender::Hammerdb => self.hammerdb(program)?,
            Contender::Benchbase => self.benchbase(program)?,
        }))
    }

    /// Where `pgdyno run` writes its record.
    pub(super) fn record(&self) -> PathBuf {
        self.folder.join("run.json")
    }

    /// Seconds of a run by the clock; none where it has none.
    pub(super) fn length_s(&self) -> u32 {
        match (self.contender, self.stage) {
            (Contender::Hammerdb, _) => settings::HAMMERDB_MINUTES * 60,
            (Contender::Benchbase, Stage::Short) => BENCHBASE_SHORT_S,
            (_, Stage::Steady) => self.seconds,
            (_, Stage::Load | Stage::Short) => 0,
        }
    }

    fn pgbench(&self, program: &Path) -> Vec<String> {
        let length = match self.stage {
            Stage::Steady => format!("-T {}", self.seconds),
            Stage::Load | Stage::Short => "-t 1".to_owned(),
        };
        words(
            program,
            &format!(
                "-h 127.0.0.1 -p {} -U postgres -n -S -M prepared -c {CLIENTS} -j 1 {length} {}",
                self.port,
                self.contender.database()
            ),
        )
    }

    fn pgdyno(&self, program: &Path) -> Vec<String> {
        let params = match self.contender {
            Contender::PgdynoProcs => " --param procs=1",
            Contender::PgdynoHammerdb => " --param procs=1 --param profile=hammerdb",
            _ => "",
        };
        let (port, database) = (self.port, self.contender.database());
        let target = format!("postgresql://postgres@127.0.0.1:{port}/{database}?sslmode=disable");
        if self.stage == Stage::Load {
            return words(
                program,
                &format!(
                    "init {target} --workload tpcc --scale {WAREHOUSES} --jobs \
                     {LOAD_CONNECTIONS}{params}"
                ),
            );
        }
        let length = match self.stage {
            Stage::Steady => format!("-T {}", self.seconds),
            Stage::Load | Stage::Short => "-t 1".to_owned(),
        };
        let mut words = words(
            program,
            &format!("run {target} --workload tpcc{params} -c {CLIENTS} -j 1 {length} --json"),
        );
        words.push(self.record().display().to_string());
        words
    }

    /// As its manual has it for PostgreSQL. It would end a client at the first
    /// deadlock; with `--ignore-error` there are as many to the end.
    fn go_tpc(&self, program: &Path) -> Vec<String> {
        let what = match self.stage {
            // Its check after loading is left out; pgdyno's is in its figure.
            Stage::Load => format!("prepare -T {LOAD_CONNECTIONS} --no-check"),
            Stage::Short => format!("run -T {CLIENTS} --count {CLIENTS} --ignore-error"),
            Stage::Steady => {
                format!("run -T {CLIENTS} --time {}s --ignore-error --silence", self.seconds)
            }
        };
        words(
            program,
            &format!(
                "tpcc {what} --warehouses {WAREHOUSES} -d postgres -U postgres -H 127.0.0.1 -P {} \
                 -D {} --conn-params sslmode=disable",
                self.port,
                self.contender.database()
            ),
        )
    }

    /// It looks for its files in the folder where it is run.
    fn hammerdb(&self, program: &Path) -> Result<Vec<String>> {
        let script = self.folder.join("hammerdb.tcl");
        std::fs::write(&script, settings::hammerdb(self.stage, self.port))
            .context("could not write HammerDB's script")?;
        let mut words = in_folder_of(program);
        words.extend([program.display().to_string(), "tcl".to_owned(), "auto".to_owned()]);
        words.push(script.display().to_string());
        Ok(words)
    }

    /// The same.
    fn benchbase(&self, jar: &Path) -> Result<Vec<String>> {
        let config = self.folder.join("benchbase.xml");
        let results = self.folder.join("benchbase-results");
        let text = settings::benchbase(self.port, self.length_s().max(1));
        std::fs::write(&config, text).context("could not write BenchBase's configuration")?;
        let is_load = self.stage == Stage::Load;
        let mut words = in_folder_of(jar);
        words.push(java().context("there is no java any more")?.display().to_string());
        words.extend(["-jar".to_owned(), jar.display().to_string()]);
        words.extend(["-b".to_owned(), "tpcc".to_owned()]);
        words.extend(["-c".to_owned(), config.display().to_string()]);
        words.extend(["-d".to_owned(), results.display().to_string()]);
        words.push(format!("--create={is_load}"));
        words.push(format!("--load={is_load}"));
        words.push(format!("--execute={}", !is_load));
        Ok(words)
    }
}

fn words(program: &Path, rest: &str) -> Vec<String> {
    let mut words = vec![program.display().to_string()];
    words.extend(rest.split_ascii_whitespace().map(str::to_owned));
    words
}

/// `env` becomes the program, so that it is no process of its own.
fn in_folder_of(program: &Path) -> Vec<String> {
    let folder = program.parent().unwrap_or(Path::new("."));
    vec!["env".to_owned(), format!("--chdir={}", folder.display())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(contender: Contender, stage: Stage) -> String {
        let task = Task { contender, stage, port: 7, folder: Path::new("/f"), seconds: 9 };
        let program = Path::new("/p/tool");
        match contender {
            Contender::Pgbench => task.pgbench(program),
            Contender::GoTpc => task.go_tpc(program),
            _ => task.pgdyno(program),
        }
        .join(" ")
    }

    /// All have the same clients, the same warehouses and their own database;
    /// loads have the same number of connections.
    #[test]
    fn all_do_the_same() {
        for contender in [Contender::PgdynoSql, Contender::PgdynoProcs, Contender::GoTpc] {
            let load = line(contender, Stage::Load);
            assert!(load.contains(contender.database()), "{load}");
            assert!(load.contains(&format!(" {WAREHOUSES} ")), "{load}");
        }
        assert!(line(Contender::PgdynoSql, Stage::Load).contains("--jobs 2"));
        assert!(line(Contender::GoTpc, Stage::Load).contains("prepare -T 2"));
        assert!(line(Contender::GoTpc, Stage::Steady).contains("run -T 16 --time 9s"));
        assert!(line(Contender::PgdynoProcs, Stage::Steady).contains("procs=1 -c 16 -j 1 -T 9"));
        assert!(line(Contender::Pgbench, Stage::Short).ends_with("-t 1 postgres"));
    }
}
