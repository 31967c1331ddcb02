//! Random expressions as text, to compare evaluators: ours with the real pgbench's.
//!
//! A seed gives one expression. It covers every operator and function, all
//! types and coercions, NULL, laziness, the edges of 64 bits and of doubles,
//! random draws, and now and then a type error or a fault of grammar.
//!
//! What is left out because no answer exists to compare with: a parameter of
//! `random_zipfian` that is not a number, which sends pgbench into an endless loop.

use crate::random::Prng;

/// Variables that expressions refer to, with the texts to define them by (`-D NAME=TEXT`).
/// `undefined_one` is referred to as well, and must not be defined.
pub const DEFINES: [(&str, &str); 12] = [
    ("v_int", "42"),
    ("v_min", "-9223372036854775808"),
    ("v_blank", "  7"),
    ("v_double", "2.75"),
    ("v_exp", "-1.5e-3"),
    ("v_hex", "0x1.8p3"),
    ("v_inf", "inf"),
    ("v_true", "Yes"),
    ("v_false", "of"),
    ("v_null", "NULL"),
    ("v_word", "word"),
    ("v_big", "9223372036854775808"),
];

/// Deepest nesting of what is generated.
const DEPTH_MAX: u32 = 5;

/// The expression of a seed.
#[must_use]
pub fn expression(seed: u64) -> String {
    let mut generator = Generator { prng: Prng::new(seed), out: String::new() };
    let kind = generator.kind();
    let depth = generator.below(u64::from(DEPTH_MAX)) as u32 + 1;
    generator.value(kind, depth);
    generator.out
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Int,
    Double,
    Bool,
}

struct Generator {
    prng: Prng,
    out: String,
}

const INTS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "10",
    "63",
    "64",
    "65",
    "100",
    "1000",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
    ":v_int",
];
const DOUBLES: [&str; 16] = [
    "0.0",
    "0.5",
    "1.5",
    "2.5",
    "1.",
    ".5",
    "1e5",
    "1.5e-3",
    "1e308",
    "1e-300",
    "3.25E+2",
    "9223372036854775807.0",
    "9223372036854774784.0",
    ":v_double",
    ":v_exp",
    "1e15",
];
const ODD: [&str; 16] = [
    "NULL",
    "null",
    "TRUE",
    "false",
    "1",
    "1.5",
    ":v_null",
    ":v_hex",
    ":v_inf",
    ":v_blank",
    ":v_min",
    ":v_word",
    ":v_big",
    ":undefined_one",
    ":1",
    "9223372036854775808",
];
const SHAPES: [&str; 8] = ["1.5", "2", "2.0", "3", "10.5", "1.001", "0.1", "1001"];
const SPACES: [&str; 4] = ["", " ", " ", "  "];

