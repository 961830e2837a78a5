//! The text of `lspci`, in all its verbosities.
//!
//! Understood: the plain list, `-D`, `-n`, `-nn`, `-v`, `-vv`, `-vvv`, `-k`, `-PP`, the machine forms `-mm` and `-vmm` (with
//! `-n`/`-nn`), the hex dumps of `-x`, `-xxx`, `-xxxx`, loops over IOMMU groups, and any mixture of them in one text. Lines that are none of these (shell
//! prompts, error messages, prose around a paste) are passed over. Carriage returns, ANSI colours, lost tabs, indentation, quote
//! marks and bytes that are not UTF-8 do no harm.
//!
//! What is *not* in a listing is only called [`Cap::NotPresent`](super::caps::Cap::NotPresent) where the whole block of the
//! device was seen: its `Control:`/`Status:` (or `Flags:`) lines are there, a capability list was printed and neither denied nor
//! broken, and the block is known to be finished. A block is finished by the next device, by an empty line (with which `lspci -v`
//! ends every block), or by the driver lines and hex dump that follow the list. A text that stops without any of these may have
//! been cut there.
//!
//! A device that appears twice (`lspci -nn` followed by `lspci -vvv`, or two dumps in one file) is one [`Device`]: the first
//! sight of each fact is kept, later ones add what was missing.

pub mod acs_alone;
mod asked;
mod block;
mod device;
mod fields;
mod groups;
mod header;
mod hex;
mod lines;
mod machine;
mod merge;
mod registers;
pub mod tree;
mod vendor;

pub use asked::device_of_command;
pub use device::{Device, Region, RegionKind, Verbosity};
pub use groups::{in_group, without_group};

use block::Block;
use std::collections::HashMap;

use super::Bdf;
use super::class::Class;
use crate::bounds::{GPUS, Kept, LeftOut, Limit, NET_FUNCTIONS, PCI_FUNCTIONS, leave_out};
use crate::text::decode;
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};

/// `lspci`.
pub const TOOL: Tool = Tool {
    name: "lspci",
    called: "lspci",
    run: "lspci -nnvvv",
    gives: Gives::Facts,
    marks: &[
        Mark::line(is_own).begins(BEGINNINGS).holds(LITERALS),
        Mark::line_where(acs_alone::is_acs, |text| !acs_alone::has_no_device(text)).holds(acs_alone::LITERALS),
    ],
    commands: &[Command::any("lspci")],
    files: &["lspci"],
    read: Some(|b| seen(parse(b).is_ok())),
    samples: &[
        "01:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n",
        "00:00.0 \"Host bridge\" \"Intel Corporation\"\n",
        "\tCapabilities: [170] Access Control Services\n\t\tACSCtl:\tSrcValid+ TransBlk-\n",
        "IOMMU Group 0: 0000:01:00.0 3D controller [0302] NVIDIA Corporation GH100 [10de:2330]\n",
        "Group 15:\t[10de:2330] [R] 01:00.0  3D controller                            GH100\n",
        "Slot:   01:00.0\nClass:  3D controller\nVendor: NVIDIA Corporation\nDevice: GH100\n",
        "IOMMU Group 12 01:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n",
        "/sys/kernel/iommu_groups/12/devices/0000:18:00.0\n",
    ],
    once: true,
    ..Tool::NONE
};

/// What lines of a device begin with.
const INNER: &[&str] = &["LnkSta:", "LnkCap:", "DevCtl:", "DevCap:", "ATSCtl:", "Capabilities: ["];
/// Those, slots, and groups in either case.
const BEGINNINGS: &[&str] = &[
    "LnkSta:",
    "LnkCap:",
    "DevCtl:",
    "DevCap:",
    "ATSCtl:",
    "Capabilities: [",
    "Slot:",
    "Device:\t",
    "io",
    "iO",
    "Io",
    "IO",
    "gr",
    "gR",
    "Gr",
    "GR",
];
/// The end of an address before its class, and links of groups.
const LITERALS: &[&str] = &[".0 ", ".1 ", ".2 ", ".3 ", ".4 ", ".5 ", ".6 ", ".7 ", "/iommu_groups/"];

fn is_own(line: &str) -> bool {
    if groups::in_group(line).is_some() {
        return true;
    }
    let line = without_group(line);
    let function = line.split_once(' ').filter(|(first, _)| first.len() >= 7 && first.parse::<Bdf>().is_ok());
    if let Some((_, rest)) = function {
        return rest.contains(": ") || rest.starts_with('"');
    }
    groups::link(line).is_some()
        || starts(line, INNER)
        || starts(line, &["Slot:\t"])
        || machine::slot(line).is_some()
        || starts(line, &["Device:\t"]) && line.len() > 14
}

