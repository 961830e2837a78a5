//! The parsers on files that nobody of this project wrote. They lie beside the repository and are read in place.

// The lint configuration allows these in test functions only, not in their helpers.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use linerate_formats::*;
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if path.is_dir() {
        return Some(path);
    }
    println!("SKIPPED: ../shared/data is not here");
    None
}

fn read(path: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(data()?.join(path)).unwrap_or_else(|e| panic!("{path}: {e}")))
}

/// Files under a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// Files of a folder whose content is something else than the folder's name says: prose, code, other tools.
const NOT_WHAT_THE_FOLDER_SAYS: &[(&str, Kind)] = &[
    ("lspci/cvs__cvs_tests_platform_host_configs_cvs.py", Kind::Other),
    ("lspci/jc__tests_fixtures_ubuntu-20.10_lspci-mmv.json", Kind::Other),
    ("lspci/jc__tests_fixtures_ubuntu-20.10_lspci-nnmmv.json", Kind::Other),
    ("ibv_devinfo/cvs__docs", Kind::Other),
    ("ibstat/nccltests-71__iblinkinfo", Kind::Other),
    ("ibstat/imbue-4__ibdev2netdev", Kind::Ibdev2netdev),
    ("iperf3/PerfKitBenchmarker__tests_data_cloudharmony_iperf.csv", Kind::Series),
    ("iperf3/PerfKitBenchmarker__tests_windows_packages_iperf3_test.py.1.txt", Kind::Iperf3),
    // Histograms that fio's own output became.
    ("fio/PerfKitBenchmarker__tests_data_fio_hist_expected", Kind::Other),
    ("misc-health/nvidia-tools-image__README.27", Kind::ShowGids),
    ("misc-health/gpud__pkg_host_testdata_dmidecode", Kind::Dmidecode),
    // Benchmark and log in one: the log is the richer source.
    ("nccl-tests/superbenchmark__", Kind::NcclLog),
];

#[test]
fn every_folder_is_recognised() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for (folder, kind) in [
        ("lspci", Kind::Lspci),
        ("real2/numa", Kind::Numactl),
        ("lspci-hex", Kind::Lspci),
        ("dmesg", Kind::Dmesg),
        ("mlxconfig", Kind::MlxconfigText),
        ("topo-m", Kind::NvidiaSmiTopo),
        ("ibstat", Kind::Ibstat),
        ("ibv_devinfo", Kind::IbvDevinfo),
        ("nccl-log", Kind::NcclLog),
        ("nccl-tests", Kind::NcclTests),
        ("perftest", Kind::Perftest),
        ("topo-xml", Kind::NcclTopoXml),
        ("iperf3", Kind::Iperf2),
        ("sockperf", Kind::Sockperf),
        ("fio", Kind::Fio),
        ("torchtitan", Kind::Torchtitan),
        ("misc-health", Kind::Other),
    ] {
        for file in files(&data.join(folder)) {
            let name = file.strip_prefix(&data).unwrap().display().to_string();
            let want = NOT_WHAT_THE_FOLDER_SAYS.iter().find(|(p, _)| name.starts_with(p)).map_or(kind, |(_, k)| *k);
            // By content alone: no name is given.
            assert_eq!(sniff::sniff("", &std::fs::read(&file).unwrap()), want, "{name}");
            seen += 1;
        }
    }
    for (name, kind) in [
        ("nvidia-smi/telegraf__plugins_inputs_nvidia_smi_testdata_a100-sxm4-v12.xml", Kind::NvidiaSmiXml),
        ("nvidia-smi/PerfKitBenchmarker__tests_data_nvidia_smi_output.txt", Kind::NvidiaSmiTable),
        ("nvidia-smi/azurehpc-health-checks__test_data_orig_nvsmi8_output.txt", Kind::NvidiaSmiQuery),
        ("sysfs-numa/util-linux-lscpu-vmware_fpe.expected", Kind::Lscpu),
        ("sysfs-numa/util-linux-lscpu-s390-zvm.expected", Kind::Lscpu),
        ("hwloc/linux/2pa-pcidomain32bits.console", Kind::Lstopo),
        ("hwloc/linux/nvidiagpunumanodes.console", Kind::Lstopo),
        ("real2/hwloc/mpibind__topo-xml_coral-lassen.xml", Kind::HwlocXml),
        ("real2/misc-health/performance-study__aws_eks_gpu_single-node.txt", Kind::Dmidecode),
        ("real2/nvidia-smi/thamada__MI300X_x4_smi.txt", Kind::RocmSmi),
        ("real2/rocm-topo/amdsmi__CHANGELOG.md.L1669.txt", Kind::AmdSmi),
        ("cases/gpu-operator-2619-peermem-module-missing/pod-log.txt", Kind::Modprobe),
        ("cases/nccl-820-topo-glued-columns/nvidia-smi-topo.txt", Kind::NvidiaSmiTopo),
        ("cases/nccl-304-acs-plx-gdr-crash/lspci-acsctl-broken.txt", Kind::AcsControls),
        ("cases/nccl-523-acs-err4-vendor81/lspci-acsctl-before.txt", Kind::AcsControls),
        ("cases/onl-897-dmar-fault/dmesg.txt", Kind::Dmesg),
        ("cases/nccltests-206-memlock/nccl-warn.txt", Kind::NcclLog),
        ("cases/multus-1100-gid-index-differs-per-pod/show_gids-pod-a.txt", Kind::ShowGids),
        ("misc-bench/superbenchmark__nvbandwidth_results.log", Kind::Nvbandwidth),
        ("misc-bench/superbenchmark__monitor.jsonl", Kind::Series),
        ("README.md", Kind::Other),
        ("INDEX.tsv", Kind::Other),
    ] {
        assert_eq!(sniff::sniff("", &std::fs::read(data.join(name)).unwrap()), kind, "{name}");
        seen += 1;
    }
    println!("{seen} files recognised");
}

