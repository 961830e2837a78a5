//! What was audited, in words.

use linerate_formats::counted;
use linerate_node::Node;
use linerate_node::context::Basis;
use linerate_node::pci::Kind;
use linerate_node::rdma::Purpose;
use linerate_snapshot::{Coverage, Lookup, Reading, Snapshot};
use std::collections::BTreeMap;

/// What kind of source a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// Captured by linerate from the running system.
    Live,
    /// Captured by linerate earlier or elsewhere.
    Capture,
    /// A tree of files that something else made.
    Tree,
    /// Texts that tools printed.
    Text,
    /// Nothing.
    Empty,
}

impl SourceKind {
    /// Of this snapshot.
    #[must_use]
    pub fn of(s: &Snapshot) -> Self {
        let has = |path| matches!(s.resolve(path), Lookup::Found(_));
        if !s.manifest.linerate.is_empty() {
            if s.manifest.origin == "live" { SourceKind::Live } else { SourceKind::Capture }
        } else if has("sys") || has("proc") {
            SourceKind::Tree
        } else if s.is_empty() {
            SourceKind::Empty
        } else {
            SourceKind::Text
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            SourceKind::Live => "a running system, captured by linerate",
            SourceKind::Capture => "a capture by linerate",
            SourceKind::Tree => "a tree of files that was not captured by linerate",
            SourceKind::Text => "texts that tools printed",
            SourceKind::Empty => "nothing (the source is empty)",
        }
    }
}

/// The source in one line: kind, time, what is missing in principle, redaction.
pub(crate) fn source(s: &Snapshot) -> String {
    let mut out = SourceKind::of(s).words().to_owned();
    if let Some(time) = captured_at(s) {
        out.push_str(&format!(", {time}"));
    }
    if s.coverage == Coverage::Partial {
        out.push_str("; what is not in it is unknown, not absent");
    }
    if s.manifest.redacted {
        out.push_str("; identifying values are hashed");
    }
    match s.manifest.unread.len() {
        0 => {}
        1 => out.push_str("; 1 path could not be read"),
        n => out.push_str(&format!("; {n} paths could not be read")),
    }
    out
}

/// What went wrong while the source was made, and what of it was left out.
pub(crate) fn problems(s: &Snapshot, node: &Node<'_>) -> Vec<String> {
    let unread = s.manifest.unread.iter().map(|u| format!("/{}: {}", u.path, u.why));
    remarks(s, node).chain(unread).collect()
}

/// What was left out because a limit was reached.
pub(crate) fn cuts<'a>(s: &'a Snapshot, node: &'a Node<'_>) -> impl Iterator<Item = String> + 'a {
    node.cuts.iter().map(|c| c.words(s))
}

/// As [`problems`], without the paths that could not be read, which [`source`] counts.
pub(crate) fn remarks<'a>(s: &'a Snapshot, node: &'a Node<'_>) -> impl Iterator<Item = String> + 'a {
    cuts(s, node).chain(s.problems.iter().chain(&s.manifest.problems).cloned())
}

/// Time of the capture, RFC 3339.
pub(crate) fn captured_at(s: &Snapshot) -> Option<String> {
    (s.manifest.time > 0).then(|| rfc3339(s.manifest.time))
}

/// Unix seconds as RFC 3339 in UTC. Beyond the year 9999, which no clock means, the number itself.
pub(crate) fn rfc3339(time: u64) -> String {
    let moment = i64::try_from(time).ok().and_then(|t| jiff::Timestamp::from_second(t).ok());
    moment.map_or_else(|| format!("{time} s since 1970"), |m| m.to_string())
}

/// Release of the kernel.
pub(crate) fn kernel(node: &Node<'_>) -> String {
    match &node.kernel.release {
        Reading::Known(k, _) => k.to_string(),
        Reading::Absent(_) => "none found".to_owned(),
        Reading::Unreadable(_, why) => why.to_string(),
    }
}

/// Role and why, in one line.
pub(crate) fn role(node: &Node<'_>) -> String {
    let role = &node.context.role;
    let why = role.reasons.iter().map(|(r, _)| r.as_str()).collect::<Vec<_>>().join("; ");
    match (role.value, role.basis) {
        (None, _) => format!("unknown: {why} (set it with --role)"),
        (Some(r), Basis::Seen | Basis::Unknown) => format!("{r}: {why}"),
        (Some(r), Basis::Inferred) => format!("{r} (inferred): {why}"),
        (Some(r), Basis::Told) => format!("{r}: {why}"),
    }
}

