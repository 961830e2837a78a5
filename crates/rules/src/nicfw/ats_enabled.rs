//! `nicfw/ats-enabled`.

use super::{Missing, Setting, function, judge_each};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::context::Role;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/ats-enabled",
    title: "ATS_ENABLED follows the node's purpose: False on bare metal, True for NICs that are passed to virtual machines",
    severity: Severities::always(Severity::High),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::estimate("virtual machines: without it GPUDirect goes through the root complex and the IOMMU; a field report saw 35 of 400 Gb/s"),
    sources: &[
        super::OPERATOR,
        super::DATABASE,
        Source {
            title: "NVIDIA AI Enterprise, optimizing VM configuration, appendix: ATS on the NIC, reboot of the host",
            at: "https://docs.nvidia.com/ai-enterprise/planning-resource/optimizing-vm-configuration-ai-inference/latest/appendix.html",
        },
        Source {
            title: "rdma-core, rdma_topo: a NIC that exposes ATS means virtual machines",
            at: "https://github.com/linux-rdma/rdma-core/blob/master/kernel-boot/rdma_topo",
        },
    ],
    reads: &["mlxconfig -d BDF -e q", "sys/bus/pci/devices/*/driver"],
    docs: "\
## What it checks
The running value of ATS_ENABLED of each NIC against the role of the node. On a VM host only NICs that are given to virtual machines
(they or their virtual functions are passed to a virtual machine) are judged.

## Why it matters
With ATS the NIC asks the IOMMU once for the address of the GPU's memory and then sends translated packets, which a switch with ACS
Direct Translated routes straight to the GPU. Without it every packet of a virtual machine climbs to the root complex. On bare metal
there is nothing to translate: NVIDIA's profile switches it off, and rdma_topo takes it as a sign of virtual machines.

## See it yourself
`mlxconfig -d BDF -e query | grep ATS_ENABLED`; `sudo lspci -vvv -s BDF | grep ATSCtl` shows whether the capability is exposed.

## Fix
VM host: `ATS_ENABLED=True` on each passed-through NIC, then reboot the host; a reboot of the virtual machine is not enough.
Bare metal: `ATS_ENABLED=False`, then reboot.",
    myths: &[Myth {
        claim: "ATS on did not help, so ATS is useless.",
        truth: "ATS pays only together with ACS Direct Translated on the switch ports and a virtual topology that keeps GPU and NIC together.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let missing = Missing::NotApplicable("these cards have no ATS setting");
    judge_each(cx, out, "ATS_ENABLED", missing, |s, out| judge(cx, s, out));
}

/// Whether the NIC, or a virtual function of it, belongs to a virtual machine.
fn passed(cx: &Cx<'_>, s: &Setting<'_>) -> Option<bool> {
    let own = function(cx, s.nic)?;
    let vf = |f: &linerate_node::pci::PciFunction<'_>| f.physfn == Some(own.bdf) && f.is_passed();
    Some(own.is_passed() || cx.node.pci.functions.iter().any(vf))
}

fn judge(cx: &Cx<'_>, s: &Setting<'_>, out: &mut Findings) {
    let Some(on) = s.now.as_bool() else {
        out.unknown(s.subject(), format_args!("neither true nor false: {}", s.now.raw)).at(s.place);
        return;
    };
    if cx.node.context.role.value == Some(Role::VmHost) {
        return host(cx, s, on, out);
    }
    if !on {
        out.pass(s.subject(), format_args!("{}: nothing to translate on bare metal", s.now.raw)).at(s.place);
        return;
    }
    let idle = function(cx, s.nic).is_some_and(|f| cx.serves_no_gpu(f));
    out.fail(s.subject(), format_args!("{} on bare metal, where nothing needs it", s.now.raw))
        .at(s.place)
        .severity(if idle { Severity::Info } else { Severity::Low })
        .fix(|| {
            set(s, "False", "set ATS_ENABLED to False and reboot, if no virtual machines are planned on this node")
        });
}

fn host(cx: &Cx<'_>, s: &Setting<'_>, on: bool, out: &mut Findings) {
    match (passed(cx, s), on) {
        (Some(true), true) => out
            .pass(s.subject(), format_args!("{}: the virtual machine's NIC can translate for itself", s.now.raw))
            .at(s.place),
        (Some(true), false) => out
            .fail(s.subject(), format_args!("{} on a NIC that is passed to a virtual machine", s.now.raw))
            .severity((!cx.has_gpu()).then_some(Severity::Info))
            .at(s.place)
            .fix(|| set(s, "True", "set ATS_ENABLED to True and reboot the host")),
        (Some(false), _) => {
            out.not_applicable_to(s.subject(), "this NIC is not passed to a virtual machine").at(s.place)
        }
        (None, _) => out
            .unknown(s.subject(), format_args!("{}, but which PCI function this is is not known", s.now.raw))
            .at(s.place),
    };
}

fn set(s: &Setting<'_>, value: &'static str, summary: &'static str) -> Remedy {
    Remedy::nic_firmware(summary, s.nic.name.clone(), "ATS_ENABLED", value)
        .because("changes the card's PCI capabilities")
        .prove(format!("mlxconfig -d {} -e q", s.nic.name))
}
