//! What the doctor answers: for a tired engineer, for a ticket, for programs.

pub mod json;
pub mod markdown;
pub mod text;
pub(crate) mod words;
