//! Domains into which a layout is merged, one case each: what stays, what is moved, what is reported, and what is refused.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use crate::common;

use common::merging::Host;
use common::{lab, load, wishes};
use linerate_formats::libvirt::Domain;
use linerate_node::Node;
use linerate_snapshot::Snapshot;
use linerate_vm::Refusal;
use linerate_vm::layout::Wishes;
use linerate_vm::merge::{Merged, Refused, without_ours};

fn snapshot() -> Snapshot {
    load(&lab().join("nodes/healthy-8gpu.toml")).1
}

/// A domain of virt-install: two places of a device, `GPU` and `OS`, are filled in.
const PLAIN: &str = "<domain type='kvm'>
  <name>a</name>
  <memory unit='GiB'>64</memory>
  <vcpu>8</vcpu>
  <os firmware='efi'>
    <type arch='x86_64' machine='q35'>hvm</type>
  </os>
  <features>
    <acpi/>
  </features>
  <devices>
    <!-- the disk -->
    <disk type='file' device='disk'>
      <target dev='vda' bus='virtio'/>
    </disk>
  </devices>
</domain>
";

/// As KubeVirt writes it: two GPUs on root ports of its own, found again by their aliases.
fn kubevirt(gpus: &[String]) -> String {
    let mut o = "<domain type=\"kvm\" xmlns:qemu=\"http://libvirt.org/schemas/domain/qemu/1.0\">\n\t<name>ns_vm</name>\n\t<memory unit=\"b\">68719476736</memory>\n\t<os firmware=\"efi\">\n\t\t<type arch=\"x86_64\" machine=\"q35\">hvm</type>\n\t</os>\n\t<vcpu placement=\"static\">8</vcpu>\n\t<cputune>\n".to_owned();
    for vcpu in 0..8 {
        o += &format!("\t\t<vcpupin vcpu=\"{vcpu}\" cpuset=\"{}\"></vcpupin>\n", vcpu + 2);
    }
    o += "\t</cputune>\n\t<features>\n\t\t<acpi></acpi>\n\t</features>\n\t<cpu mode=\"host-passthrough\"></cpu>\n\t<devices>\n";
    o += "\t\t<controller type=\"pci\" index=\"0\" model=\"pcie-root\"></controller>\n";
    for (n, gpu) in gpus.iter().enumerate() {
        let (index, slot) = (n + 1, n + 2);
        o += &format!(
            "\t\t<controller type=\"pci\" index=\"{index}\" model=\"pcie-root-port\">\n\t\t\t<address type=\"pci\" domain=\"0x0000\" bus=\"0x00\" slot=\"{slot:#04x}\" function=\"0x0\"></address>\n\t\t</controller>\n"
        );
        o += &format!(
            "\t\t<hostdev type=\"pci\" managed=\"no\" mode=\"subsystem\">\n\t\t\t<source>\n\t\t\t\t{gpu}\n\t\t\t</source>\n\t\t\t<alias name=\"ua-gpu-gpu{n}\"></alias>\n\t\t\t<address type=\"pci\" domain=\"0x0000\" bus=\"{index:#04x}\" slot=\"0x00\" function=\"0x0\"></address>\n\t\t</hostdev>\n"
        );
    }
    o + "\t</devices>\n\t<qemu:commandline>\n\t\t<qemu:arg value=\"-cpu\"/>\n\t</qemu:commandline>\n</domain>"
}

fn addresses(node: &Node<'_>) -> Vec<String> {
    let own = |b: linerate_formats::pci::Bdf| {
        format!(
            "<address type=\"pci\" domain=\"0x{:04x}\" bus=\"0x{:02x}\" slot=\"0x{:02x}\" function=\"0x{:x}\"></address>",
            b.domain, b.bus, b.device, b.function
        )
    };
    node.pci.gpus().map(|(_, f)| own(f.bdf)).collect()
}

fn aliases(d: &Domain) -> Vec<&str> {
    d.hostdevs.iter().filter_map(|h| h.alias.as_deref()).collect()
}

