//! What is kept in the repository of what was found: few short inputs, each of which reaches something that the seeds do not.

use super::build::Harness;
use super::engine::LIMITS;
use crate::shell::{self, Result, emptied};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;
use std::process::Stdio;

/// Bytes of a target's inputs.
const ALL: usize = 2 << 10;
/// Bytes of one of them.
const ONE: u64 = 512;

/// Writes `fuzz/corpus/TARGET.txt`.
pub(super) fn keep(harness: &Harness, target: &str) -> Result<()> {
    let merged = harness.work.join("merged").join(target);
    let (small, short) = (merged.join("small"), merged.join("short"));
    emptied(&small)?;
    emptied(&short)?;
    let seeds = copied(&harness.seeds(target), &small, u64::MAX)?;
    copied(&harness.work.join("corpus").join(target), &short, ONE)?;
    copied(&harness.kept(target), &short, ONE)?;
    // Copies those that reach more than what is in the first directory.
    let mut merge = harness.of(target, None);
    merge.arg("-merge=1").args(LIMITS).args([&small, &short]).stdin(Stdio::null());
    shell::output(&mut merge)?;
    let mut inputs: Vec<Vec<u8>> = contents(&small)?.into_iter().filter(|i| !seeds.contains(i)).collect();
    // Short ones first: most of them find a place.
    inputs.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    let mut room = ALL;
    let mut text = String::new();
    for input in inputs.iter().filter(|i| !i.is_empty()) {
        let Some(rest) = room.checked_sub(input.len()) else { break };
        room = rest;
        text.push_str(&STANDARD.encode(input));
        text.push('\n');
    }
    let path = shell::root().join("fuzz/corpus").join(format!("{target}.txt"));
    if text.is_empty() {
        let _ = std::fs::remove_file(&path);
        return Ok(());
    }
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Copies the files of a directory up to a size, under names of their own; their contents.
fn copied(from: &Path, to: &Path, longest: u64) -> Result<Vec<Vec<u8>>> {
    let kind = from.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let inputs = contents(from)?;
    for (n, input) in inputs.iter().enumerate().filter(|(_, i)| i.len() as u64 <= longest) {
        let path = to.join(format!("{kind}-{n}"));
        std::fs::write(&path, input).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(inputs)
}

/// The files of a directory, by content; none where there is not a directory.
fn contents(dir: &Path) -> Result<Vec<Vec<u8>>> {
    let files = match std::fs::read_dir(dir) {
        Ok(files) => files,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(format!("{}: {e}", dir.display())),
    };
    Ok(files.flatten().filter_map(|f| std::fs::read(f.path()).ok()).collect())
}
