//! libvirt's own test domains (`../shared/data/libvirt`, where it exists): what libvirt accepts is read without a refusal, what it refuses is refused for its cause.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use linerate_formats::libvirt::{Refusal, parse};
use std::path::{Path, PathBuf};

/// Domains that a QEMU or a host refused, not libvirt for what they say.
const BY_EMULATOR_OR_HOST: &[&str] = &[
    "hvf-x86_64-q35-headless",
    "hostdev-subsys-mdev-vfio-ccw",
    "hostdev-vfio-zpci",
    "numatune-memnode-unavailable-strict",
    "usb-controller-default-unavailable-q35",
    "usb-controller-explicit-unavailable-q35",
    "virtio-iommu-x86_64",
    // A drive address that the disk `sda` of the same domain has: disks are not read here.
    "disk-hostdev-scsi-address-conflict",
];

fn data() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/libvirt");
    if !dir.is_dir() {
        eprintln!("NOT TESTED: {} does not exist", dir.display());
        return None;
    }
    Some(dir)
}

/// libvirt's answers: file names are `NAME[.CASE].err`.
fn has_error(dir: &Path, name: &str) -> bool {
    std::fs::read_dir(dir).unwrap().flatten().any(|e| {
        let file = e.file_name().to_string_lossy().into_owned();
        file.strip_suffix(".err")
            .is_some_and(|f| f == name || f.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
    })
}

fn class(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Number { .. } => "Invalid PCI address",
        Refusal::Plug { .. } => "cannot be plugged into the PCI controller",
        Refusal::IndexTwice(_) => "Multiple 'pci' controllers with index",
        Refusal::WrongRoot(_) => "must be model='pcie-root' for this machine type",
        Refusal::RootAddress => "controllers should not have an address",
        Refusal::Machine(_) => "not supported with this machine type",
        Refusal::Node { .. } => "not present in the domain's <cpu><numa> array",
        Refusal::Full(_) => "a PCI slot is needed to connect a PCI controller",
        Refusal::NotOnRoot(_) => "needs to be an integrated device",
        Refusal::IommuMachine(_) => "only supported with Q35 machines",
        Refusal::IommuAcpi => "requires ACPI",
        Refusal::ZpciArch => "doesn't support zPCI",
        Refusal::ZpciUid => "uid='0x0000'",
        Refusal::MemoryModes => "mode is required in memnode element",
        Refusal::NoUuid => "Missing 'uuid' attribute",
        Refusal::AddressType(_) => "Unsupported address type",
        Refusal::Boot => "booting from assigned devices is not supported",
        Refusal::DeviceTwice => "already exists|in use by another SCSI host device",
        Refusal::RamfbTwice => "'ramfb' enabled",
        Refusal::Tap => "custom tap device path is not supported",
        Refusal::Cpus(_) => "require extended interrupt mode",
        Refusal::Slot { .. } | Refusal::Clash(..) => "not among libvirt's tests here",
    }
}

#[test]
fn as_libvirt_judges() {
    let Some(data) = data() else { return };
    let dir = data.join("qemuxml2argvdata");
    let (mut legal, mut refused, mut wrong) = (0, 0, Vec::new());
    let mut names: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.strip_suffix(".xml").map(str::to_owned))
        .collect();
    names.sort();
    for name in names {
        let domain = match parse(&std::fs::read(dir.join(format!("{name}.xml"))).unwrap()) {
            Ok(domain) => domain,
            Err(e) => {
                wrong.push(format!("{name}: {e}"));
                continue;
            }
        };
        let ours = domain.refusal();
        let theirs = has_error(&dir, &name) && !BY_EMULATOR_OR_HOST.contains(&name.as_str());
        match (theirs, ours) {
            (false, None) => legal += 1,
            (false, Some(e)) => wrong.push(format!("{name}: legal, and refused: {e}")),
            (true, None) => wrong.push(format!("{name}: refused by libvirt, and not here")),
            (true, Some(e)) => {
                let said: String = std::fs::read_dir(&dir)
                    .unwrap()
                    .flatten()
                    .filter(|f| f.file_name().to_string_lossy().starts_with(&format!("{name}.")))
                    .filter(|f| f.path().extension().is_some_and(|x| x == "err"))
                    .map(|f| std::fs::read_to_string(f.path()).unwrap())
                    .collect();
                if class(&e.refusal).split('|').any(|c| said.contains(c)) {
                    refused += 1;
                } else {
                    wrong.push(format!("{name}: {e}; libvirt: {said}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{legal} legal, {refused} refused, wrong:\n{}", wrong.join("\n"));
    assert!(legal > 60 && refused > 20, "{legal} legal, {refused} refused");
    eprintln!("{legal} legal, {refused} refused for libvirt's cause");
}

#[test]
fn other_xml_of_libvirt_is_no_domain() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for file in std::fs::read_dir(data.join("nodedevschemadata")).unwrap().flatten() {
        assert!(parse(&std::fs::read(file.path()).unwrap()).is_err(), "{}", file.path().display());
        seen += 1;
    }
    assert!(seen > 5);
}