#[test]
fn libvirt_domains_are_recognised() {
    let Some(data) = data() else { return };
    let mut domains = 0;
    for file in files(&data.join("libvirt/qemuxml2argvdata")) {
        let kind = sniff::sniff("", &std::fs::read(&file).unwrap());
        if file.extension().is_some_and(|e| e == "xml") {
            assert_eq!(kind, Kind::VirshXml, "{}", file.display());
            domains += 1;
        } else {
            assert_ne!(kind, Kind::VirshXml, "{}", file.display());
        }
    }
    assert!(domains > 20);
}

#[test]
fn mlxconfig_of_a_connectx4lx() {
    let Some(b) = read("mlxconfig/sriov-network-operator__pkg_vendors_mellanox_mellanox_test.go.2.txt") else { return };
    let q = mlxconfig::parse(&b);
    assert_eq!((q.devices.len(), q.errors.len()), (1, 0));
    let d = &q.devices[0];
    assert_eq!(d.device_type.as_ref().map(|t| t.value.as_str()), Some("ConnectX4LX"));
    assert_eq!(d.bdf, "19:00.0".parse().ok());
    assert_eq!(d.columns, Some(mlxconfig::Columns::DefaultCurrentNext));
    // 160 rows, of which 5 are placeholders of the test they come from (`%s %s %s`), which parse as values.
    assert_eq!(d.params.len(), 160);
    let sriov = d.param("SRIOV_EN").unwrap();
    assert!(sriov.modified && sriov.current.as_ref().unwrap().is_true());
    // The label says True, the number 0: the number counts.
    assert!(sriov.default.as_ref().unwrap().is_false());
    let boot = d.param("LEGACY_BOOT_PROTOCOL").unwrap();
    assert_eq!(boot.next.as_ref().unwrap().label.as_deref(), Some("NONE"));
    assert_eq!((d.param("PCI_WR_ORDERING").unwrap().line, d.param("PCI_WR_ORDERING").unwrap().modified), (149, false));
    assert_eq!(d.param("EXP_ROM_UEFI_x86_ENABLE").unwrap().next.as_ref().unwrap().number, Some(1));
    assert_eq!(d.params.iter().filter(|p| p.modified).count(), 4);
}

