//! All of it: from a document to what NCCL concludes.

use crate::config::{Config, Input};
use crate::env::Env;
use crate::error::Error;
use crate::fill::{self, Filled};
use crate::gdr::{Gdr, View, first_of_ranks};
use crate::local::{LocalNets, local_nets};
use crate::open::Open;
use crate::p2p::P2p;
use crate::path::PathType;
use crate::paths::Paths;
use crate::system::{NodeId, NodeKind, System, build};
use crate::tree::Tree;
use crate::xml::Document;

/// What NCCL concludes from a topology.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The graph of the first rank's domain: GPUs that its GPU reaches without the network.
    pub system: System,
    /// Paths as the hardware has them.
    pub raw: Paths,
    /// Paths as NCCL uses them.
    pub paths: Paths,
    /// The CPU near each GPU, in the order of the GPUs.
    pub local_cpus: Vec<Option<NodeId>>,
    /// Ranks by domain, the first rank's first: more than one where NCCL cuts the host in several nodes.
    pub domains: Vec<Vec<i32>>,
    /// Every rank with every NIC.
    pub gdr: Vec<Gdr>,
    /// Every rank with every other.
    pub p2p: Vec<P2p>,
    /// NICs of each rank.
    pub local_nets: Vec<LocalNets>,
    /// What was assumed where the document is silent, as sentences.
    pub assumed: Vec<String>,
    /// What conclusions may hang on and nobody showed; see [`Analysis::open_for_gdr`] and its siblings.
    pub open: Vec<Open>,
    /// The graph with all GPUs, and its paths, where NCCL cuts the host in several nodes.
    pub whole: Option<Box<Whole>>,
    pub(crate) tree: Tree,
    pub(crate) env: Env,
}

/// A host before NCCL cuts it.
#[derive(Debug, Clone)]
pub struct Whole {
    /// The graph.
    pub system: System,
    /// Paths as the hardware has them.
    pub raw: Paths,
    /// Paths as NCCL adjusts them.
    pub paths: Paths,
}

impl Analysis {
    /// Judges a document.
    ///
    /// # Errors
    ///
    /// Where NCCL itself would stop, or where there is no GPU.
    pub fn new(document: &Document, config: &Config) -> Result<Analysis, Error> {
        let Filled { tree, assumed, mut open } = match config.input {
            Input::File => fill::fill(document, config)?,
            Input::Fused => Filled { tree: Tree::of(document)?, assumed: Vec::new(), open: Vec::new() },
        };
        open.extend(&config.unseen);
        open.retain(|o| !config.told.contains(o));
        open.sort_unstable();
        open.dedup();
        let system = build(&tree, config)?;
        let first = system.gpus().map(|(_, g)| g.rank).min().ok_or(Error::NoGpu)?;
        let (raw, paths, local_cpus) = compute(&system, config)?;
        let domains = domains(&system, &paths);
        let here = domains.iter().position(|d| d.iter().any(|(_, r)| *r == first)).unwrap_or(0);
        let mut ranks: Vec<Vec<i32>> = domains.iter().map(|d| d.iter().map(|(_, r)| *r).collect()).collect();
        ranks.swap(0, here);
        let mut analysis = Analysis {
            system,
            raw,
            paths,
            local_cpus,
            domains: ranks,
            gdr: Vec::new(),
            p2p: Vec::new(),
            local_nets: Vec::new(),
            assumed,
            open,
            whole: None,
            tree,
            env: config.env.clone(),
        };
        if let (Some(keep), true) = (domains.get(here), domains.len() > 1) {
            let system = analysis.system.without_gpus(|id| !keep.iter().any(|(k, _)| *k == id));
            let (raw, paths, local_cpus) = compute(&system, config)?;
            analysis.whole = Some(Box::new(Whole {
                system: std::mem::replace(&mut analysis.system, system),
                raw: std::mem::replace(&mut analysis.raw, raw),
                paths: std::mem::replace(&mut analysis.paths, paths),
            }));
            analysis.local_cpus = local_cpus;
        }
        let first = first_of_ranks(&analysis.system);
        if first.iter().zip(analysis.system.of(NodeKind::Gpu)).any(|(a, b)| a != b) {
            analysis.assumed.push(
                "ranks come several times: the document keeps GPUs (keep=\"1\") that are not equal to what NCCL makes of them"
                    .to_owned(),
            );
        }
        let view = View { system: &analysis.system, config, local_cpu: &analysis.local_cpus, first: &first };
        analysis.gdr = view.all(&analysis.paths)?;
        analysis.p2p = view.all_p2p(&analysis.paths)?;
        analysis.local_nets = local_nets(&analysis.system, &analysis.paths, config.env.netdevs, |gpu| view.cpu_of(gpu));
        Ok(analysis)
    }

    /// The document as NCCL has it after filling, fusing ports and merging the ranks' trees.
    #[must_use]
    pub fn fused(&self) -> Document {
        self.tree.to_document()
    }

    /// What was assumed, and what NCCL takes for granted.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.assumed.iter().chain(&self.system.notes).map(String::as_str)
    }
}

type Computed = (Paths, Paths, Vec<Option<NodeId>>);

fn compute(system: &System, config: &Config) -> Result<Computed, Error> {
    let nvb = config.version.since(2, 8) && !config.env.nvb_disable;
    let raw = Paths::search(system, nvb)?;
    let local_cpus = raw.local_cpus(system);
    let first = first_of_ranks(system);
    let mut paths = raw.clone();
    paths.adjust(View { system, config, local_cpu: &local_cpus, first: &first })?;
    Ok((raw, paths, local_cpus))
}

/// GPUs by domain: each joins the lowest domain of those before it that it reaches without the network.
fn domains(system: &System, paths: &Paths) -> Vec<Vec<(NodeId, i32)>> {
    let gpus: Vec<(NodeId, i32)> = system.gpus().map(|(id, g)| (id, g.rank)).collect();
    let mut domain: Vec<usize> = Vec::with_capacity(gpus.len());
    for (g, (gpu, _)) in gpus.iter().enumerate() {
        let before = gpus.iter().zip(&domain);
        let near = before.filter(|((peer, _), _)| paths.path(*gpu, *peer).kind < PathType::Net);
        let joined = near.map(|(_, d)| *d).min().unwrap_or(g);
        domain.push(joined);
    }
    let mut groups: Vec<Vec<(NodeId, i32)>> = vec![Vec::new(); gpus.len()];
    for (gpu, d) in gpus.iter().zip(&domain) {
        if let Some(group) = groups.get_mut(*d) {
            group.push(*gpu);
        }
    }
    groups.retain(|g| !g.is_empty());
    groups
}
