//! Changes of the node itself, and of what schedulers say of it.

use super::Case;

/// Kernel, firmware, processors, memory, IOMMU, drivers.
pub(super) const NODE: &[Case] = &[
    Case { patch: "set proc/sys/kernel/osrelease 6.8.0-{n}-generic", rows: &["node |  | kernel.release"] },
    Case { patch: "swap proc/cmdline  iommu=pt =>  iommu=nopt", rows: &["node | iommu | kernel.cmdline"] },
    Case {
        patch: "swap proc/cmdline  intel_iommu=on =>  intel_iommu=on hugepages={n}",
        rows: &["node | hugepages | kernel.cmdline"],
    },
    Case { patch: "swap proc/cmdline  intel_iommu=on => ", rows: &["node | intel_iommu | kernel.cmdline"] },
    Case { patch: "[modules]\ndrop = [\"nvidia_uvm\"]", rows: &["node | nvidia_uvm | kernel.modules"] },
    Case { patch: "[modules]\nadd = [\"nouveau\"]", rows: &["node | nouveau | kernel.modules"] },
    Case {
        patch: "[modules]\nadd = [\"nvidia_peermem\"]",
        rows: &["node | nvidia_peermem | kernel.modules", "node |  | peermem.nvidia_peermem"],
    },
    Case {
        patch: "[modules]\nadd = [\"nv_peer_mem\"]",
        rows: &["node | nv_peer_mem | kernel.modules", "node |  | peermem.nv_peer_mem"],
    },
    Case {
        patch: "[modules]\nversion = { mlx5_core = \"24.10-0.7.0\" }",
        rows: &["node | mlx5_core | kernel.module_versions"],
    },
    Case { patch: "set sys/devices/virtual/dmi/id/bios_version 1.{n}", rows: &["node |  | firmware.bios_version"] },
    Case {
        patch: "set sys/kernel/security/lockdown none [integrity] confidentiality",
        rows: &["node |  | firmware.lockdown"],
    },
    // Processors.
    Case {
        patch: "set sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor powersave",
        rows: &["node |  | cpu.governors"],
    },
    Case {
        patch: "set sys/devices/system/cpu/cpu{}/cpufreq/energy_performance_preference power",
        rows: &["node |  | cpu.energy_preferences"],
    },
    Case {
        patch: "set sys/devices/system/cpu/cpu0/cpufreq/scaling_driver acpi-cpufreq",
        rows: &["node |  | cpu.frequency_driver"],
    },
    Case {
        patch: "set sys/devices/system/cpu/cpu0/cpuidle/state3/disable 0",
        rows: &["idle state C6 |  | cpu.idle_states.disabled"],
    },
    Case {
        patch: "set sys/devices/system/cpu/cpu0/cpuidle/state3/latency {n}",
        rows: &["idle state C6 |  | cpu.idle_states.latency_us"],
    },
    Case { patch: "drop sys/devices/system/cpu/cpu0/cpuidle/state3", rows: &["idle state C6 |  | cpu.idle_states"] },
    // Without the second thread of each core.
    Case {
        patch: "base cores_per_socket = 52\n => cores_per_socket = 52\nthreads_per_core = 1\n",
        rows: &["node |  | cpu.processors", "NUMA node 0 |  | numa.cpulist", "NUMA node 1 |  | numa.cpulist"],
    },
    Case { patch: "set sys/devices/system/node/node1/distance 31 10", rows: &["NUMA node 1 |  | numa.distance"] },
    // Memory: a module less, and the size of /dev/shm follows.
    Case {
        patch: "base memory_gib = 2048 => memory_gib = 1920",
        rows: &["node |  | memory.total_kib", "node |  | memory.shm_bytes"],
    },
    Case { patch: "swap proc/mounts inode64 => size=67108864k,inode64", rows: &["node |  | memory.shm_bytes"] },
    Case {
        patch: "swap proc/meminfo HugePages_Total:       0 => HugePages_Total:    {n}",
        rows: &["node |  | memory.huge_pages"],
    },
    Case { patch: "set proc/sys/kernel/numa_balancing 1", rows: &["node |  | memory.numa_balancing"] },
    Case {
        patch: "set sys/kernel/mm/transparent_hugepage/enabled [always] madvise never",
        rows: &["node |  | memory.transparent_hugepages"],
    },
    Case {
        patch: "swap proc/self/limits memory         unlimited            unlimited => memory         65536                unlimited",
        rows: &["node |  | memory.memlock.soft_bytes"],
    },
    Case {
        patch: "base memory_gib = 2048 => memory_gib = 2048\nmemlock = \"8388608\"",
        rows: &["node |  | memory.memlock.soft_bytes", "node |  | memory.memlock.hard_bytes"],
    },
    Case {
        patch: "swap proc/self/limits 1048576              1048576 => 1024                 1048576",
        rows: &["node |  | kernel.nofile_soft"],
    },
    Case {
        patch: "swap proc/self/limits 1048576              1048576 => 524288               524288",
        rows: &["node |  | kernel.nofile_soft", "node |  | kernel.nofile_hard"],
    },
    Case { patch: "set proc/sys/net/core/rmem_max 212992", rows: &["node | net.core.rmem_max | sysctl.value"] },
    Case { patch: "set proc/sys/vm/swappiness {n}", rows: &["node | vm.swappiness | sysctl.value"] },
    Case { patch: "drop proc/sys/vm/zone_reclaim_mode", rows: &["node | vm.zone_reclaim_mode | sysctl"] },
    // IOMMU.
    Case { patch: "drop sys/firmware/acpi/tables/SLIT", rows: &["node | SLIT | iommu.acpi_tables"] },
    Case { patch: "drop sys/class/iommu/dmar{}", rows: &["node | dmar{} | iommu.units"] },
    // The NVIDIA driver: its version is in many places.
    Case {
        patch: "base 570.133.20 => 570.124.06",
        rows: &["node |  | nvidia.version", "node | nvidia | kernel.module_versions"],
    },
    Case { patch: "base open = true => open = false", rows: &["node |  | nvidia.flavour"] },
    Case { patch: "tell nvidia-smi -q -x: 12.8</cuda => 12.6</cuda", rows: &["node |  | nvidia.cuda"] },
    Case { patch: "set etc/nccl.conf NCCL_SOCKET_IFNAME=eth1", rows: &["node |  | nccl.conf"] },
    Case { patch: "drop etc/nccl.conf", rows: &["node |  | nccl.conf"] },
    Case {
        patch: "tell systemd-detect-virt: none => kvm",
        rows: &["node |  | firmware.detected_virt", "node |  | context.role"],
    },
];

