//! What an act changes, exactly: a unified diff, or a command.

use linerate_out::shell;
use linerate_remedy::{Act, Content, FileAct, FileState, RunAct, Step};
use similar::TextDiff;

/// Lines around a change.
const CONTEXT: usize = 3;

/// A file's or a definition's change as a unified diff; `None` for acts that change neither. Where the plan tells only a digest of what was
/// there, every line is a new one.
pub(super) fn diff(act: &Act) -> Option<String> {
    let FileAct { path, before, after, .. } = match act {
        Act::File(act) => act,
        Act::Domain(act) => return Some(act.diff()),
        _ => return None,
    };
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

/// Undoing a step: what was there comes back, the last first; then what reads it is run.
pub(super) fn rollback(step: &Step) -> Vec<String> {
    let acts = || step.acts().rev();
    let runs = acts().filter_map(|act| match act {
        Act::Run(RunAct { undo, .. }) if !undo.is_empty() => Some(format!("then run {}", shell::shown(undo))),
        _ => None,
    });
    let out: Vec<String> = acts().filter_map(Act::rollback).chain(runs).collect();
    if out.is_empty() { vec!["nothing to do: the change ends by itself".to_owned()] } else { out }
}
