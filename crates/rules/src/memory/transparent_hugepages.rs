//! `memory/transparent-hugepages`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};

pub(super) static RULE: Rule = Rule {
    id: "memory/transparent-hugepages",
    title: "Transparent huge pages are available (always or madvise)",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::direction_only(
        "registering host buffers takes more page-table work with small pages; GPUDirect is not affected",
    ),
    sources: &[Source {
        title: "Linux Documentation/admin-guide/mm/transhuge.rst",
        at: "https://docs.kernel.org/admin-guide/mm/transhuge.html",
    }],
    reads: &["sys/kernel/mm/transparent_hugepage/enabled"],
    docs: "\
## What it checks
The selected mode of transparent huge pages. `always` and `madvise` are both fine; `never` is information.

## Why it matters
Little: programs that pin much host memory register it faster when it is in large pages.

## See it yourself
`cat /sys/kernel/mm/transparent_hugepage/enabled`.

## Fix
`transparent_hugepage=madvise` on the kernel command line, unless something on the node asks for never.",
    myths: &[Myth {
        claim: "Transparent huge pages must be off for RDMA.",
        truth: "No source asks for that. The advice comes from databases.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let mode = &cx.node.memory.transparent_hugepages;
    match mode.known().map(String::as_str) {
        Some("never") => out.fail(Subject::Node, "never").at(mode.place()).fix(|| {
            Remedy::sysfs(
                "nothing needed; madvise lets programs that want large pages have them",
                "/sys/kernel/mm/transparent_hugepage/enabled",
                "madvise",
            )
            .prove("sys/kernel/mm/transparent_hugepage/enabled")
        }),
        Some(m) => out.pass(Subject::Node, m.to_owned()).at(mode.place()),
        None if mode.is_absent() => out.not_applicable("the kernel has no transparent huge pages").at(mode.place()),
        None => out.unreadable(Subject::Node, "mode of transparent huge pages", mode),
    };
}
