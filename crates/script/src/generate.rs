//! Random expressions as text.
