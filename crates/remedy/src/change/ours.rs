//! Files of ours: what is there now, and what it becomes.

use super::Refusal;
use crate::act::head;
use crate::model::{Act, Content, FileAct, FileState, RunAct};
use linerate_snapshot::{EntryKind, Lookup, MARK, Snapshot};

/// Longest file of ours that is read and written again.
const MOST: usize = 64 * 1024;

/// Content of a file as the source shows it; `None`: it shows none there. Where the source did not look, this is no claim: the act's
/// condition is that nothing is there, and is checked before anything is changed.
pub(super) fn there<'s>(s: &'s Snapshot, path: &str) -> Result<Option<&'s str>, Refusal> {
    let unread = || {
        Refusal::no(format!(
            "{path} exists, but its content is not in the source: collect again with this version, as root"
        ))
    };
    let id = match s.resolve(path.trim_start_matches('/')) {
        Lookup::Found(id) => id,
        Lookup::Missing => return Ok(None),
        Lookup::Blocked(..) => return Err(unread()),
    };
    match s.kind(id) {
        EntryKind::File if s.data(id).len() <= MOST => match std::str::from_utf8(s.data(id)) {
            // It was written to by others: what was hidden at the capture would be lost.
            Ok(text) if text.contains(MARK) => Err(Refusal::no(format!(
                "{path} holds what linerate did not write and does not capture ({MARK}): move that to a file of its own first"
            ))),
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Refusal::no(format!("{path} exists and is not text"))),
        },
        _ => Err(unread()),
    }
}

/// A file of ours with these lines, and those that it had before. `keep` says which of the old ones stay.
pub(super) fn with_lines(
    s: &Snapshot,
    path: &str,
    step: &str,
    lines: &[String],
    keep: impl Fn(&str) -> bool,
) -> Result<Option<Act>, Refusal> {
    let old = there(s, path)?;
    let kept = old.unwrap_or_default().lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
    let mut all: Vec<&str> = kept.filter(|l| keep(l)).collect();
    for line in lines {
        if !all.contains(&line.as_str()) {
            all.push(line);
        }
    }
    let mut text = head(step);
    for line in all {
        text.push_str(line);
        text.push('\n');
    }
    Ok(whole(old, path, text, 0o644))
}

/// A file of ours with this content; `None`: it has it already.
pub(super) fn written(s: &Snapshot, path: &str, text: String, mode: u32) -> Result<Option<Act>, Refusal> {
    Ok(whole(there(s, path)?, path, text, mode))
}

fn whole(old: Option<&str>, path: &str, text: String, mode: u32) -> Option<Act> {
    if old == Some(text.as_str()) {
        return None;
    }
    let before = old.map_or(FileState::Absent, |t| FileState::Content(t.to_owned()));
    Some(Act::File(FileAct { path: path.to_owned(), before, after: Some(Content(text)), mode }))
}

/// A program that is run.
pub(super) fn run(argv: &[&str], undo: &[&str], limit: u32) -> Act {
    run_writing(argv, Vec::new(), undo, limit)
}

/// A program that is run and writes files.
pub(super) fn run_writing(argv: &[&str], writes: Vec<String>, undo: &[&str], limit: u32) -> Act {
    let words = |w: &[&str]| w.iter().map(|s| (*s).to_owned()).collect();
    Act::Run(RunAct { argv: words(argv), writes, undo: words(undo), limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_ours_keeps_what_it_had() {
        let mut s = Snapshot::new("t");
        let path = "/etc/modules-load.d/linerate.conf";
        let lines = ["nvidia_peermem".to_owned()];
        let Ok(Some(Act::File(FileAct { before, after, .. }))) = with_lines(&s, path, "modules", &lines, |_| true)
        else {
            panic!("no file")
        };
        assert_eq!(before, FileState::Absent);
        let text = after.expect("content").0;
        assert_eq!(text, format!("{}nvidia_peermem\n", head("modules")));
        s.add_file("etc/modules-load.d/linerate.conf", text.as_bytes());
        assert_eq!(with_lines(&s, path, "modules", &lines, |_| true), Ok(None), "nothing is left to write");
        let more = ["ib_umad".to_owned()];
        let Ok(Some(Act::File(FileAct { before, after, .. }))) = with_lines(&s, path, "modules", &more, |_| true)
        else {
            panic!("no file")
        };
        assert_eq!(before, FileState::Content(text));
        assert_eq!(after.expect("content").0, format!("{}nvidia_peermem\nib_umad\n", head("modules")));
    }

    #[test]
    fn what_cannot_be_read_is_not_overwritten() {
        let mut s = Snapshot::new("t");
        s.add_cut_file("etc/a", b"x");
        s.add_file("etc/b", b"\xff\xfe");
        assert!(written(&s, "/etc/a", "y".into(), 0o644).is_err());
        assert!(written(&s, "/etc/b", "y".into(), 0o644).is_err());
    }
}
