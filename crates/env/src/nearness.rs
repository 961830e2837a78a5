//! How near NICs are to GPUs, as NCCL has it: by the topology file with which it begins, where there is one, as `linerate topo` shows it; else
//! by the kernel's tree.

use crate::facts::Distance;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::rails;
use linerate_topology::from_node::{Options, from_node_with};
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Config, Document, Open, PathType};

/// Where distances come from.
pub(crate) enum Nearness {
    /// The kernel's tree.
    Kernel,
    /// A topology file.
    File(ByFile),
    /// A topology file goes before the kernel's tree, and what it says is not known.
    Unknown,
}

/// What a topology file says, completed by the node as NCCL does.
pub(crate) struct ByFile {
    /// Of each GPU: how far its nearest NICs are.
    pub(crate) nearest: Vec<Distance>,
    /// RDMA devices that NCCL lists: how far the nearest GPU is, and whether they are among the nearest of one.
    devices: Vec<(String, Distance, bool)>,
    /// As it is written: what has no active port is not in NCCL's graph.
    file: Option<Document>,
}

impl Nearness {
    /// `topology_file`: the job's own `NCCL_TOPO_FILE`.
    pub(crate) fn of(node: &Node<'_>, topology_file: Option<&str>) -> Self {
        if topology_file.is_none() && node.nccl.has_topology_file() == Some(false) {
            return Nearness::Kernel;
        }
        let options = Options { topology_file: topology_file.map(str::to_owned), ..Options::default() };
        let Ok(found) = from_node_with(node, &options) else { return Nearness::unread(node) };
        if found.open.contains(&Open::TopologyFile) {
            return Nearness::Unknown;
        }
        // No file is named or found: what is left is the kernel's tree, as the rules have it.
        if topology_file.is_none() && node.nccl.has_topology_file() != Some(true) {
            return Nearness::Kernel;
        }
        let mut config = Config::default();
        found.configure(&mut config);
        match Analysis::new(&found.document, &config) {
            Ok(analysis) => {
                let file = node.nccl.topology.known().and_then(|text| Document::parse(text, Dialect::Nccl).ok());
                Nearness::File(ByFile::new(&analysis, file))
            }
            Err(_) => Nearness::Unknown,
        }
    }

    /// NCCL would not start with that file; a node without GPUs has no distances in any case.
    fn unread(node: &Node<'_>) -> Self {
        if node.nccl.has_topology_file() == Some(true) { Nearness::Unknown } else { Nearness::Kernel }
    }

    /// Of each GPU of the job: how far its nearest NICs are.
    pub(crate) fn nearest(&self, node: &Node<'_>) -> Vec<Distance> {
        let gpus = node.nccl_gpus();
        let of_job = |r: &&rails::Rail| gpus.contains(&node.pci.get(r.gpu).bdf);
        let rails = node.rails.iter().filter(of_job);
        match self {
            Nearness::Kernel => rails.map(|r| r.distance).collect(),
            Nearness::Unknown => rails.map(|_| Distance::Unknown).collect(),
            Nearness::File(f) => f.nearest.clone(),
        }
    }
}

impl ByFile {
    fn new(analysis: &Analysis, file: Option<Document>) -> Self {
        let (system, raw) = match &analysis.whole {
            Some(w) => (&w.system, &w.raw),
            None => (&analysis.system, &analysis.raw),
        };
        let far = |gpu, net| raw.get(gpu, net).map_or(Distance::Unknown, |p| distance(p.kind));
        let nearest: Vec<Distance> = system
            .gpus()
            .map(|(g, _)| system.nets().map(|(n, _)| far(g, n)).min().unwrap_or(Distance::Unknown))
            .collect();
        let mut devices = Vec::new();
        for (net, n) in system.nets() {
            let least = system.gpus().map(|(g, _)| far(g, net)).min().unwrap_or(Distance::Unknown);
            let among = system.gpus().zip(&nearest).any(|((g, _), d)| far(g, net) == *d && *d != Distance::Unknown);
            // Ports that NCCL fuses are joined by `+`.
            let names = n.name.iter().flat_map(|name| name.split('+'));
            devices.extend(names.map(|name| (name.split(':').next().unwrap_or(name).to_owned(), least, among)));
        }
        ByFile { nearest, devices, file }
    }

    /// How far a device's nearest GPU is, and whether it is among the nearest of one. NCCL lists no device without an active port: of those
    /// only what shares a GPU's switch in the file is known to be near.
    pub(crate) fn device(&self, name: &str, at: Option<Bdf>) -> (Distance, Option<bool>) {
        if let Some((_, distance, among)) = self.devices.iter().find(|(n, ..)| n == name) {
            return (*distance, (*distance != Distance::Unknown).then_some(*among));
        }
        // NCCL puts ports and virtual functions into function 0 of device 0 where the file has that one.
        let ids = at.map(|b| [b.to_string(), format!("{:04x}:{:02x}:00.0", b.domain, b.bus)]);
        let is_it = |e: &Element| ids.iter().flatten().any(|id| e.get("busid") == Some(id));
        let is_gpu =
            |e: &Element| e.get("class").is_some_and(|c| c.starts_with("0x03")) || e.named("gpu").next().is_some();
        let beside_gpu = |e: &Element| e.name == "pci" && e.children.iter().any(is_it) && e.children.iter().any(is_gpu);
        let near = self.file.iter().flat_map(|f| f.system.all()).any(beside_gpu);
        if near { (Distance::Pix, Some(true)) } else { (Distance::Unknown, None) }
    }
}

fn distance(kind: PathType) -> Distance {
    match kind {
        PathType::Loc | PathType::Pix => Distance::Pix,
        PathType::Pxb => Distance::Pxb,
        PathType::C2c | PathType::P2c | PathType::Phb => Distance::Phb,
        PathType::Sys => Distance::Sys,
        _ => Distance::Unknown,
    }
}
