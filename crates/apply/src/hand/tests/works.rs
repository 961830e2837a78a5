//! What goes well, and what fails without harm.

use super::{INSPECT, Node, begin, codes, run, stage, step, value};
use crate::protocol::{Phase, Request, Stage, Stands};
use linerate_remedy::{Act, BiosAct, Content, FileAct, FileState, RunAct};

#[test]
fn made_then_undone() {
    let node = Node::new();
    let (was, plan) = (node.tree(), node.plan());
    let end = node.apply(&plan);
    assert_eq!((codes(&end), stage(&end)), (vec![], Some(Stage::Finished)));
    assert_eq!(node.read("boot/grub/grub.cfg").unwrap(), "# made\nGRUB_TIMEOUT=0\nGRUB_CMDLINE_LINUX=\"iommu=pt\"\n");
    assert_eq!(node.read("firmware").unwrap(), "True(1)\n");
    assert_eq!(node.read("sys/class/net/eth1/mtu").unwrap(), "9000\n");
    assert!(node.read("boot/grub/custom.cfg").is_none(), "the entry on trial is gone when all is proven");
    let end = node.rollback(&plan);
    assert_eq!((codes(&end), stage(&end)), (vec![], Some(Stage::Finished)));
    assert_eq!(node.tree(), was);
    // And again: a plan that was undone is as good as new.
    let end = node.apply(&plan);
    assert_eq!((codes(&end), stage(&end)), (vec![], Some(Stage::Finished)));
}

#[test]
fn a_program_that_fails_leaves_nothing() {
    let node = Node::new();
    let plan = node.plan_of(vec![step("a", vec![value("9000"), run(&["fails"], &["/boot/grub/grub.cfg"], &[])])]);
    node.ask(begin(&plan));
    let was = node.tree();
    let end = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert_eq!(codes(&end), ["failed"]);
    assert!(end.refused[0].what.contains("ended with 7: no such device"), "{}", end.refused[0].what);
    let acts: Vec<Stands> = end.state.unwrap().acts.iter().map(|a| a.stands).collect();
    assert_eq!(acts, [Stands::Made, Stands::Failed]);
    assert_eq!(node.tree().get("boot/grub/grub.cfg"), was.get("boot/grub/grub.cfg"));
    assert_eq!(codes(&node.ask(Request::Finish { plan: plan.hash.clone() })), ["order"], "half made is not released");
    assert_eq!(codes(&node.rollback(&plan)), Vec::<&str>::new());
    assert_eq!(node.tree(), was);
}

#[test]
fn a_program_that_hangs_is_killed_with_all_it_started() {
    let node = Node::new();
    let argv = vec!["hangs".to_owned()];
    let hangs = Act::Run(RunAct { argv, writes: Vec::new(), undo: Vec::new(), limit: 1 });
    let plan = node.plan_of(vec![step("a", vec![hangs])]);
    node.ask(begin(&plan));
    let end = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert!(end.refused[0].what.contains("did not finish within 1 s"), "{}", end.refused[0].what);
    assert_eq!(crate::act::end_left(&plan.hash), 0, "nothing of it is left");
}

#[test]
fn a_kernel_that_fell_back_proves_nothing() {
    let node = Node::new();
    let plan = node.plan();
    node.ask(begin(&plan));
    assert_eq!(codes(&node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::Lasting })), ["order"]);
    node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    node.write("boot/grub/grubenv", "# GRUB Environment Block\nsaved=1\nnext_entry=\n####");
    node.write("proc/sys/kernel/random/boot_id", "boot-2\n");
    let end = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::Lasting });
    assert_eq!(codes(&end), ["unproven"]);
    assert!(node.read("etc/default/grub.d/90-linerate.cfg").is_none());
}

#[test]
fn what_somebody_else_changed_is_left_and_told() {
    let node = Node::new();
    let plan = node.plan();
    node.apply(&plan);
    node.write("etc/limits.conf", "mine\n");
    node.write("boot/grub/grub.cfg", "# made\nby a newer kernel's package\n");
    let end = node.ask(Request::Rollback { plan: plan.hash.clone() });
    assert_eq!(codes(&end), ["unexpected"], "{:?}", end.refused);
    assert_eq!(end.refused[0].step.as_deref(), Some("limits"));
    assert_eq!(stage(&end), Some(Stage::Undoing));
    assert_eq!(node.read("etc/limits.conf").unwrap(), "mine\n");
    assert!(node.read("etc/default/grub.d/90-linerate.cfg").is_none());
    assert_eq!(
        node.read("boot/grub/grub.cfg").unwrap(),
        "# made\nGRUB_TIMEOUT=0\n",
        "update-grub ran again, when the drop-in was gone"
    );
    let end = node.ask(Request::Finish { plan: plan.hash.clone() });
    assert_eq!((codes(&end), stage(&end)), (vec![], Some(Stage::Finished)), "told, and released");
}

