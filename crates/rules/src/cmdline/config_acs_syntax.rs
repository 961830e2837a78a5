//! `cmdline/config-acs-syntax`.

use super::words::{self, KPARAM, PCI_CORE};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_formats::cmdline::Param;
use linerate_formats::dmesg::Event;
use linerate_formats::pci::Bdf;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/config-acs-syntax",
    title: "Lists of pci=config_acs= and pci=disable_acs_redir= are understood by this kernel and name its devices",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("ACS bits stay as they were on some or all of the listed ports"),
    sources: &[
        PCI_CORE,
        KPARAM,
        Source {
            title: "Linux commit 47c8846a49ba, PCI: Extend ACS configurability (6.11)",
            at: "https://github.com/torvalds/linux/commit/47c8846a49ba",
        },
        Source {
            title: "Linux commit 9cf8a952d57b, PCI/ACS: Fix 'pci=config_acs=' parameter (6.15, stable)",
            at: "https://github.com/torvalds/linux/commit/9cf8a952d57b",
        },
    ],
    reads: &["proc/cmdline", "proc/sys/kernel/osrelease", "dmesg"],
    docs: "\
## What it checks
Each entry of both lists: flags of seven characters 0, 1 or x before `@` (config_acs), devices as `[DDDD:]BB:DD.F`, a path of
`/DD.F`, or `pci:VVVV:DDDD[:SSSS:SSSS]`; `;` between entries (a comma ends the option, quotes and backslashes are not taken away);
that named devices exist; that the kernel has the option; and that it is not one of 6.11 to 6.14, which misread lists of both
options unless the fix was backported: there the registers decide, where they are seen.

## Why it matters
A wrong list is dropped with one line in the log, or applied in part. The ports then redirect as before, and nobody notices.

## See it yourself
`cat /proc/cmdline; uname -r; dmesg | grep -i acs; lspci -vvv | grep ACSCtl`. Trust the registers, not the line.

## Fix
`pci=config_acs=xx000x0@0000:41:00.0;xx000x0@0000:42:00.0`, without a leading `=`. In a GRUB file the whole word needs quotes that the shell
takes away, since `;` ends a shell command. Flags from left to right: DT, EC, UF, CR, RR, TB, SV.",
    myths: &[Myth {
        claim: "The value starts with `=`, as in pci=config_acs==xx000x0@….",
        truth: "Some versions of the kernel's documentation print it so. The parser takes `=` for an invalid flag and ignores the option.",
    }],
    check,
};

/// Whether a piece of `pci=` looks like an entry of an ACS list that a comma cut off.
pub(super) fn looks_like_entry(option: &str) -> bool {
    let device = match option.split_once('@') {
        Some((flags, d)) if flags_problem(flags).is_none() => d,
        Some(_) => return false,
        None => option,
    };
    device_problem(device.split(';').next().unwrap_or(device)).is_none()
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let mut previous: Option<(&str, &Param)> = None;
    for (option, word) in c.options("pci") {
        let at = place.line(word.line);
        if let Some(list) = option.strip_prefix("config_acs=") {
            judge(cx, "config_acs", list, at, out);
            previous = Some(("config_acs", word));
        } else if let Some(list) = option.strip_prefix("disable_acs_redir=") {
            judge(cx, "disable_acs_redir", list, at, out);
            previous = Some(("disable_acs_redir", word));
        } else if let Some((key, _)) = previous.filter(|(_, p)| std::ptr::eq(*p, word) && looks_like_entry(option)) {
            out.fail(
                words::subject("pci", key),
                format_args!("`{}` is cut off: a comma ends the option", words::short(option)),
            )
            .at(at)
            .fix(rewrite);
        } else {
            previous = None;
        }
    }
    if out.is_empty() {
        out.not_applicable("neither pci=config_acs= nor pci=disable_acs_redir= is on the command line").at(place);
    }
}

