//! A benchmark that is slower than the links allow, when nothing else says why.

use super::{Found, Known, investigate, nccl};
use crate::answer::Confidence::{Likely, Possible};
use crate::place::{Place, Quote};
use linerate_rules::{Severity, Source};

pub(super) static ALL: &[&Known] = &[&BELOW];

const PERFORMANCE: Source =
    nccl("nccl-tests, doc/PERFORMANCE.md", "https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md");

/// Below this share of what the NICs carry something is wrong; measured systems reach 85 % and more.
const SHARE: f64 = 0.6;

static BELOW: Known = Known {
    id: "perf/below-ceiling",
    title: "A benchmark is far below what the links allow",
    severity: Severity::High,
    docs: "For large messages the bus bandwidth of a collective over several nodes approaches the bandwidth of a node's NICs together. Where a benchmark stays far below and the log shows nothing wrong, a link runs slower than it could, \
           NICs are shared or far from their GPUs, or the fabric is congested.",
    confirm: &[
        "`linerate audit` and `linerate topo --ceiling --nodes 2` on the nodes",
        "`ib_write_bw` per NIC: each should reach its line rate",
    ],
    refute: &["the message sizes are small: latency decides there"],
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
    sources: &[PERFORMANCE],
    remedy: || investigate("Judge the nodes (`linerate audit`), then each NIC with ib_write_bw"),
    check: |c| {
        let hosts = c.job.hosts(c.o).len();
        let (file, run) = c.o.nccl_tests.iter().filter(|(_, r)| r.hosts() > 1 || hosts > 1).max_by(|a, b| {
            let best =
                |r: &linerate_formats::nccl_tests::Run| r.largest().and_then(|r| r.best_busbw()).map_or(0.0, |b| b.0);
            best(&a.1).total_cmp(&best(&b.1))
        })?;
        let row = run.largest().filter(|r| r.size.0 >= 64 << 20)?;
        let measured = row.best_busbw()?.0;
        // What the NICs of the nodes that were given carry: the least of them.
        let rates = c.nodes.iter().filter_map(|n| {
            let devices = n.node.rdma.known()?;
            let sum: f64 = devices
                .iter()
                .flat_map(|d| &d.ports)
                .filter_map(|p| p.rate_gbps.known())
                .map(|r| f64::from(*r as f32))
                .sum();
            (sum > 0.0).then_some(sum / 8.0)
        });
        let ceiling = rates.min_by(f64::total_cmp)?;
        if measured >= ceiling * SHARE {
            return None;
        }
        let place = Place { file: *file, line: u64::from(row.line) };
        let line = c.evidence(&Quote::new(place, &format!("{} bytes: busbw {measured:.1} GB/s", row.size.0)));
        let share = measured / ceiling * 100.0;
        let words =
            format!("{measured:.1} GB/s of {ceiling:.0} GB/s that the node's NICs carry together: {share:.0} %");
        let found = Found::new(
            Possible,
            words,
            "the benchmark's largest size against the rates of the node's ports; which link it is, the node tells",
        )
        .with([line]);
        let joined = found.clone().join(c, BELOW.rules);
        let sure = if c.failing(BELOW.rules).is_empty() { Possible } else { Likely };
        Some(Found { confidence: sure, ..joined })
    },
    follows: &[
        "gdr/no-peer-memory",
        "gdr/too-far",
        "gdr/level-too-low-by-env",
        "gdr/dmabuf-disabled-by-env",
        "gdr/read-disabled-by-env",
        "gdr/default-off-behind-cpu",
        "net/fewer-nics",
        "net/hca-filter-too-narrow",
        "net/no-rdma-device",
        "net/ib-disabled-by-env",
        "net/socket-forced",
        "net/no-libibverbs",
        "net/plugin-init-failed",
        "p2p/disabled-by-env",
        "p2p/refused-by-driver",
        "shm/disabled-by-env",
        "net/hca-filter-matches-nothing",
    ],
};
