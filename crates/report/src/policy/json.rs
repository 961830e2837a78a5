//! For programs, schema `linerate.policy-check/1` (docs/schema/policy-check-1.json).

use super::Report;
use crate::VERSION;
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.policy-check/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    linerate: &'static str,
    #[serde(flatten)]
    report: &'a Report,
}

pub(super) fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    crate::json::write_pretty(&Document { schema: SCHEMA, linerate: VERSION, report }, out)
}
