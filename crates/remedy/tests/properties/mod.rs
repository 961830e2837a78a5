//! What must hold of a plan of any node: it makes nothing worse, and the plan of the node that it makes is smaller, and takes nothing back.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use linerate_node::Node;
use linerate_remedy::plan::{Options, plan};
use linerate_remedy::{Plan, effect, simulate};
use linerate_rules::{Audit, Status, audit, rules};
use linerate_snapshot::Snapshot;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Descriptions of nodes below a directory, sorted.
pub fn descriptions(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for e in std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
        let path = e.expect("directory entry").path();
        if path.is_dir() {
            out.extend(descriptions(&path));
        } else if path.extension().is_some_and(|e| e == "toml") {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// A generator of numbers (SplitMix64): the same seed, the same pairs.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }
}

/// A node, what fails on it with a fix, and what is known of its plans.
pub struct Case {
    pub name: String,
    pub snapshot: Snapshot,
    pub fixes: Vec<String>,
    audit: Audit,
    judged: HashMap<String, Vec<String>>,
}

/// What a pair of node and fixes showed.
#[derive(Default, Clone, Copy)]
pub struct Seen {
    pub steps: usize,
    pub held_back: usize,
    pub unsimulated: usize,
    pub left_after: usize,
}

pub fn make(s: &Snapshot, options: &Options) -> Plan {
    let node = Node::decode(s);
    plan(s, &node, &audit(&node, s, rules()), options)
}

impl Case {
    pub fn new(name: &str, snapshot: Snapshot) -> Case {
        let node = Node::decode(&snapshot);
        let audit = audit(&node, &snapshot, rules());
        let fixes: BTreeSet<&str> =
            audit.with(Status::Fail).filter(|v| v.finding.remedy.is_some()).map(|v| v.rule.id).collect();
        let fixes = fixes.into_iter().map(str::to_owned).collect();
        Case { name: name.to_owned(), snapshot, fixes, audit, judged: HashMap::new() }
    }

    /// All fixes, or some.
    pub fn options(&self, random: &mut Random) -> Options {
        let fix: Vec<String> = self.fixes.iter().filter(|_| random.coin()).cloned().collect();
        let allow = if random.coin() { self.fixes.clone() } else { Vec::new() };
        Options { fix, allow, reset_devices: random.coin(), trial: random.coin(), ..Options::default() }
    }

    /// What of the properties does not hold, and what was seen.
    pub fn check(&mut self, options: &Options) -> (Vec<String>, Seen) {
        let first = plan(&self.snapshot, &Node::decode(&self.snapshot), &self.audit, options);
        let seen = Seen {
            steps: first.steps.len(),
            held_back: first.refused.iter().filter(|r| r.reason.contains("in the simulation")).count()
                + first.steps.iter().filter(|s| s.summary.starts_with("cancel ")).count(),
            unsimulated: first.steps.iter().filter(|s| !s.unsimulated.is_empty()).count(),
            left_after: 0,
        };
        if first.steps.is_empty() {
            return (Vec::new(), seen);
        }
        let key = format!("{} {:?} {}", first.hash, options.fix, options.allow.len());
        if let Some(known) = self.judged.get(&key) {
            return (known.clone(), seen);
        }
        let (bad, left_after) = judge(&self.name, &self.snapshot, &first, options);
        self.judged.insert(key, bad.clone());
        (bad, Seen { left_after, ..seen })
    }
}

fn judge(name: &str, snapshot: &Snapshot, first: &Plan, options: &Options) -> (Vec<String>, usize) {
    let mut bad = Vec::new();
    let after = simulate(snapshot, first);
    for w in after.worse() {
        bad.push(format!("{name}: {} of {} becomes {} (was {})", w.rule, w.subject, w.after, w.before));
    }
    let second = make(&after.snapshot, options);
    let open: BTreeSet<&str> =
        first.steps.iter().filter(|s| !s.unsimulated.is_empty()).flat_map(|s| &s.rules).map(String::as_str).collect();
    // What could not be simulated is still asked for; nothing else is.
    for s in second.steps.iter().filter(|s| !s.rules.iter().all(|r| open.contains(r.as_str()))) {
        bad.push(format!("{name}: {} is planned again: {} ({})", s.id, s.summary, s.rules.join(", ")));
    }
    let done: Vec<effect::Effect> = first.steps.iter().flat_map(effect::of_step).collect();
    for e in second.steps.iter().flat_map(effect::of_step) {
        if let Some(d) = done.iter().find(|d| e.contradicts(d)) {
            bad.push(format!("{name}: {e:?} takes back {d:?}"));
        }
    }
    (bad, second.steps.len())
}
