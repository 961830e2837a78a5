//! Acts that the driver makes from where it is, by another service than the node, and writes ahead in the node's journal.
//!
//! The service, not the journal, says what is so: before anything is sent, what is there is read. So a driver that ended between sending
//! and noting finds its change there and sends nothing again.

use super::Stop;
use crate::hand::fault::boundary;
use crate::plans::Record;
use crate::protocol::{ActState, Stands, State, Trouble};
use linerate_remedy::{Act, BiosAct, LabelAct, Plan, Step};
use std::fmt::{Debug, Display};

/// Acts of one service.
pub(super) trait Remote: Clone {
    /// What was there before an act.
    type Was: Debug + Clone;

    /// The act of this service that an act is.
    fn of(act: &Act) -> Option<&Self>;

    /// What was there, as a journal's note says it.
    fn was(note: &str) -> Option<Self::Was>;

    /// Whether what was there is one of the two values that the plan names.
    fn names(&self, was: &Self::Was) -> bool;
}

/// An act that is made from afar, as it stands on the node.
#[derive(Debug, Clone)]
pub(super) struct Afar<A: Remote> {
    pub(super) at: At,
    /// What it sets.
    pub(super) set: A,
    /// What was there before it.
    pub(super) was: Option<A::Was>,
}

/// Which act, and how it stands.
#[derive(Debug, Clone)]
pub(super) struct At {
    pub(super) step: String,
    pub(super) number: usize,
    pub(super) stands: Stands,
    pub(super) what: String,
    /// What was there before it, as this operator noted it; else as the node says, where the plan itself says so.
    pub(super) before: Option<String>,
}

impl<A: Remote> Afar<A> {
    /// One that nobody has begun.
    pub(super) fn open(set: &A) -> Afar<A> {
        let (step, what) = (String::new(), String::new());
        Afar { at: At { step, number: 0, stands: Stands::Open, what, before: None }, set: set.clone(), was: None }
    }

    /// Whether something of it may be there.
    pub(super) fn is_begun(&self) -> bool {
        matches!(self.at.stands, Stands::Made | Stands::Announced)
    }
}

/// Whether a change is made or taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Make,
    Back,
}

/// A service that holds what some acts set.
pub(super) trait Place {
    /// What an act sets.
    type Set: Remote;
    /// All that it shows at one moment.
    type Seen;
    /// Why it does not.
    type Error: Display;

    fn look(&self) -> Result<Self::Seen, Self::Error>;

    /// What is there before an act, for the journal; refused where the plan does not expect it.
    fn before(&self, seen: &Self::Seen, act: &Afar<Self::Set>) -> Result<String, Stop>;

    /// Whether an act has to be sent.
    fn is_due(&self, seen: &Self::Seen, act: &Afar<Self::Set>) -> bool;

    /// Sends acts, once, and looks again.
    fn send(&self, seen: &Self::Seen, acts: &[&Afar<Self::Set>], way: Way) -> Result<Self::Seen, Self::Error>;

    /// Whether it is certain that a failed sending changed nothing.
    fn is_unwritten(e: &Self::Error) -> bool;

    /// A failure as a journal keeps it.
    fn in_journal(e: &Self::Error) -> String {
        e.to_string()
    }

    /// What an act has become: for people, and for the journal.
    fn made(&self, after: &Self::Seen, act: &Afar<Self::Set>) -> Result<(String, String), Stop>;

    /// Whether something has to be put back; refused where somebody else changed it.
    fn goes_back(&self, seen: &Self::Seen, act: &Afar<Self::Set>) -> Result<bool, Stop>;

    /// What putting back has come to, in words.
    fn back(&self, after: &Self::Seen, act: &Afar<Self::Set>) -> Result<String, Stop>;
}

/// Writes one announcement or its end into the node's journal.
pub(super) type Note<'a> = dyn FnMut(&At, Stands, String) -> Result<(), Stop> + 'a;

/// What was made, in words, and what the service showed then; `None`: nothing was left to make.
pub(super) type Made<P> = (Vec<String>, Option<<P as Place>::Seen>);

/// Makes what is not yet made: announced before, sent once, noted after.
pub(super) fn make<P: Place>(place: &P, acts: &[Afar<P::Set>], note: &mut Note<'_>) -> Result<Made<P>, Stop> {
    let open: Vec<&Afar<P::Set>> = acts.iter().filter(|a| a.at.stands != Stands::Made).collect();
    if open.is_empty() {
        return Ok((Vec::new(), None));
    }
    let seen = place.look().map_err(|e| refused(&open, &e))?;
    // All are looked at before the first is announced.
    let before = open.iter().map(|act| place.before(&seen, act)).collect::<Result<Vec<_>, _>>()?;
    let mut due = Vec::new();
    for (act, was) in open.iter().zip(before) {
        boundary("elsewhere: seen");
        // Announced once more where it was interrupted: the attempts are counted there.
        note(&act.at, Stands::Announced, was)?;
        boundary("elsewhere: announced");
        if place.is_due(&seen, act) {
            due.push(*act);
        }
    }
    let after = if due.is_empty() {
        seen
    } else {
        match place.send(&seen, &due, Way::Make) {
            Ok(after) => after,
            Err(e) => {
                // Where it is certain that nothing was written, the journal says so; else it stays announced, and is looked at again.
                if P::is_unwritten(&e) {
                    for act in &open {
                        note(&act.at, Stands::Failed, P::in_journal(&e))?;
                    }
                }
                return Err(refused(&open, &e));
            }
        }
    };
    boundary("elsewhere: sent");
    let mut made = Vec::new();
    for act in &open {
        let (told, kept) = place.made(&after, act)?;
        note(&act.at, Stands::Made, kept)?;
        boundary("elsewhere: noted");
        made.push(format!("{} ({told})", act.at.what));
    }
    Ok((made, Some(after)))
}

