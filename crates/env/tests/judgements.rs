//! Judgements: one line a case.

#![allow(clippy::unwrap_used, clippy::panic)]

use linerate_env::{
    Context, Distance, Fabric, Interface, Judgement, Kind, Link, Nic, NodeFacts, Origin, OriginKind, Port, Setting,
    Severity, judge, recommend, worst,
};

fn set(list: &str) -> Vec<Setting> {
    let one = |(n, s): (usize, &str)| {
        let (name, value) = s.split_once('=').unwrap();
        Setting::new(name, value, Origin::new(OriginKind::Environment).line(u32::try_from(n).unwrap() + 1))
    };
    list.split(" ; ").enumerate().map(one).collect()
}

fn nic(name: &str, link: Link, gbps: f64, compute: Option<bool>) -> Nic {
    let gids = (link == Link::Ethernet).then(|| vec![3]);
    let port = Port {
        number: 1,
        active: Some(true),
        link: Some(link),
        gbps: Some(gbps),
        netdev: None,
        roce_v2_ipv4: gids,
        roce_v2_ipv6: Some(Vec::new()),
    };
    Nic { name: name.to_owned(), ports: vec![port], distance: Distance::Pxb, compute }
}

/// Eight compute NICs mlx5_0 … 7, mlx5_10 for storage.
fn node(link: Link) -> NodeFacts {
    let mut nics: Vec<Nic> = (0..8).map(|n| nic(&format!("mlx5_{n}"), link, 400.0, Some(true))).collect();
    nics.push(nic("mlx5_10", Link::Ethernet, 100.0, Some(false)));
    let interface = |name: &str, up| Interface { name: name.to_owned(), up: Some(up), hardware: true, enslaved: false };
    NodeFacts {
        nics: Some(nics),
        interfaces: Some(vec![interface("lo", true), interface("eth0", true), interface("eth1", false)]),
        gpus: Some(8),
        nvlink: Some(true),
        nearest: vec![Distance::Pxb; 8],
        by_file: false,
        guest: Some(false),
        peermem: Some(false),
        c2c: None,
        efa_only: Some(false),
        amd_only: false,
        no_gpudirect: false,
    }
}

/// What a case is judged by: release, and node.
fn context(which: &str) -> Context {
    let (release, node_kind) = which.split_once(' ').unwrap_or((which, ""));
    let node = match node_kind {
        "ib" => Some(node(Link::InfiniBand)),
        // Nothing but the NICs of the job.
        "hgx" => Some(NodeFacts {
            nics: node(Link::InfiniBand).nics.map(|n| n.into_iter().filter(|n| n.compute == Some(true)).collect()),
            ..node(Link::InfiniBand)
        }),
        "roce6" => {
            let mut n = node(Link::Ethernet);
            for p in n.nics.iter_mut().flatten().flat_map(|n| &mut n.ports) {
                (p.roce_v2_ipv4, p.roce_v2_ipv6) = (Some(Vec::new()), Some(vec![3]));
            }
            Some(n)
        }
        "roce" => Some(node(Link::Ethernet)),
        "tcp" => Some(NodeFacts { nics: Some(Vec::new()), ..node(Link::Ethernet) }),
        "efa" => Some(NodeFacts { nics: Some(Vec::new()), efa_only: Some(true), ..node(Link::Ethernet) }),
        "no-gdr" => Some(NodeFacts { nearest: vec![Distance::Phb; 8], no_gpudirect: true, ..node(Link::InfiniBand) }),
        "pcie" => Some(NodeFacts {
            nvlink: Some(false),
            nearest: vec![Distance::Phb; 2],
            gpus: Some(2),
            ..node(Link::InfiniBand)
        }),
        _ => None,
    };
    Context { nccl: release.parse().ok(), node, ..Context::default() }
}

/// `kind severity` of what is said about the first setting, worst first.
fn said(which: &str, settings: &str) -> (String, Vec<Judgement>) {
    let settings = set(settings);
    let all = judge(&settings, &context(which));
    let first = settings.first().unwrap().name.clone();
    let list: Vec<String> = all
        .iter()
        .filter(|j| j.variable == first)
        .map(|j| format!("{} {}", j.kind.name(), j.severity.name()))
        .collect();
    (list.join(", "), all)
}

