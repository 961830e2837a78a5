//! MTUs and addresses on small trees, by each way that configures a network; and what netplan and systemd say of it, where they are installed.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod manager;
mod netplan;
mod networkd;
#[path = "../rendered/mod.rs"]
mod rendered;

use linerate_node::Node;
use linerate_remedy::address::Given;
use linerate_remedy::change::*;
use linerate_remedy::plan::Options;
use linerate_remedy::platform::{Boot, Initramfs, Network, Platform, Tools};
use linerate_remedy::{Act, FileAct, RunAct, ValueAct};
use linerate_rules::Action;
use linerate_snapshot::{Coverage, Snapshot};
use proptest::prelude::*;
use rendered::{commands, files, one, pair, systemd_takes};

fn platform(network: Network, tools: &[&str]) -> Platform {
    Platform {
        id: Some("debian".into()),
        like: Vec::new(),
        name: None,
        version: None,
        boot: Boot::GrubDebian,
        initramfs: Initramfs::InitramfsTools,
        network,
        tools: Tools { seen: tools.iter().map(|t| (*t).to_owned()).collect(), looked: true },
        role: None,
        vms: None,
        container: false,
        because: Vec::new(),
    }
}

const MAC: &str = "52:54:00:00:00:01";

/// A node of which all was looked at, with these files.
fn tree(files: &[(&str, &str)]) -> Snapshot {
    let mut s = Snapshot::new("t");
    s.coverage = Coverage::Full { not_tried: vec![] };
    for (n, name) in ["eth0", "eth1"].iter().enumerate() {
        let home = format!("sys/devices/pci0000:00/0000:00:0{}.0/net/{name}", n + 2);
        s.add_file(&format!("{home}/mtu"), b"1500\n");
        s.add_file(&format!("{home}/ifindex"), format!("{}\n", n + 2).as_bytes());
        s.add_file(&format!("{home}/address"), format!("52:54:00:00:00:0{n}\n").as_bytes());
        s.add_link(&format!("{home}/device"), format!("../../../0000:00:0{}.0", n + 2).as_bytes());
        s.add_link(&format!("sys/class/net/{name}"), format!("../../../{home}").as_bytes());
    }
    for (path, text) in files {
        // As a capture keeps others' files: never as the whole.
        s.add_cut_file(path, text.as_bytes());
    }
    s
}

/// What is asked of an interface.
#[derive(Clone)]
struct Link {
    interface: String,
    mtu: Option<u32>,
    addresses: Vec<Given>,
}

fn link(interface: &str, mtu: Option<u32>, addresses: &[&str]) -> Link {
    let given = |text: &&str| {
        let (address, prefix) = text.split_once('/').expect("a prefix");
        Given {
            interface: interface.into(),
            address: address.parse().expect("an address"),
            prefix: prefix.parse().expect("a number"),
        }
    };
    Link { interface: interface.into(), mtu, addresses: addresses.iter().map(given).collect() }
}

fn both() -> Vec<Link> {
    vec![link("eth1", Some(9000), &["10.7.0.1/24"])]
}

fn ask(links: Vec<Link>, network: Network, s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    made(links, &platform(network, &["systemctl"]), s)
}

fn made(links: Vec<Link>, platform: &Platform, s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    let mut actions = Vec::new();
    let mut options = Options::default();
    for link in links {
        let interface = || link.interface.clone().into();
        actions.extend(link.mtu.map(|mtu| Action::Mtu { interface: interface(), mtu }));
        actions.extend((!link.addresses.is_empty()).then(|| Action::Address { interface: interface() }));
        options.addresses.extend(link.addresses);
    }
    let node = Node::decode(s);
    changes(&actions, &Setting { snapshot: s, node: &node, platform, options: &options, set: &[], reset: false })
}

/// What people are told.
fn by_hand(found: Vec<Result<Change, Refusal>>) -> Vec<String> {
    match found.as_slice() {
        [Err(Refusal::ByHand { how, .. })] => how.clone(),
        other => panic!("{other:?}"),
    }
}

fn at_once() -> (Act, (String, String)) {
    let mtu =
        Act::Value(ValueAct { path: "/sys/class/net/eth1/mtu".into(), before: "1500".into(), after: "9000".into() });
    (mtu, pair("ip address replace 10.7.0.1/24 dev eth1", "ip address flush dev eth1 to 10.7.0.1/32"))
}

#[test]
fn what_is_no_interface_or_a_part_of_one_is_refused() {
    let mut s = tree(&[]);
    s.add_link("sys/devices/pci0000:00/0000:00:03.0/net/eth1/master", b"../bond0");
    for (links, why) in [
        (vec![link("eth9", Some(9000), &[])], "does not show eth9"),
        (vec![link("eth1; reboot", Some(9000), &[])], "not a valid name of a network interface"),
        (vec![link("../eth1", None, &["10.7.0.1/24"])], "not a valid name of a network interface"),
        (vec![link("eth0", Some(100), &[])], "MTU 100 is not valid for eth0"),
        (vec![link("eth1", None, &["10.7.0.1/24"])], "a part of bond0"),
    ] {
        for network in [Network::Netplan, Network::NetworkManager, Network::Networkd, Network::Ifupdown] {
            let found = ask(links.clone(), network, &s);
            assert!(matches!(found.as_slice(), [Err(Refusal::No { reason, .. })] if reason.contains(why)), "{found:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn no_word_of_others_files_gets_into_an_act_unchecked(
        name in "[ -~]{0,12}", uuid in "([ -~]{0,8}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})", any in any::<String>()
    ) {
        let device = format!("[device]\nconnection-uuid={uuid}\n");
        let profile = format!("[connection]\nuuid={uuid}\ntype=ethernet\ninterface-name=eth1\n[ipv4]\nmethod={any}\n");
        let name = name.replace(['/', '.'], "-");
        let network = format!("[Match]\nName=eth1\n[Network]\nDHCP={any}\n");
        let s = tree(&[
            ("run/NetworkManager/devices/3", &device),
            (&format!("etc/NetworkManager/system-connections/x{name}.nmconnection"), &profile),
            (&format!("etc/systemd/network/5{name}.network"), &network),
        ]);
        for way in [Network::Netplan, Network::NetworkManager, Network::Networkd] {
            for r in ask(both(), way, &s).into_iter().flatten() {
                for act in &r.acts {
                    let words = match act {
                        Act::Run(RunAct { argv, undo, writes, .. }) => [argv.clone(), undo.clone(), writes.clone()].concat(),
                        Act::File(FileAct { path, .. }) => vec![path.clone()],
                        _ => vec![],
                    };
                    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:@+".contains(&b);
                    prop_assert!(words.iter().all(|w| w.bytes().all(plain)), "{words:?}");
                }
            }
        }
    }
}
