//! A snapshot that somebody unpacked: read as a capture reads a tree, with what only the manifest knows put back.

use super::MANIFEST;
use super::error::OpenError;
use super::own::apply_manifest;
use crate::capture::{Options, Progress, Purpose, files_of};
use crate::{Coverage, Snapshot};
use std::io::Read;
use std::path::Path;

/// Commands of one snapshot, and bytes of one output.
const MAX_COMMANDS: usize = 10_000;
const MAX_OUTPUT: u64 = 8 << 20;

/// Reads an unpacked snapshot. Only what the catalogue names is opened, and what a capture adds to it.
///
/// # Errors
/// The directory cannot be opened.
pub(crate) fn unpacked(options: &Options, progress: &dyn Fn(Progress<'_>)) -> Result<Snapshot, OpenError> {
    let root = &options.root;
    let mut s = files_of(options, &|n| progress(Progress::Files(n)))?;
    s.label = root.display().to_string();
    for path in [MANIFEST, crate::NVML_PATH, "linerate/env"] {
        add(&mut s, root, path);
    }
    commands(&mut s, root);
    let whole = matches!(s.coverage, Coverage::Full { .. });
    s.coverage = Coverage::Partial;
    apply_manifest(&mut s);
    match &mut s.coverage {
        coverage if !whole => *coverage = Coverage::Partial,
        Coverage::Full { not_tried } if options.purpose == Purpose::Audit => {
            let skipped = crate::catalogue::catalogue().patterns.iter().filter(|(_, collect_only)| *collect_only);
            let more: Vec<String> = skipped.map(|(p, _)| p.clone()).filter(|p| !not_tried.contains(p)).collect();
            not_tried.extend(more);
        }
        _ => {}
    }
    crate::redact::secrets::snapshot(&mut s, &mut Default::default());
    Ok(s)
}

fn commands(s: &mut Snapshot, root: &Path) {
    let Ok(list) = std::fs::read_dir(root.join("cmd")) else { return };
    let numbers = list.flatten().filter_map(|e| e.file_name().into_string().ok());
    let mut numbers: Vec<String> = numbers.filter(|n| n.parse::<u32>().is_ok()).take(MAX_COMMANDS).collect();
    numbers.sort();
    for n in numbers {
        for leaf in ["argv", "status", "stderr", "stdout"] {
            add(s, root, &format!("cmd/{n}/{leaf}"));
        }
    }
}

/// Adds a plain file, if it is there.
fn add(s: &mut Snapshot, root: &Path, path: &str) {
    let at = root.join(path);
    // Whatever else it is, it did not come out of an archive of linerate.
    if !at.symlink_metadata().is_ok_and(|m| m.is_file()) {
        return;
    }
    let mut data = Vec::new();
    match std::fs::File::open(at).and_then(|f| f.take(MAX_OUTPUT).read_to_end(&mut data)) {
        Ok(n) if (n as u64) < MAX_OUTPUT => s.add_file(path, &data),
        Ok(_) => s.add_cut_file(path, &data),
        Err(e) => s.add_failed(path, crate::Why::Failed(e.to_string().into())),
    };
}
