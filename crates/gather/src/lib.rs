//! Many hosts: which there are (inventory), what each one shows (fan-out), and the files that hold it (the fleet's directory).
//!
//! All I/O about several nodes is here; what follows from their snapshots is in `fleet`.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

pub mod fan;
pub mod index;
pub mod inventory;
pub mod lists;
pub mod reach;
pub mod suppress;
mod target;

pub use target::Target;
