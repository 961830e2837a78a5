//! Finds out what the node is.

use super::{Boot, Initramfs, Network, Platform, Tools};
use crate::see;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_snapshot::Snapshot;

/// Programs that plans ask for.
const TOOLS: &[&str] = &[
    "update-grub",
    "grub-reboot",
    "grub2-reboot",
    "grub-mkconfig",
    "grub2-mkconfig",
    "grubby",
    "bootctl",
    "kernel-install",
    "rpm-ostree",
    "update-initramfs",
    "dracut",
    "mstconfig",
    "mlxconfig",
    "mlxfwreset",
    "mstfwreset",
    "setpci",
    "netplan",
    "nmcli",
    "networkctl",
    "ifup",
    "ip",
    "tuned-adm",
    "cpupower",
    "systemctl",
    "systemd-tmpfiles",
    "sysctl",
    "modprobe",
];

type Because = Vec<(&'static str, String)>;

impl Platform {
    /// What the node is, as far as its snapshot shows.
    #[must_use]
    pub fn detect(s: &Snapshot, node: &Node<'_>) -> Platform {
        let os = see::text(s, "etc/os-release").or_else(|| see::text(s, "usr/lib/os-release"));
        let field = |name: &str| {
            let value = os?.lines().rev().find_map(|l| l.trim().strip_prefix(name)?.strip_prefix('='))?;
            let plain: String =
                value.trim().trim_matches(['"', '\'']).chars().filter(|c| !c.is_control()).take(80).collect();
            (!plain.is_empty()).then_some(plain)
        };
        let mut because = Because::new();
        let tools = tools(s);
        let role = node.context.role.value;
        because.extend(node.context.role.reasons.iter().map(|(r, p)| ("role", with_place(s, r, *p))));
        let vms = (role == Some(Role::VmHost)).then(|| {
            let reasons: Vec<&str> = node.context.role.reasons.iter().map(|(r, _)| r.as_str()).collect();
            reasons.join("; ")
        });
        let mut p = Platform {
            id: field("ID").map(|i| i.to_ascii_lowercase()),
            like: field("ID_LIKE")
                .iter()
                .flat_map(|l| l.split_ascii_whitespace())
                .map(str::to_ascii_lowercase)
                .collect(),
            name: field("PRETTY_NAME").or_else(|| field("NAME")),
            version: field("VERSION_ID"),
            boot: Boot::Unknown(String::new()),
            initramfs: Initramfs::Unknown,
            network: Network::Unknown,
            role,
            vms,
            container: see::exists(s, ".dockerenv") || see::exists(s, "run/.containerenv"),
            because: Vec::new(),
            tools,
        };
        if os.is_some() {
            because.push(("distribution", "etc/os-release".to_owned()));
        }
        p.boot = boot(s, &p, field("VARIANT_ID").as_deref(), &mut because);
        p.initramfs = initramfs(&p, &mut because);
        p.network = network(s, &p, &mut because);
        if p.container {
            because.push(("container", "/.dockerenv or /run/.containerenv is there".to_owned()));
        }
        p.because = because;
        p
    }
}

fn with_place(s: &Snapshot, reason: &str, place: Option<linerate_snapshot::Place>) -> String {
    place.map_or_else(|| reason.to_owned(), |p| format!("{reason} ({})", s.describe(p)))
}

fn tools(s: &Snapshot) -> Tools {
    let there = |t: &&&str| ["usr/sbin", "usr/bin"].iter().any(|d| see::program(s, d, t));
    let mut seen: Vec<String> = TOOLS.iter().filter(there).map(|t| (*t).to_owned()).collect();
    seen.sort();
    let looked = see::looked(s, "usr/sbin/update-grub") && see::looked(s, "usr/bin/systemctl");
    // Every system has one of these: a tree without them was not looked at there, whatever its coverage says.
    let any = seen.iter().any(|t| matches!(t.as_str(), "systemctl" | "ip" | "modprobe" | "sysctl"));
    Tools { looked: looked && any, seen }
}

fn boot(s: &Snapshot, p: &Platform, variant: Option<&str>, because: &mut Because) -> Boot {
    let mut is = |boot: Boot, why: &str| {
        because.push(("boot", why.to_owned()));
        boot
    };
    let cmdline = see::text(s, "proc/cmdline").unwrap_or_default();
    if p.id.as_deref() == Some("talos") || cmdline.split_ascii_whitespace().any(|w| w.starts_with("talos.platform=")) {
        return is(Boot::Talos, "os-release says talos, or talos.platform= is on the kernel's command line");
    }
    if see::exists(s, "etc/machine-config-daemon/currentconfig") || (p.id.as_deref() == Some("rhcos")) {
        return is(Boot::OpenShift, "RHCOS, or /etc/machine-config-daemon/currentconfig is there");
    }
    if p.id.as_deref() == Some("rhel") && variant == Some("coreos") {
        return is(Boot::OpenShift, "os-release says rhel, VARIANT_ID=coreos");
    }
    if see::exists(s, "run/ostree-booted") || cmdline.split_ascii_whitespace().any(|w| w.starts_with("ostree=")) {
        return match p.tools.has("rpm-ostree") {
            Some(false) => is(
                Boot::Unknown("it is an ostree system without rpm-ostree: its own tool sets kernel arguments (bootc: kargs.d of the image)".into()),
                "ostree without rpm-ostree",
            ),
            _ => is(Boot::OsTree, "/run/ostree-booted is there, or ostree= is on the kernel's command line"),
        };
    }
    let any = |dirs: &[&str], end: &str| dirs.iter().any(|d| see::names(s, d).iter().any(|n| n.ends_with(end)));
    let grub_cfg = see::exists(s, "boot/grub/grub.cfg");
    // BOOT_IMAGE= is what GRUB puts there; systemd-boot and a unified image do not.
    let by_grub = cmdline.split_ascii_whitespace().any(|w| w.starts_with("BOOT_IMAGE="));
    if p.tools.has("update-grub") == Some(true) && grub_cfg && (by_grub || cmdline.is_empty()) {
        return is(
            Boot::GrubDebian,
            "/boot/grub/grub.cfg and update-grub are there, and GRUB started the kernel (BOOT_IMAGE=)",
        );
    }
    let entries = any(&["boot/loader/entries"], ".conf");
    if p.tools.has("grubby") == Some(true)
        && (entries || see::exists(s, "boot/grub2/grub.cfg"))
        && (by_grub || cmdline.is_empty())
    {
        return is(Boot::Grubby, "grubby and entries of the Boot Loader Specification are there");
    }
    if !by_grub && any(&["boot/EFI/Linux", "boot/efi/EFI/Linux", "efi/EFI/Linux"], ".efi") {
        return is(Boot::Uki, "an image in EFI/Linux is there, and GRUB did not start the kernel");
    }
    if !by_grub && any(&["boot/loader/entries", "boot/efi/loader/entries", "efi/loader/entries"], ".conf") {
        return is(Boot::SystemdBoot, "loader/entries are there, and GRUB did not start the kernel");
    }
    let family = if p.is_like("debian") || p.is_like("ubuntu") {
        Some((Boot::GrubDebian, "update-grub"))
    } else if p.is_like("rhel") || p.is_like("fedora") {
        Some((Boot::Grubby, "grubby"))
    } else {
        None
    };
    match family {
        // Somebody else's tree, or an older collection: what the distribution has. Preconditions look again.
        Some((boot, tool)) if p.tools.has(tool).is_none() && (by_grub || cmdline.is_empty()) => {
            is(boot, "the distribution's usual way; the source does not show /boot: collect with this version as root to be sure")
        }
        Some((_, tool)) if by_grub && p.tools.has(tool) == Some(false) => {
            is(Boot::Unknown(format!("GRUB started the kernel, and {tool} is not installed")), "BOOT_IMAGE= without the distribution's tool")
        }
        _ => is(
            Boot::Unknown("neither GRUB with update-grub or grubby, nor systemd-boot, a unified image or rpm-ostree was recognised".into()),
            "no known boot loader was found",
        ),
    }
}

fn initramfs(p: &Platform, because: &mut Because) -> Initramfs {
    let (it, why) = match (p.tools.has("update-initramfs"), p.tools.has("dracut")) {
        (Some(true), _) => (Initramfs::InitramfsTools, "update-initramfs is there"),
        (_, Some(true)) => (Initramfs::Dracut, "dracut is there"),
        (Some(false), Some(false)) => (Initramfs::Unknown, "neither update-initramfs nor dracut is there"),
        _ if p.is_like("debian") => (Initramfs::InitramfsTools, "the distribution's usual one"),
        _ if p.is_like("rhel") || p.is_like("fedora") => (Initramfs::Dracut, "the distribution's usual one"),
        _ => (Initramfs::Unknown, "the source does not show it"),
    };
    because.push(("initramfs", why.to_owned()));
    it
}

fn network(s: &Snapshot, p: &Platform, because: &mut Because) -> Network {
    let has = |dir: &str, end: &str| see::names(s, dir).iter().any(|n| n.ends_with(end));
    let networkd = !see::names(s, "run/systemd/netif/links").is_empty() || see::exists(s, "run/systemd/netif");
    let (it, why) = if has("etc/netplan", ".yaml") && p.tools.has("netplan") != Some(false) {
        (Network::Netplan, "files in /etc/netplan")
    } else if see::exists(s, "run/NetworkManager") || !see::names(s, "run/NetworkManager").is_empty() {
        (Network::NetworkManager, "/run/NetworkManager is there")
    } else if has("etc/systemd/network", ".network") && networkd {
        (Network::Networkd, "files in /etc/systemd/network, and /run/systemd/netif is there")
    } else if see::exists(s, "etc/network/interfaces") && p.tools.has("ifup") == Some(true) {
        (Network::Ifupdown, "/etc/network/interfaces and ifup are there")
    } else if networkd && p.tools.has("networkctl") != Some(false) {
        (Network::Networkd, "/run/systemd/netif is there")
    } else {
        (Network::Unknown, "none of netplan, NetworkManager, systemd-networkd, ifupdown was seen")
    };
    because.push(("network", why.to_owned()));
    it
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_snapshot::Coverage;
    use proptest::prelude::*;

    fn platform(files: &[(&str, &str)]) -> Platform {
        let mut s = Snapshot::new("test");
        s.coverage = Coverage::Full { not_tried: vec![] };
        s.add_file("usr/bin/systemctl", b"");
        for (path, text) in files {
            s.add_file(path, text.as_bytes());
        }
        Platform::detect(&s, &Node::decode(&s))
    }

    const DEBIAN: (&str, &str) =
        ("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\nVERSION_ID=\"12\"\n");
    const GRUB: (&str, &str) = ("proc/cmdline", "BOOT_IMAGE=/v root=/dev/vda1\n");
    const DIRECT: (&str, &str) = ("proc/cmdline", "root=/dev/vda1\n");

    #[test]
    fn boot_loaders() {
        let boot = |f: &[(&str, &str)]| platform(f).boot;
        let cfg = ("boot/grub/grub.cfg", "");
        let tool = ("usr/sbin/update-grub", "");
        assert_eq!(boot(&[DEBIAN, GRUB, cfg, tool]), Boot::GrubDebian);
        assert!(
            matches!(boot(&[DEBIAN, GRUB, cfg]), Boot::Unknown(w) if w.contains("update-grub")),
            "the tool is missing"
        );
        let entry = ("boot/loader/entries/a.conf", "linux /v\n");
        assert_eq!(
            boot(&[("etc/os-release", "ID=rocky\nID_LIKE=\"rhel fedora\"\n"), GRUB, entry, ("usr/sbin/grubby", "")]),
            Boot::Grubby
        );
        assert_eq!(boot(&[DEBIAN, DIRECT, entry, ("usr/bin/bootctl", "")]), Boot::SystemdBoot);
        assert_eq!(boot(&[DEBIAN, DIRECT, ("boot/efi/EFI/Linux/a.efi", "")]), Boot::Uki);
        assert_eq!(boot(&[("run/ostree-booted", ""), ("usr/bin/rpm-ostree", "")]), Boot::OsTree);
        assert!(matches!(boot(&[("run/ostree-booted", "")]), Boot::Unknown(_)));
        assert_eq!(boot(&[("etc/os-release", "ID=talos\n"), DIRECT]), Boot::Talos);
        assert_eq!(
            boot(&[("etc/os-release", "ID=\"rhel\"\nVARIANT_ID=coreos\n"), ("run/ostree-booted", "")]),
            Boot::OpenShift
        );
        assert!(matches!(boot(&[]), Boot::Unknown(_)));
        assert!(
            matches!(boot(&[DEBIAN, DIRECT, cfg, tool]), Boot::Unknown(_)),
            "GRUB is installed and did not start this kernel"
        );
    }

    #[test]
    fn networks_and_words() {
        let p = platform(&[
            DEBIAN,
            GRUB,
            ("etc/netplan/01.yaml", ""),
            ("usr/sbin/netplan", ""),
            ("run/NetworkManager/NetworkManager.pid", ""),
        ]);
        assert_eq!(p.network, Network::Netplan);
        assert!(p.words().starts_with("Debian GNU/Linux 12, "), "{}", p.words());
        assert!(p.because.iter().any(|(what, _)| *what == "network"));
        assert_eq!(platform(&[("run/NetworkManager/NetworkManager.pid", "")]).network, Network::NetworkManager);
        assert_eq!(
            platform(&[("run/systemd/netif/links/2", ""), ("usr/bin/networkctl", "")]).network,
            Network::Networkd
        );
        assert_eq!(platform(&[]).network, Network::Unknown);
        assert!(platform(&[(".dockerenv", "")]).container);
    }

    #[test]
    fn a_program_that_is_a_link_is_there() {
        let mut s = Snapshot::new("test");
        s.coverage = Coverage::Full { not_tried: vec![] };
        for (path, text) in [DEBIAN, GRUB, ("usr/bin/systemctl", ""), ("etc/netplan/01.yaml", "")] {
            s.add_file(path, text.as_bytes());
        }
        s.add_link("usr/sbin/netplan", b"../share/netplan/netplan.script");
        s.add_link("usr/sbin/modprobe", b"/bin/kmod");
        let p = Platform::detect(&s, &Node::decode(&s));
        assert_eq!((p.tools.has("modprobe"), p.network), (Some(true), Network::Netplan));
    }

    #[test]
    fn a_source_that_did_not_look_denies_nothing() {
        let mut s = Snapshot::new("test");
        s.add_file("etc/os-release", DEBIAN.1.as_bytes());
        let p = Platform::detect(&s, &Node::decode(&s));
        assert_eq!((p.tools.has("grubby"), p.boot), (None, Boot::GrubDebian));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(os in any::<String>(), cmdline in any::<String>()) {
            let p = platform(&[("etc/os-release", &os), ("proc/cmdline", &cmdline)]);
            prop_assert!(!p.words().chars().any(char::is_control));
        }
    }
}
