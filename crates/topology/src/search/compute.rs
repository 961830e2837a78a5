//! Which demands are tried, and in which order (`ncclTopoCompute`).

use super::bound::Bound;
use super::lists;
use super::plan::Plan;
use super::speeds::Speeds;
use super::walk::Walker;
use super::{Pattern, Shortcuts};
use crate::Analysis;
use crate::path::PathType;
use crate::system::{Arch, CpuVendor, NodeKind};

/// Steps of all walks of a pattern, once there is something.
const ALL_STEPS: i64 = 1 << 19;
const STEPS: i32 = 1 << 14;
const STEPS_SAME_CHANNELS: i32 = 1 << 8;

const SYS: u8 = PathType::Sys as u8;
const DIS: u8 = PathType::Dis as u8;

/// Finds channels of patterns, one after the other.
pub(super) struct Computer<'a> {
    analysis: &'a Analysis,
    walker: Walker<'a>,
    /// Walks that were done, and what was left of their steps.
    done: Vec<(Key, i32)>,
    /// Types of paths that there are: between GPUs, and with NICs.
    kinds: [Vec<u8>; 2],
    pub(super) sm: i32,
    pub(super) max_bandwidth: f32,
    pub(super) total_bandwidth: f32,
}

/// The farthest types of paths that are admitted.
#[derive(Clone, Copy)]
struct Types {
    intra: (u8, u8),
    inter: (u8, u8),
}

/// All on which a walk depends.
#[derive(PartialEq, Eq)]
struct Key {
    pattern: Pattern,
    cross_nic: u8,
    same: bool,
    min: usize,
    bandwidths: [u32; 2],
    kinds: [usize; 2],
}

impl<'a> Computer<'a> {
    pub(super) fn new(analysis: &'a Analysis, inter: bool, shortcuts: Shortcuts) -> Self {
        let width = analysis.system.of(NodeKind::Gpu).len();
        let (max_bandwidth, total_bandwidth) = lists::bandwidths(analysis, inter);
        let mut walker = Walker::new(analysis, inter, Plan::new(Pattern::Ring, 0, 0, width));
        walker.repeatable &= shortcuts.memory;
        walker.leaps = shortcuts.leaps;
        Computer {
            analysis,
            walker,
            done: Vec::new(),
            kinds: lists::kinds(analysis),
            sm: lists::oldest(&analysis.system),
            max_bandwidth,
            total_bandwidth,
        }
    }

    pub(super) fn steps(&self) -> u64 {
        self.walker.steps
    }

    fn types(&self) -> Types {
        let (intra, mut inter) = ((PathType::Loc as u8, SYS), (PathType::Pix as u8, SYS));
        let mut intra = if self.gpus() > 1 { lists::range(self.analysis, NodeKind::Gpu) } else { intra };
        if self.walker.inter {
            inter = lists::range(self.analysis, NodeKind::Net);
            intra.1 = inter.1;
        }
        // Older GPUs' trees come back through the CPU.
        if self.sm < 90 {
            inter.1 = SYS;
        }
        Types { intra, inter }
    }

    fn gpus(&self) -> usize {
        self.analysis.system.of(NodeKind::Gpu).len()
    }

    /// Finds channels.
    pub(super) fn compute(&mut self, pattern: Pattern, min: usize, max: usize) -> Plan {
        let system = &self.analysis.system;
        let inter = self.walker.inter;
        let cross_nic = if system.of(NodeKind::Net).len() > 1 { self.analysis.env.cross_nic } else { 0 };
        let types = self.types();
        let mut best = Plan::new(pattern, min, max, self.gpus());
        best.cross_nic = u8::from(cross_nic == 1);
        (best.type_intra, best.type_inter) = (types.intra.0, types.inter.0);
        if self.gpus() == 1 && pattern != Pattern::Ring {
            best.pattern = Pattern::Tree;
        }
        // Two groups of GPUs: a tree will be better, and it needs two channels, of which there are as many as rings.
        if pattern == Pattern::Ring && max >= 2 && min == 1 && lists::is_split(self.analysis) {
            best.min = 2;
        }
        let mut total = self.total_bandwidth;
        let devices = system.of(NodeKind::Dev).len();
        if devices > 1 && best.pattern != Pattern::Ring {
            // Trees need not close.
            total = (f64::from(total) * (devices as f64 / (devices as f64 - 1.0))) as f32;
        }
        let fastest = self.max_bandwidth;
        let mut speeds = Speeds::of(self.sm, inter);
        let minimum = best.min as f32;
        let speed = speeds.restart(|s| s > fastest || s * minimum > total);
        self.done.clear();
        self.walker.plan = best.clone();
        self.walker.best = best;
        self.set_speed(speed);
        let bounded = inter && pattern == Pattern::Ring && self.walker.repeatable;
        self.walker.bound = bounded.then(|| (Bound::of(self.analysis), speeds.rest()));
        self.first_pass(types, cross_nic, &mut speeds);
        self.walker.bound = None;
        self.second_pass(&mut speeds);
        if self.walker.best.channels == 0 {
            self.fall_back();
        }
        self.walker.best.clone()
    }

    fn set_speed(&mut self, speed: f32) {
        (self.walker.plan.bw_intra, self.walker.plan.bw_inter) = (speed, speed);
    }

