//! What an expression becomes: flat code, and a tree for printing and analysis.
//!
//! The code runs on a small stack without recursion, so that neither a chain
//! of ten thousand additions nor a deep nest can exhaust a thread's stack.
//! Jumps are relative: two operands can change places (`a > b` evaluates b
//! first) by rotating their code.

use crate::names::Slot;
use crate::value::Value;

/// An operator or a function that evaluates all its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named as in scripts
pub enum Function {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Eq,
    Ne,
    Lt,
    Le,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Not,
    Is,
    Abs,
    Debug,
    Double,
    Int,
    Exp,
    Ln,
    Sqrt,
    Greatest,
    Least,
    Pi,
    Pow,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    HashMurmur2,
    HashFnv1a,
    Permute,
}

/// How many arguments a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arity {
    Exactly(usize),
    AtLeastOne,
    /// These many, or one less: then `:default_seed` is the last.
    Seeded(usize),
}

/// All functions that have a name. Aliases come after the name that is printed.
pub(super) const FUNCTIONS: [(&str, Function, Arity); 22] = [
    ("abs", Function::Abs, Arity::Exactly(1)),
    ("debug", Function::Debug, Arity::Exactly(1)),
    ("double", Function::Double, Arity::Exactly(1)),
    ("exp", Function::Exp, Arity::Exactly(1)),
    ("greatest", Function::Greatest, Arity::AtLeastOne),
    ("hash_murmur2", Function::HashMurmur2, Arity::Seeded(2)),
    ("hash", Function::HashMurmur2, Arity::Seeded(2)),
    ("hash_fnv1a", Function::HashFnv1a, Arity::Seeded(2)),
    ("int", Function::Int, Arity::Exactly(1)),
    ("least", Function::Least, Arity::AtLeastOne),
    ("ln", Function::Ln, Arity::Exactly(1)),
    ("mod", Function::Mod, Arity::Exactly(2)),
    ("permute", Function::Permute, Arity::Seeded(3)),
    ("pi", Function::Pi, Arity::Exactly(0)),
    ("pow", Function::Pow, Arity::Exactly(2)),
    ("power", Function::Pow, Arity::Exactly(2)),
    ("random", Function::Random, Arity::Exactly(2)),
    ("random_exponential", Function::RandomExponential, Arity::Exactly(3)),
    ("random_gaussian", Function::RandomGaussian, Arity::Exactly(3)),
    ("random_zipfian", Function::RandomZipfian, Arity::Exactly(3)),
    ("sqrt", Function::Sqrt, Arity::Exactly(1)),
    ("", Function::Is, Arity::Exactly(2)),
];

/// One step of the code. Jumps count from the step after them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Op {
    Const(Value),
    Var(Slot),
    Call(Function, u8),
    /// More arguments than [`ARGS_MAX`]: the error, once the first of them are evaluated.
    TooManyArguments,
    /// After the left side of AND: false and NULL stay and jump, true goes.
    And(u32),
    /// After the left side of OR: true and NULL stay and jump, false goes.
    Or(u32),
    /// After the right side of either: must be a boolean or NULL.
    Logic,
    JumpUnless(u32),
    Jump(u32),
}

/// Most arguments of a function, checked only when it runs.
pub(super) const ARGS_MAX: usize = 16;

/// Shapes that skip the stack machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shortcut {
    None,
    Const(Value),
    Var(Slot),
    /// `random(lo, hi)`, a valid range.
    Random {
        lo: i64,
        hi: i64,
    },
    /// `random(lo, factor * :var)`.
    RandomScaled {
        lo: i64,
        factor: i64,
        slot: Slot,
    },
}

impl Shortcut {
    pub(super) fn of(code: &[Op]) -> Self {
        use Value::Int;
        match *code {
            [Op::Const(value)] => Self::Const(value),
            [Op::Var(slot)] => Self::Var(slot),
            [Op::Const(Int(lo)), Op::Const(Int(hi)), Op::Call(Function::Random, 2)]
                if is_drawable(lo, hi) =>
            {
                Self::Random { lo, hi }
            }
            [
                Op::Const(Int(lo)),
                Op::Const(Int(factor)),
                Op::Var(slot),
                Op::Call(Function::Mul, 2),
                Op::Call(Function::Random, 2),
            ] => Self::RandomScaled { lo, factor, slot },
            _ => Self::None,
        }
    }
}

/// Whether a range is not empty and its size fits 63 bits.
pub(super) fn is_drawable(lo: i64, hi: i64) -> bool {
    lo <= hi && hi.checked_sub(lo).is_some_and(|width| width < i64::MAX)
}

/// A node of the tree; children come before their parents.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Const(Value),
    Var(Slot),
    /// In order of evaluation.
    Call(Function, Box<[u32]>),
    And(u32, u32),
    Or(u32, u32),
    /// Conditions and values by turns, the last the one of ELSE.
    Case(Box<[u32]>),
}

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Expr {
    pub(super) code: Box<[Op]>,
    pub(super) depth: usize,
    pub(super) shortcut: Shortcut,
    /// The root is the last.
    pub(super) nodes: Box<[Node]>,
}

impl Expr {
    /// The variables that it reads, in order of appearance; a repeated one appears again.
    pub fn variables(&self) -> impl Iterator<Item = Slot> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Var(slot) => Some(*slot),
            _ => None,
        })
    }

    /// The operators and functions that it uses, in no particular order.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Call(function, _) => Some(*function),
            _ => None,
        })
    }
}

/// The deepest that the stack can get: every step pushes one value at most,
/// and a call takes its arguments away. Both branches of a jump leave the
/// same depth behind, so that one pass over the code finds it; branches of
/// CASE are counted as if both stayed, which is too much at worst.
pub(super) fn stack_depth(code: &[Op]) -> usize {
    let (mut now, mut deepest) = (0_usize, 0);
    for op in code {
        match op {
            Op::Const(_) | Op::Var(_) => now += 1,
            Op::Call(_, args) => now = (now + 1).saturating_sub(usize::from(*args)),
            Op::And(_) | Op::Or(_) | Op::JumpUnless(_) => now = now.saturating_sub(1),
            Op::Logic | Op::TooManyArguments | Op::Jump(_) => {}
        }
        deepest = deepest.max(now);
    }
    deepest
}
