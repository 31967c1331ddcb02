//! What sessions wait for: counts that a server keeps, and samples where it
//! keeps none.
//!
//! PostgreSQL shows the wait of each session at one moment and counts nothing.
//! Whoever wants a count has to look again and again under load. That is done
//! by an extension, by the vendor, or by [`WaitSamples`] before the measured
//! interval begins.

use std::collections::BTreeMap;

use pgdyno_record::TargetStatistics;
use pgdyno_wire::Connection;

use super::read::first_line;
use super::{StatisticsFigure, StatisticsGroup, StatisticsKind, StatisticsQuery, StatisticsRow};

/// Sessions of clients at work in this database, by what they wait for. One
/// that waits for nothing is on a processor, or waits for one.
pub(crate) const NOW: &str = "SELECT coalesce(wait_event_type, 'CPU'), \
    coalesce(wait_event, 'none'), count(*) FROM pg_catalog.pg_stat_activity \
    WHERE state = 'active' AND backend_type = 'client backend' \
    AND datname = current_database() AND pid <> pg_backend_pid() GROUP BY 1, 2";

/// What an extension or a vendor counts, of the server that is asked alone. The
/// views of Limitless are of all its nodes.
const COUNTED: [&str; 3] = [EXTENSION_VIEW, AURORA_VIEW, YUGABYTEDB_VIEW];
const EXTENSION_VIEW: &str = "pg_wait_sampling_profile";
const AURORA_VIEW: &str = "aurora_stat_system_waits";
const YUGABYTEDB_VIEW: &str = "yb_active_session_history";

/// True for a view that counts waits of the server that is asked alone.
pub(super) fn is_of_one_server(view: &str) -> bool {
    COUNTED.contains(&view)
}

/// True for the extension's view, which makes samples of one's own needless.
pub(super) fn is_of_extension(view: &str) -> bool {
    view == EXTENSION_VIEW
}

/// Events kept.
const EVENTS_MAX: usize = 20;

/// The group of what was sampled in the warm-up.
const GROUP: &str = "wait_events_in_warmup";

/// The extension `pg_wait_sampling` takes a sample of all sessions every 10 ms
/// by default, and counts. Without those of servers that have nothing to do.
pub(crate) fn sampled_by_extension() -> StatisticsQuery {
    StatisticsQuery::counters(
        EXTENSION_VIEW,
        "SELECT coalesce(event_type, 'CPU') AS event_type, coalesce(event, 'none') AS event, \
         sum(count) AS samples FROM pg_wait_sampling_profile \
         WHERE event_type IS DISTINCT FROM 'Activity' GROUP BY 1, 2",
    )
    .labelled(&["event_type", "event"])
    .top(EVENTS_MAX, &["samples"])
    .of_extension("pg_wait_sampling")
}

/// Counts and times of Aurora PostgreSQL, of the instance that is asked (Amazon
/// Aurora User Guide, `aurora_stat_system_waits`). Times are in µs. Background
/// processes with nothing to do wait all day: without their `Activity`.
pub(crate) fn aurora() -> StatisticsQuery {
    StatisticsQuery::counters(
        AURORA_VIEW,
        "SELECT type_name, event_name, waits, wait_time AS wait_us \
         FROM aurora_stat_system_waits() NATURAL JOIN aurora_stat_wait_event() \
         NATURAL JOIN aurora_stat_wait_type() WHERE type_name <> 'Activity'",
    )
    .labelled(&["type_name", "event_name"])
    .top(EVENTS_MAX, &["wait_us"])
    .unverified()
}

/// The same of all routers and shards of Limitless.
pub(crate) fn limitless() -> StatisticsQuery {
    StatisticsQuery::counters(
        "limitless_stat_system_waits",
        "SELECT subcluster_id, subcluster_type, type_name, event_name, waits, \
         wait_time AS wait_us FROM rds_aurora.limitless_stat_system_waits \
         WHERE type_name <> 'Activity'",
    )
    .labelled(&["subcluster_id", "subcluster_type", "type_name", "event_name"])
    .top(EVENTS_MAX, &["wait_us"])
    .unverified()
}

/// The active session history of YugabyteDB: a buffer of samples, of the node
/// that is asked (`YugabyteDB` documentation, active session history; from
/// 2024.2 on).
pub(crate) fn yugabytedb() -> StatisticsQuery {
    StatisticsQuery::counters(
        YUGABYTEDB_VIEW,
        "SELECT wait_event_component, wait_event_class, wait_event_type, wait_event, \
         sum(sample_weight) AS samples FROM yb_active_session_history \
         WHERE sample_time > now() - INTERVAL '{seconds} seconds' GROUP BY 1, 2, 3, 4",
    )
    .labelled(&["wait_event_component", "wait_event_class", "wait_event_type", "wait_event"])
    .top(EVENTS_MAX, &["samples"])
    .unverified()
}

/// Names the server on all waits that are of one server alone, in the label
/// `node`: where a run goes to several, its waits are not those of all. Samples
/// are of `first`, what was read twice of `second`; where these are two servers
/// the differences mean nothing and are left out.
pub fn name_servers(all: &mut TargetStatistics, first: &str, second: &str) {
    if first != second {
        let is_left_out = |group: &StatisticsGroup| is_of_one_server(&group.name);
        all.notes.extend(all.groups.iter().filter(|group| is_left_out(group)).map(|group| {
            format!("{}: read at {first} before and at {second} afterwards", group.name)
        }));
        all.groups.retain(|group| !is_left_out(group));
    }
    for group in &mut all.groups {
        if group.name == GROUP || is_of_one_server(&group.name) {
            for row in &mut group.rows {
                row.labels.insert("node".to_owned(), first.to_owned());
            }
        }
    }
}

