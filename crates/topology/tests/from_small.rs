//! Small nodes made up here: one rule of NCCL's at a time.

#![allow(clippy::unwrap_used, clippy::panic)]

use linerate_node::Node;
use linerate_snapshot::{Output, OutputKind, Snapshot};
use linerate_topology::from_node::{FromNode, FromNodeError, Matrix, from_node};
use linerate_topology::xml::Element;
use linerate_topology::{Analysis, Config, PathType};
use proptest::prelude::*;

/// A tree of sysfs under construction.
struct Tree(Snapshot);

impl Tree {
    fn new() -> Tree {
        let mut t = Tree(Snapshot::new("small"));
        t.file("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n");
        t.file("sys/devices/system/node/node0/cpulist", "0-7");
        t
    }

    fn file(&mut self, path: &str, text: &str) {
        self.0.add_file(path, format!("{text}\n").as_bytes());
    }

    /// A function at a path below `sys/devices`; its address is the last component.
    fn function(&mut self, path: &str, class: &str, ids: (&str, &str), link: Option<(&str, &str)>) -> &mut Tree {
        let home = format!("sys/devices/{path}");
        let bdf = path.rsplit('/').next().unwrap();
        for (leaf, text) in [("class", class), ("vendor", ids.0), ("device", ids.1), ("numa_node", "0")] {
            self.file(&format!("{home}/{leaf}"), text);
        }
        for leaf in ["subsystem_vendor", "subsystem_device"] {
            self.file(&format!("{home}/{leaf}"), "0x0000");
        }
        if let Some((speed, width)) = link {
            for which in ["max", "current"] {
                self.file(&format!("{home}/{which}_link_speed"), speed);
                self.file(&format!("{home}/{which}_link_width"), width);
            }
        }
        let target = format!("../../../devices/{path}");
        self.0.add_link(&format!("sys/bus/pci/devices/{bdf}"), target.as_bytes());
        self
    }

    fn bridge(&mut self, path: &str) -> &mut Tree {
        self.function(path, "0x060400", ("0x15b3", "0x1979"), Some(("32.0 GT/s PCIe", "16")))
    }

    fn gpu(&mut self, path: &str) -> &mut Tree {
        self.function(path, "0x030200", ("0x10de", "0x2330"), Some(("32.0 GT/s PCIe", "16")))
    }

    fn nic(&mut self, path: &str) -> &mut Tree {
        self.function(path, "0x020700", ("0x15b3", "0x1021"), Some(("32.0 GT/s PCIe", "16")))
    }

    /// An RDMA device at a function, with ports: state, rate.
    fn rdma(&mut self, name: &str, at: Option<&str>, ports: &[(&str, &str)]) -> &mut Tree {
        let home = match at {
            Some(path) => format!("sys/devices/{path}/infiniband/{name}"),
            None => format!("sys/devices/virtual/infiniband/{name}"),
        };
        for (i, (state, rate)) in ports.iter().enumerate() {
            self.file(&format!("{home}/ports/{}/state", i + 1), state);
            self.file(&format!("{home}/ports/{}/rate", i + 1), rate);
        }
        self.file(&format!("{home}/sys_image_guid"), "946d:ae03:001e:11c8");
        if let Some(path) = at {
            let bdf = path.rsplit('/').next().unwrap();
            self.0.add_link(&format!("{home}/device"), format!("../../../{bdf}").as_bytes());
        }
        let target = home.replace("sys/", "../../");
        self.0.add_link(&format!("sys/class/infiniband/{name}"), target.as_bytes());
        self
    }

    fn text(&mut self, kind: OutputKind, text: &str) -> &mut Tree {
        let entry = self.0.add_file(&format!("pasted/{}", kind.name()), text.as_bytes()).unwrap();
        self.0.outputs.push(Output { kind, entry, argv: Vec::new(), status: None });
        self
    }

    fn read(&self) -> FromNode {
        from_node(&Node::decode(&self.0)).unwrap()
    }
}

const ACTIVE: (&str, &str) = ("4: ACTIVE", "400 Gb/sec (4X NDR)");
const DOWN: (&str, &str) = ("1: DOWN", "40 Gb/sec (4X QDR)");

fn all<'a>(f: &'a FromNode, name: &str) -> Vec<&'a Element> {
    f.document.system.all().filter(|e| e.name == name).collect()
}

fn attributes(f: &FromNode, name: &str, key: &str) -> Vec<String> {
    all(f, name).iter().map(|e| e.get(key).unwrap_or("-").to_owned()).collect()
}

