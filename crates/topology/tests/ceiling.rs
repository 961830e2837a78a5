//! The arithmetic of ceilings: what is published, what was measured, and what must hold whatever the input.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

use linerate_formats::pci::LinkSpeed;
use linerate_topology::ceiling::collective::{nvls_factor, tree_sends};
use linerate_topology::ceiling::link::efficiency;
use linerate_topology::ceiling::pcie::PAYLOADS;
use linerate_topology::ceiling::{
    Algorithm, Collective, CollectiveCeiling, Derivation, Direction, ElementKind, NicTotal, PcieLink, Port, Protocol,
    Shape, adapter, between,
};
use proptest::prelude::*;

fn port(rate: f64, protocol: Protocol, mtu: u32) -> Port {
    Port { rate: Some(rate), protocol: Some(protocol), mtu: Some(mtu), ..Port::default() }
}

fn payload(rate: f64, protocol: Protocol, mtu: u32) -> f64 {
    let d = port(rate, protocol, mtu).payload("p").unwrap();
    assert_eq!(d.result.low, d.result.high);
    d.result.high
}

fn near(a: f64, b: f64, by: f64) {
    assert!((a - b).abs() <= by, "{a} is not {b}");
}

#[test]
fn headers_and_shares_of_payload() {
    for (protocol, bytes, shares) in [
        (Protocol::RoceV2, 82, [92.6, 96.2, 98.0]),
        (Protocol::RoceV1, 94, [91.6, 95.6, 97.8]),
        (Protocol::InfiniBand, 26, [97.5, 98.7, 99.4]),
    ] {
        assert_eq!(protocol.overhead(), bytes, "{}", protocol.name());
        for (mtu, share) in [1024, 2048, 4096].into_iter().zip(shares) {
            near(efficiency(protocol, false, mtu) * 100.0, share, 0.05);
        }
    }
    assert_eq!(Protocol::RoceV2Ipv6.overhead(), 102);
    near(efficiency(Protocol::RoceV2, true, 4096), 4096.0 / 4182.0, 1e-12);
}

#[test]
fn ports() {
    for (rate, protocol, mtu, want) in [
        (40.0, Protocol::RoceV1, 2048, 38.24),
        (40.0, Protocol::RoceV2, 2048, 38.46),
        (40.0, Protocol::RoceV2, 4096, 39.2),
        (100.0, Protocol::RoceV2, 4096, 98.0),
        (200.0, Protocol::RoceV2, 4096, 196.1),
        (400.0, Protocol::RoceV2, 4096, 392.15),
        (400.0, Protocol::InfiniBand, 4096, 397.5),
        (800.0, Protocol::RoceV2, 4096, 784.3),
        // Signals, not data.
        (40.0 / 4.0, Protocol::InfiniBand, 2048, 8.0 * 2048.0 / 2074.0),
        (56.0, Protocol::InfiniBand, 4096, 54.545 * 4096.0 / 4122.0),
    ] {
        near(payload(rate, protocol, mtu), want, want * 5e-4);
    }
    // perftest counts 2^20 bytes: 4559 and 4585 of them are the ends for a ConnectX-3, which reached 4554.5.
    let mib = |p| payload(40.0, p, 2048) * 1e9 / 8.0 / 1_048_576.0;
    near(mib(Protocol::RoceV1), 4559.1, 0.1);
    near(mib(Protocol::RoceV2), 4584.9, 0.1);
    assert!(4554.47 < mib(Protocol::RoceV1) && 4554.47 > 0.998 * mib(Protocol::RoceV1));
}

