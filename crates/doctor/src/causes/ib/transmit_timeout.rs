//! `ib/transmit-timeout`.

use crate::answer::Confidence::Possible;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::KernelTrouble;
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "ib/transmit-timeout",
    title: "An RDMA NIC did not send for seconds",
    what: "A transmit queue of an RDMA NIC's interface did not move for seconds, and the driver reset it. If the port or \
           the card is the reason, RDMA over the same port waits as well.",
    shows: &[
        "`NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 11 timed out`",
        "`mlx5_core 0000:17:00.0 eth0: NETDEV WATCHDOG: CPU: 3: transmit queue 11 timed out 6000 ms`",
        "`mlx5_core 0000:17:00.0 eth0: TX timeout detected`",
    ],
    why: "Pause frames that do not end hold the port (a receiver that does not keep up, a pause storm), the card's firmware or \
          its PCIe link does not work, or an interrupt was lost: mlx5 says `Recovered 2 eqes on EQ 0x7` then.",
    confirm: &[
        "`dmesg | grep mlx5_core`: `Recovered … eqes` (an interrupt was lost), health reports (the firmware)",
        "`ethtool -S eth0 | grep -e pause -e prio`, twice: received pause frames that grow",
        "`dmesg | grep AER`: errors of the PCIe link",
    ],
    refute: &["the interface is not one that the job uses, and the others of the card show nothing"],
    remedy: Advice::Investigate(
        "Find which it is: pause frames (the switch port, the receiver), firmware (release notes, update), PCIe errors, or lost interrupts",
    ),
    sources: &[WATCHDOG, MLX5],
    severity: Severity::High,
    rules: &[],
    follows: &["ib/nic-fault", "ib/port-went-down", "kernel/pcie-error", "kernel/device-gone", "kernel/iommu-fault"],
    check,
};

const WATCHDOG: Source = nccl(
    "Linux, net/sched/sch_generic.c: dev_watchdog",
    "https://github.com/torvalds/linux/blob/master/net/sched/sch_generic.c",
);
const MLX5: Source = nccl(
    "Linux, drivers/net/ethernet/mellanox/mlx5/core/en: mlx5e_tx_timeout, mlx5e_health_channel_eq_recover",
    "https://github.com/torvalds/linux/blob/master/drivers/net/ethernet/mellanox/mlx5/core/en/health.c",
);

fn check(c: &Case<'_>) -> Option<Found> {
    let of = |k: &KernelTrouble| match k {
        KernelTrouble::TransmitTimeout(bdf) => Some(*bdf),
        _ => None,
    };
    let (whose, groups) = c.devices(of, |_, _| true)?;
    let whose = whose.unwrap_or_else(|| "an RDMA NIC".to_owned());
    let why = "the kernel's watchdog says so; why, and whether the job uses that interface, these lines do not show";
    Some(Found::new(Possible, format!("{whose} did not send for seconds"), why).shown_by(c, &groups))
}
