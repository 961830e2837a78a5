//! From desired states to acts: a file for each kind of change, and the table of them. A kind says what it takes, its terms, what it fixes to which
//! value, and what becomes of it on this platform; nothing else knows it.
//!
//! Words of actions come from data: a kind checks them by a strict character set first.

mod args;
pub(crate) mod bios;
mod blocks;
mod domains;
mod kernel_args;
pub mod labels;
mod limits;
mod modules;
pub(crate) mod network;
mod nicfw;
mod options;
mod ours;
mod pause;
mod registers;
mod services;
mod unit;
pub(crate) mod values;
pub(crate) mod words;

use crate::model::{Act, Condition, Disruption, Permanence, Proof, Risk};
use crate::plan::Options;
use crate::platform::Platform;
use crate::terms::{On, Terms};
use linerate_node::Node;
use linerate_rules::Action;
use linerate_snapshot::Snapshot;

/// A kind of change.
pub(crate) trait Kind: Sync {
    /// What of an action has one step: `None`: the action is of another kind; else what tells the steps of this kind apart, such as a device.
    fn takes(&self, action: &Action) -> Option<String>;

    /// When it holds, what it disturbs and what it can break.
    fn terms(&self, action: &Action, on: &On<'_>) -> Terms;

    /// What an action fixes to which value: two with one key and different values contradict each other.
    fn claims(&self, _action: &Action) -> Vec<(String, String)> {
        Vec::new()
    }

    /// A value that the rule leaves open, and how a person decides it.
    fn open(&self, _action: &Action, _on: &Setting<'_, '_>) -> Option<String> {
        None
    }

    /// What it goes through: who else may own that, and whether it can be reached.
    fn through(&self) -> Through {
        Through::System
    }

    /// How it is done on Talos, where its machine configuration has no form for it.
    fn on_talos(&self) -> Option<&'static str> {
        None
    }

    /// What actions of one step become here: one change, or several whose parts differ in what can be done. No value is there twice, and none
    /// contradicts another: the planner has seen to that.
    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>>;
}

/// What a change goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Through {
    /// Files, units and values of the running system, which another system may own.
    System,
    /// A device's firmware, by its maker's tool on the node.
    Firmware,
    /// The boot loader, or a service beside the node: they say themselves what they refuse.
    Beside,
}

/// All kinds, in the order of their steps.
static KINDS: [&dyn Kind; 15] = [
    &modules::Modules,
    &options::ModuleOptions,
    &blocks::Blocks,
    &limits::Limits,
    &values::Values,
    &network::Interfaces,
    &pause::Pause,
    &services::Services,
    &registers::Acs,
    &registers::DeviceControl,
    &domains::Domains,
    &nicfw::Settings,
    &nicfw::Resets,
    &bios::Bios,
    &kernel_args::KernelArguments,
];

/// Which kind an action is of: its place among all, what tells its step apart, and itself. `None`: it is left to people.
pub(crate) fn kind(action: &Action) -> Option<(usize, String, &'static dyn Kind)> {
    KINDS.iter().enumerate().find_map(|(place, kind)| Some((place, kind.takes(action)?, *kind)))
}

/// The node for which changes are made, and what was asked of the planner.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a, 's> {
    /// What was read.
    pub snapshot: &'a Snapshot,
    /// The node.
    pub node: &'a Node<'s>,
    /// Its platform.
    pub platform: &'a Platform,
    /// What was asked.
    pub options: &'a Options,
    /// Pending settings that the plan sets anew: device and parameter.
    pub set: &'a [(String, String)],
    /// Whether NICs may be reset without a reboot: something else of the plan may reboot anyway.
    pub reset: bool,
}

impl<'a> Setting<'a, '_> {
    /// What of it decides the terms.
    #[must_use]
    pub fn on(&self) -> On<'a> {
        On {
            role: self.platform.role,
            firmware: &self.node.nic_firmware,
            resets_by: self.reset.then_some(self.platform),
            set: self.set,
        }
    }
}

/// A step without what the planner knows (rules, reasons, [`crate::terms`]).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// Name of the step, stable, `[a-z0-9-]` only, the same for the same actions: `modules`, `nicfw-0000-81-00-0`.
    pub id: String,
    /// One sentence in the imperative; empty: the planner takes the remedy's.
    pub summary: String,
    /// What must hold before.
    pub precondition: Vec<Condition>,
    /// Acts that hold for one start of the kernel only.
    pub trial: Vec<Act>,
    /// The acts, in order.
    pub acts: Vec<Act>,
    /// What is read again besides the rules that ask: those the planner adds.
    pub proof: Vec<Proof>,
    /// What people should know of this way of doing it; is put behind the remedy's own risk note.
    pub note: String,
}

/// Why nothing is changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// It must not or cannot be done.
    No {
        /// Why not.
        reason: String,
        /// What on the command line would plan it after all.
        unless: Option<String>,
    },
    /// It is left to people.
    ByHand {
        /// How, one a line.
        how: Vec<String>,
        /// What to read afterwards.
        reread: Vec<String>,
    },
    /// It is so already: the change is made and waits for a boot or a reset, or nothing is left to do.
    Already {
        /// What was found.
        reason: String,
    },
}

impl Refusal {
    /// A plain no.
    #[must_use]
    pub fn no(reason: impl Into<String>) -> Refusal {
        Refusal::No { reason: reason.into(), unless: None }
    }
}

/// What actions of one step become on this platform. What cannot be done here, or has a word that must not go into a file, is refused.
#[must_use]
pub fn changes(actions: &[Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
    let actions: Vec<&Action> = actions.iter().collect();
    match actions.first().and_then(|a| kind(a)) {
        Some((.., kind)) => made(kind, &actions, on),
        None => Vec::new(),
    }
}

/// As [`changes`], of a kind that is known.
pub(crate) fn made(kind: &dyn Kind, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
    if on.platform.container && kind.through() != Through::Beside {
        let why = "the source was read inside a container: nothing of the host can be changed from it";
        return vec![Err(Refusal::no(why))];
    }
    kind.changes(actions, on)
}

/// What actions of a kind ask for, each once.
fn each<'a, T: PartialEq>(actions: &[&'a Action], pick: impl Fn(&'a Action) -> Option<T>) -> Vec<T> {
    let mut out = Vec::new();
    for one in actions.iter().filter_map(|a| pick(a)) {
        if !out.contains(&one) {
            out.push(one);
        }
    }
    out
}

/// Terms of what holds at once, is written again at each boot, and disturbs nothing.
const AT_ONCE: Terms = Terms { persistence: Permanence::Immediate, disruption: Disruption::None, risk: Risk::Low };
/// Terms of what interrupts links or device traffic.
const INTERRUPTS: Terms =
    Terms { persistence: Permanence::Immediate, disruption: Disruption::Service, risk: Risk::Medium };
/// Terms of what holds from the next boot on.
const BY_REBOOT: Terms =
    Terms { persistence: Permanence::NextBoot, disruption: Disruption::DrainReboot, risk: Risk::Medium };
