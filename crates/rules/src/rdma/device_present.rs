//! `rdma/device-present`.

use super::common;
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::pci::{FnId, Kind, PciFunction};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "rdma/device-present",
    title: "Every RDMA NIC that a GPU depends on has an RDMA device",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::estimate("without an RDMA device NCCL uses TCP sockets over the same card (estimate: 5 to 40 times slower)"),
    sources: &[
        common::ABI,
        common::NCCL_IB,
        Source {
            title: "Linux drivers/infiniband/hw/mlx5: mlx5_ib makes the RDMA device of a function that mlx5_core drives",
            at: "https://github.com/torvalds/linux/tree/master/drivers/infiniband/hw/mlx5",
        },
    ],
    reads: &["sys/bus/pci/devices/*/{vendor,class,driver}", "sys/class/infiniband/*/device", "ibstat", "ibv_devinfo"],
    docs: "\
## What it checks
Each NVIDIA/Mellanox network function (physical, or one that a virtual machine was given) has an entry in /sys/class/infiniband.
Functions bound to vfio-pci and virtual functions on their host are not judged. A function that no GPU is near is information only. Where the source has no list of PCI functions:
whether a tool that lists RDMA devices (`ibstatus`, `ibv_devinfo`) says that there is none.

## Why it matters
The Ethernet or IPoIB interface may work while RDMA does not: mlx5_core makes the network interface, mlx5_ib the RDMA device.
NCCL then says NET/Socket and runs, slowly.

## See it yourself
`ls -l /sys/class/infiniband/*/device`, `rdma link`, `lsmod | grep mlx5_ib`. In exclusive namespace mode a device that was moved to a
pod is not visible on the host: `rdma system`.