#[test]
fn every_second_bridge_is_an_element() {
    let mut t = Tree::new();
    let (root, up) = ("pci0000:10/0000:10:01.0", "pci0000:10/0000:10:01.0/0000:11:00.0");
    let (down1, down2) = (format!("{up}/0000:12:00.0"), format!("{up}/0000:12:01.0"));
    let gpu = format!("{down1}/0000:13:00.0");
    t.bridge(root).bridge(up).bridge(&down1).bridge(&down2).gpu(&gpu);
    // A second switch below the first.
    let (up2, down3) = (format!("{down2}/0000:14:00.0"), format!("{down2}/0000:14:00.0/0000:15:00.0"));
    let nic = format!("{down3}/0000:16:00.0");
    t.bridge(&up2).bridge(&down3).nic(&nic).rdma("mlx5_0", Some(&nic), &[ACTIVE]);
    let f = t.read();
    assert_eq!(attributes(&f, "pci", "busid"), ["0000:11:00.0", "0000:13:00.0", "0000:14:00.0", "0000:16:00.0"]);
    assert_eq!(attributes(&f, "cpu", "familyid"), ["175"]);
    assert_eq!(attributes(&f, "cpu", "affinity"), ["ff"]);
    assert_eq!(attributes(&f, "net", "guid"), ["0xc8111e0003ae6d94"]);
    let a = Analysis::new(&f.document, &Config::default()).unwrap();
    let ((g, _), (n, _)) = (a.system.gpus().next().unwrap(), a.system.nets().next().unwrap());
    assert_eq!(a.raw.get(g, n).unwrap().kind, PathType::Pxb);
    assert_eq!(Matrix::of(&Node::decode(&t.0)).to_string().lines().nth(1), Some("GPU0\tX\tPXB\t0-7\t0"));
}

#[test]
fn a_link_is_the_lower_of_both_ends_and_of_a_root_bus_nothing() {
    let mut t = Tree::new();
    let root = "pci0000:10/0000:10:01.0";
    t.function(root, "0x060400", ("0x1022", "0x14ab"), Some(("16.0 GT/s PCIe", "8")));
    let (gpu, nic) = (format!("{root}/0000:11:00.0"), "pci0000:20/0000:20:00.0");
    t.gpu(&gpu).nic(nic).rdma("mlx5_0", Some(nic), &[ACTIVE]);
    // Unknown words limit nothing.
    t.file("sys/devices/pci0000:30/0000:30:01.0/x", "");
    let (port, odd) = ("pci0000:30/0000:30:01.0", "pci0000:30/0000:30:01.0/0000:31:00.0");
    t.function(port, "0x060400", ("0x1022", "0x14ab"), Some(("Unknown", "255")));
    t.nic(odd).rdma("mlx5_1", Some(odd), &[ACTIVE]);
    let f = t.read();
    let link = |b: &str| {
        let p = all(&f, "pci").into_iter().find(|p| p.get("busid") == Some(b)).unwrap();
        (p.get("link_speed").unwrap().to_owned(), p.get("link_width").unwrap().to_owned())
    };
    let of = |s: &str, w: &str| (s.to_owned(), w.to_owned());
    // A GPU's is its own link now, whatever the port could.
    assert_eq!(link("0000:11:00.0"), of("32.0 GT/s PCIe", "16"));
    assert_eq!(link("0000:20:00.0"), of("32.0 GT/s PCIe", "0"));
    assert_eq!(link("0000:31:00.0"), of("32.0 GT/s PCIe", "16"));
}

#[test]
fn nics_as_the_plugin_lists_them() {
    let mut t = Tree::new();
    let (p1, p2, p3) = ("pci0000:10/0000:10:01.0", "pci0000:20/0000:20:01.0", "pci0000:30/0000:30:01.0");
    t.bridge(p1).bridge(p2).bridge(p3).gpu(&format!("{p1}/0000:11:00.0"));
    // Two ports in two functions, listed by name in the other order; a virtual function; a card with two ports in one function;
    // software; a port that is down.
    for (name, at) in [("a", "0000:21:00.1"), ("b", "0000:21:00.0"), ("vf", "0000:21:02.3")] {
        let path = format!("{p2}/{at}");
        t.nic(&path).rdma(name, Some(&path), &[ACTIVE]);
    }
    let two = format!("{p3}/0000:31:00.0");
    t.nic(&two).rdma("mlx4_0", Some(&two), &[ACTIVE, ACTIVE]);
    let dark = format!("{p3}/0000:32:00.0");
    t.nic(&dark).rdma("dark", Some(&dark), &[DOWN]);
    t.rdma("rxe0", None, &[("4: ACTIVE", "2.5 Gb/sec (1X SDR)")]);
    let f = t.read();
    assert_eq!(attributes(&f, "net", "name"), ["b", "a", "vf", "mlx4_0", "rxe0"].map(str::to_owned).to_vec());
    assert_eq!(attributes(&f, "net", "port"), ["1", "2", "3", "1", "1"]);
    // Both ports of the one function are one element, under the number of the second.
    assert_eq!(attributes(&f, "net", "dev"), ["0", "1", "2", "4", "5"]);
    assert_eq!(attributes(&f, "net", "speed"), ["400000", "400000", "400000", "400000", "2500"]);
    assert_eq!(attributes(&f, "pci", "busid"), ["0000:11:00.0", "0000:21:00.0", "0000:31:00.0"]);
    let cpu = all(&f, "cpu")[0];
    assert_eq!(cpu.named("nic").count(), 1, "software hangs on the CPU");
    assert!(f.left_out.iter().any(|l| l.starts_with("dark port 1:")), "{:?}", f.left_out);
    Analysis::new(&f.document, &Config::default()).unwrap();
}

