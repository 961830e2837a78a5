//! What several rules on links need: the ends whose links are judged, what a link could be, the links above.

use crate::{Cx, DependsOn, Finding, Findings, Subject};
use linerate_formats::pci::Bdf;
use linerate_formats::pci::caps::{Beside, Express, PortType};
use linerate_formats::units::GBps;
use linerate_node::amd::AmdGpu;
use linerate_node::pci::{FnId, Kind, Link, PciFunction, PciTree};
use linerate_snapshot::Reading;
use std::fmt::Display;

/// Judges each of [`ends`]; answers for the node where there is none.
pub(super) fn judge_ends(
    cx: &Cx<'_>,
    out: &mut Findings,
    judge: impl for<'o> Fn(&Cx<'_>, FnId, &PciFunction<'_>, &'o mut Findings) -> &'o mut Finding,
) {
    for (id, f) in some_ends(cx, out).unwrap_or_default() {
        judge(cx, id, f, out);
    }
}

/// Devices of which a text shows the link and not what they are: `lspci -s 3b:00.0 -vv | grep LnkSta`.
fn unnamed<'a>(cx: &Cx<'a>) -> Vec<&'a PciFunction<'a>> {
    let is_unnamed =
        |f: &PciFunction<'_>| f.kind == Kind::Unknown && f.class.known().is_none() && f.vendor.known().is_none();
    let has_link = |f: &PciFunction<'_>| f.link.speed.known().is_some() || f.link.width.known().is_some();
    cx.node.pci.iter().map(|(_, f)| f).filter(|f| is_unnamed(f) && has_link(f)).collect()
}

/// Whether `lspci` says of a value that it is less than the device's own maximum, which the text may not show.
pub(super) fn is_less(f: &PciFunction<'_>, is: fn(&Express) -> Option<Beside>) -> bool {
    f.express.known().and_then(is) == Some(Beside::Less)
}

/// What a rule looks at in the link of a device that only its address names.
pub(super) struct Unnamed<T> {
    /// The value in use.
    pub(super) now: fn(&Link) -> &Reading<T>,
    /// Most that the device can.
    pub(super) max: fn(&Link) -> &Reading<T>,
    /// What `lspci` says of the first beside the second.
    pub(super) is: fn(&Express) -> Option<Beside>,
    /// The second, in words.
    pub(super) what: &'static str,
    /// What the device may be, so that less is right.
    pub(super) open: &'static str,
}

impl<T: PartialOrd + Display> Unnamed<T> {
    /// Judges each such device. Whether less is a fault depends on what the device is.
    pub(super) fn judge(&self, cx: &Cx<'_>, out: &mut Findings) {
        let Unnamed { what, open, .. } = self;
        for f in unnamed(cx) {
            let (now, max) = ((self.now)(&f.link), (self.max)(&f.link));
            let Some(value) = now.known() else { continue };
            let found = match max.known() {
                Some(most) if value >= most => {
                    out.pass(f.bdf, format_args!("{value} of {most}")).at(now.place()).at(max.place());
                    continue;
                }
                Some(most) => {
                    out.unknown(f.bdf, format_args!("{value} of {most}; {open}")).at(now.place()).at(max.place())
                }
                None if is_less(f, self.is) => {
                    out.unknown(f.bdf, format_args!("{value}, downgraded as lspci says; {open}")).at(now.place())
                }
                None => {
                    out.unreadable(f.bdf, what, max);
                    continue;
                }
            };
            found.see(format!("lspci -nn -vvv -s {} as root", f.bdf)).depends_on(DependsOn::Device);
        }
    }
}

/// [`judge_ends`], where something was answered before: a node without such ends needs no further answer then.
pub(super) fn judge_other_ends(
    cx: &Cx<'_>,
    out: &mut Findings,
    judge: impl for<'o> Fn(&Cx<'_>, FnId, &PciFunction<'_>, &'o mut Findings) -> &'o mut Finding,
) {
    if out.is_empty() || !ends(cx).is_empty() {
        judge_ends(cx, out, judge);
    }
}
/// [`ends`]; `None` where a node has none, and then the rule does not apply.
pub(super) fn some_ends<'a>(cx: &Cx<'a>, out: &mut Findings) -> Option<Vec<(FnId, &'a PciFunction<'a>)>> {
    let ends = ends(cx);
    (!cx.no_subjects(!ends.is_empty(), "GPU or RDMA NIC", out)).then_some(ends)
}

