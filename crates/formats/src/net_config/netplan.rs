//! Files of netplan: YAML, one or several in a text. Definitions of one id are merged over the files, and a later file amends an earlier one, as netplan
//! itself merges them (<https://netplan.readthedocs.io/en/stable/netplan-yaml/>).

mod emit;
mod prune;

use super::{Interface, Kind, Mode, Name, Writer, named};
use crate::bounds::{Kept, LeftOut};
use crate::text::{At, decode};
use crate::tool::{Args, Command, Gives, Mark, Tool, seen};
use crate::yaml::Tree;
use std::collections::HashMap;

/// netplan.
pub const TOOL: Tool = Tool {
    name: "netplan",
    called: "netplan",
    run: "cat /etc/netplan/*.yaml",
    gives: Gives::Facts,
    marks: &[Mark::line_where(|l| l == "network:" || l.starts_with("network: {"), has_section).begins(&["network:"])],
    commands: &[Command::with("netplan", &["get"]), Command { program: "cat", args: Args::Within("/netplan/") }],
    read: Some(|b| seen((read(b), kept(b, &|_| true)))),
    samples: &[
        "network:\n  version: 2\n  ethernets:\n    enp24s0np0:\n      mtu: 9000\n",
        "network: {version: 2, vlans: {v100: {id: 100, link: eth0}}}\n",
    ],
    ..Tool::NONE
};

/// The kinds of definitions that are read, and the keys that hold them.
const SECTIONS: [(&str, Kind); 4] =
    [("ethernets", Kind::Ethernet), ("bonds", Kind::Bond), ("vlans", Kind::Vlan), ("bridges", Kind::Bridge)];

fn has_section(text: &str) -> bool {
    SECTIONS.iter().any(|(key, _)| text.contains(&format!("{key}:")))
}

/// Reads the interfaces of a text.
#[must_use]
pub fn read(bytes: &[u8]) -> Kept<Interface> {
    let mut left_out = Vec::new();
    let forest = prune::forest(&decode(bytes), &|_| true, &mut left_out);
    Kept { items: interfaces(&forest), left_out }
}

/// What is read of a text, as YAML with each value on its line, and nothing else. `is_plain`: whether a name may be shown.
#[must_use]
pub fn kept(bytes: &[u8], is_plain: &dyn Fn(&str) -> bool) -> Vec<u8> {
    let text = decode(bytes);
    let mut left_out: Vec<LeftOut> = Vec::new();
    emit::text(&prune::forest(&text, is_plain, &mut left_out), &text)
}

fn interfaces(forest: &[Tree]) -> Vec<Interface> {
    let mut all: Vec<Interface> = Vec::new();
    let mut index: HashMap<(Kind, &str), usize> = HashMap::new();
    for (section, kind) in forest.iter().flat_map(|n| &n.children).filter_map(|s| Some((s, kind(&s.key)?))) {
        for node in &section.children {
            let at = *index.entry((kind, node.key.as_str())).or_insert_with(|| {
                let new = Interface { id: Some(node.key.clone()), ..Interface::new(node.line, Writer::Netplan, kind) };
                all.push(Interface { name: Name::Own(node.key.clone()), ..new });
                all.len() - 1
            });
            if let Some(interface) = all.get_mut(at) {
                amend(interface, node);
            }
        }
    }
    for i in &mut all {
        if i.kind == Kind::Ethernet && i.mode.is_some() {
            i.kind = Kind::Infiniband;
        }
    }
    all
}

fn kind(section: &str) -> Option<Kind> {
    SECTIONS.iter().find(|(key, _)| *key == section).map(|(_, kind)| *kind)
}

fn amend(i: &mut Interface, node: &Tree) {
    let text = |key: &str| node.text(key);
    fn value<T>(node: &Tree, key: &str, parse: impl Fn(&str) -> Option<T>) -> Option<At<Option<T>>> {
        node.child(key).map(|c| At::new(parse(&c.value), c.line))
    }
    i.mtu = value(node, "mtu", |v| v.parse().ok()).or(i.mtu.take());
    i.mode = value(node, "infiniband-mode", Mode::of).or(i.mode.take());
    i.vlan = value(node, "id", |v| v.parse().ok()).or(i.vlan.take());
    i.parent = text("link").filter(|_| i.kind == Kind::Vlan).or(i.parent.take());
    for member in node.list("interfaces") {
        i.members.push(At::new(member.value.clone(), member.line));
    }
    // Virtual interfaces are made with their ids as names.
    if i.kind != Kind::Ethernet {
        return;
    }
    if let Some(by) = node.child("match") {
        i.name = by.text("name").map_or(Name::Unknown, |n| named(&n.value));
    }
    if let Some(name) = node.child("set-name") {
        i.name = if name.value.is_empty() { Name::Unknown } else { Name::Own(name.value.clone()) };
    }
}
