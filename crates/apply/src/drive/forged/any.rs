//! Any bytes on the wire, from either side.

use super::{Ended, Liar};
use crate::drive::accepts;
use crate::hand::serve_bytes;
use crate::hand::tests::{Grub, Node, begin, session};
use crate::protocol::{Answer, Call, Phase, Request, State};
use linerate_remedy::{Act, Plan};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;

/// An honest conversation: the plan, each call and its answer.
static HONEST: LazyLock<(Plan, Vec<(Call, Answer)>)> = LazyLock::new(|| {
    let liar = Liar::new();
    assert_eq!(liar.apply(true), Ended::Proven);
    assert_eq!(liar.undo(), Ok(()));
    let calls = std::mem::take(&mut liar.lying.lock().unwrap().calls);
    (liar.plan.clone(), calls)
});

/// Every place in a document.
fn places(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(n, v)| places(v, format!("{at}/{n}"), all)),
        Value::Object(map) => map.iter().for_each(|(k, v)| {
            places(v, format!("{at}/{}", k.replace('~', "~0").replace('/', "~1")), all);
        }),
        _ => {}
    }
    all.push(at);
}

/// Changes a document in one place.
fn change(document: &mut Value, place: usize, how: u8, other: usize) {
    let mut all = Vec::new();
    places(document, String::new(), &mut all);
    let pick = |n: usize| all.get(n % all.len().max(1)).cloned().unwrap_or_default();
    let (at, from) = (pick(place), pick(other));
    let copy = document.pointer(&from).cloned().unwrap_or_default();
    if how == 5
        && let Some((parent, name)) = at.rsplit_once('/')
    {
        match document.pointer_mut(parent) {
            Some(Value::Object(map)) => drop(map.remove(name)),
            Some(Value::Array(list)) => drop(list.pop()),
            _ => {}
        }
        return;
    }
    let Some(value) = document.pointer_mut(&at) else { return };
    match (how, &mut *value) {
        (6, Value::Array(list)) => list.extend(list.clone()),
        (7, Value::Array(list)) => list.reverse(),
        (0, _) => *value = Value::Null,
        (1, _) => *value = Value::Bool(true),
        (2, _) => *value = u64::MAX.into(),
        (3, _) => *value = "/etc/shadow".into(),
        (4, _) => *value = Value::Array(Vec::new()),
        (8, Value::String(text)) => *text = text.chars().rev().collect(),
        _ => *value = copy,
    }
}

fn changes() -> impl Strategy<Value = Vec<(usize, u8, usize)>> {
    prop::collection::vec((any::<usize>(), 0..10_u8, any::<usize>()), 1..6)
}

/// Whether all that is said is of the plan.
fn is_of(plan: &Plan, state: &State) -> bool {
    let text = serde_json::to_string(plan).unwrap();
    state.plan == plan.hash
        && state.acts.iter().all(|said| {
            let Some(act) = plan.act(&said.step, said.number) else { return false };
            let kept = |path: &String| text.contains(&format!("{path:?}")) || path.starts_with("/boot/grub/");
            let begun = matches!(said.stands, crate::protocol::Stands::Made | crate::protocol::Stands::Announced);
            let before = match (act, said.before.as_deref().filter(|_| begun)) {
                (_, None) => true,
                (Act::Label(_), Some(b)) => {
                    ["{\"value\":null}", "{\"value\":\"yes\"}", "{\"value\":\"1\"}"].contains(&b)
                }
                (Act::Bios(_), Some(b)) => b.contains("\"Off\"") || b.contains("\"On\""),
                _ => false,
            };
            said.kept.iter().all(kept) && before
        })
}

#[test]
fn the_honest_are_heard() {
    let (plan, calls) = &*HONEST;
    assert!(calls.len() > 20, "{}", calls.len());
    for (call, answer) in calls {
        let bytes = serde_json::to_vec(answer).unwrap();
        let heard = accepts(plan, call, &bytes).unwrap();
        let state = heard.unwrap_or_else(|e| panic!("{:?}: {e}", call.ask));
        assert!(state.is_none_or(|s| is_of(plan, &s)));
    }
}

