//! Labels while a plan is applied and undone, and what interrupts it.

mod others;

use super::*;
use crate::drive::bios::tests::code;
use crate::drive::tests::{Flaky, Wrapped, options, plan as args, undo};
use crate::drive::{Ended, Lone, Node, Options, Outcome, Undoing, apply};
use crate::hand::tests::{INSPECT, step};
use crate::kube::tests::{Cluster, UUID};
use crate::protocol::{Request, Stage};
use linerate_remedy::{Proof, Step};
use linerate_transport::Cancel;
use std::time::Duration;

const START: &str = "old=yes zone=a";
const END: &str = "new=1 zone=a";
const DROP_IN: &str = "etc/default/grub.d/90-linerate.cfg";

/// A node and its object.
struct Lab {
    node: Flaky,
    cluster: Cluster,
    kube: Option<Kube>,
    plan: Plan,
}

impl Wrapped for Lab {
    fn inner(&self) -> &Flaky {
        &self.node
    }

    fn cluster(&self) -> Option<&Kube> {
        self.kube.as_ref()
    }
}

/// A label that goes, and one that claims what the plan makes.
pub(in crate::drive) fn labels() -> Step {
    let act = |key: &str, before: Option<&str>, after: Option<&str>| {
        Act::Label(LabelAct {
            node: "n1".into(),
            key: key.into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        })
    };
    let proof = |key: &str, value: Option<&str>| Proof::Label {
        node: "n1".into(),
        key: key.into(),
        value: value.map(str::to_owned),
    };
    Step {
        proof: vec![proof("old", None), proof("new", Some("1"))],
        ..step("labels", vec![act("old", Some("yes"), None), act("new", None, Some("1"))])
    }
}

impl Lab {
    /// An argument of the kernel that is tried first, a label that goes and one that claims it.
    fn new() -> Lab {
        Lab::with(|steps| steps)
    }

    fn with(change: impl Fn(Vec<Step>) -> Vec<Step>) -> Lab {
        let (node, cluster) = (Flaky::new(), Cluster::new());
        node.dir.write("sys/class/dmi/id/product_uuid", UUID);
        let mut steps = args(&node.dir).steps;
        steps.push(labels());
        let plan =
            Plan { kubernetes: Some(cluster.kube().look("n1").unwrap().node), ..node.dir.plan_of(change(steps)) };
        let permanent = node.dir.at(DROP_IN);
        cluster.state().see = Box::new(move || permanent.exists());
        let kube = Some(cluster.kube());
        Lab { node, cluster, kube, plan: plan.sealed() }
    }

    fn apply(&self, undo: bool) -> Outcome {
        let options = Options { undo, ..options(&self.node, true) };
        apply(self, &self.plan, &Lone, &options, &Cancel::default(), &mut |_| {})
    }

    fn undo(&self, keep_changed: bool) -> Result<(), Stop> {
        let how = Undoing { reboot: Some(Duration::from_secs(2)), keep_changed };
        undo(self, &self.node, &self.plan, how).map(drop)
    }

    fn is_permanent(&self) -> bool {
        self.node.dir.at(DROP_IN).exists()
    }

    fn journal(&self) -> String {
        let mut rest = vec![self.node.dir.at("var/lib/linerate")];
        let mut text = String::new();
        while let Some(path) = rest.pop() {
            match std::fs::read_dir(&path) {
                Ok(all) => rest.extend(all.map(|e| e.unwrap().path())),
                Err(_) => text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap())),
            }
        }
        text
    }
}

fn why(ended: &Ended) -> String {
    match ended {
        Ended::Left(why) | Ended::Untouched(why) | Ended::Undone(why) => why.clone(),
        other => format!("{other:?}"),
    }
}

#[test]
fn what_lies_goes_first_and_what_claims_comes_last() {
    let lab = Lab::new();
    let was = lab.node.dir.tree();
    let outcome = lab.apply(false);
    assert_eq!(outcome.ended, Ended::Proven, "{outcome:?}");
    assert_eq!(lab.cluster.labels(), END);
    // Whether the change was permanent on the node when each was sent.
    let sent = lab.cluster.state().sent.clone();
    assert_eq!(sent, [("old-".to_owned(), false), ("new=1".to_owned(), true)]);
    assert_eq!(lab.apply(false).ended, Ended::Proven, "asked again");
    assert_eq!(lab.cluster.sent().len(), 2, "nothing is sent twice");
    lab.undo(false).unwrap();
    let sent = lab.cluster.state().sent.clone();
    assert_eq!(
        sent.get(2..),
        Some([("new-".to_owned(), true), ("old=yes".to_owned(), false)].as_slice()),
        "the claim goes first"
    );
    assert_eq!(lab.cluster.labels(), START);
    assert_eq!(lab.node.dir.tree(), was);
    assert!(lab.undo(false).is_err(), "nothing is left to undo");
}

