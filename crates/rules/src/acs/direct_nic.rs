//! `acs/direct-nic`.

use super::{RDMA_TOPO, control, control_place, differs, names};
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_formats::pci::caps::PortType;
use linerate_node::context::TopologyType;
use linerate_node::direct::{self, Part, part};
use linerate_node::pci::{FnId, Kind, PciFunction};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "acs/direct-nic",
    title: "Ports of Data Direct, Grace and Vera systems have the ACS bits that rdma_topo expects",
    severity: Severities::always(Severity::High),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::sourced("the direct path between NIC and GPU is not used, or does not work"),
    sources: &[
        RDMA_TOPO,
        Source {
            title: "NVIDIA, GB200/GB300 and ConnectX-8 GPUDirect RDMA guide",
            at: "https://docs.nvidia.com/multi-node-nvlink-systems/grace-blackwell-cx8-gpudirect-rdma-guide",
        },
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv", "proc/cmdline"],
    docs: "\
## What it checks
With a ConnectX-8 Data Direct function (15b3:2100) the tree is: root port, shared switch with two ports, one to the Data Direct function and one
to an inner switch with the GPU. The shared switch's port to the Data Direct function: `xx110x1`. The shared switch's port to the GPU:
`xx101x1`. The root port above: `xx111x0`. All other ports of ConnectX and BlueField switches and of Grace, the port directly above
the GPU included, keep the kernel's `xx111x1` (Vera root ports `xx101x1`). Without a Data Direct function, where a GPU is directly below a
root port of Grace or Vera, all these ports keep the kernel's value. Leftmost is Direct Translated, rightmost Source Validation; x is any.

## Why it matters
Here redirection is part of the design: requests go up and completions come straight, and without Source Validation on the shared root port the
kernel puts NIC function and GPU into one IOMMU group, which the driver demands. A loop that clears ACS everywhere breaks these machines.

## See it yourself
`rdma_topo check` from rdma-core; `sudo lspci -vvv -s PORT | grep ACSCtl`.

## Fix
One kernel argument, `pci=config_acs=`, with an entry for each of the three ports of each complex: `rdma_topo write-grub-acs` writes the same
list. Linux knows it since 6.11; multi-device lists need the correction of 6.15 or a backport: read the registers after the boot. The setpci
variant needs NVreg_GrdmaPciTopoCheckOverride=1 and lets unprivileged programs trigger platform RAS failures: it is never planned.",
    myths: &[
        Myth {
            claim: "Disable ACS on all bridges, as everywhere.",
            truth: "On GB200/GB300 with Data Direct that breaks GPUDirect RDMA: three kinds of ports need three different settings.",
        },
        Myth {
            claim: "The port above the GPU gets `xx101x1`.",
            truth: "The shared switch's port towards the GPU does. The port directly above the GPU belongs to an inner switch and keeps the kernel's value.",
        },
    ],
    check,
};

/// The kernel's own value where an IOMMU isolates (`kernel_acs_isolated`).
const KERNEL: &str = "xx111x1";
/// Completion redirect of Vera's root ports is read-only zero.
const KERNEL_VERA: &str = "xx101x1";

/// What a port must have, and what it is.
struct Wanted {
    port: FnId,
    bits: &'static str,
    what: &'static str,
    /// Not the kernel's own value: an entry of the parameter.
    special: bool,
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let direct = pci.of_kind(Kind::DataDirect).next().is_some();
    let grace = cx.node.context.topology.value == Some(TopologyType::GraceRootPort);
    if cx.no_subjects(direct || grace, "Data Direct function, and no GPU below a root port of Grace or Vera", out) {
        return;
    }
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut all_known = true;
    for (dma, f) in pci.of_kind(Kind::DataDirect) {
        match direct::complex(pci, dma) {
            Ok(c) => wanted.extend(
                [
                    (c.dma_port, "xx110x1", "shared switch's port to the Data Direct function"),
                    (c.gpu_port, "xx101x1", "shared switch's port to the GPU"),
                    (c.root, "xx111x0", "root port above Data Direct function and GPU"),
                ]
                .map(|(port, bits, what)| Wanted { port, bits, what, special: true }),
            ),
            Err(why) => {
                all_known = false;
                out.unknown(f.bdf, why.words()).at(f.class.place());
            }
        }
    }
    // Which ports are "all others" is known only where every complex is.
    if all_known {
        for (port, f) in pci.iter() {
            let Some(p) = part(f).filter(|_| f.kind == Kind::Bridge) else { continue };
            // Upstream ports have the capability only in switches with several functions: not seen there is as good as none.
            let none = f.acs.is_absent() || f.port_type() == Some(PortType::UpstreamPort) && f.acs.known().is_none();
            if none || wanted.iter().any(|w| w.port == port) {
                continue;
            }
            let bits = if p == Part::VeraRootPort { KERNEL_VERA } else { KERNEL };
            wanted.push(Wanted { port, bits, what: "port outside of the direct path", special: false });
        }
    }
    wanted.sort_by_key(|w| w.port);
    let argument = parameter(cx, &wanted);
    for w in &wanted {
        judge(cx, w, argument.as_deref(), out);
    }
}

