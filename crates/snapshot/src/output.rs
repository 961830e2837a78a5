//! Texts that tools print, as part of a snapshot: commands run by the capture, and texts that people paste.

use crate::EntryId;

/// Which tool's output a text is. Commands are known by their arguments, pasted texts by their content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutputKind {
    /// `lspci` text of any verbosity, hex dumps included.
    Lspci,
    /// `dmesg`, `journalctl -k`.
    Dmesg,
    /// `mlxconfig`/`mstconfig` query, text.
    MlxconfigText,
    /// `mlxconfig -j` file.
    MlxconfigJson,
    /// `nvidia-smi -q`.
    NvidiaSmiQuery,
    /// `nvidia-smi -q -x`.
    NvidiaSmiXml,
    /// `nvidia-smi topo -m`.
    NvidiaSmiTopo,
    /// `nvidia-smi topo -p2p X`.
    NvidiaSmiP2p,
    /// `ibstat`.
    Ibstat,
    /// `ibv_devinfo [-v]`.
    IbvDevinfo,
    /// `ibdev2netdev`.
    Ibdev2netdev,
    /// `/proc/cmdline` as text.
    Cmdline,
    /// `rdma -j link`.
    RdmaLink,
    /// `rdma -j statistic`.
    RdmaStatistic,
    /// `rdma system`.
    RdmaSystem,
    /// `mlnx_qos -i IF`.
    MlnxQos,
    /// `ethtool -S IF`.
    EthtoolStats,
    /// `ethtool -a IF`.
    EthtoolPause,
    /// `virsh dumpxml`.
    VirshXml,
    /// `rdma_topo topo -j`.
    RdmaTopo,
    /// `rdma_topo check`.
    RdmaTopoCheck,
    /// `rdma_topo dump`: its functions are entries of the snapshot, too.
    RdmaTopoDump,
    /// `systemd-detect-virt`.
    DetectVirt,
    /// `modinfo nvidia`.
    ModinfoNvidia,
    /// The NVML library's answers, as JSON written by the capture.
    Nvml,
    /// Something else.
    Other,
}

impl OutputKind {
    /// Every kind with its name in the catalogue and in manifests.
    const NAMES: &[(OutputKind, &'static str)] = &[
        (OutputKind::Lspci, "Lspci"),
        (OutputKind::Dmesg, "Dmesg"),
        (OutputKind::MlxconfigText, "MlxconfigText"),
        (OutputKind::MlxconfigJson, "MlxconfigJson"),
        (OutputKind::NvidiaSmiQuery, "NvidiaSmiQuery"),
        (OutputKind::NvidiaSmiXml, "NvidiaSmiXml"),
        (OutputKind::NvidiaSmiTopo, "NvidiaSmiTopo"),
        (OutputKind::NvidiaSmiP2p, "NvidiaSmiP2p"),
        (OutputKind::Ibstat, "Ibstat"),
        (OutputKind::IbvDevinfo, "IbvDevinfo"),
        (OutputKind::Ibdev2netdev, "Ibdev2netdev"),
        (OutputKind::Cmdline, "Cmdline"),
        (OutputKind::RdmaLink, "RdmaLink"),
        (OutputKind::RdmaStatistic, "RdmaStatistic"),
        (OutputKind::RdmaSystem, "RdmaSystem"),
        (OutputKind::MlnxQos, "MlnxQos"),
        (OutputKind::EthtoolStats, "EthtoolStats"),
        (OutputKind::EthtoolPause, "EthtoolPause"),
        (OutputKind::VirshXml, "VirshXml"),
        (OutputKind::RdmaTopo, "RdmaTopo"),
        (OutputKind::RdmaTopoCheck, "RdmaTopoCheck"),
        (OutputKind::RdmaTopoDump, "RdmaTopoDump"),
        (OutputKind::DetectVirt, "DetectVirt"),
        (OutputKind::ModinfoNvidia, "ModinfoNvidia"),
        (OutputKind::Nvml, "Nvml"),
        (OutputKind::Other, "Other"),
    ];

    /// Name in the catalogue.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(k, _)| *k == self).map_or("Other", |(_, n)| n)
    }

    /// The kind of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, n)| *n == name).map(|(k, _)| *k)
    }
}

/// One text.
#[derive(Debug, Clone)]
pub struct Output {
    /// Which tool's.
    pub kind: OutputKind,
    /// Its bytes.
    pub entry: EntryId,
    /// The command, where one was run; empty for pasted text.
    pub argv: Vec<String>,
    /// Exit status, where known.
    pub status: Option<i32>,
}
