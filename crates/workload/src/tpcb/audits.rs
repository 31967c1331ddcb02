//! The rules of pgbench's tables: what must be true after a run, and what a
//! clean base looks like.
//!
//! A `tpcb-like` transaction adds one delta to an account, a teller and a
//! branch and notes it in the history, so over any number of them the four
//! sums change alike and the history grows by one row for each commit. The
//! rules look at the change since the base and not at the sums themselves:
//! `pgbench` truncates the history when it starts, and that is no fault of a
//! later run.

use super::{Tpcb, Variant};
use crate::audit::read_figures;
use crate::error::{AccessError, ProbeError};
use crate::figures::{Commits, Figures, Finding, Verdict, judge_equal, judge_rows, judge_still};
use crate::session::Session;
use crate::workload::{Found, Workload};

const ACCOUNTS_SUM: &str = "sum(abalance)";
const TELLERS_SUM: &str = "sum(tbalance)";
const BRANCHES_SUM: &str = "sum(bbalance)";
const HISTORY_SUM: &str = "sum(delta)";
const ACCOUNTS_ROWS: &str = "rows in pgbench_accounts";
const TELLERS_ROWS: &str = "rows in pgbench_tellers";
const BRANCHES_ROWS: &str = "rows in pgbench_branches";
const HISTORY_ROWS: &str = "rows in pgbench_history";

/// The history's sum stands last: where there is no majority it is the
/// reference, as the one that is written by inserts only.
const SUMS: [&str; 4] = [ACCOUNTS_SUM, TELLERS_SUM, BRANCHES_SUM, HISTORY_SUM];
const FIXED_ROWS: [&str; 3] = [ACCOUNTS_ROWS, TELLERS_ROWS, BRANCHES_ROWS];

/// All figures in one statement, hence of one snapshot; each table is scanned
/// once.
pub(super) fn query() -> String {
    let part = |table: &str, column: &str| {
        format!("(SELECT count(*) AS n, coalesce(sum({column}), 0) AS s FROM {table})")
    };
    format!(
        "SELECT a.n AS \"{ACCOUNTS_ROWS}\", a.s AS \"{ACCOUNTS_SUM}\", \
         t.n AS \"{TELLERS_ROWS}\", t.s AS \"{TELLERS_SUM}\", \
         b.n AS \"{BRANCHES_ROWS}\", b.s AS \"{BRANCHES_SUM}\", \
         h.n AS \"{HISTORY_ROWS}\", h.s AS \"{HISTORY_SUM}\" \
         FROM {} a, {} t, {} b, {} h",
        part("pgbench_accounts", "abalance"),
        part("pgbench_tellers", "tbalance"),
        part("pgbench_branches", "bbalance"),
        part("pgbench_history", "delta"),
    )
}

/// The groups of sums that a variant keeps equal, each with the name of its rule.
const fn linked_sums(variant: Variant) -> &'static [(&'static str, &'static [&'static str])] {
    match variant {
        Variant::TpcbLike | Variant::Sharded | Variant::SingleStatement => &[("sums", &SUMS)],
        Variant::SimpleUpdate | Variant::NoAggregates => &[("sums", &[ACCOUNTS_SUM, HISTORY_SUM])],
        Variant::Mixed => {
            &[("sums", &[ACCOUNTS_SUM, HISTORY_SUM]), ("aggregates", &[TELLERS_SUM, BRANCHES_SUM])]
        }
        Variant::SelectOnly => &[],
    }
}

/// The sums that a variant must not change.
const fn still_sums(variant: Variant) -> &'static [&'static str] {
    match variant {
        Variant::TpcbLike | Variant::Sharded | Variant::SingleStatement | Variant::Mixed => &[],
        Variant::SimpleUpdate | Variant::NoAggregates => &[TELLERS_SUM, BRANCHES_SUM],
        Variant::SelectOnly => &SUMS,
    }
}

/// The commits that leave a row in the history each.
pub(super) fn writing(variant: Variant, commits: &[Commits]) -> Commits {
    // The selects come first in the mix.
    let reading = usize::from(variant == Variant::Mixed);
    commits.iter().skip(reading).copied().fold(Commits::default(), |sum, one| sum + one)
}

