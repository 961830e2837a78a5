//! The node as JSON: the list of its facts, nested as the dots of their ids say, and what of them could not be seen.

use linerate_facts::{Fact, Reading, Subject, Value, Version1};
use linerate_node::Node;
use linerate_snapshot::Snapshot;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub(super) struct NodeOut<'a> {
    pub(super) node: &'a Node<'a>,
    pub(super) snapshot: &'a Snapshot,
}

/// A fact that could not be seen.
#[derive(Serialize)]
struct Unseen {
    /// Path of the fact in `node`.
    what: String,
    place: String,
    why: String,
}

impl Serialize for NodeOut<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        fields(&mut map, self.node, &facts(self.node, Subject::Node), 0)?;
        map.serialize_entry("unseen", &self.unseen())?;
        map.end()
    }
}

impl NodeOut<'_> {
    fn unseen(&self) -> Vec<Unseen> {
        let mut all = Vec::new();
        // What is below a fact that is not known is not known for the same reason.
        let mut above = "";
        linerate_facts::each(self.node, &mut |fact| {
            let id = fact.def.id;
            if !above.is_empty() && id.strip_prefix(above).is_some_and(|rest| rest.starts_with('.')) {
                return;
            }
            above = if fact.reading.known().is_some() { "" } else { id };
            let noted = matches!(fact.def.version1, Version1::Noted | Version1::EmptyNoted);
            if let (Reading::Unreadable(place, why), true) = (&fact.reading, noted) {
                // Lists of the node itself are named so since the first release.
                let list = fact.def.version1 == Version1::Noted && !id.contains('.');
                let what = format!("{}{fact}", if list { "node." } else { "" });
                all.push(Unseen { what, place: self.snapshot.describe(*place), why: why.to_string() });
            }
        });
        all
    }
}

/// The facts of a subject that this version shows.
fn facts<'a>(node: &'a Node<'a>, subject: Subject<'a>) -> Vec<Fact<'a>> {
    let mut all = linerate_facts::of(node, subject);
    all.retain(|f| f.def.version1 != Version1::Left);
    all
}

/// Members of an object, from facts whose ids are the same before `at`.
fn fields<M: SerializeMap>(map: &mut M, node: &Node<'_>, facts: &[Fact<'_>], at: usize) -> Result<(), M::Error> {
    let mut rest = facts;
    while let Some(first) = rest.first() {
        let name = name(first, at);
        let alike = rest.iter().take_while(|f| self::name(f, at) == name).count();
        let (these, others) = rest.split_at(alike);
        map.serialize_entry(name, &Field { node, facts: these, end: at + name.len() })?;
        rest = others;
    }
    Ok(())
}

/// The name in an id that begins at a byte.
fn name(fact: &Fact<'_>, at: usize) -> &'static str {
    let id = fact.def.id.get(at..).unwrap_or_default();
    id.split('.').next().unwrap_or(id)
}

/// Facts whose ids are the same up to a name's end: a fact, with what is below it, or a group.
struct Field<'f, 'n> {
    node: &'f Node<'f>,
    facts: &'f [Fact<'n>],
    end: usize,
}

impl Serialize for Field<'_, '_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let group = |s: S, facts| {
            let mut map = s.serialize_map(None)?;
            fields(&mut map, self.node, facts, self.end + 1)?;
            map.end()
        };
        match self.facts.split_first() {
            Some((fact, below)) if fact.def.id.len() == self.end => match (&fact.reading, fact.def.version1) {
                (Reading::Known(Value::There, _), _) => group(s, below),
                (Reading::Known(Value::Members(all), _), _) => {
                    s.collect_seq(all.iter().map(|m| Thing { node: self.node, subject: *m }))
                }
                (Reading::Known(value, _), _) => value.serialize(s),
                (_, Version1::Empty | Version1::EmptyNoted) => s.collect_seq([(); 0]),
                (Reading::Absent(_), Version1::Noted) => s.serialize_bool(false),
                _ => s.serialize_none(),
            },
            _ => group(s, self.facts),
        }
    }
}

/// A member of a list.
struct Thing<'f, 'n> {
    node: &'f Node<'f>,
    subject: Subject<'n>,
}

impl Serialize for Thing<'_, '_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        fields(&mut map, self.node, &facts(self.node, self.subject), self.subject.prefix().len() + 1)?;
        map.end()
    }
}
