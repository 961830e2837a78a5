//! Boxes: NUMA nodes, switches, GPUs and network devices.

use super::layout::{Layout, Rect};
use super::{Canvas, measure};
use crate::topo::scene::{Cpu, DirectRdma, Gpu, Nic, Scene, Switch};

/// From a card's edge to its text.
const IN: f32 = 10.0;

pub(super) fn draw(out: &mut Canvas, scene: &Scene, l: &Layout) {
    for (cpu, r) in scene.cpus.iter().zip(&l.cpus) {
        bar(out, *r, cpu);
    }
    for (switch, r) in scene.switches.iter().zip(&l.switches) {
        // Deeper than what is drawn.
        if r.w > 0.0 {
            branch(out, *r, switch);
        }
    }
    for (nic, r) in scene.nics.iter().zip(&l.nics) {
        adapter(out, *r, nic);
    }
    for (gpu, r) in scene.gpus.iter().zip(&l.gpus) {
        accelerator(out, scene, *r, gpu);
    }
}

/// A box; what limits has an outline and says so on its lower edge.
fn boxed(
    out: &mut Canvas,
    r: Rect,
    radius: f32,
    class: &str,
    tooltip: &str,
    limits: bool,
    inside: impl FnOnce(&mut Canvas),
) {
    out.group("", tooltip, |out| {
        out.rect(r, radius, class);
        if limits {
            out.rect(r, radius, "lim");
        }
        inside(out);
        if limits {
            out.pill(r.right() - 6.0, r.bottom() - 7.5, "limtag", "limtext", "BOTTLENECK");
        }
    });
}

fn bar(out: &mut Canvas, r: Rect, cpu: &Cpu) {
    let room = r.w - 2.0 * IN;
    boxed(out, r, 6.0, "cpu", &format!("{}\n{}", cpu.name, cpu.detail), cpu.limits, |out| {
        out.text(r.x + IN, r.y + 18.0, "name t", &measure::fit(&cpu.name, 13.0, room));
        out.text(r.x + IN, r.y + 34.0, "m", &measure::fit(&cpu.detail, 11.0, room));
    });
}

fn branch(out: &mut Canvas, r: Rect, s: &Switch) {
    let name = if s.adapter { "Adapter" } else { "PCIe switch" };
    let class = if s.adapter { "nic" } else { "sw" };
    boxed(out, r, 6.0, class, &format!("{name} {}\n{}", s.busid, s.link.label()), s.limits, |out| {
        out.text(r.x + IN, r.y + 18.0, "t", name);
        out.text(r.x + IN, r.y + 33.0, "id m", &measure::fit_mono(&s.busid, 10.5, r.w - 2.0 * IN));
    });
}

fn adapter(out: &mut Canvas, r: Rect, nic: &Nic) {
    let speed = match nic.gbits {
        Some(g) => format!("{} Gb/s", g.round()),
        None => "speed unseen".to_owned(),
    };
    let mut tooltip =
        format!("{}\n{}\n{speed}\n{}", nic.name, nic.busid.as_deref().unwrap_or("not on PCIe"), nic.link.label());
    if !nic.gdr {
        tooltip.push_str("\nno GPUDirect RDMA");
    }
    boxed(out, r, 7.0, "nic", &tooltip, nic.limits, |out| {
        let x = out.badge(r.x + IN, r.y + 8.5, nic.number) + 6.0;
        out.text(x, r.y + 20.0, "name t", &name(&nic.name, r.right() - IN - x));
        if let Some(busid) = &nic.busid {
            out.text(r.x + IN, r.y + 37.0, "id m", &measure::fit_mono(busid, 10.5, r.w - 2.0 * IN));
        }
        out.text(r.x + IN, r.y + 53.0, "t", &speed);
        if !nic.gdr {
            out.pill(r.right() - 7.0, r.y + 42.0, "pill", "warn", "no GDR");
        }
    });
}

