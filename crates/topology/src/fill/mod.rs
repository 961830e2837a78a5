//! What NCCL adds to a topology file from its node, as assumptions that are shown: without the node they cannot be known.

mod fuse;
mod gpu;
mod nic;
mod vnic;

use crate::config::Config;
use crate::error::Error;
use crate::open::Open;
use crate::tree::{Tag, Tree};
use crate::xml::Document;

/// NVLink, where the document has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Nvlink {
    /// None.
    #[default]
    None,
    /// Every GPU to NVLink switches, with so many links; `None` is what its generation has.
    Switch(Option<u32>),
    /// Between GPUs, numbered in document order: one, other, links.
    Mesh(Vec<(u32, u32, u32)>),
}

/// What is taken for granted where the document is silent. Whatever of it was used is shown in the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumptions {
    /// Compute capability of GPUs, times ten.
    pub sm: i32,
    /// NVLink.
    pub nvlink: Nvlink,
    /// Names of NICs begin so; a number follows.
    pub nic_prefix: String,
    /// Speed of NICs in Mb/s.
    pub nic_speed: i32,
    /// Whether GPUs and NICs can do GPUDirect RDMA.
    pub gdr: bool,
    /// CPUID's vendor, family and model of x86 CPUs.
    pub cpu: (String, i32, i32),
}

impl Default for Assumptions {
    fn default() -> Self {
        Assumptions {
            sm: 80,
            nvlink: Nvlink::None,
            nic_prefix: "mlx5_".to_owned(),
            nic_speed: 100_000,
            gdr: true,
            cpu: ("GenuineIntel".to_owned(), 6, 143),
        }
    }
}

/// A document as NCCL has it after filling and merging.
#[derive(Debug, Clone)]
pub(crate) struct Filled {
    pub(crate) tree: Tree,
    pub(crate) assumed: Vec<String>,
    /// What of that conclusions may hang on.
    pub(crate) open: Vec<Open>,
}

/// Fills a document as a file given to every rank is filled, and merges what the ranks have.
///
/// # Errors
///
/// Where NCCL stops.
pub(crate) fn fill(document: &Document, config: &Config) -> Result<Filled, Error> {
    let mut tree = Tree::of(document)?;
    let mut assumed = Vec::new();
    hosts(&mut tree, &mut assumed);
    let mut open = Vec::new();
    if cpus(&mut tree, &config.assume, &mut assumed) {
        open.push(Open::Cpu);
    }
    let gpus = gpu::fill(&mut tree, &config.assume, &mut assumed, &mut open)?;
    let nets = nic::fill(&mut tree, &config.assume, &mut assumed, &mut open)?;
    vnic::fuse_ports(&mut tree, &nets, config, &mut assumed)?;
    gpu::fill_links(&mut tree, &gpus, &mut assumed);
    let tree = fuse::fuse(tree, &gpus);
    let one_host = !assumed.iter().any(|a| a.contains("host_hash"));
    if one_host && tree.nodes.len() > crate::xml::NCCL_MAX_NODES {
        assumed.push(format!(
            "{} elements on one host: NCCL itself has room for {} and stops",
            tree.nodes.len(),
            crate::xml::NCCL_MAX_NODES
        ));
    }
    Ok(Filled { tree, assumed, open })
}

/// NCCL writes its own host into all CPUs of a file. Where a document has several hosts, it is that of an NVLink domain.
fn hosts(tree: &mut Tree, assumed: &mut Vec<String>) {
    let cpus: Vec<u32> = tree.all(Tag::Cpu).collect();
    let mut hashes: Vec<String> = cpus.iter().filter_map(|c| tree.get(*c, "host_hash").map(str::to_owned)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    match hashes.as_slice() {
        [] => {}
        [one] => cpus.iter().for_each(|c| tree.set(*c, "host_hash", one.clone())),
        several => {
            assumed.push(format!("{} hosts by host_hash: one NVLink domain whose GPUs reach each other", several.len()))
        }
    }
}

/// Completes CPUs; whether one was made up.
fn cpus(tree: &mut Tree, assume: &Assumptions, assumed: &mut Vec<String>) -> bool {
    let cpus: Vec<u32> = tree.all(Tag::Cpu).collect();
    let like = cpus.iter().copied().find(|c| tree.get(*c, "vendor").is_some());
    let seen = |tree: &Tree, key: &str| like.and_then(|c| tree.get(c, key)).map(str::to_owned);
    let (vendor, family, model) = &assume.cpu;
    let mut done = false;
    for cpu in cpus {
        if tree.init(cpu, "arch", seen(tree, "arch").unwrap_or_else(|| "x86_64".to_owned())) {
            done = true;
        }
        if !tree.get(cpu, "arch").is_some_and(|a| a.starts_with("x86_64")) {
            continue;
        }
        let value = seen(tree, "vendor").unwrap_or_else(|| vendor.clone());
        done |= tree.init(cpu, "vendor", value);
        if tree.get(cpu, "familyid").is_none() {
            let value = seen(tree, "familyid").unwrap_or_else(|| family.to_string());
            tree.set(cpu, "familyid", value);
            let value = seen(tree, "modelid").unwrap_or_else(|| model.to_string());
            tree.set(cpu, "modelid", value);
            done = true;
        }
    }
    if done {
        assumed.push(match like {
            Some(_) => "CPUs without vendor or model: as the others of the document".to_owned(),
            None => format!("CPUs without vendor or model: {vendor}, family {family}, model {model}"),
        });
    }
    done && like.is_none()
}
