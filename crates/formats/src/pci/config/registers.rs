//! The registers of each capability. `at` is the offset of its header.

use super::super::caps::{
    Acs, AcsBits, Aer, Ari, Ats, Cap, Capabilities, Express, PortType, ResizableBar, ResizableBars, SrIov,
};
use super::super::{LinkSpeed, LinkWidth};
use super::ConfigSpace;

impl ConfigSpace<'_> {
    /// Decodes one extended capability into its place, unless an earlier one of the same id is there.
    pub(super) fn decode_extended(&self, id: u16, at: usize, found: &mut Capabilities) {
        match id {
            0x0001 if found.aer == Cap::NotLooked => found.aer = Cap::Present(self.aer(at), self.spot(at + 4, 0x10)),
            0x000d if found.acs == Cap::NotLooked => found.acs = Cap::Present(self.acs(at), self.spot(at + 6, 2)),
            0x000e if found.ari == Cap::NotLooked => found.ari = Cap::Present(self.ari(at), self.spot(at + 4, 2)),
            0x000f if found.ats == Cap::NotLooked => found.ats = Cap::Present(self.ats(at), self.spot(at + 4, 4)),
            0x0010 if found.sriov == Cap::NotLooked => {
                found.sriov = Cap::Present(self.sriov(at), self.spot(at + 8, 0x10));
            }
            0x0015 if found.rebar == Cap::NotLooked => {
                let rebar = self.rebar(at);
                let n = rebar.bars.iter().flatten().count().max(1);
                found.rebar = Cap::Present(rebar, self.spot(at + 4, 8 * n));
            }
            _ => {}
        }
    }

    pub(super) fn express_version(&self, at: usize) -> u16 {
        self.word(at + 2).unwrap_or(0) & 0xf
    }

    pub(super) fn express(&self, at: usize) -> Express {
        let payload = |code: u32| 128u16.checked_shl(code).filter(|_| code <= 5);
        let port_type = self.word(at + 2).map(|flags| PortType::from_register((flags >> 4 & 0xf) as u8));
        let devcap = self.dword(at + 0x04);
        let devctl = self.word(at + 0x08);
        // Only functions at the end of a link have link registers: not those integrated into the root complex.
        let has_link = port_type.is_some_and(PortType::has_link);
        let linkcap = self.dword(at + 0x0c).filter(|_| has_link);
        let linkctl = self.word(at + 0x10).filter(|_| has_link);
        let linksta = self.word(at + 0x12).filter(|_| has_link);
        let v2 = self.express_version(at) >= 2;
        let devcap2 = self.dword(at + 0x24).filter(|_| v2);
        let devctl2 = self.word(at + 0x28).filter(|_| v2);
        let forwards = port_type.is_some_and(PortType::forwards_ari);
        let requests_atomics = port_type.is_some_and(PortType::requests_atomics);
        let speed = |v: u32| LinkSpeed::from_register((v & 0xf) as u8);
        let width = |v: u32| LinkWidth((v >> 4 & 0x3f) as u8);
        Express {
            port_type,
            max_payload_supported: devcap.and_then(|v| payload(v & 7)),
            max_payload: devctl.and_then(|v| payload(u32::from(v) >> 5 & 7)),
            max_read_request: devctl.and_then(|v| payload(u32::from(v) >> 12 & 7)),
            relaxed_ordering: devctl.map(|v| v & 1 << 4 != 0),
            extended_tag: devctl.map(|v| v & 1 << 8 != 0),
            extended_tag_supported: devcap.map(|v| v & 1 << 5 != 0),
            no_snoop: devctl.map(|v| v & 1 << 11 != 0),
            link_cap_speed: linkcap.and_then(speed),
            link_cap_width: linkcap.map(width),
            link_speed: linksta.and_then(|v| speed(v.into())),
            link_width: linksta.map(|v| width(v.into())),
            link_speed_is: None,
            link_width_is: None,
            aspm_enabled: linkctl.map(|v| v & 3 != 0),
            aspm_l1: linkctl.map(|v| v & 2 != 0),
            ten_bit_tag_completer: devcap2.map(|v| v & 1 << 16 != 0),
            ten_bit_tag_requester: devcap2.map(|v| v & 1 << 17 != 0),
            ten_bit_tag_enabled: devctl2.map(|v| v & 1 << 12 != 0),
            ari_forwarding_supported: devcap2.filter(|_| forwards).map(|v| v & 1 << 5 != 0),
            ari_forwarding: devctl2.filter(|_| forwards).map(|v| v & 1 << 5 != 0),
            atomic_requester: devctl2.filter(|_| requests_atomics).map(|v| v & 1 << 6 != 0),
            lines: Default::default(),
        }
    }

    fn acs(&self, at: usize) -> Acs {
        Acs { capability: self.word(at + 4).map(AcsBits), control: self.word(at + 6).map(AcsBits), control_line: 0 }
    }

    fn ats(&self, at: usize) -> Ats {
        let control = self.word(at + 6);
        Ats {
            invalidate_queue_depth: self.word(at + 4).map(|v| match v & 0x1f {
                0 => 32,
                n => n as u8,
            }),
            enabled: control.map(|v| v & 0x8000 != 0),
            smallest_translation_unit: control.map(|v| (v & 0x1f) as u8),
        }
    }

    fn aer(&self, at: usize) -> Aer {
        Aer {
            uncorrectable_status: self.dword(at + 0x04),
            uncorrectable_mask: self.dword(at + 0x08),
            uncorrectable_severity: self.dword(at + 0x0c),
            correctable_status: self.dword(at + 0x10),
        }
    }

    fn sriov(&self, at: usize) -> SrIov {
        SrIov {
            total_vfs: self.word(at + 0x0e),
            num_vfs: self.word(at + 0x10),
            enabled: self.word(at + 0x08).map(|v| v & 1 != 0),
            first_vf_offset: self.word(at + 0x14),
            vf_stride: self.word(at + 0x16),
        }
    }

    fn ari(&self, at: usize) -> Ari {
        Ari { next_function: self.byte(at + 5) }
    }

    /// The number of entries is in the first control register; each entry is a capability and a control register. The
    /// sizes from 256 TiB upwards are in the upper half of the control register.
    fn rebar(&self, at: usize) -> ResizableBars {
        let mut bars = ResizableBars::default();
        let count = self.dword(at + 8).map_or(0, |v| v as usize >> 5 & 7);
        for (i, bar) in bars.bars.iter_mut().enumerate().take(count) {
            let (Some(sizes), Some(control)) = (self.dword(at + 4 + 8 * i), self.dword(at + 8 + 8 * i)) else { break };
            *bar = Some(ResizableBar {
                bar: (control & 7) as u8,
                supported_mib_log2: u64::from(sizes >> 4) | u64::from(control >> 16) << 28,
                current_mib_log2: (control >> 8 & 0x3f) as u8,
            });
        }
        bars
    }
}
