//! What texts without numbers, and logs alone, tell of a machine.
#![allow(clippy::panic, clippy::unwrap_used)]

use linerate_node::Node;
use linerate_node::context::{Basis, Role};
use linerate_snapshot::{Output, OutputKind, Snapshot};

fn pasted(kind: OutputKind, text: &str) -> Snapshot {
    let mut s = Snapshot::new("x");
    let entry = s.add_file("text", text.as_bytes()).unwrap();
    s.outputs.push(Output { kind, entry, argv: Vec::new(), status: None });
    s
}

/// QEMU and Xen play devices of other makers; the subsystem tells, by number and by name.
#[test]
fn emulated_devices_are_known_by_their_subsystem() {
    for (text, guest) in [
        (
            "00:00.0 Host bridge: Intel Corporation 440FX - 82441FX PMC [Natoma] (rev 02)\n\tSubsystem: Red Hat, Inc Qemu virtual machine\n",
            true,
        ),
        (
            "00:00.0 Host bridge: Intel Corporation 82G33/G31 DRAM Controller\n\tSubsystem: Red Hat, Inc. QEMU Virtual Machine\n",
            true,
        ),
        (
            "00:01.1 IDE interface: Intel Corporation 82371SB PIIX3 IDE\n\tSubsystem: XenSource, Inc. Device 0001\n",
            true,
        ),
        ("00:1f.0 Unassigned class [ff80]: XenSource, Inc. Xen Platform Device (rev 01)\n", true),
        (
            "00:00.0 Host bridge [0600]: Intel Corporation 440FX [8086:1237]\n\tSubsystem: Red Hat, Inc. Qemu virtual machine [1af4:1100]\n",
            true,
        ),
        ("00:00.0 Host bridge: Intel Corporation 440FX\n\tSubsystem: Dell Device 0a6b\n", false),
        // A card of hardware that speaks virtio.
        ("41:00.0 Ethernet controller: Mellanox Technologies MT2910\n\tSubsystem: Red Hat, Inc. Device 0001\n", false),
    ] {
        let s = pasted(OutputKind::Lspci, text);
        let role = Node::decode(&s).context.role;
        assert_eq!(role.value == Some(Role::VmGuest), guest, "{text}: {:?}", role.reasons);
        assert_eq!(role.basis, if guest { Basis::Inferred } else { Basis::Unknown }, "{text}");
    }
}

/// AMD's accelerators by class; what is a display adapter to the firmware is counted apart.
#[test]
fn amd_gpus_without_numbers_are_known() {
    let text = "01:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X]\n\
                02:00.0 Display controller: Advanced Micro Devices, Inc. [AMD/ATI] Arcturus GL-XL [Instinct MI100] (rev 01)\n\
                07:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Vega 20 (rev 02)\n\
                08:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family (rev 52)\n";
    let s = pasted(OutputKind::Lspci, text);
    let node = Node::decode(&s);
    assert_eq!(node.pci.gpus().count(), 2);
    let displays: Vec<String> = node.pci.amd_displays().map(|f| f.bdf.to_string()).collect();
    assert_eq!(displays, ["0000:07:00.0"]);
}

/// Where a log is the only source, it names kernel and machine.
#[test]
fn a_boot_log_tells_kernel_and_machine() {
    let boot = |dmi: &str, more: &str| {
        format!(
            "[    0.000000] Linux version 5.14.0-570.el9.x86_64 (builder@host) (gcc (GCC) 11.5.0) #1 SMP\n\
             [    0.000000] Command line: BOOT_IMAGE=/vmlinuz ro\n[    0.000000] DMI: {dmi}\n{more}[    1.000000] x: y\n"
        )
    };
    for (text, role, reason) in [
        (boot("Supermicro AS -4125GS-TNRT/H13DSG-O-CPU, BIOS 1.8 02/05/2024", ""), None, "Supermicro AS -4125GS-TNRT"),
        (boot("QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16.2 04/01/2014", ""), Some(Role::VmGuest), "QEMU"),
        (
            boot("Hosting Ltd. Server/X, BIOS 1 01/01/2024", "[    0.000000] Hypervisor detected: KVM\n"),
            Some(Role::VmGuest),
            "KVM",
        ),
        (
            boot("Hosting Ltd. Server/X, BIOS 1 01/01/2024", "[    0.000000] Hypervisor detected: Xen PV\n"),
            None,
            "Hosting",
        ),
    ] {
        let s = pasted(OutputKind::Dmesg, &text);
        let node = Node::decode(&s);
        assert_eq!(node.kernel.release.known().map(ToString::to_string).as_deref(), Some("5.14.0-570.el9.x86_64"));
        let found = &node.context.role;
        assert_eq!(found.value, role, "{text}");
        assert!(found.reasons.iter().any(|(r, _)| r.contains(reason)), "{:?}", found.reasons);
    }
    // A program that mentions a kernel is not one.
    let s = pasted(OutputKind::Dmesg, "[    5.000000] Linux version is 5.14.0-570.el9.x86_64\n");
    assert!(Node::decode(&s).kernel.release.known().is_none());
}

