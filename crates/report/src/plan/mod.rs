//! Plans, and whether they are effective: for a tired engineer, for a ticket. A plan for programs is [`linerate_remedy::Plan`] itself;
//! what was verified is [`json`].

mod change;
mod fold;
pub mod json;
pub mod markdown;
pub mod text;
mod verified;
pub(crate) mod words;
