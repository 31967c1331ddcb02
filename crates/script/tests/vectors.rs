//! Every recorded value of the real pgbench 18.6 must come out again.
//!
//! `vectors.tsv`: case, options, client, sequence number, expression, value.
//! Scripts are compiled and evaluated as in a run; nothing here knows formulas.

use std::collections::BTreeMap;

use pgdyno_script::builtin::BUILTINS;
use pgdyno_script::random::SeedSource;
use pgdyno_script::{CommandKind, Env, Expr, Names, Prng, Script, ScriptChoice, Streams, Vars};

#[derive(Debug)]
struct Row<'a> {
    case: &'a str,
    options: &'a str,
    client: &'a str,
    seq: &'a str,
    expression: &'a str,
    value: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let mut rows = Vec::new();
    for line in include_str!("vectors.tsv").lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [case, options, client, seq, expression, value] = fields[..] else {
            panic!("not six fields: {line}");
        };
        rows.push(Row { case, options, client, seq, expression, value });
    }
    rows
}

/// The words behind an option, as `-c 4` or `--random-seed=42`.
fn option<'a>(options: &'a str, name: &str) -> Option<&'a str> {
    let mut words = options.split(' ');
    while let Some(word) = words.next() {
        if word == name {
            return words.next();
        }
        if let Some(value) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value);
        }
    }
    None
}

fn number(options: &str, name: &str) -> usize {
    option(options, name).map_or(1, |text| text.parse().expect("a number"))
}

fn seed(options: &str) -> u64 {
    let text = option(options, "--random-seed").expect("a seed");
    match pgdyno_script::random::parse_seed(text) {
        Ok(SeedSource::Number(seed)) => seed,
        other => panic!("{text}: {other:?}"),
    }
}

fn streams(options: &str) -> Streams {
    let given = options.contains("-D default_seed=");
    Streams::new(seed(options), number(options, "-c"), given)
}

/// One client of a run with its own stream and variables.
struct Client {
    names: Names,
    vars: Vars,
    prng: Prng,
}

impl Client {
    fn new(options: &str, client: &str) -> Self {
        let streams = streams(options);
        let names = Names::new();
        let mut vars = Vars::new(&names);
        let client: usize = client.parse().unwrap_or(0);
        let mut set = |name: &[u8], value| {
            vars.set_int(names.lookup(name).expect("automatic"), value);
        };
        set(b"client_id", client as i64);
        set(b"scale", 1);
        set(b"random_seed", seed(options) as i64);
        if let Some(default_seed) = streams.default_seed() {
            set(b"default_seed", default_seed);
        }
        Self { names, vars, prng: streams.client(client) }
    }

    fn eval(&mut self, text: &str) -> String {
        let expr = Expr::parse(text, &mut self.names).expect(text);
        let mut env = Env {
            vars: &mut self.vars,
            prng: &mut self.prng,
            names: &self.names,
            script: 0,
            command: 0,
            debug: &mut |_| {},
        };
        expr.eval(&mut env).expect(text).to_string()
    }
}

