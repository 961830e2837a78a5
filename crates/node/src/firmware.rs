//! What firmware and the environment say about the machine: DMI, detected virtualisation, lockdown.

use crate::kernel::Kernel;
use crate::printed::Printed;
use linerate_formats::At;
use linerate_formats::dmesg::Event;
use linerate_formats::dmidecode::{self, Dmi};
use linerate_snapshot::{Lookup, OutputKind, Place, Reading, Snapshot, Why};

/// Kernel lockdown level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lockdown {
    /// Off.
    None,
    /// Writes to configuration space and /dev/mem are refused.
    Integrity,
    /// Reads that could leak kernel memory are refused too.
    Confidentiality,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Firmware {
    /// DMI system vendor.
    pub sys_vendor: Reading<String>,
    /// DMI product.
    pub product: Reading<String>,
    /// DMI board vendor: VirtualBox keeps its own there where the system's was changed.
    pub board_vendor: Reading<String>,
    /// BIOS version.
    pub bios_version: Reading<String>,
    /// Vendor and product in one, as the kernel's log has them: for sources that hold no DMI but a log.
    pub logged_machine: Reading<String>,
    /// `systemd-detect-virt`.
    pub detected_virt: Reading<String>,
    /// `/sys/kernel/security/lockdown`.
    pub lockdown: Reading<Lockdown>,
    /// What shows that the capture ran in a container, whatever the machine is.
    pub container: Option<Place>,
}

impl Firmware {
    pub(crate) fn decode(s: &Snapshot, log: &Kernel) -> Self {
        let printed = Printed::of(s, OutputKind::Dmidecode, "cmd/dmidecode", dmidecode::parse);
        let dmi = |leaf, get: fn(&Dmi) -> &Option<At<String>>| {
            s.text(s.root(), leaf).map(str::to_owned).or(|| printed.field(|d| get(d).clone()))
        };
        let container = container(s);
        let detected = s.outputs.iter().find(|o| o.kind == OutputKind::DetectVirt);
        Firmware {
            container,
            sys_vendor: dmi("sys/class/dmi/id/sys_vendor", |d| &d.sys_vendor),
            product: dmi("sys/class/dmi/id/product_name", |d| &d.product),
            board_vendor: dmi("sys/class/dmi/id/board_vendor", |d| &d.board_vendor),
            bios_version: dmi("sys/class/dmi/id/bios_version", |d| &d.bios_version),
            logged_machine: logged_machine(log),
            detected_virt: match detected {
                Some(o) => Reading::Known(s.data(o.entry), Place::of(o.entry))
                    .parse("not text", |b| Some(std::str::from_utf8(b).ok()?.trim().to_owned())),
                None => Reading::Unreadable(Place::below(s.root(), "cmd/systemd-detect-virt"), Why::NotCollected),
            },
            lockdown: s.text(s.root(), "sys/kernel/security/lockdown").parse("no selected level", |t| {
                let chosen = t.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'))?;
                match chosen {
                    "none" => Some(Lockdown::None),
                    "integrity" => Some(Lockdown::Integrity),
                    "confidentiality" => Some(Lockdown::Confidentiality),
                    _ => None,
                }
            }),
        }
    }

    /// systemd-detect-virt names a container technology, which says nothing about the machine.
    #[must_use]
    pub fn is_container_virt(&self) -> bool {
        const CONTAINERS: [&str; 10] = [
            "docker",
            "podman",
            "lxc",
            "lxc-libvirt",
            "systemd-nspawn",
            "openvz",
            "rkt",
            "wsl",
            "proot",
            "container-other",
        ];
        self.detected_virt.known().is_some_and(|v| CONTAINERS.contains(&v.as_str()))
    }

    /// Whether the capture ran in a container, by systemd-detect-virt or by what container runtimes leave.
    #[must_use]
    pub fn in_container(&self) -> bool {
        self.container.is_some() || self.is_container_virt()
    }
}

/// Files of Docker and Podman, cgroups of runtimes, and the mount named `shm` that containerd, CRI-O and Docker make (a host's is named `tmpfs`). Images
/// mostly lack systemd-detect-virt.
fn container(s: &Snapshot) -> Option<Place> {
    for path in [".dockerenv", "run/.containerenv"] {
        if let Lookup::Found(e) = s.resolve(path) {
            return Some(Place::of(e));
        }
    }
    const RUNTIMES: [&str; 6] = ["kubepods", "docker", "containerd", "crio", "libpod", "/lxc"];
    if let Reading::Known(t, p) = s.text(s.root(), "proc/1/cgroup")
        && RUNTIMES.iter().any(|r| t.contains(r))
    {
        return Some(p);
    }
    match s.text(s.root(), "proc/mounts") {
        Reading::Known(t, p) if t.lines().any(|l| l.starts_with("shm /dev/shm ")) => Some(p),
        _ => None,
    }
}

