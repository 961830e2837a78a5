//! Runs for programs, schema `linerate.bench-runs/1` (docs/schema/bench-runs-1.json): one run a line, so that large imports can be
//! read as they come.

use super::Refused;
use crate::VERSION;
use linerate_bench::Run;
use linerate_out::json::Inert;
use std::io::{self, BufWriter, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.bench-runs/1";

/// Writes runs and what was refused.
///
/// # Errors
/// Those of the writer.
pub fn runs_json(runs: &[Run], refused: &[Refused], out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, Inert::new(out));
    write!(out, "{{\"schema\":\"{SCHEMA}\",\"linerate\":\"{VERSION}\",\"runs\":[")?;
    for (i, run) in runs.iter().enumerate() {
        out.write_all(if i > 0 { b",\n" } else { b"\n" })?;
        serde_json::to_writer(&mut out, run)?;
    }
    out.write_all(b"\n],\"refused\":[")?;
    for (i, part) in refused.iter().enumerate() {
        out.write_all(if i > 0 { b",\n" } else { b"\n" })?;
        serde_json::to_writer(&mut out, part)?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}
