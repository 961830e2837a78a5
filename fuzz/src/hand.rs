//! The protocol between an operator and a node's hand, from both sides.

use linerate_apply::drive::{Operator, accepts};
use linerate_apply::hand::{NoTrial, Root, serve_bytes, serve_with};
use linerate_apply::protocol::{Call, Phase, Request, Session};
use linerate_remedy::{
    Act, Content, Disruption, FileAct, FileState, LabelAct, NodeId, Permanence, Plan, Risk, SCHEMA, Step,
};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A node: a directory with nothing that could be run. libFuzzer ends its process without a last word to us, so who starts it names a
/// directory that is removed afterwards.
static NODE: LazyLock<PathBuf> = LazyLock::new(|| {
    let shm = Path::new("/dev/shm");
    let here = || if shm.is_dir() { shm.to_owned() } else { std::env::temp_dir() };
    let base = std::env::var_os("LINERATE_FUZZ_SCRATCH").map_or_else(here, PathBuf::from);
    let dir = base.join(format!("linerate-fuzz-{}", Operator::new("fuzz").session.id));
    for (path, text) in [
        ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
        ("proc/sys/kernel/random/boot_id", "boot-1\n"),
        ("proc/sys/kernel/hostname", "n1\n"),
        ("sys/class/net/eth1/mtu", "1500\n"),
    ] {
        let path = dir.join(path);
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(path, text);
    }
    dir
});

/// What a file of the node is that no plan names.
const UNNAMED: &str = "etc/machine-id";

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let node = Root::open(&NODE).map(|root| linerate_apply::hand::node_id(&root)).unwrap_or_default();
    plan(node)
});

fn plan(node: NodeId) -> Plan {
    let after = Some(Content("nvidia_peermem\n".to_owned()));
    let file = Act::File(FileAct { path: "/etc/x.conf".to_owned(), before: FileState::Absent, after, mode: 0o644 });
    let label = Act::Label(LabelAct {
        node: "n1".to_owned(),
        key: "a".to_owned(),
        before: Some("yes".to_owned()),
        after: None,
    });
    let step = Step {
        id: "a".to_owned(),
        rules: Vec::new(),
        summary: "a".to_owned(),
        why: Vec::new(),
        precondition: Vec::new(),
        trial: Vec::new(),
        change: vec![file, label],
        proof: Vec::new(),
        risk: Risk::Low,
        risk_note: String::new(),
        persistence: Permanence::Immediate,
        disruption: Disruption::None,
        unsimulated: Vec::new(),
    };
    Plan {
        schema: SCHEMA.to_owned(),
        hash: String::new(),
        version: "0".to_owned(),
        node,
        role: None,
        kubernetes: None,
        source: "fuzz".to_owned(),
        platform: "a directory".to_owned(),
        steps: vec![step],
        by_hand: Vec::new(),
        refused: Vec::new(),
        simulation: None,
    }
    .sealed()
}

fn session() -> Session {
    Session { id: "a".repeat(32), who: "me@here".to_owned(), place: String::new(), pid: 1, began: 1 }
}

fn requests() -> Vec<Request> {
    let plan = || PLAN.hash.clone();
    vec![
        Request::Inspect { plan: Some(plan()) },
        Request::Take { plan: plan() },
        Request::Begin { plan: Box::new(PLAN.clone()), who: "me@here".to_owned(), steps: Vec::new() },
        Request::Perform { plan: plan(), phase: Phase::First },
        Request::Rollback { plan: plan() },
        Request::Finish { plan: plan() },
        Request::Leave,
    ]
}

/// The call that answers are read for.
static CALL: LazyLock<Call> =
    LazyLock::new(|| Call::new(&session(), Request::Inspect { plan: Some(PLAN.hash.clone()) }));

/// What a node is asked.
pub fn call(b: &[u8]) {
    let Ok(root) = Root::open(&NODE) else { return };
    let before = std::fs::read(NODE.join(UNNAMED)).ok();
    let served = serve_bytes(b, &root, &NoTrial);
    black_box(serde_json::to_vec(&served.answer).is_ok());
    assert_eq!(std::fs::read(NODE.join(UNNAMED)).ok(), before, "a file that no plan names was changed");
}

/// What an operator is answered.
pub fn answer(b: &[u8]) {
    let Some(Ok(Some(state))) = accepts(&PLAN, &CALL, b) else { return };
    assert_eq!(state.plan, PLAN.hash, "another plan came out of an answer");
    for said in &state.acts {
        assert!(said.step == "a" && said.number < 2, "an act came out of an answer that the plan does not have");
        assert!(
            said.kept.iter().all(|k| k == "/etc/x.conf"),
            "a file came out of an answer that the plan does not name"
        );
    }
}

/// Calls, and honest answers to one.
pub fn seeds() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let calls: Vec<Call> = requests().into_iter().map(|ask| Call::new(&session(), ask)).collect();
    let mut answers = Vec::new();
    if let Ok(root) = Root::open(&NODE) {
        for call in &calls {
            serve_with(call.clone(), &root, &NoTrial);
            answers.extend(serde_json::to_vec(&serve_with(CALL.clone(), &root, &NoTrial).answer));
        }
    }
    (calls.iter().filter_map(|call| serde_json::to_vec(call).ok()).collect(), answers)
}

/// Removes the node.
pub fn end() {
    let _ = std::fs::remove_dir_all(&*NODE);
}
