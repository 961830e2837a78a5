//! The lines below a device.

use super::super::Bdf;
use super::super::caps::Unseen;
use super::device::{Device, Region, RegionKind, Verbosity};
use super::header::{hex8, set_subsystem};
use super::hex::Dump;
use super::lines::Line;
use super::machine;
use super::registers::{Registers, Taken};

/// A device and what was seen of its block.
#[derive(Default)]
pub(super) struct Block {
    device: Device,
    registers: Registers,
    dump: Dump,
    /// `Control:` (-vv) or `Flags:` (-v): the block was not picked apart by a filter.
    control: bool,
    /// A `-vmm` record: class and names come in lines of their own.
    record: bool,
    /// `Status: … Cap±`.
    has_list: Option<bool>,
    /// Something after the list showed that the list is finished.
    finished: bool,
    /// The last line was empty.
    ended: bool,
    /// A mark of omission, or a line cut at the end of the text.
    cut: bool,
}

impl Block {
    pub(super) fn new(device: Device) -> Self {
        Self { record: device.class.is_none() && device.class_name.is_empty(), device, ..Self::default() }
    }

    /// The block was followed by an empty line.
    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// An empty line: `lspci -v` ends every block with one.
    pub(super) fn blank(&mut self) {
        self.ended = true;
    }

    /// A line that begins no device.
    pub(super) fn line(&mut self, line: &Line<'_>) {
        let text = line.text;
        if is_omission(text) {
            self.cut = true;
            return;
        }
        // The last word of a text without a final newline may be half a word: `Width x1` may have been x16. A driver's name
        // is kept, because there most often only the newline was lost.
        let driver = text.starts_with("Kernel ");
        let text =
            if line.unterminated && !driver { text.rsplit_once([' ', '\t']).map_or("", |(t, _)| t) } else { text };
        let n = line.number;
        match self.registers.line(text, n) {
            Taken::Read => {
                // More of the list after an empty line: that line was not the end of the block.
                (self.ended, self.finished) = (false, false);
                self.device.verbosity = self.device.verbosity.max(self.registers.verbosity());
                return;
            }
            Taken::Passed => return,
            Taken::No => {}
        }
        if text.as_bytes().first().is_some_and(u8::is_ascii_hexdigit) && self.dump.line(line) {
            self.finished = true;
            return;
        }
        if let Some((key, value)) = text.split_once(':') {
            self.property(key.trim_end(), value.trim(), n);
        } else if text.starts_with("!!! Unknown header type") {
            self.device.unknown_header_line = Some(n);
        } else {
            self.memory(text, n, None);
        }
    }

    fn property(&mut self, key: &str, value: &str, n: u32) {
        let d = &mut self.device;
        match key {
            "Subsystem" => set_subsystem(value, d),
            "Control" if value.starts_with("I/O") => {
                self.control = true;
                d.verbosity = Verbosity::VeryVerbose;
            }
            "Status" if value.starts_with("Cap") => self.has_list = Some(value.starts_with("Cap+")),
            "Flags" if !self.registers.started() => self.flags(value, n),
            "Kernel driver in use" | "Driver" => {
                (d.driver, d.driver_line) = (Some(value.to_owned()).filter(|v| !v.is_empty()), n);
                self.finished = true;
            }
            "Kernel modules" | "Module" => {
                // `Module` comes once for each of them.
                d.modules.extend(value.split(',').map(str::trim).filter(|m| !m.is_empty()).map(str::to_owned));
                self.finished = true;
            }
            "NUMA node" | "NUMANode" => set_number(value, n, (&mut d.numa_node, &mut d.numa_node_line)),
            "IOMMU group" | "IOMMUGroup" => set_number(value, n, (&mut d.iommu_group, &mut d.iommu_group_line)),
            "Physical Slot" => d.physical_slot = Some(value.to_owned()),
            "Bus" => d.bus = buses(value),
            _ => {
                let index = key.strip_prefix("Region ").and_then(|i| i.parse().ok());
                if index.is_some() {
                    self.memory(value, n, index);
                } else if self.record && !self.ended {
                    machine::key(key, value, d);
                }
            }
        }
    }

