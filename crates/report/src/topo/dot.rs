//! Graphviz: the same scene for those who lay it out themselves (`dot -Tsvg`).

use super::scene::{DirectRdma, Link, Parent, Scene, Step};
use linerate_out::dot;
use std::fmt::Write;

/// Writes a scene in Graphviz's language.
#[must_use]
pub fn dot(scene: &Scene) -> String {
    let mut out = String::from(
        "graph topology {\n  graph [fontname=\"sans-serif\", labelloc=t, rankdir=TB, ranksep=0.7, nodesep=0.25, compound=true];\n  \
         node [fontname=\"sans-serif\", fontsize=11, shape=box, style=\"rounded,filled\", fillcolor=white, color=\"#7b8a99\"];\n  \
         edge [fontname=\"sans-serif\", fontsize=9];\n",
    );
    let mut caption = vec![scene.title.clone(), scene.summary()];
    if let Some(b) = &scene.bottleneck {
        caption.push(format!("Bottleneck: {}", b.name));
    }
    caption.retain(|c| !c.is_empty());
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  label={};", dot::label(&caption));
    for (i, cpu) in scene.cpus.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{i} {{\n    label=\"\"; style=\"rounded\"; color=\"#c3ccd5\";");
        node(&mut out, &format!("cpu{i}"), &[&cpu.name, &cpu.detail], "#e2e8ef", cpu.limits);
        devices(&mut out, scene, i);
        out.push_str("  }\n");
    }
    if scene.has_fabric() {
        node(&mut out, "nvs", &["NVLink switches"], "#dcf1e0", scene.fabric_limits);
    }
    tree(&mut out, scene);
    joins(&mut out, scene);
    out.push_str("}\n");
    out
}

fn devices(out: &mut String, scene: &Scene, cpu: usize) {
    let here = |p: Parent| scene.cpu_of(p) == Some(cpu);
    for (i, s) in scene.switches.iter().enumerate().filter(|(_, s)| here(s.parent)) {
        let name = if s.adapter { "Adapter" } else { "PCIe switch" };
        node(out, &format!("sw{i}"), &[name, &s.busid], "#ffffff", s.limits);
    }
    for (i, n) in scene.nics.iter().enumerate().filter(|(_, n)| here(n.parent)) {
        let speed = n.gbits.map_or_else(|| "speed unseen".to_owned(), |g| format!("{} Gb/s", g.round()));
        let gdr = if n.gdr { "" } else { "no GPUDirect" };
        let lines = [n.name.as_str(), n.busid.as_deref().unwrap_or_default(), &speed, gdr];
        node(out, &format!("nic{i}"), &lines, "#edf2fc", n.limits);
    }
    for (i, g) in scene.gpus.iter().enumerate().filter(|(_, g)| here(g.parent)) {
        let gdr = match g.direct_rdma {
            DirectRdma::No(_) => "no GPUDirect",
            DirectRdma::Partly(_) => "GPUDirect in part",
            DirectRdma::Yes | DirectRdma::Unknown => "",
        };
        let sm = format!("sm {}", g.sm);
        node(out, &format!("gpu{i}"), &[&g.name, &g.busid, &sm, gdr], "#eaf6ec", g.limits);
    }
}

fn tree(out: &mut String, scene: &Scene) {
    for (i, s) in scene.switches.iter().enumerate() {
        edge(out, &parent(s.parent), &format!("sw{i}"), &s.link, &s.link.label(), "");
    }
    for (i, n) in scene.nics.iter().enumerate() {
        edge(out, &parent(n.parent), &format!("nic{i}"), &n.link, &n.link.label(), "");
    }
    for (i, g) in scene.gpus.iter().enumerate() {
        let gpu = format!("gpu{i}");
        edge(out, &parent(g.parent), &gpu, &g.link, &g.link.label(), "");
        if let Some((cpu, link)) = &g.direct {
            edge(out, &format!("cpu{cpu}"), &gpu, link, &link.label(), "");
        }
        if let Some((count, link)) = &g.fabric {
            let label = count.map_or_else(|| link.label(), |n| format!("{n} links · {}", link.rate()));
            edge(out, &gpu, "nvs", link, &label, "");
        }
        for nic in &g.nics {
            let _ = writeln!(out, "  {gpu} -- nic{nic} [style=dotted, color=\"#8a97a4\", constraint=false];");
        }
    }
}

fn joins(out: &mut String, scene: &Scene) {
    for p in &scene.smp {
        let (a, b) = (format!("cpu{}", p.a), format!("cpu{}", p.b));
        edge(out, &a, &b, &p.link, &p.link.label(), ", constraint=false");
    }
    for p in &scene.nvlinks {
        let (a, b) = (format!("gpu{}", p.a), format!("gpu{}", p.b));
        let label = p.count.map_or_else(|| p.link.label(), |n| format!("{n} × NVLink · {}", p.link.rate()));
        edge(out, &a, &b, &p.link, &label, ", constraint=false");
    }
    for (a, b) in &scene.crosslinks {
        let _ = writeln!(out, "  sw{a} -- sw{b} [style=dashed, color=\"#7b8a99\", constraint=false];");
    }
}

fn parent(p: Parent) -> String {
    match p {
        Parent::Cpu(c) => format!("cpu{c}"),
        Parent::Switch(s) => format!("sw{s}"),
    }
}

fn node(out: &mut String, id: &str, lines: &[&str], fill: &str, limits: bool) {
    let lines: Vec<String> = lines.iter().filter(|l| !l.is_empty()).map(|l| (*l).to_owned()).collect();
    let mark =
        if limits { ", color=\"#d6336c\", penwidth=3, xlabel=\"BOTTLENECK\", fontcolor=\"#b3245a\"" } else { "" };
    let _ = writeln!(out, "    {id} [label={}, fillcolor=\"{fill}\"{mark}];", dot::label(&lines));
}

fn edge(out: &mut String, a: &str, b: &str, link: &Link, label: &str, more: &str) {
    let (colour, width) = match link.step() {
        Step::Slow | Step::Local => ("#9aa7b4", 1.0),
        Step::Gen3 => ("#6f9cd3", 1.5),
        Step::Gen4 => ("#3f7fd6", 2.0),
        Step::Gen5 => ("#1c57b8", 3.0),
        Step::Gen6 => ("#0f2f78", 4.0),
        Step::Nvlink => ("#2f9e44", 3.0),
        Step::C2c => ("#7b46c2", 3.0),
        Step::Smp => ("#8f7f62", 2.5),
        Step::Unknown => ("#b08900", 1.5),
    };
    let style = match (link.unknown, link.degraded()) {
        (Some(_), _) => ", style=dotted",
        (None, true) => ", style=dashed, fontcolor=\"#8a4b00\"",
        (None, false) => "",
    };
    let label = dot::label(&[label.to_owned()]);
    let _ = writeln!(out, "  {a} -- {b} [label={label}, color=\"{colour}\", penwidth={width}{style}{more}];");
}
