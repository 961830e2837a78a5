//! Columns: devices of one parent, one above the other. Every link is a straight vertical lane from the parent's bar.

use crate::topo::scene::{Parent, Scene};

/// The narrowest card.
pub(super) const CARD: f32 = 156.0;
/// From one lane to the next.
pub(super) const STEP: f32 = 14.0;
/// From a card's edge to its lane.
pub(super) const INSET: f32 = 8.0;
/// Columns of one parent before a second row of GPUs is begun.
const ABREAST: usize = 8;

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) parent: Parent,
    /// Network devices, top to bottom.
    pub(super) nics: Vec<usize>,
    /// GPUs below them, top to bottom.
    pub(super) gpus: Vec<usize>,
}

/// A device in a column: where its card and its lanes are, from the column's left edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) left: f32,
    pub(super) right: f32,
    /// Its PCIe lane.
    pub(super) lane: f32,
    /// The lane of its own link to the CPU.
    pub(super) direct: Option<f32>,
}

impl Column {
    fn lanes(scene: &Scene, gpu: usize) -> usize {
        1 + usize::from(scene.gpus.get(gpu).is_some_and(|g| g.direct.is_some()))
    }

    /// Width, and the slots of network devices and GPUs. Cards are narrower on the left where lanes to lower cards pass, and on
    /// the right where NVLinks of upper GPUs do.
    #[allow(clippy::cast_precision_loss)] // small numbers
    pub(super) fn slots(&self, scene: &Scene) -> (f32, Vec<Slot>, Vec<Slot>) {
        let steps = |n: usize| n as f32 * STEP;
        let lanes: Vec<usize> =
            self.nics.iter().map(|_| 1).chain(self.gpus.iter().map(|g| Self::lanes(scene, *g))).collect();
        let total: usize = lanes.iter().sum();
        let exits = self.gpus.len().saturating_sub(1);
        let width = CARD + steps(total - lanes.first().copied().unwrap_or(total)) + steps(exits);
        let mut below = total;
        let mut slots: Vec<Slot> = Vec::with_capacity(lanes.len());
        for (i, n) in lanes.iter().enumerate() {
            below -= n;
            let above = i.saturating_sub(self.nics.len());
            let left = steps(below);
            // C2C on the left, PCIe on the right of it, beside the labels.
            let direct = (*n > 1).then_some(left + INSET);
            let lane = left + INSET + steps(n - 1);
            slots.push(Slot { left, right: width - steps(above), lane, direct });
        }
        let gpus = slots.split_off(self.nics.len());
        (width, slots, gpus)
    }
}

/// The columns of a parent's own devices: GPUs side by side, network devices above them. Many become several rows.
pub(super) fn columns(parent: Parent, gpus: &[usize], nics: &[usize]) -> Vec<Column> {
    let gpu_rows = match gpus.len() {
        n if n <= ABREAST => 1,
        n if n <= 2 * ABREAST => 2,
        n => squarish(n),
    };
    let wide = gpus.len().div_ceil(gpu_rows).max(4);
    let nic_rows = nics.len().div_ceil(wide).min(squarish(nics.len()).max(2)).max(1);
    let n = gpus.len().div_ceil(gpu_rows).max(nics.len().div_ceil(nic_rows)).max(1);
    let pick = |list: &[usize], i: usize| list.iter().copied().skip(i).step_by(n).collect();
    (0..n).map(|i| Column { parent, nics: pick(nics, i), gpus: pick(gpus, i) }).collect()
}

/// Rows of so many cards so that they are about as high as wide together.
fn squarish(n: usize) -> usize {
    (n.isqrt() * 3).div_ceil(4).max(1)
}
