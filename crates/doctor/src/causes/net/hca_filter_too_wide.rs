//! `net/hca-filter-too-wide`.

use super::lists;
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_node::nccl::Filter;
use linerate_rules::Severity;
use std::collections::BTreeSet;

pub(super) static CAUSE: Cause = Cause {
    id: "net/hca-filter-too-wide",
    title: "NCCL_IB_HCA catches NICs that it should not",
    what: "NCCL_IB_HCA also selects NICs that it should not. NCCL then sends over links that are slower or lead \
           elsewhere.",
    shows: &[
        "`NCCL_IB_HCA set by environment to mlx5_1`",
        "`NET/IB : Using …` lists mlx5_10 too, or both InfiniBand and RoCE ports",
    ],
    why: "The names in the variable are prefixes: `mlx5_1` also takes mlx5_10 to mlx5_19; `mlx5` takes every port, \
          which is right where all of them are for the job.",
    confirm: &[
        "the list in `NET/IB : Using …` against the NICs that you meant",
        "write `NCCL_IB_HCA==mlx5_1` (two equals signs: exact)",
    ],
    refute: &["all NICs that are listed belong to the compute fabric"],
    remedy: Advice::Environment("Use exact names: NCCL_IB_HCA==mlx5_0,mlx5_1,…", &[], &[]),
    sources: &[ENV_RST],
    severity: Severity::Medium,
    rules: &["rdma/port-rate"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (value, g) = c.env("NCCL_IB_HCA").filter(|(v, _)| !v.starts_with(['^', '=']))?;
    let filter = Filter::parse(value);
    let used: BTreeSet<&str> = lists(c).into_values().flatten().map(|n| n.split(':').next().unwrap_or(n)).collect();
    // `mlx5_1` in `mlx5_10`: nobody means that. `mlx5` means every one.
    let also: Vec<String> = used
        .iter()
        .filter(|u| {
            filter.entries.iter().any(|e| e.is_number_within(u)) && !filter.entries.iter().any(|e| e.name == **u)
        })
        .map(|u| (*u).to_owned())
        .collect();
    let kinds: BTreeSet<&str> =
        lists(c).into_values().flatten().filter_map(|n| n.rsplit_once('/')).map(|(_, k)| k).collect();
    let prefix_only = filter.entries.iter().all(|e| !e.names_one());
    let lines = c.of(&c.o.devices).take(1).flat_map(|(_, g)| c.first_quote(g));
    if !also.is_empty() {
        let words = format!("NCCL_IB_HCA={value} also takes {}", crate::ranges::some(&also, 4));
        return Some(
            Found::new(Certain, words, "names are prefixes, and these NICs are in the list that is used")
                .with(c.quotes(g))
                .with(lines),
        );
    }
    if prefix_only && kinds.len() > 1 {
        let words = format!("NCCL_IB_HCA={value} mixes InfiniBand and RoCE ports");
        return Some(
            Found::new(Likely, words, "the list that is used has ports of both kinds").with(c.quotes(g)).with(lines),
        );
    }
    None
}
