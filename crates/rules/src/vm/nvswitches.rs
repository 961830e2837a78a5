//! `vm/nvswitches`.

use super::{READS_HOST, each_with_host, edit, functions, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::pci::Kind;
use linerate_node::vms::Vm;

pub(super) static RULE: Rule = Rule {
    id: "vm/nvswitches",
    title: "NVSwitches are where their fabric manager runs: all in the guest with all GPUs, or all on the host",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("CUDA does not start in the guest: GPUs wait for a fabric that nobody manages"),
    sources: &[Source {
        title: "NVIDIA Fabric Manager user guide: full passthrough and shared NVSwitch virtualization models",
        at: "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
    }],
    reads: READS_HOST,
    docs: "\
## What it checks
On a host with NVSwitches on its PCI bus: where a domain gives its guest GPUs, it gives all NVSwitches with all GPUs (full passthrough: the fabric manager runs in the guest), or none (shared NVSwitch: they keep
nvidia-nvswitch on the host or in a service VM, and the guest's GPUs are one partition).

## Why it matters
A fabric manager that has a part of the switches brings none of them up, and GPUs that are with another guest than their switches never join.

## See it yourself
`lspci -d 10de: | grep -i bridge` on the host and in the guest; `systemctl status nvidia-fabricmanager` on the side that has the switches.

## Fix
Give all NVSwitches with all GPUs, and run nvidia-fabricmanager in the guest; or give none, run it on the host with `FABRIC_MODE=1`, and give whole partitions (`fmpm -l`).",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let pci = &cx.node.pci;
    let all = pci.of_kind(Kind::NvSwitch).count();
    let own = vm.at(vm.domain.span.line);
    if all == 0 {
        out.not_applicable_to(subject(vm), "no NVSwitch on the host's PCI bus").at(pci.seen);
        return;
    }
    let switches: Vec<_> = functions(cx, vm).filter(|(_, f, _)| f.kind == Kind::NvSwitch).collect();
    let gpus = functions(cx, vm).filter(|(_, f, _)| f.kind == Kind::Gpu).count();
    let of_host = pci.nvidia_gpus().filter(|(_, f)| !f.is_vf()).count();
    if gpus == 0 && switches.is_empty() {
        out.not_applicable_to(subject(vm), "no GPU and no NVSwitch is given").at(own);
    } else if let Some((_, _, line)) = switches.first() {
        if switches.len() < all || gpus < of_host {
            out.fail(subject(vm), format_args!("{} of {all} NVSwitches with {gpus} of {of_host} GPUs", switches.len()))
                .at(vm.at(*line))
                .at(pci.seen)
                .fix(|| {
                    edit(
                        "give all NVSwitches with all GPUs, or none",
                        "the fabric manager runs where the NVSwitches are",
                    )
                });
        } else {
            out.pass(
                subject(vm),
                format_args!("all {all} NVSwitches with all {of_host} GPUs: the fabric manager runs in the guest"),
            )
            .at(vm.at(*line))
            .at(pci.seen);
        }
    } else if let Some((_, f)) = pci.of_kind(Kind::NvSwitch).find(|(_, f)| f.driven_by("vfio-pci")) {
        out.fail(
            subject(vm),
            format_args!("{gpus} GPUs without NVSwitches, and {} is on vfio-pci: no fabric manager has it", f.bdf),
        )
        .at(f.driver.place())
        .at(own)
        .fix(|| {
            edit(
                "give the NVSwitches back to the host's driver",
                "bind them to nvidia-nvswitch, and run the fabric manager in shared NVSwitch mode",
            )
        });
    } else {
        out.pass(subject(vm), format_args!("{gpus} GPUs, and the {all} NVSwitches stay on the host: its fabric manager must have them in one partition"))
            .at(own)
            .at(pci.seen);
    }
}