/// Checks the rows of one case, in order; gives how many there were.
fn each_run(
    rows: &[Row<'_>],
    case: &str,
    key: impl Fn(&Row<'_>) -> String,
    mut check: impl FnMut(&[&Row<'_>]),
) -> usize {
    let mut runs: BTreeMap<String, Vec<&Row<'_>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.case == case) {
        runs.entry(key(row)).or_default().push(row);
    }
    for run in runs.values() {
        check(run);
    }
    runs.values().map(Vec::len).sum()
}

fn expressions(rows: &[Row<'_>]) -> usize {
    let mut checked = 0;
    let whole = |row: &Row<'_>| format!("{} {} {}", row.options, row.client, row.expression);
    for case in ["single", "hash-permute", "automatic", "default_seed"] {
        checked += each_run(rows, case, whole, |run| {
            let mut client = Client::new(run[0].options, run[0].client);
            for row in run {
                assert_eq!(client.eval(row.expression), row.value, "{row:?}");
            }
        });
    }
    checked
}

fn mixed(rows: &[Row<'_>]) -> usize {
    let key = |row: &Row<'_>| format!("{} {}", row.options, row.client);
    each_run(rows, "mixed", key, |run| {
        let mut client = Client::new(run[0].options, run[0].client);
        let mut first = String::new();
        for row in run {
            let text = row.expression.replace("<first value>", &first);
            let value = client.eval(&text);
            assert_eq!(value, row.value, "{row:?}");
            if row.expression == "random(1, 100000)" {
                first = value;
            }
        }
    })
}

fn tpcb_like(rows: &[Row<'_>]) -> usize {
    each_run(
        rows,
        "tpcb-like",
        |_| String::new(),
        |run| {
            let mut client = Client::new(run[0].options, run[0].client);
            let builtin = &BUILTINS[0];
            let script =
                Script::parse(builtin.description, builtin.text.as_bytes(), &mut client.names)
                    .expect("built in");
            let sets: Vec<(String, &Expr)> = script
                .commands
                .iter()
                .filter_map(|command| match &command.kind {
                    CommandKind::Set { expr, .. } => Some((
                        command.label.trim_start_matches("\\set ").replacen(' ', " = ", 1),
                        expr,
                    )),
                    _ => None,
                })
                .collect();
            for (row, (label, expr)) in run.iter().zip(sets.iter().cycle()) {
                let Client { names, vars, prng } = &mut client;
                let mut env = Env { vars, prng, names, script: 0, command: 0, debug: &mut |_| {} };
                assert_eq!(row.expression, label);
                assert_eq!(expr.eval(&mut env).expect("fine").to_string(), row.value, "{row:?}");
            }
        },
    )
}

fn script_choice(rows: &[Row<'_>]) -> usize {
    let key = |row: &Row<'_>| format!("{} {}", row.options, row.client);
    let mut checked = 0;
    for case in ["script choice", "script choice, default_seed given"] {
        checked += each_run(rows, case, key, |run| {
            let options = run[0].options;
            let weights: Vec<u32> = options
                .split(" -f ")
                .skip(1)
                .map(|file| pgdyno_script::choice::split_weight(file).expect("good").1)
                .collect();
            let choice = ScriptChoice::new(&weights).expect("good");
            let thread: usize = run[0].client.parse().expect("one client a thread");
            let mut stream = streams(options).threads().nth(thread).expect("endless").choice;
            for row in run {
                assert_eq!(choice.choose(&mut stream).to_string(), row.value, "{row:?}");
            }
        });
    }
    checked
}

fn thread_streams(rows: &[Row<'_>]) -> usize {
    let key = |row: &Row<'_>| format!("{} {}", row.options, row.client);
    let throttled = each_run(rows, "throttle delay", key, |run| {
        let thread: usize = run[0].client.parse().expect("one client a thread");
        let mut stream = streams(run[0].options).threads().nth(thread).expect("endless").throttle;
        let rate: f64 = option(run[0].options, "-R").expect("a rate").parse().expect("a number");
        let mean_us = 1e6 / rate * number(run[0].options, "-j") as f64;
        for row in run {
            assert_eq!(stream.throttle_delay_us(mean_us).to_string(), row.value, "{row:?}");
        }
    });
    let sampled = each_run(rows, "sampling", key, |run| {
        let mut stream = streams(run[0].options).threads().next().expect("endless").sampling;
        let logged: Vec<String> = (1..=number(run[0].options, "-t"))
            .filter(|_| stream.double() <= 0.5)
            .map(|transaction| transaction.to_string())
            .collect();
        assert_eq!(logged.join(","), run[0].value);
    });
    throttled + sampled
}

fn order_and_generator(rows: &[Row<'_>]) -> usize {
    let order = each_run(
        rows,
        "order",
        |_| String::new(),
        |run| {
            let mut client = Client::new(run[0].options, run[0].client);
            let draw = "random(1,100000)";
            // The rows count draws from 0: four come before.
            for _ in 0..4 {
                client.eval(draw);
            }
            assert_eq!(client.eval(&format!("{draw} < {draw}")), run[0].value);
            assert_eq!(client.eval(&format!("{draw} - {draw}")), run[1].value);
        },
    );
    let generator = each_run(
        rows,
        "generator",
        |row| row.options.to_owned(),
        |run| {
            let seed = run[0].options.split(' ').nth(3).expect("a seed").parse().expect("a number");
            let mut stream = Prng::new(seed);
            for row in run {
                assert_eq!(
                    stream.next_u64().to_string(),
                    row.value,
                    "seed {seed}, output {}",
                    row.seq
                );
            }
        },
    );
    order + generator
}

/// All 710 recorded values, none left out.
#[test]
fn all_vectors() {
    let rows = rows();
    assert_eq!(rows.len(), 710);
    let checked = expressions(&rows)
        + mixed(&rows)
        + tpcb_like(&rows)
        + script_choice(&rows)
        + thread_streams(&rows)
        + order_and_generator(&rows);
    assert_eq!(checked, rows.len());
}