impl Generator {
    fn below(&mut self, bound: u64) -> u64 {
        self.prng.bounded(bound - 1)
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn kind(&mut self) -> Kind {
        [Kind::Int, Kind::Double, Kind::Bool, Kind::Int][self.below(4) as usize]
    }

    fn space(&mut self) {
        let space = self.pick(&SPACES);
        self.out.push_str(space);
    }

    /// A keyword or a name in some mixture of cases.
    fn word(&mut self, word: &str) {
        let upper = self.one_in(3);
        for letter in word.chars() {
            let letter = if upper { letter.to_ascii_uppercase() } else { letter };
            self.out.push(letter);
        }
    }

    /// A keyword that must stand apart from its neighbours.
    fn apart(&mut self, word: &str) {
        self.out.push(' ');
        self.word(word);
        self.out.push(' ');
    }

    fn value(&mut self, kind: Kind, depth: u32) {
        // Now and then something of the wrong type.
        let kind = if self.one_in(25) { self.kind() } else { kind };
        if depth == 0 || self.one_in(8) {
            return self.leaf(kind);
        }
        if self.one_in(12) {
            return self.case(kind, depth);
        }
        let bare = self.one_in(4);
        match kind {
            Kind::Bool if bare => self.logic(depth),
            _ if self.one_in(6) => self.call("debug", &[kind], depth),
            Kind::Bool => self.wrapped(depth, Self::logic),
            Kind::Int | Kind::Double if self.one_in(3) => self.function(kind, depth),
            Kind::Int if bare => self.int_operation(depth),
            Kind::Int => self.wrapped(depth, Self::int_operation),
            Kind::Double if bare => self.double_operation(depth),
            Kind::Double => self.wrapped(depth, Self::double_operation),
        }
    }

    fn wrapped(&mut self, depth: u32, inner: fn(&mut Self, u32)) {
        self.out.push('(');
        inner(self, depth);
        self.out.push(')');
    }

    fn leaf(&mut self, kind: Kind) {
        if self.one_in(20) {
            let odd = self.pick(&ODD);
            self.out.push_str(odd);
            return;
        }
        let text = match kind {
            Kind::Int if self.one_in(2) => self.below(200).to_string(),
            Kind::Int => self.pick(&INTS).to_owned(),
            Kind::Double => self.pick(&DOUBLES).to_owned(),
            Kind::Bool => self.pick(&["TRUE", "FALSE", "true", ":v_true", ":v_false"]).to_owned(),
        };
        self.out.push_str(&text);
    }

    fn infix(&mut self, left: Kind, operators: &[&str], right: Kind, depth: u32) {
        self.value(left, depth - 1);
        self.space();
        let operator = self.pick(operators);
        self.out.push_str(operator);
        self.space();
        self.value(right, depth - 1);
    }

    fn prefix(&mut self, operator: &str, kind: Kind, depth: u32) {
        self.out.push_str(operator);
        // Two minus signs are no comment here, but a blank costs nothing.
        self.out.push(' ');
        self.value(kind, depth - 1);
    }

    fn int_operation(&mut self, depth: u32) {
        match self.below(8) {
            0 => self.prefix("-", Kind::Int, depth),
            1 => self.prefix("~", Kind::Int, depth),
            2 => self.prefix("+", Kind::Int, depth),
            3 | 4 => self.infix(Kind::Int, &["|", "&", "#", "<<", ">>"], Kind::Int, depth),
            _ => self.infix(Kind::Int, &["+", "-", "*", "/", "%"], Kind::Int, depth),
        }
    }

    fn double_operation(&mut self, depth: u32) {
        let other = if self.one_in(2) { Kind::Int } else { Kind::Double };
        match self.below(6) {
            0 => self.prefix("-", Kind::Double, depth),
            1 | 2 => self.infix(other, &["+", "-", "*", "/"], Kind::Double, depth),
            _ => self.infix(Kind::Double, &["+", "-", "*", "/", "%"], other, depth),
        }
    }

    fn logic(&mut self, depth: u32) {
        let number = if self.one_in(3) { Kind::Double } else { Kind::Int };
        match self.below(8) {
            0 => {
                self.word("not");
                self.out.push(' ');
                self.value(Kind::Bool, depth - 1);
            }
            1 | 2 => {
                self.value(Kind::Bool, depth - 1);
                let word = self.pick(&["and", "or"]);
                self.apart(word);
                self.value(Kind::Bool, depth - 1);
            }
            3 => {
                let kind = self.kind();
                self.value(kind, depth - 1);
                let form = self.pick(&[
                    "is null",
                    "is not null",
                    "isnull",
                    "notnull",
                    "is true",
                    "is not true",
                    "is false",
                    "is not false",
                    "is null is false",
                ]);
                self.apart(form);
            }
            _ => {
                let operators = ["<", ">", "=", "<=", ">=", "<>", "!="];
                self.infix(number, &operators, Kind::Int, depth);
            }
        }
    }

    fn case(&mut self, kind: Kind, depth: u32) {
        self.word("case");
        for _ in 0..=self.below(3) {
            self.apart("when");
            let cond = self.kind();
            self.value(cond, depth - 1);
            self.apart("then");
            self.value(kind, depth - 1);
        }
        if !self.one_in(3) {
            self.apart("else");
            self.value(kind, depth - 1);
        }
        self.apart("end");
    }

    fn function(&mut self, kind: Kind, depth: u32) {
        use Kind::{Double, Int};
        if kind == Double {
            return match self.below(9) {
                0 => self.call("double", &[Int], depth),
                1 => self.call("exp", &[Double], depth),
                2 => self.call("ln", &[Double], depth),
                3 => self.call("sqrt", &[Double], depth),
                4 => self.call("pi", &[], depth),
                5 => self.call("pow", &[Double, Int], depth),
                6 => self.call("power", &[Int, Double], depth),
                7 => self.call("abs", &[Double], depth),
                _ => self.many(Double, depth),
            };
        }
        match self.below(13) {
            0 => self.call("abs", &[Int], depth),
            1 => self.call("int", &[Double], depth),
            2 => self.call("mod", &[Int, Int], depth),
            3 => self.random("random", depth),
            4 => self.random("random_exponential", depth),
            5 => self.random("random_gaussian", depth),
            6 => self.random("random_zipfian", depth),
            7 => self.call("hash", &[Int], depth),
            8 => self.call("hash_murmur2", &[Int, Int], depth),
            9 => self.call("hash_fnv1a", &[Int, Int], depth),
            10 => self.call("permute", &[Int, Int, Int], depth),
            11 => self.call("permute", &[Int, Int], depth),
            _ => self.many(Int, depth),
        }
    }

    fn many(&mut self, kind: Kind, depth: u32) {
        let name = self.pick(&["greatest", "least"]);
        let few = self.below(4) as usize + 1;
        let count = if self.one_in(30) { 17 } else { few };
        self.call(name, &vec![kind; count], depth);
    }

    fn call(&mut self, name: &str, args: &[Kind], depth: u32) {
        self.word(name);
        self.space();
        self.out.push('(');
        for (index, &kind) in args.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
                self.space();
            }
            self.value(kind, depth - 1);
        }
        // Now and then one argument too many.
        if self.one_in(200) {
            self.out.push_str(", 1");
        }
        self.out.push(')');
    }

    fn random(&mut self, name: &str, depth: u32) {
        self.word(name);
        self.out.push('(');
        self.value(Kind::Int, depth - 1);
        self.out.push_str(", ");
        if self.one_in(4) {
            self.value(Kind::Int, depth - 1);
        } else {
            let hi = self.pick(&["100000", "9223372036854775806", "1000 * :v_int", "200"]);
            self.out.push_str(hi);
        }
        if name != "random" {
            self.out.push_str(", ");
            let shape = self.pick(&SHAPES);
            self.out.push_str(shape);
        }
        self.out.push(')');
    }
}