/// Context, settings (the first is judged), answer, a word of the message or suggestion.
const CASES: &[(&str, &str, &str, &str)] = &[
    // No level makes GPUDirect possible where nothing serves it.
    ("2.21 no-gdr", "NCCL_NET_GDR_LEVEL=PHB", "ignored info", "no level"),
    ("2.21 no-gdr", "NCCL_NET_GDR_LEVEL=SYS", "ignored info", "no level"),
    // Names.
    ("2.21", "NCCL_IB_CUDA_SUPPORT=1", "obsolete low", "2.3.7"),
    ("-", "NCCL_IB_CUDA_SUPPORT=1", "obsolete low", "no effect"),
    ("2.21", "NCCL_TREE_THRESHOLD=0", "obsolete low", "2.4.8"),
    ("2.21", "NCCL_CHECKS_DISABLE=1", "obsolete low", "2.2.12"),
    ("2.18", "NCCL_IB_MERGE_NICS=0", "not yet low", "2.20.3"),
    ("-", "NCCL_IB_MERGE_NICS=0", "undecided info", "--nccl"),
    ("2.20", "NCCL_MNNVL_ENABLE=0", "not yet low", "2.21.5"),
    ("2.30", "NCCL_SHM_USE_CUDA_MEMCPY=1", "obsolete low", "2.30.4"),
    ("2.30.4", "NCCL_SHM_USE_CUDA_MEMCPY=1", "fine info", ""),
    ("2.21", "NCCL_IB_GIDINDEX=3", "misspelt medium", "either"),
    ("2.21", "NCCL_DEBUG_SUBSYSTEM=NET", "misspelt medium", "NCCL_DEBUG_SUBSYS"),
    ("2.21", "nccl_debug=INFO", "misspelt medium", "capitals"),
    ("2.21", "IB_DISABLE=1", "misspelt medium", "NCCL_IB_DISABLE"),
    ("2.21", "NCCL_DEBUG =INFO", "misspelt medium", "blanks"),
    ("2.21", "NCCL_SOMETHING_ELSE=1", "unknown info", "script's own"),
    ("2.21", "NCCL_FASTRAK_USE_SNAP=1", "undecided info", "Google"),
    ("2.21", "NCCL_ASYNC_ERROR_HANDLING=1", "obsolete low", "TORCH_NCCL_ASYNC_ERROR_HANDLING"),
    ("2.21", "TORCH_NCCL_BLOCKING_WAIT=1", "fine info", ""),
    ("2.21", "NCCL_VERSION=2.21.5-1", "ignored info", "container images"),
    ("2.21", "CUDA_VISIBLE_DEVICES=0,1", "fine info", ""),
    // Forms.
    ("2.21", "NCCL_IB_DISABLE=true", "illegal medium", "NCCL_IB_DISABLE=1"),
    ("2.21", "NCCL_BUFFSIZE=4M", "illegal medium", "4"),
    ("2.21", "NCCL_IB_TIMEOUT=022", "illegal medium", "18"),
    ("2.21", "NCCL_IB_TIMEOUT=40", "illegal low", "0 to 31"),
    ("2.21", "NCCL_IB_HCA=\"mlx5_0\"", "illegal medium", "NCCL_IB_HCA=mlx5_0"),
    ("2.21", "NCCL_IB_TC=", "ignored low", "unset"),
    ("2.21", "NCCL_IB_TC=$TC", "undecided info", "filled in"),
    ("2.21", "NCCL_NET={{ .Values.net }}", "undecided info", "filled in"),
    ("2.21", "NCCL_DEBUG=info", "fine info", ""),
    ("2.21", "NCCL_DEBUG=ON", "illegal low", "TRACE"),
    ("2.21", "NCCL_SOCKET_FAMILY=IPv4", "illegal low", "AF_INET"),
    ("2.21", "NCCL_TOPO_FILE=~/topo.xml", "illegal medium", "whole path"),
    ("2.24", "NCCL_ALGO=Collnet", "illegal high", "error"),
    ("2.12", "NCCL_ALGO=Collnet", "harmful medium", "discourages"),
    ("2.21", "NCCL_ALGO=Rings", "illegal medium", "`Rings`"),
    ("2.27", "NCCL_ALGO=allreduce:^tree;broadcast:ring", "harmful medium", "discourages"),
    // EFA: NCCL's own transport is not used, whatever it is set to.
    ("2.21 efa", "NCCL_IB_HCA==mlx5_0", "ignored info", "EFA"),
    ("2.21 efa", "NCCL_IB_GID_INDEX=3", "ignored info", "EFA"),
    ("2.21 efa", "NCCL_IB_QPS_PER_CONNECTION=4", "ignored info", "OFI_NCCL"),
    // Levels.
    ("2.21", "NCCL_NET_GDR_LEVEL=5", "harmful medium", "old number"),
    ("2.21", "NCCL_NET_GDR_LEVEL=0", "harmful high", "off"),
    ("2.21", "NCCL_NET_GDR_LEVEL=LOC", "harmful high", "off"),
    ("2.21", "NCCL_NET_GDR_LEVEL=phb", "illegal medium", "NCCL_NET_GDR_LEVEL=PHB"),
    ("2.21", "NCCL_NET_GDR_LEVEL=NODE", "illegal medium", "PHB"),
    ("2.4.8", "NCCL_NET_GDR_LEVEL=PHB", "illegal high", "numbers only"),
    ("2.21", "NCCL_NET_GDR_LEVEL=PHB", "undecided info", "--node"),
    ("2.21", "NCCL_NET_GDR_LEVEL=3", "obsolete low, undecided info", "PHB"),
    ("2.21 pcie", "NCCL_NET_GDR_LEVEL=PHB", "fine info", "benchmark"),
    ("2.21 ib", "NCCL_NET_GDR_LEVEL=PHB", "redundant low", "unset"),
    ("2.21 pcie", "NCCL_NET_GDR_LEVEL=SYS", "harmful medium", "NCCL_NET_GDR_LEVEL=PHB"),
    ("2.21", "NCCL_P2P_LEVEL=NVL", "undecided low", "--node"),
    ("2.21 pcie", "NCCL_P2P_LEVEL=NVL", "harmful high", "no NVLink"),
    ("2.21 ib", "NCCL_P2P_LEVEL=NVL", "redundant low", "unset"),
    // Devices.
    ("2.21", "NCCL_IB_HCA=mlx5", "undecided info", "prefix"),
    ("2.21", "NCCL_IB_HCA=mlx5_1", "undecided info", "NCCL_IB_HCA==mlx5_1"),
    ("2.21", "NCCL_IB_HCA=mlx5_1:1,mlx5_2:2", "undecided info", "NCCL_IB_HCA==mlx5_1:1,mlx5_2:2"),
    ("2.21", "NCCL_IB_HCA=mlx4_0:1,mlx4_0:2", "undecided info", "--node"),
    ("2.21", "NCCL_IB_HCA=^mlx5_0:1", "undecided info", "--node"),
    ("2.21", "NCCL_IB_HCA=^mlx5_0,^mlx5_1:2", "illegal high", "NCCL_IB_HCA=^mlx5_0,mlx5_1:2"),
    ("2.21", "NCCL_IB_HCA=mlx5_0,^mlx5_1", "illegal high", "once"),
    ("2.21", "NCCL_IB_HCA=mlx5_0:x", "illegal high", "port"),
    ("2.21", "NCCL_IB_HCA==mlx5_0:", "illegal high", "port"),
    ("2.21 hgx", "NCCL_IB_HCA=mlx5", "redundant info", "by itself"),
    ("2.21 hgx", "NCCL_IB_HCA=mlx5_0:1", "harmful medium", "leaves"),
    ("2.21 hgx", "NCCL_IB_HCA==mlx5_0:2", "harmful high", "no device"),
    ("2.21 ib", "NCCL_IB_HCA==mlx5_0:1,mlx5_10", "harmful high, harmful medium", "NCCL_IB_HCA==mlx5_0:1,mlx5_1,"),
    ("2.21", "NCCL_IB_HCA==mlx5_0,mlx5_1", "undecided info", "--node"),
    ("2.21", "NCCL_IB_HCA=mlx5_0, mlx5_1", "illegal high", "NCCL_IB_HCA=mlx5_0,mlx5_1"),
    ("2.21", "NCCL_IB_HCA==mlx5_0,=mlx5_1", "illegal high", "NCCL_IB_HCA==mlx5_0,mlx5_1"),
    ("2.21", "NCCL_IB_HCA=eth0", "illegal high", "ibdev2netdev"),
    ("2.21 ib", "NCCL_IB_HCA=mlx5", "harmful high", "mlx5_10"),
    ("2.21 ib", "NCCL_IB_HCA=mlx5_1", "harmful high, harmful medium", "mlx5_10"),
    ("2.21 ib", "NCCL_IB_HCA==mlx4_0", "harmful high", "TCP"),
    ("2.21 ib", "NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7", "fine info", "near the GPUs"),
    ("2.21 ib", "NCCL_IB_HCA=^mlx5_10", "fine info", "near the GPUs"),
    (
        "2.21 ib",
        "NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7,mlx5_8",
        "illegal medium",
        "mlx5_8",
    ),
    ("2.21 tcp", "NCCL_IB_HCA=mlx5", "ignored low", "no RDMA"),
    // GID.
    ("2.21", "NCCL_IB_GID_INDEX=3", "harmful medium", "unset"),
    ("2.20", "NCCL_IB_GID_INDEX=3", "undecided low", "show_gids"),
    ("-", "NCCL_IB_GID_INDEX=3", "undecided low", "--nccl"),
    ("2.21 ib", "NCCL_IB_GID_INDEX=3", "ignored low", "InfiniBand"),
    ("2.20 roce", "NCCL_IB_GID_INDEX=3", "fine info", "RoCE v2"),
    ("2.20 roce", "NCCL_IB_GID_INDEX=1", "harmful high", "not a RoCE v2"),
    ("2.21 roce", "NCCL_IB_GID_INDEX=1", "harmful high", "not a RoCE v2"),
    ("2.20 roce6", "NCCL_IB_GID_INDEX=3", "undecided low", "show_gids"),
    ("2.20 roce6", "NCCL_IB_GID_INDEX=1", "harmful high", "not a RoCE v2"),
    ("2.21 roce", "NCCL_IB_GID_INDEX=-1", "redundant info", "default"),
    // Network.
    ("2.21", "NCCL_IB_DISABLE=1", "harmful high", "TCP"),
    ("2.21 ib", "NCCL_IB_DISABLE=1", "harmful high", "TCP"),
    ("2.21 tcp", "NCCL_IB_DISABLE=1", "ignored low", "no RDMA"),
    ("2.21", "NCCL_IB_DISABLE=0", "redundant info", "default"),
    ("2.21", "NCCL_NET=Socket", "harmful high", "TCP"),
    ("2.21", "NCCL_NET=IB", "fine info", "error"),
    ("2.21", "NCCL_NET=RoCE", "illegal high", "IB"),
    ("2.21", "NCCL_NET=AWS Libfabric", "undecided info", "exactly"),
    ("2.21", "NCCL_SOCKET_NTHREADS=4", "undecided info", "--node"),
    ("2.21 ib", "NCCL_SOCKET_NTHREADS=4", "ignored low", "RDMA"),
    ("2.21 tcp", "NCCL_SOCKET_NTHREADS=4", "fine info", ""),
    ("2.21", "NCCL_SOCKET_NTHREADS=16 ; NCCL_NSOCKS_PERTHREAD=8", "illegal medium, undecided info", "64"),
    ("2.21 ib", "NCCL_SOCKET_IFNAME=mlx5_0", "illegal high", "RDMA device"),
    ("2.21 ib", "NCCL_SOCKET_IFNAME=^docker0", "harmful high", "NCCL_SOCKET_IFNAME=^docker0,lo"),
    ("2.21 ib", "NCCL_SOCKET_IFNAME=^lo,docker", "fine info", "eth0"),
    ("2.21 ib", "NCCL_SOCKET_IFNAME=eth", "fine info", "eth0 and eth1"),
    ("2.21 ib", "NCCL_SOCKET_IFNAME==eth1", "harmful high", "down"),
    ("2.21 ib", "NCCL_SOCKET_IFNAME=bond", "harmful high", "no such interface"),
    ("2.21", "NCCL_SOCKET_IFNAME=eth0", "undecided info", "--node"),
    ("2.21", "NCCL_SOCKET_IFNAME=lo", "harmful medium", "single node"),
    // Values wherever they are.
    ("2.21", "NCCL_P2P_DISABLE=1", "harmful high", "linerate audit"),
    ("2.21", "NCCL_P2P_DISABLE=0", "redundant info", "nothing"),
    ("2.21", "NCCL_SHM_DISABLE=1", "harmful medium", "shm"),
    ("2.21", "NCCL_SHM_DISABLE=0", "redundant info", "leaves"),
    ("2.21", "NCCL_CROSS_NIC=1", "harmful medium", "spine"),
    ("2.21", "NCCL_CROSS_NIC=2", "redundant info", "default"),
    ("2.21", "NCCL_IB_TIMEOUT=22", "harmful low", "2 min"),
    ("2.21", "NCCL_IB_TIMEOUT=18", "redundant info", "default"),
    ("2.23", "NCCL_IB_TIMEOUT=18", "harmful medium", "shorter"),
    ("2.13", "NCCL_IB_TIMEOUT=18", "harmful low", "speed"),
    ("2.21 ib", "NCCL_IB_QPS_PER_CONNECTION=4", "undecided info", "adaptive"),
    ("2.21 roce", "NCCL_IB_QPS_PER_CONNECTION=4", "undecided info", "ECMP"),
    ("2.21", "NCCL_IB_QPS_PER_CONNECTION=1", "redundant info", "default"),
    ("-", "NCCL_IB_QPS_PER_CONNECTION=1", "redundant info", "every release"),
    ("2.21", "NCCL_IB_SPLIT_DATA_ON_QPS=1", "ignored low", "nothing to split"),
    ("2.21", "NCCL_IB_SPLIT_DATA_ON_QPS=1 ; NCCL_IB_QPS_PER_CONNECTION=4", "fine info", ""),
    ("2.21 roce", "NCCL_IB_TC=26", "undecided info", "104"),
    ("2.21", "NCCL_IB_TC=106", "undecided info", "switch"),
    ("2.21 ib", "NCCL_DMABUF_ENABLE=0", "harmful high", "no way"),
    ("2.21", "NCCL_DMABUF_ENABLE=0", "harmful medium", "peermem"),
    ("2.21", "NCCL_IB_ADAPTIVE_ROUTING=0", "undecided info", "--node"),
    ("2.21 ib", "NCCL_IB_ADAPTIVE_ROUTING=0", "harmful low", "InfiniBand"),
    ("2.21 roce", "NCCL_IB_ADAPTIVE_ROUTING=1", "undecided info", "owner"),
    ("2.21", "NCCL_MAX_NCHANNELS=2", "harmful medium", "unused"),
    ("2.21", "NCCL_PROTO=^LL128", "harmful medium", "production"),
    ("2.21", "NCCL_PROTO=LL128", "harmful medium", "corrupted"),
    ("2.21", "NCCL_DEBUG_SUBSYS=NET", "ignored low", "not set"),
    ("2.21", "NCCL_DEBUG_SUBSYS=NET ; NCCL_DEBUG=INFO", "fine info", ""),
    ("2.21", "NCCL_DEBUG_FILE=/tmp/x", "harmful low", "%h"),
    // Equal to the default, or to what NCCL computes: not the setting's fault, whatever a rule says of other values.
    ("2.21", "NCCL_BUFFSIZE=4194304", "redundant info", "by itself"),
    ("-", "NCCL_BUFFSIZE=4194304", "redundant info", "2.19.1"),
    ("2.18", "NCCL_BUFFSIZE=4194304", "undecided info", "2.19.1"),
    ("2.5", "NCCL_BUFFSIZE=4194304", "redundant info", "default"),
    ("2.21", "NCCL_BUFFSIZE=8388608", "harmful medium", "unset"),
    ("2.21", "NCCL_LL_BUFFSIZE=524288", "redundant info", "by itself"),
    ("2.21", "NCCL_LL128_NTHREADS=640", "redundant info", "by itself"),
    ("2.21", "NCCL_MAX_NCHANNELS=32", "redundant info", "by itself"),
    ("2.27", "NCCL_MAX_NCHANNELS=32", "harmful medium", "unused"),
    ("2.21", "UCX_TLS=tcp", "harmful medium", "MPI only starts"),
    ("2.21", "UCX_TLS=tcp ; UCX_NET_DEVICES=eth0", "fine info", "NCCL does not read"),
    ("2.21", "CUDA_LAUNCH_BLOCKING=1", "harmful high", "overlap"),
    ("2.21", "UCX_IB_GID_INDEX=3", "harmful low", "unset"),
    // Together.
    ("2.21", "NCCL_IB_HCA==mlx5_0 ; NCCL_IB_DISABLE=1", "contradictory medium, undecided info", "NCCL_IB_DISABLE"),
    ("2.21", "NCCL_NET_GDR_LEVEL=PXB ; NCCL_NET=Socket", "contradictory medium, redundant info", "GPUDirect"),
    ("2.21", "NCCL_P2P_LEVEL=PXB ; NCCL_P2P_DISABLE=1", "contradictory medium, redundant info", "wins"),
    ("2.21", "NCCL_IB_SL=0 ; NCCL_IB_SL=1", "contradictory low, undecided info", "again"),
];

