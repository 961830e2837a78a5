//! Trial entries out of a menu as Debian's `grub-mkconfig` writes it (own text of that form).

use super::*;
use crate::boot::words::{Piece, split};
use crate::boot::{BootError, TRIAL_ID};
use proptest::prelude::*;
use std::io::Write as _;
use std::process::{Command, Stdio};

const CFG: &str = r#"set pager=1
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="DEFAULT"
fi
function load_video {
  if [ x$feature_all_video_module = xy ]; then
    insmod all_video
  fi
}
insmod part_gpt
insmod ext2
menuentry 'Test Linux' --class test --class os $menuentry_id_option 'linux-simple-1' {
	recordfail
	savedefault
	load_video
	insmod gzio
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	echo	'Loading { a kernel } ...'
	linux	/boot/vmlinuz-6.1 root=UUID=0-1 ro iommu=off  dyndbg="file a +p" quiet
	initrd	/boot/initrd.img-6.1
}
submenu 'More for Test Linux' $menuentry_id_option 'linux-advanced-1' {
	menuentry 'Test Linux, with 6.1' --class test $menuentry_id_option 'linux-6.1-advanced-1' {
		linux	/boot/vmlinuz-6.1 root=UUID=0-1 ro
		initrd	/boot/initrd.img-6.1
	}
	menuentry 'Test Linux, with 5.10' --class test $menuentry_id_option 'linux-5.10-advanced-1' {
		linux	/boot/vmlinuz-5.10 root=UUID=0-1 ro panic=5
		initrd	/boot/initrd.img-5.10
	}
}
menuentry 'Other system' {
	chainloader +1
}
if [ -f  ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
elif [ -z "${config_directory}" -a -f  $prefix/custom.cfg ]; then
  source $prefix/custom.cfg
fi
"#;

fn words(w: &[&str]) -> Vec<String> {
    w.iter().map(|w| (*w).to_owned()).collect()
}

fn trial(default: &str, env: Option<&str>) -> Result<String, BootError> {
    trial_entry(
        &CFG.replace("DEFAULT", default),
        env,
        &words(&["iommu=pt", "pci=config_acs=a@0000:01:00.0;b@0000:02:00.0"]),
        &words(&["iommu=off"]),
    )
}

fn kernel_line(entry: &str) -> Vec<String> {
    let line = entry.lines().find(|l| l.trim_start().starts_with("linux")).unwrap_or_default();
    split(line).unwrap_or_default().iter().map(Piece::bare).collect()
}

/// GRUB's own parser, where it is installed.
fn checked(text: &str) -> Option<bool> {
    let mut child = Command::new("grub-script-check").stdin(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    Some(child.wait().ok()?.success())
}

#[test]
fn the_default_entry_with_other_words() {
    let entry = trial("0", None).expect("there");
    assert_eq!(
        kernel_line(&entry),
        [
            "linux",
            "/boot/vmlinuz-6.1",
            "root=UUID=0-1",
            "ro",
            "dyndbg=file a +p",
            "quiet",
            "iommu=pt",
            "pci=config_acs=a@0000:01:00.0;b@0000:02:00.0",
            "panic=30"
        ]
    );
    assert!(
        entry.contains("pci=\"config_acs=a@0000:01:00.0;b@0000:02:00.0\""),
        "GRUB ends a command at a bare ;\n{entry}"
    );
    assert!(entry.contains("initrd\t/boot/initrd.img-6.1") && entry.contains(&format!("--id {TRIAL_ID} {{")));
    assert!(!entry.contains("savedefault") && !entry.contains("recordfail"), "a trial leaves nothing behind");
    match checked(&with_trial(None, &entry)) {
        Some(fine) => assert!(fine, "{entry}"),
        None => eprintln!("SKIPPED: grub-script-check is not installed"),
    }
}

#[test]
fn defaults_of_every_form() {
    let kernel =
        |d: &str, env: Option<&str>| trial(d, env).map(|e| kernel_line(&e).get(1).cloned().unwrap_or_default());
    let new = Ok("/boot/vmlinuz-6.1".to_owned());
    let old = Ok("/boot/vmlinuz-5.10".to_owned());
    for d in [
        "1>1",
        "More for Test Linux>Test Linux, with 5.10",
        "linux-advanced-1>linux-5.10-advanced-1",
        "1>linux-5.10-advanced-1",
    ] {
        assert_eq!(kernel(d, None), old, "{d}");
    }
    for d in ["0", "Test Linux", "linux-simple-1", "1", "no such entry"] {
        assert_eq!(kernel(d, None), new, "{d}");
    }
    assert_eq!(kernel("${saved_entry}", Some("# GRUB Environment Block\nsaved_entry=1>1\n")), old);
    assert_eq!(kernel("${saved_entry}", Some("# GRUB Environment Block\n####")), new);
    assert!(matches!(kernel("${saved_entry}", None), Err(BootError::NoDefault { .. })));
    assert!(matches!(kernel("2", None), Err(BootError::Entry(_))), "another loader");
    assert!(
        trial("1>1", None).is_ok_and(|e| !e.contains("panic=30") && e.contains("panic=5")),
        "the user's panic= stays"
    );
}

#[test]
fn what_cannot_be_tried() {
    let no = |cfg: &str| trial_entry(cfg, None, &words(&["a=b"]), &[]);
    assert!(matches!(no(""), Err(BootError::NoDefault { .. })));
    let locked = CFG.replace("DEFAULT", "0").replace("set pager=1", "set superusers=\"root\"");
    assert!(matches!(no(&locked), Err(BootError::Entry(_))), "it would wait for a password for ever");
    let open = locked.replace("--class os", "--class os --unrestricted");
    assert!(no(&open).is_ok_and(|e| e.contains("--unrestricted")));
    for bad in ["a b", "$x", "a;\"", "}", "-x"] {
        assert!(matches!(trial_entry(CFG, None, &words(&[bad]), &[]), Err(BootError::Word(_))), "{bad}");
    }
}

#[test]
fn once_only_where_grub_can_write() {
    assert!(starts_once(CFG).is_ok() && is_custom_sourced(CFG));
    for module in ["lvm", "btrfs", "mdraid1x"] {
        let cfg = CFG.replace("insmod ext2", &format!("insmod {module}"));
        assert!(matches!(starts_once(&cfg), Err(BootError::NotOnce(_))), "{module}");
    }
    assert!(starts_once(&CFG.replace("next_entry", "x")).is_err());
    assert!(!is_custom_sourced(&CFG.replace("source ", "# source ")));
}

#[test]
fn the_users_custom_cfg_stays() {
    let user = "menuentry 'mine' {\n\ttrue\n}\n";
    let ours = with_trial(Some(user), "menuentry 'x' {\n}\n");
    assert!(ours.starts_with(user) && ours.contains("'x'"));
    assert_eq!(with_trial(Some(&ours), "menuentry 'y' {\n}\n").matches("linerate: an entry").count(), 1);
    assert_eq!(without_trial(&ours).as_deref(), Some(user));
    assert_eq!(without_trial(&with_trial(None, "menuentry 'x' {\n}\n")), None, "the file was ours alone");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_is_survived(cfg in any::<String>(), env in any::<Option<String>>(), word in any::<String>()) {
        let _ = trial_entry(&cfg, env.as_deref(), &[word], &[]);
        let _ = starts_once(&cfg);
        let _ = with_trial(Some(&cfg), "x\n");
        let _ = fights("x", &cfg, &[], &[]);
        let _ = read_drop_in(&cfg);
    }

    #[test]
    fn broken_menus_are_survived(parts in prop::collection::vec(prop::sample::select(CFG.lines().collect::<Vec<_>>()), 0..60)) {
        let cfg = parts.join("\n");
        if let Ok(entry) = trial_entry(&cfg, Some("saved_entry=x\n"), &words(&["iommu=pt"]), &words(&["iommu=off"])) {
            let line = kernel_line(&entry);
            prop_assert_eq!(line.iter().filter(|w| *w == "iommu=pt").count(), 1);
            prop_assert!(!line.iter().any(|w| w == "iommu=off"));
        }
    }
}
