//! Modules that are loaded now and at each boot (`modules-load.d`).

use super::{AT_ONCE, Change, Kind, Refusal, Setting, each, ours, words};
use crate::model::{Act, Condition, Proof};
use crate::terms::{On, Terms};
use linerate_formats::cmdline::same_name;
use linerate_node::Node;
use linerate_rules::Action;
use linerate_snapshot::Snapshot;

const LOAD: &str = "/etc/modules-load.d/linerate.conf";

/// Modules at each boot.
pub(super) struct Modules;

impl Kind for Modules {
    fn takes(&self, action: &Action) -> Option<String> {
        matches!(action, Action::LoadModule { .. }).then(String::new)
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        AT_ONCE
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        let modules = each(actions, |a| match a {
            Action::LoadModule { module } => Some(module.to_string()),
            _ => None,
        });
        vec![load(&modules, on.node, on.snapshot)]
    }
}

fn load(modules: &[String], node: &Node<'_>, s: &Snapshot) -> Result<Change, Refusal> {
    for m in modules {
        words::module(m)?;
    }
    let file = ours::with_lines(s, LOAD, "modules", modules, |_| true)?;
    let loaded = |m: &str| node.kernel.modules.known().is_some_and(|all| all.iter().any(|l| same_name(l, m)));
    let missing: Vec<&String> = modules.iter().filter(|m| !loaded(m)).collect();
    if file.is_none() && missing.is_empty() {
        return Err(Refusal::Already { reason: format!("{LOAD} names them, and they are loaded") });
    }
    let mut change: Vec<Act> = file.into_iter().collect();
    // A module that something uses by then stays: `modprobe -r` refuses, and undoing says so.
    change.extend(missing.iter().map(|m| ours::run(&["modprobe", "--", m], &["modprobe", "-r", "--", m], 60)));
    Ok(Change {
        id: "modules".into(),
        summary: format!("load {} now and at each boot", modules.join(", ")),
        precondition: vec![Condition::program("modprobe", "kmod")],
        acts: change,
        proof: modules.iter().map(|m| proof(m)).collect(),
        ..Change::default()
    })
}

/// A loaded module that has not finished loading says `coming`; one that is built in has no such file.
fn proof(module: &str) -> Proof {
    Proof::Value { path: format!("/sys/module/{}/initstate", module.replace('-', "_")), value: "live".into() }
}
