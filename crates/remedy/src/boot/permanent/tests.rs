//! Each boot loader's way, on small snapshots.

use super::*;
use linerate_snapshot::Coverage;

fn words(w: &[&str]) -> Vec<String> {
    w.iter().map(|w| (*w).to_owned()).collect()
}

fn written(boot: Boot, s: &Snapshot) -> Result<Written, Refusal> {
    let node = linerate_node::Node::decode(s);
    let mut p = Platform::detect(s, &node);
    p.boot = boot;
    let (add, remove) = (words(&["iommu=pt", "pci=config_acs=a;b"]), words(&["iommu=off", "nowhere"]));
    permanent(KernelArgs { step: "kernel-args", add: &add, remove: &remove, trial: true }, &p, s)
}

fn argv(w: &Written) -> (Vec<String>, Vec<String>, Vec<String>) {
    let run = w.change.iter().find_map(|a| match a {
        Act::Run(RunAct { argv, undo, writes, .. }) => Some((argv.clone(), undo.clone(), writes.clone())),
        _ => None,
    });
    run.unwrap_or_default()
}

fn snapshot() -> Snapshot {
    started_with(b"BOOT_IMAGE=/v initrd=i root=/dev/vda1 iommu=off\n")
}

fn started_with(cmdline: &[u8]) -> Snapshot {
    let mut s = Snapshot::new("test");
    s.coverage = Coverage::Full { not_tried: vec![] };
    s.add_file("proc/cmdline", cmdline);
    s.add_file("proc/sys/kernel/osrelease", b"6.1.0-18\n");
    s.add_file("boot/vmlinuz-6.1.0-18", b"");
    s
}

#[test]
fn argument_lists_and_their_inverse() {
    let mut s = snapshot();
    let (run, undo, writes) = argv(&written(Boot::Grubby, &s).expect("a way"));
    assert_eq!(
        run,
        ["grubby", "--update-kernel=ALL", "--args=iommu=pt pci=\"config_acs=a;b\"", "--remove-args=iommu=off nowhere"]
    );
    assert_eq!(
        undo,
        ["grubby", "--update-kernel=ALL", "--args=iommu=off", "--remove-args=iommu=pt pci=\"config_acs=a;b\""]
    );
    assert!(writes.is_empty());
    s.add_file("boot/loader/entries/a-1.conf", b"options x\n");
    let (_, undo, writes) = argv(&written(Boot::Grubby, &s).expect("a way"));
    assert!(
        undo == ["grubby", "--info=DEFAULT"] && writes.iter().any(|w| w == "/boot/loader/entries/a-1.conf"),
        "files go back byte for byte"
    );
    assert!(!writes.iter().any(|w| w.contains("grubenv")), "every boot writes it");
    s.add_file("boot/loader/entries/b-2.conf", b"options $kernelopts\n");
    let (_, undo, writes) = argv(&written(Boot::Grubby, &s).expect("a way"));
    assert!(writes.is_empty() && undo.iter().any(|w| w.starts_with("--remove-args=iommu=pt")), "{undo:?}");
    let s = snapshot();
    let (run, undo, _) = argv(&written(Boot::OsTree, &s).expect("a way"));
    assert_eq!(run.get(2).map(String::as_str), Some("--append-if-missing=iommu=pt"));
    assert!(run.contains(&"--delete-if-present=iommu=off".to_owned()));
    assert!(
        undo.contains(&"--append-if-missing=iommu=off".to_owned()) && !undo.iter().any(|w| w.contains("nowhere")),
        "{undo:?}"
    );
}

#[test]
fn an_inverse_leaves_what_was_there() {
    let s = started_with(b"BOOT_IMAGE=/v root=/dev/vda1 iommu=pt\n");
    for boot in [Boot::Grubby, Boot::OsTree] {
        let (_, undo, _) = argv(&written(boot.clone(), &s).expect("a way"));
        let undo = undo.join(" ");
        assert!(!undo.contains("iommu=pt") && !undo.contains("iommu=off"), "{boot:?}: {undo}");
        assert!(undo.contains("config_acs=a;b"), "{boot:?}: {undo}");
    }
}

