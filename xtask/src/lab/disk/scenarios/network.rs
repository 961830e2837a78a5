//! MTU and address of a RoCE interface, kept by whoever configures the network.

use super::super::{Group, Guest, Lab, Spec};
use super::apply::{FILES, Operator, nothing_else, same};
use super::{BOOT, expect};
use crate::lab::Result;

/// Soft-RoCE over `eth1` at each boot.
const ROCE: &str = "printf '[Unit]\\nAfter=network.target\\n[Service]\\nType=oneshot\\nRemainAfterExit=yes\\nExecStart=/sbin/modprobe rdma_rxe\\nExecStart=/bin/sh -c \"rdma link show rxe0/1 || rdma link add rxe0 type rxe netdev eth1\"\\n[Install]\\nWantedBy=multi-user.target\\n' >/etc/systemd/system/lab-rxe.service
    systemctl -q enable --now lab-rxe 2>&1";

/// By netplan, with systemd-networkd below it: a file of its own beside the one that is there.
pub(super) fn netplan(lab: &Lab<'_>) -> Result<()> {
    let yaml = "network:\\n  version: 2\\n  ethernets:\\n    eth1:\\n      optional: true\\n      dhcp4: false\\n";
    kept(
        lab,
        &format!(
            "printf '{yaml}' >/etc/netplan/10-fabric.yaml && chmod 600 /etc/netplan/10-fabric.yaml
            systemctl -q enable systemd-networkd 2>&1; netplan apply 2>&1"
        ),
        "/etc/netplan/90-linerate.yaml",
    )
}

/// By NetworkManager: the profile that the interface uses.
pub(super) fn manager(lab: &Lab<'_>) -> Result<()> {
    let profile = "[connection]\\nid=fabric\\nuuid=0b4a3d8e-2f60-4b7e-9a51-6a1f6f0e7c11\\ntype=ethernet\\ninterface-name=eth1\\n\\n[ethernet]\\n\\n[ipv4]\\nmethod=disabled\\n\\n[ipv6]\\nmethod=link-local\\n";
    kept(
        lab,
        &format!(
            "printf '[main]\\nno-auto-default=*\\n[keyfile]\\nunmanaged-devices=interface-name:eth0\\n' >/etc/NetworkManager/conf.d/lab.conf
            printf '{profile}' >/etc/NetworkManager/system-connections/fabric.nmconnection
            chmod 600 /etc/NetworkManager/system-connections/fabric.nmconnection
            systemctl -q enable --now NetworkManager 2>&1; nmcli connection up fabric"
        ),
        "/etc/NetworkManager/system-connections/fabric.nmconnection",
    )
}

/// What is planned holds now, over a reboot, and is undone byte for byte, now and over a reboot. `file` is where it is kept.
fn kept(lab: &Lab<'_>, setup: &str, file: &str) -> Result<()> {
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let operator = Operator::new(lab, &group)?;
    let mut spec = Spec::new("a");
    spec.devices = vec!["root-port,id=rp0,addr=02.0".to_owned(), "nic,bus=rp0".to_owned()];
    let mut guest = group.start(spec)?;
    guest.wait_ssh(BOOT)?;
    guest.copy_in(operator.linerate(), "/usr/local/bin/linerate", "755")?;
    guest.shell(&format!("{setup} && {ROCE} && sync"))?;
    // What of it comes up by itself is what the plan finds.
    guest.reboot(BOOT)?;
    let bad = shows(&guest)?;
    expect("at the start", "1500\n1024\n\nno IPv4 GID", &bad)?;
    let before = guest.shell(FILES)?;
    let (plan, keep) = (operator.file("a.plan"), operator.keep());
    let args = ["plan", "--fix", "rdma/gid-table", "--fix", "rdma/roce-mtu", "--address", "eth1=10.7.0.1/24"];
    operator.run("plan-text", &args, "a", 1)?;
    operator.run("plan", &[&args[..], &["--format", "json", "-o", &plan]].concat(), "a", 1)?;
    let applied = operator.run("apply", &["apply", &plan, "--yes", "--keep", &keep], "a", 0)?;
    nothing_else(&applied)?;
    let good = "9000\n4096\n10.7.0.1/24\nan IPv4 GID";
    expect("after apply", good, &shows(&guest)?)?;
    guest.shell(&format!("grep -q 9000 {file} && grep -q 10.7.0.1/24 {file}"))?;
    guest.reboot(BOOT)?;
    expect("after a reboot", good, &shows(&guest)?)?;
    operator.run("verify", &["verify", &plan], "a", 0)?;
    operator.run("rollback", &["rollback", &plan, "--yes"], "a", 0)?;
    expect("after the rollback", &bad, &shows(&guest)?)?;
    same(&before, &guest.shell(FILES)?)?;
    guest.reboot(BOOT)?;
    expect("after the rollback and a reboot", &bad, &shows(&guest)?)
}

/// MTU of the interface and of RDMA, addresses, and whether the port has a GID of IPv4. An interface needs a moment after a boot.
fn shows(guest: &Guest<'_>) -> Result<String> {
    guest.shell(
        "for i in $(seq 60); do ibv_devinfo -d rxe0 2>/dev/null | grep -q PORT_ACTIVE && break; sleep 1; done
        cat /sys/class/net/eth1/mtu
        ibv_devinfo -d rxe0 | sed -n 's/.*active_mtu:[^0-9]*\\([0-9]*\\).*/\\1/p'
        ip -4 -o addr show dev eth1 | awk '{ print $4 }' | paste -sd' '
        grep -q ffff:0a07 /sys/class/infiniband/rxe0/ports/1/gids/* 2>/dev/null && echo an IPv4 GID || echo no IPv4 GID",
    )
}
