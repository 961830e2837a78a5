//! Where everything lies, in shares of the plot's area: 0 is left and below, 1 right and above.

use super::data::{PlotData, Series, Shape, Xy};
use super::scale::{Range, usable};
use linerate_out::terminal;

/// More points than this are not joined: each slot of the x axis keeps its smallest and its largest.
const POINTS: usize = 1200;
const SLOTS: usize = 400;
/// A line of no more values has marks.
pub(super) const MARKS: usize = 48;

/// A plot, laid out.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// What it shows.
    pub title: String,
    /// What one must know to read it, with what could not be drawn.
    pub note: String,
    /// In a sentence, for who cannot see it.
    pub summary: String,
    /// Below.
    pub x: Ruler,
    /// To the left.
    pub y: Ruler,
    /// What is drawn, in this order.
    pub layers: Vec<Layer>,
    /// Role, shape and name of what needs telling apart. `None`: a shade.
    pub legend: Vec<(usize, Option<Shape>, String)>,
}

/// What is written at an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ruler {
    /// Name and unit.
    pub label: String,
    /// In the order of the axis.
    pub ticks: Vec<Tick>,
}

/// A value at an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where.
    pub at: f64,
    /// As it is written.
    pub label: String,
}

/// Something drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// An upright strip.
    Shade {
        /// Its sides.
        from: f64,
        /// Its other side.
        to: f64,
        /// Whose colour.
        role: Option<usize>,
    },
    /// From `low` to `high` at each x.
    Band {
        /// Whose colour.
        role: usize,
        /// x, low, high.
        points: Vec<(f64, f64, f64)>,
    },
    /// A line.
    Path {
        /// Whose colour.
        role: usize,
        /// In the order in which they are joined.
        points: Vec<(f64, f64)>,
        /// Computed, not measured.
        thin: bool,
    },
    /// Marks, each with what it says.
    Dots {
        /// Whose colour and mark.
        role: usize,
        /// x, y and text.
        points: Vec<(f64, f64, String)>,
    },
    /// From low to high along x, at y.
    Whiskers {
        /// Whose colour.
        role: usize,
        /// low, high, y.
        points: Vec<(f64, f64, f64)>,
    },
    /// Short upright strokes.
    Bars {
        /// Whose colour.
        role: usize,
        /// x, y and text.
        points: Vec<(f64, f64, String)>,
    },
    /// A line across.
    Limit {
        /// Where.
        at: f64,
        /// What it is.
        label: String,
        /// At a place of x.
        upright: bool,
    },
}

impl Scene {
    /// Lays a plot out, with room for so many values at each axis.
    #[must_use]
    pub fn new(data: &PlotData, x_ticks: usize, y_ticks: usize) -> Self {
        let measured = || data.series.iter().filter(|s| s.shape != Shape::Curve);
        let points = || measured().flat_map(|s| s.points.iter().map(move |p| (s.shape, p)));
        let bands = |along_x: bool| {
            let of = move |(shape, p): (Shape, &Xy)| {
                let ends = p.band.map_or([f64::NAN; 2], |(low, high)| [low, high]);
                if (shape == Shape::Whiskers) == along_x { ends } else { [f64::NAN; 2] }
            };
            points().flat_map(of)
        };
        let limits = |upright: bool| data.limits.iter().filter(move |l| l.upright == upright).map(|l| l.at);
        let shades = data.shades.iter().flat_map(|s| [s.from, s.to]);
        let xs = points().map(|(_, p)| p.x).chain(bands(true)).chain(limits(true)).chain(shades);
        let ys = points().map(|(_, p)| p.y).chain(bands(false)).chain(limits(false));
        let x = Range::of(xs, &data.x, false, x_ticks);
        let y = Range::of(ys, &data.y, true, y_ticks);
        let not_drawn = points().filter(|(_, p)| !usable(p.x, data.x.scale) || !usable(p.y, data.y.scale)).count();
        let mut scene = Scene {
            title: data.title.clone(),
            note: data.note.clone(),
            summary: data.summary(),
            x: x.ruler(&data.x, x_ticks),
            y: y.ruler(&data.y, y_ticks),
            layers: Vec::new(),
            legend: Vec::new(),
        };
        if not_drawn > 0 {
            let s = if not_drawn == 1 { "" } else { "s" };
            let text = format!("{not_drawn} value{s} without a place on these axes not drawn");
            scene.note = if scene.note.is_empty() { text } else { format!("{}; {text}", scene.note) };
        }
        for s in &data.shades {
            let (Some(from), Some(to)) = (x.clamped(s.from), x.clamped(s.to)) else { continue };
            scene.layers.push(Layer::Shade { from: from.min(to), to: from.max(to), role: s.role });
            scene.tell(s.role.unwrap_or(usize::MAX), None, &s.name);
        }
        for s in &data.series {
            scene.series(s, data, &x, &y);
        }
        for l in &data.limits {
            let at = if l.upright { x.place(l.at) } else { y.place(l.at) };
            if let Some(at) = at.filter(|p| (0.0..=1.0).contains(p)) {
                scene.layers.push(Layer::Limit { at, label: l.label.clone(), upright: l.upright });
            }
        }
        // Bands lie below all lines, marks above all.
        scene.layers.sort_by_key(|l| match l {
            Layer::Shade { .. } => 0,
            Layer::Band { .. } => 1,
            Layer::Limit { .. } => 2,
            Layer::Path { .. } | Layer::Whiskers { .. } => 3,
            Layer::Dots { .. } => 4,
            Layer::Bars { .. } => 5,
        });
        scene
    }

