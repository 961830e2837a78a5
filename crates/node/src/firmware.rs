//! What firmware and the environment say about the machine: DMI, detected virtualisation, lockdown.

use linerate_snapshot::{OutputKind, Place, Reading, Snapshot, Why};

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
    /// BIOS version.
    pub bios_version: Reading<String>,
    /// `systemd-detect-virt`.
    pub detected_virt: Reading<String>,
    /// `/sys/kernel/security/lockdown`.
    pub lockdown: Reading<Lockdown>,
}

impl Firmware {
    pub(crate) fn decode(s: &Snapshot) -> Self {
        let dmi = |leaf| s.text(s.root(), leaf).map(str::to_owned);
        let detected = s.outputs.iter().find(|o| o.kind == OutputKind::DetectVirt);
        Firmware {
            sys_vendor: dmi("sys/class/dmi/id/sys_vendor"),
            product: dmi("sys/class/dmi/id/product_name"),
            bios_version: dmi("sys/class/dmi/id/bios_version"),
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
}