/// Beginnings of DMI fields that hypervisors write: system vendor, beginning of the product (empty: any), name. systemd's `dmi_vendor_table` (src/basic/virt.c)
/// and the clouds' own documents. Makers of hardware who also make a hypervisor count with the hypervisor's product only.
const BY_DMI: &[(&str, &str, &str)] = &[
    ("QEMU", "", "QEMU"),
    ("KVM", "", "KVM"),
    ("Bochs", "", "Bochs"),
    ("Red Hat", "KVM", "KVM"),
    ("Red Hat", "RHEL", "KVM"),
    ("Red Hat", "OpenStack", "OpenStack"),
    ("Red Hat", "KubeVirt", "KubeVirt"),
    ("KubeVirt", "", "KubeVirt"),
    ("oVirt", "", "oVirt"),
    ("RDO", "", "OpenStack"),
    ("OpenStack Foundation", "", "OpenStack"),
    ("OpenStack", "", "OpenStack"),
    ("VMware", "", "VMware"),
    ("VMW", "", "VMware"),
    ("innotek GmbH", "", "VirtualBox"),
    ("Oracle Corporation", "VirtualBox", "VirtualBox"),
    ("Xen", "", "Xen"),
    ("Parallels", "", "Parallels"),
    ("BHYVE", "", "bhyve"),
    ("FreeBSD", "BHYVE", "bhyve"),
    ("Microsoft Corporation", "Virtual Machine", "Hyper-V"),
    ("Apple Inc.", "Apple Virtualization", "Apple Virtualization"),
    ("Nutanix", "AHV", "Nutanix AHV"),
    ("DigitalOcean", "", "DigitalOcean"),
    ("Hetzner", "vServer", "Hetzner vServer"),
];

/// `VENDOR PRODUCT/BOARD` of the last boot in the log.
fn logged_machine(kernel: &Kernel) -> Reading<String> {
    let mut named = kernel.log.known().into_iter().flatten().filter_map(|e| match &e.event {
        Event::Machine(text) => Some((text.split_once(", BIOS ")?.0, e.place)),
        _ => None,
    });
    match named.next_back() {
        Some((name, place)) => Reading::Known(name.to_owned(), place),
        None => Reading::Unreadable(kernel.log.place(), Why::NotCollected),
    }
}

/// The same of the log's line, where vendor and product stand together.
fn hypervisor_by_log(f: &Firmware) -> Option<(String, Place)> {
    let Reading::Known(machine, place) = &f.logged_machine else { return None };
    let product = |rest: &str, p: &str| p.is_empty() || rest.contains(&format!(" {p}"));
    let by_name = BY_DMI.iter().find(|(v, p, _)| machine.strip_prefix(v).is_some_and(|rest| product(rest, p)));
    if let Some((.., name)) = by_name {
        return Some(((*name).to_owned(), *place));
    }
    let amazon = machine.strip_prefix("Amazon EC2 ").and_then(|m| m.split('/').next());
    amazon.filter(|p| !p.is_empty() && !p.contains("metal")).map(|p| (format!("Amazon EC2 {p}"), *place))
}

