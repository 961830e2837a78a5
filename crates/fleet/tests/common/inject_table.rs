//! Changes of devices, and what must differ. `rail {} NIC` is the NIC of that rail, by what stands at its place in each node.

use super::Case;

/// PCI functions.
pub(super) const FUNCTIONS: &[Case] = &[
    // Devices that are lost.
    Case { patch: "lose gpu{}", rows: &["GPU {} |  | pci"] },
    Case { patch: "lose nic{}", rows: &["rail {} NIC |  | pci"] },
    // Registers that software sets.
    Case { patch: "[pci.nic{}]\nmrrs = 512", rows: &["rail {} NIC |  | pci.express.max_read_request"] },
    Case { patch: "[pci.gpu{}]\nmrrs = 128", rows: &["GPU {} |  | pci.express.max_read_request"] },
    Case { patch: "[pci.gpu{}]\nrelaxed_ordering = false", rows: &["GPU {} |  | pci.express.relaxed_ordering"] },
    Case { patch: "[pci.nic{}]\nrelaxed_ordering = false", rows: &["rail {} NIC |  | pci.express.relaxed_ordering"] },
    Case { patch: "[pci.gpu{}]\nno_snoop = true", rows: &["GPU {} |  | pci.express.no_snoop"] },
    Case { patch: "[pci.gpu{}]\next_tag = false", rows: &["GPU {} |  | pci.express.extended_tag"] },
    Case { patch: "[pci.nic{}]\nten_bit_tag = true", rows: &["rail {} NIC |  | pci.express.ten_bit_tag_enabled"] },
    Case { patch: "[pci.nic{}]\naspm = \"l1\"", rows: &["rail {} NIC |  | pci.express.aspm_enabled"] },
    Case { patch: "[pci.gpu{}]\nmps = 128", rows: &["GPU {} |  | pci.express.max_payload"] },
    Case { patch: "bits nic{} express 28 40", rows: &["rail {} NIC |  | pci.express.atomic_requester"] },
    Case {
        patch: "[pci.\"nic{}.port\"]\nari_forwarding = true",
        rows: &["bridge 1 above rail {} NIC |  | pci.express.ari_forwarding"],
    },
    Case { patch: "[pci.\"gpu{}.port\"]\nacs_ctl = 29", rows: &["bridge 1 above GPU {} |  | pci.acs.control"] },
    Case { patch: "[pci.\"nic{}.port\"]\nacs_ctl = 29", rows: &["bridge 1 above rail {} NIC |  | pci.acs.control"] },
    Case { patch: "bits nic{} aer 08 100000", rows: &["rail {} NIC |  | pci.aer.uncorrectable_mask"] },
    Case { patch: "bits gpu{}.port aer 0c 1000", rows: &["bridge 1 above GPU {} |  | pci.aer.uncorrectable_severity"] },
    // What the firmware of a card or of a switch offers.
    Case { patch: "[pci.nic{}]\nmps_supported = 256", rows: &["rail {} NIC |  | pci.express.max_payload_supported"] },
    Case { patch: "bits gpu{} express 04 20", rows: &["GPU {} |  | pci.express.extended_tag_supported"] },
    Case { patch: "bits nic{} express 24 10000", rows: &["rail {} NIC |  | pci.express.ten_bit_tag_completer"] },
    Case { patch: "bits nic{} express 24 20000", rows: &["rail {} NIC |  | pci.express.ten_bit_tag_requester"] },
    Case {
        patch: "bits nic{}.port express 24 20",
        rows: &["bridge 1 above rail {} NIC |  | pci.express.ari_forwarding_supported"],
    },
    Case { patch: "[pci.\"gpu{}.port\"]\nacs_cap = 29", rows: &["bridge 1 above GPU {} |  | pci.acs.capability"] },
    Case { patch: "[pci.\"nic{}.port\"]\nacs_absent = true", rows: &["bridge 1 above rail {} NIC |  | pci.acs"] },
    Case { patch: "hide gpu{} aer", rows: &["GPU {} |  | pci.aer"] },
    Case { patch: "bits nic{} ari 04 100", rows: &["rail {} NIC |  | pci.ari.next_function"] },
    Case { patch: "hide nic{} ari", rows: &["rail {} NIC |  | pci.ari"] },
    Case { patch: "bits nic{} sriov 14 3", rows: &["rail {} NIC |  | pci.sriov.first_vf_offset"] },
    Case { patch: "bits nic{} sriov 14 30000", rows: &["rail {} NIC |  | pci.sriov.vf_stride"] },
    Case { patch: "hide nic{} sriov", rows: &["rail {} NIC |  | pci.sriov"] },
    // The setting of the firmware and the capability that it makes.
    Case {
        patch: "[pci.nic{}]\ntotal_vfs = 8",
        rows: &[
            "rail {} NIC |  | pci.sriov.total_vfs",
            "rail {} NIC | NUM_OF_VFS | nic_firmware.settings.current",
            "rail {} NIC | NUM_OF_VFS | nic_firmware.settings.next",
        ],
    },
    Case {
        patch: "[pci.nic{}]\nats = \"enabled\"",
        rows: &[
            "rail {} NIC |  | pci.ats",
            "rail {} NIC | ATS_ENABLED | nic_firmware.settings.current",
            "rail {} NIC | ATS_ENABLED | nic_firmware.settings.next",
        ],
    },
    // A virtual function: the physical one says so, the port above it forwards to it, and it is a device.
    Case {
        patch: "[pci.nic{}]\nvfs = 1\n[pci.\"nic{}.vf0\"]\ndriver = \"none\"",
        rows: &[
            "rail {} NIC |  | pci.sriov.num_vfs",
            "rail {} NIC |  | pci.sriov.enabled",
            "bridge 1 above rail {} NIC |  | pci.express.ari_forwarding",
            "VF 0 of rail {} NIC (not in most) |  | pci",
        ],
    },
    // BARs. Of BAR 1 its size is a register, a resource, and the driver's number.
    Case {
        patch: "[pci.gpu{}]\nbar1 = \"256M\"",
        rows: &[
            "GPU {} | BAR 2 | pci.bars.size",
            "GPU {} | BAR 2 | pci.resizable_bars.current_mib",
            "GPU {} |  | gpus.driver_view.bar1_mib",
        ],
    },
    Case { patch: "bits gpu{} rebar 04 400", rows: &["GPU {} | BAR 2 | pci.resizable_bars.supported_mib"] },
    Case { patch: "hide gpu{} rebar", rows: &["GPU {} |  | pci.resizable_bars"] },
    Case { patch: "unassign gpu{} 2", rows: &["GPU {} | BAR 2 | pci.bars.assigned"] },
    // Where it is, who drives it, and which IOMMU domain it has.
    Case { patch: "[pci.gpu{}]\nnuma_node = -1", rows: &["GPU {} |  | pci.numa_node"] },
    Case { patch: "[pci.nic{}]\nnuma_node = -1", rows: &["rail {} NIC |  | pci.numa_node"] },
    Case { patch: "[pci.nvme0]\ndriver = \"none\"", rows: &["NVMe 0 |  | pci.driver"] },
    Case { patch: "group gpu{} DMA", rows: &["GPU {} |  | iommu.groups.domain"] },
    Case { patch: "group nic{} DMA-FQ", rows: &["rail {} NIC |  | iommu.groups.domain"] },
    // A GPU and the port above it share a group, which is the GPU's: the port has none of its own.
    Case {
        patch: "[pci.gpu{}]\niommu_group = 9000\n[pci.\"gpu{}.port\"]\niommu_group = 9000",
        rows: &["GPU {} |  | iommu.groups.devices", "bridge 1 above GPU {} |  | iommu.groups"],
    },
    // Links. What a link runs at moves by itself: it is drift where a rule judges it, which is at the device's end.
    Case { patch: "[pci.nic{}]\nlink_width = 8", rows: &["rail {} NIC |  | pci.link.width"] },
    Case { patch: "[pci.nic{}]\nlink_speed = 16", rows: &["rail {} NIC |  | pci.link.speed"] },
    Case { patch: "[pci.gpu{}]\nlink_width = 8", rows: &["GPU {} |  | pci.link.width"] },
    Case {
        patch: "[pci.nic{}]\nmax_link_speed = 16",
        rows: &["rail {} NIC |  | pci.link.max_speed", "rail {} NIC |  | pci.link.speed"],
    },
    Case {
        patch: "[pci.nic{}]\nmax_link_width = 8",
        rows: &["rail {} NIC |  | pci.link.max_width", "rail {} NIC |  | pci.link.width"],
    },
    // Errors and counters are for rules.
    Case { patch: "[pci.nic{}]\naer = { correctable = { RxErr = 3 } }", rows: &[] },
    Case { patch: "gpu {} <replay_counter>0 => <replay_counter>{n}", rows: &[] },
];

