//! What is written for each interface, and what runs.

use crate::Cx;
use linerate_formats::net_config::{Kind, Name, Writer};
use linerate_formats::wildcard;
use linerate_node::net_written::NetWritten;
use linerate_snapshot::Place;
use std::collections::BTreeMap;

/// It carries nothing of a network.
const LOOPBACK: &str = "lo";

/// Patterns that are compared with the names of interfaces; what is for others is said to be unknown.
const PATTERNS: usize = 64;

pub(super) type Groups<'a> = BTreeMap<String, Group<'a>>;

/// What is written, by interface.
pub(super) struct Found<'a> {
    pub(super) named: Groups<'a>,
    /// With an MTU, and for an interface that is not known.
    pub(super) unnamed: Vec<&'a NetWritten>,
    pub(super) running: Running<'a>,
}

/// All that is written for one interface.
pub(super) struct Group<'a> {
    pub(super) name: String,
    pub(super) all: Vec<&'a NetWritten>,
    /// What is written for the bond that it is a member of.
    bond: Vec<&'a NetWritten>,
}

/// The MTU that is written.
pub(super) enum Mtu<'a> {
    /// Nowhere.
    None,
    /// It is not shown.
    Hidden(Place),
    /// Texts contradict each other.
    Contrary((u32, Place), (u32, Place)),
    /// This one, there, by that.
    Is(u32, Place, &'a NetWritten),
}

impl<'a> Group<'a> {
    /// That of its bond, where one is written: members have it.
    pub(super) fn mtu(&self) -> Mtu<'a> {
        match of(&self.bond) {
            Mtu::None => of(&self.all),
            bond => bond,
        }
    }
}

fn of<'a>(all: &[&'a NetWritten]) -> Mtu<'a> {
    let written = || all.iter().filter_map(|w| Some((*w, w.interface.mtu?)));
    if let Some((w, hidden)) = written().find(|(_, m)| m.value.is_none()) {
        return Mtu::Hidden(w.at(hidden.line));
    }
    let mut values = written().filter_map(|(w, m)| Some((m.value?, w.at(m.line), w)));
    let Some((mtu, at, w)) = values.next() else { return Mtu::None };
    if let Some((other, there, _)) = values.find(|(v, ..)| *v != mtu) {
        return Mtu::Contrary((mtu, at), (other, there));
    }
    // Of two connections either may be used; one of them leaves the MTU as it is.
    let is_open = |w: &&&NetWritten| w.interface.writer == Writer::NetworkManager && w.interface.mtu.is_none();
    match all.iter().find(is_open) {
        Some(other) => Mtu::Hidden(other.place()),
        None => Mtu::Is(mtu, at, w),
    }
}

pub(super) fn groups<'a>(cx: &Cx<'a>) -> Found<'a> {
    let mut found = Found { named: Groups::new(), unnamed: Vec::new(), running: Running::of(cx) };
    let named = &mut found.named;
    let mut add = |name: &str, w| {
        let new = || Group { name: name.to_owned(), all: Vec::new(), bond: Vec::new() };
        named.entry(name.to_owned()).or_insert_with(new).all.push(w);
    };
    let mut patterns = Vec::new();
    for w in cx.node.net_written.iter().filter(|w| w.interface.kind != Kind::Bridge) {
        match &w.interface.name {
            Name::Own(name) if name == LOOPBACK => {}
            Name::Own(name) => add(name, w),
            Name::Pattern(pattern) => patterns.push((pattern, w)),
            Name::Unknown if w.interface.mtu.is_some() => found.unnamed.push(w),
            Name::Unknown => {}
        }
    }
    for (number, (pattern, w)) in patterns.into_iter().enumerate() {
        let fits = |name: &&&str| number < PATTERNS && wildcard::glob(pattern.as_bytes(), name.as_bytes());
        let mut any = false;
        for name in found.running.mtus.keys().filter(|n| **n != LOOPBACK).filter(fits) {
            any = true;
            add(name, w);
        }
        if !any && w.interface.mtu.is_some() {
            found.unnamed.push(w);
        }
    }
    let bonds: BTreeMap<&str, Vec<&NetWritten>> = cx.node.net_written.iter().fold(BTreeMap::new(), |mut all, w| {
        if let (Kind::Bond, Some(name)) = (w.interface.kind, w.written_name()) {
            all.entry(name).or_insert_with(Vec::new).push(w);
        }
        all
    });
    for g in found.named.values_mut() {
        let master = g.all.iter().find_map(|w| w.master.as_ref());
        g.bond = master.and_then(|(m, _)| bonds.get(m.as_str())).cloned().unwrap_or_default();
    }
    found
}

/// What runs, by interface.
pub(super) struct Running<'a> {
    /// `None`: the interface is there, and its MTU is not shown.
    mtus: BTreeMap<&'a str, Option<(u32, Place)>>,
    /// The list of all interfaces.
    listed: Option<Place>,
}

impl<'a> Running<'a> {
    pub(super) fn of(cx: &Cx<'a>) -> Self {
        let mut mtus = BTreeMap::new();
        let node = cx.node;
        let shown = node.net_shown.iter().map(|n| (n.name.as_str(), &n.mtu));
        let listed = node.net.known().into_iter().flatten().map(|n| (n.name, &n.mtu));
        for (name, mtu) in listed.chain(shown) {
            let mtu = mtu.known().map(|m| (*m, mtu.place()));
            let slot = mtus.entry(name).or_insert(None);
            *slot = slot.or(mtu);
        }
        Running { mtus, listed: node.net.known().map(|_| node.net.place()) }
    }

    pub(super) fn mtu(&self, name: &str) -> Option<(u32, Place)> {
        self.mtus.get(name).copied().flatten()
    }

    /// Where the list of interfaces is, in which it is not.
    pub(super) fn is_missing(&self, name: &str) -> Option<Place> {
        self.listed.filter(|_| !self.mtus.contains_key(name))
    }
}
