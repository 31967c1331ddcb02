//! The minimal client.
