//! Whether NCCL concludes the same of two documents of the same devices: every cell.

use crate::guest::Guest;
use crate::nccl;
use linerate_formats::pci::Bdf;
use linerate_topology::from_node::FromNode;
use linerate_topology::search::Graph;
use linerate_topology::system::NodeId;
use linerate_topology::{Analysis, Config, Document, Error, Search};
use std::collections::BTreeSet;

/// Two conclusions that differ.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Differing {
    /// Of which devices: `GPU0–NET1`.
    pub pair: String,
    /// What: `path`, `bandwidth`, `GPUDirect RDMA`, `transport`, `NICs`, `rings`.
    pub what: &'static str,
    /// In the first.
    pub before: String,
    /// In the second.
    pub after: String,
}

/// What was compared.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Same {
    /// Conclusions that were compared.
    pub cells: usize,
    /// Those that differ.
    pub differing: Vec<Differing>,
}

impl Same {
    fn cell(&mut self, pair: &dyn Fn() -> String, what: &'static str, before: String, after: String) {
        self.cells += 1;
        if before != after {
            self.differing.push(Differing { pair: pair(), what, before, after });
        }
    }
}

/// What NCCL concludes in a guest, beside what it concludes on the host of the same devices.
#[derive(Debug, Clone)]
pub struct InGuest {
    /// With the topology file.
    pub with_file: Same,
    /// Without it.
    pub without: Same,
    /// Conclusions on the host hang on something that its source does not show.
    pub is_open: bool,
}

/// NCCL's file for a guest, and the comparison of the host and the guest.
///
/// # Errors
/// The comparison: where NCCL itself would stop, or where there is no GPU.
pub fn in_guest(host: &FromNode, chosen: &BTreeSet<Bdf>, guest: &Guest) -> (Document, Result<InGuest, Error>) {
    let kept = nccl::keep(&host.document, chosen);
    let file = nccl::file(&kept, guest);
    let mut config = Config::default();
    host.configure(&mut config);
    let compared = compare(&kept, &config, guest, &file);
    (file, compared)
}

/// The comparison alone: `kept` is the host's document of the guest's devices, `file` any topology file for the guest.
///
/// # Errors
/// Where NCCL itself would stop, or where there is no GPU.
pub fn compare(kept: &Document, config: &Config, guest: &Guest, file: &Document) -> Result<InGuest, Error> {
    let on_host = Analysis::new(kept, config)?;
    let seen = |file| Analysis::new(&nccl::seen(kept, guest, file), config);
    let (told, found_alone) = (seen(Some(file))?, seen(None)?);
    let search = || Search::new(&on_host, NODES);
    // A search is most of the time: it is made once for those that are one to it, and otherwise beside each other.
    let own = |of: &Analysis| (!Search::is_of_both(&on_host, of)).then(|| Search::new(of, NODES));
    let (on_the_host, (with, without)) = std::thread::scope(|scope| {
        // A system may refuse a thread.
        let searched = std::thread::Builder::new().spawn_scoped(scope, search).ok();
        let others = (own(&told), own(&found_alone));
        (searched.and_then(|s| s.join().ok()).unwrap_or_else(search), others)
    });
    let beside =
        |guest, searched: Option<&Search>| beside((&on_host, &on_the_host), (guest, searched.unwrap_or(&on_the_host)));
    Ok(InGuest {
        with_file: beside(&told, with.as_ref()),
        without: beside(&found_alone, without.as_ref()),
        is_open: !on_host.open.is_empty(),
    })
}

/// Nodes of the job for which rings and trees are sought: with one there would be no NICs in them.
const NODES: u32 = 2;

/// Compares two analyses whose ranks and NICs are numbered alike.
#[must_use]
pub fn same(a: &Analysis, b: &Analysis) -> Same {
    beside((a, &Search::new(a, NODES)), (b, &Search::new(b, NODES)))
}

/// The same, of two whose rings and trees are known.
fn beside((a, found): (&Analysis, &Search), (b, other): (&Analysis, &Search)) -> Same {
    let mut out = Same::default();
    let counts = |x: &Analysis| {
        format!("{} GPUs, {} NICs, {} nodes of NCCL", x.system.gpus().count(), x.system.nets().count(), x.domains.len())
    };
    out.cell(&|| "all".to_owned(), "devices", counts(a), counts(b));
    for (x, y) in a.gdr.iter().zip(&b.gdr) {
        let pair = || format!("GPU{}–NIC{}", x.rank, x.net_dev);
        out.cell(&pair, "path", x.kind.name().to_owned(), y.kind.name().to_owned());
        out.cell(&pair, "bandwidth", x.bandwidth.to_string(), y.bandwidth.to_string());
        let direct =
            |g: &linerate_topology::gdr::Gdr| format!("{:?} {:?} by {}", g.recv.mode, g.send.mode, g.proxy_rank);
        out.cell(&pair, "GPUDirect RDMA", direct(x), direct(y));
    }
    for (x, y) in a.p2p.iter().zip(&b.p2p) {
        let pair = || format!("GPU{}–GPU{}", x.rank1, x.rank2);
        out.cell(
            &pair,
            "transport",
            format!("{} {}", x.transport.name(), x.read),
            format!("{} {}", y.transport.name(), y.read),
        );
        let path = |s: &Analysis, p: &linerate_topology::p2p::P2p| {
            s.raw.get(p.gpus.0, p.gpus.1).map_or_else(String::new, |p| format!("{} {}", p.kind.name(), p.bandwidth))
        };
        out.cell(&pair, "path", path(a, x), path(b, y));
    }
    let nics = |s: &Analysis, l: &linerate_topology::local::LocalNets| {
        let numbers = |all: &[NodeId]| all.iter().map(|n| dev(s, *n)).collect::<Vec<_>>();
        format!("{:?} {:?}", numbers(&l.set), numbers(&l.channels))
    };
    for (x, y) in a.local_nets.iter().zip(&b.local_nets) {
        out.cell(&|| format!("GPU{}", x.rank), "NICs", nics(a, x), nics(b, y));
    }
    for (what, x, y) in [("rings", &found.ring, &other.ring), ("trees", &found.tree, &other.tree)] {
        out.cell(&|| "all".to_owned(), what, graph(a, x), graph(b, y));
    }
    out
}

/// The number of a NIC.
fn dev(s: &Analysis, id: NodeId) -> i32 {
    s.system.nets().find(|(n, _)| *n == id).map_or(-1, |(_, n)| n.dev)
}

fn graph(s: &Analysis, g: &Graph) -> String {
    let channel = |c: &linerate_topology::search::Channel| {
        let nets = c.nets.map(|(a, b)| format!(" {}-{}", dev(s, a), dev(s, b))).unwrap_or_default();
        format!("{:?}{nets}", c.ranks)
    };
    let channels: Vec<String> = g.channels.iter().map(channel).collect();
    let types = [g.type_intra.name(), g.type_inter.name()];
    format!("{:?} {} {} {types:?} {}", g.pattern, g.bw_intra, g.bw_inter, channels.join(", "))
}
