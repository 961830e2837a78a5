//! A plot as one SVG that needs nothing else: light and dark, without scripts.

use super::data::{PlotData, Shape};
use super::glyphs::{COLOURS, mark};
use super::scene::{Layer, MARKS, Scene};
use crate::topo::svg::measure::{fit, width, wrap};
use crate::topo::svg::{n, write_text};
use linerate_out::markup::xml;
use std::fmt::Write;

/// Width of the drawing.
const WIDTH: f32 = 760.0;
const MARGIN: f32 = 16.0;
/// Height of the plot's area; of a row of names.
const AREA: f32 = 260.0;
const ROW: f32 = 24.0;
const SMALL: f32 = 11.0;

/// Draws a plot. `id` tells its elements from those of other drawings on the same page.
#[must_use]
pub fn plot_svg(data: &PlotData, id: &str) -> String {
    let scene = Scene::new(data, 12, 6);
    let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    Drawing::new(&scene, data).draw(&id)
}

struct Drawing<'a> {
    scene: &'a Scene,
    body: String,
    left: f32,
    right: f32,
    top: f32,
    bottom: f32,
}

impl<'a> Drawing<'a> {
    fn new(scene: &'a Scene, data: &PlotData) -> Self {
        let names = matches!(data.y.ticks, super::data::Ticks::Names(_));
        let widest = scene.y.ticks.iter().map(|t| width(&t.label, SMALL)).fold(18.0, f32::max);
        let rows = scene.y.ticks.len().clamp(1, 200) as f32;
        let area = if names { (rows * ROW).max(60.0) } else { AREA };
        let left = MARGIN + widest.min(WIDTH * 0.4) + 8.0;
        Drawing { scene, body: String::new(), left, right: WIDTH - MARGIN - 6.0, top: 0.0, bottom: area }
    }

