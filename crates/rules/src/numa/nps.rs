//! `numa/nps`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};

pub(super) static RULE: Rule = Rule {
    id: "numa/nps",
    title: "One NUMA node per socket",
    severity: Severities::up_to(Severity::Info, Severity::Medium),
    roles: Roles::BARE_METAL,
    effect: Effect::sourced("no effect on GPUDirect RDMA itself; NCCL calls GPU and NIC on different nodes of one socket SYS instead of PHB"),
    sources: &[
        super::NCCL_PATHS,
        Source {
            title: "nccl-tests issue 115: NPS matters for host memory, not for peer-to-peer",
            at: "https://github.com/NVIDIA/nccl-tests/issues/115",
        },
    ],
    reads: &["sys/devices/system/node/node*/cpulist", "proc/cpuinfo", "sys/devices/system/cpu/cpu*/topology/physical_package_id"],
    docs: "\
## What it checks
NUMA nodes that have CPUs, against sockets. Fewer nodes than sockets: node interleaving in the BIOS, or `numa=off`; the kernel and NCCL then take
both sockets for one, and no distance is true. More nodes than sockets: NPS2/NPS4 on AMD, sub-NUMA clustering on Intel. That is information: both
are legitimate. Nodes without CPUs (GPU memory on Grace, CXL memory) do not count.

## Why it matters
NCCL makes one CPU of each node number. A GPU and a NIC on different quarters of one socket then look as far apart as on two sockets, and level PHB
in NCCL_NET_GDR_LEVEL no longer includes them.

## See it yourself
`lscpu | grep -E 'Socket|NUMA'`.

## Fix
Fewer nodes than sockets: switch node interleaving off, remove `numa=off`. More: none needed. For transfers through host memory NPS4 may help, for the classification NPS1 is simpler: decide by benchmark.",
    myths: &[Myth {
        claim: "NPS4 gives the best locality to the GPUs.",
        truth: "It moves host memory closer. GPUDirect RDMA does not touch host memory.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let node = cx.node;
    let Some(nodes) = node.numa.known() else {
        out.unreadable(Subject::Node, "list of NUMA nodes", &node.numa);
        return;
    };
    // Processors other than x86 name their socket in sysfs alone.
    let in_sysfs = || {
        let with_cpus = nodes.iter().filter(|n| !n.cpulist.is_empty());
        let sockets: Option<std::collections::BTreeSet<u32>> = with_cpus.map(|n| n.socket).collect();
        sockets.filter(|s| !s.is_empty()).and_then(|s| u32::try_from(s.len()).ok())
    };
    let (sockets, place) = match (node.cpu.sockets.known(), in_sysfs()) {
        (Some(n), _) => (*n, node.cpu.sockets.place()),
        (None, Some(n)) => (n, node.numa.place()),
        (None, None) => {
            out.unreadable(Subject::Node, "number of sockets", &node.cpu.sockets);
            return;
        }
    };
    let with_cpus = nodes.iter().filter(|n| !n.cpulist.is_empty()).count();
    if with_cpus == 0 {
        out.unknown(Subject::Node, "no NUMA node shows its CPUs").at(node.numa.place());
    } else if with_cpus as u64 > u64::from(sockets) {
        out.fail(Subject::Node, format_args!("{with_cpus} NUMA nodes with CPUs on {sockets} sockets"))
            .at(node.numa.place())
            .at(place)
            .fix(|| Remedy::investigate(
                "nothing, unless NCCL classifies nearby devices as SYS and the benchmark prefers one node per socket",
                "NPS or sub-NUMA clustering in the BIOS",
            ));
    } else if (with_cpus as u64) < u64::from(sockets) {
        out.fail(
            Subject::Node,
            format_args!(
                "{} with CPUs on {sockets} sockets: what crosses sockets looks local",
                linerate_formats::counted(with_cpus, "NUMA node", "NUMA nodes")
            ),
        )
        .severity(Severity::Medium)
        .at(node.numa.place())
        .at(place)
        .fix(|| {
            Remedy::bios(
                "switch node interleaving off, and remove numa=off from the kernel command line if it is there",
                "node interleaving",
                "off",
            )
            .prove("sys/devices/system/node/node*/cpulist")
        });
    } else {
        out.pass(Subject::Node, format_args!("{with_cpus} NUMA nodes with CPUs on {sockets} sockets"))
            .at(node.numa.place())
            .at(place);
    }
}