    /// The `Flags:` line of -v: `bus master, fast devsel, latency 0, IRQ 16, NUMA node 0, IOMMU group 12`.
    fn flags(&mut self, value: &str, n: u32) {
        let d = &mut self.device;
        self.control = true;
        d.verbosity = d.verbosity.max(Verbosity::Verbose);
        for flag in value.split(',').map(str::trim) {
            if let Some(v) = flag.strip_prefix("NUMA node ") {
                set_number(v, n, (&mut d.numa_node, &mut d.numa_node_line));
            } else if let Some(v) = flag.strip_prefix("IOMMU group ") {
                set_number(v, n, (&mut d.iommu_group, &mut d.iommu_group_line));
            }
        }
    }

    /// `Memory at 210000000000 (64-bit, prefetchable) [size=128G]`, `I/O ports at e000 [disabled] [size=256]`.
    fn memory(&mut self, text: &str, line: u32, index: Option<u8>) {
        // A machine has six BARs; a garbled text may have any number of lines.
        if self.device.regions.len() >= 16 || self.registers.started() {
            return;
        }
        let text = text.strip_prefix("[virtual] ").unwrap_or(text);
        let (kind, rest) = if let Some(rest) = text.strip_prefix("Memory at ") {
            (RegionKind::Memory, rest)
        } else if let Some(rest) = text.strip_prefix("I/O ports at ") {
            (RegionKind::Io, rest)
        } else {
            return;
        };
        let address = rest.split(' ').next().and_then(|a| u64::from_str_radix(a, 16).ok());
        let size = rest.split_once("[size=").and_then(|(_, s)| size_of(s.split_once(']')?.0));
        self.device.regions.push(Region {
            index,
            kind,
            address,
            size_bytes: size,
            prefetchable: rest.contains(", prefetchable"),
            is_64bit: rest.contains("(64-bit"),
            disabled: rest.contains("[disabled]"),
            line,
        });
    }

    /// Decides what the capabilities that were not found are, and takes over the hex dump. `next` begins after this block.
    pub(super) fn finish(mut self, next: Option<Bdf>) -> Device {
        // Where blocks follow each other without an empty line, an address that goes back shows the start of another dump,
        // and then this one may have been cut.
        let whole = self.ended || self.finished || next.is_some_and(|next| next > self.device.bdf);
        let names_only = self.device.verbosity == Verbosity::Names && !self.registers.started();
        let rest = if self.device.unknown_header_line.is_some() || self.registers.broken() {
            Some(Unseen::Malformed)
        } else if self.registers.denied() {
            Some(Unseen::AccessDenied)
        } else if names_only {
            Some(Unseen::NotPrinted)
        } else if self.cut || !whole {
            Some(Unseen::Malformed)
        } else if self.control && (self.registers.list_printed() || self.has_list == Some(false)) {
            None
        } else {
            Some(Unseen::NotPrinted)
        };
        self.registers.settle(rest, &mut self.device.caps);
        if !self.dump.is_empty() {
            self.dump.settle(&mut self.device);
        }
        self.device
    }
}

fn set_number<T: std::str::FromStr>(value: &str, line: u32, to: (&mut Option<T>, &mut u32)) {
    if let Ok(v) = value.parse() {
        (*to.0, *to.1) = (Some(v), line);
    }
}

/// `primary=16, secondary=17, subordinate=1c, sec-latency=0`, in hexadecimal.
fn buses(value: &str) -> Option<(u8, u8, u8)> {
    let bus = |name: &str| {
        let (_, rest) = value.split_once(name)?;
        hex8(rest.get(..2)?)
    };
    Some((bus("primary=")?, bus("secondary=")?, bus("subordinate=")?))
}

/// `256`, `64K`, `16M`, `128G`, `1T`: binary units, as `lspci` counts.
fn size_of(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        "P" => 50,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// What people write where they left lines out.
fn is_omission(text: &str) -> bool {
    let text = text.trim_matches(['[', ']', '<', '>', '(', ')', ' ', '-']);
    text.starts_with("...")
        || text.starts_with('…')
        || matches!(text, "snip" | "snipped" | "cut" | "truncated" | "More")
}
