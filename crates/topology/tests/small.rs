//! Small nodes made up here: what each rule decides.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use linerate_topology::gdr::{GdrMode, GdrReason};
use linerate_topology::p2p::{P2pReason, Transport};
use linerate_topology::system::NodeKind;
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Config, Document, Env, Error, Input, Nvlink, PathType, Version};

fn pci(busid: &str, class: &str) -> Element {
    Element::new("pci")
        .with("busid", busid)
        .with("class", class)
        .with("link_speed", "16.0 GT/s PCIe")
        .with("link_width", "16")
}

fn gpu(busid: &str, rank: u32, sm: u32) -> Element {
    let n = rank.to_string();
    pci(busid, "0x030200")
        .holding(Element::new("gpu").with("dev", n.clone()).with("sm", sm.to_string()).with("rank", n).with("gdr", "1"))
}

fn nic(busid: &str, dev: u32, speed: &str) -> Element {
    let net = Element::new("net")
        .with("name", format!("mlx5_{dev}"))
        .with("dev", dev.to_string())
        .with("speed", speed)
        .with("port", "1")
        .with("guid", format!("{:#x}", 0x10 + dev))
        .with("maxconn", "64")
        .with("gdr", "1");
    pci(busid, "0x020700").holding(Element::new("nic").holding(net))
}

fn cpu(numa: u32, vendor: &str) -> Element {
    Element::new("cpu")
        .with("numaid", numa.to_string())
        .with("arch", "x86_64")
        .with("vendor", vendor)
        .with("familyid", "6")
        .with("modelid", "143")
}

fn switch(busid: &str, inside: Vec<Element>) -> Element {
    inside.into_iter().fold(pci(busid, "0x060400"), Element::holding)
}

fn node(cpus: Vec<Element>) -> Document {
    Document { system: cpus.into_iter().fold(Element::new("system").with("version", "1"), Element::holding) }
}

/// Two switches with a GPU and a NIC each, on two CPUs.
fn two_rails(sm: u32) -> Document {
    rails(sm, "100000")
}

fn rails(sm: u32, speed: &str) -> Document {
    let side = |n: u32| {
        let inside = vec![gpu(&format!("0000:{n}1:00.0"), n, sm), nic(&format!("0000:{n}2:00.0"), n, speed)];
        cpu(n, "GenuineIntel").holding(switch(&format!("0000:{n}0:00.0"), inside))
    };
    node(vec![side(0), side(1)])
}

fn with(vars: &[(&str, &str)]) -> Config {
    Config { env: Env::parse(vars.iter().copied(), Version::default()), ..Config::default() }
}

fn switched(config: Config) -> Config {
    let mut config = config;
    config.assume.nvlink = Nvlink::Switch(None);
    config
}

fn kinds(a: &Analysis, from: NodeKind, to: NodeKind) -> Vec<String> {
    let of = |k| a.system.of(k).to_vec();
    let row = |f: &_| of(to).iter().map(|t| a.paths.get(*f, *t).unwrap().kind.name()).collect::<Vec<_>>().join(" ");
    of(from).iter().map(row).collect()
}

#[test]
fn without_nvlink_the_far_nic_is_across_the_cpus() {
    let a = Analysis::new(&two_rails(80), &Config::default()).unwrap();
    assert_eq!(kinds(&a, NodeKind::Gpu, NodeKind::Net), ["PIX SYS", "SYS PIX"]);
    assert_eq!(a.gdr[0].recv.mode, Some(GdrMode::Default));
    let far = GdrReason::TooFar { kind: PathType::Sys, limit: PathType::P2c, by_env: false };
    assert_eq!((a.gdr[1].recv.mode, a.gdr[1].recv.reason), (None, far));
    let far = P2pReason::TooFar { kind: PathType::Sys, limit: PathType::Pxb, by_env: false };
    assert_eq!((a.p2p[0].transport, a.p2p[0].reason), (Transport::Shm, far));
    assert_eq!(a.gdr[1].recv.reason.to_string(), "GPU and NIC are SYS apart, and the default allows P2C at most");
}

#[test]
fn with_nvlink_the_far_nic_is_reached_through_its_gpu() {
    let a = Analysis::new(&two_rails(80), &switched(Config::default())).unwrap();
    assert_eq!(kinds(&a, NodeKind::Gpu, NodeKind::Net), ["PIX PXN", "PXN PIX"]);
    assert_eq!(kinds(&a, NodeKind::Net, NodeKind::Gpu), ["PIX SYS", "SYS PIX"]);
    assert_eq!((a.gdr[1].proxy_rank, a.gdr[1].send.via), (1, Some(1)));
    let net = a.system.of(NodeKind::Net)[1];
    let via: Vec<&str> = a
        .paths
        .hops(&a.system, a.system.of(NodeKind::Gpu)[0], net)
        .map(|l| a.system.node(l.to).unwrap().kind.name())
        .collect();
    // GPU, DEV, NVS, DEV, GPU, and from there on as that GPU itself.
    assert_eq!(via, ["DEV", "NVS", "DEV", "GPU", "DEV", "PCI", "NIC", "NET"]);
    assert!(a.assumed.iter().any(|s| s.contains("12 links")), "{:?}", a.assumed);
    let off = Analysis::new(&two_rails(80), &switched(with(&[("NCCL_PXN_DISABLE", "1")]))).unwrap();
    assert_eq!(kinds(&off, NodeKind::Gpu, NodeKind::Net), ["PIX SYS", "SYS PIX"]);
    let old = Config { version: "2.11".parse().unwrap(), ..switched(Config::default()) };
    assert_eq!(
        kinds(&Analysis::new(&two_rails(80), &old).unwrap(), NodeKind::Gpu, NodeKind::Net),
        ["PIX SYS", "SYS PIX"]
    );
}