#[test]
fn mlxconfig_excerpts() {
    let Some(b) = read("mlxconfig/nvidia-tools-image__README.8.txt") else { return };
    let q = mlxconfig::parse(&b);
    assert_eq!(q.devices.len(), 1);
    let d = &q.devices[0];
    assert_eq!((d.bdf, d.columns, d.params.len()), ("37:00.0".parse().ok(), Some(mlxconfig::Columns::NextBootOnly), 3));
    assert_eq!(d.param("LINK_TYPE_P1").unwrap().next.as_ref().unwrap().number, Some(2));
    let b = read("mlxconfig/nic-configuration-operator__pkg_nvconfig_utils_test.go.4.txt").unwrap();
    let q = mlxconfig::parse(&b);
    let d = &q.devices[0];
    assert_eq!((d.params.len(), d.params.iter().filter(|p| p.modified).count(), d.bdf), (4, 3, None));
    assert_eq!(d.param("PCI_DOWNSTREAM_PORT_OWNER[1]").unwrap().current.as_ref().unwrap().number, Some(1));
}

#[test]
fn nvidia_smi_xml_of_three_dtds() {
    let dir = "nvidia-smi/telegraf__plugins_inputs_nvidia_smi_testdata_";
    let Some(b) = read(&format!("{dir}a100-sxm4-v12.xml")) else { return };
    let q = nvidia_smi::parse_xml(&b).unwrap();
    assert_eq!(
        (q.driver_version.unwrap().value.as_str(), q.attached_gpus.unwrap().value, q.gpus.len()),
        ("535.54.03", 4, 1)
    );
    let g = &q.gpus[0];
    assert_eq!((g.line, g.bdf), (8, "01:00.0".parse().ok()));
    assert_eq!(g.product_name.as_ref().unwrap().value, "NVIDIA A100-SXM4-80GB");
    assert_eq!(g.mig_mode.as_ref().unwrap().value, "Enabled");
    // Not the 32767 MiB of the MIG slices.
    assert_eq!((g.bar1_total_mib.unwrap().line, g.bar1_total_mib.unwrap().value), (235, 131_072));
    assert_eq!(g.minor_number.unwrap().value, 1);
    let q = nvidia_smi::parse_xml(&read(&format!("{dir}rtx-3080-v13.xml")).unwrap()).unwrap();
    let g = &q.gpus[0];
    assert_eq!((q.cuda_version.unwrap().value.as_str(), g.bar1_total_mib.unwrap().value), ("13.2", 16_384));
    assert_eq!(
        (g.pcie_generation.host_max.unwrap().value, g.addressing_mode.as_ref().unwrap().value.as_str()),
        (4, "HMM")
    );
    assert_eq!(g.c2c_mode.as_ref().unwrap().value, "N/A");
    let q = nvidia_smi::parse_xml(&read(&format!("{dir}tesla-t4.xml")).unwrap()).unwrap();
    let g = &q.gpus[0];
    assert_eq!(
        (g.virtualization_mode.as_ref().unwrap().value.as_str(), g.width_current.unwrap().value),
        ("Pass-Through", 8)
    );
    assert_eq!(
        (g.bdf, g.bar1_total_mib.unwrap().value, g.pcie_generation.device_max),
        ("00:1e.0".parse().ok(), 256, None)
    );
}

#[test]
fn nvidia_smi_text() {
    let Some(b) = read("nvidia-smi/azurehpc-health-checks__test_data_orig_nvsmi8_output.txt") else { return };
    let q = nvidia_smi::parse_query(&b);
    assert_eq!((q.gpus.len(), q.cuda_version.unwrap().value.as_str()), (8, "12.2"));
    assert_eq!(q.gpus[7].bdf, "00000008:00:00.0".parse().ok());
    assert_eq!(q.gpus[0].bar1_total_mib, None);
    let t = nvidia_smi::parse_table(&read("nvidia-smi/PerfKitBenchmarker__tests_data_nvidia_smi_output.txt").unwrap());
    assert_eq!((t.gpus.len(), t.driver_version.unwrap().value.as_str(), t.cuda_version), (4, "375.66", None));
    assert_eq!(
        (t.gpus[3].name.as_str(), t.gpus[3].bdf.device, t.gpus[3].memory_total_mib.unwrap().value),
        ("Tesla K80", 7, 11_439)
    );
    // A query and a table in the middle of a 22,000-line benchmark log.
    let b = read("nvidia-smi/PerfKitBenchmarker__tests_data_gpu_pingpong_output.txt").unwrap();
    assert_eq!(nvidia_smi::parse_table(&b).gpus[0].line, 11_110);
    let t = nvidia_smi::parse_csv(&read("nvidia-smi/insights-core__test_nvidia.1.txt").unwrap());
    assert!(t.is_err(), "no header: the columns are not known");
}

