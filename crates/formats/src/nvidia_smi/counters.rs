//! Counters of GPUs: `nvidia-smi nvlink -e` and `-gt d`, `nvidia-smi pci -gErrCnt` and `-gCnt`.

use crate::bounds::{Kept, Limit, TEXT_ITEMS, leave_out};
use crate::text::{decode, lines, unended};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `nvidia-smi nvlink -e`, `nvidia-smi pci -gErrCnt`.
pub const COUNTERS: Tool = Tool {
    name: "nvidia-smi-counters",
    called: "nvidia-smi nvlink -e or pci -gErrCnt",
    run: "nvidia-smi nvlink -e; nvidia-smi pci -gErrCnt; nvidia-smi pci -gCnt",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|line| is_own(line.trim())).begins(&["Link ", "REPLAY_", "L0_TO_RECOVERY_COUNTER", "NAKS_RECEIVED"]),
        Mark::line_with(|line| counter(line.trim()).is_some_and(|(_, name, _)| name == "TX_BYTES"), "RX_BYTES:")
            .begins(&["TX_BYTES"]),
    ],
    commands: &[Command::with("nvidia-smi", &["nvlink", "-e"]), Command::with("nvidia-smi", &["pci"])],
    read: Some(|b| seen(read_counters(b))),
    samples: &[
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5269b708)\n\t Link 0: Replay Errors: 0\n\t Link 0: Recovery Errors: 0\n\t Link 0: CRC Errors: 0\n",
        "GPU 0: NVIDIA H200 (UUID: GPU-5269b708)\n    REPLAY_COUNTER:          0\n    L0_TO_RECOVERY_COUNTER:  538\n",
    ],
    ..Tool::NONE
};

/// A counter of a GPU or of one of its links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GpuCounter {
    /// 1-based line.
    pub line: u32,
    /// Number of the GPU, as `nvidia-smi` counts.
    pub gpu: u32,
    /// Number of the NVLink, or of the PCIe lane.
    pub link: Option<u32>,
    /// As the tool names it: `Replay Errors`, `BAD_TLP`, `lane`.
    pub name: String,
    /// Value; of `Data Tx` and `Data Rx` in KiB.
    pub value: u64,
}

/// Reads the counters. A last line without its end is left out: its number may be half a number.
#[must_use]
pub fn read_counters(bytes: &[u8]) -> Kept<GpuCounter> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    let (mut gpu, unended) = (None, unended(&text));
    for (line, raw) in lines(&text) {
        let raw = raw.trim();
        if let Some((number, _)) = super::nvlink::gpu(raw) {
            gpu = Some(number);
            continue;
        }
        let Some((gpu, (link, name, value))) = gpu.zip(counter(raw)).filter(|_| Some(line) != unended) else {
            continue;
        };
        if kept.items.len() >= TEXT_ITEMS {
            leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line);
        } else {
            kept.items.push(GpuCounter { line, gpu, link, name: name.to_owned(), value });
        }
    }
    kept
}

/// A line that only these commands print.
fn is_own(line: &str) -> bool {
    const PCI: [&str; 4] = ["REPLAY_COUNTER", "REPLAY_ROLLOVER_COUNTER", "L0_TO_RECOVERY_COUNTER", "NAKS_RECEIVED"];
    counter(line).is_some_and(|(link, name, _)| link.is_some() && name != "lane" || PCI.contains(&name))
}

/// `Link 0: Replay Errors: 0`, `Link 0: Data Tx: 12 KiB`, `BAD_TLP:   5`, `lane  4: 41`.
fn counter(line: &str) -> Option<(Option<u32>, &str, u64)> {
    if let Some((number, rest)) = line.strip_prefix("Link ").and_then(|rest| rest.split_once(": ")) {
        let (name, value) = rest.split_once(": ")?;
        let value = value.trim();
        let value = value.strip_suffix(" KiB").unwrap_or(value);
        let is_name = name.ends_with(" Errors") || matches!(name, "Data Tx" | "Data Rx" | "Raw Tx" | "Raw Rx");
        return is_name.then_some((Some(number.parse().ok()?), name, value.parse().ok()?));
    }
    if let Some((number, value)) = line.strip_prefix("lane ").and_then(|rest| rest.split_once(':')) {
        return Some((Some(number.trim().parse().ok()?), "lane", value.trim().parse().ok()?));
    }
    let (name, value) = line.split_once(':')?;
    let is_name = !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_uppercase() || b"_0123456789".contains(&b));
    is_name.then_some((None, name, value.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_links_and_of_pcie() {
        let all = read_counters(
            b"GPU 0: NVIDIA H200 (UUID: GPU-1)\n\t Link 0: Replay Errors: 3\n\t Link 1: CRC Errors: 0\n\t Link 1: Data Tx: 12 KiB\nGPU 1: NVIDIA H200 (UUID: GPU-2)\n    BAD_TLP:                 5\n    LANE_ERROR:              \n\t lane  4: 41\n\t lane 10: 7",
        );
        let seen: Vec<_> = all.items.iter().map(|c| (c.gpu, c.link, c.name.as_str(), c.value, c.line)).collect();
        assert_eq!(
            seen,
            [
                (0, Some(0), "Replay Errors", 3, 2),
                (0, Some(1), "CRC Errors", 0, 3),
                (0, Some(1), "Data Tx", 12, 4),
                (1, None, "BAD_TLP", 5, 6),
                (1, Some(4), "lane", 41, 8),
            ]
        );
        assert!(
            !is_own("Link 0: 25 GB/s") && !is_own("Link 0: <inactive>") && !is_own("TOTAL: 1") && !is_own("lane 1: 2")
        );
    }
}
