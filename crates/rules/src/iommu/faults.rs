//! `iommu/faults`.

use crate::cmdline::words::GDR_DOC;
use crate::{
    Action, Cx, Effect, Findings, Myth, Persistence, Quality, Remedy, Risk, Roles, Rule, Severity, Source, Subject,
};
use linerate_formats::dmesg::Event;
use linerate_formats::pci::Bdf;
use linerate_node::pci::{FnId, PciFunction};
use linerate_snapshot::{Coverage, Place};

pub(super) static RULE: Rule = Rule {
    id: "iommu/faults",
    title: "The kernel log holds no IOMMU fault of a GPU, an RDMA NIC, or a bridge above them",
    severity: Severity::Critical,
    roles: Roles::ALL,
    effect: Effect { text: "a DMA was stopped: hangs, failed jobs, or corrupted data", quality: Quality::Sourced },
    sources: &[
        GDR_DOC,
        Source {
            title: "Linux drivers/iommu/amd/iommu.c: amd_iommu_report_page_fault",
            at: "https://github.com/torvalds/linux/blob/master/drivers/iommu/amd/iommu.c",
        },
        Source {
            title: "Linux drivers/iommu/intel/dmar.c: dmar_fault_do_one",
            at: "https://github.com/torvalds/linux/blob/master/drivers/iommu/intel/dmar.c",
        },
    ],
    reads: &["dmesg"],
    docs: "\
## What it checks
IOMMU faults in the kernel log: AMD `IO_PAGE_FAULT`, Intel `DMAR: [DMA Read/Write …] Request device [BB:DD.F]`, Arm SMMU events;
attributed by PCI address. Faults of a GPU, an RDMA NIC or a bridge above one are critical, those of other devices are told.
A log is a ring: without faults in it, older ones may have been overwritten. Intel's lines carry no PCI segment.

## Why it matters
A fault is a DMA that the IOMMU refused. With GPUDirect RDMA it means that a peer was given an address which its domain does not
map: the transfer is lost, the job hangs or computes with wrong data.

## See it yourself
`dmesg | grep -E 'IO_PAGE_FAULT|DMAR: \\[DMA|arm-smmu.*event'`.

## Fix
See iommu/translated-domain: `identity` domains, or no IOMMU. To test the suspicion first, run the job with
`NCCL_NET_GDR_LEVEL=LOC`: if the hang goes away, IOMMU or ACS is the cause. On a VM host the guest's own mappings are at fault.",
    myths: &[Myth {
        claim: "If the IOMMU were the problem, NCCL would say that GPUDirect RDMA is disabled.",
        truth: "NCCL never looks at the IOMMU. The trouble shows as faults in the kernel log, error completions, or a hang.",
    }],
    check,
};

/// Faults of one requester.
struct Faulty {
    bdf: Option<Bdf>,
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
        let bdf = match &e.event {
            Event::IoPageFault { bdf, .. } | Event::DmarFault { bdf, .. } | Event::SmmuEvent { bdf, .. } => *bdf,
            Event::DmarFaultsSuppressed(n) => {
                suppressed = suppressed.saturating_add(*n);
                continue;
            }
            _ => continue,
        };
        // Requesters that do not exist on the node share one entry, so that a hostile log stays cheap.
        let known = bdf.and_then(|b| locate(cx, b)).map(|id| cx.node.pci.get(id).bdf);
        let key = known.or(bdf.filter(|_| faulty.len() < 64));
        match faulty.iter_mut().find(|f| f.bdf == key) {
            Some(f) => f.count += 1,
            None => faulty.push(Faulty { bdf: key, count: 1, first: e.place }),
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
            .see("dmesg as root, or journalctl -k -b, whole");
    }
}

/// The function of a requester; lines without a segment match in any one segment.
fn locate(cx: &Cx<'_>, b: Bdf) -> Option<FnId> {
    let pci = &cx.node.pci;
    pci.find(b).or_else(|| {
        let same = |f: &PciFunction<'_>| (f.bdf.bus, f.bdf.device, f.bdf.function) == (b.bus, b.device, b.function);
        let mut hits = pci.iter().filter(|(_, f)| b.domain == 0 && same(f));
        let hit = hits.next()?.0;
        hits.next().is_none().then_some(hit)
    })
}

fn tell(cx: &Cx<'_>, faults: &Faulty, out: &mut Findings) {
    let n = faults.count;
    let Some(bdf) = faults.bdf else {
        out.fail(
            Subject::Node,
            format_args!("{n} IOMMU fault(s) whose requester the log does not tell or this node does not have"),
        )
        .severity(Severity::Info)
        .at(faults.first);
        return;
    };
    let pci = &cx.node.pci;
    let id = pci.find(bdf);
    let name = id.map(|i| format!(" of {}", cx.node.name_of(pci.get(i)))).unwrap_or_default();
    let on_path = id.is_some_and(|i| {
        pci.get(i).is_endpoint_of_path()
            || pci.iter().any(|(e, f)| f.is_endpoint_of_path() && pci.ancestors(e).0.contains(&i))
    });
    let message = format!("{n} IOMMU fault(s){name} in the log");
    let finding = out.fail(bdf, message);
    finding.at(faults.first);
    if !on_path {
        finding.severity(Severity::Info);
        return;
    }
    finding.fix(|| {
        Remedy::new(
            "find out which domain the device is in, and take it out of translation",
            Action::Investigate {
                what: "read iommu/translated-domain for this device; run the job once with NCCL_NET_GDR_LEVEL=LOC to see whether GPUDirect RDMA is what faults".into(),
            },
            Persistence::NextBoot,
            Risk::Low,
        )
        .because("without GPUDirect RDMA the test run is slower")
        .prove("dmesg")
    });
}