/// The list says what redirects and at which line; it makes no port of it.
#[test]
fn controls_without_ports_are_no_ports() {
    let set = "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n";
    let s =
        pasted(OutputKind::AcsControls, &format!("$ lspci -vvv | grep ACSCtl\n{set}{set}\t\tACSCtl:\tSrcValid- Tr\n"));
    let node = Node::decode(&s);
    let seen: Vec<_> = node.acs_unnamed.iter().map(|(bits, place)| (bits.0, *place)).collect();
    let entry = s.outputs.first().unwrap().entry;
    let at = |line| linerate_snapshot::Place::of(entry).line(line);
    assert_eq!(seen, [(0x1d, at(2)), (0x1d, at(3))]);
    assert_eq!(node.pci.iter().count(), 0);
}

/// What sysfs lists is the list; texts add to it, and show interfaces beside it.
#[test]
fn texts_of_interfaces_come_second() {
    let mut s = Snapshot::new("x");
    s.add_file("sys/class/net/eth0/mtu", b"1500\n").unwrap();
    let mut add = |kind, text: &str, argv: &[&str]| {
        let entry = s.add_file(&format!("text{}", s.outputs.len()), text.as_bytes()).unwrap();
        let argv = argv.iter().map(|a| (*a).to_owned()).collect();
        s.outputs.push(Output { kind, entry, argv, status: None });
        entry
    };
    let link = "2: eth0: <UP> mtu 9000 qdisc mq master bond0 state UP group default\n3: eth1: <UP> mtu 4200 qdisc mq state DOWN group default\n";
    let ip = add(OutputKind::IpLink, link, &[]);
    add(OutputKind::EthtoolSettings, "Settings for eth0:\n\tSpeed: 100000Mb/s\n\tLink detected: yes\n", &[]);
    add(OutputKind::EthtoolDriver, "driver: mlx5_core\nbus-info: 0000:18:00.0\n", &["ethtool", "-i", "eth1"]);
    let node = Node::decode(&s);
    let net = node.net.known().unwrap();
    assert_eq!(net.iter().map(|n| n.name).collect::<Vec<_>>(), ["eth0"]);
    assert_eq!((net[0].mtu.known(), net[0].operstate.known()), (Some(&1500), Some(&"up")));
    assert_eq!(net[0].speed_mbps.known(), Some(&100_000));
    let [eth0, eth1] = node.net_shown.as_slice() else { panic!("{:?}", node.net_shown) };
    assert_eq!(
        (eth0.mtu.known(), eth0.master.known().map(String::as_str), eth0.link.known()),
        (Some(&9000), Some("bond0"), Some(&true))
    );
    assert_eq!(eth1.pci.known().map(ToString::to_string).as_deref(), Some("0000:18:00.0"));
    assert_eq!(eth1.place, linerate_snapshot::Place::of(ip).line(2));
    assert!(eth1.speed_mbps.is_unreadable());
}

