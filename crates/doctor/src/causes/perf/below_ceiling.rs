//! `perf/below-ceiling`.

use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::place::{Place, Quote};
use linerate_formats::nccl_tests::{Collective, Row, Run};
use linerate_rules::{Severity, Source};
use std::collections::BTreeMap;

pub(super) static CAUSE: Cause = Cause {
    id: "perf/below-ceiling",
    title: "A benchmark is far below what the links allow",
    what: "A benchmark is far below what the links allow, and the log shows no fault.",
    shows: &["a table of nccl-tests over several nodes, and `--node` snapshots that show the rates of the ports"],
    why: "For large messages the bus bandwidth of all-reduce, all-gather and reduce-scatter over several nodes \
          approaches the bandwidth of the rails of a node together (that of alltoall, sendrecv, gather, scatter and \
          hypercube counts one rank and is not compared). Where a benchmark stays far below, a link runs slower than \
          it could, NICs are shared or far from their GPUs, or the fabric is congested.",
    confirm: &[
        "`linerate audit` and `linerate topo --ceiling --nodes 2` on the nodes",
        "`ib_write_bw` per NIC: each should reach its line rate",
    ],
    refute: &[
        "the message sizes are small: latency decides there",
        "the table is of alltoall, sendrecv, gather or scatter: its bus bandwidth is one rank's",
        "fewer ranks run on a node than it has GPUs",
    ],
    remedy: Advice::Investigate("Judge the nodes (`linerate audit`), then each NIC with ib_write_bw"),
    sources: &[PERFORMANCE],
    severity: Severity::High,
    rules: &[
        "rdma/port-rate",
        "pcie/link-speed",
        "pcie/link-width",
        "pcie/path-bottleneck",
        "numa/cross-socket-nic",
        "acs/redirect-on-p2p-path",
        "iommu/translated-domain",
        "rdma/roce-mtu",
    ],
    follows: &[
        "gdr/no-peer-memory",
        "gdr/too-far",
        "gdr/level-too-low-by-env",
        "gdr/dmabuf-disabled-by-env",
        "gdr/read-disabled-by-env",
        "gdr/default-off-behind-cpu",
        "net/fewer-nics",
        "ib/nic-not-started",
        "net/hca-filter-too-narrow",
        "net/no-rdma-device",
        "net/ib-disabled-by-env",
        "net/socket-forced",
        "net/no-libibverbs",
        "net/plugin-init-failed",
        "net/efa-without-plugin",
        "gdr/peermem-not-loaded",
        "topo/virtual-link-speed",
        "p2p/disabled-by-env",
        "p2p/refused-by-driver",
        "shm/disabled-by-env",
        "net/hca-filter-matches-nothing",
    ],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let hosts = c.job.hosts(c.o).len();
    let runs = c.o.nccl_tests.iter().filter(|(_, r)| r.hosts() > 1 || hosts > 1);
    let judged = runs.filter_map(|(file, run)| {
        let row = run.largest().filter(|r| r.size.0 >= 64 << 20)?;
        let measured = row.best_busbw()?.0;
        counts_whole_node(run, row).then_some(())?;
        // What the nodes that were given carry: the least of them.
        let ceiling = c.nodes.iter().filter_map(|n| n.nics_of_ranks(ranks_per_host(run)?)).min_by(f64::total_cmp)?;
        Some((file, row, measured, ceiling))
    });
    let (file, row, measured, ceiling) = judged.max_by(|a, b| a.2.total_cmp(&b.2))?;
    if measured >= ceiling * SHARE {
        return None;
    }
    let place = Place { file: *file, line: u64::from(row.line) };
    let line = c.evidence(&Quote::new(place, &format!("{} bytes: busbw {measured:.1} GB/s", row.size.0)));
    let share = measured / ceiling * 100.0;
    let words = format!("{measured:.1} GB/s of {ceiling:.0} GB/s that the node's rails carry together: {share:.0} %");
    let found = Found::new(
        Possible,
        words,
        "the benchmark's largest size against the rates of the node's ports; the node shows which link it is",
    )
    .with([line]);
    let joined = found.clone().join(c, CAUSE.rules);
    let sure = if c.failing(CAUSE.rules).is_empty() { Possible } else { Likely };
    Some(Found { confidence: sure, ..joined })
}

const PERFORMANCE: Source =
    nccl("nccl-tests, doc/PERFORMANCE.md", "https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md");

/// Below this share of what the NICs carry something is wrong; measured systems reach 85 % and more.
const SHARE: f64 = 0.6;

/// Whether the bus bandwidth of a row is comparable with all rails of a node: by the collective that the header names, else by the table itself. Tables of
/// older releases name none; a reduction without a root is all-reduce or reduce-scatter.
pub(crate) fn counts_whole_node(run: &Run, row: &Row) -> bool {
    match &run.collective {
        Some(c) => matches!(c.value, Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter),
        None => row.redop.as_deref().is_some_and(|op| !matches!(op, "" | "none")) && row.root.is_none(),
    }
}

/// Ranks on each host, where the header lists them and all hosts have as many.
pub(crate) fn ranks_per_host(run: &Run) -> Option<usize> {
    let mut each: BTreeMap<&str, usize> = BTreeMap::new();
    for r in &run.ranks {
        *each.entry(r.host.as_deref()?).or_default() += 1;
    }
    let first = *each.values().next()?;
    (run.ranks_not_kept == 0 && each.values().all(|n| *n == first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first lines of tables, as different releases print them.
    fn table(collective: &str, row: &str) -> bool {
        let head =
            if collective.is_empty() { String::new() } else { format!("# Collective test starting: {collective}\n") };
        let text = format!(
            "# nThread 1 nGpus 1 minBytes 1 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n{head}# Using devices\n\
             #  Rank  0 Group  0 Pid  1 on  a device  0 [0x18] NVIDIA H100\n#  Rank  1 Group  0 Pid  2 on  b device  0 [0x18] NVIDIA H100\n#\n\
             #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
             #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n\
             {row}\n"
        );
        let runs = linerate_formats::nccl_tests::parse(text.as_bytes());
        let run = runs.first().expect("a run");
        assert_eq!(ranks_per_host(run), Some(1), "{collective}");
        counts_whole_node(run, run.largest().expect("a row"))
    }

    #[test]
    fn only_bandwidth_of_a_whole_node_is_compared() {
        let reduce = "  8589934592    2147483648     float     sum      -1  20000.0  429.50  400.00      0  20000.0  429.50  400.00      0";
        let copy = "  8589934592    2147483648     float    none      -1  110000.0  78.09  78.00      0  110000.0  78.09  78.00      0";
        let rooted = "  8589934592    2147483648     float     sum       0  20000.0  429.50  400.00      0  20000.0  429.50  400.00      0";
        assert!(
            table("all_reduce_perf", reduce) && table("all_gather_perf", copy) && table("reduce_scatter_perf", reduce)
        );
        for c in ["alltoall_perf", "sendrecv_perf", "gather_perf", "scatter_perf", "hypercube_perf"] {
            assert!(!table(c, copy), "{c}");
        }
        // A release that names no collective.
        assert!(table("", reduce), "all-reduce or reduce-scatter");
        assert!(!table("", copy), "all-gather, or alltoall");
        assert!(!table("", rooted), "reduce");
    }
}
