//! What follows from what a plan changes, as data.

/// What else moves when something is changed: word that begins the thing, path, part. `{}` is what stands behind the word.
pub(crate) type Follows = &'static [(&'static str, &'static str, &'static str)];

/// By the kernel's arguments.
pub(crate) const ARGUMENTS: Follows = &[
    ("iommu", "sys/kernel/iommu_groups/**", "*"),
    ("iommu", "**/iommu_group", "*"),
    ("iommu", "sys/class/iommu/**", "*"),
    ("iommu", "sys/devices/virtual/iommu/**", "*"),
    // Without translation the driver of the IOMMU asks for less of ACS and ATS.
    ("iommu", "**/config", "ACS control*"),
    ("iommu", "**/config", "ATS control*"),
    ("iommu", "**/config", "PRI*"),
    ("iommu", "**/config", "PASID*"),
    ("pcie_aspm", "**/config", "Express Link Control*"),
    ("hugepages", "**/hugepages/**", "*"),
    ("hugepages", "proc/sys/vm/nr_hugepages", "*"),
    ("default_hugepagesz", "proc/meminfo", "*"),
    ("transparent_hugepage", "sys/kernel/mm/transparent_hugepage/*", "*"),
    ("numa_balancing", "proc/sys/kernel/numa_balancing", "*"),
    ("processor.max_cstate", "sys/devices/system/cpu/**", "*"),
    ("intel_idle", "sys/devices/system/cpu/**", "*"),
    ("cpuidle", "sys/devices/system/cpu/**", "*"),
    ("intel_pstate", "sys/devices/system/cpu/**", "*"),
    ("amd_pstate", "sys/devices/system/cpu/**", "*"),
    ("cpufreq", "sys/devices/system/cpu/**", "*"),
    ("nosmt", "sys/devices/system/cpu/**", "*"),
    ("isolcpus", "sys/devices/system/cpu/**", "*"),
    ("nohz_full", "sys/devices/system/cpu/**", "*"),
    ("lockdown", "sys/kernel/security/lockdown", "*"),
    ("mitigations", "proc/cpuinfo", "bugs"),
];

/// By the options of `pci=`.
pub(crate) const PCI: Follows = &[
    ("config_acs", "**/config", "ACS control*"),
    ("config_acs", "sys/kernel/iommu_groups/**", "*"),
    ("config_acs", "**/iommu_group", "*"),
    ("disable_acs_redir", "**/config", "ACS control*"),
    ("disable_acs_redir", "sys/kernel/iommu_groups/**", "*"),
    ("disable_acs_redir", "**/iommu_group", "*"),
    ("noats", "**/config", "ATS control*"),
    ("noaer", "**/config", "AER*"),
    ("noari", "**/config", "Express Device Control*"),
    ("pcie_bus_tune_off", "**/config", "Express*"),
    ("pcie_bus_safe", "**/config", "Express*"),
    ("pcie_bus_perf", "**/config", "Express*"),
    ("pcie_bus_peer2peer", "**/config", "Express*"),
    ("realloc", "**/config", "BAR*"),
    ("realloc", "**/config", "bus numbers*"),
    ("realloc", "**/resource", "*"),
    ("assign-busses", "**/config", "bus numbers*"),
    ("hpbussize", "**/config", "bus numbers*"),
    ("hpmemsize", "**/config", "BAR*"),
    ("hpmemsize", "**/resource", "*"),
    ("hpmmiosize", "**/config", "BAR*"),
    ("hpmmiosize", "**/resource", "*"),
    ("hpmmioprefsize", "**/config", "BAR*"),
    ("hpmmioprefsize", "**/resource", "*"),
    ("resource_alignment", "**/config", "BAR*"),
    ("resource_alignment", "**/resource", "*"),
    ("big_root_window", "**/config", "BAR*"),
    ("big_root_window", "**/resource", "*"),
    ("use_crs", "**/config", "BAR*"),
    ("use_crs", "**/resource", "*"),
    ("nocrs", "**/config", "BAR*"),
    ("nocrs", "**/resource", "*"),
];

/// Other spellings of these words.
pub(crate) const SAME: &[(&str, &str)] =
    &[("intel_iommu", "iommu"), ("amd_iommu", "iommu"), ("iommu.passthrough", "iommu"), ("iommu.strict", "iommu")];

