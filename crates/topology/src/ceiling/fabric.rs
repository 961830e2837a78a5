//! What is known of NVLink, and estimated of the links between CPUs.

use super::derive::Range;
use crate::system::{Arch, Cpu, CpuModel, CpuVendor, nvlink_bandwidth};

/// GB/s of one NVLink and direction: what NCCL counts on (`topo.h`), and what the wires carry.
#[must_use]
pub(super) fn nvlink(sm: i32) -> Range {
    let wires = match sm {
        100.. => 50.0,
        86 | 89 => 14.0625,
        70.. => 25.0,
        _ => 20.0,
    };
    Range::new(f64::from(nvlink_bandwidth(sm)).min(wires), wires)
}

/// Share of NVLink that NVLS reaches: NCCL's tuning (`tuning.cc`) for Hopper 0.85 and Blackwell 0.74; all of it at best.
#[must_use]
pub(super) fn nvls_share(sm: i32) -> Range {
    Range::new(if sm >= 100 { 0.74 } else { 0.85 }, 1.0)
}

/// GB/s from one CPU to another for devices' traffic: what NCCL counts on (`topo.h`), up to all links that such a CPU can have (vendors'
/// data sheets, from memory). `model` is NCCL's constant. `None` where NCCL does not know the CPU.
#[must_use]
pub(super) fn smp(cpu: &Cpu, model: f64) -> Option<Range> {
    let wires = match (cpu.arch?, cpu.vendor, cpu.model) {
        (Arch::X86, Some(CpuVendor::Amd), _) => 256.0, // 4 × xGMI3 x16
        (Arch::X86, Some(CpuVendor::Intel), m) => match m {
            Some(CpuModel::EmeraldRapids) => 432.0,  // 6 × UPI 24 GT/s
            Some(CpuModel::SapphireRapids) => 192.0, // 4 × UPI 16 GT/s
            Some(CpuModel::Skylake) => 67.2,         // 3 × UPI 11.2 GT/s
            _ => 38.4,                               // 2 × QPI 9.6 GT/s
        },
        (Arch::X86, Some(CpuVendor::Zhaoxin), _) => 32.0,
        (Arch::X86, None, _) => return None,
        (Arch::Arm, ..) => 450.0, // NVLink-C2C between two Grace
        (Arch::Power, ..) => 64.0,
    };
    Some(Range::new(model.min(wires), wires))
}

/// Share of a PCIe link that peers' writes across an Intel CPU get: it cuts them at 64 bytes. NCCL counts 5/6
/// (`INTEL_P2P_OVERHEAD`); by header arithmetic it is (64/88) / (256/280).
pub(super) const INTEL_PEERS: Range = Range { low: 64.0 / 88.0 * 280.0 / 256.0, high: 5.0 / 6.0 };
