//! A ticket in one file: a log, a matrix of `nvidia-smi topo -m`, a few lines of `lspci`, a kernel's message. What tools printed is
//! cut out and read as facts about a node, each at its own line.

use crate::texts::{Texts, content};
use crate::{Pasted, Snapshot, hosts};
use linerate_formats::bounds::{DOCTOR_BLOCK_NODES, DOCTOR_BLOCKS};
use linerate_formats::dmesg::{self, Time};
use linerate_formats::pci::{Bdf, lspci};
use linerate_formats::{Gives, Kind, sniff};
use std::collections::BTreeSet;
use std::path::Path;

/// What was cut out of a file.
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
}

/// A tool's text within a file.
struct Block {
    kind: Kind,
    /// Lines above it.
    above: usize,
    text: String,
    /// Of the command line above it.
    host: Option<String>,
}

/// Texts of one node.
#[derive(Default)]
struct Node<'a> {
    host: Option<String>,
    blocks: Vec<&'a Block>,
}

impl Node<'_> {
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
    kind == Kind::AcsControls || kind == Kind::Lspci && text.contains("ACSCtl:") && !text.lines().any(is_function)
}

/// The nodes that the texts in a file make. `host`: whose those are above which no command line names one.
#[must_use]
pub fn nodes(name: &str, bytes: &[u8], host: Option<&str>) -> Cut {
    let text = String::from_utf8_lossy(bytes);
    let found = blocks(&text, host);
    let other = others(&text, &found.list);
    let (nodes, left_out) = assign(&found);
    let blocks = &found.list;
    let mut kinds: Vec<Kind> = blocks.iter().map(|b| b.kind).collect();
    kinds.sort_unstable_by_key(|k| (matches!(k.gives(), Gives::Copy(_)), k.name()));
    kinds.dedup();
    let several = are_several(&found, &nodes);
    let base = name.rsplit('/').next().unwrap_or(name);
    let (mut out, mut names) = (Vec::new(), Vec::new());
    for (i, Node { host, blocks }) in nodes.iter().enumerate() {
        let label = match host {
            _ if nodes.len() == 1 => name.to_owned(),
            Some(host) => format!("{name}, {host}"),
            None => format!("{name}, node {}", i + 1),
        };
        let mut texts = Texts::new(label.as_str());
        for (j, b) in blocks.iter().enumerate() {
            texts.add(&part_name(base, j), b.text.as_bytes(), b.above);
        }
        if let Some(s) = texts.finish() {
            out.push((label, s));
            names.push(host.clone().unwrap_or_else(|| (i + 1).to_string()));
        }
    }
    Cut { nodes: out, names, several, kinds, left_out, other }
}

/// What the nth text of a file is called, from 0.
pub(crate) fn part_name(base: &str, n: usize) -> String {
    if n == 0 { base.to_owned() } else { format!("{base}#{}", n + 1) }
}

/// The texts of tools in a file that holds several, or several nodes'.
pub(crate) struct Parts {
    /// Each with its node, where that is known.
    pub(crate) texts: Vec<Pasted>,
    /// As [`Cut::left_out`].
    pub(crate) left_out: Vec<String>,
    /// As [`Cut::other`].
    pub(crate) other: (usize, usize),
}

/// The parts of a file. `None`: it is one tool's text of one node, or nobody's.
pub(crate) fn parts(path: &Path, bytes: &[u8], host: Option<&str>) -> Option<Parts> {
    let text = String::from_utf8_lossy(bytes);
    let found = blocks(&text, host);
    let (nodes, left_out) = assign(&found);
    if !are_several(&found, &nodes) {
        return None;
    }
    let other = others(&text, &found.list);
    let many = nodes.len() > 1;
    let of_node = |(i, n): (usize, Node<'_>)| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let host = n.host.or_else(|| many.then(|| format!("{name}, node {}", i + 1)));
        let part = move |b: &Block| Pasted {
            path: path.to_owned(),
            kind: b.kind,
            bytes: b.text.clone().into_bytes(),
            above: b.above,
            host: host.clone(),
        };
        n.blocks.into_iter().map(part).collect::<Vec<_>>()
    };
    Some(Parts { texts: nodes.into_iter().enumerate().flat_map(of_node).collect(), left_out, other })
}

