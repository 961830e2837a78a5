//! What rules say about a difference: which of two values is right, if any is wrong.

use super::{Difference, Verdicts};
use crate::{Judged, Profile, Thing, Whose};
use linerate_facts::position::Alignment;
use linerate_rules::{Severity, Status};
use linerate_snapshot::{Place, Pos};
use std::collections::{BTreeMap, BTreeSet};

/// Part of a verdict about the whole node.
const NODE: &str = "node";

/// Rules that pass on both sides, beyond which they read the whole text and not this value.
const EITHER: usize = 3;

/// A rule's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Id of the rule.
    pub rule: &'static str,
    /// The answer.
    pub status: Status,
    /// Its severity, where it fails.
    pub severity: Severity,
    /// In one line.
    pub message: String,
}

/// What rules say about both sides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Truth {
    /// Of each side, the worst first; rules that do not hold there are left out.
    pub sides: [Vec<Said>; 2],
}

/// What rules say about a node, by whose it is.
pub(super) struct Spoken<'p>(BTreeMap<&'p Whose, Vec<&'p Judged>>);

impl<'p> Spoken<'p> {
    pub(super) fn of(p: &'p Profile) -> Self {
        let mut by: BTreeMap<&Whose, Vec<&Judged>> = BTreeMap::new();
        for j in &p.judged {
            by.entry(&j.whose).or_default().push(j);
        }
        Spoken(by)
    }

    /// The answer of the same rule about the same thing where it passes. A side that cannot tell is no difference, nor one that fails as well.
    fn passes(&self, j: &Judged, whose: &Whose) -> Option<&'p Judged> {
        let same = |k: &&&Judged| k.rule.id == j.rule.id && (k.part == j.part || *whose == Whose::Node);
        let all: Vec<&Judged> = self.0.get(whose)?.iter().filter(same).copied().collect();
        let fails = all.iter().any(|k| k.status == Status::Fail);
        all.into_iter().find(|k| k.status == Status::Pass && !fails)
    }

    /// The answers that can be about a thing: those of its owner, and of the whole node.
    fn about(&self, thing: &Thing) -> impl Iterator<Item = &'p Judged> {
        let node = (thing.whose != Whose::Node).then_some(&Whose::Node);
        let all = [Some(&thing.whose), node].into_iter().flatten().filter_map(|w| self.0.get(w)).flatten().copied();
        all.filter(|j| is_about(j, thing))
    }
}

impl Truth {
    /// The rules that looked at one of these places, and what they say about the thing.
    pub(super) fn of(spoken: &[Spoken<'_>; 2], things: [&Thing; 2], places: [&[Place]; 2]) -> Truth {
        let mut rules: BTreeSet<&str> = BTreeSet::new();
        // A rule that read the whole text counts where none read this very line.
        for touch in [overlap, within] {
            for ((s, thing), places) in spoken.iter().zip(things).zip(places) {
                let about = s.about(thing).filter(|j| reads(j, places, touch) || is_named(j, thing));
                rules.extend(about.map(|j| j.rule.id));
            }
            if !rules.is_empty() {
                break;
            }
        }
        let said = |s: &Spoken<'_>, thing: &Thing| {
            let answers = s.about(thing).filter(|j| rules.contains(j.rule.id) && j.status != Status::NotApplicable);
            let mut all: Vec<Said> = answers.map(said).collect();
            all.sort_by_key(|s| std::cmp::Reverse((s.status, s.severity)));
            all.dedup();
            all
        };
        let mut truth = Truth { sides: [said(&spoken[0], things[0]), said(&spoken[1], things[1])] };
        truth.forget_what_passes_twice();
        truth
    }

    /// Rules that pass on both sides say that either value is right. Where others do not, they say nothing about the difference; nor do
    /// those that cannot tell on either side.
    fn forget_what_passes_twice(&mut self) {
        let passes =
            |side: &[Said], rule: &str| side.iter().filter(|s| s.rule == rule).all(|s| s.status == Status::Pass);
        let doubt =
            |side: &[Said], rule: &str| side.iter().filter(|s| s.rule == rule).all(|s| s.status == Status::Unknown);
        let [a, b] = &self.sides;
        let undecided: BTreeSet<&str> =
            a.iter().chain(b).map(|s| s.rule).filter(|rule| doubt(a, rule) && doubt(b, rule)).collect();
        let keep =
            |side: &[Said]| -> Vec<Said> { side.iter().filter(|s| !undecided.contains(s.rule)).cloned().collect() };
        let [a, b] = [keep(a), keep(b)];
        let settled: BTreeSet<&str> =
            a.iter().chain(&b).map(|s| s.rule).filter(|rule| passes(&a, rule) && passes(&b, rule)).collect();
        let all: BTreeSet<&str> = a.iter().chain(&b).map(|s| s.rule).collect();
        let settles = settled.len() == all.len() && settled.len() <= EITHER;
        let rest = |side: &[Said]| -> Vec<Said> {
            side.iter().filter(|s| settles || !settled.contains(s.rule)).cloned().collect()
        };
        self.sides = [rest(&a), rest(&b)];
    }

    /// How bad the worst of what fails on either side is; `None`: no rule reads it.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        let failing = |s: &&Said| s.status == Status::Fail;
        let worst = self.sides.iter().flatten().filter(failing).map(|s| s.severity).max();
        worst.or_else(|| self.sides.iter().any(|s| !s.is_empty()).then_some(Severity::Info))
    }

    /// Whether the answers are not the same on both sides.
    #[must_use]
    pub fn differs(&self) -> bool {
        let key = |side: &Vec<Said>| side.iter().map(|s| (s.rule, s.status, s.severity)).collect::<BTreeSet<_>>();
        key(&self.sides[0]) != key(&self.sides[1])
    }
}