#[test]
fn reboots_are_counted() {
    let node = Node::new();
    let plan = node.plan_of(vec![step("a", vec![value("9000")])]);
    node.ask(begin(&plan));
    let reboot = || Request::Reboot { plan: plan.hash.clone(), most: 2 };
    assert_eq!(codes(&node.ask(reboot())), Vec::<&str>::new());
    let again = crate::hand::serve(crate::protocol::Call::new(&super::session(1), reboot()), &node.root());
    assert_eq!(again.answer.state.unwrap().reboots.len(), 1, "the same boot: the same reboot");
    assert_eq!(again.after, Some(crate::hand::After::Reboot));
    node.reboot();
    assert_eq!(codes(&node.ask(reboot())), Vec::<&str>::new());
    node.reboot();
    let third = crate::hand::serve(crate::protocol::Call::new(&super::session(1), reboot()), &node.root());
    assert_eq!((codes(&third.answer), third.after), (vec!["too-many-reboots"], None));
}

#[test]
fn contents_are_not_in_journals() {
    let node = Node::new();
    let before = FileState::Digest(linerate_remedy::sha256(b"password=hunter2\n"));
    node.write("etc/secret.conf", "password=hunter2\n");
    let after = Some(linerate_remedy::Content("a\n".to_owned()));
    let plan = node.plan_of(vec![step(
        "a",
        vec![Act::File(FileAct { path: "/etc/secret.conf".to_owned(), before, after, mode: 0o600 })],
    )]);
    assert_eq!(codes(&node.apply(&plan)), Vec::<&str>::new());
    let dir = format!("var/lib/linerate/apply/{}", plan.hash.get(..16).unwrap());
    assert!(!node.read(&format!("{dir}/journal.jsonl")).unwrap().contains("hunter2"));
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &str| std::fs::metadata(node.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&format!("{dir}/kept")), mode(&format!("{dir}/kept/000-0"))), (0o700, 0o700, 0o600));
}

/// The power fails between a drop-in and the value that it stands for; the next boot reads the drop-in.
#[test]
fn a_value_that_a_boot_has_set_is_made_and_undone_as_any_other() {
    let node = Node::new();
    let path = "/etc/udev/rules.d/mtu.rules".to_owned();
    let drop_in = || {
        Act::File(FileAct {
            path: path.clone(),
            before: FileState::Absent,
            after: Some(linerate_remedy::Content("mtu=9000\n".to_owned())),
            mode: 0o644,
        })
    };
    let broken = step("b", vec![run(&["fails"], &["/boot/grub/grub.cfg"], &[])]);
    let plan = node.plan_of(vec![step("a", vec![drop_in()]), broken, step("c", vec![value("9000")])]);
    let was = node.tree();
    let perform = |node: &Node| node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    node.ask(begin(&plan));
    assert_eq!(codes(&perform(&node)), ["failed"]);
    node.write("usr/bin/fails", "#!/bin/sh\n");
    let was = {
        let mut was = was;
        was.insert("usr/bin/fails".to_owned(), node.tree().remove("usr/bin/fails").unwrap());
        was
    };

    // Changed meanwhile without a boot: somebody else did it.
    let other = node.copy();
    other.write("sys/class/net/eth1/mtu", "9000\n");
    assert_eq!(codes(&perform(&other)), ["stale"]);

    node.write("proc/sys/kernel/random/boot_id", "boot-2\n");
    // To what nobody planned: not ours either.
    let other = node.copy();
    other.write("sys/class/net/eth1/mtu", "4200\n");
    assert_eq!(codes(&perform(&other)), ["stale"]);

    node.write("sys/class/net/eth1/mtu", "9000\n");
    let undone = node.copy();
    assert_eq!(codes(&perform(&node)), Vec::<&str>::new());
    for node in [node, undone] {
        assert_eq!(codes(&node.rollback(&plan)), Vec::<&str>::new());
        assert_eq!(node.tree(), was);
    }
}

