//! `vm/memory-limit`.

use super::{READS, each, edit, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::vms::Vm;

/// What libvirt adds to a guest's memory for vfio, KiB (`qemuDomainGetMemLockLimitBytes`).
const BESIDE_KIB: u64 = 1 << 20;

pub(super) static RULE: Rule = Rule {
    id: "vm/memory-limit",
    title: "vfio may lock all of the guest's memory",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("VFIO_MAP_DMA fails: the guest does not start, or QEMU is killed for memory"),
    sources: &[
        Source { title: "libvirt, Domain XML: memory tuning, hard_limit", at: "https://libvirt.org/formatdomain.html#memory-tuning" },
        Source {
            title: "libvirt src/qemu/qemu_domain.c: qemuDomainGetMemLockLimitBytes",
            at: "https://gitlab.com/libvirt/libvirt/-/blob/master/src/qemu/qemu_domain.c",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
`<hard_limit>` of `<memtune>`, where there is one: it must hold the guest's memory and 1 GiB beside it. Without one libvirt sets the limit on locked memory by itself, with or without `<locked/>`.

## Why it matters
A device writes to any page at any time, so that vfio pins the whole memory of the guest. A hard limit is the limit on locked memory, too.

## See it yourself
`grep 'Max locked' /proc/$(pidof qemu-system-x86_64)/limits`; QEMU's log: `VFIO_MAP_DMA failed: Cannot allocate memory`.

## Fix
Remove `<hard_limit>`, or raise it.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(_: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let d = &vm.domain;
    let Some(limit) = &d.hard_limit_kib else {
        out.pass(subject(vm), "no hard limit: libvirt sets the limit on locked memory for its devices")
            .at(vm.at(d.is_locked.unwrap_or(d.span.line)));
        return;
    };
    let Some(memory) = &d.memory_kib else {
        out.unknown(subject(vm), "a hard limit is set, and the guest's memory is not readable").at(vm.at(limit.line));
        return;
    };
    let need = memory.value.saturating_add(BESIDE_KIB);
    let mib = |kib: u64| kib >> 10;
    if limit.value < need {
        out.fail(
            subject(vm),
            format_args!("hard limit of {} MiB, and {} MiB are to be locked", mib(limit.value), mib(need)),
        )
        .at(vm.at(limit.line))
        .at(vm.at(memory.line))
        .fix(|| edit("remove the hard limit", "<hard_limit> of <memtune>: without it libvirt sets the limit itself"));
    } else {
        out.pass(subject(vm), format_args!("hard limit of {} MiB for {} MiB", mib(limit.value), mib(need)))
            .at(vm.at(limit.line));
    }
}