/// A text in which no PCI device was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// There is nothing in it.
    #[error("the text is empty; expected the output of `lspci`, best of `sudo lspci -Dnnvvv`")]
    Empty,
    /// A message is where the devices should be.
    #[error("line {line}: `lspci` did not run: {message}")]
    ToolFailed {
        /// 1-based line of the message.
        line: u32,
        /// The message.
        message: String,
    },
    /// Text of another kind.
    #[error("line {line}: no PCI device in this text; expected lines such as `41:00.0 Ethernet controller: …`")]
    NoDevice {
        /// 1-based line of the first text.
        line: u32,
    },
}

/// The devices of [`read`].
///
/// # Errors
/// As [`read`].
pub fn parse(bytes: &[u8]) -> Result<Vec<Device>, ParseError> {
    read(bytes).map(|l| l.items)
}

/// Reads every device of a text, in the order of their first appearance.
///
/// # Errors
/// [`ParseError`] when the text shows no device at all. A garbled device is not an error: what it hides is unseen.
pub fn read(bytes: &[u8]) -> Result<Kept<Device>, ParseError> {
    let text = decode(bytes);
    let mut devices = Devices::default();
    let mut block: Option<Block> = None;
    let mut groups = groups::Groups::default();
    // What the command above asks for, until a line shows a device.
    let mut asked: Option<Device> = None;
    for line in lines::lines(&text) {
        let (line, group) = groups.take(&line);
        if line.text.is_empty() {
            // The indentation of a line that was cut is not an empty line.
            if let Some(block) = block.as_mut().filter(|_| !line.unterminated) {
                block.blank();
            }
            continue;
        }
        let linked = || groups::link(line.text).map(|(bdf, group)| Device::of_group(bdf, group, line.number));
        let ids = || group.and_then(|_| header::of_ids(&line));
        let started =
            header::parse(&line).or_else(|| machine::parse(&line, block.as_ref())).or_else(ids).or_else(linked);
        if let Some(mut device) = started {
            if let Some((number, named)) = group {
                (device.iommu_group, device.iommu_group_line) = (Some(number), named);
            }
            asked = None;
            let next = device.bdf;
            devices.push(block.replace(Block::new(device)), Some(next));
        } else if let Some(of) = asked::command(&line) {
            // What is below a command is not of a device above it.
            devices.push(block.take(), None);
            asked = of;
        } else if let Some(device) = asked.take_if(|_| asked::is_of_device(&line)) {
            let next = device.bdf;
            let mut begun = Block::new(device);
            begun.line(&line);
            devices.push(block.replace(begun), Some(next));
        } else if let Some(block) = &mut block {
            block.line(&line);
        }
    }
    devices.push(block, None);
    if devices.list.is_empty() {
        return Err(why_nothing(&text));
    }
    Ok(Kept { items: devices.list, left_out: devices.left_out })
}

/// The devices so far, with an index for those that appear again.
#[derive(Default)]
struct Devices {
    list: Vec<Device>,
    index: HashMap<Bdf, usize>,
    /// Accelerators, and network functions.
    ends: [usize; 2],
    left_out: Vec<LeftOut>,
}

impl Devices {
    /// Takes up a finished block; `next` is the device that begins after it.
    fn push(&mut self, block: Option<Block>, next: Option<Bdf>) {
        let Some(block) = block else { return };
        let device = block.finish(next);
        match self.index.get(&device.bdf) {
            Some(&i) => {
                if let Some(first) = self.list.get_mut(i) {
                    merge::merge(first, device);
                }
            }
            None => match reached(self.list.len(), &mut self.ends, device.class) {
                Some(limit) => leave_out(&mut self.left_out, limit, device.line),
                None => {
                    self.index.insert(device.bdf, self.list.len());
                    self.list.push(device);
                }
            },
        }
    }
}

/// The limit that leaves no room for another device of the class.
fn reached(devices: usize, [accelerators, network]: &mut [usize; 2], class: Option<Class>) -> Option<Limit> {
    if devices >= PCI_FUNCTIONS {
        return Some(Limit::PCI_FUNCTIONS);
    }
    let (have, most, limit) = match class.map(|c| c.sub() >> 8) {
        Some(0x03 | 0x12) => (accelerators, GPUS, Limit::GPUS),
        Some(0x02) => (network, NET_FUNCTIONS, Limit::NET_FUNCTIONS),
        _ => return None,
    };
    *have += 1;
    (*have > most).then_some(limit)
}

/// Explains a text without devices.
fn why_nothing(text: &str) -> ParseError {
    let mut first = None;
    for line in lines::lines(text).filter(|l| !l.text.is_empty()) {
        let l = line.text;
        let failed = ["lspci: ", "pcilib: ", "command not found", "No such file or directory", "Permission denied"];
        if failed.iter().any(|f| l.contains(f)) {
            return ParseError::ToolFailed { line: line.number, message: l.chars().take(200).collect() };
        }
        first.get_or_insert(line.number);
    }
    first.map_or(ParseError::Empty, |line| ParseError::NoDevice { line })
}