#[test]
fn a_virtual_function_without_function_0_hangs_on_the_first_cpu() {
    let mut t = Tree::new();
    let (port, vf) = ("pci0000:10/0000:10:01.0", "pci0000:10/0000:10:01.0/0000:11:00.3");
    t.bridge(port).gpu("pci0000:20/0000:20:00.0").nic(vf).rdma("mlx5_0", Some(vf), &[ACTIVE]);
    let f = t.read();
    assert_eq!(attributes(&f, "pci", "busid"), ["0000:20:00.0"]);
    assert_eq!(all(&f, "cpu")[0].named("nic").count(), 1);
    assert!(f.assumptions.iter().any(|a| a.contains("function 0 of the card does not exist")), "{:?}", f.assumptions);
}

#[test]
fn nvlink_of_a_mesh_and_of_switches() {
    let mesh = "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV2\tNV1\nGPU1\tNV2\t X \tPHB\nGPU2\tNV1\tPHB\t X \n";
    let switched = "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV18\tNV18\nGPU1\tNV18\t X \tNV18\nGPU2\tNV18\tNV18\t X \n";
    let read = |text: &str| {
        let mut t = Tree::new();
        for bus in ["10", "20", "30"] {
            t.gpu(&format!("pci0000:{bus}/0000:{bus}:00.0"));
        }
        t.text(OutputKind::NvidiaSmiTopo, text);
        let matrix = Matrix::of(&Node::decode(&t.0));
        (t.read(), matrix.to_string())
    };
    let (f, m) = read(mesh);
    assert_eq!(attributes(&f, "nvlink", "target"), ["0000:20:00.0", "0000:30:00.0", "0000:10:00.0", "0000:10:00.0"]);
    assert_eq!(attributes(&f, "nvlink", "count"), ["2", "1", "2", "1"]);
    assert_eq!(attributes(&f, "nvlink", "tclass"), ["0x030200"; 4]);
    assert!(m.contains("GPU1\tNV2\tX\tNODE"), "{m}");
    let (f, _) = read(switched);
    assert_eq!(attributes(&f, "nvlink", "target"), ["fffffff:ffff:ff"; 3]);
    assert_eq!(attributes(&f, "nvlink", "count"), ["18"; 3]);
    let a = Analysis::new(&f.document, &Config::default()).unwrap();
    let gpus: Vec<_> = a.system.gpus().map(|g| g.0).collect();
    assert_eq!(a.raw.get(gpus[0], gpus[2]).unwrap().kind, PathType::Nvl);
}

