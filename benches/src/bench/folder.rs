//! A folder of results: raw lines, a README that says how they came about, and
//! the summary.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::facts::Facts;
use super::raw::{Line, read};
use super::summary::summarise;

/// Makes a new folder under `parent`, named by the day, with a number where
/// the day has one already.
pub(super) fn make(parent: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(parent)?;
    let day = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
    for number in 1..1000 {
        let name = if number == 1 { day.clone() } else { format!("{day}-{number}") };
        let path = parent.join(name);
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("{}", path.display())),
        }
    }
    anyhow::bail!("{} has a thousand folders for {day}", parent.display())
}

/// Writes README.md and summary.md from the raw lines; gives the summary.
pub(super) fn describe(folder: &Path) -> Result<String> {
    let lines = read(folder)?;
    let facts = lines.iter().find_map(|line| match line {
        Line::Facts(facts) => Some(facts.as_ref()),
        Line::Run(_) | Line::Tpcc(_) => None,
    });
    if let Some(facts) = facts {
        std::fs::write(folder.join("README.md"), readme(facts, &lines))?;
    }
    let summary = summarise(&lines);
    std::fs::write(folder.join("summary.md"), &summary)?;
    Ok(summary)
}

fn readme(facts: &Facts, lines: &[Line]) -> String {
    let mut text = format!("# Benchmark of {}\n\n", facts.began);
    let _ = write!(
        text,
        "What would make the figures wrong: another process on these cores (load before the first \
         run: {:.2}), a\nfrequency that changes, a virtual machine whose neighbours are busy. \
         Figures of different folders are not\ncomparable; ratios of one folder are.\n\n",
        facts.load_before
    );
    let cores = facts.cores.map_or("not bound".to_owned(), |(client, server)| {
        format!("client on {client}, server on {server} (suite `shared`: neither bound)")
    });
    for (name, value) in [
        ("commit", facts.commit.clone()),
        ("command", format!("`{}`", facts.command.join(" "))),
        ("CPU", format!("{} x {}", facts.cpu_count, facts.cpu_model)),
        ("governor", facts.cpu_governor.clone()),
        ("memory", format!("{} MiB", facts.memory_kib / 1024)),
        ("kernel", facts.kernel.clone()),
        ("cores", cores),
        ("pollers", facts.pollers.clone()),
    ] {
        let value = if value.is_empty() { "not told".to_owned() } else { value };
        let _ = writeln!(text, "- {name}: {value}");
    }
    for (name, version) in &facts.versions {
        let _ = writeln!(text, "- {name}: {version}");
    }
    text += "\nThe real server runs with fsync off and shared_buffers 512 MB; `raw.jsonl` holds \
             every run, `summary.md` is\ncomputed from it by `pgdyno-bench summary` and this \
             folder. Every run's time and memory are those of the\nkernel's accounting of its \
             process; memory includes some 2.5 MiB that a child has from its parent.\n\n\
             ## Commands\n\nOne of each case and tool, first the run for connecting, then the \
             steady one.\n\n```text\n";
    for line in lines {
        let command = match line {
            Line::Run(run) if run.repetition == 0 => &run.command,
            Line::Tpcc(run) if run.repetition == 0 => &run.command,
            _ => continue,
        };
        let _ = writeln!(text, "{}", command.join(" "));
    }
    text + "```\n"
}
