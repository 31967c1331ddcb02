//! The statements of an initialization, as text.
//!
//! Their wording is pgbench's to the blank: a failing statement is shown in the
//! message (`Query was: …`), and people compare server logs. Nothing here
//! executes anything.

use crate::pgbench::plan::{InitPlan, Partitions};
use crate::pgbench::typed::PartitionMethod;

/// From this scale on account numbers do not fit 32 bits.
const BIGINT_SCALE_MIN: u32 = 20_000;

/// Rows of pgbench_accounts for one unit of scale.
pub const ACCOUNTS_PER_SCALE: u64 = 100_000;
/// Rows of pgbench_tellers for one unit of scale.
pub const TELLERS_PER_SCALE: u64 = 10;

/// Step `d`.
pub const DROP_TABLES: &str =
    "drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

/// Before step `g` or `G` fills the tables, within the same transaction.
pub const TRUNCATE_TABLES: &str =
    "truncate table pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

/// Step `v`.
pub const VACUUM: [&str; 4] = [
    "vacuum analyze pgbench_branches",
    "vacuum analyze pgbench_tellers",
    "vacuum analyze pgbench_accounts",
    "vacuum analyze pgbench_history",
];

/// Step `f`.
pub const FOREIGN_KEYS: [&str; 5] = [
    "alter table pgbench_tellers add constraint pgbench_tellers_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_accounts add constraint pgbench_accounts_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_history add constraint pgbench_history_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_history add constraint pgbench_history_tid_fkey foreign key (tid) references pgbench_tellers",
    "alter table pgbench_history add constraint pgbench_history_aid_fkey foreign key (aid) references pgbench_accounts",
];

/// Step `t` without the partitions.
#[must_use]
pub fn create_tables(plan: &InitPlan) -> Vec<String> {
    // The blanks keep both variants of the statement equally long, as pgbench's are.
    let aid = if plan.scale >= BIGINT_SCALE_MIN { "bigint" } else { "   int" };
    let unlogged = if plan.unlogged && plan.partitions.is_none() { " unlogged" } else { "" };
    let tablespace =
        plan.tablespace.as_deref().map(|name| format!(" tablespace {}", quote_identifier(name)));
    let tablespace = tablespace.as_deref().unwrap_or("");
    let fillfactor = format!(" with (fillfactor={})", plan.fillfactor);
    let accounts_end = match plan.partitions {
        Some(Partitions { method: PartitionMethod::Range, .. }) => " partition by range (aid)",
        Some(Partitions { method: PartitionMethod::Hash, .. }) => " partition by hash (aid)",
        None => fillfactor.as_str(),
    };
    [
        (
            "pgbench_history",
            format!("tid int,bid int,aid {aid},delta int,mtime timestamp,filler char(22)"),
            "",
        ),
        (
            "pgbench_tellers",
            "tid int not null,bid int,tbalance int,filler char(84)".to_owned(),
            fillfactor.as_str(),
        ),
        (
            "pgbench_accounts",
            format!("aid {aid} not null,bid int,abalance int,filler char(84)"),
            accounts_end,
        ),
        (
            "pgbench_branches",
            "bid int not null,bbalance int,filler char(88)".to_owned(),
            fillfactor.as_str(),
        ),
    ]
    .into_iter()
    .map(|(table, columns, end)| {
        format!("create{unlogged} table {table}({columns}){end}{tablespace}")
    })
    .collect()
}

/// The partitions of step `t`.
pub fn create_partitions(plan: &InitPlan) -> impl Iterator<Item = String> + '_ {
    let unlogged = if plan.unlogged { " unlogged" } else { "" };
    let rows = ACCOUNTS_PER_SCALE * u64::from(plan.scale);
    plan.partitions.into_iter().flat_map(move |Partitions { count, method }| {
        let size = rows.div_ceil(u64::from(count));
        (1..=count).map(move |part| {
            let values = match method {
                PartitionMethod::Hash => format!("with (modulus {count}, remainder {})", part - 1),
                PartitionMethod::Range => {
                    let start = u64::from(part - 1) * size + 1;
                    let from = if part == 1 { "minvalue".to_owned() } else { start.to_string() };
                    let to = match part == count {
                        true => "maxvalue".to_owned(),
                        false => (start + size).to_string(),
                    };
                    format!("from ({from}) to ({to})")
                }
            };
            format!(
                "create{unlogged} table pgbench_accounts_{part}\n  partition of pgbench_accounts\n  \
                 for values {values} with (fillfactor={})",
                plan.fillfactor
            )
        })
    })
}

