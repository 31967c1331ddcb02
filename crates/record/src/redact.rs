//! Takes secrets out of texts before they are kept.
//!
//! For command lines, which hold connection URIs and keyword strings as typed.
//! Typed secrets inside the program have a type of their own elsewhere.
