//! Undoing: a label that says what the node does goes before that is undone, and one that was taken off comes back at the end.

use super::{Labels, Whose, unknown, whose};
use crate::drive::elsewhere::{self, Afar, At, Place, trouble};
use crate::drive::link::Link;
use crate::drive::{Event, Stop, Undoing, undo};
use crate::hand::fault::boundary;
use crate::kube::{Error, Object};
use crate::protocol::{Stands, State, UNEXPECTED};
use linerate_remedy::LabelAct;

/// A plan that is undone, as far as it changed labels.
pub(in crate::drive) struct Labelled<'a> {
    pub(in crate::drive) link: &'a Link<'a>,
    pub(in crate::drive) how: Undoing,
    pub(in crate::drive) tell: &'a mut dyn FnMut(Event<'_>),
}

impl<'a> Labelled<'a> {
    /// Takes off what the plan put, before anything that it claims is undone. Where labels could not be put back afterwards, nothing is.
    pub(in crate::drive) fn claims_first(&mut self, state: &State) -> Result<(), Stop> {
        let begun = self.begun(state);
        let Some(labels) = self.labels(&begun)? else { return Ok(()) };
        let Some(seen) = self.look(&labels, &begun)? else { return Ok(()) };
        self.link.inspect()?;
        let refuse =
            |what: String| Err(Stop::Refused(vec![trouble("other-node", None, format!("{what}. Nothing is undone"))]));
        match whose(&seen.node, &self.link.plan.node) {
            Whose::Ours => self.link.is_sure().or_else(|why| refuse(why.to_string()))?,
            Whose::Foreign(what) => return refuse(what),
            Whose::Unknown => return refuse(unknown(&seen.node.name)),
        }
        for act in begun.iter().filter(|_| !self.how.keep_changed) {
            labels.goes_back(&seen, act)?;
        }
        let claims: Vec<Afar<LabelAct>> = begun.into_iter().filter(|a| a.set.after.is_some()).collect();
        elsewhere::send_back(&labels, &claims, self.how.keep_changed)?;
        boundary("labels: claims are gone");
        Ok(())
    }

    /// Puts back what was there, and notes all of it.
    pub(in crate::drive) fn put_back(&mut self, state: &State) -> Result<(), Stop> {
        let begun = self.begun(state);
        let Some(labels) = self.labels(&begun)? else { return Ok(()) };
        if self.look(&labels, &begun)?.is_none() {
            for act in begun.iter().rev() {
                let why =
                    "left: the Kubernetes object that had the label no longer exists, and --keep-changed was given";
                self.note(&act.at, why.to_owned())?;
            }
            return Ok(());
        }
        let keep = self.how.keep_changed;
        let back = elsewhere::put_back(&labels, &begun, keep, &mut |at, _, how| self.note(at, how))?;
        back.iter().for_each(|what| (self.tell)(Event::PutBack(what)));
        Ok(())
    }

    fn begun(&self, state: &State) -> Vec<Afar<LabelAct>> {
        elsewhere::acts(self.link.plan, self.link.record, state).into_iter().filter(Afar::is_begun).collect()
    }

    fn note(&mut self, at: &At, how: String) -> Result<(), Stop> {
        undo::noted(self.link, at, Stands::Undone, how, self.tell)
    }

    /// The labels, where acts have changed some.
    fn labels(&mut self, begun: &[Afar<LabelAct>]) -> Result<Option<Labels<'a>>, Stop> {
        let Some(first) = begun.first() else { return Ok(None) };
        if let (Some(kube), Some(node)) = (self.link.kube(), &self.link.plan.kubernetes) {
            return Ok(Some(Labels { kube, node }));
        }
        let what = "labels of the Kubernetes node were changed, but no cluster is given to put them back: give it with --kube-context, \
                    --kubeconfig or --kube-node, and roll back again. Nothing is undone";
        let trouble = trouble("not-here", Some(&first.at.step), what);
        (self.tell)(Event::Trouble(&trouble));
        Err(Stop::Refused(vec![trouble]))
    }

    /// The object; `None`: the one that had the labels is gone, and what others changed is left.
    fn look(&self, labels: &Labels<'_>, begun: &[Afar<LabelAct>]) -> Result<Option<Object>, Stop> {
        let step = begun.first().map(|a| a.at.step.as_str());
        let refuse = |code: &str, e: &Error| Err(Stop::Refused(vec![trouble(code, step, e.to_string())]));
        match labels.look() {
            Ok(seen) => Ok(Some(seen)),
            Err(e) if e.is_gone() && self.how.keep_changed => Ok(None),
            Err(e) if e.is_gone() => refuse(UNEXPECTED, &e),
            Err(e) => refuse("failed", &e),
        }
    }
}
