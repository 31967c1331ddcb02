//! Tests: what is drawn is distributed as it is said to be.
//!
//! Each test has a fixed seed and compares counts with exact probabilities by
//! chi-square. Scripts are run without their SQL, through the same expressions
//! and streams as in a run.
//!
//! | generator | law | where |
//! | --- | --- | --- |
//! | draws of the workloads' scripts: keys, `delta`, `amount`, `value` | uniform | here |
//! | own and foreign accounts of `tpcb-sharded`, pairs of `transfer` | two shares; pairs | here |
//! | ranks and scattered rows of `hotspot` | Zipf; a permutation | here |
//! | the mix of transactions | weights | here |
//! | `random`, `random_exponential`, `random_gaussian`, `random_zipfian`, `permute` | manual | `language` |
//! | the generator itself, its streams, normal numbers, hashes | uniform, normal | `language` |
//! | pauses of a rate | exponential | `language`, and in a run: the engine's `poisson_process` |
//! | loaded rows of `insert` and `scan` | uniform | `rows` |
//! | TPC-C: numbers, letters, digits, shuffles, `NURand`, constants, deck, think times | clauses | `tpcc` |
//! | TPC-C: what terminals key in | clauses | `tpcc`, and `tpcc::input` |
//! | TPC-C: loaded rows | clauses | `tpcc`, and `tpcc::population`, `tpcc::district` |

mod language;
mod rows;
mod tpcc;

use std::ops::RangeInclusive;

use pgdyno_script::names::SCALE;
use pgdyno_script::{CommandKind, Env, Names, Prng, Script, ScriptChoice, Value, Vars};

use crate::registry::{Choice, make, workloads};
use crate::testing::{Cells, assert_fits, assert_uniform};
use crate::workload::Body;

/// A script whose variables are drawn again and again.
struct Draws {
    script: Script,
    names: Names,
    vars: Vars,
    prng: Prng,
}

impl Draws {
    fn of_text(text: &str, scale: u64) -> Self {
        let mut names = Names::new();
        let scale_slot = names.intern(SCALE.as_bytes());
        let script = Script::parse("draws", text.as_bytes(), &mut names).unwrap();
        let mut vars = Vars::new(&names);
        vars.set_int(scale_slot, scale.cast_signed());
        Self { script, names, vars, prng: Prng::new(20_261_121) }
    }

    fn of(name: &str, scale: u64, params: &[(&str, &str)]) -> Self {
        Self::of_type(name, 0, scale, params)
    }

    /// Transaction type `number` of a workload, up to its first statement: what
    /// comes of the server is not drawn.
    fn of_type(name: &str, number: usize, scale: u64, params: &[(&str, &str)]) -> Self {
        let params: Vec<(String, String)> =
            params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let workload = make(&Choice { name, scale, params: &params }).unwrap();
        let Body::Script(text) = workload.transactions().remove(number).body else {
            panic!("{name} is no script")
        };
        let lines = text.split_inclusive('\n').take_while(|line| line.starts_with('\\'));
        Self::of_text(&lines.collect::<String>(), scale)
    }

    /// Runs the script once.
    fn draw(&mut self) {
        let Self { script, names, vars, prng } = self;
        let mut at = 0;
        while let Some(command) = script.commands.get(at) {
            let debug = &mut |_: &str| {};
            let mut env = Env { vars, prng, names, script: 0, command: at, debug };
            at += 1;
            match &command.kind {
                CommandKind::Set { target, expr } => {
                    let value = expr.eval(&mut env).unwrap();
                    vars.set(target.slot("set").unwrap(), value);
                }
                CommandKind::If { cond, otherwise } if !cond.eval(&mut env).unwrap().is_true() => {
                    at = otherwise + 1;
                }
                _ => {}
            }
        }
    }

