//! What a rule is.

use crate::finding::Findings;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::pci::{Kind, PciFunction};
use linerate_snapshot::{Coverage, OutputKind, Place, Reading, Snapshot};
pub use linerate_verdict::{Quality, Severity};
use serde::Serialize;
use std::fmt;

/// Roles in which a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles(u8);

impl Roles {
    /// The system runs on the hardware and uses GPUs and NICs itself.
    pub const BARE_METAL: Roles = Roles(1);
    /// The system passes GPUs or NICs to virtual machines.
    pub const VM_HOST: Roles = Roles(2);
    /// The system is a virtual machine.
    pub const VM_GUEST: Roles = Roles(4);
    /// Everywhere.
    pub const ALL: Roles = Roles(7);

    /// Both.
    #[must_use]
    pub const fn or(self, other: Roles) -> Roles {
        Roles(self.0 | other.0)
    }

    /// Whether the role is among them.
    #[must_use]
    pub fn contains(self, role: Role) -> bool {
        let bit = match role {
            Role::BareMetal => Self::BARE_METAL,
            Role::VmHost => Self::VM_HOST,
            Role::VmGuest => Self::VM_GUEST,
        };
        self.0 & bit.0 != 0
    }

    /// In words.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [(Self::BARE_METAL, "bare metal"), (Self::VM_HOST, "VM host"), (Self::VM_GUEST, "VM guest")]
            .into_iter()
            .filter(move |(r, _)| self.0 & r.0 != 0)
            .map(|(_, n)| n)
    }
}

/// What a failure costs.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Effect {
    /// One sentence, with the number if there is one.
    pub text: &'static str,
    /// How sure.
    pub quality: Quality,
}

impl Effect {
    /// Its number follows from arithmetic on the link's own numbers.
    #[must_use]
    pub const fn derived(text: &'static str) -> Self {
        Effect { text, quality: Quality::Derived }
    }

    /// A primary source states it.
    #[must_use]
    pub const fn sourced(text: &'static str) -> Self {
        Effect { text, quality: Quality::Sourced }
    }

    /// Measured by this project.
    #[must_use]
    pub const fn measured(text: &'static str) -> Self {
        Effect { text, quality: Quality::Measured }
    }

    /// From experience.
    #[must_use]
    pub const fn estimate(text: &'static str) -> Self {
        Effect { text, quality: Quality::Estimate }
    }

    /// Which way it goes is known, and no number.
    #[must_use]
    pub const fn direction_only(text: &'static str) -> Self {
        Effect { text, quality: Quality::DirectionOnly }
    }
}

/// A primary source.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Source {
    /// What: title, document, file and function.
    pub title: &'static str,
    /// Where: a URL, or a repository path with a tag.
    pub at: &'static str,
}

/// A belief found in the field, and the truth.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Myth {
    /// As people say it.
    pub claim: &'static str,
    /// What holds instead, with the reason.
    pub truth: &'static str,
}

/// What a failure counts.
#[derive(Debug, Clone, Copy)]
pub struct Severities {
    /// Unless the finding says otherwise.
    pub usual: Severity,
    /// The highest that a finding may have, where the node makes it worse.
    pub worst: Severity,
}

impl Severities {
    /// The same on every node, or less.
    #[must_use]
    pub const fn always(severity: Severity) -> Self {
        Severities { usual: severity, worst: severity }
    }

    /// More on some nodes.
    #[must_use]
    pub const fn up_to(usual: Severity, worst: Severity) -> Self {
        Severities { usual, worst }
    }
}

impl fmt::Display for Severities {
    /// `low`, or `info to low` where it depends on the node.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.usual == self.worst { self.usual.fmt(f) } else { write!(f, "{} to {}", self.usual, self.worst) }
    }
}

/// A rule of the catalogue.
#[derive(Debug)]
pub struct Rule {
    /// Stable id, `area/slug`.
    pub id: &'static str,
    /// The state that is right, in one line.
    pub title: &'static str,
    /// What a failure counts.
    pub severity: Severities,
    /// Where it holds.
    pub roles: Roles,
    /// What a failure costs.
    pub effect: Effect,
    /// Why we believe it. Never empty.
    pub sources: &'static [Source],
    /// Files and commands it reads, as patterns.
    pub reads: &'static [&'static str],
    /// Markdown with the sections `## What it checks`, `## Why it matters`, `## See it yourself`, `## Fix`.
    pub docs: &'static str,
    /// Folklore that it answers.
    pub myths: &'static [Myth],
    /// The check. It must answer for every subject that it names, and at least once.
    pub check: fn(&Cx<'_>, &mut Findings),
}

impl Rule {
    /// The part before the slash.
    #[must_use]
    pub fn area(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }
}

