//! What the NVIDIA driver and its NVSwitch driver say (open-gpu-kernel-modules: `kernel-open/nvidia/nv.c`, `nv-pci.c`,
//! `src/nvidia/arch/nvalloc/unix/src/osapi.c`, `osinit.c`).

use super::driver::{DriverClass, Requester, first_bdf};
use super::event::{Event, GpuFault, StartFault};
use super::shape;
use crate::nvidia_proc::version_line;
use crate::text::{after, leading_number};
use crate::xid;

pub(super) fn read(m: &str) -> Option<Event> {
    if let Some((_, rest)) = m.split_once(": SXid (PCI:").filter(|(driver, _)| driver.starts_with("nvidia-")) {
        return sxid(rest);
    }
    let Some(rest) = m.strip_prefix("NVRM: ") else {
        return shape::is_peermem(m).then(|| Event::Peermem { error: shape::is_peermem_error(m), text: m.to_owned() });
    };
    if let Some(xid) = rest.strip_prefix("Xid (") {
        return xid::read(xid).map(|x| Event::Xid { bdf: x.bdf, number: x.number, detail: x.detail });
    }
    if let Some(reason) = after(rest, "dma-buf attach failed: ") {
        return Some(Event::DmabufAttachFailed(reason.trim().to_owned()));
    }
    if rest.contains("PCI I/O region assigned to your NVIDIA device is invalid") || is_empty_bar(rest) {
        return Some(Event::NvidiaBarInvalid { bdf: first_bdf(rest) });
    }
    if let Some(why) = refused(rest) {
        return Some(Event::NvidiaRefused { bdf: first_bdf(rest), why });
    }
    if not_initialised(rest) {
        return Some(Event::NvidiaInitFailed { bdf: first_bdf(rest) });
    }
    if rest.starts_with("API mismatch") {
        return Some(Event::NvidiaVersionMismatch);
    }
    if let Some(fault) = fault(rest) {
        return Some(Event::GpuFault { of: Requester { bdf: first_bdf(rest), class: DriverClass::Gpu }, fault });
    }
    if rest.starts_with("The NVIDIA GPU ") || rest.starts_with("The NVIDIA vGPU ") {
        return first_bdf(rest).map(Event::NvidiaNames);
    }
    version_line(rest).map(|(version, flavour)| Event::NvidiaDriver { version, flavour })
}

/// The driver gave a GPU up: why, another line says, or none.
fn not_initialised(rest: &str) -> bool {
    rest.contains("RmInitAdapter failed") || rest.contains("rm_init_adapter failed")
}

/// Why the driver does not start a GPU, in its own words.
fn refused(rest: &str) -> Option<StartFault> {
    const REASONS: &[(&str, StartFault)] = &[
        ("requires use of the NVIDIA open kernel modules", StartFault::NeedsOpenModules),
        ("installed in this system is not supported by open", StartFault::NeedsClosedModules),
        ("installed in this vGPU host system is not supported by", StartFault::NeedsClosedModules),
        ("installed in this system is not supported by the", StartFault::OtherRelease),
        ("supported through the NVIDIA ", StartFault::Legacy),
        ("ignoring the legacy GPU ", StartFault::Legacy),
        ("failed to wait for GFW_BOOT: ", StartFault::GpuFirmware),
        ("GSP failed to halt with GFW_BOOT: ", StartFault::GpuFirmware),
        ("No firmware image found", StartFault::FirmwareFile),
        ("The NVIDIA probe routine was not called for ", StartFault::OtherDriver),
        ("No NVIDIA devices probed", StartFault::OtherDriver),
        ("No NVIDIA graphics adapter probed", StartFault::OtherDriver),
        (" is already bound to ", StartFault::OtherDriver),
        ("request_mem_region failed for ", StartFault::OtherDriver),
        ("Can't find an IRQ for your NVIDIA card!", StartFault::Interrupt),
    ];
    let (_, why) = REASONS.iter().find(|(words, _)| rest.contains(words))?;
    let legacy = *why == StartFault::Legacy && rest.contains("supported through") && !rest.contains(" Legacy drivers");
    (!legacy).then_some(*why)
}

/// What is wrong with a GPU, without a number: it answers no read, or its firmware (GSP) does not.
fn fault(rest: &str) -> Option<GpuFault> {
    if let Some((_, end)) = rest.split_once("fallen off the bus") {
        let end = end.trim_end().trim_end_matches('.');
        return matches!(end, "" | " and is not responding to commands").then_some(GpuFault::Lost);
    }
    // `GPU6 _kgspLogRpcTimeout: *** GSP Timeout ***`; the release builds of older drivers leave the GPU out.
    let (instance, said) = match rest.strip_prefix("GPU").and_then(|r| r.split_once(' ')) {
        Some((n, said)) if n.bytes().all(|b| b.is_ascii_digit()) => (n.parse().ok(), said),
        _ => (None, rest),
    };
    let (function, said) = said.split_once(": ")?;
    let of_gsp = function.starts_with("_kgsp") && !function.contains(' ');
    let silent = said.starts_with("Heartbeat timed out, ")
        || said.starts_with("****") && said.contains(" GSP Timeout ")
        || said.starts_with("Timeout after ") && said.contains("of waiting for RPC response from GPU");
    (of_gsp && silent).then_some(GpuFault::Firmware(instance))
}

/// `0000:c1:00.0): 12028, Non-fatal, Link 32 egress …`, as NVSWITCH_PRINT_SXID prints it.
fn sxid(rest: &str) -> Option<Event> {
    let (place, tail) = rest.split_once("): ")?;
    let number = leading_number(tail)?;
    let word = tail.split(", ").nth(1).unwrap_or_default();
    let fatal = if word.starts_with("Non-fatal") { Some(false) } else { word.starts_with("Fatal").then_some(true) };
    Some(Event::SXid { bdf: place.parse().ok(), number, fatal })
}

/// `BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)`
fn is_empty_bar(rest: &str) -> bool {
    rest.strip_prefix("BAR").is_some_and(|r| r.contains(" is 0M @ 0x0"))
}
