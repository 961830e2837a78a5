//! `vm/mmio-window`.

use super::{READS_HOST, each_with_host, functions, lay_out, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_formats::libvirt::Firmware;
use linerate_node::vms::Vm;
use linerate_vm::window::{LEAST, bars, of_firmware, sum};

pub(super) static RULE: Rule = Rule {
    id: "vm/mmio-window",
    title: "The guest's window for 64-bit BARs holds those of its devices",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("BARs without an address: the GPU's driver does not start"),
    sources: &[
        Source {
            title: "edk2, OvmfPkg/Library/PlatformInitLib/MemDetect.c: X-PciMmio64Mb, PlatformDynamicMmioWindow",
            at: "https://github.com/tianocore/edk2/blob/master/OvmfPkg/Library/PlatformInitLib/MemDetect.c",
        },
        Source { title: "QEMU docs/specs/fw_cfg.rst", at: "https://www.qemu.org/docs/master/specs/fw_cfg.html" },
    ],
    reads: READS_HOST,
    docs: "\
## What it checks
The sum of the 64-bit BARs of all functions that the domain gives away, and the window in which OVMF places them: `opt/ovmf/X-PciMmio64Mb` where the domain sets it, else an eighth of the guest's physical
addresses, whose bits the domain must say (`<maxphysaddr>`). 32 GiB are always there.

## Why it matters
A GPU of the data centre has a BAR of 64 to 256 GiB. Without a place for it Linux says `BAR 1: no space`, and the driver `invalid I/O region`.

## See it yourself
In the guest `dmesg | grep -i 'BAR.*no space'`; on the host `lspci -vv -s ADDRESS | grep Region`.

## Fix
`<maxphysaddr mode='passthrough'/>` below `<cpu>`, and `-fw_cfg name=opt/ovmf/X-PciMmio64Mb,string=MIB` by `<qemu:commandline>`, with twice the sum. OVMF up to edk2-stable202502 takes that as the least, later ones as the size.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

/// GiB, rounded up.
fn gib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 30)
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let d = &vm.domain;
    let need = match bars(cx.node, functions(cx, vm).map(|(_, f, _)| f.bdf)) {
        Ok(all) => sum(&all),
        Err(bdf) => {
            out.unknown(subject(vm), format_args!("the BARs of {bdf} are not in this source"))
                .at(cx.node.pci.seen)
                .see("capture the host with `linerate collect` as root");
            return;
        }
    };
    let own = vm.at(d.span.line);
    if need <= LEAST {
        out.pass(subject(vm), format_args!("64-bit BARs take {} GiB; 32 GiB are always there", gib(need)))
            .at(own)
            .at(cx.node.pci.seen);
        return;
    }
    let set = of_firmware(d);
    let (size, by, place) = match (d.firmware, set, d.address_bits.as_ref()) {
        (Some(Firmware::Uefi), Some(set), _) => (set.value, "X-PciMmio64Mb", vm.at(set.line)),
        (Some(Firmware::Uefi), None, Some(bits)) => {
            (1u64 << bits.value.clamp(32, 46).saturating_sub(3), "an eighth of the guest's addresses", vm.at(bits.line))
        }
        _ => {
            out.unknown(
                subject(vm),
                format_args!(
                    "64-bit BARs take {} GiB; how large a window the firmware makes is not in the domain",
                    gib(need)
                ),
            )
            .at(own)
            .at(cx.node.pci.seen)
            .see("dmesg in the guest: `BAR …: no space` says that it is too small; set X-PciMmio64Mb to be sure");
            return;
        }
    };
    if size < need {
        out.fail(
            subject(vm),
            format_args!("64-bit BARs take {} GiB, the window is {} GiB ({by})", gib(need), gib(size)),
        )
        .at(place)
        .at(cx.node.pci.seen)
        .fix(|| lay_out(vm, "make the window for BARs larger (X-PciMmio64Mb)", true));
    } else {
        out.pass(
            subject(vm),
            format_args!("64-bit BARs take {} GiB, the window is {} GiB ({by})", gib(need), gib(size)),
        )
        .at(place)
        .at(cx.node.pci.seen);
    }
}
