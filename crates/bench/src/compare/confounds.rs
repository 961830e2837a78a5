//! What else differs between the sides: nodes, what the runs say of themselves, what the snapshots show.

use super::Input;
use super::answer::{Confound, Weight};
use super::design::{Layout, Nodes, Order};
use super::side::hosts;
use crate::facts;
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};

/// Parameters that name a run instead of describing it.
const NAMES: [&str; 6] = ["order", "repetition", "rows_are_runs", "gid_index", "port", "variant"];

pub(super) fn confounds(a: &Input<'_>, b: &Input<'_>, layout: &Layout) -> Vec<Confound> {
    let mut list = Vec::new();
    let (ha, hb) = (hosts(a), hosts(b));
    let names = |hosts: &[SmolStr]| hosts.join(", ");
    if matches!(layout.nodes, Nodes::Different | Nodes::Overlapping) {
        list.push(Confound {
            weight: Weight::Decisive,
            what: "nodes".to_owned(),
            a: names(&ha),
            b: names(&hb),
            why: "different nodes without cross-over: two nodes of one make differ by themselves; swap the setting between them, and \
                  measure again"
                .to_owned(),
            rule: None,
        });
    }
    if layout.order == Order::Blocks && a.runs.len().max(b.runs.len()) > 1 {
        list.push(Confound {
            weight: Weight::Possible,
            what: "time".to_owned(),
            a: "one block".to_owned(),
            b: "another block".to_owned(),
            why: "the sides were measured one after the other: temperature, neighbours and the fabric's load change with time; \
                  interleave the runs (A B B A)"
                .to_owned(),
            rule: None,
        });
    }
    list.extend(parameters(a, b));
    let (differences, one_sided) = facts::differences(a.facts, b.facts);
    list.extend(differences);
    if a.facts.is_empty() != b.facts.is_empty() || one_sided > 0 && !a.facts.is_empty() && !b.facts.is_empty() {
        let seen = |f: &[facts::Facts]| if f.is_empty() { "no snapshot".to_owned() } else { "snapshot".to_owned() };
        list.push(Confound {
            weight: Weight::Slight,
            what: "what was seen".to_owned(),
            a: seen(a.facts),
            b: seen(b.facts),
            why: if one_sided > 0 {
                format!("{one_sided} facts are known of one side only: they may differ")
            } else {
                "one side shows no facts: anything may differ".to_owned()
            },
            rule: None,
        });
    }
    list
}

/// Parameters of the runs that differ, for each kind and program that both sides ran.
fn parameters(a: &Input<'_>, b: &Input<'_>) -> Vec<Confound> {
    type Values = BTreeMap<(crate::Kind, SmolStr), BTreeSet<String>>;
    let values = |side: &Input<'_>| -> Values {
        let mut all = Values::new();
        for run in side.runs.iter().filter(|r| r.is_valid()) {
            let version = run.version.as_ref().map(|v| (SmolStr::new_static("version"), v.to_string()));
            let params = run.params.iter().map(|(k, v)| (k.clone(), v.to_string()));
            for (key, value) in params.chain(version).filter(|(k, _)| !NAMES.contains(&k.as_str())) {
                all.entry((run.kind, key)).or_default().insert(value);
            }
        }
        all
    };
    let (va, vb) = (values(a), values(b));
    let words = |v: &BTreeSet<String>| v.iter().cloned().collect::<Vec<_>>().join(" | ");
    let differ = |((kind, key), x): (&(crate::Kind, SmolStr), &BTreeSet<String>)| {
        let y = vb.get(&(*kind, key.clone()))?;
        let (weight, why) = weight(key);
        (x != y).then(|| Confound {
            weight,
            what: format!("{kind}: {key}"),
            a: words(x),
            b: words(y),
            why: why.to_owned(),
            rule: None,
        })
    };
    let mut list: Vec<Confound> = va.iter().filter_map(differ).collect();
    // A setting that one side shows and the other does not, where both show some of how they were started.
    let shows =
        |v: &Values| v.keys().any(|(_, k)| k.starts_with("env.") || matches!(k.as_str(), "launcher" | "network"));
    if shows(&va) && shows(&vb) {
        let alone = |one: &Values, other: &Values| -> Vec<((crate::Kind, SmolStr), String)> {
            let settings = one.iter().filter(|((_, k), _)| k.starts_with("env."));
            settings.filter(|(key, _)| !other.contains_key(*key)).map(|(key, v)| (key.clone(), words(v))).collect()
        };
        let not_shown = || "not shown".to_owned();
        let row = |(kind, key): (crate::Kind, SmolStr), a: String, b: String| {
            let (weight, why) = weight(&key);
            Confound { weight, what: format!("{kind}: {key}"), a, b, why: why.to_owned(), rule: None }
        };
        list.extend(alone(&va, &vb).into_iter().map(|(key, v)| row(key, v, not_shown())));
        list.extend(alone(&vb, &va).into_iter().map(|(key, v)| row(key, not_shown(), v)));
    }
    list
}

/// How much a parameter can matter.
fn weight(key: &str) -> (Weight, &'static str) {
    match key {
        "ranks" | "nodes" | "gpu" | "dtype" | "redop" | "streams" | "protocol" | "bidirectional" | "rw" | "bs"
        | "iodepth" | "qps" | "cuda_device" => {
            (Weight::Decisive, "another measurement: compare runs that were started the same way")
        }
        "mtu" | "link" | "connection" | "numjobs" | "ioengine" | "direct" | "device" | "message_size" => {
            (Weight::Strong, "changes the result by itself")
        }
        "network" | "plugin" => {
            (Weight::Strong, "another way to the network: NCCL's own transports, or another plugin")
        }
        "image" => (Weight::Possible, "another image holds other libraries: NCCL, plugin, UCX, libfabric"),
        "launcher" => (Weight::Possible, "another launcher binds processes and sets the environment in another way"),
        "nccl" | "nccl_library" | "version" | "threads" | "graph" | "agg_iters" | "tx_depth" | "relaxed_ordering" => {
            (Weight::Possible, "can change the result by itself")
        }
        key if key.starts_with("env.") => (Weight::Possible, "a setting of NCCL's, or of the job's"),
        _ => (Weight::Slight, "the runs were not started the same way"),
    }
}
