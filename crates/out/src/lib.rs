//! What leaves the program, in one place each: text from data made safe for the form that it is written in, files that are written
//! whole or not at all, and children that get no more of the environment than they need.
//!
//! Text from data may hold anything: names of devices, lines of logs, answers of other hosts. For each form there is one function, and
//! what it returns is inert in that form. A reader of the form gets the same text back, or sees an escape (`\u{1b}`) where a
//! character would drive a terminal, reorder text or hide in it.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod child;
pub mod csv;
pub mod dot;
pub mod file;
pub mod json;
pub mod markdown;
pub mod markup;
mod quoted;
pub mod shell;
mod terminal;
pub mod yaml;

pub use terminal::{hidden, lines, terminal};