#[test]
fn what_tools_say_of_a_machine() {
    let Some(b) = read("sysfs-numa/util-linux-lscpu-vmware_fpe.expected") else { return };
    let l = lscpu::parse(&b);
    assert_eq!(
        (l.vendor.as_ref().map(|v| &v.value), l.sockets.map(|n| n.value)),
        (Some(&cpuinfo::Vendor::Amd), Some(2))
    );
    let nodes: Vec<_> = l.numa.iter().map(|n| n.cpus.value.to_string()).collect();
    assert_eq!(
        (nodes.join(" ").as_str(), l.has_all_nodes(), l.has_flag("hypervisor")),
        ("0-3 4-7 8-11 12-15", true, Some(false))
    );
    let l = lscpu::parse(&read("sysfs-numa/util-linux-lscpu-s390-zvm.expected").unwrap());
    assert_eq!(l.full_hypervisor().map(|h| h.value.as_str()), Some("IBM"));
    // A description of a machine, which holds lscpu and the summary of nvidia-smi.
    let b = read("real2/misc-health/warp-ik__docs_specs_arm-gh200.md.txt").unwrap();
    let l = lscpu::parse(&b);
    assert_eq!(
        (l.vendor.map(|v| v.value), l.numa.len()),
        (Some(cpuinfo::Vendor::Arm { implementer: 0x41, part: 0xd4f }), 9)
    );
    let t = nvidia_smi::parse_table(&b);
    assert_eq!((t.gpus.len(), t.gpus[0].mig_mode.as_ref().map(|m| m.value.as_str())), (1, Some("Disabled")));
    let d = dmidecode::parse(&read("real2/misc-health/performance-study__aws_eks_gpu_single-node.txt").unwrap());
    let of = |v: Option<At<String>>| v.map(|v| v.value);
    assert_eq!((of(d.sys_vendor).as_deref(), of(d.product).as_deref()), (Some("Amazon EC2"), Some("p3dn.24xlarge")));
    assert_eq!((of(d.bios_version).as_deref(), of(d.bios_date).as_deref()), (Some("1.0"), Some("10/16/2017")));
    let d = dmidecode::parse(&read("misc-health/gpud__pkg_host_testdata_dmidecode").unwrap());
    assert_eq!(of(d.product).as_deref(), Some("PowerEdge XE9680"));
}

#[test]
fn devices_of_lstopo() {
    let Some(b) = read("hwloc/linux/nvidiagpunumanodes.console") else { return };
    let near: Vec<_> = lstopo::parse(&b).into_iter().map(|d| (d.bdf.to_string(), d.node)).collect();
    assert_eq!(near.iter().filter(|(_, n)| *n == Some(0)).count(), 3, "{near:?}");
    assert_eq!(near.iter().filter(|(_, n)| *n == Some(8)).count(), 3, "{near:?}");
    let b = read("hwloc/linux/2pa-pcidomain32bits.console").unwrap();
    let near = lstopo::parse(&b);
    // One package has no memory: its devices are near the machine's only node.
    assert_eq!((near.len(), near.iter().all(|d| d.node == Some(0))), (4, true), "{near:?}");
}

