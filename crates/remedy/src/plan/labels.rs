//! The step that changes labels of the node's object in Kubernetes. No rule asks for it: the operator does.

use super::wish::distinct;
use super::{Cx, Parts, node_id};
use crate::change::labels::{Asked, Wanted};
use crate::model::{Act, Disruption, KubeNode, LabelAct, Permanence, Proof, Refused, Risk, Step};
use linerate_rules::Status;

/// The name of the step.
const LABELS: &str = "labels";

/// Adds the step behind all others, or says why not. The node's object, where there is a step.
pub(super) fn add(cx: &Cx<'_, '_>, out: &mut Parts) -> Option<KubeNode> {
    let asked = cx.options.labels.as_ref()?;
    let foreign = foreign(cx, asked);
    let mut changes: Vec<(&Wanted, Option<&String>)> = Vec::new();
    for wanted in &asked.wanted {
        let before = asked.labels.get(&wanted.key);
        let already = (before == wanted.value.as_ref()).then(|| "already done: the API shows it".to_owned());
        let claim = || wanted.value.as_ref().and_then(|_| unfounded(cx, out));
        match foreign.clone().or(already).or_else(claim) {
            Some(reason) => {
                let summary = format!("the label {} of the Kubernetes node {}", wanted.word(), asked.node.name);
                out.refused.push(Refused { rules: Vec::new(), summary, reason, unless: None });
            }
            None => changes.push((wanted, before)),
        }
    }
    if changes.is_empty() {
        return None;
    }
    out.steps.push(step(cx, &asked.node, &changes));
    Some(asked.node.clone())
}

/// The object of another machine is not touched. By the machine id: a snapshot does not show what SMBIOS says.
fn foreign(cx: &Cx<'_, '_>, asked: &Asked) -> Option<String> {
    let (ours, theirs) = (node_id(cx.snapshot).machine?, asked.node.machine.as_ref()?);
    (ours != *theirs).then(|| {
        format!(
            "the Kubernetes node {} is another machine: its machine id is not the one of the node that was read; name the right one with \
             --kube-node",
            asked.node.name
        )
    })
}

/// Why a label must not be put, where it is put for rules that are named: it would say what the node is not seen to do.
fn unfounded(cx: &Cx<'_, '_>, out: &Parts) -> Option<String> {
    let named = || cx.audit.verdicts.iter().filter(|v| cx.options.fix.iter().any(|f| f == v.rule.id));
    if cx.options.fix.is_empty() {
        return None;
    }
    let cured = |rule: &str, subject: &str| {
        let proof = Proof::Rule { rule: rule.to_owned(), subject: subject.to_owned() };
        out.steps.iter().any(|s| s.proof.contains(&proof))
    };
    let open = named().find_map(|v| {
        let (rule, subject) = (v.rule.id, v.finding.subject.to_string());
        match v.finding.status {
            Status::Fail if !cured(rule, &subject) => {
                Some(format!("{rule} fails for {subject}, and no step of this plan fixes it"))
            }
            Status::Unknown => Some(format!("{rule} cannot be judged for {subject}: {}", v.finding.message)),
            _ => None,
        }
    });
    let held = || named().any(|v| matches!(v.finding.status, Status::Pass | Status::Fail));
    let open = open.or_else(|| (!held()).then(|| "none of the rules in --fix applies to this node".to_owned()));
    open.map(|why| format!("a label describes what the node does, and that is not proven: {why}"))
}

fn step(cx: &Cx<'_, '_>, node: &KubeNode, changes: &[(&Wanted, Option<&String>)]) -> Step {
    let words = |put: bool| {
        let of = changes.iter().filter(|(w, _)| w.value.is_some() == put);
        let all: Vec<String> = of.map(|(w, _)| if put { w.word() } else { w.key.clone() }).collect();
        all.join(", ")
    };
    let (gone, put) = (words(false), words(true));
    let gone = (!gone.is_empty()).then(|| format!("take off {gone}"));
    let some_put = !put.is_empty();
    let put = some_put.then(|| format!("put {put} when everything else is proven"));
    let what: Vec<String> = [gone, put].into_iter().flatten().collect();
    let rules = if some_put { promises(cx) } else { Vec::new() };
    let mut note = vec![
        "a DaemonSet that chooses its nodes by one of these starts or ends its pods there at once: see what uses them"
            .to_owned(),
    ];
    if some_put && cx.options.fix.is_empty() {
        note.push(
            "--fix names no rule: labels are put when the other steps are proven, whatever else the node does"
                .to_owned(),
        );
    }
    let name = &node.name;
    let label = |(w, _): &(&Wanted, _)| Proof::Label { node: name.clone(), key: w.key.clone(), value: w.value.clone() };
    Step {
        id: LABELS.to_owned(),
        rules: Vec::new(),
        summary: format!("labels of the Kubernetes node {name}: {}", what.join("; ")),
        why: distinct(changes.iter().map(|(w, _)| format!("asked for by --label {}", w.word()))),
        precondition: Vec::new(),
        trial: Vec::new(),
        change: changes
            .iter()
            .map(|(w, before)| {
                Act::Label(LabelAct {
                    node: name.clone(),
                    key: w.key.clone(),
                    before: before.cloned(),
                    after: w.value.clone(),
                })
            })
            .collect(),
        proof: rules.into_iter().chain(changes.iter().map(label)).collect(),
        risk: Risk::Low,
        risk_note: note.join("; "),
        persistence: Permanence::Immediate,
        disruption: Disruption::None,
        unsimulated: Vec::new(),
    }
}

