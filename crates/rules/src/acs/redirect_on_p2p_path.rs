//! `acs/redirect-on-p2p-path`.

use super::{KERNEL_PCI, NCCL_ACS, RDMA_TOPO, control, control_place};
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::pci::caps::AcsBits;
use linerate_node::context::TopologyType;
use linerate_node::direct::part;
use linerate_node::p2p::PortOnPath;
use linerate_node::pci::{FnId, Kind, PciFunction};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "acs/redirect-on-p2p-path",
    title: "No switch port between a GPU and its NIC redirects peer-to-peer requests",
    severity: Severities::always(Severity::High),
    roles: Roles::BARE_METAL,
    effect: Effect::sourced("peer-to-peer traffic detours through the root complex: \"significant performance reduction or even a hang\""),
    sources: &[NCCL_ACS, RDMA_TOPO, KERNEL_PCI],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv"],
    docs: "\
## What it checks
The ACS control register of every bridge strictly between a GPU and an RDMA NIC that share a PCIe switch: request redirect
(RR), completion redirect (CR) and egress control (EC) must be off on bare metal. Source validation (SV) alone redirects nothing.
Below a ConnectX or BlueField switch (INLINE topology) upstream forwarding (UF) and source validation must be off too, and on the root
port above: NVIDIA's rdma_topo wants `xx000x0` there. Between GPUs below one switch the same holds where no NVLink joins them: reported as information,
because PCI does not show NVLink. Ports that redirect but lie on no such path are listed as not-applicable: they do not matter here.
On systems with a Data Direct function redirection is wanted: see acs/direct-nic.

## Why it matters
A redirecting downstream port sends what one device writes to its neighbour up to the root complex instead of across the
switch. All pairs below the switch then share its uplink, and some root complexes do not forward peer-to-peer at all.

## See it yourself
`sudo lspci -vvv -s BDF | grep ACSCtl`. Without root only 64 bytes of configuration space are readable and the register cannot be seen.

## Fix
Clear RR, CR and EC on the ports named, at boot: `pci=config_acs=` where the kernel has it (and re-read it after boot: Linux 6.11 to 6.14
mis-parse lists), else `pci=disable_acs_redir=` (on 6.12 SV and UF then fall back to what firmware left, on 6.1 they stay), else a
masked setpci in a unit (kernel lockdown, which Secure Boot switches on, refuses it: use a parameter there). The kernel sets the
bits on every capable port whenever an IOMMU driver asks for ACS, `iommu=pt` included. Never clear them on a host that passes
devices to virtual machines.",
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

/// Bits that rdma_topo wants clear on bare metal below ConnectX switches (`xx000x0`).
const INLINE: u16 = AcsBits::REDIRECT | AcsBits::UF | AcsBits::SV;

/// Lines of `lspci -vvv | grep ACSCtl`: what they say is known, of which ports is not.
fn unnamed(cx: &Cx<'_>, out: &mut Findings) -> bool {
    let all = &cx.node.acs_unnamed;
    let redirecting = || all.iter().filter(|(bits, _)| bits.any(AcsBits::REDIRECT));
    let Some(place) = redirecting().chain(all).next().map(|(_, place)| *place) else { return false };
    let (n, of) = (redirecting().count(), all.len());
    out.unknown(
        Subject::Node,
        format_args!("{n} of {of} ports redirect peer-to-peer traffic: which ports they are is not in the text"),
    )
    .at(place)
    .see("lspci -D -vvv as root (complete output): it names the ports, and what is below them");
    true
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    if pci.functions.is_empty() && unnamed(cx, out) {
        return;
    }
    let any = pci.gpus().next().is_some() && pci.rdma_nics().next().is_some();
    if cx.no_subjects(any, "GPU together with an RDMA NIC", out) {
        return;
    }
    let topology = cx.node.context.topology.value;
    if topology == Some(TopologyType::DataDirect) {
        out.not_applicable("Data Direct system: some ports must redirect, acs/direct-nic says which").at(cx
            .node
            .context
            .topology
            .places()
            .next());
        return;
    }
    let inline = topology == Some(TopologyType::Inline);
    let on_path = pci.p2p_ports();
    for p in &on_path {
        judge(cx, p, inline, out);
    }
    if inline {
        root_ports(cx, &on_path, out);
        other_switch_ports(cx, &on_path, out);
    }
    let between_gpus = gpu_pairs(cx, &on_path, out);
    let of_switch = |id: FnId| inline && part(pci.get(id)).is_some();
    let silent = |id: FnId| of_switch(id) || on_path.iter().chain(&between_gpus).any(|p| p.port == id);
    for (id, port) in pci.iter().filter(|(id, f)| f.kind == Kind::Bridge && !silent(*id)) {
        // The root port of an INLINE switch was judged above.
        if let Some(bits) =
            control(port).filter(|c| c.any(AcsBits::REDIRECT) && !(inline && is_above(cx, id, &on_path)))
        {
            out.not_applicable_to(port.bdf, format_args!("redirects ({bits}), but lies on no GPU–NIC path"))
                // Not wrong, but what people find first with lspci: it is worth showing.
                .severity(Severity::Info)
                .at_noting(control_place(port), || below(cx, port));
        }
    }
    if on_path.is_empty() {
        if let Some((_, f)) = pci.gpus().find(|(id, _)| !pci.ancestors(*id).1) {
            out.unknown(f.bdf, "the source does not show which bridges this GPU is below")
                .see("add `lspci -D -vvv` as root, or capture with `linerate collect`")
                .at(f.class.place());
        } else {
            out.not_applicable(
                "no GPU shares a PCIe switch with an RDMA NIC: peer-to-peer goes through the root complex, where ACS changes nothing",
            ).at(pci.seen);
        }
    }
}

