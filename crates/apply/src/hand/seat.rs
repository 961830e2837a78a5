//! The one session that may change the node, from the first request about a plan to the last, reboots between them included.
//!
//! The lock of [`Lock`](crate::journal::Lock) is one request's; this one is an operator's. Who has it is seen by everybody who asks.

use super::now;
use crate::act::{Done, Meta, Root, Wrong};
use crate::journal::STATE;
use crate::protocol::{Call, Holder};

/// Longest record of a session.
const MOST: usize = 1 << 16;

fn path() -> String {
    format!("{STATE}/session.json")
}

/// The session that holds the node.
pub(super) fn holder(root: &Root) -> Done<Option<Holder>> {
    let path = path();
    let Some(there) = root.read(&path, MOST)? else { return Ok(None) };
    serde_json::from_slice(&there.bytes).map(Some).map_err(|why| {
        let what = format!(
            "{path}, which names the session that holds this node, cannot be read ({why}): remove it when nobody is changing this node"
        );
        Wrong::new("held", what)
    })
}

/// Takes the node for the session that calls, where nobody has it, or where the one that has it is named as the one to be displaced. That
/// one is returned.
pub(super) fn take(root: &Root, call: &Call, plan: &str) -> Done<Option<Holder>> {
    let old = holder(root)?;
    if let Some(old) = &old {
        if old.session.id == call.session.id && old.plan == plan {
            return Ok(None);
        }
        if old.session.id != call.session.id && call.takes.as_ref() != Some(&old.session.id) {
            return Err(held(old));
        }
    }
    let from = std::env::var("SSH_CONNECTION").ok().and_then(|c| c.split(' ').next().map(str::to_owned));
    let from = from.filter(|f| f.len() < 64 && f.bytes().all(|b| b.is_ascii_graphic()));
    let holder = Holder { session: call.session.clone(), since: now(), plan: plan.to_owned(), from };
    let bytes = serde_json::to_vec(&holder).map_err(|e| Wrong::failed(format!("cannot record the session: {e}")))?;
    root.replace(&path(), &bytes, Meta::OWN)?;
    Ok(old.filter(|old| old.session.id != call.session.id))
}

/// Refuses a session that does not hold the node.
pub(super) fn holds(root: &Root, call: &Call) -> Done<()> {
    match holder(root)? {
        Some(holder) if holder.session.id == call.session.id => Ok(()),
        Some(holder) => Err(held(&holder)),
        None => {
            let what = format!(
                "session {} does not hold this node: another one took it over and has left it. Look at the state of the plan before you go on",
                call.session.short()
            );
            Err(Wrong::new("held", what))
        }
    }
}

/// Leaves the node, where this session has it.
pub(super) fn leave(root: &Root, call: &Call) -> Done<()> {
    match holder(root)? {
        Some(holder) if holder.session.id == call.session.id => root.remove(&path()),
        _ => Ok(()),
    }
}

fn held(holder: &Holder) -> Wrong {
    Wrong::new("held", format!("{}: nobody else can change this node meanwhile", holder.words(now())))
}
