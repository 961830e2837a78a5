//! NCCL's tables (`src/graph/topo.cc`, `topo.h`): what a class, a speed, a CPU and an NVLink are worth.

use super::NodeKind;
use crate::Version;
use linerate_formats::pci::{LinkSpeed, LinkWidth};

/// Architectures that NCCL tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    /// x86-64.
    X86,
    /// IBM POWER.
    Power,
    /// ARM.
    Arm,
}

/// Vendors of x86 CPUs that NCCL tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum CpuVendor {
    /// Intel.
    Intel,
    /// AMD.
    Amd,
    /// Zhaoxin.
    Zhaoxin,
}

/// Models of CPUs that NCCL tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum CpuModel {
    /// Broadwell and earlier.
    Broadwell,
    /// Skylake up to Ice Lake.
    Skylake,
    /// Sapphire Rapids.
    SapphireRapids,
    /// Emerald Rapids and later.
    EmeraldRapids,
    /// Zhaoxin Yongfeng.
    Yongfeng,
}

/// The architecture that a document names.
pub(super) fn arch(s: &str) -> Option<Arch> {
    [("x86_64", Arch::X86), ("arm64", Arch::Arm), ("ppc64", Arch::Power)]
        .into_iter()
        .find_map(|(p, a)| s.starts_with(p).then_some(a))
}

/// The vendor that a document names.
pub(super) fn vendor(s: &str) -> Option<CpuVendor> {
    [
        ("GenuineIntel", CpuVendor::Intel),
        ("AuthenticAMD", CpuVendor::Amd),
        ("CentaurHauls", CpuVendor::Zhaoxin),
        ("  Shanghai  ", CpuVendor::Zhaoxin),
    ]
    .into_iter()
    .find_map(|(p, v)| s.starts_with(p).then_some(v))
}

/// The model of a family and model number.
pub(super) fn model(vendor: CpuVendor, family: i32, model: i32) -> Option<CpuModel> {
    match (vendor, family, model) {
        (CpuVendor::Intel, 6, 0xcf..) => Some(CpuModel::EmeraldRapids),
        (CpuVendor::Intel, 6, 0x8f..) => Some(CpuModel::SapphireRapids),
        (CpuVendor::Intel, 6, 0x55..) => Some(CpuModel::Skylake),
        (CpuVendor::Intel, ..) => Some(CpuModel::Broadwell),
        (CpuVendor::Zhaoxin, 7, 0x5b) => Some(CpuModel::Yongfeng),
        _ => None,
    }
}

/// GB/s from one CPU to another. Intel's newer models are distinguished since 2.26, AMD is since 2.19.
pub(super) fn interconnect(cpu: &super::Cpu, version: Version) -> f32 {
    let old = !version.since(2, 26);
    match (cpu.arch, cpu.vendor, cpu.model) {
        (Some(Arch::Power), ..) => 32.0,
        (Some(Arch::Arm), ..) => 6.0,
        (Some(Arch::X86), Some(CpuVendor::Intel), m) => match m {
            Some(CpuModel::EmeraldRapids) if !old => 40.0,
            Some(CpuModel::SapphireRapids) if !old => 22.0,
            Some(CpuModel::EmeraldRapids | CpuModel::SapphireRapids | CpuModel::Skylake) => 10.0,
            _ => 6.0,
        },
        (Some(Arch::X86), Some(CpuVendor::Amd), _) if version.since(2, 19) => 16.0,
        (Some(Arch::X86), Some(CpuVendor::Zhaoxin), m) => {
            if m == Some(CpuModel::Yongfeng) {
                9.0
            } else {
                6.0
            }
        }
        _ => super::LOCAL_BANDWIDTH,
    }
}

/// GB/s of one NVLink of a compute capability, to a release.
pub(super) fn nvlink(sm: i32, version: Version) -> f32 {
    match sm {
        100.. if !version.since(2, 25) => nvlink(90, version),
        100.. if !version.since(2, 27) => 40.0,
        90..100 if !version.since(2, 20) => nvlink(80, version),
        70..90 if sm != 86 && !version.since(2, 18) => 22.0,
        _ => nvlink_bandwidth(sm),
    }
}

/// GB/s of one NVLink of a compute capability.
#[must_use]
pub(crate) fn nvlink_bandwidth(sm: i32) -> f32 {
    match sm {
        100.. => 40.1,
        90.. => 20.6,
        86 => 12.0,
        80.. | 70..=79 => 20.0,
        60..=69 => 18.0,
        _ => 20.0,
    }
}

/// NVLinks of a GPU of a compute capability, at most.
pub(crate) fn nvlinks(sm: i32) -> u32 {
    match sm {
        ..60 => 0,
        60..70 => 4,
        70..80 => 6,
        80..90 => 12,
        _ => 18,
    }
}

/// What a PCI class is to NCCL, and whether its table has it: the first prefix counts, anything else is a switch.
pub(crate) fn class(s: &str) -> (NodeKind, bool) {
    const TABLE: [(&str, NodeKind); 6] = [
        ("0x060400", NodeKind::Pci),
        ("0x080100", NodeKind::Pci),
        ("0x068000", NodeKind::Nvs),
        ("0x068001", NodeKind::Cpu),
        ("0x03", NodeKind::Gpu),
        ("0x02", NodeKind::Nic),
    ];
    TABLE.into_iter().find_map(|(p, k)| s.starts_with(p).then_some((k, true))).unwrap_or((NodeKind::Pci, false))
}

/// A speed as the kernel words it since 5.7, and NCCL for NVML's generations.
pub(crate) fn speed_words(s: LinkSpeed) -> &'static str {
    match s {
        LinkSpeed::Gen1 => "2.5 GT/s PCIe",
        LinkSpeed::Gen2 => "5.0 GT/s PCIe",
        LinkSpeed::Gen3 => "8.0 GT/s PCIe",
        LinkSpeed::Gen4 => "16.0 GT/s PCIe",
        LinkSpeed::Gen5 => "32.0 GT/s PCIe",
        LinkSpeed::Gen6 => "64.0 GT/s PCIe",
    }
}

/// GB/s that NCCL counts for a link (`src/graph/topo.cc`).
#[must_use]
pub fn link_bandwidth(speed: LinkSpeed, width: LinkWidth) -> f32 {
    pcie_bandwidth(link_speed(speed_words(speed)).0, width.0.into())
}

/// GB/s of so many lanes, each of so many units of 100 Mb/s.
#[allow(clippy::cast_possible_truncation)] // as NCCL: computed in double, kept in float
pub(super) fn pcie_bandwidth(speed: i32, width: i32) -> f32 {
    (f64::from(width.wrapping_mul(speed)) / 80.0) as f32
}

/// Units of 100 Mb/s a lane of a speed, and whether NCCL's table has it: anything else counts as Gen3.
pub(super) fn link_speed(s: &str) -> (i32, bool) {
    const TABLE: [(&str, i32); 11] = [
        ("2.5 GT/s", 15),
        ("5 GT/s", 30),
        ("8 GT/s", 60),
        ("16 GT/s", 120),
        ("32 GT/s", 240),
        ("2.5 GT/s PCIe", 15),
        ("5.0 GT/s PCIe", 30),
        ("8.0 GT/s PCIe", 60),
        ("16.0 GT/s PCIe", 120),
        ("32.0 GT/s PCIe", 240),
        ("64.0 GT/s PCIe", 480),
    ];
    TABLE.into_iter().find_map(|(p, v)| s.starts_with(p).then_some((v, true))).unwrap_or((60, false))
}
