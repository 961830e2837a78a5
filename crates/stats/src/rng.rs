//! Random numbers: xoshiro256++ 1.0 (Blackman & Vigna, ACM TOMS 47, 2021), seeded by SplitMix64. The same seed gives the
//! same numbers on every machine.

use crate::dist::normal_quantile;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A stream of its own for each seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut s = seed;
        let mut next = || {
            s = s.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = s;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Self { state: [next(), next(), next(), next()] }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let t = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= t;
        *s3 = s3.rotate_left(45);
        result
    }

    /// Uniform in (0, 1), never 0 nor 1.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Uniform in `0..n` (0 if `n` is 0): the high half of a product; off from uniform by less than `n`/2⁶⁴.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Standard normal, by inversion.
    pub fn normal(&mut self) -> f64 {
        normal_quantile(self.uniform())
    }

    /// Exponential with mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn published_sequence() {
        // xoshiro256++ with the state 1, 2, 3, 4; first outputs of the authors' C code.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let got: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(got, [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]);
    }

    #[test]
    fn splitmix_seeds_the_state() {
        // SplitMix64 from 1234567: the authors' reference outputs.
        let want = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431];
        assert_eq!(Rng::new(1234567).state, want);
    }

    #[test]
    fn below_stays_below() {
        let mut rng = Rng::new(1);
        let mut seen = [0u32; 7];
        for _ in 0..70_000 {
            seen[rng.below(7)] += 1;
        }
        // Five standard deviations of a binomial count around 10,000.
        assert!(seen.iter().all(|c| (9_537..=10_463).contains(c)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
    }
}
