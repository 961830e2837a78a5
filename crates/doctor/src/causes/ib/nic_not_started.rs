//! `ib/nic-not-started`.

use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::KernelTrouble;
use linerate_formats::pci::Bdf;
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "ib/nic-not-started",
    title: "The driver of an RDMA NIC did not start it",
    what: "The driver of an RDMA NIC gave up while it started the card. The card has no RDMA device, and mostly no \
           interface: jobs run on fewer NICs, or on sockets.",
    shows: &[
        "`mlx5_core 0000:c1:00.0: probe with driver mlx5_core failed with error -12`, and of older kernels `mlx5_core: \
         probe of 0000:c1:00.0 failed with error -12`, of any driver of RDMA NICs",
        "`mlx5_init_one failed with error code -22`, in older kernels `mlx5_load_one failed …`",
        "`Firmware over 120000 MS in pre-initializing state, aborting`",
    ],
    why: "The card's firmware does not come up, or does not go with the driver's release; memory, interrupts or a BAR are \
          missing; or the card is broken. The driver's own lines before this one say which.",
    confirm: &[
        "`dmesg` around the line: what the driver says of that address before it",
        "`lspci -vvs BDF`: BARs with addresses, LnkSta against LnkCap, and whether a driver is in use",
        "`mstflint -d BDF q`: firmware against the driver's release notes",
    ],
    refute: &["`rdma link` or /sys/class/infiniband has a device of that address: a later start succeeded"],
    remedy: Advice::Investigate(
        "Read the driver's lines before the failure; then check the card's firmware against the driver's release, its BARs and interrupts, and its seating",
    ),
    sources: &[DRIVER_CORE, MLX5],
    severity: Severity::High,
    rules: &["rdma/device-present"],
    follows: &[],
    check,
};

const DRIVER_CORE: Source = nccl(
    "Linux, drivers/base/dd.c: call_driver_probe",
    "https://github.com/torvalds/linux/blob/master/drivers/base/dd.c",
);
const MLX5: Source = nccl(
    "Linux, drivers/net/ethernet/mellanox/mlx5/core/main.c: probe_one, wait_fw_init",
    "https://github.com/torvalds/linux/blob/master/drivers/net/ethernet/mellanox/mlx5/core/main.c",
);

fn check(c: &Case<'_>) -> Option<Found> {
    let of = |k: &KernelTrouble| match k {
        KernelTrouble::NicNotStarted(bdf) => Some(*bdf),
        _ => None,
    };
    let (whose, groups) = c.devices(of, |bdf, g| !bdf.is_some_and(|b| runs(c, b, g)))?;
    let whose = whose.unwrap_or_else(|| "an RDMA NIC".to_owned());
    let why = "the kernel's log says so; whether a later start succeeded, and whether the job needs the card, it does not show";
    Some(Found::new(Likely, format!("the driver did not start {whose}"), why).shown_by(c, &groups))
}

/// Whether a node that may be that host has an RDMA device at the address.
fn runs(c: &Case<'_>, bdf: Bdf, g: &Group) -> bool {
    c.nodes.iter().filter(|n| n.may_be(g.host.map(|h| c.name(h)))).any(|n| {
        let pci = &n.node.pci;
        pci.find(bdf).is_some_and(|id| n.node.rdma_of(pci.get(id)).is_some())
    })
}