/// Step `p`.
#[must_use]
pub fn primary_keys(plan: &InitPlan) -> Vec<String> {
    let tablespace = plan.index_tablespace.as_deref().map_or_else(String::new, |name| {
        format!(" using index tablespace {}", quote_identifier(name))
    });
    [("pgbench_branches", "bid"), ("pgbench_tellers", "tid"), ("pgbench_accounts", "aid")]
        .into_iter()
        .map(|(table, key)| format!("alter table {table} add primary key ({key}){tablespace}"))
        .collect()
}

/// Step `G` after the truncation.
#[must_use]
pub fn generate_server_side(scale: u32) -> [String; 3] {
    let scale = u64::from(scale);
    [
        format!(
            "insert into pgbench_branches(bid,bbalance) select bid, 0 from generate_series(1, {scale}) as bid"
        ),
        format!(
            "insert into pgbench_tellers(tid,bid,tbalance) select tid, (tid - 1) / {TELLERS_PER_SCALE} + 1, 0 \
             from generate_series(1, {}) as tid",
            scale * TELLERS_PER_SCALE
        ),
        format!(
            "insert into pgbench_accounts(aid,bid,abalance,filler) select aid, (aid - 1) / {ACCOUNTS_PER_SCALE} + 1, 0, '' \
             from generate_series(1, {}) as aid",
            scale * ACCOUNTS_PER_SCALE
        ),
    ]
}

/// An identifier in double quotes, whatever is in it.
fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgbench::plan::InitPlan;

    fn plan() -> InitPlan {
        InitPlan {
            steps: Vec::new(),
            scale: 1,
            fillfactor: 100,
            quiet: false,
            tablespace: None,
            index_tablespace: None,
            partitions: None,
            unlogged: false,
        }
    }

    /// `unlogged` goes to the partitions only, and a tablespace to everything but them.
    #[test]
    fn options_reach_their_tables() {
        let mut plan = plan();
        plan.unlogged = true;
        plan.tablespace = Some("a \"b\"".into());
        assert!(create_tables(&plan).iter().all(|sql| sql.starts_with("create unlogged table ")));
        plan.partitions = Some(Partitions { count: 2, method: PartitionMethod::Hash });
        for sql in create_tables(&plan) {
            assert!(sql.starts_with("create table "), "{sql}");
            assert!(sql.ends_with(" tablespace \"a \"\"b\"\"\""), "{sql}");
        }
        for sql in create_partitions(&plan) {
            assert!(sql.starts_with("create unlogged table "), "{sql}");
            assert!(!sql.contains("tablespace"), "{sql}");
        }
    }

    /// Ranges cover every account exactly once, ends open.
    #[test]
    fn ranges_touch() {
        for count in [1, 2, 3, 7] {
            let mut plan = plan();
            plan.partitions = Some(Partitions { count, method: PartitionMethod::Range });
            let bounds: Vec<(String, String)> = create_partitions(&plan)
                .map(|sql| {
                    let (_, rest) = sql.split_once("from (").expect("a lower bound");
                    let (from, rest) = rest.split_once(") to (").expect("an upper bound");
                    let (to, _) = rest.split_once(')').expect("its end");
                    (from.to_owned(), to.to_owned())
                })
                .collect();
            assert_eq!(bounds.len(), count as usize);
            assert_eq!(bounds[0].0, "minvalue");
            assert_eq!(bounds[bounds.len() - 1].1, "maxvalue");
            for pair in bounds.windows(2) {
                assert_eq!(pair[0].1, pair[1].0);
            }
        }
    }

    /// Large scales need 64-bit account numbers.
    #[test]
    fn bigint_from_scale_20000() {
        let mut plan = plan();
        assert!(create_tables(&plan)[2].contains("(aid    int not null"));
        plan.scale = BIGINT_SCALE_MIN;
        assert!(create_tables(&plan)[0].contains(",aid bigint,"));
        assert!(create_tables(&plan)[2].contains("(aid bigint not null"));
    }
}