/// Kubernetes and Slurm.
pub(super) const SCHEDULERS: &[Case] = &[
    Case {
        patch: "tell kubectl get node: \"unschedulable\":false => \"unschedulable\":true",
        rows: &["node |  | kubernetes.unschedulable"],
    },
    Case {
        patch: "tell kubectl get node: \"example.com/iommu\":\"pt\" => \"example.com/iommu\":\"off\"",
        rows: &["node | example.com/iommu | kubernetes.labels.value"],
    },
    Case {
        patch: "tell kubectl get node: \"example.com/fabric\":\"ib\", => ",
        rows: &["node | example.com/fabric | kubernetes.labels"],
    },
    Case {
        patch: "tell kubectl get node: \"rdma/hca\":\"63\"},\"capacity => \"rdma/hca\":\"62\"},\"capacity",
        rows: &["node | rdma/hca | kubernetes.resources.allocatable"],
    },
    Case {
        patch: "tell kubectl get node: \"nvidia.com/gpu\":\"8\" => \"nvidia.com/gpu\":\"7\"",
        rows: &[
            "node | nvidia.com/gpu | kubernetes.resources.allocatable",
            "node | nvidia.com/gpu | kubernetes.resources.capacity",
        ],
    },
    Case {
        patch: "tell kubectl get node: ,\"rdma/hca\":\"63\" => ",
        rows: &["node | rdma/hca | kubernetes.resources"],
    },
    Case { patch: "tell kubectl get node: \"status\":\"True\" => \"status\":\"False\"", rows: &[] },
    Case {
        patch: "tell scontrol show node: ActiveFeatures=pt,ib, => ActiveFeatures=ib,",
        rows: &["node | pt | slurm.features"],
    },
    Case {
        patch: "tell scontrol show node: AvailableFeatures=pt,ib,h100 => AvailableFeatures=pt,ib,h100,roce",
        rows: &["node | roce | slurm.available_features"],
    },
    Case { patch: "tell scontrol show node: gpu:h100:8 => gpu:h100:7", rows: &["node | gpu:h100 | slurm.gres.count"] },
    Case {
        patch: "tell scontrol show node: Gres=gpu:h100:8(S:0-1) => Gres=(null)",
        rows: &["node | gpu:h100 | slurm.gres"],
    },
    Case {
        patch: "tell scontrol show node: RealMemory=2000000 => RealMemory=19{n}00",
        rows: &["node |  | slurm.memory_mib"],
    },
    Case { patch: "tell scontrol show node: CPUTot=208 => CPUTot=104", rows: &["node |  | slurm.cpus"] },
    Case { patch: "tell scontrol show node: Sockets=2 => Sockets=1", rows: &["node |  | slurm.sockets"] },
    Case { patch: "tell scontrol show node: Boards=1 => Boards=2", rows: &["node |  | slurm.boards"] },
    Case { patch: "tell scontrol show node: State=IDLE => State=DRAINED", rows: &[] },
];
