//! Speeds that NCCL tries for a channel, in GB/s, by the oldest GPU (search.cc).

const INTRA: &[f32] = &[40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0];
const INTER: &[f32] =
    &[48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.4, 1.2, 0.24, 0.12];
const INTRA_90: &[f32] = &[60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0];
const INTER_90: &[f32] =
    &[48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24, 0.12];
const INTRA_100: &[f32] = &[90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0];
const INTER_100: &[f32] = &[
    96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24, 0.12,
];

/// The table for a compute capability (times ten), on one node or several; and the place in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speeds {
    table: &'static [f32],
    at: usize,
}

impl Speeds {
    pub(super) fn of(sm: i32, inter: bool) -> Self {
        let table = match (sm, inter) {
            (100.., false) => INTRA_100,
            (100.., true) => INTER_100,
            (90.., false) => INTRA_90,
            (90.., true) => INTER_90,
            (_, false) => INTRA,
            (_, true) => INTER,
        };
        Speeds { table, at: 0 }
    }

    pub(super) fn get(&self) -> f32 {
        self.table.get(self.at).copied().unwrap_or(0.12)
    }

    /// The first that will do, or the last.
    pub(super) fn restart(&mut self, too_fast: impl Fn(f32) -> bool) -> f32 {
        self.at = self.table.iter().position(|s| !too_fast(*s)).unwrap_or(self.table.len() - 1);
        self.get()
    }

    /// This and all lower ones.
    pub(super) fn rest(&self) -> &'static [f32] {
        self.table.get(self.at..).unwrap_or_default()
    }

    /// The next lower speed.
    pub(super) fn lower(&self) -> Option<f32> {
        self.table.get(self.at + 1).copied()
    }

    pub(super) fn step_down(&mut self) -> f32 {
        self.at = (self.at + 1).min(self.table.len() - 1);
        self.get()
    }

    /// Goes to the next higher speed, where there is one.
    pub(super) fn is_highest(&self) -> bool {
        self.at == 0
    }

    pub(super) fn step_up(&mut self) -> f32 {
        self.at = self.at.saturating_sub(1);
        self.get()
    }
}
