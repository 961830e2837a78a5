//! The capability list and the registers that -vv prints below each capability.

mod flags;

pub(super) use flags::acs_flags;

use super::device::Verbosity;
use super::fields::{beside, hex_u8, number_before, port_type, resizable, sign, speed_and_width};
use crate::pci::caps::{Acs, AcsBits, Aer, Ari, Ats, Cap, Capabilities, Express, ResizableBars, Spot, SrIov, Unseen};
use crate::text::after;

/// The capability whose lines are being read.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Context {
    /// Before the list.
    #[default]
    Device,
    Rebar,
    Other,
}

/// The register whose line was read last: its flags go on over the next lines.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Register {
    #[default]
    Other,
    DevCap,
    DevCtl,
    DevCap2,
    DevCtl2,
    AcsCap,
    AcsCtl,
    UncorrectableStatus,
    UncorrectableMask,
    UncorrectableSeverity,
    CorrectableStatus,
}

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It has nothing to do with capabilities.
    No,
    /// It lies within the list, without a meaning here; noise below a block looks the same.
    Passed,
    /// An entry of the list, or a register.
    Read,
}

/// Capabilities found so far, each with its deciding line.
#[derive(Default)]
pub(super) struct Registers {
    express: Option<(Express, u32)>,
    acs: Option<(Acs, u32)>,
    ats: Option<(Ats, u32)>,
    aer: Option<(Aer, u32)>,
    sriov: Option<(SrIov, u32)>,
    ari: Option<(Ari, u32)>,
    rebar: Option<(ResizableBars, u32)>,
    context: Context,
    register: Register,
    /// Flags seen of the register being read, and those of them that are set.
    seen: u32,
    set: u32,
    list: bool,
    denied: bool,
    broken: bool,
    verbose: bool,
}

impl Registers {
    /// A capability list or registers were seen.
    pub(super) fn started(&self) -> bool {
        self.context != Context::Device || self.verbose
    }

    /// At least one capability was listed.
    pub(super) fn list_printed(&self) -> bool {
        self.list
    }

    /// `<access denied>`.
    pub(super) fn denied(&self) -> bool {
        self.denied
    }

    /// `lspci` itself said that the list is broken.
    pub(super) fn broken(&self) -> bool {
        self.broken
    }

    pub(super) fn verbosity(&self) -> Verbosity {
        if self.verbose { Verbosity::VeryVerbose } else { Verbosity::Verbose }
    }

    /// Takes up a line.
    pub(super) fn line(&mut self, text: &str, n: u32) -> Taken {
        if let Some(rest) = text.strip_prefix("Capabilities:") {
            self.capability(rest.trim_start(), n);
            return Taken::Read;
        }
        if let Some((key, value)) = text.split_once(':')
            && key.len() <= 20
        {
            let value = value.trim_start();
            match self.keyed(key, value, n) {
                Some(register) => {
                    (self.register, self.verbose) = (register, true);
                    (self.seen, self.set) = (0, 0);
                    self.flags(value, n);
                    return Taken::Read;
                }
                // Part of the flags of DevCap2 and DevCtl2.
                None if key == "AtomicOpsCtl" || key == "AtomicOpsCap" => {}
                None if self.context != Context::Device && !is_after_list(key) => {
                    self.register = Register::Other;
                    return Taken::Passed;
                }
                None => return Taken::No,
            }
        }
        if self.context == Context::Device && self.register == Register::Other {
            return Taken::No;
        }
        self.flags(text, n);
        Taken::Passed
    }