/// What the node must show before labels are put: the rules that are named.
fn promises(cx: &Cx<'_, '_>) -> Vec<Proof> {
    let named = cx.audit.verdicts.iter().filter(|v| cx.options.fix.iter().any(|f| f == v.rule.id));
    let held = named.filter(|v| matches!(v.finding.status, Status::Pass | Status::Fail));
    let mut out: Vec<Proof> = Vec::new();
    for v in held {
        let proof = Proof::Rule { rule: v.rule.id.to_owned(), subject: v.finding.subject.to_string() };
        if !out.contains(&proof) {
            out.push(proof);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Options, plan};
    use linerate_node::Node;
    use linerate_rules::{Audit, Findings, Subject, Verdict};
    use linerate_snapshot::{Coverage, Snapshot};

    const RULE: &str = "iommu/active";

    fn asked(wanted: &[&str], machine: Option<&str>) -> Asked {
        Asked {
            node: KubeNode { name: "n1".into(), uid: "u".into(), system: None, machine: machine.map(str::to_owned) },
            labels: [("old".to_owned(), "1".to_owned())].into(),
            wanted: wanted.iter().map(|w| w.parse().unwrap()).collect(),
        }
    }

    fn planned(fix: bool, status: Option<Status>, asked: Asked) -> crate::Plan {
        let mut s = Snapshot::new("test");
        s.coverage = Coverage::Full { not_tried: vec![] };
        s.add_file("etc/machine-id", "a".repeat(64).as_bytes());
        let mut findings = Findings::default();
        let said = "so it is";
        let finding = status.map(|status| match status {
            Status::Pass => findings.pass(Subject::Node, said).clone(),
            Status::Fail => findings.fail(Subject::Node, said).clone(),
            Status::Unknown => findings.unknown(Subject::Node, said).clone(),
            Status::NotApplicable => findings.not_applicable(said).clone(),
        });
        let rule = linerate_rules::find(RULE).unwrap();
        let verdicts = finding.map(|finding| Verdict { rule, finding }).into_iter().collect();
        let fix = if fix { vec![RULE.to_owned()] } else { Vec::new() };
        let options = Options { fix, labels: Some(asked), ..Options::default() };
        plan(&s, &Node::decode(&s), &Audit { verdicts, ..Audit::default() }, &options)
    }

    fn refused(plan: &crate::Plan) -> String {
        plan.refused.iter().map(|r| format!("{}: {}\n", r.summary, r.reason)).collect()
    }

    #[test]
    fn what_goes_and_what_comes() {
        let plan = planned(false, None, asked(&["old-", "new=1"], None));
        let [step] = plan.steps.as_slice() else { panic!("{}", refused(&plan)) };
        assert_eq!((step.id.as_str(), step.risk, step.disruption), ("labels", Risk::Low, Disruption::None));
        assert!(step.rules.is_empty() && step.why == ["asked for by --label old-", "asked for by --label new=1"]);
        let label = |key: &str, before: Option<&str>, after: Option<&str>| {
            Act::Label(LabelAct {
                node: "n1".into(),
                key: key.into(),
                before: before.map(str::to_owned),
                after: after.map(str::to_owned),
            })
        };
        assert_eq!(step.change, [label("old", Some("1"), None), label("new", None, Some("1"))]);
        assert_eq!(step.proof.len(), 2);
        assert!(step.risk_note.contains("--fix names no rule"), "{}", step.risk_note);
        assert_eq!(plan.kubernetes.map(|k| k.uid).as_deref(), Some("u"));
    }

    #[test]
    fn nothing_is_planned_that_is_so_already_or_is_anothers() {
        let plan = planned(false, None, asked(&["old=1", "new-"], None));
        assert!(plan.steps.is_empty() && plan.kubernetes.is_none() && plan.refused.len() == 2);
        assert!(refused(&plan).contains("already done"));
        let plan = planned(false, None, asked(&["old-"], Some(&"b".repeat(64))));
        assert!(plan.steps.is_empty() && refused(&plan).contains("another machine"), "{}", refused(&plan));
        assert_eq!(planned(false, None, asked(&["old-"], Some(&"a".repeat(64)))).steps.len(), 1);
    }

    #[test]
    fn a_label_claims_only_what_the_named_rules_show() {
        for (status, why) in [
            (Some(Status::Fail), "no step of this plan fixes it"),
            (Some(Status::Unknown), "cannot be judged"),
            (Some(Status::NotApplicable), "none of the rules"),
            (None, "none of the rules"),
        ] {
            let plan = planned(true, status, asked(&["old-", "new=1"], None));
            assert!(refused(&plan).contains(why), "{status:?}: {}", refused(&plan));
            assert_eq!(plan.steps.iter().map(|s| s.change.len()).sum::<usize>(), 1, "what goes needs no proof");
        }
        let plan = planned(true, Some(Status::Pass), asked(&["new=1"], None));
        let proof = Proof::Rule { rule: RULE.into(), subject: "node".into() };
        assert!(plan.steps.iter().all(|s| s.proof.contains(&proof)), "{:?}", plan.steps);
        assert_eq!(plan.steps.len(), 1);
    }
}
