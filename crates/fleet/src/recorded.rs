//! A record as a profile, so that two of them are compared as two nodes are: by snapshots and by an index in the same way.
//!
//! What a record does not keep is not compared: functions that are on no way that data takes. Of the rules that read a fact it knows the worst
//! answer, and of that rule all its answers.

use crate::diff::is_about;
use crate::{Judged, Line, Owner, Profile, Record, Row, Seen, State, Thing, Whose};
use linerate_facts::position::Positions;
use linerate_facts::{Def, defs, list_of};
use linerate_rules::Rule;
use linerate_snapshot::{EntryId, Place, Why};
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// Facts by id, each with its number in the order of ids.
static DEFS: LazyLock<HashMap<&'static str, (&'static Def, u32)>> = LazyLock::new(|| {
    let ordered: BTreeMap<&str, &Def> = defs().map(|d| (d.id, d)).collect();
    ordered.into_iter().zip(0..).map(|((id, def), number)| (id, (def, number))).collect()
});
static RULES: LazyLock<HashMap<&'static str, &'static Rule>> =
    LazyLock::new(|| linerate_rules::rules().iter().map(|r| (r.id, *r)).collect());

/// What the ids of the facts of a row's thing begin with; of a word of a list the list itself.
pub(crate) fn prefix(owner: &Owner, part: &str, id: &'static str) -> &'static str {
    let is_word = !part.is_empty() && matches!(owner, Owner::Node);
    list_of(id).unwrap_or(if is_word { id } else { "" })
}

impl From<&Record> for Profile {
    fn from(record: &Record) -> Self {
        // A layout that cannot be read: nothing of its devices is compared.
        let positions = Positions::from_layout(&record.layout).unwrap_or_default();
        let seats: HashMap<String, usize> =
            positions.seats.iter().enumerate().map(|(i, s)| (s.role.to_string(), i)).collect();
        let whose = |owner: &Owner| match owner {
            Owner::Node => Some(Whose::Node),
            Owner::Device(role) => seats.get(&**role).map(|i| Whose::Device(*i)),
            Owner::Named(name) => Some(Whose::Named(name.to_string())),
        };
        let mut things: BTreeMap<Thing, Vec<Line>> = BTreeMap::new();
        // Each row is a line of its own: what read it looked there.
        let mut read: HashMap<&str, Vec<(Thing, Place)>> = HashMap::new();
        for (row, line) in record.rows.iter().filter(|r| !r.is_answer()).zip(1..) {
            let (Some(whose), Some((def, number))) = (whose(&row.owner), DEFS.get(row.id)) else { continue };
            let thing = Thing { whose, prefix: prefix(&row.owner, &row.part, row.id), part: row.part.clone() };
            let state = match &row.seen {
                Seen::Known(v) => State::Known(v.clone()),
                Seen::Absent => State::Absent,
                Seen::Unreadable => State::Unreadable(Why::Failed(String::new().into())),
            };
            let place = Place::of(EntryId::ROOT).line(line);
            if let Some(said) = row.verdict {
                read.entry(said.rule).or_default().push((thing.clone(), place));
            }
            things.entry(thing).or_default().push(Line { def, state, place, number: *number });
        }
        let judged = record.rows.iter().filter(|r| r.is_answer()).filter_map(|row| {
            let (said, rule) = (row.verdict?, *RULES.get(row.id)?);
            let mut j = Judged {
                rule,
                status: said.status,
                severity: said.severity,
                whose: whose(&row.owner)?,
                part: row.part.clone(),
                message: if let Seen::Known(message) = &row.seen { message.clone() } else { String::new() },
                places: Vec::new(),
            };
            let all = read.get(row.id).into_iter().flatten();
            let about =
                all.filter(|(thing, _)| (j.whose == thing.whose || j.whose == Whose::Node) && is_about(&j, thing));
            j.places = about.map(|(_, place)| *place).collect();
            Some(j)
        });
        let judged = judged.collect();
        let known = |id: &str| {
            let of = |r: &&Row| r.owner == Owner::Node && r.part.is_empty() && r.id == id;
            record.rows.iter().find(of).is_some_and(|r| r.seen != Seen::Unreadable)
        };
        let (pci, gpus) = (known("pci"), known("gpus"));
        Profile {
            label: record.label.clone(),
            // Ways are known where the list of functions is whole.
            pci_is_whole: positions.seats.iter().any(|s| s.path.is_some()),
            positions,
            things,
            judged,
            incomplete: record.incomplete,
            redact_key: record.redact_key.clone(),
            gpus_were_asked: gpus && !pci,
            role: None,
        }
    }
}
