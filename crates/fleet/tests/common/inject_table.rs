/// The changes. `NIC` is the NIC of rail `{}`, by what stands at its place in each node.
pub(crate) const TABLE: &[Case] = &[
    // Devices that are lost.
    Case { patch: "lose gpu{}", rows: &["GPU {} |  | pci"] },
    Case { patch: "lose nic{}", rows: &["rail {} NIC |  | pci"] },
    // Registers.
    Case { patch: "[pci.nic{}]\nmrrs = 512", rows: &["rail {} NIC |  | pci.express.max_read_request"] },
    Case { patch: "[pci.gpu{}]\nmrrs = 128", rows: &["GPU {} |  | pci.express.max_read_request"] },
    Case { patch: "[pci.gpu{}]\nrelaxed_ordering = false", rows: &["GPU {} |  | pci.express.relaxed_ordering"] },
    Case { patch: "[pci.nic{}]\nrelaxed_ordering = false", rows: &["rail {} NIC |  | pci.express.relaxed_ordering"] },
    Case { patch: "[pci.gpu{}]\next_tag = false", rows: &["GPU {} |  | pci.express.extended_tag"] },
    Case { patch: "[pci.nic{}]\nten_bit_tag = true", rows: &["rail {} NIC |  | pci.express.ten_bit_tag_enabled"] },
    Case { patch: "[pci.nic{}]\naspm = \"l1\"", rows: &["rail {} NIC |  | pci.express.aspm_enabled"] },
    Case { patch: "[pci.gpu{}]\nmps = 128", rows: &["GPU {} |  | pci.express.max_payload"] },
    Case { patch: "[pci.\"gpu{}.port\"]\nacs_ctl = 29", rows: &["bridge 1 above GPU {} |  | pci.acs.control"] },
    Case { patch: "[pci.gpu{}]\nnuma_node = -1", rows: &["GPU {} |  | pci.numa_node"] },
    Case { patch: "[pci.nic{}]\nnuma_node = -1", rows: &["rail {} NIC |  | pci.numa_node"] },
    // A link that is narrower than it could be. Widths move by themselves: they are drift where a rule judges them, which is at the device's end.
    Case { patch: "[pci.nic{}]\nlink_width = 8", rows: &["rail {} NIC |  | pci.link.width"] },
    // NICs, ports, interfaces.
    Case { patch: "[rdma.mlx5_{}]\nfw_ver = \"28.36.{n}\"", rows: &["rail {} NIC |  | rdma.firmware"] },
    Case { patch: "[rdma.mlx5_{}]\nboard_id = \"MT_0000000{n}\"", rows: &["rail {} NIC |  | rdma.board_id"] },
    Case { patch: "[rdma.mlx5_{}]\nactive_mtu = 2048", rows: &["rail {} NIC | port 1 | rdma.ports.active_mtu"] },
    Case { patch: "[net.ib{}]\nmtu = 2044", rows: &["rail {} NIC |  | net.mtu"] },
    // The node.
    Case { patch: "set proc/sys/kernel/numa_balancing 1", rows: &["node |  | memory.numa_balancing"] },
    Case { patch: "set proc/sys/kernel/osrelease 6.8.0-{n}-generic", rows: &["node |  | kernel.release"] },
    Case { patch: "swap proc/cmdline  iommu=pt =>  iommu=nopt", rows: &["node | iommu | kernel.cmdline"] },
    Case { patch: "swap proc/cmdline  intel_iommu=on =>  intel_iommu=on hugepages={n}", rows: &["node | hugepages | kernel.cmdline"] },
    Case { patch: "swap proc/cmdline  intel_iommu=on => ", rows: &["node | intel_iommu | kernel.cmdline"] },
    Case { patch: "[modules]\ndrop = [\"nvidia_uvm\"]", rows: &["node | nvidia_uvm | kernel.modules"] },
    Case { patch: "[modules]\nadd = [\"nouveau\"]", rows: &["node | nouveau | kernel.modules"] },
    Case { patch: "set sys/devices/virtual/dmi/id/bios_version 1.{n}", rows: &["node |  | firmware.bios_version"] },
    Case { patch: "set sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor powersave", rows: &["node |  | cpu.governors"] },
    Case {
        patch: "set sys/devices/system/cpu/cpu{}/cpufreq/energy_performance_preference power",
        rows: &["node |  | cpu.energy_preferences"],
    },
    Case { patch: "set sys/devices/system/cpu/cpu0/cpufreq/scaling_driver acpi-cpufreq", rows: &["node |  | cpu.frequency_driver"] },
    Case { patch: "set sys/devices/system/node/node1/distance 31 10", rows: &["NUMA node 1 |  | numa.distance"] },
    Case { patch: "set sys/kernel/security/lockdown none [integrity] confidentiality", rows: &["node |  | firmware.lockdown"] },
];
