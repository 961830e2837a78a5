//! Links, their labels, and the bars of NVLink.

use super::layout::{Exit, Lane, Layout, Of, Rect};
use super::mesh::Track;
use super::{Canvas, measure, n, theme};
use crate::topo::scene::{Gpu, Link, Medium, Scene};

/// Size of labels.
const SIZE: f32 = 10.5;

/// Draws all of them; cards come on top.
pub(super) fn draw(out: &mut Canvas, scene: &Scene, l: &Layout) {
    for lane in &l.lanes {
        if let Some((link, limits, name)) = what(scene, lane.of) {
            wire(out, lane, link, limits, &name);
        }
    }
    for track in &l.tracks {
        mesh(out, scene, track);
    }
    for exit in &l.exits {
        fabric_lane(out, scene, exit);
    }
    spine(out, &l.bars);
    smp(out, scene, l);
    for lane in &l.lanes {
        labels(out, scene, lane);
    }
    for bar in &l.bars {
        fabric_bar(out, scene, *bar);
    }
}

fn what(scene: &Scene, of: Of) -> Option<(&Link, bool, String)> {
    Some(match of {
        Of::Switch(s) => {
            let s = scene.switches.get(s)?;
            (&s.link, s.limits, s.busid.clone())
        }
        Of::Gpu(g) => {
            let g = scene.gpus.get(g)?;
            (&g.link, g.limits, g.name.clone())
        }
        Of::Direct(g) => {
            let g = scene.gpus.get(g)?;
            (&g.direct.as_ref()?.1, false, g.name.clone())
        }
        Of::Nic(i) => {
            let i = scene.nics.get(i)?;
            (&i.link, i.limits, i.name.clone())
        }
    })
}

fn class(link: &Link) -> String {
    let degraded = if link.degraded() { " deg" } else { "" };
    format!("w {}{degraded}", theme::step(link.step()))
}

fn wire(out: &mut Canvas, lane: &Lane, link: &Link, limits: bool, name: &str) {
    let ends = ((lane.x, lane.top), (lane.x, lane.bottom));
    out.group("", &format!("{name}: {}", link.label()), |out| {
        if limits {
            out.line((lane.x, lane.top + 5.0), (lane.x, lane.bottom - 5.0), "halo");
        }
        out.line(ends.0, ends.1, &class(link));
    });
}

/// Two lines beside the lower end of a lane: generation and width, and GB/s. A GPU with C2C has that above its PCIe.
fn labels(out: &mut Canvas, scene: &Scene, lane: &Lane) {
    let Some((link, ..)) = what(scene, lane.of) else { return };
    let x = lane.x + 7.0;
    let room = lane.room - x;
    let direct = match lane.of {
        Of::Gpu(g) => scene.gpus.get(g).and_then(|g| g.direct.as_ref()),
        Of::Direct(_) => return,
        _ => None,
    };
    let mut lines: Vec<(String, &str)> = Vec::new();
    if let Some((_, own)) = direct {
        lines.push((own.label(), "l"));
        lines.push((joined(&link.generation(), &link.rate()), "l"));
    } else if let Some(possible) = link.possible {
        lines.push((format!("▲ {}", joined(&link.pcie.label(), &link.rate())), "l warn"));
        lines.push((format!("could be {}", possible.label()), "l warn"));
    } else {
        let first = match link.medium {
            Medium::Local => "not on PCIe".to_owned(),
            Medium::Port => String::new(),
            _ => link.generation(),
        };
        lines.extend([first, link.rate()].into_iter().filter(|t| !t.is_empty()).map(|t| (t, "l")));
    }
    let mut y = lane.bottom - 9.0;
    for (text, class) in lines.iter().rev() {
        out.text(x, y, class, &measure::fit(text, SIZE, room));
        y -= 13.0;
    }
}

fn joined(a: &str, b: &str) -> String {
    if a.is_empty() { b.to_owned() } else { format!("{a} · {b}") }
}

/// A GPU's links into the bar: to switches, or all those to other GPUs.
fn of_gpu(scene: &Scene, gpu: usize) -> Option<(Option<u32>, f32, &Gpu)> {
    let g = scene.gpus.get(gpu)?;
    if let Some((count, link)) = &g.fabric {
        return Some((*count, link.gbps, g));
    }
    let own = scene.nvlinks.iter().filter(|p| p.a == gpu || p.b == gpu);
    let mut sum = (Some(0_u32), 0.0);
    for p in own {
        sum.0 = sum.0.zip(p.count).map(|(a, b)| a.saturating_add(b));
        sum.1 += p.link.gbps;
    }
    Some((sum.0, sum.1, g))
}

fn links(count: Option<u32>) -> String {
    match count {
        Some(1) => "1 link".to_owned(),
        Some(n) => format!("{n} links"),
        None => "NVLink".to_owned(),
    }
}

