//! Faults that an IOMMU reports, of AMD, Intel and Arm.

use super::classify::word;
use super::driver::{Requester, first_bdf};
use super::event::Event;
use super::shape;
use crate::text::{after, leading_number, number};

/// A fault, or that some were not printed.
pub(super) fn read(m: &str) -> Option<Event> {
    if let Some((head, rest)) = m.split_once("[IO_PAGE_FAULT ") {
        return (head.contains("AMD-Vi: ") && shape::is_amd_fault(m)).then(|| amd(m, rest));
    }
    if let Some(rest) = after(m, "dmar_fault: ") {
        let suppressed = rest.contains("callbacks suppressed");
        return suppressed.then(|| leading_number(rest)).flatten().map(Event::DmarFaultsSuppressed);
    }
    // `DMAR: [DMA Write NO_PASID] Request device …`; before Linux 4 `DMAR:[DMA Write] Request device …`, also after `dmar: ` or `DMAR: `.
    if let Some(at) = m.find("[DMA ")
        && let Some((head, fault)) = m.split_at_checked(at)
        && head.trim_end().ends_with("DMAR:")
        && shape::is_dmar_fault(fault)
    {
        return intel(fault.trim_start_matches("[DMA "));
    }
    m.starts_with("arm-smmu").then(|| arm(m)).flatten()
}

/// `amd_iommu_report_page_fault`: as a message of the device, or with `device=` where the kernel does not know it.
fn amd(m: &str, rest: &str) -> Event {
    let value = |key: &str| after(rest, key).and_then(|r| number(word(r)));
    let named = after(rest, "device=").and_then(|r| word(r).parse().ok());
    let of = named.map_or_else(|| Requester::of_line(m), Requester::at);
    Event::IoPageFault { of, domain: value("domain="), address: value("address=") }
}

/// `Write NO_PASID] Request device [41:00.0] fault addr 0x… [fault reason 0x05] …`; older: `reason 05`, `addr` without 0x, the reason on
/// the line after.
fn intel(rest: &str) -> Option<Event> {
    let device =
        after(rest, "Request device ").or_else(|| after(rest, "Request Device "))?.trim_start().trim_start_matches('[');
    let bdf = device.split([']', ' ']).next().and_then(|d| d.parse().ok());
    let hex = |t: &str| u64::from_str_radix(t.strip_prefix("0x").unwrap_or(t), 16).ok();
    let address = after(rest, "fault addr ").and_then(|r| hex(word(r)));
    let reason =
        after(rest, "fault reason ").and_then(|r| hex(r.split([']', ' ']).next()?)).and_then(|r| r.try_into().ok());
    let of = bdf.map_or(Requester::UNNAMED, Requester::at);
    Some(Event::DmarFault { of, write: rest.starts_with("Write"), address, reason })
}

/// SMMUv3: `event 0x10 received:`, since 6.13 `event: F_TRANSLATION client: 0009:01:00.0 sid: 0x100 …`; SMMUv2: `Unhandled context fault: …`.
fn arm(m: &str) -> Option<Event> {
    let hex = |key: &str| after(m, key).and_then(|r| number(word(r))).and_then(|n| u32::try_from(n).ok());
    if let Some(rest) = after(m, ": event: ") {
        let of = after(rest, "client: ").and_then(first_bdf).map_or(Requester::UNNAMED, Requester::at);
        return Some(Event::SmmuEvent { event: word(rest).to_owned(), of, sid: hex("sid: ") });
    }
    if let Some(rest) = after(m, ": event ") {
        return Some(Event::SmmuEvent { event: word(rest).to_owned(), of: Requester::UNNAMED, sid: None });
    }
    let context = m.contains("Unhandled context fault:");
    let fault = context
        .then_some("context fault")
        .or_else(|| m.contains("global fault, this could be serious").then_some("global fault"))?;
    Some(Event::SmmuEvent { event: fault.to_owned(), of: Requester::UNNAMED, sid: None })
}
