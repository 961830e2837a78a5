//! The kernel, its command line and modules, the firmware, the limits.

use crate::compose::{Commands, Plan};
use crate::description::{Hypervisor, Iommu, Role};
use crate::{Tree, models};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Time of every composed capture: 2026-01-01 00:00:00 UTC.
pub(crate) const TIME: u64 = 1_767_225_600;

pub(crate) fn write(plan: &Plan, tree: &mut Tree, commands: &mut Commands) {
    let n = &plan.d.node;
    kernel(plan, tree);
    modules(plan, tree);
    tables(plan, tree);
    let (id, version, name) = os(&n.os);
    tree.file(
        "etc/os-release",
        format!("NAME=\"{name}\"\nID={id}\nVERSION_ID=\"{version}\"\nPRETTY_NAME=\"{name} {version}\"\n"),
    );
    let limit = if n.memlock == "unlimited" { "unlimited".to_owned() } else { n.memlock.clone() };
    tree.file(
        "proc/self/limits",
        format!(
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max stack size            8388608              unlimited            bytes     \n\
             Max open files            1048576              1048576              files     \n\
             Max locked memory         {limit:<20} {limit:<20} bytes     \n\
             Max address space         unlimited            unlimited            bytes     \n"
        ),
    );
    tree.file("proc/mounts", "tmpfs /dev/shm tmpfs rw,nosuid,nodev,inode64 0 0\n".to_owned());
    let dmi = n.dmi.clone().unwrap_or_else(|| match n.role {
        Role::Guest if n.hypervisor == Hypervisor::HyperV => ["Microsoft Corporation".into(), "Virtual Machine".into()],
        Role::Guest => ["QEMU".into(), "Standard PC (Q35 + ICH9, 2009)".into()],
        _ => ["Composed".into(), "GPU Server".into()],
    });
    let home = "sys/devices/virtual/dmi/id";
    let [vendor, product] = &dmi;
    let bios = if n.role == Role::Guest && vendor == "QEMU" { "SeaBIOS" } else { vendor };
    for (name, v) in [
        ("sys_vendor", vendor.as_str()),
        ("product_name", product),
        ("board_vendor", vendor),
        ("board_name", product),
        ("chassis_vendor", vendor),
        ("bios_vendor", bios),
        ("bios_version", "1.6.6"),
        ("bios_date", "08/20/2025"),
    ] {
        tree.value(format!("{home}/{name}"), v);
    }
    tree.value(format!("{home}/product_serial"), format!("{:012X}", plan.seed.bits("product") >> 16));
    tree.link_to("sys/class/dmi/id", home);
    let (virt, status) = match (n.role, n.hypervisor) {
        (Role::Guest, Hypervisor::HyperV) => ("microsoft", 0),
        (Role::Guest, Hypervisor::Qemu) if dmi.first().is_some_and(|v| v == "Google") => ("google", 0),
        (Role::Guest, Hypervisor::Qemu) => ("kvm", 0),
        _ => ("none", 1),
    };
    commands.add(&["systemd-detect-virt"], format!("{virt}\n"), status);
    commands.add(&["dmesg"], dmesg(plan), 0);
}

fn os(name: &str) -> (&str, &str, &'static str) {
    let (id, version) = name.split_once('-').unwrap_or((name, ""));
    let words = match id {
        "ubuntu" => "Ubuntu",
        "debian" => "Debian GNU/Linux",
        "rhel" => "Red Hat Enterprise Linux",
        "rocky" => "Rocky Linux",
        "rhcos" => "Red Hat Enterprise Linux CoreOS",
        "talos" => "Talos",
        _ => "Linux",
    };
    (id, version, words)
}

pub(crate) fn cmdline(plan: &Plan) -> String {
    let n = &plan.d.node;
    if let Some(own) = &n.cmdline {
        return own.clone();
    }
    let amd = n.cpu.is_amd();
    let iommu = match n.iommu {
        Iommu::Identity if n.cpu.is_arm() => " iommu.passthrough=1",
        Iommu::Identity if amd => " iommu=pt",
        Iommu::Identity => " intel_iommu=on iommu=pt",
        Iommu::Off if n.role == Role::Guest => "",
        Iommu::Off if amd => " amd_iommu=off",
        Iommu::Off => " intel_iommu=off",
        Iommu::Dma => " iommu.strict=1",
        Iommu::DmaFq if n.role == Role::Host && !amd => " intel_iommu=on",
        Iommu::DmaFq | Iommu::NoFirmwareTable => "",
    };
    format!("BOOT_IMAGE=/boot/vmlinuz-{} root=UUID={} ro{iommu}", n.kernel, plan.seed.uuid("root"))
}