    fn value(&mut self, name: &str) -> i64 {
        let slot = self.names.lookup(name.as_bytes()).unwrap();
        let Value::Int(value) = self.vars.value(slot, &self.names).unwrap() else {
            panic!("{name} is no number")
        };
        value
    }

    /// A value that is not below 0.
    fn count(&mut self, name: &str) -> u64 {
        u64::try_from(self.value(name)).unwrap()
    }

    /// Draws that a variable's values are even over a range.
    fn assert_even(&mut self, name: &str, range: RangeInclusive<i64>, what: &str) {
        let mut cells = Cells::new(range);
        for _ in 0..DRAWS {
            self.draw();
            cells.add(self.value(name));
        }
        cells.assert_even(&format!("{name} of {what}"));
    }
}

const DRAWS: u64 = 60_000;

/// Weights as expected counts.
fn expected(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum * DRAWS as f64).collect()
}

/// What scripts draw evenly at scale 20: workload, number of the transaction
/// type, variable, range.
const EVEN: [(&str, usize, &str, i64, i64); 39] = [
    ("tpcb", 0, "aid", 1, 2_000_000),
    ("tpcb", 0, "bid", 1, 20),
    ("tpcb", 0, "tid", 1, 200),
    ("tpcb", 0, "delta", -5000, 5000),
    ("tpcb-sharded", 0, "tid", 1, 200),
    ("tpcb-sharded", 0, "delta", -5000, 5000),
    ("tpcb-single-statement", 0, "aid", 1, 2_000_000),
    ("tpcb-single-statement", 0, "bid", 1, 20),
    ("tpcb-single-statement", 0, "tid", 1, 200),
    ("tpcb-single-statement", 0, "delta", -5000, 5000),
    ("tpcb-no-aggregates", 0, "aid", 1, 2_000_000),
    ("tpcb-no-aggregates", 0, "bid", 1, 20),
    ("tpcb-no-aggregates", 0, "tid", 1, 200),
    ("tpcb-no-aggregates", 0, "delta", -5000, 5000),
    ("simple-update", 0, "aid", 1, 2_000_000),
    ("simple-update", 0, "bid", 1, 20),
    ("simple-update", 0, "tid", 1, 200),
    ("simple-update", 0, "delta", -5000, 5000),
    ("select-only", 0, "aid", 1, 2_000_000),
    ("mixed", 0, "aid", 1, 2_000_000),
    ("mixed", 1, "aid", 1, 2_000_000),
    ("mixed", 1, "bid", 1, 20),
    ("mixed", 1, "tid", 1, 200),
    ("mixed", 1, "delta", -5000, 5000),
    ("mixed", 2, "aid", 1, 2_000_000),
    ("mixed", 2, "bid", 1, 20),
    ("mixed", 2, "tid", 1, 200),
    ("mixed", 2, "delta", -5000, 5000),
    ("mixed", 3, "aid", 1, 2_000_000),
    ("mixed", 3, "bid", 1, 20),
    ("mixed", 3, "tid", 1, 200),
    ("update", 0, "id", 1, 20_000),
    ("update", 0, "value", 1, 1_000_000),
    ("update", 0, "other", 1, 1_000_000),
    ("insert", 0, "tid", 1, 2_000_000),
    ("insert", 0, "bid", 1, 2_000_000),
    ("insert", 0, "aid", 1, 2_000_000),
    ("insert", 0, "delta", -500_000_000, 500_000_000),
    ("transfer", 0, "amount", -100, 100),
];

/// The rest of them, which have other ranges or another law, and a test below.
const OTHERS: [(&str, usize, &str); 8] = [
    ("tpcb-sharded", 0, "abid"),
    ("tpcb-sharded", 0, "aid"),
    ("tpcb-sharded", 0, "\\if"),
    ("transfer", 0, "one"),
    ("transfer", 0, "two"),
    ("hotspot", 0, "rank"),
    ("scan", 0, "grp"),
    ("scan", 0, "first"),
];

