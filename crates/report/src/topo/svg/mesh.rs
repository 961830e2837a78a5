//! NVLinks from GPU to GPU, one by one: each takes a horizontal track below the cards.

use super::layout::Layout;
use crate::topo::scene::Scene;

/// Links that are drawn one by one; more become a bar.
pub(super) const MOST: usize = 40;
/// From one track to the next.
const TRACK: f32 = 18.0;

/// A link: down from one GPU, along, and up to the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Track {
    /// Place in `Scene::nvlinks`.
    pub(super) pair: usize,
    pub(super) left: f32,
    pub(super) right: f32,
    /// Lower edges of the cards.
    pub(super) tops: (f32, f32),
    pub(super) y: f32,
}

/// Adds the tracks; how high they are together.
#[allow(clippy::cast_precision_loss)] // small numbers
pub(super) fn tracks(scene: &Scene, l: &mut Layout, y: f32) -> f32 {
    let center = |g: usize| l.gpus.get(g).map_or(0.0, |r| r.x + r.w / 2.0);
    // Ends of links at each GPU, left to right, so that links cross little: to the left the nearest first, to the right the
    // farthest first.
    let port = |gpu: usize, pair: usize| {
        let here = center(gpu);
        let mut ends: Vec<(bool, f32, usize)> = scene
            .nvlinks
            .iter()
            .enumerate()
            .filter_map(|(i, p)| {
                let other = if p.a == gpu {
                    p.b
                } else if p.b == gpu {
                    p.a
                } else {
                    return None;
                };
                let far = center(other) - here;
                Some((far > 0.0, -far, i))
            })
            .collect();
        ends.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let at = ends.iter().position(|e| e.2 == pair).unwrap_or(0);
        let card = l.gpus.get(gpu).copied().unwrap_or_default();
        let usable = card.w - 28.0;
        card.x + 14.0 + usable * (at as f32 + 0.5) / ends.len().max(1) as f32
    };
    let mut spans: Vec<Track> = Vec::new();
    for (i, p) in scene.nvlinks.iter().enumerate() {
        let (a, b) = (port(p.a, i), port(p.b, i));
        let bottom = |g: usize| l.gpus.get(g).map_or(0.0, |r| r.bottom());
        let (left, right, tops) =
            if a <= b { (a, b, (bottom(p.a), bottom(p.b))) } else { (b, a, (bottom(p.b), bottom(p.a))) };
        spans.push(Track { pair: i, left, right, tops, y: 0.0 });
    }
    spans.sort_by(|a, b| (a.right - a.left).total_cmp(&(b.right - b.left)).then(a.left.total_cmp(&b.left)));
    let mut taken: Vec<Vec<(f32, f32)>> = Vec::new();
    for span in &mut spans {
        let free = |t: &Vec<(f32, f32)>| t.iter().all(|(l, r)| span.right + 8.0 < *l || *r + 8.0 < span.left);
        let at = match taken.iter().position(free) {
            Some(at) => at,
            None => {
                taken.push(Vec::new());
                taken.len() - 1
            }
        };
        if let Some(t) = taken.get_mut(at) {
            t.push((span.left, span.right));
        }
        span.y = y + at as f32 * TRACK;
    }
    l.tracks = spans;
    14.0 + taken.len() as f32 * TRACK
}
