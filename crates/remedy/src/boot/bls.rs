//! Entries of the Boot Loader Specification: RHEL's GRUB, and systemd-boot.

use super::words::{Piece, edited, split};
use super::{BootError, PANIC, check_all};
use std::cmp::Ordering;

/// Name of the file of the trial's entry. Loaders sort entries by file name, a machine id or a higher version first: this is the last one,
/// so that it never becomes the default by being there.
pub const TRIAL_FILE: &str = "a-linerate-trial.conf";

/// Whose entry it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loader {
    /// GRUB: its parser reads the options, and expands `$kernelopts`.
    Grub,
    /// systemd-boot: the kernel gets the options as they are.
    SystemdBoot,
}

/// The entry with other words, as the content of [`TRIAL_FILE`].
///
/// # Errors
/// It is none of a Linux kernel, its options hold what cannot be expanded, or a word must not be written.
pub fn trial_entry(
    conf: &str,
    grubenv: Option<&str>,
    add: &[String],
    remove: &[String],
    loader: Loader,
) -> Result<String, BootError> {
    check_all(add, remove)?;
    let entry = |why: &str| BootError::Entry(why.to_owned());
    let value = |key: &str| lines(conf).find(|(k, _)| *k == key).map(|(_, v)| v);
    if value("linux").is_none() {
        return Err(entry("it does not name a Linux kernel (a unified image, or another loader)"));
    }
    let options: Vec<String> = lines(conf)
        .filter(|(k, _)| *k == "options")
        .map(|(_, v)| expanded(v, grubenv, loader))
        .collect::<Result<_, _>>()?;
    let options = options.join(" ");
    let pieces = match loader {
        Loader::Grub => split(&options).ok_or_else(|| entry("its options have a quote that is not closed"))?,
        Loader::SystemdBoot => options.split_ascii_whitespace().map(|raw| Piece { raw }).collect(),
    };
    let mut words = edited(&pieces, add, remove, loader == Loader::Grub);
    if !words.iter().any(|w| w.starts_with("panic=")) {
        words.push(PANIC.to_owned());
    }
    let mut out =
        String::from("# Written by linerate: an entry that is started once. Remove it with: linerate rollback\n");
    out.push_str("title Once, on trial (linerate)\n");
    // `version` and `sort-key` would let it sort before others.
    for (k, v) in lines(conf).filter(|(k, _)| !matches!(*k, "title" | "options" | "version" | "sort-key" | "id")) {
        out.push_str(&format!("{k} {v}\n"));
    }
    out.push_str(&format!("options {}\n", words.join(" ")));
    Ok(out)
}

/// The entry that starts by default, of `(file name, content)`: for GRUB the saved one, else the first of its order; for systemd-boot the
/// one of the running kernel (`release`), as its default is known to the firmware only.
#[must_use]
pub fn usual<'a>(
    entries: &'a [(String, String)],
    grubenv: Option<&str>,
    release: &str,
    loader: Loader,
) -> Option<&'a (String, String)> {
    let named = |id: &str| entries.iter().find(|(n, _)| n.strip_suffix(".conf").unwrap_or(n) == id);
    let ours = |n: &str| n == TRIAL_FILE;
    let saved = grubenv.and_then(|e| e.lines().find_map(|l| l.strip_prefix("saved_entry="))).filter(|s| !s.is_empty());
    match (loader, saved) {
        (Loader::Grub, Some(id)) if id.parse::<usize>().is_err() => named(id),
        (Loader::Grub, at) => {
            let mut sorted: Vec<&(String, String)> = entries.iter().filter(|(n, _)| !ours(n)).collect();
            sorted.sort_by(|a, b| version_order(&b.0, &a.0));
            sorted.get(at.and_then(|a| a.parse().ok()).unwrap_or(0)).copied()
        }
        (Loader::SystemdBoot, _) => {
            let is = |t: &str| lines(t).any(|(k, v)| k == "version" && v == release);
            let mut fit = entries.iter().filter(|(n, t)| !ours(n) && (is(t) || n.contains(release)));
            let first = fit.next();
            // Two for one kernel (tries left, several machines): which one is started is not decided here.
            if fit.next().is_some() { None } else { first }
        }
    }
}

