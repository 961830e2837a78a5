//! What the commands of vm say of NCCL's conclusions, and the exit code that follows.

use crate::output::remark;
use linerate_vm::format::Written;
use linerate_vm::same::InGuest;

/// Conclusions that are named; the rest is counted.
const NAMED: usize = 8;

/// How NCCL in the guest concludes against the host. `file` is what the topology file is called.
pub(super) fn compared(compared: Option<&InGuest>, file: &str) {
    let Some(InGuest { with_file, without, .. }) = compared else {
        return remark("NCCL builds no topology of these devices: its conclusions were not compared");
    };
    remark(&format!(
        "NCCL in the guest against the host, {} conclusions: {} differ with {file}, {} without it",
        with_file.cells,
        with_file.differing.len(),
        without.differing.len()
    ));
    for d in with_file.differing.iter().take(NAMED) {
        remark(&format!("{} {}: {} on the host, {} in the guest", d.pair, d.what, d.before, d.after));
    }
}

/// What a form cannot say; 2 where NCCL's conclusions hang on it.
pub(super) fn unsaid(written: &Written) -> u8 {
    for u in &written.unsaid {
        remark(&format!("not written{}: {}", if u.changes_nccl { ", and NCCL depends on it" } else { "" }, u.what));
    }
    u8::from(written.changes_nccl()) * 2
}

/// 0: NCCL concludes the same with the file, and nothing that this hangs on is open; else 2.
pub(super) fn code(compared: Option<&InGuest>) -> u8 {
    match compared {
        Some(c) if c.with_file.differing.is_empty() => u8::from(c.is_open) * 2,
        _ => 2,
    }
}
