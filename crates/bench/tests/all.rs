//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod import_forms;
mod import_long;
mod real_files;
mod schemas;
mod secrets;
mod verdicts;
