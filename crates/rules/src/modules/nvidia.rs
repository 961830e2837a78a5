//! What the rules about the NVIDIA driver share: its parameters, and what was asked of them.

use crate::sources::open_modules;
use crate::{Action, Cx, Finding, Findings, Remedy, Source, Subject};
use linerate_node::modprobe;
use linerate_snapshot::{Place, Reading};
use std::borrow::Cow;

pub(super) const NV_REG: Source =
    open_modules!("kernel-open/nvidia/nv-reg.h", "all module parameters, tags 515.43.04 to 595.45.04");
pub(super) const NV_PROCFS: Source = open_modules!("kernel-open/nvidia/nv-procfs.c", "nv_procfs_read_params");
pub(super) const READS: &[&str] = &["proc/cmdline", "etc/modprobe.d/*.conf", "proc/driver/nvidia/params"];

/// A request for a parameter of the `nvidia` module.
pub(super) struct Asked<'a> {
    /// As written, `NVreg_` included where it was.
    pub(super) word: Cow<'a, str>,
    /// Value as written.
    pub(super) value: Option<Cow<'a, str>>,
    /// Where.
    pub(super) place: Place,
    /// On the kernel command line, else in modprobe.d.
    pub(super) on_cmdline: bool,
}

impl Asked<'_> {
    /// Name without `NVreg_`.
    pub(super) fn name(&self) -> &str {
        self.word.strip_prefix("NVreg_").unwrap_or(&self.word)
    }
}

/// Answers where a parameter has no value: the driver does not list it (`unlisted`), is not loaded, or is not seen.
pub(super) fn without_value<'o>(cx: &Cx<'_>, out: &'o mut Findings, unlisted: &'static str) -> &'o mut Finding {
    let params = &cx.node.nvidia.driver.params;
    match params {
        Reading::Known(_, place) => out.not_applicable(unlisted).at(*place),
        Reading::Absent(place) => out.not_applicable("the nvidia driver is not loaded").at(*place),
        Reading::Unreadable(..) => out.unreadable(Subject::Node, "/proc/driver/nvidia/params", params),
    }
}

/// All requests, in the order in which modprobe hands them to the module: files first, then the command line, so that the last wins.
/// `None`: neither source was visible.
pub(super) fn asked<'a>(cx: &Cx<'a>) -> Option<Vec<Asked<'a>>> {
    let mut out = Vec::new();
    let mut any = false;
    if let Reading::Known(list, _) = modprobe::options(cx.snapshot, "nvidia") {
        any = true;
        out.extend(list.into_iter().map(|o| Asked {
            word: Cow::Owned(o.name),
            value: o.value.map(Cow::Owned),
            place: o.place,
            on_cmdline: false,
        }));
    }
    if let Reading::Known(c, place) = &cx.node.kernel.cmdline {
        any = true;
        out.extend(c.module_params("nvidia").map(|(name, p)| Asked {
            word: Cow::Borrowed(name),
            value: p.value.as_deref().map(Cow::Borrowed),
            place: place.line(p.line),
            on_cmdline: true,
        }));
    }
    any.then_some(out)
}

