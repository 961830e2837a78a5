//! A layout for something else than libvirt: each form says what it can, and lists what it cannot.

mod kubevirt;
mod nova;
mod qemu;

pub use qemu::arguments;

use crate::Layout;
use linerate_formats::counted;
use linerate_formats::pci::Bdf;
use linerate_node::{Node, Reading};
use std::collections::BTreeMap;
use std::fmt;

/// A form of a layout. libvirt's is [`crate::write::domain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A script that starts QEMU.
    Qemu,
    /// A VirtualMachine of KubeVirt, with a hook for what its specification cannot say.
    Kubevirt,
    /// Commands for OpenStack: a flavor, properties of an image, and lines of nova.conf.
    Nova,
}

/// A text, and what is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text. What it does not say is in its comments, too.
    pub text: String,
    /// What it does not say.
    pub unsaid: Vec<Unsaid>,
}

/// A part of a layout that a form cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaid {
    /// What, and what to do instead.
    pub what: String,
    /// NCCL concludes otherwise without it.
    pub changes_nccl: bool,
}

impl Written {
    /// Whether NCCL may conclude otherwise than on the host.
    #[must_use]
    pub fn changes_nccl(&self) -> bool {
        self.unsaid.iter().any(|u| u.changes_nccl)
    }
}

/// Writes a layout of a node.
///
/// # Errors
/// Never: a string takes all.
pub fn write(node: &Node<'_>, layout: &Layout, format: Format) -> Result<Written, fmt::Error> {
    match format {
        Format::Qemu => qemu::script(layout),
        Format::Kubevirt => kubevirt::manifest(node, layout),
        Format::Nova => nova::commands(node, layout),
    }
}

fn unsaid(what: impl Into<String>) -> Unsaid {
    Unsaid { what: what.into(), changes_nccl: false }
}

fn unsaid_to_nccl(what: impl Into<String>) -> Unsaid {
    Unsaid { what: what.into(), changes_nccl: true }
}

/// What is not said, as comments.
fn comments(o: &mut impl fmt::Write, form: &str, all: &[Unsaid]) -> fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(o, "# Not said here, because {form} cannot say it:")?;
    all.iter().try_for_each(|u| writeln!(o, "# - {}", comment(&u.what)))
}

/// Text that stays in its comment.
fn comment(text: &str) -> String {
    linerate_out::terminal(text).replace(['\n', '\r'], " ")
}

/// CPUs and memory of a guest, MiB.
fn sums(layout: &Layout) -> (u32, u64) {
    let cpus = layout.cells.iter().map(|c| c.cpus.1 - c.cpus.0 + 1).sum();
    (cpus, layout.cells.iter().map(|c| c.memory_mib).sum())
}

/// Devices of one model: vendor and device id.
struct Model {
    vendor: u16,
    device: u16,
    is_gpu: bool,
    /// Nova's word: `type-PF` where it can have virtual functions; `None`: the snapshot does not show it.
    kind: Option<&'static str>,
    devices: Vec<Bdf>,
}

/// Devices by vendor and device id, as cluster software knows them, in the order of ids.
fn models(node: &Node<'_>, layout: &Layout) -> Vec<Model> {
    let mut out: BTreeMap<(u16, u16), Model> = BTreeMap::new();
    for d in &layout.devices {
        let Some(f) = node.pci.find(d.host).map(|id| node.pci.get(id)) else { continue };
        let ids = (f.vendor.known().copied().unwrap_or(0), f.device.known().copied().unwrap_or(0));
        let is_gpu = f.kind.is_gpu();
        let kind = match &f.sriov {
            _ if f.is_vf() => Some("type-VF"),
            Reading::Known(..) => Some("type-PF"),
            Reading::Absent(_) => Some("type-PCI"),
            Reading::Unreadable(..) => None,
        };
        let new = || Model { vendor: ids.0, device: ids.1, is_gpu, kind, devices: Vec::new() };
        let model = out.entry(ids).or_insert_with(new);
        model.devices.push(d.host);
    }
    out.into_values().collect()
}

/// What neither KubeVirt nor Nova can say of the PCI tree.
fn tree_unsaid(layout: &Layout, instead: &str) -> Vec<Unsaid> {
    use linerate_formats::libvirt::Model as Controller;
    let count = |model| layout.controllers.iter().filter(|c| c.model == model).count();
    let mut out = Vec::new();
    let (expanders, switches) = (count(Controller::PcieExpander), count(Controller::UpstreamPort));
    if expanders > 0 {
        out.push(unsaid_to_nccl(format!(
            "{}, by which devices are on NUMA nodes of the guest; {instead}",
            counted(expanders, "expander bus", "expander buses")
        )));
    }
    if switches > 0 {
        out.push(unsaid_to_nccl(format!(
            "{}, by which a GPU and a NIC are near each other (PIX, PXB); {instead}",
            counted(switches, "switch", "switches")
        )));
    }
    out.push(unsaid_to_nccl(
        "which devices by address: one of each model is handed out, and a guest may get a GPU and a NIC that are far apart",
    ));
    out.push(unsaid(format!(
        "the window of {} GiB for BARs: without it the guest's firmware sizes it by the processor's addresses",
        layout.window.size >> 30
    )));
    out
}
