//! What databases say that single statements cost, around a run.

use serde_json::Value;

use crate::dialects::part;
use crate::server::{Answer, Fake};
use crate::{run, target};

/// A database that explains the script's one statement that can be explained.
struct Told {
    dialect: &'static str,
    /// The beginning of the question.
    explain: &'static str,
    /// The end of the plan, as the manual shows it.
    plan: &'static [&'static str],
    figures: &'static [(&'static str, f64)],
    /// What the summary says of it.
    summary: &'static str,
}

const ALL: [Told; 5] = [
    Told {
        dialect: "aurora-dsql",
        explain: "EXPLAIN ANALYZE VERBOSE UPDATE t",
        plan: &[
            "Update on public.t  (cost=100.17..104.18 rows=0 width=0)",
            "Statement DPU Estimate:",
            "  Compute: 0.01607 DPU",
            "  Read: 0.04312 DPU",
            "  Write: 0.00500 DPU",
            "  Total: 0.06419 DPU",
        ],
        figures: &[("total_dpu", 0.06419), ("write_dpu", 0.005)],
        summary: "0.06419 DPU (estimate)",
    },
    Told {
        dialect: "yugabytedb",
        explain: "EXPLAIN (ANALYZE, DIST, COSTS OFF) UPDATE t",
        plan: &[" Storage Read Requests: 1", " Storage Write Requests: 2"],
        figures: &[("storage_read_requests", 1.0), ("storage_write_requests", 2.0)],
        summary: "1 reads, 2 writes of storage",
    },
    Told {
        dialect: "citus",
        explain: "EXPLAIN UPDATE t",
        plan: &["Custom Scan (Citus Adaptive)", "  Task Count: 32"],
        figures: &[("tasks", 32.0)],
        summary: "32 tasks for 1 statement",
    },
    Told {
        dialect: "aurora-limitless",
        explain: "EXPLAIN UPDATE t",
        plan: &["Foreign Scan", " Single Shard Optimized"],
        figures: &[("single_shard", 1.0)],
        summary: "1 of 1 statement on one shard",
    },
    Told {
        dialect: "cockroachdb",
        explain: "EXPLAIN ANALYZE UPDATE t",
        plan: &["distribution: local", "rows decoded from KV: 1 (64 B, 2 KVs, 1 gRPC calls)"],
        figures: &[("kv_rows", 1.0), ("is_distributed", 0.0)],
        summary: "",
    },
];

/// Each statement of a transaction is explained once, after the run, in a
/// transaction that is taken back, and its cost is in the record.
#[test]
fn statements_are_explained_after_the_run() {
    for Told { dialect, explain, plan, figures, summary } in ALL {
        let rows = plan.iter().map(|line| vec![Some((*line).to_owned())]).collect();
        let server = Fake::start(part(dialect).always(explain, Answer::Rows(rows)));
        let said = run(&target(&[server.port]), "-c 2 -t 3").exits(0);
        let plans = &said.record["target_statistics"]["plans"];
        assert_eq!(plans.as_array().map(Vec::len), Some(1), "{dialect}: {}", said.record);
        for (name, figure) in figures {
            assert_eq!(plans[0]["figures"][*name], Value::from(*figure), "{dialect}: {plans}");
        }
        let page = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(summary), "{dialect}: {}", said.out);
        // Those of the run, and the one that was taken back.
        assert_eq!((server.heard("END"), server.heard(explain)), (6, 1), "{dialect}");
        assert_eq!(server.heard("ROLLBACK"), 1, "{dialect}");
        let off = run(&target(&[server.port]), "-c 1 -t 1 --target-stats off").exits(0);
        assert!(off.record["target_statistics"].is_null(), "{dialect}");
        assert_eq!(server.heard(explain), 1, "{dialect}");
    }
}
