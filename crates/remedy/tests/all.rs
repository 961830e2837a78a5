//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod common;
#[path = "../../rules/tests/common/mod.rs"]
mod composed;
mod properties;
mod rendered;

mod addresses;
mod change;
mod export;
mod nodes;
mod own_files;
mod own_schemas;
mod own_tools;
mod simulate;
mod written;
