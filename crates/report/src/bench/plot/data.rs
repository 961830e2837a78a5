//! What is drawn: numbers and names, nothing about places or colours.

/// A plot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlotData {
    /// What it shows, in a few words.
    pub title: String,
    /// What one must know to read it: n, what the band is.
    pub note: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What was measured, and curves through it.
    pub series: Vec<Series>,
    /// Ceilings, thresholds, switch points.
    pub limits: Vec<Limit>,
    /// Parts of the x axis that are not like the rest.
    pub shades: Vec<Shade>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// Name and unit: `busbw, GB/s`.
    pub label: String,
    /// How values become places.
    pub scale: Scale,
    /// How values are written.
    pub ticks: Ticks,
    /// The axis begins at zero, so that lengths can be compared.
    pub from_zero: bool,
}

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal differences are equal lengths.
    #[default]
    Linear,
    /// Doublings are equal lengths.
    Log2,
    /// Tenfolds are equal lengths.
    Log10,
}

/// How values are written at an axis.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ticks {
    /// As numbers.
    #[default]
    Numbers,
    /// As sizes: `64K`, binary.
    Bytes,
    /// Shares as hundredths.
    Percent,
    /// 0, 1, 2 … have these names, the first at the top.
    Names(Vec<String>),
}

/// Values that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// In the legend; empty: not there.
    pub name: String,
    /// Which colour and mark: 0 is side A, 1 side B; others follow.
    pub role: usize,
    /// How it is drawn.
    pub shape: Shape,
    /// In the order in which they are joined.
    pub points: Vec<Xy>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A line through the values, marked where they are few, with their band.
    Line,
    /// A line of steps: each value holds until the next.
    Steps,
    /// Marks alone.
    Dots,
    /// A thin dashed line: computed, not measured.
    Curve,
    /// A mark with whiskers to both sides, from `low` to `high` along x.
    Whiskers,
    /// An upright stroke: a mean among dots.
    Bars,
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Xy {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// Lower and upper end of its band (along y), or of its whiskers (along x).
    pub band: Option<(f64, f64)>,
}

/// A line across the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Where.
    pub at: f64,
    /// What it is: `196 GB/s: 4 NICs of 400 Gb/s`.
    pub label: String,
    /// At a value of x instead of y.
    pub upright: bool,
}

/// A part of the x axis that is not like the rest: a transient that was cut, a band of equivalence.
#[derive(Debug, Clone, PartialEq)]
pub struct Shade {
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// In whose colour; `None`: nobody's.
    pub role: Option<usize>,
    /// In the legend; empty: not there.
    pub name: String,
}

impl PlotData {
    /// Adds a computed curve over the x range of what is drawn: a fit. Where `f` gives no number there is a gap.
    #[must_use]
    pub fn with_curve(mut self, name: &str, role: usize, f: impl Fn(f64) -> f64) -> Self {
        const POINTS: usize = 96;
        let xs = || self.series.iter().flat_map(|s| &s.points).map(|p| p.x).filter(|x| x.is_finite());
        let (low, high) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return self;
        }
        let log = self.x.scale != Scale::Linear && low > 0.0;
        let at = |i: usize| {
            let share = i as f64 / (POINTS - 1) as f64;
            if log { (low.ln() * (1.0 - share) + high.ln() * share).exp() } else { low * (1.0 - share) + high * share }
        };
        let points = (0..POINTS).map(at).map(|x| Xy { x, y: f(x), band: None }).filter(|p| p.y.is_finite()).collect();
        self.series.push(Series { name: name.into(), role, shape: Shape::Curve, points });
        self
    }

    /// Adds an upright line, at a value of x: where a protocol changes.
    #[must_use]
    pub fn with_mark(mut self, at: f64, label: &str) -> Self {
        self.limits.push(Limit { at, label: label.into(), upright: true });
        self
    }

    /// In a sentence, for who cannot see it.
    #[must_use]
    pub fn summary(&self) -> String {
        let names: Vec<&str> = self.series.iter().map(|s| s.name.as_str()).filter(|n| !n.is_empty()).collect();
        let limits: Vec<&str> = self.limits.iter().map(|l| l.label.as_str()).filter(|l| !l.is_empty()).collect();
        let mut text = format!("{} over {}", self.y.label, self.x.label);
        for (what, list) in [("series", names), ("lines across", limits)] {
            if !list.is_empty() {
                text.push_str(&format!("; {what}: {}", list.join("; ")));
            }
        }
        if !self.note.is_empty() {
            text.push_str(&format!(". {}", self.note));
        }
        text
    }
}