    /// A line of the list: `[60] Express (v2) Endpoint, MSI 00`, `[100 v1] Advanced Error Reporting`, `<access denied>`.
    fn capability(&mut self, text: &str, n: u32) {
        (self.context, self.register) = (Context::Other, Register::Other);
        if text.starts_with("<access denied>") {
            self.denied = true;
            return;
        }
        let Some((_, name)) = text.strip_prefix('[').and_then(|t| t.split_once("] ")) else {
            self.broken = true;
            return;
        };
        if ["<chain looped>", "<chain broken>", "<unreadable>"].iter().any(|m| name.starts_with(m)) {
            self.broken = true;
            return;
        }
        self.list = true;
        match name {
            _ if name.starts_with("Express") => {
                let express = Express { port_type: port_type(name), ..Express::default() };
                self.express.get_or_insert((express, n));
            }
            _ if name.starts_with("Access Control Services") => self.found(0x0d, n),
            _ if name.starts_with("Address Translation Service") => self.found(0x0f, n),
            _ if name.starts_with("Advanced Error Reporting") => self.found(0x01, n),
            _ if name.starts_with("Single Root I/O Virtualization") => self.found(0x10, n),
            _ if name.starts_with("Alternative Routing-ID") => self.found(0x0e, n),
            _ if name.starts_with("Physical Resizable BAR") || name.starts_with("Resizable BAR") => self.found(0x15, n),
            // Versions too old to know a capability print its number.
            _ => {
                let decimal = name.strip_prefix("Unknown (").and_then(|t| t.split_once(')')?.0.parse().ok());
                let hex = name
                    .strip_prefix("Extended Capability ID 0x")
                    .and_then(|t| u16::from_str_radix(t.split(' ').next().unwrap_or_default(), 16).ok());
                self.found(decimal.or(hex).unwrap_or(0), n);
            }
        }
    }

    /// An extended capability by its id; the first of an id counts.
    fn found(&mut self, id: u16, n: u32) {
        match id {
            0x0d => _ = begun(&mut self.acs, n),
            0x0f => _ = begun(&mut self.ats, n),
            0x01 => _ = begun(&mut self.aer, n),
            0x10 => _ = begun(&mut self.sriov, n),
            0x0e => _ = begun(&mut self.ari, n),
            0x15 => {
                begun(&mut self.rebar, n);
                self.context = Context::Rebar;
            }
            _ => {}
        }
    }

