//! The drawing that one would put into a report: one SVG file that needs nothing else, light and dark, without scripts.

mod cards;
mod column;
mod footer;
mod layout;
mod lines;
pub(crate) mod measure;
mod mesh;
#[cfg(test)]
mod tests;
mod theme;

use super::scene::Scene;
use layout::{Layout, MARGIN, Rect};
use linerate_out::markup::xml;
use std::fmt::Write;

/// No larger than this on the page, in pixels; what is larger is scaled.
const WIDEST: f32 = 2400.0;
const HIGHEST: f32 = 3200.0;

/// Draws a scene.
#[must_use]
pub fn svg(scene: &Scene) -> String {
    let layout = layout::layout(scene);
    let mut out = Canvas::default();
    header(&mut out, scene, &layout);
    for (i, r) in layout.panels.iter().enumerate() {
        let name = scene.cpus.get(i).map_or("", |c| c.name.as_str());
        out.group("", name, |out| out.rect(*r, 10.0, "panel"));
    }
    lines::draw(&mut out, scene, &layout);
    cards::draw(&mut out, scene, &layout);
    let height = footer::draw(&mut out, scene, &layout) + MARGIN;
    let (w, h) = (layout.width, height);
    let scale = (WIDEST / w).min(HIGHEST / h).min(1.0);
    let title = if scene.title.is_empty() { "Topology" } else { &scene.title };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lt\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\" \
         aria-labelledby=\"lt-title lt-desc\">\n<title id=\"lt-title\">{}</title>\n<desc id=\"lt-desc\">{}</desc>\n\
         <style>{}</style>\n<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
        n(w * scale),
        n(h * scale),
        n(w),
        n(h),
        xml(title),
        xml(&scene.summary()),
        theme::css(),
        out.body
    )
}

fn header(out: &mut Canvas, scene: &Scene, layout: &Layout) {
    let room = layout.width - 2.0 * MARGIN;
    let title = if scene.title.is_empty() { "Topology" } else { &scene.title };
    out.text(MARGIN, 38.0, "h1 t", &measure::fit(title, 20.0, room));
    out.text(MARGIN, 59.0, "h2 m", &measure::fit(&scene.summary(), 12.5, room));
    if let Some(b) = &scene.bottleneck {
        let unmarked = if b.found { "" } else { " (not in this drawing)" };
        let line = format!("Bottleneck: {}{unmarked}", b.name);
        out.text(MARGIN, 79.0, "h2 limname", &measure::fit(&line, 12.5, room));
    }
}

/// SVG that grows.
#[derive(Default)]
struct Canvas {
    body: String,
}

impl Canvas {
    /// Elements of one thing, with the tooltip that tells all of it.
    fn group(&mut self, class: &str, tooltip: &str, draw: impl FnOnce(&mut Canvas)) {
        self.body.push_str("<g");
        if !class.is_empty() {
            let _ = write!(self.body, " class=\"{class}\"");
        }
        let _ = write!(self.body, "><title>{}</title>", xml(tooltip));
        draw(self);
        self.body.push_str("</g>\n");
    }

    fn rect(&mut self, r: Rect, radius: f32, class: &str) {
        let (x, y, w, h, radius) = (n(r.x), n(r.y), n(r.w), n(r.h), n(radius));
        let _ = write!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\" class=\"{class}\"/>"
        );
    }

    fn text(&mut self, x: f32, y: f32, class: &str, text: &str) {
        write_text(&mut self.body, x, y, class, text);
    }

    fn path(&mut self, d: &str, class: &str) {
        let _ = write!(self.body, "<path d=\"{d}\" class=\"{class}\"/>");
    }

    fn line(&mut self, from: (f32, f32), to: (f32, f32), class: &str) {
        let d = format!("M{} {}L{} {}", n(from.0), n(from.1), n(to.0), n(to.1));
        self.path(&d, class);
    }

    /// A small rounded box with text in it that ends at `right`; where it begins.
    fn pill(&mut self, right: f32, y: f32, class: &str, text_class: &str, text: &str) -> f32 {
        let w = measure::width(text, 9.5) + 10.0;
        self.rect(Rect { x: right - w, y, w, h: 15.0 }, 7.5, class);
        self.text(right - w / 2.0, y + 11.0, &format!("tag c {text_class}"), text);
        right - w
    }

    /// A network device's badge at `x`; where it ends.
    fn badge(&mut self, x: f32, y: f32, nic: usize) -> f32 {
        let text = format!("N{nic}");
        let w = measure::width(&text, 9.5) + 8.0;
        self.rect(Rect { x, y, w, h: 14.0 }, 3.0, &theme::badge(nic));
        self.text(x + w / 2.0, y + 10.5, "badge c", &text);
        x + w
    }
}

/// A coordinate, to a tenth of a pixel.
pub(crate) fn n(v: f32) -> String {
    let text = format!("{v:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Words at a place, in the classes of the drawing's style.
pub(crate) fn write_text(body: &mut String, x: f32, y: f32, class: &str, text: &str) {
    let _ = write!(body, "<text x=\"{}\" y=\"{}\" class=\"{class}\">{}</text>", n(x), n(y), xml(text));
}
