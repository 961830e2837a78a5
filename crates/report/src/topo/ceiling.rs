//! Ceilings for a terminal: what could be reached, what limits it, what is behind that, and the arithmetic.

use super::text::heading;
use crate::group::alike;
use crate::style::{Page, Tone};
use linerate_topology::ceiling::{Ceilings, CollectiveCeiling, Derivation, NicCeilings};
use std::io;

pub(super) fn render(page: &mut Page<'_>, c: &Ceilings) -> io::Result<()> {
    page.blank()?;
    heading(page, "CEILING OF A NIC", "payload, one way")?;
    // NICs whose answers differ in names alone share them.
    let names: Vec<&str> = c.nics.iter().map(|n| n.name.as_str()).collect();
    let mut groups: Vec<(Vec<String>, Vec<String>, Vec<&str>)> = Vec::new();
    for nic in &c.nics {
        let said = ways(nic);
        let shape: Vec<String> = said.iter().map(|s| shape(s, &names)).collect();
        match groups.iter_mut().find(|(s, ..)| *s == shape) {
            Some((.., alike)) => alike.push(&nic.name),
            None => groups.push((shape, said, vec![&nic.name])),
        }
    }
    for (_, said, alike) in &groups {
        if let [first, rest @ ..] = alike.as_slice() {
            let more = if rest.is_empty() { String::new() } else { format!("; the same for {}", rest.join(", ")) };
            page.text(2, Tone::Plain, &format!("{first}{more}"))?;
        }
        for sentence in said {
            page.text(4, Tone::Plain, sentence)?;
        }
    }
    if let Some(d) = c.nics.iter().find_map(|n| n.gpu_receive.as_ref().or(n.host_receive.as_ref())) {
        page.text(2, Tone::Dim, "how the first is derived:")?;
        steps(page, d, &names)?;
    }
    for (title, about, list) in [
        ("CEILING OF THE NODE", "bus bandwidth as nccl-tests counts it", &c.intra),
        ("CEILING ACROSS NODES", "bus bandwidth as nccl-tests counts it", &c.inter),
    ] {
        collectives(page, title, about, list, &names)?;
    }
    for note in &c.notes {
        page.text(2, Tone::Dim, note)?;
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
    let said = alike(ways.into_iter().filter_map(|(way, d)| Some((d.as_ref()?.sentence(), way))));
    said.into_iter().map(|(sentence, list)| format!("{}: {sentence}", list.join(", "))).collect()
}

/// A sentence without what tells equal devices apart: bus ids, and names of GPUs and NICs.
fn shape(sentence: &str, nics: &[&str]) -> String {
    let word = |w: &str| {
        let bare = w.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let bus_id = bare.len() >= 12 && bare.matches(':').count() == 2;
        let number = bare.strip_prefix("GPU").or_else(|| bare.strip_prefix("NET"));
        let numbered = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        if bus_id || numbered || nics.contains(&bare) { "#".to_owned() } else { w.to_owned() }
    };
    sentence.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn collectives(
    page: &mut Page<'_>,
    title: &str,
    about: &str,
    list: &[CollectiveCeiling],
    names: &[&str],
) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    page.blank()?;
    heading(page, title, about)?;
    for one in list {
        let text = format!("{} by {}: {}", one.collective, one.algorithm, one.bus.sentence());
        page.text(2, Tone::Plain, &text)?;
    }
    if let Some(one) = list.first() {
        page.text(2, Tone::Dim, &format!("how {} by {} is derived:", one.collective, one.algorithm))?;
        steps(page, &one.bus, names)?;
    }
    Ok(())
}

/// The arithmetic; what is said of one of several equal devices is not said of the others.
fn steps(page: &mut Page<'_>, d: &Derivation, names: &[&str]) -> io::Result<()> {
    let mut shapes: Vec<String> = Vec::new();
    for s in &d.steps {
        let text = s.to_string();
        let shape = shape(&text, names);
        if !shapes.contains(&shape) {
            shapes.push(shape);
            page.text(4, Tone::Dim, &text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn names_do_not_tell_equal_devices_apart() {
        let names = ["mlx5_0", "ibp7"];
        let a =
            shape("mlx5_0: 400 Gb/s port; behind it: PCIe Gen5 x16 link of GPU0 (0000:18:00.0) at 424 Gb/s", &names);
        let b = shape("ibp7: 400 Gb/s port; behind it: PCIe Gen5 x16 link of GPU7 (0000:bc:00.0) at 424 Gb/s", &names);
        assert_eq!(a, b);
        assert_ne!(a, shape("ibp7: 200 Gb/s port", &names));
    }
}