/// GPUs, RDMA NICs and Data Direct functions with a physical link of their own: no virtual functions, of each device the first function that
/// is there.
/// A device that does not answer is `pcie/device-gone`'s business.
pub(crate) fn ends<'a>(cx: &Cx<'a>) -> Vec<(FnId, &'a PciFunction<'a>)> {
    let mut out: Vec<(FnId, &PciFunction<'_>)> = Vec::new();
    for (id, f) in cx.node.pci.iter() {
        let wanted =
            (f.kind.is_gpu() || matches!(f.kind, Kind::RdmaNic | Kind::DataDirect)) && !f.is_vf() && f.silent.is_none();
        if wanted && !out.last().is_some_and(|(_, l)| same_device(l, f)) {
            out.push((id, f));
        }
    }
    out
}

/// A GPU of AMD as the subject of a verdict: by its address where that is known.
pub(crate) fn subject(g: &AmdGpu) -> Subject {
    g.bdf.map_or_else(|| Subject::Named(format!("GPU {}", g.number)), Subject::Pci)
}

/// Functions of one device share its link.
pub(crate) fn same_device(a: &PciFunction<'_>, b: &PciFunction<'_>) -> bool {
    same_slot(a.bdf, b.bdf)
}

/// Addresses of one device's functions.
pub(crate) fn same_slot(a: Bdf, b: Bdf) -> bool {
    (a.domain, a.bus, a.device) == (b.domain, b.bus, b.device)
}

/// Bandwidth now.
pub(crate) fn now(f: &PciFunction<'_>) -> Option<GBps> {
    Some(f.link.speed.known()?.bandwidth(*f.link.width.known()?))
}

/// Bandwidth that both ends of the link can.
pub(crate) fn possible(tree: &PciTree<'_>, id: FnId) -> Option<GBps> {
    Some(tree.possible_speed(id)?.bandwidth(tree.possible_width(id)?))
}

/// `x16 at 32 GT/s`, as far as seen.
pub(crate) fn words(f: &PciFunction<'_>) -> String {
    match (f.link.width.known(), f.link.speed.known()) {
        (Some(w), Some(s)) => format!("{w} at {s}"),
        (Some(w), None) => format!("{w}"),
        (None, Some(s)) => format!("{s}"),
        (None, None) => "unknown".to_owned(),
    }
}

/// A link between switches, or of a switch to the root port, with the ends below it.
pub(crate) struct Uplink {
    /// Lower side: an upstream port.
    pub(crate) port: FnId,
    /// GPUs and NICs below.
    pub(crate) below: Vec<FnId>,
}

/// Links above switches on the way of these ends to the root complex, each once.
pub(crate) fn uplinks(cx: &Cx<'_>, ends: &[(FnId, &PciFunction<'_>)]) -> Vec<Uplink> {
    let tree = &cx.node.pci;
    let mut out: Vec<Uplink> = Vec::new();
    for (end, _) in ends {
        for (at, port) in tree.way_up(*end).bridges.into_iter().enumerate() {
            // Without configuration space the position tells: port, switch's upstream port, port, …
            let up = tree.get(port).port_type().map_or(at % 2 == 1, |t| t == PortType::UpstreamPort);
            if up {
                match out.iter_mut().find(|u| u.port == port) {
                    Some(u) => u.below.push(*end),
                    None => out.push(Uplink { port, below: vec![*end] }),
                }
            }
        }
    }
    out.sort_by_key(|u| u.port);
    out
}

/// `GPU 0000:19:00.0, NIC 0000:1a:00.0 and 2 more`.
pub(crate) fn list(tree: &PciTree<'_>, ids: &[FnId]) -> String {
    let mut text = String::new();
    for (n, id) in ids.iter().take(3).enumerate() {
        let f = tree.get(*id);
        let what = if f.kind.is_gpu() { "GPU" } else { "NIC" };
        text.push_str(&format!("{}{what} {}", if n == 0 { "" } else { ", " }, f.bdf));
    }
    if ids.len() > 3 {
        text.push_str(&format!(" and {} more", ids.len() - 3));
    }
    text
}

/// The ends and every bridge above them, each once, by address.
pub(crate) fn with_bridges(cx: &Cx<'_>, ends: &[(FnId, &PciFunction<'_>)]) -> Vec<FnId> {
    let mut out: Vec<FnId> = ends.iter().map(|(id, _)| *id).collect();
    for (id, _) in ends {
        out.extend(cx.node.pci.ancestors(*id).0);
    }
    out.sort_unstable();
    out.dedup();
    out
}