#[test]
fn gpus_in_the_drivers_order_and_as_it_sees_them() {
    let mut t = Tree::new();
    t.gpu("pci0000:10/0000:10:00.0").gpu("pci0000:20/0000:20:00.0").gpu("pci0000:30/0000:30:00.0");
    let smi = "<nvidia_smi_log><driver_version>570.1</driver_version>
<gpu id=\"00000000:20:00.0\"><product_name>NVIDIA GH200 480GB</product_name><product_architecture>Hopper</product_architecture><c2c_mode>Enabled</c2c_mode>
<pci><pci_gpu_link_info><pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen><link_widths><max_link_width>16x</max_link_width><current_link_width>8x</current_link_width></link_widths></pci_gpu_link_info></pci></gpu>
<gpu id=\"00000000:10:00.0\"><product_name>NVIDIA GeForce RTX 4090</product_name></gpu>
</nvidia_smi_log>";
    t.text(OutputKind::NvidiaSmiXml, smi);
    let f = t.read();
    let gpus: Vec<(String, String, String)> = all(&f, "pci")
        .iter()
        .map(|p| {
            let g = p.named("gpu").next().unwrap();
            let of = |e: &Element, k: &str| e.get(k).unwrap().to_owned();
            (of(p, "busid"), of(g, "dev"), of(g, "gdr"))
        })
        .collect();
    let want = [("0000:10:00.0", "1", "0"), ("0000:20:00.0", "0", "1")];
    assert_eq!(gpus, want.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    let first = all(&f, "pci")[1];
    assert_eq!((first.get("link_speed"), first.get("link_width")), (Some("2.5 GT/s PCIe"), Some("8")));
    assert!(f.assumptions.iter().any(|a| a.contains("idle")), "{:?}", f.assumptions);
    assert_eq!(
        (attributes(&f, "c2c", "bw"), attributes(&f, "c2c", "count")),
        (vec!["44712".into()], vec!["10".into()])
    );
    assert!(f.left_out.iter().any(|l| l.starts_with("0000:30:00.0:")), "{:?}", f.left_out);
}

#[test]
fn no_gpu_is_a_reason_and_not_a_document() {
    assert_eq!(from_node(&Node::decode(&Snapshot::new("empty"))), Err(FromNodeError::NoPci));
    let mut t = Tree::new();
    t.nic("pci0000:10/0000:10:00.0");
    assert_eq!(from_node(&Node::decode(&t.0)), Err(FromNodeError::NoGpu));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Garbage in every file, paths that nest and cross as they like, matrices of anything: an answer or an error.
    #[test]
    fn garbage_never_panics(
        functions in proptest::collection::vec((proptest::collection::vec((0_u8..4, 0_u8..3), 1..6), 0_usize..4), 0..12),
        leaves in proptest::collection::vec((0_usize..12, 0_usize..9, ".{0,12}"), 0..12),
        topo in "(\tGPU0\tGPU1\tNIC0\n)?(GPU0\t X \tNV[0-9]{1,6}\tPIX\n)?(GPU1\t[A-Z0-9]{1,6}\tX\tSYS\n)?",
    ) {
        const KINDS: [(&str, &str); 4] =
            [("0x030200", "0x10de"), ("0x020700", "0x15b3"), ("0x060400", "0x1000"), ("0x068000", "0x10de")];
        const LEAVES: [&str; 9] = ["class", "vendor", "device", "numa_node", "max_link_speed", "max_link_width",
            "infiniband/m/ports/1/rate", "infiniband/m/sys_image_guid", "current_link_width"];
        let mut t = Tree::new();
        let mut paths = Vec::new();
        for (steps, kind) in &functions {
            let steps: Vec<String> = steps.iter().map(|(b, d)| format!("0000:{b:02x}:{d:02x}.0")).collect();
            let path = format!("pci0000:00/{}", steps.join("/"));
            let (class, vendor) = KINDS[*kind];
            t.function(&path, class, (vendor, "0x2330"), Some(("16.0 GT/s PCIe", "16")));
            if *kind == 1 {
                t.rdma(&format!("m{}", paths.len()), Some(&path), &[ACTIVE, DOWN]);
            }
            paths.push(path);
        }
        for (f, leaf, text) in &leaves {
            if let Some(p) = paths.get(*f) {
                t.file(&format!("sys/devices/{p}/{}", LEAVES[*leaf]), text);
            }
        }
        t.text(OutputKind::NvidiaSmiTopo, &topo);
        let node = Node::decode(&t.0);
        let _ = Matrix::of(&node).to_string();
        if let Ok(f) = from_node(&node) {
            prop_assert!(f.document.system.all().count() < 200);
            let judged = Analysis::new(&f.document, &Config::default());
            if let (Ok(a), Some(topo)) = (&judged, node.nvidia.topo().known()) {
                let _ = linerate_topology::from_node::compare_with_topo_m(a, topo);
            }
            let _ = f.dumped(&Config::default());
        }
    }
}

/// Firmware that names no NUMA node: the matrix says why it does not know, and what NCCL makes of it.
#[test]
fn a_device_without_a_numa_node_has_its_reason() {
    let mut t = Tree::new();
    t.file("sys/devices/system/node/node1/cpulist", "8-15");
    // What comes first holds.
    t.file("sys/devices/pci0000:80/0000:80:01.0/numa_node", "-1");
    t.gpu("pci0000:00/0000:00:01.0").gpu("pci0000:80/0000:80:01.0");
    let m = Matrix::of(&Node::decode(&t.0));
    assert_eq!(m.path("GPU0", "GPU1"), None);
    assert!(m.notes.iter().any(|n| n.starts_with("GPU1:") && n.contains("SYS")), "{:?}", m.notes);
}
