//! What the kernel and its drivers print: each form of tests/kernel_messages.tsv has a verdict, in whatever clothes it is pasted.

use crate::common;

use common::{answer, answer_to, asserted, ids};

const MESSAGES: &str = include_str!("kernel_messages.tsv");

/// What comes before a message: dmesg, its `-T`, journals in several languages, syslogd, consoles, collectors.
const HEADS: &[&str] = &[
    "",
    "[ 1234.567890] ",
    "[Mon Nov 21 07:00:00 2026] ",
    "[Do Apr 24 16:22:15 2025] ",
    "[   12.345678][    T1] ",
    "Nov 21 07:00:00 host kernel: ",
    "april 24 16:22:15 host kernel: ",
    "Okt 24 16:22:15 host kernel: ",
    "avril 24 16:22:15 host kernel: ",
    "4月 24 16:22:15 host kernel: ",
    "2026-11-21T07:00:00.123456+00:00 host kernel: [   12.345678] ",
    "Thu 2025-04-24 16:22:15 CEST host kernel: ",
    "Nov 21 07:00:00 Tower kernel: ",
    "6,3973,227996636,-;",
    "\"MESSAGE\" : \"",
];

struct Row<'a> {
    message: &'a str,
    verdict: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let lines: Vec<&str> = MESSAGES.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let row = |l: &&'static str| match l.split('\t').collect::<Vec<_>>()[..] {
        [_program, message, _source, verdict, _reason] => Some(Row { message, verdict }),
        _ => None,
    };
    let rows: Vec<Row<'static>> = lines.iter().filter_map(row).collect();
    assert_eq!(rows.len(), lines.len(), "a row has five columns");
    assert!(rows.len() > 80);
    rows
}

