//! `pcie/nccl-blind-to-degraded-link`.

use super::{PHYSICAL, PRINT_LINK_STATUS, links};
use crate::{About, Cx, Effect, Findings, Myth, Rule, Severities, Severity, Source};
use linerate_node::pci::{FnId, Kind};
use linerate_topology::system::link_bandwidth;

pub(super) static RULE: Rule = Rule {
    id: "pcie/nccl-blind-to-degraded-link",
    title: "NCCL's model of the links agrees with the real links",
    severity: Severities::always(Severity::Info),
    roles: PHYSICAL,
    effect: Effect::sourced("NCCL plans rings and trees over a link as if it ran at full speed; its topology dump shows nothing wrong"),
    sources: &[
        Source {
            title: "NCCL 2.26 to 2.30, src/graph/xml.cc: ncclTopoGetXmlFromSys reads max_link_speed and max_link_width",
            at: "https://github.com/NVIDIA/nccl/blob/master/src/graph/xml.cc",
        },
        PRINT_LINK_STATUS,
    ],
    reads: &["sys/bus/pci/devices/*/{current,max}_link_{speed,width}"],
    docs: "\
## What it checks
Whether a NIC or a switch uplink on the path runs below what both its ends can: then NCCL does not know.

## Why it matters
NCCL reads the maximum speed and width of a device and of the port above it, never the current ones. (NCCL 2.30.7 reads the current ones of
GPUs from NVML, and so may take an idle GPU for a slow one; NICs and switches keep the maximum.) A degraded link therefore shows up as a slow
collective with a perfect topology dump.

## See it yourself
Compare `NCCL_TOPO_DUMP_FILE` with `current_link_speed` and `current_link_width` in /sys/bus/pci/devices.

## Fix
Repair the link: pcie/link-width, pcie/link-speed, pcie/path-bottleneck. Until then a corrected NCCL_TOPO_FILE makes NCCL avoid it.",
    myths: &[Myth {
        claim: "The NCCL topology dump says 32 GT/s x16, so the link is fine.",
        truth: "The dump repeats what the device could do. Only current_link_* or LnkSta say what it does.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let tree = &cx.node.pci;
    let Some(ends) = links::some_ends(cx, out) else { return };
    let nics = ends.iter().filter(|(_, f)| f.kind == Kind::RdmaNic).map(|(id, _)| *id);
    let judged: Vec<FnId> = nics.chain(links::uplinks(cx, &ends).into_iter().map(|u| u.port)).collect();
    let mut seen = None;
    let mut any = false;
    for id in judged {
        let f = tree.get(id);
        let (Some(now), Some(can)) = (links::now(f), links::possible(tree, id)) else { continue };
        // NCCL's own number for a link: of the table that its topology is built by, not the raw rate.
        let Some(counted) = tree.possible_speed(id).zip(tree.possible_width(id)).map(|(s, w)| link_bandwidth(s, w))
        else {
            continue;
        };
        seen.get_or_insert(f.link.speed.place());
        if now.0 < can.0 * 0.999 {
            any = true;
            out.fail(
                f.bdf,
                format_args!("runs {now} of {can}, and NCCL counts on {counted:.1} GB/s for the full link"),
            )
            .at(f.link.speed.place())
            .at(f.link.max_speed.place())
            .follows("pcie/link-width", About::Of(f.bdf.into()))
            .follows("pcie/link-speed", About::Of(f.bdf.into()));
        }
    }
    match seen {
        Some(p) if !any => {
            out.pass(crate::Subject::Node, "no NIC or switch link that is visible runs below what NCCL assumes").at(p);
        }
        None => {
            out.unknown(crate::Subject::Node, "no current speed of a NIC or switch link in this source")
                .see("capture with `linerate collect`, or add `lspci -D -vvv` as root");
        }
        Some(_) => {}
    }
}
