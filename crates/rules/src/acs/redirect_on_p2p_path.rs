//! `acs/redirect-on-p2p-path`.

use crate::{Action, Cx, Effect, Findings, Myth, Persistence, Quality, Remedy, Risk, Roles, Rule, Severity, Source};
use linerate_formats::pci::caps::{AcsBits, PortType};
use linerate_node::pci::{FnId, PciFunction};
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "acs/redirect-on-p2p-path",
    title: "No switch port between a GPU and its NIC redirects peer-to-peer requests",
    severity: Severity::High,
    roles: Roles::BARE_METAL,
    effect: Effect {
        text: "peer-to-peer traffic detours through the root complex: \"significant performance reduction or even a hang\"",
        quality: Quality::Sourced,
    },
    sources: &[
        Source {
            title: "NCCL user guide, GPU troubleshooting, PCI Access Control Services",
            at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        },
        Source {
            title: "rdma-core, rdma_topo: compute_acs, wanted strings per topology",
            at: "https://github.com/linux-rdma/rdma-core/blob/master/kernel-boot/rdma_topo",
        },
        Source {
            title: "Linux drivers/pci/pci.c: disable_acs_redir clears RR, CR and EC",
            at: "https://github.com/torvalds/linux/blob/master/drivers/pci/pci.c",
        },
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv"],
    docs: "\
## What it checks
The ACS control register of every bridge strictly between a GPU and an RDMA NIC that share a PCIe switch: request redirect
(RR), completion redirect (CR) and egress control (EC) must be off on bare metal. Source validation (SV) alone redirects nothing.
Ports that redirect but lie on no such path are listed as not-applicable: they do not matter here.

## Why it matters
A redirecting downstream port sends what one device writes to its neighbour up to the root complex instead of across the
switch. All pairs below the switch then share its uplink, and some root complexes do not forward peer-to-peer at all.

## See it yourself
`sudo lspci -vvv -s BDF | grep ACSCtl`. Without root only 64 bytes of configuration space are readable and the register cannot be seen.

## Fix
Clear RR, CR and EC on the ports named, at boot: `pci=config_acs=` where the kernel has it (and re-read it after boot: Linux 6.11 to 6.14
mis-parse lists), else `pci=disable_acs_redir=`, else a masked setpci in a unit. The kernel sets the bits on every capable port
whenever an IOMMU driver asks for ACS, `iommu=pt` included. Never clear them on a host that passes devices to virtual machines.",
    myths: &[
        Myth {
            claim: "Any non-zero ACSCtl, or `SrcValid+`, means that ACS breaks GPUDirect.",
            truth: "Only RR, CR and EC redirect, and only on bridges of a GPU–NIC path. SV alone costs nothing.",
        },
        Myth {
            claim: "pcie_acs_override=downstream,multifunction disables ACS.",
            truth: "It is an out-of-tree patch that pretends isolation where there is none. It clears no register and is ignored by distribution kernels.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let any = pci.gpus().next().is_some() && pci.rdma_nics().next().is_some();
    if cx.no_subjects(any, "GPU together with an RDMA NIC", out) {
        return;
    }
    let on_path = pci.p2p_ports();
    for id in &on_path {
        judge(pci.get(*id), out);
    }
    for (id, port) in pci.iter() {
        if let Some((control, place)) = redirecting(port).filter(|_| !on_path.contains(&id)) {
            out.not_applicable_to(
                port.bdf,
                format!("redirects ({control}), but lies on no GPU–NIC path: {}", below(cx, id)),
            )
            .at(place);
        }
    }
    if on_path.is_empty() && out.is_empty() {
        let f = out.not_applicable("no GPU shares a PCIe switch with an RDMA NIC: peer-to-peer goes through the root complex, where ACS changes nothing");
        if let Some(place) = pci.seen {
            f.at(place);
        }
    }
}

fn redirecting(f: &PciFunction<'_>) -> Option<(AcsBits, Place)> {
    let acs = f.acs.known()?;
    let control = acs.control.filter(|c| c.any(AcsBits::REDIRECT))?;
    Some((control, place(f)))
}

/// The control register itself: its line in text, its two bytes in binary.
fn place(f: &PciFunction<'_>) -> Place {
    match f.acs.known() {
        Some(acs) if acs.control_line != 0 => f.acs.place().line(acs.control_line),
        _ => f.acs.place(),
    }
}

fn judge(port: &PciFunction<'_>, out: &mut Findings) {
    match &port.acs {
        Reading::Absent(p) => {
            out.pass(port.bdf, "has no ACS capability: cannot redirect").at(*p);
        }
        Reading::Known(acs, _) => match acs.control {
            Some(control) if control.any(AcsBits::REDIRECT) => {
                out.fail(port.bdf, format!("redirects peer-to-peer traffic of a GPU–NIC path: {control}"))
                    .at(place(port))
                    .fix(clear(port));
            }
            Some(control) => {
                out.pass(port.bdf, format!("does not redirect: {control}")).at(place(port));
            }
            None => {
                out.unreadable(port.bdf, "ACS control register", &port.acs);
            }
        },
        r @ Reading::Unreadable(..) => {
            out.unreadable(port.bdf, "ACS control register", r);
        }
    }
}

fn clear(port: &PciFunction<'_>) -> Remedy {
    Remedy::new(
        "clear ACS request/completion redirect and egress control on the port, at every boot",
        Action::AcsControl { ports: vec![port.bdf], clear: AcsBits::REDIRECT, set: 0 },
        Persistence::NextBoot,
        Risk::Medium,
    )
    .because("removes DMA isolation between the devices below; never on a host that passes devices to virtual machines")
    .prove(format!("sys/bus/pci/devices/{}/config ACS control", port.bdf))
}

/// What hangs below a port that does not matter, so that a reader can agree.
fn below(cx: &Cx<'_>, id: FnId) -> String {
    let pci = &cx.node.pci;
    let ends: Vec<String> = pci
        .iter()
        .filter(|(i, f)| f.port_type() != Some(PortType::DownstreamPort) && pci.ancestors(*i).0.contains(&id))
        .take(3)
        .map(|(_, f)| format!("{} {}", f.bdf, cx.node.name_of(f)))
        .collect();
    if ends.is_empty() { "nothing is below it".into() } else { format!("below it {}", ends.join(", ")) }
}
