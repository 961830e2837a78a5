//! `iommu/active`.

use super::ends::group_count;
use crate::cmdline::words::{ABI_GROUPS, AMD_INIT, GDR_DOC, INTEL_IOMMU, KPARAM, iommu_off, vm_host};
use crate::{About, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::kernel_config::{Setting, find};
use linerate_node::context::Role;
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "iommu/active",
    title: "The IOMMU is in use where virtual machines need it; elsewhere the reason for its absence is known",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("a VM host cannot pass devices to guests; on bare metal an absent IOMMU costs nothing"),
    sources: &[ABI_GROUPS, AMD_INIT, INTEL_IOMMU, KPARAM, GDR_DOC],
    reads: &["sys/kernel/iommu_groups", "sys/class/iommu", "sys/firmware/acpi/tables", "proc/cmdline", "boot/config-*"],
    docs: "\
## What it checks
Whether the kernel uses an IOMMU at all: it does if and only if `/sys/kernel/iommu_groups` has numbered directories. Without
groups, the rule says why: no ACPI table (switched off in the firmware setup), an option of the command line, the default of
the kernel's configuration, or a failure to start for no visible reason.

## Why it matters
On a VM host nothing can be passed through without it. On bare metal GPUDirect RDMA never needs it: *off* and *passthrough* put
the same packets on the bus. In a guest, none is the normal state.

## See it yourself
`ls /sys/kernel/iommu_groups | wc -l; ls /sys/class/iommu /sys/firmware/acpi/tables | grep -E 'dmar|ivhd|smmu|DMAR|IVRS|IORT'; cat /proc/cmdline`.

## Fix
Bare metal and guests: nothing to do. VM host: switch VT-d or AMD-Vi on in the firmware setup if there is no table; otherwise
remove the option that turns it off, or boot with `intel_iommu=on` where the kernel's default is off.",
    myths: &[
        Myth {
            claim: "GPUDirect RDMA and NCCL require the IOMMU to be enabled in the BIOS.",
            truth: "They require that it does not translate: disabled or passthrough. Only VFIO passthrough, and interrupt remapping beyond 255 CPUs, need it.",
        },
        Myth {
            claim: "AMD needs amd_iommu=on; without it there are 0 groups.",
            truth: "The value does not exist. AMD's IOMMU is on whenever the IVRS table exists and nothing turns it off; 0 groups means off in the firmware setup, or amd_iommu=off, or iommu=off.",
        },
        Myth {
            claim: "iommu=pt gives 6 % more training throughput than no IOMMU.",
            truth: "Both modes emit the same packets; the measured difference of collectives was below 1 %, which is noise. No mechanism exists.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((count, place)) = group_count(cx) else {
        out.unreadable(Subject::Node, "IOMMU groups", &cx.node.iommu.groups);
        return;
    };
    if count > 0 {
        let units = cx.node.iommu.units.known().and_then(|u| Some((u.len(), u.first()?)));
        let units = units.map_or_else(String::new, |(n, first)| {
            format!(
                ", {}, {} first",
                linerate_formats::counted(n, "unit", "units"),
                crate::cmdline::words::short(first)
            )
        });
        out.pass(Subject::Node, format_args!("in use: {count} groups{units}")).at(place);
        return;
    }
    if cx.node.context.role.value == Some(Role::VmGuest) {
        out.pass(Subject::Node, "no virtual IOMMU: normal for a guest, and best").at(place);
        return;
    }
    let why = diagnose(cx);
    let on_host = vm_host(cx);
    let consequence =
        if on_host { "nothing can be passed to a virtual machine" } else { "fine for GPUDirect RDMA on bare metal" };
    let f = out.fail(Subject::Node, format_args!("no IOMMU in use (0 groups): {}; {consequence}", why.text));
    f.severity(if on_host { Severity::High } else { Severity::Info }).at(place);
    f.at(why.place).follows("cmdline/iommu-off", About::Any).follows("cmdline/amd-iommu-off", About::Any);
    if on_host {
        f.fix(|| why.remedy);
    }
}

struct Diagnosis {
    text: String,
    place: Option<Place>,
    remedy: Remedy,
}

fn look(what: &'static str) -> Remedy {
    Remedy::investigate(what, what).prove("sys/kernel/iommu_groups")
}

/// The matrix of ACPI table, command line and kernel configuration.
fn diagnose(cx: &Cx<'_>) -> Diagnosis {
    let bios = Remedy::bios("switch the IOMMU on in the firmware setup", "Intel VT-d, AMD-Vi or IOMMU", "Enabled")
        .because("the kernel then enables ACS on switch ports; read the ACS rules again after the reboot")
        .prove("sys/firmware/acpi/tables");
    // Containers often see an empty directory: a list without even the FACP says nothing.
    let tables = match &cx.node.iommu.acpi {
        Reading::Known(t, p) if !t.names.is_empty() => Some((t, *p)),
        _ => None,
    };
    if let Some((_, p)) = tables.filter(|(t, _)| t.iommu_table().is_none()) {
        let text = "firmware offers none (no DMAR, IVRS or IORT table): off in the firmware setup, no kernel parameter can change that";
        return Diagnosis { text: text.into(), place: Some(p), remedy: bios };
    }
    let cmdline = match &cx.node.kernel.cmdline {
        Reading::Known(c, p) => Some((c, *p)),
        _ => None,
    };
    if let Some((word, p)) = cmdline.and_then(|(c, p)| Some((iommu_off(cx, c)?.1, p))) {
        let raw = crate::cmdline::words::short(&word.raw);
        let remedy =
            crate::cmdline::words::remove(&[&raw], "devices get translated domains unless passthrough is asked for");
        return Diagnosis { text: format!("turned off by `{raw}`"), place: Some(p.line(word.line)), remedy };
    }
    let config = match &cx.node.kernel.config {
        Reading::Known(c, p) => Some((c.as_slice(), *p)),
        _ => None,
    };
    let not_set = |name: &str| {
        let (list, p) = config?;
        let o = find(list, name)?;
        (o.setting == Setting::NotSet).then(|| p.line(o.line))
    };
    let table = tables.and_then(|(t, _)| t.iommu_table());
    let (driver, has_default) = match table {
        Some("DMAR") => ("INTEL_IOMMU", true),
        Some("IVRS") => ("AMD_IOMMU", false),
        Some("IORT") => ("ARM_SMMU_V3", false),
        _ => {
            let text = "the firmware's tables are not visible, so the reason is not known";
            return Diagnosis {
                text: text.into(),
                place: None,
                remedy: look(
                    "list /sys/firmware/acpi/tables as root on the host: without DMAR or IVRS it is off in the firmware setup",
                ),
            };
        }
    };
    let table = table.unwrap_or_default();
    if let Some(p) = not_set(driver) {
        return Diagnosis {
            text: format!("firmware offers one ({table}), the kernel is built without CONFIG_{driver}"),
            place: Some(p),
            remedy: look("use a kernel with the IOMMU driver of this platform"),
        };
    }
    let asked_on = cmdline.is_some_and(|(c, _)| c.options("intel_iommu").any(|(o, _)| o.starts_with("on")));
    if let Some(p) = not_set("INTEL_IOMMU_DEFAULT_ON").filter(|_| has_default && !asked_on) {
        return Diagnosis {
            text: "firmware offers one (DMAR), the kernel's default is off (CONFIG_INTEL_IOMMU_DEFAULT_ON is not set)"
                .into(),
            place: Some(p),
            remedy: Remedy::kernel_args("boot with intel_iommu=on", &["intel_iommu=on"], &[])
                .because(
                    "host drivers get translated domains too; add iommu=pt if GPUs are also used by the host itself",
                )
                .prove("sys/kernel/iommu_groups"),
        };
    }
    let text = match (table, cmdline.is_some(), config.is_some()) {
        ("IORT", ..) => "the IORT table exists but may describe no SMMU, and none is in use".to_owned(),
        ("DMAR", true, false) if !asked_on => {
            "firmware offers one (DMAR); without intel_iommu=on it depends on the kernel's configuration, which is not visible".to_owned()
        }
        (_, true, true) => format!("firmware offers one ({table}) and nothing turns it off: it failed to start"),
        _ => format!("firmware offers one ({table}); what turns it off is not visible in this source"),
    };
    Diagnosis {
        text,
        place: tables.map(|(_, p)| p),
        remedy: look("read the start of the kernel log for DMAR: or AMD-Vi: errors"),
    }
}
