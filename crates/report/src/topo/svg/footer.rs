//! Below the drawing: the legend, and notes.

use super::layout::{Layout, MARGIN, Rect, panel};
use super::{Canvas, measure, theme};
use crate::topo::scene::{DirectRdma, Link, Medium, PCIE_STEPS, Scene, Step};

/// Notes that are written out.
const NOTES: usize = 8;
/// Lines of a note.
const LINES: usize = 3;

/// Draws it; where it ends.
pub(super) fn draw(out: &mut Canvas, scene: &Scene, l: &Layout) -> f32 {
    let room = l.width - 2.0 * MARGIN;
    let mut y = legend(out, scene, l.height + 30.0, room);
    let mut notes: Vec<String> = Vec::new();
    if !scene.crosslinks.is_empty() {
        notes.push(format!("Links between switches besides the tree, not drawn: {}.", scene.crosslinks.len()));
    }
    let hidden = l.switches.iter().filter(|r| r.w <= 0.0).count();
    if hidden > 0 {
        notes.push(format!("Switches below level {}, not drawn: {hidden}.", panel::LEVELS));
    }
    let grouped = grouped(&scene.notes);
    notes.extend(grouped.iter().take(NOTES).cloned());
    if grouped.len() > NOTES {
        notes.push(format!("And {} more notes.", grouped.len() - NOTES));
    }
    if !notes.is_empty() {
        y += 12.0;
    }
    for note in &notes {
        for line in measure::wrap(note, 11.0, room, LINES) {
            y += 16.0;
            out.text(MARGIN, y, "m", &line);
        }
    }
    y
}

/// What a note is about, and what it says; `None` where it is not about one device.
type Parts = Option<(String, String)>;

/// Notes that say the same of several devices become one.
fn grouped(notes: &[String]) -> Vec<String> {
    let split = |n: &str| n.split_once(": ").map(|(of, what)| (of.to_owned(), what.to_owned()));
    let mut groups: Vec<(Parts, &str, usize)> = Vec::new();
    for note in notes {
        let parts = split(note);
        let same = groups.iter_mut().find(|g| match (&g.0, &parts) {
            (Some((_, a)), Some((_, b))) => a == b,
            _ => g.1 == note,
        });
        match same {
            Some(g) => g.2 += 1,
            None => groups.push((parts, note, 1)),
        }
    }
    let line = |(parts, note, n): (Parts, &str, usize)| match parts {
        Some((of, what)) if n > 1 => format!("{of} and {} more: {what}", n - 1),
        _ => note.to_owned(),
    };
    groups.into_iter().map(line).collect()
}

/// A sample, and what it means.
enum Sample {
    Line(String),
    Badge,
    Pill,
    Limit,
}

fn legend(out: &mut Canvas, scene: &Scene, y: f32, room: f32) -> f32 {
    let mut items: Vec<(Sample, &str)> = Vec::new();
    let links = all(scene);
    let has = |s: Step| links.iter().any(|l| l.step() == s);
    let line = |s: Step| (Sample::Line(format!("w {}", theme::step(s))), s.legend());
    if links.iter().any(|l| matches!(l.medium, Medium::Pcie | Medium::Port)) {
        items.extend(PCIE_STEPS.into_iter().map(line));
    }
    items.extend(
        [Step::Nvlink, Step::C2c, Step::Smp, Step::Local, Step::Unknown].into_iter().filter(|s| has(*s)).map(line),
    );
    if links.iter().any(Link::degraded) {
        items.push((Sample::Line("w s5 deg".to_owned()), "slower than it could be"));
    }
    if scene.gpus.iter().any(|g| !g.nics.is_empty()) {
        items.push((Sample::Badge, "NIC that a GPU uses, and its distance"));
    }
    let partly = |g: &DirectRdma| matches!(g, DirectRdma::No(_) | DirectRdma::Partly(_));
    if scene.gpus.iter().any(|g| partly(&g.direct_rdma)) || scene.nics.iter().any(|n| !n.gdr) {
        items.push((Sample::Pill, "without GPUDirect RDMA"));
    }
    if scene.bottleneck.as_ref().is_some_and(|b| b.found) {
        items.push((Sample::Limit, "bottleneck"));
    }
    let (mut x, mut y) = (MARGIN, y);
    for (sample, text) in items {
        let width = 44.0 + measure::width(text, 11.0);
        if x + width > MARGIN + room && x > MARGIN {
            x = MARGIN;
            y += 20.0;
        }
        let mid = y - 4.0;
        match sample {
            Sample::Line(class) => out.line((x, mid), (x + 28.0, mid), &class),
            Sample::Badge => {
                out.badge(x + 3.0, mid - 7.0, 0);
            }
            Sample::Pill => {
                out.rect(Rect { x: x + 1.0, y: mid - 6.0, w: 26.0, h: 12.0 }, 6.0, "pill");
            }
            Sample::Limit => out.rect(Rect { x: x + 1.0, y: mid - 6.0, w: 26.0, h: 12.0 }, 4.0, "lim"),
        }
        out.text(x + 35.0, y, "m", text);
        x += width + 20.0;
    }
    y
}

fn all(scene: &Scene) -> Vec<Link> {
    let mut links: Vec<Link> = scene.switches.iter().map(|s| s.link).collect();
    for g in &scene.gpus {
        links.push(g.link);
        links.extend(g.direct.as_ref().map(|d| d.1));
        links.extend(g.fabric.as_ref().map(|f| f.1));
    }
    links.extend(scene.nics.iter().map(|n| n.link));
    links.extend(scene.smp.iter().chain(&scene.nvlinks).map(|p| p.link));
    links
}
