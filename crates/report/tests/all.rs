//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod common;
#[path = "../../rules/tests/common/mod.rs"]
mod composed;

mod catalogue;
mod consequences;
mod diff;
mod doctor;
mod drift;
mod env;
mod fleet;
mod formats;
mod hostile;
mod inert;
mod json;
mod located;
mod nodes;
mod one_model;
mod plan;
mod policy;
mod suppressed;
mod terminal;
mod topo;
mod versions;
mod widths;
