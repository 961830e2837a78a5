//! A domain of libvirt: what a virtual machine is made of, with the line of each part.
//!
//! Form: <https://libvirt.org/formatdomain.html>. Numbers are decimal, hexadecimal (`0x`) or octal (`0`), as libvirt reads them; sizes without a unit are KiB.
//! What libvirt would refuse is read all the same: [`legal`](Domain::refusal) says it, so that a wrong domain can be shown as it is.

mod differs;
mod legal;
mod model;
mod outline;
mod pci;
mod read;
mod walk;

#[cfg(test)]
mod tests;

pub use differs::differ;
pub use legal::{Illegal, MOST_CPUS, Refusal};
pub use model::{Cell, Domain, Firmware, HugePages, MemoryNode, Override, Pin, Property, Span};
pub use outline::{Element, Outline, Piece, QEMU, outline};
pub use pci::{Accepts, Address, Controller, Device, Hostdev, Model, Plug};
pub use read::parse;

use crate::tool::{Command, Gives, Mark, Tool, seen};

/// The domain of a virtual machine.
pub const TOOL: Tool = Tool {
    name: "virsh-xml",
    called: "libvirt domain",
    run: "virsh dumpxml DOMAIN",
    gives: Gives::Facts,
    marks: &[Mark::root(|root, _| matches!(root, "domain" | "domstatus"))],
    commands: &[Command::with("virsh", &["dumpxml"])],
    read: Some(|b| seen(parse(b).map(|d| d.refusal()))),
    samples: &["<domain type='kvm' id='1'>\n"],
    ..Tool::NONE
};
