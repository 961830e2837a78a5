//! What rules, topology, environment and plans read: taken from the files that they are made of, and from what the rules name.

use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Arguments that rules and plans name, beside those of the composed nodes.
const WORDS: &str = "quiet splash ro rw rhgb nomodeset nosmt noats $tuned_params $kernelopts ${extra} \
    root=/dev/mapper/rhel-root root=UUID=0a1b2c3d-0011-2233-4455-66778899aabb root=LABEL=cloudimg-rootfs root=PARTUUID=0a1b2c3d-02 \
    BOOT_IMAGE=/boot/vmlinuz-6.8.0-60-generic BOOT_IMAGE=(hd0,gpt3)/vmlinuz-5.14.0-427.13.1.el9_4.x86_64 initrd=/initramfs-6.8.img \
    console=ttyS0,115200n8 console=tty0 console=ttyAMA0 crashkernel=1G-64G:256M,64G-:512M crashkernel=auto rd.lvm.lv=rhel/root rd.lvm.lv=rhel/swap \
    resume=/dev/mapper/rhel-swap rootflags=subvol=root rootfstype=ext4 panic=30 panic=-1 loglevel=3 log_buf_len=16M selinux=0 apparmor=1 \
    audit=0 audit_backlog_limit=8192 security=apparmor lsm=landlock,lockdown,yama fips=1 net.ifnames=0 biosdevname=0 ipv6.disable=1 \
    iommu=pt iommu=off iommu=on iommu=nopt iommu=soft iommu=passthru iommu=force iommu=strict iommu.passthrough=1 iommu.passthrough=0 iommu.strict=0 \
    iommu.strict=1 iommu.forcedac=1 intel_iommu=on intel_iommu=off intel_iommu=on,sm_on intel_iommu=sm_on,strict intel_iommu=igfx_off amd_iommu=on \
    amd_iommu=off amd_iommu=fullflush amd_iommu=pgtbl_v2 intremap=off intremap=nosid swiotlb=force swiotlb=65536,force arm_smmu.disable_bypass=0 \
    pci=noats pci=realloc pci=realloc=on pci=realloc=off pci=assign-busses pci=nocrs pci=noacs pci=noaer pci=nomsi pci=pcie_bus_perf pci=pcie_bus_safe \
    pci=pcie_bus_peer2peer pci=pcie_bus_tune_off pci=big_root_window pci=use_crs pci=hpmemsize=512M pci=hpmmiosize=256M pci=hpmmioprefsize=64G \
    pci=hpbussize=32 pci=cbmemsize=64M pci=disable_acs_redir=0000:17:00.0 pci=disable_acs_redir=pci:1000:c030;pci:1000:c031 \
    pci=config_acs=xx000x0@0000:02:00.0;xx000x0@0000:02:01.0 pci=config_acs=xx000x0@pci:1000:c030 pci=\"config_acs=xx000x0@0000:02:00.0;x1@pci:15b3:1976\" pci=config_acs=\"xx000x0@0000:02:00.0;x1@pci:15b3:1976\" \
    pci=resource_alignment=20@0000:05:00.0;30@pci:10de:2330 pci=realloc,noats,relloc pci=skip_isa_align pci=noari pci=ecrc=on pci=nobar \
    pcie_acs_override=downstream pcie_acs_override=downstream,multifunction pcie_acs_override=id:10de:2330 pcie_aspm=off pcie_aspm=force \
    pcie_aspm.policy=performance pcie_ports=native pcie_ports=compat pcie_port_pm=off pcie_hp=nomsi rdma_ucm.disable_raw_qp_enforcement=1 \
    ib_uverbs.disable_raw_qp_enforcement=1 ib_core.netns_mode=0 ib_core.force_mr=1 mlx5_core.prof_sel=3 mlx5_core.debug_mask=1 mlx4_core.log_num_mtt=24 \
    mlx4_core.port_type_array=2,2 mlx4_core.num_vfs=4,4,0 nvidia.NVreg_EnableStreamMemOPs=1 nvidia.NVreg_RegisterForACPIEvents=1 \
    nvidia.NVreg_EnablePCIERelaxedOrderingMode=1 nvidia.NVreg_EnableResizableBar=1 nvidia.NVreg_RestrictProfilingToAdminUsers=0 \
    nvidia.NVreg_RegistryDwords=PeerMappingOverride=1;RMForceStaticBar1=1 nvidia.NVreg_DmaRemapPeerMmio=0 nvidia.NVreg_CreateImexChannel0=1 \
    nvidia.NVreg_GrdmaPciTopoCheckOverride=1 nvidia.NVreg_EnableMSI=1 nvidia-drm.modeset=1 nvidia_drm.modeset=0 nvidia_uvm.uvm_ats_mode=1 \
    vfio-pci.ids=10de:2330,15b3:1021 vfio_iommu_type1.allow_unsafe_interrupts=1 kvm_amd.sev_snp=1 kvm_amd.sev=1 kvm_intel.nested=1 kvm.ignore_msrs=1 \
    mem_encrypt=on mem_encrypt=off lockdown=integrity lockdown=confidentiality module_blacklist=nouveau modprobe.blacklist=nouveau,nvidiafb \
    rd.driver.blacklist=nouveau rd.driver.pre=vfio-pci nouveau.modeset=0 default_hugepagesz=1G hugepagesz=1G hugepages=64 hugepagesz=2M \
    hugepages=0:512,1:512 transparent_hugepage=always transparent_hugepage=madvise numa_balancing=disable numa=off isolcpus=2-15,18-31 \
    isolcpus=managed_irq,domain,2-15 nohz_full=2-15 rcu_nocbs=2-15 irqaffinity=0-1 mitigations=off mitigations=auto,nosmt spectre_v2=off \
    spec_store_bypass_disable=prctl tsx=on tsx_async_abort=off mce=ignore_ce nmi_watchdog=0 nowatchdog tsc=reliable clocksource=tsc skew_tick=1 \
    processor.max_cstate=1 processor.ignore_ppc=1 intel_idle.max_cstate=0 intel_idle.states_off=4 idle=poll idle=halt intel_pstate=disable \
    intel_pstate=passive amd_pstate=active amd_pstate=guided cpuidle.off=1 cpufreq.default_governor=performance nvme_core.default_ps_max_latency_us=0 \
    systemd.unified_cgroup_hierarchy=1 systemd.unit=multi-user.target systemd.log_level=debug talos.platform=metal ignition.platform.id=metal \
    ostree=/ostree/boot.1/rhcos/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/0 memmap=4G!12G mem=512G maxcpus=64 possible_cpus=128 \
    workqueue.power_efficient=0 preempt=none efi=runtime hpet=disable x2apic_phys iomem=relaxed earlycon=pl011,mmio32,0x12600000 nr_cpus=64 \
    acpi=force acpi_osi=Linux cgroup_enable=memory swapaccount=1 printk.devkmsg=on printk.time=1 random.trust_cpu=on threadirqs init_on_alloc=0";

