//! For programs, schema `linerate.diff/1` (docs/schema/diff-1.json).

use super::Report;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.diff/1";

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    crate::json::write_document(SCHEMA, report, out)
}
