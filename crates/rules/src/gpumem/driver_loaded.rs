//! `gpumem/driver-loaded`.

use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::context::Role;
use linerate_node::pci::PciFunction;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/driver-loaded",
    title: "The NVIDIA driver is bound to every GPU that this system uses",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("the GPU cannot be used at all"),
    sources: &[Source {
        title: "NVIDIA driver installation guide: disabling nouveau, verifying the driver",
        at: "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/index.html",
    }],
    reads: &["sys/bus/pci/devices/*/driver"],
    docs: "\
## What it checks
The driver bound to each NVIDIA GPU function. `nvidia` is right; `vfio-pci` means that the GPU belongs to a virtual machine, which is
not judged; anything else, or nothing, is a finding. Virtual functions of a GPU are not judged.

## Why it matters
Without the driver the GPU is not there for CUDA. nouveau binds first where it is not blacklisted; a driver that was not rebuilt for a
new kernel binds to nothing. Where the driver runs and one GPU has none, its probe failed there or somebody unbound it: the kernel's log
shows why, and loading the driver again does not help.

## See it yourself
`lspci -k -d 10de:`; `dmesg | grep -i nvrm`.

## Fix
Blacklist nouveau and rebuild the initramfs, or (re)build the NVIDIA driver for the running kernel, then reboot.",
    myths: &[Myth {
        claim: "lspci shows the GPU, so it works.",
        truth: "lspci shows what is on the bus. `Kernel driver in use` shows whether a driver took it.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let gpus = || cx.node.pci.nvidia_gpus().map(|(_, f)| f).filter(|f| !f.is_vf());
    if cx.no_subjects(gpus().next().is_some(), "NVIDIA GPU", out) {
        return;
    }
    for f in gpus() {
        judge(cx, f, out);
    }
}

/// The driver is there, and left this GPU: to load it again changes nothing.
fn runs(cx: &Cx<'_>) -> bool {
    let bound = cx.node.pci.nvidia_gpus().any(|(_, f)| f.driver.known().is_some_and(|d| *d == "nvidia"));
    bound || cx.node.kernel.modules.known().is_some_and(|m| m.iter().any(|m| m == "nvidia"))
}

fn load() -> Remedy {
    Remedy::load_module("load the NVIDIA driver built for this kernel", "nvidia")
        .because("installing a driver replaces kernel modules")
}

fn refused(f: &PciFunction<'_>) -> Remedy {
    Remedy::investigate(
        "find out why the driver that runs did not take this GPU, or was taken from it",
        format!("the kernel's log: lines of NVRM and of {}", f.bdf),
    )
}

fn judge<'o>(cx: &Cx<'_>, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let place = f.driver.place();
    match &f.driver {
        Reading::Known(d, _) if d == "nvidia" => out.pass(f.bdf, "driver nvidia").at(place),
        Reading::Known(d, _) if linerate_node::pci::is_vfio(d) => {
            out.not_applicable_to(f.bdf, "bound to vfio-pci: its driver runs in the virtual machine").at(place)
        }
        Reading::Known(d, _) => {
            // Others, such as stubs, were bound by somebody: only nouveau takes GPUs by itself.
            let action = if d == "nouveau" {
                Action::BlockModule { module: "nouveau".into(), instead: "nvidia".into() }
            } else {
                Action::Software { what: "NVIDIA driver".into() }
            };
            let remedy = Remedy::new(
                format!("keep {d} from the GPU (blacklist it, in the initramfs too) and load the NVIDIA driver"),
                action,
            );
            out.fail(f.bdf, format_args!("driver {d}, not nvidia"))
                .at(place)
                .fix(|| remedy.because("needs a reboot").prove(format!("sys/bus/pci/devices/{}/driver", f.bdf)))
        }
        Reading::Absent(_) => {
            let host = cx.node.context.role.value == Some(Role::VmHost);
            let remedy = if runs(cx) { refused(f) } else { load() };
            let message = if host { "no driver, and not given to a virtual machine" } else { "no driver" };
            out.fail(f.bdf, message)
                .severity(if host { Severity::Info } else { Severity::High })
                .at(place)
                .fix(|| remedy.prove(format!("sys/bus/pci/devices/{}/driver", f.bdf)))
        }
        r @ Reading::Unreadable(..) => out.unreadable(f.bdf, "driver of the GPU", r),
    }
}
