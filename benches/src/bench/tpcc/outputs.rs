//! What the tools say of a run: how many transactions, and new orders a minute.

use serde_json::Value;

/// What a tool said; what it did not say is none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Said {
    pub(super) transactions: Option<u64>,
    pub(super) nopm: Option<f64>,
}

/// pgbench's report.
pub(super) fn pgbench(text: &str) -> Said {
    let count = number_after(text, "transactions actually processed:");
    Said { transactions: count.map(|count| count as u64), nopm: None }
}

/// The record that `pgdyno run --json` writes. Rollbacks on purpose are
/// transactions.
pub(super) fn pgdyno(record: &str) -> Said {
    let record: Value = serde_json::from_str(record).unwrap_or_default();
    let tpcc = &record["tpcc"];
    let transactions = tpcc["types"]
        .as_array()
        .map(|types| types.iter().filter_map(|kind| kind["completed"].as_u64()).sum());
    Said { transactions, nopm: tpcc["nopm"].as_f64() }
}

/// go-tpc's plain output: the lines of its summary that are of no errors.
pub(super) fn go_tpc(text: &str) -> Said {
    let counts = text.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("[Summary] ")?.split_once(" - ")?;
        let count = number_after(rest, "Count:")?;
        (!name.ends_with("_ERR")).then_some(count as u64)
    });
    let counts: Vec<u64> = counts.collect();
    Said {
        transactions: (!counts.is_empty()).then(|| counts.iter().sum()),
        nopm: number_after(text, "tpmC:"),
    }
}

/// HammerDB's line of results. It counts no transactions of its own: its TPM
/// are those of the whole server.
pub(super) fn hammerdb(text: &str) -> Said {
    Said { transactions: None, nopm: number_after(text, "System achieved ") }
}

/// HammerDB's version, from the first line that it prints.
pub(super) fn hammerdb_version(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("HammerDB CLI "))?;
    Some(line.trim().to_owned())
}

/// BenchBase's log. It has no new orders a minute.
pub(super) fn benchbase(text: &str) -> Said {
    let count = number_after(text, "measuredRequests=");
    Said { transactions: count.map(|count| count as u64), nopm: None }
}

/// Why a run that ended with 0 is none: these tools say so in words only.
pub(super) fn complaint(text: &str) -> Option<&str> {
    const WORDS: [&str; 4] =
        ["Error in Virtual User", "FINISHED FAILED", "panic: ", "failed to ping db"];
    text.lines().find(|line| WORDS.iter().any(|words| line.contains(words)))
}

/// The number behind the first place where `label` stands.
fn number_after(text: &str, label: &str) -> Option<f64> {
    let rest = text.split_once(label)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// go-tpc: errors are no transactions, the last line has the rate.
    #[test]
    fn reads_go_tpc() {
        let text = "Finished\n\
            [Summary] DELIVERY - Takes(s): 7.9, Count: 115, TPM: 873.3, Sum(ms): 8498.7\n\
            [Summary] DELIVERY_ERR - Takes(s): 7.9, Count: 2, TPM: 15.2, Sum(ms): 388.0\n\
            [Summary] NEW_ORDER - Takes(s): 7.9, Count: 1355, TPM: 10248.2, Sum(ms): 48398.7\n\
            tpmC: 10247.6, tpmTotal: 23165.1, efficiency: 39843.0%\n";
        assert_eq!(go_tpc(text), Said { transactions: Some(1470), nopm: Some(10_247.6) });
        assert_eq!(go_tpc("Finished\n"), Said::default());
    }

    /// HammerDB: the line of results among those of its users, the version.
    #[test]
    fn reads_hammerdb() {
        let text = "HammerDB CLI v4.12\nVuser 1:Test complete, Taking end Transaction Count.\n\
            Vuser 1:2 Active Virtual Users configured\n\
            Vuser 1:TEST RESULT : System achieved 7021 NOPM from 16236 PostgreSQL TPM\n";
        assert_eq!(hammerdb(text), Said { transactions: None, nopm: Some(7021.0) });
        assert_eq!(hammerdb_version(text).as_deref(), Some("HammerDB CLI v4.12"));
        assert_eq!(complaint(text), None);
        let failed = "Error in Virtual User 1: connection refused\nVuser 1:FINISHED FAILED\n";
        assert!(complaint(failed).is_some());
    }

    /// BenchBase: the requests of the line of results.
    #[test]
    fn reads_benchbase() {
        let text = "[INFO ] 2026-11-21 09:36:08,541 [main]  com.oltpbenchmark.DBWorkload \
            runWorkload - Rate limited reqs/s: Results(nanoSeconds=8000061417, \
            measuredRequests=2842) = 355.2 requests/sec (throughput), 352.9 requests/sec (goodput)";
        assert_eq!(benchbase(text), Said { transactions: Some(2842), nopm: None });
    }

    /// pgdyno's record: all types together, new orders a minute as they stand.
    #[test]
    fn reads_the_record() {
        let record = r#"{"tpcc": {"nopm": 12.5, "types": [{"completed": 3}, {"completed": 4}]}}"#;
        assert_eq!(pgdyno(record), Said { transactions: Some(7), nopm: Some(12.5) });
        assert_eq!(pgdyno("{}"), Said::default());
        assert_eq!(pgdyno("no record"), Said::default());
    }

    /// pgbench's count, with and without the number that was asked for.
    #[test]
    fn reads_pgbench() {
        let text = "number of transactions actually processed: 400/400\n";
        assert_eq!(pgbench(text).transactions, Some(400));
        assert_eq!(pgbench("pgbench: error").transactions, None);
    }
}
