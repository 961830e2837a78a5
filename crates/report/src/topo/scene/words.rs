//! Words and numbers of a drawing.

use super::{DirectRdma, Scene};

/// Characters of a name that are kept.
const LONGEST: usize = 200;

/// A name from data: one line, and what steers or hides text written as escapes.
pub(super) fn printed(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    linerate_out::terminal(&short).into_owned()
}

/// Three digits at most after rounding, without zeroes at the end.
pub(super) fn number(n: f32) -> String {
    if !n.is_finite() {
        return "?".to_owned();
    }
    if n.abs() >= 9.95 {
        return format!("{n:.0}");
    }
    let text = format!("{n:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// How many, in words.
pub(super) fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

pub(super) fn summary(scene: &Scene) -> String {
    let mut parts = vec![count(scene.gpus.len(), "GPU"), count(scene.nics.len(), "NIC")];
    let (switches, adapters): (Vec<_>, Vec<_>) = scene.switches.iter().partition(|s| !s.adapter);
    if !switches.is_empty() {
        parts.push(if switches.len() == 1 {
            "1 PCIe switch".to_owned()
        } else {
            format!("{} PCIe switches", switches.len())
        });
    }
    if !adapters.is_empty() {
        parts.push(count(adapters.len(), "adapter"));
    }
    parts.push(count(scene.cpus.len(), "NUMA node"));
    let mut hosts: Vec<i64> = scene.cpus.iter().map(|c| c.host).collect();
    hosts.dedup();
    if hosts.len() > 1 {
        parts.push(count(hosts.len(), "host"));
    }
    let without = scene.gpus.iter().filter(|g| matches!(g.direct_rdma, DirectRdma::No(_))).count();
    if without > 0 {
        parts.push(format!("{} without GPUDirect RDMA", count(without, "GPU")));
    }
    if let Some(n) = scene.nccl.as_deref() {
        parts.push(format!("as NCCL {n} sees it"));
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_short() {
        for (n, want) in
            [(48.0, "48"), (3.0, "3"), (22.04, "22"), (0.75, "0.8"), (370.8, "371"), (9.97, "10"), (f32::NAN, "?")]
        {
            assert_eq!(super::number(n), want);
        }
    }

    #[test]
    fn names_keep_to_one_line() {
        assert_eq!(super::printed("a\nb"), "a b");
        let hidden = super::printed("\u{1b}[1m\u{202e}c");
        assert!(!hidden.contains(['\u{1b}', '\u{202e}']), "{hidden}");
        assert_eq!(super::printed(&"x".repeat(999)).len(), super::LONGEST);
    }
}
