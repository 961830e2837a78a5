//! Whether a GPU and a NIC talk directly, in the words of the releases that say it.

use super::cursor::{after_int, hex, int};
use crate::text::after;

/// How a line names a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuName {
    /// By bus id (to 2.23).
    BusId(u64),
    /// By rank (from 2.24).
    Rank(u32),
}

/// One pair of GPU and NIC (to 2.28; later releases do not print it in release builds).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GdrPair {
    /// Whether it is done.
    pub enabled: bool,
    /// The GPU.
    pub gpu: GpuName,
    /// The NIC, as printed: a number to 2.20, later an id in hexadecimal digits.
    pub nic: u64,
    /// How far they are, in the release's own scale.
    pub distance: i64,
    /// The limit, in the same scale.
    pub limit: i64,
    /// Whether the limit itself is allowed (from 2.6).
    pub inclusive: bool,
    /// Whether for reads, too.
    pub read: Option<bool>,
}

/// Reads what follows `GPU Direct RDMA `: `Disabled for GPU 7000 / HCA 0 (distance 6 > 4)`.
pub(super) fn pair(text: &str) -> Option<GdrPair> {
    let (enabled, rest) = on_off(text)?;
    let rest = rest.strip_prefix("for GPU ")?;
    let (gpu, rest) = rest.split_once(" / HCA ")?;
    let inside = after(rest, "(distance ")?;
    let (distance, inside) = int(inside)?;
    let inside = inside.trim_start();
    let end = inside.find(' ')?;
    let sign = inside.get(..end)?;
    let (limit, _) = int(inside.get(end..)?.trim_start())?;
    // `Enabled … <= limit`, `Disabled … > limit`; to 2.5 `<` and `>=`.
    let inclusive = matches!(sign, "<=" | ">");
    Some(GdrPair {
        enabled,
        gpu: gpu_name(gpu)?,
        nic: hex(rest)?.0,
        distance,
        limit,
        inclusive,
        read: after_int(rest, "read ").map(|r| r != 0),
    })
}

/// `7000`, `435e00000`, in 2.4 `0[1]` (device and NVML device). From 2.24 on the digits are a rank's, in decimal:
/// the line alone does not say which.
fn gpu_name(text: &str) -> Option<GpuName> {
    hex(text).map(|(v, _)| GpuName::BusId(v))
}

/// `Enabled …` or `Disabled …`.
pub(super) fn on_off(text: &str) -> Option<(bool, &str)> {
    match text.strip_prefix("Enabled ") {
        Some(rest) => Some((true, rest)),
        None => text.strip_prefix("Disabled ").map(|rest| (false, rest)),
    }
}
