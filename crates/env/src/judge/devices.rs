//! `NCCL_IB_HCA`: which RDMA devices and ports.

use super::{Case, Judgement, Kind, Severity, words};
use crate::context::Fabric;
use crate::facts::{Nic, NodeFacts, Selection};
use crate::value::{Entry, Filter};

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if case.name != "NCCL_IB_HCA" || !out.is_empty() {
        return;
    }
    let filter = Filter::parse(case.value);
    if let Some(j) = written(case, &filter) {
        out.push(j);
        return;
    }
    let node = case.context.node.as_ref();
    match node.and_then(|n| Some((n, n.select(&filter)?))) {
        Some((node, chosen)) => on_node(case, &filter, node, &chosen, out),
        None => out.push(without(case, &filter)),
    }
}

/// What is wrong whatever the node is.
fn written(case: &Case<'_>, filter: &Filter) -> Option<Judgement> {
    let names: Vec<&str> = filter.entries.iter().map(|e| e.name.as_str()).collect();
    if let Some(j) = super::forms::blanks(case, &names) {
        return Some(j);
    }
    if let Some(odd) = names.iter().find(|n| n.starts_with(['=', '^'])) {
        let j = case.say(
            Kind::Illegal,
            Severity::High,
            format!("`=` and `^` hold for the whole list and count at its beginning only: `{odd}` matches nothing"),
        );
        return Some(match repeated(filter) {
            Some(meant) => j.set(meant.to_string()),
            None => {
                j.suggest("say once, at the beginning, whether the list excludes (`^`) or names whole devices (`=`)")
            }
        });
    }
    if let Some(odd) = filter.entries.iter().find(|e| e.port_is_odd()) {
        return Some(
            case.say(
                Kind::Illegal,
                Severity::High,
                format!("`{odd}`: after the colon comes the number of a port, from 1; NCCL reads anything else as a port that no device has"),
            )
            .suggest(format!("`{}` for all its ports, or `{}:1` for the first", odd.name, odd.name)),
        );
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
    Some(j.suggest("`ibdev2netdev` or `rdma link` shows which is which"))
}

/// The list that was meant where `=` and `^` were repeated before entries; `None` where they contradict one another.
fn repeated(filter: &Filter) -> Option<Filter> {
    let mut meant = filter.clone();
    for e in &mut meant.entries {
        let own = Filter::parse(&e.name);
        let marked = own.exclude || own.exact;
        if marked && (own.exclude != filter.exclude || (own.exact && !filter.exact)) {
            return None;
        }
        e.name = e.name.trim_start_matches(['=', '^']).to_owned();
    }
    Some(meant)
}

fn known_device(case: &Case<'_>, name: &str) -> bool {
    let nics = case.context.node.as_ref().and_then(|n| n.nics.as_ref());
    nics.is_some_and(|n| n.iter().any(|n| n.name == name))
}

/// Without a node a prefix is neither right nor wrong: what else begins so is not known.
fn without(case: &Case<'_>, filter: &Filter) -> Judgement {
    let say = |m: String| case.say(Kind::Undecided, Severity::Info, m);
    if filter.exact {
        return say("exact names; whether the node has them, and they are for the job, is not known".to_owned())
            .suggest("add --node SNAPSHOT");
    }
    if let Some(all) = filter.entries.iter().find(|e| !e.names_one()) {
        return say(format!(
            "`{}` is a prefix: {} every device whose name begins so; whether all of them are for the job is not known",
            all.name,
            if filter.exclude { "it leaves out" } else { "it takes" }
        ))
        .suggest("add --node SNAPSHOT");
    }
    // No driver numbers devices 00 to 09.
    let number = |n: &str| n.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let longer = filter
        .entries
        .iter()
        .find(|e| e.name.get(number(&e.name)..).is_some_and(|d| !d.trim_start_matches('0').is_empty()));
    match longer {
        Some(e) => say(format!("names are prefixes: `{0}` is also {0}0 to {0}9 where the node has them", e.name))
            .suggest(format!("NCCL_IB_HCA={} means these alone", filter.exactly())),
        None => say("whether the node has these devices, and they are for the job, is not known".to_owned())
            .suggest("add --node SNAPSHOT"),
    }
}

fn on_node(case: &Case<'_>, filter: &Filter, node: &NodeFacts, s: &Selection<'_>, out: &mut Vec<Judgement>) {
    let none = node.nics.as_ref().is_none_or(Vec::is_empty);
    if case.context.fabric() == Some(Fabric::None) && none {
        out.push(case.say(Kind::Ignored, Severity::Low, "this node has no RDMA device").delete());
        return;
    }
    let list = node.wanted().map(|w| wanted(filter, &w));
    let hint = |j: Judgement| match &list {
        // What somebody excluded by hand, ports and all, is for a person to take back.
        Some(l) if filter.exclude => j.suggest(format!("NCCL_IB_HCA={l} names the NICs near GPUs")),
        Some(l) => j.set(l.to_string()),
        None => j,
    };
    let unseen = node.nics.iter().flatten().any(|n| n.active().is_none());
    if s.taken.is_empty() && !unseen {
        let why = if filter.exclude {
            "excludes every device with an active port"
        } else {
            "names no device with an active port here"
        };
        let m = format!("{why}: NCCL's own network finds no RDMA device; without a plugin the job goes over TCP");
        out.push(hint(case.say(Kind::Harmful, Severity::High, m)));
        return;
    }
    if !s.idle.is_empty() {
        let severity = if filter.exclude { Severity::Low } else { Severity::Medium };
        let idle: Vec<String> = s.idle.iter().map(ToString::to_string).collect();
        let idle: Vec<&str> = idle.iter().map(String::as_str).collect();
        out.push(hint(case.say(Kind::Illegal, severity, format!("this node has no {}", words(&idle)))));
    }
    let names = |list: &[&Nic]| words(&list.iter().map(|n| n.name.as_str()).collect::<Vec<_>>());
    if !s.foreign.is_empty() {
        let longer = |n: &&&Nic| filter.entries.iter().any(|e| e.is_number_within(&n.name));
        let prefix = match s.foreign.iter().find(longer) {
            Some(n) if !filter.exact && !filter.exclude => {
                format!(" (names are prefixes, and one is the beginning of {})", n.name)
            }
            _ => String::new(),
        };
        let what = format!(
            "also takes {}{prefix}, which is near no GPU or much slower: storage or management",
            names(&s.foreign)
        );
        out.push(hint(case.say(Kind::Harmful, Severity::High, what)));
    }
    if !s.left.is_empty() {
        out.push(hint(case.say(
            Kind::Harmful,
            Severity::Medium,
            format!("leaves {} out, nearest to a GPU and active", names(&s.left)),
        )));
    }
    if !out.is_empty() {
        return;
    }
    if s.open {
        out.push(case.say(
            Kind::Undecided,
            Severity::Info,
            format!("takes {} here; the snapshot does not show which NICs are for the job", names(&s.taken)),
        ));
    } else if node.active().all(|n| n.taken_by(filter)) {
        let j = case.say(
            Kind::Redundant,
            Severity::Info,
            format!("takes all {} that NCCL would use by itself", names(&s.taken)),
        );
        out.push(j.suggest("delete it, or keep it as a guard with `=`"));
    } else {
        out.push(case.say(Kind::Fine, Severity::Info, format!("takes {}, the NICs near the GPUs", names(&s.taken))));
    }
}

/// The NICs for the job as a list; where the setting names ports of one of them, those.
fn wanted(filter: &Filter, nics: &[&Nic]) -> Filter {
    let mut out = Filter { exclude: false, exact: true, entries: Vec::new() };
    for nic in nics {
        let named = filter.entries.iter().filter(|e| !filter.exclude && e.name == nic.name);
        let own = named.map(|e| Entry { name: e.name.clone(), tail: e.tail.trim_end().to_owned() });
        let before = out.entries.len();
        out.entries.extend(own);
        if out.entries.len() == before {
            out.entries.push(Entry { name: nic.name.clone(), tail: String::new() });
        }
    }
    out
}
