//! Hex dumps: `00: de 10 30 23 …`, sixteen bytes a line.

use super::super::config::{ConfigSpace, Layout};
use super::device::Device;
use super::header::{hex8, settle_class};
use super::lines::Line;
use super::merge;

/// Largest configuration space.
const MOST_BYTES: usize = 4096;

/// A dump being collected. Only what follows without a gap counts.
#[derive(Default)]
pub(super) struct Dump {
    bytes: Vec<u8>,
    broken: bool,
}

impl Dump {
    /// Takes up a line if it is one of a dump.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        let Some((offset, rest)) = text.split_once(": ") else { return false };
        if !(2..=3).contains(&offset.len()) || !offset.bytes().all(|b| b.is_ascii_hexdigit()) {
            return false;
        }
        // A dump line holds byte pairs only.
        let Ok(offset) = usize::from_str_radix(offset, 16) else { return false };
        if hex8(rest.split_whitespace().next().unwrap_or_default()).is_none() {
            return false;
        }
        // A second dump of the same device starts again at 0: the first is kept.
        self.broken |= offset != self.bytes.len();
        if self.broken {
            return true;
        }
        for token in rest.split_whitespace().take(16) {
            let Some(byte) = hex8(token).filter(|_| self.bytes.len() < MOST_BYTES) else {
                self.broken = true;
                break;
            };
            self.bytes.push(byte);
        }
        true
    }

    /// Nothing was collected.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Gives the bytes to the device, with everything in them that the text did not show.
    pub(super) fn settle(self, device: &mut Device) {
        if self.bytes.is_empty() {
            return;
        }
        let space = ConfigSpace::new(&self.bytes);
        merge::capabilities(&mut device.caps, space.capabilities());
        if let Some(header) = space.header() {
            // Virtual functions read 0xffff here.
            if header.vendor != 0xffff {
                device.vendor.get_or_insert(header.vendor);
                device.device.get_or_insert(header.device);
            }
            device.revision.get_or_insert(header.revision);
            device.prog_if.get_or_insert(header.class.0 as u8);
            device.class.get_or_insert(header.class);
            settle_class(device);
            match header.layout {
                Layout::Endpoint { subsystem_vendor, subsystem_device, .. } if subsystem_vendor != 0 => {
                    device.subsystem_vendor.get_or_insert(subsystem_vendor);
                    device.subsystem_device.get_or_insert(subsystem_device);
                }
                Layout::Bridge { primary, secondary, subordinate, .. } => {
                    device.bus.get_or_insert((primary, secondary, subordinate));
                }
                _ => {}
            }
        }
        device.config = Some(self.bytes);
    }
}
