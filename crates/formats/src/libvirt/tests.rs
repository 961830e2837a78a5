use super::*;
use crate::pci::Bdf;
use proptest::prelude::*;

const DOMAIN: &str = "root@host:~# virsh dumpxml vm1
<domain type='kvm' id='3' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>vm1</name>
  <memory unit='GiB'>4</memory>
  <memoryBacking><hugepages><page size='1' unit='GiB' nodeset='0-1'/></hugepages><locked/></memoryBacking>
  <vcpu placement='static'>8</vcpu>
  <cputune><vcpupin vcpu='0' cpuset='8-15,^9'/><emulatorpin cpuset='0'/></cputune>
  <numatune><memnode cellid='1' mode='strict' nodeset='1'/></numatune>
  <os firmware='efi'><type arch='x86_64' machine='pc-q35-7.2'>hvm</type></os>
  <features><acpi/><kvm><hidden state='on'/></kvm></features>
  <cpu mode='host-passthrough'><maxphysaddr mode='emulate' bits='46'/><numa>
    <cell id='0' cpus='0-3' memory='2097152'/><cell cpus='4-7' memory='2' unit='GiB'><distances><sibling id='0' value='20'/></distances></cell>
  </numa></cpu>
  <devices>
    <controller type='pci' index='0' model='pcie-root'><pcihole64 unit='KiB'>536870912</pcihole64></controller>
    <controller type='pci' index='1' model='pcie-expander-bus'>
      <target busNr='0x40'><node>1</node></target><address type='pci' bus='0x00' slot='0x03'/>
    </controller>
    <controller type='pci' model='pcie-root-port'><target chassis='2' port='0x8' hotplug='off'/><address type='pci' bus='1' slot='1'/></controller>
    <hostdev mode='subsystem' type='pci' managed='yes'>
      <source><address domain='0x0001' bus='0x3b' slot='0x00' function='0x0'/></source>
      <alias name='ua-gpu0'/><address type='pci' bus='0x02' slot='0x00' function='0x0' multifunction='on'/>
    </hostdev>
    <iommu model='intel'/>
  </devices>
  <qemu:commandline><qemu:arg value='-fw_cfg'/></qemu:commandline>
  <qemu:override><qemu:device alias='ua-gpu0'><qemu:frontend><qemu:property name='x-nv-gpudirect-clique' type='unsigned' value='1'/></qemu:frontend></qemu:device></qemu:override>
</domain>
";

#[test]
fn every_part_has_its_line() {
    let d = parse(DOMAIN.as_bytes()).unwrap();
    assert_eq!((d.name.as_str(), d.kind.as_str(), d.is_running, d.span.line), ("vm1", "kvm", true, 2));
    assert_eq!(DOMAIN.get(d.span.from..d.tag_end + 1).unwrap().lines().next().unwrap(), DOMAIN.lines().nth(1).unwrap());
    assert_eq!((d.firmware, d.has_acpi, d.hides_kvm, d.is_pcie()), (Some(Firmware::Uefi), true, true, true));
    assert_eq!((d.memory_kib.unwrap().value, d.vcpus.unwrap().value, d.is_locked), (4 << 20, 8, Some(5)));
    assert_eq!(d.huge_pages, [HugePages { size_kib: Some(1 << 20), cells: crate::cpulist::parse("0-1"), line: 5 }]);
    assert_eq!(d.pins[0].cpus.as_ref().unwrap().to_string(), "8,10-15");
    assert_eq!((d.pins[1].vcpu, d.memory_nodes[0].cell, d.address_bits.unwrap().value), (None, Some(1), 46));
    assert_eq!((d.cells[1].id, d.cells[1].memory_kib, d.cells[1].distances.clone()), (1, Some(2 << 20), vec![(0, 20)]));
    let port = &d.controllers[2];
    assert_eq!(
        (port.index, port.model, port.chassis, port.port, port.hotplug),
        (2, Some(Model::RootPort), Some(2), Some(8), Some(false))
    );
    assert_eq!(
        (d.controllers[1].bus_number, d.controllers[1].node, d.controllers[0].hole64_kib),
        (Some(0x40), Some(1), Some(1 << 29))
    );
    let gpu = &d.hostdevs[0];
    assert_eq!(gpu.source, Some(Bdf { domain: 1, bus: 0x3b, device: 0, function: 0 }));
    assert_eq!(
        (gpu.alias.as_deref(), gpu.is_managed, gpu.address.unwrap().multifunction, gpu.span.line),
        (Some("ua-gpu0"), true, true, 20)
    );
    assert!(DOMAIN.get(gpu.span.from..gpu.span.to).unwrap().ends_with("</hostdev>"));
    assert_eq!((d.arguments[0].value.as_str(), d.overrides[0].properties[0].value.as_str()), ("-fw_cfg", "1"));
    assert_eq!(d.refusals(), []);
}

#[test]
fn what_does_not_fit_is_refused_with_its_line() {
    let changed = |from: &str, to: &str| {
        parse(DOMAIN.replace(from, to).as_bytes()).unwrap().refusal().map(|i| (i.line, i.refusal))
    };
    let address = |bus, slot, line| Address { domain: 0, bus, slot, function: 0, multifunction: true, line };
    assert_eq!(changed("<node>1</node>", "<node>2</node>"), Some((16, Refusal::Node { index: 1, node: 2, cells: 2 })));
    assert_eq!(changed("pc-q35-7.2", "pc-i440fx-7.2").map(|r| r.1), Some(Refusal::WrongRoot("pci-root")));
    let on_expander = Refusal::Plug { address: address(1, 0, 22), what: "device", bus: 1, into: "pcie-expander-bus" };
    assert_eq!(changed("bus='0x02' slot='0x00'", "bus='0x01' slot='0x00'"), Some((22, on_expander)));
    let slot = Refusal::Slot { address: address(2, 3, 22), bus: 2, first: 0, last: 0 };
    assert_eq!(changed("bus='0x02' slot='0x00'", "bus='0x02' slot='0x03'"), Some((22, slot)));
    let number = Refusal::Number { field: "bus", value: 0x100, most: 0xff };
    assert_eq!(changed("bus='0x02'", "bus='0x100'"), Some((22, number)));
    assert!(matches!(
        changed("<iommu", "<video><address type='pci' bus='2' slot='0'/></video><iommu"),
        Some((24, Refusal::Clash(..)))
    ));
    assert_eq!(
        changed("type='pci' model='pcie-root-port'", "type='pci' index='1' model='pcie-root-port'").map(|r| r.1),
        Some(Refusal::IndexTwice(1))
    );
}

#[test]
fn what_is_no_domain_is_said() {
    let why = |text: &str| parse(text.as_bytes()).unwrap_err().why;
    assert!(matches!(why("nothing"), crate::Why::Foreign(_)));
    assert!(matches!(why("<device><domain>0</domain></device>"), crate::Why::Foreign(_)));
    assert!(matches!(why("<domain type='kvm'><name>a</name>"), crate::Why::Syntax { .. }));
    let bomb = "<!DOCTYPE d [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>\n<domain type='kvm'><name>&b;</name></domain>";
    assert!(matches!(why(bomb), crate::Why::Syntax { .. }));
}

proptest! {
    #[test]
    fn any_cut_and_any_byte_is_an_answer(at in 0..DOMAIN.len(), byte: u8, cut in 0..DOMAIN.len()) {
        let mut bytes = DOMAIN.as_bytes().to_vec();
        bytes[at] = byte;
        let _ = parse(&bytes).map(|d| d.refusals());
        let _ = parse(&bytes[..cut]).map(|d| d.refusals());
    }
}
