//! The drop-in that Debian's `grub-mkconfig` reads: `/etc/default/grub.d/90-linerate.cfg`.

use crate::act::head;
use crate::boot::words::{for_grub, spellings};
use std::fmt::Write as _;

/// Where it is.
pub const DROP_IN: &str = "/etc/default/grub.d/90-linerate.cfg";
const ADDS: &str = "# adds: ";
const REMOVES: &str = "# removes: ";

/// A constant piece of POSIX shell (dash and bash, `set -eu`): takes a word out of arguments, and leaves all other bytes as they are.
const WITHOUT: &str = r#"linerate_without() {
    linerate_rest=" $1 "
    while :; do
        case "$linerate_rest" in
        *" $2 "*) linerate_rest="${linerate_rest%%" $2 "*} ${linerate_rest#*" $2 "}" ;;
        *) break ;;
        esac
    done
    linerate_rest="${linerate_rest# }"
    linerate_rest="${linerate_rest% }"
}
"#;

/// What `grub-mkconfig` puts last on the line of a usual entry: ours stand behind all others there, as in the entry on trial, and override
/// them. Recovery entries have `GRUB_CMDLINE_LINUX` only: they start as before, without what is added, which is what they are for. In both
/// variables a word would be on the line twice, and lists like `pci=` would be read twice.
const LAST: &str = "GRUB_CMDLINE_LINUX_DEFAULT";
/// Where versions before this one added.
const EARLIER: &str = "GRUB_CMDLINE_LINUX";

/// The file's text. The words were checked ([`crate::boot::words::check`]): between single quotes they are nothing but themselves.
#[must_use]
pub fn drop_in(step: &str, add: &[String], remove: &[String]) -> String {
    adding_to(LAST, step, add, remove)
}

fn adding_to(variable: &str, step: &str, add: &[String], remove: &[String]) -> String {
    let mut out = head(step);
    let _ = writeln!(out, "{ADDS}{}\n{REMOVES}{}", add.join(" "), remove.join(" "));
    // What is added is taken out first, too: then it is there once, and behind what it overrides.
    let mut gone: Vec<String> =
        remove.iter().chain(add).flat_map(|w| spellings(w)).filter(|s| !s.contains('\'')).collect();
    gone.sort();
    gone.dedup();
    // Only a word with `=` or `;` is ever quoted; a spelling in quotes costs a line, so the plain ones have one each.
    gone.retain(|s| !s.contains('"') || s.contains([';', '=']));
    out.push_str(WITHOUT);
    out.push_str("for linerate_word in");
    for w in &gone {
        let _ = write!(out, " \\\n    '{w}'");
    }
    out.push_str(
        "; do\n    linerate_without \"${GRUB_CMDLINE_LINUX-}\" \"$linerate_word\"\n    GRUB_CMDLINE_LINUX=\"$linerate_rest\"\n    \
         linerate_without \"${GRUB_CMDLINE_LINUX_DEFAULT-}\" \"$linerate_word\"\n    \
         GRUB_CMDLINE_LINUX_DEFAULT=\"$linerate_rest\"\ndone\n",
    );
    if !add.is_empty() {
        let words: Vec<String> = add.iter().map(|w| for_grub(w)).collect();
        let _ = writeln!(out, "{variable}=\"${{{variable}:+${variable} }}\"'{}'", words.join(" "));
    }
    out
}

/// What a drop-in of ours adds and removes; `None`: it is not as [`drop_in`] writes it.
#[must_use]
pub fn read_drop_in(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let words = |head: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(head.trim_end()))?;
        let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
        words.iter().all(|w| crate::boot::words::check(w).is_ok()).then_some(words)
    };
    let (add, remove) = (words(ADDS)?, words(REMOVES)?);
    let step = text.lines().next()?.strip_prefix("# Written by linerate (plan step ")?.split(')').next()?;
    let ours = [LAST, EARLIER].iter().any(|v| adding_to(v, step, &add, &remove) == text);
    ours.then_some((add, remove))
}

