//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod crash;
mod damage;
mod export;
mod queries;
mod round_trip;
mod secrets;
