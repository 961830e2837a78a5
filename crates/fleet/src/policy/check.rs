//! A node held to a policy.

use super::claims;
use super::condition::{Facts, Outcome};
use super::read::prefix_of;
use super::seats::Seating;
use super::{Class, Count, Fit, Kind, Policy, Roles, Row};
use crate::named::{FAR, names_devices};
use crate::{Line, Profile, State, Thing, Traits, Whose};
use linerate_facts::position::{Device, Role};
use linerate_facts::{Holds, Want};
use linerate_formats::bounds::POLICY_ANSWERS;
use linerate_formats::wildcard;
use linerate_rules::Status;
use linerate_snapshot::Place;
use std::collections::HashMap;

/// A node held to a policy.
#[derive(Debug, Clone)]
pub struct Checked<'p> {
    /// The classes that it was held to, and whether they were chosen although the source does not show these traits.
    pub classes: Vec<(&'p Class, Vec<&'static str>)>,
    /// Classes that may be its own, of which none was chosen: what its source does not show decides.
    pub undecided: Vec<(&'p Class, Vec<&'static str>)>,
    /// What the node is made of.
    pub traits: Traits,
    /// Every answer, in the policy's order.
    pub answers: Vec<Answer<'p>>,
    /// A limit left a part of the source out.
    pub incomplete: bool,
}

/// Whose an answer is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The node's.
    Node,
    /// A device's.
    Device {
        /// What it is for.
        role: Role,
        /// How the source names it.
        name: String,
    },
    /// A thing's that has the same name everywhere.
    Named(String),
    /// That of a device that is not there, or is not shown.
    Missing(String),
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Held {
    /// A value.
    Value(String),
    /// It is certainly not there.
    Absent,
    /// Its device is certainly not there.
    NoDevice,
    /// It could not be seen, and why.
    Unseen(String),
    /// A condition is as it says, of these facts.
    Says(bool, Vec<String>),
}

/// An answer to one expectation about one thing.
#[derive(Debug, Clone)]
pub struct Answer<'p> {
    /// The class that it is an expectation of.
    pub class: &'p Class,
    /// The expectation.
    pub kind: Kind<'p>,
    /// Whose.
    pub owner: Owner,
    /// Which of the owner's.
    pub part: String,
    /// The answer.
    pub status: Status,
    /// What was seen.
    pub seen: Held,
    /// Where.
    pub place: Option<Place>,
}

impl Checked<'_> {
    /// 0: as wanted; 1: something is not, of severity low or above; 2: it cannot be told.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        use linerate_rules::Severity::Info;
        let fails = |a: &Answer<'_>| a.status == Status::Fail && a.kind.about().severity > Info;
        if self.answers.iter().any(fails) {
            return 1;
        }
        let open = self.answers.iter().any(|a| a.status == Status::Unknown) || self.incomplete;
        2 * u8::from(open || self.classes.is_empty())
    }
}

/// Holds a node to a policy. `facts`: the member `node` of `linerate.audit/2`, where the policy has conditions.
#[must_use]
pub fn check<'p>(policy: &'p Policy, profile: &Profile, traits: &Traits, facts: Option<&Facts>) -> Checked<'p> {
    let (mut classes, mut perhaps) = (Vec::new(), Vec::new());
    for class in &policy.classes {
        match class.matches.fits(&profile.label, traits, profile.role) {
            Fit::Yes => classes.push((class, Vec::new())),
            Fit::Perhaps(unseen) => perhaps.push((class, unseen)),
            Fit::No(_) => {}
        }
    }
    // What a source does not show fits the one class that agrees in the rest.
    if classes.is_empty() && perhaps.len() == 1 {
        classes.append(&mut perhaps);
    }
    let undecided = if classes.is_empty() { perhaps } else { Vec::new() };
    let mut pass = Pass::of(profile);
    let (mut answers, mut incomplete) = (Vec::new(), profile.incomplete);
    for (class, _) in &classes {
        pass.sit(class);
        for count in &class.devices {
            answers.push(pass.count(class, count));
        }
        for row in &class.rows {
            pass.row(class, row, &mut answers);
            if answers.len() > POLICY_ANSWERS {
                answers.truncate(POLICY_ANSWERS);
                incomplete = true;
                break;
            }
        }
        for condition in &class.conditions {
            let outcome = facts.map_or_else(
                || Outcome::Unknown("the facts of the node were not given".to_owned()),
                |f| condition.cel.holds(f),
            );
            let (status, seen) = match outcome {
                Outcome::True => (Status::Pass, Held::Says(true, Vec::new())),
                Outcome::False(read) => (Status::Fail, Held::Says(false, read)),
                Outcome::Unknown(why) => (Status::Unknown, Held::Unseen(why)),
            };
            let kind = Kind::Condition(condition);
            answers.push(Answer { class, kind, owner: Owner::Node, part: String::new(), status, seen, place: None });
        }
        answers.extend(class.claims.iter().map(|claim| claims::check(&pass, class, claim, facts)));
    }
    Checked { classes, undecided, traits: traits.clone(), answers, incomplete }
}

