//! NetworkManager: the profile that an interface uses.

use super::*;
use linerate_remedy::Condition;

const UUID: &str = "11111111-2222-3333-4444-555555555555";
const KEYFILE: &str = "etc/NetworkManager/system-connections/eth1.nmconnection";

fn managed(profile: (&str, &str)) -> Snapshot {
    let device = format!("[device]\nmanaged=true\nconnection-uuid={UUID}\n");
    tree(&[("run/NetworkManager/devices/3", &device), profile])
}

fn keyfile(rest: &str) -> String {
    format!("[connection]\nuuid={UUID}\ntype=ethernet\ninterface-name=eth1\n{rest}")
}

#[test]
fn a_profile_of_network_manager_is_changed_and_its_file_is_kept() {
    let r = one(ask(both(), Network::NetworkManager, &managed((KEYFILE, &keyfile("[ipv4]\nmethod=disabled\n")))));
    let (mtu, address) = at_once();
    let path = format!("/{KEYFILE}");
    let modify = format!(
        "nmcli connection modify uuid {UUID} 802-3-ethernet.mtu 9000 +ipv4.addresses 10.7.0.1/24 ipv4.method manual"
    );
    assert_eq!(commands(&r), [address, pair(&modify, &format!("nmcli connection load {path}"))]);
    assert!(r.acts.contains(&mtu) && files(&r).is_empty());
    assert!(
        matches!(r.acts.last(), Some(Act::Run(RunAct { writes, .. })) if *writes == [path.clone()]),
        "it comes back byte for byte"
    );
    assert!(r.precondition.contains(&Condition::Exists { path }));
    assert!(r.precondition.iter().any(|c| matches!(c, Condition::Program { name, .. } if name == "nmcli")));
    for method in ["", "[ipv4]\nmethod=auto\n", "[ipv4]\nmethod=manual\n"] {
        let r = one(ask(both(), Network::NetworkManager, &managed((KEYFILE, &keyfile(method)))));
        assert!(commands(&r)[1].0.ends_with("+ipv4.addresses 10.7.0.1/24"), "{method}: how it gets the others stays");
    }
    let infiniband = keyfile("").replace("ethernet", "infiniband");
    let r = one(ask(vec![link("eth1", Some(4092), &[])], Network::NetworkManager, &managed((KEYFILE, &infiniband))));
    assert!(commands(&r)[0].0.ends_with("infiniband.mtu 4092"));
}

#[test]
fn profiles_that_are_not_one_interfaces_own_are_left_to_people() {
    let own = keyfile("");
    let run = KEYFILE.replace("etc/", "run/");
    let spaced = KEYFILE.replace("eth1.", "Wired connection 1.");
    let cases: Vec<(String, String, &str)> = vec![
        (KEYFILE.into(), own.replace("interface-name=eth1\n", ""), "not for eth1 alone"),
        (KEYFILE.into(), own.replace("interface-name=eth1\n", "[match]\ninterface-name=eth*\n"), "not for eth1 alone"),
        (KEYFILE.into(), own.replace("=eth1", "=eth0"), "not for eth1 alone"),
        (KEYFILE.into(), own.replace("=ethernet", "=bond"), "neither of Ethernet"),
        (KEYFILE.into(), keyfile("[ipv4]\nmethod=shared\n"), "shares the network"),
        (KEYFILE.into(), own.replace(UUID, "99999999-2222-3333-4444-555555555555"), "ifcfg"),
        (KEYFILE.into(), String::new(), "ifcfg"),
        (run, own.clone(), "makes a copy"),
        (spaced, own, "passed to a program"),
    ];
    for (path, text, why) in cases {
        let how = by_hand(ask(both(), Network::NetworkManager, &managed((&path, &text))));
        assert!(how[0].contains(why), "{path}: {how:?}");
        let lines = [
            format!("nmcli connection modify uuid {UUID} 802-3-ethernet.mtu 9000"),
            format!("nmcli connection modify uuid {UUID} +ipv4.addresses 10.7.0.1/24"),
            format!(
                "where its ipv4.method is disabled or link-local, instead: \
                 nmcli connection modify uuid {UUID} +ipv4.addresses 10.7.0.1/24 ipv4.method manual"
            ),
            "nmcli device reapply eth1".to_owned(),
        ];
        assert_eq!(how[1..], lines, "{path}");
    }
    let alone = tree(&[(KEYFILE, &keyfile(""))]);
    let how = by_hand(ask(both(), Network::NetworkManager, &alone));
    assert!(how[0].contains("collect again") && how.iter().any(|h| h.contains("CONNECTION-OF-eth1")), "{how:?}");
    let unused = tree(&[("run/NetworkManager/devices/3", "[device]\nmanaged=false\n"), (KEYFILE, &keyfile(""))]);
    assert!(by_hand(ask(both(), Network::NetworkManager, &unused))[0].contains("uses no connection"));
    let hostile =
        tree(&[("run/NetworkManager/devices/3", "[device]\nconnection-uuid=--help\n"), (KEYFILE, &keyfile(""))]);
    assert!(by_hand(ask(both(), Network::NetworkManager, &hostile)).iter().all(|h| !h.contains("--help")));
}
