//! `rdma/port-rate`.

use super::common::{self, Use};
use crate::sources::linux;
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};
use linerate_node::rdma::{LinkLayer, RdmaDevice, RdmaPort};

pub(super) static RULE: Rule = Rule {
    id: "rdma/port-rate",
    title: "Ports of equal boards run at equal rates, and no link has fallen back to one lane or the lowest speed",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::derived("bandwidth of the port in proportion to its rate; collectives wait for the slowest"),
    sources: &[
        common::ABI,
        linux!("drivers/infiniband/core/sysfs.c", "rate_show names lanes and speed"),
    ],
    reads: &["sys/class/infiniband/*/ports/*/rate", "ibstat", "ibv_devinfo -v"],
    docs: "\
## What it checks
The rate of each ACTIVE port against the fastest ACTIVE port of the same board (same board id, else same hardware type) and link
layer on this node. No table of products: what one board does, its twin can. On InfiniBand also a link that trained on one lane
(up to HDR, where no product has one lane), or at SDR.

When all ports of a board run equally slow this rule cannot see it: compare nodes.

## Why it matters
A dirty connector, a bent cable or a split cable (`2X NDR`: two of four lanes, 200 Gb/s) leaves the port ACTIVE at a lower rate.
Nothing fails; every ring that passes the port runs at its pace.

## See it yourself
`cat /sys/class/infiniband/*/ports/*/rate`. The words in brackets are lanes and speed per lane: SDR 2.5, QDR 10, FDR 14, EDR 25, HDR 50,
NDR 100, XDR 200 Gb/s.

## Fix
Compare with the switch's view of the link; clean or swap the cable; check whether the switch port is split or limited. Then read the
rate again.",
    myths: &[Myth {
        claim: "2X NDR means that the link lost half its lanes.",
        truth: "Not by itself: NDR200 products and split cables run two lanes by design. It is a finding where a twin board runs four.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    let all: Vec<_> = common::ports(cx).collect();
    for (d, p) in all.iter().copied() {
        judge(cx, (d, p), &all, out);
    }
}

/// A port and its device.
type Port<'a> = (&'a RdmaDevice, &'a RdmaPort);

fn judge<'o>(cx: &Cx<'_>, (d, p): Port<'_>, all: &[Port<'_>], out: &'o mut Findings) -> &'o mut Finding {
    let subject = common::subject(d, p);
    if p.state.known().is_none() {
        return out.unreadable(subject, "port state", &p.state);
    }
    if !common::is_active(p) {
        return out.not_applicable_to(subject, "not ACTIVE: its rate means nothing").at(p.state.place());
    }
    let Some(rate) = p.rate_gbps.known().copied() else {
        return out.unreadable(subject, "rate", &p.rate_gbps);
    };
    let own = || words(p, rate);
    if let Some(fallen) = fallen_back(p) {
        let severity = common::usage(cx, d).weigh(Severity::High);
        return out
            .fail(subject, || format!("{}: {fallen}", own()))
            .severity(severity)
            .at(p.rate_gbps.place())
            .fix(|| remedy(d, p));
    }
    let board = common::board(d);
    let twins = all.iter().copied().filter(|(o, q)| {
        (o.name != d.name || q.number != p.number)
            && common::is_active(q)
            && q.link_layer.known() == p.link_layer.known()
            && board.is_some()
            && common::board(o) == board
    });
    let best = twins.filter_map(|(o, q)| Some((*q.rate_gbps.known()?, o, q))).max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((best, o, q)) if rate < best => {
            let usage = common::usage(cx, d);
            let severity = usage.weigh(if rate <= best / 2.0 { Severity::High } else { Severity::Medium });
            let note = if usage == Use::Rail || usage == Use::RailByHost {
                String::new()
            } else {
                format!("; {}", usage.words())
            };
            out.fail(subject, || {
                format!(
                    "{}: {:.0} % of its twin {}/{} at {}{note}",
                    own(),
                    100.0 * rate / best,
                    o.name,
                    q.number,
                    words(q, best)
                )
            })
            .severity(severity)
            .at(p.rate_gbps.place())
            .at(q.rate_gbps.place())
            .fix(|| remedy(d, p))
        }
        Some(_) => out.pass(subject, || own() + ", the most of its board on this node").at(p.rate_gbps.place()),
        None => out
            .not_applicable_to(subject, || own() + "; no second ACTIVE port of the same board to compare with")
            .at(p.rate_gbps.place()),
    }
}

fn words(p: &RdmaPort, rate: f64) -> String {
    match p.rate_text.known() {
        Some(t) => t.replace("Gb/sec", "Gb/s"),
        None => format!("{rate} Gb/s"),
    }
}

/// Lanes and speed that no InfiniBand product has by design.
fn fallen_back(p: &RdmaPort) -> Option<&'static str> {
    if p.link_layer.known() != Some(&LinkLayer::InfiniBand) {
        return None;
    }
    let text = p.rate_text.known()?;
    let (lanes, speed) = text.split_once('(')?.1.trim_end_matches(')').split_once(' ')?;
    match (lanes, speed) {
        (_, "SDR") => Some("trained at the lowest speed of InfiniBand"),
        ("1X", "DDR" | "QDR" | "FDR10" | "FDR" | "EDR" | "HDR") => Some("trained on one lane"),
        _ => None,
    }
}

fn remedy(d: &RdmaDevice, p: &RdmaPort) -> Remedy {
    Remedy::physical(
        "find out why the link trained low: cable, transceiver, or a split or limited switch port",
        "cable and switch port",
    )
    .prove(format!("sys/class/infiniband/{}/ports/{}/rate", d.name, p.number))
}
