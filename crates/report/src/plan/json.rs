//! What was verified for programs, schema `linerate.verify/1` (docs/schema/verify-1.json).

use linerate_remedy::Plan;
use linerate_remedy::verify::Verification;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    verification: &'a Verification,
    proven: bool,
    exit_code: u8,
}

/// Writes what was verified.
///
/// # Errors
/// Those of the writer.
pub fn render(verification: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let document = Document { verification, proven: verification.is_proven(), exit_code: verification.exit_code() };
    crate::json::write_pretty(&document, out)
}

/// Writes a plan, as `Plan::read` takes it (docs/schema/plan-1.json).
///
/// # Errors
/// Those of the writer.
pub fn render_plan(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    crate::json::write_pretty(plan, out)
}
