//! From a message to an event. Every branch tests fixed words of the kernel's or the driver's own format strings.

use super::amdgpu;
use super::driver::{DriverClass, Requester, first_bdf};
use super::event::{AerSeverity, AmdVi, DomainKind, Event, LimitedBy, Mlx5Event};
use super::fault;
use super::identity;
use super::mlx5;
use super::nvidia;
use super::probe;
use super::shape;
use super::watchdog;
use crate::text::{after, leading_number};

/// What messages are about, one bit each.
pub(super) mod subject {
    pub(in super::super) const IOMMU: u8 = 1;
    pub(in super::super) const NVIDIA: u8 = 2;
    pub(in super::super) const PCI: u8 = 4;
    pub(in super::super) const MODULES: u8 = 8;
    pub(in super::super) const MLX: u8 = 16;
    pub(in super::super) const BOOT: u8 = 32;
    pub(in super::super) const DRIVERS: u8 = 64;
    pub(in super::super) const ALL: u8 = u8::MAX;
}

/// What a message (without time and level) says; `None` for everything else.
pub fn classify(message: &str) -> Option<Event> {
    classify_as(message, subject::ALL)
}

/// What a message of some subjects says.
pub(super) fn classify_as(message: &str, subjects: u8) -> Option<Event> {
    type Read = fn(&str) -> Option<Event>;
    if !shape::begins(message) {
        return None;
    }
    let by_subject: [(u8, Read); 7] = [
        (subject::IOMMU, iommu),
        (subject::NVIDIA, nvidia::read),
        (subject::PCI, pci),
        (subject::MODULES, modules),
        (subject::MLX, mlx),
        (subject::BOOT, boot),
        (subject::DRIVERS, |m| probe::read(m).or_else(|| watchdog::read(m)).or_else(|| amdgpu::read(m))),
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
    // Its neighbours (`SNP: IOMMU SNP feature not enabled, …`, `… RMP initialization failed, …`) say nothing about passthrough.
    if m.contains("SNP: IOMMU") && m.contains("disabled or configured in passthrough mode, SNP cannot be supported") {
        return Some(Event::SnpNeedsTranslation);
    }
    if let Some(event) = fault::read(m) {
        return Some(event);
    }
    if let Some(rest) = after(m, "AMD-Vi: ") {
        return amd_vi(rest).map(Event::AmdVi);
    }
    // Old kernels print no blank, and `dmar: ` before it.
    if let Some(rest) = m.strip_prefix("dmar: ").unwrap_or(m).strip_prefix("DMAR:") {
        return dmar(rest.trim_start());
    }
    if m.starts_with("arm-smmu") && m.contains(": ias ") {
        return Some(Event::SmmuInitialised);
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
    match rest {
        "IOMMU enabled" => Some(Event::DmarEnabledByOption),
        "IOMMU disabled" => Some(Event::DmarDisabled),
        _ if rest.starts_with("Intel-IOMMU force enabled") => Some(Event::DmarForcedByPlatform),
        _ if rest.starts_with("Intel(R) Virtualization Technology for Directed I/O") => Some(Event::DmarInitialised),
        _ => None,
    }
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
    if let Some(event) = contained(m).or_else(|| aer(m)) {
        return Some(event);
    }
    if is_inaccessible(m) {
        return Some(Event::Inaccessible(Requester::of_line(m)));
    }
    if m.contains(": enabling device (") || m.contains(": firmware version: ") {
        let of = Requester::of_line(m);
        return (of.class != DriverClass::Unknown).then_some(Event::Bound(of));
    }
    if let Some(event) = identity::read(m) {
        return Some(event);
    }
    let bar = || after(m, "BAR ").and_then(leading_number);
    if m.contains("can't assign; no space") || m.contains("failed to assign") || m.contains(": no space for") {
        let is_resource =
            m.contains("BAR ") || m.contains("bridge window") || m.contains("[mem size") || m.contains("[io  size");
        return is_resource.then(|| Event::BarNotAssigned { bdf: first_bdf(m), bar: bar() });
    }
    if m.ends_with("This is not sufficient for optimal performance of this card.")
        || m.ends_with("PCI-Express bandwidth available for this device may be insufficient for optimal performance.")
    {
        return Some(Event::InsufficientBandwidth { bdf: first_bdf(m) });
    }
    if m.contains("BAR ") && m.contains("can't reserve") {
        return Some(Event::BarNotReserved { bdf: first_bdf(m), bar: bar() });
    }
    if let Some(rest) = after(m, "pciehp: Slot(") {
        let up = rest.contains("Link Up");
        return (up || rest.contains("Link Down")).then(|| Event::PciLink { of: Requester::of_line(m), up });
    }
    None
}

/// Reads of the device's configuration give all ones (drivers/pci/pci.c): `Unable to change power state from D3cold to D0, device inaccessible`
/// (`pci_power_up`; `pci_raw_set_power_state` before 6.0: `Refused to change power state …` is another matter), and `not ready 65535ms after resume;
/// giving up` (`pci_dev_wait`).
fn is_inaccessible(m: &str) -> bool {
    let Some((_, said)) = m.split_once(": ") else { return false };
    let power = after(said, "nable to change power state from D")
        .is_some_and(|r| r.trim_end().ends_with(", device inaccessible"));
    let ready = said
        .strip_prefix("not ready ")
        .is_some_and(|r| r.contains("ms after ") && r.trim_end().ends_with("; giving up"));
    power || ready
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
        return Some(Event::Aer { of: Requester::of_line(m), severity: severity(rest)?, layer });
    }
    let rest = after(m, "AER: ")?;
    // `pcie_do_recovery` (drivers/pci/pcie/err.c): only after an error that was not corrected.
    if rest.trim_end().eq_ignore_ascii_case("device recovery failed") {
        return Some(Event::Aer { of: Requester::of_line(m), severity: AerSeverity::NonFatal, layer: None });
    }
    if !rest.contains("error") || !(rest.contains("received") || rest.contains("message")) {
        return None;
    }
    // The device that reports is the root port; the source follows.
    let source = ["received: ", "received from "].iter().find_map(|k| after(rest, k)).and_then(first_bdf);
    let severity = severity(rest.strip_prefix("Multiple ").unwrap_or(rest))?;
    let of = source.map_or_else(|| Requester::of_line(m), Requester::at);
    Some(Event::Aer { of, severity, layer: None })
}

/// Downstream port containment (drivers/pci/pcie/dpc.c, edr.c): the port cut the link off after an error that was not corrected.
/// `containment event, status:0x000d, ERR_FATAL received from 0000:02:00.0` since 6.16, before `… source:0x0200` and a line with the reason.
fn contained(m: &str) -> Option<Event> {
    if m.ends_with(": EDR: EDR event received") {
        return Some(Event::Aer { of: Requester::of_line(m), severity: AerSeverity::Fatal, layer: None });
    }
    let rest = after(m, ": DPC: ").or_else(|| after(m, ": DPC "))?;
    let event = rest.starts_with("containment event, status:");
    let reason = [
        "unmasked uncorrectable error detected",
        "ERR_NONFATAL detected",
        "ERR_FATAL detected",
        "RP PIO error detected",
    ];
    if !event && !reason.contains(&rest.trim_end()) || rest.contains("software trigger") {
        return None;
    }
    let of = after(rest, "received from ").and_then(first_bdf).map_or_else(|| Requester::of_line(m), Requester::at);
    let severity = if rest.contains("ERR_NONFATAL") { AerSeverity::NonFatal } else { AerSeverity::Fatal };
    Some(Event::Aer { of, severity, layer: None })
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
        let error = after(rest, "(err ").and_then(|e| e.split(')').next()?.parse().ok());
        return Some(Event::UnknownSymbol { module: module()?, symbol: word(rest).to_owned(), error });
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

fn mlx(m: &str) -> Option<Event> {
    if let Some((address, rest)) = m.strip_prefix("mlx4_core ").and_then(|r| r.split_once(": ")) {
        return rest.starts_with("Internal error detected").then(|| Event::Mlx4Fault { bdf: address.parse().ok() });
    }
    if !m.starts_with("mlx5_core") {
        return None;
    }
    let bdf = first_bdf(m);
    // The text after `mlx5_core BDF: ` or `mlx5_core BDF netdev: `.
    let text = m.split_once(": ").map_or("", |(_, t)| t);
    let owned = || text.to_owned();
    if let Some(event) = probe::of_mlx5(Requester::of_line(m), said(text)) {
        return Some(event);
    }
    // `mlx5e_tx_timeout` (en_main.c): what the kernel's watchdog calls.
    if text.trim_end() == "TX timeout detected" {
        return Some(Event::TransmitTimeout { of: Requester::of_line(m) });
    }
    let event = if text == "Link up" || is_port(text, "ACTIVE") {
        Mlx5Event::LinkUp
    } else if text == "Link down" || is_port(text, "DOWN") {
        Mlx5Event::LinkDown
    } else if let said = said(text)
        && said.starts_with("Port module event")
    {
        Mlx5Event::Module(said.to_owned())
    } else if text.contains("insufficient power") {
        Mlx5Event::InsufficientPower(owned())
    } else if mlx5::is_health(said(text)) {
        Mlx5Event::Health(owned())
    } else if text.contains("recovered after timeout") {
        Mlx5Event::CommandLate(owned())
    } else if mlx5::is_timeout(text) || text.contains("failed, status") {
        Mlx5Event::CommandFailed(owned())
    } else {
        return None;
    };
    Some(Event::Mlx5 { bdf, event })
}

/// What a line of the driver says without its place in the source: `port_module:252:(pid 0): Port module event[error]: …`. Errors and
/// warnings have one, information does not (mlx5_core.h: mlx5_core_err, mlx5_core_info).
fn said(text: &str) -> &str {
    let place = |p: &str| p.ends_with(':') && !p.contains(' ');
    match text.split_once("(pid ").filter(|(p, _)| place(p)).and_then(|(_, rest)| rest.split_once("): ")) {
        Some((pid, said)) if !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()) => said,
        _ => text,
    }
}

/// `Port: 1 Link DOWN`, as the drivers of MLNX_OFED and DOCA print it of an InfiniBand port.
fn is_port(text: &str, state: &str) -> bool {
    let port = text.strip_prefix("Port: ").and_then(|r| r.split_once(" Link "));
    port.is_some_and(|(n, s)| n.bytes().all(|b| b.is_ascii_digit()) && s.trim_end() == state)
}

/// What a kernel says of itself and of its machine as it starts.
fn boot(m: &str) -> Option<Event> {
    if let Some(line) = m.strip_prefix("Command line: ").or_else(|| m.strip_prefix("Kernel command line: ")) {
        return Some(Event::CommandLine(line.to_owned()));
    }
    if let Some(rest) = m.strip_prefix("Linux version ") {
        let (release, by) = rest.split_once(' ')?;
        // `UTS_RELEASE (builder@host) (compiler) #1 …` (init/version.c, `linux_banner`).
        let banner = by.starts_with('(') && crate::kernel_version::parse(release).is_some();
        return banner.then(|| Event::KernelRelease(release.to_owned()));
    }
    if let Some(machine) = m.strip_prefix("DMI: ") {
        return machine.contains(", BIOS ").then(|| Event::Machine(machine.trim().to_owned()));
    }
    let name = m.strip_prefix("Hypervisor detected: ").map(str::trim).filter(|n| !n.is_empty())?;
    Some(Event::Hypervisor(name.to_owned()))
}
/// Up to the next space or closing bracket.
pub(super) fn word(text: &str) -> &str {
    text.split([' ', ']', ',', ')']).next().unwrap_or(text)
}
