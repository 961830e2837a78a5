//! Genders: `nodes[1-4] attribute,attribute=value`, one line for one or more nodes.

use super::found::{Found, Kind, Text, Wrong};
use linerate_fleet::nodeset::names_of;

/// Groups are `@genders:attribute` and `@genders:attribute=value`; `%n` in a value is the node's name, `%%` a percent sign.
#[must_use]
pub fn read(text: &str, what: &str) -> Found {
    let text_of = Text { kind: Kind::Genders, what };
    let mut found = Found::default();
    for (n, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(set) = words.next() else { continue };
        let place = text_of.at(n);
        if found.is_full(&place) {
            break;
        }
        let attributes = words.next().unwrap_or_default();
        if words.next().is_some() {
            found.wrong(place, Wrong::Form("NODES ATTRIBUTE,ATTRIBUTE=VALUE"));
            continue;
        }
        let nodes = match names_of(set) {
            Ok(nodes) => nodes,
            Err(e) => {
                found.wrong(place, e.into());
                continue;
            }
        };
        found.nodes_of(&nodes, &place);
        for attribute in attributes.split(',').filter(|a| !a.is_empty()) {
            let (name, value) = attribute.split_once('=').map_or((attribute, None), |(a, v)| (a, Some(v)));
            found.group("genders", name, set, &place);
            match value {
                // A value of each node's own makes no group.
                Some(v) if v.replace("%%", "").contains("%n") => {}
                Some(v) => found.group("genders", &format!("{name}={}", v.replace("%%", "%")), set, &place),
                None => {}
            }
        }
    }
    found
}
