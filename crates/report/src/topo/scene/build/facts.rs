//! What a document says of devices, by bus id: the graph keeps only the bandwidths that follow from it.

use super::super::super::PcieLink;
use linerate_topology::Document;
use linerate_topology::xml::Element;
use std::collections::{HashMap, HashSet};

/// What is remembered.
#[derive(Default)]
pub(super) struct Facts {
    links: HashMap<u64, PcieLink>,
    /// NVLinks from one bus id to another; `None` is a switch.
    nvlinks: HashMap<(u64, Option<u64>), u32>,
    /// Network devices whose speed is shown, by number and by name.
    speeds: HashSet<i64>,
    names: HashSet<String>,
}

impl Facts {
    /// Links as they were given, the rest as NCCL has it after filling.
    pub(super) fn of(document: &Document, fused: &Document) -> Self {
        let mut facts = Facts::default();
        facts.walk(&fused.system, |facts, e, busid| match (&*e.name, busid) {
            ("nvlink", Some(from)) => {
                let target = match e.get("tclass") {
                    Some(c) if c.starts_with("0x03") => e.get("target").map(key),
                    Some(c) if c.starts_with("0x068000") => None,
                    _ => return,
                };
                if let Some(n) = e.get("count").and_then(|c| c.parse::<u32>().ok()) {
                    let sum = facts.nvlinks.entry((from, target)).or_default();
                    *sum = sum.saturating_add(n);
                }
            }
            ("net", _) if e.get("speed").and_then(|s| s.parse::<i64>().ok()).is_some_and(|s| s > 0) => {
                facts.speeds.extend(e.get("dev").and_then(|d| d.parse::<i64>().ok()));
                facts.names.extend(e.get("name").map(str::to_owned));
            }
            _ => {}
        });
        facts.walk(&document.system, |facts, e, _| {
            if let ("pci", Some(busid)) = (&*e.name, e.get("busid")) {
                let link = PcieLink::parse(e.get("link_speed"), e.get("link_width"));
                facts.links.entry(key(busid)).or_insert(link);
            }
        });
        facts
    }

    /// Visits all elements, each with the bus id of the `<pci>` that it is in.
    fn walk(&mut self, system: &Element, mut visit: impl FnMut(&mut Self, &Element, Option<u64>)) {
        let mut left = vec![(system, None)];
        while let Some((e, busid)) = left.pop() {
            let busid = e.get("busid").map(key).or(busid);
            visit(self, e, busid);
            left.extend(e.children.iter().map(|c| (c, busid)));
        }
    }

    pub(super) fn pcie(&self, busid: &str) -> PcieLink {
        self.links.get(&key(busid)).copied().unwrap_or_default()
    }

    pub(super) fn links_to_switches(&self, busid: &str) -> Option<u32> {
        self.nvlinks.get(&(key(busid), None)).copied()
    }

    pub(super) fn links_between(&self, a: &str, b: &str) -> Option<u32> {
        let there = self.nvlinks.get(&(key(a), Some(key(b))));
        there.or_else(|| self.nvlinks.get(&(key(b), Some(key(a))))).copied()
    }

    pub(super) fn has_speed(&self, dev: i32, name: Option<&str>) -> bool {
        match name {
            Some(n) => self.names.contains(n),
            None => self.speeds.contains(&i64::from(dev)),
        }
    }
}

/// A bus id as a number: its hexadecimal digits.
pub(super) fn key(busid: &str) -> u64 {
    let digits = busid.chars().filter(|c| !matches!(c, ':' | '.')).map_while(|c| c.to_digit(16));
    digits.take(16).fold(0, |n, d| n << 4 | u64::from(d))
}
