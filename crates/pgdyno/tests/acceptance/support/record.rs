//! The run's record as anyone reads it: JSON that fits the schema.

use std::sync::OnceLock;

use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../record/schema/run-record-1.json");

/// A record from its text, checked against the schema.
pub(crate) fn parse(text: &str) -> Value {
    let record: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let faults: Vec<String> =
        validator().iter_errors(&record).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(faults.is_empty(), "not as the schema says: {faults:?}");
    record
}

fn validator() -> &'static jsonschema::Validator {
    static VALIDATOR: OnceLock<jsonschema::Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| {
        let schema = serde_json::from_str(SCHEMA).unwrap();
        jsonschema::draft202012::new(&schema).unwrap()
    })
}

/// A count of the totals.
pub(crate) fn count(record: &Value, name: &str) -> u64 {
    record["totals"]["counts"][name].as_u64().unwrap_or_else(|| panic!("no count {name}"))
}

/// How the run ended.
pub(crate) fn ended(record: &Value) -> &str {
    record["ended"]["how"].as_str().unwrap()
}

/// The reasons for an early end, as one text.
pub(crate) fn reasons(record: &Value) -> String {
    let reasons = record["ended"]["reasons"].as_array().unwrap();
    reasons.iter().map(|reason| reason.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Everything that was counted and does not depend on time.
pub(crate) fn work(record: &Value) -> Value {
    let statements: Vec<Value> = record["statements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|statement| {
            let mut kept = statement.clone();
            let fields = kept.as_object_mut().unwrap();
            fields.remove("time_mean_us");
            fields.remove("latency");
            kept
        })
        .collect();
    let per_type: Vec<Value> = record["transactions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| serde_json::json!([kind["name"], kind["counts"]["committed"]]))
        .collect();
    serde_json::json!({
        "seed": record["seed"],
        "committed": record["totals"]["counts"]["committed"],
        "failed": record["totals"]["counts"]["failed"],
        "per_type": per_type,
        "statements": statements,
    })
}