#[test]
fn what_was_not_seen_is_a_range() {
    let known = Port { rate: Some(400.0), ..Port::default() };
    let d = known.payload("NIC x").unwrap();
    near(d.result.low, 400.0 * 256.0 / 358.0, 1e-9); // RoCE v2 on IPv6
    near(d.result.high, 397.5, 0.1);
    assert!(d.steps.iter().any(|s| s.formula.to_string().contains("not seen")), "{d}");
    assert!(Port::default().payload("NIC x").is_none());
    let qdr = Port { rate: Some(40.0), infiniband: Some(true), mtu: Some(4096), ..Port::default() };
    let d = qdr.payload("NIC x").unwrap();
    assert!(d.result.low < 32.0 && d.result.high > 39.0, "QDR or FDR10: {d}");
}

#[test]
fn pcie_links() {
    // Raw, and the published estimate of what TLPs leave at 256 bytes, which lies within.
    for (speed, width, raw, left) in [
        (LinkSpeed::Gen3, 8, 7.88, 7.1),
        (LinkSpeed::Gen3, 16, 15.75, 14.3),
        (LinkSpeed::Gen4, 8, 15.75, 14.3),
        (LinkSpeed::Gen4, 16, 31.5, 28.5),
        (LinkSpeed::Gen5, 16, 63.0, 57.0),
        (LinkSpeed::Gen6, 16, 118.0, 110.0),
    ] {
        let link = PcieLink { mps: Some(256), ..PcieLink::new(speed, width) };
        near(link.raw(), raw, 0.02);
        let data = link.data(Direction::Write);
        assert!(data.low <= left && left <= data.high, "{}: {data}", link.name());
    }
    // 24 bytes with each of 256.
    let link = PcieLink { mps: Some(256), ..PcieLink::new(LinkSpeed::Gen3, 8) };
    near(link.data(Direction::Write).high, 128.0 / 130.0 * 8.0 * 256.0 / 280.0, 1e-9);
    // One port of a ConnectX-3 fits its Gen3 x8, two do not.
    let one = payload(40.0, Protocol::RoceV1, 2048) / 8.0;
    let data = link.data(Direction::Write);
    assert!(one < data.low && 2.0 * one > data.high);
    let p = |name| (name, port(40.0, Protocol::RoceV1, 2048));
    let alone = adapter(&[p("port 1")], Some(&link), Direction::Write).unwrap();
    assert_eq!(alone.limiting.kind, ElementKind::Port);
    assert_eq!(alone.next.as_ref().unwrap().kind, ElementKind::Pcie);
    assert!(alone.certain);
    let both = adapter(&[p("port 1"), p("port 2")], Some(&link), Direction::Write).unwrap();
    assert_eq!(both.limiting.kind, ElementKind::Pcie);
    assert!(both.result.low < 55.0 && 55.0 < both.result.high, "{both}");
}

fn equal(count: u32, rate: f64, protocol: Protocol) -> NicTotal {
    NicTotal::of_equal(count, &port(rate, protocol, 4096).payload("400G NIC").unwrap()).unwrap()
}

fn find(list: &[CollectiveCeiling], c: Collective, a: Algorithm) -> &Derivation {
    &list.iter().find(|x| (x.collective, x.algorithm) == (c, a)).unwrap().bus
}

#[test]
fn clusters() {
    use Algorithm::*;
    let four = equal(4, 400.0, Protocol::RoceV2);
    let list = between(Shape { nodes: 2, gpus: 4 }, &four);
    near(find(&list, Collective::AllReduce, Ring).result.high, 196.0, 0.1);
    near(find(&list, Collective::AllReduce, Hierarchical).result.high, 343.0, 0.2);
    near(find(&list, Collective::AllReduce, Tree).result.high, 343.0, 0.2);
    near(find(&list, Collective::AllGather, Ring).result.high, 196.0, 0.1);
    near(find(&list, Collective::ReduceScatter, Hierarchical).result.high, 343.0, 0.2);
    // Half of each GPU's data leaves the node, 7/8 of it count.
    near(find(&list, Collective::AllToAll, Pairwise).result.high, 196.0 / 4.0 * 7.0 / 4.0, 0.1);
    let eight = equal(8, 400.0, Protocol::RoceV2);
    let list = between(Shape { nodes: 2, gpus: 8 }, &eight);
    near(find(&list, Collective::AllReduce, Ring).result.high, 392.0, 0.2);
    // Many nodes: the hierarchical bound comes down to the ring's.
    let list = between(Shape { nodes: 1000, gpus: 8 }, &eight);
    near(find(&list, Collective::AllReduce, Hierarchical).result.high, 392.0, 1.0);
    assert!(list.iter().all(|c| c.bus.limiting.kind == ElementKind::Port));
    assert!(between(Shape { nodes: 1, gpus: 8 }, &eight).is_empty());
    println!("{}", find(&list, Collective::AllReduce, Ring));
}