    fn draw(mut self, id: &str) -> String {
        let area = self.bottom;
        self.top = self.header() + 8.0;
        self.bottom = self.top + area;
        self.axes();
        for layer in &self.scene.layers {
            self.layer(layer);
        }
        // Labels of lines across lie above everything.
        for layer in &self.scene.layers {
            self.limit_label(layer);
        }
        let height = self.bottom + 44.0;
        let title = if self.scene.title.is_empty() { "Plot" } else { &self.scene.title };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lrp\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{}</title>\n\
             <desc id=\"{id}-desc\">{}</desc>\n<style>{}</style>\n<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
            xml(title),
            xml(&self.scene.summary),
            css(),
            self.body,
            height = n(height),
            WIDTH = n(WIDTH),
        )
    }

    fn text(&mut self, x: f32, y: f32, class: &str, text: &str) {
        write_text(&mut self.body, x, y, class, text);
    }

    fn path(&mut self, d: &str, class: &str) {
        let _ = writeln!(self.body, "<path d=\"{d}\" class=\"{class}\"/>");
    }

    fn x(&self, share: f64) -> f32 {
        self.left + (self.right - self.left) * share as f32
    }

    fn y(&self, share: f64) -> f32 {
        self.bottom - (self.bottom - self.top) * share as f32
    }

    /// Title, note, legend; where they end.
    fn header(&mut self) -> f32 {
        let room = WIDTH - 2.0 * MARGIN;
        let mut y = 26.0;
        self.text(MARGIN, y, "h1 t", &fit(&self.scene.title, 15.0, room));
        let note = self.scene.note.clone();
        if !note.is_empty() {
            for line in wrap(&note, SMALL, room, 3) {
                y += 16.0;
                self.text(MARGIN, y, "m", &line);
            }
        }
        let mut x = MARGIN;
        if !self.scene.legend.is_empty() {
            y += 20.0;
        }
        for (role, shape, name) in &self.scene.legend {
            let name = fit(name, SMALL, room - 30.0);
            let wide = 26.0 + width(&name, SMALL) + 18.0;
            if x > MARGIN && x + wide > WIDTH - MARGIN {
                x = MARGIN;
                y += 17.0;
            }
            self.swatch(x, y - 4.0, *role, *shape);
            self.text(x + 26.0, y, "t", &name);
            x += wide;
        }
        let label = fit(&self.scene.y.label, SMALL, room);
        if !label.is_empty() {
            y += 22.0;
            self.text(MARGIN, y, "m b", &label);
        }
        y
    }

    fn swatch(&mut self, x: f32, y: f32, role: usize, shape: Option<Shape>) {
        let (a, b, middle) = (n(x), n(x + 20.0), n(x + 10.0));
        let r = role % COLOURS.len();
        match shape {
            None => {
                let class = shade(Some(role).filter(|r| *r != usize::MAX));
                let _ = write!(
                    self.body,
                    "<rect x=\"{a}\" y=\"{}\" width=\"20\" height=\"10\" class=\"{class}\"/>",
                    n(y - 5.0)
                );
                return;
            }
            Some(Shape::Curve) => self.path(&format!("M{a} {0}L{b} {0}", n(y)), &format!("l c{r} thin")),
            Some(Shape::Dots | Shape::Bars) => {}
            Some(_) => self.path(&format!("M{a} {0}L{b} {0}", n(y)), &format!("l c{r}")),
        }
        if !matches!(shape, Some(Shape::Curve | Shape::Steps)) {
            let y = n(y);
            let _ = write!(
                self.body,
                "<path transform=\"translate({middle} {y})\" d=\"{}\" class=\"{}\"/>",
                mark(role),
                dot(role)
            );
        }
    }

    fn axes(&mut self) {
        let scene = self.scene;
        let mut grid = String::new();
        for t in &scene.y.ticks {
            let y = self.y(t.at);
            let _ = write!(grid, "M{} {1}L{2} {1}", n(self.left), n(y), n(self.right));
            let label = fit(&t.label, SMALL, self.left - MARGIN - 4.0);
            self.text(self.left - 8.0, y + 3.8, "m e", &label);
        }
        let mut free = f32::NEG_INFINITY;
        for t in &scene.x.ticks {
            let x = self.x(t.at);
            let _ = write!(grid, "M{0} {1}L{0} {2}", n(x), n(self.top), n(self.bottom));
            let half = width(&t.label, SMALL) / 2.0;
            // Labels do not lie on each other, nor outside.
            if x - half > free && x + half < WIDTH - 2.0 {
                self.text(x, self.bottom + 17.0, "m c", &t.label);
                free = x + half + 6.0;
            }
        }
        self.path(&grid, "grid");
        let frame = format!("M{} {}L{} {}", n(self.left), n(self.bottom), n(self.right), n(self.bottom));
        self.path(&frame, "axis");
        let label = fit(&scene.x.label, SMALL, self.right - self.left);
        self.text((self.left + self.right) / 2.0, self.bottom + 34.0, "m b c", &label);
    }

    fn layer(&mut self, layer: &Layer) {
        match layer {
            Layer::Shade { from, to, role } => {
                let (x, w) = (self.x(*from), self.x(*to) - self.x(*from));
                let (y, h) = (self.top, self.bottom - self.top);
                let class = shade(*role);
                let _ = writeln!(
                    self.body,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{class}\"/>",
                    n(x),
                    n(y),
                    n(w.max(1.0)),
                    n(h)
                );
            }
            Layer::Band { role, points } => {
                let up = points.iter().map(|(x, _, high)| (*x, *high));
                let down = points.iter().rev().map(|(x, low, _)| (*x, *low));
                let d = self.line(up.chain(down)) + "z";
                self.path(&d, &format!("band f{}", role % COLOURS.len()));
            }
            Layer::Path { role, points, thin } => {
                let d = self.line(points.iter().copied());
                let kind = match thin {
                    true => " thin",
                    // Few values, marked: a broad first line shows below a narrow second one.
                    false if points.len() <= MARKS => " few",
                    false => "",
                };
                self.path(&d, &format!("l c{}{kind}", role % COLOURS.len()));
            }
            Layer::Whiskers { role, points } => {
                let mut d = String::new();
                for (low, high, y) in points {
                    let (a, b, y) = (self.x(*low), self.x(*high), self.y(*y));
                    let _ =
                        write!(d, "M{0} {1}L{2} {1}M{0} {3}V{4}M{2} {3}V{4}", n(a), n(y), n(b), n(y - 4.0), n(y + 4.0));
                }
                self.path(&d, &format!("l c{}", role % COLOURS.len()));
            }
            Layer::Dots { role, points } => {
                for (x, y, tip) in points {
                    let (x, y) = (n(self.x(*x)), n(self.y(*y)));
                    let (d, class) = (mark(*role), dot(*role));
                    let _ = writeln!(
                        self.body,
                        "<path transform=\"translate({x} {y})\" d=\"{d}\" class=\"{class}\"><title>{}</title></path>",
                        xml(tip)
                    );
                }
            }
            Layer::Bars { role, points } => {
                for (x, y, tip) in points {
                    let (x, y) = (self.x(*x), self.y(*y));
                    let _ = writeln!(
                        self.body,
                        "<path d=\"M{0} {1}V{2}\" class=\"bar c{3}\"><title>{4}</title></path>",
                        n(x),
                        n(y - 9.0),
                        n(y + 9.0),
                        role % COLOURS.len(),
                        xml(tip)
                    );
                }
            }
            Layer::Limit { at, upright, .. } => {
                let d = if *upright {
                    format!("M{} {}V{}", n(self.x(*at)), n(self.top), n(self.bottom))
                } else {
                    format!("M{} {}H{}", n(self.left), n(self.y(*at)), n(self.right))
                };
                self.path(&d, "limit");
            }
        }
    }

    fn limit_label(&mut self, layer: &Layer) {
        let Layer::Limit { at, label, upright } = layer else { return };
        if label.is_empty() {
            return;
        }
        let label = fit(label, SMALL, self.right - self.left - 12.0);
        if *upright {
            let x = self.x(*at);
            let left = x + 8.0 + width(&label, SMALL) > self.right;
            let (x, class) = if left { (x - 5.0, "t halo e") } else { (x + 5.0, "t halo") };
            self.text(x, self.free_of_limits(), class, &label);
        } else {
            let y = self.y(*at);
            // Below where there is no room above.
            let y = if y - self.top < 14.0 { y + 14.0 } else { y - 5.0 };
            self.text(self.left + 6.0, y, "t halo", &label);
        }
    }

    /// A height for labels of upright lines where no line across lies, nor its label.
    fn free_of_limits(&self) -> f32 {
        let across = |l: &Layer| match l {
            Layer::Limit { at, upright: false, .. } => Some(self.y(*at)),
            _ => None,
        };
        let lines: Vec<f32> = self.scene.layers.iter().filter_map(across).collect();
        let free = |y: &f32| lines.iter().all(|l| (y - 4.0 - l).abs() > 22.0);
        (0..12).map(|i| self.top + 12.0 + 14.0 * i as f32).find(free).unwrap_or(self.top + 12.0)
    }

    fn line(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let mut d = String::new();
        for (i, (x, y)) in points.enumerate() {
            let _ = write!(d, "{}{} {}", if i == 0 { 'M' } else { 'L' }, n(self.x(x)), n(self.y(y)));
        }
        d
    }
}

