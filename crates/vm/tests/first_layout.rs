//! The usual first attempt: one upstream port, all GPUs and NICs behind its downstream ports. NCCL takes everything for near.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::{from, lab, load, make};
use linerate_formats::libvirt;
use linerate_node::Node;
use linerate_topology::{Analysis, Config};
use linerate_vm::same::same;
use linerate_vm::{guest, nccl};
use std::fmt::Write;

/// All devices of a layout below one switch.
fn flat(devices: &[linerate_vm::layout::Placed]) -> String {
    let mut o = "<domain type='kvm'><name>flat</name><os><type arch='x86_64' machine='q35'>hvm</type></os><devices>\n\
        <controller type='pci' index='0' model='pcie-root'/>\n\
        <controller type='pci' index='1' model='pcie-root-port'><address type='pci' bus='0' slot='2'/></controller>\n\
        <controller type='pci' index='2' model='pcie-switch-upstream-port'><address type='pci' bus='1' slot='0'/></controller>\n"
        .to_owned();
    for (slot, d) in devices.iter().enumerate() {
        let (index, h) = (slot + 3, d.host);
        write!(
            o,
            "<controller type='pci' index='{index}' model='pcie-switch-downstream-port'><address type='pci' bus='2' slot='{slot}'/></controller>\n\
             <hostdev mode='subsystem' type='pci' managed='yes'><source><address domain='{}' bus='{:#x}' slot='{:#x}' function='{}'/></source><address type='pci' bus='{index:#x}' slot='0'/></hostdev>\n",
            h.domain, h.bus, h.device, h.function
        )
        .unwrap();
    }
    o + "</devices></domain>\n"
}

#[test]
fn hides_what_is_near() {
    let (_, s) = load(&lab().join("nodes/healthy-8gpu.toml"));
    let node = Node::decode(&s);
    let from = from(&node).unwrap();
    let made = make(&node, &from, "all").unwrap();
    let chosen: Vec<_> = made
        .layout
        .devices
        .iter()
        .filter(|d| node.pci.find(d.host).is_some_and(|id| node.pci.get(id).is_endpoint_of_path()))
        .cloned()
        .collect();
    let domain = libvirt::parse(flat(&chosen).as_bytes()).unwrap();
    assert_eq!(domain.refusals(), []);
    let tree = guest(&domain);
    let kept = nccl::keep(&from.document, &chosen.iter().map(|d| d.host).collect());
    let mut config = Config::default();
    from.configure(&mut config);
    let judge = |d| Analysis::new(&d, &config).unwrap();
    let (host, flat) = (judge(kept.clone()), judge(nccl::seen(&kept, &tree, None)));
    let found = same(&host, &flat);
    // 8 × 8 pairs: on the host two NICs are near each GPU (PIX); in the guest all are.
    let near = found.differing.iter().filter(|d| d.what == "path" && d.pair.contains("NIC") && d.after == "PIX");
    assert_eq!(near.count(), 8 * 8 - 16, "{:?}", found.differing);
    assert!(found.differing.iter().any(|d| d.what == "NICs"), "{:?}", found.differing);
    assert!(flat.gdr.iter().all(|g| g.bandwidth < 0.3), "an emulated port says one lane of 2.5 GT/s");
}