#[test]
fn a_plain_domain_keeps_every_byte() {
    let s = snapshot();
    let node = Node::decode(&s);
    let host = Host::of(&node, "all").unwrap();
    let m = host.hold(&wishes(), false, PLAIN).unwrap().0;
    assert_eq!((m.differences, m.moved), (vec![], vec![]));
    assert!(m.edits.iter().all(|e| e.at.is_empty()));
    let mut left = m.text.lines();
    assert!(PLAIN.lines().skip(1).all(|l| left.any(|m| m == l)), "{}", m.text);
    assert_eq!(m.domain.hostdevs.len(), m.layout.devices.len());
    // A mark of the order of bytes stays, as do line ends.
    let windows = format!("\u{feff}{}", PLAIN.replace('\n', "\r\n"));
    let other = host.hold(&wishes(), false, &windows).unwrap().0;
    assert_eq!(other.text.trim_start_matches('\u{feff}').replace("\r\n", "\n"), m.text);
    assert!(other.text.starts_with('\u{feff}'));
}

#[test]
fn a_host_that_changed_replaces_only_ours() {
    let s = snapshot();
    let node = Node::decode(&s);
    let (all, few) = (Host::of(&node, "all").unwrap(), Host::of(&node, "gpu:0+nics").unwrap());
    let one_node = |h: &Host<'_, '_>, text: &str| h.hold(&wishes(), false, text).unwrap().0.text;
    let with_all = one_node(&all, PLAIN);
    let then_few = one_node(&few, &with_all);
    assert_eq!(without_ours(&then_few).unwrap(), without_ours(&with_all).unwrap());
    assert_eq!(one_node(&all, &then_few), with_all);
}

#[test]
fn devices_of_kubevirt_are_moved_and_keep_their_alias() {
    let s = snapshot();
    let node = Node::decode(&s);
    let host = Host::of(&node, "all").unwrap();
    let gpus = addresses(&node);
    let text = kubevirt(&gpus[..2]);
    let Err(Refused::Given(given)) = host.merge(&wishes(), false, &text) else { panic!() };
    let lines: Vec<u32> = (1..).zip(text.lines()).filter(|(_, l)| l.contains("<hostdev")).map(|(n, _)| n).collect();
    assert_eq!(given.iter().map(|g| g.line).collect::<Vec<_>>(), lines);
    let m = host.hold(&wishes(), true, &text).unwrap().0;
    assert_eq!(m.moved.len(), 2);
    assert_eq!(aliases(&m.domain).iter().filter(|a| a.starts_with("ua-gpu-")).count(), 2);
    assert_eq!(m.domain.hostdevs.len(), m.layout.devices.len());
    assert_eq!(m.domain.hostdevs.iter().filter(|h| !h.is_managed).count(), 2);
    // Merged once, it needs no leave to move them again, whatever else is chosen.
    let few = Host::of(&node, "gpu:0-1").unwrap();
    let again = few.merge(&wishes(), false, &m.text).unwrap();
    assert_eq!(again.domain.hostdevs.len(), 2);
    // What was moved and is chosen no more has no place.
    let other = Host::of(&node, "gpu:4").unwrap();
    assert!(matches!(other.merge(&wishes(), false, &m.text), Err(Refused::Plugged { .. })));
    // A device without an address has it added, without leave.
    let mut bare = kubevirt(&gpus[..1]);
    let at = bare.rfind("\t\t\t<address").unwrap();
    let end = bare[at..].find('\n').unwrap() + 1;
    bare.replace_range(at..at + end, "");
    let m = host.hold(&wishes(), false, &bare).unwrap().0;
    assert_eq!((m.moved.len(), m.moved[0].from.as_deref()), (1, None));
}

