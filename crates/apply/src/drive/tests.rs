//! Connections that are lost at every request, before or after it was heard: the operator goes on, and each thing is done once.

use super::node::{Node, Reached, Unreached};
use super::{Ended, Event, Lone, Operator, Options, Stop, Target, Undoing, Undone, apply, rollback};
use crate::hand::After;
use crate::hand::serve_with;
use crate::hand::tests::{Grub, INSPECT, Node as Dir, run, session, step};
use crate::kube::Kube;
use crate::plans::Record;
use crate::protocol::{Answer, Call, Stage};
use linerate_remedy::{
    Act, BootTrial, Content, Disruption, FileAct, FileState, Permanence, Plan, Proof, Step, TrialAct,
};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::{Options as Capture, Purpose};
use linerate_transport::Cancel;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A node in a directory, whose connection is lost at one request, and stays so.
pub(super) struct Flaky {
    pub(super) dir: Dir,
    asked: AtomicUsize,
    at: usize,
    heard: bool,
    /// What the operator noted.
    pub(super) record: Arc<Record>,
}

impl Node for Flaky {
    fn name(&self) -> &str {
        "n1"
    }

    fn is_here(&self) -> bool {
        false
    }

    fn ask(&self, call: &Call) -> Reached<Answer> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let lost = self.at > 0 && number >= self.at;
        if lost && !(self.heard && number == self.at) {
            return Err(Unreached::Lost("lost before".to_owned()));
        }
        let served = serve_with(call.clone(), &self.dir.root(), &Grub);
        if served.after == Some(After::Reboot) {
            self.dir.reboot();
        }
        if lost { Err(Unreached::Lost("lost after".to_owned())) } else { Ok(served.answer) }
    }

    fn read(&self) -> Reached<Snapshot> {
        let root = self.dir.at("");
        let read = linerate_snapshot::load(
            &root,
            &Capture { redact: false, ..Capture::new(&root, Purpose::Collect) },
            &|_| {},
        );
        read.map_err(|e| Unreached::Foreign(e.to_string()))
    }

    fn boot(&self) -> Reached<String> {
        let id = self.dir.read("proc/sys/kernel/random/boot_id").unwrap_or_default();
        Ok(linerate_snapshot::boot_digest(&id))
    }
}

impl Flaky {
    pub(super) fn new() -> Flaky {
        let dir = Dir::new();
        let record = noted(&dir.plan_of(Vec::new()));
        Flaky { dir, asked: AtomicUsize::new(0), at: 0, heard: false, record }
    }

    /// From now on: lost at this request; 0: never.
    pub(super) fn lose(&mut self, at: usize, heard: bool) {
        (self.asked, self.at, self.heard) = (AtomicUsize::new(0), at, heard);
    }

    pub(super) fn is_over(&self) -> bool {
        self.asked.load(Ordering::SeqCst) < self.at
    }
}

/// A node with something beside it.
pub(super) trait Wrapped: Send + Sync {
    fn inner(&self) -> &Flaky;

    fn cluster(&self) -> Option<&Kube>;
}

impl<W: Wrapped> Node for W {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn is_here(&self) -> bool {
        false
    }

    fn ask(&self, call: &Call) -> Reached<Answer> {
        self.inner().ask(call)
    }

    fn read(&self) -> Reached<Snapshot> {
        self.inner().read()
    }

    fn boot(&self) -> Reached<String> {
        self.inner().boot()
    }

    fn kube(&self) -> Option<&Kube> {
        self.cluster()
    }
}

/// An argument of the kernel: tried once, then made permanent.
pub(super) fn plan(dir: &Dir) -> Plan {
    let words = vec!["iommu=pt".to_owned()];
    let drop_in = Act::File(FileAct {
        path: "/etc/default/grub.d/90-linerate.cfg".to_owned(),
        before: FileState::Absent,
        after: Some(Content("GRUB_CMDLINE_LINUX=\"iommu=pt\"\n".to_owned())),
        mode: 0o644,
    });
    let args = Step {
        trial: vec![Act::Trial(TrialAct { boot: BootTrial::GrubCustom, add: words.clone(), remove: Vec::new() })],
        proof: vec![Proof::Cmdline { has: words, lacks: Vec::new() }],
        persistence: Permanence::NextBoot,
        disruption: Disruption::DrainReboot,
        ..step("args", vec![drop_in, run(&["update-grub"], &["/boot/grub/grub.cfg"], &[])])
    };
    dir.plan_of(vec![args])
}

/// An operator by number.
pub(super) fn operator(number: u32) -> Operator {
    Operator { session: session(number), take_over: false }
}

/// What an operator noted, kept from one run to the next.
pub(super) fn noted(plan: &Plan) -> Arc<Record> {
    Arc::new(Record::in_memory("n1", plan, &[]))
}

/// Undoes it, as the first operator.
pub(super) fn undo(node: &dyn Node, flaky: &Flaky, plan: &Plan, how: Undoing) -> Result<Undone, Stop> {
    let operator = operator(1);
    rollback(
        &Target { node, plan, record: &flaky.record, operator: &operator, lifecycle: &Lone },
        how,
        &Cancel::default(),
        &mut |_| {},
    )
}

pub(super) fn options(node: &Flaky, twice: bool) -> Options {
    Options {
        operator: operator(1),
        record: Arc::clone(&node.record),
        steps: Vec::new(),
        reboots: 4,
        wait: Duration::from_secs(2),
        may_reboot: true,
        twice,
        undo: false,
        keep: Some(node.dir.at("var/kept")),
    }
}

