//! What the terminals of a run counted, against the growth of the tables, to
//! the cent and the line; and the mix against the decks that it was dealt
//! from.
//!
//! Acknowledged work must be there exactly. A commit of unknown outcome may
//! have added one order, payment or delivery: how many of them did so is seen
//! in the rows, and each of those may have had the amounts that one can have.
//! There is no other tolerance.

use super::audits::{
    DELIVERIES, HISTORY_CENTS, HISTORY_ROWS, LINE_ROWS, NEW_ORDER_ROWS, NEW_ORDERS, ORDER_ROWS,
    PAYMENTS,
};
use super::deck::{CARDS, KINDS};
use super::terminal::COUNTERS;
use super::{DISTRICTS, Profile, transactions};
use crate::figures::{Commits, Figures, Finding, Verdict};
use crate::told::Told;

/// Lines of an order, at least and at most (clause 2.4.1.3).
const LINES: [i128; 2] = [5, 15];
/// Cents of a payment, at least and at most (clause 2.5.1.3).
const CENTS: [i128; 2] = [100, 500_000];
/// Orders that a delivery takes, at least and at most.
const DELIVERED: [i128; 2] = [0, DISTRICTS as i128];

/// Standard deviations that independent draws may be off: more happen by
/// chance once in 500 million.
const SIGMAS: f64 = 6.0;

/// Judges what changed between two readings by what the terminals counted.
pub(super) fn judge(
    profile: Profile,
    base: &Figures,
    now: &Figures,
    commits: &[Commits],
    told: &Told,
) -> Vec<Finding> {
    let of = |number: usize| commits.get(number).copied().unwrap_or_default();
    let change = |figure: &str| now.change(base, figure);
    // Commits of unknown outcome that took place, by the rows that each adds.
    let took_place = |rows: i128, commits: Commits| {
        (rows - i128::from(commits.committed)).clamp(0, commits.unknown.into())
    };
    let delivered = change(ORDER_ROWS) - change(NEW_ORDER_ROWS);
    let deliveries = of(DELIVERIES);
    vec![
        judge_exactly(
            "acknowledged lines",
            ["order lines", "order_lines"],
            (counted(told, "order_lines"), change(LINE_ROWS)),
            (took_place(change(ORDER_ROWS), of(NEW_ORDERS)), LINES),
        ),
        judge_exactly(
            "acknowledged amounts",
            ["cents of payments", "payment_cents"],
            (counted(told, "payment_cents"), change(HISTORY_CENTS)),
            (took_place(change(HISTORY_ROWS), of(PAYMENTS)), CENTS),
        ),
        judge_exactly(
            "acknowledged deliveries",
            ["orders delivered", "districts_delivered"],
            (counted(told, "districts_delivered"), delivered),
            (deliveries.unknown.into(), DELIVERED),
        ),
        judge_mix(profile, told),
    ]
}

fn counted(told: &Told, name: &str) -> i128 {
    let at = COUNTERS.iter().position(|counter| *counter == name);
    at.and_then(|at| told.counters.get(at)).map_or(0, |count| i128::from(*count))
}

/// The tables grew by what was acknowledged, and by no more than the commits
/// of unknown outcome that took place can have added, each `least` to `most`.
fn judge_exactly(
    name: &'static str,
    [what, counter]: [&str; 2],
    (acknowledged, grown): (i128, i128),
    (unknown, [least, most]): (i128, [i128; 2]),
) -> Finding {
    let (first, last) = (acknowledged + unknown * least, acknowledged + unknown * most);
    let (verdict, text) = if grown < first {
        let text = format!("{grown:+} {what}, {acknowledged} acknowledged: {} lost", first - grown);
        (Verdict::Fail, text)
    } else if grown > last {
        let text =
            format!("{grown:+} {what}, {acknowledged} acknowledged: {} too many", grown - last);
        (Verdict::Fail, text)
    } else if unknown > 0 {
        let text = format!(
            "{grown:+} {what}, {acknowledged} acknowledged, the others by at most {unknown} \
             commits of unknown outcome"
        );
        (Verdict::Pass, text)
    } else {
        (Verdict::Pass, format!("{grown:+} {what}, all acknowledged"))
    };
    let figures = vec![
        (what.to_owned(), grown),
        (format!("{counter} acknowledged"), acknowledged),
        ("commits of unknown outcome".to_owned(), unknown),
    ];
    let tolerance = u64::try_from(last - acknowledged).unwrap_or(u64::MAX);
    Finding::new(name, verdict, text, figures).comparing(acknowledged, grown, tolerance)
}

