//! Values to places, and the values that are written at an axis.

use super::data::{Axis, Scale, Ticks};
use super::scene::{Ruler, Tick};
use crate::bench::words::{fixed, number, short_size};

/// Values beyond this are not drawn: differences of larger ones would not be numbers.
const LARGEST: f64 = 1e150;
/// On logarithmic axes nothing below this is drawn.
const SMALLEST: f64 = 1e-150;
/// A span below this share of its values counts as zero.
const NO_SPAN: f64 = 1e-12;

/// Whether a value can be drawn at all.
pub(super) fn usable(v: f64, scale: Scale) -> bool {
    match scale {
        Scale::Linear => v.abs() <= LARGEST,
        Scale::Log2 | Scale::Log10 => (SMALLEST..=LARGEST).contains(&v),
    }
}

/// What of an axis is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    low: f64,
    high: f64,
    scale: Scale,
}

impl Range {
    /// The range of values, with some room, so that nothing lies on the edge; ends are round where the axis is linear.
    pub(super) fn of(values: impl Iterator<Item = f64>, axis: &Axis, round: bool, ticks: usize) -> Self {
        if let Ticks::Names(names) = &axis.ticks {
            // The first name is at the top.
            return Range { low: names.len().max(1) as f64 - 0.5, high: -0.5, scale: Scale::Linear };
        }
        let scale = axis.scale;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.filter(|v| usable(*v, scale)) {
            low = low.min(v);
            high = high.max(v);
        }
        if low > high {
            (low, high) = if scale == Scale::Linear { (0.0, 1.0) } else { (1.0, 2.0) };
        }
        if scale != Scale::Linear {
            let (mut l, mut h) = (low.ln(), high.ln());
            let room = if h - l < 1e-9 { std::f64::consts::LN_2 } else { (h - l) * 0.02 };
            (l, h) = (l - room, h + room);
            return Range { low: l.exp(), high: h.exp(), scale };
        }
        if axis.from_zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if high - low <= low.abs().max(high.abs()) * NO_SPAN {
            let room = if high == 0.0 { 1.0 } else { high.abs() * 0.05 };
            (low, high) = (low - room, high + room);
        }
        if matches!(axis.ticks, Ticks::Percent) {
            return Range { low, high, scale };
        }
        if round {
            let step = step(high - low, ticks);
            let (l, h) = ((low / step).floor() * step, (high / step).ceil() * step);
            // Nothing on the upper edge.
            let h = if high > h - step * 0.08 && high > 0.0 { h + step } else { h };
            if (h - l).is_finite() && h > l {
                return Range { low: l, high: h, scale };
            }
        }
        let room = (high - low) * 0.02;
        let from = if axis.from_zero && low == 0.0 { 0.0 } else { low - room };
        Range { low: from, high: high + room, scale }
    }