fn said(j: &Judged) -> Said {
    Said { rule: j.rule.id, status: j.status, severity: j.severity, message: j.message.clone() }
}

fn reads(j: &Judged, places: &[Place], touch: fn(Place, Place) -> bool) -> bool {
    j.places.iter().any(|p| places.iter().any(|q| touch(*p, *q)))
}

/// Whether an answer of the whole node is about just this part of its devices: NICs of which each runs with another value of a setting. It is each
/// device's, whichever of them the rule shows as evidence.
fn is_named(j: &Judged, thing: &Thing) -> bool {
    j.whose == Whose::Node && matches!(thing.whose, Whose::Device(_)) && !j.part.is_empty() && j.part == thing.part
}

/// Whether one place is the whole of what the other is a part of.
pub(crate) fn within(a: Place, b: Place) -> bool {
    (a.pos == Pos::Whole || b.pos == Pos::Whole) && is_same_file(a, b)
}

/// Whether two places are in the same file, or where the same one is missing. Most have no path below their entry: empty texts
/// are not compared, which took nearly a fifth of the time of an index.
fn is_same_file(a: Place, b: Place) -> bool {
    a.base == b.base && a.leaf.len() == b.leaf.len() && (a.leaf.is_empty() || a.leaf == b.leaf)
}

/// Whether two places share a byte: a register lies in its capability, a line in its file.
pub(crate) fn overlap(a: Place, b: Place) -> bool {
    let part = match (a.pos, b.pos) {
        (Pos::Whole, Pos::Whole) => true,
        (Pos::Line(a), Pos::Line(b)) => a == b,
        (Pos::Bytes { offset: a, len: n }, Pos::Bytes { offset: b, len: m }) => {
            u32::from(a) < u32::from(b) + u32::from(m) && u32::from(b) < u32::from(a) + u32::from(n)
        }
        _ => false,
    };
    part && is_same_file(a, b)
}

/// Whether an answer can be about a thing: that of its device, or of the whole node.
pub(crate) fn is_about(j: &Judged, thing: &Thing) -> bool {
    match (&j.whose, &thing.whose) {
        (Whose::Device(a), Whose::Device(b)) => {
            a == b && (j.part.is_empty() || thing.part.is_empty() || part_of(&j.part, &thing.part))
        }
        (Whose::Device(_), _) => false,
        // A setting, a word of the kernel's arguments, a module: another one's answer says nothing about this one.
        (Whose::Node, _) if !thing.part.is_empty() && j.part != NODE => part_of(&j.part, &thing.part),
        (Whose::Node | Whose::Named(_), _) => true,
    }
}

/// `port 1` and `port 1 GID 3`, `iommu` and `iommu=pt`; not `port 1` and `port 10`.
fn part_of(a: &str, b: &str) -> bool {
    let begins =
        |long: &str, short: &str| long.strip_prefix(short).is_some_and(|r| r.is_empty() || r.starts_with([' ', '=']));
    begins(a, b) || begins(b, a)
}

/// Answers that differ although no difference of facts says so.
pub(super) fn further(
    profiles: [&Profile; 2],
    spoken: &[Spoken<'_>; 2],
    alignment: &Alignment,
    found: &[Difference],
) -> Vec<Verdicts> {
    let rules = |d: &'_ Difference| d.truth.sides.iter().flatten().map(|s| s.rule).collect::<Vec<_>>();
    let said_already: BTreeSet<(&str, Option<usize>)> =
        found.iter().flat_map(|d| rules(d).into_iter().map(|rule| (rule, d.whose.device()))).collect();
    // What is said of the whole node about a setting of a device was said at that device's.
    let repeated = |side: usize, j: &Judged| {
        let same = |s: &Said| s.rule == j.rule.id && s.status == j.status && s.message == j.message;
        let about = |d: &Difference| j.part.is_empty() || j.part == NODE || part_of(&j.part, &d.part);
        j.whose == Whose::Node && found.iter().any(|d| about(d) && d.truth.sides[side].iter().any(same))
    };
    let back = alignment.back();
    let mut out: Vec<Verdicts> = Vec::new();
    for (side, profile) in profiles.iter().enumerate() {
        for j in profile.judged.iter().filter(|j| j.status == Status::Fail) {
            let other = match (j.whose.device(), side) {
                (None, _) => Some(j.whose.clone()),
                (Some(i), 0) => alignment.pairs.get(i).copied().flatten().map(Whose::Device),
                (Some(i), _) => back.get(&i).copied().map(Whose::Device),
            };
            let Some(other) = other else { continue };
            let device = if side == 0 { j.whose.device() } else { other.device() };
            let known = said_already.contains(&(j.rule.id, device)) || said_already.contains(&(j.rule.id, None));
            if known || repeated(side, j) {
                continue;
            }
            let Some(theirs) = spoken[1 - side].passes(j, &other) else { continue };
            let role = device.and_then(|i| profiles[0].positions.seats.get(i)).map(|s| s.role.clone());
            let mut truth = Truth::default();
            truth.sides[side] = vec![said(j)];
            truth.sides[1 - side] = vec![said(theirs)];
            out.push(Verdicts { role, subject: j.part.clone(), truth });
        }
    }
    out.sort_by_key(|v| (std::cmp::Reverse(v.truth.severity()), v.role.clone()));
    out
}
