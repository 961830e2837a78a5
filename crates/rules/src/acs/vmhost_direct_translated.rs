//! `acs/vmhost-direct-translated`.

use super::{KERNEL_PCI, NCCL_ACS, RDMA_TOPO, VM_DOC, control, control_place, differs, names};
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};
use linerate_formats::pci::caps::AcsBits;
use linerate_node::context::TopologyType;
use linerate_node::pci::{FnId, Kind, PciFunction};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "acs/vmhost-direct-translated",
    title: "Ports above passed-through NICs let translated requests cross the switch directly, and isolate everything else",
    severity: Severities::up_to(Severity::High, Severity::Critical),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("without Direct Translated every GPUDirect packet of a VM goes through the root complex; without the other bits VMs are not isolated"),
    sources: &[RDMA_TOPO, NCCL_ACS, VM_DOC, KERNEL_PCI],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv", "sys/bus/pci/devices/*/driver"],
    docs: "\
## What it checks
For each GPU and RDMA NIC that are passed to a virtual machine and share a PCIe switch: the port above the NIC must have DT, UF, CR, RR and SV set
(0x5d, `1x111x1`); the other ports between them and the root ports UF, CR, RR and SV (0x1d, `xx111x1`, what the kernel sets by itself).

## Why it matters
Between virtual machines ACS is the isolation: it must stay. Direct Translated is the exception for packets whose address the IOMMU has already
translated (ATS): those may cross the switch. It needs ATS in the NIC, see ats/vmhost.

## See it yourself
`sudo lspci -vvv -s PORT | grep ACSCtl` on the host: `SrcValid+ … ReqRedir+ CmpltRedir+ UpstreamFwd+ … DirectTrans+`.

## Fix
`pci=config_acs=1x111x1@PORT` for the ports above NICs (and re-read after boot), or a masked setpci before the virtual machines start. Only for the
bridges of these paths: never write one value to every ACS-capable device. Clearing ACS on such a host breaks isolation between guests.",
    myths: &[
        Myth {
            claim: "ACS must be disabled for GPUDirect, in VM hosts too.",
            truth: "On bare metal, yes. On a VM host it is the isolation between guests; what is needed is Direct Translated in addition.",
        },
        Myth {
            claim: "Non-zero ACSCtl is a fault.",
            truth: "0x5d above the NIC and 0x1d elsewhere is exactly what a VM host wants.",
        },
    ],
    check,
};

/// Port above the NIC.
const NIC_SIDE: &str = "1x111x1";
/// Every other port of the path.
const DEFAULT: &str = "xx111x1";

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    if cx.node.context.topology.value == Some(TopologyType::DataDirect) {
        out.not_applicable("Data Direct system: acs/direct-nic says which bits each port needs").at(cx
            .node
            .context
            .topology
            .places()
            .next());
        return;
    }
    let passed = |f: &PciFunction<'_>| f.is_passed();
    let ports = pci.ports_between(|f| f.kind.is_gpu() && passed(f), |f| f.kind == Kind::RdmaNic && passed(f));
    if ports.is_empty() {
        out.not_applicable("no passed-through GPU shares a PCIe switch with a passed-through RDMA NIC").at(pci.seen);
        return;
    }
    for p in &ports {
        let nic_side = pci.get(p.below).kind == Kind::RdmaNic && pci.bridge_above(p.below) == Some(p.port);
        judge(cx, p.port, if nic_side { NIC_SIDE } else { DEFAULT }, out);
    }
    let mut roots: Vec<FnId> = ports.iter().filter_map(|p| pci.ancestors(p.port).0.last().copied()).collect();
    roots.sort_unstable();
    roots.dedup();
    for root in roots {
        judge(cx, root, DEFAULT, out);
    }
}

fn judge<'o>(cx: &Cx<'_>, id: FnId, want: &str, out: &'o mut Findings) -> &'o mut Finding {
    let port = cx.node.pci.get(id);
    let what = if want == NIC_SIDE { "port above a NIC" } else { "port of the path" };
    match (&port.acs, control(port)) {
        (Reading::Absent(at), _) => out
            .fail(port.bdf, format_args!("{what} has no ACS capability: devices below are not isolated"))
            .at(*at)
            .fix(|| {
                Remedy::investigate(
                    "use a switch with ACS, or give everything below the port to one virtual machine",
                    format!("port {} without ACS", port.bdf),
                )
            }),
        (_, Some(bits)) => {
            let (set, _) = differs(want, bits);
            if set == 0 {
                return out.pass(port.bdf, format_args!("{what}: {bits}")).at(control_place(port));
            }
            let incapable = port.acs.known().and_then(|a| a.capability).map_or(0, |c| set & !c.0);
            let lacks = if incapable == 0 { String::new() } else { format!(" (the port cannot {})", names(incapable)) };
            let finding = out.fail(port.bdf, format_args!("{what} lacks {}{lacks}: {bits}", names(set)));
            finding.at(control_place(port));
            if set & !incapable != 0 {
                finding.fix(|| {
                    Remedy::new(
                        format!("set {} on the port, before virtual machines start", names(set & !incapable)),
                        Action::AcsControl { ports: vec![port.bdf], clear: 0, set: set & !incapable },
                    )
                    .because("all virtual machines that use the devices must be stopped")
                    .prove(format!("sys/bus/pci/devices/{}/config ACS control", port.bdf))
                });
            }
            finding.severity((set & !AcsBits::DT != 0).then_some(Severity::Critical))
        }
        (r, None) => out.unreadable(port.bdf, "ACS control register", r),
    }
}
