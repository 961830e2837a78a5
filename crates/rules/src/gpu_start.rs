//! Why the NVIDIA driver does not start a GPU, by the reason that it prints: words and remedy. The audit's rule and the doctor's cause ask here.

use crate::sources::open_modules;
use crate::{Remedy, Source};
use linerate_formats::dmesg::StartFault;

/// The driver's checks before and while it starts a GPU.
pub const CHECKS: Source = open_modules!(
    "src/nvidia/arch/nvalloc/unix/src/osapi.c",
    "rm_is_supported_device: open modules, release, legacy; kernel-open/nvidia/nv-pci.c and nv.c: another driver, interrupt",
);

/// The reason in words that follow `the driver could not start the GPU: `.
#[must_use]
pub fn words(why: StartFault) -> &'static str {
    match why {
        StartFault::NeedsOpenModules => "this GPU needs the open kernel modules, and the closed ones are loaded",
        StartFault::NeedsClosedModules => "the open kernel modules do not support this GPU, and they are loaded",
        StartFault::Legacy => "this release of the driver leaves it to an older branch",
        StartFault::OtherRelease => "this release of the driver does not know it",
        StartFault::GpuFirmware => "the firmware in its VBIOS did not end its start",
        StartFault::FirmwareFile => "the driver's firmware file for its GSP is not there",
        StartFault::OtherDriver => "another driver may have it",
        StartFault::Interrupt => "it has no interrupt",
    }
}

/// What to do.
#[must_use]
pub fn remedy(why: StartFault) -> Remedy {
    let what = match why {
        StartFault::NeedsOpenModules => {
            "install the open kernel modules of the driver's release (the packages with -open; the .run installer's --kernel-module-type=open) in place of the closed ones, and load them or restart the node: the GPU is sound"
        }
        StartFault::NeedsClosedModules => {
            "install the closed kernel modules of the driver's release in place of the open ones, and load them or restart the node: the GPU has no GSP that the open ones need, or is a vGPU's"
        }
        StartFault::Legacy => {
            "install the older branch of the driver that the line names, or leave the GPU unused: this release has no support for it"
        }
        StartFault::OtherRelease => {
            "install a release of the driver that lists this GPU (appendix A of its README): mostly a newer one"
        }
        StartFault::GpuFirmware => {
            let what = "switch the machine off and on again (a restart does not cut the GPU's power) and check the GPU's power cables; if it comes back, update its VBIOS, then replace it";
            return Remedy::physical(what, what).because("the machine is switched off").prove("dmesg");
        }
        StartFault::FirmwareFile => {
            "install the driver's firmware files (/lib/firmware/nvidia/RELEASE/gsp_*.bin) of exactly the module's release, also in the initramfs where the module is loaded there"
        }
        StartFault::OtherDriver => {
            let what = "see which driver has the GPU (`lspci -ks BDF`): nouveau is to be kept from loading (blacklist it, make the initramfs again, restart); vfio-pci is right where a guest gets the GPU";
            return Remedy::investigate(what, what).prove("dmesg");
        }
        StartFault::Interrupt => {
            let what = "read what the kernel says of the GPU's interrupts (MSI, ACPI routing) in dmesg, and update the machine's firmware";
            return Remedy::investigate(what, what).prove("dmesg");
        }
    };
    Remedy::software(what, what).because("the driver is loaded again: programs on the node's GPUs end").prove("dmesg")
}