/// Every variable that is drawn evenly is even over its range.
#[test]
fn even_draws_are_even() {
    for (workload, number, name, first, last) in EVEN {
        let mut draws = Draws::of_type(workload, number, 20, &[]);
        draws.assert_even(name, first..=last, workload);
    }
    for (workload, name, last) in [
        ("scan", "grp", 2000),
        ("scan", "first", 901),
        ("transfer", "one", 20_000),
        ("transfer", "two", 20_000),
    ] {
        Draws::of(workload, 20, &[]).assert_even(name, 1..=last, workload);
    }
    for workload in ["tpcb", "simple-update", "select-only"] {
        let mut draws = Draws::of(workload, 20, &[("branch", "account")]);
        draws.assert_even("aid", 1..=2_000_000, "the account's branch");
        draws.assert_even("bid", 1..=20, "the account's branch");
        if workload != "select-only" {
            draws.assert_even("tid", 1..=200, "the account's branch");
            draws.assert_even("delta", -5000..=5000, "the account's branch");
        }
    }
}

/// No script of a workload draws what is not tested here.
#[test]
fn every_draw_is_tested() {
    let mut drawn = 0;
    for entry in workloads() {
        let workload = make(&Choice { name: entry.name, scale: 2, params: &[] }).unwrap();
        for (number, transaction) in workload.transactions().into_iter().enumerate() {
            let Body::Script(text) = transaction.body else { continue };
            for line in text.lines().filter(|line| line.contains("random")) {
                let words: Vec<&str> = line.split(' ').collect();
                let name = if words[0] == "\\set" { words[1] } else { words[0] };
                let is_even = |(w, n, v, ..): &(&str, usize, &str, i64, i64)| {
                    (*w, *n, *v) == (entry.name, number, name)
                };
                let is_other = OTHERS.contains(&(entry.name, number, name));
                assert!(is_other || EVEN.iter().any(is_even), "{}: {line}", entry.name);
                drawn += 1;
            }
        }
    }
    assert_eq!(drawn, EVEN.len() + OTHERS.len());
}

/// The teller is drawn evenly; its branch is its own; the account is of that
/// branch in 85 % of the transactions, and else of each other branch alike.
#[test]
fn foreign_accounts_as_tpc_b_says() {
    const SCALE: u64 = 20;
    for (params, local) in [(&[][..], 0.85), (&[("local", "40")], 0.4)] {
        let mut draws = Draws::of("tpcb-sharded", SCALE, params);
        let (mut own, mut tellers) = (0, vec![0; 200]);
        // By how many branches the account's lies behind the teller's.
        let mut distance = vec![0u64; SCALE as usize];
        let mut accounts = vec![0u64; 100];
        for _ in 0..DRAWS {
            draws.draw();
            let [tid, bid, abid, aid] = ["tid", "bid", "abid", "aid"].map(|name| draws.count(name));
            assert_eq!((bid, abid), ((tid - 1) / 10 + 1, (aid - 1) / 100_000 + 1));
            tellers[(tid - 1) as usize] += 1;
            accounts[((aid - 1) % 100_000 / 1000) as usize] += 1;
            distance[((abid + SCALE - bid) % SCALE) as usize] += 1;
            own += u64::from(abid == bid);
        }
        assert_uniform(&tellers, "tellers");
        assert_uniform(&accounts, "accounts of a branch");
        let shares = expected(&[local, 1.0 - local]);
        assert_fits(&[own, DRAWS - own], &shares, "own and foreign accounts");
        assert_eq!(distance[0], own);
        assert_uniform(&distance[1..], "foreign branches");
    }
}

/// The ends of the rule: all, none, and a single branch, which has no other.
#[test]
fn foreign_accounts_at_the_ends() {
    for (scale, local, own) in [(5, "100", 1000), (5, "0", 0), (1, "0", 1000), (1, "85", 1000)] {
        let mut draws = Draws::of("tpcb-sharded", scale, &[("local", local)]);
        let mut found = 0;
        for _ in 0..1000 {
            draws.draw();
            found += u64::from(draws.count("abid") == draws.count("bid"));
        }
        assert_eq!(found, own, "scale {scale}, local {local}");
    }
}

