//! `gpumem/peermem-visible-to-nccl`.

use super::paths::{FIRST, PeerFile};
use super::registration_path::{NCCL, PEERMEM};
use super::{no_own_gpu, paths};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};

pub(super) static RULE: Rule = Rule {
    id: "gpumem/peermem-visible-to-nccl",
    title: "Every version of NCCL finds the peer-memory module that is loaded",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("a version of NCCL that does not test the file that exists takes the module for absent (DMA-BUF apart)"),
    sources: &[NCCL, PEERMEM],
    reads: &["sys/kernel/mm/memory_peers/*/version", "sys/module/nvidia_peermem/version"],
    docs: "\
## What it checks
NCCL looks for a peer-memory module by testing for files, other ones in other versions. The rule lists the files that exist and the
versions of NCCL (2.4 to 2.30) that test for none of them.

| NCCL | files below /sys |
|---|---|
| up to 2.8 | kernel/mm/memory_peers/nv_mem/version |
| 2.9 to 2.21 | that, and kernel/mm/memory_peers/nvidia-peermem/version |
| 2.22 | kernel/mm/memory_peers/nv_mem/version, …/nv_mem_nc/version |
| 2.23 and later | those, and module/nvidia_peermem/version |

## Why it matters
An image with an old NCCL on a new node (or the other way round) runs without GPUDirect although the module is loaded. A container must
see the host's /sys for the test to work.

## See it yourself
`ls /sys/kernel/mm/memory_peers/*/version /sys/module/nvidia_peermem/version`, on the host and in the container.

## Fix
Use a NCCL that tests for the file that exists, or DMA-BUF (NCCL 2.13 and later with open kernel modules), which needs no file.",
    myths: &[Myth {
        claim: "lsmod shows nvidia_peermem, so NCCL uses it.",
        truth: "NCCL tests for a file under /sys, and which one depends on its version.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_own_gpu(cx, out) {
        return;
    }
    let files = paths::peer_files(cx);
    if files.is_empty() {
        match paths::peer_memory(cx) {
            Some(_) => out.not_applicable("no peer-memory module is loaded: see gpumem/registration-path").at(cx
                .node
                .peermem
                .clients
                .place()),
            None => out.unreadable(Subject::Node, "the files of peer-memory modules", &cx.node.peermem.clients),
        };
        return;
    }
    let blind = blind(&files);
    let names: Vec<&str> = files.iter().map(|f| f.path).collect();
    let exist = names.join(", ");
    let f = if blind.is_empty() {
        out.pass(Subject::Node, format_args!("{exist}: tested by every version of NCCL since 2.{FIRST}"))
    } else {
        out.fail(Subject::Node, format_args!("{exist}: not tested by NCCL {}", blind.join(", ")))
    };
    f.at_all(files.iter().map(|file| file.place));
}

/// Ranges of versions that test none of the files.
fn blind(files: &[PeerFile]) -> Vec<String> {
    const LAST: u32 = 30;
    let sees = |v: u32| files.iter().any(|f| v >= f.from && f.to.is_none_or(|t| v <= t));
    let mut out = Vec::new();
    let mut v = FIRST;
    while v <= LAST {
        if sees(v) {
            v += 1;
            continue;
        }
        let from = v;
        while v <= LAST && !sees(v) {
            v += 1;
        }
        out.push(match (from, v > LAST) {
            (FIRST, false) => format!("before 2.{v}"),
            (_, true) => format!("2.{from} and later"),
            (_, false) if v == from + 1 => format!("2.{from}"),
            _ => format!("2.{from} to 2.{}", v - 1),
        });
    }
    out
}
