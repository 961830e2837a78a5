//! The only way from the driver to a node: every call says whose session it is, and every answer is compared with the operator's plan before
//! anything else sees it.

use super::fits::{self, Known};
use super::node::{Node, Reached, Unreached, again, heard, is_busy};
use super::session::{Operator, is_gone};
use super::unsure::Unsure;
use super::{Bmc, Event, Stop};
use crate::hand::fault::boundary;
use crate::hand::now;
use crate::kube::Kube;
use crate::plans::Record;
use crate::protocol::{Answer, Call, Holder, Request, State};
use linerate_remedy::plan::node_id;
use linerate_remedy::{NodeId, Plan};
use linerate_snapshot::Snapshot;
use linerate_transport::Cancel;
use std::cell::{Cell, RefCell};

/// A node, for one plan of one operator.
pub(super) struct Link<'a> {
    node: &'a dyn Node,
    pub(super) plan: &'a Plan,
    pub(super) operator: &'a Operator,
    /// The operator's own record of the plan on this node.
    pub(super) record: &'a Record,
    pub(super) cancel: &'a Cancel,
    steps: RefCell<Vec<Vec<String>>>,
    /// What the node said last, once this session holds it: before, others may change it.
    last: RefCell<Option<State>>,
    turn: Cell<Turn>,
    over: RefCell<Option<String>>,
    /// The boot that answered last.
    boot: RefCell<Option<String>>,
}

/// Whether this session holds the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// It was not asked for.
    No,
    /// It was, and may hold.
    Asked,
    Holds,
}

