//! The tree that a person reads: sockets, switches, GPUs, NICs, with their links.

use super::names::name;
use super::{LinkState, PcieLink, Topo};
use linerate_out::terminal;
use linerate_topology::system::Net;
use linerate_topology::xml::Element;

/// A line of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Branches before the name: `│  ├─ `.
    pub(super) branches: String,
    /// What it is.
    pub(super) name: String,
    /// More about it.
    pub(super) about: String,
    /// Whether its link runs below what it can.
    pub(super) degraded: bool,
}

impl Line {
    /// Before what goes on below this line: the branches that go on there.
    pub(super) fn rest(&self) -> String {
        format!("{}  ", self.branches.replace("├─ ", "│  ").replace("└─ ", "   "))
    }
}

/// Lines of the whole tree. Bounded: what is deeper than 32 levels is left out.
#[must_use]
pub(super) fn lines(topo: &Topo<'_>) -> Vec<Line> {
    let mut out = Vec::new();
    let mut gpus = 0;
    for cpu in topo.document.system.children.iter() {
        out.push(Line { branches: String::new(), name: cpu_name(cpu), about: cpu_about(cpu), degraded: false });
        children(topo, cpu, "", 0, &mut gpus, &mut out);
    }
    out
}

const MAX_DEPTH: usize = 32;

fn children(topo: &Topo<'_>, of: &Element, indent: &str, depth: usize, gpus: &mut usize, out: &mut Vec<Line>) {
    if depth > MAX_DEPTH {
        return;
    }
    let shown: Vec<&Element> =
        of.children.iter().filter(|c| matches!(c.name.as_ref(), "pci" | "nic" | "net")).collect();
    for (i, e) in shown.iter().enumerate() {
        let last = i + 1 == shown.len();
        let branches = format!("{indent}{}", if last { "└─ " } else { "├─ " });
        let below = format!("{indent}{}", if last { "   " } else { "│  " });
        match e.name.as_ref() {
            // An adapter is shown by its function and its ports.
            "nic" => {
                children(topo, e, indent, depth + 1, gpus, out);
                continue;
            }
            "net" => out.push(Line { branches, name: net_name(e), about: net_about(e), degraded: false }),
            _ => out.push(function(topo, e, branches, gpus)),
        }
        if !is_end(e) {
            children(topo, e, &below, depth + 1, gpus, out);
        }
    }
}

/// A function whose line says what is below it: a GPU, or a NIC with one port.
fn is_end(e: &Element) -> bool {
    is_gpu(e) || ports(e).len() == 1
}

fn is_gpu(e: &Element) -> bool {
    e.named("gpu").next().is_some() || e.get("class").is_some_and(|c| c.starts_with("0x03"))
}

fn ports(e: &Element) -> Vec<&Element> {
    e.named("nic").flat_map(|n| n.named("net")).collect()
}

fn function(topo: &Topo<'_>, e: &Element, branches: String, gpus: &mut usize) -> Line {
    let bus = e.get("busid").unwrap_or("?");
    let link = (topo.links)(bus);
    let mut about = link.map_or_else(|| document_link(e), LinkState::words);
    let degraded = link.is_some_and(LinkState::degraded);
    let name = if is_gpu(e) {
        let gpu = e.named("gpu").next();
        let dev = gpu.and_then(|g| g.get("dev")).and_then(|d| d.parse().ok()).unwrap_or(*gpus);
        *gpus += 1;
        if let Some(sm) = gpu.and_then(|g| g.get("sm")) {
            about = join(&about, &format!("sm {}", terminal(sm)));
        }
        for words in gpu.into_iter().flat_map(interconnect) {
            about = join(&about, &words);
        }
        format!("GPU{dev} {bus}")
    } else if let [net] = ports(e).as_slice() {
        about = join(&net_about(net), &about);
        format!("{} {bus}", net_name(net))
    } else {
        let what = match e.get("class").unwrap_or_default() {
            c if c.starts_with("0x0604") => "PCIe switch",
            c if c.starts_with("0x0680") => "NVSwitch",
            c if c.starts_with("0x02") => "NIC",
            c if c.starts_with("0x01") => "storage",
            "" => "PCI function",
            _ => "PCI function",
        };
        match names_at(topo, bus) {
            nets if what == "NIC" => {
                about = join(&(topo.models)(bus).unwrap_or_default(), &about);
                format!("{} {bus}", if nets.is_empty() { what } else { &nets })
            }
            _ => format!("{what} {bus}"),
        }
    };
    Line { branches, name: terminal(&name).into_owned(), about, degraded }
}

/// Names that NCCL's NICs at a bus id have in the rest of the report, where the document has none there.
fn names_at(topo: &Topo<'_>, bus: &str) -> String {
    let system = &topo.analysis.system;
    let here = |n: &Net| n.busid.as_deref().is_some_and(|b| b.eq_ignore_ascii_case(bus));
    system.nets().filter(|(_, n)| here(n)).map(|(id, _)| name(system, id)).collect::<Vec<_>>().join(", ")
}

/// NVLink and C2C of a GPU.
fn interconnect(gpu: &Element) -> Vec<String> {
    let mut links = 0_u64;
    for l in gpu.named("nvlink") {
        links += l.get("count").and_then(|c| c.parse::<u64>().ok()).unwrap_or(0);
    }
    let nvlink = (links > 0).then(|| format!("{links} NVLinks"));
    let c2c = gpu.named("c2c").next().map(|_| "C2C to the CPU".to_owned());
    nvlink.into_iter().chain(c2c).collect()
}

/// As the document has it, which does not say what would be possible. What is no speed is shown as it is.
fn document_link(e: &Element) -> String {
    let speed = e.get("link_speed").filter(|s| !s.is_empty()).map(|s| match PcieLink::parse(Some(s), None).label() {
        unknown if unknown.is_empty() => terminal(s).into_owned(),
        generation => generation,
    });
    let width = e.get("link_width").map(|w| format!("x{}", terminal(w)));
    speed.into_iter().chain(width).collect::<Vec<_>>().join(" ")
}

fn net_name(net: &Element) -> String {
    let name = net.get("name").map(|n| terminal(n).into_owned());
    name.unwrap_or_else(|| format!("NET{}", terminal(net.get("dev").unwrap_or("?"))))
}

fn net_about(net: &Element) -> String {
    let speed = net.get("speed").and_then(|s| s.parse::<f64>().ok()).filter(|s| *s > 0.0);
    let mut about = speed.map_or_else(|| "speed unknown".to_owned(), |s| format!("{} Gb/s", s / 1000.0));
    if net.get("gdr") == Some("0") {
        about.push_str(", no GPUDirect RDMA");
    }
    about
}

fn cpu_name(cpu: &Element) -> String {
    match cpu.get("numaid") {
        Some(numa) => format!("NUMA {}", terminal(numa)),
        None => terminal(&cpu.name).into_owned(),
    }
}

fn cpu_about(cpu: &Element) -> String {
    let get = |k| cpu.get(k).filter(|v| !v.is_empty()).map(terminal);
    let vendor = get("vendor").map(|v| match v.as_ref() {
        "GenuineIntel" => "Intel".into(),
        "AuthenticAMD" => "AMD".into(),
        _ => v,
    });
    let mut about = [vendor, get("arch")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    if let (Some(f), Some(m)) = (get("familyid"), get("modelid")) {
        about = join(&about, &format!("family {f} model {m}"));
    }
    about
}

fn join(a: &str, b: &str) -> String {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.to_owned(),
        (_, true) => a.to_owned(),
        _ => format!("{a}, {b}"),
    }
}
