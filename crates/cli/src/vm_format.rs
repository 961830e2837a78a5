//! Forms in which a layout is written.

use clap::ValueEnum;
use linerate_vm::format::Format;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// A domain of libvirt.
    Libvirt,
    /// A script that starts QEMU.
    Qemu,
    /// A VirtualMachine of KubeVirt, with a hook.
    Kubevirt,
    /// Commands for an OpenStack flavor and image.
    Nova,
}

impl FormatArg {
    /// The form, where it is another one than libvirt's.
    pub(crate) fn other(self) -> Option<Format> {
        match self {
            FormatArg::Libvirt => None,
            FormatArg::Qemu => Some(Format::Qemu),
            FormatArg::Kubevirt => Some(Format::Kubevirt),
            FormatArg::Nova => Some(Format::Nova),
        }
    }
}
