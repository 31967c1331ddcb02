//! What `pgdyno run` says of a TPC-C run, in words and in its record.

use std::path::Path;

use pgdyno_target::EmbeddedServer;

use crate::full_speed::SECONDS;
use crate::{audits_passed, pgdyno};

/// Of half a minute or more; others than the clients are few on this server.
const DATABASE_TOLERANCE: f64 = 0.1;

/// Assertion 24: new orders and transactions a minute follow from the counts,
/// the shares make a whole, the mix is that of decks, rollbacks are no
/// failures, and transactions that were skipped are no part of the mix; the name
/// that belongs to the TPC stands nowhere.
pub(crate) fn what_a_run_says(server: &EmbeddedServer) {
    let options = server.options_tcp();
    let host = &options.hosts[0];
    let uri = format!("postgresql://{}@127.0.0.1:{}/{}", options.user, host.port, options.dbname);
    let password = host.password.as_ref().unwrap().reveal();
    let folder = tempfile::tempdir().unwrap();
    for form in ["0", "1"] {
        // 23 cards for each client, and so whole decks.
        let words = format!(
            "run --workload tpcc -c 4 -t 92 --max-tries 1000 --param procs={form} --json run.json"
        );
        let (code, out, err) = pgdyno(folder.path(), &uri, password, &words);
        assert_eq!(code, 0, "{out}\n{err}");
        assert!(out.contains("NOPM") && out.contains("TPC-C-derived"), "{out}");
        assert!(!out.contains("tpmC") && !err.contains("tpmC"));
        judge(&record(folder.path()));
    }
    if let Ok(seconds) = std::env::var(SECONDS) {
        let words =
            format!("run --workload tpcc -c 4 --time {seconds} --max-tries 1000 --json run.json");
        let (code, out, err) = pgdyno(folder.path(), &uri, password, &words);
        assert_eq!(code, 0, "{out}\n{err}");
        judge_database(&record(folder.path()));
        // By two names: statistics of one server are not those of the run.
        let one = format!("127.0.0.1:{}", host.port);
        let two = uri.replace(&one, &format!("{one},localhost:{}", host.port));
        let (code, out, err) = pgdyno(folder.path(), &two, password, &words);
        assert_eq!(code, 0, "{out}\n{err}");
        let tpcc = &record(folder.path())["tpcc"];
        assert!(tpcc["nopm_database"].as_f64() > Some(0.0), "{tpcc}");
        assert!(tpcc["tpm_database"].is_null(), "{tpcc}");
    }
    // All are due within four milliseconds: whoever has run some is late for the
    // rest. A machine that stalls just then is late for all, and commits none.
    let words = "run --workload tpcc -c 4 -t 920 --max-tries 1000 --rate 1000000 \
                 --latency-limit 20 --json run.json";
    let (code, out, err) = pgdyno(folder.path(), &uri, password, words);
    let record = record(folder.path());
    let count = |name: &str| record["totals"]["counts"][name].as_u64().unwrap();
    assert!(code == 0 || (code == 2 && count("committed") == 0), "{out}\n{err}");
    assert!(count("skipped") > 920, "{}", count("skipped"));
    audits_passed(&record);
    let words = "run --workload tpcc -c 1 -t 1 --param think=1 --rate 5";
    let (code, out, err) = pgdyno(folder.path(), &uri, password, words);
    assert_eq!(code, 1, "{out}\n{err}");
    assert!(err.contains("leave out --rate"), "{err}");
}

/// The database's own figures are there, and near the clients': of a run that
/// is long enough for its ends not to matter.
fn judge_database(record: &serde_json::Value) {
    let tpcc = &record["tpcc"];
    for (own, database) in [("nopm", "nopm_database"), ("tpm", "tpm_database")] {
        let figure = |name: &str| tpcc[name].as_f64().unwrap();
        let ratio = figure(database) / figure(own);
        eprintln!("{own} {}, {database} {}", figure(own), figure(database));
        assert!((ratio - 1.0).abs() < DATABASE_TOLERANCE, "{database}: {ratio} of {own}");
    }
}

fn record(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn judge(record: &serde_json::Value) {
    audits_passed(record);
    let tpcc = &record["tpcc"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert_eq!((&tpcc["profile"], &tpcc["warehouses"]), (&"faithful".into(), &1.into()));
    assert!(tpcc["label"].as_str().unwrap().contains("no result in the sense of the TPC"));
    let types = tpcc["types"].as_array().unwrap();
    let completed: Vec<u64> =
        types.iter().map(|kind| kind["completed"].as_u64().unwrap()).collect();
    assert_eq!(completed, [160, 160, 16, 16, 16]);
    let shares: f64 = types.iter().map(|kind| number(&kind["share_percent"])).sum();
    assert!((shares - 100.0).abs() < 1e-6, "{shares}");
    for kind in types {
        assert!(number(&kind["share_percent"]) >= number(&kind["share_percent_min"]), "{kind}");
    }
    let minutes = number(&record["totals"]["seconds"]) / 60.0;
    let rolled_back = number(&tpcc["rolled_back"]);
    assert!((number(&tpcc["nopm"]) * minutes - (160.0 - rolled_back)).abs() < 0.01, "{tpcc}");
    assert!((number(&tpcc["tpm"]) * minutes - 368.0).abs() < 0.01, "{tpcc}");
    assert!(tpcc["efficiency_percent"].is_null());
    let lines = number(&tpcc["counters"]["order_lines"]);
    assert!((5.0..=15.0).contains(&(lines / (160.0 - rolled_back))), "{tpcc}");
    assert_eq!(number(&record["totals"]["counts"]["failed"]), 0.0);
}
