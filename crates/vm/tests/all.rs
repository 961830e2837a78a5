//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod common;

mod fabric;
mod first_layout;
mod foreign;
mod format;
mod hosts;
mod merge;
mod merge_cases;
mod one_search;
mod pairs;
mod random;