/// Judges tables at rest: row counts that fit the scale, and linked sums.
pub(super) fn judge_base(tpcb: &Tpcb, base: &Figures) -> Vec<Finding> {
    const NAME: &str = "clean base";
    let expected = [
        (ACCOUNTS_ROWS, tpcb.accounts()),
        (TELLERS_ROWS, tpcb.tellers()),
        (BRANCHES_ROWS, tpcb.scale()),
    ];
    let mut faults: Vec<String> = expected
        .into_iter()
        .filter(|(figure, rows)| base.get(figure) != i128::from(*rows))
        .map(|(figure, rows)| {
            format!("{figure}: {} instead of {rows} at scale {}", base.get(figure), tpcb.scale())
        })
        .collect();
    for (_, figures) in linked_sums(tpcb.variant) {
        let sums = named(figures, |figure| base.get(figure));
        let equal = judge_equal(NAME, "sums differ", sums, Verdict::Note);
        if equal.verdict != Verdict::Pass {
            faults.push(equal.text);
        }
    }
    let figures = base.iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if faults.is_empty() {
        let text = format!("tables fit scale {} and agree with each other", tpcb.scale());
        return vec![Finding::new(NAME, Verdict::Pass, text, figures)];
    }
    let text = format!("base was not clean: {}", faults.join("; "));
    let hint = "Earlier changes or a truncated history (pgbench empties it at its start) leave \
                this behind. The run is judged by what it changed; --reset starts from a clean base.";
    vec![Finding::new(NAME, Verdict::Note, text, figures).with_hint(hint)]
}

/// Judges what changed between two readings.
pub(super) fn judge_run(
    variant: Variant,
    base: &Figures,
    now: &Figures,
    commits: Commits,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, figures) in linked_sums(variant) {
        let changes = named(figures, |figure| now.change(base, figure));
        findings.push(judge_equal(name, "changes of the sums", changes, Verdict::Fail));
    }
    let still = still_sums(variant);
    if !still.is_empty() {
        let changes = named(still, |figure| now.change(base, figure));
        findings.push(judge_still("untouched sums", "sums that no transaction touches", changes));
    }
    let history = now.change(base, HISTORY_ROWS);
    findings.push(if variant == Variant::SelectOnly {
        let change = vec![(HISTORY_ROWS.to_owned(), history)];
        judge_still("history", "rows that no transaction inserts", change)
    } else {
        judge_rows("history", "pgbench_history", history, commits)
    });
    let rows = named(&FIXED_ROWS, |figure| now.change(base, figure));
    findings.push(judge_still("rows", "numbers of accounts, tellers and branches", rows));
    findings
}

fn named(figures: &[&str], value: impl Fn(&str) -> i128) -> Vec<(String, i128)> {
    figures.iter().map(|figure| ((*figure).to_owned(), value(figure))).collect()
}

const PROBE_BRANCHES: &str = "branches";
const PROBE_TELLERS: &str = "tellers";
const PROBE_AID_MAX: &str = "aid_max";

/// Cheap at any scale: two small counts, one look at the end of an index, and
/// at most one row of the history, only to see that it is there.
const PROBE: &str = "SELECT (SELECT count(*) FROM pgbench_branches) AS branches, \
     (SELECT count(*) FROM pgbench_tellers) AS tellers, \
     (SELECT coalesce(max(aid), 0) FROM pgbench_accounts) AS aid_max, \
     (SELECT count(*) FROM (SELECT 1 FROM pgbench_history LIMIT 1) h) AS history";

