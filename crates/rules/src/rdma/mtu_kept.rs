//! `rdma/mtu-kept`.

mod judge;
mod kin;
mod written;

use crate::sources::linux;
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};
use judge::Judge;
use kin::Kin;
use linerate_snapshot::{Output, OutputKind, Place};
use written::groups;

pub(super) static RULE: Rule = Rule {
    id: "rdma/mtu-kept",
    title: "The running MTU of RDMA interfaces is the configured one",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("what is written runs after the next boot, if the kernel takes it; 1500 in place of 9000 makes the RDMA MTU 1024 in place of 4096 (rdma/roce-mtu)"),
    sources: &[
        Source {
            title: "netplan YAML reference: mtu, infiniband-mode, match, set-name, bonds, vlans; later files amend earlier ones",
            at: "https://netplan.readthedocs.io/en/stable/netplan-yaml/",
        },
        Source {
            title: "NetworkManager settings: 802-3-ethernet.mtu, infiniband.mtu, infiniband.transport-mode, vlan.parent; an MTU of 0 is not set",
            at: "https://networkmanager.dev/docs/api/latest/nm-settings-nmcli.html",
        },
        Source {
            title: "systemd src/network/networkd-setlink.c, link_configure_mtu: without MTUBytes the MTU stays, or rises to that of a VLAN above",
            at: "https://github.com/systemd/systemd/blob/main/src/network/networkd-setlink.c",
        },
        linux!("net/8021q/vlan_dev.c", "vlan_dev_change_mtu answers ERANGE above the parent's MTU; a new VLAN gets EINVAL (vlan_netlink.c)"),
        linux!("Documentation/infiniband/ipoib.rst", "datagram: the link's MTU less 4; connected: up to 64K"),
        linux!("drivers/infiniband/ulp/ipoib/ipoib_main.c", "ipoib_change_mtu refuses more than the mode takes"),
        Source {
            title: "RHEL 9, Configuring InfiniBand and RDMA networks: Enhanced IPoIB of ConnectX-4 and later is datagram only",
            at: "https://docs.redhat.com/en/documentation/red_hat_enterprise_linux/9/html/configuring_infiniband_and_rdma_networks/configuring-ipoib_configuring-infiniband-and-rdma-networks",
        },
        linux!("drivers/net/bonding/bond_main.c", "bond_enslave and bond_change_mtu give members the bond's MTU"),
    ],
    reads: &["cat /etc/netplan/*.yaml", "cat /etc/NetworkManager/system-connections/*.nmconnection", "sys/class/net/*/mtu", "ip -d link"],
    docs: "\
## What it checks
Texts of netplan (`cat /etc/netplan/*.yaml`, `netplan get`) and keyfiles of NetworkManager, against the MTU that runs: the same, or one of them is wrong. A member of a bond has the MTU that is
written for the bond. Where the node shows its RDMA devices, only their interfaces are judged, with their bonds and VLANs.
By the text alone: a VLAN with a larger MTU than its parent's, and IPoIB with a larger one than its mode takes (datagram 4092, connected 65520).
No MTU written, and another than Ethernet's 1500 runs: unknown, because a .link file, a rule of udev, DHCP or a script may set it at each boot.

## Why it matters
`ip link set mtu 9000` holds until the next boot or `netplan apply`. Then the written MTU comes back, and RoCE runs with a smaller RDMA MTU, on one node of many. A larger MTU that was written and
never applied shows the other way round.

## See it yourself
`ip -d link show IF`, `netplan get`, `nmcli -g 802-3-ethernet.mtu,infiniband.mtu connection show NAME`.

## Fix
Decide which MTU is meant (9000 is customary for RoCE, with all switches), write it, and apply it: `netplan apply`, or `nmcli connection modify NAME 802-3-ethernet.mtu 9000` and
`nmcli device reapply IF`. Of a VLAN, write the parent's MTU, too. netplan with networkd sets the MTU reliably only for interfaces that are matched by their MAC.",
    myths: &[Myth {
        claim: "ip link shows 9000, so the MTU is set.",
        truth: "It is set until the next boot. What is written decides from then on.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some(first) = cx.node.net_written.first() else {
        let is_text = |o: &&Output| matches!(o.kind, OutputKind::Netplan | OutputKind::NetworkManager);
        match cx.snapshot.outputs.iter().find(is_text) {
            Some(text) => {
                _ = out
                    .unknown(Subject::Node, "no interface is read in a text of netplan or NetworkManager")
                    .at(Place::of(text.entry))
                    .see("netplan get")
            }
            None => _ = out.not_applicable("no file of netplan and no connection of NetworkManager in this source"),
        }
        return;
    };
    let kin = Kin::of(cx);
    if let Kin::None(place) = kin {
        out.not_applicable("no RDMA device").at(place);
        return;
    }
    let found = groups(cx);
    for g in found.named.values().filter(|g| !kin.excludes(cx, &g.name)) {
        Judge { kin: &kin, found: &found, g }.answer(out);
    }
    for w in &found.unnamed {
        out.unknown(Subject::Named(w.label()), "which interface it is for is not in this source")
            .at(w.place())
            .see("ip -d link, with the interfaces that it matches");
    }
    if out.is_empty() {
        out.not_applicable("no interface that is written here carries RDMA").at(first.place());
    }
}
