//! Where a channel begins.

use super::ends::net_mark;
use super::frame::{Choice, Done, Frame, Sequence, Taken, Visit};
use super::{OWN_ORDER_STEPS, Walker};
use crate::search::flow::Load;

impl Walker<'_> {
    /// Begins a channel on one node: in the GPUs' own order or as the channel before, then from each GPU.
    pub(super) fn begin_intra(&mut self, frame: &mut Frame) -> Option<Frame> {
        loop {
            let at = usize::from(frame.next);
            let c = self.plan.channels;
            let (gpu, sequence) = match (at, c.checked_sub(1)) {
                (0, None) => (0, Sequence::Numbered),
                (0, Some(before)) => (self.plan.gpu(before, 0)?, Sequence::Again),
                _ if self.left > 0 && at <= self.gpus && (c == 0 || !self.plan.same) => {
                    (frame.next - 1, Sequence::Free)
                }
                _ => return None,
            };
            frame.next += 1;
            let below = Visit { gpu, step: 0, sequence, ..frame.visit };
            let done = Done { taken: Taken::Nothing, used: Some(gpu), own_steps: false };
            if let Some(below) = self.enter(frame, done, below) {
                return Some(below);
            }
        }
    }

    /// Begins a channel at a NIC (`ncclTopoSearchRecNet`).
    pub(super) fn begin_net(&mut self, frame: &mut Frame) -> Option<Frame> {
        let speed = self.plan.bw_inter as i32 as f32;
        let c = self.plan.channels;
        let shift = c % self.begin.up_to(Some(self.plan.type_inter)).len().max(1);
        let swapped = c.checked_sub(1).filter(|b| self.plan.cross_nic == 2 && self.is_ring() && b % 2 == 0);
        let swapped = swapped.and_then(|b| self.plan.net(b, 1));
        let again = c > 0 && self.plan.same;
        let own_order = c == 0 && !again && !self.nvswitch;
        loop {
            let list = self.begin.up_to(Some(self.plan.type_inter));
            let at = usize::from(frame.next);
            if at >= list.len() {
                return None;
            }
            // Each channel begins its search at another NIC.
            let n = *list.get(if at + shift < list.len() { at + shift } else { at + shift - list.len() })?;
            let net = self.nets.get(usize::from(n))?;
            let Choice::BeginNet { attempt } = frame.choice else { return None };
            let first = net.first;
            if attempt == 0 && (net.bandwidth < speed || swapped.is_some_and(|end| end != first)) {
                frame.next += 1;
                continue;
            }
            let own_steps = own_order && attempt == 0;
            let gpu = match usize::from(attempt) {
                0 if again => self.plan.gpu(c - 1, 0).map(|g| (g, Sequence::Again)),
                _ if again => None,
                0 if own_order => Some((0, Sequence::Numbered)),
                i => net.local.get(i - usize::from(own_order)).map(|g| (*g, Sequence::Free)),
            };
            if attempt == 0 {
                self.plan.set_net(0, first);
                self.charge(n, -speed);
            }
            let Some((gpu, sequence)) = gpu else {
                // NCCL does not give back the bandwidth of a NIC without GPUs.
                if again || self.nets.get(usize::from(n)).is_some_and(|n| n.connected) {
                    self.charge(n, speed);
                }
                frame.next += 1;
                frame.choice = Choice::BeginNet { attempt: 0 };
                continue;
            };
            frame.choice = Choice::BeginNet { attempt: attempt + 1 };
            if own_steps {
                self.kept = std::mem::replace(&mut self.left, OWN_ORDER_STEPS);
            }
            let from = self.flows.end_of_net(n);
            let flow = self.follow(from, usize::from(gpu), Load::Inter);
            let taken = flow.map_or(Taken::Nothing, |f| Taken::Flow(f, Load::Inter));
            let done = Done { taken, used: flow.map(|_| gpu), own_steps };
            if flow.is_none() {
                self.undo(done);
                continue;
            }
            let below = Visit { gpu, step: 0, sequence, ..frame.visit };
            if let Some(below) = self.enter(frame, done, below) {
                return Some(below);
            }
        }
    }

    /// Takes or gives back bandwidth of a port, of which there may be several devices.
    fn charge(&mut self, net: u16, gbps: f32) {
        let mut at = 0;
        while let Some(same) = self.nets.get(usize::from(net)).and_then(|n| n.same_port.get(at)).copied() {
            if let Some(n) = self.nets.get_mut(usize::from(same)) {
                self.net_mark = self.net_mark.wrapping_sub(net_mark(same, n.bandwidth));
                n.bandwidth += gbps;
                self.net_mark = self.net_mark.wrapping_add(net_mark(same, n.bandwidth));
            }
            at += 1;
        }
    }
}