/// Members and parents by the names of what ids and UUIDs stand for; each value where it is written.
#[test]
fn texts_of_netplan_and_network_manager() {
    let mut s = Snapshot::new("x");
    let mut add = |kind, text: &str| {
        let entry = s.add_file(&format!("text{}", s.outputs.len()), text.as_bytes()).unwrap();
        s.outputs.push(Output { kind, entry, argv: Vec::new(), status: None });
        entry
    };
    let plan = "network:\n  ethernets:\n    rail0: {match: {driver: x}, set-name: eth2, mtu: 9000}\n  vlans:\n    v100: {id: 100, link: rail0}\n";
    let netplan = add(OutputKind::Netplan, plan);
    add(OutputKind::Netplan, "network:\n  bonds:\n    bond0:\n      interfaces: [rail0]\n");
    let bond = "[connection]\nuuid=11111111-2222-3333-4444-555555555555\ntype=bond\ninterface-name=bond1\n";
    add(OutputKind::NetworkManager, bond);
    let member = "[connection]\ntype=ethernet\nmaster=11111111-2222-3333-4444-555555555555\n[ethernet]\nmtu=x\n";
    add(OutputKind::NetworkManager, member);
    let node = Node::decode(&s);
    let [rail0, v100, _, _, member] = node.net_written.as_slice() else { panic!("{:?}", node.net_written) };
    assert_eq!((rail0.written_name(), rail0.mtu().known()), (Some("eth2"), Some(&9000)));
    assert_eq!(rail0.mtu().place(), linerate_snapshot::Place::of(netplan).line(3));
    assert_eq!(rail0.master.as_ref().map(|(m, _)| m.as_str()), Some("bond0"));
    assert_eq!(v100.parent.as_ref().map(|p| p.value.as_str()), Some("eth2"));
    assert_eq!(member.master.as_ref().map(|(m, _)| m.as_str()), Some("bond1"));
    assert_eq!((member.written_name(), member.label().as_str()), (None, "connection at line 1"));
    assert!(member.mtu().is_unreadable());
}

