//! Lines of the kernel's log, and of the tools that load modules and libraries, among others or in a log of their own. A line counts by
//! the grammar of its program, from its beginning; what people write about such lines does not.

mod gdrcopy;
mod module;
mod nic;
mod oom;

use super::trouble::{KernelTrouble, Lack, NarrowPath, PeermemTrouble};
use linerate_formats::dmesg::{AerSeverity, DriverClass, Event, GpuFault, Mlx5Event, Requester};
use linerate_formats::host_name::short;
use linerate_formats::pci::Bdf;
use linerate_formats::{dmesg, nvidia_smi, printed};
use module::{is_peermem, module};
use nic::{Link, limit, narrow, pages, refused};
use oom::{killed, killed_unit};

/// What a line says of a device without any trouble.
pub(super) enum Device {
    /// A driver starts it.
    Bound(Requester),
    /// The GPU of which the driver's next lines speak.
    Named(Bdf),
}

/// A line with which a driver says what a device is.
pub(super) fn device(line: &str) -> Option<Device> {
    match dmesg::classify(message(line)?)? {
        Event::Bound(of) => Some(Device::Bound(of)),
        Event::NvidiaNames(gpu) => Some(Device::Named(gpu)),
        _ => None,
    }
}

/// Trouble of a GPU that its own line does not name, as that of the GPU that the lines before it name.
pub(super) fn of_gpu(trouble: KernelTrouble, named: Bdf) -> KernelTrouble {
    match trouble {
        KernelTrouble::GpuRefused { gpu: None, why } => KernelTrouble::GpuRefused { gpu: Some(named), why },
        KernelTrouble::DeviceGone(of @ Requester { bdf: None, class: DriverClass::Gpu }) => {
            KernelTrouble::DeviceGone(Requester { bdf: Some(named), ..of })
        }
        other => other,
    }
}

/// The kernel's message in a line, behind what launchers, collectors, quotations and the kernel's own clock put before it. What is quoted without the
/// clock counts where it is a message of the kernel in its whole grammar: anything else may be anybody's words.
fn message(line: &str) -> Option<&str> {
    let (time, direct) = dmesg::split(line);
    if time.is_some() {
        // A container runtime's time is followed by its stream.
        let stream = ["stdout F ", "stderr F "].iter().find_map(|s| direct.strip_prefix(s));
        return Some(stream.map_or(direct, |inner| dmesg::split(inner).1));
    }
    let own = printed::own(direct);
    let (time, text) = dmesg::split(field(own.text));
    let quoted = own.quoted || line.trim_start().starts_with('>');
    (time.is_some() || !quoted || dmesg::classify(text).is_some()).then_some(text)
}

