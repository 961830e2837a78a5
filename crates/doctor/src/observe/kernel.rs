//! Lines of the kernel's log among others, or in a log of their own.

use super::trouble::KernelTrouble;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use linerate_formats::dmesg::{self, AerSeverity, Event, Mlx5Event};

/// A line without one of these is none of the kernel's that matter, nor a part of NCCL's.
const WORDS: &[&str] = &[
    "NVRM",
    "Xid",
    "AMD-Vi",
    "IO_PAGE_FAULT",
    "DMAR",
    "arm-smmu",
    "Link down",
    "health compromised",
    "fatal sensor",
    "cmd_work_handler",
    "mlx5_cmd",
    "failed to execute",
    "nvidia_peermem",
    "nvidia-peermem",
    "nv_peer_mem",
    "ib_register_peer_memory",
    "dma-buf attach",
    "swiotlb",
    "oom-kill",
    "Out of memory: Kill",
    "Memory cgroup out of memory",
    "AER:",
    "PCIe Bus Error",
    "fallen off the bus",
    "GPU is lost",
    "system not yet initialized",
    "Traceback (most recent call last)",
    "Process received signal",
    "Segmentation fault",
    "Bus error",
    "exited on signal",
    "is killed by signal",
    "ChildFailedError",
    "Got completion",
    "Call to ibv_",
];

/// Finds the words.
pub(super) struct Words(Option<AhoCorasick>);

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Words")
    }
}

impl Default for Words {
    fn default() -> Self {
        Words(AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(WORDS).ok())
    }
}

impl Words {
    /// Whether the line has one of the words, and whether that is one of NCCL's own.
    pub(super) fn any(&self, line: &str) -> Option<bool> {
        let Some(words) = &self.0 else { return Some(true) };
        let found = words.find(line)?;
        let word = WORDS.get(found.pattern().as_usize()).copied().unwrap_or_default();
        Some(matches!(word, "Got completion" | "Call to ibv_"))
    }
}

pub(super) fn read(line: &str) -> Option<KernelTrouble> {
    let (_, message) = dmesg::split(line);
    let killed = ["oom-kill:", "Out of memory: Kill", "Memory cgroup out of memory"];
    if killed.iter().any(|w| message.contains(w)) {
        return Some(KernelTrouble::OutOfMemory);
    }
    if (message.contains("fallen off the bus") || message.contains("GPU is lost")) && !message.contains("Xid") {
        return Some(KernelTrouble::GpuLost);
    }
    let at = message.find("NVRM: Xid").or_else(|| message.find("AMD-Vi:")).or_else(|| message.find("DMAR:"));
    let event = dmesg::classify(message).or_else(|| dmesg::classify(message.get(at?..)?))?;
    Some(match event {
        Event::IoPageFault { bdf, .. } => KernelTrouble::IommuFault(bdf),
        Event::DmarFault { bdf, .. } => KernelTrouble::IommuFault(bdf),
        Event::SmmuEvent { bdf, .. } => KernelTrouble::IommuFault(bdf),
        Event::Xid { bdf, number } => KernelTrouble::Xid { number, gpu: bdf },
        Event::Mlx5 { bdf, event: Mlx5Event::LinkDown } => KernelTrouble::LinkDown(bdf),
        Event::Mlx5 { bdf, event: Mlx5Event::Health(_) | Mlx5Event::CommandFailed(_) } => {
            KernelTrouble::NicFirmware(bdf)
        }
        Event::Aer { bdf, severity: AerSeverity::NonFatal | AerSeverity::Fatal, .. } => KernelTrouble::PcieError(bdf),
        Event::Peermem { error: true, .. } => KernelTrouble::Peermem,
        Event::SymbolMismatch { module, .. } | Event::UnknownSymbol { module, .. } if module.contains("peer") => {
            KernelTrouble::Peermem
        }
        Event::DmabufAttachFailed(_) => KernelTrouble::DmabufRefused,
        Event::DmaMapFailed { .. } => KernelTrouble::BounceBuffers,
        Event::NvidiaVersionMismatch => KernelTrouble::DriverMismatch,
        _ => return None,
    })
}
