//! `NCCL_IB_GID_INDEX`: nothing on InfiniBand; found by NCCL itself on RoCE since 2.21; the host's own number before.

use super::{Case, Change, Judgement, Kind, Severity, words};
use crate::context::Fabric;

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if case.name == "UCX_IB_GID_INDEX" && case.value != "auto" {
        out.push(
            case.say(Kind::Harmful, Severity::Low, "a fixed index is right only on hosts with equal GID tables")
                .suggest("unset it: UCX finds the entry")
                .change(Change::Unset),
        );
    }
    if case.name != "NCCL_IB_GID_INDEX" || !out.is_empty() {
        return;
    }
    let Some(n) = case.number().filter(|n| *n >= 0) else { return };
    let fabric = case.context.fabric();
    if fabric == Some(Fabric::InfiniBand) {
        let j = case.say(Kind::Ignored, Severity::Low, "these ports are InfiniBand, where NCCL does not use it");
        out.push(j.delete());
        return;
    }
    if fabric == Some(Fabric::None) {
        out.push(case.say(Kind::Ignored, Severity::Low, "this node has no RDMA port that NCCL could use").delete());
        return;
    }
    let wrong = wrong_here(case, n);
    match case.context.since(2, 21) {
        Some(true) => {
            let (severity, here) = match &wrong {
                Some(Index::Right) => (Severity::Low, "; here it happens to be right".to_owned()),
                Some(Index::Wrong(why)) => (Severity::High, format!("; here it is wrong: {why}")),
                None => (Severity::Medium, String::new()),
            };
            let on_ib = if fabric.is_none() { " (InfiniBand ignores it)" } else { "" };
            let j = case.say(
                Kind::Harmful,
                severity,
                format!(
                    "a fixed index switches off NCCL's own choice, which 2.21 and later make for each port{on_ib}{here}"
                ),
            );
            out.push(j.unset());
        }
        Some(false) => out.push(match wrong {
            Some(Index::Right) => case.say(
                Kind::Fine,
                Severity::Info,
                "up to 2.20 RoCE needs it, and on this node it is RoCE v2 with an IPv4 address",
            ),
            Some(Index::Wrong(why)) => {
                case.say(Kind::Harmful, Severity::High, format!("connections fail or go by RoCE v1: {why}"))
            }
            None => case
                .say(
                    Kind::Undecided,
                    Severity::Low,
                    "up to 2.20 RoCE needs the index of this host's RoCE v2 entry; InfiniBand ignores it",
                )
                .suggest("compare with show_gids on each node, or add --node SNAPSHOT"),
        }),
        None => {
            let j = match wrong {
                Some(Index::Wrong(why)) => case.say(Kind::Harmful, Severity::High, why),
                _ => case.say(
                    Kind::Undecided,
                    Severity::Low,
                    "do not set it with NCCL 2.21 and later; before, RoCE needs this host's index; InfiniBand ignores it",
                ),
            };
            out.push(j.suggest("add --nccl and --node SNAPSHOT; on 2.21 and later unset it"));
        }
    }
}

/// What the index is on this node.
enum Index {
    /// A RoCE v2 entry with an address on each port.
    Right,
    /// None on some ports: the sentence names them.
    Wrong(String),
}

/// Whether the index is a RoCE v2 entry with an address on each active port of the job. `None`: the tables were not seen, or it is an IPv6
/// entry, which is right where the fabric's addresses are such.
fn wrong_here(case: &Case<'_>, n: i64) -> Option<Index> {
    let node = case.context.node.as_ref()?;
    let nics: Vec<_> = node.active().filter(|x| x.compute != Some(false)).collect();
    let (mut bad, mut v6) = (Vec::new(), false);
    for nic in &nics {
        for p in nic.ports.iter().filter(|p| p.active == Some(true)) {
            let has = |table: &[u32]| table.iter().any(|i| i64::from(*i) == n);
            if has(p.roce_v2_ipv4.as_ref()?) {
                continue;
            }
            match p.roce_v2_ipv6.as_deref() {
                Some(table) if has(table) => v6 = true,
                _ => bad.push(nic.name.as_str()),
            }
        }
    }
    if nics.is_empty() || (bad.is_empty() && v6) {
        return None;
    }
    bad.dedup();
    Some(if bad.is_empty() {
        Index::Right
    } else {
        Index::Wrong(format!("index {n} is not a RoCE v2 entry with an address on {}", words(&bad)))
    })
}