/// The message in a field of a collector's JSON: `"MESSAGE" : "…"` of `journalctl -o json-pretty`, `"textPayload": "…\\r\\n",` of Google's
/// serial consoles. A field of another name may hold anything: a pattern, a description.
fn field(text: &str) -> &str {
    let value = ["\"MESSAGE\"", "\"textPayload\""].iter().find_map(|name| text.strip_prefix(name));
    let value = value.and_then(|r| r.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"'));
    value.map_or(text, |v| v.split("\\r").next().unwrap_or(v).trim_end_matches(',').trim_end_matches('"'))
}

/// The machine in whose log a line stands, where the line names it.
pub(super) fn host(line: &str) -> Option<String> {
    let named = |text| dmesg::head(text).host.and_then(short);
    named(line)
        .or_else(|| named(field(printed::own(line).text)))
        .or_else(|| printed::host(line.trim_start()).and_then(|(name, _)| short(name)))
}

/// What the kernel says in a line.
pub(super) fn read(line: &str) -> Option<KernelTrouble> {
    if killed_unit(line) {
        return Some(KernelTrouble::OutOfMemory);
    }
    let message = message(line)?;
    if let Some(trouble) = killed(message)
        .or_else(|| no_handle(message))
        .or_else(|| module(message))
        .or_else(|| pages(message))
        .or_else(|| limit(message))
        .or_else(|| refused(message))
        .or_else(|| gdrcopy::read(message))
    {
        return Some(trouble);
    }
    // Old kernels print the reason of a fault in a line of its own, and tickets often have only that one.
    if message.strip_prefix("DMAR:").is_some_and(|r| r.trim_start().starts_with("[fault reason ")) {
        return Some(KernelTrouble::IommuFault { of: Requester::UNNAMED, arm: false });
    }
    let event = dmesg::classify(message)?;
    if let Some(card) = event.nic_fault() {
        return Some(KernelTrouble::NicFirmware(card));
    }
    Some(match event {
        Event::IoPageFault { of, .. } | Event::DmarFault { of, .. } => KernelTrouble::IommuFault { of, arm: false },
        Event::SmmuEvent { of, .. } => KernelTrouble::IommuFault { of, arm: true },
        Event::Xid { bdf, number, detail } => KernelTrouble::Xid { number, gpu: bdf, detail },
        Event::SXid { fatal, .. } => KernelTrouble::SwitchError(fatal),
        Event::Mlx5 { bdf, event: Mlx5Event::LinkDown } => KernelTrouble::LinkDown(bdf),
        Event::Mlx5 { bdf, event: Mlx5Event::CommandLate(_) } => KernelTrouble::NicLate(bdf),
        Event::Aer { of, severity: AerSeverity::NonFatal | AerSeverity::Fatal, .. } => KernelTrouble::PcieError(of),
        Event::Aer { of, severity: AerSeverity::Corrected, layer: Some(_) } => KernelTrouble::PcieCorrected(of),
        Event::AvailableBandwidth { gbps, gts, width, limited_by: Some(by), .. } => {
            narrow(Requester::of_line(message), gbps, Link { gts, width }, &by)?
        }
        Event::InsufficientBandwidth { .. } => KernelTrouble::NarrowPath(NarrowPath {
            device: Requester::of_line(message),
            port: None,
            lacks: Lack::Unknown,
            megabits: None,
            capable: None,
        }),
        Event::PciLink { of, up: false } => KernelTrouble::SlotDown(of),
        // The GPU's memory was given back while the NIC still held it, as a program ended: benign, and frequent.
        Event::Peermem { error: true, text } if !text.contains("invalid context") => {
            KernelTrouble::Peermem(PeermemTrouble::Error)
        }
        Event::SymbolMismatch { module, .. } if is_peermem(&module) => KernelTrouble::Peermem(PeermemTrouble::Mismatch),
        // -22 is the same mismatch again, -2 that nobody has the symbol.
        Event::UnknownSymbol { module, .. } if is_peermem(&module) => {
            let absent = message.contains("(err -2)") || message.contains("(err 0)");
            KernelTrouble::Peermem(if absent { PeermemTrouble::Absent } else { PeermemTrouble::Mismatch })
        }
        Event::DmabufAttachFailed(_) => KernelTrouble::DmabufRefused,
        Event::DmaMapFailed { .. } => KernelTrouble::BounceBuffers,
        Event::NvidiaVersionMismatch => KernelTrouble::DriverMismatch,
        Event::NvidiaInitFailed { bdf } | Event::AmdInitFailed { bdf } => KernelTrouble::GpuNotStarted(bdf),
        Event::NvidiaRefused { bdf, why } => KernelTrouble::GpuRefused { gpu: bdf, why },
        Event::GpuFault { of, fault: GpuFault::Lost } | Event::Inaccessible(of) => KernelTrouble::DeviceGone(of),
        Event::GpuFault { of, fault } => KernelTrouble::GpuFault { gpu: of.bdf, fault },
        Event::TransmitTimeout { of } if of.class == DriverClass::RdmaNic => KernelTrouble::TransmitTimeout(of.bdf),
        Event::NotStarted { of, .. } if of.class == DriverClass::RdmaNic => KernelTrouble::NicNotStarted(of.bdf),
        Event::NotStarted { of, .. } if of_gpu_driver(message) => KernelTrouble::GpuNotStarted(of.bdf),
        _ => return None,
    })
}

/// The driver core's line of a GPU's driver: `amdgpu 0000:03:00.0: probe with driver amdgpu failed with error -110`, `nvidia: probe of 0000:01:00.0 …`.
fn of_gpu_driver(m: &str) -> bool {
    matches!(m.split([' ', ':']).next(), Some("nvidia" | "amdgpu"))
}

/// nvidia-smi and DCGM: `Unable to determine the device handle for GPU 0000:18:00.0: GPU is lost.  Reboot the system to recover this GPU`.
fn no_handle(m: &str) -> Option<KernelTrouble> {
    let is_lost = m.starts_with(nvidia_smi::SILENT) && m.contains("GPU is lost");
    let bdf = nvidia_smi::silent(m, 0).map(|gpu| gpu.bdf);
    is_lost.then_some(KernelTrouble::DeviceGone(Requester { bdf, class: DriverClass::Gpu }))
}

#[cfg(test)]
mod tests;
