//! What is asked of links, counted in MB/s.

/// What one link must have, and what it loses, in MB/s.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Amount {
    pub(super) need: i32,
    pub(super) take: i32,
}

impl Amount {
    /// NCCL compares in floats and rounds what is left.
    fn of(gbps: f32) -> Self {
        let take = megabytes(gbps);
        let enough = |m: &i32| *m as f32 / 1000.0 >= gbps;
        let need = (take - 1..=take + 1).find(enough).unwrap_or(take + 1);
        Amount { need, take }
    }
}

/// GB/s as MB/s, rounded.
pub(in crate::search) fn megabytes(gbps: f32) -> i32 {
    (f64::from(gbps) * 1000.0).round().clamp(0.0, 1e9) as i32
}

/// A demand: for links in general and for PCIe behind an Intel CPU; and an eighth of each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Demand {
    pub(super) plain: [Amount; 2],
    pub(super) eighth: [Amount; 2],
}

impl Demand {
    pub(super) fn of(gbps: f32) -> Self {
        let both = [gbps, gbps * 6.0 / 5.0];
        Demand { plain: both.map(Amount::of), eighth: both.map(|b| Amount::of(b / 8.0)) }
    }
}

/// Which demand a flow makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::search) enum Load {
    /// Between GPUs.
    Intra,
    /// To and from NICs.
    Inter,
    /// To NICs, where two GPUs share it.
    Half,
}
