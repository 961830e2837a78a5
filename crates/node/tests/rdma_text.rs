//! RDMA devices from the texts of tools, alone and beside sysfs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use linerate_node::Node;
use linerate_node::rdma::{LinkLayer, PortState, netns_shared, traffic_class};
use linerate_snapshot::{Coverage, Output, OutputKind, Snapshot};

const DEVINFO: &str = "hca_id:\tmlx5_0\n\tfw_ver:\t\t\t\t28.41.1000\n\tvendor_part_id:\t\t\t4129\n\tboard_id:\t\t\tMT_0000000838\n\
    \t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tactive_mtu:\t\t1024 (3)\n\t\t\tsm_lid:\t\t\t0\n\t\t\tport_lid:\t\t0\n\
    \t\t\tlink_layer:\t\tEthernet\n\t\t\tactive_width:\t\t4X (2)\n\t\t\tactive_speed:\t\t100.0 Gbps (128)\n\
    \t\t\tGID[  0]:\t\tfe80::1, RoCE v1\n\t\t\tGID[  3]:\t\t::ffff:10.0.0.1, RoCE v2\n";
const IBSTAT: &str = "CA 'mlx5_1'\n\tCA type: MT4129\n\tFirmware version: 28.41.1000\n\tPort 1:\n\t\tState: Initializing\n\
    \t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 65535\n\t\tSM lid: 0\n\t\tLink layer: InfiniBand\n";

const SHOW_GIDS: &str = "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n\
    mlx5_1\t1\t0\tfe80:0000:0000:0000:0000:00ff:fe00:0001\t\t\tv1\teth2\n\
    mlx5_1\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1  \tv2\teth2\n\
    mlx5_2\t1\t0\tfe80:0000:0000:0000:0000:00ff:fe00:0002\t\t\tv1\n\nn_gids_found=3\n";

fn with(texts: &[(OutputKind, &str)]) -> Snapshot {
    let mut s = Snapshot::new("test");
    add(&mut s, texts);
    s
}

fn add(s: &mut Snapshot, texts: &[(OutputKind, &str)]) {
    for (n, (kind, text)) in texts.iter().enumerate() {
        let entry = s.add_file(&format!("pasted/{n}"), text.as_bytes()).unwrap();
        s.outputs.push(Output { kind: *kind, entry, argv: vec![], status: None });
    }
}

#[test]
fn ports_known_only_from_text_are_built_from_it() {
    let s = with(&[(OutputKind::IbvDevinfo, DEVINFO), (OutputKind::Ibstat, IBSTAT)]);
    let node = Node::decode(&s);
    let all = node.rdma.known().unwrap();
    assert_eq!(all.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["mlx5_0", "mlx5_1"]);
    let p = &all[0].ports[0];
    assert_eq!((p.state.known(), p.active_mtu.known()), (Some(&PortState::Active), Some(&1024)));
    assert_eq!((p.rate_gbps.known(), p.link_layer.known()), (Some(&400.0), Some(&LinkLayer::Ethernet)));
    let gids = p.gids.known().unwrap();
    assert!(gids[1].is_ipv4() && gids[1].is_roce_v2() && gids[1].index == 3 && gids[0].is_link_local());
    assert_eq!(s.excerpt(p.state.place()).trim(), "state:\t\t\tPORT_ACTIVE (4)");
    assert!(p.phys_state.is_unreadable() && p.netdev.is_unreadable(), "what no text says is unreadable");
    let q = &all[1].ports[0];
    assert_eq!((q.state.known(), q.sm_lid.known()), (Some(&PortState::Init), Some(&0)));
    assert_eq!(q.phys_state.known().map(|(n, _)| *n), Some(5));
    assert!(q.active_mtu.is_unreadable());
}