#[test]
fn levels_of_the_environment_are_told_as_such() {
    let a = Analysis::new(&two_rails(80), &with(&[("NCCL_NET_GDR_LEVEL", "LOC")])).unwrap();
    let far = GdrReason::TooFar { kind: PathType::Phb, limit: PathType::Loc, by_env: true };
    // Without GPUDirect the way is over the CPU: that is what is judged afterwards.
    assert_eq!(a.gdr[0].recv.reason, far);
    let a = Analysis::new(&two_rails(80), &with(&[("NCCL_NET_GDR_LEVEL", "5")])).unwrap();
    assert!(a.gdr.iter().all(|g| g.recv.mode.is_some()));
    let a = Analysis::new(&two_rails(80), &with(&[("NCCL_P2P_LEVEL", "SYS")])).unwrap();
    assert_eq!(a.p2p[0].transport, Transport::P2p);
}

#[test]
fn old_gpus_do_not_read_through_a_nic_without_nvlink() {
    let a = Analysis::new(&two_rails(70), &Config::default()).unwrap();
    assert!(a.gdr[0].recv.mode.is_some());
    assert_eq!(a.gdr[0].send.reason, GdrReason::ReadOldGpuWithoutNvlink { sm: 70 });
    let a = Analysis::new(&two_rails(70), &with(&[("NCCL_NET_GDR_READ", "1")])).unwrap();
    assert!(a.gdr[0].send.mode.is_some());
    let a = Analysis::new(&two_rails(80), &with(&[("NCCL_NET_GDR_READ", "0")])).unwrap();
    assert_eq!(a.gdr[0].send.reason, GdrReason::ReadDisabledByEnv);
}

#[test]
fn a_host_is_cut_where_nics_are_faster_than_the_way_between_gpus() {
    // Faster NICs than the interconnect (22 GB/s): 24 GB/s over the switch.
    let a = Analysis::new(&rails(80, "200000"), &Config::default()).unwrap();
    assert_eq!(a.domains, [[0], [1]]);
    assert_eq!(a.system.of(NodeKind::Gpu).len(), 1);
    let whole = a.whole.as_ref().unwrap();
    let gpus = whole.system.of(NodeKind::Gpu);
    assert_eq!(whole.paths.get(gpus[0], gpus[1]).unwrap().kind, PathType::Net);
    let vars = [("NCCL_NET_DISABLE_INTRA", "1")];
    assert_eq!(Analysis::new(&rails(80, "200000"), &with(&vars)).unwrap().domains, [[0, 1]]);
    assert_eq!(Analysis::new(&two_rails(80), &Config::default()).unwrap().domains, [[0, 1]]);
}

#[test]
fn ports_of_an_adapter_become_one_device() {
    let inside = vec![gpu("0000:01:00.0", 0, 90), nic("0000:02:00.0", 0, "100000"), nic("0000:02:00.1", 1, "100000")];
    let doc = node(vec![cpu(0, "GenuineIntel").holding(switch("0000:00:00.0", inside))]);
    let names = |config: &Config| {
        let a = Analysis::new(&doc, config).unwrap();
        a.system.nets().map(|(_, n)| (n.name.clone().unwrap(), n.bandwidth)).collect::<Vec<_>>()
    };
    assert_eq!(names(&Config::default()), [("mlx5_0+mlx5_1".to_owned(), 25.0)]);
    let single = [("mlx5_0".to_owned(), 12.5), ("mlx5_1".to_owned(), 12.5)];
    assert_eq!(names(&with(&[("NCCL_NET_MERGE_LEVEL", "LOC")])), single);
    assert_eq!(names(&with(&[("NCCL_IB_MERGE_NICS", "0")])), single);
    let a = Analysis::new(&doc, &Config::default()).unwrap();
    // It is NCCL's own form, and stays as it is when it is read again.
    let again = Analysis::new(&a.fused(), &Config { input: Input::Fused, ..Config::default() }).unwrap();
    assert_eq!(again.fused(), a.fused());
}

