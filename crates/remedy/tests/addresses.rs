//! Addresses that people give RoCE ports (`--address`), on composed nodes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::composed as common;

use linerate_node::Node;
use linerate_remedy::plan::{Options, plan_for};
use linerate_remedy::platform::{Network, Platform};
use linerate_remedy::verify::verify;
use linerate_remedy::{Act, Plan, Proof, RunAct};
use linerate_rules::{audit, rules};
use linerate_snapshot::Snapshot;

/// The port of `eth4` has a link-local GID only; all others have one of IPv4.
fn broken() -> Snapshot {
    common::load(&common::nodes().join("broken/rdma--gid-table.toml")).1
}

fn planned(s: &Snapshot, addresses: &[&str]) -> Plan {
    let node = Node::decode(s);
    let mut platform = Platform::detect(s, &node);
    platform.network = Network::Ifupdown;
    let addresses = addresses.iter().map(|a| a.parse().expect("an address")).collect();
    let options = Options { addresses, fix: vec!["rdma/gid-table".into()], ..Options::default() };
    plan_for(s, &node, &audit(&node, s, rules()), &options, &platform)
}

/// Why nothing is planned.
fn reason(s: &Snapshot, addresses: &[&str]) -> String {
    let plan = planned(s, addresses);
    assert!(plan.steps.is_empty(), "{:?}", plan.steps);
    plan.refused.iter().map(|r| format!("{}: {}", r.summary, r.reason)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_port_without_an_address_gets_the_one_that_is_given() {
    let s = broken();
    let open = planned(&s, &[]);
    let [by_hand] = open.by_hand.as_slice() else { panic!("{:?}", open.by_hand) };
    assert!(open.steps.is_empty() && open.refused.is_empty());
    assert!(by_hand.how.iter().any(|h| h.contains("linerate plan --address eth4=ADDR/PREFIX")), "{:?}", by_hand.how);

    let plan = planned(&s, &["eth4=192.168.77.1/24"]);
    let [step] = plan.steps.as_slice() else { panic!("{:?}", plan.refused) };
    assert!(plan.by_hand.is_empty() && plan.refused.is_empty(), "{:?}", plan.refused);
    let given = |a: &Act| matches!(a, Act::Run(RunAct { argv, .. }) if argv.join(" ") == "ip address replace 192.168.77.1/24 dev eth4");
    assert!(step.change.iter().any(given), "{:?}", step.change);
    let [Proof::Rule { rule, subject }] = step.proof.as_slice() else { panic!("{:?}", step.proof) };
    assert_eq!((rule.as_str(), subject.as_str()), ("rdma/gid-table", "mlx5_2/1"));

    let outcome = |after: &Snapshot| verify(&plan, Some(&s), after).steps[0].outcome.name();
    let healthy = common::load(&common::nodes().join("healthy-8gpu-roce.toml")).1;
    assert_eq!((outcome(&s), outcome(&healthy)), ("ineffective", "effective"), "by the GIDs that are read again");
}

#[test]
fn two_ports_do_not_share_a_subnet() {
    let s = broken();
    let node = Node::decode(&s);
    let other = node.rdma.known().into_iter().flatten().find(|d| d.name == "mlx5_3").expect("there");
    let gid = other.ports[0].gids.known().into_iter().flatten().find(|g| g.is_ipv4()).expect("of IPv4");
    let theirs = gid.gid.parse::<std::net::Ipv6Addr>().ok().and_then(|a| a.to_ipv4_mapped()).expect("mapped");
    let [a, b, c, d] = theirs.octets();
    let beside = format!("eth4={a}.{b}.{c}.{}/24", if d == 9 { 10 } else { 9 });
    let why = reason(&s, &[&beside]);
    assert!(why.contains(&theirs.to_string()) && why.contains("arp_announce"), "{why}");

    let mut filed = broken();
    filed.add_cut_file(
        "etc/systemd/network/10-mgmt.network",
        b"[Match]\nName=eth0\n[Network]\nAddress=192.168.77.1/16\n",
    );
    assert!(reason(&filed, &["eth4=192.168.1.1/24"]).contains("10-mgmt.network gives 192.168.77.1/16"));
    let mut already = broken();
    already
        .add_cut_file("etc/systemd/network/10-a.network", b"[Match]\nName=eth4\n[Network]\nAddress=192.168.9.1/24\n");
    let why = reason(&already, &["eth4=192.168.77.1/24"]);
    assert!(why.contains("gives eth4 192.168.9.1/24 already"), "{why}");
}

#[test]
fn what_no_finding_asks_for_is_refused_and_told() {
    let s = broken();
    let why = reason(&s, &["eth4=192.168.77.1/24", "eth4=192.168.78.1/24"]);
    assert!(why.contains("two addresses"), "{why}");
    let why = reason(&s, &["eth4=fd00::1/64"]);
    assert!(why.contains("AF_INET6"), "{why}");
    let plan = planned(&s, &["eth4=192.168.77.1/24", "eth5=192.168.78.1/24", "eth99=192.168.79.1/24"]);
    assert_eq!(plan.steps.len(), 1);
    let told: Vec<String> = plan.refused.iter().map(|r| format!("{}: {}", r.summary, r.reason)).collect();
    assert!(
        told[0].starts_with(
            "give eth5 the address 192.168.78.1/24: no finding asks for an address for it (those that do: eth4)"
        ),
        "{told:?}"
    );
    assert!(told[1].contains("the source does not show this interface"), "{told:?}");
    let healthy = common::load(&common::nodes().join("healthy-8gpu-roce.toml")).1;
    assert!(reason(&healthy, &["eth4=192.168.77.1/24"]).contains("none does"));
    let mut redacted = broken();
    redacted.manifest.redacted = true;
    assert!(reason(&redacted, &["eth4=8.8.4.4/24"]).contains("redacted"));
    assert_eq!(planned(&redacted, &["eth4=192.168.77.1/24"]).steps.len(), 1, "private addresses are not hashed");
}
