//! What follows a complete channel.

use super::{Frame, Walker};
use crate::search::flow::scatter;
use crate::search::memo::Reached;
use crate::search::plan::Plan;

impl Walker<'_> {
    /// A channel is complete: is it better than what was found, and is there room for one more?
    pub(super) fn complete(&mut self) -> Option<Frame> {
        self.plan.channels += 1;
        if self.plan.is_better(&self.best) {
            self.best.copy(&self.plan);
            let settled = self.bound.as_ref().is_some_and(|(b, speeds)| b.is_reached(&self.best, speeds));
            if settled || self.plan.channels == self.plan.max {
                self.left = -1;
            }
        }
        let reached = Reached { channels: self.plan.channels, hops: self.plan.hops };
        self.memo.reached(reached);
        if self.plan.channels < self.plan.max && !self.repeats() {
            return Some(self.begin());
        }
        self.plan.channels -= 1;
        None
    }

    /// Whether what follows was walked before in the same state, and brings nothing now: then it costs the same steps again.
    fn repeats(&mut self) -> bool {
        if !self.repeatable {
            return false;
        }
        let key = self.state();
        if let Some((steps, reached)) = self.memo.known(key, self.plan.hops) {
            let mut then = Plan { gpus: Vec::new(), nets: Vec::new(), ..self.plan };
            (then.channels, then.hops) = (reached.channels, reached.hops);
            if !then.is_better(&self.best) {
                self.left = (self.left - steps).max(0);
                self.memo.reached(reached);
                return true;
            }
        }
        self.memo.enter(key, self.left, self.plan.hops);
        false
    }

    /// All on which the walk from here depends.
    fn state(&self) -> u64 {
        let c = self.plan.channels;
        let mut mark = self.flows.mark().wrapping_add(scatter(c as u64));
        if !self.inter || self.plan.same {
            let row = self.plan.row(c - 1).iter();
            mark = row.fold(mark, |m, g| scatter(m ^ u64::from(*g)));
        }
        if self.inter && self.is_ring() && self.plan.cross_nic == 2 && c % 2 == 1 {
            let ends = self.plan.nets.get(c - 1).copied().unwrap_or_default();
            mark = ends.iter().fold(mark, |m, n| scatter(m ^ u64::from(*n)));
        }
        mark.wrapping_add(self.net_mark)
    }
}
