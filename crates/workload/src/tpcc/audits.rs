//! The figures of TPC-C's tables and what they must be: the accounting that the
//! standard's conditions do not do, against what was acknowledged to clients.
//!
//! A committed new order takes one number of a district and adds one order; a
//! payment adds one row of history and one amount to warehouse, district and
//! history; a delivery takes at most one order of each district out of
//! `new_order`. So nothing can be lost or doubled unseen. The only tolerance
//! is that of commits whose outcome is not known.

use super::{DISTRICTS, ORDERS, UNDELIVERED};
use crate::figures::{Commits, Figures, Finding, Verdict, judge_equal, judge_rows};

const WAREHOUSES: &str = "rows in warehouse";
const DISTRICT_ROWS: &str = "rows in district";
const NEXT_SUM: &str = "sum(d_next_o_id)";
pub(super) const ORDER_ROWS: &str = "rows in orders";
pub(super) const NEW_ORDER_ROWS: &str = "rows in new_order";
const QUEUE_MIN: &str = "fewest rows of a district in new_order";
pub(super) const HISTORY_ROWS: &str = "rows in history";
pub(super) const LINE_ROWS: &str = "rows in order_line";
const LINES_SUM: &str = "sum(o_ol_cnt)";
const WAREHOUSE_CENTS: &str = "sum(w_ytd) in cents";
const DISTRICT_CENTS: &str = "sum(d_ytd) in cents";
pub(super) const HISTORY_CENTS: &str = "sum(h_amount) in cents";

/// The history stands last: it is written by inserts only.
const CENTS: [&str; 3] = [WAREHOUSE_CENTS, DISTRICT_CENTS, HISTORY_CENTS];

/// Positions among the transactions, which are in the standard's order.
pub(super) const NEW_ORDERS: usize = 0;
pub(super) const PAYMENTS: usize = 1;
pub(super) const DELIVERIES: usize = 3;

/// All figures in one statement, hence of one snapshot; each table is scanned
/// once.
pub(super) fn query() -> String {
    let cents = |column: &str| format!("cast(coalesce(sum({column}), 0) * 100 AS bigint)");
    format!(
        "SELECT w.n AS \"{WAREHOUSES}\", w.cents AS \"{WAREHOUSE_CENTS}\", \
         d.n AS \"{DISTRICT_ROWS}\", d.cents AS \"{DISTRICT_CENTS}\", d.next AS \"{NEXT_SUM}\", \
         d.fewest AS \"{QUEUE_MIN}\", d.queued AS \"{NEW_ORDER_ROWS}\", \
         o.n AS \"{ORDER_ROWS}\", o.lines AS \"{LINES_SUM}\", l.n AS \"{LINE_ROWS}\", \
         h.n AS \"{HISTORY_ROWS}\", h.cents AS \"{HISTORY_CENTS}\" FROM \
         (SELECT count(*) AS n, {} AS cents FROM warehouse) w, \
         (SELECT count(*) AS n, {} AS cents, coalesce(sum(d_next_o_id), 0) AS next, \
         coalesce(min(coalesce(q.n, 0)), 0) AS fewest, \
         cast(coalesce(sum(q.n), 0) AS bigint) AS queued FROM district LEFT JOIN \
         (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q \
         ON no_w_id = d_w_id AND no_d_id = d_id) d, \
         (SELECT count(*) AS n, coalesce(sum(o_ol_cnt), 0) AS lines FROM orders) o, \
         (SELECT count(*) AS n FROM order_line) l, \
         (SELECT count(*) AS n, {} AS cents FROM history) h",
        cents("w_ytd"),
        cents("d_ytd"),
        cents("h_amount"),
    )
}

