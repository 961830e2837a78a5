//! Why kernel arguments are not effective.

use super::TRIAL_ID;
use super::grub::{DROP_IN, fights, read_drop_in};
use crate::see;
use linerate_snapshot::{OutputKind, Snapshot};

/// The probable reason why words are not among the arguments of the kernel (`has`), or still are (`lacks`), or are and do nothing.
#[must_use]
pub fn diagnose(before: &Snapshot, after: &Snapshot, has: &[String], lacks: &[String]) -> String {
    let Some(line) = see::text(after, "proc/cmdline") else {
        return "the arguments of the kernel could not be read again".to_owned();
    };
    let boot = |s| see::text(s, "proc/sys/kernel/random/boot_id").map(str::trim);
    if let (Some(a), Some(b)) = (boot(before), boot(after))
        && a == b
    {
        return "the node was not rebooted since: the boot id is the same".to_owned();
    }
    let bare = |w: &str| w.replace(['"', '\''], "");
    let words: Vec<String> = line.split_ascii_whitespace().map(bare).collect();
    let missing: Vec<&String> = has.iter().filter(|w| !words.contains(w)).collect();
    let left: Vec<&String> = lacks.iter().filter(|w| words.contains(w)).collect();
    if missing.is_empty() && left.is_empty() {
        return taken_and_ignored(after, has);
    }
    if let Some(why) = file_against(after, has, lacks) {
        return why;
    }
    let image = |s: &Snapshot| {
        let word = see::text(s, "proc/cmdline")?.split_ascii_whitespace().find(|w| w.starts_with("BOOT_IMAGE="))?;
        Some(word.to_owned())
    };
    if is_uki(after) {
        return "this is a unified kernel image: its arguments are inside it, and it was not rebuilt, or another image was started".to_owned();
    }
    if let (Some(a), Some(b)) = (image(before), image(after))
        && a != b
    {
        return format!(
            "another entry was started: {b}, before it was {a}. Look at the default entry (GRUB_DEFAULT, `grub-editenv list`, `bootctl list`)"
        );
    }
    let not = if missing.is_empty() { "still has words that should be gone" } else { "does not have the words" };
    match see::text(after, DROP_IN) {
        Some(_) => format!(
            "{DROP_IN} exists, but the kernel {not}: grub.cfg was not generated again (run update-grub and read its output), or the entry that was started is not from update-grub, or the trial boot ({TRIAL_ID}) did not come up and the usual entry was taken"
        ),
        None if see::looked(after, DROP_IN) && see::exists(after, "boot/grub/grub.cfg") => format!(
            "the kernel {not}: the trial boot ({TRIAL_ID}) did not come up and the usual entry was taken, or it was not chosen (grub-reboot, next_entry)"
        ),
        None => format!("the kernel {not}: another entry was started than the changed one"),
    }
}

/// The words are there: does the kernel know them?
pub(crate) fn taken_and_ignored(after: &Snapshot, has: &[String]) -> String {
    let log = after
        .outputs
        .iter()
        .filter(|o| o.kind == OutputKind::Dmesg)
        .map(|o| String::from_utf8_lossy(after.data(o.entry)));
    for text in log {
        for l in text.lines() {
            let unknown = [
                "Unknown kernel command line parameters",
                "PCI: Unknown option",
                "Unknown option",
                "Can't parse ACS command line parameter",
                "Malformed early option",
            ];
            if !unknown.iter().any(|u| l.contains(u)) {
                continue;
            }
            let said: Vec<&str> = l.split(|c: char| c.is_whitespace() || "\"'`,".contains(c)).collect();
            // Words that the kernel knows are told whole where it passes them on, and by their options where their reader does not.
            let whole = l.contains("Unknown kernel command line parameters");
            let known = has.iter().find(|w| {
                let mut parts = vec![w.as_str()];
                if let Some((name, value)) = w.split_once('=').filter(|_| !whole) {
                    parts.push(name);
                    parts.extend(value.split([',', ';']).flat_map(|p| [p, p.split('=').next().unwrap_or(p)]));
                }
                // What is read by `pci=` speaks of no other word.
                let other = l.contains("PCI: Unknown option") && !w.starts_with("pci=");
                !other && parts.iter().any(|p| !p.is_empty() && said.contains(p))
            });
            if let Some(w) = known {
                return format!("the kernel does not know {w}, and says so: {}", l.trim());
            }
            if l.contains("Can't parse ACS") && has.iter().any(|w| w.starts_with("pci=")) {
                return format!(
                    "this kernel cannot read the list of its ACS option (6.11 to 6.14 without the fix): {}",
                    l.trim()
                );
            }
        }
    }
    match has {
        [] => "the arguments are as planned: something else holds the setting".to_owned(),
        _ => format!(
            "the arguments are as planned and the kernel did not act on {}: a driver, the firmware or a later argument decides otherwise",
            has.join(" ")
        ),
    }
}

