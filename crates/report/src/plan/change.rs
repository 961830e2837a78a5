//! What an act changes, exactly: a unified diff, or a command.

use linerate_out::shell;
use linerate_remedy::{Act, Content, FileState, Step};
use similar::TextDiff;

/// Lines around a change.
const CONTEXT: usize = 3;
/// Permissions that need no word.
const USUAL: u32 = 0o644;

/// A file's change as a unified diff; `None` for acts that change no file. Where the plan tells only a digest of what was there, every
/// line is a new one.
pub(super) fn diff(act: &Act) -> Option<String> {
    let Act::File { path, before, after, .. } = act else { return None };
    let (old, old_name) = match before {
        FileState::Absent => ("", "/dev/null"),
        FileState::Content(text) => (text.as_str(), path.as_str()),
        FileState::Digest(_) => ("", path.as_str()),
    };
    let (new, new_name) = match after {
        Some(Content(text)) => (text.as_str(), path.as_str()),
        None => ("", "/dev/null"),
    };
    let diff = TextDiff::from_lines(old, new);
    Some(diff.unified_diff().context_radius(CONTEXT).header(old_name, new_name).to_string())
}

/// What the diff does not say; empty: nothing.
pub(super) fn notes(act: &Act) -> Vec<String> {
    let mut out = Vec::new();
    match act {
        Act::File { before, after, mode, .. } => {
            if let FileState::Digest(digest) = before {
                out.push(format!("the plan does not show what is there now; its SHA-256 must be {digest}"));
            }
            if after.is_some() && *mode != USUAL {
                out.push(format!("permissions {mode:04o}"));
            }
        }
        Act::Run { writes, limit, .. } => {
            if !writes.is_empty() {
                out.push(format!("it writes {}, which is kept before", writes.join(", ")));
            }
            out.push(format!("it may take {limit} s"));
        }
        Act::Trial { .. } => {
            out.push("holds for one start: if it does not come up, the next start takes the usual entry".to_owned())
        }
        Act::Label { after, .. } => {
            let when = if after.is_some() { "when all else is proven" } else { "before anything else is changed" };
            out.push(format!("made through the Kubernetes API, {when}"));
        }
        Act::Value { .. } | Act::NicFirmware { .. } | Act::Bios { .. } => {}
    }
    out
}

/// Undoing a step: what was there comes back, the last first; then what reads it is run.
pub(super) fn rollback(step: &Step) -> Vec<String> {
    let acts = || step.trial.iter().chain(&step.change).rev();
    let runs = acts().filter_map(|act| match act {
        Act::Run { undo, .. } if !undo.is_empty() => Some(format!("then run {}", shell::shown(undo))),
        _ => None,
    });
    let out: Vec<String> = acts().filter_map(back).chain(runs).collect();
    if out.is_empty() { vec!["nothing: what was changed ends by itself".to_owned()] } else { out }
}

/// How what an act changed comes back.
fn back(act: &Act) -> Option<String> {
    Some(match act {
        Act::File { path, before: FileState::Absent, .. } => format!("remove {path}"),
        Act::File { path, .. } => format!("put {path} back as it was"),
        Act::Run { writes, .. } if !writes.is_empty() => format!("put {} back as it was", writes.join(", ")),
        Act::Value { path, before, .. } => format!("write {before} to {path}"),
        Act::NicFirmware { device, parameter, before, .. } => format!("set {parameter} of {device} to {before}"),
        Act::Bios { attribute, before, .. } => format!("set the BIOS attribute {attribute} to {before}"),
        Act::Label { key, before: Some(before), .. } => format!("put the label {key}={before} back"),
        Act::Label { key, .. } => format!("take the label {key} off"),
        Act::Run { .. } | Act::Trial { .. } => return None,
    })
}