/// Why a file that `grub-mkconfig` reads after ours undoes what ours does; `None`: it does not.
#[must_use]
pub fn fights(name: &str, text: &str, add: &[String], remove: &[String]) -> Option<String> {
    for line in text.lines().map(str::trim) {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((left, value)) = line.split_once('=') else { continue };
        let variable = left.trim_end_matches('+');
        if !matches!(variable, "GRUB_CMDLINE_LINUX" | "GRUB_CMDLINE_LINUX_DEFAULT") {
            continue;
        }
        let keeps =
            left.ends_with('+') || value.contains(&format!("${variable}")) || value.contains(&format!("${{{variable}"));
        if !keeps && variable == LAST && !add.is_empty() {
            return Some(format!(
                "{name} is read after {DROP_IN} and assigns {variable} again: earlier values are lost"
            ));
        }
        let value: String = value.chars().filter(|c| !"'\"\\".contains(*c)).collect();
        let mut words = value.split_ascii_whitespace();
        if let Some(w) = words.find(|w| remove.iter().any(|r| r == w)) {
            return Some(format!("{name} is read after {DROP_IN} and adds {w} again"));
        }
        let name_of = |w: &str| w.split('=').next().unwrap_or_default().to_owned();
        let contrary = |w: &&str| {
            // The last one counts for these; lists like `pci=` and `console=` add up.
            let one = matches!(
                name_of(w).as_str(),
                "iommu" | "iommu.passthrough" | "iommu.strict" | "intel_iommu" | "amd_iommu"
            );
            one && add.iter().any(|a| name_of(a) == name_of(w) && a != *w)
        };
        if let Some(w) = value.split_ascii_whitespace().find(contrary) {
            return Some(format!("{name} is read after {DROP_IN} and sets {w}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    fn words(w: &[&str]) -> Vec<String> {
        w.iter().map(|w| (*w).to_owned()).collect()
    }

    /// Runs a shell over the drop-in, as grub-mkconfig does; `None`: there is no such shell.
    fn run(shell: &[&str], before: &str, text: &str) -> Option<String> {
        let (program, args) = shell.split_first()?;
        let mut child = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let script = format!(
            "set -eu\n{before}\n{text}\nprintf '%s|%s' \"$GRUB_CMDLINE_LINUX\" \"$GRUB_CMDLINE_LINUX_DEFAULT\"\n"
        );
        child.stdin.take()?.write_all(script.as_bytes()).ok()?;
        let out = child.wait_with_output().ok()?;
        assert!(out.status.success(), "{shell:?} refused:\n{script}");
        String::from_utf8(out.stdout).ok()
    }

    #[test]
    fn shells_take_words_out_and_put_them_in() {
        let acs = "pci=config_acs=xx000x0@0000:41:00.0;xx000x0@0000:42:00.0";
        let text = drop_in("kernel-args", &words(&["iommu=pt", acs]), &words(&["iommu=off", "quiet"]));
        let before = "GRUB_CMDLINE_LINUX='iommu=off  dyndbg=\"a  b\" iommu=off x'\nGRUB_CMDLINE_LINUX_DEFAULT='quiet iommu=pt splash pci=\"config_acs=xx000x0@0000:41:00.0;xx000x0@0000:42:00.0\"'";
        let mut ran = 0;
        for shell in [&["dash"][..], &["bash"], &["bash", "--posix"], &["busybox", "sh"]] {
            let Some(out) = run(shell, before, &text) else { continue };
            assert_eq!(
                out, " dyndbg=\"a  b\" x|splash iommu=pt pci=\"config_acs=xx000x0@0000:41:00.0;xx000x0@0000:42:00.0\"",
                "{shell:?}"
            );
            // Read twice it is the same.
            let twice = run(shell, before, &format!("{text}{text}"));
            assert_eq!(twice.as_deref(), Some(out.as_str()), "{shell:?}");
            ran += 1;
        }
        assert!(ran > 0, "no shell to try it with");
    }

    /// The last word of a name counts: ours overrides what is in either variable, as in the entry on trial.
    #[test]
    fn ours_is_last_on_the_line_as_on_trial() {
        let text = drop_in("kernel-args", &words(&["iommu=pt"]), &[]);
        for (linux, default, want) in [
            ("a", "iommu=nopt quiet", "a|iommu=nopt quiet iommu=pt"),
            ("iommu=nopt", "", "iommu=nopt|iommu=pt"),
            ("iommu=pt a", "iommu=pt", "a|iommu=pt"),
        ] {
            let before = format!("GRUB_CMDLINE_LINUX='{linux}'\nGRUB_CMDLINE_LINUX_DEFAULT='{default}'");
            for shell in [&["dash"][..], &["bash", "--posix"], &["busybox", "sh"]] {
                let Some(out) = run(shell, &before, &text) else { continue };
                assert_eq!(out, want, "{shell:?}");
            }
        }
    }

    #[test]
    fn ours_is_known_again() {
        let (add, remove) = (words(&["iommu=pt", "pci=a;b"]), words(&["iommu=off"]));
        let text = drop_in("kernel-args", &add, &remove);
        let older = adding_to(EARLIER, "kernel-args", &add, &remove);
        assert!(
            older != text
                && older.ends_with(
                    "GRUB_CMDLINE_LINUX=\"${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX }\"'iommu=pt pci=\"a;b\"'\n"
                )
        );
        assert_eq!(read_drop_in(&older), Some((add.clone(), remove.clone())), "of a version before");
        assert_eq!(read_drop_in(&text), Some((add, remove)));
        assert_eq!(read_drop_in(&text.replace("# adds: iommu=pt", "# adds: iommu=on")), None);
        assert_eq!(read_drop_in(&format!("{text}GRUB_TIMEOUT=9\n")), None);
        assert_eq!(read_drop_in("GRUB_CMDLINE_LINUX=x\n"), None);
    }

    #[test]
    fn later_files_that_fight() {
        let (add, remove) = (words(&["iommu=pt"]), words(&["iommu=off"]));
        let fight = |t: &str| fights("/etc/default/grub.d/99-x.cfg", t, &add, &remove);
        assert!(fight("GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"").is_some_and(|w| w.contains("earlier values are lost")));
        assert!(fight("GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX iommu=off\"").is_some_and(|w| w.contains("again")));
        let sets = fight("GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT iommu=nopt\"");
        assert!(sets.is_some_and(|w| w.contains("sets iommu=nopt")));
        assert_eq!(fight("GRUB_CMDLINE_LINUX=\"console=ttyS0\""), None, "ours are in the other, and stand behind it");
        let none: Vec<String> = Vec::new();
        assert_eq!(fights("x", "GRUB_CMDLINE_LINUX_DEFAULT=quiet", &none, &remove), None, "nothing of ours is lost");
        assert_eq!(fight("GRUB_CMDLINE_LINUX=\"${GRUB_CMDLINE_LINUX} crashkernel=1G\""), None);
        assert_eq!(fight("GRUB_CMDLINE_LINUX+=\" crashkernel=1G\""), None);
        assert_eq!(fight("GRUB_CMDLINE_LINUX_DEFAULT+=\" quiet\"\n#GRUB_CMDLINE_LINUX_DEFAULT=x"), None);
    }
}
