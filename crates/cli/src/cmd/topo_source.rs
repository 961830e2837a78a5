//! Where a topology comes from: NCCL's XML, or a node.

use crate::args::{TopoArgs, XmlKind};
use crate::live;
use crate::output::Failure;
use crate::sources;
use linerate_formats::Kind;
use linerate_formats::bounds::XML_BYTES;
use linerate_formats::nvidia_smi::Topo as TopoM;
use linerate_report::topo::LinkState;
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_topology::ceiling::Extra;
use linerate_topology::from_node::{FromNode, Matrix};
use linerate_topology::xml::{Dialect, Document};
use linerate_topology::{Config, Input, Nvlink, Open};
use std::collections::HashMap;
use std::path::Path;

/// A topology, and what is known beside it.
pub(super) struct Source {
    pub(super) label: String,
    pub(super) document: Document,
    pub(super) input: Input,
    /// Links by bus id.
    pub(super) links: HashMap<String, LinkState>,
    pub(super) notes: Vec<String>,
    /// A limit left part of the source out.
    pub(super) incomplete: bool,
    /// What `nvidia-smi topo -m` would show, from the PCI tree.
    pub(super) matrix: Option<Matrix>,
    /// What it did show.
    pub(super) theirs: Option<TopoM>,
    /// What ceilings need beside the topology.
    pub(super) extra: Extra,
    /// Models of devices by bus id, where the source names them.
    pub(super) models: HashMap<String, String>,
    /// What of the node is not in the document.
    pub(super) found: Option<FromNode>,
}

/// What was given.
pub(super) enum Loaded {
    /// A topology.
    Topology(Box<Source>),
    /// Nothing but a matrix of `nvidia-smi topo -m`, what it is called, and whether part of it was left out.
    Matrix(String, TopoM, bool),
}

impl Source {
    /// A document of which nothing else is known.
    pub(super) fn new(label: String, document: Document, input: Input) -> Self {
        Source {
            label,
            document,
            input,
            links: HashMap::new(),
            notes: Vec::new(),
            incomplete: false,
            matrix: None,
            theirs: None,
            extra: Extra::default(),
            models: HashMap::new(),
            found: None,
        }
    }

    /// The document counts NVLinks.
    pub(super) fn has_nvlink(&self) -> bool {
        self.document.system.all().any(|e| e.name == "nvlink")
    }
}

pub(super) fn load(a: &TopoArgs) -> Result<Loaded, Failure> {
    let path = path(a);
    if a.on.read.on.is_none()
        && path.is_file()
        && let Some(text) = xml_text(path)?
    {
        let label = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(Loaded::Topology(Box::new(xml(a, &label, &text)?)));
    }
    let file = a.env.iter().rev().find_map(|v| v.strip_prefix("NCCL_TOPO_FILE=")).map(str::to_owned);
    super::topo_node::read(&snapshot(a, Purpose::Audit)?, file, a.nccl)
}

/// The node.
pub(super) fn snapshot(a: &TopoArgs, purpose: Purpose) -> Result<Snapshot, Failure> {
    if let Some(live) = live::exactly(1, &a.on, !a.no_redact)? {
        return live.one();
    }
    super::must_be_root(a.root.as_deref())?;
    let path = path(a);
    let mut options = Options { redact: !a.no_redact, ..crate::budget::options(path, purpose) };
    options.commands &= purpose == Purpose::Audit;
    sources::load(path, &options)
}

fn path(a: &TopoArgs) -> &Path {
    a.root.as_deref().or(a.source.as_deref()).unwrap_or_else(|| crate::this_machine::path())
}

/// The text of a file that is a topology.
fn xml_text(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let fail = |e: std::io::Error| Failure::new(format!("cannot read {}: {e}", path.display()));
    let input = linerate_snapshot::Input::open(Some(path), &crate::budget::budget()).map_err(fail)?;
    if input.kind(&path.file_name().unwrap_or_default().to_string_lossy()) != Kind::NcclTopoXml {
        return Ok(None);
    }
    // Part of a topology is another one.
    let text = input.text(XML_BYTES as u64).map_err(|d| Failure::new(format!("{}: {d}", path.display())))?;
    Ok(Some(text))
}

fn xml(a: &TopoArgs, label: &str, text: &[u8]) -> Result<Source, Failure> {
    let mut notes = Vec::new();
    let document = Document::parse(text, Dialect::Lenient).map_err(|e| {
        Failure::new(format!("{label}: {e}")).hint("is it a topology? It begins with <system version=\"1\">")
    })?;
    if document.is_rccl() {
        let what = format!("{label} is a topology of AMD's RCCL: linerate models NVIDIA's NCCL, which differs from it");
        return Err(Failure::new(what).hint("RCCL's own log with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH"));
    }
    if let Err(e) = Document::parse(text, Dialect::Nccl) {
        notes.push(format!("NCCL itself would refuse this file: {e}"));
    }
    let input = match a.input {
        Some(XmlKind::File) => Input::File,
        Some(XmlKind::Dump) => Input::Fused,
        None if is_dump(&document) => Input::Fused,
        None => Input::File,
    };
    if input == Input::File && a.assume_nvlinks.is_none() && !document.system.all().any(|e| e.name == "nvlink") {
        notes.push(
            "the file has no NVLink, which NCCL reads from the driver: if the GPUs have it, give --assume-nvlinks 12 (A100) or 18 (H100); \
             without it paths between GPUs go over PCIe"
                .to_owned(),
        );
    }
    Ok(Source { notes, ..Source::new(label.to_owned(), document, input) })
}

/// What NCCL dumped says the host of every CPU and the rank of every GPU.
fn is_dump(document: &Document) -> bool {
    let (mut gpus, mut complete) = (0, true);
    for e in document.system.all() {
        match e.name.as_ref() {
            "cpu" => complete &= e.get("host_hash").is_some(),
            "gpu" => {
                gpus += 1;
                complete &= e.get("rank").is_some() && e.get("sm").is_some();
            }
            _ => {}
        }
    }
    gpus > 0 && complete
}

/// What the user says about what the source does not.
pub(super) fn assume(a: &TopoArgs, to: &mut Config) {
    // Names that no source shows are not those of devices.
    to.assume.nic_prefix = "NIC".to_owned();
    if let Some(sm) = a.assume_sm {
        to.assume.sm = sm;
        to.told.push(Open::GpuSm);
    }
    if let Some(links) = a.assume_nvlinks {
        to.assume.nvlink = if links == 0 { Nvlink::None } else { Nvlink::Switch(Some(links)) };
        to.told.extend([Open::Nvlink, Open::NvlinkCount]);
    }
    if let Some(speed) = a.assume_nic_gbps.and_then(|g| i32::try_from(g * 1000).ok()) {
        to.assume.nic_speed = speed;
        to.told.extend([Open::NicSpeed, Open::NicPorts]);
    }
}
