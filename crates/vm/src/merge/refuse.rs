//! Why a domain is not changed.

use crate::Refusal;
use linerate_formats::ParseError;
use linerate_formats::libvirt::Illegal;
use linerate_formats::pci::Bdf;
use linerate_formats::ranges::ranges;

/// A device that the domain has elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {host} is at {from}, the layout has it at {to}")]
pub struct Given {
    /// Its line.
    pub line: u32,
    /// The host's function.
    pub host: Bdf,
    /// Its address in the domain.
    pub from: String,
    /// Where the layout has it.
    pub to: String,
}

/// A domain that is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no layout.
    #[error(transparent)]
    Layout(#[from] Refusal),
    /// Not a domain, or more than a domain.
    #[error("{0}: give the file that `virsh dumpxml --inactive DOMAIN` writes, without text around it")]
    Text(#[from] ParseError),
    /// Not UTF-8.
    #[error("the domain is not UTF-8: convert it first (iconv)")]
    Encoding,
    /// XML of a running domain.
    #[error(
        "this is the XML of a running domain, with addresses that libvirt chose: take `virsh dumpxml --inactive DOMAIN`"
    )]
    Running,
    /// A text without its secrets.
    #[error("line {0}: the text is masked ([redacted]): merge into the domain itself, not into a copy of a snapshot")]
    Masked(u32),
    /// Another machine type.
    #[error(
        "line {line}: machine type {machine} has no PCI Express: write machine='q35' in <type>. A guest that is installed on i440fx may need new drivers or a new installation"
    )]
    Machine {
        /// Its line.
        line: u32,
        /// The type; `(none)` is i440fx.
        machine: String,
    },
    /// Another processor.
    #[error("the domain is for {0}: layouts are for x86_64")]
    Arch(String),
    /// libvirt refuses the domain as it is.
    #[error("libvirt refuses the domain as it is: {}", lines(.0))]
    Illegal(Vec<Illegal>),
    /// A device twice.
    #[error("{host} is given twice, in lines {}: remove one", ranges(.lines.iter().copied()))]
    Twice {
        /// Which.
        host: Bdf,
        /// Lines.
        lines: Vec<u32>,
    },
    /// Devices that the domain has elsewhere.
    #[error("the domain has devices of the layout at other addresses: {}; --replace moves them (only the address changes)", lines(.0))]
    Given(Vec<Given>),
    /// A device below a controller that linerate made before.
    #[error(
        "line {line}: a device is plugged into controller {index}, which linerate owns and replaces: remove its <address>, libvirt chooses another"
    )]
    Plugged {
        /// Its line.
        line: u32,
        /// The controller.
        index: u32,
    },
    /// An expander bus whose number libvirt chooses.
    #[error("line {0}: an expander bus without busNr: write <target busNr='…'/>, so that numbers do not overlap")]
    NoBusNumber(u32),
    /// The domain's own NUMA nodes, and none is of a host's node.
    #[error("line {line}: no NUMA cell of the domain has its memory on node {} of the host (<memnode> in <numatune>), and an expander bus needs one; add <memnode>, or let --replace write the cells", ranges(.nodes.iter().copied()))]
    NoCell {
        /// Line of the cells.
        line: u32,
        /// Nodes of the host.
        nodes: Vec<u32>,
    },
    /// The guest does not know that it runs under KVM.
    #[error("--clique: <kvm><hidden state='on'/> keeps NVIDIA's driver from looking for cliques: remove it")]
    Hidden,
    /// A device without a name for its properties.
    #[error("line {line}: --clique: {host} has no alias of its own: add <alias name='ua-…'/>")]
    NoAlias {
        /// Its line.
        line: u32,
        /// The host's function.
        host: Bdf,
    },
    /// The prefix `qemu` is something else.
    #[error("the prefix `qemu` is declared for another namespace: rename it")]
    Prefix,
    /// What was made is not right: a mistake in this program.
    #[error("the merged domain is not what it should be ({0}): please report this; the domain was not changed")]
    Mistake(String),
}

/// Lines that are shown of many.
const SHOWN: usize = 16;

fn lines<T: ToString>(all: &[T]) -> String {
    let shown: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    match all.len() - shown.len() {
        0 => shown.join("; "),
        more => format!("{}; {more} more", shown.join("; ")),
    }
}
