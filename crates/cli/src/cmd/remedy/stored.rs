//! The operator's own store of plans, and what is gone on with or undone by it.

use super::{FromFile, read_plan};
use crate::output::Failure;
use linerate_apply::drive::{Node, Operator, begun};
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
            .hint("set one of both: it is what apply --resume and rollback go by")
    })?;
    Plans::open(&dir.join("plans")).map_err(Failure::new)
}

/// A plan that this operator holds, for one node.
pub(super) struct Held {
    pub(super) plan: Plan,
    pub(super) bytes: Vec<u8>,
    /// Its detached signature, where it was stored with one.
    pub(super) signature: Option<Vec<u8>>,
    pub(super) record: Record,
}

/// The plan that this operator applied to a node last. The node only says whether it is the one that was begun there.
pub(super) fn last(node: &dyn Node, operator: &Operator) -> Result<Held, Failure> {
    let (store, name) = (open()?, node.name());
    let Some(record) = store.last(name).map_err(Failure::new)? else {
        return Err(Failure::new(format!(
            "{name}: no plan was applied to it from here: what a node itself names is not taken"
        ))
        .hint("name the plan's own file: `linerate apply PLAN` goes on with it, `linerate rollback PLAN` undoes it"));
    };
    let hash = record.plan();
    let state = begun(node, operator).map_err(Failure::new)?;
    match state {
        None => return Err(Failure::new(format!("{name}: no plan was begun there"))),
        Some(state) if state.plan != hash => {
            return Err(Failure::new(format!(
                "{name}: the plan that was applied from here last is {hash:.16}, and the node says that it is {:.16}: somebody else applied \
                 another one, or the node does not tell the truth",
                state.plan
            ))
            .hint("name the plan that you mean by its own file"));
        }
        Some(_) => {}
    }
    held(&store, &hash)?.map(|held| with(held, record)).ok_or_else(|| {
        Failure::new(format!("{name}: plan {hash:.16} was applied from here, and its copy is gone"))
            .hint("name the plan's own file")
    })
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
    let found = open()?.plan_like(word).map_err(Failure::new)?;
    let found = found.ok_or_else(|| {
        Failure::new(format!("{word}: no plan that was applied from here has a digest that begins so"))
            .hint("name the plan's own file: what a node itself names is not taken")
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
    let found = open()?.record(node.name(), &plan.hash).map_err(Failure::new)?;
    Ok(found.filter(|r| steps.is_empty() || r.steps() == steps).unwrap_or_else(none))
}

fn held(store: &Plans, hash: &str) -> Result<Option<linerate_apply::plans::Held>, Failure> {
    store.plan(hash).map_err(Failure::new)
}

fn with(held: linerate_apply::plans::Held, record: Record) -> Held {
    Held { plan: held.plan, bytes: held.bytes, signature: held.signature, record }
}
