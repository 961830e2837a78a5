//! What holds on one kind of machine is not said of another, and a remedy is one for the machine at hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use linerate_node::Node;
use linerate_node::context::Role;
use linerate_rules::{Action, Severity, Status, Verdict, audit, find};
use linerate_snapshot::{Coverage, Output, OutputKind, Snapshot};

/// A machine as `lspci -D -nn -vvv` shows it, with what else is given.
fn machine(lspci: &str, more: &[(OutputKind, &str)]) -> Snapshot {
    let mut s = Snapshot::new("machine");
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    let mut add = |kind, text: &str, n: usize| {
        let entry = s.add_file(&format!("cmd/{n}/stdout"), text.as_bytes()).unwrap();
        s.outputs.push(Output { kind, entry, argv: Vec::new(), status: Some(0) });
    };
    add(OutputKind::Lspci, lspci, 0);
    for (n, (kind, text)) in more.iter().enumerate() {
        add(*kind, text, n + 1);
    }
    s
}

fn judge(s: &Snapshot, role: Role, rule: &str) -> Vec<Verdict> {
    audit(&Node::decode_as(s, Some(role)), s, &[find(rule).unwrap()]).verdicts
}

const PORT: &str = "0000:00:01.0 PCI bridge [0604]: Intel Corporation Device [8086:352a]\n\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0\n\tCapabilities: [40] Express (v2) Root Port (Slot+), MSI 00\n\n";
const NIC: &str = "0000:01:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n\tIOMMU group: 7\n\tKernel driver in use: mlx5_core\n\n";

/// A management controller's VGA of ATI is no GPU; AMD's Instinct is, although it is no display.
#[test]
fn a_node_without_a_gpu_has_no_peer_to_peer_rules() {
    let vga =
        "0000:02:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] ES1000 [1002:515e]\n\n";
    let instinct = "0000:02:00.0 Processing accelerators [1200]: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X] [1002:74a1]\n\n";
    for (other, applies) in [("", false), (vga, false), (instinct, true)] {
        let s = machine(&format!("{PORT}{NIC}{other}"), &[]);
        let verdicts = judge(&s, Role::BareMetal, "iommu/translated-domain");
        assert_eq!(verdicts.iter().any(|v| v.finding.status != Status::NotApplicable), applies, "{other}");
    }
}

/// Where the fabric manager of a machine runs decides what is to be done about a GPU that has not joined.
#[test]
fn a_fabric_fault_is_mended_where_the_fabric_manager_runs() {
    let gpu = "0000:02:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330]\n\tKernel driver in use: nvidia\n\n";
    let switch = "0000:03:00.0 Bridge [0680]: NVIDIA Corporation GH100 [H100 NVSwitch] [10de:22a3]\n\tKernel driver in use: nvidia-nvswitch\n\n";
    let smi = |name: &str| {
        format!(
            "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<gpu id=\"00000000:02:00.0\">\n<product_name>{name}</product_name>\n<fabric>\n<state>In Progress</state>\n\
             <status>N/A</status>\n</fabric>\n</gpu>\n</nvidia_smi_log>\n"
        )
    };
    let action = |name: &str, bus: &str, role| {
        let s = machine(&format!("{PORT}{NIC}{gpu}{bus}"), &[(OutputKind::NvidiaSmiXml, &smi(name))]);
        let all = judge(&s, role, "gpumem/nvlink-fabric");
        let fail = all.iter().find(|v| v.finding.status == Status::Fail).expect("a finding");
        fail.finding.remedy.as_ref().expect("a remedy").action.clone()
    };
    let here = |a: &Action| matches!(a, Action::Service { .. } | Action::Software { .. });
    assert!(here(&action("NVIDIA H100 80GB HBM3", switch, Role::BareMetal)));
    assert!(here(&action("NVIDIA H100 80GB HBM3", switch, Role::VmGuest)), "full passthrough: in the guest");
    assert!(matches!(action("NVIDIA H100 80GB HBM3", "", Role::VmGuest), Action::HostSide { .. }));
    for rack in ["NVIDIA GB200", "NVIDIA GB300"] {
        assert!(
            matches!(action(rack, "", Role::BareMetal), Action::Investigate { .. }),
            "{rack}: on the NVLink switches"
        );
    }
    assert!(here(&action("NVIDIA B200", "", Role::BareMetal)));
}

