//! Versions 1 and 2 of the audit's JSON say the same of every composed node, and each matches its schema.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common::schema;
use crate::composed as common;

use linerate_facts::{Def, Form, Version1, defs};
use linerate_node::Node;
use linerate_report::Report;
use linerate_report::json::{Version, to_string};
use linerate_rules::audit;
use linerate_snapshot::Snapshot;
use schema::Schema;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Version 2 read as version 1 would write it.
struct Down {
    defs: BTreeMap<&'static str, &'static Def>,
    /// What, place and why, as version 1 lists them.
    unseen: Vec<[String; 3]>,
    /// How many more are unreadable, of which version 1 shows no more than `null` or `[]`, or nothing.
    silent: usize,
}

impl Down {
    /// `path`: with the keys of lists, `id`: without them. `None`: version 1 does not show it.
    fn value(&mut self, v: &Value, path: &str, id: &str) -> Option<Value> {
        let Some(def) = self.defs.get(id).copied() else { return self.object(v, path, id) };
        let (tag, inner) = v.as_object().filter(|o| o.len() == 1).and_then(|o| o.iter().next()).expect("one tag");
        let known = match tag.as_str() {
            "known" => self.known(def, inner, path, id),
            "absent" => None,
            "unreadable" => {
                self.unreadable(def, inner, path);
                None
            }
            _ => panic!("{path}: {tag}"),
        };
        Some(match (def.version1, known) {
            (Version1::Left, _) => return None,
            (_, Some(known)) => known,
            (Version1::Empty | Version1::EmptyNoted, None) => json!([]),
            (Version1::Noted, None) if tag == "absent" => json!(false),
            (_, None) => Value::Null,
        })
    }

    fn known(&mut self, def: &Def, inner: &Value, path: &str, id: &str) -> Option<Value> {
        match def.form {
            Form::There if inner.is_object() => self.object(inner, path, id),
            Form::Members => Some(inner.as_array().unwrap().iter().map(|m| self.member(m, path, id)).collect()),
            Form::Limit if inner == "unlimited" => Some(Value::Null),
            _ => Some(inner.clone()),
        }
    }

    /// One member is plain, and names it.
    fn member(&mut self, m: &Value, path: &str, id: &str) -> Value {
        let plain: Vec<(&String, &Value)> = m.as_object().unwrap().iter().filter(|(_, v)| !v.is_object()).collect();
        let [(name, key)] = plain[..] else { panic!("{path}: {plain:?}") };
        let text = key.as_str().map_or(key.to_string(), str::to_owned);
        let mut rest = m.clone();
        rest.as_object_mut().unwrap().remove(name);
        let mut all = self.object(&rest, &format!("{path}[{text}]"), id).unwrap_or_else(|| json!({}));
        all[name] = key.clone();
        all
    }

    fn object(&mut self, v: &Value, path: &str, id: &str) -> Option<Value> {
        let below = |at: &str, name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        let shown = v
            .as_object()
            .unwrap()
            .iter()
            .filter_map(|(name, v)| Some((name.clone(), self.value(v, &below(path, name), &below(id, name))?)));
        let shown: Map<String, Value> = shown.collect();
        (!shown.is_empty()).then_some(Value::Object(shown))
    }

    fn unreadable(&mut self, def: &Def, inner: &Value, path: &str) {
        if !matches!(def.version1, Version1::Noted | Version1::EmptyNoted) {
            self.silent += 1;
            return;
        }
        let list = def.version1 == Version1::Noted && !def.id.contains('.');
        let text = |name: &str| inner[name].as_str().unwrap().to_owned();
        self.unseen.push([format!("{}{path}", if list { "node." } else { "" }), text("place"), text("why")]);
    }
}

/// Facts that are unreadable: those that version 1 lists, and the others.
fn same(s: &Snapshot, one: &Schema, two: &Schema) -> [usize; 2] {
    let node = Node::decode(s);
    let audit = audit(&node, s, &[]);
    let report = Report { audit: &audit, node: &node, snapshot: s };
    let mut one = one.valid(&to_string(&report, Version::One));
    let mut two = two.valid(&to_string(&report, Version::Two));
    let (mut old, new) = (one["node"].take(), two["node"].take());
    let mut down = Down { defs: defs().map(|d| (d.id, d)).collect(), unseen: Vec::new(), silent: 0 };
    let read = down.object(&new, "", "").unwrap();
    let unseen = old.as_object_mut().unwrap().remove("unseen").unwrap();
    assert!(read == old, "{}: the values differ", s.label);
    let mut listed: Vec<[String; 3]> = unseen
        .as_array()
        .unwrap()
        .iter()
        .map(|u| ["what", "place", "why"].map(|n| u[n].as_str().unwrap().to_owned()))
        .collect();
    listed.sort();
    down.unseen.sort();
    assert_eq!(down.unseen, listed, "{}", s.label);
    one["schema"].take();
    two["schema"].take();
    assert_eq!(one, two, "{}: they differ beside the node", s.label);
    [listed.len(), down.silent]
}

#[test]
fn both_versions_say_the_same_of_every_node() {
    let nodes = ["", "broken", "healthy", "healthy/broken"].map(|d| common::descriptions(&common::nodes().join(d)));
    let nodes: Vec<PathBuf> = nodes.concat();
    assert!(nodes.len() > 400, "only {}", nodes.len());
    let (one, two) = (Schema::of("audit-1"), Schema::of("audit-2"));
    let (next, listed, silent) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(path) = nodes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let counts = same(&common::load(path).1, &one, &two);
            listed.fetch_add(counts[0], Ordering::Relaxed);
            silent.fetch_add(counts[1], Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    assert!(listed.into_inner() > 100 && silent.into_inner() > 100, "the test tests nothing");
}

#[test]
fn both_versions_say_the_same_of_nothing() {
    let counts = same(&Snapshot::new("empty"), &Schema::of("audit-1"), &Schema::of("audit-2"));
    assert!(counts[0] > 20, "{counts:?}");
}
