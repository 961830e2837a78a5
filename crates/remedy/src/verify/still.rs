//! Whether what a plan spoke of is still on the node.

use super::Cx;
use linerate_formats::pci::Bdf;

/// Whether a subject, as verdicts name it, is there. Words of the kernel's line and options of modules are no devices: where they are gone,
/// nothing of the hardware is.
pub(super) fn is_there(cx: &Cx<'_>, subject: &str) -> bool {
    let node = cx.node;
    // Firmware settings and options of modules have a second word.
    let (first, more) = subject.split_once(' ').map_or((subject, false), |(first, _)| (first, true));
    if let Ok(function) = first.parse::<Bdf>() {
        return node.pci.find(function).is_some();
    }
    if more {
        let nic = node.nic_firmware.iter().any(|n| n.name == first);
        return nic || is_module(cx, first);
    }
    if subject.contains('=') || is_module(cx, subject) {
        return true;
    }
    let devices = || node.rdma.known().into_iter().flatten();
    if let Some((device, port)) = subject.split_once('/') {
        let has = |number: u32| devices().any(|d| d.name == device && d.ports.iter().any(|p| p.number == number));
        return port.parse().is_ok_and(has);
    }
    devices().any(|d| d.name == subject) || node.net.known().into_iter().flatten().any(|n| n.name == subject)
}

/// Whether it is a module that is loaded.
fn is_module(cx: &Cx<'_>, name: &str) -> bool {
    let same = |m: &str| linerate_formats::cmdline::same_name(m, name);
    cx.node.kernel.modules.known().is_some_and(|all| all.iter().any(|m| same(m)))
}

#[cfg(test)]
mod tests {
    use crate::model::{Proof, Step};
    use crate::verify::example::{plan, step};
    use crate::verify::verify;
    use linerate_node::{Node, context::Role};
    use linerate_snapshot::Snapshot;

    const RULE: &str = "pcie/max-read-request";

    /// NICs whose largest read request is 4096 bytes, an interface and a module.
    fn node(nics: &[&str]) -> Snapshot {
        let mut s = Snapshot::new("t");
        s.manifest.boot_id = "boot-2".into();
        for nic in nics {
            let mut config = vec![0u8; 4096];
            config[0..4].copy_from_slice(&[0xb3, 0x15, 0x21, 0x10]);
            config[6] = 0x10; // capabilities list
            config[0xb] = 2;
            config[0x34] = 0x60;
            config[0x60] = 0x10; // PCI Express, endpoint
            config[0x62] = 0x02;
            config[0x68..0x6a].copy_from_slice(&0x5950u16.to_le_bytes());
            let home = format!("sys/devices/pci0000:00/{nic}");
            for (leaf, data) in [
                ("config", config.as_slice()),
                ("vendor", b"0x15b3\n"),
                ("device", b"0x1021\n"),
                ("class", b"0x020000\n"),
            ] {
                s.add_file(&format!("{home}/{leaf}"), data);
            }
            s.add_link(&format!("sys/bus/pci/devices/{nic}"), format!("../../../../{home}").as_bytes());
        }
        s.add_file("sys/class/net/eth1/mtu", b"9000\n");
        s.add_file("proc/modules", b"nvidia 1 0 - Live 0x0\n");
        s
    }

    #[test]
    fn a_function_that_is_gone_is_not_proven_by_others() {
        let after = |nics: &[&str]| {
            let proof = Proof::Rule { rule: RULE.into(), subject: "0000:00:03.0".into() };
            let mut plan = plan(vec![Step { proof: vec![proof], ..step("s") }]);
            plan.role = Some(Role::BareMetal);
            let v = verify(&plan, None, &node(nics));
            v.steps.first().map(|s| (s.outcome.name(), s.outcome.reason().to_owned())).unwrap_or_default()
        };
        assert_eq!(after(&["0000:00:03.0", "0000:00:04.0"]), ("effective", String::new()));
        let (name, reason) = after(&["0000:00:04.0"]);
        assert!(name == "unknown" && reason.contains("no longer on the node"), "{name}: {reason}");
    }

    #[test]
    fn subjects_of_every_kind() {
        let s = node(&["0000:00:03.0"]);
        let decoded = Node::decode(&s);
        let cx = super::Cx {
            before: None,
            after: &s,
            node: &decoded,
            audit: &linerate_rules::audit(&decoded, &s, linerate_rules::rules()),
            told: &Default::default(),
            rebooted: None,
        };
        for (subject, there) in [
            ("0000:00:03.0", true),
            ("0000:00:04.0", false),
            ("0000:00:04.0 ATS_ENABLED", false),
            ("eth1", true),
            ("eth2", false),
            ("mlx5_0/1", false),
            ("iommu=off", true),
            ("nvidia NVreg_CreateImexChannel0", true),
        ] {
            assert_eq!(super::is_there(&cx, subject), there, "{subject}");
        }
    }
}
