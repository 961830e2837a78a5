//! Behind NVSwitches a channel can only go on as it began: its walk through all GPUs that are left is one leap.

use super::Walker;
use super::frame::{Done, Taken, Visit};
use crate::search::Pattern;

impl Walker<'_> {
    /// From a GPU by a neighbour through all others to the last one, as `go` would step by step; `None`, and nothing done, where that
    /// is to be walked: near the last step, where steps or bandwidth do not suffice, or where the links are not that simple.
    ///
    /// Only neighbours by number follow, so the GPUs of a channel lie side by side and the last one is at an end: there is no choice
    /// but to go on in the same direction. So nothing asks on the way which GPUs are used, and what is walked back has no steps.
    pub(super) fn leap(&mut self, visit: &Visit, gpu: u16) -> Option<(Done, Visit)> {
        let last = u16::try_from(self.gpus.checked_sub(1)?).ok()?;
        let others = last.checked_sub(visit.step).filter(|o| *o >= 2 && self.leaps)?;
        if visit.to_net.is_some_and(|n| n != last) {
            return None;
        }
        // The last step is counted where it is visited.
        let steps = i32::from(others) - 1;
        if self.left <= steps {
            return None;
        }
        let down = u32::from(gpu) + 1 == u32::from(visit.gpu) || (visit.gpu == 0 && gpu == last);
        let run = self.flows.run(visit.gpu, down, usize::from(others))?;
        let hops = self.flows.take_run(run, self.plan.type_intra, self.plan.pattern != Pattern::Ring)?;
        self.plan.hops += hops;
        self.left -= steps;
        self.steps += u64::from(others) - 1;
        let mut at = visit.gpu;
        for step in 1..=others {
            at = match (down, at) {
                (true, 0) => last,
                (true, _) => at - 1,
                (false, g) if g == last => 0,
                (false, _) => at + 1,
            };
            let first = self.first.get(usize::from(at)).copied().unwrap_or(at);
            self.plan.set_gpu(usize::from(visit.step + step), first);
        }
        let below = Visit { gpu: at, step: last, ..*visit };
        Some((Done { taken: Taken::Run(run), used: None, own_steps: false }, below))
    }
}
