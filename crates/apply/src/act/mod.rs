//! One act: look at what is there and keep it, make it, look again, undo it. Each is the same when done twice.

mod domain;
mod file;
mod kept;
mod nic_firmware;
mod program;
mod root;
mod run;
mod trial;
mod value;
mod wrong;

pub(crate) use program::{end_left, run};
pub use root::Root;
pub(crate) use root::{Meta, There, Xattrs};
pub use trial::{NoEntry, NoTrial, NodeFiles, TrialEntry, TrialMaker};
pub(crate) use value::{shows, shows_only};
pub(crate) use wrong::{Done, Wrong};

use crate::journal::{Journal, Seen};
use crate::protocol::UNEXPECTED;
use linerate_remedy::Act;
use std::collections::BTreeMap;

/// Bytes of a file that is changed or kept: an initramfs is not, a `grub.cfg` is.
pub(crate) const FILE: usize = 64 << 20;

/// What acts work with.
#[derive(Clone, Copy)]
pub(crate) struct Hands<'a> {
    /// The node.
    pub(crate) root: &'a Root,
    /// The way to entries that are started once.
    pub(crate) maker: &'a dyn TrialMaker,
    /// By which programs that were started are found again.
    pub(crate) mark: &'a str,
}

/// What was made.
pub(crate) struct Made {
    /// What is there now.
    pub(crate) after: Seen,
    /// What a program printed: its end.
    pub(crate) output: Option<String>,
}

/// Where an announced act was when the process ended.
pub(crate) enum Look {
    /// As before, or somewhere in an act that can be made again.
    Before,
    /// Made.
    After(Seen),
    /// Neither.
    Other(String),
}

/// How an undoing ended.
pub(crate) enum Undo {
    /// What was there is there.
    Back(String),
    /// The program has to be run again, when all files are back.
    Rerun(String),
}

/// What earlier acts of a plan will have left at paths; `None`: nothing.
pub(crate) type Texts = BTreeMap<String, Option<String>>;

/// How an act is made on the node, seen to be made, and undone.
pub(crate) trait ActDone {
    /// What speaks against it before anything is begun. It adds to `later` what it will leave.
    fn check(&self, hands: &Hands<'_>, later: &mut Texts) -> Vec<Wrong>;

    /// Looks at what it will change, refuses what the plan did not expect (`stale`), and keeps it under the name `kept`.
    fn before(&self, hands: &Hands<'_>, journal: &Journal, kept: &str) -> Done<Seen>;

    /// Makes it.
    fn make(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<Made>;

    /// Looks where it was when it had been announced.
    fn look(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<Look>;

    /// Puts back what was there. `after` is what was seen when it was made; `None`: it was interrupted. `same_boot`: no boot lies between.
    fn undo(
        &self,
        hands: &Hands<'_>,
        journal: &Journal,
        before: &Seen,
        after: Option<&Seen>,
        same_boot: bool,
    ) -> Done<Undo>;

    /// Puts back what a failed attempt may have changed: all of it, because the act announced all of it and nobody else was asked.
    fn put_back(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<()>;

    /// Whether a record is one of what such an act changes: of files, where it does not say otherwise.
    fn keeps(&self, seen: &Seen) -> bool {
        matches!(seen, Seen::Files { .. })
    }

    /// Whether it names a file, as its own or as one that its program writes: only such files may be kept before it, and put back after it.
    fn names(&self, _path: &str) -> bool {
        false
    }

    /// Where it writes, and how many bytes that takes.
    fn room(&self, _root: &Root) -> Vec<(&str, u64)> {
        Vec::new()
    }
}

/// The act as the node's hand makes it; `None`: it is an act of another service, which the driver makes (`drive/elsewhere.rs`).
pub(crate) fn on_node(act: &Act) -> Option<&dyn ActDone> {
    match act {
        Act::File(act) => Some(act),
        Act::Run(act) => Some(act),
        Act::Value(act) => Some(act),
        Act::Trial(act) => Some(act),
        Act::NicFirmware(act) => Some(act),
        Act::Domain(act) => Some(act),
        Act::Bios(_) | Act::Label(_) => None,
    }
}

/// A reason why something else is there than the plan or the journal expects.
pub(crate) fn unexpected(what: impl std::fmt::Display) -> Wrong {
    Wrong::new(
        UNEXPECTED,
        format!("{what}: somebody else changed it meanwhile; it is left as it is. Look at it, then decide"),
    )
}

#[cfg(test)]
mod tests {
    use super::on_node;
    use linerate_remedy::{Plan, Step};

    /// A plan with acts of all kinds.
    const WRITTEN: &[u8] = include_bytes!("../../../remedy/tests/fixtures/plan-0.1.0.json");

    #[test]
    fn what_is_not_made_here_is_made_elsewhere() {
        let plan = Plan::read(WRITTEN).unwrap();
        let acts = plan.steps.iter().flat_map(Step::acts);
        let here: Vec<bool> = acts
            .map(|act| {
                assert_eq!(on_node(act).is_none(), act.is_elsewhere(), "{act:?}");
                act.is_elsewhere()
            })
            .collect();
        assert!(here.contains(&true) && here.contains(&false));
    }
}