impl<'a> Link<'a> {
    /// A link. `steps`: what the operator asks for now.
    pub(super) fn new(
        node: &'a dyn Node,
        plan: &'a Plan,
        steps: &[String],
        operator: &'a Operator,
        record: &'a Record,
        cancel: &'a Cancel,
    ) -> Link<'a> {
        let steps = RefCell::new(vec![steps.to_vec(), record.steps()]);
        let (last, over, boot) = (RefCell::default(), RefCell::default(), RefCell::default());
        Link { node, plan, operator, record, cancel, steps, last, turn: Cell::new(Turn::No), over, boot }
    }

    pub(super) fn name(&self) -> &'a str {
        self.node.name()
    }

    pub(super) fn is_here(&self) -> bool {
        self.node.is_here()
    }

    pub(super) fn bmc(&self) -> Option<&'a Bmc> {
        self.node.bmc()
    }

    pub(super) fn kube(&self) -> Option<&'a Kube> {
        self.node.kube()
    }

    /// From now on, only these steps were taken.
    pub(super) fn settle(&self, steps: &[String]) {
        *self.steps.borrow_mut() = vec![steps.to_vec()];
    }

    /// The node came back from a reboot: this boot is over.
    pub(super) fn is_over(&self, boot: &str) {
        *self.over.borrow_mut() = Some(boot.trim().to_owned());
    }

    /// Asks, and again where the connection is lost: a node that has just come up drops some, and a hand that is asked twice does nothing
    /// twice.
    pub(super) fn ask(&self, request: &Request) -> Reached<Answer> {
        self.call(&Call::new(&self.operator.session, request.clone()))
    }

    /// How the plan stands.
    pub(super) fn inspect(&self) -> Reached<Answer> {
        self.ask(&Request::Inspect { plan: Some(self.plan.hash.clone()) })
    }

    /// Asks once.
    pub(super) fn ask_once(&self, request: &Request) -> Reached<Answer> {
        let call = Call::new(&self.operator.session, request.clone());
        self.fits(&call, self.node.ask(&call)?)
    }

    fn call(&self, call: &Call) -> Reached<Answer> {
        boundary("drive: asks");
        let heard = again(self.cancel, || self.node.ask(call), is_busy);
        boundary("drive: is answered");
        self.fits(call, heard?)
    }

    fn fits(&self, call: &Call, answer: Answer) -> Reached<Answer> {
        let fits = {
            let (steps, last) = (self.steps.borrow(), self.last.borrow());
            let (over, boot) = (self.over.borrow(), self.boot.borrow());
            let holds = self.turn.get() == Turn::Holds;
            let known = Known {
                plan: self.plan,
                steps: &steps,
                record: self.record,
                last: last.as_ref(),
                is_new: holds && last.is_none(),
                boot: boot.as_deref(),
                over: over.as_deref(),
            };
            fits::answer(&known, call, &answer)
        };
        fits.map_err(|d| Unreached::Differs { node: self.name().to_owned(), code: d.code, what: d.what })?;
        self.boot.borrow_mut().clone_from(&answer.node.boot);
        if answer.state.is_some() && self.turn.get() == Turn::Holds {
            self.last.borrow_mut().clone_from(&answer.state);
        }
        Ok(answer)
    }

    /// Takes the node for this session, or says who has it. What is displaced is told.
    pub(super) fn take(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<Option<State>, Stop> {
        let mut call = Call::new(&self.operator.session, Request::Take { plan: self.plan.hash.clone() });
        // Another one may take it between the refusal and the next request.
        for _ in 0..3 {
            self.turn.set(Turn::Asked);
            let answer = self.call(&call)?;
            answer.told.iter().for_each(|told| tell(Event::TakenOver(told)));
            let other = answer.holder.as_ref().filter(|h| h.session.id != self.operator.session.id);
            let Some(holder) = other.filter(|_| answer.refused.is_empty() || is_held(&answer) || is_busy(&answer))
            else {
                if !answer.refused.is_empty() {
                    return Err(refused(answer));
                }
                self.turn.set(Turn::Holds);
                self.last.borrow_mut().clone_from(&answer.state);
                return Ok(answer.state);
            };
            let gone = is_gone(&holder.session);
            if !gone && !self.operator.take_over {
                return Err(Stop::Held(words(holder)));
            }
            let why = if gone { "its process is gone" } else { "--take-over was asked for" };
            tell(Event::TakenOver(&format!("{}: taken over, {why}", holder.words(now()))));
            call.takes = Some(holder.session.id.clone());
        }
        let why =
            "a request of an earlier session still runs on the node, or several sessions compete for it: try again";
        Err(Stop::Held(why.to_owned()))
    }

    /// Leaves the node to others. Where that is not heard, the session is found to be gone when its process is.
    pub(super) fn leave(&self) {
        if self.turn.replace(Turn::No) == Turn::No {
            return;
        }
        for _ in 0..3 {
            // Whoever is at work there at this moment is soon refused, and gone.
            if !self.ask(&Request::Leave).is_ok_and(|answer| is_busy(&answer)) {
                return;
            }
        }
    }

    /// Reads the node: it has to be the plan's machine, in the boot that answered.
    pub(super) fn read(&self, boot: Option<&str>) -> Reached<Snapshot> {
        let found = again(self.cancel, || self.node.read(), |_| false)?;
        let differs = |code, what| Err(Unreached::Differs { node: self.name().to_owned(), code, what });
        let (id, planned) = (node_id(&found), &self.plan.node.machine);
        if planned.is_some() && *planned != id.machine {
            let shown = id.machine.unwrap_or_else(|| "none".to_owned());
            return differs(
                "other-node",
                format!("what was read shows the machine id (digest) {shown}, but the plan has another one"),
            );
        }
        match (id.boot, boot) {
            (None, Some(_)) => differs("boot", "what was read does not show its boot".to_owned()),
            (Some(read), Some(boot)) if read != boot => differs(
                "boot",
                format!(
                    "what was read is from boot {read}, but boot {boot} answers: the node was rebooted meanwhile, or the reading is out of date"
                ),
            ),
            _ => Ok(found),
        }
    }

    /// The node's boot, asked again where the connection is lost.
    pub(super) fn boot(&self) -> Reached<String> {
        again(self.cancel, || self.node.boot(), |_| false)
    }

    /// The node's boot, asked once: while it comes up.
    pub(super) fn boot_once(&self) -> Reached<String> {
        self.node.boot()
    }

    /// Whether the machine that answers is surely the plan's, for acts beside it; else why not.
    pub(super) fn is_sure(&self) -> Result<(), Unsure> {
        let plan = &self.plan.node;
        if plan.machine.is_none() {
            return Err(Unsure::NoMachine);
        }
        let Some(then) = &plan.host_key else { return Ok(()) };
        match self.node.host_key().map_err(Unsure::NoKey)? {
            Some(now) if now != *then => Err(Unsure::OtherKey { now, then: then.clone() }),
            // The same; or not over SSH: it is this machine itself.
            _ => Ok(()),
        }
    }
}

