//! Gives emulated devices the PCI ids and links of the ones that linerate is about.
//!
//! No device of QEMU carries the ids of a GPU or of a ConnectX, and all of its endpoints have a link of 2.5 GT/s x1. A guest that is to
//! look like a GPU node is therefore started paused, the ids and link registers are changed in the device's configuration space inside
//! QEMU's memory, and then the guest runs. Linux enumerates what it finds; everything else about the device stays QEMU's.
//! Max read request, max payload and relaxed ordering become writable, and switch ports get an ACS capability, as real ones have.

use super::Result;
use super::machine::Hardware;
use super::scenario::Link;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;

/// What a model of QEMU turns into.
struct Label {
    /// The lab's short name.
    name: &'static str,
    /// Vendor, device and class (base, sub, interface) of the model that lends its body.
    donor: (u16, u16, u32),
    /// The same of what it becomes; absent: only its link changes.
    becomes: Option<(u16, u16, u32)>,
    /// Only its ids change, and only in a machine that is to look like bare metal: no hardware has QEMU's own.
    bare_metal: bool,
}

const LABELS: &[Label] = &[
    // An H100 SXM: 3D controller.
    Label {
        name: "gpu",
        donor: (0x1b36, 0x0010, 0x01_08_02),
        becomes: Some((0x10de, 0x2330, 0x03_02_00)),
        bare_metal: false,
    },
    // A ConnectX-7 with InfiniBand.
    Label {
        name: "hca",
        donor: (0x1af4, 0x1044, 0x00_ff_00),
        becomes: Some((0x15b3, 0x1021, 0x02_07_00)),
        bare_metal: false,
    },
    Label { name: "upstream", donor: (0x104c, 0x8232, 0x06_04_00), becomes: None, bare_metal: false },
    Label { name: "downstream", donor: (0x104c, 0x8233, 0x06_04_00), becomes: None, bare_metal: false },
    // A root port of an Ice Lake server, and one of its host bridges.
    Label {
        name: "root-port",
        donor: (0x1b36, 0x000c, 0x06_04_00),
        becomes: Some((0x8086, 0x347a, 0x06_04_00)),
        bare_metal: true,
    },
    // A server's NVMe disk, where no GPU has the same body.
    Label {
        name: "nvme",
        donor: (0x1b36, 0x0010, 0x01_08_02),
        becomes: Some((0x144d, 0xa80a, 0x01_08_02)),
        bare_metal: true,
    },
    Label {
        name: "pxb",
        donor: (0x1b36, 0x000b, 0x06_00_00),
        becomes: Some((0x8086, 0x09a2, 0x06_00_00)),
        bare_metal: true,
    },
];

/// The subsystem of what QEMU makes itself, and the one of a server's maker.
const QEMU: (u16, u16) = (0x1af4, 0x1100);
const SUPERMICRO: (u16, u16) = (0x15d9, 0x1b14);

/// What every relabelled link can do: PCIe Gen4 x16, as the lab's root ports.
const CAPABLE: (u16, u16) = (4, 16);

/// Bytes of a configuration space.
const SPACE: usize = 4096;
/// The same of a device without PCI Express.
const OLD_SPACE: usize = 256;
/// Where the ACS capability goes: behind the port's error reporting, which is its only extended capability.
const AER: usize = 0x100;
const ACS: usize = 0x148;
/// What QEMU's root ports can do, and so the switch ports: all but egress control.
const ACS_BITS: u16 = 0x5f;
/// Guest memory is one large mapping; QEMU's own is in smaller ones.
const LARGEST: u64 = 200 << 20;

/// Does this machine have devices that need other ids?
pub(super) fn needed(hardware: Hardware<'_>) -> bool {
    devices(hardware) || LABELS.iter().any(|l| l.bare_metal && wanted(l, hardware) > 0)
}

/// Does it have devices whose links can be changed? Switch ports beside them change, too.
pub(super) fn devices(hardware: Hardware<'_>) -> bool {
    count(hardware, "gpu") + count(hardware, "hca") > 0
}

/// How many devices of this machine get the label.
fn wanted(label: &Label, hardware: Hardware<'_>) -> usize {
    let mut changes = if label.bare_metal { hardware.machine.bare_metal } else { devices(hardware) };
    changes &= label.name != "nvme" || count(hardware, "gpu") == 0;
    if changes { count(hardware, label.name) } else { 0 }
}

fn count(hardware: Hardware<'_>, name: &str) -> usize {
    hardware.devices.iter().filter(|d| d.split(',').next() == Some(name)).count()
}

/// The code of a speed in GT/s in link registers.
pub(super) fn speed_code(speed: &str) -> Option<u16> {
    ["2.5", "5", "8", "16", "32", "64"].iter().position(|s| *s == speed).and_then(|at| u16::try_from(at + 1).ok())
}

