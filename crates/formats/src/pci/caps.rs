//! What a PCI function's configuration space says, decoded. Filled from the binary space ([`super::config`]) and from the text
//! of `lspci -vv` ([`super::lspci`]); a field that the input did not show is `None`.

use super::{LinkSpeed, LinkWidth};
use serde::Serialize;

/// Where in its input a capability was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Spot {
    /// Byte range in the configuration space.
    Bytes {
        /// Offset of the first byte.
        offset: u16,
        /// Number of bytes.
        len: u16,
    },
    /// 1-based line of the text.
    Line(u32),
}

/// Why a capability could not be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Unseen {
    /// The space was cut: only this many bytes could be read (64 without privileges).
    Cut(u16),
    /// `lspci` printed `<access denied>`.
    AccessDenied,
    /// `lspci` was run without -vv (or the dump does not hold capabilities at all).
    NotPrinted,
    /// The capability list loops, points outside the space, or the text is garbled there.
    Malformed,
}

/// A capability: found, certainly not there, or not visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub enum Cap<T> {
    /// Present and decoded.
    Present(T, Spot),
    /// The whole list was seen and it is not in it.
    NotPresent,
    /// Could not be seen.
    Unseen(Unseen),
    /// Nobody looked.
    #[default]
    NotLooked,
}

impl<T> Cap<T> {
    /// The decoded capability, if it was found.
    pub fn get(&self) -> Option<&T> {
        match self {
            Cap::Present(t, _) => Some(t),
            _ => None,
        }
    }
}

/// Every capability this project decodes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Capabilities {
    /// PCI Express (capability 0x10).
    pub express: Cap<Express>,
    /// Access Control Services (extended capability 0x000d).
    pub acs: Cap<Acs>,
    /// Address Translation Services (0x000f).
    pub ats: Cap<Ats>,
    /// Advanced Error Reporting (0x0001).
    pub aer: Cap<Aer>,
    /// Single-root I/O virtualisation (0x0010).
    pub sriov: Cap<SrIov>,
    /// Alternative Routing-ID (0x000e).
    pub ari: Cap<Ari>,
    /// Resizable BAR (0x0015).
    pub rebar: Cap<ResizableBars>,
}

impl Capabilities {
    /// Nothing could be seen, for one reason.
    #[must_use]
    pub fn unseen(why: Unseen) -> Self {
        Self {
            express: Cap::Unseen(why),
            acs: Cap::Unseen(why),
            ats: Cap::Unseen(why),
            aer: Cap::Unseen(why),
            sriov: Cap::Unseen(why),
            ari: Cap::Unseen(why),
            rebar: Cap::Unseen(why),
        }
    }
}

/// Device/port type of the PCI Express capability (register +0x02 bits 7:4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum PortType {
    /// 0.
    Endpoint,
    /// 1.
    LegacyEndpoint,
    /// 4.
    RootPort,
    /// 5.
    UpstreamPort,
    /// 6.
    DownstreamPort,
    /// 7: PCIe to PCI/PCI-X.
    PcieToPci,
    /// 8.
    PciToPcie,
    /// 9.
    RootComplexEndpoint,
    /// 10.
    RootComplexEventCollector,
    /// Reserved encodings.
    Other(u8),
}

impl PortType {
    /// From register +0x02 bits 7:4.
    #[must_use]
    pub fn from_register(v: u8) -> Self {
        match v {
            0 => Self::Endpoint,
            1 => Self::LegacyEndpoint,
            4 => Self::RootPort,
            5 => Self::UpstreamPort,
            6 => Self::DownstreamPort,
            7 => Self::PcieToPci,
            8 => Self::PciToPcie,
            9 => Self::RootComplexEndpoint,
            10 => Self::RootComplexEventCollector,
            v => Self::Other(v),
        }
    }
}

impl PortType {
    /// The function sits at an end of a link and has link registers; functions inside the root complex have none.
    #[must_use]
    pub fn has_link(self) -> bool {
        !matches!(self, Self::RootComplexEndpoint | Self::RootComplexEventCollector | Self::Other(_))
    }

