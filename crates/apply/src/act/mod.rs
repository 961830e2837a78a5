//! One act: look at what is there and keep it, make it, look again, undo it. Each is the same when done twice.

mod file;
mod firmware;
mod root;
mod run;
mod trial;
mod value;
mod wrong;

pub(crate) use file::stale;
pub use root::Root;
pub(crate) use root::{Meta, There, Xattrs};
pub(crate) use run::end_left;
pub use trial::{NoTrial, NodeFiles, TrialEntry, TrialMaker};
pub(crate) use value::{shows, shows_only};
pub(crate) use wrong::{Done, Wrong};

use crate::journal::{Journal, Seen};
use linerate_remedy::{Act, FileAct, NicFirmwareAct, RunAct, TrialAct, ValueAct};

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

impl Hands<'_> {
    /// Looks at what an act will change, refuses what the plan did not expect (`stale`), and keeps it under the name `kept`.
    pub(crate) fn before(&self, act: &Act, journal: &Journal, kept: &str) -> Done<Seen> {
        match act {
            Act::File(FileAct { path, before, .. }) => file::before(self.root, path, before, journal, kept),
            Act::Run(RunAct { writes, .. }) => file::keep(self.root, writes, journal, kept),
            Act::Value(ValueAct { path, before, .. }) => value::before(self.root, path, before),
            Act::Trial(TrialAct { boot, add, remove }) => trial::before(self, *boot, add, remove, journal, kept),
            Act::NicFirmware(NicFirmwareAct { device, parameter, before, .. }) => {
                firmware::before(self.root, device, parameter, before, journal)
            }
            Act::Bios(_) | Act::Label(_) => Err(not_here()),
        }
    }

    /// Makes it.
    pub(crate) fn make(&self, act: &Act, before: &Seen, journal: &Journal) -> Done<Made> {
        match act {
            Act::File(FileAct { path, after, mode, .. }) => {
                file::make(self.root, path, after.as_ref().map(|c| c.0.as_bytes()), *mode, before)
            }
            Act::Run(RunAct { argv, writes, limit, .. }) => {
                let output = run::run(self.root, argv, *limit, self.mark)?;
                Ok(Made { after: file::look(self.root, writes)?, output: Some(output) })
            }
            Act::Value(ValueAct { path, after, .. }) => value::make(self.root, path, after),
            Act::Trial(_) => trial::make(self, before, journal, self.mark),
            Act::NicFirmware(NicFirmwareAct { device, parameter, after, .. }) => {
                firmware::make(self.root, device, parameter, after, self.mark)
            }
            Act::Bios(_) | Act::Label(_) => Err(not_here()),
        }
    }

    /// Looks where an announced act stands.
    pub(crate) fn look(&self, act: &Act, before: &Seen) -> Done<Look> {
        match act {
            Act::File(FileAct { path, after, .. }) => {
                file::stands(self.root, path, after.as_ref().map(|c| c.0.as_bytes()), before)
            }
            Act::Run(_) => Ok(Look::Before),
            Act::Value(ValueAct { path, after, .. }) => value::stands(self.root, path, after, before),
            Act::Trial(_) => trial::stands(self, before),
            Act::NicFirmware(NicFirmwareAct { device, parameter, after, .. }) => {
                firmware::stands(self.root, device, parameter, after, before)
            }
            Act::Bios(_) | Act::Label(_) => Err(not_here()),
        }
    }

    /// Puts back what was there. `after` is what was seen when it was made; `None`: it was interrupted. `same_boot`: no boot lies between.
    pub(crate) fn undo(
        &self,
        act: &Act,
        before: &Seen,
        after: Option<&Seen>,
        journal: &Journal,
        same_boot: bool,
    ) -> Done<Undo> {
        match act {
            Act::File(FileAct { path, after: content, .. }) => {
                file::undo(self.root, path, content.as_ref().map(|c| c.0.as_bytes()), before, after, journal)
            }
            Act::Run(_) => file::undo_writes(self.root, before, after, journal),
            Act::Value(ValueAct { path, after: set, .. }) => value::undo(self.root, path, set, before, same_boot),
            Act::Trial(_) => trial::undo(self, before, journal, self.mark),
            Act::NicFirmware(NicFirmwareAct { device, parameter, after, .. }) => {
                firmware::undo(self.root, device, parameter, after, before, self.mark)
            }
            Act::Bios(_) | Act::Label(_) => Err(not_here()),
        }
    }

    /// Puts back what a failed attempt may have changed: all of it, because the act announced all of it and nobody else was asked.
    pub(crate) fn put_back(&self, act: &Act, before: &Seen, journal: &Journal) -> Done<()> {
        match act {
            Act::File(_) | Act::Run(_) => file::put_back(self.root, before, journal),
            Act::Value(ValueAct { path, .. }) => value::put_back(self.root, path, before),
            Act::Trial(_) => trial::undo(self, before, journal, self.mark).map(|_| ()),
            Act::NicFirmware(NicFirmwareAct { device, parameter, .. }) => {
                firmware::put_back(self.root, device, parameter, before, self.mark)
            }
            Act::Bios(_) | Act::Label(_) => Ok(()),
        }
    }
}

/// Runs a program of an undoing.
pub(crate) fn run_undo(hands: &Hands<'_>, argv: &[String], limit: u32) -> Done<String> {
    run::run(hands.root, argv, limit, hands.mark)
}

/// Whether a program's next value is the plan's: for the check before anything is done.
pub(crate) fn check(hands: &Hands<'_>, act: &Act) -> Done<()> {
    match act {
        Act::Value(ValueAct { path, before, .. }) => value::before(hands.root, path, before).map(|_| ()),
        Act::NicFirmware(NicFirmwareAct { device, parameter, before, .. }) => {
            firmware::check(hands.root, device, parameter, before)
        }
        Act::Trial(TrialAct { boot, add, remove }) => trial::check(hands, *boot, add, remove),
        Act::File(_) | Act::Run(_) | Act::Bios(_) | Act::Label(_) => Ok(()),
    }
}

fn not_here() -> Wrong {
    Wrong::new(
        "not-here",
        "BIOS attributes are set by Redfish, and labels by the Kubernetes API, from where these can be reached: the operator's side does it",
    )
}

/// A reason why something else is there than the plan or the journal expects.
pub(crate) fn unexpected(what: impl std::fmt::Display) -> Wrong {
    Wrong::new(
        "unexpected",
        format!("{what}: somebody else changed it meanwhile; it is left as it is. Look at it, then decide"),
    )
}
