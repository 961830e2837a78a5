//! `NCCL_IB_HCA` (and UCX's `UCX_NET_DEVICES`): which RDMA devices.

use super::{Case, Judgement, Kind, Severity, words};
use crate::context::Fabric;
use crate::facts::{Nic, NodeFacts};
use crate::value::Filter;

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if case.name != "NCCL_IB_HCA" || !out.is_empty() {
        return;
    }
    let filter = Filter::parse(case.value);
    if let Some(j) = written(case, &filter) {
        out.push(j);
        return;
    }
    match case.context.node.as_ref().and_then(|n| Some((n, n.nics.as_ref()?))) {
        Some((node, nics)) => on_node(case, &filter, node, nics, out),
        None => without(case, &filter, out),
    }
}

/// What is wrong whatever the node is.
fn written(case: &Case<'_>, filter: &Filter) -> Option<Judgement> {
    let names: Vec<&str> = filter.entries.iter().map(|(n, _)| n.as_str()).collect();
    if names.iter().any(|n| n.trim() != *n) {
        let fixed: String = case.value.chars().filter(|c| !c.is_whitespace()).collect();
        let j = case.say(
            Kind::Illegal,
            Severity::High,
            "a blank in the list is part of a name: that entry matches nothing",
        );
        return Some(j.suggest(format!("NCCL_IB_HCA={fixed}")));
    }
    if let Some(odd) = names.iter().find(|n| n.starts_with(['=', '^'])) {
        let j = case.say(
            Kind::Illegal,
            Severity::High,
            format!("`=` and `^` hold for the whole list and stand at its beginning only: `{odd}` matches nothing"),
        );
        return Some(j.suggest(format!(
            "NCCL_IB_HCA=={}",
            names.iter().map(|n| n.trim_start_matches(['=', '^'])).collect::<Vec<_>>().join(",")
        )));
    }
    let interface = |n: &str| {
        let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        ["eth", "ib", "bond", "eno"].iter().any(|p| n.strip_prefix(p).is_some_and(digit))
            || n.starts_with("ens")
            || n.starts_with("enp")
    };
    let named = names.iter().find(|n| interface(n) && !known_device(case, n))?;
    let j = case.say(
        Kind::Illegal,
        Severity::High,
        format!("`{named}` looks like a network interface: RDMA devices have names of their own, such as mlx5_0"),
    );
    Some(j.suggest("`ibdev2netdev` or `rdma link` says which is which"))
}

fn known_device(case: &Case<'_>, name: &str) -> bool {
    let nics = case.context.node.as_ref().and_then(|n| n.nics.as_ref());
    nics.is_some_and(|n| n.iter().any(|n| n.name == name))
}

fn without(case: &Case<'_>, filter: &Filter, out: &mut Vec<Judgement>) {
    let names: Vec<&str> = filter.entries.iter().map(|(n, _)| n.as_str()).collect();
    // `mlx5`, `mlx5_`, `bnxt_re`: no number of a device at the end.
    let whole =
        |n: &&&str| ["mlx4", "mlx5", "bnxt_re", "irdma", "efa", "hfi1", "ionic"].contains(&n.trim_end_matches('_'));
    if filter.exact {
        out.push(
            case.say(
                Kind::Undecided,
                Severity::Info,
                "exact names, as they should be; whether the node has them, and they are for the job, is not known",
            )
            .suggest("say --node SNAPSHOT"),
        );
        return;
    }
    if let Some(all) = names.iter().find(whole).filter(|_| !filter.exclude) {
        out.push(
            case.say(Kind::Harmful, Severity::Medium, format!("`{all}` is a prefix and takes every such device: NICs for storage and management, too"))
                .suggest("name the NICs of the job: NCCL_IB_HCA==mlx5_0,mlx5_1,…; `linerate env check --node SNAPSHOT` writes the list"),
        );
    } else if let Some(first) = names.first() {
        out.push(
            case.say(
                Kind::Harmful,
                Severity::Low,
                format!("names are prefixes: `{first}` also takes {first}0 to {first}9 where they exist"),
            )
            .suggest(format!("NCCL_IB_HCA={}={}", if filter.exclude { "^" } else { "" }, names.join(","))),
        );
    }
}

fn on_node(case: &Case<'_>, filter: &Filter, node: &NodeFacts, nics: &[Nic], out: &mut Vec<Judgement>) {
    if case.context.fabric() == Some(Fabric::None) && nics.is_empty() {
        out.push(case.say(Kind::Ignored, Severity::Low, "this node has no RDMA device").suggest("delete it"));
        return;
    }
    let ports: Vec<(&str, u32)> =
        nics.iter().flat_map(|n| n.ports.iter().map(|p| (n.name.as_str(), p.number))).collect();
    let takes = |n: &Nic| n.ports.iter().any(|p| p.active == Some(true) && filter.takes(&n.name, p.number));
    let taken: Vec<&Nic> = node.active().filter(|n| takes(n)).collect();
    let list = node
        .wanted()
        .map(|w| format!("NCCL_IB_HCA=={}", w.iter().map(|n| n.name.as_str()).collect::<Vec<_>>().join(",")));
    let hint = |j: Judgement| match &list {
        Some(l) => j.suggest(l.clone()),
        None => j,
    };
    let open = nics.iter().any(|n| n.active().is_none());
    if taken.is_empty() && !open {
        let why = if filter.exclude {
            "excludes every device with an active port"
        } else {
            "names no device with an active port here"
        };
        out.push(hint(case.say(
            Kind::Harmful,
            Severity::High,
            format!("{why}: NCCL finds no RDMA device and goes over TCP"),
        )));
        return;
    }
    let idle: Vec<&str> = filter.idle(&ports).collect();
    if !idle.is_empty() {
        let severity = if filter.exclude { Severity::Low } else { Severity::Medium };
        out.push(hint(case.say(Kind::Illegal, severity, format!("this node has no {}", words(&idle)))));
    }
    let names = |list: &[&Nic]| words(&list.iter().map(|n| n.name.as_str()).collect::<Vec<_>>());
    let foreign: Vec<&Nic> = taken.iter().copied().filter(|n| n.compute == Some(false)).collect();
    if !foreign.is_empty() {
        let prefix = if filter.exact || filter.exclude { "" } else { " (names are prefixes)" };
        let what = format!(
            "also takes {}{prefix}, which is near no GPU or much slower: storage or management",
            names(&foreign)
        );
        out.push(hint(case.say(Kind::Harmful, Severity::High, what)));
    }
    let left: Vec<&Nic> = node.active().filter(|n| n.compute == Some(true) && !takes(n)).collect();
    if !left.is_empty() {
        out.push(hint(case.say(
            Kind::Harmful,
            Severity::Medium,
            format!("leaves {} out, nearest to a GPU and active", names(&left)),
        )));
    }
    if !out.is_empty() {
        return;
    }
    let all = node.active().all(takes);
    if open || node.active().any(|n| n.compute.is_none()) {
        out.push(case.say(
            Kind::Undecided,
            Severity::Info,
            format!("takes {} here; which NICs are for the job the snapshot does not tell", names(&taken)),
        ));
    } else if all {
        let ahead = if filter.exact { "" } else { ", but without `=` it is a prefix" };
        let j = case.say(
            Kind::Redundant,
            Severity::Info,
            format!("takes all {} that NCCL would use by itself{ahead}", names(&taken)),
        );
        out.push(j.suggest("delete it, or keep it as a guard with `=`"));
    } else {
        out.push(case.say(Kind::Fine, Severity::Info, format!("takes {}, the NICs near the GPUs", names(&taken))));
    }
}