fn is_held(answer: &Answer) -> bool {
    answer.refused.iter().any(|t| t.code == "held")
}

fn words(holder: &Holder) -> String {
    format!(
        "{}: nobody else can change this node meanwhile. If that session is certainly gone, --take-over takes the node from it",
        holder.words(now())
    )
}

/// What a refusal is: of this session, where another one holds the node, or of what was asked.
pub(super) fn refused(answer: Answer) -> Stop {
    match answer.refused.iter().find(|t| t.code == "held") {
        Some(trouble) => Stop::Held(answer.holder.as_ref().map_or_else(|| trouble.what.clone(), words)),
        None => Stop::Refused(answer.refused),
    }
}

/// What a hand says of the plan that was used last on a node, and which steps: for who goes on without a plan's file. It only says which of
/// the operator's own plans may be meant.
///
/// # Errors
/// There is no answer.
pub fn begun(node: &dyn Node, operator: &Operator) -> Reached<Option<State>> {
    let call = Call::new(&operator.session, Request::Inspect { plan: None });
    let answer = node.ask(&call)?;
    if answer.asked != call.digest() {
        let what = "it answers another call".to_owned();
        return Err(Unreached::Differs { node: node.name().to_owned(), code: "asked", what });
    }
    match (answer.state, answer.refused.first()) {
        (None, Some(trouble)) => Err(Unreached::Foreign(format!("{}: {}", node.name(), trouble.what))),
        (state, _) => Ok(state),
    }
}

/// Which machine answers, and by which SSH host key: for a plan that is made of it.
///
/// # Errors
/// There is no answer.
pub fn identity(node: &dyn Node, operator: &Operator) -> Reached<NodeId> {
    let call = Call::new(&operator.session, Request::Inspect { plan: None });
    let found = node.ask(&call)?.node;
    Ok(NodeId { host_key: node.host_key()?, ..found })
}

/// How a plan stands on a node, compared with the plan: for who only looks.
///
/// # Errors
/// There is no answer, or it does not fit the plan.
pub fn standing(node: &dyn Node, plan: &Plan, operator: &Operator, record: &Record) -> Reached<Option<State>> {
    let cancel = Cancel::default();
    let link = Link::new(node, plan, &record.steps(), operator, record, &cancel);
    Ok(link.inspect()?.state)
}

/// What a driver that holds this plan takes of the bytes that answer its first call: for whoever wants to try lies. `None`: they are no answer.
#[must_use]
pub fn accepts(plan: &Plan, call: &Call, bytes: &[u8]) -> Option<Reached<Option<State>>> {
    let answer = match heard("node", bytes)? {
        Ok(answer) => answer,
        Err(e) => return Some(Err(e)),
    };
    let record = Record::in_memory("node", plan, &[]);
    let steps = [Vec::new()];
    let known = Known { plan, steps: &steps, record: &record, last: None, is_new: false, boot: None, over: None };
    let differs = |d: fits::Differs| Unreached::Differs { node: "node".to_owned(), code: d.code, what: d.what };
    Some(fits::answer(&known, call, &answer).map(|()| answer.state).map_err(differs))
}

/// What would speak against a plan on a node: asked, and nothing else. The identity is the node's own to refuse.
///
/// # Errors
/// There is no answer.
pub fn check(node: &dyn Node, plan: &Plan, steps: &[String], operator: &Operator) -> Reached<Answer> {
    let ask = Request::Check { plan: Box::new(plan.clone()), steps: steps.to_vec() };
    node.ask(&Call::new(&operator.session, ask))
}
