//! `iommu/arm-peer-to-peer`.

use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::dmesg::Event;
use linerate_formats::pci::caps::PortType;
use linerate_node::pci::PciFunction;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "iommu/arm-peer-to-peer",
    title: "On Grace and Ampere CPUs, GPU and NIC share a PCIe switch or are coherent",
    severity: Severities::always(Severity::High),
    roles: Roles::BARE_METAL,
    effect: Effect::sourced("these root complexes forward no peer-to-peer traffic: GPUDirect RDMA is refused (driver 570 on) or fails"),
    sources: &[
        Source {
            title: "open-gpu-kernel-modules, nv-pci.c: nv_grdma_pci_topology_supported, nv_pci_has_common_pci_switch",
            at: "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/nvidia/nv-pci.c",
        },
        Source {
            title: "open-gpu-kernel-modules, osinit.c: _checkP2pChipsetSupport (TH500, Altra, AmpereOne 160)",
            at: "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/src/nvidia/arch/nvalloc/unix/src/osinit.c",
        },
    ],
    reads: &["proc/cpuinfo", "sys/bus/pci/devices/*", "proc/driver/nvidia/version", "dmesg"],
    docs: "\
## What it checks
On Arm nodes with root ports of Grace or Ampere Computing: whether each GPU has an RDMA NIC below a common PCIe switch. GPUs that
are coherent with the CPU (GH200, GB200, GB300) are exempt: the NIC reaches their memory through the CPU.

## Why it matters
These root complexes do not forward peer-to-peer packets. From driver 570 on, mappings of GPU memory for a NIC without a common
switch are refused: `NVRM: dma-buf attach failed: PCI topology not supported for dma-buf`; older drivers allow them, and they fail later.

## See it yourself
`lspci -tv` shows whether GPU and NIC are below one switch; `dmesg | grep 'topology not supported'`.

## Fix
Move the NIC or the GPU so that both are below one switch; otherwise GPUDirect RDMA stays off on this pair. The override
`NVreg_GrdmaPciTopoCheckOverride=1` only switches the check off: see modules/grdma-topo-override.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    if cx.node.cpu.is_x86() {
        out.not_applicable("an x86 CPU").at(cx.node.cpu.vendor.place());
        return;
    }
    let any = pci.gpus().next().is_some() && pci.rdma_nics().next().is_some();
    if cx.no_subjects(any, "GPU together with an RDMA NIC", out) {
        return;
    }
    let refused = cx.node.kernel.events(|e| match e {
        Event::DmabufAttachFailed(why) if why.contains("topology not supported") => Some(()),
        _ => None,
    });
    let refused = refused.map(|(_, p)| p).next();
    let root = pci.iter().find(|(_, f)| f.port_type() == Some(PortType::RootPort) && chipset(f).is_some());
    let Some((name, root)) = root.and_then(|(_, f)| Some((chipset(f)?, f))) else {
        if pci.iter().any(|(_, f)| f.port_type() == Some(PortType::RootPort) && f.vendor.known().is_some()) {
            out.not_applicable("no root port of Grace or Ampere Computing").at(cx.node.cpu.vendor.place());
        } else {
            out.unreadable(Subject::Node, "CPU vendor", &cx.node.cpu.vendor)
                .see("add /proc/cpuinfo, or lspci -D -nn -vvv with the root ports");
        }
        return;
    };
    let shared = |gpu| pci.nearest_nics(gpu).into_iter().any(|(_, p)| p.common.is_some());
    let any_shared = pci.gpus().any(|(gpu, _)| shared(gpu));
    for (gpu, f) in pci.gpus() {
        if coherent(cx, f) {
            out.not_applicable_to(f.bdf, "coherent with the CPU: NICs reach its memory over C2C").at(f.device.place());
        } else if let Some((nic, path)) = pci.nearest_nics(gpu).into_iter().find(|(_, p)| p.common.is_some()) {
            let common = path.common.map(|c| pci.get(c).bdf.to_string()).unwrap_or_default();
            out.pass(f.bdf, format_args!("NIC {} is below the same switch ({common})", pci.get(nic).bdf))
                .at(root.device.place());
        } else {
            let finding = apart(cx, f, name, root.device.place(), refused, out);
            // Without a switch on the whole node this is its design, and by default NCCL does not try.
            finding.severity((!any_shared && refused.is_none()).then_some(Severity::Info));
        }
    }
}

fn apart<'o>(
    cx: &Cx<'_>,
    f: &PciFunction<'_>,
    name: &str,
    root: Place,
    refused: Option<Place>,
    out: &'o mut Findings,
) -> &'o mut crate::Finding {
    let driver = &cx.node.nvidia.driver.version;
    let major = driver.known().and_then(|v| v.split('.').next()?.parse::<u32>().ok());
    let what = match major {
        Some(m) if m >= 570 => format!("driver {m} refuses to map its memory for one"),
        Some(m) => format!("driver {m} maps its memory for one, and the root complex drops the packets"),
        None => "the driver's version is not visible; from 570 on it refuses to map its memory for one".into(),
    };
    out.fail(
        f.bdf,
        format_args!(
            "no RDMA NIC below the same switch, and {name} root ports forward no peer-to-peer traffic; {what}"
        ),
    )
    .at(root)
    .at(driver.place())
    .at(refused)
    .fix(|| {
        Remedy::physical(
            "put GPU and NIC below one PCIe switch",
            "move the card, or use a board with a switch for the pair; otherwise accept copies through host memory",
        )
        .because("cards change their addresses")
        .prove("sys/bus/pci/devices")
    })
}

/// Root complexes that the driver lists as unable: by the ids of their root ports.
fn chipset(f: &PciFunction<'_>) -> Option<&'static str> {
    match (f.vendor.known()?, f.device.known()?) {
        // Grace; Vera's (2f95, 2f96) are not in the driver's list.
        (0x10de, 0x22b1 | 0x22b2 | 0x22b8) => Some("Grace"),
        (0x1def, _) => Some("Ampere"),
        _ => None,
    }
}

/// GH200, GB200, GB300: connected to the CPU by C2C. Known by the names that the driver or lspci prints, or by the PCI ids of the
/// list of products in the README of the open kernel modules.
fn coherent(cx: &Cx<'_>, f: &PciFunction<'_>) -> bool {
    let named = |n: &str| ["GH200", "GB200", "GB300", "GH100 [GH200"].iter().any(|c| n.contains(c));
    let reported = cx.node.nvidia.gpu(f.bdf).and_then(|g| g.name.known().cloned()).unwrap_or_default();
    named(&reported) || named(&f.name) || matches!(f.device.known(), Some(0x2342 | 0x2348 | 0x2941 | 0x31c2))
}
