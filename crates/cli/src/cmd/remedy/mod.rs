//! `linerate plan`, `apply`, `verify`, `rollback`, and the hand that they ask on a node.

pub(crate) mod apply;
mod apply_screen;
mod bmc;
pub(crate) mod hand;
mod here;
mod kept;
mod kube;
pub(crate) mod plan;
mod policy;
mod reach;
pub(crate) mod rollback;
mod signature;
mod stored;
pub(crate) mod verify;

use crate::args::When;
use crate::output::{Failure, Sink};
use crate::plan_args::AnswerFormat;
use linerate_apply::drive::Operator;
use linerate_remedy::Plan;
use linerate_remedy::verify::Verification;
use linerate_report::plan::{json, markdown, text};
use std::io::Read;
use std::path::Path;

/// Longest plan.
const MOST: u64 = 64 << 20;

/// A plan, and the bytes that it was read from.
struct FromFile {
    plan: Plan,
    bytes: Vec<u8>,
}

fn read_plan(path: &Path) -> Result<FromFile, Failure> {
    let bytes = if path == Path::new("-") {
        read_all(std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(read_all)
    };
    let bytes = bytes.map_err(|e| Failure::new(format!("{}: {e}", path.display())))?;
    let plan = Plan::read(&bytes).map_err(|e| {
        Failure::new(format!("{}: {e}", path.display())).hint("`linerate plan --format json -o FILE` writes plans")
    })?;
    Ok(FromFile { plan, bytes })
}

/// What a node that was read again says, in the form that was asked for.
fn verified(found: &Verification, format: AnswerFormat, color: When, sink: &mut Sink) -> std::io::Result<()> {
    match format {
        AnswerFormat::Text => text::render_verified(found, sink.style(color, false), sink),
        AnswerFormat::Markdown => markdown::render_verified(found, sink),
        AnswerFormat::Json => json::render(found, sink),
    }
}

/// This process, for nodes and journals.
fn operator(take_over: bool) -> Operator {
    Operator { take_over, ..Operator::new(&who()) }
}

fn read_all(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Who does it, for journals.
fn who() -> String {
    let user = std::env::var("SUDO_USER").or_else(|_| std::env::var("USER")).unwrap_or_else(|_| "somebody".to_owned());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = format!("{user}@{}", host.trim());
    name.chars().filter(|c| c.is_ascii_graphic()).take(128).collect()
}