/// `between GPU 0000:19:00.0 and NIC 0000:1a:00.0, and of 3 more pairs`.
fn pair(cx: &Cx<'_>, p: &PortOnPath) -> String {
    let end = |id: FnId| {
        let f = cx.node.pci.get(id);
        format!("{} {}", if f.kind.is_gpu() { "GPU" } else { "NIC" }, f.bdf)
    };
    let (a, b) = (end(p.below), end(p.peer));
    let (first, second) = if a.starts_with('G') { (a, b) } else { (b, a) };
    match p.pairs {
        0 | 1 => format!("between {first} and {second}"),
        2 => format!("between {first} and {second}, and 1 more pair"),
        n => format!("between {first} and {second}, and {} more pairs", n - 1),
    }
}

fn judge<'o>(cx: &Cx<'_>, p: &PortOnPath, inline: bool, out: &'o mut Findings) -> &'o mut Finding {
    let port = cx.node.pci.get(p.port);
    match (&port.acs, control(port)) {
        (Reading::Absent(at), _) => out
            .pass(port.bdf, "on a GPU–NIC path, has no ACS capability, cannot redirect")
            .at_noting(*at, || pair(cx, p)),
        (_, Some(bits)) if bits.any(AcsBits::REDIRECT) => out
            .fail(port.bdf, format_args!("redirects peer-to-peer traffic of a GPU–NIC path: {bits}"))
            .at_noting(control_place(port), || pair(cx, p))
            .fix(|| clear(port, if inline { INLINE } else { AcsBits::REDIRECT })),
        (_, Some(bits)) if inline && bits.any(AcsBits::UF | AcsBits::SV) => out
            .fail(
                port.bdf,
                format_args!("on a GPU–NIC path below a ConnectX switch, where rdma_topo wants xx000x0: {bits}"),
            )
            .severity(Severity::Low)
            .at_noting(control_place(port), || pair(cx, p))
            .fix(|| clear(port, INLINE)),
        (_, Some(bits)) => out
            .pass(port.bdf, format_args!("on a GPU–NIC path, does not redirect: {bits}"))
            .at_noting(control_place(port), || pair(cx, p)),
        (r, None) => out.unreadable(port.bdf, "ACS control register", r).at_noting(port.class.place(), || pair(cx, p)),
    }
}

fn is_above(cx: &Cx<'_>, id: FnId, on_path: &[PortOnPath]) -> bool {
    on_path.iter().any(|p| cx.node.pci.ancestors(p.port).0.last() == Some(&id))
}

