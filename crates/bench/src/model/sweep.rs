//! Several values for each size: the sizes are kept once, and there may be millions.

use super::Points;
use std::sync::Arc;

/// Series over the same sizes, row by row.
#[derive(Debug, Clone)]
pub struct Sweep<const N: usize> {
    sizes: Vec<u64>,
    series: [Values; N],
    /// Values to make room for where the first of a series comes.
    room: usize,
}

/// A series of a sweep.
#[derive(Debug, Clone, Default)]
struct Values {
    values: Vec<f64>,
    /// Where it does not have a value for every row.
    sizes: Option<Vec<u64>>,
    /// Places of invalid ones, ascending.
    invalid: Vec<usize>,
}

impl<const N: usize> Default for Sweep<N> {
    fn default() -> Self {
        Sweep { sizes: Vec::new(), series: std::array::from_fn(|_| Values::default()), room: 0 }
    }
}

impl<const N: usize> Sweep<N> {
    /// Makes room for so many rows more.
    pub fn reserve(&mut self, rows: usize) {
        self.sizes.reserve_exact(rows);
        self.room = rows;
        self.series.iter_mut().filter(|s| !s.values.is_empty()).for_each(|s| s.values.reserve_exact(rows));
    }

    /// How many series have a value.
    #[must_use]
    pub fn filled(&self) -> usize {
        self.series.iter().filter(|s| !s.values.is_empty()).count()
    }

    /// Adds a row: the value of each series, not finite where there is none, and whether it is valid.
    #[inline]
    pub fn push(&mut self, size: u64, row: [f64; N], is_valid: impl Fn(usize) -> bool) {
        for (place, (series, value)) in self.series.iter_mut().zip(row).enumerate() {
            if value.is_finite() {
                if let Some(own) = &mut series.sizes {
                    own.push(size);
                }
                if !is_valid(place) {
                    series.invalid.push(series.values.len());
                }
                if series.values.capacity() == 0 {
                    series.values.reserve_exact(self.room);
                }
                series.values.push(value);
            } else if series.sizes.is_none() {
                // Until here it had a value for every row.
                series.sizes = Some(self.sizes.clone());
            }
        }
        self.sizes.push(size);
    }

    /// The series, in order.
    #[must_use]
    pub fn points(self) -> [Points; N] {
        let all = Arc::new(self.sizes);
        self.series.map(|s| Points::of_sweep(s.values, s.sizes.map_or_else(|| all.clone(), Arc::new), s.invalid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Point;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_series_is_as_if_it_were_alone(
            rows in prop::collection::vec((any::<u64>(), prop::array::uniform3(prop::option::weighted(0.8, (-1e9..1e9_f64, any::<bool>())))), 0..20),
            full in 0..20_usize, more: u64,
        ) {
            let mut sweep = Sweep::<3>::default();
            sweep.reserve(rows.len());
            let mut alone: [Vec<Point>; 3] = Default::default();
            for (place, (size, mut row)) in rows.into_iter().enumerate() {
                if place < full {
                    row = row.map(|v| v.or(Some((1.5, true))));
                }
                sweep.push(size, row.map(|v| v.map_or(f64::NAN, |v| v.0)), |place| row[place].is_some_and(|v| v.1));
                for (list, value) in alone.iter_mut().zip(row) {
                    list.extend(value.map(|(value, valid)| Point { size: Some(size), at: None, value, valid }));
                }
            }
            let last = Point { size: Some(more), at: None, value: 2.5, valid: false };
            for (mut points, mut list) in sweep.points().into_iter().zip(alone) {
                prop_assert_eq!(&points, &list.iter().copied().collect());
                // What is shared is not changed for the others.
                points.push(last);
                list.push(last);
                prop_assert_eq!(points, list.into_iter().collect());
            }
        }
    }
}