/// The hypervisor that DMI names, with its place. Amazon's and Google's machines are guests unless their product is one of bare metal (`m5.metal`,
/// `a3-ultragpu-8g-metal`); Google's firmware says the same on both, so only a named bare product tells, and nothing is concluded otherwise.
pub(crate) fn hypervisor_by_dmi(f: &Firmware) -> Option<(String, Place)> {
    let (Reading::Known(vendor, place), product) = (&f.sys_vendor, f.product.known().map_or("", String::as_str)) else {
        return hypervisor_by_log(f);
    };
    let by_name = BY_DMI.iter().find(|(v, p, _)| vendor.starts_with(v) && product.starts_with(p));
    if let Some((.., name)) = by_name {
        return Some(((*name).to_owned(), *place));
    }
    if product == "VirtualBox" {
        return Some(("VirtualBox".to_owned(), f.product.place()));
    }
    // A product is needed: `Amazon EC2` alone is on bare metal, too.
    (vendor == "Amazon EC2" && !product.is_empty() && !product.contains("metal"))
        .then(|| (format!("{vendor} {product}"), *place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(vendor: &str, product: &str) -> Option<String> {
        let mut s = Snapshot::new("x");
        s.add_file("sys/class/dmi/id/sys_vendor", vendor.as_bytes());
        s.add_file("sys/class/dmi/id/product_name", product.as_bytes());
        hypervisor_by_dmi(&Firmware::decode(&s, &Kernel::decode(&s))).map(|(n, _)| n)
    }

    #[test]
    fn hypervisors_by_what_the_machine_calls_itself() {
        for (vendor, product, want) in [
            ("innotek GmbH", "VirtualBox", Some("VirtualBox")),
            ("QEMU", "Standard PC (Q35 + ICH9, 2009)", Some("QEMU")),
            ("Microsoft Corporation", "Virtual Machine", Some("Hyper-V")),
            ("Microsoft Corporation", "C2030", None),
            ("Oracle Corporation", "ORACLE SERVER X9-2c", None),
            ("Red Hat", "KVM", Some("KVM")),
            ("Amazon EC2", "p5.48xlarge", Some("Amazon EC2 p5.48xlarge")),
            ("Amazon EC2", "m5.metal", None),
            ("Amazon EC2", "u-24tb1.metal-48xl", None),
            ("Nutanix", "NX-3060-G7", None),
            ("Nutanix", "AHV", Some("Nutanix AHV")),
            ("Dell Inc.", "PowerEdge XE9680", None),
            ("Xen", "HVM domU", Some("Xen")),
        ] {
            assert_eq!(named(vendor, product).as_deref(), want, "{vendor} {product}");
        }
    }

    #[test]
    fn dmidecode_serves_where_the_files_are_missing() {
        let read = |vendor: Option<&str>| {
            let mut s = Snapshot::new("x");
            let text = "Handle 0x0100, DMI type 1, 27 bytes\nSystem Information\n\tManufacturer: QEMU\n\tProduct Name: Standard PC\n\tSerial Number: 1\n";
            let entry = s.add_file("pasted/dmidecode.txt", text.as_bytes()).unwrap();
            s.outputs.push(linerate_snapshot::Output {
                kind: OutputKind::Dmidecode,
                entry,
                argv: Vec::new(),
                status: None,
            });
            if let Some(v) = vendor {
                s.add_file("sys/class/dmi/id/sys_vendor", v.as_bytes());
            }
            Firmware::decode(&s, &Kernel::decode(&s))
        };
        let f = read(None);
        assert_eq!(
            (f.sys_vendor.known().map(String::as_str), f.sys_vendor.place().pos),
            (Some("QEMU"), linerate_snapshot::Pos::Line(3))
        );
        assert!(f.bios_version.is_unreadable() && hypervisor_by_dmi(&f).is_some_and(|(n, _)| n == "QEMU"));
        assert_eq!(
            read(Some("Dell Inc.")).sys_vendor.known().map(String::as_str),
            Some("Dell Inc."),
            "the kernel's file first"
        );
    }

    #[test]
    fn hypervisors_by_the_boot_logs_line() {
        for (line, want) in [
            ("QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16.2 04/01/2014", Some("QEMU")),
            ("Microsoft Corporation Virtual Machine/Virtual Machine, BIOS 090008  12/07/2018", Some("Hyper-V")),
            ("Red Hat KVM/RHEL, BIOS 1.16.1-1.el9 04/01/2014", Some("KVM")),
            ("Amazon EC2 p5.48xlarge/, BIOS 1.0 10/16/2017", Some("Amazon EC2 p5.48xlarge")),
            ("Amazon EC2 p4d.metal/, BIOS 1.0 10/16/2017", None),
            ("Supermicro AS -4125GS-TNRT/H13DSG-O-CPU, BIOS 1.8 02/05/2024", None),
        ] {
            let mut s = Snapshot::new("x");
            let entry = s.add_file("dmesg", format!("[    0.000000] DMI: {line}\n").as_bytes()).unwrap();
            s.outputs.push(linerate_snapshot::Output {
                kind: OutputKind::Dmesg,
                entry,
                argv: Vec::new(),
                status: None,
            });
            let found = hypervisor_by_dmi(&Firmware::decode(&s, &Kernel::decode(&s)));
            assert_eq!(found.map(|(n, _)| n).as_deref(), want, "{line}");
        }
    }
}
