//! `rdma/connectx3`.

use super::common;
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::pci::PciFunction;
use linerate_node::rdma::RdmaDevice;

pub(super) static RULE: Rule = Rule {
    id: "rdma/connectx3",
    title: "No ConnectX-3 (mlx4) where GPUDirect or two full ports are expected",
    severity: Severities::up_to(Severity::Info, Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::derived("both ports share PCIe 3.0 x8: 63 Gb/s after encoding, an estimated 52 to 55 Gb/s usable; no DMA-BUF"),
    sources: &[
        Source {
            title: "rdma-core providers/mlx4: has no reg_dmabuf_mr",
            at: "https://github.com/linux-rdma/rdma-core/tree/master/providers/mlx4",
        },
        Source {
            title: "perftest: ConnectX-3 is forced to a 2K MTU",
            at: "https://github.com/linux-rdma/perftest/blob/master/src/perftest_parameters.c",
        },
    ],
    reads: &["sys/bus/pci/devices/*/{driver,current_link_speed,current_link_width}", "sys/class/infiniband/mlx4_*/ports/*/rate"],
    docs: "\
## What it checks
NICs driven by mlx4_core. The sum of the rates of their ACTIVE ports is compared with what the PCIe link carries after encoding: more than
the link is medium. Otherwise information: what these cards cannot do.

## Why it matters
One PCIe function with two ports: `2 × 40 Gb/s` does not fit through PCIe 3.0 x8. GPUDirect RDMA needs either DMA-BUF, which mlx4 does not
implement, or nvidia_peermem with MLNX_OFED 4.9, the last that has mlx4, which does not build on current kernels. So NCCL
stages through host memory.

## See it yourself
`lspci -vv -s BDF | grep LnkSta`, `ibv_devinfo -d mlx4_0`. Run ib_write_bw on both ports at the same time, not one after the other.

## Fix
Plan for host-staged transfers and for one port's worth of bandwidth, or replace the card.",
    myths: &[
        Myth {
            claim: "Two ports at 38 Gb/s each, measured one after the other, are 80 Gb/s together.",
            truth: "Both share one PCIe 3.0 x8 link of 63 Gb/s after encoding.",
        },
        Myth {
            claim: "V100 and ConnectX-3 with a current driver are ready for GPUDirect RDMA.",
            truth: "No open kernel modules for Volta, no DMA-BUF in mlx4, no peer-memory API in current kernels: there is no path left.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    for d in common::devices(cx) {
        let function = d.pci.and_then(|b| cx.node.pci.find(b)).map(|id| cx.node.pci.get(id));
        let mlx4 = d.name.starts_with("mlx4") || function.is_some_and(|f| f.driven_by("mlx4_core"));
        if mlx4 {
            judge(d, function, out);
        }
    }
    if out.is_empty() {
        out.not_applicable("no mlx4 device").at(cx.node.rdma.place());
    }
}

fn judge<'o>(d: &RdmaDevice, function: Option<&PciFunction<'_>>, out: &'o mut Findings) -> &'o mut Finding {
    let subject = Subject::Named(d.name.clone());
    let ports: Vec<_> = d.ports.iter().filter(|p| common::is_active(p)).collect();
    let rates: Vec<f64> = ports.iter().filter_map(|p| p.rate_gbps.known().copied()).collect();
    let sum: f64 = rates.iter().sum();
    let link = function.and_then(|f| Some((*f.link.speed.known()?, *f.link.width.known()?, f.link.speed.place())));
    let remedy = Remedy::physical(
        "plan for host-staged transfers and one port's bandwidth, or replace the card",
        "a NIC with DMA-BUF support (ConnectX-4 or later)",
    );
    if let Some((speed, width, place)) = link {
        let carries = speed.bandwidth(width).0 * 8.0;
        if rates.len() > 1 && sum > carries {
            let f = out
                .fail(
                    subject,
                    format_args!("{} ACTIVE ports want {sum:.0} Gb/s, PCIe {speed} {width} carries {carries:.0} Gb/s; no DMA-BUF", rates.len()),
                )
                .severity(Severity::Medium)
                .at(place);
            f.at_all(ports.iter().map(|p| p.rate_gbps.place()));
            return f.fix(|| remedy);
        }
    }
    out.fail(subject, "mlx4: no DMA-BUF, so no GPUDirect RDMA on current kernels; RDMA MTU 2048 in perftest")
        .at(common::place(d))
        .fix(|| remedy)
}
