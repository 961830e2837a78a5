//! Guests that run side by side: what they share, and how a new one is started.

use super::accel::{self, Accelerator};
use super::firmware::Firmware;
use super::guest::Guest;
use super::image::Image;
use super::ssh;
use crate::lab::Result;
use crate::lab::machine::{Hardware, words};
use crate::lab::patience::Patience;
use crate::lab::scenario::{Link, Machine};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::time::Duration;

/// The machine that a guest is to be.
pub(super) struct Spec {
    /// Its name, for ssh and its folder. Letters, digits and `-`.
    pub(super) name: &'static str,
    pub(super) machine: Machine,
    /// Devices, as in the files of lab/scenarios.
    pub(super) devices: Vec<String>,
    pub(super) links: BTreeMap<String, Link>,
    /// The guest at the other end of a cable from this one's `eth1` (virtio, MTU up to 9000).
    pub(super) cable_to: Option<&'static str>,
}

impl Spec {
    /// 1.5 GiB, no IOMMU, no cable, and two CPUs, but no more than this process may use: where an emulated CPU has none to run on,
    /// the others spin for it.
    pub(super) fn new(name: &'static str) -> Spec {
        let cpus = if std::thread::available_parallelism().is_ok_and(|n| n.get() > 1) { 2 } else { 1 };
        let machine = Machine { cpus, memory: 1536, ..Machine::default() };
        Spec { name, machine, devices: Vec::new(), links: BTreeMap::new(), cable_to: None }
    }

    pub(super) fn hardware(&self) -> Hardware<'_> {
        Hardware { machine: &self.machine, devices: &self.devices, links: &self.links }
    }
}

/// Files and sockets of one guest.
pub(super) struct Place {
    /// `disk.qcow2`, `vars.fd`, `serial.log`, `qemu.log`.
    pub(super) folder: PathBuf,
    /// Sockets, whose names must be short.
    pub(super) sockets: PathBuf,
    /// Where its sshd is reached on this machine.
    pub(super) port: u16,
}

impl Place {
    pub(super) fn monitor(&self) -> PathBuf {
        self.sockets.join("monitor")
    }

    fn cable(&self, from: &str, to: &str) -> PathBuf {
        self.sockets.join(format!("{from}-{to}"))
    }

    /// Everything after `qemu-system-x86_64`.
    ///
    /// # Errors
    /// The specification names an unknown IOMMU or CPU.
    pub(super) fn arguments(&self, spec: &Spec, firmware: &Firmware, by: Accelerator) -> Result<Vec<String>> {
        let pair = |flag: &str, value: String| [flag.to_owned(), value];
        let file = |name: &str| self.folder.join(name).display().to_string();
        let mut args = words("-nodefaults -no-user-config -display none");
        args.extend(pair("-accel", by.argument().to_owned()));
        args.extend(spec.hardware().board()?);
        args.extend(firmware.arguments(&self.folder.join("vars.fd")));
        args.extend(pair("-chardev", format!("file,id=serial,append=on,path={}", file("serial.log"))));
        args.extend(words("-serial chardev:serial"));
        // At the end of bus 0, so that the devices of a spec may have the addresses they want; eth0 comes before eth1.
        args.extend(pair("-netdev", format!("user,id=ssh,restrict=on,hostfwd=tcp:127.0.0.1:{}-:22", self.port)));
        args.extend(words("-device virtio-net-pci,netdev=ssh,addr=1c.0,disable-legacy=on,romfile="));
        args.extend(pair("-drive", format!("if=none,id=root,format=qcow2,discard=unmap,file={}", file("disk.qcow2"))));
        args.extend(words("-device virtio-blk-pci,drive=root,addr=1d.0,disable-legacy=on"));
        args.extend(words("-object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng,addr=1b.0"));
        if let Some(other) = spec.cable_to {
            let (here, there) = (self.cable(spec.name, other), self.cable(other, spec.name));
            let ends = format!(
                "local.type=unix,local.path={},remote.type=unix,remote.path={}",
                here.display(),
                there.display()
            );
            args.extend(pair("-netdev", format!("dgram,id=cable,{ends}")));
            let mac = mac(spec.name);
            args.extend(pair(
                "-device",
                format!("virtio-net-pci,netdev=cable,addr=1e.0,disable-legacy=on,romfile=,host_mtu=9000,mac={mac}"),
            ));
        }
        args.extend(spec.hardware().paused(&self.monitor()));
        args.extend(spec.hardware().plugged());
        Ok(args)
    }
}

/// A locally administered address, another one for each name.
fn mac(name: &str) -> String {
    let sum = name.bytes().fold(0u16, |sum, b| sum.wrapping_mul(31).wrapping_add(u16::from(b)));
    let [high, low] = sum.to_be_bytes();
    format!("52:54:00:1a:{high:02x}:{low:02x}")
}

/// Guests that know each other by name in one configuration of ssh.
pub(super) struct Group<'a> {
    pub(super) image: &'a Image,
    folder: PathBuf,
    sockets: PathBuf,
    pub(super) patience: Patience,
    pub(super) stop: &'a AtomicBool,
    guests: RefCell<Vec<(&'static str, u16)>>,
}

