//! What a command line or a file name says about a text.

use super::Kind;

/// A command line above the text: `root@node:~# nvidia-smi topo -m`.
pub(super) fn prompt(line: &str) -> Option<Kind> {
    let at = line.find(['$', '#', '>', '%'])?;
    let command = line.get(at + 1..)?.trim_start();
    let (first, args) = command.split_once(' ').unwrap_or((command, ""));
    let (tool, args) = if first == "sudo" { args.split_once(' ').unwrap_or((args, "")) } else { (first, args) };
    command_kind(tool.rsplit('/').next().unwrap_or(tool), args)
}

fn command_kind(tool: &str, args: &str) -> Option<Kind> {
    let has = |w: &str| args.split_whitespace().any(|a| a == w);
    Some(match tool {
        "lspci" => Kind::Lspci,
        "dmesg" | "journalctl" => Kind::Dmesg,
        "mlxconfig" | "mstconfig" => Kind::MlxconfigText,
        "nvidia-smi" if has("-p2p") => Kind::NvidiaSmiP2p,
        "nvidia-smi" if has("topo") => Kind::NvidiaSmiTopo,
        "nvidia-smi" if has("-q") && has("-x") => Kind::NvidiaSmiXml,
        "nvidia-smi" if has("-q") => Kind::NvidiaSmiQuery,
        "nvidia-smi" if args.contains("--query-") => Kind::NvidiaSmiCsv,
        "nvidia-smi" if args.is_empty() => Kind::NvidiaSmiTable,
        "ibstat" | "ibstatus" => Kind::Ibstat,
        "ibv_devinfo" => Kind::IbvDevinfo,
        "ibdev2netdev" => Kind::Ibdev2netdev,
        "cat" if args.ends_with("/proc/cmdline") => Kind::Cmdline,
        "cat" if args.ends_with("/proc/cpuinfo") => Kind::Cpuinfo,
        "cat" if args.ends_with("/proc/modules") => Kind::Modules,
        "lsmod" => Kind::Modules,
        "rdma" if has("link") => Kind::RdmaLink,
        "rdma" if has("statistic") => Kind::RdmaStatistic,
        "rdma" if has("system") => Kind::RdmaSystem,
        "mlnx_qos" => Kind::MlnxQos,
        "ethtool" if has("-S") => Kind::EthtoolStats,
        "ethtool" if has("-a") => Kind::EthtoolPause,
        "virsh" if has("dumpxml") => Kind::VirshXml,
        "rdma_topo" if has("dump") => Kind::RdmaTopoDump,
        "rdma_topo" if has("check") => Kind::RdmaTopoCheck,
        "rdma_topo" => Kind::RdmaTopo,
        "systemd-detect-virt" => Kind::DetectVirt,
        "iperf3" => Kind::Iperf3,
        "iperf" => Kind::Iperf2,
        "sockperf" => Kind::Sockperf,
        "fio" => Kind::Fio,
        "ping" | "ping6" => Kind::Ping,
        "modinfo" if args.contains("nvidia") => Kind::ModinfoNvidia,
        _ => return None,
    })
}

/// The file's name, where it begins with a tool's. Tools with several outputs need more than their name.
pub(super) fn by_name(name: &str, is_document: bool) -> Kind {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    let table: &[(&str, Kind)] = &[
        ("dmesg", Kind::Dmesg),
        ("journal", Kind::Dmesg),
        ("kern.log", Kind::Dmesg),
        ("lspci", Kind::Lspci),
        ("ibstat", Kind::Ibstat),
        ("ibv_devinfo", Kind::IbvDevinfo),
        ("ibdev2netdev", Kind::Ibdev2netdev),
        ("mlxconfig", Kind::MlxconfigText),
        ("mstconfig", Kind::MlxconfigText),
        ("cmdline", Kind::Cmdline),
        ("cpuinfo", Kind::Cpuinfo),
        ("modules", Kind::Modules),
        ("lsmod", Kind::Modules),
        ("systemd-detect-virt", Kind::DetectVirt),
        ("mlnx_qos", Kind::MlnxQos),
    ];
    let json: &[(&str, Kind)] = &[
        ("rdma_topo", Kind::RdmaTopo),
        ("rdma-topo", Kind::RdmaTopo),
        ("nvml", Kind::Nvml),
        ("rdma-link", Kind::RdmaLink),
        ("rdma-statistic", Kind::RdmaStatistic),
    ];
    let table = if is_document { json } else { table };
    table.iter().find(|(prefix, _)| base.starts_with(prefix)).map_or(Kind::Unknown, |(_, kind)| *kind)
}
