//! `acs/direct-nic`.

use super::{RDMA_TOPO, control, control_place, differs, names};
use crate::{Action, Cx, Effect, Findings, Myth, Persistence, Quality, Remedy, Risk, Roles, Rule, Severity, Source};
use linerate_node::pci::{FnId, Kind, PciTree};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "acs/direct-nic",
    title: "Ports between a Data Direct function and its GPU have the ACS bits that this topology needs",
    severity: Severity::High,
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect { text: "the direct path between NIC and GPU is not used, or does not work", quality: Quality::Sourced },
    sources: &[
        RDMA_TOPO,
        Source {
            title: "NVIDIA, GB200/GB300 and ConnectX-8 GPUDirect RDMA guide",
            at: "https://docs.nvidia.com/multi-node-nvlink-systems/grace-blackwell-cx8-gpudirect-rdma-guide",
        },
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv"],
    docs: "\
## What it checks
On systems with a ConnectX-8 Data Direct function (15b3:2100): the port above that function `xx110x1`, the port above the GPU that shares a switch
with it `xx101x1`, the root port above both `xx111x0`. Leftmost is Direct Translated, rightmost Source Validation; x is any.

## Why it matters
Here redirection is part of the design: requests go up and completions come straight, and without Source Validation on the shared root port the
kernel puts NIC function and GPU into one IOMMU group, which the driver demands. A loop that clears ACS everywhere breaks these machines.

## See it yourself
`rdma_topo check` from rdma-core; `sudo lspci -vvv -s PORT | grep ACSCtl`.

## Fix
`rdma_topo write-grub-acs` writes the `pci=config_acs=` list. The setpci variant needs NVreg_GrdmaPciTopoCheckOverride=1 and lets unprivileged
programs trigger platform RAS failures: avoid it.",
    myths: &[Myth {
        claim: "Disable ACS on all bridges, as everywhere.",
        truth: "On GB200/GB300 with Data Direct that breaks GPUDirect RDMA: three kinds of ports need three different settings.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let any = pci.of_kind(Kind::DataDirect).next().is_some();
    if cx.no_subjects(any, "Data Direct function", out) {
        return;
    }
    let mut wanted: Vec<(FnId, &'static str, &'static str)> = Vec::new();
    for (dma, f) in pci.of_kind(Kind::DataDirect) {
        let Some((gpu, common)) = partner(pci, dma) else {
            out.unknown(f.bdf, "no GPU below the same root port is visible").at(f.class.place());
            continue;
        };
        let root = pci.ancestors(common).0.last().copied().unwrap_or(common);
        for (port, want, what) in [
            (pci.bridge_above(dma), "xx110x1", "port above the Data Direct function"),
            (pci.bridge_above(gpu), "xx101x1", "port above the GPU"),
            (Some(root), "xx111x0", "root port above both"),
        ] {
            wanted.extend(port.map(|p| (p, want, what)));
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    for (port, want, what) in wanted {
        judge(cx, port, want, what, out);
    }
}

/// The GPU nearest to the function, and the bridge above both.
fn partner(pci: &PciTree<'_>, dma: FnId) -> Option<(FnId, FnId)> {
    let up = pci.ancestors(dma).0;
    let gpus = pci.gpus().filter_map(|(g, _)| {
        let above = pci.ancestors(g).0;
        let (at, common) = up.iter().enumerate().find(|(_, b)| above.contains(b))?;
        Some((at, g, *common))
    });
    gpus.min().map(|(_, g, common)| (g, common))
}

fn judge(cx: &Cx<'_>, id: FnId, want: &'static str, what: &str, out: &mut Findings) {
    let port = cx.node.pci.get(id);
    match (&port.acs, control(port)) {
        (Reading::Absent(at), _) => {
            out.fail(port.bdf, format_args!("{what} has no ACS capability, {want} is wanted")).at(*at);
        }
        (_, Some(bits)) => {
            // Completion redirect of Vera root ports is read-only zero: what a port cannot do is not demanded.
            let able = port.acs.known().and_then(|a| a.capability).map_or(u16::MAX, |c| c.0);
            let (set, clear) = differs(want, bits);
            let set = set & able;
            if (set, clear) == (0, 0) {
                out.pass(port.bdf, format_args!("{what}: {bits}")).at(control_place(port));
                return;
            }
            let mut wrong = Vec::new();
            if set != 0 {
                wrong.push(format!("lacks {}", names(set)));
            }
            if clear != 0 {
                wrong.push(format!("must not have {}", names(clear)));
            }
            out.fail(port.bdf, format_args!("{what} {} ({want} wanted): {bits}", wrong.join(", ")))
                .at(control_place(port))
                .fix(|| {
                    Remedy::new(
                        format!("boot with pci=config_acs={want}@{} among the list that rdma_topo writes", port.bdf),
                        Action::AcsControl { ports: vec![port.bdf], clear, set },
                        Persistence::NextBoot,
                        Risk::Medium,
                    )
                    .because("IOMMU groups change; needs a reboot")
                    .prove(format!("sys/bus/pci/devices/{}/config ACS control", port.bdf))
                });
        }
        (r, None) => {
            out.unreadable(port.bdf, "ACS control register", r);
        }
    }
}
