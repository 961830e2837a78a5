//! A ticket in one file: a log, a matrix of `nvidia-smi topo -m`, a few lines of `lspci`, a kernel's message. What tools printed is
//! cut out ([`Cutter`]) and read as facts about a node, each at its own line.

mod cutter;
pub(crate) mod headings;
mod items;
mod kernel;
mod line;
mod run;
mod segment;
mod tagged;

pub use cutter::Cutter;
pub use line::is_kernels;

use crate::lines::Lines;
use crate::texts::Texts;
use crate::{Pasted, Snapshot};
use line::{Class, function};
use linerate_formats::bounds::{DOCTOR_BLOCK_NODES, DOCTOR_BLOCKS, DOCTOR_FRAGMENTS, DOCTOR_LINE, DOCTOR_TEXT};
use linerate_formats::pci::lspci;
use linerate_formats::{Gives, Kind};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::OnceLock;

/// What was cut out of a file.
#[derive(Debug)]
pub struct Cut {
    /// Nodes, each with its label.
    pub nodes: Vec<(String, Snapshot)>,
    /// What each is called within the file: its host, else its number.
    pub names: Vec<String>,
    /// There is more than one kind of text in it, or text of more than one node.
    pub several: bool,
    /// The texts, by name: tools first, then copies of files.
    pub kinds: Vec<Kind>,
    /// What is beyond limits.
    pub left_out: Vec<String>,
    /// Lines that no tool was found to print, and the first of them, 1-based; 0 where there is none.
    pub other: (usize, usize),
    /// Those of [`Cut::other`] that are below the command line of a program that is not known. They are beside the text of a tool that is read whole: which of
    /// the other lines that reads is not known here.
    pub beside: (usize, usize),
}

/// A tool's text within a file.
#[derive(Debug)]
struct Block {
    kind: Kind,
    /// Where its lines stand.
    lines: Lines,
    text: String,
    /// Of the command line, or the heading, above it.
    host: Option<String>,
    /// What the heading of a loop above it names: a host, or something else.
    heading: Option<String>,
    /// What it shows of which one node has one, once it has been asked: see [`keys`].
    keys: OnceLock<HashSet<String>>,
}

impl Block {
    fn new(kind: Kind, lines: Lines, text: String, host: Option<String>) -> Block {
        Block { kind, lines, text, host, heading: None, keys: OnceLock::new() }
    }

    fn keys(&self) -> &HashSet<String> {
        self.keys.get_or_init(|| keys(self.kind, &self.text))
    }
}

/// Texts of tools in a file, and what of it was not looked at.
#[derive(Debug, Default)]
struct Found {
    list: Vec<Block>,
    /// Bytes of the texts.
    kept: usize,
    /// There may be more than [`DOCTOR_BLOCKS`].
    full: bool,
    /// There are more bytes than [`DOCTOR_TEXT`].
    beyond: bool,
    /// Not all of it was asked whose it is: see [`DOCTOR_FRAGMENTS`].
    unasked: bool,
    /// Lines were longer than [`DOCTOR_LINE`].
    cut_lines: bool,
    /// As [`Cut::other`].
    other: (usize, usize),
    /// As [`Cut::beside`].
    below_command: (usize, usize),
    /// Headings, or names in front of lines, say whose texts are in it.
    has_hosts: bool,
    /// A heading names more hosts than nodes are made.
    hosts_left_out: bool,
}

impl Found {
    fn left_out(&self) -> Vec<String> {
        let most = DOCTOR_TEXT >> 20;
        let all = [
            (
                self.full,
                format!(
                    "after {DOCTOR_BLOCKS} texts of tools the rest of it was not searched for more (limit DOCTOR_BLOCKS)"
                ),
            ),
            (self.beyond, format!("of the texts of tools in it only {most} MiB were read (limit DOCTOR_TEXT)")),
            (
                self.unasked,
                format!(
                    "texts below no command line were looked for in {} MiB; behind that only lines of lspci, ibv_devinfo, topo -m and the kernel were (limit DOCTOR_FRAGMENTS)",
                    DOCTOR_FRAGMENTS >> 20
                ),
            ),
            (
                self.cut_lines,
                format!(
                    "of lines longer than {} MiB only the beginning was read (limit DOCTOR_LINE)",
                    DOCTOR_LINE >> 20
                ),
            ),
            (
                self.hosts_left_out,
                format!(
                    "of hosts that share one text only the first {DOCTOR_BLOCK_NODES} are nodes (limit DOCTOR_BLOCK_NODES)"
                ),
            ),
        ];
        all.into_iter().filter(|(is, _)| *is).map(|(_, why)| why).collect()
    }
}