    /// A port above a link, on which ARI forwarding exists.
    #[must_use]
    pub fn forwards_ari(self) -> bool {
        matches!(self, Self::RootPort | Self::DownstreamPort)
    }

    /// The function may send AtomicOp requests of its own; switch ports only pass them on.
    #[must_use]
    pub fn requests_atomics(self) -> bool {
        matches!(self, Self::Endpoint | Self::LegacyEndpoint | Self::RootPort | Self::RootComplexEndpoint)
    }
}

/// PCI Express capability. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Express {
    /// Device/port type.
    pub port_type: Option<PortType>,
    /// DevCap: largest payload supported.
    pub max_payload_supported: Option<u16>,
    /// DevCtl: payload in use.
    pub max_payload: Option<u16>,
    /// DevCtl: largest read request.
    pub max_read_request: Option<u16>,
    /// DevCtl bit 4.
    pub relaxed_ordering: Option<bool>,
    /// DevCtl bit 8.
    pub extended_tag: Option<bool>,
    /// DevCap bit 5.
    pub extended_tag_supported: Option<bool>,
    /// DevCtl bit 11.
    pub no_snoop: Option<bool>,
    /// LnkCap.
    pub link_cap_speed: Option<LinkSpeed>,
    /// LnkCap.
    pub link_cap_width: Option<LinkWidth>,
    /// LnkSta.
    pub link_speed: Option<LinkSpeed>,
    /// LnkSta.
    pub link_width: Option<LinkWidth>,
    /// What `lspci` says of the speed beside the device's own maximum.
    pub link_speed_is: Option<Beside>,
    /// What `lspci` says of the width beside the device's own maximum.
    pub link_width_is: Option<Beside>,
    /// LnkCtl bits 1:0 are not zero (L0s or L1 enabled).
    pub aspm_enabled: Option<bool>,
    /// LnkCtl bit 1: L1.
    pub aspm_l1: Option<bool>,
    /// DevCap2 bit 16.
    pub ten_bit_tag_completer: Option<bool>,
    /// DevCap2 bit 17.
    pub ten_bit_tag_requester: Option<bool>,
    /// DevCtl2 bit 12.
    pub ten_bit_tag_enabled: Option<bool>,
    /// DevCap2 bit 5.
    pub ari_forwarding_supported: Option<bool>,
    /// DevCtl2 bit 5.
    pub ari_forwarding: Option<bool>,
    /// DevCtl2 bit 6.
    pub atomic_requester: Option<bool>,
    /// Lines of the text on which a register was printed (`None` for binary input): DevCtl, LnkCap, LnkSta, DevCtl2.
    pub lines: ExpressLines,
}

/// A value of LnkSta beside that of LnkCap, in the words of `lspci` (3.6.2 and later; later releases leave `(ok)` out).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Beside {
    /// `(ok)`: equal.
    Equal,
    /// `(downgraded)`: less.
    Less,
    /// `(overdriven)`: more.
    More,
}

/// 1-based lines of the registers of [`Express`] in `lspci` text; 0 where not printed or binary input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ExpressLines {
    /// DevCap.
    pub devcap: u32,
    /// DevCtl flags (RlxdOrd…).
    pub devctl: u32,
    /// The `MaxPayload … MaxReadReq` line of DevCtl.
    pub maxpayload: u32,
    /// LnkCap.
    pub lnkcap: u32,
    /// LnkCtl.
    pub lnkctl: u32,
    /// LnkSta.
    pub lnksta: u32,
    /// DevCap2.
    pub devcap2: u32,
    /// DevCtl2.
    pub devctl2: u32,
}

/// Bits of the ACS capability and control registers. Bit numbers as in PCIe base specification §7.7.11.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct AcsBits(pub u16);