#[test]
fn broadcom_switches_are_flattened() {
    let bcm = |busid: &str, level: &str, inside| {
        switch(busid, inside)
            .with("vendor", "0x1000")
            .with("device", "0xc030")
            .with("subsystem_vendor", "0x1000")
            .with("subsystem_device", level)
    };
    let below = vec![
        bcm("0000:01:00.0", "0x1000", vec![gpu("0000:02:00.0", 0, 90)]),
        bcm("0000:03:00.0", "0x1000", vec![nic("0000:04:00.0", 0, "400000")]),
    ];
    let doc = node(vec![cpu(0, "GenuineIntel").holding(bcm("0000:00:00.0", "0x0000", below))]);
    let a = Analysis::new(&doc, &Config::default()).unwrap();
    assert_eq!(kinds(&a, NodeKind::Gpu, NodeKind::Net), ["PIX"]);
    assert_eq!(a.system.of(NodeKind::Pci).len(), 1);
    let old = Config { version: "2.19".parse().unwrap(), ..Config::default() };
    assert_eq!(kinds(&Analysis::new(&doc, &old).unwrap(), NodeKind::Gpu, NodeKind::Net), ["PXB"]);
}

#[test]
fn over_c2c_is_nearer_than_over_a_host_bridge() {
    let mut g = gpu("0000:01:00.0", 0, 90);
    g.children[0].children.push(Element::new("c2c").with("bw", "44712").with("count", "10"));
    let arm = Element::new("cpu").with("numaid", "0").with("arch", "arm64");
    let doc = node(vec![arm.holding(g).holding(nic("0000:02:00.0", 0, "400000"))]);
    let of = |v: &str, vars: &[(&str, &str)]| {
        let version = v.parse().unwrap();
        let config = Config { version, env: Env::parse(vars.iter().copied(), version), ..Config::default() };
        let a = Analysis::new(&doc, &config).unwrap();
        (a.gdr[0].kind.name(), a.gdr[0].recv.mode)
    };
    assert_eq!(of("2.30", &[]), ("P2C", Some(GdrMode::Default)));
    assert_eq!(of("2.30", &[("NCCL_NET_GDR_C2C", "0")]), ("P2C", None));
    assert_eq!(of("2.28", &[]), ("P2C", Some(GdrMode::Default)));
    assert_eq!(of("2.26", &[]), ("PHB", None));
    assert_eq!(of("2.26", &[("NCCL_NET_GDR_C2C", "1")]), ("PHB", Some(GdrMode::Default)));
}

#[test]
fn two_gpus_on_amd_are_peers_at_any_distance() {
    let doc = node(vec![
        cpu(0, "AuthenticAMD").holding(gpu("0000:01:00.0", 0, 89)),
        cpu(1, "AuthenticAMD").holding(gpu("0000:41:00.0", 1, 89)),
    ]);
    let a = Analysis::new(&doc, &Config::default()).unwrap();
    assert_eq!((a.p2p[0].allowed, a.p2p[0].transport), (true, Transport::P2p));
    assert_eq!(kinds(&a, NodeKind::Gpu, NodeKind::Gpu), ["LOC SYS", "SYS LOC"]);
}

#[test]
fn what_nccl_needs_is_named() {
    let mut doc = two_rails(80);
    let function = &mut doc.system.children[0].children[0].children[1];
    function.attributes.retain(|(k, _)| k != "link_width");
    let error = Analysis::new(&doc, &Config::default()).unwrap_err();
    assert!(matches!(&error, Error::Missing { attribute: "link_width", .. }), "{error}");
    assert_eq!(Analysis::new(&node(vec![cpu(0, "x")]), &Config::default()).unwrap_err(), Error::NoGpu);
}

#[test]
fn speeds_that_nccl_does_not_know_are_told() {
    let mut doc = two_rails(80);
    let function = &mut doc.system.children[0].children[0].children[0];
    function.set("link_speed", "32.0 GT/s");
    function.set("link_width", "0");
    let a = Analysis::new(&doc, &Config::default()).unwrap();
    let notes: Vec<&str> = a.notes().collect();
    assert!(notes.iter().any(|n| n.contains("\"32.0 GT/s\"") && n.contains("Gen3")), "{notes:?}");
    assert!(notes.iter().any(|n| n.contains("16 lanes")), "{notes:?}");
    assert_eq!(a.gdr[0].bandwidth, 12.0);
}

#[test]
fn ten_thousand_devices_are_refused() {
    let many = (0..10_000).map(|n| gpu(&format!("{n:04x}:01:00.0"), n, 90)).collect();
    let doc = node(vec![cpu(0, "GenuineIntel").holding(switch("0000:00:00.0", many))]);
    assert!(matches!(Analysis::new(&doc, &Config::default()), Err(Error::TooMany { .. })));
    let text = doc.to_xml(Dialect::Nccl);
    assert!(Document::parse(&text, Dialect::Nccl).unwrap_err().what.contains("256"));
    assert_eq!(Document::parse(&text, Dialect::Lenient).unwrap().system.all().count(), doc.system.all().count());
}

#[test]
fn deep_nesting_is_refused() {
    let deep = (0..300).fold(gpu("0000:01:00.0", 0, 90), |e, n| switch(&format!("0001:{:02x}:00.0", n % 256), vec![e]));
    let doc = node(vec![cpu(0, "GenuineIntel").holding(deep)]);
    assert_eq!(Analysis::new(&doc, &Config::default()).unwrap_err(), Error::TooDeep(256));
}