/// A plan in an answer is no part of the protocol, as anything else is that it does not have.
#[test]
fn what_is_more_than_an_answer_is_refused() {
    let (plan, calls) = &*HONEST;
    let (call, answer) = calls.iter().find(|(_, a)| a.state.is_some()).unwrap();
    for place in ["", "/node", "/state", "/state/acts/0"] {
        let mut forged = serde_json::to_value(answer).unwrap();
        forged.pointer_mut(place).unwrap()["plan-to-run"] = serde_json::to_value(plan).unwrap();
        let heard = accepts(plan, call, &serde_json::to_vec(&forged).unwrap()).unwrap();
        assert!(heard.is_err_and(|e| e.to_string().contains("(form)")), "{place}");
    }
    assert!(accepts(plan, call, b"Last login: today\n").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_taken_of_any_answer_is_of_the_plan(which in any::<usize>(), changes in changes()) {
        let (plan, calls) = &*HONEST;
        let (call, answer) = &calls[which % calls.len()];
        let mut forged = serde_json::to_value(answer).unwrap();
        for (place, how, other) in changes {
            change(&mut forged, place, how, other);
        }
        if let Some(Ok(Some(state))) = accepts(plan, call, &serde_json::to_vec(&forged).unwrap()) {
            prop_assert!(is_of(plan, &state), "{state:?}");
        }
    }

    #[test]
    fn any_bytes_are_an_answer_or_none(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (plan, calls) = &*HONEST;
        let heard = accepts(plan, &calls[0].0, &bytes);
        prop_assert!(heard.is_none_or(|h| h.is_err()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A hand that is asked anything changes nothing but what the plan names, and never panics.
    #[test]
    fn any_call_changes_only_what_a_plan_names(which in 0..9_usize, changes in changes()) {
        let node = Node::new();
        let plan = node.plan();
        let was = node.contents();
        let hash = || plan.hash.clone();
        let ask = [
            begin(&plan),
            Request::Take { plan: hash() },
            Request::Check { plan: Box::new(plan.clone()), steps: Vec::new() },
            Request::Perform { plan: hash(), phase: Phase::First },
            Request::Rollback { plan: hash() },
            Request::Finish { plan: hash() },
            Request::Inspect { plan: Some(hash()) },
            Request::Reboot { plan: hash(), most: 1 },
            Request::Leave,
        ];
        if which > 2 {
            node.ask(begin(&plan));
        }
        let mut call = serde_json::to_value(Call::new(&session(1), ask[which].clone())).unwrap();
        for (place, how, other) in changes {
            change(&mut call, place, how, other);
        }
        let answer = serve_bytes(&serde_json::to_vec(&call).unwrap(), &node.root(), &Grub).answer;
        prop_assert_eq!(answer.schema, crate::protocol::SCHEMA);
        let text = serde_json::to_string(&plan).unwrap();
        let now = node.contents();
        for path in now.keys().chain(was.keys()).filter(|p| now.get(*p) != was.get(*p)) {
            // Directories of new files, and what the plan's own programs write: libvirt the definition of the plan's domain.
            let named = text.contains(&format!("/{path}")) || ["firmware", "boot/grub", "etc/systemd/enabled", "etc/libvirt/qemu/vm1.xml"].iter().any(|p| path.starts_with(p));
            prop_assert!(named, "{} was changed", path);
        }
    }

    #[test]
    fn any_bytes_are_a_call_or_none(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let node = Node::new();
        let was = node.tree();
        let answer = serve_bytes(&bytes, &node.root(), &Grub).answer;
        prop_assert!(!answer.refused.is_empty());
        prop_assert_eq!(node.tree(), was);
    }
}