/// What sessions waited for at each of many moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitSamples {
    looks: u32,
    /// Type and name of the event; sessions, summed over all looks.
    sessions: BTreeMap<(String, String), u64>,
}

impl WaitSamples {
    /// Looks once more: one question.
    ///
    /// # Errors
    /// The first line of what went wrong.
    pub fn look(&mut self, connection: &mut Connection, sql: &str) -> Result<(), String> {
        let results = connection.simple_query(sql).map_err(|error| first_line(&error))?;
        self.add(results.iter().flat_map(|result| &result.rows));
        Ok(())
    }

    /// Counts the answer of one look: rows of type, event and sessions.
    pub fn add<'a>(&mut self, rows: impl Iterator<Item = &'a Vec<Option<String>>>) {
        self.looks += 1;
        for row in rows {
            let [Some(kind), Some(event), Some(count)] = row.as_slice() else { continue };
            let count = count.parse().unwrap_or(0);
            *self.sessions.entry((kind.clone(), event.clone())).or_default() += count;
        }
    }

    /// How many sessions waited for each event at a time, on average, the most
    /// frequent first; `None` without a look.
    #[must_use]
    pub fn group(&self) -> Option<StatisticsGroup> {
        let looks = f64::from(self.looks);
        let figure =
            |after| StatisticsFigure { before: None, after: Some(after), difference: None };
        let row = |((kind, event), sessions): (&(String, String), &u64)| {
            let labels = [("event_type", kind), ("event", event)];
            let figures = [
                ("samples", *sessions as f64),
                ("sessions_mean", *sessions as f64 / looks),
                ("looks", looks),
            ];
            StatisticsRow {
                labels: labels.map(|(name, text)| (name.to_owned(), text.clone())).into(),
                figures: figures.map(|(name, number)| (name.to_owned(), figure(number))).into(),
            }
        };
        let mut ranked: Vec<_> = self.sessions.iter().collect();
        ranked.sort_by_key(|(_, sessions)| std::cmp::Reverse(**sessions));
        let rows_left_out = ranked.len().saturating_sub(EVENTS_MAX) as u64;
        (self.looks > 0).then(|| StatisticsGroup {
            name: GROUP.to_owned(),
            kind: StatisticsKind::Values,
            verified: true,
            rows: ranked.into_iter().take(EVENTS_MAX).map(row).collect(),
            rows_left_out,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits of one server of several bear its name; differences of two servers
    /// are no figure.
    #[test]
    fn waits_bear_the_name_of_their_server() {
        let group = |name: &str| StatisticsGroup {
            name: name.to_owned(),
            kind: StatisticsKind::Counters,
            verified: true,
            rows: vec![StatisticsRow { labels: BTreeMap::new(), figures: BTreeMap::new() }],
            rows_left_out: 0,
        };
        let names = [AURORA_VIEW, GROUP, "pg_stat_wal"];
        let told = |second: &str| {
            let groups = names.iter().map(|name| group(name)).collect();
            let mut all = TargetStatistics { groups, ..TargetStatistics::default() };
            name_servers(&mut all, "a:1", second);
            let node = |group: &StatisticsGroup| group.rows[0].labels.get("node").cloned();
            let nodes: Vec<_> =
                all.groups.iter().map(|group| (group.name.clone(), node(group))).collect();
            (nodes, all.notes)
        };
        let at = |name: &str, node: Option<&str>| (name.to_owned(), node.map(str::to_owned));
        let (sampled, other) = (at(GROUP, Some("a:1")), at("pg_stat_wal", None));
        let counted = at(AURORA_VIEW, Some("a:1"));
        assert_eq!(told("a:1"), (vec![counted, sampled.clone(), other.clone()], vec![]));
        let note = "aurora_stat_system_waits: read at a:1 before and at b:2 afterwards";
        assert_eq!(told("b:2"), (vec![sampled, other], vec![note.to_owned()]));
    }

    /// Samples are means over all looks, those that saw nothing included.
    #[test]
    fn samples_are_means_over_all_looks() {
        let mut samples = WaitSamples::default();
        assert_eq!(samples.group(), None);
        let row = |kind: &str, event: &str, count: &str| {
            [kind, event, count].map(|text| Some(text.to_owned())).to_vec()
        };
        samples.add([row("IO", "WALSync", "1"), row("Lock", "tuple", "6")].iter());
        samples.add([row("Lock", "tuple", "3"), vec![None]].iter());
        samples.add([].iter());
        let group = samples.group().unwrap();
        let told: Vec<(&str, f64)> = group
            .rows
            .iter()
            .map(|row| (row.labels["event"].as_str(), row.figures["sessions_mean"].after.unwrap()))
            .collect();
        assert_eq!(told, [("tuple", 3.0), ("WALSync", 1.0 / 3.0)]);
        assert_eq!(group.rows[0].figures["looks"].after, Some(3.0));
    }
}
