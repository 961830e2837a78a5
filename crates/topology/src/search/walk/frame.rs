//! What the walk remembers on its way back.

use crate::search::flow::{Load, Run};

/// Which GPUs follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    /// Whatever is best.
    Free,
    /// As they are numbered.
    Numbered,
    /// As in the channel before.
    Again,
}

/// A channel, as far as it is walked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    pub(super) gpu: u16,
    pub(super) step: u16,
    /// At which step the channel goes back to the NIC.
    pub(super) to_net: Option<u16>,
    /// Whether it goes back to its first GPU.
    pub(super) closes: bool,
    pub(super) sequence: Sequence,
}

/// What a frame chooses from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Choice {
    /// Where a channel begins, on one node.
    BeginIntra,
    /// Where it begins at a NIC: which, and which attempt with it.
    BeginNet { attempt: u16 },
    /// NICs to go back to.
    ToNet,
    /// One GPU.
    Single,
    /// GPUs by an order; the last first.
    Ordered { order: u32, reverse: bool },
    /// Neighbours by number.
    Near([u16; 2]),
}

/// Bandwidth that a choice has taken.
#[derive(Debug, Clone, Copy)]
pub(super) enum Taken {
    /// None.
    Nothing,
    /// A flow's.
    Flow(u32, Load),
    /// A run's, through all GPUs that were left.
    Run(Run),
}

/// What is undone before the next choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) taken: Taken,
    pub(super) used: Option<u16>,
    /// The attempt had steps of its own.
    pub(super) own_steps: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) visit: Visit,
    pub(super) choice: Choice,
    pub(super) next: u16,
    pub(super) done: Option<Done>,
}
