//! For programs, schema `linerate.env/1` (docs/schema/env-1.json).

use super::Env;
use linerate_env::{Judgement, Recommendation};
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.env/1";

#[derive(Serialize)]
struct Document<'a> {
    /// As given or read.
    nccl: Option<String>,
    /// The release whose sources answer for it.
    judged_by: Option<String>,
    node: Option<&'a str>,
    sources: &'a [String],
    exit_code: u8,
    findings: usize,
    judgements: &'a [Judgement],
    recommendation: &'a Recommendation,
    dropped: u64,
    notes: &'a [String],
}

/// Writes it.
///
/// # Errors
/// Those of the writer.
pub fn render(env: &Env<'_>, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        nccl: env.context.nccl.map(|v| v.to_string()),
        judged_by: env.context.release().map(|v| v.to_string()),
        node: env.node,
        sources: env.sources,
        exit_code: env.exit_code(),
        findings: env.findings(),
        judgements: env.judgements,
        recommendation: env.recommendation,
        dropped: env.dropped,
        notes: env.notes,
    };
    crate::json::write_document(SCHEMA, &document, out)
}
