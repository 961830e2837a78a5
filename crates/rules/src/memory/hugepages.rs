//! `memory/hugepages`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};

pub(super) static RULE: Rule = Rule {
    id: "memory/hugepages",
    title: "Hosts of virtual machines back guest memory with huge pages",
    severity: Severities::always(Severity::Info),
    roles: Roles::VM_HOST,
    effect: Effect::direction_only("fewer entries in the IOMMU's and the CPU's second-level tables"),
    sources: &[Source {
        title: "Linux Documentation/admin-guide/mm/hugetlbpage.rst",
        at: "https://docs.kernel.org/admin-guide/mm/hugetlbpage.html",
    }],
    reads: &["proc/meminfo"],
    docs: "\
## What it checks
HugePages_Total of a VM host. Zero is information: guests may use transparent huge pages, or pages of another size. On bare metal not judged: NCCL
needs no huge pages.

## Why it matters
Each page of a guest's memory is an entry in the IOMMU's tables. Devices that reach all of it miss less with large entries.

## See it yourself
`grep Huge /proc/meminfo`, `grep . /sys/kernel/mm/hugepages/*/nr_hugepages`.

## Fix
Reserve 1 GiB pages on the kernel command line and use `<memoryBacking><hugepages/>` in the guests.",
    myths: &[Myth {
        claim: "NCCL on bare metal needs hugepages.",
        truth: "It does not. They are for the memory of virtual machines.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pages = &cx.node.memory.huge_pages;
    match pages.known() {
        Some(0) => {
            out.fail(Subject::Node, "no huge pages of the default size are reserved").at(pages.place()).fix(|| {
                Remedy::kernel_args("reserve huge pages for the guests", &["hugepagesz=1G", "hugepages=N"], &[])
                    .because("the memory is gone for everything else")
                    .prove("proc/meminfo")
            })
        }
        Some(n) => out.pass(Subject::Node, format_args!("{n} huge pages of the default size")).at(pages.place()),
        None => out.unreadable(Subject::Node, "number of huge pages", pages),
    };
}
