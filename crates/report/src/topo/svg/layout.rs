//! Where everything goes. Panels of NUMA nodes stand side by side, in rows where they are many; in a panel, from top to bottom:
//! host bridge, switches, network devices, GPUs; below a row, NVLink.

use super::column::{Column, columns};
use super::mesh::{self, Track};
use crate::topo::scene::{Parent, Scene};

pub(super) mod panel;
mod smp;

/// Around everything.
pub(super) const MARGIN: f32 = 28.0;
/// Title and summary.
const HEAD: f32 = 78.0;
/// The line that names what limits.
const LIMIT: f32 = 18.0;
/// A card.
pub(super) const CARD_H: f32 = 62.0;
/// A NUMA node's or switch's bar.
pub(super) const BAR_H: f32 = 42.0;
/// Between a bar and what hangs on it: two lines of text.
pub(super) const GAP: f32 = 46.0;
/// Inside of a panel's border.
pub(super) const PAD: f32 = 14.0;
/// Between panels.
const APART: f32 = 28.0;
/// Between panels with a link between them.
const LINKED: f32 = 92.0;
/// A bar of NVLink switches or of links between NUMA nodes.
const FABRIC_H: f32 = 34.0;
/// The narrowest drawing.
const NARROWEST: f32 = 720.0;
/// Widths of a row that are tried, until the drawing is not higher than wide.
const WIDTHS: [f32; 5] = [1700.0, 2100.0, 2600.0, 3300.0, 4200.0];

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rect {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) w: f32,
    pub(super) h: f32,
}

impl Rect {
    pub(super) fn right(self) -> f32 {
        self.x + self.w
    }

    pub(super) fn bottom(self) -> f32 {
        self.y + self.h
    }
}

/// What a lane belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Switch(usize),
    Gpu(usize),
    /// A GPU's own link to the CPU.
    Direct(usize),
    Nic(usize),
}

/// A vertical link, from a bar down to a card or another bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    pub(super) of: Of,
    pub(super) x: f32,
    pub(super) top: f32,
    pub(super) bottom: f32,
    /// Up to where its label may reach.
    pub(super) room: f32,
}

/// A GPU's lane to an NVLink bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exit {
    pub(super) gpu: usize,
    pub(super) x: f32,
    pub(super) top: f32,
    pub(super) bottom: f32,
    /// Up to where its label may reach; none where another GPU is below.
    pub(super) room: Option<f32>,
}

/// Links between NUMA nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Smp {
    /// Straight from one to the next: place in `Scene::smp`, and the line.
    pub(super) direct: Vec<(usize, f32, f32, f32)>,
    /// Bars above panels, with their label.
    pub(super) bars: Vec<(Rect, String)>,
    /// From the bars down to the NUMA nodes: x, top, bottom.
    pub(super) stubs: Vec<(f32, f32, f32)>,
}

/// Places of everything.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    pub(super) width: f32,
    pub(super) height: f32,
    pub(super) panels: Vec<Rect>,
    pub(super) cpus: Vec<Rect>,
    pub(super) switches: Vec<Rect>,
    pub(super) gpus: Vec<Rect>,
    pub(super) nics: Vec<Rect>,
    pub(super) lanes: Vec<Lane>,
    pub(super) exits: Vec<Exit>,
    /// NVLink, one a row.
    pub(super) bars: Vec<Rect>,
    pub(super) tracks: Vec<Track>,
    pub(super) smp: Smp,
    /// NUMA nodes by row.
    rows: Vec<Vec<usize>>,
}

/// What hangs on each parent.
struct Below {
    cpus: Vec<Kin>,
    switches: Vec<Kin>,
}

#[derive(Default, Clone)]
struct Kin {
    switches: Vec<usize>,
    gpus: Vec<usize>,
    nics: Vec<usize>,
}

impl Below {
    fn of(scene: &Scene) -> Self {
        let none = |n| vec![Kin::default(); n];
        let mut below = Below { cpus: none(scene.cpus.len()), switches: none(scene.switches.len()) };
        let mut at = |p: Parent, f: &dyn Fn(&mut Kin)| {
            let kin = match p {
                Parent::Cpu(c) => below.cpus.get_mut(c),
                Parent::Switch(s) => below.switches.get_mut(s),
            };
            if let Some(kin) = kin {
                f(kin);
            }
        };
        for (i, s) in scene.switches.iter().enumerate() {
            at(s.parent, &|k| k.switches.push(i));
        }
        for (i, g) in scene.gpus.iter().enumerate() {
            at(g.parent, &|k| k.gpus.push(i));
        }
        for (i, n) in scene.nics.iter().enumerate() {
            at(n.parent, &|k| k.nics.push(i));
        }
        below
    }

    fn kin(&self, p: Parent) -> Option<&Kin> {
        match p {
            Parent::Cpu(c) => self.cpus.get(c),
            Parent::Switch(s) => self.switches.get(s),
        }
    }
}

/// Whether NVLinks from GPU to GPU are drawn one by one.
pub(super) fn draws_mesh(scene: &Scene, rows: usize, stacked: bool) -> bool {
    !scene.nvlinks.is_empty() && scene.nvlinks.len() <= mesh::MOST && rows == 1 && !stacked
}

/// Lays out a scene.
pub(super) fn layout(scene: &Scene) -> Layout {
    let below = Below::of(scene);
    let plans: Vec<panel::Plan> = (0..scene.cpus.len()).map(|c| panel::Plan::of(scene, &below, c)).collect();
    let mut last = Layout::default();
    for width in WIDTHS {
        last = place(scene, &plans, width);
        if last.height <= last.width || last.rows.len() <= 1 {
            break;
        }
    }
    last
}

