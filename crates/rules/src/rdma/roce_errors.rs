//! `rdma/roce-errors`.

use super::common;
use crate::grown;
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::counters::Owner;
use linerate_node::rdma::{LinkLayer, RdmaDevice, RdmaPort};

pub(super) static RULE: Rule = Rule {
    id: "rdma/roce-errors",
    title: "RoCE ports lose and retransmit next to nothing",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::estimate("go-back-N resends what is in flight: at 400 Gb/s and 10 µs round trip 1 lost packet in 12,000 costs about 1 % (estimate)"),
    sources: &[Source {
        title: "NVIDIA, RDMA hardware counters: out_of_sequence, packet_seq_err, local_ack_timeout_err, roce_adp_retrans",
        at: "https://enterprise-support.nvidia.com/s/article/understanding-mlx5-linux-counters-and-status-parameters",
    }],
    reads: &["sys/class/infiniband/*/ports/*/hw_counters/*", "sys/class/infiniband/*/ports/*/counters/port_xmit_packets"],
    docs: "\
## What it checks
On RoCE ports: packet_seq_err (a receiver reported missing packets), local_ack_timeout_err (no answer at all),
out_of_sequence, implied_nak_seq_err, rnr_nak_retry_err and roce_adp_retrans; on bnxt_re seq_err_naks_rcvd, to_retransmits and
rnr_naks_rcvd, on ConnectX-3 sq_num_oos, rq_num_oos, sq_num_to and sq_num_rnr. Totals are information. Where the packets sent are
known, the share of losses is weighed: sequence errors per packet, times the packets in flight at the port's rate and an assumed
round trip of 10 µs, is the share of bandwidth that resending takes; 1 % and more is low. With an earlier reading (`audit --before`) what grew since is
judged instead, as medium.

## Why it matters
RoCE expects a network that drops nearly nothing. Timeouts cost milliseconds each.

## See it yourself
`linerate watch counters` while traffic runs; or `grep . /sys/class/infiniband/mlx5_0/ports/1/hw_counters/*` twice. Out-of-sequence arrivals alone are
normal where switches route adaptively.

## Fix
If packet_seq_err grows under load: look at drops and pauses of the switch ports, PFC and ECN on both ends of every link
(rdma/roce-qos). If only local_ack_timeout_err grew: a peer died or the path was lost; jobs that are killed leave such counts.",
    myths: &[Myth {
        claim: "Any local_ack_timeout_err means that the network is broken.",
        truth: "A killed peer leaves them too. Growth while both ends run means something.",
    }],
    check,
};

/// Counters of mlx5, bnxt_re and mlx4 (drivers/infiniband/hw/bnxt_re/hw_counters.c; diag_basic and diag_ext of hw/mlx4/main.c).
const EVENTS: [&str; 14] = [
    "packet_seq_err",
    "seq_err_naks_rcvd",
    "to_retransmits",
    "rnr_naks_rcvd",
    "sq_num_oos",
    "rq_num_oos",
    "sq_num_to",
    "sq_num_rnr",
    "local_ack_timeout_err",
    "out_of_sequence",
    "implied_nak_seq_err",
    "rnr_nak_retry_err",
    "roce_adp_retrans",
    "roce_adp_retrans_to",
];
/// Assumed round trip through a loaded fabric, s.
const ROUND_TRIP: f64 = 10e-6;
/// Bits of a full packet: RDMA MTU 4096.
const PACKET_BITS: f64 = 4096.0 * 8.0;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    for (d, p) in common::ports(cx) {
        let subject = common::subject(d, p);
        match p.link_layer.known() {
            Some(LinkLayer::Ethernet) if grew(cx, d, p, out) => continue,
            Some(LinkLayer::Ethernet) => judge(d, p, out),
            Some(LinkLayer::InfiniBand) => {
                out.not_applicable_to(subject, "InfiniBand: the link layer is lossless").at(p.link_layer.place())
            }
            Some(LinkLayer::Unspecified) => out.not_applicable_to(subject, "no RoCE").at(p.link_layer.place()),
            None => out.unreadable(subject, "link layer", &p.link_layer),
        };
    }
}

fn grew(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, out: &mut Findings) -> bool {
    let Some((_, at)) = EVENTS.iter().find_map(|n| p.counter(n)) else { return false };
    let owner = Owner::Port(d.name.clone(), p.number);
    grown::judge(cx, &owner, |n| EVENTS.contains(&n), common::subject(d, p), at, out)
}

fn judge<'o>(d: &RdmaDevice, p: &RdmaPort, out: &'o mut Findings) -> &'o mut Finding {
    let subject = common::subject(d, p);
    let seen = || EVENTS.iter().filter_map(|n| p.counter(n).map(|(v, place)| (*n, v, place)));
    let Some((_, _, first)) = seen().next() else {
        return out
            .unknown(subject, "no RDMA hardware counters in this source")
            .at(common::place(d))
            .see("grep . /sys/class/infiniband/*/ports/*/hw_counters/*");
    };
    let bad: Vec<_> = seen().filter(|(_, v, _)| *v > 0).collect();
    if bad.is_empty() {
        return out.pass(subject, format_args!("{} counters of loss are zero", seen().count())).at(first);
    }
    let list: Vec<String> = bad.iter().map(|(n, v, _)| format!("{n} {v}")).collect();
    let share = resent(p);
    let (severity, tail) = match share {
        Some(s) if s >= 0.01 => {
            (Severity::Low, format!("resending took about {:.0} % (estimate)", (100.0 * s).min(100.0)))
        }
        Some(_) => (Severity::Info, "resending took less than 1 % (estimate)".to_owned()),
        None => (Severity::Info, "one sample cannot show growth".to_owned()),
    };
    let f = out.fail(subject, format_args!("totals: {}; {tail}", list.join(", "))).severity(severity);
    for (_, _, place) in &bad {
        f.at(*place);
    }
    f.fix(|| {
        Remedy::investigate(
            "read the counters again under load (linerate watch counters); where losses grow, look at drops, PFC and ECN along the path",
            "drops and pauses of the switch ports on the path",
        )
        .prove(format!("sys/class/infiniband/{}/ports/{}/hw_counters", d.name, p.number))
    })
}

/// Share of the bandwidth spent on resending, by go-back-N: losses per packet sent times packets in flight.
fn resent(p: &RdmaPort) -> Option<f64> {
    let losses = ["packet_seq_err", "seq_err_naks_rcvd", "sq_num_oos"].iter().find_map(|n| p.counter(n))?.0 as f64;
    let sent = p.counter("port_xmit_packets")?.0 as f64;
    let in_flight = p.rate_gbps.known()? * 1e9 * ROUND_TRIP / PACKET_BITS;
    (sent > 0.0).then(|| losses / sent * in_flight)
}