/// Each client deals from a deck of its own, so a type with c of the 23 cards
/// is off by what one unfinished deck of each client holds, and that is
/// c (23 - c) / 23 cards at most. HammerDB's types are drawn independently, and
/// the clients' last draws end in their own time.
fn judge_mix(profile: Profile, told: &Told) -> Finding {
    const NAME: &str = "mix";
    let all: u64 = told.finished.iter().sum();
    let count = |at: usize| told.finished.get(at).copied().unwrap_or(0);
    let mut faults = Vec::new();
    let mut shares = Vec::new();
    for kind in KINDS {
        let (found, name) = (count(kind.index()), transactions::name(kind));
        // In 23rds of a transaction everything is whole.
        let cards = i128::from(kind.cards());
        let off = i128::from(found) * CARDS as i128 - i128::from(all) * cards;
        let most = most_off(profile, cards, all, told.clients);
        if off.abs() > most {
            let (off, most) = (off as f64 / CARDS as f64, most as f64 / CARDS as f64);
            faults.push(format!("{found} of {name}: off by {off:+.1}, at most {most:.1} possible"));
        }
        shares.push(format!("{name} {:.2} %", found as f64 * 100.0 / all.max(1) as f64));
    }
    let figures = KINDS
        .iter()
        .map(|kind| (transactions::name(*kind).to_owned(), i128::from(count(kind.index()))))
        .collect();
    if faults.is_empty() {
        let text = match all {
            0 => "nothing was run".to_owned(),
            _ => shares.join(", "),
        };
        return Finding::new(NAME, Verdict::Pass, text, figures);
    }
    Finding::new(NAME, Verdict::Fail, faults.join("; "), figures)
}

