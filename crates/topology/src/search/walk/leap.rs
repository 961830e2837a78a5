//! Behind NVSwitches a channel can only go on as it began: its walk through all GPUs that are left is one leap.

use super::Walker;
use super::frame::{Done, Sequence, Taken, Visit};
use crate::search::Pattern;
use crate::search::flow::Run;

/// How a leap ended.
pub(super) enum Leap {
    /// There is none: walk.
    None,
    /// On the way steps or bandwidth did not suffice.
    Stuck,
    /// At the last GPU.
    Through(Done, Visit),
}

impl Walker<'_> {
    /// From a GPU by a neighbour through all others to the last one, as `go` would step by step; nothing where that is to be walked:
    /// near the last step, or where the links are not that simple.
    ///
    /// Only neighbours by number follow, so the GPUs of a channel lie side by side and the last one is at an end: there is no choice
    /// but to go on in the same direction. So nothing asks on the way which GPUs are used, and what is walked back has no steps.
    pub(super) fn leap(&mut self, visit: &Visit, gpu: u16) -> Leap {
        let Some(run) = self.run(visit, gpu) else { return Leap::None };
        let last = self.last();
        let others = last.saturating_sub(visit.step);
        let left = self.left.max(0);
        let taken = if left == 0 { Err(0) } else { self.flows.take_run(run) };
        // Each GPU that is reached is a step; that to the last one is counted where it is visited.
        let (steps, hops) = match taken {
            Ok(hops) if left >= i32::from(others) => (i32::from(others) - 1, Some(hops)),
            Ok(_) => {
                self.flows.give_run(run);
                (left, None)
            }
            Err(reached) => (left.min(i32::from(reached)), None),
        };
        self.left -= steps;
        self.steps += u64::from(steps.unsigned_abs());
        let Some(hops) = hops else { return Leap::Stuck };
        self.plan.hops += hops;
        let at = self.lay(visit, last, self.is_down(visit, gpu));
        Leap::Through(
            Done { taken: Taken::Run(run), used: None, own_steps: false },
            Visit { gpu: at, step: last, ..*visit },
        )
    }

    fn last(&self) -> u16 {
        u16::try_from(self.gpus.saturating_sub(1)).unwrap_or(0)
    }

    /// How many GPUs a leap would go through: nothing where a step goes to the NIC, or there are too few.
    fn others(&self, visit: &Visit) -> Option<u16> {
        let last = self.last();
        let others = last.checked_sub(visit.step).filter(|o| *o >= 2 && self.leaps && self.nvswitch);
        others.filter(|_| visit.to_net.is_none_or(|n| n == last))
    }

    /// The run from a GPU by a neighbour through all others, if it can be leapt.
    fn run(&self, visit: &Visit, gpu: u16) -> Option<Run> {
        let others = self.others(visit)?;
        self.flows.run(
            visit.gpu,
            self.is_down(visit, gpu),
            others,
            self.plan.type_intra,
            self.plan.pattern != Pattern::Ring,
        )
    }

    fn is_down(&self, visit: &Visit, gpu: u16) -> bool {
        u32::from(gpu) + 1 == u32::from(visit.gpu) || (visit.gpu == 0 && gpu == self.last())
    }

    /// Whether a step leads to nothing because no leap after it gets through: then its steps, and theirs, are counted, and it need not
    /// be visited.
    pub(super) fn is_dead_end(&mut self, visit: &Visit) -> bool {
        if visit.sequence != Sequence::Free || self.left <= 0 || self.others(visit).is_none() {
            return false;
        }
        let near = self.near.get(usize::from(visit.gpu)).and_then(|n| n.get(self.plan.pattern as usize));
        let Some(near) = near else { return false };
        let mut steps = 1;
        for gpu in near.iter().filter(|g| self.is_free(**g)) {
            let Some(reached) = self.run(visit, *gpu).and_then(|r| self.flows.reach(r)) else { return false };
            steps += i32::from(reached);
        }
        let steps = steps.min(self.left);
        self.left -= steps;
        self.steps += u64::from(steps.unsigned_abs());
        true
    }

    /// Writes down the GPUs of a run; gives the last.
    fn lay(&mut self, visit: &Visit, last: u16, down: bool) -> u16 {
        let row = usize::from(visit.step) + 1..=usize::from(last);
        let row = self.plan.row_mut().get_mut(row).unwrap_or_default();
        let first = |g: u16| self.first.get(usize::from(g)).copied().unwrap_or(g);
        let mut at = visit.gpu;
        for slot in row {
            at = match (down, at) {
                (true, 0) => last,
                (true, _) => at - 1,
                (false, g) if g == last => 0,
                (false, _) => at + 1,
            };
            *slot = first(at);
        }
        at
    }
}
