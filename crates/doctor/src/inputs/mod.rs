//! What the user named, one input after the other: lines for the [`Observer`], texts of tools for nodes. Who opens the inputs hands
//! over their bytes; what is kept of them is bounded.

mod nodes;
mod text;

pub use text::{Source, Text};

use crate::answer::{Answer, Input, NOTHING_KNOWN, Undecided};
use crate::{NodeGiven, Observer, conclude_with};
use linerate_formats::bounds::{DOCTOR_KEPT, DOCTOR_NODES};
use linerate_formats::{Gives, Kind};
use linerate_snapshot::cut;
use linerate_snapshot::{HostOf, Lines, Pasted, Snapshot};
use linerate_topology::ceiling::Links;
use std::path::Path;

/// All inputs.
#[derive(Default)]
pub struct Inputs {
    observer: Observer,
    nodes: Vec<(String, Snapshot)>,
    texts: Vec<Pasted>,
    /// Bytes of the texts.
    kept: usize,
    remarks: Vec<Remark>,
    taken: Vec<Taken>,
    /// Texts that are known and hold no facts: which say nothing unless their lines do.
    called: Vec<(String, Kind)>,
    /// How many lines of an input are in no tool's text.
    others: Vec<(String, String)>,
    /// What was named as a node.
    given: Vec<String>,
    links: Option<Links>,
    host_of: HostOf,
}

/// An input that holds facts about a node.
struct Taken {
    name: String,
    kind: &'static str,
    /// Bytes, unpacked; 0 where they were not counted.
    bytes: u64,
}

/// What was noticed while an input was read.
struct Remark {
    name: String,
    text: String,
    /// Part of the input was not read.
    unread: bool,
}

const SNAPSHOT: &str = "snapshot";

impl Inputs {
    /// Nodes of the job, as they were named.
    pub fn given(&mut self, named: Vec<String>, nodes: Vec<(String, Snapshot)>) {
        self.given.extend(named);
        self.nodes.extend(nodes);
    }

    /// The network ports of a node, where the user says what they are.
    pub fn links(&mut self, links: Links) {
        self.links = Some(links);
    }

    /// Whose texts files hold, where the user says so.
    pub fn host_of(&mut self, host_of: HostOf) {
        self.host_of = host_of;
    }

    /// Whose an input is, where that is said; standard input is `-`.
    fn host_said(&self, s: &Source) -> Option<&str> {
        self.host_of.of(s.path.as_deref().unwrap_or(Path::new("-")))
    }

    /// An input that is a snapshot or a tree.
    pub fn snapshot(&mut self, name: &str, snapshot: Snapshot) {
        self.take(name, SNAPSHOT, 0);
        self.nodes.push((name.to_owned(), snapshot));
    }

    /// Something about an input that takes nothing from the answer.
    pub fn remark(&mut self, name: &str, text: String) {
        self.remarks.push(Remark { name: name.to_owned(), text, unread: false });
    }

    /// Part of an input was not read.
    pub fn unread(&mut self, name: &str, text: String) {
        self.remarks.push(Remark { name: name.to_owned(), text, unread: true });
    }

    fn take(&mut self, name: &str, kind: &'static str, bytes: u64) {
        self.taken.push(Taken { name: name.to_owned(), kind, bytes });
    }

    /// Keeps a text for a node.
    fn keep(&mut self, s: &Source, kind: Kind, bytes: Vec<u8>) {
        if self.kept + bytes.len() > DOCTOR_KEPT {
            let most = DOCTOR_KEPT >> 20;
            let why = format!(
                "texts about nodes exceed {most} MiB (limit DOCTOR_KEPT): it was not read for facts about its node"
            );
            return self.unread(&s.name, why);
        }
        self.kept += bytes.len();
        self.take(&s.name, kind.tool().called, bytes.len() as u64);
        let path = s.path.clone().unwrap_or_else(|| "standard-input.txt".into());
        let host = self.host_said(s).map(str::to_owned);
        self.texts.push(Pasted { path, kind, bytes, lines: Lines::default(), host });
    }

    /// What was cut out of a file.
    fn take_cut(&mut self, name: &str, cut: cut::Cut) {
        for kind in cut.kinds {
            self.take(name, kind.tool().called, 0);
        }
        self.nodes.extend(cut.nodes);
        self.lines_beside(name, cut.other);
        cut.left_out.into_iter().for_each(|why| self.unread(name, why));
    }