fn kernel(plan: &Plan, tree: &mut Tree) {
    let n = &plan.d.node;
    let machine = if n.cpu.is_arm() { "aarch64" } else { "x86_64" };
    tree.value("proc/cmdline", cmdline(plan));
    tree.value(
        "proc/version",
        format!("Linux version {} (builder@{machine}) (gcc 13.3.0, GNU ld 2.42) #1 SMP PREEMPT_DYNAMIC", n.kernel),
    );
    tree.value("proc/sys/kernel/osrelease", &n.kernel);
    tree.value("proc/sys/kernel/hostname", &plan.host);
    tree.value("proc/sys/kernel/arch", machine);
    tree.value("proc/sys/kernel/random/boot_id", plan.seed.uuid("boot"));
    tree.value("proc/sys/kernel/numa_balancing", "0");
    tree.value("proc/uptime", "864000.00 160000000.00");
    let words =
        ["none", "integrity", "confidentiality"].map(|w| if w == n.lockdown { format!("[{w}]") } else { w.into() });
    tree.value("sys/kernel/security/lockdown", words.join(" "));
    let mut config: BTreeMap<&str, &str> = BTreeMap::from([
        ("CONFIG_PCI_P2PDMA", "y"),
        ("CONFIG_DMA_SHARED_BUFFER", "y"),
        ("CONFIG_INFINIBAND_ON_DEMAND_PAGING", "y"),
        ("CONFIG_IOMMU_DEFAULT_DMA_LAZY", "y"),
        ("CONFIG_IOMMU_DEFAULT_PASSTHROUGH", "n"),
        ("CONFIG_INTEL_IOMMU", "y"),
        ("CONFIG_INTEL_IOMMU_DEFAULT_ON", "y"),
        ("CONFIG_AMD_IOMMU", "y"),
        ("CONFIG_PCIEASPM_DEFAULT", "y"),
        ("CONFIG_PCI_PASID", "y"),
    ]);
    config.extend(n.kernel_config.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    let mut text = String::from("#\n# Automatically generated file; DO NOT EDIT.\n#\n");
    for (key, v) in config {
        let _ = if v == "n" { writeln!(text, "# {key} is not set") } else { writeln!(text, "{key}={v}") };
    }
    tree.file(format!("boot/config-{}", n.kernel), text);
}

/// Modules of a node like this, and their users, as `/proc/modules` lists them.
fn loaded(plan: &Plan) -> BTreeSet<String> {
    let (d, n) = (plan.d, &plan.d.node);
    let mut set: BTreeSet<String> = BTreeSet::new();
    let mut add = |names: &[&str]| set.extend(names.iter().map(|n| (*n).to_owned()));
    add(&["nvme", "nvme_core"]);
    // The drivers of all cards, whatever they are bound to now.
    let own = plan.functions.iter().filter_map(|f| f.model);
    let nics: Vec<_> = own.chain([d.layout.nic]).filter_map(models::nic_model).collect();
    if nics.iter().any(|m| m.rdma) {
        add(&["ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "ib_cm", "iw_cm", "rdma_ucm", "ib_ipoib"]);
    }
    for model in &nics {
        match model.driver {
            "mlx4_core" => add(&["mlx4_core", "mlx4_ib", "mlx4_en"]),
            "mlx5_core" => add(&["mlx5_core", "mlx5_ib", "mlxfw"]),
            "gve" => add(&["gve"]),
            _ => {}
        }
    }
    for (driver, modules) in models::MODULES {
        if plan.functions.iter().any(|f| f.driver.as_deref() == Some(driver)) {
            add(modules);
        }
    }
    match n.role {
        Role::Host => add(&[
            "vfio",
            "vfio_pci",
            "vfio_pci_core",
            "vfio_iommu_type1",
            "kvm",
            if n.cpu.is_amd() { "kvm_amd" } else { "kvm_intel" },
        ]),
        _ if !d.nvidia.driver.is_empty() && plan.functions.iter().any(|f| f.driver.as_deref() == Some("nvidia")) => {
            add(&["nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm"]);
            if n.ofed != "inbox" {
                add(&["nvidia_peermem"]);
            }
        }
        _ => {}
    }
    set.extend(d.modules.add.iter().cloned());
    for gone in &d.modules.drop {
        set.remove(gone);
    }
    set
}

fn modules(plan: &Plan, tree: &mut Tree) {
    let d = plan.d;
    let mut list = String::new();
    for name in loaded(plan) {
        let size = 20_480 + plan.seed.bits(&name) % 512 * 4096;
        let taint = match name.as_str() {
            "nvidia_peermem" | "nvidia_uvm" | "nvidia_modeset" | "nvidia_drm" | "nvidia" if d.nvidia.open => " (OE)",
            n if n.starts_with("nvidia") => " (POE)",
            _ => "",
        };
        let _ = writeln!(list, "{name} {size} 0 - Live 0x0000000000000000{taint}");
        let home = format!("sys/module/{name}");
        tree.value(format!("{home}/initstate"), "live");
        tree.value(format!("{home}/refcnt"), "0");
        let own = if name.starts_with("nvidia") {
            Some(d.nvidia.driver.as_str())
        } else if d.node.ofed != "inbox" && (name.starts_with("mlx") || name.starts_with("ib_")) {
            Some(d.node.ofed.as_str())
        } else {
            None
        };
        if let Some(v) = d.modules.version.get(&name).map(String::as_str).or(own) {
            tree.value(format!("{home}/version"), v);
        }
    }
    tree.file("proc/modules", list);
    for (module, params) in &d.modules.params {
        for (name, v) in params {
            // The kernel prints booleans as Y and N.
            let v = match v.0.as_str() {
                "True(1)" => "Y",
                "False(0)" => "N",
                v => v,
            };
            tree.value(format!("sys/module/{module}/parameters/{name}"), v);
        }
    }
    if d.node.ofed != "inbox" && tree.get("sys/module/nvidia_peermem/initstate").is_some() {
        tree.value("sys/kernel/mm/memory_peers/nv_mem/version", &d.nvidia.driver);
    }
}

/// ACPI tables: only their names matter, and only root could read them.
fn tables(plan: &Plan, tree: &mut Tree) {
    let n = &plan.d.node;
    let mut names = vec!["APIC", "FACP", "MCFG", "SRAT", "SLIT", "DSDT"];
    if n.iommu != Iommu::NoFirmwareTable && (n.role != Role::Guest || n.iommu != Iommu::Off) {
        names.push(match n.cpu {
            cpu if cpu.is_amd() && n.role != Role::Guest => "IVRS",
            cpu if cpu.is_arm() => "IORT",
            _ => "DMAR",
        });
    }
    for name in names {
        tree.file(format!("sys/firmware/acpi/tables/{name}"), "");
    }
}

fn dmesg(plan: &Plan) -> String {
    let n = &plan.d.node;
    let mut lines = vec![format!("Linux version {}", n.kernel), format!("Command line: {}", cmdline(plan))];
    let (word, set) = match n.iommu {
        Iommu::Identity => ("Passthrough", " (set via kernel command line)"),
        _ => ("Translated", ""),
    };
    let active = !matches!(n.iommu, Iommu::Off | Iommu::NoFirmwareTable);
    if active && !n.cpu.is_amd() && !n.cpu.is_arm() && cmdline(plan).contains("intel_iommu=on") {
        lines.push("DMAR: IOMMU enabled".into());
    }
    lines.push(format!("iommu: Default domain type: {word}{set}"));
    if word == "Translated" {
        let mode = if n.iommu == Iommu::Dma { "strict mode" } else { "lazy mode" };
        lines.push(format!("iommu: DMA domain TLB invalidation policy: {mode}"));
    }
    if active {
        lines.push(if n.cpu.is_amd() {
            "AMD-Vi: Interrupt remapping enabled".into()
        } else if n.cpu.is_arm() {
            "arm-smmu-v3 arm-smmu-v3.0.auto: ias 48-bit, oas 48-bit (features 0x001e1f9f)".into()
        } else {
            "DMAR: Intel(R) Virtualization Technology for Directed I/O".into()
        });
    }
    for f in plan.functions.iter().filter(|f| f.driver.as_deref() == Some("mlx5_core")) {
        let Some(l) = f.link else { continue };
        // As the kernel counts: whole Mb/s of one lane after encoding, times lanes.
        let lane = match l.speed.generation() {
            1 => 2000,
            2 => 4000,
            n => (1000_u32 << n) * 128 / 130,
        };
        let bandwidth = f64::from(lane * u32::from(l.width)) / 1000.0;
        let link = format!("{:.1} GT/s PCIe x{} link", l.speed.gigatransfers(), l.width);
        lines.push(format!("mlx5_core {}: {bandwidth:.3} Gb/s available PCIe bandwidth ({link})", f.bdf));
    }
    if loaded(plan).contains("nvidia") {
        let machine = if n.cpu.is_arm() { "aarch64" } else { "x86_64" };
        let kind =
            if plan.d.nvidia.open { "Open Kernel Module".to_owned() } else { format!("{machine} Kernel Module") };
        lines.push(format!("NVRM: loading NVIDIA UNIX {kind} for {machine}  {}", plan.d.nvidia.driver));
    }
    let mut out = String::new();
    for (i, line) in lines.iter().chain(&plan.d.dmesg.lines).enumerate() {
        let _ = if line.starts_with('[') {
            writeln!(out, "{line}")
        } else {
            writeln!(out, "[{:>5}.{:06}] {line}", i / 4, i * 1234 % 1_000_000)
        };
    }
    out
}
