//! A line `NVRM: Xid (PCI:…): N, …`, as `krcReportXid_IMPL` prints it (open-gpu-kernel-modules, `src/nvidia/src/kernel/gpu/rc/kernel_rc.c`).

use super::catalogue::unit;
use super::{Detail, Recovery, Subcode};
use crate::pci::Bdf;
use crate::text::{leading_number, number};

/// One report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Xid {
    /// GPU (function 0: the line has no function number).
    pub bdf: Option<Bdf>,
    /// Number.
    pub number: u32,
    /// What the rest of the line says.
    pub detail: Detail,
}

/// Reads what comes after `Xid (`: `PCI:0000:3a:00 GPU-I:05): 94, pid=1, name=x, Contained: …`.
#[must_use]
pub fn read(text: &str) -> Option<Xid> {
    let (place, tail) = text.split_once(')')?;
    // With MIG the instances follow the address.
    let place = place.split(' ').next().unwrap_or(place);
    let place = place.strip_prefix("PCI:").unwrap_or(place);
    let bdf = place.parse().or_else(|_| format!("{place}.0").parse()).ok();
    let said = tail.strip_prefix(':')?.trim_start();
    let digits = said.bytes().take_while(u8::is_ascii_digit).count();
    // `79, pid=…`: a sentence goes on without the comma.
    let whole = matches!(said.as_bytes().get(digits), None | Some(b','));
    let number: u32 = leading_number(said).filter(|_| whole)?;
    let detail = detail(number, tail).unwrap_or(Detail::Number);
    Some(Xid { bdf, number, detail })
}

fn detail(number: u32, tail: &str) -> Option<Detail> {
    match number {
        45 => tail.split_once("caused by previous Xid ").and_then(|(_, n)| leading_number(n)).map(Detail::After),
        144..=150 => nvlink(number, tail).map(Detail::NvLink),
        // `GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)`
        154 => {
            let (_, to) = tail.split_once(" to 0x")?;
            let name = to.split_once('(')?.1.split(')').next()?;
            Some(Detail::Recovery(recovery(name)))
        }
        _ => None,
    }
}

fn recovery(name: &str) -> Recovery {
    [
        Recovery::None,
        Recovery::GpuReset,
        Recovery::NodeReboot,
        Recovery::DrainP2p,
        Recovery::DrainAndReset,
        Recovery::RecoverImex,
    ]
    .into_iter()
    .find(|r| r.name() == name)
    .unwrap_or(Recovery::Other)
}

/// `… NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 …)`
fn nvlink(xid: u32, tail: &str) -> Option<Subcode> {
    let (before, fatal) = match tail.split_once(" Nonfatal ") {
        Some((before, _)) => (before, false),
        None => (tail.split_once(" Fatal ")?.0, true),
    };
    let name = before.rsplit([' ', ',']).next()?;
    let words = tail.rsplit_once('(')?.1;
    let mut words = words.split([' ', ')']).map(|w| number(w).and_then(|n| u32::try_from(n).ok()));
    let info = words.next()??;
    let status = words.next()??;
    Some(Subcode { unit: unit(xid, name), sub: u8::try_from(info >> 20 & 0x3f).unwrap_or(0), status, fatal })
}