/// Judges tables at rest: they fit the scale, and their sums each other.
pub(super) fn judge_base(scale: u64, base: &Figures) -> Vec<Finding> {
    const NAME: &str = "clean base";
    let districts = i128::from(scale.saturating_mul(DISTRICTS));
    let mut faults: Vec<String> = [(WAREHOUSES, i128::from(scale)), (DISTRICT_ROWS, districts)]
        .into_iter()
        .filter(|(figure, rows)| base.get(figure) != *rows)
        .map(|(figure, rows)| {
            format!("{figure}: {} instead of {rows} at scale {scale}", base.get(figure))
        })
        .collect();
    let pairs = [
        ("orders and their numbers", (NEXT_SUM, base.get(NEXT_SUM) - districts), ORDER_ROWS),
        ("order lines", (LINES_SUM, base.get(LINES_SUM)), LINE_ROWS),
    ];
    let equal = |what: &str, values| judge_equal(NAME, what, values, Verdict::Note);
    for (what, (figure, value), other) in pairs {
        let values = vec![(figure.to_owned(), value), (other.to_owned(), base.get(other))];
        let found = equal(what, values);
        faults.extend((found.verdict != Verdict::Pass).then_some(found.text));
    }
    let cents = equal("sums of payments", named(&CENTS, |figure| base.get(figure)));
    faults.extend((cents.verdict != Verdict::Pass).then_some(cents.text));
    let figures = base.iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if faults.is_empty() {
        let since = base.get(ORDER_ROWS) - districts * i128::from(ORDERS);
        let text = match since {
            0 => format!("tables fit scale {scale} and agree with each other; freshly loaded"),
            _ => format!(
                "tables fit scale {scale} and agree with each other; {since} new orders since \
                 they were loaded"
            ),
        };
        return vec![Finding::new(NAME, Verdict::Pass, text, figures)];
    }
    let text = format!("base was not clean: {}", faults.join("; "));
    let hint = "The run is judged by what it changed; --reset starts from a clean base.";
    vec![Finding::new(NAME, Verdict::Note, text, figures).with_hint(hint)]
}

/// Judges what changed between two readings.
pub(super) fn judge_run(base: &Figures, now: &Figures, commits: &[Commits]) -> Vec<Finding> {
    let of = |number: usize| commits.get(number).copied().unwrap_or_default();
    let change = |figure: &str| now.change(base, figure);
    let equal = |name, what, figures: &[&str]| {
        judge_equal(name, what, named(figures, change), Verdict::Fail)
    };
    vec![
        judge_rows("new orders", "orders", change(ORDER_ROWS), of(NEW_ORDERS)),
        equal("order numbers", "numbers taken and orders inserted", &[ORDER_ROWS, NEXT_SUM]),
        equal("order lines", "lines announced and inserted", &[LINES_SUM, LINE_ROWS]),
        judge_rows("payments", "history", change(HISTORY_ROWS), of(PAYMENTS)),
        equal("amounts", "changes of the sums of payments", &CENTS),
        judge_deliveries(base, now, of(DELIVERIES)),
        judge_still(change(WAREHOUSES), change(DISTRICT_ROWS)),
    ]
}

/// A delivery takes one order of each district, and none where none is left.
/// None can be missing while each district had more of them than deliveries
/// were made, so then the number is exact.
fn judge_deliveries(base: &Figures, now: &Figures, commits: Commits) -> Finding {
    const NAME: &str = "deliveries";
    let delivered = now.change(base, ORDER_ROWS) - now.change(base, NEW_ORDER_ROWS);
    let per_delivery = i128::from(DISTRICTS);
    let expected = per_delivery * i128::from(commits.committed);
    let most = expected + per_delivery * i128::from(commits.unknown);
    let made = i128::from(commits.committed) + i128::from(commits.unknown);
    let never_empty = base.get(QUEUE_MIN) >= made;
    let figures = vec![
        ("orders delivered".to_owned(), delivered),
        ("deliveries committed".to_owned(), i128::from(commits.committed)),
        ("commits of unknown outcome".to_owned(), i128::from(commits.unknown)),
        (format!("{QUEUE_MIN} before"), base.get(QUEUE_MIN)),
    ];
    let told = format!("{delivered} orders left new_order by {} deliveries", commits.committed);
    let (verdict, text) = if delivered > most {
        (Verdict::Fail, format!("{told}: {} too many", delivered - most))
    } else if delivered >= expected {
        (Verdict::Pass, format!("{told}, {per_delivery} by each"))
    } else if never_empty || delivered < 0 {
        (Verdict::Fail, format!("{told}: {} are missing", expected - delivered))
    } else {
        let skipped = expected - delivered;
        let text = format!("{told}; {skipped} times a district may have had none to deliver");
        (Verdict::Note, text)
    };
    let tolerance = u64::try_from(most - expected).unwrap_or(u64::MAX);
    Finding::new(NAME, verdict, text, figures).comparing(expected, delivered, tolerance)
}