#[test]
fn each_case_is_judged() {
    let mut wrong = Vec::new();
    for (which, settings, want, word) in CASES {
        let (got, all) = said(which, settings);
        let name = settings.split('=').next().unwrap();
        let told = all.iter().filter(|j| j.variable == name).any(|j| {
            let text = format!("{} {}", j.message, j.suggestion.clone().unwrap_or_default());
            text.contains(word)
        });
        if got != *want || !told {
            wrong.push(format!("{which} | {settings}: {got}, want {want} with {word:?}\n{all:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_judgement_can_be_acted_on() {
    for (which, settings, ..) in CASES {
        for j in judge(&set(settings), &context(which)) {
            assert!(!j.message.is_empty() && !j.message.contains('\n'), "{j:?}");
            let finding =
                j.severity >= Severity::Low && !matches!(j.kind, Kind::Fine | Kind::Undecided | Kind::Unknown);
            let own = !matches!(j.kind, Kind::Misspelt) && j.variable.starts_with("NCCL_");
            assert!(!finding || !own || !j.sources.is_empty(), "no source: {j:?}");
        }
    }
}

fn at(kind: OriginKind, file: &str, name: &str, value: &str) -> Setting {
    Setting::new(name, value, Origin::file(kind, file).line(1))
}

#[test]
fn of_two_sources_it_is_said_which_wins() {
    use OriginKind::{Dockerfile, Environment, Log, Manifest, SystemConf, UserConf};
    let n = "NCCL_CROSS_NIC";
    for (list, loser, word) in [
        (vec![at(SystemConf, "/etc/nccl.conf", n, "0"), at(Environment, "env", n, "1")], "0", "environment wins"),
        (vec![at(SystemConf, "/etc/nccl.conf", n, "0"), at(UserConf, "~/.nccl.conf", n, "1")], "0", "user's file"),
        (vec![at(SystemConf, "c", n, "0"), at(SystemConf, "c", n, "1")], "1", "first line"),
        (vec![at(Dockerfile, "D", n, "0"), at(Manifest, "p", n, "1")], "0", "container starts"),
        (vec![at(Log, "l", n, "0"), at(Log, "l", n, "1")], "0", "started differently"),
        (vec![at(Log, "l", n, "0"), at(Environment, "e", n, "1")], "1", "the log says"),
    ] {
        let all = judge(&list, &Context::default());
        let j = all.iter().find(|j| j.kind == Kind::Contradictory).unwrap_or_else(|| panic!("{list:?}"));
        assert!(j.value == loser && j.message.contains(word), "{j:?}");
    }
    let same = [at(Log, "l", "NCCL_NET_GDR_LEVEL", "SYS"), at(Environment, "e", "NCCL_NET_GDR_LEVEL", "5")];
    assert!(
        judge(&same, &Context::default()).iter().all(|j| j.kind != Kind::Contradictory),
        "NCCL prints the name of a number"
    );
}

#[test]
fn what_does_not_hold_is_not_judged() {
    use OriginKind::{Environment, Manifest, SystemConf, UserConf};
    let hca = "NCCL_IB_HCA";
    for (list, want) in [
        // setenv with overwrite 0: the process's own value stays.
        (
            vec![at(SystemConf, "/etc/nccl.conf", hca, "=mlx4_9"), at(Environment, "env", hca, "=mlx5_0")],
            "harmful medium =mlx5_0, contradictory low =mlx4_9",
        ),
        (
            vec![at(SystemConf, "/etc/nccl.conf", "NCCL_IB_DISABLE", "1"), at(UserConf, "c", "NCCL_IB_DISABLE", "0")],
            "contradictory low 1, redundant info 0",
        ),
        (
            vec![
                at(Manifest, "p", "NCCL_IB_DISABLE", "0"),
                at(SystemConf, "/etc/nccl.conf", "NCCL_IB_DISABLE", "1"),
                at(Manifest, "p", hca, "mlx5_0"),
            ],
            "harmful medium mlx5_0, contradictory low 1, redundant info 0",
        ),
    ] {
        let all = judge(&list, &context("2.21 hgx"));
        let said: Vec<String> =
            all.iter().map(|j| format!("{} {} {}", j.kind.name(), j.severity.name(), j.value)).collect();
        assert_eq!(said.join(", "), want);
    }
}

/// No rewriting of a list of devices changes which ports of any node it takes, but by what the judgement says against it.
#[test]
fn ports_survive_every_rewriting() {
    for list in [
        "mlx4_0:1,mlx4_0:2",
        "^mlx5_0:1",
        "=mlx5_0:2,mlx5_1",
        "mlx5_1:1",
        "mlx5_0:1 ,mlx5_1:2",
        "^mlx5_0:1,^mlx5_2:2",
        "=mlx5_0:1,mlx5_10:1",
    ] {
        for which in ["2.21", "2.21 ib", "2.21 hgx"] {
            for j in judge(&set(&format!("NCCL_IB_HCA={list}")), &context(which)) {
                let Some(linerate_env::Change::Set(to)) = &j.change else {
                    assert_eq!(j.change, None, "{list} is not to be unset: {j:?}");
                    continue;
                };
                let (before, after) = (
                    linerate_env::value::Filter::parse(&list.replace(' ', "")),
                    linerate_env::value::Filter::parse(to),
                );
                for e in &before.entries {
                    let name = e.name.trim_start_matches(['^', '=']);
                    let kept = after
                        .entries
                        .iter()
                        .filter(|a| a.name == name)
                        .all(|a| before.entries.iter().any(|b| b.tail.trim() == a.tail));
                    assert!(kept, "{list} became {to}");
                }
            }
        }
    }
}

#[test]
fn equal_settings_are_judged_once() {
    let list: Vec<Setting> =
        (0..500).map(|n| at(OriginKind::Environment, &format!("rank{n}"), "NCCL_IB_DISABLE", "1")).collect();
    let all = judge(&list, &Context::default());
    assert_eq!(all.len(), 1);
    assert!(all.first().unwrap().also.len() > 10 && worst(&all) == Some(Severity::High));
}

#[test]
fn the_least_that_a_node_needs() {
    let of = |which: &str| {
        let r = recommend(&context(which));
        r.set
            .iter()
            .map(|v| format!("{}={}{}", v.name, v.value, if v.condition.is_some() { "?" } else { "" }))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let hca = "NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7";
    assert_eq!(of("2.21 ib"), hca);
    assert_eq!(of("2.21 pcie"), format!("{hca} NCCL_NET_GDR_LEVEL=PHB?"));
    assert_eq!(of("2.20 roce"), format!("{hca} NCCL_IB_GID_INDEX=3?"));
    assert_eq!(of("2.21"), "");
    let mut plain = context("2.21 ib");
    if let Some(nics) = plain.node.as_mut().and_then(|n| n.nics.as_mut()) {
        nics.pop();
    }
    assert!(recommend(&plain).set.is_empty() && recommend(&plain).open.is_empty());
    assert!(!recommend(&Context::default()).open.is_empty());
}

#[test]
fn a_log_tells_the_fabric() {
    let read = linerate_env::read::read(None, b"NCCL version 2.21.5\nx NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>\nx NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.\n");
    assert_eq!(read.fabric, Some(Fabric::InfiniBand));
    let context = Context { nccl: read.nccl.map(|v| v.0), fabric: read.fabric, ..Context::default() };
    assert_eq!(judge(&read.settings, &context).first().unwrap().kind, Kind::Ignored);
}

/// RCCL's defaults are others (`PXN_DISABLE` 1, `DMABUF_ENABLE` 0): what NCCL makes of a setting is no advice there.
#[test]
fn what_rccl_reads_is_not_judged_as_nccls() {
    let variables = "NCCL_PXN_DISABLE=0 ; NCCL_DMABUF_ENABLE=1 ; NCCL_GDR_FLUSH_DISABLE=1 ; NCCL_MIN_NCHANNELS=112 ; NCCL_NOT_KNOWN=1";
    let amd = NodeFacts { amd_only: true, ..node(Link::Ethernet) };
    for c in [Context { rccl: true, ..Context::default() }, Context { node: Some(amd), ..Context::default() }] {
        let list = judge(&set(variables), &c);
        assert_eq!(
            list.iter().filter(|j| j.kind == Kind::Undecided && j.change.is_none()).count(),
            list.len(),
            "{list:?}"
        );
        assert_eq!(worst(&list), None);
        let r = recommend(&c);
        assert!(r.set.is_empty() && r.not_needed.is_empty() && !r.open.is_empty(), "{r:?}");
        // Other libraries' variables are judged as ever.
        assert_eq!(judge(&set("FI_LOG_LEVEL=1"), &c).first().unwrap().kind, Kind::Illegal);
    }
    let nccl = judge(&set(variables), &Context::default());
    assert!(nccl.iter().any(|j| j.kind == Kind::Redundant), "{nccl:?}");
}

/// Seconds of a process group, which no NCCL reads: not InfiniBand's exponent.
#[test]
fn a_timeout_in_seconds_is_not_infinibands() {
    let list = judge(&set("NCCL_TIMEOUT=1800"), &Context::default());
    assert_eq!(list.iter().map(|j| j.kind).collect::<Vec<_>>(), [Kind::Unknown]);
}

/// What is set to its default is never the cause of harm, in any release; index 0 up to 2.20 is harmful whoever chose it.
#[test]
fn defaults_are_not_called_harmful() {
    let mut wrong = Vec::new();
    for v in linerate_env::variables().iter().filter(|v| v.owner == linerate_env::Owner::Nccl) {
        let spans = v.spans.iter().filter(|s| s.default != linerate_env::DefaultValue::Number(-2));
        for span in spans.chain(&v.computed) {
            let linerate_env::DefaultValue::Number(n) = span.default else { continue };
            for which in ["", " ib", " roce", " hgx"] {
                let which = format!("{}{which}", span.last);
                let (said, all) = said(&which, &format!("{}={n}", v.name));
                if said.contains("harmful") && !(v.name == "NCCL_IB_GID_INDEX" && n == 0) {
                    wrong.push(format!("{which} {}={n}: {said} {}", v.name, all.first().unwrap().message));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
