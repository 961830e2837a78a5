//! `nicfw/roce-cc`.

use super::roce_control::is_ethernet;
use super::{Missing, QUERY, cards, nic, not_for, not_shown};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::nicfw::NicFirmware;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/roce-cc",
    title: "RoCE congestion control is on for at least one priority of each Ethernet port",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::direction_only("without congestion control, congestion shows as pauses or drops instead of slower senders"),
    sources: &[
        super::DATABASE,
        super::OPERATOR,
        Source {
            title: "NVIDIA, RoCE congestion control: ECN, CNP, priority masks",
            at: "https://docs.nvidia.com/networking/display/mlnxofedv24070610/explicit+congestion+notification+(ecn)",
        },
    ],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
ROCE_CC_PRIO_MASK_Pn of NICs on Ethernet: a mask of priorities with congestion control; 0 means that no priority has it. The message prints the CNP marking
(CNP_DSCP_Pn, CNP_802P_PRIO_Pn) too: whether it fits the switches cannot be seen from the node.

## Why it matters
DCQCN slows senders when switches mark packets. Congestion notification packets (CNP) must travel in a class that the switches
prefer; values that differ from the fabric's plan make it late. NVIDIA's operator sets mask 255, CNP DSCP 4, CNP priority 6; the
firmware's own default for the DSCP is 48 (from experience).

## See it yourself
`mlxconfig -d BDF -e query | grep -E 'ROCE_CC|CNP'`; `cat /sys/class/net/IF/ecn/roce_*/enable/*`.

## Fix
Set ROCE_CC_PRIO_MASK_Pn to the priorities that carry RoCE (255 for all), the same on all nodes, and reset.",
    myths: &[Myth {
        claim: "With PFC on, congestion control is not needed.",
        truth: "PFC stops links, and the stop spreads. It is the last resort; ECN should act before it.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let (mut infiniband, mut without) = (Vec::new(), Vec::new());
    let shows = |card: &NicFirmware| {
        ["ROCE_CC_PRIO_MASK_P1", "ROCE_CC_PRIO_MASK_P2"].iter().any(|n| card.config.param(n).is_some())
    };
    for card in cards(cx, out) {
        match is_ethernet(cx, card) {
            Some(false) => infiniband.push(card),
            Some(true) if shows(card) => judge(cx, card, out),
            _ if !shows(card) => without.push(card),
            _ => {
                out.unknown(nic(card), "whether its port is Ethernet is not known")
                    .at(card.place)
                    .see("cat /sys/class/infiniband/*/ports/*/link_layer");
            }
        }
    }
    not_for(&infiniband, "InfiniBand", out);
    not_shown(
        cx,
        "ROCE_CC_PRIO_MASK",
        Missing::NotApplicable("their queries show no RoCE congestion control"),
        &without,
        out,
    );
}

fn judge(cx: &Cx<'_>, card: &NicFirmware, out: &mut Findings) {
    for (mask, dscp, prio) in [
        ("ROCE_CC_PRIO_MASK_P1", "CNP_DSCP_P1", "CNP_802P_PRIO_P1"),
        ("ROCE_CC_PRIO_MASK_P2", "CNP_DSCP_P2", "CNP_802P_PRIO_P2"),
    ] {
        let Some(param) = card.config.param(mask) else { continue };
        let place = card.at_param(param);
        let Some(now) = &param.current else {
            out.unknown(nic(card), format_args!("{mask}: only the next boot's value was shown")).at(place).see(QUERY);
            continue;
        };
        let shown = |name: &str| {
            let v = card.config.param(name).and_then(|p| p.current.as_ref());
            v.map_or_else(|| "not shown".to_owned(), |v| v.raw.to_string())
        };
        match now.number {
            Some(0) => {
                let f = out.fail(nic(card), format_args!("{mask} is 0: no priority has congestion control"));
                f.severity((super::function(cx, card).is_some_and(|f| cx.serves_no_gpu(f))).then_some(Severity::Info));
                f.at(place).fix(|| {
                    Remedy::nic_firmware(
                        format!(
                            "set {mask} to the priorities that carry RoCE (255: all), as on the rest of the fabric"
                        ),
                        card.name.clone(),
                        mask,
                        "255",
                    )
                    .because("congestion control must match the switches")
                    .prove(format!("mlxconfig -d {} -e q", card.name))
                })
            }
            Some(_) => out
                .pass(
                    nic(card),
                    format_args!("{mask} {}, CNP DSCP {}, CNP priority {}", now.raw, shown(dscp), shown(prio)),
                )
                .at(place),
            None => out.unknown(nic(card), format_args!("{mask}: not a number: {}", now.raw)).at(place),
        };
    }
}