/// A name; of fused devices the first and how many more, where not all have room.
fn name(name: &str, room: f32) -> String {
    let parts: Vec<&str> = name.split('+').collect();
    match parts.as_slice() {
        [first, rest @ ..] if !rest.is_empty() && measure::width(name, 13.0) > room => {
            measure::fit(&format!("{first} +{}", rest.len()), 13.0, room)
        }
        _ => measure::fit(name, 13.0, room),
    }
}

fn accelerator(out: &mut Canvas, scene: &Scene, r: Rect, g: &Gpu) {
    boxed(out, r, 7.0, "gpu", &tooltip(scene, g), g.limits, |out| {
        let right = r.right() - IN;
        let mut free = right;
        let mark = match &g.direct_rdma {
            DirectRdma::No(_) => "no GDR",
            DirectRdma::Partly(_) => "part GDR",
            _ => "",
        };
        if !mark.is_empty() {
            free = out.pill(r.right() - 7.0, r.y + 8.0, "pill", "warn", mark) - 4.0;
        }
        out.text(r.x + IN, r.y + 20.0, "name t", &measure::fit(&g.name, 13.0, free - r.x - IN));
        let sm = format!("sm {}", g.sm);
        let sm_from = right - measure::width(&sm, 11.0) - 4.0;
        out.text(r.x + IN, r.y + 37.0, "id m", &measure::fit_mono(&g.busid, 10.5, sm_from - r.x - IN));
        out.text(right, r.y + 37.0, "m e", &sm);
        free = right;
        if let Some(rank) = other_rank(g) {
            let rank = measure::fit(&rank, 11.0, 64.0);
            out.text(right, r.y + 53.0, "m e", &rank);
            free -= measure::width(&rank, 11.0) + 4.0;
        }
        badges(out, scene, g, r.x + IN, r.y + 42.5, free);
    });
}

/// The badges of its network devices, as many as have room, and how far they are.
fn badges(out: &mut Canvas, scene: &Scene, g: &Gpu, mut x: f32, y: f32, right: f32) {
    let numbers = g.nics.iter().filter_map(|n| scene.nics.get(*n)).map(|n| n.number);
    for (i, nic) in numbers.enumerate() {
        let left = g.nics.len() - i;
        let w = measure::width(&format!("N{nic}"), 9.5) + 8.0;
        let more = if left > 1 { 24.0 } else { 0.0 };
        if x + w + more > right {
            out.text(x + 1.0, y + 10.5, "m", &format!("+{left}"));
            return;
        }
        x = out.badge(x, y, nic) + 3.0;
    }
    if let Some(d) = g.distance.filter(|d| x + 2.0 + measure::width(d, 11.0) <= right) {
        out.text(x + 2.0, y + 10.5, "m", d);
    }
}

/// Its rank, where it is not the GPU's number.
fn other_rank(g: &Gpu) -> Option<String> {
    match g.ranks.as_slice() {
        [] => Some("no rank".to_owned()),
        [one] if g.name == format!("GPU {one}") => None,
        [one] => Some(format!("rank {one}")),
        several => Some(format!("{} ranks", several.len())),
    }
}

fn tooltip(scene: &Scene, g: &Gpu) -> String {
    let ranks: Vec<String> = g.ranks.iter().map(i32::to_string).collect();
    let mut lines = vec![format!("{} · {} · sm {} · rank {}", g.name, g.busid, g.sm, ranks.join(", ")), g.link.label()];
    lines.extend(g.direct.as_ref().map(|(_, l)| l.label()));
    lines.extend(g.fabric.as_ref().map(|(_, l)| l.label()));
    let nics: Vec<&str> = g.nics.iter().filter_map(|n| Some(scene.nics.get(*n)?.name.as_str())).collect();
    if !nics.is_empty() {
        lines.push(format!("uses {} ({})", nics.join(", "), g.distance.unwrap_or("?")));
    }
    match &g.direct_rdma {
        DirectRdma::Yes => lines.push("GPUDirect RDMA".to_owned()),
        DirectRdma::Partly(why) => lines.push(format!("GPUDirect RDMA in part: {why}")),
        DirectRdma::No(why) => lines.push(format!("no GPUDirect RDMA: {why}")),
        DirectRdma::Unknown => {}
    }
    lines.join("\n")
}
