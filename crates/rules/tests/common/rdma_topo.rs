//! Dumps of rdma_topo, made comparable.
#![allow(dead_code)] // each test needs a part of it
#![allow(clippy::expect_used, reason = "helpers of tests")]

use linerate_formats::rdma_topo_dump::{Device, parse};
use std::io::Read;

/// Functions with their values unpacked, and with names in an order of their own: a directory lists them in any.
pub(crate) fn comparable(text: &str) -> Vec<Device> {
    let dump = parse(text.as_bytes()).expect("a dump");
    assert!(dump.refused.is_empty(), "{:?}", dump.refused);
    let plain = |packed: &[u8]| {
        let mut out = Vec::new();
        flate2::read::ZlibDecoder::new(packed).read_to_end(&mut out).expect("a zlib stream");
        out
    };
    let mut devices = dump.devices;
    for d in &mut devices {
        d.config = plain(&d.config);
        d.vpd = d.vpd.as_deref().map(plain);
        d.subsystems.iter_mut().for_each(|(_, names)| names.sort());
        d.subsystems.sort();
    }
    devices
}

/// A line for each function, and digests of what is binary.
pub(crate) fn lines(text: &str) -> String {
    let sum = |bytes: &[u8]| {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
    };
    let line = |d: Device| {
        let vpd = d.vpd.map(|v| format!("{}:{:016x}", v.len(), sum(&v)));
        format!(
            "{} config={}:{:016x} group={:?} numa={:?} {} vpd={vpd:?} {:?}\n",
            d.realpath,
            d.config.len(),
            sum(&d.config),
            d.iommu_group,
            d.numa_node,
            d.modalias,
            d.subsystems
        )
    };
    comparable(text).into_iter().map(line).collect()
}