#[test]
fn topologies() {
    use nvidia_smi::PathKind::*;
    let Some(b) = read("topo-m/NVSentinel__metadata-collector_pkg_nic_topo_parser_test.go.1.txt") else { return };
    let t = nvidia_smi::parse_topo(&b).unwrap();
    assert_eq!((t.devices.len(), t.rows.len(), t.broken_rows.len()), (18, 8, 0));
    assert_eq!(t.path("mlx5_5", "GPU5").map(|p| (p.value.clone(), p.line)), Some((Pix, 8)));
    assert_eq!(t.rows[4].affinities.cpu.as_deref(), Some("48-95,144-191"));
    // The header is broken after its first name; NICs have numbers and a legend.
    let t = nvidia_smi::parse_topo(
        &read("topo-m/NVSentinel__metadata-collector_pkg_nic_topo_parser_test.go.5.txt").unwrap(),
    )
    .unwrap();
    assert_eq!((t.devices.len(), t.rows.len(), t.nics.len()), (10, 8, 2));
    assert_eq!(t.path("GPU1", "mlx5_1").map(|p| p.value.clone()), Some(Pxb));
    assert_eq!((t.rows[7].affinities.numa.as_deref(), t.rows[7].affinities.gpu_numa_id.as_deref()), (Some("1"), None));
    // Rows out of order.
    let t = nvidia_smi::parse_topo(
        &read("topo-m/NVSentinel__metadata-collector_pkg_nic_topo_parser_test.go.3.txt").unwrap(),
    )
    .unwrap();
    assert_eq!(t.path("GPU0", "mlx5_0").map(|p| p.value.clone()), Some(Pix));
    assert_eq!(t.path("GPU2", "mlx5_0").map(|p| p.value.clone()), Some(Node));
    // Columns glued together by copying from a web page.
    let t = nvidia_smi::parse_topo(&read("cases/nccl-820-topo-glued-columns/nvidia-smi-topo.txt").unwrap()).unwrap();
    assert_eq!((t.devices.len(), t.broken_rows.len()), (18, 0));
    assert_eq!(t.rows.len(), 6, "the paste ends after GPU5");
    assert_eq!(t.path("GPU0", "mlx5_5").map(|p| p.value.clone()), Some(Node));
    assert_eq!(t.path("GPU0", "mlx5_6").map(|p| p.value.clone()), Some(Sys));
    assert_eq!(t.path("GPU4", "mlx5_6").map(|p| p.value.clone()), Some(Pxb));
    let t = nvidia_smi::parse_topo(&read("cases/nccl-1435-topo-unbalanced-nics/nvidia-smi-topo.txt").unwrap()).unwrap();
    assert_eq!(t.path("GPU4", "NIC5").map(|p| p.value.clone()), Some(Pxb));
    assert_eq!(t.rows[0].affinities.numa.as_deref(), Some("3"));
    for file in files(&data().unwrap().join("topo-m")) {
        let t = nvidia_smi::parse_topo(&std::fs::read(&file).unwrap()).unwrap();
        assert!(t.broken_rows.is_empty() && !t.rows.is_empty(), "{}", file.display());
        for gpu in t.devices.iter().filter(|d| d.starts_with("GPU")) {
            assert_eq!(t.path(gpu, gpu).map(|p| p.value.clone()), Some(Itself), "{} {gpu}", file.display());
        }
    }
}

#[test]
fn rdma_tools() {
    use ib_port::{LinkLayer, PortState};
    let Some(b) = read("ibstat/mscclpp-issue-431__ibstat-roce-mt4125.txt") else { return };
    let c = ibstat::parse(&b);
    assert_eq!((c.len(), c[0].ca_type.as_ref().unwrap().value.as_str(), c[1].ports.len()), (2, "MT4125", 1));
    let p = &c[1].ports[0];
    assert_eq!((p.rate_gbps.unwrap().value, &p.link_layer.as_ref().unwrap().value), (100.0, &LinkLayer::Ethernet));
    let m = ibdev2netdev::parse(&read("ibstat/imbue-4__ibdev2netdev-h100.txt").unwrap());
    assert_eq!((m.len(), m.iter().filter(|m| m.state.as_deref() == Some("Up")).count()), (12, 2));
    let h = ibv_devinfo::parse(&read("ibv_devinfo/azhpc-images-44__azure-renamed.txt").unwrap());
    assert_eq!((h.len(), h[0].name.as_str(), h[1].vendor_part_id.unwrap().value), (2, "rdmaP23800p0s2", 4120));
    assert_eq!(h[0].ports[0].active_mtu.unwrap().value, 1024);
    let h = ibv_devinfo::parse(&read("ibv_devinfo/deepep-60__port-down-mtu1024.txt").unwrap());
    assert_eq!(h[0].ports[0].state.as_ref().unwrap().value, PortState::Down);
    let h = ibv_devinfo::parse(&read("ibv_devinfo/ompi-9087__v-flat-no-indent.txt").unwrap());
    assert_eq!((h[0].vendor_part_id.unwrap().value, h[0].vendor_part_id.unwrap().line, h[0].ports.len()), (4115, 8, 0));
}