    /// How many lines of an input no tool printed, and the first of them: see [`cut::Cut::other`].
    fn lines_beside(&mut self, name: &str, other: (usize, usize)) {
        self.others.extend(cut::other_words(other).map(|words| (name.to_owned(), words)));
    }

    /// The answer. `limits` are remarks about what was named, `unread` those of them that say that something was not read.
    #[must_use]
    pub fn conclude(mut self, mut limits: Vec<String>, mut unread: Vec<String>) -> Answer {
        self.nodes.extend(nodes::group(self.texts));
        if self.nodes.len() > DOCTOR_NODES {
            let why = format!("only the first {DOCTOR_NODES} nodes were looked at (limit DOCTOR_NODES)");
            limits.push(why.clone());
            unread.push(why);
            self.nodes.truncate(DOCTOR_NODES);
        }
        for (name, s) in self.nodes.iter().filter(|(_, s)| s.incomplete) {
            unread.extend(s.problems.iter().map(|p| format!("{name}: {p}")));
        }
        unread.extend(self.remarks.iter().filter(|r| r.unread).map(|r| format!("{}: {}", r.name, r.text)));
        let nodes: Vec<NodeGiven<'_>> =
            self.nodes.iter().map(|(name, snapshot)| NodeGiven { name: name.clone(), snapshot }).collect();
        let mut answer = conclude_with(&self.observer, &nodes, self.links);
        // Where lines were read as a benchmark's, a framework's or a training's, those were read among the others.
        let counted = |kind: &str| kind.split(" and ").all(|k| matches!(k, NOTHING_KNOWN | "NCCL log" | "kernel log"));
        let read = |name: &str| answer.inputs.iter().find(|i| i.name == name);
        self.others.retain(|(name, _)| read(name).is_none_or(|i| counted(&i.kind)));
        answer.limits.extend(limits);
        let given = self.given.into_iter().map(|name| Taken { name, kind: SNAPSHOT, bytes: 0 });
        self.taken.into_iter().chain(given).for_each(|t| take(&mut answer, t));
        self.called.into_iter().for_each(|(name, kind)| call(&mut answer, &name, kind));
        let others = self.others.into_iter().map(|(name, text)| Remark { name, text, unread: false });
        self.remarks.into_iter().chain(others).for_each(|r| remark(&mut answer, r));
        answer.undecided.extend(incomplete(unread));
        answer
    }
}

/// Says what an input was taken for beside what the observer found in it.
fn take(answer: &mut Answer, t: Taken) {
    match answer.inputs.iter_mut().find(|i| i.name == t.name) {
        Some(i) if i.nccl_lines == 0 && (i.kind.is_empty() || i.kind == NOTHING_KNOWN) => {
            t.kind.clone_into(&mut i.kind)
        }
        Some(i) if !i.kind.contains(t.kind) => i.kind = format!("{} and {}", i.kind, t.kind),
        Some(_) => {}
        None => answer.inputs.push(Input { name: t.name, kind: t.kind.into(), bytes: t.bytes, ..Input::default() }),
    }
}

/// Says what an input is in which nothing was found.
fn call(answer: &mut Answer, name: &str, kind: Kind) {
    let nothing = answer.inputs.iter_mut().find(|i| i.name == name && i.kind == NOTHING_KNOWN);
    if let (Some(input), Gives::NoFacts(what)) = (nothing, kind.gives()) {
        kind.tool().called.clone_into(&mut input.kind);
        let reader = if kind.tool().words.is_empty() { "" } else { "; `linerate bench import` reads it" };
        input.remarks.push(format!("it is {what}: its lines are not searched{reader}"));
    }
}

/// Inputs of which part was not read: what is not in the answer may be there.
fn incomplete(mut unread: Vec<String>) -> Option<Undecided> {
    const SHOWN: usize = 8;
    let n = unread.len();
    if n == 0 {
        return None;
    }
    unread.truncate(SHOWN);
    if n > SHOWN {
        unread.push(format!("and {} more, listed among the inputs", n - SHOWN));
    }
    Some(Undecided {
        symptom: "",
        summary: "part of the input was not read: what is wrong may be in it".to_owned(),
        evidence: Vec::new(),
        candidates: Vec::new(),
        read: unread,
    })
}

/// What was noticed while reading, with the input that it is about.
fn remark(answer: &mut Answer, Remark { name, text, .. }: Remark) {
    match answer.inputs.iter_mut().find(|i| i.name == name) {
        Some(input) => input.remarks.push(text),
        None => answer.inputs.push(Input { name, remarks: vec![text], ..Input::default() }),
    }
}
