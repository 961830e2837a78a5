use super::*;
use proptest::prelude::*;

fn plan(text: &str) -> Vec<Interface> {
    netplan::read(text.as_bytes()).items
}

fn connections(text: &str) -> Vec<Interface> {
    keyfile::read(text.as_bytes()).items
}

type Keep = fn(&[u8], &dyn Fn(&str) -> bool) -> Vec<u8>;

/// What is kept of a text: the reader reads the same of it, and it is kept as it is.
fn kept(text: &str, of: Keep, read: fn(&[u8]) -> crate::bounds::Kept<Interface>) -> String {
    let once = of(text.as_bytes(), &|_| true);
    let got = String::from_utf8_lossy(&once).into_owned();
    assert_eq!(read(&once).items, read(text.as_bytes()).items, "{text}\n{got}");
    assert_eq!(String::from_utf8_lossy(&of(&once, &|_| true)), got, "{text}");
    got
}

fn plan_kept(text: &str) -> String {
    kept(text, netplan::kept, netplan::read)
}

const SITE: &str = "\
# made by hand
network:
  version: 2
  renderer: networkd
  ethernets:
    rail0:
      match: {macaddress: \"02:00:00:00:00:01\"}
      set-name: eth2
      mtu: 9000
      addresses:
        - 10.0.0.1/24
      nameservers: {search: [hunter2], addresses: [10.0.0.53]}
    all-en:
      match:
        name: \"en*\"
        driver: mlx5_core
      dhcp4: true
    ib0:
      infiniband-mode: connected
      mtu: \"65520\"
      auth:
        password: hunter2
        mtu: 4711
    by-mac: {match: {macaddress: \"02:00:00:00:00:02\"}, mtu: 4200}
  bonds:
    bond0:
      interfaces: [rail0,
        eth3]
      parameters:
        mode: 802.3ad
      mtu: ${MTU}
  vlans:
    bond0.100: {id: 100, link: bond0, mtu: 8996}
  wifis:
    wlan0:
      access-points:
        hunter2: {password: hunter2}
";

#[test]
fn definitions_of_netplan() {
    let all = plan(SITE);
    let own = |n: &str| Name::Own(n.to_owned());
    let [rail0, en, ib0, mac, bond, vlan] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((rail0.id.as_deref(), &rail0.name, rail0.kind), (Some("rail0"), &own("eth2"), Kind::Ethernet));
    assert_eq!((rail0.mtu, rail0.line), (Some(At::new(Some(9000), 9)), 6));
    assert_eq!((&en.name, en.mtu), (&Name::Pattern("en*".to_owned()), None));
    assert_eq!((ib0.kind, ib0.mode), (Kind::Infiniband, Some(At::new(Some(Mode::Connected), 19))));
    assert_eq!(ib0.mtu, Some(At::new(Some(65520), 20)));
    assert_eq!((&mac.name, mac.mtu), (&Name::Unknown, Some(At::new(Some(4200), 24))));
    assert_eq!(bond.members.iter().map(|m| m.value.as_str()).collect::<Vec<_>>(), ["rail0", "eth3"]);
    assert_eq!(bond.mtu, Some(At::new(None, 31)));
    assert_eq!((vlan.vlan, vlan.mtu), (Some(At::new(Some(100), 33)), Some(At::new(Some(8996), 33))));
    assert_eq!(vlan.parent, Some(At::new("bond0".to_owned(), 33)));
}

#[test]
fn of_netplan_what_is_read_is_kept() {
    let got = plan_kept(SITE);
    assert!(!["hunter2", "4711", "10.0", "02:00", "wlan", "hand"].iter().any(|w| got.contains(w)), "{got}");
    assert_eq!(got.lines().count(), 37, "{got}");
    for line in ["    rail0:", "      set-name: eth2", "        name: \"en*\"", "      mtu: [redacted]"] {
        assert!(got.lines().any(|l| l == line), "{line}\n{got}");
    }
}

#[test]
fn files_of_netplan_one_behind_the_other() {
    let merged = |text: &str| {
        let all = plan(text);
        plan_kept(text);
        all.into_iter().map(|i| (i.id.unwrap_or_default(), i.mtu.and_then(|m| m.value))).collect::<Vec<_>>()
    };
    let eth0 = |mtu| vec![("eth0".to_owned(), mtu)];
    for text in [
        "network:\n  ethernets:\n    eth0: {dhcp4: true}\nnetwork:\n  ethernets:\n    eth0: {mtu: 9000}\n",
        "network:\n  ethernets:\n    eth0: {mtu: 1500}\n---\nnetwork:\n  ethernets:\n    eth0:\n      mtu: 9000\n",
        "$ cat /etc/netplan/1.yaml\nnetwork:\n  ethernets:\n    eth0: {}\nroot@n:~# cat /etc/netplan/2.yaml\nnetwork:\n  ethernets:\n    eth0:\n      mtu: 9000\n",
        "network: {version: 2, ethernets: {eth0: {mtu: 9000, addresses: [10.0.0.1/24]}}}\n",
        "network:\n  ethernets: &e\n    eth0: &x {mtu: 9000}\n  renderer: networkd\n",
        "network:\r\n  ethernets:\r\n    eth0:\r\n      mtu: 9000\r\n",
        "network:\n  ethernets:\n    'eth0':\n      mtu: '9000' # jumbo\n",
        "network:\n\tethernets:\n\t\teth0:\n\t\t\tmtu: 9000\n",
        "    network:\n      ethernets:\n        eth0:\n          mtu: 9000\n",
        "{\"network\": {\"ethernets\": {\"eth0\": {\"mtu\": 9000}}}}",
    ] {
        assert_eq!(merged(text), eth0(Some(9000)), "{text}");
    }
    let of_alias = "network:\n  ethernets:\n    eth0: &x\n      mtu: 9000\n    eth1: *x\n    eth2:\n      <<: *x\n      dhcp4: no\n";
    assert_eq!(merged(of_alias).len(), 3);
    assert!(merged(of_alias).iter().all(|(_, mtu)| *mtu == Some(9000)));
    let of_template = "network:\n  ethernets:\n{% for n in nics %}\n    {{ n.name }}:\n      mtu: {{ n.mtu }}\n{% endfor %}\n    eth0:\n      mtu: 9000\n";
    assert!(merged(of_template).contains(&("eth0".to_owned(), Some(9000))));
    assert_eq!(merged("network:\n  config: disabled\n"), []);
    assert_eq!(merged("network:\n  ethernets:\n    - eth0\n    - mtu: 9000\n"), []);
}

const PROFILES: &str = "\
[connection]
id=hunter2
uuid=11111111-2222-3333-4444-555555555555
type=bond
interface-name=bond0

[ethernet]
mtu=9000

[ipv4]
mtu=1
dns=10.0.0.53;

[connection]
id=x
type=802-3-ethernet
interface-name = eth2
master=11111111-2222-3333-4444-555555555555
slave-type=bond

[802-3-ethernet]
mac-address=02:00:00:00:00:01
mtu=0

[connection]
type=vlan
controller=eth0

[vlan]
interface-name=v100
id=100
parent=bond0

[infiniband]
transport-mode=datagram
mtu=x
[connection]
type=wifi
[wifi-security]
psk=hunter2
[match]
interface-name=w
[connection]
type=infiniband
[match]
interface-name=ib*;
";

#[test]
fn connections_of_network_manager() {
    let all = connections(PROFILES);
    let [bond, member, vlan, ib] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((bond.kind, &bond.name), (Kind::Bond, &Name::Own("bond0".to_owned())));
    assert_eq!((bond.mtu, bond.line), (Some(At::new(Some(9000), 8)), 1));
    assert_eq!((member.mtu, &member.name), (None, &Name::Own("eth2".to_owned())));
    assert_eq!(member.master.as_ref().map(|m| (Some(&m.value), m.line)), Some((bond.id.as_ref(), 18)));
    assert_eq!((&vlan.name, vlan.vlan), (&Name::Own("v100".to_owned()), Some(At::new(Some(100), 31))));
    assert_eq!(vlan.parent, Some(At::new("bond0".to_owned(), 32)));
    assert_eq!((vlan.mode, vlan.mtu), (Some(At::new(Some(Mode::Datagram), 35)), Some(At::new(None, 36))));
    assert_eq!((ib.kind, &ib.name), (Kind::Infiniband, &Name::Pattern("ib*".to_owned())));
    let got = kept(PROFILES, keyfile::kept, keyfile::read);
    assert!(!["hunter2", "10.0", "02:00", "psk", "dns"].iter().any(|w| got.contains(w)), "{got}");
    assert_eq!(got.lines().count(), PROFILES.lines().count());
}

#[test]
fn a_configuration_of_network_manager_is_no_connection() {
    let conf = "[main]\nplugins=keyfile\n\n[connection]\nmatch-device=type:ethernet\nethernet.mtu=9000\n";
    assert_eq!(crate::sniff::sniff("x", conf.as_bytes()), crate::Kind::Other);
    assert_eq!(connections(conf), []);
}

fn line() -> impl Strategy<Value = String> {
    let words = [
        "network:",
        "network: {",
        "ethernets:",
        "vlans:",
        "eth0:",
        "eth1: &a",
        "eth2: *a",
        "<<: *a",
        "mtu: 9000",
        "mtu: {{ x }}",
        "id: 5",
        "link: eth0",
        "interfaces: [eth0,",
        "eth1]",
        "}",
        "- eth0",
        "match: {name: \"e*\"}",
        "set-name: x1",
        "---",
        "a: |",
        "bonds: {b: {interfaces: [eth0], mtu: 1500}}",
        "? x",
        "\"eth3\": {mtu: 1, <<: *a}",
        "infiniband-mode: connected",
        "x: \t",
        "\r",
        "[connection]",
        "type=ethernet",
        "type=vlan",
        "interface-name=eth0",
        "[ethernet]",
        "mtu=9000",
        "[vlan]",
        "parent=eth0",
        "$ ls",
    ];
    (0..8_usize, 0..words.len()).prop_map(move |(n, w)| format!("{}{}", " ".repeat(n), words[w]))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn what_is_kept_is_read_as_before(lines in proptest::collection::vec(line(), 0..16)) {
        let text = lines.join("\n");
        plan_kept(&text);
        kept(&text, keyfile::kept, keyfile::read);
    }

    #[test]
    fn any_text(text in any::<String>()) {
        plan_kept(&format!("network: {{ethernets: {text}"));
        kept(&text, keyfile::kept, keyfile::read);
    }
}
