//! A node that lies, at each step of the protocol: whatever it answers, nothing is done beside it but what the operator's plan says, and
//! nothing at all once a lie was told that can be seen.

mod any;
mod later;
mod lies;
mod two;

use super::bios::tests::Wire;
use super::labels::tests::labels;
use super::node::{Node, Reached};
use super::tests::{Flaky, noted, operator, options, plan as args};
use super::{Bmc, Ended, Lone, Options, Stop, Target, Undoing, apply, rollback};
use crate::hand::tests::step;
use crate::kube::Kube;
use crate::kube::tests::{Cluster, UUID};
use crate::plans::Record;
use crate::protocol::{Answer, Call, Request};
use later::LATER;
use lies::{Expect, LIES, Lie, World};
use linerate_remedy::{Act, BiosAct, Disruption, Plan, Proof, Step};
use linerate_snapshot::Snapshot;
use linerate_transport::Cancel;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A node, its object, its BMC, and a lie that it tells once.
pub(super) struct Liar {
    pub(super) node: Flaky,
    cluster: Cluster,
    kube: Kube,
    wire: Wire,
    bmc: Bmc,
    pub(super) plan: Plan,
    record: Arc<Record>,
    lying: Mutex<Lying>,
}

/// What is told when, and what came of it.
#[derive(Default)]
struct Lying {
    lie: Option<&'static Lie>,
    /// At the first request of this kind where it can be told.
    kind: &'static str,
    /// What had been changed beside the node when it was told.
    told: Option<Vec<String>>,
    world: World,
    /// What was asked, and answered honestly.
    calls: Vec<(Call, Answer)>,
}

/// The protocol's steps, by name.
fn kind(request: &Request) -> &'static str {
    match request {
        Request::Inspect { .. } => "inspect",
        Request::Take { .. } => "take",
        Request::Leave => "leave",
        Request::Check { .. } => "check",
        Request::Begin { .. } => "begin",
        Request::Perform { .. } => "perform",
        Request::Note { .. } => "note",
        Request::Elsewhere { .. } => "elsewhere",
        Request::Reboot { .. } => "reboot",
        Request::Rollback { .. } => "rollback",
        Request::Finish { .. } => "finish",
    }
}

impl Liar {
    fn new() -> Liar {
        let (node, cluster, wire) = (Flaky::new(), Cluster::new(), Wire::new());
        node.dir.write("sys/class/dmi/id/product_uuid", UUID);
        let mut steps = args(&node.dir).steps;
        steps.push(labels());
        steps.push(bios());
        let kubernetes = Some(cluster.kube().look("n1").unwrap().node);
        let plan = Plan { kubernetes, ..node.dir.plan_of(steps) }.sealed();
        assert_eq!(plan.node.uuid.as_deref(), Some(UUID));
        let (kube, bmc, record) = (cluster.kube(), wire.bmc(), noted(&plan));
        Liar { node, cluster, kube, wire, bmc, plan, record, lying: Mutex::default() }
    }

    /// Everything that was changed beside the node, in order of each service.
    fn beside(&self) -> Vec<String> {
        [self.cluster.sent(), self.wire.sent()].concat()
    }

    /// From now on it lies.
    fn lies(&self, lie: &'static Lie, kind: &'static str) {
        let mut lying = self.lying.lock().unwrap();
        *lying = Lying { lie: Some(lie), kind, ..Lying::default() };
    }

    fn apply(&self, may_reboot: bool) -> Ended {
        let options =
            Options { undo: true, may_reboot, record: Arc::clone(&self.record), ..options(&self.node, false) };
        apply(self, &self.plan, &Lone, &options, &Cancel::default(), &mut |_| {}).ended
    }

    fn undo(&self) -> Result<(), Stop> {
        let how = Undoing { reboot: Some(Duration::from_secs(2)), keep_changed: false };
        let operator = operator(1);
        let target =
            Target { node: self, plan: &self.plan, record: &self.record, operator: &operator, lifecycle: &Lone };
        rollback(&target, how, &Cancel::default(), &mut |_| {}).map(drop)
    }

    /// Tells the lie of this place, where it has one, for something of this kind.
    fn tells<T: Clone + PartialEq>(
        &self,
        kind: &'static str,
        heard: &mut T,
        lie: impl Fn(&'static Lie, &mut T, &World),
    ) {
        let beside = self.beside();
        let mut lying = self.lying.lock().unwrap();
        let Some(which) = lying.lie.filter(|_| lying.kind == kind && lying.told.is_none()) else { return };
        let honest = heard.clone();
        lie(which, heard, &lying.world);
        if *heard != honest {
            lying.told = Some(beside);
        }
    }
}

impl Node for Liar {
    fn name(&self) -> &str {
        "n1"
    }

    fn is_here(&self) -> bool {
        false
    }

    fn ask(&self, call: &Call) -> Reached<Answer> {
        let mut answer = self.node.ask(call)?;
        if matches!(call.ask, Request::Reboot { .. }) && answer.refused.is_empty() {
            self.wire.start();
        }
        let honest = answer.clone();
        self.tells(kind(&call.ask), &mut answer, |lie, answer, world| (lie.answer)(answer, world));
        let mut lying = self.lying.lock().unwrap();
        lying.world.heard(&honest);
        lying.calls.push((call.clone(), honest));
        Ok(answer)
    }

