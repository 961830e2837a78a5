//! `rdma/nic-counters`.

use crate::grown;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::counters::known::known;
use linerate_node::counters::{self, Counter, Owner};

pub(super) static RULE: Rule = Rule {
    id: "rdma/nic-counters",
    title: "Network cards drop and damage no packets",
    severity: Severities::up_to(Severity::Info, Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("each lost packet of RoCE is sent again with all behind it; a total says neither when nor how fast"),
    sources: &[
        Source {
            title: "Linux, Ethernet counters of mlx5: each with its meaning and what to do",
            at: "https://github.com/torvalds/linux/blob/master/Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
        },
        Source {
            title: "InfiniBand Architecture Specification vol. 1, PortCounters attribute",
            at: "https://www.infinibandta.org/ibta-specification/",
        },
    ],
    reads: &["ethtool -S IF", "perfquery", "sys/class/net/*/statistics/*"],
    docs: "\
## What it checks
Counters of drops, damaged packets, broken links and modules that `ethtool -S` and `perfquery` print, each by its name. Totals are information: they count
since the driver was loaded or the port was cleared. With an earlier reading (`audit --before`) what grew since is judged instead. The counters of RDMA
ports in sysfs are the subject of rdma/port-errors and rdma/roce-errors.

## Why it matters
rx_discards_phy means that the host does not take what the network brings; errors of symbols and checksums mean a cable; pauses show who waits for whom.

## See it yourself
`linerate watch counters` while traffic runs; or `ethtool -S IF` twice, and `linerate watch counters BEFORE AFTER --apart 60s`.

## Fix
Act only on what grows under load: `linerate watch counters` says of each counter what to do.",
    myths: &[Myth {
        claim: "rx_corrected_bits_phy grows, so the cable is bad.",
        truth: "Links of 50 Gb/s and more a lane always have bits to correct. Compare its rate with that of other ports; symbol errors are what FEC could not correct.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let all = counters::of_networks(cx.node, cx.snapshot);
    if all.is_empty() {
        out.not_applicable("no counters of interfaces in this source: `ethtool -S IF` prints them");
        return;
    }
    for of in all.chunk_by(|a, b| a.owner == b.owner) {
        judge(cx, of, out);
    }
}

fn is_bad(name: &str) -> bool {
    known(name).is_some_and(|k| k.kind.is_bad())
}

/// Counters of one owner.
fn judge(cx: &Cx<'_>, of: &[Counter], out: &mut Findings) {
    let Some(first) = of.first() else { return };
    let subject = match &first.owner {
        Owner::Interface(Ok(name)) => Subject::Net(name.clone()),
        other => Subject::Named(other.to_string()),
    };
    if grown::judge(cx, &first.owner, is_bad, subject.clone(), first.place, out) {
        return;
    }
    let judged: Vec<&Counter> = of.iter().filter(|c| is_bad(&c.name)).collect();
    if judged.is_empty() {
        let text = format_args!("none of its {} counters is one of faults or losses that is known here", of.len());
        out.unknown(subject, text).at(first.place).see("ethtool -S IF");
        return;
    }
    let bad: Vec<&&Counter> = judged.iter().filter(|c| c.value > 0).collect();
    if bad.is_empty() {
        out.pass(subject, format_args!("{} counters of faults and losses are zero", judged.len())).at(first.place);
        return;
    }
    let list: Vec<String> = bad.iter().map(|c| format!("{} {}", c.name, c.value)).collect();
    let finding = out
        .fail(subject, format_args!("totals: {}; one reading cannot show growth", list.join(", ")))
        .severity(Severity::Info);
    for c in &bad {
        finding.at(c.place);
    }
    finding.fix(|| {
        Remedy::investigate(
            "read the counters again under load (linerate watch counters); act only on what grows",
            "growth of the error counters under load",
        )
        .prove(grown::HOW)
    });
}
