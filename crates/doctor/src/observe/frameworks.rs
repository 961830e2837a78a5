//! What PyTorch says when NCCL does not return.

use super::names::Names;
use super::trouble::FrameworkTrouble;

const ERRORS: &[&str] =
    &["ncclSystemError", "ncclRemoteError", "ncclInternalError", "ncclUnhandledCudaError", "ncclInvalidUsage"];

pub(super) fn read(line: &str, names: &mut Names) -> Option<FrameworkTrouble> {
    if line.contains("Watchdog caught collective operation timeout") {
        let op = line.split_once("OpType=").map_or("", |(_, rest)| rest);
        let op = op.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
        return Some(FrameworkTrouble::Timeout(names.id(op)));
    }
    let error = ERRORS.iter().find(|e| line.contains(*e))?;
    Some(FrameworkTrouble::Error(names.id(error)))
}
