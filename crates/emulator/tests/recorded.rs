//! The recorded answers of a live Aurora DSQL, asked of the emulator.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::BTreeMap;

use pgdyno_wire::{Connection, Error};
use support::Place;

/// One recorded step.
#[derive(Debug, Clone)]
struct Step {
    case: String,
    group: String,
    session: String,
    number: u32,
    sql: String,
    outcome: String,
    sqlstate: String,
    message: String,
}

/// What the suite makes before its first case (the head of the file).
const TABLES: &[&str] = &[
    "CREATE TABLE baseline_parent (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text NOT NULL)",
    "INSERT INTO baseline_parent VALUES ('00000000-0000-0000-0000-0000000000aa', 'seed')",
    "CREATE TABLE baseline_child (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), parent_id uuid NOT NULL REFERENCES baseline_parent(id))",
    "CREATE TABLE baseline_idx (id uuid PRIMARY KEY, value text)",
    "CREATE TABLE baseline_bulk (id int)",
    "CREATE TABLE baseline_implicit_bulk (id int)",
    "CREATE TABLE baseline_drop_me (id int)",
    "CREATE TABLE baseline_multi (id int PRIMARY KEY, a int)",
    "CREATE TABLE baseline_alter (id int PRIMARY KEY, a text, b int)",
    "CREATE TABLE baseline_alter_pk (id int PRIMARY KEY, a text)",
    "CREATE TABLE baseline_alter_big (big bigint, note text)",
    "CREATE TABLE baseline_alter_fk (id int PRIMARY KEY, parent_id uuid)",
    "CREATE TABLE baseline_alter_pkadd (id int, v text)",
    "CREATE TABLE baseline_fk_action (id uuid PRIMARY KEY, name text NOT NULL)",
    "INSERT INTO baseline_fk_action SELECT ('00000000-0000-0000-0000-0000000000c' || n)::uuid, 'n' FROM generate_series(1, 4) n",
    "CREATE TABLE baseline_fk_cascade (id uuid PRIMARY KEY, parent_id uuid REFERENCES baseline_fk_action(id) ON DELETE CASCADE, note text)",
    "INSERT INTO baseline_fk_cascade VALUES ('00000000-0000-0000-0000-0000000000d1', '00000000-0000-0000-0000-0000000000c1')",
    "CREATE TABLE baseline_fk_setnull (id uuid PRIMARY KEY, parent_id uuid REFERENCES baseline_fk_action(id) ON DELETE SET NULL, note text)",
    "INSERT INTO baseline_fk_setnull VALUES ('00000000-0000-0000-0000-0000000000d2', '00000000-0000-0000-0000-0000000000c2')",
    "CREATE TABLE baseline_fk_setdefault (id uuid PRIMARY KEY, parent_id uuid DEFAULT '00000000-0000-0000-0000-0000000000c4' REFERENCES baseline_fk_action(id) ON DELETE SET DEFAULT, note text)",
    "INSERT INTO baseline_fk_setdefault VALUES ('00000000-0000-0000-0000-0000000000d3', '00000000-0000-0000-0000-0000000000c3')",
    "CREATE TABLE baseline_span (id int PRIMARY KEY, k int NOT NULL, v text)",
    "INSERT INTO baseline_span VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 2, 'd')",
    "CREATE TABLE baseline_conflict (id uuid PRIMARY KEY, name text NOT NULL)",
    "INSERT INTO baseline_conflict SELECT ('00000000-0000-0000-0000-0000000000a' || c)::uuid, 'n' FROM unnest(string_to_array('b,c,d,e,f', ',')) c",
    "CREATE TABLE baseline_conflict_child (id uuid PRIMARY KEY, parent_id uuid NOT NULL REFERENCES baseline_conflict(id))",
    // Their definitions were not recorded; any that fit the one query do.
    "CREATE TABLE baseline_lat_parent (id text PRIMARY KEY)",
    "CREATE TABLE baseline_lat_child (parent_id text)",
];

/// The share of steps that must have the recorded outcome and SQLSTATE.
const MATCHED_MIN: f64 = 0.9;

