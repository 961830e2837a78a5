//! Where nodes as they were before are kept on the operator's machine.

use crate::output::Failure;
use std::path::{Path, PathBuf};

/// The file for a node and a plan; its directory is made.
pub(super) fn file(dir: Option<&Path>, node: &str, plan: &str) -> Result<PathBuf, Failure> {
    let dir = match dir {
        Some(dir) => dir.to_owned(),
        None => state().ok_or_else(|| {
            Failure::new("there is neither XDG_STATE_HOME nor HOME to keep the node as it was")
                .hint("name a directory with --keep DIR")
        })?,
    };
    std::fs::create_dir_all(&dir).map_err(|e| Failure::writing(&dir, &e))?;
    let name: String =
        node.chars().map(|c| if c.is_ascii_alphanumeric() || ".-_@".contains(c) { c } else { '_' }).collect();
    Ok(dir.join(format!("{name}-{plan:.12}.before.tar.zst")))
}

fn state() -> Option<PathBuf> {
    Some(super::stored::base("XDG_STATE_HOME", ".local/state")?.join("apply"))
}
