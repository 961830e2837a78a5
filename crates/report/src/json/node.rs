//! The node as JSON: the list of its facts, nested as the dots of their ids say. Version 2 tags each fact with what was seen of it;
//! version 1 writes bare values, and beside them a list of what could not be seen.

use super::Version;
use linerate_facts::{Fact, Reading, Subject, Value, Version1};
use linerate_node::Node;
use linerate_node::memory::Limit;
use linerate_snapshot::{Place, Snapshot, Why};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

#[derive(Clone, Copy)]
pub(super) struct NodeOut<'a> {
    pub(super) node: &'a Node<'a>,
    pub(super) snapshot: &'a Snapshot,
    pub(super) version: Version,
}

/// Why a fact could not be seen.
#[derive(Serialize)]
struct Unseen {
    /// Version 1: path of the fact in `node`.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    place: String,
    why: String,
}

impl Serialize for NodeOut<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        self.fields(&mut map, &self.facts(Subject::Node), 0)?;
        if self.version == Version::One {
            map.serialize_entry("unseen", &self.unseen())?;
        }
        map.end()
    }
}

impl<'a> NodeOut<'a> {
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
                all.push(Unseen { what: Some(what), ..self.unreadable(*place, why) });
            }
        });
        all
    }

    fn unreadable(&self, place: Place, why: &Why) -> Unseen {
        Unseen { what: None, place: self.snapshot.describe(place), why: why.to_string() }
    }

    /// The facts of a subject that the version shows.
    fn facts(&self, subject: Subject<'a>) -> Vec<Fact<'a>> {
        let mut all = linerate_facts::of(self.node, subject);
        all.retain(|f| self.version != Version::One || f.def.version1 != Version1::Left);
        all
    }

    /// Members of an object, from facts whose ids are the same before `at`.
    fn fields<M: SerializeMap>(&self, map: &mut M, facts: &[Fact<'a>], at: usize) -> Result<(), M::Error> {
        let mut rest = facts;
        while let Some(first) = rest.first() {
            let name = name(first, at);
            let alike = rest.iter().take_while(|f| self::name(f, at) == name).count();
            let (these, others) = rest.split_at(alike);
            map.serialize_entry(name, &Field { out: *self, facts: these, end: at + name.len() })?;
            rest = others;
        }
        Ok(())
    }
}

/// The name in an id that begins at a byte.
fn name(fact: &Fact<'_>, at: usize) -> &'static str {
    let id = fact.def.id.get(at..).unwrap_or_default();
    id.split('.').next().unwrap_or(id)
}

/// Facts whose ids are the same up to a name's end: a fact, with what is below it, or a group.
struct Field<'f, 'n> {
    out: NodeOut<'n>,
    facts: &'f [Fact<'n>],
    end: usize,
}

impl Serialize for Field<'_, '_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Some((fact, below)) = self.facts.split_first().filter(|(fact, _)| fact.def.id.len() == self.end) else {
            return self.group(s, self.facts);
        };
        let known = fact.reading.known().map(|value| Known { field: self, value, below });
        if self.out.version == Version::One {
            return match (known, fact.def.version1) {
                (Some(known), _) => known.serialize(s),
                (None, Version1::Empty | Version1::EmptyNoted) => s.collect_seq([(); 0]),
                (None, Version1::Noted) if !fact.reading.is_unreadable() => s.serialize_bool(false),
                (None, _) => s.serialize_none(),
            };
        }
        let mut map = s.serialize_map(Some(1))?;
        match (&fact.reading, known) {
            (Reading::Unreadable(place, why), _) => {
                map.serialize_entry("unreadable", &self.out.unreadable(*place, why))?;
            }
            (_, Some(known)) => map.serialize_entry("known", &known)?,
            (_, None) => map.serialize_entry("absent", &true)?,
        }
        map.end()
    }
}

impl<'n> Field<'_, 'n> {
    fn group<S: Serializer>(&self, s: S, facts: &[Fact<'n>]) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        self.out.fields(&mut map, facts, self.end + 1)?;
        map.end()
    }
}

/// The value of a fact, with what is below it.
struct Known<'f, 'n> {
    field: &'f Field<'f, 'n>,
    value: &'f Value<'n>,
    below: &'f [Fact<'n>],
}

impl Serialize for Known<'_, '_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let out = self.field.out;
        match self.value {
            Value::There if !self.below.is_empty() => self.field.group(s, self.below),
            Value::Members(all) => s.collect_seq(all.iter().map(|m| Thing { out, subject: *m })),
            Value::Limit(Limit::Unlimited) if out.version != Version::One => s.serialize_str("unlimited"),
            value => value.serialize(s),
        }
    }
}

/// A member of a list.
struct Thing<'n> {
    out: NodeOut<'n>,
    subject: Subject<'n>,
}

impl Serialize for Thing<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let (facts, at) = (self.out.facts(self.subject), self.subject.prefix().len() + 1);
        let mut map = s.serialize_map(None)?;
        let mut tagged = &facts[..];
        // The first fact of a member names it: it is known, and plain in every version.
        if let Some((first, others)) = facts.split_first()
            && let Some(key) = first.reading.known()
        {
            map.serialize_entry(name(first, at), key)?;
            tagged = others;
        }
        self.out.fields(&mut map, tagged, at)?;
        map.end()
    }
}
