//! Parquet's hybrid of runs and packed bits, by runs: columns that are sorted cost as many steps as they have runs, not rows.

/// Values that are packed at a time.
const PACKED: usize = 504;
/// Rows of a run from which it is written as one.
const RUN: u32 = 8;

/// Writes values that are below `1 << width`.
#[derive(Debug)]
pub(super) struct Encoder {
    width: u8,
    out: Vec<u8>,
    packed: Vec<u32>,
    run: (u32, u32),
}

impl Encoder {
    pub(super) fn new(width: u8) -> Self {
        Encoder { width, out: Vec::new(), packed: Vec::with_capacity(PACKED), run: (0, 0) }
    }

    /// A value, so many times.
    pub(super) fn push(&mut self, value: u32, times: u32) {
        if value == self.run.0 && self.run.1 > 0 {
            self.run.1 = self.run.1.saturating_add(times);
            return;
        }
        self.settle();
        self.run = (value, times);
    }

    /// Values of one row each: mostly each is another one, and goes to those that are packed at once.
    pub(super) fn push_each(&mut self, values: impl Iterator<Item = u32>) {
        let (mut last, mut times) = self.run;
        for value in values {
            if value == last && times > 0 {
                times = times.saturating_add(1);
                continue;
            }
            if times == 1 && self.packed.len() < PACKED - 1 {
                self.packed.push(last);
            } else {
                self.run = (last, times);
                self.settle();
            }
            (last, times) = (value, 1);
        }
        self.run = (last, times);
    }

    fn settle(&mut self) {
        let (value, mut times) = std::mem::take(&mut self.run);
        // A run can begin only where eight packed values end.
        while times > 0 && !self.packed.len().is_multiple_of(8) {
            self.packed.push(value);
            times -= 1;
        }
        if times >= RUN {
            self.pack();
            self.varint(u64::from(times) << 1);
            let bytes = usize::from(self.width.div_ceil(8));
            self.out.extend(value.to_le_bytes().iter().take(bytes));
        } else {
            self.packed.extend((0..times).map(|_| value));
        }
        // Packed values are followed by others only where eight of them end.
        if self.packed.len() >= PACKED && self.packed.len().is_multiple_of(8) {
            self.pack();
        }
    }

    fn pack(&mut self) {
        if self.packed.is_empty() {
            return;
        }
        let groups = self.packed.len().div_ceil(8);
        self.varint((groups as u64) << 1 | 1);
        self.packed.resize(groups * 8, 0);
        self.out.reserve(groups * usize::from(self.width));
        let (mut held, mut bits) = (0_u64, 0_u32);
        for value in self.packed.drain(..) {
            held |= u64::from(value) << bits;
            bits += u32::from(self.width);
            if bits >= 32 {
                self.out.extend((held as u32).to_le_bytes());
                held >>= 32;
                bits -= 32;
            }
        }
        // Eight values end where a byte does.
        let rest = held.to_le_bytes();
        self.out.extend(rest.iter().take((bits / 8) as usize));
    }

    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.out.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.out.push(n as u8);
    }

    /// What was written, to be decoded with as many values as were pushed.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.settle();
        self.pack();
        std::mem::take(&mut self.out)
    }
}

/// Reads `values` values: each run with how many times it is there. `None`: damaged.
pub(super) fn decode(mut bytes: &[u8], width: u8, values: u32, mut each: impl FnMut(u32, u32)) -> Option<()> {
    if width > 32 {
        return None;
    }
    let mut left = values;
    while left > 0 {
        let header = varint(&mut bytes)?;
        if header & 1 == 0 {
            let times = u32::try_from(header >> 1).ok()?.min(left);
            let (value, rest) = bytes.split_at_checked(usize::from(width.div_ceil(8)))?;
            bytes = rest;
            let value = value.iter().rev().fold(0_u32, |v, b| v << 8 | u32::from(*b));
            if times == 0 {
                return None;
            }
            each(value, times);
            left -= times;
        } else {
            let groups = usize::try_from(header >> 1).ok()?;
            if groups == 0 {
                return None;
            }
            let (packed, rest) = bytes.split_at_checked(groups.checked_mul(usize::from(width))?)?;
            bytes = rest;
            let n = u32::try_from(groups.checked_mul(8)?).ok()?.min(left);
            unpack(packed, width, n, &mut each);
            left -= n;
        }
    }
    Some(())
}

fn unpack(packed: &[u8], width: u8, n: u32, each: &mut impl FnMut(u32, u32)) {
    let mask = (1_u64 << width) - 1;
    let mut bit = 0_usize;
    for _ in 0..n {
        let from = bit / 8;
        let word = match packed.get(from..).and_then(|b| b.first_chunk::<8>()) {
            Some(eight) => u64::from_le_bytes(*eight),
            None => packed.get(from..).unwrap_or_default().iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)),
        };
        each((word >> (bit % 8) & mask) as u32, 1);
        bit += usize::from(width);
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut out = 0;
    for shift in (0..35).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        out |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(out);
        }
    }
    None
}

/// Bits that numbers below `count` need.
pub(super) fn width(count: usize) -> u8 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(runs in prop::collection::vec((0_u32..3000, prop_oneof![3 => Just(1), 1 => 1_u32..40]), 0..3000), wide in 12_u8..=32) {
            let mut e = Encoder::new(wide);
            runs.iter().for_each(|(v, n)| e.push(*v, *n));
            let bytes = e.finish();
            let all: Vec<u32> = runs.iter().flat_map(|(v, n)| (0..*n).map(|_| *v)).collect();
            let mut back = Vec::new();
            let done = decode(&bytes, wide, all.len() as u32, |v, n| back.extend((0..n).map(|_| v)));
            prop_assert!(done.is_some());
            prop_assert_eq!(&back, &all);
            let mut by_row = Encoder::new(wide);
            all.chunks(700).for_each(|page| by_row.push_each(page.iter().copied()));
            prop_assert_eq!(by_row.finish(), bytes);
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200), width in 0_u8..40, values in 0_u32..100_000) {
            let mut n = 0_u64;
            let done = decode(&bytes, width, values, |_, times| n += u64::from(times));
            prop_assert!(n <= u64::from(values) && (done.is_none() || n == u64::from(values)));
        }
    }

    #[test]
    fn widths() {
        for (count, bits) in [(0, 0), (1, 0), (2, 1), (3, 2), (256, 8), (257, 9), (1 << 20, 20)] {
            assert_eq!(width(count), bits, "{count}");
        }
    }
}
