//! The answer for programs, schema `linerate.doctor/1` (docs/schema/doctor-1.json).

use super::on;
use crate::fix::Fix;
use linerate_doctor::Answer;
use linerate_doctor::answer::Cause;
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.doctor/1";

#[derive(Serialize)]
struct Document<'a> {
    exit_code: u8,
    causes: Vec<CauseOut<'a>>,
    #[serde(flatten)]
    answer: &'a Answer,
}

#[derive(Serialize)]
struct CauseOut<'a> {
    #[serde(flatten)]
    cause: &'a Cause,
    remedy: Option<Fix<'a>>,
}

/// Writes the document.
///
/// # Errors
/// Those of the writer.
pub fn render(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let causes =
        answer.causes.iter().map(|c| CauseOut { cause: c, remedy: c.remedy.as_ref().map(|r| Fix::of(r, &on(c))) });
    let document = Document { exit_code: answer.exit_code(), causes: causes.collect(), answer };
    crate::json::write_document(SCHEMA, &document, out)
}