fn judge(cx: &Cx<'_>, key: &'static str, list: &str, at: Place, out: &mut Findings) {
    let subject = words::subject("pci", key);
    let entries: Vec<&str> = list.split(';').collect();
    let mut wrong = None;
    let mut missing = None;
    let mut has_flags = key == "disable_acs_redir";
    for entry in entries.iter().take(4096) {
        let device = match entry.split_once('@') {
            Some((flags, device)) if key == "config_acs" => {
                has_flags = true;
                wrong = wrong.or(flags_problem(flags).map(|p| (*entry, p)));
                device
            }
            _ => entry,
        };
        if !has_flags {
            wrong = wrong.or(Some((*entry, "no flags before `@`")));
        }
        wrong = wrong.or(device_problem(device).map(|p| (*entry, p)));
        if let Ok(bdf) = device.parse::<Bdf>() {
            let seen = cx.node.pci.seen.is_some() && cx.node.pci.find(bdf).is_none();
            missing = missing.or(seen.then_some(bdf));
        }
    }
    let kernel = &cx.node.kernel;
    let rejected = kernel.events(|e| matches!(e, Event::AcsParameterRejected).then_some(())).next();
    let needed = if key == "config_acs" { (6, 11) } else { (4, 19) };
    let release = kernel.release.known();
    let n = entries.len();
    let mut f = if let Some((entry, problem)) = wrong {
        let f = out.fail(subject, format_args!("`{}`: {problem}", words::short(entry)));
        f.fix(rewrite);
        f
    } else if let Some((_, p)) = rejected {
        let f = out.fail(subject, "the kernel could not parse the list");
        f.at(p).fix(rewrite);
        f
    } else if release.is_some_and(|r| !r.at_least(needed.0, needed.1)) {
        out.fail(
            subject,
            format_args!("exists since Linux {}.{}: ignored by an older kernel without a backport", needed.0, needed.1),
        )
    } else if let Some(bdf) = missing {
        out.fail(subject, format_args!("names {bdf}, which is not on this node"))
    } else if let Some(r) = release.filter(|r| {
        // The fix is in stable kernels of these releases, too: where the registers are seen, they decide.
        n > 1 && r.at_least(6, 11) && !r.at_least(6, 15) && crate::acs::in_force(cx) != Some(true)
    }) {
        let f = out.fail(
            subject,
            format_args!("{n} entries: Linux {}.{} misreads lists unless the fix was backported", r.major, r.minor),
        );
        f.severity(Severity::Low).fix(reread);
        f
    } else if let Some(r) = release {
        out.pass(subject, format_args!("{n} well-formed entries, known to Linux {}.{}", r.major, r.minor))
    } else {
        out.unreadable(subject, "kernel release", &kernel.release)
    };
    f = f.at(at);
    if let (Some(_), true) = (release, f.evidence.len() < 3) {
        f.at(kernel.release.place());
    }
}

/// The kernel reads flags from the right; fewer than seven are accepted, others than 0, 1, x are not.
fn flags_problem(flags: &str) -> Option<&'static str> {
    if flags.starts_with('=') {
        return Some("a leading `=` is an invalid flag: the kernel ignores the list");
    }
    if flags.contains(['"', '\'', '\\']) {
        return Some("quotes and backslashes reach the kernel: it ignores the list");
    }
    if flags.is_empty() || !flags.bytes().all(|b| matches!(b, b'0' | b'1' | b'x' | b'X')) {
        return Some("flags other than 0, 1 and x");
    }
    (flags.len() != 7).then_some("not seven flags (DT EC UF CR RR TB SV)")
}

fn device_problem(device: &str) -> Option<&'static str> {
    let hex = |t: &str, max: usize| !t.is_empty() && t.len() <= max && t.bytes().all(|b| b.is_ascii_hexdigit());
    if device.is_empty() {
        return Some("an empty entry");
    }
    if device.contains(['"', '\'', '\\']) {
        return Some("quotes and backslashes reach the kernel");
    }
    if let Some(ids) = device.strip_prefix("pci:") {
        let parts: Vec<&str> = ids.split(':').collect();
        let good = matches!(parts.len(), 2 | 4) && parts.iter().all(|p| hex(p, 4));
        return (!good).then_some("not pci:VVVV:DDDD[:SSSS:SSSS]");
    }
    let mut steps = device.split('/');
    let first = steps.next().unwrap_or_default();
    let rest = steps.all(|s| s.split_once('.').is_some_and(|(d, f)| hex(d, 2) && hex(f, 1)));
    (first.parse::<Bdf>().is_err() || !rest).then_some("not a device ([DDDD:]BB:DD.F)")
}

fn rewrite() -> Remedy {
    let what = "write the list as rdma_topo does: entries FLAGS@DEVICE separated by `;`, no leading `=`, the word quoted in the boot loader's file";
    Remedy::investigate("correct the list", what)
        .because("ACS bits change: never clear redirection on a host of virtual machines")
        .prove("sys/bus/pci/devices/*/config ACS control")
}

fn reread() -> Remedy {
    let what = "read ACSCtl of every listed port after boot";
    Remedy::investigate(what, what).prove("sys/bus/pci/devices/*/config ACS control")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for good in ["0000:41:00.0", "41:00.0", "pci:10b5:9797", "pci:10b5:9797:0:ffff", "0000:00:01.0/00.0/1f.7"] {
            assert_eq!(device_problem(good), None, "{good}");
        }
        for bad in ["", "41:00", "pci:10b5", "pci:10b5:97971", "0000:41:00.0/x", "\"0000:41:00.0"] {
            assert!(device_problem(bad).is_some(), "{bad}");
        }
        assert_eq!(flags_problem("xx000x0"), None);
        for bad in ["=xx000x0", "xx000x", "xx000x00", "", "xx0o0x0", "\"xx000x0"] {
            assert!(flags_problem(bad).is_some(), "{bad}");
        }
        assert!(looks_like_entry("xx000x0@0000:41:00.0") && looks_like_entry("0000:41:00.0;0000:42:00.0"));
        assert!(!looks_like_entry("realloc") && !looks_like_entry("noats"));
    }
}
