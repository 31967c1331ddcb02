//! `pgdyno workloads`: what can be run, and what exactly would be sent.
//!
//! Nothing is connected to. Both forms are plain text for a pipe, or JSON.

use std::num::NonZeroU32;

use pgdyno_engine::load;
use pgdyno_target::{Dialect, dialect_by_name};
use pgdyno_workload::condition::{Asked, Condition};
use pgdyno_workload::{Body, Choice, Entry, Figures, Told, Workload, make, workloads};
use serde::Serialize;

use crate::cli::{ShowArgs, WorkloadArgs, WorkloadsArgs, WorkloadsCommand};
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{dry_run, table_params};

/// Text is broken at this column, so that a help reads well beside another.
const WIDTH: usize = 96;

/// Where the words behind a parameter's name begin.
const INDENT: usize = 16;

/// Lists, or shows one.
pub(crate) fn run(args: &WorkloadsArgs, terminal: &Terminal) -> Result<(), Failure> {
    match &args.command {
        Some(WorkloadsCommand::Show(args)) => show(args, terminal),
        None if args.json => {
            let all: Vec<Listed> = workloads().iter().map(listed).collect();
            terminal.result(&json(&all)?);
            Ok(())
        }
        None => {
            terminal.result(&list());
            Ok(())
        }
    }
}

fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::not_completed(format!("there is no JSON of it: {error}")))?;
    Ok(text + "\n")
}

/// A workload of the list; the names are those of the JSON.
#[derive(Debug, Serialize)]
struct Listed {
    name: &'static str,
    description: &'static str,
    stresses: &'static str,
    params: Vec<ListedParam>,
}

#[derive(Debug, Serialize)]
struct ListedParam {
    name: &'static str,
    help: &'static str,
}

/// A description is what is done, then what it stresses.
fn listed(entry: &Entry) -> Listed {
    let (description, stresses) =
        entry.description.split_once("; stresses ").unwrap_or((entry.description, ""));
    let param = |param: &pgdyno_workload::registry::Param| ListedParam {
        name: param.name,
        help: param.help,
    };
    let params = entry.params.iter().map(param).collect();
    Listed { name: entry.name, description, stresses, params }
}

fn list() -> String {
    let mut out = String::new();
    for entry in workloads().iter().map(listed) {
        out.push_str(&format!("{}\n", entry.name));
        out.push_str(&paragraph("  ", entry.description, 2));
        if !entry.stresses.is_empty() {
            out.push_str(&paragraph(&head("stresses"), entry.stresses, INDENT));
        }
        for param in &entry.params {
            out.push_str(&paragraph(&head(param.name), param.help, INDENT));
        }
        out.push('\n');
    }
    out.push_str(
        "Parameters are set with --param NAME=VALUE. What exactly is sent:\n\
         pgdyno workloads show NAME --dialect DIALECT --scale N --param NAME=VALUE\n",
    );
    out
}

fn head(name: &str) -> String {
    format!("  {name:<width$}", width = INDENT - 2)
}

/// Words behind a head, broken into lines that begin below the first word.
fn paragraph(head: &str, words: &str, indent: usize) -> String {
    let mut out = head.to_owned();
    let mut column = head.chars().count();
    let mut is_first = true;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if !is_first && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
            is_first = true;
        }
        if !is_first {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
        is_first = false;
    }
    out.push('\n');
    out
}

/// What `show` prints as JSON.
#[derive(Debug, Serialize)]
struct Shown {
    workload: &'static str,
    description: &'static str,
    dialect: &'static str,
    scale: u64,
    params: std::collections::BTreeMap<&'static str, String>,
    /// Every statement of a load, in order.
    load: Vec<ShownStep>,
    transactions: Vec<ShownTransaction>,
    /// The query whose figures are read before and after a run.
    figures: String,
    /// What the figures are judged by.
    rules: Vec<&'static str>,
    conditions: Vec<ShownCondition>,
}

#[derive(Debug, Serialize)]
struct ShownStep {
    phase: &'static str,
    sql: String,
    times: u64,
    has_data: bool,
}

#[derive(Debug, Serialize)]
struct ShownTransaction {
    name: &'static str,
    description: &'static str,
    weight: u32,
    /// Statements that Rust code chooses from, instead of a script.
    procedure: bool,
    text: String,
}

#[derive(Debug, Serialize)]
struct ShownCondition {
    name: &'static str,
    title: &'static str,
    asked: &'static str,
    sql: String,
}