fn steps() -> Vec<Step> {
    let text = include_str!("dsql-recorded.tsv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        Step {
            case: fields[0].into(),
            group: fields[1].into(),
            session: fields[2].into(),
            number: fields[3].parse().unwrap(),
            sql: fields[5].into(),
            outcome: fields[6].into(),
            sqlstate: fields[7].into(),
            message: fields[8].into(),
        }
    })
    .collect()
}

/// Runs a step as the recorder did; `None` for success, else the error.
fn ask(connection: &mut Connection, step: &Step) -> Option<Error> {
    if step.group == "multi_statement" {
        connection.simple_query(&step.sql).err()
    } else {
        connection.query_params(&step.sql, &[]).err()
    }
}

/// The cases of the file, in order, each with its steps.
fn cases(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut found: Vec<Vec<Step>> = Vec::new();
    for step in steps {
        match found.last_mut() {
            Some(case) if case[0].case == step.case && case[0].group == step.group => {
                case.push(step.clone());
            }
            _ => found.push(vec![step.clone()]),
        }
    }
    found
}

/// What differs, as a line for people; `None` where nothing does.
fn deviation(step: &Step, error: Option<&Error>) -> Option<String> {
    let sqlstate = error.map(|error| error.sqlstate().map_or("lost".into(), |c| c.to_string()));
    let (got, wanted) = (sqlstate.unwrap_or_default(), &step.sqlstate);
    let outcome = if error.is_some() { "error" } else { "ok" };
    (outcome != step.outcome || got != *wanted).then(|| {
        let words = error.map(ToString::to_string).unwrap_or_default();
        format!(
            "{}/{} step {}: recorded {} {wanted} {:?}, got {outcome} {got} {words:?}: {}",
            step.group, step.case, step.number, step.outcome, step.message, step.sql
        )
    })
}

/// Both sessions of a case, slot by slot. Within a slot the recorder's order
/// is not known; the session that was recorded as the winner goes first.
fn concurrent(place: &Place, case: &[Step], deviations: &mut Vec<String>) {
    let mut sessions: BTreeMap<&str, Connection> = BTreeMap::new();
    let mut steps: Vec<&Step> = case.iter().collect();
    steps.sort_by_key(|step| (step.number, step.outcome == "error"));
    for step in steps {
        let connection = sessions.entry(&step.session).or_insert_with(|| place.connect().unwrap());
        let error = ask(connection, step);
        deviations.extend(deviation(step, error.as_ref()));
    }
}

/// At least nine in ten of the recorded steps have the recorded outcome and
/// SQLSTATE; every other one is printed.
#[test]
#[allow(clippy::print_stderr, reason = "the list of deviations is for people")]
fn recorded_answers() {
    let place = Place::start();
    let mut connection = place.connect().unwrap();
    for sql in TABLES {
        connection.execute(sql).unwrap();
    }
    let steps = steps();
    let mut deviations = Vec::new();
    let mut texts_differ = Vec::new();
    for case in cases(&steps) {
        if case.iter().any(|step| !step.session.is_empty()) {
            concurrent(&place, &case, &mut deviations);
            continue;
        }
        for step in &case {
            let error = ask(&mut connection, step);
            deviations.extend(deviation(step, error.as_ref()));
            let message = error.as_ref().and_then(Error::server).map(|e| e.message.clone());
            if let Some(message) = message.filter(|message| *message != step.message) {
                texts_differ.push(format!("{}: {message:?}, not {:?}", step.case, step.message));
            }
        }
        connection.execute("ROLLBACK").unwrap();
    }
    let matched = 1.0 - deviations.len() as f64 / steps.len() as f64;
    for line in deviations.iter().chain(&texts_differ) {
        eprintln!("{line}");
    }
    eprintln!(
        "{} steps, {} deviations, {:.1} % matched; {} other texts",
        steps.len(),
        deviations.len(),
        matched * 100.0,
        texts_differ.len()
    );
    assert!(matched >= MATCHED_MIN);
}