#[test]
fn kernel_logs() {
    use dmesg::{AmdVi, Event, Mlx5Event};
    let events =
        |path: &str| -> Vec<Event> { dmesg::scan(&read(path).unwrap()).into_iter().map(|f| f.event).collect() };
    if data().is_none() {
        return;
    }
    assert_eq!(events("dmesg/sof-test-744__dmar-boot.txt"), [Event::DmarForcedByPlatform]);
    let e = events("dmesg/perftest-289__iommu-off-boot.txt");
    assert_eq!(e[0], Event::DmarDisabled);
    assert!(matches!(&e[1], Event::CommandLine(c) if c.contains("intel_iommu=off")));
    let e = events("dmesg/intel-i915-192__amd-vi-boot.txt");
    assert_eq!(e.iter().filter(|e| matches!(e, Event::IommuGroup { .. })).count(), 3);
    assert!(e.contains(&Event::AmdVi(AmdVi::InterruptRemapping)) && e.contains(&Event::BounceBuffers));
    let e = events("dmesg/gpud__components_memory_testdata_dmesg.decode.iso.log");
    assert_eq!(e.iter().filter(|e| matches!(e, Event::Xid { number: 13, .. })).count(), 16);
    assert_eq!(e.iter().filter(|e| matches!(e, Event::Xid { number: 43, .. })).count(), 1);
    let e = events("dmesg/gpud-kmsg-peermem.log");
    assert_eq!(e.iter().filter(|e| matches!(e, Event::Peermem { error: true, .. })).count(), 7);
    assert_eq!(events("dmesg/fwupd-2093__dmar-boot.txt"), []);
    let e = events("cases/onl-897-dmar-fault/dmesg.txt");
    let faults =
        |e: &[Event]| e.iter().filter(|e| matches!(e, Event::DmarFault { write: true, reason: Some(5), .. })).count();
    assert!(faults(&e) >= 3 && e.contains(&Event::DmarFaultsSuppressed(2474)));
    let found = dmesg::scan(&read("dmesg/gpud__pkg_pstore_testdata_7530486857247_dmesg.txt").unwrap());
    assert!(matches!(&found[0].event, Event::AvailableBandwidth { gbps, limited_by: None, .. } if *gbps == 63.008));
    assert_eq!((found[0].line, found[0].seconds), (3, Some(2.608_284)));
    assert!(found.iter().any(|f| matches!(&f.event, Event::Mlx5 { event: Mlx5Event::LinkUp, .. })));
    assert!(found.iter().any(|f| matches!(&f.event, Event::NvidiaDriver { version, .. } if version == "550.144.03")));
}

/// `/proc/cpuinfo` inside the archives of other projects, read with tar.
#[test]
fn cpuinfo_of_other_architectures() {
    use cpuinfo::Vendor;
    let Some(data) = data() else { return };
    let cat = |archive: &str, member: &str| -> Option<Vec<u8>> {
        let out = std::process::Command::new("tar").arg("-xOf").arg(data.join(archive)).arg(member).output().ok()?;
        out.status.success().then_some(out.stdout).filter(|o| !o.is_empty())
    };
    let x = "sysfs-numa/util-linux-lscpu-";
    for (archive, member, vendor, processors, sockets) in [
        (format!("{x}x86_64-64cpu.tar.gz"), "x86_64-64cpu/proc/cpuinfo", Some(Vendor::Intel), 64, 4),
        (format!("{x}ppc64-POWER7.tar.gz"), "ppc64-POWER7/proc/cpuinfo", None, 16, 0),
        (
            format!("{x}s390-nested-virt.tar.gz"),
            "s390-nested-virt/proc/cpuinfo",
            Some(Vendor::Other("IBM/S390".into())),
            2,
            0,
        ),
        (format!("{x}armv7.tar.gz"), "armv7/proc/cpuinfo", Some(Vendor::Arm { implementer: 0x41, part: 0xc0f }), 2, 0),
    ] {
        let Some(bytes) = cat(&archive, member) else {
            println!("SKIPPED: tar cannot read {archive}");
            continue;
        };
        assert_eq!(sniff::sniff("", &bytes), Kind::Cpuinfo, "{archive}");
        let c = cpuinfo::parse(&bytes);
        assert_eq!((c.processors, c.physical_ids.len()), (processors, sockets), "{archive}");
        if vendor.is_some() {
            assert_eq!(c.vendor.map(|v| v.value), vendor, "{archive}");
        } else {
            assert!(
                matches!(c.vendor.map(|v| v.value), Some(Vendor::Other(name)) if name.contains("POWER7")),
                "{archive}"
            );
        }
    }
}

