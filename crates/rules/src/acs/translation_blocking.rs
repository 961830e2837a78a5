//! `acs/translation-blocking`.

use super::{KERNEL_PCI, RDMA_TOPO, VM_DOC, control, control_place};
use crate::{Action, Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity};
use linerate_formats::pci::caps::AcsBits;
use linerate_node::pci::{FnId, PciFunction};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "acs/translation-blocking",
    title: "No port above a passed-through GPU or NIC blocks translated requests",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("ATS does not work: translated packets are errors, and the VM's GPUDirect is slow or fails"),
    sources: &[KERNEL_PCI, RDMA_TOPO, VM_DOC],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv", "proc/cmdline"],
    docs: "\
## What it checks
Translation Blocking (TB) on every bridge above each GPU and RDMA NIC passed to a virtual machine: it must be clear.

## Why it matters
TB makes a port treat every packet whose address is marked as translated as a violation. ATS consists of such packets. The kernel sets TB
together with `pci=noats`, and below ports that firmware marks as external-facing (untrusted).

## See it yourself
`sudo lspci -vvv -s PORT | grep ACSCtl`: `TransBlk-` is right.

## Fix
Remove `pci=noats` from the host's command line. If the port is marked external-facing, look for the firmware option that says so (Thunderbolt or
hot-plug security); else clear the bit with a masked setpci before virtual machines start.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let passed = pci.iter().filter(|(_, f)| f.is_endpoint_of_path() && f.is_passed());
    let mut ports: Vec<FnId> = passed.flat_map(|(id, _)| pci.ancestors(id).0).collect();
    ports.sort_unstable();
    ports.dedup();
    if ports.is_empty() {
        out.not_applicable("no bridge above a passed-through GPU or RDMA NIC").at(pci.seen);
        return;
    }
    if cx.no_gpu(out) {
        return;
    }
    let noats = cx.pci_option("noats");
    for id in ports {
        let port = pci.get(id);
        match (&port.acs, control(port)) {
            (Reading::Absent(at), _) => out.pass(port.bdf, "has no ACS capability: cannot block").at(*at),
            (_, Some(bits)) if bits.any(AcsBits::TB) => out
                .fail(
                    port.bdf,
                    format_args!(
                        "blocks translated requests{}: {bits}",
                        if noats.is_some() { " because of pci=noats" } else { "" }
                    ),
                )
                .at(control_place(port))
                .fix(|| fix(port, noats.is_some()))
                .at(noats),
            (_, Some(bits)) => out.pass(port.bdf, format_args!("does not block: {bits}")).at(control_place(port)),
            (r, None) => out.unreadable(port.bdf, "ACS control register", r),
        };
    }
}

fn fix(port: &PciFunction<'_>, noats: bool) -> Remedy {
    let (summary, action): (&str, Action) = if noats {
        ("boot the host without pci=noats", Action::KernelArgs { add: vec![], remove: vec!["pci=noats".into()] })
    } else {
        (
            "clear Translation Blocking on the port, before virtual machines start",
            Action::AcsControl { ports: vec![port.bdf], clear: AcsBits::TB, set: 0 },
        )
    };
    Remedy::new(summary, action)
        .because("virtual machines that use the devices must be stopped")
        .prove(format!("sys/bus/pci/devices/{}/config ACS control", port.bdf))
}