impl<'a> Group<'a> {
    /// An empty one, in a fresh folder.
    pub(super) fn new(image: &'a Image, folder: &Path, patience: Patience, stop: &'a AtomicBool) -> Result<Group<'a>> {
        let at = |e: std::io::Error| format!("{}: {e}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(at)?;
        }
        fs::create_dir_all(folder).map_err(at)?;
        let mut bytes = [0; 4];
        fs::File::open("/dev/urandom").and_then(|mut f| std::io::Read::read_exact(&mut f, &mut bytes)).map_err(at)?;
        // Not below `folder`: the name of a socket has a limit of about 100 bytes.
        let sockets = std::env::temp_dir().join(format!("lab-{:08x}", u32::from_ne_bytes(bytes)));
        fs::create_dir(&sockets).map_err(|e| format!("{}: {e}", sockets.display()))?;
        let folder = folder.to_owned();
        fs::write(folder.join("known_hosts"), ssh::known_hosts(&image.host_key))
            .map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Group { image, folder, sockets, patience, stop, guests: RefCell::default() })
    }

    /// What `ssh -F` takes to reach the guests by their names.
    pub(super) fn ssh_config(&self) -> PathBuf {
        self.folder.join("ssh_config")
    }

    /// A new machine with a disk as it was made, powered on. It lives as long as the thread that calls this, at most.
    pub(super) fn start(&self, spec: Spec) -> Result<Guest<'_>> {
        let folder = self.folder.join(spec.name);
        let at = |e: std::io::Error| format!("{}: {e}", folder.display());
        fs::create_dir_all(&folder).map_err(at)?;
        let mut make = std::process::Command::new("qemu-img");
        make.args(["create", "-q", "-f", "qcow2", "-F", "raw", "-b"])
            .arg(&self.image.disk)
            .arg(folder.join("disk.qcow2"));
        crate::shell::output(&mut make)?;
        fs::copy(&self.image.firmware.vars, folder.join("vars.fd")).map_err(at)?;
        let port = free_port().ok_or("no free port from 20000 to 29999")?;
        let place = Place { folder, sockets: self.sockets.clone(), port };
        self.guests.borrow_mut().push((spec.name, port));
        let guests = self.guests.borrow();
        let guests: Vec<ssh::Entry<'_>> = guests.iter().map(|&(name, port)| ssh::Entry { name, port }).collect();
        let text = ssh::config(&guests, &self.image.key, &self.folder.join("known_hosts"));
        fs::write(self.ssh_config(), text).map_err(|e| format!("{}: {e}", self.ssh_config().display()))?;
        let by = accel::choose(&spec.hardware().board()?, &self.image.firmware, self.patience)?;
        let args = place.arguments(&spec, &self.image.firmware, by)?;
        fs::write(place.folder.join("qemu.args"), args.join("\n")).map_err(|e| e.to_string())?;
        let mut guest = Guest::new(self, spec, place, args, by);
        guest.power_on()?;
        Ok(guest)
    }

    /// A limit, on a machine that is as slow as the developer says.
    pub(super) fn limit(&self, limit: Duration) -> Duration {
        self.patience.limit(limit)
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.sockets);
    }
}

/// Removes the disks below a group's folder; logs stay.
pub(super) fn discard(folder: &Path) {
    for guest in fs::read_dir(folder).into_iter().flatten().flatten() {
        for file in ["disk.qcow2", "vars.fd"] {
            let _ = fs::remove_file(guest.path().join(file));
        }
    }
}

/// A port below those that the kernel gives to connections: it stays free while a guest is switched off.
fn free_port() -> Option<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 10_000).unwrap_or(0);
    (0..10_000).find_map(|_| {
        let port = 20_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed) % 10_000) % 10_000;
        TcpListener::bind(("127.0.0.1", port)).ok().map(|_| port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(spec: &Spec) -> String {
        let place = Place { folder: "/run".into(), sockets: "/s".into(), port: 20022 };
        let firmware = Firmware { code: "/code".into(), vars: "/vars".into() };
        place.arguments(spec, &firmware, Accelerator::Tcg).unwrap().join(" ")
    }

    #[test]
    fn a_guest_has_a_disk_a_way_in_and_reboots() {
        let line = line(&Spec::new("a"));
        for part in [
            "-accel tcg,thread=multi,tb-size=512 -machine q35,",
            "-m 1536",
            "file=/run/disk.qcow2",
            "readonly=on,file=/code",
            "hostfwd=tcp:127.0.0.1:20022-:22",
            "append=on,path=/run/serial.log",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
        for part in ["-no-reboot", "dgram", "-S ", "iommu"] {
            assert!(!line.contains(part), "{part} in {line}");
        }
    }

    #[test]
    fn a_cable_has_two_ends() {
        let [a, b] =
            [("a", "b"), ("b", "a")].map(|(name, other)| line(&Spec { cable_to: Some(other), ..Spec::new(name) }));
        assert!(a.contains("local.path=/s/a-b,remote.type=unix,remote.path=/s/b-a"), "{a}");
        assert!(b.contains("local.path=/s/b-a,remote.type=unix,remote.path=/s/a-b"), "{b}");
        assert!(a.contains("host_mtu=9000") && mac("a") != mac("b"));
    }

    #[test]
    fn devices_and_machines_are_those_of_the_scenarios() {
        let mut spec = Spec::new("a");
        spec.machine.iommu = Some("intel".to_owned());
        spec.machine.bare_metal = true;
        spec.devices = vec!["root-port,id=rp0,addr=02.0".to_owned(), "gpu,bus=rp0".to_owned()];
        let line = line(&spec);
        for part in
            ["intel-iommu,intremap=on", "pcie-root-port,x-width=16,chassis=1", "Supermicro", "-S -qmp unix:/s/monitor"]
        {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}
