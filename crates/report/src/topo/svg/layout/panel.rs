//! The panel of a NUMA node.

use super::{BAR_H, Below, CARD_H, Column, GAP, Lane, Layout, Of, PAD, Rect, columns};
use crate::topo::scene::{Parent, Scene};

/// Between columns of one parent.
const BETWEEN: f32 = 14.0;
/// Between those of different parents.
const GROUPS: f32 = 24.0;
/// Levels of switches that are drawn: what hangs on deeper ones hangs on the last one drawn.
pub(in crate::topo::svg) const LEVELS: usize = 12;

/// How many levels and rows a panel has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Depth {
    switches: usize,
    nics: usize,
    gpus: usize,
}

impl Depth {
    pub(super) fn max(self, o: Depth) -> Depth {
        Depth { switches: self.switches.max(o.switches), nics: self.nics.max(o.nics), gpus: self.gpus.max(o.gpus) }
    }

    #[allow(clippy::cast_precision_loss)] // small numbers
    fn switch_y(level: usize) -> f32 {
        PAD + (level + 1) as f32 * (BAR_H + GAP)
    }

    #[allow(clippy::cast_precision_loss)]
    fn card_y(self, row: usize) -> f32 {
        Self::switch_y(self.switches) + row as f32 * (CARD_H + GAP)
    }

    /// Height of a panel.
    pub(super) fn height(self) -> f32 {
        self.card_y((self.nics + self.gpus).max(1)) - GAP + PAD
    }
}

/// A switch over its columns.
#[derive(Debug, Clone, Copy)]
struct Span {
    switch: usize,
    level: usize,
    first: usize,
    last: usize,
}

/// What is in a panel, left to right.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    cpu: usize,
    pub(super) width: f32,
    pub(super) columns: Vec<Column>,
    /// Left edges of columns, from the panel's.
    lefts: Vec<f32>,
    spans: Vec<Span>,
    pub(super) depth: Depth,
}

impl Plan {
    pub(super) fn of(scene: &Scene, below: &Below, cpu: usize) -> Plan {
        let mut plan = Plan {
            cpu,
            width: 0.0,
            columns: Vec::new(),
            lefts: Vec::new(),
            spans: Vec::new(),
            depth: Depth::default(),
        };
        plan.add(below, Parent::Cpu(cpu), Parent::Cpu(cpu), 0);
        let mut x = PAD;
        let mut before: Option<Parent> = None;
        for column in &plan.columns {
            if let Some(p) = before {
                x += if p == column.parent { BETWEEN } else { GROUPS };
            }
            plan.lefts.push(x);
            x += column.slots(scene).0;
            before = Some(column.parent);
        }
        plan.width = x + PAD;
        plan.depth.nics = plan.columns.iter().map(|c| c.nics.len()).max().unwrap_or(0);
        plan.depth.gpus = plan.columns.iter().map(|c| c.gpus.len()).max().unwrap_or(0);
        plan.depth.switches = plan.spans.iter().map(|s| s.level + 1).max().unwrap_or(0);
        plan
    }

    /// Columns of a parent, then those of its switches. `drawn` is the parent, or the last one above it that is drawn.
    fn add(&mut self, below: &Below, parent: Parent, drawn: Parent, level: usize) {
        let Some(kin) = below.kin(parent) else { return };
        if !(kin.gpus.is_empty() && kin.nics.is_empty() && !kin.switches.is_empty()) {
            self.columns.extend(columns(drawn, &kin.gpus, &kin.nics));
        }
        for switch in &kin.switches {
            let first = self.columns.len();
            let span = self.spans.len();
            let own = Parent::Switch(*switch);
            if level < LEVELS {
                self.spans.push(Span { switch: *switch, level, first, last: first });
                self.add(below, own, own, level + 1);
            } else {
                self.add(below, own, drawn, level + 1);
                continue;
            }
            let last = self.columns.len().saturating_sub(1);
            if let Some(span) = self.spans.get_mut(span) {
                span.last = last;
            }
        }
    }

    pub(super) fn place(&self, scene: &Scene, l: &mut Layout, x: f32, y: f32, depth: Depth) {
        let put = |list: &mut Vec<Rect>, at: usize, r: Rect| {
            if let Some(slot) = list.get_mut(at) {
                *slot = r;
            }
        };
        put(&mut l.panels, self.cpu, Rect { x, y, w: self.width, h: depth.height() });
        put(&mut l.cpus, self.cpu, Rect { x: x + PAD, y: y + PAD, w: self.width - 2.0 * PAD, h: BAR_H });
        for span in &self.spans {
            let left = x + self.lefts.get(span.first).copied().unwrap_or(PAD);
            let last = self.columns.get(span.last).map_or(0.0, |c| c.slots(scene).0);
            let right = x + self.lefts.get(span.last).copied().unwrap_or(PAD) + last;
            let top = y + Depth::switch_y(span.level);
            put(&mut l.switches, span.switch, Rect { x: left, y: top, w: right - left, h: BAR_H });
        }
        let bar = |l: &Layout, parent: Parent| match parent {
            Parent::Cpu(c) => l.cpus.get(c).map_or(y, |r| r.bottom()),
            Parent::Switch(s) => l.switches.get(s).map_or(y, |r| r.bottom()),
        };
        for span in &self.spans {
            let (Some(r), Some(s)) = (l.switches.get(span.switch).copied(), scene.switches.get(span.switch)) else {
                continue;
            };
            let top = bar(l, s.parent);
            l.lanes.push(Lane { of: Of::Switch(span.switch), x: r.x + 20.0, top, bottom: r.y, room: r.right() });
        }
        for (column, left) in self.columns.iter().zip(&self.lefts) {
            let left = x + left;
            let top = bar(l, column.parent);
            let (_, nics, gpus) = column.slots(scene);
            for (row, (nic, slot)) in column.nics.iter().zip(nics).enumerate() {
                let card_y = y + depth.card_y(row);
                let (x, right) = (left + slot.left, left + slot.right);
                put(&mut l.nics, *nic, Rect { x, y: card_y, w: right - x, h: CARD_H });
                l.lanes.push(Lane { of: Of::Nic(*nic), x: left + slot.lane, top, bottom: card_y, room: right });
            }
            for (row, (gpu, slot)) in column.gpus.iter().zip(gpus).enumerate() {
                let card_y = y + depth.card_y(depth.nics + row);
                let (x, right) = (left + slot.left, left + slot.right);
                put(&mut l.gpus, *gpu, Rect { x, y: card_y, w: right - x, h: CARD_H });
                if let Some(direct) = slot.direct {
                    let top = l.cpus.get(self.cpu).map_or(y, |r| r.bottom());
                    l.lanes.push(Lane { of: Of::Direct(*gpu), x: left + direct, top, bottom: card_y, room: right });
                }
                l.lanes.push(Lane { of: Of::Gpu(*gpu), x: left + slot.lane, top, bottom: card_y, room: right });
            }
        }
    }
}
