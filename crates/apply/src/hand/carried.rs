//! Values that a boot set, because files of the same plan were already there.

use super::{acts, boot};
use crate::act::{Done, Hands, shows_only};
use crate::journal::{Journal, Key, Seen};
use crate::protocol::Stands;
use linerate_remedy::{Act, ValueAct};

/// What was there before, where a boot has made an act instead of us: a drop-in of `sysctl.d` was written, the power failed, and the next
/// boot read it. The plan says what was there, and the node agreed when the plan was begun. `None`: no boot lies between, nothing of the
/// plan was written before it, or the value is not what the plan wants.
pub(super) fn by_a_boot(hands: &Hands<'_>, journal: &Journal, key: &Key, act: &Act) -> Done<Option<Seen>> {
    let Act::Value(ValueAct { path, before, after }) = act else { return Ok(None) };
    let acts = acts(&journal.plan, &journal.ledger.steps);
    let mut earlier = acts.iter().map(|(other, ..)| other).take_while(|other| *other != key);
    let written = earlier.any(|other| matches!(journal.ledger.stands(other), Stands::Made | Stands::Announced));
    let carried =
        written && journal.ledger.begun_in != boot(hands.root) && shows_only(hands.root, path, after, before)?;
    Ok(carried.then(|| Seen::Value { value: before.clone() }))
}
