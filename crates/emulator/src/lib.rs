//! A stand-in for Aurora DSQL.
mod dialect;
mod refusal;