/// Changes the devices of a paused QEMU.
pub(super) fn apply(hardware: Hardware<'_>, pid: u32) -> Result<()> {
    let at = |e: std::io::Error| format!("cannot reach QEMU's memory (/proc/{pid}/mem): {e}");
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).map_err(at)?;
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).map_err(at)?;
    let labels: Vec<&Label> = LABELS.iter().filter(|l| wanted(l, hardware) > 0).collect();
    // Bytes that look like a configuration space, by their address; and whatever points at one of them.
    let mut spaces: BTreeMap<u64, (Option<&Label>, usize, Vec<u8>)> = BTreeMap::new();
    let bare_metal = hardware.machine.bare_metal;
    each_mapping(&maps, &memory, |start, bytes| {
        for offset in (0..bytes.len().saturating_sub(OLD_SPACE)).step_by(8) {
            let space = &bytes[offset..bytes.len().min(offset + SPACE)];
            let label = labels.iter().find_map(|l| Some((Some(*l), is_donor(l, space)?)));
            if let Some((label, express)) = label.or_else(|| (bare_metal && emulated(space)).then_some((None, 0))) {
                spaces.insert(start + offset as u64, (label, express, space.to_vec()));
            }
        }
    });
    let mut devices: BTreeMap<u64, u64> = BTreeMap::new();
    each_mapping(&maps, &memory, |_, bytes| {
        for (offset, pointer) in bytes.chunks_exact(8).enumerate() {
            let pointer = address(pointer);
            // A device has one pointer after the other: configuration space, check mask, write mask.
            if spaces.contains_key(&pointer)
                && let Some(write) = bytes.get(offset * 8 + 16..offset * 8 + 24).map(address)
                && let Some(mask) = read(&memory, write, 0x40)
                && is_write_mask(&mask)
            {
                devices.insert(pointer, write);
            }
        }
    });
    let mut found = vec![0; labels.len()];
    for (base, (label, express, space)) in &spaces {
        let Some(write) = devices.get(base) else { continue };
        let mask = read(&memory, *write, space.len()).unwrap_or_default();
        let device = Device { memory: &memory, base: *base, write: *write, space, mask: &mask, express: *express };
        let Some(label) = label else {
            device.owned().map_err(at)?;
            continue;
        };
        device.change(label, hardware.links.get(label.name)).map_err(at)?;
        found.iter_mut().zip(&labels).filter(|(_, l)| l.name == label.name).for_each(|(n, _)| *n += 1);
    }
    for (label, found) in labels.iter().zip(found) {
        let wanted = wanted(label, hardware);
        if found != wanted {
            return Err(format!(
                "relabelling: expected {wanted} devices to become {}, found {found} in QEMU's memory",
                label.name
            ));
        }
    }
    Ok(())
}

/// Calls with the start and the bytes of each mapping that can hold QEMU's own data.
fn each_mapping(maps: &str, memory: &File, mut look: impl FnMut(u64, &[u8])) {
    for (start, end) in maps.lines().filter_map(writable) {
        // What cannot be read is a guard page, or gone already.
        if let Some(bytes) = read(memory, start, usize::try_from(end - start).unwrap_or(0)) {
            look(start, &bytes);
        }
    }
}

fn read(memory: &File, start: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    memory.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}