/// A profile, by what is asked of it.
pub(super) struct Pass<'n> {
    pub(super) profile: &'n Profile,
    /// Devices, as the policy calls them.
    seating: Seating,
    /// Names of things that are the same everywhere.
    named: Vec<&'n str>,
    /// Things by owner and prefix.
    things: HashMap<(&'n Whose, &'static str), Vec<&'n Thing>>,
}

impl<'n> Pass<'n> {
    fn of(profile: &'n Profile) -> Self {
        let mut things: HashMap<_, Vec<&Thing>> = HashMap::new();
        let mut named: Vec<&str> = Vec::new();
        for thing in profile.things.keys() {
            things.entry((&thing.whose, thing.prefix)).or_default().push(thing);
            if let Whose::Named(name) = &thing.whose
                && named.last() != Some(&name.as_str())
            {
                named.push(name);
            }
        }
        Pass { profile, seating: Seating::default(), named, things }
    }

    /// Calls the devices as a class does.
    fn sit(&mut self, class: &Class) {
        let seating = Seating::of(self.profile, class, |device| self.all_listed(Some(device)));
        self.seating = seating;
    }

    /// Whether all devices of a kind are listed.
    fn all_listed(&self, device: Option<Device>) -> bool {
        let p = self.profile;
        p.pci_is_whole || (p.gpus_were_asked && device == Some(Device::Gpu))
    }

    fn count<'p>(&self, class: &'p Class, count: &'p Count) -> Answer<'p> {
        let n = self.seating.counts.get(&count.device).copied().unwrap_or(0);
        let (status, seen) = if n > count.most {
            (Status::Fail, Held::Value(n.to_string()))
        } else if !self.all_listed(Some(count.device)) {
            let why = format!("the source shows {n}, but not whether that is all of them");
            (Status::Unknown, Held::Unseen(why))
        } else {
            let lost = self.seating.lost_of(count.device);
            match n < count.least {
                true if !lost.is_empty() => (Status::Fail, Held::Value(format!("{n} (missing: {lost})"))),
                true => (Status::Fail, Held::Value(n.to_string())),
                false => (Status::Pass, Held::Value(n.to_string())),
            }
        };
        let place = self.profile.line(&Thing::node(), "pci").map(|l| l.place);
        Answer { class, kind: Kind::Count(count), owner: Owner::Node, part: String::new(), status, seen, place }
    }

