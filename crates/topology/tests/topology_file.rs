//! The topology file with which NCCL begins (`ncclTopoGetSystem`): it goes before the node's own PCI tree.

#![allow(clippy::unwrap_used, clippy::panic)]

use linerate_node::Node;
use linerate_snapshot::{Coverage, Snapshot};
use linerate_topology::from_node::{FromNodeError, Options, from_node, from_node_with};
use linerate_topology::xml::Document;
use linerate_topology::{Analysis, Config, Open, PathType};

const PATH: &str = "opt/cloud/topo.xml";
const DEFAULT: &str = "var/run/nvidia-topologyd/virtualTopology.xml";

/// GPU and NIC below one switch of the second NUMA node; a GPU and a switch that this node does not have.
const FILE: &str = r#"<system version="1">
  <cpu numaid="0" affinity="f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="ffff:ff:02.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0009:00:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="f0" host_hash="0x77" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="ffff:ff:01.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="8">
      <pci busid="0001:00:00.0" class="0x030000" link_speed="32.0 GT/s PCIe">
        <gpu dev="0" rank="5"/>
      </pci>
      <pci busid="0101:00:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"/>
    </pci>
  </cpu>
</system>
"#;

/// A guest as Hyper-V shows it: every function in a domain of its own.
fn guest(files: &[(&str, &str)]) -> Snapshot {
    let mut s = Snapshot::new("guest");
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    let mut file = |path: &str, text: &str| {
        s.add_file(path, text.as_bytes());
    };
    file(
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nflags\t\t: hypervisor\n",
    );
    for (bdf, class, ids, width) in [
        ("0001:00:00.0", "0x030200", ("0x10de", "0x2330"), "16"),
        ("0101:00:00.0", "0x020700", ("0x15b3", "0x101e"), "0"),
    ] {
        let home = format!("sys/devices/pci{}/{bdf}", &bdf[..7]);
        for (leaf, text) in [
            ("class", class),
            ("vendor", ids.0),
            ("device", ids.1),
            ("subsystem_vendor", "0x0000"),
            ("subsystem_device", "0x0000"),
            ("numa_node", "0"),
            ("max_link_speed", "32.0 GT/s PCIe"),
            ("max_link_width", width),
            ("current_link_speed", "32.0 GT/s PCIe"),
            ("current_link_width", width),
        ] {
            file(&format!("{home}/{leaf}"), &format!("{text}\n"));
        }
    }
    let port = "sys/class/infiniband/mlx5_0/ports/1";
    for (leaf, text) in [("state", "4: ACTIVE\n"), ("rate", "400 Gb/sec (4X NDR)\n"), ("link_layer", "InfiniBand\n")] {
        file(&format!("{port}/{leaf}"), text);
    }
    for (path, text) in files {
        file(path, text);
    }
    for bdf in ["0001:00:00.0", "0101:00:00.0"] {
        s.add_link(
            &format!("sys/bus/pci/devices/{bdf}"),
            format!("../../../devices/pci{}/{bdf}", &bdf[..7]).as_bytes(),
        );
    }
    s.add_link("sys/class/infiniband/mlx5_0/device", b"../../../devices/pci0101:00/0101:00:00.0");
    s
}

fn attribute(d: &Document, busid: &str, key: &str) -> Option<String> {
    d.system.all().find(|e| e.get("busid") == Some(busid))?.get(key).map(str::to_owned)
}

fn kind(document: &Document) -> PathType {
    let a = Analysis::new(document, &Config::default()).unwrap();
    let gpu = a.system.gpus().next().unwrap().0;
    let net = a.system.nets().next().unwrap().0;
    a.paths.get(gpu, net).unwrap().kind
}

#[test]
fn the_file_holds_and_the_node_adds_the_rest() {
    let conf = format!("NCCL_TOPO_FILE=/{PATH}\n");
    for files in [&[("etc/nccl.conf", conf.as_str()), (PATH, FILE)][..], &[(DEFAULT, FILE)]] {
        let s = guest(files);
        let found = from_node(&Node::decode(&s)).unwrap();
        let d = &found.document;
        assert_eq!(kind(d), PathType::Pix);
        assert!(!found.open.contains(&Open::TopologyFile), "{:?}", found.open);
        // sysfs says the class, the file the speed, the node the width that the file does not say.
        let gpu = |key| attribute(d, "0001:00:00.0", key);
        assert_eq!(
            [gpu("class"), gpu("link_speed"), gpu("link_width")].map(Option::unwrap),
            ["0x030200", "32.0 GT/s PCIe", "16"]
        );
        assert_eq!(gpu("vendor").as_deref(), Some("0x10de"));
        assert_eq!(attribute(d, "0101:00:00.0", "link_width").as_deref(), Some("16"));
        // What no device of this node is in goes; the host is this one, and the rank is the node's.
        let cpus: Vec<_> = d.system.named("cpu").map(|c| (c.get("numaid"), c.get("host_hash"))).collect();
        assert_eq!(cpus, [(Some("1"), Some("0x1"))]);
        let ranks: Vec<_> = d.system.all().filter(|e| e.name == "gpu").map(|e| e.get("rank")).collect();
        assert_eq!(ranks, [Some("0")]);
    }
    assert!(kind(&from_node(&Node::decode(&guest(&[]))).unwrap().document) > PathType::Pxb);
}

#[test]
fn a_file_that_is_not_in_the_input_leaves_all_open() {
    let conf = format!("NCCL_TOPO_FILE=/{PATH}\n");
    let s = guest(&[("etc/nccl.conf", &conf)]);
    let found = from_node(&Node::decode(&s)).unwrap();
    assert!(found.open.contains(&Open::TopologyFile), "{:?}", found.unknown);
    let mut config = Config::default();
    found.configure(&mut config);
    let a = Analysis::new(&found.document, &config).unwrap();
    assert_eq!(a.open.first(), Some(&Open::TopologyFile), "said first");
    let open = |o: Vec<Open>| o.contains(&Open::TopologyFile);
    assert!(a.gdr.iter().all(|g| open(a.open_for_gdr(g))) && a.local_nets.iter().all(|l| open(a.open_for_local(l))));
}

#[test]
fn the_jobs_environment_goes_first() {
    let s = guest(&[(DEFAULT, FILE)]);
    let node = Node::decode(&s);
    let with =
        |file: &str| from_node_with(&node, &Options { topology_file: Some(file.to_owned()), ..Options::default() });
    assert!(with("/elsewhere.xml").unwrap().open.contains(&Open::TopologyFile));
    // Empty: NCCL opens no file, and looks nowhere else.
    let none = with("").unwrap();
    assert!(!none.open.contains(&Open::TopologyFile) && kind(&none.document) > PathType::Pxb);
    assert_eq!(kind(&with(&format!("/{DEFAULT}")).unwrap().document), PathType::Pix);
}

#[test]
fn nccl_stops_at_a_file_that_it_cannot_read() {
    let s = guest(&[(DEFAULT, "<?xml version=\"1.0\"?>\n<system version=\"1\"></system>\n")]);
    let error = from_node(&Node::decode(&s)).unwrap_err();
    assert!(matches!(error, FromNodeError::TopologyFile { .. }), "{error}");
}
