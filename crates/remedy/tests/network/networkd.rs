//! systemd-networkd, and the unit where no file can.

use super::*;

#[test]
fn networkd_gets_a_drop_in_beside_the_file_that_matches() {
    let other = ("etc/systemd/network/10-other.network", "[Match]\nName=eth0\n");
    let own = ("etc/systemd/network/20-rdma.network", "[Match]\nName=eth1\n[Network]\nDHCP=yes\n");
    let r = one(ask(both(), Network::Networkd, &tree(&[other, own])));
    let path = "/etc/systemd/network/20-rdma.network.d/90-linerate.conf";
    let [(at, text)] = files(&r)[..] else { panic!("{r:?}") };
    assert_eq!(at, path);
    assert!(text.ends_with("\n[Link]\nMTUBytes=9000\n[Network]\nAddress=10.7.0.1/24\n"), "{text}");
    assert_eq!(
        commands(&r),
        [pair("networkctl reload", "networkctl reload"), at_once().1, pair("networkctl reload", "")]
    );
    // What an earlier plan put there stays.
    let mut s = tree(&[other, own]);
    s.add_file(path.trim_start_matches('/'), b"# ours\n[Link]\nMTUBytes=4200\n[Network]\nAddress=10.9.0.1/24\n");
    let r = one(ask(vec![link("eth1", None, &["10.7.0.1/24"])], Network::Networkd, &s));
    assert!(files(&r)[0].1.ends_with("[Link]\nMTUBytes=4200\n[Network]\nAddress=10.9.0.1/24\nAddress=10.7.0.1/24\n"));
    // A file in /run, or of the distribution, has its drop-in in /etc, too.
    let r = one(ask(both(), Network::Networkd, &tree(&[("run/systemd/network/70-x.network", "[Match]\nName=eth1\n")])));
    assert_eq!(files(&r)[0].0, "/etc/systemd/network/70-x.network.d/90-linerate.conf");
    for unsure in [
        ("etc/systemd/network/05-mac.network", "[Match]\nMACAddress=52:54:00:00:00:99\n"),
        ("etc/systemd/network/05-unread.network", ""),
        ("usr/lib/systemd/network/00-first.network", "[Match]\nType=ether\n"),
    ] {
        let r = one(ask(both(), Network::Networkd, &tree(&[unsure, own])));
        assert_eq!(files(&r)[0].0, "/etc/systemd/system/linerate-network.service", "who knows which file it is");
    }
}

/// A drop-in beside a file of several interfaces would change all of them.
#[test]
fn what_is_for_one_interface_reaches_no_other() {
    let s = tree(&[("etc/systemd/network/20-all.network", "[Match]\nName=eth*\n")]);
    let unit = "/etc/systemd/system/linerate-network.service";
    let r = one(ask(vec![link("eth1", Some(9000), &[])], Network::Networkd, &s));
    assert_eq!((files(&r)[0].0, r.id.as_str()), (unit, "network-unit"), "eth0 keeps its MTU");
    let r = one(ask(vec![link("eth0", Some(9000), &[]), link("eth1", Some(9000), &[])], Network::Networkd, &s));
    assert_eq!(files(&r)[0].0, "/etc/systemd/network/20-all.network.d/90-linerate.conf", "both want it");
    assert_eq!(files(&r).len(), 1);
    let r = one(ask(
        vec![link("eth0", Some(9000), &[]), link("eth1", Some(9000), &["10.7.0.1/24"])],
        Network::Networkd,
        &s,
    ));
    assert_eq!(files(&r)[0].0, unit, "an address is one's own");
}

#[test]
fn a_unit_does_it_where_no_file_can() {
    for network in [Network::Ifupdown, Network::Unknown] {
        let r = one(ask(both(), network, &tree(&[])));
        let (path, text) = files(&r)[0];
        assert_eq!(path, "/etc/systemd/system/linerate-network.service");
        let lines = "\nExecStart=ip link set dev eth1 mtu 9000\nExecStart=ip address replace 10.7.0.1/24 dev eth1\n\
                     ExecStop=ip link set dev eth1 mtu 1500\nExecStop=ip address flush dev eth1 to 10.7.0.1/32\n";
        assert!(text.contains(lines), "{text}");
        assert!(commands(&r).contains(&at_once().1));
        systemd_takes(path, text);
        // Once more, for another address: the lines of before stay, each once.
        let mut later = tree(&[]);
        later.add_file(path.trim_start_matches('/'), text.as_bytes());
        let r = one(ask(vec![link("eth1", None, &["10.7.0.1/24", "10.8.0.1/24"])], network, &later));
        let text = files(&r)[0].1;
        for line in lines.trim().lines().chain(["ExecStart=ip address replace 10.8.0.1/24 dev eth1"]) {
            assert_eq!(text.lines().filter(|l| *l == line).count(), 1, "{line}: {text}");
        }
    }
    let s = tree(&[]);
    let bare = made(both(), &platform(Network::Unknown, &[]), &s);
    assert!(by_hand(bare)[0].contains("does not show who configures"), "without systemd");
}
