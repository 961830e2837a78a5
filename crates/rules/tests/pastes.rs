//! What the rules say of texts as people bring them: quoted, in the markup of a page, and of tools that say that something is missing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use linerate_node::Node;
use linerate_node::context::Role;
use linerate_rules::{Action, Audit, Severity, Status, audit, rules};
use linerate_snapshot::load_bytes;

fn audit_of(text: &str) -> Audit {
    let s = load_bytes(text.as_bytes(), "paste.md").unwrap_or_else(|e| panic!("{text}: {e}"));
    audit(&Node::decode_as(&s, Some(Role::BareMetal)), &s, rules())
}

/// Subject, status and severity of a rule's answers; of what does not fail the severity says nothing.
fn said(a: &Audit, rule: &str) -> Vec<(String, Status, Severity)> {
    let severity = |v: &linerate_rules::Verdict| match v.finding.status {
        Status::Fail => v.severity(),
        _ => Severity::Info,
    };
    let of = a.verdicts.iter().filter(|v| v.rule.id == rule);
    let mut all: Vec<_> = of.map(|v| (v.finding.subject.to_string(), v.finding.status, severity(v))).collect();
    all.sort();
    all
}

const XID: &str = "NVRM: Xid (PCI:0000:cb:00): 79, GPU has fallen off the bus.\n";
const TIMED: &str = "[Fri Aug 30 11:43:14 2024] NVRM: Xid (PCI:0000:cb:00): 79, GPU has fallen off the bus.\n";
const IBSTAT: &str = "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n\t\tLink layer: InfiniBand\n";

#[test]
fn quoted_texts_are_what_they_are() {
    let quote = |mark: &str, text: &str| text.lines().map(|l| format!("{mark}{l}\n")).collect::<String>();
    for mark in ["", "> ", ">", "> > ", ">> "] {
        for (text, rule) in [(XID, "gpumem/xid"), (TIMED, "gpumem/xid"), (IBSTAT, "rdma/port-state")] {
            for (before, behind) in [("", ""), ("We see this.\n\n", "\nAny idea?\n")] {
                // One line without a time among sentences may be anybody's words.
                if text == XID && !before.is_empty() {
                    continue;
                }
                let paste = format!("{before}{}{behind}", quote(mark, text));
                let all = said(&audit_of(&paste), rule);
                assert_eq!(all.iter().map(|(_, status, _)| *status).collect::<Vec<_>>(), [Status::Fail], "{paste}");
            }
        }
    }
}

#[test]
fn markup_in_front_of_a_text_is_no_document() {
    for before in [
        "<details>\n<summary>ibstat</summary>\n\n",
        "<!-- what happened? -->\n",
        "<p>\n",
        "<h3>ibstat</h3>\n\n",
        "<DETAILS>\n",
        "<br/>\n\n```\n",
    ] {
        for (text, rule) in [(IBSTAT, "rdma/port-state"), (TIMED, "gpumem/xid")] {
            let all = said(&audit_of(&format!("{before}{text}")), rule);
            assert_eq!(all.iter().map(|(_, status, _)| *status).collect::<Vec<_>>(), [Status::Fail], "{before}{text}");
        }
    }
}

#[test]
fn ports_of_rdma_link_are_judged_on_infiniband_too() {
    let link = "link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 3 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP\n\
        link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state DOWN physical_state DISABLED\n\
        link mlx5_2/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state INIT physical_state LINK_UP\n\
        link mlx5_4/1 state ACTIVE physical_state LINK_UP netdev eth4\n";
    let a = audit_of(&format!("$ rdma link\n{link}"));
    let of = |subject: &str, status, severity| (subject.to_owned(), status, severity);
    assert_eq!(
        said(&a, "rdma/port-state"),
        [
            of("mlx5_0/1", Status::Pass, Severity::Info),
            of("mlx5_1/1", Status::Fail, Severity::Low),
            of("mlx5_2/1", Status::NotApplicable, Severity::Info),
            of("mlx5_4/1", Status::Pass, Severity::Info),
        ]
    );
    let managers = said(&a, "rdma/subnet-manager");
    assert!(managers.contains(&of("mlx5_2/1", Status::Fail, Severity::Medium)), "{managers:?}");
    assert!(managers.contains(&of("mlx5_4/1", Status::Unknown, Severity::Info)), "{managers:?}");
}