/// A file that undoes ours.
fn file_against(after: &Snapshot, has: &[String], lacks: &[String]) -> Option<String> {
    let ours = see::text(after, DROP_IN)?;
    if see::there(after, DROP_IN) == see::There::Text(ours.to_owned()) && read_drop_in(ours).is_none() {
        return Some(format!("{DROP_IN} was changed by somebody else"));
    }
    see::names(after, "etc/default/grub.d")
        .into_iter()
        .filter(|n| n.ends_with(".cfg"))
        .map(|n| format!("/etc/default/grub.d/{n}"))
        .filter(|p| p.as_str() > DROP_IN)
        .find_map(|p| fights(&p, see::text(after, &p)?, has, lacks))
}

fn is_uki(s: &Snapshot) -> bool {
    let dirs = ["boot/EFI/Linux", "boot/efi/EFI/Linux", "efi/EFI/Linux"];
    dirs.iter().any(|d| !see::names(s, d).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::grub::drop_in;
    use linerate_snapshot::Coverage;

    fn words(w: &[&str]) -> Vec<String> {
        w.iter().map(|w| (*w).to_owned()).collect()
    }

    fn snapshot(boot: &str, cmdline: &str) -> Snapshot {
        let mut s = Snapshot::new("test");
        s.coverage = Coverage::Full { not_tried: vec![] };
        s.add_file("proc/cmdline", cmdline.as_bytes());
        s.add_file("proc/sys/kernel/random/boot_id", boot.as_bytes());
        s
    }

    fn ours(s: &mut Snapshot) {
        s.add_file("etc/default/grub.d/90-linerate.cfg", drop_in("kernel-args", &words(&["iommu=pt"]), &[]).as_bytes());
        s.add_file("boot/grub/grub.cfg", b"");
    }

    #[test]
    fn each_reason_has_its_words() {
        let before = snapshot("1", "BOOT_IMAGE=/a quiet\n");
        let why = |s: &Snapshot| diagnose(&before, s, &words(&["iommu=pt"]), &[]);
        assert!(why(&snapshot("1", "BOOT_IMAGE=/a quiet\n")).contains("not rebooted"));
        let mut s = snapshot("2", "BOOT_IMAGE=/a quiet\n");
        ours(&mut s);
        assert!(why(&s).contains("not generated again"));
        s.add_file("etc/default/grub.d/99-x.cfg", b"GRUB_CMDLINE_LINUX_DEFAULT=\"a\"\n");
        assert!(why(&s).contains("99-x.cfg"), "{}", why(&s));
        let mut s = snapshot("2", "BOOT_IMAGE=/a quiet\n");
        s.add_file("boot/grub/grub.cfg", b"");
        assert!(why(&s).contains(TRIAL_ID), "{}", why(&s));
        assert!(why(&snapshot("2", "BOOT_IMAGE=/b quiet\n")).contains("another entry"));
        let mut s = snapshot("2", "quiet\n");
        s.add_file("boot/efi/EFI/Linux/a.efi", b"");
        assert!(why(&s).contains("unified"));
        assert!(why(&snapshot("2", "BOOT_IMAGE=/a iommu=pt\n")).contains("did not act on iommu=pt"));
    }

    #[test]
    fn what_the_kernel_says_of_whole_words() {
        let why = |log: &str, has: &str| {
            let mut s = snapshot("2", "");
            let entry = s.add_file("cmd/0/stdout", log.as_bytes()).expect("added");
            s.outputs.push(linerate_snapshot::Output {
                entry,
                kind: OutputKind::Dmesg,
                argv: vec!["dmesg".into()],
                status: Some(0),
            });
            taken_and_ignored(&s, &words(&[has]))
        };
        let passed = "Unknown kernel command line parameters \"BOOT_IMAGE=/v iommu=ptx noats=1\", will be passed to user space.\n";
        for (log, has, told) in [
            (passed, "noats=1", true),
            (passed, "iommu=pt", false),
            (passed, "x=user", false),
            ("PCI: Unknown option `noacs'\n", "pci=realloc,noacs", true),
            ("PCI: Unknown option `noacs'\n", "pci=no", false),
            ("PCI: Unknown option `off'\n", "iommu=off", false),
            ("Malformed early option 'iommu'\n", "iommu=pt", true),
        ] {
            assert_eq!(why(log, has).contains("does not know"), told, "{has}: {}", why(log, has));
        }
    }
}