fn judge_still(warehouses: i128, districts: i128) -> Finding {
    let figures = vec![(WAREHOUSES.to_owned(), warehouses), (DISTRICT_ROWS.to_owned(), districts)];
    let (verdict, text) = if warehouses == 0 && districts == 0 {
        (Verdict::Pass, "as many warehouses and districts as before".to_owned())
    } else {
        let text = format!("{WAREHOUSES} {warehouses:+}, {DISTRICT_ROWS} {districts:+}");
        (Verdict::Fail, text)
    };
    Finding::new("rows", verdict, text, figures)
}

fn named(figures: &[&str], value: impl Fn(&str) -> i128) -> Vec<(String, i128)> {
    figures.iter().map(|figure| ((*figure).to_owned(), value(figure))).collect()
}

/// True where nothing was changed since the load.
pub(super) fn is_fresh(scale: u64, now: &Figures) -> bool {
    let districts = i128::from(scale.saturating_mul(DISTRICTS));
    let rows = districts * i128::from(ORDERS);
    now.get(WAREHOUSES) == i128::from(scale)
        && now.get(DISTRICT_ROWS) == districts
        && now.get(NEXT_SUM) == rows + districts
        && now.get(ORDER_ROWS) == rows
        && now.get(HISTORY_ROWS) == rows
        && now.get(NEW_ORDER_ROWS) == districts * i128::from(UNDELIVERED)
        && CENTS.iter().all(|figure| now.get(figure) == rows * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 12] = [
        WAREHOUSES,
        DISTRICT_ROWS,
        NEXT_SUM,
        ORDER_ROWS,
        NEW_ORDER_ROWS,
        QUEUE_MIN,
        HISTORY_ROWS,
        LINE_ROWS,
        LINES_SUM,
        WAREHOUSE_CENTS,
        DISTRICT_CENTS,
        HISTORY_CENTS,
    ];

    /// One warehouse, freshly loaded, and then changed.
    fn figures(changes: &[(&str, i128)]) -> Figures {
        let fresh = [
            1, 10, 30_010, 30_000, 9000, 900, 30_000, 300_000, 300_000, 30_000_000, 30_000_000,
            30_000_000,
        ];
        let change = |name: &str| {
            changes.iter().filter(|(changed, _)| *changed == name).map(|(_, by)| by).sum::<i128>()
        };
        let all = ALL.iter().zip(fresh).map(|(&name, value)| (name, value + change(name)));
        Figures::new(all.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    const fn commits(committed: u64, unknown: u64) -> Commits {
        Commits { committed, unknown, without_effect: 0 }
    }

    /// Seven new orders of 70 lines, five payments of 12.34, two deliveries.
    const RUN: [(&str, i128); 10] = [
        (NEXT_SUM, 7),
        (ORDER_ROWS, 7),
        (NEW_ORDER_ROWS, 7 - 20),
        (QUEUE_MIN, -2),
        (HISTORY_ROWS, 5),
        (LINE_ROWS, 70),
        (LINES_SUM, 70),
        (WAREHOUSE_CENTS, 6170),
        (DISTRICT_CENTS, 6170),
        (HISTORY_CENTS, 6170),
    ];

    fn judged(lies: &[(&str, i128)], unknown: u64) -> Vec<&'static str> {
        let now = figures(&[RUN.as_slice(), lies].concat());
        let told =
            [commits(7, unknown), commits(5, unknown), commits(3, 0), commits(2, 0), commits(1, 0)];
        judge_run(&figures(&[]), &now, &told)
            .into_iter()
            .filter(|finding| finding.verdict == Verdict::Fail)
            .map(|finding| finding.name)
            .collect()
    }

    /// Assertion 24, the rules: an honest run passes, and each lie is caught by
    /// the rule that is meant for it.
    #[test]
    fn a24_lies_are_caught_by_their_rule() {
        assert!(judged(&[], 0).is_empty());
        let lost = [(NEXT_SUM, -1), (ORDER_ROWS, -1), (NEW_ORDER_ROWS, -1)];
        assert_eq!(judged(&lost, 0), ["new orders"]);
        assert_eq!(judged(&lost, 3), ["new orders"]);
        let doubled = [(NEXT_SUM, 1), (ORDER_ROWS, 1), (NEW_ORDER_ROWS, 1)];
        assert_eq!(judged(&doubled, 0), ["new orders"]);
        assert!(judged(&doubled, 1).is_empty());
        assert_eq!(judged(&[(NEXT_SUM, 1)], 0), ["order numbers"]);
        assert_eq!(judged(&[(LINE_ROWS, -1)], 0), ["order lines"]);
        assert_eq!(judged(&[(HISTORY_ROWS, -1)], 0), ["payments"]);
        assert_eq!(judged(&[(DISTRICT_CENTS, 1)], 0), ["amounts"]);
        assert_eq!(judged(&[(NEW_ORDER_ROWS, -1)], 0), ["deliveries"]);
        assert_eq!(judged(&[(NEW_ORDER_ROWS, 1)], 0), ["deliveries"]);
        assert_eq!(judged(&[(WAREHOUSES, 1)], 0), ["rows"]);
    }

    /// A delivery may find nothing only where a district can have run empty.
    #[test]
    fn skipped_districts_are_no_failure_where_possible() {
        let skipped = [RUN.as_slice(), &[(NEW_ORDER_ROWS, 3)]].concat();
        for (fewest, verdict) in [(-899, Verdict::Note), (0, Verdict::Fail)] {
            let base = figures(&[(QUEUE_MIN, fewest)]);
            let found = judge_deliveries(&base, &figures(&skipped), commits(2, 0));
            assert_eq!(found.verdict, verdict, "{}", found.text);
        }
        let most = figures(&[(ORDER_ROWS, 30)]);
        let found = judge_deliveries(&figures(&[]), &most, commits(2, 1));
        assert_eq!(found.verdict, Verdict::Pass, "{}", found.text);
    }

    /// A base is told to be fresh, used, or unclean.
    #[test]
    fn bases_are_told_apart() {
        let told = |changes: &[(&str, i128)]| {
            let [one] = judge_base(1, &figures(changes)).try_into().unwrap();
            (one.verdict, one.text)
        };
        assert!(told(&[]).1.ends_with("freshly loaded") && is_fresh(1, &figures(&[])));
        let (verdict, text) = told(&RUN);
        assert!(verdict == Verdict::Pass && text.contains("7 new orders since"), "{text}");
        assert!(!is_fresh(1, &figures(&RUN)));
        for lie in [(NEXT_SUM, 1), (LINE_ROWS, 1), (HISTORY_CENTS, -1), (WAREHOUSES, 1)] {
            let (verdict, text) = told(&[lie]);
            assert!(verdict == Verdict::Note && text.starts_with("base was not clean"), "{text}");
        }
    }

    /// The query names every figure that the rules ask for.
    #[test]
    fn query_and_rules_use_the_same_names() {
        let query = query();
        for name in ALL {
            assert!(query.contains(&format!("AS \"{name}\"")), "{name}");
        }
    }
}
