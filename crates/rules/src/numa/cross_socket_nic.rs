//! `numa/cross-socket-nic`.

use crate::{Action, Cx, Effect, Findings, Myth, Persistence, Quality, Remedy, Risk, Roles, Rule, Severity};
use linerate_node::pci::Distance;

pub(super) static RULE: Rule = Rule {
    id: "numa/cross-socket-nic",
    title: "Every GPU has an RDMA NIC on its own NUMA node",
    severity: Severity::Medium,
    roles: Roles::BARE_METAL,
    effect: Effect {
        text: "traffic crosses the link between CPUs; NCCL by default uses no GPUDirect RDMA there, and models 6 to 40 GB/s for the whole link",
        quality: Quality::Sourced,
    },
    sources: &[super::NCCL_PATHS],
    reads: &["sys/bus/pci/devices/*/numa_node", "lspci -vvv"],
    docs: "\
## What it checks
The path from each GPU to its nearest RDMA NIC that has a link. SYS means that it crosses NUMA nodes. With NVLink NCCL can send through another
GPU that has a NIC nearby (PXN); the message says whether there is one.

## Why it matters
Between sockets everything shares one link, and peer-to-peer across it is slow on many CPUs. NCCL's default limit for GPUDirect RDMA is PXB (P2C on
Grace): beyond it the data takes a copy in host memory.

## See it yourself
`nvidia-smi topo -m`: SYS between the GPU and every NIC.

## Fix
Move a NIC to the other socket's slots, or accept it and let NCCL use PXN. NCCL_NET_GDR_LEVEL=SYS forces GPUDirect across sockets: to test only.
NPS4 and sub-NUMA clustering make SYS out of PHB without moving anything: see numa/nps.",
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
            Distance::Sys => {
                let why = || {
                    let (gpu, nics) = (node.name_of(gpu), nics());
                    let way = if local > 0 {
                        format!(
                            "{local} GPU(s) have a NIC below their switch, which NCCL can use over NVLink where there is any"
                        )
                    } else {
                        "no GPU has a NIC below its switch".to_owned()
                    };
                    format!(
                        "{gpu}: nearest NIC {nics} is on another NUMA node{}; default NCCL uses no GPUDirect RDMA; {way}",
                        super::passed_over(cx, rail)
                    )
                };
                out.fail(gpu.bdf, why)
                    .severity(if local > 0 { Severity::Medium } else { Severity::High })
                    .at(gpu.numa_node.place())
                    .at(nic.numa_node.place())
                    .fix(|| {
                        Remedy::new(
                            "give the GPU a NIC on its own socket",
                            Action::Physical {
                                what: "a NIC in a slot of the GPU's socket, best below its PCIe switch".into(),
                            },
                            Persistence::Hardware,
                            Risk::Medium,
                        )
                    });
            }
            Distance::Unknown => {
                out.unknown(
                    gpu.bdf,
                    "the PCIe path to the NICs is not visible (bridges or NUMA nodes are missing in this source)",
                )
                .at(gpu.numa_node.place())
                .see("capture with `linerate collect`, or `lspci -D -nn -vvv` as root");
            }
        }
    }
}
