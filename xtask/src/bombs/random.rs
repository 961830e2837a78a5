//! Numbers from a seed: the same bombs wherever they are made.

use linerate_logs::rng::Rng;

/// What a bomb is made by.
pub(super) struct Random(Rng);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// Below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.0.below(n as u64)).unwrap_or(0)
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
