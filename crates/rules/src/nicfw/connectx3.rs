//! `nicfw/connectx3`.

use super::{cards, names};
use crate::{Cx, Effect, Findings, Myth, Quality, Roles, Rule, Severity, Source, Subject};
use linerate_node::nicfw::NicFirmware;
use linerate_node::pci::PciFunction;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/connectx3",
    title: "The NICs are of a generation that has today's settings (ConnectX-4 or later)",
    severity: Severity::Info,
    roles: Roles::ALL,
    effect: Effect {
        text: "PCIe 3.0 x8: at most 63 Gb/s before protocol overhead for both ports together",
        quality: Quality::Derived,
    },
    sources: &[
        super::PRINTING,
        Source {
            title: "Linux drivers/net/ethernet/mellanox/mlx4",
            at: "https://github.com/torvalds/linux/tree/master/drivers/net/ethernet/mellanox/mlx4",
        },
        Source {
            title: "perftest, perftest_resources.c: ConnectX-3 is limited to an MTU of 2048 for a hardware bug",
            at: "https://github.com/linux-rdma/perftest",
        },
    ],
    reads: &["mlxconfig -d BDF q", "sys/bus/pci/devices/*/driver"],
    docs: "\
## What it checks
Whether NICs are ConnectX-3 or ConnectX-3 Pro: driver mlx4_core, or the device type of a firmware query.

## Why it matters
Their queries have one column (Next Boot), so what runs cannot be read. They have no PCI_WR_ORDERING, ATS_ENABLED or
MAX_ACC_OUT_READ: advice for newer cards does not apply. Both ports are one PCI function on PCIe 3.0 x8. The last MLNX_OFED for them
is 4.9 LTS (from experience); the kernel's own driver still works. GPUDirect RDMA is practically out of reach with them.

## See it yourself
`readlink /sys/class/infiniband/mlx4_0/device/driver`; `lspci -nn | grep 15b3:100`.

## Fix
None: know what the card can do, and do not chase settings that it does not have.",
    myths: &[Myth {
        claim: "Two 40 GbE ports of a ConnectX-3 give 80 Gb/s.",
        truth: "The slot gives 8 GT/s × 8 lanes × 128/130 = 63 Gb/s before packet overhead, for both ports together.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let old: Vec<&PciFunction<'_>> =
        cx.node.pci.functions.iter().filter(|f| !f.is_vf() && f.driven_by("mlx4_core")).collect();
    for f in &old {
        out.fail(
            f.bdf,
            "ConnectX-3: firmware queries show the next boot only; no ATS, PCI_WR_ORDERING or MAX_ACC_OUT_READ",
        )
        .at(f.driver.place());
    }
    let told: Vec<&NicFirmware> =
        cx.node.nic_firmware.iter().filter(|n| n.is_connectx3() && !old.iter().any(|f| Some(f.bdf) == n.bdf)).collect();
    if let Some(first) = told.first() {
        let place = first.config.device_type.as_ref().map_or(first.place, |t| first.at(t.line));
        out.fail(Subject::Named(names(&told)), "ConnectX-3: what the query shows is the next boot").at(place);
    }
    if !out.is_empty() {
        return;
    }
    // Without a driver in sight the firmware query may tell the generation.
    let nics: Vec<&PciFunction<'_>> = super::mellanox(cx);
    match (nics.iter().find(|f| f.driver.is_unreadable() && f.device.is_unreadable()), nics.first()) {
        (Some(f), _) => {
            out.unreadable(f.bdf, "driver and device id of the NIC", &f.driver);
        }
        (None, Some(f)) if nics.iter().any(|f| matches!(f.device.known(), Some(0x1003 | 0x1007))) => {
            out.fail(f.bdf, "ConnectX-3: its settings are the next boot's").at(f.device.place());
        }
        (None, Some(f)) => {
            out.pass(Subject::Node, format!("none of the {} NVIDIA NIC(s) is a ConnectX-3", nics.len()))
                .at(f.device.place());
        }
        (None, None) => {
            let mut quiet = Findings::default();
            let seen = cards(cx, &mut quiet);
            match seen.iter().find_map(|n| Some((n, n.config.device_type.as_ref()?))) {
                Some((n, t)) => {
                    out.pass(Subject::Node, format!("{}: not a ConnectX-3", t.value)).at(n.at(t.line));
                }
                None => {
                    cx.no_subjects(false, "NVIDIA NIC", out);
                }
            }
        }
    }
}
