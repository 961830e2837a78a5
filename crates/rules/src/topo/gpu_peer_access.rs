//! `topo/gpu-peer-access`.

use super::amd_pairs::{RCCL_TIPS, SMI_SOURCE, no_table, pair, pairs};
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::amd::{Device, What};
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "topo/gpu-peer-access",
    title: "Every two AMD GPUs can access each other's memory",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::direction_only("RCCL moves data between the two GPUs through host memory"),
    sources: &[
        SMI_SOURCE,
        RCCL_TIPS,
        Source {
            title: "Linux, amdkfd: HSA_AMD_P2P, peer access over PCIe where BARs are large and the platform allows it",
            at: "https://github.com/torvalds/linux/blob/master/drivers/gpu/drm/amd/amdkfd/Kconfig",
        },
    ],
    reads: &["amd-smi topology", "rocm-smi --showtopoaccess"],
    docs: "\
## What it checks
The table of access: ENABLED and True are right, DISABLED and False of a pair, in either direction, fail. What the tool could not read (N/A) is unknown.

## Why it matters
The table shows whether amdkfd has a link between the two GPUs, over XGMI or PCIe. Without one no GPU reads or writes the other's memory, and every transfer is staged in host memory.

## See it yourself
`amd-smi topology -a`, `rocm-smi --showtopoaccess`; `grep HSA_AMD_P2P /boot/config-$(uname -r)`; `ls /sys/class/kfd/kfd/topology/nodes/*/p2p_links`.

## Fix
Where XGMI should join the GPUs: topo/xgmi. Over PCIe: firmware setup with Above 4G Decoding and Resizable BAR, so that all of the memory is in the BAR; a kernel with HSA_AMD_P2P; on other
platforms than AMD's also what amdkfd's Kconfig asks for.",
    myths: &[],
    check,
};

const SHOWN: usize = 32;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let gpus = cx.node.amd.in_table(What::Access);
    if no_table(cx, &gpus, "entries about access", out) {
        return;
    }
    let (mut enabled, mut unseen, mut failed, mut place) = (0_usize, 0_usize, 0_usize, None);
    for (a, b) in pairs(&gpus) {
        match (access(cx, a, b), access(cx, b, a)) {
            (Some((false, p)), _) | (_, Some((false, p))) => {
                failed += 1;
                if failed <= SHOWN {
                    disabled(a, b, p, out);
                }
            }
            (None, None) => unseen += 1,
            // A form that has each pair once has no other direction.
            (Some((true, p)), None) | (None, Some((true, p))) | (Some((true, p)), Some(_)) => {
                let is_said = pair(cx, What::Access, a, b).is_some();
                (enabled, unseen) = (enabled + usize::from(is_said), unseen + usize::from(!is_said));
                place = place.or(Some(p));
            }
        }
    }
    if unseen > 0 {
        out.unknown(
            Subject::Node,
            format_args!(
                "whether access is enabled is not shown for {} of GPUs",
                linerate_formats::counted(unseen, "pair", "pairs")
            ),
        )
        .at(cx.node.amd.broken_row.or(place))
        .see("amd-smi topology");
    } else if failed > SHOWN {
        out.unknown(Subject::Node, format_args!("{} more pairs without access are not listed", failed - SHOWN));
    } else if failed == 0 {
        out.pass(Subject::Node, format_args!("access is enabled for all pairs of GPUs ({enabled})")).at(place);
    }
}

fn access(cx: &Cx<'_>, from: Device, to: Device) -> Option<(bool, Place)> {
    let (word, place) = cx.node.amd.cell(What::Access, from, to)?;
    match word {
        "ENABLED" | "True" => Some((true, place)),
        "DISABLED" | "False" => Some((false, place)),
        _ => None,
    }
}

fn disabled(a: Device, b: Device, place: Place, out: &mut Findings) {
    out.fail(Subject::Named(format!("{a} and {b}")), "no access to each other's memory").at(place).fix(|| {
        Remedy::investigate(
            "let amdkfd have a link between the GPUs: large BARs, HSA_AMD_P2P in the kernel; with XGMI see topo/xgmi",
            "why the GPUs have no peer access",
        )
        .because("firmware setup or kernel change, and the node restarts")
        .prove("amd-smi topology")
    });
}
