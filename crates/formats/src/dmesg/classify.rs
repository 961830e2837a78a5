//! From a message to an event. Every branch tests fixed words of the kernel's or the driver's own format strings.

use super::event::{AerSeverity, AmdVi, DomainKind, Event, LimitedBy, Mlx5Event};
use crate::nvidia_proc::version_line;
use crate::pci::Bdf;
use crate::text::{leading_number, number};

/// What messages are about, one bit each.
pub(super) mod subject {
    pub(in super::super) const IOMMU: u8 = 1;
    pub(in super::super) const NVIDIA: u8 = 2;
    pub(in super::super) const PCI: u8 = 4;
    pub(in super::super) const MODULES: u8 = 8;
    pub(in super::super) const MLX5: u8 = 16;
    pub(in super::super) const COMMAND_LINE: u8 = 32;
    pub(in super::super) const ALL: u8 = u8::MAX;
}

/// What a message (without time and level) says; `None` for everything else.
pub fn classify(message: &str) -> Option<Event> {
    classify_as(message, subject::ALL)
}

/// What a message of some subjects says.
pub(super) fn classify_as(message: &str, subjects: u8) -> Option<Event> {
    type Read = fn(&str) -> Option<Event>;
    let by_subject: [(u8, Read); 6] = [
        (subject::IOMMU, iommu),
        (subject::NVIDIA, nvidia),
        (subject::PCI, pci),
        (subject::MODULES, modules),
        (subject::MLX5, mlx5),
        (subject::COMMAND_LINE, command_line),
    ];
    by_subject.into_iter().filter(|(s, _)| subjects & s != 0).find_map(|(_, read)| read(message))
}

fn iommu(m: &str) -> Option<Event> {
    if let Some(rest) = after(m, "iommu: Default domain type: ") {
        let kind = match rest.split_whitespace().next()? {
            "Passthrough" => DomainKind::Passthrough,
            "Translated" => DomainKind::Translated,
            _ => return None,
        };
        return Some(Event::DefaultDomain { kind, via_cmdline: rest.contains("(set via kernel command line)") });
    }
    if let Some(rest) = after(m, "iommu: DMA domain TLB invalidation policy: ") {
        let via_cmdline = rest.contains("(set via kernel command line)");
        return Some(Event::TlbPolicy { lazy: rest.starts_with("lazy"), via_cmdline });
    }
    if let Some(rest) = after(m, "Adding to iommu group ") {
        return Some(Event::IommuGroup { bdf: first_bdf(m)?, group: leading_number(rest)? });
    }
    if m.contains("Memory encryption detected - Disabling default IOMMU Passthrough") {
        return Some(Event::PassthroughDisabledByEncryption);
    }
    if let Some(rest) = after(m, "Memory Encryption Features active:") {
        return Some(Event::MemoryEncryption(rest.trim().to_owned()));
    }
    if m.contains("SNP: IOMMU") && m.contains("SNP cannot be supported") {
        return Some(Event::SnpNeedsTranslation);
    }
    if m.contains("IO_PAGE_FAULT") {
        let value = |key: &str| after(m, key).and_then(|r| number(word(r)));
        let old_form = after(m, "device=").and_then(|r| word(r).parse().ok());
        return Some(Event::IoPageFault {
            bdf: old_form.or_else(|| first_bdf(m)),
            domain: value("domain="),
            address: value("address="),
        });
    }
    if let Some(rest) = after(m, "AMD-Vi: ") {
        return amd_vi(rest).map(Event::AmdVi);
    }
    if let Some(rest) = after(m, "DMAR: ") {
        return dmar(rest);
    }
    if let Some(rest) = after(m, "dmar_fault: ") {
        return rest
            .contains("callbacks suppressed")
            .then(|| leading_number(rest))
            .flatten()
            .map(Event::DmarFaultsSuppressed);
    }
    if m.starts_with("arm-smmu") {
        if m.contains(": ias ") {
            return Some(Event::SmmuInitialised);
        }
        // `event 0x10 received:`, since 6.13 `event: F_TRANSLATION client: 0009:01:00.0 …`
        let rest = after(m, ": event: ").or_else(|| after(m, ": event "))?;
        return Some(Event::SmmuEvent { event: word(rest).to_owned(), bdf: first_bdf(rest) });
    }
    if m.contains("software bounce buffering for IO (SWIOTLB)") {
        return Some(Event::BounceBuffers);
    }
    (m.contains("swiotlb buffer is full") || m.contains("Out of SW-IOMMU space"))
        .then(|| Event::DmaMapFailed { bdf: first_bdf(m) })
}