fn show(args: &ShowArgs, terminal: &Terminal) -> Result<(), Failure> {
    let dialect = dialect_by_name(&args.dialect)
        .map_err(|error| Failure::usage(format!("--dialect: {error}")))?;
    let words = WorkloadArgs { workload: args.name.clone(), params: args.params.clone() };
    let params = table_params::of_workload(&words);
    let choice = Choice { name: &args.name, scale: args.scale, params: &params };
    let workload = make(&choice).map_err(Failure::usage)?;
    let workload = workload.as_ref();
    let dialect = table_params::applied(dialect, workload, &table_params::of_tables(&words))?;
    workload.check(dialect).map_err(Failure::usage)?;
    let jobs = NonZeroU32::new(args.jobs).unwrap_or(NonZeroU32::MIN);
    let how = load::How { workload, dialect, method: None, jobs, seed: 0, resume: false };
    let planned = load::planned(&how, None);
    if args.json {
        terminal.result(&json(&shown(workload, dialect, &planned))?);
        return Ok(());
    }
    let load = dry_run::text(workload, dialect, &planned);
    terminal.result(&text(workload, dialect, &load));
    Ok(())
}

fn shown(workload: &dyn Workload, dialect: &dyn Dialect, planned: &load::Planned) -> Shown {
    let step = |step: &load::PlannedStep| ShownStep {
        phase: step.phase.doing(),
        sql: step.sql.clone(),
        times: step.times,
        has_data: step.has_data,
    };
    Shown {
        workload: workload.name(),
        description: workload.description(),
        dialect: dialect.name(),
        scale: workload.scale(),
        params: workload.params().into_iter().collect(),
        load: planned.steps.iter().map(step).collect(),
        transactions: transactions(workload),
        figures: workload.audit_query(dialect),
        rules: rules(workload),
        conditions: workload.conditions(dialect).into_iter().map(condition).collect(),
    }
}

fn transactions(workload: &dyn Workload) -> Vec<ShownTransaction> {
    let shown = |one: pgdyno_workload::Transaction| ShownTransaction {
        name: one.name,
        description: one.description,
        weight: one.weight,
        procedure: matches!(one.body, Body::Procedure(_)),
        text: match one.body {
            Body::Script(text) | Body::Procedure(text) => text.into_owned(),
            _ => String::new(),
        },
    };
    workload.transactions().into_iter().map(shown).collect()
}

/// The rules' names: a run of nothing that changed nothing is judged by all.
fn rules(workload: &dyn Workload) -> Vec<&'static str> {
    let nothing = Figures::default();
    let mut findings = workload.judge_run(&nothing, &nothing, &[]);
    findings.extend(workload.judge_told(&nothing, &nothing, &[], &Told::default()));
    findings.iter().map(|finding| finding.name).collect()
}

fn condition(condition: Condition) -> ShownCondition {
    let asked = match condition.asked {
        Asked::EachRun => "after each run",
        Asked::FullAudit => "by a full audit",
    };
    ShownCondition { name: condition.name, title: condition.title, asked, sql: condition.sql }
}

/// The load, then the transactions, then the audits, as one text with SQL's
/// comments between.
fn text(workload: &dyn Workload, dialect: &dyn Dialect, load: &str) -> String {
    let mut out = format!("-- {}\n", workload.description());
    for (name, value) in workload.params() {
        out.push_str(&format!("-- --param {name}={value}\n"));
    }
    out.push_str(load);
    for one in transactions(workload) {
        let what = if one.procedure { "statements of transaction" } else { "transaction" };
        let (name, weight, description) = (one.name, one.weight, one.description);
        out.push_str(&format!("\n-- {what} {name} ({description}), weight {weight}\n"));
        out.push_str(one.text.trim_end_matches('\n'));
        out.push('\n');
    }
    let rules = rules(workload).join(", ");
    out.push_str(&format!(
        "\n-- audit: figures before and after each run, judged by: {rules}\n{};\n",
        workload.audit_query(dialect)
    ));
    for one in workload.conditions(dialect).into_iter().map(condition) {
        let ShownCondition { name, title, asked, sql } = one;
        out.push_str(&format!("\n-- audit {asked}: {name}: {title}\n{sql};\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines are broken before the width and begin below the first word.
    #[test]
    fn paragraphs() {
        let text = paragraph(&head("x"), &"word ".repeat(40), INDENT);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(lines[1..].iter().all(|line| line.starts_with(&(" ".repeat(INDENT) + "word"))));
        assert!(lines[0].starts_with("  x             word"), "{text}");
    }

    /// Every workload and every parameter is in the list.
    #[test]
    fn the_list_is_complete() {
        let text = list();
        for entry in workloads() {
            assert!(text.contains(&format!("{}\n  ", entry.name)), "{}", entry.name);
            for param in entry.params {
                // Apart from the words behind it.
                assert!(text.contains(&format!("\n{}", head(param.name))), "{}", param.name);
                assert!(head(param.name).ends_with(' '), "{}", param.name);
            }
        }
    }
}