/// Whether texts are of more than one kind, or of more than one node.
fn are_several(found: &Blocks, nodes: &[Node<'_>]) -> bool {
    nodes.len() > 1 || found.list.windows(2).any(|two| matches!(two, [a, b] if a.kind != b.kind))
}

/// The nodes of texts, and what is beyond limits.
fn assign(found: &Blocks) -> (Vec<Node<'_>>, Vec<String>) {
    let mut left_out = Vec::new();
    if found.full {
        left_out.push(format!(
            "after {DOCTOR_BLOCKS} texts of tools the rest of it was not searched for more (limit DOCTOR_BLOCKS)"
        ));
    }
    let mut beyond = 0;
    let mut nodes: Vec<Node<'_>> = Vec::new();
    for b in &found.list {
        let own = nodes.iter().position(|n| b.host.is_some() && n.host == b.host);
        let at = own.or_else(|| nodes.iter().position(|n| n.takes(b))).unwrap_or(nodes.len());
        if at < DOCTOR_BLOCK_NODES {
            nodes.resize_with(nodes.len().max(at + 1), Node::default);
        } else {
            beyond += 1;
        }
        if let Some(n) = nodes.get_mut(at) {
            n.blocks.push(b);
            n.host = n.host.take().or_else(|| b.host.clone());
        }
    }
    if beyond > 0 {
        left_out.push(format!(
            "{beyond} texts of tools were not read: they are of more than {DOCTOR_BLOCK_NODES} nodes (limit DOCTOR_BLOCK_NODES)"
        ));
    }
    (nodes, left_out)
}

/// Lines that are in no text of a tool: how many, and the first.
fn others(text: &str, blocks: &[Block]) -> (usize, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let mut taken = vec![false; lines.len()];
    for b in blocks {
        for (slot, line) in taken.iter_mut().skip(b.above).zip(b.text.lines()) {
            // Among lines of a kernel's log those between are empty.
            *slot |= !line.is_empty();
        }
    }
    let is_other = |line: &str| {
        let line = line.trim();
        !line.is_empty() && !is_fence(line) && !is_prompt(line) && !is_log(line)
    };
    let mut other = taken.iter().zip(&lines).enumerate().filter(|(_, (taken, line))| !**taken && is_other(line));
    let first = other.next().map_or(0, |(i, _)| i + 1);
    (other.count() + usize::from(first > 0), first)
}

/// `lspci | grep NVIDIA` and `lspci | grep Mellanox` are of one node; two lists of the same devices are of two. So are two texts that show one
/// line of `lscpu` or one structure of `dmidecode`.
fn go_together(a: &Block, b: &Block) -> bool {
    fn keys(b: &Block, is_key: fn(&str) -> Option<&str>) -> BTreeSet<&str> {
        b.text.lines().filter(|l| !is_prompt(l)).filter_map(is_key).map(str::trim).collect()
    }
    let disjoint = |is_key| keys(a, is_key).is_disjoint(&keys(b, is_key));
    match a.kind {
        Kind::Lspci => {
            let bdfs = |b: &Block| b.text.lines().filter_map(function).collect::<BTreeSet<Bdf>>();
            bdfs(a).is_disjoint(&bdfs(b))
        }
        Kind::Lscpu => disjoint(|l| l.split_once(':').map(|(key, _)| key)),
        Kind::Dmidecode => disjoint(|l| l.ends_with(" Information").then_some(l)),
        _ => false,
    }
}

/// Texts of tools in a file, and whether there may be more than the limit.
#[derive(Default)]
struct Blocks {
    list: Vec<Block>,
    full: bool,
    /// Command lines that name a host, in their order.
    prompts: Vec<(usize, String)>,
    /// Whose the file is, where that is said of it.
    said: Option<String>,
}

impl Blocks {
    /// The host of the command line in a line, or of the last one above it.
    fn host_at(&self, line: usize) -> Option<String> {
        let above = self.prompts.partition_point(|(at, _)| *at <= line);
        let last = above.checked_sub(1).and_then(|i| self.prompts.get(i)).map(|(_, host)| host);
        last.or(self.said.as_ref()).cloned()
    }

    fn push(&mut self, block: Block) {
        if self.list.len() < DOCTOR_BLOCKS {
            self.list.push(block);
        } else {
            self.full = true;
        }
    }
}

fn blocks(text: &str, host: Option<&str>) -> Blocks {
    let lines: Vec<&str> = text.lines().collect();
    let prompts = lines.iter().enumerate().filter_map(|(i, l)| Some((i, hosts::of_command(l)?))).collect();
    let mut out = Blocks { prompts, said: host.map(str::to_owned), ..Blocks::default() };
    let mut start = 0;
    for (i, line) in lines.iter().enumerate() {
        let alone = is_fence(line) || is_log(line);
        if alone || is_prompt(line) {
            segment(&lines, start, i, &mut out);
            start = if alone { i + 1 } else { i };
        }
    }
    segment(&lines, start, lines.len(), &mut out);
    // Messages of the kernel stand among other lines: all of them are one text, each at its own line.
    if !out.list.iter().any(|b| b.kind == Kind::Dmesg) && lines.iter().any(|l| is_kernels(l)) {
        let last = lines.iter().rposition(|l| is_kernels(l)).map_or(0, |at| at + 1);
        let kernels = lines.iter().take(last).map(|l| if is_kernels(l) { l } else { "" });
        let text = kernels.flat_map(|l| [l, "\n"]).collect();
        out.push(Block { kind: Kind::Dmesg, above: 0, text, host: host.map(str::to_owned) });
    }
    out
}

/// Lines between two of another kind.
fn segment(lines: &[&str], from: usize, to: usize, out: &mut Blocks) {
    let of = |from: usize, to: usize| lines.get(from..to).unwrap_or_default();
    let all = of(from, to);
    if all.iter().all(|l| l.trim().is_empty()) {
        return;
    }
    if out.list.len() >= DOCTOR_BLOCKS {
        out.full = true;
        return;
    }
    let mut push = |kind, from: usize, to: usize| {
        let host = out.host_at(from);
        out.push(Block { kind, above: from, text: of(from, to).join("\n") + "\n", host });
    };
    let prompted = all.first().is_some_and(|l| is_prompt(l));
    // The next paragraph may be prose.
    let known = if prompted || all.len() > 1 || all.iter().any(|l| l.contains("BOOT_IMAGE=")) {
        content("", all.join("\n").as_bytes())
    } else {
        Kind::Other
    };
    // Words alone are no evidence; below a command they are.
    let is_shown = prompted || !known.tool().is_weak();
    let is_cut = CUTS.iter().any(|c| c.kind == known);
    if matches!(known.gives(), Gives::Facts | Gives::Copy(_)) && is_shown && !is_cut {
        return push(known, from, to);
    }
    let mut i = from;
    while i < to {
        let line = lines.get(i).copied().unwrap_or_default();
        let text = CUTS.iter().find(|c| (c.begins)(line)).and_then(|c| Some((c.kind, (c.end)(lines, i, to)?)));
        match text {
            Some((kind, end)) => {
                push(kind, i, end);
                i = end.max(i + 1);
            }
            None => i += 1,
        }
    }
}

/// A text that is cut out line by line, wherever it stands.
struct CutOut {
    kind: Kind,
    begins: fn(&str) -> bool,
    /// The line behind it, of the lines between two; none where nothing follows its head.
    end: fn(&[&str], usize, usize) -> Option<usize>,
}

const CUTS: &[CutOut] = &[
    CutOut { kind: Kind::NvidiaSmiTopo, begins: is_matrix_head, end: matrix_end },
    CutOut { kind: Kind::IbvDevinfo, begins: is_hca, end: |l, i, to| Some(indented_end(l, i, to, is_hca)) },
    CutOut { kind: Kind::Lspci, begins: is_function, end: |l, i, to| Some(indented_end(l, i, to, is_function)) },
];

fn is_hca(line: &str) -> bool {
    line.trim_start().starts_with("hca_id:")
}

fn is_function(line: &str) -> bool {
    function(line).is_some()
}

/// `GPU0 GPU1 NIC0 CPU Affinity`: the head of a matrix, which names no path.
fn is_matrix_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("GPU0")
        && !line.contains(" X ")
        && words.next().is_none_or(|w| ["GPU", "NIC", "mlx", "CPU"].iter().any(|p| w.starts_with(p)))
}

