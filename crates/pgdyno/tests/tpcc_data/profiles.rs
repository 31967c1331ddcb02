//! Runs with parameters that are not the default: HammerDB's transactions in
//! both forms, and clients that use all warehouses.

use std::path::Path;

use assert_cmd::Command;
use pgdyno_target::{EmbeddedServer, postgres};
use pgdyno_wire::Connection;
use pgdyno_workload::{Session, Workload};

use crate::{value, violated};

/// Runs pgdyno, whose audits must pass; gives its record.
fn run(server: &EmbeddedServer, folder: &Path, words: &str) -> serde_json::Value {
    let options = server.options_tcp();
    let host = &options.hosts[0];
    let uri = format!("postgresql://{}@127.0.0.1:{}/{}", options.user, host.port, options.dbname);
    let output = Command::cargo_bin("pgdyno")
        .unwrap()
        .current_dir(folder)
        .args(["run", &uri, "--workload", "tpcc", "--json", "run.json"])
        .args(words.split_whitespace())
        .env("PGPASSWORD", host.password.as_ref().unwrap().reveal())
        .output()
        .unwrap();
    assert!(output.status.success(), "{words}\n{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.join("run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["totals"]["counts"]["failed"], 0, "{words}");
    let audits = record["audits"].as_array().unwrap();
    assert!(!audits.is_empty());
    for audit in audits {
        assert_ne!(audit["outcome"], "failed", "{words}: {audit}");
    }
    record
}

/// What HammerDB's transactions leave as it is.
const LEFT_ALONE: &str = "SELECT concat_ws(' ', sum(s_ytd), sum(s_order_cnt), sum(s_remote_cnt), \
     (SELECT concat_ws(' ', sum(c_ytd_payment), sum(c_payment_cnt), sum(c_delivery_cnt)) \
     FROM customer)) FROM stock";

/// Each of HammerDB's five transactions is run, as SQL of the client and as a
/// routine: the audits pass, the conditions that are asked hold, six counters
/// are left alone, amounts hold tax and discount, and nothing is rolled back.
pub(crate) fn hammerdbs_work_in_both_forms(
    server: &EmbeddedServer,
    session: &mut Connection,
    workload: &dyn Workload,
) {
    let folder = tempfile::tempdir().unwrap();
    let counters = value(session, LEFT_ALONE);
    for words in ["--param procs=0", "--param procs=1 --param allwarehouse=1"] {
        // The types are drawn from the seed: each comes up.
        let words = format!(
            "-c 2 -t 92 --seed 5 --max-tries 1000 --audit full --param profile=hammerdb {words}"
        );
        let orders = "SELECT count(*) FROM orders WHERE o_id > 3000";
        let before: u64 = value(session, orders).parse().unwrap();
        let record = run(server, folder.path(), &words);
        let types = record["tpcc"]["types"].as_array().unwrap();
        let completed: Vec<u64> =
            types.iter().map(|kind| kind["completed"].as_u64().unwrap()).collect();
        assert!(completed.iter().all(|n| *n > 0), "{completed:?}");
        assert_eq!(completed.iter().sum::<u64>(), 2 * 92);
        assert_eq!(record["tpcc"]["rolled_back"], 0);
        let after: u64 = value(session, orders).parse().unwrap();
        assert_eq!(after - before, completed[0]);
        assert_eq!(value(session, LEFT_ALONE), counters, "{words}");
        assert_eq!(violated(session, workload, postgres()), Vec::<&str>::new(), "{words}");
    }
    let differing = "SELECT count(*) FROM order_line JOIN item ON i_id = ol_i_id \
         JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
         JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id \
         JOIN district ON d_w_id = o_w_id AND d_id = o_d_id JOIN warehouse ON w_id = o_w_id \
         WHERE ol_o_id > 3000 AND ol_amount IS DISTINCT FROM \
         round(ol_quantity * i_price * (1 + w_tax + d_tax) * (1 - c_discount), 2)";
    assert_eq!(value(session, differing), "0");
}

/// One client with `allwarehouse=1` enters orders in both warehouses; without,
/// in its home alone.
pub(crate) fn one_client_uses_all_warehouses(server: &EmbeddedServer, session: &mut Connection) {
    let folder = tempfile::tempdir().unwrap();
    for (words, warehouses) in [("--param allwarehouse=0", 1), ("--param allwarehouse=1", 2)] {
        let count = "SELECT count(*) FROM orders GROUP BY o_w_id ORDER BY o_w_id";
        let (_, before) = Session::query(session, count).unwrap();
        run(server, folder.path(), &format!("-c 1 -t 46 --seed 5 {words}"));
        let (_, after) = Session::query(session, count).unwrap();
        let grown = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        assert_eq!((after.len(), grown), (2, warehouses), "{words}");
    }
}