/// Order of versions as `rpmvercmp` has it: runs of digits as numbers, letters as text, digits newer than letters.
#[must_use]
pub fn version_order(a: &str, b: &str) -> Ordering {
    let runs = |s: &str| {
        let mut out: Vec<String> = Vec::new();
        let mut last = None;
        for c in s.chars() {
            let kind = if c.is_ascii_digit() {
                1
            } else if c.is_ascii_alphabetic() {
                2
            } else {
                0
            };
            match (kind, last == Some(kind), out.last_mut()) {
                (0, ..) => {}
                (_, true, Some(run)) => run.push(c),
                _ => out.push(c.to_string()),
            }
            last = Some(kind);
        }
        out
    };
    let (a, b) = (runs(a), runs(b));
    let digit = |r: &str| r.starts_with(|c: char| c.is_ascii_digit());
    for (x, y) in a.iter().zip(&b) {
        let order = match (digit(x), digit(y)) {
            (true, true) => {
                let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
                x.len().cmp(&y.len()).then_with(|| x.cmp(y))
            }
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => x.cmp(y),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

fn lines(conf: &str) -> impl Iterator<Item = (&str, &str)> {
    conf.lines().map(str::trim).filter(|l| !l.starts_with('#')).filter_map(|l| {
        let (k, v) = l.split_once([' ', '\t'])?;
        Some((k, v.trim()))
    })
}

/// `$kernelopts` and the like, of the environment block. What is not in it is empty, as in GRUB.
fn expanded(options: &str, grubenv: Option<&str>, loader: Loader) -> Result<String, BootError> {
    if loader == Loader::SystemdBoot || !options.contains('$') {
        return Ok(options.to_owned());
    }
    let Some(env) = grubenv else {
        return Err(BootError::Entry("its options are variables of grubenv, which was not read".to_owned()));
    };
    let words: Vec<String> = options
        .split_ascii_whitespace()
        .map(|w| match w.strip_prefix('$') {
            Some(name) => {
                let name = name.trim_matches(['{', '}']);
                env.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default().to_owned()
            }
            None => w.to_owned(),
        })
        .collect();
    Ok(words.join(" ").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(w: &[&str]) -> Vec<String> {
        w.iter().map(|w| (*w).to_owned()).collect()
    }

    const CONF: &str = "title Test Linux (5.14)\nversion 5.14.0-1\nlinux /vmlinuz-5.14.0-1\ninitrd /initramfs-5.14.0-1.img\noptions root=/dev/vda1 ro iommu=off $tuned_params\ngrub_users $grub_users\n";

    #[test]
    fn an_entry_with_other_words() {
        let add = words(&["iommu=pt", "pci=config_acs=a;b"]);
        let text =
            trial_entry(CONF, Some("tuned_params=x=1\n"), &add, &words(&["iommu=off"]), Loader::Grub).expect("one");
        assert!(text.contains("\noptions root=/dev/vda1 ro x=1 iommu=pt pci=\"config_acs=a;b\" panic=30\n"), "{text}");
        assert!(
            text.contains("linux /vmlinuz-5.14.0-1\n")
                && text.contains("initrd /initramfs")
                && !text.contains("version ")
        );
        let text = trial_entry(&CONF.replace(" $tuned_params", ""), None, &add, &[], Loader::SystemdBoot).expect("one");
        assert!(
            text.contains("iommu=off iommu=pt pci=config_acs=a;b panic=30"),
            "systemd-boot hands it on as it is: {text}"
        );
        assert!(trial_entry(CONF, None, &add, &[], Loader::Grub).is_err(), "the options need grubenv");
        assert!(trial_entry("title x\nefi /EFI/Linux/a.efi\n", None, &add, &[], Loader::SystemdBoot).is_err());
        assert!(trial_entry(CONF, Some(""), &words(&["a b"]), &[], Loader::Grub).is_err());
    }

    #[test]
    fn the_usual_entry() {
        let e = |name: &str, v: &str| (name.to_owned(), format!("title x\nversion {v}\nlinux /v\n"));
        let all = vec![
            e(TRIAL_FILE, "9"),
            e("0abc-5.14.0-70.conf", "5.14.0-70"),
            e("0abc-5.14.0-362.conf", "5.14.0-362"),
            e("0abc-0-rescue.conf", "0-rescue"),
        ];
        let name = |env: Option<&str>, l| usual(&all, env, "5.14.0-70", l).map(|(n, _)| n.as_str());
        assert_eq!(name(None, Loader::Grub), Some("0abc-5.14.0-362.conf"), "the highest version");
        assert_eq!(name(Some("saved_entry=0abc-5.14.0-70\n"), Loader::Grub), Some("0abc-5.14.0-70.conf"));
        assert_eq!(name(Some("saved_entry=gone\n"), Loader::Grub), None);
        assert_eq!(name(Some("saved_entry=1\n"), Loader::Grub), Some("0abc-5.14.0-70.conf"));
        assert_eq!(name(None, Loader::SystemdBoot), Some("0abc-5.14.0-70.conf"));
    }

    #[test]
    fn the_trial_sorts_last_beside_any_machine_id() {
        for id in [
            "0123456789abcdef0123456789abcdef",
            "a0000000000000000000000000000000",
            "aaaa6789abcdef0123456789abcdef01",
            "ffff6789abcdef0123456789abcdef01",
        ] {
            assert_eq!(version_order(TRIAL_FILE, &format!("{id}-6.1.0.conf")), Ordering::Less, "{id}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(conf in any::<String>(), env in any::<Option<String>>(), a in any::<String>(), b in any::<String>()) {
            for l in [Loader::Grub, Loader::SystemdBoot] {
                let _ = trial_entry(&conf, env.as_deref(), &words(&["x=y"]), &[], l);
                let _ = usual(&[(a.clone(), conf.clone())], env.as_deref(), &b, l);
            }
            prop_assert_eq!(version_order(&a, &b), version_order(&b, &a).reverse());
        }
    }
}
