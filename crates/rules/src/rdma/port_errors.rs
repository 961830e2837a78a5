//! `rdma/port-errors`.

use super::common;
use crate::grown;
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::counters::Owner;
use linerate_node::rdma::{RdmaDevice, RdmaPort};

pub(super) static RULE: Rule = Rule {
    id: "rdma/port-errors",
    title: "The error counters of the ports are zero, or do not grow",
    severity: Severities::up_to(Severity::Info, Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("growing counters mean retransmission or a link that drops; a total says neither when nor how fast"),
    sources: &[
        common::ABI,
        Source {
            title: "InfiniBand Architecture Specification vol. 1, PortCounters attribute: widths and meaning; counters stop at their maximum",
            at: "https://www.infinibandta.org/ibta-specification/",
        },
    ],
    reads: &["sys/class/infiniband/*/ports/*/counters/*"],
    docs: "\
## What it checks
Totals of symbol_error, link_error_recovery, link_downed, port_rcv_errors, port_xmit_discards, excessive_buffer_overrun_errors and
local_link_integrity_errors of each port. Non-zero totals are reported as information: they count since the counters were cleared,
boots of the switch and pulled cables included, and one sample cannot show growth. With an earlier reading (`audit --before`) what grew since is
judged instead: a link that went down is high, the rest medium. link_downed at 255 (8 bits, it stops there) is low:
a link that went down that often is worth a look, and can hide new events.

## Why it matters
A marginal cable shows here long before it fails. port_xmit_discards on a lossless fabric means congestion or a wrong route.

## See it yourself
`linerate watch counters` while traffic runs; or `grep . /sys/class/infiniband/mlx5_0/ports/1/counters/*` twice, with traffic in between, and
`linerate watch counters BEFORE AFTER`.

## Fix
Read twice under load. If symbol errors or recoveries grow: clean, reseat or swap the cable. If discards grow: look at the fabric.",
    myths: &[Myth {
        claim: "A non-zero symbol_error counter means a bad cable.",
        truth: "Totals include every link training since boot. Only growth under load means something.",
    }],
    check,
};

/// Those that count faults. port_rcv_switch_relay_errors and port_xmit_wait count normal events.
const FAULTS: [&str; 7] = [
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_xmit_discards",
    "excessive_buffer_overrun_errors",
    "local_link_integrity_errors",
];
/// Width of LinkDownedCounter: 8 bits.
const LINK_DOWNED_MAX: u64 = 255;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    for (d, p) in common::ports(cx) {
        if !grew(cx, d, p, out) {
            judge(d, p, out);
        }
    }
}

fn grew(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, out: &mut Findings) -> bool {
    let Some((_, at)) = FAULTS.iter().find_map(|n| p.counter(n)) else { return false };
    let owner = Owner::Port(d.name.clone(), p.number);
    grown::judge(cx, &owner, |n| FAULTS.contains(&n), common::subject(d, p), at, out)
}

fn judge<'o>(d: &RdmaDevice, p: &RdmaPort, out: &'o mut Findings) -> &'o mut Finding {
    let subject = common::subject(d, p);
    let seen = || FAULTS.iter().filter_map(|n| p.counter(n).map(|(v, place)| (*n, v, place)));
    let Some((_, _, first)) = seen().next() else {
        return out
            .unknown(subject, "no port counters in this source")
            .at(common::place(d))
            .see("grep . /sys/class/infiniband/*/ports/*/counters/*");
    };
    let bad: Vec<_> = seen().filter(|(_, v, _)| *v > 0).collect();
    if bad.is_empty() {
        return out.pass(subject, format_args!("{} error counters are zero", seen().count())).at(first);
    }
    let list: Vec<String> = bad.iter().map(|(n, v, _)| format!("{n} {v}")).collect();
    let stuck = bad.iter().any(|(n, v, _)| *n == "link_downed" && *v >= LINK_DOWNED_MAX);
    let f = out
        .fail(
            subject,
            format_args!("totals since the counters were cleared: {}; one reading cannot show growth", list.join(", ")),
        )
        .severity(if stuck { Severity::Low } else { Severity::Info });
    for (_, _, place) in &bad {
        f.at(*place);
    }
    f.fix(|| {
        Remedy::investigate(
            "read the counters again after some traffic (linerate watch counters); act only on what grows",
            "growth of the error counters under load",
        )
        .prove(format!("sys/class/infiniband/{}/ports/{}/counters", d.name, p.number))
    })
}