#[test]
fn sysfs_lists_the_devices_and_texts_add_what_it_does_not_show() {
    let mut s = Snapshot::new("test");
    s.coverage = Coverage::Full { not_tried: vec![] };
    s.add_file("sys/class/infiniband/mlx5_0/ports/1/state", b"1: DOWN\n");
    s.add_file("sys/class/infiniband/mlx5_0/tc/1/traffic_class", b"Global tclass=106\n");
    add(&mut s, &[(OutputKind::IbvDevinfo, DEVINFO), (OutputKind::Ibstat, IBSTAT)]);
    let node = Node::decode(&s);
    let all = node.rdma.known().unwrap();
    assert_eq!(all.len(), 1, "mlx5_1 is in a text only: sysfs does not list it");
    let p = &all[0].ports[0];
    assert_eq!((p.state.known(), p.active_mtu.known()), (Some(&PortState::Down), Some(&1024)));
    assert_eq!(traffic_class(&s, &all[0]).known(), Some(&106));
}

#[test]
fn a_gid_that_could_not_be_read_is_not_an_empty_one() {
    let mut s = Snapshot::new("test");
    s.add_failed("sys/class/infiniband/mlx5_0/ports/1/gids/0", linerate_snapshot::Why::Denied);
    let node = Node::decode(&s);
    assert!(node.rdma.known().unwrap()[0].ports[0].gids.is_unreadable());
}

#[test]
fn gid_tables_of_show_gids_where_nothing_better_shows_them() {
    let s = with(&[(OutputKind::ShowGids, SHOW_GIDS), (OutputKind::Ibstat, IBSTAT)]);
    let node = Node::decode(&s);
    let all = node.rdma.known().unwrap();
    assert_eq!(all.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["mlx5_1", "mlx5_2"]);
    let p = &all[0].ports[0];
    let gids = p.gids.known().unwrap();
    assert!(gids[1].is_ipv4() && gids[1].is_roce_v2() && gids[1].index == 3 && !gids[0].is_roce_v2());
    assert_eq!((p.netdev.known().map(String::as_str), p.state.known()), (Some("eth2"), Some(&PortState::Init)));
    assert_eq!(s.excerpt(gids[1].place).split('\t').next(), Some("mlx5_1"));
    let q = &all[1].ports[0];
    assert!(q.netdev.is_unreadable() && q.gids.known().unwrap()[0].netdev.is_unreadable());

    // ibv_devinfo shows its table with unused entries; whichever comes first is kept.
    let s = with(&[(OutputKind::IbvDevinfo, DEVINFO), (OutputKind::ShowGids, &SHOW_GIDS.replace("mlx5_1", "mlx5_0"))]);
    let node = Node::decode(&s);
    let gids = &node.rdma.known().unwrap()[0].ports[0].gids;
    assert_eq!(s.excerpt(gids.place()).trim(), "port:\t1");
}

#[test]
fn a_part_of_show_gids_shows_no_table() {
    for cut in [SHOW_GIDS.replace("n_gids_found=3", ""), SHOW_GIDS.replace("mlx5_2", "mlx5_2 ?"), SHOW_GIDS.repeat(2)] {
        let s = with(&[(OutputKind::ShowGids, &cut), (OutputKind::Ibstat, IBSTAT)]);
        let node = Node::decode(&s);
        let all = node.rdma.known().unwrap();
        assert!(all.len() == 1 && all[0].ports[0].gids.is_unreadable(), "{cut}");
    }
}

#[test]
fn namespace_mode_from_the_tool_or_from_the_module() {
    assert_eq!(
        netns_shared(&with(&[(OutputKind::RdmaSystem, "netns exclusive copy-on-fork on\n")])).known(),
        Some(&false)
    );
    let mut s = Snapshot::new("test");
    s.add_file("sys/module/ib_core/parameters/netns_mode", b"Y\n");
    assert_eq!(netns_shared(&s).known(), Some(&true));
    assert!(netns_shared(&Snapshot::new("test")).is_unreadable());
}