const ONCE: &str = "insmod ext2\nset default=\"${next_entry}\"\nsave_env next_entry\n";

#[test]
fn a_trial_of_grubby_needs_a_grub_that_can_write() {
    let raid = ONCE.replace("ext2", "mdraid1x");
    for (path, cfg, why) in [
        ("boot/grub2/grub.cfg", Some(ONCE), None),
        ("boot/efi/EFI/redhat/grub.cfg", Some(ONCE), None),
        ("boot/grub2/grub.cfg", Some(raid.as_str()), Some("mdraid1x")),
        ("boot/grub2/grub.cfg", Some("configfile $prefix/grub.cfg\n"), Some("does not show")),
        ("boot/grub2/grub.cfg", None, Some("does not show")),
    ] {
        let mut s = snapshot();
        if let Some(cfg) = cfg {
            s.add_file(path, cfg.as_bytes());
        }
        let w = written(Boot::Grubby, &s).expect("a way");
        assert_eq!(w.trial.is_empty(), why.is_some(), "{path}: {cfg:?}");
        assert!(why.is_none_or(|why| w.note.contains(why)), "{}", w.note);
        assert!(!w.change.is_empty());
    }
}

#[test]
fn kernel_install_gets_the_running_kernel() {
    let images = ["/usr/lib/modules/6.1.0-18/vmlinuz", "/boot/vmlinuz-6.1.0-18", "/lib/modules/6.1.0-18/vmlinuz"];
    for image in images {
        let mut s = Snapshot::new("test");
        s.add_file("etc/kernel/cmdline", b"root=/dev/vda2\n");
        s.add_file("proc/sys/kernel/osrelease", b"6.1.0-18\n");
        assert!(written(Boot::SystemdBoot, &s).is_err(), "no image was seen");
        s.add_file(image, b"");
        s.add_file("boot/EFI/Linux/a.efi", b"");
        let add = ["kernel-install", "add", "6.1.0-18", image];
        for boot in [Boot::SystemdBoot, Boot::Uki] {
            let (run, undo, writes) = argv(&written(boot, &s).expect("a way"));
            assert_eq!((run.as_slice(), undo.as_slice()), (&add.map(str::to_owned)[..], &add.map(str::to_owned)[..]));
            assert!(writes.is_empty(), "a unified image is not kept");
        }
        s.add_file("boot/loader/entries/a.conf", b"options x\n");
        let (_, undo, writes) = argv(&written(Boot::SystemdBoot, &s).expect("a way"));
        assert_eq!((undo.len(), writes), (0, words(&["/boot/loader/entries/a.conf"])));
    }
    let mut s = Snapshot::new("test");
    s.add_file("etc/kernel/cmdline", b"x\n");
    s.add_file("proc/sys/kernel/osrelease", b"6.1 x\n");
    assert!(written(Boot::Uki, &s).is_err(), "no plain word");
}

#[test]
fn etc_kernel_cmdline() {
    let mut s = snapshot();
    let text = |w: Written| match w.change.first() {
        Some(Act::File(FileAct { after: Some(Content(t)), before, .. })) => (t.clone(), before.clone()),
        other => panic!("{other:?}"),
    };
    let (new, before) = text(written(Boot::SystemdBoot, &s).expect("a way"));
    assert_eq!((new.as_str(), before), ("root=/dev/vda1 iommu=pt pci=config_acs=a;b\n", FileState::Absent));
    s.add_file("etc/kernel/cmdline", b"root=/dev/vda2 iommu=off x\n");
    let w = written(Boot::Uki, &s).expect("a way");
    assert!(w.trial.is_empty() && w.note.contains("nothing falls back"));
    assert_eq!(text(w).0, "root=/dev/vda2 x iommu=pt pci=config_acs=a;b\n");
    let unseen = Snapshot::new("test");
    assert!(written(Boot::SystemdBoot, &unseen).is_err(), "what was not read is not overwritten");
}
