//! `numactl --hardware`: NUMA nodes, their processors and distances (numactl.c: hardware, print_node_cpus, print_distances).

use crate::bounds::TEXT_ITEMS;
use crate::cpulist::CpuList;
use crate::text::{decode, lines};
use crate::tool::{Args, Command, Gives, Mark, Tool, seen};

/// `numactl --hardware`.
pub const TOOL: Tool = Tool {
    name: "numactl",
    called: "numactl --hardware",
    run: "numactl --hardware",
    gives: Gives::Facts,
    // People paste it beside what matters more: whole descriptions of machines hold it before lspci.
    marks: &[Mark::aside(|l| available(l).is_some() || l.trim_end() == "node distances:")
        .begins(&["available: ", "node distances:"])],
    commands: &[Command::with("numactl", &["--hardware"]), Command { program: "numactl", args: Args::Words(&["-H"]) }],
    files: &["numactl"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 4 5\nnode 0 size: 128000 MB\nnode 0 free: 90000 MB\nnode 1 cpus: 2 3 6 7\nnode 1 size: 128000 MB\nnode 1 free: 90000 MB\nnode distances:\nnode   0   1\n  0:  10  21\n  1:  21  10\n",
        "node 0 size: 515602 MB\nnode distances:\nnode   0\n  0:  10\n",
    ],
    once: true,
    ..Tool::NONE
};

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NumaNode {
    /// Number.
    pub id: u32,
    /// 1-based line that named it first.
    pub line: u32,
    /// Its processors; empty: it has none. `None`: the text does not show them.
    pub cpus: Option<CpuList>,
    /// Its memory is shown, which is printed behind its processors: their list has its end.
    pub sized: bool,
    /// Distances to the nodes, in the order of the table's head, which is that of the nodes; empty: the text does not show them.
    pub distance: Vec<u32>,
}

/// The whole output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hardware {
    /// How many nodes its first line counts; `None`: the text does not begin there.
    pub available: Option<u32>,
    /// In the order of the text.
    pub nodes: Vec<NumaNode>,
}

impl Hardware {
    /// Whether every node that the text counts is in it, with its processors.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.available.is_some_and(|n| usize::try_from(n) == Ok(self.nodes.len()))
            && self.nodes.iter().all(|n| n.cpus.is_some() && n.sized)
    }

    fn node(&mut self, id: u32, line: u32) -> Option<&mut NumaNode> {
        match self.nodes.iter().position(|n| n.id == id) {
            Some(at) => self.nodes.get_mut(at),
            None if self.nodes.len() < NODES => {
                self.nodes.push(NumaNode { id, line, ..NumaNode::default() });
                self.nodes.last_mut()
            }
            None => None,
        }
    }
}

/// Nodes that are kept: MAX_NUMNODES of the largest kernels.
const NODES: usize = 1024;

/// Parses the lines that it knows; others are ignored.
pub fn parse(bytes: &[u8]) -> Hardware {
    let text = decode(bytes);
    let mut out = Hardware::default();
    let mut head = None;
    for (line, raw) in lines(&text).take(TEXT_ITEMS) {
        let raw = raw.trim();
        if let Some(n) = available(raw) {
            // A second output is another node's, or another moment's.
            if out.available.replace(n).is_some() {
                return Hardware { available: None, ..out };
            }
        } else if let Some((id, rest)) = raw.strip_prefix("node ").and_then(|r| r.split_once(" cpus:")) {
            if let (Some(id), Some(list)) = (number(id), cpus(rest))
                && let Some(node) = out.node(id, line)
            {
                node.cpus = Some(list);
            }
        } else if let Some((id, _)) = raw.strip_prefix("node ").and_then(|r| r.split_once(" size: ")) {
            if let Some(node) = number(id).and_then(|id| out.node(id, line)) {
                node.sized = true;
            }
        } else if let Some(names) = raw.strip_prefix("node ").filter(|r| !r.contains(':')) {
            head = numbers(names);
        } else if let Some((id, cells)) = raw.split_once(':').filter(|_| head.is_some())
            && let (Some(id), Some(cells)) = (number(id), numbers(cells))
            && head.as_ref().is_some_and(|h| h.len() == cells.len() && h.contains(&id))
            && let Some(node) = out.node(id, line)
        {
            node.distance = cells;
        }
    }
    out
}

/// `available: 2 nodes (0-1)`
fn available(line: &str) -> Option<u32> {
    let (n, names) = line.trim_end().strip_prefix("available: ")?.split_once(" nodes (")?;
    let names = names.strip_suffix(')')?;
    names.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'-')).then(|| number(n)).flatten()
}

fn number(word: &str) -> Option<u32> {
    let word = word.trim();
    word.bytes().all(|b| b.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

fn numbers(words: &str) -> Option<Vec<u32>> {
    words.split_whitespace().map(number).collect()
}

/// ` 0 1 2 3`, or with `--cpu-compress` ` 0-3, 8-11 (8)`, as ranges.
fn cpus(text: &str) -> Option<CpuList> {
    let mut out = CpuList::default();
    for word in text.split([' ', ',', '\t']).filter(|w| !w.is_empty() && !w.starts_with('(')) {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return None;
        }
        match out.ranges.last_mut() {
            Some(range) if range.end().checked_add(1) == Some(first) => *range = *range.start()..=last,
            _ => out.ranges.push(first..=last),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_processors_and_distances() {
        let h = parse(
            b"$ numactl -H\navailable: 3 nodes (0-1,4)\nnode 0 cpus: 0 1 2 8 9 10\nnode 0 size: 128 MB\nnode 1 cpus: 3-5, 11-13 (6)\nnode 1 size: 0 MB\n\
              node 4 cpus:\nnode 4 size: 96256 MB\nnode distances:\nnode   0   1   4 \n  0:  10  32  80 \n  1:  32  10  80 \n  4:  80  80  10 \n",
        );
        let lists: Vec<_> = h.nodes.iter().map(|n| n.cpus.as_ref().map(ToString::to_string)).collect();
        assert_eq!(lists, [Some("0-2,8-10".into()), Some("3-5,11-13".into()), Some(String::new())]);
        assert_eq!((h.nodes[1].distance.as_slice(), h.nodes[2].id, h.nodes[0].line), ([32, 10, 80].as_slice(), 4, 3));
        assert!(h.is_whole());
    }

    #[test]
    fn a_part_is_no_whole_and_two_are_none() {
        let cut = "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 0 size: 1 MB\nnode 1 si";
        assert!(!parse(cut.as_bytes()).is_whole(), "a node is missing");
        assert!(
            !parse(b"node 0 cpus: 0 1\nnode distances:\nnode   0\n  0:  10\n").is_whole(),
            "its beginning is missing"
        );
        let cut = "available: 1 nodes (0)\nnode 0 cpus: 0 1 1";
        assert!(!parse(cut.as_bytes()).is_whole(), "a number may be half of one");
        let one = "available: 1 nodes (0)\nnode 0 cpus: 0 1\nnode 0 size: 1 MB\n";
        assert!(parse(one.as_bytes()).is_whole());
        assert!(!parse(format!("{one}{one}").as_bytes()).is_whole(), "two machines");
        assert_eq!(parse(b"available: many nodes (all)\nnode x cpus: 0\nnode 1 cpus: a b\n"), Hardware::default());
        assert_eq!(parse(b"No NUMA available on this system\n"), Hardware::default());
    }
}
