//! What others do to the object and the API meanwhile, and whose it is.

use super::*;

#[test]
fn the_nodes_own_writing_is_no_conflict_and_somebody_elses_is() {
    let lab = Lab::new();
    lab.cluster.state().beats = 3;
    assert_eq!(lab.apply(false).ended, Ended::Proven, "read again, and tried again");
    let lab = Lab::new();
    lab.cluster.state().beats = 1000;
    assert!(why(&lab.apply(false).ended).contains("others keep changing") && lab.cluster.sent().is_empty());
    // Another label of the object is nobody's concern, the same one is.
    let lab = Lab::new();
    lab.cluster.state().thief = Some(("zone", "b"));
    assert_eq!(lab.apply(false).ended, Ended::Proven);
    let lab = Lab::new();
    lab.cluster.state().thief = Some(("old", "theirs"));
    let ended = lab.apply(false).ended;
    assert!(why(&ended).contains("changed by somebody else at this moment"), "{ended:?}");
    assert!(!lab.is_permanent() && lab.cluster.sent().is_empty() && lab.cluster.labels() == "old=theirs zone=a");
}

#[test]
fn what_the_plan_does_not_expect_changes_nothing() {
    let untouched = |lab: &Lab, words: &str| {
        let ended = lab.apply(true).ended;
        assert!(matches!(&ended, Ended::Untouched(why) if why.contains(words)), "{words}: {ended:?}");
        assert!(lab.cluster.sent().is_empty() && lab.node.dir.ask(INSPECT).state.is_none(), "{words}");
    };
    let lab = Lab::new();
    lab.cluster.state().labels.insert("old".into(), "theirs".into());
    untouched(&lab, "the plan expects \"yes\": make a new plan");
    let lab = Lab::new();
    lab.cluster.state().may = Some(false);
    untouched(&lab, "no - not for you");
    let lab = Lab::new();
    lab.cluster.state().uid = "u-2".into();
    untouched(&lab, "made anew");
    let lab = Lab::new();
    lab.cluster.state().gone = true;
    untouched(&lab, "no Kubernetes node n1");
    let lab = Lab::new();
    lab.cluster.state().system = "11111111-9e44-4fa7-8e91-f3527a1ef094".into();
    untouched(&lab, "another machine");
    let mut lab = Lab::new();
    lab.kube = None;
    untouched(&lab, "no cluster is given");
    assert_eq!(lab.apply(false).verification.map(|v| v.steps.len()), None);
}

#[test]
fn whose_an_object_is() {
    let lab = Lab::new();
    let plan = |uuid: Option<&str>| NodeId { uuid: uuid.map(str::to_owned), ..lab.plan.node.clone() };
    let object = |system: Option<&str>, machine: Option<&str>| KubeNode {
        system: system.map(str::to_owned),
        machine: machine.map(str::to_owned),
        ..KubeNode::default()
    };
    let (ours, theirs) = (lab.plan.node.machine.as_deref(), Some("x"));
    assert_eq!(whose(&object(Some(UUID), theirs), &plan(Some(UUID))), Whose::Ours, "the UUID decides");
    let other = Some("11111111-9e44-4fa7-8e91-f3527a1ef094");
    assert!(matches!(whose(&object(other, ours), &plan(Some(UUID))), Whose::Foreign(_)));
    assert_eq!(whose(&object(None, ours), &plan(Some(UUID))), Whose::Ours);
    assert!(matches!(whose(&object(Some(UUID), theirs), &plan(None)), Whose::Foreign(_)));
    assert_eq!(whose(&object(None, None), &plan(Some(UUID))), Whose::Unknown);
    // Unknown is refused before anything is changed.
    let lab = Lab::new();
    (lab.cluster.state().system, lab.cluster.state().machine) = (String::new(), String::new());
    let ended = lab.apply(false).ended;
    assert!(matches!(&ended, Ended::Untouched(why) if why.contains("cannot tell whether")), "{ended:?}");
    assert_eq!((lab.cluster.sent(), lab.is_permanent()), (Vec::new(), false));
    // The same of an undoing.
    let lab = Lab::new();
    assert_eq!(lab.apply(false).ended, Ended::Proven);
    (lab.cluster.state().system, lab.cluster.state().machine) = (String::new(), String::new());
    assert_eq!(code(lab.undo(false)), "other-node");
    assert!(lab.is_permanent() && lab.cluster.labels() == END);
}

#[test]
fn refused_late_is_noted_and_gone_on_with() {
    let lab = Lab::with(|steps| steps.into_iter().skip(1).collect());
    lab.cluster.state().says = Some("helper: token=hunter2\nError from server (Forbidden): hunter2 cannot patch");
    assert!(matches!(lab.apply(false).ended, Ended::Left(_)));
    let journal = lab.journal();
    assert!(journal.contains("does not allow it") && !journal.contains("hunter2"), "{journal}");
    lab.cluster.state().says = None;
    assert_eq!(lab.apply(false).ended, Ended::Proven);
    assert_eq!(lab.cluster.labels(), END);
    // Who may not even ask whether he may is told, and tries.
    let lab = Lab::new();
    lab.cluster.state().may = None;
    let outcome = lab.apply(false);
    assert!(outcome.remarks.iter().any(|r| r.contains("could not check")), "{outcome:?}");
    assert_eq!(outcome.ended, Ended::Proven);
}

#[test]
fn what_cannot_be_read_is_not_proven_and_what_kubectl_said_is_in_no_journal() {
    let lab = Lab::with(|mut steps| {
        steps.truncate(2);
        steps[1].change.truncate(1);
        steps[1].proof.truncate(1);
        steps
    });
    lab.cluster.state().blind_after = Some(1);
    let outcome = lab.apply(false);
    assert!(why(&outcome.ended).contains("labels is unknown"), "{outcome:?}");
    assert!(outcome.remarks.iter().any(|r| r.contains("hunter2")), "the operator is told: {:?}", outcome.remarks);
    assert!(!lab.journal().contains("hunter2"), "{}", lab.journal());
}

#[test]
fn what_somebody_else_changed_is_left() {
    let lab = Lab::new();
    assert_eq!(lab.apply(false).ended, Ended::Proven);
    lab.cluster.state().labels.insert("new".into(), "theirs".into());
    assert_eq!(code(lab.undo(false)), "unexpected");
    assert!(lab.is_permanent(), "nothing is undone");
    assert_eq!(lab.undo(true), Ok(()));
    assert_eq!(lab.cluster.labels(), "new=theirs old=yes zone=a", "the others come back");
    assert!(!lab.is_permanent());
    // The object was made anew, or there is none any more.
    for gone in [false, true] {
        let lab = Lab::new();
        assert_eq!(lab.apply(false).ended, Ended::Proven);
        (lab.cluster.state().gone, lab.cluster.state().uid) = (gone, "u-2".into());
        assert!(lab.undo(false).is_err());
        assert!(lab.is_permanent());
        assert_eq!(lab.undo(true), Ok(()));
        assert!(!lab.is_permanent() && lab.node.dir.ask(INSPECT).state.is_some_and(|s| s.stage == Stage::Finished));
    }
    let mut lab = Lab::new();
    assert_eq!(lab.apply(false).ended, Ended::Proven);
    lab.kube = None;
    assert_eq!(code(lab.undo(false)), "not-here");
    assert!(lab.is_permanent());
}
