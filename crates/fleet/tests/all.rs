//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

#[path = "../../rules/tests/common/mod.rs"]
mod common;
#[path = "common/lost.rs"]
mod losses;

mod any_text;
mod audit;
mod claims;
mod diff;
mod drift;
mod lost;
mod nodeset;
mod policy;
mod record;
mod reference;
