//! What the drivers of NICs report of firmware and memory.

use crate::observe::trouble::{KernelTrouble, Lack, NarrowPath};
use linerate_formats::dmesg::{LimitedBy, Requester};
use linerate_formats::pci::Bdf;

/// The link that limits a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) gts: Option<f64>,
    pub(super) width: Option<u8>,
}

/// `pcie_print_link_status` prints the second form only where a link limits the device.
pub(super) fn narrow(device: Requester, gbps: f64, link: Link, by: &LimitedBy) -> Option<KernelTrouble> {
    let megabits = |g: f64| (g.is_finite() && (0.0..1e6).contains(&g)).then_some((g * 1e3).round() as u32);
    let lacks = match (link.width.zip(by.capable_width), link.gts.zip(by.capable_gts)) {
        (Some((has, can)), _) if has < can => Lack::Lanes,
        (Some(_), Some((has, can))) if has < can => Lack::Speed,
        _ => Lack::Unknown,
    };
    let capable = by.capable_gbps.and_then(megabits);
    let path = NarrowPath { device, port: by.at, lacks, megabits: megabits(gbps), capable };
    // Gen4 and Gen5 differ in their coding by a little; that is no narrow link.
    path.share().is_none_or(|s| s < 900).then_some(KernelTrouble::NarrowPath(path))
}

/// A command that mlx5's firmware did not do: `mlx5_core 0000:81:00.0: mlx5_cmd_check:794:(pid 0): CREATE_MKEY(0x200) op_mod(0x0) failed, …`
/// (drivers/net/ethernet/mellanox/mlx5/core/cmd.c, `cmd_status_print`; newer `mlx5_cmd_out_err:…`). Its card, its name, and what is behind that.
fn command(m: &str) -> Option<(Option<Bdf>, &str, &str)> {
    let (head, rest) = m.strip_prefix("mlx5_core ")?.split_once(": ")?;
    let (_, command) = rest.strip_prefix("mlx5_cmd_")?.split_once("): ")?;
    let (name, rest) = command.split_once('(')?;
    Some((head.split(' ').next().and_then(|h| h.parse().ok()), name, rest))
}

/// mlx5's firmware has no room for another object: `CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4)`.
pub(super) fn limit(m: &str) -> Option<KernelTrouble> {
    if !m.starts_with("mlx5_core ") {
        return efa(m);
    }
    let (card, name, rest) = command(m)?;
    let created = name.starts_with("CREATE_") && !name.contains(' ');
    (created && rest.contains(" failed, status limits exceeded(0x8)")).then_some(KernelTrouble::NicLimit(card))
}

/// mlx5's firmware refuses a queue pair's next state, which a program asked for. Other commands fail where the firmware lacks what the driver itself asks
/// for (ACCESS_REG, QUERY_…), and nothing follows.
pub(super) fn refused(m: &str) -> Option<KernelTrouble> {
    let (card, name, rest) = command(m)?;
    let of_program = ["RST2INIT_QP", "INIT2RTR_QP", "RTR2RTS_QP", "RTS2RTS_QP"];
    (of_program.contains(&name) && rest.contains(" failed, status bad parameter(0x3)"))
        .then_some(KernelTrouble::NicRefused(card))
}

/// EFA's device has no room for another object (drivers/infiniband/hw/efa/efa_com.c, `efa_com_comp_status_to_errno`: -12 is
/// EFA_ADMIN_RESOURCE_ALLOCATION_FAILURE; efa_com_cmd.c): `infiniband efa_0: Failed to allocate pd[-12]`, `efa 0000:00:1e.0 efa_0: Failed to create
/// qp [-12]`, and before it `Failed to process command ALLOC_PD (opcode 14) comp_status 1 err -12`.
fn efa(m: &str) -> Option<KernelTrouble> {
    let (head, rest) = m.split_once(": Failed to ")?;
    let (bdf, device) = match head.strip_prefix("infiniband ") {
        Some(device) => (None, device),
        None => head.strip_prefix("efa ")?.split_once(' ').and_then(|(b, d)| Some((Some(b.parse().ok()?), d)))?,
    };
    let made = ["allocate pd[", "create qp [", "create cq[", "create ah for ", "register mr ["];
    let refused = made.iter().any(|w| rest.starts_with(w)) && rest.trim_end().ends_with("[-12]");
    let command =
        rest.strip_prefix("process command ").is_some_and(|r| r.trim_end().ends_with(" comp_status 1 err -12"));
    (device.starts_with("efa_") && (refused || command)).then_some(KernelTrouble::NicLimit(bdf))
}

/// Pages of a registration that cannot be pinned (drivers/infiniband/core/umem.c; mlx4, mlx5 `mr.c`, `umr.c`). -12 is a limit.
pub(super) fn pages(m: &str) -> Option<KernelTrouble> {
    let core = m.starts_with("ib_umem_get: failed to get user pages, nr_pages=");
    let nic = ["infiniband mlx", "mlx5_", "mlx4_"].iter().any(|n| m.starts_with(n));
    let failed = nic.then(|| m.split_once("umem get failed (")).flatten();
    let by_nic = failed.is_some_and(|(before, rest)| {
        before.split(' ').count() <= 5 && !rest.starts_with("-12)") && rest.starts_with(['-', '1', '2'])
    });
    (core || by_nic).then_some(KernelTrouble::PagesRefused)
}