/// Both accounts of a transfer are two, in order, and every pair is as likely.
#[test]
fn pairs_are_even() {
    let mut draws = Draws::of("transfer", 1, &[]);
    // A pair falls into the cell of its accounts' tens of tens.
    let mut cells = vec![0u64; 55];
    let mut weights = vec![0.0; 55];
    let cell = |a: u64, b: u64| (b * (b + 1) / 2 + a) as usize;
    for b in 0..10 {
        for a in 0..=b {
            weights[cell(a, b)] = if a == b { 100.0 * 99.0 / 2.0 } else { 100.0 * 100.0 };
        }
    }
    for _ in 0..DRAWS {
        draws.draw();
        let (a, b) = (draws.count("a"), draws.count("b"));
        assert!(a < b && b <= 1000);
        cells[cell((a - 1) / 100, (b - 1) / 100)] += 1;
    }
    assert_fits(&cells, &expected(&weights), "pairs");
}

/// Ranks of a hot spot follow Zipf's law with the exponent that was asked for.
#[test]
fn hot_rows_follow_zipfs_law() {
    const ROWS: u64 = 100_000;
    const HOT: usize = 50;
    for skew in ["1.001", "1.1", "2"] {
        let exponent: f64 = skew.parse().unwrap();
        let params = [("skew", skew), ("scatter", "no")];
        let mut draws = Draws::of("hotspot", 1, &params);
        let mut counts = vec![0u64; HOT + 1];
        for _ in 0..DRAWS {
            draws.draw();
            counts[(draws.count("id") as usize - 1).min(HOT)] += 1;
        }
        let mut weights = vec![0.0; HOT + 1];
        for rank in 1..=ROWS {
            weights[(rank as usize - 1).min(HOT)] += (rank as f64).powf(-exponent);
        }
        assert_fits(&counts, &expected(&weights), &format!("skew {skew}"));
    }
}

/// Scattered hot rows are a permutation: each rank has a row of its own, and
/// the hottest lie anywhere.
#[test]
fn scattered_rows_are_a_permutation() {
    const ROWS: u64 = 100_000;
    let text = "\\set id 1 + permute(:rank - 1, 100000 * :scale, 0)\n";
    let mut scattered = Draws::of_text(text, 1);
    let rank = scattered.names.lookup(b"rank").unwrap();
    let mut seen = vec![false; ROWS as usize];
    let mut hottest = vec![0u64; 20];
    for number in 1..=ROWS {
        scattered.vars.set_int(rank, number.cast_signed());
        scattered.draw();
        let id = scattered.count("id");
        assert!(!std::mem::replace(&mut seen[(id - 1) as usize], true), "row {id} twice");
        if number <= 2000 {
            hottest[((id - 1) * 20 / ROWS) as usize] += 1;
        }
    }
    assert_uniform(&hottest, "the 2,000 hottest rows");
    let script = Draws::of("hotspot", 1, &[]).script;
    let text = text.trim_end();
    assert!(String::from_utf8_lossy(&script.source).contains(text), "the script permutes so");
}

/// A mix is chosen from by its weights.
#[test]
fn mixes_are_chosen_by_weight() {
    let mixed = make(&Choice { name: "mixed", scale: 1, params: &[] }).unwrap();
    let weights: Vec<u32> = mixed.transactions().iter().map(|one| one.weight).collect();
    let choice = ScriptChoice::new(&weights).unwrap();
    let mut stream = Prng::new(5);
    let mut counts = vec![0u64; weights.len()];
    for _ in 0..DRAWS {
        counts[choice.choose(&mut stream)] += 1;
    }
    let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
    assert_fits(&counts, &expected(&weights), "types of transactions");
}
