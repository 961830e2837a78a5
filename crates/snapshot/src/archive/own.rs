//! What is put back from the manifest, and which texts of an archive are whose.

use super::MANIFEST;
use super::prefix::find;
use crate::catalogue::catalogue;
use crate::recognise::{output, recognise};
use crate::redact::secrets::without_secrets;
use crate::{Coverage, EntryKind, Manifest, Output, OutputKind, Snapshot, Why};
use linerate_formats::bounds;

/// What only the manifest knows: failures, coverage, which outputs are whose.
pub(super) fn apply_manifest(s: &mut Snapshot) {
    let Some(json) = find(s, MANIFEST).map(|id| s.data(id).to_vec()) else { return };
    let mut m: Manifest = match serde_json::from_slice(&json) {
        Ok(m) => m,
        Err(e) => {
            s.problems.push(format!("{MANIFEST} is not understood: {e}; what is missing counts as not collected"));
            return;
        }
    };
    if m.schema > crate::manifest::SCHEMA {
        s.problems.push(format!("the snapshot was made by a newer linerate ({}, schema {})", m.linerate, m.schema));
    }
    let good = bounded(&mut m, s);
    let mut whole = good && !m.tried.is_empty();
    let mut not_tried = crate::manifest::not_tried(&m.tried);
    for u in m.unread.iter_mut().filter(|u| u.why.len() > 13) {
        u.why = without_secrets(&u.why).into_owned();
    }
    for u in &m.unread {
        if u.path == "**" {
            whole = false;
        } else if let Some(id) =
            u.path.strip_suffix("/**").filter(|_| u.why == "not-collected").and_then(|p| find(s, p))
        {
            s.mark_bystander(id);
        } else if u.path.ends_with("/**") {
            not_tried.push(u.path.clone());
        } else if u.why == "cut" {
            if let Some(id) = find(s, &u.path) {
                s.mark_cut(id);
            }
        } else {
            s.add_failed(&u.path, Why::of_word(&u.why));
        }
    }
    s.coverage = if whole { Coverage::Full { not_tried } } else { Coverage::Partial };
    s.problems.append(&mut m.problems);
    s.incomplete |= m.incomplete;
    if !m.host.is_empty() {
        s.label.clone_from(&m.host);
    }
    m.unread.retain(|u| u.path.ends_with("**"));
    s.manifest = m;
    outputs(s);
}

/// Whether the patterns are as many and as long as those of a capture: each is asked about each path that is not there. Where they
/// are more, nothing is said of what is missing.
fn bounded(m: &mut Manifest, s: &mut Snapshot) -> bool {
    if m.problems.len() > bounds::MANIFEST_REMARKS {
        let more = m.problems.len() - bounds::MANIFEST_REMARKS;
        m.problems.truncate(bounds::MANIFEST_REMARKS);
        s.problems.push(format!("{MANIFEST} has {more} more remarks; they were left out"));
    }
    let trees = m.unread.iter().filter(|u| u.path.ends_with("**"));
    let long = |p: &String| p.len() > bounds::MANIFEST_PATTERN;
    let good = m.tried.len() <= bounds::MANIFEST_TRIED
        && trees.clone().count() <= bounds::MANIFEST_TREES
        && !m.tried.iter().any(long)
        && !trees.clone().any(|u| long(&u.path));
    if !good {
        m.tried.clear();
        m.unread.retain(|u| !u.path.ends_with("**"));
        s.problems.push(format!(
            "{MANIFEST} names more than {} patterns, {} trees, or longer ones than {} bytes; what is missing counts as not collected",
            bounds::MANIFEST_TRIED,
            bounds::MANIFEST_TREES,
            bounds::MANIFEST_PATTERN
        ));
    }
    good
}

/// `cmd/<n>/` in the order of n.
fn outputs(s: &mut Snapshot) {
    let mut found: Vec<(u32, Output)> = Vec::new();
    if let Some(cmd) = s.child(s.root(), "cmd") {
        for (n, dir) in s.children(cmd) {
            let (Ok(n), Some(entry)) = (n.parse::<u32>(), s.child(dir, "stdout")) else { continue };
            let text = |leaf| s.child(dir, leaf).and_then(|i| std::str::from_utf8(s.data(i)).ok()).unwrap_or_default();
            let argv = argv(text("argv"));
            let name = argv.first().cloned().unwrap_or_default();
            let kind = catalogue().kind_of_command(&argv).unwrap_or_else(|| output(recognise(&name, s.data(entry))));
            let status = text("status").trim().parse().ok();
            found.push((n, Output { kind, entry, argv, status }));
        }
    }
    found.sort_by_key(|(n, _)| *n);
    s.outputs = found.into_iter().map(|(_, o)| o).collect();
    if let Some(entry) = find(s, crate::NVML_PATH) {
        s.outputs.push(Output { kind: OutputKind::Nvml, entry, argv: Vec::new(), status: None });
    }
}

/// The command: a JSON array, or one argument a line.
fn argv(text: &str) -> Vec<String> {
    match serde_json::from_str(text) {
        Ok(argv) => argv,
        Err(_) => text.lines().map(str::to_owned).collect(),
    }
}

/// Texts that a sosreport holds, by their content.
pub(super) fn sos_commands(s: &mut Snapshot) {
    let Some(dir) = s.child(s.root(), "sos_commands") else { return };
    let mut found = Vec::new();
    for (_, plugin) in s.children(dir) {
        for (name, id) in s.children(plugin) {
            if matches!(s.kind(id), EntryKind::File | EntryKind::CutFile) {
                let kind = output(recognise(name, s.data(id)));
                if kind != OutputKind::Other {
                    found.push(Output { kind, entry: id, argv: Vec::new(), status: None });
                }
            }
        }
    }
    s.outputs.append(&mut found);
}
