//! The JSON of both tools. It is read by the YAML reader, which keeps the lines.

use super::{Cell, Device, Smi, What, address};
use crate::yaml::{ITEM, Tree, documents};

/// `rocm-smi … --json`: an object for each card, and `system`.
pub(super) fn is_rocm(text: &str) -> bool {
    let is_card = text.split("\"card").skip(1).take(4).any(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest.get(digits..).is_some_and(|r| r.starts_with('"'))
    });
    const OWN: [&str; 9] = [
        "\"PCI Bus\"",
        "\"Unique ID\"",
        "\"Device ID\"",
        "\"GPU ID\"",
        "\"VBIOS version\"",
        "\"Card series\"",
        "\"Card Series\"",
        "\"PCIe Replay Count\"",
        "\"Serial Number\"",
    ];
    text.contains("\"(Topology) ") || is_card && OWN.iter().any(|key| text.contains(key))
}

/// `amd-smi … --json`: an object for each GPU.
pub(super) fn is_amd(text: &str) -> bool {
    const OWN: [&str; 10] = [
        "\"link_type\"",
        "\"link_accessibility\"",
        "\"num_hops\"",
        "\"kfd_id\"",
        "\"max_pcie_width\"",
        "\"pcie_interface_version\"",
        "\"replay_count\"",
        "\"link_metrics\"",
        "\"market_name\"",
        "\"link_status\"",
    ];
    text.contains("\"gpu\"") && OWN.iter().any(|key| text.contains(key))
}

/// Reads a text that is JSON, with lines of a shell around it; false where it is not JSON.
pub(super) fn read(text: &str, out: &mut Smi) -> bool {
    let Some((from, to)) = document(text) else { return false };
    let (head, whole) = (text.get(..from).unwrap_or_default(), text.get(from..to).unwrap_or_default());
    let lines_above = memchr::memchr_iter(b'\n', head.as_bytes()).count();
    let lines_above = u32::try_from(lines_above).unwrap_or(u32::MAX);
    let before = (out.gpus.len(), out.cells.len());
    for tree in documents(whole, &mut out.left_out) {
        let mut todo = vec![&tree];
        while let Some(node) = todo.pop() {
            if node.child("gpu").is_some_and(|g| g.value.parse::<u32>().is_ok()) {
                amd(node, lines_above, out);
            } else if let Some(number) = card(&node.key) {
                rocm(number, node, lines_above, out);
            } else if node.key == "system" {
                system(node, lines_above, out);
            } else {
                todo.extend(node.children.iter().rev());
            }
        }
    }
    out.gpus.len() > before.0 || out.cells.len() > before.1 || out.driver.is_some()
}

/// Where the document in a text begins and ends. A prompt and warnings may stand before it, a prompt behind it.
fn document(text: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    for line in text.split_inclusive('\n').take(64) {
        let trimmed = line.trim();
        if trimmed.starts_with('{') || trimmed == "[" || trimmed.starts_with('[') && trimmed.contains("{\"") {
            return Some((at, text.rfind(['}', ']']).map_or(text.len(), |end| end + 1)));
        }
        at += line.len();
    }
    None
}

fn card(key: &str) -> Option<u32> {
    let number = key.strip_prefix("card")?;
    number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok()).flatten()
}

fn rocm(number: u32, node: &Tree, above: u32, out: &mut Smi) {
    let line = node.line.saturating_add(above);
    for value in node.children.iter().filter(|c| c.children.is_empty()) {
        let line = value.line.saturating_add(above);
        if let Some(gpu) = out.gpu(number, line) {
            gpu.set("", value.key.trim_end_matches(':'), &value.value, line);
        }
    }
    out.gpu(number, line);
}