/// Tools of networks, links and cards.
#[test]
fn texts_of_cards_and_links() {
    let Some(data) = data() else { return };
    let kind = |path: &str| sniff::sniff("", &std::fs::read(data.join(path)).unwrap());
    for (path, want) in [
        ("real2/nic-tools/node-scraper__test_network_collector.py__IP_ADDR_OUTPUT.txt", Kind::IpLink),
        (
            "real2/misc-health/gpu-operator__example_gpu-validation-cluster_tests_fixtures_phase3_ip-link-one-down.txt",
            Kind::IpLink,
        ),
        ("real2/nic-tools/node-scraper__test_network_collector.py__IP_ROUTE_OUTPUT.txt", Kind::Other),
        ("real2/nic-tools/sichek__components_lldp_collector_testdata_bjg45.json", Kind::LldpNeighbors),
        ("real2/nic-tools/sichek__components_lldp_collector_testdata_clnet36.json", Kind::LldpNeighbors),
        (
            "real2/ib-tools/infiniband_exporter__collectors_fixtures_perfquery_0x7cfe9003003b4b96.out.txt",
            Kind::Perfquery,
        ),
        (
            "real2/ib-tools/infiniband_exporter__collectors_fixtures_perfquery-rcv-error_0x7cfe9003009ce5b0-1.out.txt",
            Kind::Perfquery,
        ),
        ("real2/ib-tools/node-scraper__test_fabrics_collector.py__MST_STATUS_OUTPUT.txt", Kind::MstStatus),
        ("cases/nccl-606-acs-clean-still-hangs/setpci-acs-after.txt", Kind::Setpci),
    ] {
        assert_eq!(kind(path), want, "{path}");
    }
    let brief = ip::read(
        &read(
            "real2/misc-health/gpu-operator__example_gpu-validation-cluster_tests_fixtures_phase3_ip-link-one-down.txt",
        )
        .unwrap(),
    );
    let down = brief.items.iter().filter(|i| i.state.is_some_and(|s| s.value == "down")).count();
    assert_eq!((brief.items.len(), down), (9, 1));
    let long = ip::read(&read("real2/nic-tools/node-scraper__test_network_collector.py__IP_ADDR_OUTPUT.txt").unwrap());
    let seen: Vec<_> =
        long.items.iter().map(|i| (i.name.as_str(), i.mtu.map(|m| m.value), i.addresses.len())).collect();
    assert_eq!(seen, [("lo", Some(12345), 2), ("eth0", Some(5678), 2)]);
    let controls =
        pci::lspci::acs_alone::read(&read("cases/nccl-523-acs-err4-vendor81/lspci-acsctl-before.txt").unwrap());
    assert!(controls.items.len() > 10 && controls.items.iter().any(|c| c.value.has(pci::caps::AcsBits::RR)));
    // They were written, so what the ports do now is not shown.
    let written = setpci::read(&read("cases/nccl-606-acs-clean-still-hangs/setpci-acs-after.txt").unwrap());
    assert!(written.items.len() > 3 && written.items.iter().all(|v| v.written && v.acs_control().is_none()));
    let counters = perfquery::read(
        &read("real2/ib-tools/infiniband_exporter__collectors_fixtures_perfquery_0x7cfe9003003b4b96.out.txt").unwrap(),
    );
    assert!(counters.items.iter().any(|c| c.name == "PortXmitData" && c.lid == Some(133) && c.value > 1 << 40));
    let links = nvidia_smi::parse_nvlink(&read("nvidia-smi/gpud-nvlink-status-a100.txt").unwrap());
    assert!(!links.is_empty() && links.iter().all(|g| g.links.len() == 12));
}
