//! The tests of this crate: one program, so that what they share is built once. Some have a program of their own, where `Cargo.toml` says so.

mod common;

mod answers;
mod cases;
mod classes;
mod devices;
mod doubts;
mod evidence;
mod figures;
mod frameworks;
mod glued;
mod kernel;
mod messages;
mod metamorphic;
mod nodes;
mod phrases;
mod ras;
mod tickets;
