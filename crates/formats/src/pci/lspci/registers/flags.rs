//! The flags of a register, which go on over several lines.

use super::super::fields::{ACS_ALL, CORRECTABLE, CORRECTABLE_ALL, UNCORRECTABLE, UNCORRECTABLE_ALL, number_before};
use super::{AcsBits, Register, Registers, begun};

/// The flags of Access Control Services, where all that every version prints are there.
pub(in super::super) fn acs_flags(text: &str) -> Option<AcsBits> {
    let (mut seen, mut set) = (0, 0);
    for word in text.split_ascii_whitespace() {
        let Some((name, on)) =
            word.strip_suffix('+').map(|w| (w, true)).or_else(|| Some((word.strip_suffix('-')?, false)))
        else {
            continue;
        };
        if let Some((bit, _)) = AcsBits::names().find(|(_, n)| *n == name) {
            seen |= u32::from(bit);
            set |= if on { bit } else { 0 };
        }
    }
    (seen & ACS_ALL == ACS_ALL).then_some(AcsBits(set))
}

impl Registers {
    /// The flags (`Name+`, `Name-`) of the register being read, on its own line or on one that continues it.
    pub(super) fn flags(&mut self, text: &str, n: u32) {
        let register = self.register;
        match register {
            Register::Other => return,
            Register::DevCtl if text.starts_with("MaxPayload ") => {
                let e = self.express(n);
                e.lines.maxpayload = n;
                e.max_payload = number_before(text, "MaxPayload ", " bytes");
                e.max_read_request = number_before(text, "MaxReadReq ", " bytes");
                return;
            }
            _ => {}
        }
        for word in text.split_ascii_whitespace() {
            let word = word.trim_end_matches([',', ';']);
            let Some((name, on)) =
                word.strip_suffix('+').map(|w| (w, true)).or_else(|| Some((word.strip_suffix('-')?, false)))
            else {
                continue;
            };
            match register {
                Register::AcsCap | Register::AcsCtl => self.bit(AcsBits::names().map(|(b, n)| (n, b.into())), name, on),
                Register::UncorrectableStatus | Register::UncorrectableMask | Register::UncorrectableSeverity => {
                    self.bit(UNCORRECTABLE.iter().copied(), name, on);
                }
                Register::CorrectableStatus => self.bit(CORRECTABLE.iter().copied(), name, on),
                _ => self.express_flag(name, on, n),
            }
        }
        self.settle_bits();
    }

    fn express_flag(&mut self, name: &str, on: bool, n: u32) {
        let register = self.register;
        let e = self.express(n);
        let field = match (register, name) {
            (Register::DevCap, "ExtTag") => &mut e.extended_tag_supported,
            (Register::DevCtl, "RlxdOrd") => {
                e.lines.devctl = n;
                &mut e.relaxed_ordering
            }
            (Register::DevCtl, "ExtTag") => &mut e.extended_tag,
            (Register::DevCtl, "NoSnoop") => &mut e.no_snoop,
            (Register::DevCap2, "10BitTagComp") => &mut e.ten_bit_tag_completer,
            (Register::DevCap2, "10BitTagReq") => &mut e.ten_bit_tag_requester,
            (Register::DevCap2, "ARIFwd") => &mut e.ari_forwarding_supported,
            (Register::DevCtl2, "10BitTagReq") => &mut e.ten_bit_tag_enabled,
            (Register::DevCtl2, "ARIFwd") => &mut e.ari_forwarding,
            (Register::DevCtl2, "ReqEn") => &mut e.atomic_requester,
            _ => return,
        };
        *field = Some(on);
    }

    fn bit(&mut self, mut names: impl Iterator<Item = (&'static str, u32)>, name: &str, on: bool) {
        if let Some((_, bit)) = names.find(|(n, _)| *n == name) {
            self.seen |= bit;
            self.set |= if on { bit } else { 0 };
        }
    }

    /// A register of flags is known once all those that every version prints were seen: half a line must not read as zeroes.
    fn settle_bits(&mut self) {
        let (seen, set) = (self.seen, self.set);
        let has = |all: u32| seen & all == all;
        match self.register {
            Register::AcsCap if has(ACS_ALL) => begun(&mut self.acs, 0).0.capability = Some(AcsBits(set as u16)),
            Register::AcsCtl if has(ACS_ALL) => begun(&mut self.acs, 0).0.control = Some(AcsBits(set as u16)),
            Register::UncorrectableStatus if has(UNCORRECTABLE_ALL) => self.aer().uncorrectable_status = Some(set),
            Register::UncorrectableMask if has(UNCORRECTABLE_ALL) => self.aer().uncorrectable_mask = Some(set),
            Register::UncorrectableSeverity if has(UNCORRECTABLE_ALL) => self.aer().uncorrectable_severity = Some(set),
            Register::CorrectableStatus if has(CORRECTABLE_ALL) => self.aer().correctable_status = Some(set),
            _ => {}
        }
    }
}
