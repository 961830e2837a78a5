//! The answer for programs, schema `linerate.doctor/1` (docs/schema/doctor-1.json).

use crate::VERSION;
use linerate_doctor::Answer;
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.doctor/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    linerate: &'static str,
    exit_code: u8,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// Writes the document.
///
/// # Errors
/// Those of the writer.
pub fn render(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let document = Document { schema: SCHEMA, linerate: VERSION, exit_code: answer.exit_code(), answer };
    crate::json::write_pretty(&document, out)
}
