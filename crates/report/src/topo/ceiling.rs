//! Ceilings for a terminal: what could be reached, what limits it, what is behind that, and the arithmetic.

use super::text::heading;
use crate::style::{Page, Tone};
use linerate_topology::ceiling::{Ceilings, CollectiveCeiling, Derivation, NicCeilings};
use std::io;

pub(super) fn render(page: &mut Page<'_>, c: &Ceilings) -> io::Result<()> {
    page.blank()?;
    heading(page, "CEILING OF A NIC", "payload, one way")?;
    // NICs whose answers differ in names alone share them.
    let mut groups: Vec<(Vec<String>, Vec<String>, Vec<&str>)> = Vec::new();
    for nic in &c.nics {
        let said = ways(nic);
        let shape: Vec<String> = said.iter().map(|s| shape(s)).collect();
        match groups.iter_mut().find(|(s, ..)| *s == shape) {
            Some((.., alike)) => alike.push(&nic.name),
            None => groups.push((shape, said, vec![&nic.name])),
        }
    }
    for (_, said, alike) in &groups {
        if let [first, rest @ ..] = alike.as_slice() {
            let more = if rest.is_empty() { String::new() } else { format!(", and alike: {}", rest.join(", ")) };
            page.item(2, "", Tone::Plain, Tone::Plain, &format!("{first}{more}"))?;
        }
        for sentence in said {
            page.item(4, "", Tone::Plain, Tone::Plain, sentence)?;
        }
    }
    if let Some(d) = c.nics.iter().find_map(|n| n.gpu_receive.as_ref().or(n.host_receive.as_ref())) {
        page.item(2, "", Tone::Plain, Tone::Dim, "how, for the first:")?;
        steps(page, d)?;
    }
    for (title, about, list) in [
        ("CEILING OF THE NODE", "bus bandwidth as nccl-tests counts it", &c.intra),
        ("CEILING ACROSS NODES", "bus bandwidth as nccl-tests counts it", &c.inter),
    ] {
        collectives(page, title, about, list)?;
    }
    for note in &c.notes {
        page.item(2, "", Tone::Plain, Tone::Dim, note)?;
    }
    Ok(())
}

/// One sentence for the ways that have the same answer.
fn ways(nic: &NicCeilings) -> Vec<String> {
    let gpu = nic.gpu.as_deref().unwrap_or("GPU");
    let ways = [
        ("into host memory".to_owned(), &nic.host_receive),
        ("out of host memory".to_owned(), &nic.host_send),
        (format!("into {gpu}"), &nic.gpu_receive),
        (format!("out of {gpu}"), &nic.gpu_send),
    ];
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for (way, d) in ways.into_iter().filter_map(|(w, d)| Some((w, d.as_ref()?))) {
        let sentence = d.sentence();
        match said.iter_mut().find(|(s, _)| *s == sentence) {
            Some((_, list)) => list.push(way),
            None => said.push((sentence, vec![way])),
        }
    }
    said.into_iter().map(|(sentence, list)| format!("{}: {sentence}", list.join(", "))).collect()
}

/// A sentence without what tells equal devices apart: bus ids, and numbers of GPUs and NICs.
fn shape(sentence: &str) -> String {
    let word = |w: &str| {
        let bare = w.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let bus_id = bare.len() >= 12 && bare.matches(':').count() == 2;
        let named = bare.contains('_') || w.starts_with("NET");
        if bus_id || named { "#".to_owned() } else { w.to_owned() }
    };
    let mut out: Vec<String> = Vec::new();
    for w in sentence.split(' ') {
        let numbered = out.last().is_some_and(|before| matches!(before.as_str(), "GPU" | "NIC"));
        out.push(if numbered { "#".to_owned() } else { word(w) });
    }
    out.join(" ")
}

fn collectives(page: &mut Page<'_>, title: &str, about: &str, list: &[CollectiveCeiling]) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    page.blank()?;
    heading(page, title, about)?;
    for one in list {
        let text = format!("{} by {}: {}", one.collective, one.algorithm, one.bus.sentence());
        page.item(2, "", Tone::Plain, Tone::Plain, &text)?;
    }
    if let Some(one) = list.first() {
        page.item(2, "", Tone::Plain, Tone::Dim, &format!("how, for {} by {}:", one.collective, one.algorithm))?;
        steps(page, &one.bus)?;
    }
    Ok(())
}

/// The arithmetic; what is said of one of several equal devices is not said of the others.
fn steps(page: &mut Page<'_>, d: &Derivation) -> io::Result<()> {
    let mut shapes: Vec<String> = Vec::new();
    for s in &d.steps {
        let text = s.to_string();
        let shape = shape(&text);
        if !shapes.contains(&shape) {
            shapes.push(shape);
            page.item(4, "", Tone::Plain, Tone::Dim, &text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn names_do_not_tell_equal_devices_apart() {
        let a = shape("NIC mlx5_0: 400 Gb/s port; behind it: PCIe Gen5 x16 link of GPU 0 (0000:18:00.0) at 424 Gb/s");
        let b = shape("NIC mlx5_7: 400 Gb/s port; behind it: PCIe Gen5 x16 link of GPU 7 (0000:bc:00.0) at 424 Gb/s");
        assert_eq!(a, b);
        assert_ne!(a, shape("NIC mlx5_7: 200 Gb/s port"));
    }
}