/// Puts back what was there before, the last first, and notes it. What was put back is told. `keep`: what somebody else changed is left.
pub(super) fn put_back<P: Place>(
    place: &P,
    acts: &[Afar<P::Set>],
    keep: bool,
    note: &mut Note<'_>,
) -> Result<Vec<String>, Stop> {
    let Some((after, left)) = send_back(place, acts, keep)? else { return Ok(Vec::new()) };
    boundary("elsewhere: put back");
    let mut out = Vec::new();
    for (n, act) in acts.iter().enumerate().rev().filter(|(_, a)| a.is_begun()) {
        let how = match left.iter().find(|(left, _)| *left == n) {
            Some((_, why)) => format!("left as it is: {why}"),
            None => place.back(&after, act)?,
        };
        note(&act.at, Stands::Undone, how.clone())?;
        boundary("elsewhere: undoing noted");
        out.push(how);
    }
    Ok(out)
}

/// Acts that are left as somebody else made them, by their place in the list, and why.
type Left = Vec<(usize, String)>;

/// Puts back what was there before, and notes nothing: [`put_back`] does, and finds it done. What the service then shows; `None`: nothing was
/// to be put back.
pub(super) fn send_back<P: Place>(
    place: &P,
    acts: &[Afar<P::Set>],
    keep: bool,
) -> Result<Option<(P::Seen, Left)>, Stop> {
    let open: Vec<(usize, &Afar<P::Set>)> = acts.iter().enumerate().rev().filter(|(_, a)| a.is_begun()).collect();
    let only: Vec<&Afar<P::Set>> = open.iter().map(|(_, act)| *act).collect();
    if open.is_empty() {
        return Ok(None);
    }
    let seen = place.look().map_err(|e| refused(&only, &e))?;
    let (mut due, mut left) = (Vec::new(), Left::new());
    for (n, act) in &open {
        match place.goes_back(&seen, act) {
            Ok(true) => due.push(*act),
            Ok(false) => {}
            Err(Stop::Refused(why)) if keep && why.iter().all(Trouble::is_unexpected) => {
                left.push((*n, Stop::Refused(why).to_string()));
            }
            Err(stop) => return Err(stop),
        }
    }
    let after =
        if due.is_empty() { seen } else { place.send(&seen, &due, Way::Back).map_err(|e| refused(&only, &e))? };
    Ok(Some((after, left)))
}

fn refused<A: Remote>(acts: &[&Afar<A>], e: &impl Display) -> Stop {
    let step = acts.first().map(|a| a.at.step.as_str());
    Stop::Refused(vec![trouble("failed", step, e.to_string())])
}

pub(super) fn trouble(code: &str, step: Option<&str>, what: impl Into<String>) -> Trouble {
    Trouble { code: code.to_owned(), step: step.map(str::to_owned), what: what.into() }
}

/// Acts of one service, in order of the plan, as they stand on the node. What was there before them is this operator's own record; an answer
/// that says otherwise was refused before it came here.
pub(super) fn acts<A: Remote>(plan: &Plan, record: &Record, state: &State) -> Vec<Afar<A>> {
    let one = |a: &ActState| {
        let act = plan.act(&a.step, a.number)?;
        let set = A::of(act)?.clone();
        let before = record.before(&a.step, a.number).or_else(|| a.before.clone());
        let was = before.as_deref().and_then(A::was);
        let (step, number, stands, what) = (a.step.clone(), a.number, a.stands, act.summary());
        Some(Afar { at: At { step, number, stands, what, before }, set, was })
    };
    state.acts.iter().filter_map(one).collect()
}

/// Acts of one service in the steps that are taken; `chosen` is empty: all.
pub(super) fn chosen<'p, A: Remote + 'p>(plan: &'p Plan, chosen: &'p [String]) -> impl Iterator<Item = &'p A> {
    let steps = plan.steps.iter().filter(move |s| chosen.is_empty() || chosen.contains(&s.id));
    steps.flat_map(Step::acts).filter_map(A::of)
}

/// Whether steps that are taken have acts of a service.
pub(super) fn is_wanted<A: Remote>(plan: &Plan, steps: &[String]) -> bool {
    chosen::<A>(plan, steps).next().is_some()
}

/// Whether what was there before an act, as its note says, is one of the two values that the plan names for it.
pub(super) fn is_planned(act: &Act, note: &str) -> bool {
    fn names<A: Remote>(act: &Act, note: &str) -> bool {
        A::of(act).zip(A::was(note)).is_some_and(|(act, was)| act.names(&was))
    }
    names::<BiosAct>(act, note) || names::<LabelAct>(act, note)
}
