//! Which NIC drivers register memory regions from DMA-BUFs, and since when: one place for topology and rules.

use crate::Node;
use crate::pci::PciFunction;
use linerate_formats::kernel_config::{self, Setting};
use linerate_formats::kernel_version::KernelVersion;
use linerate_snapshot::{Place, Reading};

/// A driver of PCI functions with RDMA, and the mainline release whose RDMA driver registers DMA-BUFs.
struct Driver {
    /// As sysfs names the driver of the function.
    name: &'static str,
    /// First release; `None`: no release does.
    since: Option<(u32, u32)>,
}

/// Mainline commits that implement `reg_user_mr_dmabuf`, and the merge window they went in by:
///
/// - mlx5_ib: 90da7dc8206a "RDMA/mlx5: Support dma-buf based userspace memory region", 5.12
/// - efa: 66f4817b5712 "RDMA/efa: Add support for dmabuf memory regions", October 2021, 5.16
/// - irdma (function driven by ice or i40e): d2225b838cca "RDMA/irdma: Add support for dmabuf pin memory regions", v6.3 RDMA pull request
/// - bnxt_re (bnxt_en): 0a30e59f22b2 "RDMA/bnxt_re: Add support for dmabuf pinned memory regions", July 2023, 6.6
/// - mana_ib (mana): ffd67b6b420d "RDMA/mana_ib: Implement DMABUF MR support", RDMA pull request of March 2025, 6.15
/// - mlx4_ib never had it.
///
/// What is not here (hns, erdma, ionic …) is not known.
const DRIVERS: [Driver; 8] = [
    Driver { name: "mlx5_core", since: Some((5, 12)) },
    Driver { name: "efa", since: Some((5, 16)) },
    Driver { name: "ice", since: Some((6, 3)) },
    Driver { name: "i40e", since: Some((6, 3)) },
    Driver { name: "irdma", since: Some((6, 3)) },
    Driver { name: "bnxt_en", since: Some((6, 6)) },
    Driver { name: "mana", since: Some((6, 15)) },
    Driver { name: "mlx4_core", since: None },
];

/// Whether a driver registers DMA-BUFs on a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It does.
    Yes,
    /// No release of it does.
    Never,
    /// It does since this release, and the kernel is older.
    Since(u32, u32),
    /// The kernel is older than this release and may carry the driver of a newer one: a vendor's, or one built apart from the kernel.
    Backport(u32, u32),
    /// The kernel was built without this option, which it takes.
    KernelWithout(&'static str),
    /// The driver is not known here.
    UnknownDriver,
}

/// An option that the kernel was built without and that DMA-BUF regions take with this driver, and where that is seen. mlx5 has them as a
/// part of on-demand paging (`CONFIG_INFINIBAND_ON_DEMAND_PAGING`, drivers/infiniband/hw/mlx5/odp.c). Out-of-tree stacks have their own configuration.
#[must_use]
pub fn missing_option(node: &Node<'_>, f: &PciFunction<'_>) -> Option<(&'static str, Place)> {
    let Reading::Known(config, place) = &node.kernel.config else { return None };
    let mlx5 = f.driven_by("mlx5_core");
    if mlx5 && node.peermem.ofed().is_some() {
        return None;
    }
    ["DMA_SHARED_BUFFER", "INFINIBAND_ON_DEMAND_PAGING"].into_iter().take(if mlx5 { 2 } else { 1 }).find_map(|name| {
        let off = kernel_config::find(config, name).filter(|o| o.setting == Setting::NotSet)?;
        Some((name, place.line(off.line)))
    })
}

/// For a driver on a kernel. `foreign`: its module was built apart from the kernel (MLNX_OFED, the EFA installer, Broadcom's own).
#[must_use]
pub fn support(driver: &str, release: &KernelVersion, foreign: bool) -> Support {
    let Some(d) = DRIVERS.iter().find(|d| d.name == driver) else { return Support::UnknownDriver };
    let Some((major, minor)) = d.since else { return Support::Never };
    if release.at_least(major, minor) {
        return Support::Yes;
    }
    // Kernels whose vendors take drivers of later releases: Red Hat and its rebuilds, SUSE, Oracle's UEK, Amazon Linux.
    let vendor = [".el", "default", "uek", "amzn"].iter().any(|w| release.rest.contains(w));
    if foreign || vendor { Support::Backport(major, minor) } else { Support::Since(major, minor) }
}

/// For a NIC of a node; `None` where its driver or the kernel's release is not known.
#[must_use]
pub fn of(node: &Node<'_>, f: &PciFunction<'_>) -> Option<Support> {
    let driver = f.driver.known()?;
    let foreign = match driver.as_ref() {
        "mlx5_core" => node.peermem.ofed().is_some(),
        "bnxt_en" => node.kernel.foreign.contains(&"bnxt_re"),
        "ice" | "i40e" => node.kernel.foreign.contains(&"irdma"),
        "mana" => node.kernel.foreign.contains(&"mana_ib"),
        name => node.kernel.foreign.contains(&name),
    };
    if let Some((option, _)) = missing_option(node, f) {
        return Some(Support::KernelWithout(option));
    }
    Some(support(driver, node.kernel.release.known()?, foreign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_formats::kernel_version;

    fn of(driver: &str, release: &str) -> Support {
        kernel_version::parse(release).map_or(Support::UnknownDriver, |r| support(driver, &r, false))
    }

    #[test]
    fn each_driver_has_its_own_release() {
        let cases = [
            ("mlx5_core", "5.15.0-91-generic", Support::Yes),
            ("mlx5_core", "5.4.0-150-generic", Support::Since(5, 12)),
            ("bnxt_en", "5.15.0-91-generic", Support::Since(6, 6)),
            ("bnxt_en", "6.8.0-60-generic", Support::Yes),
            ("bnxt_en", "5.14.0-427.el9.x86_64", Support::Backport(6, 6)),
            ("efa", "5.15.0-1045-aws", Support::Since(5, 16)),
            ("efa", "6.8.0-1029-aws", Support::Yes),
            ("ice", "6.1.0-18-amd64", Support::Since(6, 3)),
            ("mana", "6.8.0-1015-azure", Support::Since(6, 15)),
            ("mlx4_core", "6.8.0", Support::Never),
            ("hns3", "6.8.0", Support::UnknownDriver),
            ("erdma", "6.8.0", Support::UnknownDriver),
        ];
        for (driver, release, want) in cases {
            assert_eq!(of(driver, release), want, "{driver} {release}");
        }
        let release = kernel_version::parse("5.15.0-91-generic");
        assert_eq!(release.map(|r| support("efa", &r, true)), Some(Support::Backport(5, 16)));
    }
}