/// Devices and texts of which only a part is judged, one line each.
pub(crate) fn not_judged(node: &Node<'_>) -> Vec<String> {
    let count = |kind| node.pci.of_kind(kind).count();
    let efa = node.rdma.known().into_iter().flatten().filter(|d| d.purpose == Purpose::Efa).count();
    let mut out = Vec::new();
    let say = |out: &mut Vec<String>, n: usize, one: &str, what: &str| {
        if n > 0 {
            out.push(format!("{}: {what}", counted(n, one, &format!("{one}s"))));
        }
    };
    let links = "PCIe links, ACS, NUMA, IOMMU and NICs are judged, and XGMI from the text of amd-smi topology; amdgpu, its memory registration and RCCL are not";
    say(&mut out, count(Kind::AmdGpu), "AMD GPU", links);
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for f in node.pci.amd_displays() {
        *shown.entry(short_name(&f.name)).or_default() += 1;
    }
    if !shown.is_empty() {
        let names: Vec<String> = shown.iter().take(4).map(|(name, n)| format!("{n} {name}")).collect();
        let all = counted(shown.values().sum::<usize>(), "AMD display adapter", "AMD display adapters");
        out.push(format!("{all} ({}): listed, not judged", names.join(", ")));
    }
    say(&mut out, count(Kind::Accelerator), "other accelerator", "listed, not judged");
    let bridges = "not NICs: left out of all rules about NICs and ports";
    say(&mut out, count(Kind::NvlinkBridge), "NVLink management function", bridges);
    let perhaps =
        "NIC or NVLink management? Their VPD shows which, but it is not in this source: not judged (capture as root)";
    say(&mut out, count(Kind::PerhapsNvlinkBridge), "ConnectX-7 function", perhaps);
    let efa_words = "PCIe and distances are judged, and whether the plugin is installed; rules about InfiniBand and RoCE ports do not \
                     apply, libfabric's settings are not judged";
    say(&mut out, efa, "EFA device", efa_words);
    let variables = "its requests are judged; `linerate env check FILE` judges NCCL's variables";
    say(&mut out, node.jobs.len(), "batch script", variables);
    out
}

/// The devices that matter, counted and named.
pub(crate) fn devices(node: &Node<'_>) -> String {
    if node.pci.seen.is_none() {
        return "no list of PCI devices in this source".to_owned();
    }
    let mut parts: Vec<String> = Vec::new();
    for (kind, one, many) in [
        (Kind::Gpu, "GPU", "GPUs"),
        (Kind::AmdGpu, "AMD GPU", "AMD GPUs"),
        (Kind::Accelerator, "other accelerator (not judged)", "other accelerators (not judged)"),
        (Kind::NvlinkBridge, "NVLink management function", "NVLink management functions"),
        (Kind::PerhapsNvlinkBridge, "NIC or NVLink management function", "NIC or NVLink management functions"),
        (Kind::RdmaNic, "RDMA NIC function", "RDMA NIC functions"),
        (Kind::DataDirect, "Data Direct function", "Data Direct functions"),
        (Kind::NvSwitch, "NVSwitch", "NVSwitches"),
    ] {
        let (mut names, mut n, mut virtual_ones): (BTreeMap<&str, u32>, u32, u32) = (BTreeMap::new(), 0, 0);
        for (_, f) in node.pci.of_kind(kind) {
            n += 1;
            virtual_ones += u32::from(f.is_vf());
            if !f.name.is_empty() {
                *names.entry(short_name(&f.name)).or_default() += 1;
            }
        }
        if n == 0 {
            continue;
        }
        let mut names: Vec<(&str, u32)> = names.into_iter().collect();
        names.sort_by_key(|(name, n)| (std::cmp::Reverse(*n), *name));
        let mut inside: Vec<String> = match names.as_slice() {
            [(only, all)] if *all == n => vec![(*only).to_owned()],
            many => many.iter().take(4).map(|(name, n)| format!("{n} {name}")).collect(),
        };
        if names.len() > 4 {
            inside.push("…".to_owned());
        }
        if virtual_ones > 0 {
            inside.push(format!("{virtual_ones} virtual"));
        }
        let what = if n == 1 { one } else { many };
        parts.push(if inside.is_empty() {
            format!("{n} {what}")
        } else {
            format!("{n} {what} ({})", inside.join(", "))
        });
    }
    let all = node.pci.functions.len();
    let unnamed = node.pci.functions.iter().filter(|f| f.class.known().is_none()).count();
    if unnamed > 0 {
        parts.push(format!("{unnamed} of a kind that is not shown"));
    } else if parts.is_empty() {
        parts.push("no NVIDIA GPU, no RDMA NIC".to_owned());
    }
    format!("{}; {all} PCI function{} in all", parts.join(", "), if all == 1 { "" } else { "s" })
}

/// The name that people use is in the last brackets: `GH100 [H100 SXM5 80GB]`.
fn short_name(name: &str) -> &str {
    let name = name.rsplit_once("[AMD/ATI] ").map_or(name, |(_, device)| device);
    match (name.rfind('['), name.rfind(']')) {
        (Some(a), Some(b)) if a + 1 < b => name.get(a + 1..b).unwrap_or(name),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (time, want) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(time), want);
        }
    }

    #[test]
    fn names() {
        assert_eq!(short_name("NVIDIA Corporation GH100 [H100 SXM5 80GB]"), "H100 SXM5 80GB");
        assert_eq!(short_name("[]"), "[]");
        assert_eq!(short_name("]["), "][");
    }
}