#[test]
fn what_is_not_proven_is_not_claimed() {
    let never = |mut steps: Vec<Step>| {
        steps[0].proof = vec![Proof::Cmdline { has: vec!["never=1".into()], lacks: Vec::new() }];
        steps
    };
    let lab = Lab::with(never);
    assert!(matches!(lab.apply(false).ended, Ended::Left(_)));
    assert_eq!(lab.cluster.sent(), ["old-"]);
    let lab = Lab::with(never);
    assert!(matches!(lab.apply(true).ended, Ended::Undone(_)));
    assert_eq!((lab.cluster.sent(), lab.cluster.labels().as_str()), (vec!["old-".into(), "old=yes".into()], START));
    // What the label itself claims, asked of a rule that cannot see it.
    let lab = Lab::with(|mut steps| {
        steps[1].proof.insert(0, Proof::Rule { rule: "no/such".into(), subject: "node".into() });
        steps
    });
    let outcome = lab.apply(false);
    assert!(why(&outcome.ended).contains("no/such") && lab.is_permanent(), "{outcome:?}");
    assert_eq!(lab.cluster.sent(), ["old-"]);
}

#[test]
fn labels_alone_need_no_reboot() {
    let lab = Lab::with(|steps| steps.into_iter().skip(1).collect());
    let boot = lab.node.boot().unwrap();
    assert_eq!(lab.apply(false).ended, Ended::Proven);
    assert_eq!((lab.cluster.labels().as_str(), lab.node.boot().unwrap()), (END, boot));
}

#[test]
fn lost_at_every_request() {
    let mut faults = 0;
    for heard in [false, true] {
        for at in 1..100 {
            let mut lab = Lab::new();
            let was = lab.node.dir.tree();
            lab.node.lose(at, heard);
            let first = lab.apply(false);
            let over = lab.node.is_over();
            faults += usize::from(!over);
            lab.node.lose(0, false);
            if !over {
                let second = lab.apply(false);
                assert_eq!(second.ended, Ended::Proven, "{at}, {heard}: {:?}: {second:?}", first.ended);
            }
            assert_eq!(lab.cluster.sent(), ["old-", "new=1"], "{at}, {heard}: each once, in order");
            assert_eq!(lab.cluster.labels(), END);
            lab.node.lose(at, heard);
            let undone = lab.undo(false);
            lab.node.lose(0, false);
            let again = undone.is_err().then(|| lab.undo(false));
            assert_eq!(
                (lab.cluster.labels().as_str(), &lab.node.dir.tree()),
                (START, &was),
                "{at}, {heard}: {again:?}"
            );
            assert_eq!(lab.cluster.sent().len(), 4, "{at}, {heard}: {:?}", lab.cluster.sent());
            if over {
                break;
            }
        }
    }
    assert!(faults > 20, "{faults}");
    println!("{faults} connections lost");
}

#[test]
fn a_change_that_was_not_heard_of_is_not_made_twice() {
    let lab = Lab::new();
    lab.cluster.state().hangs = true;
    assert!(why(&lab.apply(false).ended).contains("did not end within"));
    assert_eq!(lab.apply(false).ended, Ended::Proven);
    assert_eq!(lab.cluster.sent(), ["old-", "new=1"]);
    // The same of a rollback, and of one that nothing was made for.
    lab.cluster.state().hangs = true;
    assert!(lab.undo(false).is_err());
    assert_eq!(lab.undo(false), Ok(()));
    assert_eq!(lab.cluster.labels(), START);
    let lab = Lab::new();
    lab.cluster.state().hangs = true;
    assert!(matches!(lab.apply(false).ended, Ended::Left(_)));
    assert_eq!(lab.undo(false), Ok(()));
    assert_eq!((lab.cluster.labels().as_str(), lab.cluster.sent().len()), (START, 2));
}

#[test]
fn the_node_itself_keeps_the_order() {
    let lab = Lab::new();
    let plan = lab.plan.hash.clone();
    lab.node.dir.ask(crate::hand::tests::begin(&lab.plan));
    let request = |number| Request::Elsewhere {
        plan: plan.clone(),
        step: "labels".into(),
        number,
        stands: Stands::Announced,
        note: "{\"value\":null}".into(),
    };
    assert_eq!(crate::hand::tests::codes(&lab.node.dir.ask(request(1))), ["order"], "before all else is made");
    assert!(lab.node.dir.ask(request(0)).refused.is_empty());
}