    fn read(&self) -> Reached<Snapshot> {
        let mut seen = lies::Seen { host: None, machine: None, boot: None };
        self.tells("read", &mut seen, |lie, seen, world| (lie.read)(seen, world));
        let real = self.node.read()?;
        Ok(seen.forged(real, &self.node))
    }

    fn boot(&self) -> Reached<String> {
        let mut id = self.node.boot()?;
        self.tells("boot", &mut id, |lie, id, world| (lie.boot)(id, world));
        Ok(id)
    }

    fn host_key(&self) -> Reached<Option<String>> {
        Ok(None)
    }

    fn bmc(&self) -> Option<&Bmc> {
        Some(&self.bmc)
    }

    fn kube(&self) -> Option<&Kube> {
        Some(&self.kube)
    }
}

fn bios() -> Step {
    Step {
        proof: vec![Proof::Bios { attribute: "Iommu".into(), value: "On".into() }],
        disruption: Disruption::DrainReboot,
        ..step("bios", vec![Act::Bios(BiosAct { attribute: "Iommu".into(), before: "Off".into(), after: "On".into() })])
    }
}

/// What the plan changes beside the node, and what puts that back. Nothing else may ever be sent.
const PLANNED: [&str; 6] = ["old-", "new=1", "new-", "old=yes", "{\"Iommu\":\"On\"}", "{\"Iommu\":\"Off\"}"];

/// A way through the protocol: what is done honestly before, and what is done with the lie. `true`: it ended as if nothing were wrong.
struct Flow {
    name: &'static str,
    before: fn(&Liar),
    with: fn(&Liar) -> (bool, String),
}

fn ended(ended: &Ended) -> (bool, String) {
    (*ended == Ended::Proven, format!("{ended:?}"))
}

const FLOWS: [Flow; 3] = [
    Flow { name: "apply", before: |_| {}, with: |liar| ended(&liar.apply(true)) },
    Flow {
        name: "resume",
        before: |liar| assert_eq!(liar.apply(false), Ended::RebootDue),
        with: |liar| ended(&liar.apply(true)),
    },
    Flow {
        name: "rollback",
        before: |liar| assert_eq!(liar.apply(true), Ended::Proven),
        with: |liar| {
            let undone = liar.undo();
            (undone.is_ok(), undone.err().map_or_else(String::new, |stop| stop.to_string()))
        },
    },
];

#[test]
fn without_a_lie() {
    let liar = Liar::new();
    assert_eq!(liar.apply(true), Ended::Proven);
    assert_eq!(liar.beside(), ["old-", "new=1", "{\"Iommu\":\"On\"}"]);
    assert_eq!(liar.undo(), Ok(()));
    assert_eq!(liar.beside(), ["old-", "new=1", "new-", "old=yes", "{\"Iommu\":\"On\"}", "{\"Iommu\":\"Off\"}"]);
    assert_eq!(liar.cluster.labels(), "old=yes zone=a");
}

fn all() -> impl Iterator<Item = &'static Lie> {
    LIES.iter().chain(LATER)
}

/// Tells each lie at each step of the protocol of a flow at which it can be told; how often each was told.
fn told(flow: &Flow) -> BTreeMap<&'static str, usize> {
    let mut told = BTreeMap::new();
    for (lie, kind) in all().flat_map(|lie| lie.places.iter().map(move |kind| (lie, kind))) {
        let liar = Liar::new();
        (flow.before)(&liar);
        liar.lies(lie, kind);
        let (fine, said) = (flow.with)(&liar);
        let what = format!("{} at {kind} of {}: {said}", lie.name, flow.name);
        for sent in liar.beside() {
            assert!(PLANNED.contains(&sent.as_str()), "{what}: {sent} was sent");
        }
        assert!(liar.cluster.labels().contains("zone=a"), "{what}");
        let Some(before) = liar.lying.lock().unwrap().told.clone() else { continue };
        *told.entry(lie.name).or_default() += 1;
        if let Expect::Refused(code) = lie.expect {
            assert!(!fine && said.contains(code), "{what}: {code} is shown");
            assert_eq!(liar.beside(), before, "{what}: nothing is done once it was told");
        }
    }
    told
}

/// On the way of an apply, of a resume and of a rollback.
#[test]
fn a_node_that_lies_gains_nothing() {
    let counts = std::thread::scope(|threads| {
        let each: Vec<_> = FLOWS.iter().map(|flow| threads.spawn(|| told(flow))).collect();
        each.into_iter().map(|flow| flow.join().unwrap()).collect::<Vec<_>>()
    });
    for lie in all() {
        let times: usize = counts.iter().filter_map(|c| c.get(lie.name)).sum();
        assert!(times > 0, "{}: it was never told", lie.name);
    }
    let runs: usize = counts.iter().flat_map(BTreeMap::values).sum();
    println!("{} lies, told {runs} times: 0 acts outside the plan", all().count());
    assert!(all().count() >= 60);
}