fn go(node: &Flaky, plan: &Plan, twice: bool) -> (Ended, Vec<String>) {
    let mut told = Vec::new();
    let tell = &mut |e: Event<'_>| told.push(format!("{e:?}").chars().take(60).collect());
    let outcome = apply(node, plan, &Lone, &options(node, twice), &Cancel::default(), tell);
    (outcome.ended, told)
}

fn stands(node: &Flaky) -> (Stage, usize) {
    let state = node.dir.ask(INSPECT).state.unwrap();
    (state.stage, state.reboots.len())
}

#[test]
fn without_a_fault() {
    let node = Flaky::new();
    let plan = plan(&node.dir);
    let (ended, told) = go(&node, &plan, true);
    assert_eq!(ended, Ended::Proven, "{told:?}");
    assert_eq!(stands(&node), (Stage::Finished, 2));
}

const REBOOTING: Undoing = Undoing { reboot: Some(Duration::from_secs(2)), keep_changed: false };

#[test]
fn what_others_changed_stays_and_the_plan_is_ended() {
    let node = Flaky::new();
    let plan = plan(&node.dir);
    assert_eq!(go(&node, &plan, false).0, Ended::Proven);
    node.dir.write("etc/default/grub.d/90-linerate.cfg", "theirs\n");
    let undo = |how| undo(&node, &node, &plan, how);
    assert!(undo(REBOOTING).is_err());
    assert_eq!(stands(&node).0, Stage::Undoing);
    assert!(undo(Undoing { keep_changed: true, ..REBOOTING }).is_ok());
    assert_eq!(stands(&node).0, Stage::Finished);
    assert_eq!(node.dir.read("etc/default/grub.d/90-linerate.cfg").as_deref(), Some("theirs\n"));
}

/// What a tree holds that an undoing would take away.
fn is_permanent(node: &Flaky) -> bool {
    node.dir.read("etc/default/grub.d/90-linerate.cfg").is_some()
}

#[test]
fn a_reboot_by_hand_is_the_reboot() {
    for twice in [false, true] {
        let node = Flaky::new();
        let plan = plan(&node.dir);
        let patient = Options { may_reboot: false, ..options(&node, twice) };
        let go = || apply(&node, &plan, &Lone, &patient, &Cancel::default(), &mut |_| {}).ended;
        for _ in 0..=usize::from(twice) {
            assert_eq!(go(), Ended::RebootDue);
            assert_eq!(go(), Ended::RebootDue, "the same boot still runs");
            node.dir.reboot();
        }
        assert_eq!(go(), Ended::Proven);
        assert!(is_permanent(&node));
    }
}

#[test]
fn what_is_proven_is_not_undone_when_it_is_asked_for_again() {
    let node = Flaky::new();
    let plan = plan(&node.dir);
    let undoing = Options { undo: true, ..options(&node, false) };
    for _ in 0..2 {
        let outcome = apply(&node, &plan, &Lone, &undoing, &Cancel::default(), &mut |_| {});
        assert_eq!(outcome.ended, Ended::Proven);
        assert!(is_permanent(&node));
    }
}

#[test]
fn a_lost_connection_is_no_reason_to_undo() {
    for at in 1..100 {
        let mut node = Flaky::new();
        let plan = plan(&node.dir);
        node.lose(at, true);
        let undoing = Options { undo: true, ..options(&node, false) };
        let outcome = apply(&node, &plan, &Lone, &undoing, &Cancel::default(), &mut |_| {});
        let state = node.dir.ask(INSPECT).state;
        assert!(state.is_none_or(|s| !matches!(s.stage, Stage::Undoing | Stage::Undone)), "{at}: {:?}", outcome.ended);
        if node.is_over() {
            return;
        }
    }
    panic!("it never came to its end");
}

#[test]
fn lost_at_every_request() {
    let mut faults = 0;
    for heard in [false, true] {
        for at in 1..100 {
            let mut node = Flaky::new();
            let (was, plan) = (node.dir.tree(), plan(&node.dir));
            node.lose(at, heard);
            let (first, told) = go(&node, &plan, true);
            let over = node.is_over();
            assert!(!over || first == Ended::Proven, "{at}: {first:?}: {told:?}");
            faults += usize::from(!over);
            node.lose(0, false);
            if first != Ended::Proven {
                let (second, told) = go(&node, &plan, true);
                assert_eq!(second, Ended::Proven, "{at}, {heard}: {told:?}");
            }
            assert_eq!(stands(&node), (Stage::Finished, 2), "{at}, {heard}: each reboot is made once");
            node.lose(at, heard);
            let undo = |node: &Flaky| undo(node, node, &plan, REBOOTING);
            let undone = undo(&node);
            node.lose(0, false);
            // Where only the last answer was lost, there is nothing left to undo.
            let again = undone.is_err().then(|| undo(&node));
            let is = node.dir.tree();
            let differs: Vec<&String> = is.keys().chain(was.keys()).filter(|k| is.get(*k) != was.get(*k)).collect();
            assert!(differs.is_empty(), "{at}, {heard}: {differs:?}: {again:?}");
            assert_eq!(stands(&node).0, Stage::Finished);
            if over {
                break;
            }
        }
    }
    assert!(faults > 15, "{faults}");
    println!("{faults} connections lost");
}
