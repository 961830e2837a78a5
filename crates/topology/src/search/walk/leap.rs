//! Behind NVSwitches a channel can only go on as it began: its walk through all GPUs that are left is one leap.

use super::Walker;
use super::frame::{Done, Taken, Visit};
use crate::search::Pattern;

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
        let last = u16::try_from(self.gpus.saturating_sub(1)).unwrap_or(0);
        let others = last.saturating_sub(visit.step);
        if others < 2 || !self.leaps || visit.to_net.is_some_and(|n| n != last) {
            return Leap::None;
        }
        let down = u32::from(gpu) + 1 == u32::from(visit.gpu) || (visit.gpu == 0 && gpu == last);
        let both = self.plan.pattern != Pattern::Ring;
        let Some(run) = self.flows.run(visit.gpu, down, others, self.plan.type_intra, both) else { return Leap::None };
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
        let at = self.lay(visit, last, down);
        Leap::Through(
            Done { taken: Taken::Run(run), used: None, own_steps: false },
            Visit { gpu: at, step: last, ..*visit },
        )
    }

    /// Writes down the GPUs of a run; gives the last.
    fn lay(&mut self, visit: &Visit, last: u16, down: bool) -> u16 {
        let mut at = visit.gpu;
        for step in visit.step..last {
            at = match (down, at) {
                (true, 0) => last,
                (true, _) => at - 1,
                (false, g) if g == last => 0,
                (false, _) => at + 1,
            };
            let first = self.first.get(usize::from(at)).copied().unwrap_or(at);
            self.plan.set_gpu(usize::from(step) + 1, first);
        }
        at
    }
}
