//! Labels of a node's object in Kubernetes, changed by the driver: [`super::elsewhere`] says how, this what they are there.
//!
//! The object is always the one that the plan knows, by its uid, and a change is taken by the API only where the object is still as it was
//! read. The node itself writes to its object now and then: where only that happened, it is read and tried again.

mod back;

pub(super) use back::Labelled;

use super::Stop;
use super::bios::is_of;
use super::elsewhere::{self, Afar, Place, Remote, Way, trouble};
use crate::kube::{Change, Error, Kube, Object};
use crate::protocol::{Stands, UNEXPECTED};
use linerate_remedy::{Act, KubeNode, LabelAct, NodeId, Plan};
use serde_json::Value;

/// How often it is tried where others change the object in between.
const TRIES: u32 = 5;

/// What was there; `None`: no such label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Was {
    pub(super) value: Option<String>,
}

impl Was {
    /// As the journal keeps it: `{"value":"true"}`.
    fn note(&self) -> String {
        serde_json::json!({ "value": self.value }).to_string()
    }
}

impl Remote for LabelAct {
    type Was = Was;

    fn of(act: &Act) -> Option<&LabelAct> {
        if let Act::Label(label) = act { Some(label) } else { None }
    }

    fn was(note: &str) -> Option<Was> {
        match serde_json::from_str::<Value>(note).ok()?.get("value")? {
            Value::Null => Some(Was { value: None }),
            Value::String(value) => Some(Was { value: Some(value.clone()) }),
            _ => None,
        }
    }

    fn names(&self, was: &Was) -> bool {
        was.value == self.before || was.value == self.after
    }
}

/// The labels of one object.
pub(super) struct Labels<'a> {
    pub(super) kube: &'a Kube,
    pub(super) node: &'a KubeNode,
}

impl Afar<LabelAct> {
    /// What is put back.
    fn target(&self) -> Option<&str> {
        self.was.as_ref().map_or(&self.set.before, |was| &was.value).as_deref()
    }

    fn goal(&self, way: Way) -> Option<&str> {
        match way {
            Way::Make => self.set.after.as_deref(),
            Way::Back => self.target(),
        }
    }
}

fn of<'o>(seen: &'o Object, key: &str) -> Option<&'o str> {
    seen.labels.get(key).map(String::as_str)
}

fn shown(value: Option<&str>) -> String {
    value.map_or("not there".to_owned(), |value| format!("{value:?}"))
}

impl Labels<'_> {
    /// What speaks against changes that are not yet begun: another value than the plan expects.
    pub(super) fn refuses(&self, plan: &Plan, chosen: &[String], seen: &Object) -> Option<String> {
        let acts: Vec<Afar<LabelAct>> = elsewhere::chosen(plan, chosen).map(Afar::open).collect();
        let stale: Vec<String> =
            acts.iter().filter_map(|a| self.before(seen, a).err()).map(|e| e.to_string()).collect();
        (!stale.is_empty()).then(|| stale.join("; "))
    }

    /// Changes labels where they still are as they were seen.
    fn change(&self, seen: &Object, acts: &[&Afar<LabelAct>], way: Way) -> Result<(), Error> {
        let mut now = seen.clone();
        for _ in 0..TRIES {
            let changed = acts.iter().find(|a| of(&now, &a.set.key) != of(seen, &a.set.key));
            if let Some(act) = changed {
                return Err(Error::Changed { node: self.node.name.clone(), key: act.set.key.clone() });
            }
            let goals = acts.iter().map(|a| (a.set.key.as_str(), a.goal(way)));
            let changes: Vec<Change<'_>> = goals.filter(|(key, goal)| of(&now, key) != *goal).collect();
            if changes.is_empty() {
                return Ok(());
            }
            match self.kube.set(&now, &changes) {
                Err(Error::Conflict(_)) => now = self.kube.look_for(self.node)?,
                other => return other,
            }
        }
        Err(Error::Conflict(self.node.name.clone()))
    }
}