#[test]
fn what_differs_is_kept_and_reported_or_replaced() {
    let s = snapshot();
    let node = Node::decode(&s);
    let host = Host::of(&node, "all").unwrap();
    let text = PLAIN
        .replace("64</memory>", "32</memory>\n  <memoryBacking><hugepages/></memoryBacking>")
        .replace("<vcpu>8", "<vcpu>4")
        .replace(
            "<devices>",
            "<devices>\n    <controller type='pci' index='0' model='pcie-root'><pcihole64>1024</pcihole64></controller>",
        )
        .replace("</domain>", "  <commandline xmlns='http://libvirt.org/schemas/domain/qemu/1.0'><arg value='-fw_cfg'/>\n<arg value='opt/ovmf/X-PciMmio64Mb,string=7'/></commandline>\n</domain>")
        .replace("  <features>", "  <cputune><vcpupin vcpu='0' cpuset='90'/></cputune>\n  <features>");
    let line = |part: &str| (1..).zip(text.lines()).find(|(_, l)| l.contains(part)).unwrap().0;
    let expected = [
        (line("<memory unit"), "<memory>"),
        (line("<hugepages"), "<hugepages>"),
        (line("<vcpu>"), "<vcpu>"),
        (line("<vcpupin"), "<vcpupin>"),
        (line("<pcihole64"), "<pcihole64>"),
        (line("string=7"), "<qemu:arg>, the window of OVMF"),
    ];
    let found = |m: &Merged| m.differences.iter().map(|d| (d.line, d.what)).collect::<Vec<_>>();
    let kept = host.hold(&wishes(), false, &text).unwrap().0;
    assert_eq!(found(&kept), expected);
    assert!(kept.differences.iter().all(|d| !d.is_replaced) && kept.text.contains("string=7"));
    let replaced = host.hold(&wishes(), true, &text).unwrap().0;
    assert_eq!(found(&replaced), expected);
    assert!(replaced.differences.iter().all(|d| d.is_replaced) && !replaced.text.contains("string=7"));
    assert_eq!(
        (replaced.domain.vcpus.unwrap().value, replaced.domain.pins.iter().filter(|p| p.vcpu.is_some()).count()),
        (8, 8)
    );
    // Firmware is nobody's to replace.
    let bios = PLAIN.replace(" firmware='efi'", "");
    let m = host.hold(&wishes(), true, &bios).unwrap().0;
    assert_eq!(m.differences.iter().map(|d| (d.what, d.is_replaced)).collect::<Vec<_>>(), [("firmware", false)]);
    assert!(m.domain.arguments.is_empty());
}

#[test]
fn cells_of_the_domain_are_found_by_their_memory() {
    let s = snapshot();
    let node = Node::decode(&s);
    let host = Host::of(&node, "all").unwrap();
    let cells = |nodes: [u32; 2]| {
        PLAIN.replace("  <features>", &format!("  <numatune><memnode cellid='0' mode='strict' nodeset='{}'/><memnode cellid='1' mode='strict' nodeset='{}'/></numatune>\n  <cpu mode='host-passthrough'><numa><cell id='0' cpus='0-3' memory='32' unit='GiB'/><cell id='1' cpus='4-7' memory='32' unit='GiB'/></numa></cpu>\n  <features>", nodes[0], nodes[1]))
    };
    let bound = |m: &Merged| {
        let mut all: Vec<u32> = m.domain.controllers.iter().filter_map(|c| c.node).collect();
        all.dedup();
        all
    };
    assert_eq!(bound(&host.hold(&wishes(), false, &cells([0, 1])).unwrap().0), [0, 1]);
    let turned = host.hold(&wishes(), false, &cells([1, 0])).unwrap().0;
    assert_eq!(bound(&turned), [1, 0]);
    assert_eq!(turned.differences.iter().map(|d| d.what).collect::<Vec<_>>(), ["<cputune>"], "its CPUs are not pinned");
    let wrong = cells([0, 0]);
    assert!(matches!(host.merge(&wishes(), false, &wrong), Err(Refused::NoCell { nodes, .. }) if nodes == [1]));
    let replaced = host.hold(&wishes(), true, &wrong).unwrap().0;
    assert_eq!(bound(&replaced), [0, 1]);
}