fn amd_vi(rest: &str) -> Option<AmdVi> {
    if let Some(option) = rest.strip_prefix("Unknown option - ") {
        return Some(AmdVi::UnknownOption(option.trim().trim_matches(['\'', '`']).to_owned()));
    }
    if rest.starts_with("Found IOMMU") {
        return Some(AmdVi::Found(first_bdf(rest)));
    }
    if rest.starts_with("Extended features") {
        return Some(AmdVi::ExtendedFeatures);
    }
    if rest.starts_with("Interrupt remapping enabled") {
        return Some(AmdVi::InterruptRemapping);
    }
    if rest.contains("performance counters supported") {
        return Some(AmdVi::PerformanceCounters);
    }
    (rest.contains("IOMMU disabled") || rest.starts_with("Disabling")).then_some(AmdVi::Disabled)
}

fn dmar(rest: &str) -> Option<Event> {
    // `[DMA Write NO_PASID] Request device [41:00.0] fault addr 0x… [fault reason 0x05] …`; older: `reason 05`, `addr` without 0x.
    if let Some(after_request) = after(rest, "Request device ") {
        let access = rest.strip_prefix("[DMA ").unwrap_or(rest);
        let device = after_request.trim_start().trim_start_matches('[');
        let bdf = device.split([']', ' ']).next().and_then(|d| d.parse().ok());
        let hex = |t: &str| u64::from_str_radix(t.strip_prefix("0x").unwrap_or(t), 16).ok();
        let address = after(rest, "fault addr ").and_then(|r| hex(word(r)));
        let reason =
            after(rest, "fault reason ").and_then(|r| hex(r.split([']', ' ']).next()?)).and_then(|r| r.try_into().ok());
        return Some(Event::DmarFault { bdf, write: access.starts_with("Write"), address, reason });
    }
    match rest {
        "IOMMU enabled" => Some(Event::DmarEnabledByOption),
        "IOMMU disabled" => Some(Event::DmarDisabled),
        _ if rest.starts_with("Intel-IOMMU force enabled") => Some(Event::DmarForcedByPlatform),
        _ if rest.starts_with("Intel(R) Virtualization Technology for Directed I/O") => Some(Event::DmarInitialised),
        _ => None,
    }
}

fn nvidia(m: &str) -> Option<Event> {
    let Some(rest) = after(m, "NVRM: ") else {
        let peermem =
            ["nvidia-peermem", "nvidia_peermem", "nv_peer_mem", "nv_mem_client"].iter().any(|p| m.starts_with(p));
        let symbol = m.contains("version of symbol") || m.contains("Unknown symbol") || m.contains("unknown parameter");
        return (peermem && !symbol).then(|| {
            let error = m.contains("ERROR") || m.contains("error") || m.contains("ailed");
            Event::Peermem { error, text: m.to_owned() }
        });
    };
    if let Some(xid) = after(rest, "Xid (") {
        let (place, tail) = xid.split_once(')')?;
        let place = place.strip_prefix("PCI:").unwrap_or(place);
        let bdf = place.parse().or_else(|_| format!("{place}.0").parse()).ok();
        return Some(Event::Xid { bdf, number: leading_number(tail.trim_start_matches([':', ' ']))? });
    }
    if let Some(reason) = after(rest, "dma-buf attach failed: ") {
        return Some(Event::DmabufAttachFailed(reason.trim().to_owned()));
    }
    if rest.contains("PCI I/O region assigned to your NVIDIA device is invalid") || is_empty_bar(rest) {
        return Some(Event::NvidiaBarInvalid { bdf: first_bdf(rest) });
    }
    if rest.contains("RmInitAdapter failed") {
        return Some(Event::NvidiaInitFailed { bdf: first_bdf(rest) });
    }
    if rest.starts_with("API mismatch") {
        return Some(Event::NvidiaVersionMismatch);
    }
    version_line(rest).map(|(version, flavour)| Event::NvidiaDriver { version, flavour })
}

