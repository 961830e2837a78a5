//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod drift;
mod frames;
mod index;
mod inventory;
mod key;
mod reach;
mod update;