/// A number as module parameters are written (decimal, hexadecimal, octal, negative), as the driver prints it: unsigned, 32 bits.
pub(super) fn number(text: &str) -> Option<u32> {
    let (negative, digits) = match text.trim().strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.trim()),
    };
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u32::from_str_radix(hex, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        u32::from_str_radix(digits, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// Effective value of a numeric parameter, with its place.
pub(super) fn effective(cx: &Cx<'_>, name: &str) -> Option<(u32, Place)> {
    let (value, place) = cx.node.nvidia.driver.param(name)?;
    Some((number(value)?, place))
}

/// The value in force; where the driver's own list does not show it, the value that was asked last.
pub(super) fn effective_or_asked(cx: &Cx<'_>, name: &str) -> Option<(u32, Place)> {
    effective(cx, name).or_else(|| {
        if cx.node.nvidia.driver.params.known().is_some() {
            return None;
        }
        let list = asked(cx)?;
        let last = list.iter().rev().find(|a| a.name() == name)?;
        Some((number(last.value.as_deref()?)?, last.place))
    })
}

/// Takes an option away again.
pub(super) fn reset(name: &str, note: &'static str) -> Remedy {
    Remedy::new(
        format!("remove NVreg_{name} from modprobe.d and from the kernel command line"),
        Action::ModuleOption { module: "nvidia".into(), option: format!("NVreg_{name}").into(), value: None },
    )
    .because(note)
    .prove("proc/driver/nvidia/params")
}

/// Parameters of the open module of some tag, with the driver branch from which and up to which they exist (0: open end).
pub(super) const PARAMETERS: &[(&str, u32, u32)] = &[
    ("CoherentGPUMemoryMode", 580, 0),
    ("CreateImexChannel0", 555, 0),
    ("DeviceFileGID", 0, 0),
    ("DeviceFileMode", 0, 0),
    ("DeviceFileUID", 0, 0),
    ("DmaRemapPeerMmio", 515, 0),
    ("DynamicPowerManagement", 0, 0),
    ("DynamicPowerManagementVideoMemoryThreshold", 0, 0),
    ("EnableDbgBreakpoint", 0, 0),
    ("EnableGpuFirmware", 0, 0),
    ("EnableGpuFirmwareLogs", 0, 0),
    ("EnableMSI", 0, 0),
    ("EnableNonblockingOpen", 550, 0),
    ("EnablePCIERelaxedOrderingMode", 0, 0),
    ("EnablePCIeGen3", 0, 0),
    ("EnableResizableBar", 535, 0),
    ("EnableS0ixPowerManagement", 0, 0),
    ("EnableStreamMemOPs", 0, 0),
    ("EnableSystemMemoryPools", 590, 0),
    ("EnableUserNUMAManagement", 0, 0),
    ("ExcludeAllGpus", 595, 0),
    ("ExcludedGpus", 0, 0),
    ("GpuBlacklist", 0, 0),
    ("GpuInitOnProbe", 595, 0),
    ("GrdmaPciTopoCheckOverride", 570, 0),
    ("IgnoreMMIOCheck", 0, 0),
    ("ImexChannelCount", 550, 0),
    ("InitializeSystemMemoryAllocations", 0, 0),
    ("KMallocHeapMaxSize", 0, 0),
    ("MemoryPoolSize", 0, 0),
    ("ModifyDeviceFiles", 0, 0),
    ("NvLinkDisable", 0, 0),
    ("OpenRmEnableUnsupportedGpus", 515, 0),
    ("PreserveVideoMemoryAllocations", 0, 0),
    ("RegisterForACPIEvents", 0, 514),
    ("RegisterPCIDriver", 0, 0),
    ("RegisterPlatformDeviceDriver", 580, 0),
    ("RegistryDwords", 0, 0),
    ("RegistryDwordsPerDevice", 0, 0),
    ("ResmanDebugLevel", 0, 0),
    ("RestrictProfilingToAdminUsers", 0, 0),
    ("RmLogonRC", 0, 0),
    ("RmMsg", 0, 0),
    ("RmNvlinkBandwidth", 535, 0),
    ("RmNvlinkBandwidthLinkCount", 565, 0),
    ("S0ixPowerManagementVideoMemoryThreshold", 0, 0),
    ("TCEBypassMode", 0, 569),
    ("TegraGpuPgMask", 590, 0),
    ("TemporaryFilePath", 0, 0),
    ("UseKernelSuspendNotifiers", 595, 0),
    ("UsePageAttributeTable", 0, 0),
    ("VMallocHeapMaxSize", 0, 0),
];

/// Branch of the loaded driver: the number before the first dot.
pub(super) fn branch(cx: &Cx<'_>) -> Option<u32> {
    cx.node.nvidia.driver.version.known()?.split('.').next()?.parse().ok()
}

/// A parameter under the name by which `/proc/driver/nvidia/params` lists it.
pub(super) fn listed_as(name: &str) -> &str {
    if name == "RestrictProfilingToAdminUsers" { "RmProfilingAdminOnly" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_the_driver_prints_them() {
        for (text, wanted) in
            [("1", Some(1)), ("0x10", Some(16)), ("0666", Some(438)), ("-1", Some(u32::MAX)), ("~0", None)]
        {
            assert_eq!(number(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_its_ranges_are_ranges() {
        assert!(PARAMETERS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(PARAMETERS.iter().all(|(_, from, to)| *to == 0 || from <= to));
    }
}
