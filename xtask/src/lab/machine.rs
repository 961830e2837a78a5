//! A scenario's machine and devices as QEMU arguments.

use super::scenario::{Link, Machine, Scenario};
use super::{Result, relabel};
use std::collections::BTreeMap;
use std::path::Path;

/// A machine and what is plugged into it.
#[derive(Clone, Copy)]
pub(super) struct Hardware<'a> {
    pub(super) machine: &'a Machine,
    /// Devices in QEMU's words, with the lab's short names.
    pub(super) devices: &'a [String],
    /// The link of each `gpu`, `hca`, `upstream` or `downstream` that is not at its best.
    pub(super) links: &'a BTreeMap<String, Link>,
}

impl Hardware<'_> {
    /// CPU, memory, NUMA nodes, names and IOMMU: what comes before any device.
    pub(super) fn board(self) -> Result<Vec<String>> {
        let machine = self.machine;
        let mut args = vec!["-machine".to_owned(), machine_type(machine), "-cpu".to_owned(), cpu(machine)?];
        args.extend(["-smp".to_owned(), machine.cpus.to_string(), "-m".to_owned(), machine.memory.to_string()]);
        args.extend(numa(machine));
        if machine.bare_metal {
            args.extend(dmi());
        }
        args.extend(iommu(machine)?);
        Ok(args)
    }

    /// The devices, and further arguments.
    pub(super) fn plugged(self) -> Vec<String> {
        let (mut ports, mut nics) = (0, 0);
        let mut args: Vec<String> = self.devices.iter().flat_map(|d| expand(d, &mut ports, &mut nics)).collect();
        args.extend(self.machine.options.iter().flat_map(|option| words(option)));
        args
    }

    /// The arguments with which QEMU waits on a socket for what has to be changed in it; none where nothing has to be.
    pub(super) fn paused(self, monitor: &Path) -> Vec<String> {
        if !relabel::needed(self) {
            return Vec::new();
        }
        vec!["-S".to_owned(), "-qmp".to_owned(), format!("unix:{},server=on,wait=off", monitor.display())]
    }
}

/// The files that a guest is booted from and writes to.
pub(super) struct Media<'a> {
    pub(super) kernel: &'a Path,
    pub(super) initrd: &'a Path,
    /// Raw disk on the machine's own AHCI controller, to which the guest writes a tar of its results.
    pub(super) disk: &'a Path,
    pub(super) serial: &'a Path,
    /// Where QEMU listens for orders when it has to start paused.
    pub(super) monitor: &'a Path,
}

/// Everything after `qemu-system-x86_64`.
pub(super) fn arguments(scenario: &Scenario, media: &Media<'_>) -> Result<Vec<String>> {
    let hardware = scenario.hardware();
    let mut args: Vec<String> =
        words("-nodefaults -no-user-config -display none -no-reboot -accel tcg,thread=multi,tb-size=192");
    args.extend(hardware.board()?);
    args.extend(["-kernel".to_owned(), media.kernel.display().to_string()]);
    args.extend(["-initrd".to_owned(), media.initrd.display().to_string()]);
    // panic=-1 reboots at once, and -no-reboot turns that into an exit: a panic does not wait for the time limit.
    // no_timer_check: on a loaded machine the emulated timer may be late for the kernel's early test of it, which panics.
    let mut line = vec!["console=ttyS0", "quiet", "panic=-1", "no_timer_check"];
    line.extend(scenario.cmdline.iter().map(String::as_str));
    args.extend(["-append".to_owned(), line.join(" ")]);
    args.extend(["-serial".to_owned(), format!("file:{}", media.serial.display())]);
    args.extend(["-drive".to_owned(), format!("if=none,id=results,format=raw,file={}", media.disk.display())]);
    args.extend(words("-device ide-hd,drive=results,bus=ide.0"));
    args.extend(hardware.paused(media.monitor));
    args.extend(hardware.plugged());
    Ok(args)
}

pub(super) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn machine_type(machine: &Machine) -> String {
    // The IOMMU models remap interrupts only with a split interrupt chip.
    let oem = if machine.bare_metal { ",x-oem-id=SMCI,x-oem-table-id=SMCI--MB" } else { "" };
    format!("q35,kernel-irqchip=split{oem}")
}

fn cpu(machine: &Machine) -> Result<String> {
    let amd = match (machine.cpu_vendor.as_deref(), machine.iommu.as_deref()) {
        (Some("amd"), _) | (None, Some("amd")) => true,
        (Some("intel"), _) | (None, _) => false,
        (Some(other), _) => return Err(format!("no cpu_vendor {other:?}: intel or amd")),
    };
    // Family and model of a common server part of each vendor: Milan, Ice Lake.
    let vendor = if amd {
        "vendor=AuthenticAMD,family=25,model=1,stepping=1"
    } else {
        "vendor=GenuineIntel,family=6,model=106,stepping=6"
    };
    Ok(format!("max,{vendor}{}", if machine.bare_metal { ",-hypervisor,tcg-cpuid=off" } else { "" }))
}