/// `BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)`
fn is_empty_bar(rest: &str) -> bool {
    rest.strip_prefix("BAR").is_some_and(|r| r.contains(" is 0M @ 0x0"))
}

fn pci(m: &str) -> Option<Event> {
    if let Some((before, rest)) = m.split_once(" Gb/s available PCIe bandwidth") {
        return bandwidth(m, before, rest);
    }
    if m.contains("PCI: Can't parse ACS command line parameter") {
        return Some(Event::AcsParameterRejected);
    }
    if let Some(option) = after(m, "PCI: Unknown option ") {
        return Some(Event::PciUnknownOption(option.trim().trim_matches(['\'', '`']).to_owned()));
    }
    if let Some(event) = aer(m) {
        return Some(event);
    }
    let bar = || after(m, "BAR ").and_then(leading_number);
    if m.contains("can't assign; no space") || m.contains("failed to assign") || m.contains(": no space for") {
        let is_resource =
            m.contains("BAR ") || m.contains("bridge window") || m.contains("[mem size") || m.contains("[io  size");
        return is_resource.then(|| Event::BarNotAssigned { bdf: first_bdf(m), bar: bar() });
    }
    if m.contains("BAR ") && m.contains("can't reserve") {
        return Some(Event::BarNotReserved { bdf: first_bdf(m), bar: bar() });
    }
    if let Some(rest) = after(m, "pciehp: Slot(") {
        let up = rest.contains("Link Up");
        return (up || rest.contains("Link Down")).then(|| Event::PciLink { bdf: first_bdf(m), up });
    }
    None
}

/// `, limited by 8.0 GT/s PCIe x8 link at 0000:00:01.0 (capable of 126.024 Gb/s with 16.0 GT/s PCIe x8 link)` or ` (16.0 GT/s PCIe x16 link)`
fn bandwidth(m: &str, before: &str, rest: &str) -> Option<Event> {
    let gbps = before.rsplit(' ').next()?.parse::<f64>().ok().filter(|g| g.is_finite())?;
    let (own, limited) = match after(rest, "limited by ") {
        Some(link) => {
            let (link, capable) = link.split_once('(').unwrap_or((link, ""));
            let at = after(link, " at ").and_then(|r| word(r).parse().ok());
            let capable_gbps = after(capable, "capable of ").and_then(|r| word(r).parse().ok());
            let (capable_gts, capable_width) = after(capable, " with ").map_or((None, None), link_of);
            (link, Some(LimitedBy { at, capable_gbps, capable_gts, capable_width }))
        }
        None => (rest.trim_start_matches([' ', '(']), None),
    };
    let (gts, width) = link_of(own);
    Some(Event::AvailableBandwidth { bdf: first_bdf(m), gbps, gts, width, limited_by: limited })
}

/// `16.0 GT/s PCIe x16 link`
fn link_of(text: &str) -> (Option<f64>, Option<u8>) {
    let gts = text.split_once(" GT/s").and_then(|(s, _)| s.trim().parse().ok());
    (gts, after(text, " x").and_then(leading_number))
}

fn aer(m: &str) -> Option<Event> {
    if let Some(rest) = after(m, "PCIe Bus Error: severity=") {
        let layer = after(rest, "type=").and_then(|r| r.split(',').next()).map(|l| l.trim().to_owned());
        return Some(Event::Aer { bdf: first_bdf(m), severity: severity(rest)?, layer });
    }
    let rest = after(m, "AER: ")?;
    if !rest.contains("error") || !(rest.contains("received") || rest.contains("message")) {
        return None;
    }
    // The device that reports is the root port; the source follows.
    let source = ["received: ", "received from "].iter().find_map(|k| after(rest, k)).and_then(first_bdf);
    let severity = severity(rest.strip_prefix("Multiple ").unwrap_or(rest))?;
    Some(Event::Aer { bdf: source.or_else(|| first_bdf(m)), severity, layer: None })
}