#[test]
fn garbage_in_every_text_makes_nothing_up() {
    let long = "CA 'x'\n".repeat(20_000);
    let texts = [
        "",
        "\0\0",
        "hca_id:",
        "port: 99999999999999",
        "CA '",
        "mlx5_0 port 1 ==> ",
        "[{\"ifname\":1}]",
        "{",
        long.as_str(),
    ];
    let kinds = [
        OutputKind::IbvDevinfo,
        OutputKind::Ibstat,
        OutputKind::Ibdev2netdev,
        OutputKind::ShowGids,
        OutputKind::RdmaLink,
        OutputKind::RdmaSystem,
    ];
    for kind in kinds {
        for text in texts {
            let s = with(&[(kind, text)]);
            let node = Node::decode(&s);
            for p in node.rdma.known().into_iter().flatten().flat_map(|d| &d.ports) {
                assert!(p.state.known().is_none());
            }
        }
    }
}

/// Tools of firmware and links name a device; they make none.
#[test]
fn cards_and_links_are_joined_to_devices() {
    const DEV: &str = "0: mlx5_0: node_type ca protocol roce fw 28.43.2026 node_guid 0200:00ff:fe00:0001 sys_image_guid 0200:00ff:fe00:0001 \n";
    const LINK: &str = "# mlxlink -d mlx5_0\nOperational Info\n----------------\nState                              : Active\n\
        Physical state                     : LinkUp\nSpeed                              : 400G\nWidth                              : 4x\n";
    const FLINT: &str = "# flint -d mlx5_0 q\nImage type:            FS4\nFW Version:            28.99.1\nPSID:                  MT_0000000838\n";
    let state = "link mlx5_0/1 state ACTIVE physical_state DISABLED netdev eth0\n";
    let counters = "link mlx5_0/1 rx_write_requests 7 out_of_sequence 5 \n";
    let s = with(&[
        (OutputKind::RdmaDev, DEV),
        (OutputKind::RdmaStatistic, counters),
        (OutputKind::Mlxlink, LINK),
        (OutputKind::Flint, FLINT),
    ]);
    let node = Node::decode(&s);
    let [d] = node.rdma.known().unwrap().as_slice() else { panic!("one device") };
    assert_eq!(
        (d.firmware.known().map(String::as_str), d.board_id.known().map(String::as_str)),
        (Some("28.43.2026"), Some("MT_0000000838"))
    );
    let p = &d.ports[0];
    assert_eq!((p.counter("out_of_sequence").map(|c| c.0), p.rate_gbps.known()), (Some(5), Some(&400.0)));
    assert_eq!(p.phys_state.known().map(|(n, _)| *n), Some(5));
    assert!(p.state.is_unreadable(), "the state of the hardware is not that of the port");
    // What the port's own tool says comes first.
    let s = with(&[(OutputKind::Mlxlink, LINK), (OutputKind::RdmaLink, state)]);
    let node = Node::decode(&s);
    assert_eq!(node.rdma.known().unwrap()[0].ports[0].phys_state.known().map(|(n, _)| *n), Some(3));
    // Alone they show no device.
    let s = with(&[(OutputKind::Mlxlink, LINK), (OutputKind::Flint, FLINT)]);
    assert!(Node::decode(&s).rdma.is_unreadable());
    // A card is named by its function.
    let s = with(&[
        (
            OutputKind::Ibdev2netdev,
            "0000:18:00.0 mlx5_0 (MT4129 - X) CX7 fw 28.43.2026 port 1 (ACTIVE) ==> eth0 (Up)\n",
        ),
        (
            OutputKind::EthtoolDriver,
            "driver: mlx5_core\nfirmware-version: 28.43.2026 (MT_0000000838)\nbus-info: 0000:18:00.0\n",
        ),
    ]);
    let node = Node::decode(&s);
    let d = &node.rdma.known().unwrap()[0];
    assert_eq!(d.board_id.known().map(String::as_str), Some("MT_0000000838"));
}
