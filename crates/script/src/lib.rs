//! pgbench's script language and random numbers, as PostgreSQL 18 has them.
//!
//! Scripts are compiled once: names become slots, expressions become flat
//! code, SQL becomes pieces. What is left for each transaction is to run over
//! slices, without allocation and without looking up a name.
//!
//! Nothing here reads a file, a socket or a clock. Messages are values whose
//! text is pgbench's; the caller adds the program's name and prints them.

pub mod builtin;
pub mod choice;
mod comment;
mod conditional;
pub mod declared;
mod equalities;
pub mod error;
pub mod expr;
#[cfg(any(test, feature = "generate"))]
pub mod generate;
pub mod independence;
mod lex;
mod meta;
pub mod names;
pub mod number;
pub mod random;
pub mod script;
pub mod sql;
pub mod statement;
pub mod text;
pub mod value;
pub mod vars;

pub use builtin::Builtin;
pub use choice::ScriptChoice;
pub use error::{ParseError, RunError, ScriptError};
pub use expr::{Env, Expr};
pub use names::{Names, Slot};
pub use random::{Prng, Streams};
pub use script::{Command, CommandKind, Script, Target};
pub use sql::{Piece, Sql, Store, StoreMode};
pub use statement::SqlKind;
pub use value::Value;
pub use vars::Vars;