/// `lspci | grep` shows ends only; the tree shows the bridges between them, and setpci their registers.
#[test]
fn a_tree_shows_the_way_between_ends() {
    use linerate_node::pci::{Kind, Parent};
    let mut s = pasted(
        OutputKind::Lspci,
        "67:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n68:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n",
    );
    let mut add = |kind, text: &str| {
        let entry = s.add_file(&format!("text{}", s.outputs.len()), text.as_bytes()).unwrap();
        s.outputs.push(Output { kind, entry, argv: Vec::new(), status: None });
    };
    let tree = "-+-[0000:64]---00.0-[65-68]----00.0-[66-68]--+-00.0-[67]----00.0  NVIDIA Corporation Device 2330\n |                                           \\-01.0-[68]----00.0  Mellanox\n \\-[0000:00]---1f.0  Intel Corporation LPC\n";
    add(OutputKind::LspciTree, tree);
    add(OutputKind::Setpci, "# setpci -s 66:00.0 ECAP_ACS+6.w\n001d\n0000:66:01.0 (ecap 000d @2a0) @2a6 0000\n");
    let node = Node::decode(&s);
    assert_eq!(node.pci.of_kind(Kind::Bridge).count(), 4, "no function that the way does not need");
    let at = |bdf: &str| node.pci.find(bdf.parse().unwrap()).unwrap();
    let bridges = |bdf: &str| {
        let (above, _) = node.pci.ancestors(at(bdf));
        above.iter().map(|id| node.pci.get(*id).bdf.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(bridges("67:00.0"), ["0000:66:00.0", "0000:65:00.0", "0000:64:00.0"]);
    assert_eq!(bridges("68:00.0"), ["0000:66:01.0", "0000:65:00.0", "0000:64:00.0"]);
    assert_eq!(node.pci.get(at("64:00.0")).parent, Parent::RootComplex);
    assert_eq!(node.pci.get(at("66:00.0")).acs.known().and_then(|a| a.control).map(|c| c.0), Some(0x1d));
    assert!(node.pci.get(at("66:01.0")).acs.is_unreadable(), "what was written is not what is there");
    // A tree alone lists no functions: it shows no class, and no GPU would be found in it.
    let s = pasted(OutputKind::LspciTree, tree);
    assert_eq!(Node::decode(&s).pci.iter().count(), 0);
}

/// As a paste comes in: secrets go, and what is judged stays with its line.
#[test]
fn intent_is_read_from_what_redaction_leaves() {
    let secret = ["hunter", "two"].concat();
    let unit = format!(
        "[Unit]\nDescription=Slurm node daemon\n[Service]\nEnvironment=TOKEN={secret} \\\n  A={secret}\nExecStart=/usr/sbin/slurmd --key {secret}\nLimitMEMLOCK=8M\n"
    );
    let compose = format!(
        "services:\n  train:\n    image: registry.example.org/{secret}\n    environment: {{TOKEN: {secret}}}\n    command: run {secret}\n    gpus: all\n    shm_size: 64m\n"
    );
    for (name, text) in [("slurmd.service", unit), ("site.conf", compose)] {
        let s = linerate_snapshot::load_bytes(text.as_bytes(), name).unwrap();
        let kept: Vec<u8> = s.outputs.iter().flat_map(|o| s.data(o.entry).to_vec()).collect();
        let kept = String::from_utf8(kept).unwrap();
        assert!(!kept.contains(&secret) && !kept.contains("registry"), "{kept}");
        let node = Node::decode(&s);
        let units: Vec<_> = node.units.iter().map(|u| (u.name.as_deref(), u.unit.memlock.map(|m| m.line))).collect();
        let pods: Vec<_> = node.pods.iter().map(|p| (p.pod.line, p.pod.memory_volumes.len())).collect();
        match name {
            "site.conf" => assert_eq!((units.len(), pods), (0, vec![(2, 1)])),
            _ => assert_eq!((units, pods.len()), (vec![(Some(name), Some(7))], 0)),
        }
    }
}

/// A script and lists of a cluster's nodes: what is judged stays with its line, and nothing else stays.
#[test]
fn jobs_and_lists_are_read_from_what_redaction_leaves() {
    let secret = ["hunter", "two"].concat();
    let script = format!(
        "#!/bin/bash\n#SBATCH -A {secret} --gres=gpu:h100:8 # {secret}\nexport TOKEN={secret}\nulimit -l 64\nsrun --container-image={secret} \\\n  --gpu-bind=none python {secret}\n"
    );
    let sinfo = format!(
        "NODELIST NODES PARTITION STATE REASON\ngpu1 1 {secret} mixed none\ngpu2 1 gpu* drained token={secret} bad cable\n"
    );
    let kubectl = format!("NAME STATUS ROLES AGE VERSION\na Ready {secret} 1d v1\nb NotReady x 1d {secret}\n");
    for (name, text) in [("job.sh", script), ("sinfo.txt", sinfo), ("nodes.txt", kubectl)] {
        let s = linerate_snapshot::load_bytes(text.as_bytes(), name).unwrap();
        let kept: Vec<u8> = s.outputs.iter().flat_map(|o| s.data(o.entry).to_vec()).collect();
        let kept = String::from_utf8(kept).unwrap();
        assert!(!kept.contains(&secret), "{kept}");
        let node = Node::decode(&s);
        let rows: Vec<_> = node.cluster.listed.iter().map(|r| (r.row.nodes.as_str(), r.row.used, r.row.line)).collect();
        match name {
            "job.sh" => {
                let [job] = node.jobs.as_slice() else { panic!("{kept}") };
                let of = |opt| job.script.asked.get(opt).map(|g| (g.number(), g.line));
                assert_eq!(of(linerate_formats::sbatch::Opt::GpusPerNode), Some((Some(8), 2)));
                assert_eq!(job.script.memlock.iter().map(|m| m.line).collect::<Vec<_>>(), [4]);
                assert_eq!(job.script.steps.iter().map(|s| s.line).collect::<Vec<_>>(), [5]);
            }
            "sinfo.txt" => assert_eq!(rows, [("gpu1", Some(true), 2), ("gpu2", Some(false), 3)]),
            _ => assert_eq!(rows, [("a", Some(true), 2), ("b", Some(false), 3)]),
        }
    }
}

/// Of a list that names the node its row counts alone.
#[test]
fn a_row_of_a_list_is_the_nodes_own_by_its_name() {
    let list = "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\ngpu* up infinite 8 mix gpu[1-8]\ngpu* up infinite 1 down* gpu9\n";
    for (label, rows) in [("gpu3.example.org", 1), ("gpu9", 1), ("gpu10", 2), ("x.txt", 2)] {
        let mut s = pasted(OutputKind::Sinfo, list);
        s.label = label.to_owned();
        let listed = Node::decode(&s).cluster.listed;
        assert_eq!((listed.len(), listed[0].is_own), (rows, rows == 1), "{label}");
    }
}