    pub(super) fn row<'p>(&self, class: &'p Class, row: &'p Row, out: &mut Vec<Answer<'p>>) {
        let mut owners: Vec<(Whose, Owner)> = Vec::new();
        if row.roles.is_node() {
            owners.push((Whose::Node, Owner::Node));
        } else {
            let seats =
                self.profile.positions.seats.iter().zip(&self.seating.roles).zip(&self.seating.words).enumerate();
            owners.extend(seats.filter(|(_, (_, words))| row.roles.has(words)).map(|(i, ((seat, role), _))| {
                (Whose::Device(i), Owner::Device { role: role.clone(), name: seat.name.to_string() })
            }));
            let named = self.named.iter().filter(|n| row.roles.has(n));
            owners.extend(named.map(|n| (Whose::Named((*n).to_owned()), Owner::Named((*n).to_owned()))));
        }
        for (whose, owner) in &owners {
            self.of_owner(class, row, whose, owner, out);
        }
        self.missing(class, row, owners.is_empty(), out);
    }

    /// Devices that a row names and the source does not show.
    fn missing<'p>(&self, class: &'p Class, row: &'p Row, none: bool, out: &mut Vec<Answer<'p>>) {
        let mut answer = |role: String, status, seen| {
            let owner = Owner::Missing(role);
            let part = row.part.clone();
            out.push(Answer { class, kind: Kind::Row(row), owner, part, status, seen, place: None });
        };
        if row.roles.is_node() {
            return;
        }
        let is_absent = row.wants == [Want::Absent];
        let whole = self.all_listed(device_of(&row.roles));
        let names = row.roles.named();
        let there = |name: &String| self.seating.words.contains(name) || self.named.contains(&name.as_str());
        for name in names.iter().filter(|n| !there(n)) {
            let is_short = || name.parse::<Role>().is_ok_and(|role| self.seating.is_counted(&role));
            match whole {
                true if !is_absent && is_short() => answer(name.clone(), Status::NotApplicable, Held::NoDevice),
                true if is_absent => answer(name.clone(), Status::Pass, Held::NoDevice),
                true => answer(name.clone(), Status::Fail, Held::NoDevice),
                false => answer(
                    name.clone(),
                    Status::Unknown,
                    Held::Unseen("the source does not show the device".to_owned()),
                ),
            }
        }
        if none && names.is_empty() {
            let role = row.roles.text().to_owned();
            match whole {
                true => answer(role, Status::NotApplicable, Held::NoDevice),
                false => answer(role, Status::Unknown, Held::Unseen("the source shows no such device".to_owned())),
            }
        }
    }

    fn of_owner<'p>(&self, class: &'p Class, row: &'p Row, whose: &Whose, owner: &Owner, out: &mut Vec<Answer<'p>>) {
        let words = super::read::is_words(row.def);
        let prefix = if words && (!row.part.is_empty() || is_only(row)) { row.def.id } else { prefix_of(row.def.id) };
        let mut push = |part: &str, status, seen, place| {
            let (owner, part) = (owner.clone(), part.to_owned());
            out.push(Answer { class, kind: Kind::Row(row), owner, part, status, seen, place });
        };
        if let Owner::Device { role, .. } = owner
            && row.roles.numbers_devices()
            && let Some(why) = self.seating.numberless(role)
        {
            return push(&row.part, Status::Unknown, Held::Unseen(why), None);
        }
        let of_prefix = self.things.get(&(whose, prefix)).map_or(&[][..], Vec::as_slice);
        if is_only(row) {
            return self.no_other(row, of_prefix, &mut push);
        }
        let mut any = false;
        for thing in of_prefix.iter().filter(|t| fits(&row.part, &t.part)) {
            let lines = self.profile.things.get(*thing).map_or(&[][..], Vec::as_slice);
            // A text that shows a thing twice shows its facts twice: the first counts.
            let Some(line) = lines.iter().find(|l| l.def.id == row.def.id) else { continue };
            any = true;
            let (status, seen) = self.judge(row, line);
            push(&thing.part, status, seen, Some(line.place));
        }
        if !any {
            let (status, seen, place) = self.without(row, whose, words);
            push(&row.part, status, seen, place);
        }
    }

    /// A thing that no line is about: not in a list that was read, or in none.
    fn without(&self, row: &Row, whose: &Whose, words: bool) -> (Status, Held, Option<Place>) {
        let unseen = |why: &str| (Status::Unknown, Held::Unseen(why.to_owned()));
        let list = match (words, prefix_of(row.def.id)) {
            (true, _) => self.profile.line(&Thing::node(), row.def.id),
            (_, "") => None,
            (_, of) => self.list(whose, of),
        };
        // A query of a NIC shows what was asked for, and hides some settings behind others.
        let hidden = prefix_of(row.def.id) == "nic_firmware.settings";
        let (status, seen) = match list.map(|l| &l.state) {
            Some(State::Known(_)) if hidden => unseen("the query of the NIC does not show this setting"),
            Some(State::Known(_) | State::Absent) => {
                let held = Want::all(&row.wants, row.def, None) == Holds::Yes;
                (if held { Status::Pass } else { Status::Fail }, Held::Absent)
            }
            Some(State::Unreadable(why)) => unseen(&why.to_string()),
            None => unseen("the source does not show it"),
        };
        (status, seen, list.map(|l| l.place))
    }

    /// The line of the list that a thing would be in.
    fn list(&self, whose: &Whose, prefix: &'static str) -> Option<&Line> {
        let part_of = |id: &str| prefix_of(id);
        let of_device = self.things.get(&(whose, part_of(prefix))).into_iter().flatten();
        let mut lines = of_device.filter_map(|t| self.profile.things.get(*t)).flatten();
        let own = lines.find(|l| l.def.id == prefix);
        own.or_else(|| self.profile.line(&Thing::node(), prefix))
    }

    /// What a fact is to what is wanted. Of a node that lacks a device, what follows from that is no finding of its own.
    fn judge(&self, row: &Row, line: &Line) -> (Status, Held) {
        if !names_devices(row.def.id) {
            let (status, seen) = judge(row, &line.state);
            let far = || self.seating.far().filter(|_| status == Status::Fail && row.def.id == FAR);
            return far().map_or((status, seen), |why| (Status::Unknown, Held::Unseen(why)));
        }
        let state = match &line.state {
            State::Known(v) => State::Known(self.seating.value(v)),
            other => other.clone(),
        };
        let (status, seen) = judge(row, &state);
        let robbed = || row.wants.iter().filter_map(Want::value).find_map(|wanted| self.seating.robbed(wanted));
        match status {
            Status::Fail => robbed().map_or((status, seen), |why| (Status::Unknown, Held::Unseen(why))),
            _ => (status, seen),
        }
    }

    fn no_other(&self, row: &Row, there: &[&Thing], push: &mut Push<'_>) {
        let list = self.profile.line(&Thing::node(), row.def.id);
        let [Want::NoOther(words)] = row.wants.as_slice() else { return };
        match list.map(|l| (&l.state, l.place)) {
            Some((State::Known(_) | State::Absent, place)) => {
                let mut all = true;
                for thing in there.iter().filter(|t| !words.contains(&t.part)) {
                    all = false;
                    let lines = self.profile.things.get(*thing).map_or(&[][..], Vec::as_slice);
                    let line = lines.iter().find(|l| l.def.id == row.def.id);
                    let value = line.and_then(|l| if let State::Known(v) = &l.state { Some(v.clone()) } else { None });
                    let value = value.unwrap_or_else(|| thing.part.clone());
                    push(&thing.part, Status::Fail, Held::Value(value), line.map(|l| l.place));
                }
                if all {
                    push("", Status::Pass, Held::Value(String::new()), Some(place));
                }
            }
            Some((State::Unreadable(why), place)) => {
                push("", Status::Unknown, Held::Unseen(why.to_string()), Some(place))
            }
            None => push("", Status::Unknown, Held::Unseen("the source does not show it".to_owned()), None),
        }
    }
}