/// By files that a plan writes: how the path begins.
pub(super) const FILES: Follows = &[
    ("etc/default/grub", "boot/grub*/**", "*"),
    ("etc/kernel/cmdline", "boot/**", "*"),
    ("etc/security/limits.d/", "proc/self/limits", "Max locked memory"),
    ("etc/systemd/system/", "etc/systemd/system/*.wants/*", "*"),
    ("etc/netplan/", "run/systemd/network/*", "*"),
    ("etc/netplan/", "etc/systemd/network/*netplan*", "*"),
    ("etc/netplan/", "run/NetworkManager/system-connections/*", "*"),
];

/// By settings of a NIC's firmware. What else the function shows then is below its own directory, `{}`.
pub(super) const FIRMWARE: Follows = &[
    ("ATS_ENABLED", "**/{}/config", "ATS*"),
    ("ATS_ENABLED", "**/{}/config", "capability*"),
    ("SRIOV_EN", "**/{}/config", "*"),
    ("SRIOV_EN", "**/{}/sriov_*", "*"),
    ("SRIOV_EN", "**/{}/resource", "*"),
    ("NUM_OF_VFS", "**/{}/config", "*"),
    ("NUM_OF_VFS", "**/{}/sriov_*", "*"),
    ("NUM_OF_VFS", "**/{}/resource", "*"),
    ("LINK_TYPE", "**/{}/**", "*"),
    ("ADVANCED_PCI_SETTINGS", "`*config -d {} *", "MAX_ACC_OUT_READ"),
    ("ADVANCED_PCI_SETTINGS", "`*config -d {} *", "PCI_WR_ORDERING"),
    ("ADVANCED_PCI_SETTINGS", "`*config -d {} *", "FORCE_ETH_PCI_SUBCLASS"),
    ("ADVANCED_PCI_SETTINGS", "`*config -d {} *", "IBM_CAPI_EN"),
    ("PCI_WR_ORDERING", "**/{}/config", "Express Device Control*"),
];

/// By settings of the system's firmware, by their short names.
pub(super) const BIOS: Follows = &[
    ("iommu", "sys/kernel/iommu_groups/**", "*"),
    ("iommu", "**/iommu_group", "*"),
    ("iommu", "sys/class/iommu/**", "*"),
    ("iommu", "sys/devices/virtual/iommu/**", "*"),
    ("iommu", "sys/firmware/acpi/tables/**", "*"),
    // With an IOMMU the kernel asks ACS of ports.
    ("iommu", "**/config", "ACS control*"),
    ("iommu", "**/config", "ATS control*"),
    ("sr-iov", "**/config", "*"),
    ("sr-iov", "**/sriov_*", "*"),
    ("sr-iov", "**/resource", "*"),
    ("above-4g", "**/config", "BAR*"),
    ("above-4g", "**/resource", "*"),
    ("resizable-bar", "**/config", "BAR*"),
    ("resizable-bar", "**/resource", "*"),
    ("ari", "**/config", "Express Device Control*"),
    ("payload", "**/config", "Express Device Control*"),
    ("node-interleaving", "sys/devices/system/node/**", "*"),
    ("node-interleaving", "sys/firmware/acpi/tables/**", "*"),
    ("node-interleaving", "**/numa_node", "*"),
    ("node-interleaving", "**/local_cpulist", "*"),
    ("node-interleaving", "proc/sys/kernel/numa_balancing", "*"),
];

/// By registers that a unit writes, as `setpci` names them, and what of the function, `{}`, differs then.
pub(super) const REGISTERS: Follows = &[
    ("CAP_EXP+8.w", "**/{}/config", "Express Device Control @*"),
    ("CAP_EXP+28.w", "**/{}/config", "Express Device Control 2 @*"),
    ("ECAP_ACS+6.w", "**/{}/config", "ACS control*"),
];

/// By rules that a plan promises to pass: how the rule begins, and what of its subject, `{}`, may differ.
pub(super) const RULES: Follows = &[
    ("acs/", "**/{}/config", "ACS control*"),
    ("acs/", "sys/kernel/iommu_groups/**", "*"),
    ("ats/", "**/{}/config", "ATS control*"),
    ("pcie/", "**/{}/config", "Express Device Control*"),
    ("iommu/", "sys/kernel/iommu_groups/**", "*"),
    ("memory/", "proc/self/limits", "Max locked memory"),
    ("rdma/", "`ibv_devinfo*", "active_mtu"),
];
