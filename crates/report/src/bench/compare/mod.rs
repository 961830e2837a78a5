//! What a comparison says: for a tired engineer, for a ticket, for programs.

mod forest;
mod json;
mod markdown;
mod rows;
mod section;
mod text;

pub use json::{SCHEMA as COMPARISON_SCHEMA, comparison_json};
pub use markdown::comparison_markdown;
pub(super) use rows::is_within;
pub(super) use section::{Section, sections};
pub(super) use text::ceiling_value;
pub use text::comparison_text;
