//! What the decoders read is what a capture collects: a path that no capture holds would never be known.
#![allow(clippy::panic, clippy::unwrap_used, missing_docs)]

use linerate_snapshot::tries;

/// Paths that decoders name in full.
const PATHS: &[&str] = &[
    "etc/nccl.conf",
    "etc/default/grub",
    "etc/default/grub.d/50-cloudimg-settings.cfg",
    "var/run/nvidia-topologyd/virtualTopology.xml",
    "etc/modprobe.d/nvidia.conf",
    "run/modprobe.d/nvidia.conf",
    "usr/lib/modprobe.d/nvidia.conf",
    "lib/modprobe.d/nvidia.conf",
    "etc/modules-load.d/nvidia.conf",
    "sys/kernel/mm/memory_peers/nv_mem/version",
    "boot/config-6.8.0",
    "proc/cmdline",
    "proc/config.gz",
    "proc/cpuinfo",
    "proc/driver/nvidia/params",
    "proc/driver/nvidia/version",
    "proc/meminfo",
    "proc/modules",
    "proc/mounts",
    "proc/self/limits",
    "proc/sys/kernel/hostname",
    "etc/libvirt/qemu/vm1.xml",
    "etc/machine-id",
    "sys/class/dmi/id/product_uuid",
    "proc/sys/kernel/numa_balancing",
    "proc/sys/kernel/osrelease",
    "proc/uptime",
    "proc/version",
    "sys/class/dmi/id/board_vendor",
    "proc/1/cgroup",
    "sys/class/dmi/id/bios_version",
    "sys/class/dmi/id/product_name",
    "sys/class/dmi/id/sys_vendor",
    "sys/class/iommu/dmar0",
    "sys/devices/system/cpu/cpu0/cpufreq",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "sys/devices/system/cpu/cpu7/cpufreq/energy_performance_preference",
    "sys/devices/system/cpu/cpu7/topology/physical_package_id",
    "sys/devices/system/cpu/cpufreq/policy0/scaling_driver",
    "sys/devices/system/cpu/cpufreq/policy7/energy_performance_preference",
    "sys/devices/system/cpu/cpufreq/policy7/scaling_governor",
    "sys/devices/system/node/node1/cpulist",
    "sys/devices/system/node/node1/distance",
    "sys/firmware/acpi/tables/DMAR",
    "sys/kernel/iommu_groups/7/devices/0000:01:00.0",
    "sys/kernel/iommu_groups/7/type",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "sys/kernel/security/lockdown",
    "sys/module/ib_core/parameters/netns_mode",
    "sys/module/nvidia/version",
    "etc/modprobe.d/nvidia.conf.bak",
    "etc/modprobe.d/z.conf",
    "etc/modules-load.d/nvidia-peermem.conf",
    "sys/bus/pci/devices",
    "sys/class/infiniband",
    "sys/class/infiniband/rxe0/ports/1",
    "sys/class/net",
    "sys/module/nvidia_peermem/version",
    "sys/module/nv_peer_mem/version",
    "sys/module/gdrdrv/version",
    "sys/module/mlx5_core/version",
    "sys/module/mlx4_core/version",
    "sys/module/ib_core/version",
    "sys/module/efa/version",
    "sys/module/bnxt_re/version",
    "sys/module/irdma/version",
    "sys/module/mana_ib/version",
];

/// Directories, as their class lists them and as they really are, with what decoders read in them.
const BELOW: &[(&str, &str, &[&str])] = &[
    (
        "sys/bus/pci/devices/0000:1a:00.0",
        "sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0",
        &[
            "config",
            "vendor",
            "device",
            "class",
            "numa_node",
            "driver",
            "iommu_group",
            "physfn",
            "resource",
            "current_link_speed",
            "current_link_width",
            "max_link_speed",
            "max_link_width",
            "aer_dev_correctable",
            "aer_dev_nonfatal",
            "aer_dev_fatal",
        ],
    ),
    (
        "sys/class/infiniband/mlx5_0",
        "sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0",
        &[
            "device",
            "fw_ver",
            "board_id",
            "hca_type",
            "tc/1/traffic_class",
            "ports/1/state",
            "ports/1/phys_state",
            "ports/1/rate",
            "ports/1/link_layer",
            "ports/1/lid",
            "ports/1/sm_lid",
            "ports/1/gids/0",
            "ports/1/gid_attrs/types/0",
            "ports/1/gid_attrs/ndevs/0",
            "ports/1/counters/symbol_error",
            "ports/1/hw_counters/out_of_sequence",
        ],
    ),
    (
        "sys/class/net/eth0",
        "sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/net/eth0",
        &[
            "device",
            "master",
            "mtu",
            "operstate",
            "speed",
            "bonding/mode",
            "bonding/slaves",
            "ecn/roce_rp/enable/0",
            "ecn/roce_rp/enable/7",
        ],
    ),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1", "", &["name", "disable", "latency"]),
];

fn paths() -> impl Iterator<Item = String> {
    PATHS.iter().chain(linerate_node::sysctl::PATHS).map(|p| (*p).to_owned())
}

#[test]
fn everything_that_is_read_is_collected() {
    let below = BELOW.iter().flat_map(|(listed, real, leaves)| {
        let both = [*listed, *real].into_iter().filter(|d| !d.is_empty());
        both.flat_map(move |d| leaves.iter().map(move |l| format!("{d}/{l}")))
    });
    let all: Vec<String> = paths().chain(below).collect();
    let missing: Vec<&String> = all.iter().filter(|p| !tries(p)).collect();
    assert!(missing.is_empty(), "no capture collects {missing:#?}");
    assert!(!tries("sys/class/net/eth0/no_such_attribute") && !tries("etc/shadow"), "`tries` says yes to all");
}

/// The list above against the sources: a decoder that reads another path must be added to it.
#[test]
fn the_list_names_every_path_of_the_sources() {
    let known: Vec<String> =
        paths().chain(BELOW.iter().flat_map(|(d, _, leaves)| leaves.iter().map(move |l| format!("{d}/{l}")))).collect();
    let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut left = vec![src];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for word in text.split('"').skip(1).step_by(2) {
            let rooted = ["proc/", "sys/", "boot/", "etc/"].iter().any(|r| word.starts_with(r));
            // Not the pieces of a path that is put together: `cpu{cpu}`.
            let word = word.trim_end_matches('/');
            if rooted && word.bytes().all(|b| b.is_ascii_graphic() && b != b'{') {
                let named = |k: &&String| *k == word || k.strip_prefix(word).is_some_and(|r| r.starts_with('/'));
                assert!(known.iter().any(|k| named(&k)), "{}: {word} is not in the list", path.display());
            }
        }
    }
}