    /// The place of a value, in shares of the range.
    pub(super) fn place(&self, v: f64) -> Option<f64> {
        if !usable(v, self.scale) {
            return None;
        }
        let share = match self.scale {
            Scale::Linear => (v - self.low) / (self.high - self.low),
            Scale::Log2 | Scale::Log10 => (v.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        share.is_finite().then_some(share)
    }

    /// The same, kept within the range.
    pub(super) fn clamped(&self, v: f64) -> Option<f64> {
        self.place(v).map(|p| p.clamp(0.0, 1.0))
    }

    /// What is written at it, at no more than `most` places.
    pub(super) fn ruler(&self, axis: &Axis, most: usize) -> Ruler {
        let most = most.max(2);
        let values: Vec<(f64, String)> = match (&axis.ticks, self.scale) {
            (Ticks::Names(names), _) => names.iter().enumerate().map(|(i, n)| (i as f64, n.clone())).collect(),
            (Ticks::Bytes, Scale::Log2 | Scale::Log10) => {
                self.doublings(most).into_iter().map(|v| (v, short_size(v))).collect()
            }
            (_, Scale::Log2) => self.doublings(most).into_iter().map(|v| (v, number(v))).collect(),
            (_, Scale::Log10) => self.tenfolds(most).into_iter().map(|v| (v, number(v))).collect(),
            (ticks, Scale::Linear) => self.steps(ticks, most),
        };
        let mut ticks: Vec<Tick> = Vec::new();
        for (v, label) in values {
            let Some(at) = self.place(v).filter(|p| (-1e-9..=1.0 + 1e-9).contains(p)) else { continue };
            if ticks.last().is_none_or(|t| t.label != label) {
                ticks.push(Tick { at: at.clamp(0.0, 1.0), label });
            }
        }
        Ruler { label: axis.label.clone(), ticks }
    }

    fn steps(&self, ticks: &Ticks, most: usize) -> Vec<(f64, String)> {
        let step = step(self.high - self.low, most);
        let first = (self.low / step).ceil();
        let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        let values = (0..=most).map(|i| (first + i as f64) * step).filter(|v| *v <= self.high + step * 1e-6);
        values
            .map(|v| {
                // What rounding leaves of zero is zero.
                let v = if v.abs() < step * 1e-6 { 0.0 } else { v };
                let label = match ticks {
                    Ticks::Percent => format!("{}\u{a0}%", fixed(v * 100.0, digits.saturating_sub(2))),
                    Ticks::Bytes => short_size(v),
                    _ => fixed(v, digits),
                };
                (v, label)
            })
            .collect()
    }

    /// Powers of two, every so many.
    fn doublings(&self, most: usize) -> Vec<f64> {
        let (low, high) = (self.low.log2().ceil() as i64, self.high.log2().floor() as i64);
        let every = [1_i64, 2, 5, 10, 20, 50, 100, 200, 500]
            .into_iter()
            .find(|e| high.div_euclid(*e) - (low - 1).div_euclid(*e) <= most as i64)
            .unwrap_or(1000);
        let first = (low + every - 1).div_euclid(every);
        (first..=high.div_euclid(every)).map(|e| 2.0_f64.powi((e * every) as i32)).collect()
    }

    /// Powers of ten; between them 2 and 5 where there is room.
    fn tenfolds(&self, most: usize) -> Vec<f64> {
        let (low, high) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let within = |v: &f64| *v >= self.low * (1.0 - 1e-9) && *v <= self.high * (1.0 + 1e-9);
        let fine: Vec<f64> =
            (low..=high).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10.0_f64.powi(e))).filter(within).collect();
        if fine.len() <= most && fine.len() > 1 {
            return fine;
        }
        let decades: Vec<f64> = (low..=high).map(|e| 10.0_f64.powi(e)).filter(within).collect();
        if decades.len() < 2 {
            // Less than a decade: as on a linear axis.
            return self.steps(&Ticks::Numbers, most).into_iter().map(|(v, _)| v).filter(|v| *v > 0.0).collect();
        }
        let every = decades.len().div_ceil(most);
        decades.into_iter().step_by(every).collect()
    }
}

/// 1, 2 or 5 times a power of ten, so that no more than `most` of them are in a span.
fn step(span: f64, most: usize) -> f64 {
    let rough = span / most.max(1) as f64;
    let power = 10.0_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough * (1.0 - 1e-9)).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, axis: &Axis, most: usize) -> Vec<String> {
        Range::of([low, high].into_iter(), axis, true, most)
            .ruler(axis, most)
            .ticks
            .into_iter()
            .map(|t| t.label)
            .collect()
    }

    #[test]
    fn numbers_at_an_axis_are_round() {
        let zero = Axis { from_zero: true, ..Axis::default() };
        assert_eq!(labels(5.9, 93.1, &zero, 6), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(4587.0, 205_821.0, &zero, 5), ["0", "50,000", "100,000", "150,000", "200,000", "250,000"]);
        assert_eq!(labels(0.98, 1.03, &Axis::default(), 5), ["0.98", "1.00", "1.02", "1.04"]);
        let percent = Axis { ticks: Ticks::Percent, ..Axis::default() };
        assert_eq!(
            labels(0.0, 1.0, &percent, 5),
            ["0\u{a0}%", "20\u{a0}%", "40\u{a0}%", "60\u{a0}%", "80\u{a0}%", "100\u{a0}%"]
        );
    }

    #[test]
    fn sizes_at_an_axis_are_binary() {
        let bytes = Axis { scale: Scale::Log2, ticks: Ticks::Bytes, ..Axis::default() };
        assert_eq!(labels(8.0, 8.0 * 1073741824.0, &bytes, 8), ["32", "1K", "32K", "1M", "32M", "1G"]);
        assert_eq!(
            labels(1024.0, 2.0 * 1073741824.0, &bytes, 12),
            ["1K", "4K", "16K", "64K", "256K", "1M", "4M", "16M", "64M", "256M", "1G"]
        );
        assert_eq!(labels(65536.0, 65536.0, &bytes, 8), ["32K", "64K", "128K"]);
    }

    #[test]
    fn tenfolds_are_divided_where_there_is_room() {
        let log = Axis { scale: Scale::Log10, ..Axis::default() };
        assert_eq!(labels(0.81, 40.0, &log, 8), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(1.0, 1e6, &log, 7), ["1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"]);
    }
}
