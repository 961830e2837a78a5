//! `numa/cross-socket-nic`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};
use linerate_node::pci::{Distance, PciFunction};
use linerate_node::rails::Rail;

pub(super) static RULE: Rule = Rule {
    id: "numa/cross-socket-nic",
    title: "Every GPU has an RDMA NIC on its own NUMA node",
    severity: Severities::up_to(Severity::Medium, Severity::High),
    roles: Roles::BARE_METAL,
    effect: Effect::sourced("traffic crosses the link between CPUs; NCCL by default uses no GPUDirect RDMA there, and models 6 to 40 GB/s for the whole link"),
    sources: &[super::NCCL_PATHS],
    reads: &["sys/bus/pci/devices/*/numa_node", "lspci -vvv"],
    docs: "\
## What it checks
The path from each GPU to its nearest RDMA NIC that has a link. NCCL's SYS means another NUMA node, which may be one of the same socket (NPS2, NPS4,
sub-NUMA clustering): the socket comes from the CPUs of the node (`physical id`), never from its number. With NVLink NCCL can send through
another GPU that has a NIC nearby (PXN); the message says whether there is one. Where neither DMA-BUF nor a peer-memory module can serve, data passes host
memory anyway, and the distance is information. So it is where the node has one card for all sockets, and no switch.

## Why it matters
Between sockets everything shares one link, and peer-to-peer across it is slow on many CPUs. NCCL's default limit for GPUDirect RDMA is PXB (P2C on
Grace): beyond it the data takes a copy in host memory.

## See it yourself
`nvidia-smi topo -m`: SYS between the GPU and every NIC.

## Fix
Another socket: move a NIC to that socket's slots, or accept it and let NCCL use PXN. NCCL_NET_GDR_LEVEL=SYS forces GPUDirect across sockets: to test only.
Another NUMA node of the same socket: nothing to move. NPS4 and sub-NUMA clustering make SYS out of PHB: see numa/nps.",
    myths: &[
        Myth {
            claim: "Crossing NUMA costs 10 to 15 %.",
            truth: "No source. By default NCCL switches GPUDirect RDMA off there, which is another order of magnitude on some CPUs.",
        },
        Myth {
            claim: "NCCL_NET_GDR_LEVEL=5 enables the full GPUDirect path.",
            truth: "It is SYS: forced across sockets, where it is often slower. Say levels by name, and leave it unset.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let node = cx.node;
    if super::no_pairs(cx, out) {
        return;
    }
    let serving = super::serving(cx);
    let local = serving.iter().filter(|r| r.shares_switch()).count();
    for rail in &serving {
        let gpu = node.pci.get(rail.gpu);
        let Some(nic) = rail.nics.first().map(|n| node.pci.get(*n)) else { continue };
        let nics = || super::names(cx, &rail.nics);
        match rail.distance {
            Distance::Pix | Distance::Pxb => {
                out.pass(gpu.bdf, || format!("{}: {}", rail.distance, nics())).at(gpu.vendor.place());
            }
            Distance::Phb => {
                out.pass(gpu.bdf, || format!("same NUMA node as {}", nics()))
                    .at(gpu.numa_node.place())
                    .at(nic.numa_node.place());
            }
            Distance::Sys => apart(cx, rail, gpu, nic, local, out),
            Distance::Unknown => {
                super::path_hidden(gpu, out);
            }
        }
    }
}

/// GPU and NIC are of two NUMA nodes: of two sockets, of one, or that is not seen.
fn apart(cx: &Cx<'_>, rail: &Rail, gpu: &PciFunction<'_>, nic: &PciFunction<'_>, local: usize, out: &mut Findings) {
    let node = cx.node;
    // All NICs of other NUMA nodes are equally far: one of them on the own socket is enough.
    let sockets =
        rail.nics.iter().map(|n| node.same_socket(*gpu.numa_node.known()?, *node.pci.get(*n).numa_node.known()?));
    let same = sockets.reduce(|a, b| match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    });
    let same = same.flatten();
    let direct = crate::gpumem::gpudirect(cx);
    let why = || {
        let (gpu, nics) = (node.name_of(gpu), super::names(cx, &rail.nics));
        let passed = super::passed_over(cx, rail);
        let place = match same {
            Some(true) => "on another NUMA node of the same socket",
            Some(false) => "on another NUMA node, of another socket",
            None => "on another NUMA node; whether on another socket is not visible",
        };
        let way = match (direct, local) {
            (Some(false), _) => "GPUDirect RDMA is out of reach here anyway: see gpumem/registration-path".to_owned(),
            (_, 0) => "default NCCL uses no GPUDirect RDMA; no GPU has a NIC below its switch".to_owned(),
            (_, n) => format!(
                "default NCCL uses no GPUDirect RDMA; {} below their switch, which NCCL can use over NVLink if there is any",
                linerate_formats::counted(n, "GPU has a NIC", "GPUs have NICs")
            ),
        };
        format!("{gpu}: nearest NIC {nics} is {place}{passed}; {way}")
    };
    // Without a switch on the whole node, one NUMA node or several of one socket are a design, and so is a single card for all sockets.
    let mut cards = node.pci.rdma_nics().map(|(_, f)| (f.bdf.domain, f.bdf.bus, f.bdf.device));
    let first = cards.next();
    let single = first.is_some() && cards.all(|c| Some(c) == first);
    let design = local == 0 && (same == Some(true) && super::passed_over(cx, rail).is_empty() || single);
    let severity = match local {
        _ if direct == Some(false) || design => Severity::Info,
        0 if same == Some(false) => Severity::High,
        _ => Severity::Medium,
    };
    let f = out.fail(gpu.bdf, why);
    f.severity(severity).at(gpu.numa_node.place()).at(nic.numa_node.place());
    if same.is_some() {
        f.at(node.numa.place());
    }
    match same {
        _ if direct == Some(false) => {}
        Some(false) => {
            f.fix(|| {
                Remedy::physical(
                    "give the GPU a NIC on its own socket",
                    "a NIC in a slot of the GPU's socket, best below its PCIe switch",
                )
            });
        }
        Some(true) => {
            f.fix(|| {
                Remedy::investigate(
                    "benchmark with one NUMA node per socket, where NCCL calls such a pair PHB",
                    "NPS or sub-NUMA clustering in the BIOS: see numa/nps",
                )
            });
        }
        None => {
            f.see("cat /proc/cpuinfo /sys/devices/system/node/node*/cpulist");
        }
    }
}
