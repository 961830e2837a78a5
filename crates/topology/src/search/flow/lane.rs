//! Behind NVSwitches a channel goes on as it began: up or down the GPUs' numbers, around, through all of them. Such a way is taken
//! off its links at once.

use super::demand::{Amount, Load};
use super::{Flow, Flows};
use crate::path::PathType;

/// All GPUs in a row, twice, so that every way once around is one stretch of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    links: Vec<u32>,
    /// Where the links of each pair of neighbours begin, and where the last ones end.
    begins: Vec<u32>,
    /// Sums of the links' marks up to there.
    marks: Vec<u64>,
    kind: u8,
    back_kind: u8,
}

/// How far a run is looked into before it is taken: pairs.
const NEAR: u16 = 3;

/// A stretch of a lane.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct Run {
    /// Up or down.
    lane: u8,
    /// The first of the pairs of neighbours.
    from: u16,
    /// Behind the last.
    to: u16,
}

impl Lane {
    /// A lane of flows, with the links of each; none where a link serves two of them, and so their order could matter.
    fn of(flows: &[(Flow, Vec<u32>)]) -> Option<Lane> {
        let mut all: Vec<u32> = flows.iter().flat_map(|(_, l)| l).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        if all.len() < count {
            return None;
        }
        let mut lane = Lane { begins: vec![0], marks: vec![0], ..Lane::default() };
        let mut mark = 0_u64;
        for (flow, links) in flows.iter().chain(flows) {
            lane.links.extend(links);
            lane.begins.push(u32::try_from(lane.links.len()).ok()?);
            mark = mark.wrapping_add(flow.marks[0]);
            lane.marks.push(mark);
            (lane.kind, lane.back_kind) = (lane.kind.max(flow.kind), lane.back_kind.max(flow.back_kind));
        }
        Some(lane)
    }

    fn links(&self, run: Run) -> &[u32] {
        let begin = |pair: u16| self.begins.get(usize::from(pair)).map(|b| *b as usize);
        let range = begin(run.from).zip(begin(run.to)).map(|(from, to)| from..to);
        range.and_then(|r| self.links.get(r)).unwrap_or_default()
    }

    fn hops(&self, run: Run) -> i32 {
        i32::try_from(self.links(run).len()).unwrap_or(i32::MAX)
    }

    /// The sum of the marks of its links.
    fn mark(&self, run: Run) -> u64 {
        let up_to = |pair: u16| self.marks.get(usize::from(pair)).copied().unwrap_or(0);
        up_to(run.to).wrapping_sub(up_to(run.from))
    }

    /// Whether each type of path in it, and for trees that of the way back, is near enough.
    fn is_near(&self, limit: u8, both: bool) -> bool {
        self.kind <= limit && (!both || self.back_kind <= limit)
    }

    /// How many pairs are before the first that has a link with too little left, if there is one.
    fn reach(&self, run: Run, amount: Amount, left: &[i32]) -> Option<u16> {
        let scarce = |l: &u32| left.get(*l as usize).is_none_or(|l| *l < amount.need);
        let scarce = self.links(run).iter().position(scarce)?;
        let begins = self.begins.get(usize::from(run.from)..usize::from(run.to)).unwrap_or_default();
        let first = begins.first().map_or(0, |b| *b as usize);
        let pair = begins.partition_point(|b| *b as usize <= first + scarce).saturating_sub(1);
        Some(u16::try_from(pair).unwrap_or(0))
    }

    /// Takes an amount off all links; where one of them has not enough left, takes nothing, and tells how many pairs are before it.
    fn take(&self, run: Run, amount: Amount, left: &mut [i32]) -> Result<(), u16> {
        if let Some(reached) = self.reach(run, amount, left) {
            return Err(reached);
        }
        add(self.links(run), -amount.take, left);
        Ok(())
    }

    /// Gives it back.
    fn give(&self, run: Run, amount: Amount, left: &mut [i32]) {
        add(self.links(run), amount.take, left);
    }
}

/// Adds an amount to what is left of links.
pub(super) fn add(links: &[u32], amount: i32, left: &mut [i32]) {
    for link in links {
        if let Some(l) = left.get_mut(*link as usize) {
            *l += amount;
        }
    }
}

impl Flows<'_> {
    /// Finds the ways through all GPUs, up and down.
    pub(in crate::search) fn find_lanes(&mut self) {
        let n = self.gpus;
        let up = self.lane((0..n).map(|g| (g, (g + 1) % n)));
        let down = self.lane((0..n).rev().map(|g| (g, (g + n - 1) % n)));
        self.lanes = [up, down];
    }

    fn lane(&mut self, pairs: impl Iterator<Item = (usize, usize)>) -> Option<Lane> {
        let mut flows = Vec::with_capacity(self.gpus);
        for (from, to) in pairs {
            let flow = self.flow(from, to)?;
            let flow = *self.get(flow)?;
            let links = self.links.get(flow.start as usize..)?.get(..flow.hops as usize)?;
            if links.is_empty() || !flow.plain || flow.kind >= PathType::Dis as u8 {
                return None;
            }
            flows.push((flow, links.to_vec()));
        }
        Lane::of(&flows)
    }

    /// The run from one GPU through so many others, up or down; `None` where it must be walked, or is too far by the types of its
    /// paths (`Flow::is_near`).
    pub(in crate::search) fn run(&self, from: u16, down: bool, others: u16, limit: u8, both: bool) -> Option<Run> {
        let lane = u8::from(down);
        self.lanes.get(usize::from(lane))?.as_ref().filter(|l| l.is_near(limit, both))?;
        let from = if down { u16::try_from(self.gpus).ok()?.checked_sub(from)?.checked_sub(1)? } else { from };
        Some(Run { lane, from, to: from.checked_add(others)? })
    }

    /// How many GPUs a run would reach, if it gets stuck near its beginning, as most do that do; nothing is sought farther away.
    pub(in crate::search) fn reach(&self, run: Run) -> Option<u16> {
        let lane = self.lanes.get(usize::from(run.lane)).and_then(Option::as_ref)?;
        let run = Run { to: run.to.min(run.from.saturating_add(NEAR)), ..run };
        lane.reach(run, self.demands.get(Load::Intra as usize)?.plain[0], &self.left)
    }

    /// Takes the demand between GPUs off a run, and tells how many links it has; or how many GPUs it would reach.
    pub(in crate::search) fn take_run(&mut self, run: Run) -> Result<i32, u16> {
        let lane = self.lanes.get(usize::from(run.lane)).and_then(Option::as_ref);
        let (Some(lane), Some(demand)) = (lane, self.demands.get(Load::Intra as usize)) else { return Err(0) };
        let amount = demand.plain[0];
        lane.take(run, amount, &mut self.left)?;
        self.mark = self.mark.wrapping_add(lane.mark(run).wrapping_mul(u64::from(amount.take.unsigned_abs())));
        Ok(lane.hops(run))
    }

    /// Gives a run's demand back; how many links it has.
    pub(in crate::search) fn give_run(&mut self, run: Run) -> i32 {
        let lane = self.lanes.get(usize::from(run.lane)).and_then(Option::as_ref);
        let (Some(lane), Some(demand)) = (lane, self.demands.get(Load::Intra as usize)) else { return 0 };
        let amount = demand.plain[0];
        lane.give(run, amount, &mut self.left);
        self.mark = self.mark.wrapping_sub(lane.mark(run).wrapping_mul(u64::from(amount.take.unsigned_abs())));
        lane.hops(run)
    }
}
