//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod capture;
mod composed;
mod nodes;
mod posix;
mod real_archives;
mod redact_key;
mod secrets;
mod texts;