/// Words of a kernel command line.
pub(crate) fn words() -> Vec<String> {
    let mut out: Vec<String> = WORDS.split_ascii_whitespace().map(str::to_owned).collect();
    let mut dirs = vec![repository().join("lab/nodes")];
    while let Some(dir) = dirs.pop() {
        for f in std::fs::read_dir(&dir).unwrap().flatten() {
            if f.path().is_dir() {
                dirs.push(f.path());
            } else if f.path().extension().is_some_and(|e| e == "toml") {
                let text = std::fs::read_to_string(f.path()).unwrap();
                for line in text.lines().filter_map(|l| l.strip_prefix("cmdline = \"")) {
                    out.extend(line.trim_end_matches('"').split_ascii_whitespace().map(str::to_owned));
                }
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

/// Assignments of every variable that `crates/env` knows, with the values that it may have.
pub(crate) fn variables() -> Vec<String> {
    let mut out = Vec::new();
    for line in read("crates/env/data/registry.tsv").lines().filter(|l| !l.starts_with('#')) {
        let mut columns = line.split('\t');
        let (Some(name), Some(kind)) = (columns.next(), columns.next()) else { continue };
        let values: &[&str] = match kind {
            "bool" => &["0", "1"],
            "int" => &["1", "4194304", "-2"],
            _ => &["/etc/nccl/topo.xml", "eth0,ib0"],
        };
        out.extend(values.iter().map(|v| format!("{name}={v}")));
    }
    let mut name = "";
    let known = read("crates/env/data/known.txt");
    for line in known.lines() {
        if let Some(n) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name = n;
            out.push(format!("{name}=1"));
        } else if let Some(legal) = line.strip_prefix("legal: ").filter(|_| !name.is_empty()) {
            let plain = |v: &&str| !v.is_empty() && !v.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '…'));
            out.extend(legal.split('|').map(str::trim).filter(plain).map(|v| format!("{name}={v}")));
        }
    }
    for more in [
        "NCCL_IB_HCA=mlx5_0:1,mlx5_1:1",
        "NCCL_IB_HCA==mlx5_0,mlx5_3",
        "NCCL_IB_HCA=^mlx5_bond_0",
        "NCCL_SOCKET_IFNAME=^docker0,lo",
        "NCCL_SOCKET_IFNAME==eth0",
        "NCCL_DEBUG_FILE=/tmp/nccl.%h.%p.log",
        "NCCL_ALGO=Ring;allreduce:tree,collnetdirect",
        "NCCL_PROTO=^LL128",
        "NCCL_COMM_ID=10.0.0.1:4000",
        "NCCL_NET=AWS Libfabric",
        "NCCL_NET_PLUGIN=libnccl-net-ofi.so",
        "NCCL_TUNER_PLUGIN=/opt/amazon/ofi-nccl/lib/libnccl-ofi-tuner.so",
        "UCX_TLS=rc_x,self,sm,cuda_copy",
        "UCX_NET_DEVICES=mlx5_0:1",
        "CUDA_VISIBLE_DEVICES=0,1,2,3",
        "CUDA_VISIBLE_DEVICES=GPU-11112222-3333-4444-5555-666677778888",
        "NCCL_TOPO_FILE=/var/run/nvidia-topologyd/virtualTopology.xml",
        "NCCL_IB_ADDR_RANGE=10.0.0.0/8",
        "NCCL_THREAD_THRESHOLDS=512 512 512",
    ] {
        out.push(more.to_owned());
    }
    out.sort();
    out.dedup();
    out
}

/// Lines of other files, and the file that each is in.
pub(crate) fn lines() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        (
            "etc/modprobe.d/nvidia.conf",
            vec![
                "# Written by linerate (plan step module-options).",
                "# To undo: linerate rollback, if linerate apply wrote this; otherwise delete this file.",
                "options nvidia NVreg_EnableStreamMemOPs=1 NVreg_RegistryDwords=\"PeerMappingOverride=1;RMForceStaticBar1=1\"",
                "options nvidia NVreg_RestrictProfilingToAdminUsers=0",
                "options nvidia NVreg_RegisterForACPIEvents=1 NVreg_DmaRemapPeerMmio=1",
                "options nvidia-drm modeset=1 fbdev=1",
                "options mlx5_core prof_sel=3",
                "options mlx4_core port_type_array=2,2 log_num_mtt=24",
                "options ib_core netns_mode=0",
                "options vfio-pci ids=10de:2330,15b3:1021 disable_vga=1",
                "options kvm_intel nested=1",
                "blacklist nouveau",
                "alias nouveau off",
                "install nouveau /bin/false",
                "softdep nvidia pre: vfio-pci",
            ],
        ),
        ("etc/modules-load.d/linerate.conf", vec!["nvidia_peermem", "gdrdrv", "vfio-pci", "# nvidia modules"]),
        (
            "etc/default/grub",
            vec![
                "GRUB_DEFAULT=0",
                "GRUB_DEFAULT=saved",
                "GRUB_DEFAULT=\"Advanced options for Ubuntu>Ubuntu, with Linux 6.8.0-60-generic\"",
                "GRUB_TIMEOUT_STYLE=hidden",
                "GRUB_TIMEOUT=5",
                "GRUB_SAVEDEFAULT=true",
                "GRUB_ENABLE_BLSCFG=true",
                "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash iommu=pt\"",
                "GRUB_CMDLINE_LINUX=''",
                "GRUB_CMDLINE_LINUX+=\" intel_iommu=on\"",
            ],
        ),
        (
            "boot/loader/entries/a.conf",
            vec![
                "title Red Hat Enterprise Linux (5.14.0-503.14.1.el9_5.x86_64) 9.5 (Plow)",
                "version 5.14.0-503.14.1.el9_5.x86_64",
                "linux /vmlinuz-5.14.0-503.14.1.el9_5.x86_64",
                "initrd /initramfs-5.14.0-503.14.1.el9_5.x86_64.img $tuned_initrd",
                "options root=/dev/mapper/rhel-root ro rd.lvm.lv=rhel/root $tuned_params",
                "grub_users $grub_users",
                "grub_class rhel",
                "sort-key ubuntu",
            ],
        ),
        (
            "etc/systemd/network/20-x.network",
            vec![
                "[Match]",
                "Name=eth1",
                "Name=eth0 eth1",
                "Name=!eth0",
                "Driver=mlx5_core",
                "PermanentMACAddress=52:54:00:00:00:01",
                "Type=ether",
                "[Link]",
                "MTUBytes=9000",
                "[Network]",
                "DHCP=no",
                "DHCP=ipv4",
                "Address=10.0.0.1/24",
                "Address=fd00::1/64",
            ],
        ),
        (
            "etc/NetworkManager/system-connections/x.nmconnection",
            vec![
                "[connection]",
                "uuid=11111111-2222-3333-4444-555555555555",
                "type=ethernet",
                "type=802-3-ethernet",
                "interface-name=enp65s0f0np0",
                "autoconnect=true",
                "[ethernet]",
                "mtu=9000",
                "[ipv4]",
                "method=manual",
                "address1=10.0.0.1/24,10.0.0.254",
                "addresses=10.0.0.2/24",
            ],
        ),
        (
            "etc/security/limits.d/90-linerate.conf",
            vec![
                "* soft memlock unlimited",
                "* hard memlock unlimited",
                "root soft memlock unlimited",
                "@users - nofile 1048576",
            ],
        ),
        ("etc/sysctl.d/90-linerate.conf", vec!["kernel.numa_balancing = 0", "vm.nr_hugepages = 1024"]),
        ("etc/tmpfiles.d/linerate.conf", vec!["w- /sys/kernel/mm/transparent_hugepage/enabled - - - - madvise"]),
        (
            "etc/systemd/system/linerate-registers.service",
            vec![
                "# Written by linerate (plan step acs).",
                "# To undo: linerate rollback, if linerate apply wrote this; otherwise delete this file.",
                "[Unit]",
                "Description=PCI registers (linerate)",
                "After=multi-user.target",
                "Wants=sys-subsystem-net-devices-eth1.device",
                "[Service]",
                "Type=oneshot",
                "RemainAfterExit=yes",
                "ExecStart=setpci -s 0000:16:01.0 ECAP_ACS+6.w=0:2c",
                "ExecStart=ip link set dev eth1 mtu 9000",
                "ExecStop=ip address flush dev eth1 to 10.0.0.1/32",
                "[Install]",
                "WantedBy=multi-user.target",
            ],
        ),
        ("etc/systemd/system/slurmd.service.d/90-linerate.conf", vec!["[Service]", "LimitMEMLOCK=infinity"]),
    ]
}

/// What programs print, as the doctor's tests hold it.
pub(crate) fn messages() -> Vec<String> {
    let rows = read("crates/doctor/tests/messages.tsv");
    let mut out: Vec<String> =
        rows.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split('\t').nth(6)).map(str::to_owned).collect();
    out.sort();
    out.dedup();
    out
}
