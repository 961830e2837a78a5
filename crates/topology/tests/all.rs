//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod common;

mod ceiling;
mod ceiling_node;
mod from_composed;
mod from_node;
mod from_small;
mod open;
mod oracle;
mod search;
mod search_oracle;
mod small;
mod topology_file;
mod xml;
