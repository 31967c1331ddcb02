//! What each kind of error does to its transaction, for every dialect.

use crate::dialects::{NAMES, part};
use crate::server::{Answer, Fake};
use crate::{run, target};

/// Where an error comes.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Statement,
    Commit,
}

/// What becomes of the transaction.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    Again,
    Failed,
    Unknown,
}

/// Errors as the database's documents print them, and what they mean.
fn errors(name: &str) -> Vec<(At, Then, &'static str, &'static str)> {
    use At::{Commit, Statement};
    use Then::{Again, Failed, Unknown};
    let mut all = vec![(Statement, Failed, "23505", "duplicate key value violates t_pkey")];
    all.extend(match name {
        "cockroachdb" => vec![
            (Commit, Again, "40001", "restart transaction: TransactionRetryWithProtoRefreshError"),
            (Statement, Again, "40001", "restart transaction: WriteTooOldError"),
            (Commit, Unknown, "40003", "result is ambiguous: error=rpc error"),
        ],
        "yugabytedb" => vec![
            (Statement, Again, "40001", "could not serialize access due to concurrent update"),
            (Statement, Again, "40P01", "deadlock detected (query layer retry isn't possible)"),
            (Commit, Again, "XX000", "Operation failed. Try again: Unknown transaction"),
            (Commit, Unknown, "XX000", "Timed out: UpdateTransaction RPC"),
        ],
        "aurora-dsql" => vec![
            (Commit, Again, "40001", "change conflicts with another transaction (OC000)"),
            (Statement, Again, "40001", "schema has been updated by another transaction (OC001)"),
        ],
        "aurora-limitless" => vec![
            (Statement, Again, "40001", "could not serialize access due to concurrent update"),
            (
                Statement,
                Again,
                "XX000",
                "aborting transaction participating in a distributed deadlock",
            ),
        ],
        "citus" => vec![
            (
                Statement,
                Again,
                "40P01",
                "canceling the transaction since it was involved in a distributed deadlock",
            ),
            (Statement, Failed, "08006", "connection to the remote node w1:5432 failed"),
            (
                Commit,
                Unknown,
                "XX000",
                "could not commit transaction for shard 102008 on at least one active node",
            ),
        ],
        _ => vec![
            (Statement, Again, "40001", "could not serialize access due to concurrent update"),
            (Statement, Again, "40P01", "deadlock detected"),
            (Commit, Again, "40001", "could not serialize access"),
            (Commit, Unknown, "08007", "transaction resolution unknown"),
        ],
    });
    all
}

/// Each error is tried again, counted as failed, or counted as unknown, as the
/// dialect says; a connection that is lost during COMMIT leaves the outcome
/// open and is never tried again. Nothing else is lost: the server heard as
/// many commits as the record accounts for.
#[test]
fn errors_mean_what_the_dialect_says() {
    const TRANSACTIONS: u64 = 12;
    for name in NAMES {
        let cases = errors(name);
        let mut server = part(name);
        for (at, _, sqlstate, message) in &cases {
            let place = if *at == At::Commit { "END" } else { "UPDATE t" };
            server = server.times(1, place, Answer::Error(sqlstate, (*message).to_owned()));
        }
        server = server.times(1, "END", Answer::HangUp);
        let server = Fake::start(server);
        let words =
            format!("-c 1 -t {TRANSACTIONS} --max-tries 9 --continue-on-error --reconnect-lost");
        let said = run(&target(&[server.port]), &words).exits(0);
        assert_eq!(said.record["target"]["dialect"], name);
        let meant = |then| cases.iter().filter(|(_, meant, ..)| *meant == then).count() as u64;
        let (again, failed, unknown) =
            (meant(Then::Again), meant(Then::Failed), meant(Then::Unknown) + 1);
        assert_eq!(said.count("retries"), again, "{name}: {}", said.out);
        assert_eq!(said.count("failed"), failed, "{name}: {}", said.out);
        assert_eq!(said.count("unknown"), unknown, "{name}: {}", said.out);
        assert_eq!(said.count("committed"), TRANSACTIONS - failed - unknown, "{name}");
        let refused = cases.iter().filter(|(at, ..)| *at == At::Commit).count() as u64 + 1;
        assert_eq!(server.heard("END") as u64, said.count("committed") + refused, "{name}");
        assert_eq!(said.record["connections"]["lost"], 1, "{name}");
        assert_eq!(said.record["connections"]["setup"]["count"], 2, "{name}");
    }
}

/// Without leave to connect again, a client ends with its connection: the
/// commit is unknown, the run is told to be aborted, and nothing is repeated.
#[test]
fn a_lost_connection_ends_its_client() {
    let server = Fake::start(part("postgres").times(1, "END", Answer::HangUp));
    let said = run(&target(&[server.port]), "-c 1 -t 5 --max-tries 9").exits(2);
    assert_eq!((said.count("unknown"), said.count("committed")), (1, 0));
    assert_eq!(said.record["ended"]["clients_aborted"], 1);
    assert_eq!(server.heard("END"), 1);
}

/// A server that says that it does not know what became of a commit, and then
/// goes away, leaves the outcome open, although its words are no FATAL ones.
#[test]
fn last_words_may_leave_the_outcome_open() {
    let words = "result is ambiguous: error=rpc error".to_owned();
    let server =
        Fake::start(part("cockroachdb").times(1, "END", Answer::LastWords("40003", words)));
    let said = run(&target(&[server.port]), "-c 1 -t 5 --max-tries 9 --reconnect-lost").exits(0);
    assert_eq!((said.count("unknown"), said.count("failed")), (1, 0), "{}", said.out);
    assert_eq!((said.count("committed"), server.heard("END")), (4, 5));
}