#[test]
fn factors() {
    near(Collective::AllReduce.factor(8), 1.75, 1e-12);
    near(Collective::AllGather.factor(8), 0.875, 1e-12);
    assert_eq!([tree_sends(2), tree_sends(3), tree_sends(4), tree_sends(1000)], [1.0, 1.5, 2.0, 2.0]);
    near(nvls_factor(8), 14.0 / 9.0, 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ports_rise_with_the_mtu_and_never_exceed_the_rate(rate in 1.0..1600.0_f64, vlan: bool) {
        for protocol in Protocol::ALL {
            let mut last = 0.0;
            for mtu in [256, 512, 1024, 2048, 4096] {
                let d = Port { vlan, ..port(rate, protocol, mtu) }.payload("p").unwrap();
                prop_assert!(d.result.low > last && d.result.low <= d.result.high);
                // FDR's printed 56 is 56.25 of signals; its data is still less.
                prop_assert!(d.result.high < rate);
                last = d.result.low;
            }
        }
    }

    #[test]
    fn pcie_rises_with_width_speed_and_payload(width in 1..32_u32, read: bool) {
        let direction = if read { Direction::Read } else { Direction::Write };
        let mut slower = 0.0;
        for speed in LinkSpeed::ALL {
            let mut less = 0.0;
            for mps in PAYLOADS {
                let link = PcieLink { mps: Some(mps), ..PcieLink::new(speed, width) };
                let wider = PcieLink { width: width + 1, ..link };
                let (data, more) = (link.data(direction), wider.data(direction));
                prop_assert!(data.low <= data.high && data.high < link.raw());
                prop_assert!(more.low > data.low && more.high > data.high);
                prop_assert!(data.high > less && data.high > slower);
                less = data.high;
            }
            slower = PcieLink { mps: Some(128), ..PcieLink::new(speed, width) }.data(direction).high;
        }
    }

    #[test]
    fn more_nodes_never_raise_a_bound(gpus in 1..16_u32, nics in 1..16_u32, rate in 10.0..800.0_f64) {
        let total = equal(nics, rate, Protocol::RoceV2);
        for collective in Collective::ALL {
            for algorithm in [Algorithm::Ring, Algorithm::Tree, Algorithm::Hierarchical, Algorithm::Pairwise] {
                let mut last = f64::INFINITY;
                for nodes in [2, 3, 4, 8, 100, 10_000] {
                    let list = between(Shape { nodes, gpus }, &total);
                    let Some(c) = list.iter().find(|c| (c.collective, c.algorithm) == (collective, algorithm)) else {
                        continue;
                    };
                    // Of data per second: a tree's bus bandwidth does rise with (n-1)/n.
                    let data = c.bus.result.high / collective.factor(nodes * gpus);
                    prop_assert!(data <= last * (1.0 + 1e-9), "{collective} {algorithm} {nodes}");
                    // No node's NICs carry more than they can: what a node sends per byte of bus bandwidth, times it.
                    let shape = Shape { nodes, gpus };
                    let (per_nic, _) = shape.per_nic(collective, algorithm).unwrap();
                    prop_assert!(c.bus.result.high / per_nic <= f64::from(nics) * rate / 8.0);
                    last = data;
                }
            }
        }
    }
}
