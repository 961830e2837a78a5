//! What root can show besides: of machines of the zoo, on which nothing that can be seen may stay open.

use crate::Tree;
use crate::compose::{Commands, Plan};
use crate::description::{Fabric, Role};
use crate::function::Kind;
use std::fmt::Write;

pub(crate) fn write(plan: &Plan, tree: &mut Tree, commands: &mut Commands) {
    let shm = plan.d.node.memory_gib << 19;
    tree.file(
        "proc/mounts",
        format!(
            "sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0\nproc /proc proc rw,nosuid,nodev,noexec,relatime 0 0\n\
             /dev/nvme0n1p2 / ext4 rw,relatime 0 0\ntmpfs /dev/shm tmpfs rw,nosuid,nodev,size={shm}k,inode64 0 0\n"
        ),
    );
    programs(plan, tree);
    if plan.d.node.role == Role::Guest {
        return;
    }
    for p in &plan.ports {
        let physical = plan.functions.get(p.function).is_some_and(|f| matches!(f.kind, Kind::Nic { .. }));
        if p.fabric != Fabric::Ethernet || p.netdev.is_empty() || !physical || !p.model.rdma {
            continue;
        }
        // A lossless class of its own for RoCE: priority 3 by DSCP, no global pause.
        if p.model.driver.starts_with("mlx") {
            let qos = "DCBX mode: OS controlled\nPriority trust state: dscp\nPFC configuration:\n\
                       \tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   0   0   0\n";
            commands.add(&["mlnx_qos", "-i", &p.netdev], qos.to_owned(), 0);
        }
        let pause = format!("Pause parameters for {}:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n", p.netdev);
        commands.add(&["ethtool", "-a", &p.netdev], pause, 0);
    }
}

/// What the distribution boots and configures its network with.
fn programs(plan: &Plan, tree: &mut Tree) {
    let n = &plan.d.node;
    let debian = n.os.starts_with("ubuntu") || n.os.starts_with("debian");
    let red_hat = ["rhel-", "rocky-"].iter().any(|os| n.os.starts_with(os));
    if !debian && !red_hat {
        return;
    }
    let common = ["setpci", "modprobe", "sysctl", "ip", "mlxconfig", "mlxfwreset"];
    let own: &[&str] =
        if debian { &["update-grub", "grub-reboot", "update-initramfs"] } else { &["grubby", "dracut", "tuned-adm"] };
    for name in common.iter().chain(own) {
        tree.file(format!("usr/sbin/{name}"), "");
    }
    tree.file("usr/bin/systemctl", "");
    let cmdline = crate::host::cmdline(plan);
    let own: Vec<&str> = cmdline.split(' ').filter(|w| !w.starts_with("BOOT_IMAGE=")).collect();
    if debian {
        tree.file("boot/grub/grub.cfg", "# made by grub-mkconfig\n");
        let args: Vec<&str> = own.iter().copied().filter(|w| !w.starts_with("root=") && *w != "ro").collect();
        tree.file("etc/default/grub", format!("GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX=\"{}\"\n", args.join(" ")));
    } else {
        let entry = format!("boot/loader/entries/{}-{}.conf", plan.seed.uuid("machine").replace('-', ""), n.kernel);
        let kernel = &n.kernel;
        tree.file(
            entry,
            format!("title Linux ({kernel})\nversion {kernel}\nlinux /vmlinuz-{kernel}\noptions {}\n", own.join(" ")),
        );
    }
    if n.os.starts_with("ubuntu") {
        tree.file("usr/sbin/netplan", "");
        let mut text = String::from("network:\n  version: 2\n  ethernets:\n    eth0:\n      dhcp4: true\n");
        for p in plan.ports.iter().filter(|p| p.fabric == Fabric::Ethernet && !p.netdev.is_empty()) {
            let [high, low] = ((plan.d.node.seed % 65_000 + 1) as u16).to_be_bytes();
            let address = format!("10.{}.{high}.{low}/24", p.number & 0xff);
            let _ = write!(text, "    {}:\n      addresses: [{address}]\n      mtu: {}\n", p.netdev, p.mtu);
        }
        tree.file("etc/netplan/60-rails.yaml", text);
    }
}
