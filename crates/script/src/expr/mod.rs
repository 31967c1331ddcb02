//! Expressions: parsed once into flat code for a small stack machine.

mod code;
mod eval;
mod operator;
mod parse;
mod print;
mod token;

pub use code::{Expr, Function};
pub use eval::Env;
pub(crate) use parse::parse;
