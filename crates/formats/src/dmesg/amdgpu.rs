//! What amdgpu says of a GPU in trouble (drivers/gpu/drm/amd/amdgpu). It puts `amdgpu: ` before most messages, and `[drm:function [amdgpu]] *ERROR* `
//! before those of old macros, which name no device.

use super::driver::{DriverClass, Requester};
use super::event::{Event, GpuFault};

pub(super) fn read(m: &str) -> Option<Event> {
    let (of, said) = match m.strip_prefix(DRM) {
        Some(rest) => (None, rest.split_once(" [amdgpu]] *ERROR* ")?.1),
        None => {
            let (address, said) = m.strip_prefix("amdgpu ")?.split_once(": ")?;
            (Some(address.parse().ok()?), said)
        }
    };
    // A second head: of the macro with a device, or `{12}`, the number of a RAS event (amdgpu_ras.c).
    let said = said.strip_prefix("amdgpu: ").unwrap_or(said);
    let said = said.strip_prefix('{').and_then(|r| Some(r.split_once('}')?.1)).unwrap_or(said);
    let of = Requester { bdf: of, class: DriverClass::Unknown };
    if said.starts_with("Fatal error during GPU init") {
        return Some(Event::AmdInitFailed { bdf: of.bdf });
    }
    Some(Event::GpuFault { of, fault: fault(said)? })
}

/// What the old macros begin with.
pub(super) const DRM: &str = "[drm:amdgpu_";

fn fault(said: &str) -> Option<GpuFault> {
    let words = said.get(1..).unwrap_or_default();
    if words.starts_with("ncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected") {
        return Some(GpuFault::Uncorrected);
    }
    // `…, but soft recovered`: the job ended, and the GPU goes on.
    if said.strip_prefix("ring ").is_some_and(|r| r.contains(" timeout, signaled seq=")) {
        return Some(GpuFault::Hung);
    }
    if said.starts_with("GPU reset begin!") {
        return Some(GpuFault::Reset);
    }
    page_fault(said).then_some(GpuFault::Page)
}

/// `[gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32770, …)` (gmc_v9_0.c; `page fault` of gmc_v10_0.c and later, `VMC page fault`
/// before 5.0). Pages of vmid 0 are the driver's own.
fn page_fault(said: &str) -> bool {
    let hub = said.strip_prefix('[').and_then(|r| r.split_once("] ")).filter(|(hub, _)| hub.contains("hub"));
    let Some((what, place)) = hub.and_then(|(_, r)| r.split_once(" (src_id:")) else { return false };
    matches!(what, "no-retry page fault" | "retry page fault" | "page fault" | "VMC page fault")
        && !place.contains("vmid:0 ")
}
