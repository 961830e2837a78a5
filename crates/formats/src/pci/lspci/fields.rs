//! The words in which `lspci` writes the fields of registers.

use super::super::caps::{Beside, PortType, ResizableBar};
use super::super::{LinkSpeed, LinkWidth};
use crate::text::after;

/// Every bit of the ACS registers: all versions print them all.
pub(super) const ACS_ALL: u32 = 0x7f;

/// Bits of the uncorrectable error registers (PCIe base specification §7.8.4.2) and their names in `lspci`.
pub(super) const UNCORRECTABLE: &[(&str, u32)] = &[
    ("DLP", 1 << 4),
    ("SDES", 1 << 5),
    ("TLP", 1 << 12),
    ("FCP", 1 << 13),
    ("CmpltTO", 1 << 14),
    ("CmpltAbrt", 1 << 15),
    ("UnxCmplt", 1 << 16),
    ("RxOF", 1 << 17),
    ("MalfTLP", 1 << 18),
    ("ECRC", 1 << 19),
    ("UnsupReq", 1 << 20),
    ("ACSViol", 1 << 21),
    ("UncorrIntErr", 1 << 22),
    ("BlockedTLP", 1 << 23),
    ("AtomicOpBlocked", 1 << 24),
    ("TLPBlockedErr", 1 << 25),
    ("PoisonTLPBlocked", 1 << 26),
    ("DMWrReqBlocked", 1 << 27),
    ("IDECheck", 1 << 28),
    ("MisIDETLP", 1 << 29),
    ("PCRC_CHECK", 1 << 30),
    ("TLPXlatBlocked", 1 << 31),
];
/// From Data Link Protocol to Unsupported Request: printed by every version.
pub(super) const UNCORRECTABLE_ALL: u32 = 0x1f_f030;

/// Bits of the correctable error registers (§7.8.4.5).
pub(super) const CORRECTABLE: &[(&str, u32)] = &[
    ("RxErr", 1 << 0),
    ("BadTLP", 1 << 6),
    ("BadDLLP", 1 << 7),
    ("Rollover", 1 << 8),
    ("Timeout", 1 << 12),
    ("AdvNonFatalErr", 1 << 13),
    ("NonFatalErr", 1 << 13),
    ("CorrIntErr", 1 << 14),
    ("HeaderOF", 1 << 15),
];
pub(super) const CORRECTABLE_ALL: u32 = 0x31c1;

pub(super) fn port_type(name: &str) -> Option<PortType> {
    // The longer names first: `Root Complex Integrated Endpoint` is an `Endpoint` too.
    const NAMES: [(&str, PortType); 9] = [
        ("Root Complex Integrated Endpoint", PortType::RootComplexEndpoint),
        ("Root Complex Event Collector", PortType::RootComplexEventCollector),
        ("Root Port", PortType::RootPort),
        ("Upstream Port", PortType::UpstreamPort),
        ("Downstream Port", PortType::DownstreamPort),
        ("Legacy Endpoint", PortType::LegacyEndpoint),
        ("Endpoint", PortType::Endpoint),
        ("PCI-Express to PCI", PortType::PcieToPci),
        ("PCI/PCI-X to PCI-Express", PortType::PciToPcie),
    ];
    NAMES.iter().find(|(n, _)| name.contains(n)).map(|&(_, t)| t)
}

/// `Port #0, Speed 32GT/s, Width x16, ASPM …`, `Speed 8GT/s (downgraded), Width x8 (ok)`, `Speed unknown, Width x0`.
pub(super) fn speed_and_width(text: &str) -> (Option<LinkSpeed>, Option<LinkWidth>) {
    let speed = after(text, "Speed ").and_then(|t| Some(t.split_once("GT/s")?.0)).and_then(LinkSpeed::parse);
    let width = after(text, "Width x").and_then(|t| digits(t).parse().ok()).map(LinkWidth);
    (speed, width)
}

/// What `Speed 8GT/s (downgraded), Width x8 (ok)` says of both beside the device's own maximum.
pub(super) fn beside(text: &str) -> (Option<Beside>, Option<Beside>) {
    let of = |mark| {
        let value = after(text, mark)?.split(',').next()?;
        let words = [("(ok)", Beside::Equal), ("(downgraded)", Beside::Less), ("(overdriven)", Beside::More)];
        words.into_iter().find(|(word, _)| value.contains(word)).map(|(_, is)| is)
    };
    (of("Speed "), of("Width x"))
}

/// `current size: 256MB, supported: 256MB 512MB 1GB …`
pub(super) fn resizable(bar: u8, text: &str) -> Option<ResizableBar> {
    let (current, supported) = text.strip_prefix("current size: ")?.split_once(", supported:")?;
    let supported_mib_log2 = supported.split_ascii_whitespace().filter_map(mib_log2).fold(0, |all, n| all | 1u64 << n);
    Some(ResizableBar { bar, supported_mib_log2, current_mib_log2: mib_log2(current)? })
}

/// `256MB` is 2⁸ MiB.
fn mib_log2(text: &str) -> Option<u8> {
    let number = digits(text);
    let unit = match text.strip_prefix(number)? {
        "MB" => 0,
        "GB" => 10,
        "TB" => 20,
        "PB" => 30,
        "EB" => 40,
        _ => return None,
    };
    let n: u32 = number.parse().ok().filter(|n: &u32| n.is_power_of_two() && *n <= 512)?;
    Some(unit + n.trailing_zeros() as u8)
}

fn digits(text: &str) -> &str {
    text.split_once(|c: char| !c.is_ascii_digit()).map_or(text, |(d, _)| d)
}

/// The number between two marks. Without the second mark the number may have been cut.
pub(super) fn number_before<T: std::str::FromStr>(text: &str, mark: &str, end: &str) -> Option<T> {
    let rest = after(text, mark)?;
    let number = digits(rest);
    rest.strip_prefix(number)?.starts_with(end).then(|| number.parse().ok())?
}

/// `Enable+` or `Enable-` somewhere in a text.
pub(super) fn sign(text: &str, name: &str) -> Option<bool> {
    match after(text, name)?.as_bytes().first()? {
        b'+' => Some(true),
        b'-' => Some(false),
        _ => None,
    }
}

pub(super) fn hex_u8(text: &str) -> Option<u8> {
    u8::from_str_radix(text.get(..2)?, 16).ok()
}