/// The whole parameter, as `rdma_topo write-grub-acs` writes it; none where no port needs an entry.
fn parameter(cx: &Cx<'_>, wanted: &[Wanted]) -> Option<String> {
    let entries: Vec<String> =
        wanted.iter().filter(|w| w.special).map(|w| format!("{}@{}", w.bits, cx.node.pci.get(w.port).bdf)).collect();
    (!entries.is_empty()).then(|| format!("pci=config_acs={}", entries.join(";")))
}

fn judge<'o>(cx: &Cx<'_>, w: &Wanted, argument: Option<&str>, out: &'o mut Findings) -> &'o mut Finding {
    let port = cx.node.pci.get(w.port);
    let (want, what) = (w.bits, w.what);
    match (&port.acs, control(port)) {
        (Reading::Absent(at), _) => {
            out.fail(port.bdf, format_args!("{what} has no ACS capability, {want} is wanted")).at(*at)
        }
        (_, Some(bits)) => {
            // What a port cannot do is not demanded.
            let able = port.acs.known().and_then(|a| a.capability).map_or(u16::MAX, |c| c.0);
            let (set, clear) = differs(want, bits);
            let set = set & able;
            if (set, clear) == (0, 0) {
                return out.pass(port.bdf, format_args!("{what}: {bits}")).at(control_place(port));
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
                .fix(|| remedy(cx, w, port, argument))
                .severity((!w.special).then_some(Severity::Medium))
        }
        (r, None) => out.unreadable(port.bdf, "ACS control register", r),
    }
}

/// The parameter, where the kernel knows it and no other of its kind is in the way; else what people have to look at.
fn remedy(cx: &Cx<'_>, w: &Wanted, port: &PciFunction<'_>, argument: Option<&str>) -> Remedy {
    let prove = format!("sys/bus/pci/devices/{}/config ACS control", port.bdf);
    let by_hand = |what: String| {
        Remedy::investigate(what.clone(), what).because("IOMMU groups change; needs a reboot").prove(prove.clone())
    };
    if !w.special {
        return by_hand(
            "the kernel sets this value at boot: find what changes it (a unit with setpci, pci=disable_acs_redir=, another pci=config_acs=), remove it, reboot"
                .into(),
        );
    }
    let Some(argument) = argument else { return by_hand("run `rdma_topo write-grub-acs` and reboot".into()) };
    if !cx.node.kernel.release.known().is_some_and(|r| r.at_least(6, 11)) {
        return by_hand(format!(
            "a kernel that knows pci=config_acs= (Linux 6.11, or a vendor's backport) booted with {argument}"
        ));
    }
    let line = cx.node.kernel.cmdline.known();
    let raw: Vec<&str> = line.map(|l| l.params.iter().map(|p| p.raw.as_str()).collect()).unwrap_or_default();
    let lists = |r: &&str| r.contains("config_acs=") || r.contains("disable_acs_redir=");
    let (alone, mixed): (Vec<&str>, Vec<&str>) = raw.into_iter().filter(lists).partition(|r| {
        let value = r.trim_matches('"');
        !value.contains(',') && (value.starts_with("pci=config_acs=") || value.starts_with("pci=disable_acs_redir="))
    });
    if line.is_none() || !mixed.is_empty() {
        return by_hand(format!("replace the ACS lists of the kernel command line by {argument}, and reboot"));
    }
    if alone.iter().any(|r| r.replace('"', "") == argument) {
        return by_hand(
            "the parameter is set but not in force: see acs/parameter-not-effective (the kernel's version, or what writes the registers after the boot)"
                .into(),
        );
    }
    Remedy::new(
        "boot with the list that rdma_topo writes",
        Action::KernelArgs {
            add: vec![argument.to_owned().into()],
            remove: alone.into_iter().map(|r| r.to_owned().into()).collect(),
        },
    )
    .because("IOMMU groups change; Linux 6.11 to 6.14 mis-parse lists unless corrected: read the registers afterwards")
    .prove(prove)
}