    /// All on which a walk depends: a type of path that there is not changes nothing.
    fn key(&self) -> Key {
        let plan = &self.walker.plan;
        let [intra, inter] = &self.kinds;
        let up_to = |kinds: &[u8], limit: u8| kinds.iter().filter(|k| **k <= limit).count();
        Key {
            pattern: plan.pattern,
            cross_nic: plan.cross_nic,
            same: plan.same,
            min: plan.min,
            bandwidths: [plan.bw_intra.to_bits(), plan.bw_inter.to_bits()],
            kinds: [up_to(intra, plan.type_intra), up_to(inter, plan.type_inter)],
        }
    }

    /// A walk; what is left of its steps, and whether there is nothing more to want.
    fn walk(&mut self, all: &mut i64) -> (i32, bool) {
        let steps = if self.walker.plan.same { STEPS_SAME_CHANNELS } else { STEPS };
        *all -= i64::from(steps);
        let key = self.key();
        let known = self.done.iter().find(|(k, _)| *k == key).filter(|_| self.walker.repeatable);
        let left = match known {
            Some((_, left)) => *left,
            None => {
                let left = self.walker.search(steps);
                self.done.push((key, left));
                left
            }
        };
        let best = &self.walker.best;
        (left, left == -1 || best.channels as f32 * best.bw_inter >= self.total_bandwidth)
    }

    /// Widens what is admitted and lowers the demand until something fits.
    fn first_pass(&mut self, types: Types, cross_nic: i64, speeds: &mut Speeds) {
        let inter = self.walker.inter;
        let cpu = self.analysis.system.cpus().next().map(|(_, c)| (c.arch, c.vendor));
        let amd = cpu == Some((Some(Arch::X86), Some(CpuVendor::Amd)));
        let mut all = ALL_STEPS;
        loop {
            let (left, done) = self.walk(&mut all);
            if done {
                return;
            }
            let Walker { plan, best, .. } = &mut self.walker;
            // Channels that differ, except where they would all cross AMD's CPUs.
            if plan.same && !(amd && plan.type_intra == SYS) {
                plan.same = false;
                continue;
            }
            plan.same = true;
            all += i64::from(left);
            if all < 0 && best.channels > 0 {
                return;
            }
            if self.sm >= 90 && plan.pattern == Pattern::BalancedTree {
                plan.pattern = Pattern::Tree;
                continue;
            }
            plan.pattern = best.pattern;
            let none = best.channels == 0;
            let farthest = if inter { plan.type_inter } else { types.intra.1 };
            if plan.type_intra < farthest && (none || plan.type_intra < best.type_intra) {
                plan.type_intra += 1;
                if plan.type_intra < DIS {
                    continue;
                }
            }
            plan.type_intra = types.intra.0;
            let more = none || plan.type_inter < best.type_inter || plan.type_inter < PathType::Pxn as u8;
            if inter && plan.type_inter < types.inter.1 && more {
                plan.type_inter += 1;
                if plan.type_inter < DIS {
                    continue;
                }
            }
            plan.type_inter = types.inter.0;
            if cross_nic == 2 && plan.cross_nic == 0 && best.pattern != Pattern::Tree {
                plan.cross_nic = 2;
                continue;
            }
            plan.cross_nic = u8::from(cross_nic == 1);
            let lower = speeds.lower().filter(|l| none || f64::from(l / best.bw_inter) > 0.49);
            if lower.is_none() {
                return;
            }
            let speed = speeds.step_down();
            self.set_speed(speed);
            if let Some((bound, rest)) = &mut self.walker.bound {
                *rest = speeds.rest();
                if bound.is_reached(&self.walker.best, rest) {
                    return;
                }
            }
        }
    }

    /// Doubles channels, then raises the demand while it can be met.
    fn second_pass(&mut self, speeds: &mut Speeds) {
        let Walker { plan, best, .. } = &mut self.walker;
        best.double(self.sm);
        plan.clone_from(best);
        let found = best.bw_inter;
        let speed = speeds.restart(|s| s > found);
        self.set_speed(speed);
        self.walker.plan.min = self.walker.best.channels;
        self.done.clear();
        let mut all = 0;
        let mut left = -1;
        while left != 0 && !speeds.is_highest() {
            let Walker { plan, best, .. } = &mut self.walker;
            if best.pattern == Pattern::Ring {
                let speed = speeds.step_up();
                self.set_speed(speed);
            } else if plan.bw_intra == best.bw_intra && plan.bw_intra < plan.bw_inter * 2.0 {
                plan.bw_intra = speeds.step_up();
            } else {
                break;
            }
            (left, _) = self.walk(&mut all);
        }
    }

    /// Nothing fits: the GPUs in their order.
    fn fall_back(&mut self) {
        let gpus = self.gpus();
        let ends = [self.walker.preferred(0), self.walker.preferred(gpus.saturating_sub(1))];
        let best = &mut self.walker.best;
        for (g, slot) in best.gpus.iter_mut().enumerate().take(gpus) {
            *slot = u16::try_from(g).unwrap_or(u16::MAX);
        }
        (best.bw_intra, best.type_intra) = (0.1, SYS);
        (best.bw_inter, best.type_inter) = (0.0, DIS);
        let nets = match ends {
            [Some(a), Some(b)] => {
                (best.bw_inter, best.type_inter) = (0.1, SYS);
                [a, b]
            }
            _ => [u16::MAX; 2],
        };
        if let Some(first) = best.nets.first_mut() {
            *first = nets;
        }
        best.channels = 1;
        best.fallback = true;
    }
}