## Fix
No driver: load mlx5_core (or mlx4_core). Driver but no RDMA device: load mlx5_ib (mlx4_ib) at each boot, check that the device's
`enable_rdma` devlink parameter is true, and that no other namespace owns the device.",
    myths: &[Myth {
        claim: "ping works on that interface, so RDMA is there.",
        truth: "ping needs the network driver only. RDMA needs the second driver and an entry in /sys/class/infiniband.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    // Of virtual functions only those that a guest has in place of cards.
    let all = linerate_node::rails::candidates(pci);
    let nics = || all.iter().map(|id| (*id, pci.get(*id)));
    for (_, f) in pci.of_kind(Kind::PerhapsNvlinkBridge) {
        out.unknown(f.bdf, "ConnectX-7 of a B200 or B300 baseboard: a NIC, or one of the functions that manage NVLink; its VPD says which, and was not read")
            .at(f.vpd.place())
            .see("capture as root, or `lspci -vvv -s ADDRESS` as root: the field SMDL=SW_MNG of the VPD marks NVLink management");
    }
    if none_at_all(cx, out) {
        return;
    }
    if cx.no_subjects(nics().next().is_some(), "RDMA NIC", out) {
        return;
    }
    let devices = match &cx.node.rdma {
        Reading::Known(d, _) => d.as_slice(),
        Reading::Absent(_) => &[],
        r @ Reading::Unreadable(..) => {
            out.unreadable(Subject::Node, "list of RDMA devices", r);
            return;
        }
    };
    // Texts without addresses: a device exists, but not which function's.
    let unplaced = devices.iter().filter(|d| d.pci.is_none() && !d.is_software()).count();
    for (id, f) in nics() {
        match devices.iter().find(|d| d.pci == Some(f.bdf)) {
            Some(d) => out.pass(f.bdf, format_args!("is {}", d.name)).at(common::place(d)),
            None if unplaced > 0 => out
                .unknown(f.bdf, format_args!("{unplaced} RDMA devices are listed without PCI addresses"))
                .at(cx.node.rdma.place())
                .see("ls -l /sys/class/infiniband/*/device, or `ibdev2netdev -v`"),
            None if common::has_vf_here(cx, f) => out
                .not_applicable_to(
                    f.bdf,
                    "one of its virtual functions has an RDMA device here: its own is in another network namespace",
                )
                .at(cx.node.rdma.place()),
            None => missing(cx, id, f, out),
        };
    }
}

/// Answers where nothing but a tool's word is there, and it says that there is no device: `true` if it answered.
fn none_at_all(cx: &Cx<'_>, out: &mut Findings) -> bool {
    let Some(place) =
        cx.node.rdma_unshown.none.filter(|_| cx.node.pci.seen.is_none() && cx.node.rdma.known().is_none())
    else {
        return false;
    };
    out.fail(Subject::Node, "the tool finds no RDMA device here").severity(Severity::Medium).at(place).fix(|| {
        Remedy::investigate(
            "find out whether the machine has an RDMA NIC (lspci -d 15b3:), whether its driver started it (dmesg), and whether the container was given it",
            "NIC, its driver's lines in the kernel log, namespaces",
        )
        .prove("ibv_devinfo")
    });
    true
}

fn missing<'o>(cx: &Cx<'_>, id: FnId, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    if f.driven_by("vfio-pci") {
        return out
            .not_applicable_to(f.bdf, "bound to vfio-pci: its RDMA device is in the virtual machine")
            .at(f.driver.place());
    }
    // RoCE LAG makes one RDMA device of two functions.
    if let Some(d) = common::devices(cx)
        .find(|d| d.pci.is_some_and(|b| (b.domain, b.bus, b.device) == (f.bdf.domain, f.bdf.bus, f.bdf.device)))
        .filter(|d| d.name.contains("bond"))
    {
        return out.pass(f.bdf, format_args!("is part of {}", d.name)).at(common::place(d));
    }
    if let Reading::Known(false, place) = linerate_node::rdma::netns_shared(cx.snapshot) {
        return out
            .unknown(f.bdf, "no RDMA device here; in exclusive namespace mode it may be in a pod's namespace")
            .at(place)
            .at(cx.node.rdma.place())
            .see("rdma link in the pods; `rdma system`");
    }
    let near = cx.node.rails.iter().any(|r| r.nics.contains(&id) && !common::stand_in(cx, r, f, |_| true));
    let (message, module) = match &f.driver {
        Reading::Known(d, _) if d == "mlx5_core" => {
            ("driven by mlx5_core, but has no RDMA device".into(), Some("mlx5_ib"))
        }
        Reading::Known(d, _) if d == "mlx4_core" => {
            ("driven by mlx4_core, but has no RDMA device".into(), Some("mlx4_ib"))
        }
        Reading::Known(d, _) => (format!("driven by {d}, has no RDMA device"), None),
        Reading::Absent(_) => ("has no driver, so no RDMA device".to_owned(), Some("mlx5_core")),
        Reading::Unreadable(..) => ("has no RDMA device; its driver is not visible".to_owned(), None),
    };
    let action = match module {
        Some(module) => Action::LoadModule { module: module.into() },
        None => Action::Investigate { what: "driver of the NIC and owner of its RDMA device".into() },
    };
    let message = if near { message } else { format!("{message}; {}", who_serves(cx)) };
    out.fail(f.bdf, message)
        .severity(if near { Severity::High } else { Severity::Info })
        .at(cx.node.rdma.place())
        .at(f.driver.place())
        .fix(|| {
            Remedy::new("load the RDMA driver of the NIC at each boot", action)
                .because("in exclusive namespace mode a pod may own the device: look there first")
                .prove(format!("sys/bus/pci/devices/{}/infiniband", f.bdf))
        })
}

/// Why it matters little that a NIC which no GPU is near has no RDMA device.
fn who_serves(cx: &Cx<'_>) -> &'static str {
    if cx.node.pci.nvidia_gpus().next().is_none() {
        "no GPU is to be seen that it could serve"
    } else if cx.node.rails.iter().any(|r| !r.nics.is_empty()) {
        "other NICs serve the GPUs"
    } else {
        "no GPU is known to be near it"
    }
}
