//! What sessions wait for, looked at while a run warms up.

use crate::dialects::part;
use crate::server::Fake;
use crate::{run, target};

/// What only the looks ask.
const LOOK: &str = "WHERE state = 'active' AND backend_type";

const GROUP: &str = "wait_events_in_warmup";

/// The record has the looks of the warm-up, or says why there were none; a run
/// without a warm-up is not looked at.
#[test]
fn waits_are_looked_at_in_the_warm_up() {
    let server = Fake::start(part("postgres").row(LOOK, &[Some("Lock"), Some("tuple"), Some("3")]));
    let looks = |words: &str| {
        let heard = server.heard(LOOK);
        let said = run(&target(&[server.port]), words).exits(0);
        let statistics = &said.record["target_statistics"];
        let groups = statistics["groups"].as_array().unwrap();
        let group = groups.iter().find(|group| group["name"] == GROUP).cloned();
        let notes = statistics["notes"].as_array().unwrap();
        let is_noted = notes.iter().any(|note| note.as_str().unwrap().starts_with("wait events: "));
        // A machine that is busy enough may leave no time for a look.
        assert!(group.is_some() || is_noted, "{statistics}");
        (server.heard(LOOK) - heard, group, said.out)
    };
    let (heard, group, _) = looks("-c 1 -t 3");
    assert_eq!((heard, group), (0, None));
    let (heard, group, page) = looks("-c 1 -T 1 --warmup 3s");
    if let Some(group) = group {
        let row = &group["rows"][0];
        assert_eq!(
            (&row["labels"]["event_type"], &row["labels"]["event"]),
            (&"Lock".into(), &"tuple".into())
        );
        let seen = row["figures"]["looks"]["after"].as_f64().unwrap();
        assert!(seen >= 1.0 && seen <= heard as f64, "{seen} of {heard} looks");
        assert_eq!(row["figures"]["sessions_mean"]["after"].as_f64(), Some(3.0));
        assert!(page.contains("waits in the warm-up: Lock:tuple 100 %"), "{page}");
    }
}
