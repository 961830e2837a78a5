//! What stands beside a node while a plan is applied to it: its BMC, and its object in Kubernetes.

use super::elsewhere::{self, Afar, At, Place, is_wanted, trouble};
use super::labels::{Labels, Whose, unknown, whose};
use super::one::Work;
use super::{Event, Stop, bios};
use crate::protocol::{Answer, Phase, Request, Stands, State};
use linerate_remedy::verify::Told;
use linerate_remedy::{BiosAct, LabelAct};

impl Work<'_> {
    /// Why what the plan sets elsewhere cannot be set: no service was named, or it is another machine's.
    pub(super) fn without_services(&mut self, found: &Answer) -> Result<Option<String>, Stop> {
        match self.without_bmc(found.node.uuid.as_deref())? {
            None => self.without_kube(),
            why => Ok(why),
        }
    }

    fn without_bmc(&mut self, uuid: Option<&str>) -> Result<Option<String>, Stop> {
        if !is_wanted::<BiosAct>(self.plan, &self.steps) {
            return Ok(None);
        }
        let Some(bmc) = self.link.bmc() else {
            let why = "the plan sets BIOS attributes, but no BMC is given: give it with --redfish, or choose other steps with --step";
            return Ok(Some(why.to_owned()));
        };
        let theirs = match bmc.uuid() {
            Ok(uuid) => uuid,
            Err(e) if !self.touched => return Ok(Some(format!("its BMC: {e}"))),
            Err(e) => return Err(Stop::Refused(vec![trouble("failed", None, format!("its BMC: {e}"))])),
        };
        if let Err(why) = self.link.is_sure().and_then(|()| bios::is_sure(self.plan, uuid, theirs.as_deref())) {
            return Ok(Some(why.to_string()));
        }
        if self.touched {
            return Ok(None);
        }
        Ok(bios::stale(bmc, self.plan, &self.steps).unwrap_or_else(|e| Some(format!("its BMC: {e}"))))
    }

    fn without_kube(&mut self) -> Result<Option<String>, Stop> {
        if !is_wanted::<LabelAct>(self.plan, &self.steps) {
            return Ok(None);
        }
        let Some(node) = &self.plan.kubernetes else {
            return Ok(Some(
                "the plan changes labels and does not say of which Kubernetes node: make a new plan".to_owned(),
            ));
        };
        let Some(kube) = self.link.kube() else {
            return Ok(Some(format!(
                "the plan changes labels of the Kubernetes node {}, but no cluster is given: give it with --kube-context, --kubeconfig or --kube-node, or choose other steps with --step",
                node.name
            )));
        };
        let labels = Labels { kube, node };
        let seen = match labels.look() {
            Ok(seen) => seen,
            Err(e) if !self.touched => return Ok(Some(e.to_string())),
            Err(e) => return Err(Stop::Refused(vec![trouble("failed", None, e.to_string())])),
        };
        match whose(&seen.node, &self.plan.node) {
            Whose::Foreign(what) => return Ok(Some(what)),
            Whose::Unknown => return Ok(Some(unknown(&node.name))),
            Whose::Ours => {}
        }
        if let Err(why) = self.link.is_sure() {
            return Ok(Some(why.to_string()));
        }
        if self.touched {
            return Ok(None);
        }
        // Asked before anything is changed: what is put is put last, and a reboot made in vain is a reboot.
        match kube.no(&node.name) {
            Ok(None) => {}
            Ok(Some(no)) => return Ok(Some(no.to_string())),
            Err(e) => self.remarks.push(format!("could not check whether labels may be changed: {e}")),
        }
        Ok(labels.refuses(self.plan, &self.steps, &seen))
    }

    /// Makes what a phase sets elsewhere, journalled on the node.
    pub(super) fn elsewhere(&mut self, state: &State, phase: Phase) -> Result<(), Stop> {
        let claims = phase == Phase::Claims;
        let acts = self.labels(state).filter(|a| a.set.after.is_some() == claims).collect::<Vec<_>>();
        if let (Some(kube), Some(node)) = (self.link.kube(), self.plan.kubernetes.as_ref()) {
            self.make(&Labels { kube, node }, &acts)?;
        }
        if let (Some(bmc), false) = (self.link.bmc(), claims) {
            let acts = elsewhere::acts(self.plan, self.link.record, state);
            if let Some(after) = self.make(bmc, &acts)? {
                self.answers = Told::default();
                bios::answers(&after, &acts, &mut self.answers);
            }
        }
        Ok(())
    }

    fn make<P: Place>(&mut self, place: &P, acts: &[Afar<P::Set>]) -> Result<Option<P::Seen>, Stop> {
        let (made, after) = elsewhere::make(place, acts, &mut |at, stands, note| {
            let (plan, step, number) = (self.plan.hash.clone(), at.step.clone(), at.number);
            if stands == Stands::Announced {
                self.keep(at, &note)?;
            }
            self.ask(&Request::Elsewhere { plan, step, number, stands, note }).map(|_| ())
        })
        .inspect_err(|stop| {
            if let Stop::Refused(all) = stop {
                all.iter().for_each(|t| (self.tell)(Event::Trouble(t)));
            }
        })?;
        made.iter().for_each(|what| (self.tell)(Event::Made(what)));
        Ok(after)
    }

    /// Notes here what is there before an act, ahead of it: what is put back later is this, and never what a node says.
    fn keep(&self, at: &At, seen: &str) -> Result<(), Stop> {
        let again = at.stands == Stands::Announced;
        let before = at.before.as_deref().filter(|_| again).unwrap_or(seen);
        let kept = self.link.record.note(&at.step, at.number, before, again);
        kept.map_err(|e| Stop::Refused(vec![trouble("not-kept", Some(&at.step), e.to_string())]))
    }

    fn labels(&self, state: &State) -> impl Iterator<Item = Afar<LabelAct>> + use<> {
        elsewhere::acts(self.plan, self.link.record, state).into_iter()
    }

    /// Labels that are still to be put when all else is proven.
    pub(super) fn claims(&self, state: &State) -> Vec<String> {
        let claims = self.labels(state).filter(|a| a.set.after.is_some());
        claims.filter(|a| a.at.stands != Stands::Made).map(|a| a.set.key).collect()
    }

    /// What others than the node show of what the plan promises.
    pub(super) fn told(&mut self) -> Told {
        let mut told = match self.link.bmc() {
            Some(bmc) => bmc.told(self.plan, self.rebooted),
            None => Told::default(),
        };
        told.bios_answers.clone_from(&self.answers.bios_answers);
        let trouble = self.link.kube().and_then(|kube| kube.tell(self.plan, &mut told)).map(|e| e.to_string());
        self.remarks.extend(trouble.filter(|t| !self.remarks.contains(t)));
        told.labels_due = self.due.iter().cloned().collect();
        told
    }
}