/// Access lists, labels and notes of a file outlive its change, its removal and their undoing.
#[test]
fn extended_attributes_come_back() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let node = Node::new();
    let of = |path: &str| {
        let mut value = [0_u8; 64];
        getxattr(node.at(path), "user.lab", &mut value[..]).map(|n| value[..n].to_vec())
    };
    for path in ["etc/limits.conf", "etc/old.conf"] {
        match setxattr(node.at(path), "user.lab", b"\x00of\xff", XattrFlags::empty()) {
            Err(rustix::io::Errno::NOTSUP) => {
                println!("SKIPPED: this file system has no extended attributes");
                return;
            }
            set => set.unwrap(),
        }
    }
    let plan = node.plan();
    assert_eq!(codes(&node.apply(&plan)), Vec::<&str>::new());
    assert_eq!(of("etc/limits.conf").unwrap(), b"\x00of\xff", "kept over a change");
    assert!(!node.at("etc/old.conf").exists());
    assert_eq!(codes(&node.rollback(&plan)), Vec::<&str>::new());
    for path in ["etc/limits.conf", "etc/old.conf"] {
        assert_eq!(of(path).unwrap(), b"\x00of\xff", "{path}");
    }
}

/// A program that failed may have done part of its work.
#[test]
fn what_undoes_a_program_is_run_when_it_fails() {
    let node = Node::new();
    let fails = "#!/bin/sh\nroot=${0%/usr/*}\necho x >\"$root/etc/half\"\nexit 7\n";
    let undoes = "#!/bin/sh\nroot=${0%/usr/*}\nrm -f \"$root/etc/half\"\n";
    for (path, text) in [("usr/bin/half", fails), ("usr/bin/unhalf", undoes)] {
        node.write(path, text);
        node.chmod(path, 0o755);
    }
    let was = node.tree();
    let plan = node.plan_of(vec![step("a", vec![run(&["half"], &[], &["unhalf"])])]);
    node.ask(begin(&plan));
    let end = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert_eq!(codes(&end), ["failed"]);
    assert_eq!(node.tree(), was);

    // Where that fails, too, it is told, and the rollback runs it again.
    node.write("usr/bin/unhalf", "#!/bin/sh\nexit 9\n");
    let end = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert_eq!(codes(&end), ["unexpected"]);
    assert!(node.read("etc/half").is_some());
    node.write("usr/bin/unhalf", undoes);
    assert_eq!(codes(&node.rollback(&plan)), Vec::<&str>::new());
    assert_eq!(node.tree(), was);
}

/// As Debian's does where its file system is read-only.
#[test]
fn an_entry_that_was_not_chosen_is_told() {
    let node = Node::new();
    let plan = node.plan();
    node.write("usr/sbin/grub-reboot", "#!/bin/sh\necho 'cannot open grubenv: Read-only file system.' >&2\n");
    node.ask(begin(&plan));
    let end = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert_eq!(codes(&end), ["failed"]);
    assert!(end.refused[0].what.contains("Read-only file system"), "{}", end.refused[0].what);
    assert!(node.read("boot/grub/custom.cfg").is_none(), "the entry is gone again");
}

/// Plans that are made and undone within one second.
#[test]
fn the_plan_that_was_used_last_is_known_however_quickly_they_follow() {
    let node = Node::new();
    let file = Act::File(FileAct {
        path: "/etc/modules-load.d/linerate.conf".to_owned(),
        before: FileState::Absent,
        after: Some(Content("nvidia_peermem\n".to_owned())),
        mode: 0o644,
    });
    let (a, b) = (node.plan_of(vec![step("a", vec![value("9000")])]), node.plan_of(vec![step("b", vec![file])]));
    let last = || node.ask(INSPECT).state.map(|s| s.plan);
    for (plan, made) in
        [(&a, true), (&b, true), (&a, false), (&b, false), (&a, true), (&b, true), (&b, false), (&a, false)]
    {
        let answer = if made { node.apply(plan) } else { node.rollback(plan) };
        assert!(answer.refused.is_empty(), "{:?}", answer.refused);
        assert_eq!(last().as_ref(), Some(&plan.hash));
    }
}

/// What the driver makes may have been made boots before the rest: the reboot that the phase needs comes after the last of it.
#[test]
fn a_phase_is_completed_in_the_boot_of_the_act_that_was_made_last() {
    let node = Node::new();
    let bios = Act::Bios(BiosAct { attribute: "Iommu".to_owned(), before: "Off".into(), after: "On".into() });
    let plan = node.plan_of(vec![step("a", vec![value("9000")]), step("bios", vec![bios])]);
    assert!(node.ask(begin(&plan)).refused.is_empty());
    for stands in [Stands::Announced, Stands::Made] {
        let (plan, step, note) = (plan.hash.clone(), "bios".to_owned(), "{\"active\":\"Off\"}".to_owned());
        assert!(node.ask(Request::Elsewhere { plan, step, number: 0, stands, note }).refused.is_empty());
    }
    node.reboot();
    let made = node.ask(Request::Perform { plan: plan.hash, phase: Phase::First });
    assert_eq!((codes(&made), stage(&made)), (vec![], Some(Stage::Lasting)));
    assert_eq!(made.state.unwrap().first_in, made.node.boot);
}
