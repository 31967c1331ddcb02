//! The command line of pgdyno.
fn main() {}