#[test]
fn numbers_of_the_domain_are_left_to_it() {
    let s = snapshot();
    let node = Node::decode(&s);
    let host = Host::of(&node, "all").unwrap();
    let with = |more: &str| {
        PLAIN
            .replace("<devices>", &format!("<devices>\n    <controller type='pci' index='0' model='pcie-root'/>{more}"))
    };
    let expander = |bus: u32| {
        format!(
            "<controller type='pci' index='40' model='pcie-expander-bus'><target busNr='{bus}'/><address type='pci' bus='0' slot='0x1e'/></controller>"
        )
    };
    let free = host.hold(&wishes(), false, &with("")).unwrap().0;
    let below = host.hold(&wishes(), false, &with(&expander(250))).unwrap().0;
    assert!(below.layout.buses.iter().all(|b| b.last < 250) && free.layout.buses.iter().any(|b| b.last == 255));
    assert!(below.layout.controllers.iter().all(|c| c.slot != 0x1e || c.above != 0));
    // Indexes of ours fill what is free, and none that libvirt would make a port of is left between.
    let all = |m: &Merged| m.layout.controllers.iter().map(|c| c.index).collect::<Vec<_>>();
    assert_eq!(all(&below), (1..=below.layout.controllers.len() as u32).collect::<Vec<_>>());
    let port = "<controller type='pci' index='2' model='pcie-root-port'><target chassis='4'/><address type='pci' bus='0' slot='2'/></controller>";
    let used = all(&host.hold(&wishes(), false, &with(port)).unwrap().0);
    assert_eq!(used[..3], [1, 3, 5]);
    // Nowhere is room for all.
    let full: String = (1..=15)
        .map(|n| expander(n * 16).replace("'40'", &format!("'{}'", 40 + n)).replace("0x1e", &n.to_string()))
        .collect();
    let full = host.merge(&wishes(), false, &with(&full));
    assert!(matches!(full, Err(Refused::Layout(Refusal::Buses { .. }))), "{full:?}");
}

#[test]
fn what_cannot_be_merged_into() {
    let s = snapshot();
    let node = Node::decode(&s);
    let host = Host::of(&node, "all").unwrap();
    let refused = |text: &str| host.merge(&wishes(), true, text).map(|m| m.text).unwrap_err();
    let changed = |from: &str, to: &str| refused(&PLAIN.replacen(from, to, 1));
    assert!(matches!(changed("type='kvm'", "type='kvm' id='3'"), Refused::Running));
    assert!(matches!(changed("'q35'", "'pc-i440fx-7.2'"), Refused::Machine { line: 6, .. }));
    assert!(matches!(changed(" machine='q35'", ""), Refused::Machine { .. }));
    assert!(matches!(changed("arch='x86_64' machine='q35'", "arch='aarch64' machine='virt'"), Refused::Arch(_)));
    assert!(matches!(changed("<disk ", "<graphics passwd='[redacted]'/><disk "), Refused::Masked(13)));
    assert!(matches!(changed("<domain", "$ virsh dumpxml a\n<domain"), Refused::Text(_)));
    assert!(matches!(changed("</domain>", "</domain>\n$"), Refused::Text(_)));
    assert!(matches!(changed("<domain", "<!DOCTYPE d [<!ENTITY a 'aaaa'>]><domain"), Refused::Text(_)));
    assert!(matches!(changed("type='kvm'", "type='kvm' xmlns:qemu='urn:mine'"), Refused::Prefix));
    let expander = "<devices><controller type='pci' index='1' model='pcie-expander-bus'/>";
    assert!(matches!(changed("<devices>", expander), Refused::NoBusNumber(11)));
    let twice = format!(
        "<devices>{0}\n{0}",
        format_args!("<hostdev mode='subsystem' type='pci'><source>{}</source></hostdev>", host.address())
    );
    assert!(matches!(changed("<devices>", &twice), Refused::Twice { lines, .. } if lines == [11, 12]));
    let clash = "<devices><controller type='pci' index='0' model='pci-root'/>";
    assert!(matches!(changed("<devices>", clash), Refused::Illegal(all) if all[0].line == 11));
    assert!(matches!(refused("nothing"), Refused::Text(_)));
    let bytes = linerate_vm::merge::merge(
        &node,
        &host.roots,
        &wishes(),
        linerate_vm::merge::Replace::Nothing,
        b"<domain type='\xff'/>",
    );
    assert!(matches!(bytes, Err(Refused::Encoding)));
    let small = Wishes { vcpus: None, ..wishes() };
    let one = host.merge(&small, false, &PLAIN.replace("<vcpu>8", "<vcpu>1"));
    assert!(matches!(one, Err(Refused::Layout(Refusal::Cell { .. }))));
}