    fn tell(&mut self, role: usize, shape: Option<Shape>, name: &str) {
        // A name of blanks is no name.
        if !terminal(name).trim().is_empty()
            && !self.legend.iter().any(|(r, s, n)| (*r, *s, n.as_str()) == (role, shape, name))
        {
            self.legend.push((role, shape, name.to_owned()));
        }
    }

    fn series(&mut self, s: &Series, data: &PlotData, x: &Range, y: &Range) {
        let role = s.role;
        let place = |p: &Xy| Some((x.place(p.x)?, y.place(p.y)?));
        let within = |(a, b): &(f64, f64)| (0.0..=1.0).contains(a) && (0.0..=1.0).contains(b);
        let placed: Vec<(f64, f64)> = s.points.iter().filter_map(place).filter(within).collect();
        if placed.is_empty() {
            return;
        }
        self.tell(role, Some(s.shape), &s.name);
        let dots = || -> Vec<(f64, f64, String)> {
            let tip = |p: &Xy| place(p).filter(within).map(|(a, b)| (a, b, tip(s, p, data)));
            thin_dots(s.points.iter().filter_map(tip).collect())
        };
        match s.shape {
            Shape::Line => {
                let mut band: Vec<(f64, f64, f64)> = Vec::new();
                for p in &s.points {
                    if let (Some((low, high)), Some(at)) = (p.band, x.place(p.x))
                        && let (Some(low), Some(high)) = (y.clamped(low), y.clamped(high))
                    {
                        band.push((at, low.min(high), low.max(high)));
                    }
                }
                if band.len() > 1 && band.len() <= POINTS {
                    self.layers.push(Layer::Band { role, points: band });
                }
                if placed.len() <= MARKS {
                    self.layers.push(Layer::Dots { role, points: dots() });
                }
                self.layers.push(Layer::Path { role, points: fewer(placed), thin: false });
            }
            Shape::Curve => self.layers.push(Layer::Path { role, points: fewer(placed), thin: true }),
            Shape::Steps => {
                let mut steps = Vec::with_capacity(placed.len() * 2);
                let mut before: Option<(f64, f64)> = None;
                for (a, b) in fewer(placed) {
                    steps.extend(before.map(|(_, y)| (a, y)));
                    steps.push((a, b));
                    before = Some((a, b));
                }
                self.layers.push(Layer::Path { role, points: steps, thin: false });
            }
            Shape::Dots => self.layers.push(Layer::Dots { role, points: dots() }),
            Shape::Bars => self.layers.push(Layer::Bars { role, points: dots() }),
            Shape::Whiskers => {
                let whisker = |p: &Xy| {
                    let (low, high) = p.band?;
                    let (low, high) = (x.clamped(low)?, x.clamped(high)?);
                    Some((low.min(high), low.max(high), y.clamped(p.y)?))
                };
                let points = s.points.iter().filter_map(whisker).collect();
                self.layers.push(Layer::Whiskers { role, points });
                self.layers.push(Layer::Dots { role, points: dots() });
            }
        }
    }
}

/// What a mark says.
fn tip(s: &Series, p: &Xy, data: &PlotData) -> String {
    use super::data::Ticks;
    use crate::bench::words::{number, percent, size};
    let write = |v: f64, ticks: &Ticks| match ticks {
        Ticks::Bytes if (0.0..1e18).contains(&v) => size(v.round() as u64),
        Ticks::Percent => percent(v),
        Ticks::Names(names) => names.get(v.max(0.0) as usize).cloned().unwrap_or_default(),
        _ => number(v),
    };
    let band = p.band.map(|(low, high)| format!(" ({} to {})", number(low), number(high))).unwrap_or_default();
    let name = if s.name.is_empty() { String::new() } else { format!("{}: ", s.name) };
    format!("{name}{}, {}{band}", write(p.x, &data.x.ticks), write(p.y, &data.y.ticks))
}

/// At most so many marks, evenly chosen.
fn thin_dots(points: Vec<(f64, f64, String)>) -> Vec<(f64, f64, String)> {
    let every = points.len().div_ceil(POINTS).max(1);
    points.into_iter().step_by(every).collect()
}

/// A line of many points through fewer, which looks the same: the extremes of each slot stay.
fn fewer(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= POINTS {
        return points;
    }
    let size = points.len().div_ceil(SLOTS);
    let mut out = Vec::with_capacity(SLOTS * 2 + 2);
    out.extend(points.first());
    for slot in points.chunks(size) {
        let low = slot.iter().enumerate().min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let high = slot.iter().enumerate().max_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        if let (Some((i, low)), Some((j, high))) = (low, high) {
            out.extend(if i <= j { [*low, *high] } else { [*high, *low] });
        }
    }
    out.extend(points.last());
    out
}