/// The cable is to be looked at only where there is no link.
#[test]
fn what_to_do_about_a_port_follows_from_its_physical_state() {
    for (layer, phys, cable) in [
        ("InfiniBand", "Polling", true),
        ("InfiniBand", "LinkUp", false),
        ("Ethernet", "LinkUp", false),
        ("InfiniBand", "Disabled", false),
        ("Ethernet", "Disabled", false),
    ] {
        let text = format!(
            "CA 'mlx5_7'\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: {phys}\n\t\tBase lid: 65535\n\t\tLink layer: {layer}\n"
        );
        let a = audit_of(&text);
        let v = a.verdicts.iter().find(|v| v.rule.id == "rdma/port-state").unwrap();
        let action = v.finding.remedy.as_ref().map(|r| &r.action);
        assert_eq!(matches!(action, Some(Action::Physical { .. })), cable, "{layer} {phys}: {action:?}");
    }
}

#[test]
fn what_a_tool_says_that_it_does_not_see_is_judged() {
    use Severity::{Critical, High, Info, Low, Medium};
    use Status::{Fail, Pass, Unknown};
    for (text, rule, subject, status, severity) in [
        ("$ ibv_devinfo\nFailed to open device\nFailed to open device\n", "rdma/verbs-open", "node", Fail, High),
        ("$ ibv_devinfo\nFailed to open device\nhca_id:\tmlx4_2\n\tport:\t1\n", "rdma/verbs-open", "node", Fail, Low),
        ("$ ibv_devinfo\nhca_id:\tmlx4_2\n\tport:\t1\n", "rdma/verbs-open", "node", Pass, Info),
        ("$ ibv_devinfo\nNo IB devices found\n", "rdma/device-present", "node", Fail, Medium),
        (
            "[root@n45 ~]# ibstatus\nFatal error:  device '*': sys files not found (/sys/class/infiniband/*/ports)\n",
            "rdma/device-present",
            "node",
            Fail,
            Medium,
        ),
        (
            "$ show_gids\nDEV\tPORT\tINDEX\tGID\tIPv4\tVER\tDEV\n---\t----\t-----\t---\t----\t---\t---\nn_gids_found=0\n",
            "rdma/gid-table",
            "node",
            Fail,
            Medium,
        ),
        ("$ ibdev2netdev\nmlx5_3 port 1 ==> net1 (Down)\n", "rdma/port-state", "mlx5_3/1", Fail, Low),
        ("$ ibdev2netdev\nmlx5_3 port 1 ==> net1 (Up)\n", "rdma/port-state", "mlx5_3/1", Unknown, Info),
        (
            "Unable to determine the device handle for GPU 0000:03:00.0: GPU is lost.  Reboot the system to recover this GPU\n",
            "pcie/device-gone",
            "0000:03:00.0",
            Fail,
            Critical,
        ),
        (
            "$ nvidia-smi\nUnable to determine the device handle for GPU0: 0000:0B:00.0: Unknown Error\n",
            "pcie/device-gone",
            "0000:0b:00.0",
            Unknown,
            Info,
        ),
        (
            "$ df -h\nFilesystem Size Used Avail Use% Mounted on\nshm 64M 20M 45M 31% /dev/shm\n",
            "memory/shm-size",
            "node",
            Fail,
            Medium,
        ),
        (
            "$ df\nFilesystem 1K-blocks Used Available Use% Mounted on\ntmpfs 1048576 0 1048576 0% /dev/shm\n",
            "memory/shm-size",
            "node",
            Pass,
            Info,
        ),
    ] {
        let all = said(&audit_of(text), rule);
        assert_eq!(all, [(subject.to_owned(), status, severity)], "{text}");
    }
}