/// `(Topology) Link type between DRM devices 0 and 1`.
fn system(node: &Tree, above: u32, out: &mut Smi) {
    for value in &node.children {
        let line = value.line.saturating_add(above);
        if value.key == "Driver version" {
            out.is_driver(&value.value, line);
        }
        let Some((title, devices)) =
            value.key.strip_prefix("(Topology) ").and_then(|k| k.split_once(" between DRM devices "))
        else {
            continue;
        };
        let what = match title {
            "Weight" => What::Weight,
            "Hops" => What::Hops,
            "Link type" => What::LinkType,
            "Link accessibility" => What::Access,
            _ => continue,
        };
        let numbers = devices.split_once(" and ").and_then(|(a, b)| Some((a.parse().ok()?, b.trim().parse().ok()?)));
        if let Some((a, b)) = numbers {
            cell(what, Device::Number(a), Device::Number(b), &value.value, line, out);
        }
    }
}

fn amd(node: &Tree, above: u32, out: &mut Smi) {
    let line = node.line.saturating_add(above);
    let Some(number) = node.child("gpu").and_then(|g| g.value.parse().ok()) else { return };
    out.gpu(number, line);
    let own = node.child("bdf").and_then(|b| address(&b.value)).map_or(Device::Number(number), Device::At);
    for child in &node.children {
        let line = child.line.saturating_add(above);
        match child.key.as_str() {
            "links" => child.children.iter().filter(|c| c.key == ITEM).for_each(|c| link(own, c, above, out)),
            // Before ROCm 6.2: a table for each word, GPUs by their numbers.
            "link_accessibility" | "weight" | "hops" | "link_type" => old(number, child, above, out),
            "driver" => {
                let version = ["version", "driver_version"].iter().find_map(|k| child.child(k));
                if let Some(v) = version {
                    out.is_driver(&v.value, v.line.saturating_add(above));
                }
            }
            key if child.children.is_empty() => {
                if let Some(gpu) = out.gpu(number, line) {
                    gpu.set("", &key.to_ascii_uppercase(), &child.value, line);
                }
            }
            section => {
                let section = section.to_ascii_uppercase();
                for value in &child.children {
                    let line = value.line.saturating_add(above);
                    if let Some(gpu) = out.gpu(number, line) {
                        gpu.set(&section, &value.key.to_ascii_uppercase(), &said(value), line);
                    }
                }
            }
        }
    }
}

/// A value, with its unit where it has one.
fn said(node: &Tree) -> String {
    match (node.child("value"), node.child("unit")) {
        (Some(value), Some(unit)) => format!("{} {}", value.value, unit.value),
        _ => node.value.clone(),
    }
}

fn link(own: Device, to: &Tree, above: u32, out: &mut Smi) {
    let bdf = to.child("bdf").and_then(|b| address(&b.value)).map(Device::At);
    let number = || to.child("gpu").and_then(|g| g.value.parse().ok()).map(Device::Number);
    let Some(other) = bdf.or_else(number) else { return };
    for value in &to.children {
        let what = match value.key.as_str() {
            "weight" => What::Weight,
            "link_status" => What::Access,
            "link_type" => What::LinkType,
            "num_hops" => What::Hops,
            "bandwidth" => What::Bandwidth,
            "coherent" => What::Coherent,
            "atomics" => What::Atomics,
            "dma" => What::Dma,
            "bi_dir" => What::BiDirectional,
            _ => continue,
        };
        cell(what, own, other, &value.value, value.line.saturating_add(above), out);
    }
}

fn old(number: u32, table: &Tree, above: u32, out: &mut Smi) {
    let what = match table.key.as_str() {
        "link_accessibility" => What::Access,
        "weight" => What::Weight,
        "hops" => What::Hops,
        _ => What::LinkType,
    };
    for value in &table.children {
        if let Some(to) = value.key.strip_prefix("gpu_").and_then(|n| n.parse().ok()) {
            let line = value.line.saturating_add(above);
            cell(what, Device::Number(number), Device::Number(to), &value.value, line, out);
        }
    }
}

fn cell(what: What, from: Device, to: Device, value: &str, line: u32, out: &mut Smi) {
    out.cell(Cell { what, from, to, value: value.to_owned(), line });
}