fn fabric_lane(out: &mut Canvas, scene: &Scene, exit: &Exit) {
    let Some((count, gbps, g)) = of_gpu(scene, exit.gpu) else { return };
    let link = Link::of(Medium::Nvlink, gbps).assumed(g.fabric.as_ref().is_some_and(|(_, l)| l.assumed));
    let tooltip = format!("{}: {} to NVLink, {}", g.name, links(count), link.rate());
    out.group("", &tooltip, |out| {
        if scene.fabric_limits {
            out.line((exit.x, exit.top + 5.0), (exit.x, exit.bottom - 5.0), "halo");
        }
        out.line((exit.x, exit.top), (exit.x, exit.bottom), &class(&link));
    });
    if let Some(room) = exit.room {
        let x = exit.x + 7.0;
        for (text, y) in [(links(count), exit.bottom - 20.0), (link.rate(), exit.bottom - 7.0)] {
            out.text(x, y, "lb", &measure::fit(&text, SIZE, room - x));
        }
    }
}

fn fabric_bar(out: &mut Canvas, scene: &Scene, bar: Rect) {
    let name = if scene.has_fabric() {
        "NVLink switches".to_owned()
    } else {
        format!("NVLink from GPU to GPU · {} pairs", scene.nvlinks.len())
    };
    out.group("", &name, |out| {
        out.rect(bar, 6.0, "fab");
        if scene.fabric_limits {
            out.rect(bar, 6.0, "lim");
        }
        let room = bar.w - 24.0;
        out.text(bar.x + bar.w / 2.0, bar.y + 21.5, "name t c", &measure::fit(&name, 13.0, room));
        if scene.fabric_limits {
            out.pill(bar.right() - 10.0, bar.y + 9.5, "limtag", "limtext", "BOTTLENECK");
        }
    });
}

/// Bars of several rows are one and the same.
fn spine(out: &mut Canvas, bars: &[Rect]) {
    if let (Some(first), Some(last), true) = (bars.first(), bars.last(), bars.len() > 1) {
        let x = first.x - 12.0;
        let mid = |r: &Rect| r.y + r.h / 2.0;
        out.group("", "NVLink", |out| {
            out.line((x, mid(first) - 1.5), (x, mid(last) + 1.5), "w nv");
            for bar in bars {
                out.line((x, mid(bar)), (bar.x, mid(bar)), "w nv");
            }
        });
    }
}

fn mesh(out: &mut Canvas, scene: &Scene, t: &Track) {
    let Some(pair) = scene.nvlinks.get(t.pair) else { return };
    let name = |g: usize| scene.gpus.get(g).map_or("", |g| g.name.as_str());
    let tooltip = format!("{} – {}: {}, {}", name(pair.a), name(pair.b), links(pair.count), pair.link.rate());
    let r = 6.0_f32.min((t.right - t.left) / 2.0).max(0.0);
    let d = format!(
        "M{} {}V{}q0 {r} {r} {r}H{}q{r} 0 {r} -{r}V{}",
        n(t.left),
        n(t.tops.0),
        n(t.y - r),
        n(t.right - r),
        n(t.tops.1),
        r = n(r)
    );
    out.group("", &tooltip, |out| {
        if scene.fabric_limits {
            out.path(&d, "halo");
        }
        out.path(&d, &format!("{} {}", class(&pair.link), theme::nvlink_width(pair.link.gbps)));
        let text = format!("{} · {}", links(pair.count), pair.link.rate());
        if t.right - t.left > measure::width(&text, SIZE) + 24.0 {
            out.text(t.left + 12.0, t.y - 3.5, "lb", &text);
        }
    });
}

fn smp(out: &mut Canvas, scene: &Scene, l: &Layout) {
    let limits = scene.smp_limits;
    let class = format!("w {}", theme::step(crate::topo::scene::Step::Smp));
    for (at, left, right, y) in &l.smp.direct {
        let Some(pair) = scene.smp.get(*at) else { continue };
        let name = |c: usize| scene.cpus.get(c).map_or("", |c| c.name.as_str());
        out.group("", &format!("{} – {}: {}", name(pair.a), name(pair.b), pair.link.label()), |out| {
            if limits {
                out.line((left + 5.0, *y), (right - 5.0, *y), "halo");
            }
            out.line((*left, *y), (*right, *y), &class);
            let mid = (left + right) / 2.0;
            out.text(mid, y - 8.0, "lb c", "SMP");
            out.text(mid, y + 17.0, "lb c", &pair.link.rate());
            if limits {
                out.pill(mid + 38.0, y - 36.0, "limtag", "limtext", "BOTTLENECK");
            }
        });
    }
    for (x, top, bottom) in &l.smp.stubs {
        if limits {
            out.line((*x, top + 5.0), (*x, bottom - 5.0), "halo");
        }
        out.line((*x, *top), (*x, *bottom), &class);
    }
    for (bar, label) in &l.smp.bars {
        out.group("", label, |out| {
            out.rect(*bar, 6.0, "smpbar");
            if limits {
                out.rect(*bar, 6.0, "lim");
                out.pill(bar.right() - 10.0, bar.y + 6.5, "limtag", "limtext", "BOTTLENECK");
            }
            out.text(bar.x + bar.w / 2.0, bar.y + 18.0, "t c", &measure::fit(label, 11.0, bar.w - 20.0));
        });
    }
}