/// Texts of one node.
#[derive(Default)]
struct Node {
    host: Option<String>,
    blocks: Vec<Block>,
}

impl Node {
    fn takes(&self, b: &Block) -> bool {
        match (&self.host, &b.host) {
            (Some(own), Some(host)) => own == host,
            _ => self.blocks.iter().all(|have| have.kind != b.kind || !b.kind.tool().once || go_together(have, b)),
        }
    }
}

/// Whether it is what `lspci -vvv | grep ACSCtl` leaves: lines of devices without the devices, facts about no node. The doctor reads them
/// as they are.
#[must_use]
pub fn has_no_device(kind: Kind, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    kind == Kind::AcsControls
        || kind == Kind::Lspci
            && text.contains("ACSCtl:")
            && !text.lines().any(|l| function(l).or_else(|| lspci::device_of_command(l)).is_some())
}

/// The nodes that the texts in a file make. `host`: whose those are above which no command line names one.
#[must_use]
pub fn nodes(name: &str, bytes: &[u8], host: Option<&str>) -> Cut {
    let mut cutter = Cutter::new(host);
    cutter.feed(bytes);
    cutter.finish(name)
}

fn cut(name: &str, found: Found) -> Cut {
    let mut kinds: Vec<Kind> = found.list.iter().map(|b| b.kind).collect();
    kinds.sort_unstable_by_key(|k| (matches!(k.gives(), Gives::Copy(_)), k.name()));
    kinds.dedup();
    let (mut left_out, other, beside, has_hosts) =
        (found.left_out(), found.other, found.below_command, found.has_hosts);
    let nodes = assign(found.list, &mut left_out);
    let several = nodes.len() > 1 || kinds.len() > 1 || has_hosts && !nodes.is_empty();
    let base = name.rsplit('/').next().unwrap_or(name);
    let (mut out, mut names) = (Vec::new(), Vec::new());
    let many = nodes.len() > 1;
    for (i, Node { host, blocks }) in nodes.into_iter().enumerate() {
        let label = match &host {
            _ if !many => name.to_owned(),
            Some(host) => format!("{name}, {host}"),
            None => format!("{name}, node {}", i + 1),
        };
        let mut texts = Texts::new(label.as_str());
        for (j, b) in blocks.into_iter().enumerate() {
            texts.add(&part_name(base, j), b.text.as_bytes(), b.lines);
        }
        if let Some(mut s) = texts.finish() {
            s.manifest.host = host.clone().unwrap_or_default();
            out.push((label, s));
            names.push(host.unwrap_or_else(|| (i + 1).to_string()));
        }
    }
    Cut { nodes: out, names, several, kinds, left_out, other, beside }
}

/// What the nth text of a file is called, from 0.
pub(crate) fn part_name(base: &str, n: usize) -> String {
    if n == 0 { base.to_owned() } else { format!("{base}#{}", n + 1) }
}

/// The texts of tools in a file that holds several, or several nodes'.
#[derive(Default)]
pub(crate) struct Parts {
    /// Each with its node, where that is known. Empty: it is one tool's text of one node, or nobody's.
    pub(crate) texts: Vec<Pasted>,
    /// As [`Cut::left_out`].
    pub(crate) left_out: Vec<String>,
    /// As [`Cut::other`]; where it is one tool's text, as [`Cut::beside`].
    pub(crate) other: (usize, usize),
}