/// Looks whether the tables are there and fit each other; their scale is the
/// number of branches, as for pgbench.
pub(super) fn probe(
    tpcb: &Tpcb,
    session: &mut dyn Session,
    target: &str,
) -> Result<Found, ProbeError> {
    let workload = tpcb.name();
    let command =
        |scale: u64| format!("pgdyno init {target} --workload {workload} --scale {scale}");
    let found = match read_figures(session, "looking for the tables", PROBE) {
        Ok(found) => found,
        Err(AccessError::Statement { source, .. }) if source.is_undefined_table() => {
            let words = source.text;
            return Err(ProbeError::Missing { workload, words, command: command(tpcb.scale()) });
        }
        Err(error) => return Err(error.into()),
    };
    let branches = found.get(PROBE_BRANCHES);
    let tellers = found.get(PROBE_TELLERS);
    let aid_max = found.get(PROBE_AID_MAX);
    let scale = u64::try_from(branches).unwrap_or(0);
    let fitting = Tpcb::new(tpcb.variant, scale);
    let fits = scale > 0
        && tellers == i128::from(fitting.tellers())
        && aid_max == i128::from(fitting.accounts());
    if fits {
        return Ok(Found { scale });
    }
    let found = format!("{branches} branches, {tellers} tellers, accounts up to number {aid_max}");
    let scale = if scale > 0 { scale } else { tpcb.scale() };
    Err(ProbeError::Incomplete { workload, found, command: command(scale) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(scale: i128, sums: [i128; 4], history: i128) -> Figures {
        let mut all = named(&SUMS, |_| 0);
        for (figure, sum) in all.iter_mut().zip(sums) {
            figure.1 = sum;
        }
        all.extend([
            (ACCOUNTS_ROWS.to_owned(), scale * 100_000),
            (TELLERS_ROWS.to_owned(), scale * 10),
            (BRANCHES_ROWS.to_owned(), scale),
            (HISTORY_ROWS.to_owned(), history),
        ]);
        Figures::new(all)
    }

    fn failed(findings: &[Finding]) -> Vec<&str> {
        findings.iter().filter(|f| f.verdict == Verdict::Fail).map(|f| f.name).collect()
    }

    fn commits(committed: u64, unknown: u64) -> Commits {
        Commits { committed, unknown, without_effect: 0 }
    }

    /// The query names every figure that the rules ask for.
    #[test]
    fn query_and_rules_use_the_same_names() {
        let query = query();
        for name in SUMS.iter().chain(&FIXED_ROWS).chain(&[HISTORY_ROWS]) {
            assert!(query.contains(&format!("AS \"{name}\"")), "{name}");
        }
        for name in [PROBE_BRANCHES, PROBE_TELLERS, PROBE_AID_MAX] {
            assert!(PROBE.contains(&format!("AS {name}")), "{name}");
        }
    }

    /// A base that was not clean is told, with figures and a way out, and the
    /// run on top of it is judged by its changes alone.
    #[test]
    fn unclean_base_is_a_note_and_no_failure() {
        let tpcb = Tpcb::new(Variant::TpcbLike, 3);
        let base = figures(3, [500, 500, 507, 0], 0);
        let [note] = judge_base(&tpcb, &base).try_into().unwrap();
        assert_eq!(note.verdict, Verdict::Note);
        assert!(note.text.starts_with("base was not clean: sums differ: "), "{}", note.text);
        assert!(note.hint.unwrap().contains("--reset"));
        let now = figures(3, [590, 590, 597, 90], 40);
        let findings = judge_run(Variant::TpcbLike, &base, &now, commits(40, 0));
        assert!(findings.iter().all(|f| f.verdict == Verdict::Pass), "{findings:?}");
    }

    /// Row counts that do not fit the scale make a base unclean.
    #[test]
    fn base_of_another_scale_is_told() {
        let [note] = judge_base(&Tpcb::new(Variant::SelectOnly, 4), &figures(3, [0; 4], 0))
            .try_into()
            .unwrap();
        assert!(
            note.text.contains("rows in pgbench_tellers: 30 instead of 40 at scale 4"),
            "{note:?}"
        );
        let clean = judge_base(&Tpcb::new(Variant::TpcbLike, 3), &figures(3, [8, 8, 8, 8], 9));
        assert_eq!(clean[0].verdict, Verdict::Pass);
    }

    /// Each planted lie is caught by the rule that is meant for it.
    #[test]
    fn lies_are_caught_by_their_rule() {
        let base = figures(1, [0; 4], 0);
        let run = |variant, now: Figures, commits| {
            failed(&judge_run(variant, &base, &now, commits))
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let tpcb = Variant::TpcbLike;
        assert!(run(tpcb, figures(1, [7; 4], 5), commits(5, 0)).is_empty());
        assert!(run(tpcb, figures(1, [7; 4], 6), commits(5, 1)).is_empty());
        assert_eq!(run(tpcb, figures(1, [7; 4], 7), commits(5, 1)), ["history"]);
        assert_eq!(run(tpcb, figures(1, [7, 7, 7, 4], 4), commits(5, 1)), ["sums", "history"]);
        assert_eq!(run(tpcb, figures(1, [7, 7, 8, 7], 5), commits(5, 0)), ["sums"]);
        assert_eq!(run(tpcb, figures(2, [7; 4], 5), commits(5, 0)), ["rows"]);
        let simple = Variant::SimpleUpdate;
        assert!(run(simple, figures(1, [7, 0, 0, 7], 5), commits(5, 0)).is_empty());
        assert_eq!(
            run(simple, figures(1, [7, 1, 0, 6], 5), commits(5, 0)),
            ["sums", "untouched sums"]
        );
        let select = Variant::SelectOnly;
        assert!(run(select, figures(1, [0; 4], 0), commits(5, 0)).is_empty());
        assert_eq!(
            run(select, figures(1, [1, 0, 0, 0], 1), commits(5, 0)),
            ["untouched sums", "history"]
        );
    }

    /// A failed audit says which figure is off by how much.
    #[test]
    fn failure_names_figure_and_amount() {
        let base = figures(1, [0; 4], 0);
        let now = figures(1, [70, 70, 70, 65], 98);
        let findings = judge_run(Variant::TpcbLike, &base, &now, commits(99, 0));
        assert!(
            findings[0].text.ends_with("but sum(delta) +65, off by -5"),
            "{}",
            findings[0].text
        );
        assert!(findings[1].text.ends_with("99 committed transactions: 1 are missing"));
    }
}
