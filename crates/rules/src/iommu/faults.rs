//! `iommu/faults`.

use crate::cmdline::words::GDR_DOC;
use crate::sources::linux;
use crate::{About, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::dmesg::{Event, Requester};
use linerate_node::requester::{Standing, device_in_log, locate};
use linerate_snapshot::{Coverage, Place};

pub(super) static RULE: Rule = Rule {
    id: "iommu/faults",
    title: "The kernel log holds no IOMMU fault of a GPU, an RDMA NIC, or a bridge above them",
    severity: Severities::always(Severity::Critical),
    roles: Roles::ALL,
    effect: Effect::sourced("a DMA was stopped: hangs, failed jobs, or corrupted data"),
    sources: &[
        GDR_DOC,
        linux!("drivers/iommu/amd/iommu.c", "amd_iommu_report_page_fault"),
        linux!("drivers/iommu/intel/dmar.c", "dmar_fault_do_one"),
    ],
    reads: &["dmesg"],
    docs: "\
## What it checks
IOMMU faults in the kernel log: AMD `IO_PAGE_FAULT`, Intel `DMAR: [DMA Read/Write …] Request device [BB:DD.F]`, Arm SMMU events;
attributed by PCI address, else by the driver that the line names. Faults of a GPU, an RDMA NIC or a bridge above one are critical; those of
other devices (USB, storage, graphics of the host) are information. Where neither address nor driver shows what the device is, the answer is
unknown. A log is a ring: without faults in it, older ones may have been overwritten. Intel's lines carry no PCI segment.

## Why it matters
A fault is a DMA that the IOMMU refused. With GPUDirect RDMA it means that a peer was given an address which its domain does not
map: the transfer is lost, the job hangs or computes with wrong data.

## See it yourself
`dmesg | grep -E 'IO_PAGE_FAULT|DMAR: \\[DMA|arm-smmu.*event'`.

## Fix
See iommu/translated-domain: `identity` domains, or no IOMMU. To test the suspicion first, run the job with
`NCCL_NET_GDR_LEVEL=LOC`: if the hang goes away, IOMMU or ACS is the cause. On a VM host the guest's own mappings are at fault.
Arm has no `iommu=pt`: there the argument is `iommu.passthrough=1`.",
    myths: &[Myth {
        claim: "If the IOMMU were the problem, NCCL would say that GPUDirect RDMA is disabled.",
        truth: "NCCL never looks at the IOMMU. The trouble shows as faults in the kernel log, error completions, or a hang.",
    }],
    check,
};

/// Faults of one requester.
struct Faulty {
    of: Requester,
    count: u64,
    first: Place,
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let log = &cx.node.kernel.log;
    let Some(events) = log.known() else {
        out.unreadable(Subject::Node, "kernel log", log).see("dmesg as root, or journalctl -k -b");
        return;
    };
    let mut faulty: Vec<Faulty> = Vec::new();
    let mut suppressed = 0_u64;
    for e in events {
        let of = match &e.event {
            Event::IoPageFault { of, .. } | Event::DmarFault { of, .. } | Event::SmmuEvent { of, .. } => *of,
            Event::DmarFaultsSuppressed(n) => {
                suppressed = suppressed.saturating_add(*n);
                continue;
            }
            _ => continue,
        };
        // Requesters that do not exist on the node share one entry, so that a hostile log stays cheap.
        let known = of.bdf.and_then(|b| locate(&cx.node.pci, b)).map(|id| cx.node.pci.get(id).bdf);
        let key = Requester { bdf: known.or(of.bdf.filter(|_| faulty.len() < 64)), ..of };
        match faulty.iter_mut().find(|f| f.of == key) {
            Some(f) => f.count += 1,
            None => faulty.push(Faulty { of: key, count: 1, first: e.place }),
        }
    }
    for f in &faulty {
        tell(cx, f, out);
    }
    if suppressed > 0 {
        out.fail(Subject::Node, format_args!("{suppressed} more faults were not printed (rate limit of the kernel)"))
            .severity(Severity::Info)
            .at(log.place());
    }
    if !out.is_empty() {
        return;
    }
    if matches!(cx.snapshot.coverage, Coverage::Full { .. }) {
        out.pass(Subject::Node, "no IOMMU fault in the log (a ring: older messages may be gone)").at(log.place());
    } else {
        out.unknown(Subject::Node, "no IOMMU fault in this text, which may be an excerpt of the log")
            .at(log.place())
            .see("dmesg as root, or journalctl -k -b (complete output)");
    }
}

fn tell<'o>(cx: &Cx<'_>, faults: &Faulty, out: &'o mut Findings) -> &'o mut Finding {
    let n = faults.count;
    let whole = matches!(cx.snapshot.coverage, Coverage::Full { .. });
    let device = device_in_log(&cx.node.pci, whole, faults.of, cx.node.kernel.bound());
    let subject = faults.of.bdf.map_or(Subject::Node, Subject::Pci);
    if device.standing == Standing::Unknown {
        let who = if faults.of.bdf.is_some() {
            "of a device that this source does not identify"
        } else {
            "whose device the log does not name"
        };
        return out.unknown(subject, format_args!("{} {who}", linerate_formats::counted(n, "IOMMU fault", "IOMMU faults")))
            .at(faults.first)
            .see("lspci -D -nn on the same machine: only faults of GPUs, RDMA NICs and ports above them concern GPUDirect RDMA");
    }
    let name = device.function.map_or_else(|| device.what.to_owned(), |i| cx.node.name_of(cx.node.pci.get(i)));
    if device.standing == Standing::Elsewhere {
        return out
            .fail(
                subject,
                format_args!(
                    "{} of {name}: not on the path between GPU and NIC",
                    linerate_formats::counted(n, "IOMMU fault", "IOMMU faults")
                ),
            )
            .severity(Severity::Info)
            .at(faults.first);
    }
    let of = device.function.map(|i| cx.node.pci.get(i).bdf).or(faults.of.bdf);
    let finding = out.fail(
        subject,
        format_args!("{} of {name} in the log", linerate_formats::counted(n, "IOMMU fault", "IOMMU faults")),
    );
    if let Some(of) = of {
        // What is not translated cannot fault.
        finding.follows("iommu/translated-domain", About::Of(of.into()));
    }
    finding.at(faults.first).fix(|| {
        Remedy::investigate(
            "find out which domain the device is in, and take it out of translation",
            "read iommu/translated-domain for this device; run the job once with NCCL_NET_GDR_LEVEL=LOC to see whether GPUDirect RDMA is what faults",
        )
        .because("without GPUDirect RDMA the test run is slower")
        .prove("dmesg")
    })
}
