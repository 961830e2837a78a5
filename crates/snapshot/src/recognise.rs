//! What a text is, in the terms of a snapshot.

use crate::OutputKind;
use linerate_formats::sniff::{self, Kind};

/// Bytes that show what a text is.
pub(crate) const HEAD: usize = 64 << 10;

/// What a text is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recognised {
    /// A tool's output that decoders read.
    Output(OutputKind),
    /// A copy of the file at this path.
    File(&'static str),
    /// Known, but no facts about a node are read from it: what it is, with an article, and what would be of use instead.
    NoFacts(&'static str),
    Unknown,
}

impl Recognised {
    /// The kind of the output.
    pub(crate) fn output(self) -> OutputKind {
        match self {
            Recognised::Output(kind) => kind,
            _ => OutputKind::Other,
        }
    }
}

/// By the beginning of the text, and by its name.
pub(crate) fn recognise(name: &str, bytes: &[u8]) -> Recognised {
    let kind = sniff::sniff(name, bytes.get(..bytes.len().min(HEAD)).unwrap_or_default());
    Recognised::Output(match kind {
        Kind::Lspci => OutputKind::Lspci,
        Kind::Dmesg => OutputKind::Dmesg,
        Kind::MlxconfigText => OutputKind::MlxconfigText,
        Kind::MlxconfigJson => OutputKind::MlxconfigJson,
        Kind::NvidiaSmiQuery => OutputKind::NvidiaSmiQuery,
        Kind::NvidiaSmiXml => OutputKind::NvidiaSmiXml,
        Kind::NvidiaSmiTopo => OutputKind::NvidiaSmiTopo,
        Kind::NvidiaSmiP2p => OutputKind::NvidiaSmiP2p,
        Kind::Ibstat => OutputKind::Ibstat,
        Kind::IbvDevinfo => OutputKind::IbvDevinfo,
        Kind::Ibdev2netdev => OutputKind::Ibdev2netdev,
        Kind::Cmdline => OutputKind::Cmdline,
        Kind::RdmaLink => OutputKind::RdmaLink,
        Kind::RdmaStatistic => OutputKind::RdmaStatistic,
        Kind::RdmaSystem => OutputKind::RdmaSystem,
        Kind::MlnxQos => OutputKind::MlnxQos,
        Kind::EthtoolStats => OutputKind::EthtoolStats,
        Kind::EthtoolPause => OutputKind::EthtoolPause,
        Kind::VirshXml => OutputKind::VirshXml,
        Kind::RdmaTopo => OutputKind::RdmaTopo,
        Kind::RdmaTopoCheck => OutputKind::RdmaTopoCheck,
        Kind::RdmaTopoDump => OutputKind::RdmaTopoDump,
        Kind::DetectVirt => OutputKind::DetectVirt,
        Kind::ModinfoNvidia => OutputKind::ModinfoNvidia,
        Kind::Nvml => OutputKind::Nvml,
        Kind::Cpuinfo => return Recognised::File("proc/cpuinfo"),
        Kind::Modules => return Recognised::File("proc/modules"),
        Kind::NvidiaSmiTable => return Recognised::NoFacts("nvidia-smi's summary (`nvidia-smi -q -x` says more)"),
        Kind::NvidiaSmiCsv => return Recognised::NoFacts("a table of nvidia-smi (`nvidia-smi -q -x` says more)"),
        Kind::EthtoolSettings => return Recognised::NoFacts("ethtool's settings of an interface"),
        Kind::NcclLog => return Recognised::NoFacts("an NCCL log"),
        Kind::NcclTopoXml => return Recognised::NoFacts("a topology that NCCL wrote"),
        Kind::NcclTests => return Recognised::NoFacts("a result of nccl-tests"),
        Kind::Perftest => return Recognised::NoFacts("a result of perftest"),
        Kind::Iperf3 => return Recognised::NoFacts("a result of iperf3"),
        Kind::Iperf2 => return Recognised::NoFacts("a result of iperf 2"),
        Kind::Sockperf => return Recognised::NoFacts("a result of sockperf"),
        Kind::Fio => return Recognised::NoFacts("a result of fio"),
        Kind::Ping => return Recognised::NoFacts("a result of ping"),
        Kind::TorchTitan => return Recognised::NoFacts("a log of TorchTitan"),
        Kind::Nvbandwidth => return Recognised::NoFacts("a result of nvbandwidth"),
        // A table of anything: those who look for a node's facts do not know it.
        Kind::SeriesTable | Kind::Unknown => return Recognised::Unknown,
    })
}

/// Whether this is what Git has in place of a file that Git LFS stores.
pub(crate) fn is_lfs_stub(bytes: &[u8]) -> bool {
    bytes.starts_with(b"version https://git-lfs.github.com/spec/") && bytes.len() < 1024
}