impl AcsBits {
    /// Source Validation.
    pub const SV: u16 = 0x01;
    /// Translation Blocking.
    pub const TB: u16 = 0x02;
    /// P2P Request Redirect.
    pub const RR: u16 = 0x04;
    /// P2P Completion Redirect.
    pub const CR: u16 = 0x08;
    /// Upstream Forwarding.
    pub const UF: u16 = 0x10;
    /// P2P Egress Control.
    pub const EC: u16 = 0x20;
    /// Direct Translated P2P.
    pub const DT: u16 = 0x40;
    /// The bits that take peer-to-peer TLPs off the direct way: what the kernel's `disable_acs_redir` clears.
    pub const REDIRECT: u16 = Self::RR | Self::CR | Self::EC;

    const NAMES: [(u16, &'static str); 7] = [
        (Self::SV, "SrcValid"),
        (Self::TB, "TransBlk"),
        (Self::RR, "ReqRedir"),
        (Self::CR, "CmpltRedir"),
        (Self::UF, "UpstreamFwd"),
        (Self::EC, "EgressCtrl"),
        (Self::DT, "DirectTrans"),
    ];

    /// Bit and the name `lspci` prints for it.
    pub fn names() -> impl Iterator<Item = (u16, &'static str)> {
        Self::NAMES.into_iter()
    }

    /// All of `mask` set.
    #[must_use]
    pub fn has(self, mask: u16) -> bool {
        self.0 & mask == mask
    }

    /// Any of `mask` set.
    #[must_use]
    pub fn any(self, mask: u16) -> bool {
        self.0 & mask != 0
    }
}

impl std::fmt::Display for AcsBits {
    /// As `lspci` prints: `SrcValid+ TransBlk- …`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (bit, name)) in Self::NAMES.into_iter().enumerate() {
            f.write_str(if i == 0 { "" } else { " " })?;
            f.write_str(name)?;
            f.write_str(if self.has(bit) { "+" } else { "-" })?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for AcsBits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#04x}", self.0)
    }
}

/// Access Control Services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Acs {
    /// What the port can do.
    pub capability: Option<AcsBits>,
    /// What is switched on. `None` when the text was cut before ACSCtl.
    pub control: Option<AcsBits>,
    /// Line of ACSCtl in text; 0 otherwise.
    pub control_line: u32,
}

/// Address Translation Services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ats {
    /// Invalidate queue depth; 0 in the register means 32.
    pub invalidate_queue_depth: Option<u8>,
    /// Control bit 15.
    pub enabled: Option<bool>,
    /// Smallest translation unit, control bits 4:0.
    pub smallest_translation_unit: Option<u8>,
}

/// Advanced Error Reporting: the status registers (sticky until cleared).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Aer {
    /// Uncorrectable error status.
    pub uncorrectable_status: Option<u32>,
    /// Uncorrectable error mask.
    pub uncorrectable_mask: Option<u32>,
    /// Uncorrectable error severity (1 = fatal).
    pub uncorrectable_severity: Option<u32>,
    /// Correctable error status.
    pub correctable_status: Option<u32>,
}

/// Single-root I/O virtualisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SrIov {
    /// VFs that exist at most.
    pub total_vfs: Option<u16>,
    /// VFs configured.
    pub num_vfs: Option<u16>,
    /// Control bit 0.
    pub enabled: Option<bool>,
    /// Routing-ID offset of the first VF.
    pub first_vf_offset: Option<u16>,
    /// Routing-ID stride between VFs.
    pub vf_stride: Option<u16>,
}

/// Alternative Routing-ID interpretation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ari {
    /// Next function number.
    pub next_function: Option<u8>,
}

/// Resizable BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ResizableBars {
    /// Up to six entries; `None` past the last.
    pub bars: [Option<ResizableBar>; 6],
}

/// One resizable BAR. Sizes as log2 of MiB: 0 = 1 MiB, 17 = 128 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ResizableBar {
    /// BAR number.
    pub bar: u8,
    /// Bit n set: size 2ⁿ MiB supported.
    pub supported_mib_log2: u64,
    /// Current size.
    pub current_mib_log2: u8,
}
