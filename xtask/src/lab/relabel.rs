//! Gives emulated devices the PCI ids and links of the ones that linerate is about.
//!
//! No device of QEMU carries the ids of a GPU or of a ConnectX, and all of its endpoints have a link of 2.5 GT/s x1. A guest that is to
//! look like a GPU node is therefore started paused, the ids and link registers are changed in the device's configuration space inside
//! QEMU's memory, and then the guest runs. Linux enumerates what it finds; everything else about the device stays QEMU's.

use super::Result;
use super::scenario::Scenario;
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
}

const LABELS: &[Label] = &[
    // An H100 SXM: 3D controller.
    Label { name: "gpu", donor: (0x1b36, 0x0010, 0x01_08_02), becomes: Some((0x10de, 0x2330, 0x03_02_00)) },
    // A ConnectX-7 with InfiniBand.
    Label { name: "hca", donor: (0x1af4, 0x1044, 0x00_ff_00), becomes: Some((0x15b3, 0x1021, 0x02_07_00)) },
    Label { name: "upstream", donor: (0x104c, 0x8232, 0x06_04_00), becomes: None },
    Label { name: "downstream", donor: (0x104c, 0x8233, 0x06_04_00), becomes: None },
];

/// What every relabelled link can do: PCIe Gen4 x16, as the lab's root ports.
const CAPABLE: (u16, u16) = (4, 16);

/// Bytes of a configuration space.
const SPACE: usize = 4096;
/// Guest memory is one large mapping; QEMU's own is in smaller ones.
const LARGEST: u64 = 48 << 20;

/// Does this scenario have devices that need other ids?
pub(super) fn needed(scenario: &Scenario) -> bool {
    count(scenario, "gpu") + count(scenario, "hca") > 0
}

fn count(scenario: &Scenario, name: &str) -> usize {
    scenario.devices.iter().filter(|d| d.split(',').next() == Some(name)).count()
}

/// The code of a speed in GT/s in link registers.
pub(super) fn speed_code(speed: &str) -> Option<u16> {
    ["2.5", "5", "8", "16", "32", "64"].iter().position(|s| *s == speed).and_then(|at| u16::try_from(at + 1).ok())
}

/// Changes the devices of a paused QEMU.
pub(super) fn apply(scenario: &Scenario, pid: u32) -> Result<()> {
    let at = |e: std::io::Error| format!("cannot reach QEMU's memory (/proc/{pid}/mem): {e}");
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).map_err(at)?;
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).map_err(at)?;
    let mut found = [0; LABELS.len()];
    for (start, end) in maps.lines().filter_map(writable) {
        let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(0)];
        if memory.read_exact_at(&mut bytes, start).is_err() {
            continue; // a guard page, or gone already
        }
        for offset in (0..bytes.len().saturating_sub(SPACE)).step_by(8) {
            let Some(space) = bytes.get(offset..offset + SPACE) else { break };
            for (label, found) in LABELS.iter().zip(&mut found) {
                if let Some(express) = is_donor(label, space) {
                    let link = scenario
                        .links
                        .get(label.name)
                        .map_or(CAPABLE, |l| (speed_code(&l.speed).unwrap_or(1), l.width));
                    change(&memory, start + offset as u64, space, express, label, link).map_err(at)?;
                    *found += 1;
                }
            }
        }
    }
    for (label, found) in LABELS.iter().zip(found) {
        let wanted = count(scenario, label.name);
        if found != wanted {
            return Err(format!(
                "relabelling: expected {wanted} devices to become {}, found {found} in QEMU's memory",
                label.name
            ));
        }
    }
    Ok(())
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

/// Offset of the PCI Express capability, if these bytes are the configuration space of the label's donor.
fn is_donor(label: &Label, space: &[u8]) -> Option<usize> {
    let (vendor, device, class) = label.donor;
    if word(space, 0) != vendor || word(space, 2) != device {
        return None;
    }
    let seen = u32::from(word(space, 10)) << 8 | u32::from(*space.get(9)?);
    // A list of capabilities, and one of them PCI Express: no other bytes of QEMU look like that.
    if seen != class || word(space, 6) & 0x10 == 0 {
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

fn change(
    memory: &File,
    base: u64,
    space: &[u8],
    express: usize,
    label: &Label,
    link: (u16, u16),
) -> std::io::Result<()> {
    let put = |at: usize, bytes: &[u8]| memory.write_all_at(bytes, base + at as u64);
    if let Some((vendor, device, class)) = label.becomes {
        put(0, &vendor.to_le_bytes())?;
        put(2, &device.to_le_bytes())?;
        put(9, &class.to_le_bytes()[..3])?;
        put(0x2c, &vendor.to_le_bytes())?;
    }
    let (speed, width) = CAPABLE;
    put(express + 0x0c, &(word(space, express + 0x0c) & !0x3ff | width << 4 | speed).to_le_bytes())?;
    put(express + 0x12, &(word(space, express + 0x12) & !0x3ff | link.1 << 4 | link.0).to_le_bytes())?;
    // LnkCap2: every speed up to the one of LnkCap. LnkCtl2: its target.
    put(express + 0x2c, &(((1u16 << speed) - 1) << 1).to_le_bytes())?;
    put(express + 0x30, &(word(space, express + 0x30) & !0xf | speed).to_le_bytes())
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
    fn speeds_have_codes() {
        assert_eq!((speed_code("2.5"), speed_code("16"), speed_code("3")), (Some(1), Some(4), None));
    }
}