#[test]
fn every_form_has_its_verdict_behind_every_head() {
    let mut wrong = Vec::new();
    for Row { message, verdict } in rows() {
        for head in HEADS {
            let a = answer(&format!("{head}{message}\n"));
            let right = match verdict.split_once(' ') {
                Some(("asserts", id)) => asserted(&a) == [id],
                Some(("possible", id)) => asserted(&a).is_empty() && ids(&a) == [id],
                _ => verdict == "none" && ids(&a).is_empty(),
            };
            if !right {
                wrong.push(format!("{head}{message}\n    want {verdict}, is {:?} of {:?}", asserted(&a), ids(&a)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// The same lines in a text about them are asserted of nobody's machine; in a report they are.
#[test]
fn guides_and_changes_assert_nothing_and_reports_do() {
    let about = [
        "# How to read it\nThe device is gone then.\nTypical messages may include:\n\n{}\n\n# Root cause\nBad power, as a rule.\n",
        "fix(logs): detect this message\nThis change makes the error message of users clearer.\n\n```\n{}\n```\n",
        "Check the cables of the card.\nReplace the card if that does not help.\nIt usually indicates a broken card.\n{}\n",
    ];
    let of_machine = [
        "Hello, our training hangs. Here is my dmesg:\n```\n{}\n```\nAny idea what this means?\n",
        "### Describe the bug\nTraining hangs after an hour.\n\n### Logs\n{}\n",
        "{}\n",
    ];
    for Row { message, verdict } in rows().iter().filter(|r| r.verdict.starts_with("asserts ")) {
        for text in about {
            let a = answer(&text.replace("{}", message));
            assert_eq!(asserted(&a), [""; 0], "{text}{message}");
            assert!(verdict.ends_with(ids(&a).first().copied().unwrap_or("?")), "still shown: {text}{message}");
        }
        for text in of_machine {
            let a = answer(&text.replace("{}", message));
            assert!(asserted(&a).iter().any(|id| verdict.ends_with(id)), "{text}{message}: {:?}", ids(&a));
        }
    }
}

/// The same device of two hosts is two devices: each has its entry in the order of time, and the cause names both hosts.
#[test]
fn hosts_of_the_lines_are_kept_apart() {
    let line = "NVRM: Xid (PCI:0000:07:00): 79, pid=1, GPU has fallen off the bus.";
    for (one, two) in [
        ("Nov 21 07:00:00 node01 kernel: ", "Nov 21 07:00:00 node02 kernel: "),
        ("2026-11-21T07:00:00+00:00 node01.example.org kernel: ", "2026-11-21T07:00:00+00:00 node02 kernel: "),
        ("[   12.500000] node01 kernel: ", "[   12.500000] node02 kernel: "),
        ("node01: [   12.500000] ", "node02: [   12.500000] "),
        ("node01: [Mon Nov 21 07:00:00 2026] ", "node02: [Mon Nov 21 07:00:00 2026] "),
        ("node01: ", "node02: "),
        (
            "node01: kern:     err: [2026-11-21T07:00:00.1Z]: ",
            "node02.example.org: kern: err: [2026-11-21T07:00:00.2Z]: ",
        ),
        ("node01: Nov 21 07:00:00 localhost kernel: ", "/var/log/messages:Nov 21 07:00:00 node02 kernel: "),
    ] {
        let a = answer(&format!("{one}{line}\n{two}{line}\n{two}{line}\n"));
        assert_eq!(asserted(&a), ["kernel/xid"], "{one}");
        assert_eq!(a.causes[0].scope, "node01, node02", "{one}");
        assert_eq!(a.causes[0].evidence.iter().map(|e| e.at.as_str()).collect::<Vec<_>>(), ["log:1", "log:2"], "{one}");
        let who: Vec<_> = a.timeline.iter().map(|f| (f.who.as_str(), f.count)).collect();
        assert_eq!(who, [("node01", 1), ("node02", 2)], "{one}");
    }
    for nameless in ["Nov 21 07:00:00 localhost kernel: ", "[   12.5] ", "rank0: ", "0: "] {
        let a = answer(&format!("{nameless}{line}\n{nameless}{line}\n"));
        assert_eq!(
            (a.timeline.len(), a.timeline[0].who.as_str(), a.causes[0].scope.as_str()),
            (1, "", ""),
            "{nameless}"
        );
    }
}

/// What one host's log says of an address is nothing about the same address of another host.
#[test]
fn an_address_is_one_hosts() {
    let bound = "mlx5_core 0000:41:00.0: firmware version: 28.39.1002";
    let fault = "AMD-Vi: Event logged [IO_PAGE_FAULT device=41:00.0 domain=0x0012 address=0xfd000 flags=0x0020]";
    let a = answer(&format!("node01: [    1.5] {bound}\nnode01: [   12.5] {fault}\n"));
    assert_eq!(asserted(&a), ["kernel/iommu-fault"]);
    let a = answer(&format!("node01: [    1.5] {bound}\nnode02: [   12.5] {fault}\n"));
    assert_eq!(asserted(&a), [""; 0]);
    // An action that the driver wants of one GPU is not wanted of the other.
    let action =
        "NVRM: Xid (PCI:0000:07:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)";
    let app = "NVRM: Xid (PCI:0000:07:00): 31, pid=1, name=python, MMU Fault";
    let summary = |host: &str| {
        let a = answer(&format!("node02: [   12.5] {app}\n{host}: [   12.5] {action}\n"));
        a.causes.iter().map(|c| (c.scope.clone(), c.severity)).collect::<Vec<_>>()
    };
    assert_eq!(summary("node01").first().map(|(scope, _)| scope.as_str()), Some("node01"));
}

/// A driver that does not start a device is said with its line, and in the order of time.
#[test]
fn devices_that_do_not_start_have_their_line() {
    let log = "[    1.5] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.144.03  Mon Dec 30 17:44:08 UTC 2024\n\
               [    9.5] NVRM: GPU 0000:18:00.0: RmInitAdapter failed! (0x24:0x65:1423)\n\
               [    9.6] NVRM: GPU 0000:18:00.0: rm_init_adapter failed, device minor number 0\n\
               [    9.7] NVRM: GPU 0000:19:00.0: RmInitAdapter failed! (0x24:0x65:1423)\n";
    let a = answer(log);
    assert_eq!(asserted(&a), ["gpu/not-started"]);
    assert_eq!(a.causes[0].evidence.iter().map(|e| e.at.as_str()).collect::<Vec<_>>(), ["log:2", "log:4"]);
    assert!(a.causes[0].summary.contains("0000:18:00.0, 0000:19:00.0"), "{}", a.causes[0].summary);
    assert_eq!(a.timeline.iter().map(|f| f.count).collect::<Vec<_>>(), [2, 1]);
    // A GPU that is gone does not start either; that of another host is another one.
    let lost = "[    9.0] NVRM: Xid (PCI:0000:18:00): 79, pid=1, GPU has fallen off the bus.\n";
    let a = answer(&format!("{lost}{log}"));
    assert_eq!(asserted(&a), ["kernel/xid", "gpu/not-started"]);
    assert_eq!(a.causes[1].evidence.iter().map(|e| e.at.as_str()).collect::<Vec<_>>(), ["log:5"]);
    let a = answer(&format!(
        "node01: {lost}node02: [    9.5] NVRM: GPU 0000:18:00.0: RmInitAdapter failed! (0x24:0x65:1423)\n"
    ));
    assert_eq!(asserted(&a), ["kernel/xid", "gpu/not-started"]);
    assert_eq!(a.causes.iter().map(|c| c.scope.as_str()).collect::<Vec<_>>(), ["node01", "node02"]);
    let nic = "[    5.5] mlx5_core 0000:c1:00.0: probe_one:1957:(pid 1): mlx5_init_one failed with error code -22\n\
               [    5.6] mlx5_core 0000:c1:00.0: probe with driver mlx5_core failed with error -22\n";
    let a = answer_to(&[("a", nic.as_bytes()), ("b", nic.replace("c1:00.0", "c1:00.1").as_bytes())]);
    assert_eq!(asserted(&a), ["ib/nic-not-started"]);
    assert_eq!(a.causes[0].evidence.iter().map(|e| e.at.as_str()).collect::<Vec<_>>(), ["a:1", "b:1"]);
}

/// Where lines name no host, the command or the heading above them does.
#[test]
fn what_is_above_a_log_says_whose_it_is() {
    let line = "[   12.5] NVRM: Xid (PCI:0000:07:00): 79, pid=1, GPU has fallen off the bus.";
    let bar = "-".repeat(15);
    for (one, two, hosts) in [
        (
            "root@gpu01:~# dmesg | grep -i xid".to_owned(),
            "root@gpu02:~# dmesg | grep -i xid".to_owned(),
            ["gpu01", "gpu02"],
        ),
        (format!("{bar}\ngpu01\n{bar}"), format!("{bar}\ngpu[02-03] (2)\n{bar}"), ["gpu01", "gpu[02-03]"]),
        ("gpu01 | CHANGED | rc=0 >>".to_owned(), "gpu02 | CHANGED | rc=0 >>".to_owned(), ["gpu01", "gpu02"]),
    ] {
        let a = answer(&format!("{one}\n{line}\n{two}\n{line}\n"));
        assert_eq!(asserted(&a), ["kernel/xid"], "{one}");
        assert_eq!(a.causes[0].scope, hosts.join(", "), "{one}");
        assert_eq!(a.timeline.iter().map(|f| f.who.as_str()).collect::<Vec<_>>(), hosts, "{one}");
    }
    // What a command reads elsewhere is of nobody that is known.
    let a = answer(&format!("root@login:~# ssh gpu01 dmesg\n{line}\nroot@login:~# cat gpu02.txt\n{line}\n"));
    assert_eq!((a.timeline.len(), a.causes[0].scope.as_str()), (1, ""));
}

/// Each GPU with the same error is named, and has its line; those with a lesser one are not.
#[test]
fn gpus_with_the_same_xid_are_named() {
    let fell = |gpu: &str| format!("[   12.5] NVRM: Xid (PCI:0000:{gpu}:00): 79, pid=1, GPU has fallen off the bus.\n");
    let app = "[   11.5] NVRM: Xid (PCI:0000:9a:00): 31, pid=1, name=python, MMU Fault\n";
    let a = answer(&[app, &fell("07"), &fell("18"), &fell("07")].concat());
    assert_eq!(asserted(&a), ["kernel/xid"]);
    assert!(a.causes[0].summary.contains("of 0000:07:00.0, 0000:18:00.0"), "{}", a.causes[0].summary);
    assert_eq!(a.causes[0].evidence.iter().map(|e| e.at.as_str()).collect::<Vec<_>>(), ["log:2", "log:3"]);
}

/// An error of PCIe is no consequence of what came after it: the other way round, where both are of one GPU.
#[test]
fn only_what_is_later_follows() {
    let aer = "nvidia 0000:63:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer, (Requester ID)";
    let named = "pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error received from 0000:63:00.0";
    let xid = |n: u32, gpu: &str| format!("NVRM: Xid (PCI:0000:{gpu}:00): {n}, pid=1, name=python, x");
    for error in [aer, named] {
        let first = |n, gpu: &str| answer(&format!("[  100.1] {error}\n[  105.2] {}\n", xid(n, gpu)));
        // An error of a program follows; one of the hardware is said beside it.
        for n in [13, 31] {
            assert_eq!(ids(&first(n, "63")), ["kernel/pcie-error"], "{n} {error}");
        }
        for n in [48, 79, 119] {
            let both = ids(&first(n, "63"));
            assert!(both.contains(&"kernel/pcie-error") && both.contains(&"kernel/xid"), "{n} {error}: {both:?}");
        }
        let other = ids(&first(31, "07"));
        assert!(other.contains(&"kernel/xid") && other.contains(&"kernel/pcie-error"), "{error}: {other:?}");
        // Behind a GPU that left the bus the errors of its slot follow; behind a program's error they do not.
        let after = |n| answer(&format!("[  100.1] {}\n[  105.2] {error}\n", xid(n, "63")));
        assert_eq!(ids(&after(79)), ["kernel/xid"], "{error}");
        assert_eq!(ids(&after(31)).len(), 2, "{error}");
    }
}

/// The reason that the driver prints decides what is said and what is to be done; the address is in the line above.
#[test]
fn the_drivers_reason_decides() {
    use linerate_rules::Action;
    let failed = "NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:1017)\n";
    let remedy = |text: &str| {
        let a = answer(text);
        assert_eq!(ids(&a), ["gpu/not-started"], "{text}");
        assert!(a.causes[0].summary.contains("0000:01:00.0"), "{}", a.causes[0].summary);
        a.causes[0].remedy.clone().map(|r| r.action)
    };
    let gpu = "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2b85)\n";
    let open = "               NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n";
    assert!(matches!(remedy(&format!("{gpu}{open}{failed}")), Some(Action::Software { .. })));
    assert!(matches!(remedy(&format!("{gpu}{open}")), Some(Action::Software { .. })));
    let firmware = "NVRM: gpuWaitForGfwBootComplete_TU102: failed to wait for GFW_BOOT: (progress 0x3)\n";
    assert!(matches!(remedy(&format!("{firmware}{failed}")), Some(Action::Physical { .. })));
    assert!(matches!(remedy(failed), Some(Action::Investigate { .. })));
    let lost = "[ 1843.3] NVRM: The NVIDIA GPU 0000:b3:00.0\n               NVRM: (PCI ID: 10de:26b5) installed in this system has\n               \
                NVRM: fallen off the bus and is not responding to commands.\n";
    let a = answer(lost);
    assert_eq!(asserted(&a), ["kernel/device-gone"]);
    assert!(a.causes[0].summary.contains("0000:b3:00.0"), "{}", a.causes[0].summary);
    // Far below, it is nobody's.
    let a = answer(&format!("{gpu}x\ny\nz\nNVRM: fallen off the bus and is not responding to commands.\n"));
    assert!(!a.causes[0].summary.contains("0000:01:00.0"), "{}", a.causes[0].summary);
}

/// A device that answers nothing is why its driver does not start it.
#[test]
fn what_is_gone_is_asked_before_its_driver() {
    let gone = "[   87.4] nvidia 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible\n";
    let failed = "[   87.5] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:667)\n";
    assert_eq!(ids(&answer(&format!("{gone}{failed}"))), ["kernel/device-gone"]);
    let fell = "[   87.3] NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.\n";
    assert_eq!(ids(&answer(&format!("{fell}{gone}{failed}"))), ["kernel/xid"]);
}
