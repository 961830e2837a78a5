//! Links between NUMA nodes: straight between two neighbours, else a bar above them.

use super::{FABRIC_H, Layout, MARGIN, Rect, Smp};
use crate::topo::scene::Scene;

/// From a bar to the panels.
const DROP: f32 = 18.0;

/// The link between two that stand side by side and are all of their host: its place.
pub(super) fn direct(scene: &Scene, rows: &[Vec<usize>], a: usize, b: usize) -> Option<usize> {
    let host = |c: usize| scene.cpus.get(c).map(|c| c.host);
    let kin = scene.cpus.iter().filter(|c| Some(c.host) == host(a)).count();
    let side = rows.iter().any(|r| r.windows(2).any(|w| w == [a, b]));
    let joined = scene.smp.iter().position(|p| (p.a, p.b) == (a, b));
    joined.filter(|_| kin == 2 && side)
}

/// Hosts of a row that need a bar: their first and last place in the row.
fn barred(scene: &Scene, row: &[usize], rows: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let host = |c: &usize| scene.cpus.get(*c).map(|c| c.host);
    let mut at = 0;
    let mut found = Vec::new();
    for group in row.chunk_by(|a, b| host(a) == host(b)) {
        let linked = group.iter().any(|c| scene.smp.iter().any(|p| p.a == *c || p.b == *c));
        let pair = matches!(group, [a, b] if direct(scene, rows, *a, *b).is_some());
        if linked && !pair {
            found.push((at, at + group.len() - 1));
        }
        at += group.len();
    }
    found
}

/// Room for bars above a row.
pub(super) fn above(scene: &Scene, row: &[usize], rows: &[Vec<usize>]) -> f32 {
    if barred(scene, row, rows).is_empty() { 0.0 } else { FABRIC_H + DROP }
}

pub(super) fn place(scene: &Scene, l: &Layout, rows: &[Vec<usize>]) -> Smp {
    let mut smp = Smp::default();
    for row in rows {
        for pair in row.windows(2) {
            let &[a, b] = pair else { continue };
            let (Some(at), Some(ra), Some(rb)) = (direct(scene, rows, a, b), l.cpus.get(a), l.cpus.get(b)) else {
                continue;
            };
            smp.direct.push((at, ra.right(), rb.x, ra.y + ra.h / 2.0));
        }
        for (first, last) in barred(scene, row, rows) {
            let group = row.get(first..=last).unwrap_or_default();
            let panels: Vec<(Rect, Rect)> =
                group.iter().filter_map(|c| Some((*l.panels.get(*c)?, *l.cpus.get(*c)?))).collect();
            let (Some((left, _)), Some((right, _))) = (panels.first(), panels.last()) else { continue };
            let y = left.y - FABRIC_H - DROP;
            let x = left.x.max(MARGIN);
            smp.bars.push((Rect { x, y, w: right.right() - x, h: FABRIC_H - 6.0 }, label(scene, group)));
            let stub = |(_, cpu): &(Rect, Rect)| (cpu.x + cpu.w / 2.0, y + FABRIC_H - 6.0, cpu.y);
            smp.stubs.extend(panels.iter().map(stub));
        }
    }
    smp
}

fn label(scene: &Scene, group: &[usize]) -> String {
    let pairs = scene.smp.iter().filter(|p| group.contains(&p.a) || group.contains(&p.b));
    let mut links: Vec<_> = pairs.map(|p| p.link).collect();
    links.sort_by(|a, b| a.gbps.total_cmp(&b.gbps));
    let rate = match (links.first(), links.last()) {
        (Some(a), Some(b)) if a.rate() != b.rate() => format!("{} to {}", a.rate(), b.rate()),
        (Some(a), _) => a.rate(),
        _ => String::new(),
    };
    format!("SMP · {rate} from one NUMA node to another")
}
