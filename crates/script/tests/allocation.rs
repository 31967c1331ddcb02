//! What runs for every transaction allocates nothing once buffers have their size.
//!
//! A counting allocator needs `unsafe`, which is allowed in this file alone.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use pgdyno_script::builtin::BUILTINS;
use pgdyno_script::{CommandKind, Env, Names, Script, Streams, Vars};

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs a script's `\set` and writes its SQL, as an engine does for a transaction.
fn transaction(
    script: &Script,
    vars: &mut Vars,
    prng: &mut pgdyno_script::Prng,
    names: &Names,
    out: &mut Vec<u8>,
) {
    out.clear();
    let mut debug = |_: &str| {};
    for (command, step) in script.commands.iter().enumerate() {
        match &step.kind {
            CommandKind::Set { target, expr } => {
                let mut env = Env { vars, prng, names, script: 0, command, debug: &mut debug };
                let value = expr.eval(&mut env).expect("fine");
                vars.set(target.slot("set").expect("good name"), value);
            }
            CommandKind::Sql(sql) => sql.write_simple(vars, out),
            _ => {}
        }
    }
}

/// A thousand transactions of scripts with every kind of draw and value allocate nothing.
#[test]
fn nothing_per_transaction() {
    let own = "\\set a random_zipfian(1, 1000, 1.5) + random_gaussian(1, 10, 2.5)
\\set b CASE WHEN :a > 5 AND :a % 2 = 0 THEN hash(:a) ELSE permute(:a, 5000) END
\\set c sqrt(:a) * 1e100 / pi()
\\set d greatest(1, :a, :c, random_exponential(1, 5, 2)) IS NULL OR :given = 5
SELECT :a, :b, :c, :d, ':given';
";
    for source in [BUILTINS[0].text, own] {
        let mut names = Names::new();
        let script = Script::parse("counted", source.as_bytes(), &mut names).expect("good");
        let mut vars = Vars::new(&names);
        let streams = Streams::new(1, 1, false);
        vars.set_int(names.lookup(b"scale").expect("automatic"), 10);
        vars.set_int(names.lookup(b"default_seed").expect("automatic"), 10);
        let given = names.lookup(b"given");
        let mut prng = streams.client(0);
        let mut out = Vec::with_capacity(4096);
        let mut once = |vars: &mut Vars| {
            if let Some(given) = given {
                vars.set_text(given, b"5");
            }
            transaction(&script, vars, &mut prng, &names, &mut out);
        };
        once(&mut vars);
        let before = COUNT.with(Cell::get);
        for _ in 0..1000 {
            once(&mut vars);
        }
        assert_eq!(COUNT.with(Cell::get) - before, 0);
        assert!(before > 0, "the counter counts");
    }
}