/// Where the first row begins.
fn head(scene: &Scene) -> f32 {
    HEAD + if scene.bottleneck.is_some() { LIMIT } else { 0.0 }
}

fn place(scene: &Scene, plans: &[panel::Plan], widest: f32) -> Layout {
    let rows = rows(scene, plans, widest);
    let mut l = Layout {
        panels: vec![Rect::default(); scene.cpus.len()],
        cpus: vec![Rect::default(); scene.cpus.len()],
        switches: vec![Rect::default(); scene.switches.len()],
        gpus: vec![Rect::default(); scene.gpus.len()],
        nics: vec![Rect::default(); scene.nics.len()],
        ..Layout::default()
    };
    let stacked = plans.iter().flat_map(|p| &p.columns).any(|c| c.gpus.len() > 1);
    let mesh = draws_mesh(scene, rows.len(), stacked);
    let mut y = head(scene);
    let mut right = NARROWEST - MARGIN;
    for row in &rows {
        y += smp::above(scene, row, &rows);
        let depth = row.iter().filter_map(|c| plans.get(*c)).fold(panel::Depth::default(), |d, p| d.max(p.depth));
        let mut x = MARGIN;
        for (i, cpu) in row.iter().enumerate() {
            let Some(plan) = plans.get(*cpu) else { continue };
            if let Some(before) = i.checked_sub(1).and_then(|b| row.get(b)) {
                x += if smp::direct(scene, &rows, *before, *cpu).is_some() { LINKED } else { APART };
            }
            plan.place(scene, &mut l, x, y, depth);
            x += plan.width;
        }
        right = right.max(x);
        y += depth.height();
        let linked = |g: &usize| {
            let bar = !mesh && scene.nvlinks.iter().any(|p| p.a == *g || p.b == *g);
            bar || scene.gpus.get(*g).is_some_and(|g| g.fabric.is_some())
        };
        let columns = row.iter().filter_map(|c| plans.get(*c)).flat_map(|p| &p.columns);
        let gpus: Vec<usize> = columns.flat_map(|c| &c.gpus).copied().filter(linked).collect();
        if mesh {
            y += mesh::tracks(scene, &mut l, y + 14.0);
        }
        if !gpus.is_empty() {
            y += GAP;
            l.bars.push(Rect { x: MARGIN, y, w: x - MARGIN, h: FABRIC_H });
            exits(plans, row, &gpus, y, &mut l);
            y += FABRIC_H;
        }
        y += APART;
    }
    // NVLink bars of all rows are one: as wide as the widest.
    for bar in &mut l.bars {
        bar.w = right.min(bar.w.max(if rows.len() > 1 { right - MARGIN } else { 0.0 }));
    }
    l.smp = smp::place(scene, &l, &rows);
    l.width = right + MARGIN;
    l.height = y - APART;
    l.rows = rows;
    l
}

/// Lanes from GPUs down to a bar: the lowest GPU of a column has its label beside it.
fn exits(plans: &[panel::Plan], row: &[usize], gpus: &[usize], y: f32, l: &mut Layout) {
    for column in row.iter().filter_map(|c| plans.get(*c)).flat_map(|p| &p.columns) {
        for (i, gpu) in column.gpus.iter().enumerate() {
            let Some(card) = l.gpus.get(*gpu).copied() else { continue };
            if !gpus.contains(gpu) {
                continue;
            }
            let lowest = i + 1 == column.gpus.len();
            let x = if lowest { card.x + 20.0 } else { card.right() - super::column::STEP / 2.0 };
            let room = lowest.then(|| card.right());
            l.exits.push(Exit { gpu: *gpu, x, top: card.bottom(), bottom: y, room });
        }
    }
}

/// NUMA nodes by row, as evenly as it takes: hosts stay together where they fit.
fn rows(scene: &Scene, plans: &[panel::Plan], widest: f32) -> Vec<Vec<usize>> {
    let first = fill(scene, plans, widest);
    let all: f32 = (0..scene.cpus.len()).map(|c| width(plans, c)).sum();
    // Rows that are about equally long; where that takes a row more, the first answer stays.
    #[allow(clippy::cast_precision_loss)] // small numbers
    let even = all / first.len().max(1) as f32;
    [1.0, 1.1, 1.25]
        .into_iter()
        .map(|f| fill(scene, plans, (even * f).min(widest)))
        .find(|rows| rows.len() == first.len())
        .unwrap_or(first)
}

/// A panel, and what is between it and the next.
fn width(plans: &[panel::Plan], cpu: usize) -> f32 {
    plans.get(cpu).map_or(0.0, |p| p.width) + APART
}

fn fill(scene: &Scene, plans: &[panel::Plan], widest: f32) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = vec![Vec::new()];
    let mut used = 0.0;
    let cpus: Vec<usize> = (0..scene.cpus.len()).collect();
    let host = |c: &usize| scene.cpus.get(*c).map(|c| c.host);
    for unit in cpus.chunk_by(|a, b| host(a) == host(b)) {
        let link = if unit.len() == 2 { LINKED - APART } else { 0.0 };
        let all: f32 = unit.iter().map(|c| width(plans, *c)).sum::<f32>() + link;
        // A host that fits a row of its own begins one.
        let whole = used > 0.0 && used + all > widest && all <= widest;
        for (i, cpu) in unit.iter().enumerate() {
            let own = width(plans, *cpu);
            if (whole && i == 0) || (used > 0.0 && used + own > widest + APART) {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += own;
            if let Some(row) = rows.last_mut() {
                row.push(*cpu);
            }
        }
        used += link;
    }
    rows
}
