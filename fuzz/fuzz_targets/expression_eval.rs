//! Any text as an expression, with a text as the value of every variable:
//! evaluating must not panic, must give the same twice, and the printed tree the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pgdyno_script::{Env, Expr, Names, Prng, Slot, Vars};

fn evaluate(expr: &Expr, names: &Names, slots: &[Slot], text: &[u8]) -> (String, usize, Prng) {
    let mut vars = Vars::new(names);
    for &slot in slots {
        vars.set_text(slot, text);
    }
    let (mut prng, mut lines) = (Prng::new(1), 0);
    let mut env = Env {
        vars: &mut vars,
        prng: &mut prng,
        names,
        script: 0,
        command: 0,
        debug: &mut |_| lines += 1,
    };
    let value = format!("{:?}", expr.eval(&mut env));
    (value, lines, prng)
}

fuzz_target!(|input: (&[u8], &str)| {
    let (text, expression) = input;
    let mut names = Names::new();
    let Ok(expr) = Expr::parse(expression, &mut names) else { return };
    let mut slots: Vec<Slot> = expr.variables().collect();
    // Slots of automatic variables, which the second parse sees as well.
    slots.sort_unstable();
    slots.dedup();
    let first = evaluate(&expr, &names, &slots, text);
    assert_eq!(first, evaluate(&expr, &names, &slots, text));
    // Full parentheses may nest deeper than is allowed; then there is nothing to compare.
    if let Ok(again) = Expr::parse(&expr.to_text(&names), &mut names) {
        assert_eq!(first, evaluate(&again, &names, &slots, text));
    }
});