/// How far a type with `cards` cards may be off, in 23rds of a transaction.
fn most_off(profile: Profile, cards: i128, all: u64, clients: u32) -> i128 {
    let whole = CARDS as i128;
    match profile {
        Profile::Faithful => i128::from(clients) * cards * (whole - cards),
        Profile::Hammerdb => {
            let share = cards as f64 / whole as f64;
            let sigma = (all as f64 * share * (1.0 - share)).sqrt();
            ((SIGMAS * sigma + f64::from(clients)) * whole as f64).ceil() as i128
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::deck::Deck;
    use crate::tpcc::random::Rng;

    const fn commits(committed: u64, unknown: u64) -> Commits {
        Commits { committed, unknown, without_effect: 0 }
    }

    /// Two clients, a deck each: 20 orders of 200 lines, 20 payments of
    /// 500.00, two deliveries of 19 orders.
    fn judged(changes: &[(&str, i128)], unknown: [u64; 5]) -> Vec<&'static str> {
        let run = [
            (ORDER_ROWS, 20),
            (LINE_ROWS, 200),
            (HISTORY_ROWS, 20),
            (HISTORY_CENTS, 50_000),
            (NEW_ORDER_ROWS, 20 - 19),
        ];
        let grown = |name: &str| {
            let lies = run.iter().chain(changes).filter(|(figure, _)| *figure == name);
            lies.map(|(_, by)| by).sum::<i128>()
        };
        let now = Figures::new(run.map(|(name, _)| (name.to_owned(), grown(name))).to_vec());
        let mut counters = vec![0; COUNTERS.len()];
        for (name, count) in
            [("order_lines", 200), ("payment_cents", 50_000), ("districts_delivered", 19)]
        {
            counters[COUNTERS.iter().position(|counter| *counter == name).unwrap()] = count;
        }
        let told = Told { clients: 2, finished: vec![20, 20, 2, 2, 2], counters };
        let ends: Vec<Commits> =
            [20, 20, 2, 2, 2].into_iter().zip(unknown).map(|(n, u)| commits(n, u)).collect();
        judge(Profile::Faithful, &Figures::default(), &now, &ends, &told)
            .into_iter()
            .filter(|finding| finding.verdict == Verdict::Fail)
            .map(|finding| finding.name)
            .collect()
    }

    /// Assertion 24, the accounting: a line, a cent or a delivery more or less
    /// than acknowledged is found, and only by its own rule.
    #[test]
    fn a24_what_was_acknowledged_is_there_exactly() {
        assert!(judged(&[], [0; 5]).is_empty());
        for by in [-1, 1] {
            assert_eq!(judged(&[(LINE_ROWS, by)], [0; 5]), ["acknowledged lines"]);
            assert_eq!(judged(&[(HISTORY_CENTS, by)], [0; 5]), ["acknowledged amounts"]);
            assert_eq!(judged(&[(NEW_ORDER_ROWS, by)], [0; 5]), ["acknowledged deliveries"]);
        }
    }

    /// Commits of unknown outcome that took place may have added what one can
    /// add, and those that did not take place nothing at all.
    #[test]
    fn a24_unknown_outcomes_are_the_only_tolerance() {
        let unknown = [1, 1, 0, 1, 0];
        assert!(judged(&[], unknown).is_empty());
        for (cents, is_right) in [(99, false), (100, true), (500_000, true), (500_001, false)] {
            let paid = [(HISTORY_ROWS, 1), (HISTORY_CENTS, cents)];
            assert_eq!(judged(&paid, unknown).is_empty(), is_right, "{cents}");
        }
        // The row that would have brought the amount is not there.
        assert_eq!(judged(&[(HISTORY_CENTS, 100)], unknown), ["acknowledged amounts"]);
        for (lines, is_right) in [(4, false), (5, true), (15, true), (16, false)] {
            let ordered = [(ORDER_ROWS, 1), (NEW_ORDER_ROWS, 1), (LINE_ROWS, lines)];
            assert_eq!(judged(&ordered, unknown).is_empty(), is_right, "{lines}");
        }
        for (orders, is_right) in [(1, false), (0, true), (-10, true), (-11, false)] {
            assert_eq!(judged(&[(NEW_ORDER_ROWS, orders)], unknown).is_empty(), is_right);
        }
    }

    fn mix(profile: Profile, clients: u32, finished: [u64; 5]) -> Verdict {
        judge_mix(profile, &Told { clients, finished: finished.to_vec(), counters: Vec::new() })
            .verdict
    }

    /// What a deck can deal passes, and one more of a type does not: at every
    /// length, and at the worst order of the cards.
    #[test]
    fn a13_the_mix_is_judged_by_what_decks_can_deal() {
        let faithful = |clients, finished| mix(Profile::Faithful, clients, finished);
        assert_eq!(faithful(1, [0; 5]), Verdict::Pass);
        assert_eq!(faithful(1, [10, 0, 0, 0, 0]), Verdict::Pass);
        assert_eq!(faithful(1, [11, 0, 0, 0, 0]), Verdict::Fail);
        assert_eq!(faithful(1, [0, 0, 1, 0, 0]), Verdict::Pass);
        assert_eq!(faithful(1, [0, 0, 2, 0, 0]), Verdict::Fail);
        assert_eq!(faithful(2, [0, 0, 2, 0, 0]), Verdict::Pass);
        assert_eq!(faithful(1, [1000, 1000, 100, 100, 100]), Verdict::Pass);
        assert_eq!(faithful(1, [1000, 1000, 102, 100, 98]), Verdict::Fail);
        let mut rng = Rng::new(1, 2, 3);
        let mut deck = Deck::new(Profile::Faithful);
        let mut finished = [0; 5];
        for _ in 0..CARDS * 1000 {
            finished[deck.draw(&mut rng).index()] += 1;
            assert_eq!(faithful(1, finished), Verdict::Pass, "{finished:?}");
        }
    }

    /// HammerDB's independent draws pass, and shares of another mix do not.
    #[test]
    fn hammerdbs_mix_is_judged_as_draws() {
        let mut rng = Rng::new(1, 2, 3);
        let mut deck = Deck::new(Profile::Hammerdb);
        let mut finished = [0; 5];
        for _ in 0..100_000 {
            finished[deck.draw(&mut rng).index()] += 1;
            assert_eq!(mix(Profile::Hammerdb, 1, finished), Verdict::Pass, "{finished:?}");
        }
        let other = [45_000, 43_000, 4000, 4000, 4000];
        assert_eq!(mix(Profile::Hammerdb, 8, other), Verdict::Fail);
    }
}