fn numa(machine: &Machine) -> Vec<String> {
    let mut args = Vec::new();
    for node in 0..machine.numa {
        let cpus = machine.cpus / machine.numa;
        let (first, last) = (node * cpus, (node + 1) * cpus - 1);
        args.push("-object".to_owned());
        args.push(format!("memory-backend-ram,id=mem{node},size={}M", machine.memory / machine.numa));
        args.push("-numa".to_owned());
        args.push(format!("node,nodeid={node},cpus={first}-{last},memdev=mem{node}"));
    }
    args
}

/// The DMI of a server, as a bare-metal classification reads it.
fn dmi() -> Vec<String> {
    let maker = "manufacturer=Supermicro";
    [
        "type=0,vendor=American Megatrends International LLC.,version=1.4,date=01/02/2024".to_owned(),
        format!("type=1,{maker},product=SYS-421GE-TNRT,version=0123456789"),
        format!("type=2,{maker},product=X13DEG-OA,version=1.01"),
        format!("type=3,{maker},version=0123456789"),
        "type=4,manufacturer=Intel(R) Corporation".to_owned(),
    ]
    .into_iter()
    .flat_map(|table| ["-smbios".to_owned(), table])
    .collect()
}

fn iommu(machine: &Machine) -> Result<Vec<String>> {
    let model = match machine.iommu.as_deref() {
        None if machine.iommu_options.is_some() => return Err("iommu_options without iommu".to_owned()),
        None => return Ok(Vec::new()),
        Some("intel") => "intel-iommu,intremap=on",
        Some("amd") => "amd-iommu",
        Some(other) => return Err(format!("no iommu {other:?}: intel or amd")),
    };
    let options = machine.iommu_options.iter().map(|o| format!(",{o}")).collect::<String>();
    Ok(vec!["-device".to_owned(), format!("{model}{options}")])
}

/// One device line; the lab's short names become QEMU's, with what they always need.
fn expand(device: &str, ports: &mut u32, nics: &mut u32) -> Vec<String> {
    let (name, rest) = device.split_once(',').map_or((device, String::new()), |(n, r)| (n, format!(",{r}")));
    let mut args = Vec::new();
    let line = match name {
        "pxb" => format!("pxb-pcie{rest}"),
        "upstream" => format!("x3130-upstream{rest}"),
        "root-port" | "downstream" => {
            *ports += 1; // chassis and slot must be unique among all ports
            let model = if name == "root-port" { "pcie-root-port,x-width=16" } else { "xio3130-downstream" };
            format!("{model},chassis={ports},slot={ports}{rest}")
        }
        // The bodies of a GPU and of a ConnectX; relabel gives them their ids.
        "hca" => format!("virtio-rng-pci,disable-legacy=on{rest}"),
        "nvme" | "gpu" => {
            *ports += 1; // any unique serial number does
            format!("nvme,serial=lab{ports}{rest}")
        }
        "nic" => {
            // A user-mode network that leads nowhere: the link is up, nothing leaves the guest, and no router advertises IPv6 addresses.
            args.extend(["-netdev".to_owned(), format!("user,id=net{nics},restrict=on,ipv6=off")]);
            let line = format!("virtio-net-pci,netdev=net{nics},disable-legacy=on,romfile={rest}");
            *nics += 1;
            line
        }
        _ => device.to_owned(),
    };
    args.extend(["-device".to_owned(), line]);
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::scenario;

    fn line(toml: &str) -> Result<String> {
        let toml = format!("proves = 'x'\n{toml}\n[[expect.dmesg]]\nhas = 'x'\n");
        let scenario = scenario::parse("n", &toml)?;
        let path = Path::new("f");
        arguments(&scenario, &Media { kernel: path, initrd: path, disk: path, serial: path, monitor: path })
            .map(|a| a.join(" "))
    }

    #[test]
    fn short_names_become_devices() {
        let line = line(
            "devices = ['root-port,id=rp0', 'upstream,id=up,bus=rp0', 'downstream,id=d0,bus=up', 'nic,bus=d0', 'edu']",
        )
        .unwrap();
        for part in [
            "-device pcie-root-port,x-width=16,chassis=1,slot=1,id=rp0",
            "-device x3130-upstream,id=up,bus=rp0",
            "-device xio3130-downstream,chassis=2,slot=2,id=d0,bus=up",
            "-netdev user,id=net0,restrict=on,ipv6=off -device virtio-net-pci,netdev=net0,disable-legacy=on,romfile=,bus=d0",
            "-device edu",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }

    #[test]
    fn the_machine_is_what_the_file_says() {
        let line = line(
            "cmdline = ['iommu=pt']\n[machine]\niommu = 'amd'\nnuma = 2\ncpus = 4\nmemory = 512\nbare_metal = true",
        )
        .unwrap();
        for part in [
            "AuthenticAMD",
            "-hypervisor",
            "-device amd-iommu",
            "-numa node,nodeid=1,cpus=2-3,memdev=mem1",
            "size=256M",
            "no_timer_check iommu=pt",
            "Supermicro",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }

    #[test]
    fn unknown_machines_are_errors() {
        for machine in ["iommu = 'arm'", "cpu_vendor = 'z80'", "iommu_options = 'x'"] {
            assert!(line(&format!("[machine]\n{machine}")).is_err(), "{machine}");
        }
    }
}
