//! Claims of a scheduler, held to what they stand for: a label, a feature or a resource is there, and what it claims may not be.

use super::check::{Answer, Held, Owner, Pass};
use super::condition::{Facts, Outcome};
use super::read::prefix_of;
use super::wish::shown;
use super::{Claim, Class, Kind, Policy};
use crate::condition::{Answer as Says, Found};
use crate::{Seen, State, Thing};
use linerate_rules::{Rule, Status};
use linerate_snapshot::Place;

/// Facts that an answer names.
const NAMED: usize = 8;

impl Policy {
    /// The rules whose answers a check needs: those that claims name.
    #[must_use]
    pub fn rules(&self) -> Vec<&'static Rule> {
        let mut all: Vec<&'static Rule> =
            self.classes.iter().flat_map(|c| &c.claims).flat_map(|c| c.passes.iter().copied()).collect();
        all.sort_by_key(|r| r.id);
        all.dedup_by_key(|r| r.id);
        all
    }

    /// Whether a check needs the published facts of a node: it has conditions in CEL.
    #[must_use]
    pub fn needs_facts(&self) -> bool {
        self.classes.iter().any(|c| !c.conditions.is_empty() || c.claims.iter().any(|c| c.cel.is_some()))
    }
}

/// What the parts of a claim's meaning say together.
#[derive(Default)]
struct Meaning {
    /// What is not so.
    wrong: Vec<String>,
    /// What cannot be told.
    unseen: Vec<String>,
    /// How many parts are so.
    right: usize,
}

/// Holds a node's claim to what it claims.
pub(super) fn check<'p>(pass: &Pass<'_>, class: &'p Class, claim: &'p Claim, facts: Option<&Facts>) -> Answer<'p> {
    let mut place = None;
    let answer = |status, seen, place| {
        let (kind, part) = (Kind::Claim(claim), String::new());
        Answer { class, kind, owner: Owner::Node, part, status, seen, place }
    };
    for (when, text) in &claim.when {
        let (says, at) = claimed(pass, when);
        place = place.or(at);
        match says {
            Says::Yes => {}
            Says::No => return answer(Status::NotApplicable, Held::Absent, at),
            Says::CannotTell => {
                let why = format!("the source does not show whether the node claims it: {text}");
                return answer(Status::Unknown, Held::Unseen(why), at);
            }
        }
    }
    let meaning = meaning(pass, class, claim, facts);
    let some = |mut all: Vec<String>| {
        all.truncate(NAMED);
        all
    };
    if !meaning.wrong.is_empty() {
        return answer(Status::Fail, Held::Says(false, some(meaning.wrong)), place);
    }
    if !meaning.unseen.is_empty() {
        return answer(Status::Unknown, Held::Unseen(some(meaning.unseen).join("; ")), place);
    }
    match meaning.right {
        0 => {
            let why = "the node has nothing that the claim is about".to_owned();
            answer(Status::Unknown, Held::Unseen(why), place)
        }
        _ => answer(Status::Pass, Held::Says(true, Vec::new()), place),
    }
}

/// Whether the node claims something, and where.
fn claimed(pass: &Pass<'_>, when: &crate::condition::Condition) -> (Says, Option<Place>) {
    let prefix = prefix_of(when.id());
    let (mut found, mut place) = (Found::default(), None);
    for (thing, lines) in pass.profile.things.iter().filter(|(t, _)| t.prefix == prefix || t.prefix == when.id()) {
        for line in lines.iter().filter(|l| l.def.id == when.id()) {
            let seen = match &line.state {
                State::Known(v) => Seen::Known(v.clone()),
                State::Absent => Seen::Absent,
                State::Unreadable(_) => Seen::Unreadable,
            };
            let one = when.look(&thing.part, &seen, None);
            if place.is_none() || when.is_reason(one) {
                place = Some(line.place);
            }
            found = found.and(one);
        }
    }
    let says = when.decide(found);
    // A list that was read holds all that is claimed.
    let list = pass.profile.line(&Thing::node(), prefix);
    match list.map(|l| (&l.state, l.place)) {
        Some((State::Known(_) | State::Absent, at)) if found == Found::default() => (Says::No, Some(at)),
        Some((_, at)) => (says, place.or(Some(at))),
        None => (says, place),
    }
}

fn meaning(pass: &Pass<'_>, class: &Class, claim: &Claim, facts: Option<&Facts>) -> Meaning {
    let mut out = Meaning::default();
    let mut answers = Vec::new();
    for row in &claim.rows {
        pass.row(class, row, &mut answers);
    }
    for a in answers {
        let who = match &a.owner {
            Owner::Node => String::new(),
            Owner::Device { role, .. } => format!("{role}: "),
            Owner::Named(name) | Owner::Missing(name) => format!("{name}: "),
        };
        let said = || format!("{who}{} is {}", a.kind.subject(), shown(&a.seen));
        match a.status {
            Status::Fail => out.wrong.push(said()),
            Status::Unknown => out.unseen.push(said()),
            Status::Pass => out.right += 1,
            Status::NotApplicable => {}
        }
    }
    if let Some(cel) = &claim.cel {
        let outcome = facts.map(|f| cel.holds(f));
        match outcome.unwrap_or_else(|| Outcome::Unknown("the facts of the node were not given".to_owned())) {
            Outcome::True => out.right += 1,
            Outcome::False(read) if read.is_empty() => out.wrong.push(format!("{} is false", cel.source())),
            Outcome::False(read) => out.wrong.extend(read),
            Outcome::Unknown(why) => out.unseen.push(why),
        }
    }
    for rule in &claim.passes {
        let mut any = false;
        for j in pass.profile.judged.iter().filter(|j| j.rule.id == rule.id) {
            any = true;
            let part = if j.part.is_empty() { String::new() } else { format!("{}: ", j.part) };
            match j.status {
                Status::Fail => out.wrong.push(format!("{}: {part}{}", rule.id, j.message)),
                Status::Unknown => out.unseen.push(format!("{}: {part}{}", rule.id, j.message)),
                Status::Pass => out.right += 1,
                Status::NotApplicable => {}
            }
        }
        if !any {
            out.unseen.push(format!("{} was not asked", rule.id));
        }
    }
    out
}