/// Rows, then the legends, which stand after empty lines.
fn matrix_end(lines: &[&str], from: usize, to: usize) -> Option<usize> {
    let row = |l: &str| {
        l.split_whitespace()
            .next()
            .is_some_and(|w| ["GPU", "NIC", "mlx", "bnxt", "rdma"].iter().any(|p| w.starts_with(p)))
    };
    let legend = |l: &str| {
        l.trim_start().starts_with("Legend:")
            || l.trim_start().starts_with("NIC Legend:")
            || l.contains(" = ")
            || l.contains(": mlx")
    };
    let mut end = from + 1;
    for i in from + 1..to {
        let line = lines.get(i).copied().unwrap_or_default();
        if row(line) || legend(line) {
            end = i + 1;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    (end > from + 1).then_some(end)
}

/// Lines that begin an item, and the indented ones below; an empty line may stand between items.
fn indented_end(lines: &[&str], from: usize, to: usize, item: fn(&str) -> bool) -> usize {
    let mut end = from + 1;
    for i in from + 1..to {
        let line = lines.get(i).copied().unwrap_or_default();
        if item(line) || line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            end = i + 1;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    end
}

/// The address of `18:00.0 3D controller: …`. A time of day looks like one; a class makes the difference.
fn function(line: &str) -> Option<Bdf> {
    const CLASSES: &[&str] = &["controller", "bridge", "accelerator", "Class ", "[0", "[1", "peripheral", "Bridge"];
    if let Some(bdf) = lspci::in_group(line) {
        return Some(bdf);
    }
    let (first, rest) = lspci::without_group(line).split_once(' ')?;
    let (class, _) = rest.split_once(": ")?;
    let known = class.len() < 60 && CLASSES.iter().any(|c| class.contains(c));
    if first.len() >= 7 && known { first.parse().ok() } else { None }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

fn is_log(line: &str) -> bool {
    line.contains("NCCL INFO ") || line.contains("NCCL WARN ")
}

/// A command line: of a tool that is known, or of any after `user@host:~$`.
fn is_prompt(line: &str) -> bool {
    if line.len() > 200 || is_log(line) {
        return false;
    }
    let Some(at) = line.find(['$', '#']) else { return false };
    let (before, command) = line.split_at(at);
    let command = command.get(1..).unwrap_or_default();
    let user = before.contains('@') && !before.contains(": ") && (command.is_empty() || command.starts_with(' '));
    user || before.len() < 80 && sniff::command(line).is_some_and(|k| k.gives().facts())
}

/// `[12345.678901] …` or `… kernel: …`.
#[must_use]
pub fn is_kernels(line: &str) -> bool {
    if is_log(line) {
        return false;
    }
    line.contains(" kernel: ") || line.starts_with('[') && matches!(dmesg::split(line).0, Some(Time::Seconds(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKET: &str = "\
all_reduce is slow on our two nodes, see below.

node1:100:120 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>
node1:100:120 [0] NCCL INFO Using network IB
[ 1234.567890] NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.

user@node1:~$ nvidia-smi topo -m
\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV18\tPIX\t0-31\t0
GPU1\tNV18\t X \tSYS\t32-63\t1
NIC0\tPIX\tSYS\t X \t\t

Legend:

  X    = Self
  PIX  = Connection traversing at most a single PCIe bridge

NIC Legend:

  NIC0: mlx5_0

And the devices:
0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)
\tNUMA node: 0

0000:19:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]
12:00.0 something else: not a device
hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.39.1002
";

    #[test]
    fn a_ticket_is_cut_at_its_lines() {
        let got: Vec<_> =
            blocks(TICKET, None).list.into_iter().map(|b| (b.kind, b.above, b.text.lines().count())).collect();
        assert_eq!(
            got,
            [(Kind::NvidiaSmiTopo, 7, 13), (Kind::Lspci, 22, 4), (Kind::IbvDevinfo, 27, 3), (Kind::Dmesg, 0, 5)]
        );
        let cut = nodes("dir/ticket.txt", TICKET.as_bytes(), None);
        assert!(cut.several);
        let [(name, s)] = cut.nodes.as_slice() else { panic!("{}", cut.nodes.len()) };
        assert_eq!((name.as_str(), s.outputs.len()), ("dir/ticket.txt", 4));
        let xid = crate::Place::of(s.outputs.last().unwrap().entry).line(5);
        assert!(s.excerpt(xid).contains("NVRM: Xid"), "{}", s.excerpt(xid));
    }

    #[test]
    fn two_lists_of_the_same_devices_are_two_nodes() {
        let gpu = "0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n";
        let nic = "0000:19:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]\n";
        let text = format!("$ lspci | grep NV\n{gpu}\n$ lspci | grep Mell\n{nic}");
        assert_eq!(nodes("x", text.as_bytes(), None).nodes.len(), 1);
        let text = format!("good:\n{gpu}{nic}bad:\n{gpu}");
        let cut = nodes("x", text.as_bytes(), None);
        assert_eq!(cut.nodes.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["x, node 1", "x, node 2"]);
    }

    #[test]
    fn prompts_say_whose_a_text_is() {
        let gpu = "0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n";
        let text = format!("root@a:~# lspci -nn\n{gpu}root@a:~# lspci -nn\n{gpu}root@b:~# lspci -nn\n{gpu}");
        let cut = nodes("x", text.as_bytes(), None);
        assert_eq!(cut.names, ["a", "b"]);
        assert_eq!(cut.nodes.iter().map(|(_, s)| s.outputs.len()).collect::<Vec<_>>(), [2, 1]);
        // Files with their paths are no list of all of them: two such texts are of one node.
        let text = "$ grep . a\n/sys/class/net/a/mtu:1\n\n```\n$ lspci\n".to_owned()
            + gpu
            + "```\n/sys/class/net/b/mtu:2\n/sys/class/net/c/mtu:2\n";
        assert_eq!(nodes("x", text.as_bytes(), None).names, ["1"]);
    }

    #[test]
    fn a_comment_behind_a_line_is_no_command() {
        let text = "mlx5_0   port  1  ==>  ibp26s0        (Down)  # CX-7 1/8 infiniband\n".repeat(2);
        assert_eq!(nodes("x", text.as_bytes(), None).nodes.len(), 1);
        assert!(is_prompt("[root@n ~]# ibdev2netdev") && is_prompt("# cat /proc/cmdline") && !is_prompt("# ib is up"));
    }

    #[test]
    fn prose_and_logs_alone_make_no_node() {
        let log = "node1:1:2 [0] NCCL INFO Using network IB\n".repeat(1000) + "OK\nFAIL\nkvm\n12:30.1 noon: lunch\n";
        assert!(nodes("x", log.as_bytes(), None).nodes.is_empty());
        assert!(nodes("x", b"\xff\xfe\x00\x00garbage\n\x1b[31m", None).nodes.is_empty());
    }
}