/// INLINE: traffic between functions of the switch may come back through the root port, so rdma_topo wants it clear as well.
fn root_ports(cx: &Cx<'_>, on_path: &[PortOnPath], out: &mut Findings) {
    let pci = &cx.node.pci;
    let mut roots: Vec<FnId> = on_path.iter().filter_map(|p| pci.ancestors(p.port).0.last().copied()).collect();
    roots.sort_unstable();
    roots.dedup();
    for id in roots {
        let port = pci.get(id);
        match (&port.acs, control(port)) {
            (Reading::Absent(at), _) => {
                out.pass(port.bdf, "root port above an inline switch has no ACS capability").at(*at)
            }
            (_, Some(bits)) if bits.any(INLINE) => {
                let low = !bits.any(AcsBits::REDIRECT | AcsBits::UF);
                out.fail(
                    port.bdf,
                    format_args!("root port above an inline switch, where rdma_topo wants xx000x0: {bits}"),
                )
                .severity(if low { Severity::Low } else { Severity::Medium })
                .at(control_place(port))
                .fix(|| clear(port, INLINE))
            }
            (_, Some(bits)) => out
                .pass(port.bdf, format_args!("root port above an inline switch does not redirect: {bits}"))
                .at(control_place(port)),
            (r, None) => out.unreadable(port.bdf, "ACS control register", r),
        };
    }
}

/// INLINE: rdma_topo wants all other ports of ConnectX and BlueField switches clear, too, whatever is below them.
fn other_switch_ports(cx: &Cx<'_>, on_path: &[PortOnPath], out: &mut Findings) {
    for (id, port) in cx.node.pci.iter() {
        if part(port).is_none() || on_path.iter().any(|p| p.port == id) || is_above(cx, id, on_path) {
            continue;
        }
        if let Some(bits) = control(port).filter(|c| c.any(INLINE)) {
            out.fail(
                port.bdf,
                format_args!("port of an inline switch on no GPU–NIC path, where rdma_topo wants xx000x0: {bits}"),
            )
            .severity(Severity::Low)
            .at(control_place(port))
            .fix(|| clear(port, INLINE));
        }
    }
}

/// Ports between GPUs only, where no NVSwitch is there to carry that traffic.
fn gpu_pairs(cx: &Cx<'_>, on_path: &[PortOnPath], out: &mut Findings) -> Vec<PortOnPath> {
    let pci = &cx.node.pci;
    if pci.of_kind(Kind::NvSwitch).next().is_some() {
        return Vec::new();
    }
    let gpu = |f: &PciFunction<'_>| f.kind.is_gpu() && !f.is_vf();
    let mut ports = pci.ports_between(gpu, gpu);
    ports.retain(|p| !on_path.iter().any(|q| q.port == p.port));
    ports.retain(|p| control(pci.get(p.port)).is_some_and(|c| c.any(AcsBits::REDIRECT)));
    for p in &ports {
        let port = pci.get(p.port);
        let (a, b) = (pci.get(p.below).bdf, pci.get(p.peer).bdf);
        out.fail(
            port.bdf,
            format_args!(
                "redirects peer-to-peer traffic between GPUs {a} and {b}, which matters unless NVLink joins them"
            ),
        )
        .severity(Severity::Info)
        .at(control_place(port))
        .fix(|| clear(port, AcsBits::REDIRECT));
    }
    ports
}

fn clear(port: &PciFunction<'_>, bits: u16) -> Remedy {
    Remedy::new(
        format!("clear {} on the port", super::names(bits)),
        Action::AcsControl { ports: vec![port.bdf], clear: bits, set: 0 },
    )
    .because("removes DMA isolation between the devices below; never on a host that passes devices to virtual machines")
    .prove(format!("sys/bus/pci/devices/{}/config ACS control", port.bdf))
}

/// What hangs below a port that does not matter, so that a reader can agree.
fn below(cx: &Cx<'_>, port: &PciFunction<'_>) -> String {
    let Some((first, last)) = port.buses.filter(|(first, _)| *first != 0) else {
        return "nothing below it is known".into();
    };
    let within = |f: &&PciFunction<'_>| {
        f.bdf.domain == port.bdf.domain && (first..=last).contains(&f.bdf.bus) && f.kind != Kind::Bridge && !f.is_vf()
    };
    let ends: Vec<String> = cx
        .node
        .pci
        .functions
        .iter()
        .filter(within)
        .take(3)
        .map(|f| format!("{} {}", f.bdf, cx.node.name_of(f)))
        .collect();
    if ends.is_empty() { "nothing is below it".into() } else { format!("below it {}", ends.join(", ")) }
}
