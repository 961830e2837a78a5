//! For programs, schema `linerate.watch/1` (docs/schema/watch-1.json).

use super::Report;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.watch/1";

pub(super) fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    crate::json::write_document(SCHEMA, report, out)
}
