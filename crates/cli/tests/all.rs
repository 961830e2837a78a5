//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod command;
#[path = "../../transport/tests/common/mod.rs"]
mod hosts;
mod kube;
mod lab;
#[path = "../../report/tests/common/schema.rs"]
mod schema;

mod bench;
mod bench_json;
mod bounds;
mod columns;
mod defaults;
mod diff;
mod doctor;
mod env;
mod fan;
mod fleets;
mod formats;
mod help;
mod known;
mod labels;
mod lists;
mod located;
mod nodes;
mod notes;
mod on;
mod outputs;
mod paste;
mod policy;
mod read;
mod redfish;
mod remedy;
mod secrets;
mod sources;
mod topo;
mod vm;
mod vm_check;
mod watch;
mod ways;