/// The second side is hollow and thin, so that the first shows where both lie in one place.
fn dot(role: usize) -> String {
    let r = role % COLOURS.len();
    if r == 1 { format!("hollow c{r}") } else { format!("f{r} d") }
}

fn shade(role: Option<usize>) -> String {
    role.map_or_else(|| "shade".into(), |r| format!("shaded f{}", r % COLOURS.len()))
}

/// All rules are below `.lrp`, so that they keep to the drawing where it is in a page.
fn css() -> String {
    const GREYS: [(&str, &str, &str, &str); 9] = [
        ("bg", "fill", "#ffffff", "#0d1117"),
        ("t", "fill", "#1b2530", "#e6edf3"),
        ("m", "fill", "#57646f", "#9aa7b4"),
        ("grid", "stroke", "#e6ebf0", "#232b35"),
        ("axis", "stroke", "#8795a2", "#66747f"),
        ("limit", "stroke", "#1b2530", "#e6edf3"),
        ("halo", "stroke", "#ffffff", "#0d1117"),
        ("d", "stroke", "#ffffff", "#0d1117"),
        ("shade", "fill", "#dfe6ec", "#28323d"),
    ];
    let mut css = String::from(
        ".lrp text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;font-size:11px;font-variant-numeric:tabular-nums}\
         .lrp .h1{font-size:15px;font-weight:600}.lrp .b{font-weight:600}.lrp .e{text-anchor:end}.lrp .c{text-anchor:middle}\
         .lrp .grid{fill:none;stroke-width:1}.lrp .axis{fill:none;stroke-width:1.2}\
         .lrp .l{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}\
         .lrp .thin{stroke-dasharray:2 4}.lrp .bar{fill:none;stroke-width:3}\
         .lrp .hollow{fill:none;stroke-width:1.7}.lrp .few.c0{stroke-width:2.8}.lrp .few.c1{stroke-width:1.6}.lrp .thin{stroke-width:1.6}\
         .lrp .band{opacity:.2}.lrp .shaded{opacity:.12}.lrp .d{stroke-width:1}\
         .lrp .limit{fill:none;stroke-width:1.4;stroke-dasharray:7 4}\
         .lrp .halo{stroke-width:4;paint-order:stroke;stroke-linejoin:round}\n",
    );
    let mut dark = String::new();
    for (class, property, light, night) in GREYS {
        let _ = write!(css, ".lrp .{class}{{{property}:{light}}}");
        let _ = write!(dark, ".lrp .{class}{{{property}:{night}}}");
    }
    for (i, (light, night)) in COLOURS.iter().enumerate() {
        let _ = write!(css, ".lrp .c{i}{{stroke:{light}}}.lrp .f{i}{{fill:{light}}}");
        let _ = write!(dark, ".lrp .c{i}{{stroke:{night}}}.lrp .f{i}{{fill:{night}}}");
    }
    format!("{css}\n@media (prefers-color-scheme:dark){{{dark}}}\n")
}
