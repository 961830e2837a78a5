//! The operator's own store of plans, and what is gone on with or undone by it.

use super::here::HERE;
use super::{FromFile, read_plan};
use crate::output::Failure;
use linerate_apply::drive::{Node, Operator, begun, identity};
use linerate_apply::plans::{Plans, Record};
use linerate_remedy::Plan;
use std::path::{Path, PathBuf};

/// This program's directory below a base directory of the user's: `$NAME`, else `$HOME/ELSE`.
pub(super) fn base(name: &str, or: &str) -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    Some(of(name).or_else(|| Some(of("HOME")?.join(or)))?.join("linerate"))
}

/// The store.
pub(super) fn open() -> Result<Plans, Failure> {
    let dir = base("XDG_STATE_HOME", ".local/state").ok_or_else(|| {
        Failure::new("there is neither XDG_STATE_HOME nor HOME to keep plans and what was done with them")
            .hint("set one of the two: apply --resume and rollback need it")
    })?;
    Ok(Plans::open(&dir.join("plans"))?)
}

/// A plan that this operator holds, for one node.
pub(super) struct Held {
    pub(super) plan: Plan,
    pub(super) bytes: Vec<u8>,
    /// Its detached signature, where it was stored with one.
    pub(super) signature: Option<Vec<u8>>,
    pub(super) record: Record,
}

/// Removes what is old in the store, and the nodes as they were before those plans.
pub(super) fn prune(store: &Plans) {
    match store.prune() {
        Ok(pruned) if pruned == linerate_apply::plans::Pruned::default() => {}
        Ok(pruned) => {
            for (node, plan) in &pruned.records {
                if let Ok(file) = super::kept::file(None, node, plan) {
                    let _ = std::fs::remove_file(file);
                }
            }
            crate::output::remark(&format!(
                "removed from the store, because of their age: records {}, plans {}",
                pruned.records.len(),
                pruned.plans.len()
            ));
        }
        Err(e) => crate::output::remark(&format!("old plans were not removed from the store: {e}")),
    }
}

/// The plan that this operator applied to a node last. The node only says whether it is the one that was begun there. `verb`: what asks, as it is
/// typed.
pub(super) fn last(node: &dyn Node, operator: &Operator, verb: &str) -> Result<Held, Failure> {
    let (store, name) = (open()?, node.name());
    let Some(record) = store.last(name)? else {
        if let Some(other) = others(&store, node, operator).first() {
            return Err(Failure::new(format!(
                "{name}: no plan was applied to it under this name from here; the machine that answers is the one to which plan {:.16} was applied as \
                 {}",
                other.plan(),
                other.node()
            ))
            .hint(format!("if you mean that machine, use that name: {}", command(verb, &other.node()))));
        }
        return Err(Failure::new(format!(
            "{name}: no plan of this node is stored on this machine, and a plan that only the node names is not trusted"
        ))
        .hint("name the plan's own file: `linerate apply PLAN` goes on with it, `linerate rollback PLAN` undoes it"));
    };
    let hash = record.plan();
    let state = begun(node, operator)?;
    match state {
        None => return Err(Failure::new(format!("{name}: no plan was begun on this node"))),
        Some(state) if state.plan != hash => {
            if let Some(other) = others(&store, node, operator).iter().find(|r| r.plan() == state.plan) {
                return Err(Failure::new(format!(
                    "{name}: the plan that was applied under this name last is {hash:.16}; since then, plan {:.16} was applied to the same machine \
                     as {}",
                    state.plan,
                    other.node()
                ))
                .hint(format!("if you mean that plan, use that name: {}", command(verb, &other.node()))));
            }
            return Err(Failure::new(format!(
                "{name}: the plan that was applied from here last is {hash:.16}, but the node says that it is {:.16}: somebody else applied another one, or the node's answer is wrong",
                state.plan
            ))
            .hint("name the plan that you mean by its own file"));
        }
        Some(_) => {}
    }
    store.plan(&hash)?.map(|held| with(held, record)).ok_or_else(|| {
        Failure::new(format!("{name}: plan {hash:.16} was applied from here, and its copy is gone"))
            .hint("name the plan's own file")
    })
}

/// Records of the machine that answers, under other names. None where that machine cannot be established.
fn others(store: &Plans, node: &dyn Node, operator: &Operator) -> Vec<Record> {
    identity(node, operator).ok().and_then(|id| store.other_names(node.name(), &id).ok()).unwrap_or_default()
}

/// The command that asks the same of a node under another name.
fn command(verb: &str, name: &str) -> String {
    let option = match name {
        HERE => return format!("`linerate {verb}`, on that machine itself"),
        name if name.starts_with('/') => "--root",
        _ => "--host",
    };
    format!("`linerate {verb} {}`", linerate_out::shell::shown(&[option, name]))
}

/// The plan that a word names, a file or the beginning of a digest, with what is noted of it on a node.
pub(super) fn named(word: &str, node: &dyn Node, steps: &[String]) -> Result<Held, Failure> {
    let path = Path::new(word);
    let digits = word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
    if path.exists() || word == "-" {
        let FromFile { plan, bytes } = read_plan(path)?;
        let record = noted(&plan, node, steps)?;
        return Ok(Held { plan, bytes, signature: None, record });
    }
    if !digits {
        return Err(Failure::new(format!("{word}: neither a plan nor the beginning of a plan's digest")));
    }
    let found = open()?.plan_like(word)?;
    let found = found.ok_or_else(|| {
        Failure::new(format!("{word}: no plan that was applied from here has a digest that begins so"))
            .hint("name the plan's own file: a plan that only the node names is not trusted")
    })?;
    let record = noted(&found.plan, node, steps)?;
    Ok(with(found, record))
}

/// What is noted of a plan on a node. Where nothing is, the steps that are named now are the ones that it was begun with.
fn noted(plan: &Plan, node: &dyn Node, steps: &[String]) -> Result<Record, Failure> {
    let none = || Record::in_memory(node.name(), plan, steps);
    if base("XDG_STATE_HOME", ".local/state").is_none() {
        return Ok(none());
    }
    let (store, name) = (open()?, node.name());
    let found = store.record(name, &plan.hash)?;
    let others = if found.is_none() { store.other_names_of(name, &plan.hash).unwrap_or_default() } else { Vec::new() };
    if let Some(other) = others.first() {
        crate::output::remark(&format!(
            "{name}: nothing was noted of plan {:.16} under this name. It was applied from here as {}: what was there before is known under that name",
            plan.hash,
            other.node()
        ));
    }
    Ok(found.filter(|r| steps.is_empty() || r.steps() == steps).unwrap_or_else(none))
}

fn with(held: linerate_apply::plans::Held, record: Record) -> Held {
    Held { plan: held.plan, bytes: held.bytes, signature: held.signature, record }
}
