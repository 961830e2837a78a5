//! A module at each boot, by the remedy's own file and commands. The guests' kernel has none of a GPU, so another stands for it.

use super::super::{Group, Lab, Spec};
use super::apply::{FILES, Operator, same};
use super::faults::call;
use super::{BOOT, expect, plans};
use crate::lab::Result;
use linerate_apply::protocol::{Answer, Request};
use linerate_node::Node;
use linerate_remedy::change::{Setting, changes};
use linerate_remedy::plan::Options;
use linerate_remedy::platform::Platform;
use linerate_remedy::{NodeId, Plan, Step, terms};
use linerate_rules::Action;
use linerate_snapshot::Snapshot;
use std::fs;
use std::path::Path;

const MODULE: &str = "dummy";

pub(super) fn at_boot(lab: &Lab<'_>) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let mut guest = group.start(Spec::new("a"))?;
    guest.wait_ssh(BOOT)?;
    guest.copy_in(operator.linerate(), "/usr/local/bin/linerate", "755")?;
    let before = guest.shell(FILES)?;
    let inspect = operator.file("inspect.json");
    fs::write(&inspect, serde_json::to_vec(&call(Request::Inspect { plan: None })).map_err(|e| e.to_string())?)
        .map_err(|e| e.to_string())?;
    guest.copy_in(Path::new(&inspect), "/tmp/inspect.json", "600")?;
    let answer: Answer = serde_json::from_str(&guest.shell("linerate hand </tmp/inspect.json")?)
        .map_err(|e| format!("what the hand answered: {e}"))?;
    let collected = guest.run(&["linerate", "collect", "--quiet", "-o", "-"])?;
    let snapshot = linerate_snapshot::load_bytes(&collected.stdout, "a").map_err(|e| e.to_string())?;
    let plan = operator.file("a.plan");
    let text = serde_json::to_vec_pretty(&load(answer.node, &snapshot)?).map_err(|e| e.to_string())?;
    fs::write(&plan, text).map_err(|e| e.to_string())?;
    let loaded = format!("grep -c '^{MODULE} ' /proc/modules || :");
    expect("the module at the start", "0", &guest.shell(&loaded)?)?;
    let keep = operator.keep();
    operator.run("apply", &["apply", &plan, "--yes", "--keep", &keep], "a", 0)?;
    expect("the module after apply", "1", &guest.shell(&loaded)?)?;
    guest.reboot(BOOT)?;
    expect("the module after a reboot", "1", &guest.shell(&loaded)?)?;
    operator.run("verify", &["verify", &plan], "a", 0)?;
    operator.run("rollback", &["rollback", &plan, "--yes"], "a", 0)?;
    expect("the module after the rollback", "0", &guest.shell(&loaded)?)?;
    guest.reboot(BOOT)?;
    expect("the module after the rollback and a reboot", "0", &guest.shell(&loaded)?)?;
    same(&before, &guest.shell(FILES)?)
}

/// What the remedy makes of a finding that wants the module.
fn load(node: NodeId, snapshot: &Snapshot) -> Result<Plan> {
    let decoded = Node::decode(snapshot);
    let platform = Platform::detect(snapshot, &decoded);
    let (options, action) = (Options::default(), Action::LoadModule { module: MODULE.into() });
    let on = Setting { snapshot, node: &decoded, platform: &platform, options: &options, set: &[], reset: false };
    let all = changes(std::slice::from_ref(&action), &on);
    let [Ok(made)] = all.as_slice() else { return Err(format!("expected one change, saw {all:?}")) };
    let terms = terms(&action, &on.on()).ok_or("no plan loads a module")?;
    let step = Step {
        precondition: made.precondition.clone(),
        change: made.acts.clone(),
        proof: made.proof.clone(),
        persistence: terms.persistence,
        disruption: terms.disruption,
        ..plans::step(&made.id, &made.summary)
    };
    Ok(plans::plan(node, vec![step]))
}