/// What a check sees.
#[derive(Debug, Clone, Copy)]
pub struct Cx<'a> {
    /// The typed node, its context included.
    pub node: &'a Node<'a>,
    /// The snapshot from which it was decoded, for words about places.
    pub snapshot: &'a Snapshot,
}

impl Cx<'_> {
    /// Whether a place is in a text that somebody pasted: it may be a part of what the tool printed.
    #[must_use]
    pub fn is_pasted(&self, place: Place) -> bool {
        !matches!(self.snapshot.coverage, Coverage::Full { .. })
            && self.snapshot.path(place.base).trim_start_matches('/').starts_with("pasted")
    }

    /// Whether a place is in a tool's output of this kind.
    #[must_use]
    pub fn is_output(&self, place: Place, kind: OutputKind) -> bool {
        self.snapshot.outputs.iter().any(|o| o.entry == place.base && o.kind == kind)
    }

    /// The last output of a tool.
    #[must_use]
    pub(crate) fn output(&self, kind: OutputKind) -> Option<Place> {
        self.snapshot.outputs.iter().rfind(|o| o.kind == kind).map(|o| Place::of(o.entry))
    }

    /// Whether the list of PCI functions holds a bridge, as the whole list of nearly every machine does.
    fn shows_bridges(&self) -> bool {
        self.node.pci.iter().any(|(_, f)| f.class.known().is_some_and(|c| matches!(c.sub(), 0x0600 | 0x0604)))
    }

    /// Whether the list of PCI functions may be a part of the machine's.
    #[must_use]
    pub fn is_excerpt(&self, list: Place) -> bool {
        self.is_pasted(list) && !self.shows_bridges()
    }

    /// Whether a GPU is on the node, of whatever maker: an end for peer-to-peer traffic. A device whose class is not seen may be one. The VGA of a
    /// management controller and graphics within a CPU are none.
    #[must_use]
    pub fn has_gpu(&self) -> bool {
        self.node.pci.functions.iter().any(|f| {
            let sub = f.class.known().map(|c| c.sub());
            match f.vendor.known() {
                // AMD: Instinct cards are processing accelerators or displays without VGA; VGA is also what old servers' BMCs had.
                Some(0x1002) => sub.is_none_or(|s| s == 0x0380 || s >> 8 == 0x12),
                _ => f.kind == Kind::Gpu || f.kind == Kind::Unknown && f.vendor.known().is_none_or(|v| *v == 0x10de),
            }
        })
    }

    /// Answers for rules about peer-to-peer traffic of GPUs where there is no GPU: `true` if it answered.
    pub fn no_gpu(&self, out: &mut Findings) -> bool {
        self.no_subjects(self.has_gpu(), "GPU, so no peer-to-peer traffic of one,", out)
    }

    /// Where `pci=OPTION` is on the kernel command line.
    pub(crate) fn pci_option(&self, option: &str) -> Option<Place> {
        let Reading::Known(cmdline, place) = &self.node.kernel.cmdline else { return None };
        cmdline.options("pci").find(|(o, _)| *o == option).map(|(_, param)| place.line(param.line))
    }

    /// Whether it is known that no GPU depends on a NIC: there is none, or other NICs are nearer to each or faster.
    pub(crate) fn serves_no_gpu(&self, nic: &PciFunction<'_>) -> bool {
        if !self.has_gpu() {
            return true;
        }
        if self.node.pci.gpus().next().is_none() {
            return false;
        }
        match self.node.rdma_of(nic) {
            Some(d) => crate::rdma::common::usage(self, d) == crate::rdma::common::Use::Other,
            None => !self.node.rails.is_empty() && self.node.rail_of(nic).is_none(),
        }
    }

    /// Says in one line that a list of devices could not be seen or is empty; `true` if it answered. For the head of checks
    /// on GPUs and NICs: with an unknown PCI list the answer is unknown, with an empty one not-applicable.
    pub fn no_subjects(&self, any: bool, what: &str, out: &mut Findings) -> bool {
        if any {
            return false;
        }
        match self.node.pci.seen {
            // `lspci -d 15b3:`, or a grep: what it does not show may well be there.
            Some(place) if self.is_excerpt(place) => {
                let n = self.node.pci.functions.len();
                out.unknown(
                    crate::Subject::Node,
                    format_args!("no {what} among the {n} PCI functions of this text, which shows no bridge: it may be an excerpt"),
                )
                .at(place)
                .see("lspci -D -nn -vvv as root (complete output)");
            }
            Some(place) => {
                let n = self.node.pci.functions.len();
                out.not_applicable(format_args!("no {what} among the {n} PCI functions")).at(place);
            }
            None => {
                out.unknown(
                    crate::Subject::Node,
                    format_args!("no list of PCI devices in this source, so no {what} can be judged"),
                )
                .see("capture the node with `linerate collect`, or add the output of `lspci -D -nn -vvv` run as root");
            }
        }
        true
    }
}
