//! For programs, schema `linerate.diff/1` (docs/schema/diff-1.json).

use super::Report;
use crate::VERSION;
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.diff/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    linerate: &'static str,
    #[serde(flatten)]
    report: &'a Report<'a>,
}

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    crate::json::write_pretty(&Document { schema: SCHEMA, linerate: VERSION, report }, out)
}
