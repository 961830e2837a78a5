//! The values of a series, in columns: most series have a size for every value or for none, no times, and nothing invalid. So a value
//! of a sweep takes sixteen bytes, and there may be millions.

use super::Point;
use std::sync::Arc;

/// Values with what belongs to each, in the order of the output.
#[derive(Debug, Clone, Default)]
pub struct Points {
    values: Vec<f64>,
    sizes: Column<u64>,
    times: Column<f64>,
    /// Places of invalid ones, ascending.
    invalid: Vec<usize>,
}

/// What every value has, or none, or some.
#[derive(Debug, Clone, Default)]
enum Column<T> {
    #[default]
    None,
    All(Vec<T>),
    /// Those of several series, kept once.
    Shared(Arc<Vec<T>>),
    Some(Vec<Option<T>>),
}

impl<T: Copy> Column<T> {
    /// Adds what the value after `len` others has.
    fn push(&mut self, len: usize, item: Option<T>) {
        if let Column::Shared(list) = self {
            *self = Column::All(list.to_vec());
        }
        match (&mut *self, item) {
            (Column::None, None) | (Column::Shared(_), _) => {}
            (Column::All(list), Some(item)) => list.push(item),
            (Column::Some(list), item) => list.push(item),
            (Column::None, Some(item)) if len == 0 => *self = Column::All(vec![item]),
            (Column::None, item) => {
                let mut list = vec![None; len];
                list.push(item);
                *self = Column::Some(list);
            }
            (Column::All(list), None) => {
                *self = Column::Some(list.iter().copied().map(Some).chain([None]).collect());
            }
        }
    }

    fn get(&self, place: usize) -> Option<T> {
        match self {
            Column::None => None,
            Column::All(list) => list.get(place).copied(),
            Column::Shared(list) => list.get(place).copied(),
            Column::Some(list) => list.get(place).copied().flatten(),
        }
    }
}

impl Points {
    /// Those of a sweep: a size for each, shared with others, and the places of the invalid ones, ascending.
    pub(super) fn of_sweep(values: Vec<f64>, sizes: Arc<Vec<u64>>, invalid: Vec<usize>) -> Points {
        Points { values, sizes: Column::Shared(sizes), times: Column::None, invalid }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds one at the end.
    pub fn push(&mut self, p: Point) {
        let place = self.len();
        self.sizes.push(place, p.size);
        self.times.push(place, p.at);
        self.values.push(p.value);
        if !p.valid {
            self.invalid.push(place);
        }
    }

    /// The one at a place.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<Point> {
        let value = *self.values.get(place)?;
        let valid = self.invalid.is_empty() || self.invalid.binary_search(&place).is_err();
        Some(Point { size: self.sizes.get(place), at: self.times.get(place), value, valid })
    }

    /// The first.
    #[must_use]
    pub fn first(&self) -> Option<Point> {
        self.get(0)
    }

    /// All, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Point> + DoubleEndedIterator + Clone + '_ {
        // Every place below the length is there.
        let none = Point { size: None, at: None, value: f64::NAN, valid: false };
        (0..self.len()).map(move |place| self.get(place).unwrap_or(none))
    }

    /// The valid ones.
    pub fn valid(&self) -> impl Iterator<Item = Point> + Clone + '_ {
        self.iter().filter(|p| p.valid)
    }

    /// Whether one has a place in time.
    #[must_use]
    pub fn in_time(&self) -> bool {
        self.iter().any(|p| p.at.is_some())
    }

    /// The same with each one changed.
    #[must_use]
    pub fn map(&self, change: impl FnMut(Point) -> Point) -> Points {
        self.iter().map(change).collect()
    }
}

/// What is in them counts, not how it is kept.
impl PartialEq for Points {
    fn eq(&self, other: &Points) -> bool {
        self.iter().eq(other.iter())
    }
}

impl FromIterator<Point> for Points {
    fn from_iter<I: IntoIterator<Item = Point>>(all: I) -> Points {
        let mut points = Points::default();
        points.extend(all);
        points
    }
}

impl Extend<Point> for Points {
    fn extend<I: IntoIterator<Item = Point>>(&mut self, all: I) {
        let all = all.into_iter();
        self.values.reserve(all.size_hint().0);
        all.for_each(|p| self.push(p));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_pushed_is_what_is_there(
            all in prop::collection::vec((any::<Option<u64>>(), prop::option::of(-1e9..1e9_f64), -1e9..1e9_f64, any::<bool>()), 0..40),
            sized: bool, timed: bool, fine: bool,
        ) {
            let point = |(size, at, value, valid): (Option<u64>, Option<f64>, f64, bool)| {
                Point { size: size.filter(|_| sized), at: at.filter(|_| timed), value, valid: valid || fine }
            };
            let all: Vec<Point> = all.into_iter().map(point).collect();
            let points: Points = all.iter().copied().collect();
            prop_assert_eq!(points.iter().collect::<Vec<_>>(), all.clone());
            prop_assert_eq!(points.get(all.len()), None);
        }
    }
}
