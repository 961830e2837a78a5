//! The page of limits says what the code holds to. `UPDATE_PAGE=1 cargo test -p linerate-formats --test all bounds::` writes its table again.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

use crate::common;

use linerate_formats::bounds::{
    ALL, Bound, FIRMWARE_DEVICES, FIRMWARE_SETTINGS, GPUS, LeftOut, Limit, NET_FUNCTIONS, PCI_FUNCTIONS,
};
use linerate_formats::pci::lspci;
use linerate_formats::{ibstat, ibv_devinfo, mlxconfig, nvidia_smi};

const BEGIN: &str = "<!-- limits: made by crates/formats/tests/bounds.rs -->\n";
const END: &str = "<!-- end of limits -->\n";

/// A value; bytes in the largest unit that it is a whole number of.
fn value(b: &Bound) -> String {
    let n = b.value;
    if !["Bytes", "Memory"].iter().any(|w| b.what.starts_with(w)) {
        return n.to_string();
    }
    match [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")]
        .into_iter()
        .find(|(shift, _)| n.is_multiple_of(1 << shift) && n > 0)
    {
        Some((shift, unit)) if n >= 1 << 20 || unit != "KiB" => format!("{} {unit}", n >> shift),
        _ => n.to_string(),
    }
}

fn table() -> String {
    let mut out = "| limit | value | what it bounds | beyond it |\n|---|---|---|---|\n".to_owned();
    for b in ALL {
        out += &format!("| `{}` | {} | {} | {} |\n", b.name, value(b), b.what, b.beyond);
    }
    out
}

#[test]
fn the_page_lists_the_limits_as_they_are() {
    common::hold_table("security/bound.md", [BEGIN, END], &table(), "bounds");
}

#[test]
fn each_limit_is_named_once_and_says_what_happens_beyond_it() {
    for (i, b) in ALL.iter().enumerate() {
        assert!(b.value > 0 && !b.what.is_empty() && !b.beyond.is_empty(), "{b:?}");
        assert!(ALL.iter().skip(i + 1).all(|o| o.name != b.name), "{b:?}");
    }
}

/// A text of so many lines.
fn repeated(n: usize, line: impl Fn(usize) -> String) -> Vec<u8> {
    (0..n).map(line).collect::<String>().into_bytes()
}

fn cut(left_out: &[LeftOut]) -> Vec<(Limit, u32, u64)> {
    left_out.iter().map(|l| (l.limit, l.line, l.count)).collect()
}

#[test]
fn lspci_says_how_many_devices_are_beyond_each_limit() {
    let bdf = |i: usize| format!("{:04x}:{:02x}:{:02x}.{}", i >> 16, i >> 8 & 255, i >> 3 & 31, i & 7);
    let list = |class: &'static str, n: usize| repeated(n, move |i| format!("{} {class}: Device 10de:2901\n", bdf(i)));
    let read = |b: &[u8]| lspci::read(b).unwrap();
    let k = read(&list("Bridge [0604]", PCI_FUNCTIONS + 3));
    assert_eq!((k.items.len(), cut(&k.left_out)), (PCI_FUNCTIONS, vec![(Limit::PCI_FUNCTIONS, 8193, 3)]));
    let k = read(&list("3D controller [0302]", GPUS + 2));
    assert_eq!((k.items.len(), cut(&k.left_out)), (GPUS, vec![(Limit::GPUS, 1025, 2)]));
    let k = read(&list("Ethernet controller [0200]", NET_FUNCTIONS));
    assert_eq!((k.items.len(), k.left_out.len()), (NET_FUNCTIONS, 0));
}

#[test]
fn nvidia_smi_says_how_many_gpus_are_beyond_the_limit() {
    let bus = |i: usize| format!("{:08X}:{:02X}:00.0", i >> 8, i & 255);
    let text = repeated(GPUS + 2, |i| format!("GPU {}\n    Product Name : A{i}\n", bus(i)));
    let q = nvidia_smi::parse_query(&text);
    assert_eq!((q.gpus.len(), cut(&q.left_out)), (GPUS, vec![(Limit::GPUS, 2049, 2)]));
    // Nothing of what is left out is taken for the last one's.
    assert_eq!(q.gpus.last().unwrap().product_name.as_ref().unwrap().value, "A1023");
    let gpus = repeated(GPUS + 4, |i| format!("<gpu id=\"{}\">\n<product_name>x</product_name>\n</gpu>\n", bus(i)));
    let xml = [b"<nvidia_smi_log>\n", gpus.as_slice(), b"</nvidia_smi_log>\n"].concat();
    let q = nvidia_smi::parse_xml(&xml).unwrap();
    assert_eq!((q.gpus.len(), cut(&q.left_out)), (GPUS, vec![(Limit::GPUS, 3074, 4)]));
    let table = repeated(GPUS + 1, |i| format!("|   {i}  NVIDIA H100    On  |   {} Off |\n", bus(i)));
    let t = nvidia_smi::parse_table(&table);
    assert_eq!((t.gpus.len(), cut(&t.left_out)), (GPUS, vec![(Limit::GPUS, 1025, 1)]));
}

#[test]
fn mlxconfig_says_how_many_lines_are_beyond_a_limit() {
    let settings = repeated(FIRMWARE_SETTINGS + 5, |i| format!("  SETTING_{i}  1\n"));
    let q = mlxconfig::parse(&settings);
    let kept: usize = q.devices.iter().map(|d| d.params.len()).sum();
    assert_eq!((kept, cut(&q.left_out)), (FIRMWARE_SETTINGS, vec![(Limit::FIRMWARE_SETTINGS, 16_385, 5)]));
    let devices = repeated(FIRMWARE_DEVICES + 2, |i| format!("Device #{i}:\n  ATS_ENABLED  1\n"));
    let q = mlxconfig::parse(&devices);
    assert_eq!((q.devices.len(), cut(&q.left_out)), (FIRMWARE_DEVICES, vec![(Limit::FIRMWARE_DEVICES, 2049, 4)]));
}

#[test]
fn texts_of_rdma_devices_say_how_many_are_beyond_the_limit() {
    let k = ibstat::read(&repeated(NET_FUNCTIONS + 2, |i| format!("CA 'mlx5_{i}'\n\tPort 1:\n")));
    assert_eq!((k.items.len(), cut(&k.left_out)), (NET_FUNCTIONS, vec![(Limit::NET_FUNCTIONS, 4097, 2)]));
    assert!(k.items.iter().all(|c| c.ports.len() == 1));
    let k = ibv_devinfo::read(&repeated(NET_FUNCTIONS + 2, |i| format!("hca_id: mlx5_{i}\n\tport: 1\n")));
    assert_eq!((k.items.len(), cut(&k.left_out)), (NET_FUNCTIONS, vec![(Limit::NET_FUNCTIONS, 4097, 2)]));
}
