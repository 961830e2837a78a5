//! `rdma/firmware-mixed`.

use super::common;
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::rdma::RdmaDevice;

pub(super) static RULE: Rule = Rule {
    id: "rdma/firmware-mixed",
    title: "Equal boards run equal firmware",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::direction_only("defaults, congestion control and bugs differ between rails"),
    sources: &[
        common::ABI,
        Source {
            title: "mstflint: one firmware image per PSID (board id)",
            at: "https://github.com/Mellanox/mstflint",
        },
    ],
    reads: &["sys/class/infiniband/*/{fw_ver,board_id}", "ibv_devinfo"],
    docs: "\
## What it checks
The firmware version of all RDMA devices of the same board id (PSID) on this node. Which version is right is not judged.

## Why it matters
A card that was swapped comes with the firmware of its box. What differs between versions (defaults, settings that exist, fixes) then
differs between rails, and comparisons of rails mislead.

## See it yourself
`grep . /sys/class/infiniband/*/{board_id,fw_ver}`.

## Fix
Bring all cards of a board id to one version with mstflint or the vendor's updater; it takes a firmware reset or a reboot. Save the
settings first.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    let mut boards: Vec<(&str, Vec<&RdmaDevice>)> = Vec::new();
    for d in common::devices(cx) {
        let (Some(board), Some(_)) = (d.board_id.known(), d.firmware.known()) else {
            let blind = if d.board_id.known().is_none() { &d.board_id } else { &d.firmware };
            out.unreadable(Subject::Named(d.name.clone()), "board id or firmware version", blind);
            continue;
        };
        match boards.iter_mut().find(|(b, _)| b == board) {
            Some((_, list)) => list.push(d),
            None => boards.push((board, vec![d])),
        }
    }
    for (board, list) in boards {
        judge(board, &list, out);
    }
}

fn judge(board: &str, list: &[&RdmaDevice], out: &mut Findings) {
    let mut versions: Vec<(&str, Vec<&RdmaDevice>)> = Vec::new();
    for d in list {
        let Some(v) = d.firmware.known() else { continue };
        match versions.iter_mut().find(|(w, _)| w == v) {
            Some((_, of)) => of.push(d),
            None => versions.push((v, vec![d])),
        }
    }
    versions.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
    let subject = Subject::Named(format!("board {board}"));
    match versions.as_slice() {
        [] => {}
        [(v, of)] if of.len() == 1 => {
            if let Some(d) = of.first() {
                out.not_applicable_to(subject, format_args!("one device of this board, firmware {v}"))
                    .at(d.firmware.place());
            }
        }
        [(v, of)] => {
            out.pass(subject, format_args!("firmware {v} on {} devices", of.len()))
                .at_all(of.iter().map(|d| d.firmware.place()));
        }
        many => {
            let list: Vec<String> = many
                .iter()
                .map(|(v, of)| format!("{v} on {}", of.iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join(" ")))
                .collect();
            out.fail(subject, format_args!("firmware differs: {}", list.join("; ")))
                .at_all(many.iter().filter_map(|(_, of)| of.first()).map(|d| d.firmware.place()))
                .fix(|| {
                    Remedy::software(
                        "bring all devices of the board to one firmware version",
                        "NIC firmware of the same version on all devices of the board",
                    )
                    .because("flashing can leave a NIC unusable; drain the node, save the settings first")
                    .prove("sys/class/infiniband/*/fw_ver")
                });
        }
    }
}
