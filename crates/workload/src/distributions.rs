//! Tests: what the scripts draw is distributed as it is said to be.
//!
//! Each script is run without its SQL, with a fixed seed, through the same
//! expressions and streams as in a run; counts are compared with the exact
//! probabilities by chi-square. The formulas of `random_exponential`,
//! `random_gaussian` and `random_zipfian` are those of the PostgreSQL manual,
//! pgbench, "Built-In Functions".

use pgdyno_script::names::SCALE;
use pgdyno_script::{CommandKind, Env, Names, Prng, Script, ScriptChoice, Value, Vars};

use crate::registry::{Choice, make};
use crate::testing::{assert_fits, assert_uniform};
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
        let params: Vec<(String, String)> =
            params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let workload = make(&Choice { name, scale, params: &params }).unwrap();
        let Body::Script(text) = workload.transactions().remove(0).body else {
            panic!("{name} is no script")
        };
        // What comes of the server is not drawn.
        let ends = [text.find("BEGIN"), text.find("-- pgdyno"), text.find("SELECT")];
        let end = ends.into_iter().flatten().min().unwrap_or(text.len());
        Self::of_text(&text[..end], scale)
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

    fn value(&mut self, name: &str) -> u64 {
        let slot = self.names.lookup(name.as_bytes()).unwrap();
        let Value::Int(value) = self.vars.value(slot, &self.names).unwrap() else {
            panic!("{name} is no number")
        };
        u64::try_from(value).unwrap()
    }

    /// Counts of a variable with values from 1 to `most`, in as many cells.
    fn counts(&mut self, name: &str, most: u64, cells: u64, draws: u64) -> Vec<u64> {
        let mut counts = vec![0; cells as usize];
        for _ in 0..draws {
            self.draw();
            let value = self.value(name);
            assert!((1..=most).contains(&value), "{name} is {value} of {most}");
            counts[((value - 1) * cells / most) as usize] += 1;
        }
        counts
    }
}

const DRAWS: u64 = 60_000;

/// Weights as expected counts.
fn expected(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum * DRAWS as f64).collect()
}

/// Keys of pgbench's tables are even over the tables.
#[test]
fn keys_are_uniform() {
    for (name, most) in [("aid", 2_000_000), ("bid", 20), ("tid", 200)] {
        let cells = most.min(100);
        let counts = Draws::of("tpcb", 20, &[]).counts(name, most, cells, DRAWS);
        assert_uniform(&counts, name);
    }
    for (workload, name, most) in [
        ("update", "id", 20_000),
        ("insert", "tid", 2_000_000),
        ("insert", "bid", 2_000_000),
        ("insert", "aid", 2_000_000),
        ("scan", "grp", 2000),
        ("scan", "first", 901),
        ("transfer", "one", 20_000),
        ("transfer", "two", 20_000),
    ] {
        let cells = if most % 100 == 0 { 100 } else { most };
        let counts = Draws::of(workload, 20, &[]).counts(name, most, cells, DRAWS);
        assert_uniform(&counts, &format!("{name} of {workload}"));
    }
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
            let [tid, bid, abid, aid] = ["tid", "bid", "abid", "aid"].map(|name| draws.value(name));
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
            found += u64::from(draws.value("abid") == draws.value("bid"));
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
        let (a, b) = (draws.value("a"), draws.value("b"));
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
            counts[(draws.value("id") as usize - 1).min(HOT)] += 1;
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
        let id = scattered.value("id");
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

/// Permutations of any size are permutations.
#[test]
fn permutations_of_any_size() {
    for size in [1usize, 2, 3, 64, 100, 997, 4096] {
        for seed in [0, 1, -5] {
            let mut seen = vec![0u64; size];
            for value in 0..size {
                let size = i64::try_from(size).unwrap();
                let to = pgdyno_script::random::permute(value as i64, size, seed);
                seen[usize::try_from(to).unwrap()] += 1;
            }
            assert!(seen.iter().all(|count| *count == 1), "size {size}, seed {seed}");
        }
    }
}

/// The functions that scripts of people's own may use.
#[test]
fn exponential_and_gaussian_as_the_manual_says() {
    const MOST: usize = 100;
    let counts = |call: &str| {
        let mut draws = Draws::of_text(&format!("\\set x {call}\n"), 1);
        draws.counts("x", MOST as u64, MOST as u64, DRAWS)
    };
    let p = 3.0f64;
    let weights: Vec<f64> = (0..MOST)
        .map(|value| {
            let at = |x: usize| (-p * x as f64 / MOST as f64).exp();
            at(value) - at(value + 1)
        })
        .collect();
    assert_fits(&counts("random_exponential(1, 100, 3.0)"), &expected(&weights), "exponential");
    let p = 2.5f64;
    let weights: Vec<f64> = (0..MOST)
        .map(|value| {
            let at = |x: f64| 2.0 * p * (x - MOST as f64 / 2.0) / MOST as f64;
            normal_mass(at(value as f64), at(value as f64 + 1.0))
        })
        .collect();
    assert_fits(&counts("random_gaussian(1, 100, 2.5)"), &expected(&weights), "gaussian");
}

/// The normal density between two bounds, by Simpson's rule.
fn normal_mass(from: f64, to: f64) -> f64 {
    const STEPS: u32 = 16;
    let width = (to - from) / f64::from(STEPS);
    let sum: f64 = (0..=STEPS)
        .map(|step| {
            let x = width.mul_add(f64::from(step), from);
            let factor = match step {
                0 | STEPS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            factor * (-x * x / 2.0).exp()
        })
        .sum();
    sum * width / 3.0
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