fn severity(text: &str) -> Option<AerSeverity> {
    if text.starts_with("Correct") {
        return Some(AerSeverity::Corrected);
    }
    let uncorrected = text.strip_prefix("Uncorrect")?;
    let kind = uncorrected.split_once('(').map_or("", |(_, k)| k);
    Some(if kind.starts_with("Fatal") { AerSeverity::Fatal } else { AerSeverity::NonFatal })
}

fn modules(m: &str) -> Option<Event> {
    let module =
        || m.split_once(':').map(|(n, _)| n.trim()).filter(|n| !n.is_empty() && !n.contains(' ')).map(str::to_owned);
    if let Some(rest) = after(m, "disagrees about version of symbol ") {
        return Some(Event::SymbolMismatch { module: module()?, symbol: word(rest).to_owned() });
    }
    if let Some(rest) = after(m, ": Unknown symbol ") {
        return Some(Event::UnknownSymbol { module: module()?, symbol: word(rest).to_owned() });
    }
    if let Some(rest) = after(m, "unknown parameter ") {
        let parameter = rest.strip_prefix('\'')?.split('\'').next()?.to_owned();
        return rest.contains("ignored").then_some(Event::UnknownModuleParameter { module: module()?, parameter });
    }
    if let Some(rest) = after(m, "Kernel is locked down from ") {
        let by = rest.split(';').next().unwrap_or(rest);
        return Some(Event::LockedDown(by.trim().to_owned()));
    }
    let denied = m.strip_prefix("Lockdown: ").or_else(|| after(m, "lockdown: Lockdown: "))?;
    Some(Event::LockdownDenied(denied.split(';').next().unwrap_or(denied).trim().to_owned()))
}

fn mlx5(m: &str) -> Option<Event> {
    if !m.starts_with("mlx5_core") {
        return None;
    }
    let bdf = first_bdf(m);
    // The text after `mlx5_core BDF: ` or `mlx5_core BDF netdev: `.
    let text = m.split_once(": ").map_or("", |(_, t)| t);
    let owned = || text.to_owned();
    let event = if text == "Link up" {
        Mlx5Event::LinkUp
    } else if text == "Link down" {
        Mlx5Event::LinkDown
    } else if text.starts_with("Port module event") {
        Mlx5Event::Module(owned())
    } else if text.contains("insufficient power") {
        Mlx5Event::InsufficientPower(owned())
    } else if text.contains("health") || text.contains("assert_var") || text.contains("synd 0x") {
        Mlx5Event::Health(owned())
    } else if text.contains("timeout") && text.contains("cmd") || text.contains("failed, status") {
        Mlx5Event::CommandFailed(owned())
    } else {
        return None;
    };
    Some(Event::Mlx5 { bdf, event })
}

fn command_line(m: &str) -> Option<Event> {
    let line = m.strip_prefix("Command line: ").or_else(|| m.strip_prefix("Kernel command line: "))?;
    Some(Event::CommandLine(line.to_owned()))
}

fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_once(key).map(|(_, rest)| rest)
}

/// Up to the next space or closing bracket.
fn word(text: &str) -> &str {
    text.split([' ', ']', ',', ')']).next().unwrap_or(text)
}

/// The first PCI address with a domain, as devices are printed.
fn first_bdf(text: &str) -> Option<Bdf> {
    text.split([' ', '(', ')', '[', ']', ','])
        .map(|w| w.trim_end_matches([':', '.']))
        .map(|w| w.strip_prefix("PCI:").unwrap_or(w))
        .filter(|w| w.len() >= 12 && w.matches(':').count() == 2)
        .find_map(|w| w.parse().ok())
}
