use super::*;

fn words(all: &[At<String>]) -> Vec<(&str, u32)> {
    all.iter().map(|a| (a.value.as_str(), a.line)).collect()
}

#[test]
fn the_long_form() {
    let kept = read(
        b"[root@n1 ~]# ip -d addr\n\
          1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n\
          \x20   link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0\n\
          \x20   inet 127.0.0.1/8 scope host lo\n\
          2: ens1f0: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP group default\n\
          \x20   link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 parentbus pci parentdev 0000:18:00.0\n\
          \x20   bond_slave state ACTIVE mii_status UP\n\
          7: bond0.100@bond0: <NO-CARRIER,BROADCAST,UP> mtu 1500 qdisc noqueue state LOWERLAYERDOWN\n\
          \x20   vlan protocol 802.1Q id 100 <REORDER_HDR> numtxqueues 1\n\
          \x20   inet 192.0.2.1/24 brd 192.0.2.255 scope global bond0.100\n\
          \x20   inet6 fe80::1/64 scope link\n",
    );
    let [lo, nic, vlan] = kept.items.as_slice() else { panic!("{kept:?}") };
    assert_eq!(
        (lo.state, lo.mtu, words(&lo.addresses)),
        (Some(At::new("unknown", 2)), Some(At::new(65536, 2)), vec![("127.0.0.1/8", 4)])
    );
    assert_eq!((nic.name.as_str(), nic.line, nic.master.as_ref().map(At::as_str)), ("ens1f0", 5, Some("bond0")));
    assert_eq!(nic.bdf.map(|b| (b.value.to_string(), b.line)), Some(("0000:18:00.0".into(), 6)));
    assert_eq!((nic.kind.clone(), nic.mac.as_ref().map(|m| m.line)), (None, Some(6)));
    assert_eq!(
        (vlan.below.as_deref(), vlan.vlan, vlan.state),
        (Some("bond0"), Some(At::new(100, 9)), Some(At::new("lowerlayerdown", 8)))
    );
    assert_eq!(words(&vlan.addresses), [("192.0.2.1/24", 10), ("fe80::1/64", 11)]);
    assert_eq!(vlan.flags, ["NO-CARRIER", "BROADCAST", "UP"]);
}

#[test]
fn the_brief_forms() {
    let kept = read(
        b"lo               UNKNOWN        00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP> \nens2@if3  DOWN  02:00:00:00:00:02 <BROADCAST>\nens3  UP  192.0.2.7/24 metric 100 fe80::7/64\n",
    );
    let seen: Vec<_> = kept.items.iter().map(|i| (i.name.as_str(), i.state.map(|s| s.value), i.line)).collect();
    assert_eq!(seen, [("lo", Some("unknown"), 1), ("ens2", Some("down"), 2), ("ens3", Some("up"), 3)]);
    assert_eq!(words(&kept.items[2].addresses), [("192.0.2.7/24", 3), ("fe80::7/64", 3)]);
}

#[test]
fn the_form_of_json() {
    let text = b"$ ip -j -d link\n[{\"ifindex\":2,\"ifname\":\"ens1f0\",\"flags\":[\"UP\"],\"mtu\":9000,\"operstate\":\"UP\",\"master\":\"bond0\",\"parentbus\":\"pci\",\"parentdev\":\"0000:18:00.0\"},\n\
        {\"ifindex\":9,\"ifname\":\"v100\",\"flags\":[],\"mtu\":1500,\"operstate\":\"DOWN\",\"linkinfo\":{\"info_kind\":\"vlan\",\"info_data\":{\"id\":100}},\"addr_info\":[{\"local\":\"192.0.2.1\",\"prefixlen\":24}]}]\n";
    let kept = read(text);
    let [nic, vlan] = kept.items.as_slice() else { panic!("{kept:?}") };
    assert_eq!((nic.line, nic.mtu, nic.bdf.map(|b| b.line)), (2, Some(At::new(9000, 2)), Some(2)));
    assert_eq!((vlan.line, vlan.vlan, words(&vlan.addresses)), (3, Some(At::new(100, 3)), vec![("192.0.2.1/24", 3)]));
    assert!(read(&text[..text.len() - 9]).items.is_empty(), "a document that is cut shows nothing");
}

#[test]
fn a_cut_line_shows_no_other_value() {
    let line = "2: eth0: <UP> mtu 1500 qdisc mq state UP";
    assert_eq!(
        read(line.as_bytes()).items.first().map(|i| (i.mtu.map(|m| m.value), i.state)),
        Some((Some(1500), None))
    );
    assert!(read(line.split_at(19).0.as_bytes()).items.is_empty());
    for prose in
        ["1: note: <b>mtu</b> matters", "eth0 UP now", "eth0 is UP 10.0.0.1/24", "2: eth0: mtu 1500", "UP DOWN LEFT"]
    {
        assert_eq!(crate::sniff::sniff("", format!("{prose}\n").as_bytes()), crate::Kind::Other, "{prose}");
    }
}