    /// A register by its name. The names are unique, so they tell the capability even where a filter took its line away.
    fn keyed(&mut self, key: &str, value: &str, n: u32) -> Option<Register> {
        match key {
            "DevCap" => {
                let e = self.express(n);
                e.lines.devcap = n;
                e.max_payload_supported = number_before(value, "MaxPayload ", " bytes");
                Some(Register::DevCap)
            }
            "DevCtl" => {
                self.express(n).lines.devctl = n;
                Some(Register::DevCtl)
            }
            "LnkCap" => {
                let e = self.express(n);
                e.lines.lnkcap = n;
                (e.link_cap_speed, e.link_cap_width) = speed_and_width(value);
                Some(Register::Other)
            }
            "LnkSta" => {
                let e = self.express(n);
                e.lines.lnksta = n;
                (e.link_speed, e.link_width) = speed_and_width(value);
                (e.link_speed_is, e.link_width_is) = beside(value);
                Some(Register::Other)
            }
            "LnkCtl" => {
                let e = self.express(n);
                e.lines.lnkctl = n;
                // `ASPM Disabled;` or `ASPM L0s L1 Enabled;`
                if let Some((aspm, _)) = value.strip_prefix("ASPM ").and_then(|v| v.split_once(';')) {
                    let known = aspm == "Disabled" || aspm.ends_with(" Enabled");
                    e.aspm_enabled = known.then_some(aspm != "Disabled");
                    e.aspm_l1 = known.then(|| aspm.split(' ').any(|s| s == "L1"));
                }
                Some(Register::Other)
            }
            "DevCap2" => {
                self.express(n).lines.devcap2 = n;
                Some(Register::DevCap2)
            }
            "DevCtl2" => {
                self.express(n).lines.devctl2 = n;
                Some(Register::DevCtl2)
            }
            "ACSCap" => Some(Register::AcsCap),
            "ACSCtl" => {
                let acs = begun(&mut self.acs, n);
                (acs.0.control_line, acs.1) = (n, n);
                Some(Register::AcsCtl)
            }
            "ATSCap" => {
                let ats = begun(&mut self.ats, n);
                ats.0.invalidate_queue_depth =
                    after(value, "Invalidate Queue Depth: ").and_then(hex_u8).map(|v| match v {
                        0 => 32,
                        v => v,
                    });
                Some(Register::Other)
            }
            "ATSCtl" => {
                let ats = begun(&mut self.ats, n);
                ats.1 = n;
                ats.0.enabled = sign(value, "Enable");
                ats.0.smallest_translation_unit = after(value, "Smallest Translation Unit: ").and_then(hex_u8);
                Some(Register::Other)
            }
            "UESta" => {
                begun(&mut self.aer, n).1 = n;
                Some(Register::UncorrectableStatus)
            }
            "UEMsk" => Some(Register::UncorrectableMask),
            "UESvrt" => Some(Register::UncorrectableSeverity),
            "CESta" => Some(Register::CorrectableStatus),
            "IOVCtl" => {
                let sriov = begun(&mut self.sriov, n);
                sriov.1 = n;
                sriov.0.enabled = sign(value, "Enable");
                Some(Register::Other)
            }
            "Initial VFs" => {
                let sriov = &mut begun(&mut self.sriov, n).0;
                sriov.total_vfs = number_before(value, "Total VFs: ", ",");
                sriov.num_vfs = number_before(value, "Number of VFs: ", ",");
                Some(Register::Other)
            }
            "VF offset" => {
                let sriov = &mut begun(&mut self.sriov, n).0;
                sriov.first_vf_offset = value.split_once(',').and_then(|(v, _)| v.parse().ok());
                sriov.vf_stride = number_before(value, "stride: ", ",");
                Some(Register::Other)
            }
            "ARICap" => {
                let ari = begun(&mut self.ari, n);
                ari.1 = n;
                ari.0.next_function = after(value, "Next Function: ").and_then(|v| v.parse().ok());
                Some(Register::Other)
            }
            _ if self.context == Context::Rebar && key.starts_with("BAR ") => {
                let bar = key.strip_prefix("BAR ").and_then(|b| b.parse().ok()).and_then(|b| resizable(b, value));
                let free = self.rebar.as_mut().and_then(|(r, _)| r.bars.iter_mut().find(|b| b.is_none()));
                if let (Some(free), Some(_)) = (free, bar) {
                    *free = bar;
                }
                Some(Register::Other)
            }
            _ => None,
        }
    }

    fn express(&mut self, n: u32) -> &mut Express {
        &mut begun(&mut self.express, n).0
    }

    fn aer(&mut self) -> &mut Aer {
        &mut begun(&mut self.aer, 0).0
    }

    /// Hands everything over; what was not found is not present, or unseen for the reason given.
    pub(super) fn settle(&mut self, rest: Option<Unseen>, caps: &mut Capabilities) {
        fn cap<T: Copy>(found: Option<(T, u32)>, rest: Option<Unseen>) -> Cap<T> {
            match (found, rest) {
                (Some((t, line)), _) => Cap::Present(t, Spot::Line(line)),
                (None, None) => Cap::NotPresent,
                (None, Some(why)) => Cap::Unseen(why),
            }
        }
        *caps = Capabilities {
            express: cap(self.express, rest),
            acs: cap(self.acs, rest),
            ats: cap(self.ats, rest),
            aer: cap(self.aer, rest),
            sriov: cap(self.sriov, rest),
            ari: cap(self.ari, rest),
            rebar: cap(self.rebar, rest),
        };
    }
}

/// A capability of which something was read; if it is the first, this is its line.
fn begun<T: Default>(slot: &mut Option<(T, u32)>, line: u32) -> &mut (T, u32) {
    slot.get_or_insert_with(|| (T::default(), line))
}

/// Keys of the lines that come after the capability list.
fn is_after_list(key: &str) -> bool {
    matches!(key, "Kernel driver in use" | "Kernel modules" | "NUMA node" | "IOMMU group")
        || (matches!(key.len(), 2 | 3) && key.bytes().all(|b| b.is_ascii_hexdigit()))
}