fn address(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// Start and end of a private writable mapping that can hold QEMU's own data.
fn writable(line: &str) -> Option<(u64, u64)> {
    let mut fields = line.split_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    (fields.next()? == "rw-p" && end - start <= LARGEST && end - start >= SPACE as u64).then_some((start, end))
}

fn word(space: &[u8], at: usize) -> u16 {
    space.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

/// Offset of the PCI Express capability (0: of an expander), if these bytes are the configuration space of the label's donor.
fn is_donor(label: &Label, space: &[u8]) -> Option<usize> {
    let (vendor, device, class) = label.donor;
    if word(space, 0) != vendor || word(space, 2) != device {
        return None;
    }
    let seen = u32::from(word(space, 10)) << 8 | u32::from(*space.get(9)?);
    // A list of capabilities, and one of them PCI Express: no other bytes of QEMU look like that.
    if seen != class {
        return None;
    }
    // An expander is no PCI Express device.
    if label.name == "pxb" {
        return Some(0);
    }
    if space.len() < SPACE || word(space, 6) & 0x10 == 0 {
        return None;
    }
    let mut at = usize::from(*space.get(0x34)?);
    for _ in 0..48 {
        match (at, *space.get(at)?) {
            (0..0x40, _) => return None,
            (_, 0x10) => return Some(at),
            _ => at = usize::from(*space.get(at + 1)?),
        }
    }
    None
}

/// An endpoint or host bridge with the subsystem that QEMU gives to all that it makes itself.
fn emulated(space: &[u8]) -> bool {
    (word(space, 0x2c), word(space, 0x2e)) == QEMU && space[0x0e] & 0x7f == 0 && !matches!(word(space, 0), 0 | 0xffff)
}

/// The write mask of a device: the guest may write all of the cache line size and the interrupt line, and none of the ids.
fn is_write_mask(bytes: &[u8]) -> bool {
    bytes.get(..4) == Some(&[0; 4]) && bytes.get(0x0c) == Some(&0xff) && bytes.get(0x3c) == Some(&0xff)
}

/// A device of a paused QEMU.
struct Device<'a> {
    memory: &'a File,
    /// Address of its configuration space in QEMU.
    base: u64,
    /// Address of its write mask there.
    write: u64,
    space: &'a [u8],
    /// Bits that the guest may write.
    mask: &'a [u8],
    /// Offset of the PCI Express capability.
    express: usize,
}

impl Device<'_> {
    fn put(&self, at: usize, value: u16) -> std::io::Result<()> {
        self.memory.write_all_at(&value.to_le_bytes(), self.base + at as u64)
    }

    /// Replaces the bits of `mask`.
    fn set(&self, at: usize, mask: u16, value: u16) -> std::io::Result<()> {
        self.put(at, word(self.space, at) & !mask | value)
    }

    fn let_guest_write(&self, at: usize, bits: u16) -> std::io::Result<()> {
        self.memory.write_all_at(&(word(self.mask, at) | bits).to_le_bytes(), self.write + at as u64)
    }

    /// The board's maker has made it.
    fn owned(&self) -> std::io::Result<()> {
        self.put(0x2c, SUPERMICRO.0)?;
        self.put(0x2e, SUPERMICRO.1)
    }

    fn change(&self, label: &Label, link: Option<&Link>) -> std::io::Result<()> {
        if let Some((vendor, device, class)) = label.becomes {
            self.put(0, vendor)?;
            self.put(2, device)?;
            self.memory.write_all_at(&class.to_le_bytes()[..3], self.base + 9)?;
        }
        if label.bare_metal {
            return if emulated(self.space) { self.owned() } else { Ok(()) };
        }
        if let Some((vendor, ..)) = label.becomes {
            self.put(0x2c, vendor)?;
        }
        let (speed, width) = CAPABLE;
        let now = link.map_or(CAPABLE, |l| (speed_code(&l.speed).unwrap_or(1), l.width));
        self.set(self.express + 0x0c, 0x3ff, width << 4 | speed)?;
        self.set(self.express + 0x12, 0x3ff, now.1 << 4 | now.0)?;
        // LnkCap2: every speed up to the one of LnkCap. LnkCtl2: its target.
        self.put(self.express + 0x2c, ((1 << speed) - 1) << 1)?;
        self.set(self.express + 0x30, 0xf, speed)?;
        // DevCtl: read requests of 512 bytes, as after a reset; they and relaxed ordering are the guest's to change.
        self.set(self.express + 0x08, 0x7000, 2 << 12)?;
        self.let_guest_write(self.express + 0x08, 0x7010)?;
        if label.name == "downstream" && word(self.space, AER) == 1 && word(self.space, ACS) == 0 {
            self.set(AER + 2, 0xfff0, (ACS as u16) << 4)?;
            self.put(ACS, 0x000d)?;
            self.put(ACS + 2, 1)?;
            self.put(ACS + 4, ACS_BITS)?;
            self.let_guest_write(ACS + 6, ACS_BITS)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_donor_is_known_by_ids_class_and_capability() {
        let mut space = vec![0u8; SPACE];
        space[..4].copy_from_slice(&[0x36, 0x1b, 0x10, 0x00]);
        space[6] = 0x10;
        space[9..12].copy_from_slice(&[0x02, 0x08, 0x01]);
        assert_eq!(is_donor(&LABELS[0], &space), None, "no capability");
        space[0x34] = 0x40;
        space[0x40..0x42].copy_from_slice(&[0x11, 0x80]);
        space[0x80] = 0x10;
        assert_eq!(is_donor(&LABELS[0], &space), Some(0x80));
        assert_eq!(is_donor(&LABELS[1], &space), None);
        space[0x80] = 0x05;
        space[0x81] = 0x40; // a loop
        assert_eq!(is_donor(&LABELS[0], &space), None);
    }

    #[test]
    fn only_small_private_writable_mappings_are_searched() {
        assert_eq!(writable("55d0-1000055d0 rw-p 0 0:0 0"), None, "too large");
        assert_eq!(writable("10000-20000 rw-p 00000000 00:00 0 [heap]"), Some((0x10000, 0x20000)));
        assert_eq!(writable("10000-20000 r--p 00000000 00:00 0"), None);
        assert_eq!(writable("nonsense"), None);
    }

    #[test]
    fn a_write_mask_is_known_by_its_registers() {
        let mut mask = vec![0u8; SPACE];
        assert!(!is_write_mask(&mask));
        (mask[0x0c], mask[0x3c]) = (0xff, 0xff);
        assert!(is_write_mask(&mask));
        mask[0] = 0xff; // the check mask has the ids
        assert!(!is_write_mask(&mask));
    }

    #[test]
    fn speeds_have_codes() {
        assert_eq!((speed_code("2.5"), speed_code("16"), speed_code("3")), (Some(1), Some(4), None));
    }
}