/// What a text that may be a part of a query does not show may exist: no conclusion about the card.
#[test]
fn a_part_of_a_query_says_nothing_of_what_it_lacks() {
    let text = "Device #1:\n----------\n\nDevice type:    ConnectX7\nName:           MCX75310AAS-NEA_Ax\nDescription:    NVIDIA ConnectX-7\nDevice:         0000:01:00.0\n\n\
                Configurations:                              Default             Current             Next Boot\n        SRIOV_EN                                    False(0)            False(0)            False(0)\n";
    let read = |path: &str| {
        let mut s = Snapshot::new("x");
        if path.starts_with("cmd") {
            s.coverage = Coverage::Full { not_tried: Vec::new() };
        }
        let entry = s.add_file(path, text.as_bytes()).unwrap();
        let argv = ["mlxconfig", "-d", "0000:01:00.0", "-e", "q"].map(str::to_owned).to_vec();
        s.outputs.push(Output { kind: OutputKind::MlxconfigText, entry, argv, status: Some(0) });
        s
    };
    for rule in
        ["nicfw/ats-enabled", "nicfw/roce-control", "nicfw/restricted-pci", "nicfw/link-type", "nicfw/max-acc-out-read"]
    {
        for (path, want) in [("pasted/1", Status::Unknown), ("cmd/1/stdout", Status::NotApplicable)] {
            let s = read(path);
            let all: Vec<_> = judge(&s, Role::BareMetal, rule).iter().map(|v| v.finding.status).collect();
            assert_eq!(all, [want], "{rule} {path}");
        }
    }
}

/// A hypervisor may hide its flag; a cloud's bare metal has none, whatever its vendor; virtio is hardware, too.
#[test]
fn guests_are_told_from_bare_metal() {
    let role = |flags: &str, vendor: &str, product: &str, lspci: &str| {
        let mut s = Snapshot::new("x");
        s.add_file(
            "proc/cpuinfo",
            format!(
                "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel name\t: x\nflags\t\t: {flags}\n"
            )
            .as_bytes(),
        );
        s.add_file("sys/class/dmi/id/sys_vendor", vendor.as_bytes());
        s.add_file("sys/class/dmi/id/product_name", product.as_bytes());
        let entry = s.add_file("cmd/0/stdout", lspci.as_bytes()).unwrap();
        s.outputs.push(Output { kind: OutputKind::Lspci, entry, argv: Vec::new(), status: Some(0) });
        Node::decode(&s).context.role.value
    };
    let virtio = "0000:02:00.0 Ethernet controller [0200]: Red Hat, Inc. Virtio network device [1af4:1041]\n\n";
    let vbox =
        "0000:00:04.0 System peripheral [0880]: InnoTek Systemberatung GmbH VirtualBox Guest Service [80ee:cafe]\n\n";
    for (flags, vendor, product, lspci, want) in [
        ("fpu", "innotek GmbH", "VirtualBox", NIC, Role::VmGuest),
        ("fpu", "Dell Inc.", "Changed by hand", vbox, Role::VmGuest),
        ("fpu", "QEMU", "Standard PC (Q35 + ICH9, 2009)", NIC, Role::VmGuest),
        ("fpu hypervisor", "Amazon EC2", "p5.48xlarge", NIC, Role::VmGuest),
        ("fpu", "Amazon EC2", "m7i.metal-24xl", NIC, Role::BareMetal),
        ("fpu", "Oracle Corporation", "ORACLE SERVER X9-2c", NIC, Role::BareMetal),
        ("fpu", "Supermicro", "AS -8125GS-TNHR", virtio, Role::BareMetal),
    ] {
        assert_eq!(role(flags, vendor, product, lspci), Some(want), "{vendor} {product}");
    }
}

/// The matrix of `nvidia-smi topo -m` alone: what it shows is said, as information.
#[test]
fn a_matrix_alone_shows_who_shares_a_switch() {
    let said = |way: &str| {
        let text = format!(
            "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t{way}\t0-31\t0\nNIC0\t{way}\t X \t\t\n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
        );
        let mut s = Snapshot::new("x");
        let entry = s.add_file("pasted/1", text.as_bytes()).unwrap();
        s.outputs.push(Output { kind: OutputKind::NvidiaSmiTopo, entry, argv: Vec::new(), status: None });
        let all = judge(&s, Role::BareMetal, "numa/no-shared-switch");
        all.iter().map(|v| (v.finding.status, v.severity())).collect::<Vec<_>>()
    };
    for way in ["SYS", "NODE", "PHB"] {
        assert_eq!(said(way), [(Status::Fail, Severity::Info)], "{way}");
    }
    assert_eq!(said("PIX").first().map(|s| s.0), Some(Status::Pass));
    assert_eq!(said("?").first().map(|s| s.0), Some(Status::Unknown));
}

/// A port that is down is seen to be down, whatever hangs on it.
#[test]
fn a_port_that_is_down_is_a_finding_without_the_pci_tree() {
    let text = "hca_id: mlx5_12\n\ttransport:\t\t\tInfiniBand (0)\n\tnode_guid:\t\t\ta088:c203:0030:9a0d\n\tphys_port_cnt:\t\t\t1\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_DOWN (1)\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tlink_layer:\t\tEthernet\n";
    let mut s = Snapshot::new("x");
    let entry = s.add_file("pasted/1", text.as_bytes()).unwrap();
    s.outputs.push(Output { kind: OutputKind::IbvDevinfo, entry, argv: Vec::new(), status: None });
    let all = judge(&s, Role::BareMetal, "rdma/port-state");
    assert_eq!(
        all.iter().map(|v| (v.finding.status, v.severity())).collect::<Vec<_>>(),
        [(Status::Fail, Severity::Low)]
    );
}