#[test]
fn cliques_are_of_data_centre_gpus_below_one_root_port() {
    let s = snapshot();
    let node = Node::decode(&s);
    let host = Host::of(&node, "all").unwrap();
    let asked = Wishes { has_cliques: true, ..wishes() };
    let m = host.hold(&asked, false, PLAIN).unwrap().0;
    let set = |m: &Merged| {
        m.domain.overrides.iter().map(|o| (o.alias.clone(), o.properties[0].value.clone())).collect::<Vec<_>>()
    };
    assert_eq!((set(&m).len(), m.layout.cliques.len()), (8, 8));
    // GPUs below one port of the host have one number.
    for port in host.roots.iter().flat_map(|r| &r.ports) {
        let own: Vec<_> = port.all_functions().iter().map(|f| node.pci.get(*f).bdf).collect();
        let mut ids: Vec<u8> = m.layout.cliques.iter().filter(|c| own.contains(&c.host)).map(|c| c.id).collect();
        ids.dedup();
        assert!(ids.len() <= 1, "{ids:?}");
    }
    // Without them again, nothing of them is left.
    assert_eq!(set(&host.hold(&wishes(), false, &m.text).unwrap().0), []);
    // Devices of others are named by their own alias.
    let text = kubevirt(&addresses(&node)[..2]);
    let moved = host.hold(&asked, true, &text).unwrap().0;
    assert_eq!(set(&moved)[..2].iter().map(|s| s.0.as_str()).collect::<Vec<_>>(), ["ua-gpu-gpu0", "ua-gpu-gpu1"]);
    let unnamed = host.merge(&asked, true, &text.replace("ua-gpu-gpu0", "hostdev0"));
    assert!(matches!(unnamed, Err(Refused::NoAlias { .. })));
    let hidden = PLAIN.replace("<acpi/>", "<acpi/><kvm><hidden state='on'/></kvm>");
    assert!(matches!(host.merge(&asked, false, &hidden), Err(Refused::Hidden)));
}

#[test]
fn other_gpus_get_no_clique() {
    let (mut made, mut refused) = (0, Vec::new());
    for dir in ["nodes", "nodes/healthy"] {
        let mut files: Vec<_> = std::fs::read_dir(lab().join(dir)).unwrap().flatten().map(|e| e.path()).collect();
        files.retain(|p| p.extension().is_some_and(|e| e == "toml"));
        files.sort();
        for path in files {
            let (_, s) = load(&path);
            let node = Node::decode(&s);
            let Some(host) = Host::of(&node, "all") else { continue };
            match host.merge(&Wishes { has_cliques: true, ..wishes() }, false, PLAIN) {
                Ok(m) => made += usize::from(!m.layout.cliques.is_empty()),
                Err(Refused::Layout(Refusal::Clique { why, .. })) => refused.push(why),
                Err(e) => assert!(matches!(e, Refused::Layout(_)), "{}: {e}", path.display()),
            }
        }
    }
    refused.sort();
    refused.dedup();
    assert!(made > 5, "{made}, {refused:#?}");
    for why in ["Volta", "Blackwell", "VGA"] {
        assert!(refused.iter().any(|w| w.contains(why)), "{why}: {refused:#?}");
    }
}