/// Takes an answer: part, answer, what was seen, where.
type Push<'a> = dyn FnMut(&str, Status, Held, Option<Place>) + 'a;

fn is_only(row: &Row) -> bool {
    matches!(row.wants.as_slice(), [Want::NoOther(_)])
}

fn judge(row: &Row, state: &State) -> (Status, Held) {
    let (seen, held) = match state {
        State::Unreadable(why) => return (Status::Unknown, Held::Unseen(why.to_string())),
        State::Known(v) => (Some(v.as_str()), Held::Value(v.clone())),
        State::Absent => (None, Held::Absent),
    };
    match Want::all(&row.wants, row.def, seen) {
        Holds::Yes => (Status::Pass, held),
        Holds::No => (Status::Fail, held),
        Holds::Unclear => {
            let why = format!("{} cannot be compared with this operator", seen.unwrap_or_default());
            (Status::Unknown, Held::Unseen(why))
        }
    }
}

/// Whether a part is one that a row names.
fn fits(wanted: &str, part: &str) -> bool {
    wanted == part || (wanted.contains('*') && wildcard::star(wanted.as_bytes(), part.as_bytes()))
}

/// The kind of device that roles name.
fn device_of(roles: &Roles) -> Option<Device> {
    roles.text().starts_with("GPU ").then_some(Device::Gpu)
}