impl Place for Labels<'_> {
    type Set = LabelAct;
    type Seen = Object;
    type Error = Error;

    fn look(&self) -> Result<Object, Error> {
        self.kube.look_for(self.node)
    }

    fn before(&self, seen: &Object, act: &Afar<LabelAct>) -> Result<String, Stop> {
        let (is, set) = (of(seen, &act.set.key), &act.set);
        // Announced: what was there then is what is expected, or the change itself.
        let expected = if act.at.stands == Stands::Announced { act.target() } else { set.before.as_deref() };
        if is != expected && is != set.after.as_deref() {
            let what = format!(
                "the label {} of the Kubernetes node {} is {}, but the plan expects {}: make a new plan",
                set.key,
                self.node.name,
                shown(is),
                shown(expected)
            );
            return Err(Stop::Refused(vec![trouble("stale", Some(&act.at.step), what)]));
        }
        Ok(Was { value: is.map(str::to_owned) }.note())
    }

    fn is_due(&self, seen: &Object, act: &Afar<LabelAct>) -> bool {
        of(seen, &act.set.key) != act.set.after.as_deref()
    }

    fn send(&self, seen: &Object, acts: &[&Afar<LabelAct>], way: Way) -> Result<Object, Error> {
        self.change(seen, acts, way)?;
        self.look().map_err(|e| Error::Sent(Box::new(e)))
    }

    fn is_unwritten(e: &Error) -> bool {
        e.is_unwritten()
    }

    fn in_journal(e: &Error) -> String {
        e.brief()
    }

    fn made(&self, after: &Object, act: &Afar<LabelAct>) -> Result<(String, String), Stop> {
        self.shows(after, act, act.set.after.as_deref())?;
        let how = "the API shows it".to_owned();
        Ok((how.clone(), how))
    }

    fn goes_back(&self, seen: &Object, act: &Afar<LabelAct>) -> Result<bool, Stop> {
        let (is, set) = (of(seen, &act.set.key), &act.set);
        if is == act.target() {
            return Ok(false);
        }
        if is == set.after.as_deref() {
            return Ok(true);
        }
        let what = format!(
            "the label {} of the Kubernetes node {} was changed by somebody else meanwhile (it is {}); it is left as it is. Look at it, then decide",
            set.key,
            self.node.name,
            shown(is)
        );
        Err(Stop::Refused(vec![trouble(UNEXPECTED, Some(&act.at.step), what)]))
    }

    fn back(&self, after: &Object, act: &Afar<LabelAct>) -> Result<String, Stop> {
        let target = act.target();
        self.shows(after, act, target)?;
        Ok(match target {
            Some(value) => {
                format!("the label {}={value} is on the Kubernetes node {} again", act.set.key, self.node.name)
            }
            None => format!("the label {} is off the Kubernetes node {} again", act.set.key, self.node.name),
        })
    }
}

impl Labels<'_> {
    /// What was sent has to be there when it is read again.
    fn shows(&self, after: &Object, act: &Afar<LabelAct>, wanted: Option<&str>) -> Result<(), Stop> {
        let is = of(after, &act.set.key);
        if is == wanted {
            return Ok(());
        }
        let what = format!(
            "the API accepted the label {} of the Kubernetes node {}, but right after that it is {}: something else sets it (a controller such as node-feature-discovery). Find out what",
            act.set.key,
            self.node.name,
            shown(is)
        );
        Err(Stop::Refused(vec![trouble(UNEXPECTED, Some(&act.at.step), what)]))
    }
}

/// Whose an object is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    /// The node's that answers.
    Ours,
    /// One of both does not say: nothing is changed then.
    Unknown,
    /// Another machine's: in words.
    Foreign(String),
}

/// Why an object of which is not known whose it is is not changed.
pub(super) fn unknown(node: &str) -> String {
    format!(
        "cannot tell whether the Kubernetes node {node} is the plan's machine: one of the two shows neither a system UUID nor a machine id. Labels are changed only if it is; make a new plan as root on the node itself"
    )
}

/// Whose an object is: of the machine that the plan was made for, by what SMBIOS calls it; where that is not known on both sides, by its
/// machine id. What the node says now decides nothing.
pub(super) fn whose(object: &KubeNode, plan: &NodeId) -> Whose {
    let foreign = |by: &str, theirs: &str, ours: &str| {
        Whose::Foreign(format!(
            "the Kubernetes node {} is another machine: its {by} is {theirs}, the plan was made for {ours}; name the right one with \
             --kube-node, or its cluster with --kube-context, and make a new plan",
            object.name
        ))
    };
    match is_of(plan.uuid.as_deref(), object.system.as_deref()) {
        Some(true) => Whose::Ours,
        Some(false) => foreign(
            "system UUID",
            object.system.as_deref().unwrap_or_default(),
            plan.uuid.as_deref().unwrap_or_default(),
        ),
        None => match (&object.machine, &plan.machine) {
            (Some(theirs), Some(ours)) if theirs == ours => Whose::Ours,
            (Some(theirs), Some(ours)) => foreign("machine id (digest)", theirs, ours),
            _ => Whose::Unknown,
        },
    }
}

#[cfg(test)]
pub(super) mod tests;