fn parts(path: &Path, found: Found) -> Parts {
    let kinds: BTreeSet<Kind> = found.list.iter().map(|b| b.kind).collect();
    let (mut left_out, other, beside, has_hosts) =
        (found.left_out(), found.other, found.below_command, found.has_hosts);
    let nodes = assign(found.list, &mut left_out);
    let many = nodes.len() > 1;
    if !many && kinds.len() < 2 && !(has_hosts && nodes.len() == 1) {
        return Parts { other: beside, ..Parts::default() };
    }
    let of_node = |(i, n): (usize, Node)| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let host = n.host.or_else(|| many.then(|| format!("{name}, node {}", i + 1)));
        let part = move |b: Block| Pasted {
            path: path.to_owned(),
            kind: b.kind,
            bytes: b.text.into_bytes(),
            lines: b.lines,
            host: host.clone(),
        };
        n.blocks.into_iter().map(part).collect::<Vec<_>>()
    };
    Parts { texts: nodes.into_iter().enumerate().flat_map(of_node).collect(), left_out, other }
}

/// Says how many lines are of no tool, and which is the first: see [`Cut::other`].
#[must_use]
pub fn other_words((lines, first): (usize, usize)) -> Option<String> {
    let count = linerate_formats::counted(lines, "line is", "lines are");
    (lines > 0).then(|| format!("{count} of no tool that is read, the first is line {first}"))
}

/// The nodes of texts.
fn assign(blocks: Vec<Block>, left_out: &mut Vec<String>) -> Vec<Node> {
    let (mut beyond, mut nodes, mut blocks) = (0, Vec::<Node>::new(), blocks);
    if headings_are_hosts(&blocks) {
        blocks.iter_mut().for_each(|b| b.host = b.host.take().or_else(|| b.heading.take()));
    }
    for b in blocks {
        let own = nodes.iter().position(|n| b.host.is_some() && n.host == b.host);
        let at = own.or_else(|| nodes.iter().position(|n| n.takes(&b))).unwrap_or(nodes.len());
        if at < DOCTOR_BLOCK_NODES {
            nodes.resize_with(nodes.len().max(at + 1), Node::default);
        } else {
            beyond += 1;
        }
        if let Some(n) = nodes.get_mut(at) {
            n.host = n.host.take().or_else(|| b.host.clone());
            n.blocks.push(b);
        }
    }
    if beyond > 0 {
        left_out.push(format!(
            "{beyond} texts of tools were not read: they are of more than {DOCTOR_BLOCK_NODES} nodes (limit DOCTOR_BLOCK_NODES)"
        ));
    }
    nodes
}

/// Counts lines of no tool, the first of which has this number in the file, among those before: see [`Cut::other`].
fn count_other((count, first): &mut (usize, usize), lines: usize, number: usize) {
    if lines > 0 {
        *first = if *count == 0 { number } else { number.min(*first) };
        *count += lines;
    }
}

/// Whether the headings of a loop name hosts: below two of them stands what one node has once.
fn headings_are_hosts(blocks: &[Block]) -> bool {
    let below: Vec<&Block> = blocks.iter().filter(|b| b.host.is_none() && b.heading.is_some()).collect();
    let contradict =
        |a: &Block, b: &Block| a.heading != b.heading && a.kind == b.kind && a.kind.tool().once && !go_together(a, b);
    below.iter().enumerate().any(|(i, a)| below.iter().take(i).any(|b| contradict(a, b)))
}

/// `lspci | grep NVIDIA` and `lspci | grep Mellanox` are of one node; two lists of the same devices are of two. So are two texts that show one
/// line of `lscpu` or one structure of `dmidecode`.
fn go_together(a: &Block, b: &Block) -> bool {
    matches!(a.kind, Kind::Lspci | Kind::Lscpu | Kind::Dmidecode) && a.keys().is_disjoint(b.keys())
}

/// The devices of a text of `lspci`, the lines of `lscpu` and the structures of `dmidecode`, by their names.
fn keys(kind: Kind, text: &str) -> HashSet<String> {
    let said = || text.lines().filter(|l| Class::of(l) != Class::Prompt);
    match kind {
        // `grep` leaves the lines of one device, which only the command names. Two registers of it are not two machines.
        Kind::Lspci => text.lines().filter_map(function).map(|bdf| bdf.to_string()).collect(),
        Kind::Lscpu => said().filter_map(|l| l.split_once(':')).map(|(key, _)| key.trim().to_owned()).collect(),
        Kind::Dmidecode => said().filter(|l| l.ends_with(" Information")).map(|l| l.trim().to_owned()).collect(),
        _ => HashSet::new(),
    }
}

#[cfg(test)]
mod tests;
