//! Properties of the language as a whole, on arbitrary and on generated input.
#![cfg(feature = "generate")]

use pgdyno_script::generate::{DEFINES, expression};
use pgdyno_script::{Env, Expr, Names, Prng, Script, Vars};
use proptest::prelude::*;

/// Value or error, what `debug` printed, and the stream afterwards.
fn evaluate(expr: &Expr, names: &Names, seed: u64) -> (String, Vec<String>, Prng) {
    let mut vars = Vars::new(names);
    for (name, text) in DEFINES {
        if let Some(slot) = names.lookup(name.as_bytes()) {
            vars.set_text(slot, text.as_bytes());
        }
    }
    vars.set_int(names.lookup(b"default_seed").expect("automatic"), 5);
    let mut prng = Prng::new(seed);
    let mut said = Vec::new();
    let mut env = Env {
        vars: &mut vars,
        prng: &mut prng,
        names,
        script: 0,
        command: 0,
        debug: &mut |line| said.push(line.to_owned()),
    };
    // The Debug form tells NaN and types apart by name, and compares NaN equal.
    let value = format!("{:?}", expr.eval(&mut env));
    (value, said, prng)
}

/// Pieces of scripts, to reach deeper than arbitrary bytes do.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<u64>().prop_map(|seed| format!("\\set x {}\n", expression(seed))),
        "\\\\(set|if|elif|else|endif|sleep|gset|aset|shell|setshell)[ a-z0-9:+(),\\\\\n]{0,20}",
        "[a-z :;'\"$\\\\/*()\n-]{0,20}",
        Just("\\if 1\n".to_owned()),
        Just("\\endif\n".to_owned()),
        Just("SELECT :x \\gset p_\n".to_owned()),
        Just("CREATE FUNCTION f() BEGIN ATOMIC ".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// An expression printed and parsed again has the same value, the same
    /// output of `debug` and the same draws; evaluating twice gives the same.
    #[test]
    fn print_and_parse(seed: u64, stream: u64) {
        let mut names = Names::new();
        let Ok(expr) = Expr::parse(&expression(seed), &mut names) else { return Ok(()) };
        let printed = expr.to_text(&names);
        let again = Expr::parse(&printed, &mut names).expect("printed text parses");
        let first = evaluate(&expr, &names, stream);
        prop_assert_eq!(&first, &evaluate(&expr, &names, stream));
        prop_assert_eq!(&first, &evaluate(&again, &names, stream), "{}", printed);
    }

    /// No bytes make the parser panic.
    #[test]
    fn any_bytes(source in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Script::parse("any", &source, &mut Names::new());
    }

    /// Nothing that looks like a script does; and spans of commands lie in order within the source.
    #[test]
    fn script_soup(fragments in proptest::collection::vec(fragment(), 0..12)) {
        let source = fragments.concat();
        let Ok(script) = Script::parse("soup", source.as_bytes(), &mut Names::new()) else {
            return Ok(());
        };
        let mut end = 0;
        for command in &script.commands {
            prop_assert!(command.span.start >= end && command.span.end > command.span.start);
            end = command.span.end;
            prop_assert!(end <= script.source.len());
            let line = source.as_bytes()[..command.span.start].split(|&byte| byte == b'\n').count();
            prop_assert_eq!(command.line as usize, line);
        }
    }
}

/// A chain of operators of any length and nesting to the limit need no deep stack.
#[test]
fn long_and_deep() {
    let long = format!("1{}", " + 1".repeat(50_000));
    let mut names = Names::new();
    let expr = Expr::parse(&long, &mut names).expect("long");
    assert_eq!(evaluate(&expr, &names, 1).0, "Ok(Int(50001))");
    assert!(Expr::parse(&expr.to_text(&names), &mut names).is_err(), "as parentheses too deep");
    let deep = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
    let expr = Expr::parse(&deep(399), &mut names).expect("deep");
    assert_eq!(evaluate(&expr, &names, 1).0, "Ok(Int(1))");
    let error = Expr::parse(&deep(100_000), &mut names).expect_err("too deep");
    assert_eq!(error.message, "memory exhausted");
    let right = format!("{}1{}", "1 + (".repeat(190), ")".repeat(190));
    let expr = Expr::parse(&right, &mut names).expect("deep to the right");
    assert_eq!(evaluate(&expr, &names, 1).0, "Ok(Int(191))");
}