#[test]
fn the_log_says_that_a_gpu_or_a_nic_failed() {
    use Severity::{Critical, High};
    let at = |n: usize, line: &str| format!("[ {n}.000001] {line}\n");
    for (lines, rule, subject, severity) in [
        (
            vec![
                "NVRM: The NVIDIA GPU 0000:b3:00.0",
                "NVRM: (PCI ID: 10de:26b5) installed in this system has",
                "NVRM: fallen off the bus and is not responding to commands.",
            ],
            "pcie/device-gone",
            "0000:b3:00.0",
            Critical,
        ),
        (vec!["NVRM: GPU 0000:b3:00.0: GPU has fallen off the bus."], "pcie/device-gone", "0000:b3:00.0", Critical),
        // The driver's line beside its Xid says the same again.
        (
            vec![
                "NVRM: Xid (PCI:0000:b3:00): 79, GPU has fallen off the bus.",
                "NVRM: GPU 0000:b3:00.0: GPU has fallen off the bus.",
            ],
            "gpumem/xid",
            "0000:b3:00.0",
            Critical,
        ),
        (
            vec!["NVRM: Xid (PCI:0000:dc:00): 45, pid=1, name=a, Ch 00000001 caused by previous Xid 149"],
            "gpumem/xid",
            "0000:dc:00.0",
            High,
        ),
        (
            vec![
                "mlx5_core 0000:41:00.0: poll_health:852:(pid 0): device's health compromised - reached miss count",
                "mlx5_core 0000:41:00.0: print_health_info:458:(pid 0): synd 0x8: unrecoverable hardware error",
            ],
            "rdma/nic-fault",
            "0000:41:00.0",
            High,
        ),
        (
            vec!["mlx5_core 0004:01:00.1: print_health:819:(pid 0): Fatal error detected"],
            "rdma/nic-fault",
            "0004:01:00.1",
            High,
        ),
        (
            vec![
                "mlx5_core 0000:03:00.0: wait_func:964:(pid 112): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource",
            ],
            "rdma/nic-fault",
            "0000:03:00.0",
            High,
        ),
        (vec!["mlx4_core 0000:07:00.0: Internal error detected:"], "rdma/nic-fault", "0000:07:00.0", High),
    ] {
        let text: String = lines.iter().enumerate().map(|(n, l)| at(n, l)).collect();
        let all = said(&audit_of(&text), rule);
        assert_eq!(all, [(subject.to_owned(), Status::Fail, severity)], "{text}");
    }
    for line in [
        "mlx5_core 0000:5c:00.0: wait_func_handle_exec_timeout:1113:(pid 3122): cmd[0]: CREATE_CQ(0x400) recovered after timeout",
        "mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 1): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2), syndrome (0x305684), err(-22)",
        "mlx5_core 0000:5c:00.0: print_health_info:430:(pid 0): Health issue observed, High temperature, severity(4) WARNING:",
    ] {
        let all = said(&audit_of(&at(1, line)), "rdma/nic-fault");
        assert!(all.iter().all(|(_, status, _)| *status == Status::Unknown), "{line}: {all:?}");
    }
}

/// GPUs that nvidia-smi lists need no list of PCI functions.
#[test]
fn a_query_of_gpus_is_enough_for_what_it_says() {
    let query = "==============NVSMI LOG==============\nDriver Version                            : 510.73.08\nAttached GPUs                             : 1\n\
        GPU 00000000:1C:00.0\n    Product Name                          : NVIDIA A100-SXM4-80GB\n    ECC Errors\n        Volatile\n\
        \x20           SRAM Uncorrectable            : 0\n            DRAM Uncorrectable            : 0\n    Remapped Rows\n\
        \x20       Correctable Error                 : 1\n        Uncorrectable Error               : 0\n        Pending                           : Yes\n\
        \x20       Remapping Failure Occurred        : No\n";
    let all = said(&audit_of(&format!("$ nvidia-smi -q\n{query}")), "gpumem/memory-errors");
    assert_eq!(all, [("0000:1c:00.0".to_owned(), Status::Fail, Severity::Low)]);
}

#[test]
fn counters_of_nvlinks_are_judged_by_gpu() {
    let text = "GPU 0: Tesla V100-SXM2-32GB\n\t Link 0: Replay Errors: 148\n\t Link 0: Recovery Errors: 3\n\t Link 0: CRC Errors: 65535\n\n\
        \t Link 1: Replay Errors: 0\nGPU 1: Tesla V100-SXM2-32GB\n\t Link 0: Replay Errors: 0\n\t Link 0: CRC Errors: 0\n\
        GPU 2: Tesla V100-SXM2-32GB\n\t Link 0: CRC Errors: 8814\n";
    let all = said(&audit_of(&format!("$ nvidia-smi nvlink -e\n{text}")), "gpumem/nvlink-errors");
    let of = |n, status, severity| (format!("GPU {n}"), status, severity);
    assert_eq!(
        all,
        [of(0, Status::Fail, Severity::Low), of(1, Status::Pass, Severity::Info), of(2, Status::Fail, Severity::Info)]
    );
}

/// Mellanox's own module is rebuilt itself: nvidia-peermem is of later drivers.
#[test]
fn the_older_module_for_peer_memory_has_a_remedy_of_its_own() {
    for module in ["nv_peer_mem", "nvidia_peermem"] {
        let a = audit_of(&format!("[ 1.500000] {module}: Unknown symbol ib_register_peer_memory_client (err 0)\n"));
        let v = a.verdicts.iter().find(|v| v.rule.id == "gpumem/peermem-symbols").unwrap();
        assert_eq!((v.finding.status, v.finding.subject.to_string().as_str()), (Status::Fail, module));
        let proof = &v.finding.remedy.as_ref().unwrap().reread;
        assert!(proof.iter().any(|p| p.contains(module)), "{proof:?}");
    }
}