/// What drivers say of GPUs and NICs.
pub(super) const DEVICES: &[Case] = &[
    Case { patch: "gpu {} current_ecc>Enabled => current_ecc>Disabled", rows: &["GPU {} |  | gpus.driver_view.ecc"] },
    Case { patch: "gpu {} current_mig>Disabled => current_mig>Enabled", rows: &["GPU {} |  | gpus.driver_view.mig"] },
    Case {
        patch: "gpu {} <virtualization_mode>None => <virtualization_mode>Pass-Through",
        rows: &["GPU {} |  | gpus.driver_view.virtualization"],
    },
    Case {
        patch: "gpu {} <state>Completed => <state>In Progress",
        rows: &["GPU {} |  | gpus.driver_view.fabric_state"],
    },
    Case { patch: "gpu {} <total>81559 MiB => <total>81049 MiB", rows: &["GPU {} |  | gpus.driver_view.fb_mib"] },
    Case {
        patch: "gpu {} NVIDIA H100 80GB HBM3 => NVIDIA Graphics Device",
        rows: &["GPU {} |  | gpus.driver_view.name"],
    },
    Case {
        patch: "gpu {} max_device_link_gen>5 => max_device_link_gen>4",
        rows: &["GPU {} |  | gpus.driver_view.device_max_speed"],
    },
    Case {
        patch: "gpu {} max_host_link_gen>5 => max_host_link_gen>4",
        rows: &["GPU {} |  | gpus.driver_view.host_max_speed"],
    },
    Case { patch: "gpu {} max_link_width>16x => max_link_width>8x", rows: &["GPU {} |  | gpus.driver_view.max_width"] },
    Case { patch: "gpu {} gone", rows: &["GPU {} |  | gpus.driver_view"] },
    // Firmware settings.
    Case {
        patch: "[mlxconfig.nic{}]\nCQE_COMPRESSION = { current = \"AGGRESSIVE(1)\" }",
        rows: &[
            "rail {} NIC | CQE_COMPRESSION | nic_firmware.settings.current",
            "rail {} NIC | CQE_COMPRESSION | nic_firmware.settings.next",
        ],
    },
    Case {
        patch: "[mlxconfig.nic{}]\nADVANCED_PCI_SETTINGS = { next = \"True(1)\" }",
        rows: &["rail {} NIC | ADVANCED_PCI_SETTINGS | nic_firmware.settings.next"],
    },
    Case {
        patch: "[mlxconfig.nic{}]\nNUM_PF_MSIX = { hidden = true }",
        rows: &["rail {} NIC | NUM_PF_MSIX | nic_firmware.settings"],
    },
    // RDMA devices and ports.
    Case { patch: "[rdma.mlx5_{}]\nfw_ver = \"28.36.{n}\"", rows: &["rail {} NIC |  | rdma.firmware"] },
    Case { patch: "[rdma.mlx5_{}]\nboard_id = \"MT_0000000{n}\"", rows: &["rail {} NIC |  | rdma.board_id"] },
    Case { patch: "at nic{} infiniband/mlx5_{}/hca_type MT4131", rows: &["rail {} NIC |  | rdma.hca_type"] },
    Case { patch: "[rdma.mlx5_{}]\nactive_mtu = 2048", rows: &["rail {} NIC | port 1 | rdma.ports.active_mtu"] },
    Case { patch: "[rdma.mlx5_{}]\nstate = \"INIT\"", rows: &["rail {} NIC | port 1 | rdma.ports.state"] },
    Case {
        patch: "[rdma.mlx5_{}]\nrate = \"200 Gb/sec (4X HDR)\"",
        rows: &["rail {} NIC | port 1 | rdma.ports.rate_gbps", "rail {} NIC | port 1 | rdma.ports.rate_text"],
    },
    Case {
        patch: "at nic{} infiniband/mlx5_{}/ports/1/link_layer Ethernet",
        rows: &["rail {} NIC | port 1 | rdma.ports.link_layer"],
    },
    Case { patch: "[rdma.mlx5_{}]\nlid = {n}", rows: &[] },
    // Interfaces.
    Case { patch: "[net.ib{}]\nmtu = 2044", rows: &["rail {} NIC |  | net.mtu"] },
    Case { patch: "[net.eth0]\nmtu = 9000", rows: &["NIC 0 |  | net.mtu"] },
    Case {
        patch: "rename ib{} ibs{n}",
        rows: &["rail {} NIC |  | net.name", "rail {} NIC | port 1 | rdma.ports.netdev"],
    },
    Case { patch: "tell mlnx_qos -i eth0: state: dscp => state: pcp", rows: &["NIC 0 |  | net.trust"] },
    Case { patch: "tell mlnx_qos -i eth0: 0   0   0   1   0 => 0   0   0   0   0", rows: &["NIC 0 |  | net.pfc"] },
    Case {
        patch: "bond bond0 eth0 eth1",
        rows: &["NIC 0 |  | net.master", "NIC 0, function 1 |  | net.master", "interface bond0 |  | net"],
    },
    // A link that is down: what its ports say is judged.
    Case {
        patch: "[net.ib{}]\noperstate = \"down\"",
        rows: &["rail {} NIC | port 1 | rdma.ports.state", "rail {} NIC | port 1 | rdma.ports.phys_state"],
    },
];
