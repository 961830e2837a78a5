//! Probable reasons why what was written is not in force, as far as the snapshot shows them.

use super::Cx;
use super::look::{Look, at, texts};
use crate::model::{FileAct, FileState, Step};
use linerate_formats::cmdline::same_name;
use linerate_snapshot::Snapshot;

/// What the step's own files and modules say.
pub(super) fn of_step(cx: &Cx<'_>, step: &Step) -> Option<String> {
    files_of(cx, step).or_else(|| modules_of(step).iter().find_map(|m| of_module(cx.after, m)))
}

/// A file of the step that is not there, or not as it was written. Redacted texts are not compared.
pub(super) fn files_of(cx: &Cx<'_>, step: &Step) -> Option<String> {
    let tried = !step.trial.is_empty();
    step.files().find_map(|FileAct { path, before, after, .. }| {
        // With a trial the file is written when the trial was proven; until then it is as it was.
        let untouched = match at(cx.after, path) {
            Look::Absent(_) => before.is(None),
            Look::Text(read, _) => matches!(before, FileState::Content(text) if text.trim_ascii() == read),
            Look::Unseen(..) => false,
        };
        if tried && untouched {
            return Some(
                "the node runs the usual entry, not the one that was to be tried: that one did not come up and it fell back, or the \
                 boot loader did not take it"
                    .to_owned(),
            );
        }
        match (at(cx.after, path), after) {
            (Look::Absent(p), Some(_)) => {
                Some(format!("{p} is not there: it was not written, or something removed it"))
            }
            (Look::Text(..), None) => Some(format!("{path} is still there, or was made again")),
            (Look::Text(read, p), Some(wanted)) if !cx.after.manifest.redacted && read != wanted.0.trim_ascii() => {
                Some(format!("{p} holds something else than what was written: something else manages this file"))
            }
            _ => None,
        }
    })
}

/// Whether the step writes files, and the node shows all of them as they were written.
pub(super) fn shows_files_of(cx: &Cx<'_>, step: &Step) -> bool {
    let mut written = step.files().filter(|file| file.after.is_some());
    step.files().next().is_some()
        && files_of(cx, step).is_none()
        && written.all(|file| matches!(at(cx.after, &file.path), Look::Text(..)))
}

/// Modules that the step loads at boot.
fn modules_of(step: &Step) -> Vec<&str> {
    let lists = step.files().filter(|file| file.path.contains("modules-load.d/"));
    let texts = lists.filter_map(|file| file.after.as_ref()).map(|text| text.0.as_str());
    texts.flat_map(str::lines).map(str::trim).filter(|l| !l.is_empty() && !l.starts_with(['#', ';'])).collect()
}

/// Why a module is not loaded.
fn of_module(s: &Snapshot, module: &str) -> Option<String> {
    if loaded(s, module)? {
        return None;
    }
    let banned = blacklisted(s, module).map(|at| format!("{at} forbids loading {module}"));
    Some(banned.unwrap_or_else(|| {
        format!("{module} is not loaded: it is not built for this kernel, or loading it failed (see `journalctl -b -u systemd-modules-load`)")
    }))
}

/// Whether a module is loaded; `None`: cannot be decided.
fn loaded(s: &Snapshot, module: &str) -> Option<bool> {
    match at(s, "proc/modules") {
        Look::Text(text, _) => {
            Some(text.lines().filter_map(|l| l.split_whitespace().next()).any(|m| same_name(m, module)))
        }
        _ => None,
    }
}

/// The line that forbids a module, with its file.
fn blacklisted(s: &Snapshot, module: &str) -> Option<String> {
    for dir in ["etc/modprobe.d", "run/modprobe.d", "usr/lib/modprobe.d", "lib/modprobe.d"] {
        for (path, text) in texts(s, dir, ".conf") {
            for (n, line) in text.lines().enumerate() {
                let mut words = line.split_whitespace();
                let (what, name, how) = (words.next(), words.next(), words.next());
                let never = match what {
                    Some("blacklist") => true,
                    Some("install") => how.is_some_and(|h| h.ends_with("/false") || h.ends_with("/true")),
                    _ => false,
                };
                if never && name.is_some_and(|m| same_name(m, module)) {
                    return Some(format!("{path}:{}", n + 1));
                }
            }
        }
    }
    let line = match at(s, "proc/cmdline") {
        Look::Text(line, _) => line,
        _ => return None,
    };
    let banned = line.split_whitespace().filter_map(|w| w.split_once("blacklist=")).flat_map(|(_, l)| l.split(','));
    banned.into_iter().any(|m| same_name(m, module)).then(|| "module_blacklist= in the kernel's arguments".to_owned())
}

/// Why a path of the kernel does not exist.
pub(super) fn of_absent(cx: &Cx<'_>, path: &str) -> Option<String> {
    let rest = path.trim_start_matches('/').strip_prefix("sys/module/")?;
    let (module, below) = rest.split_once('/').unwrap_or((rest, ""));
    if let Some(reason) = of_module(cx.after, module) {
        return Some(reason);
    }
    let option = below.strip_prefix("parameters/")?;
    (loaded(cx.after, module) == Some(true))
        .then(|| format!("this build of {module} has no option {option}, or does not show it"))
}

/// Files that set values at boot: directory, ending, and how they name a value.
const SETTERS: &[(&str, &str)] = &[
    ("etc/sysctl.d", ".conf"),
    ("run/sysctl.d", ".conf"),
    ("usr/lib/sysctl.d", ".conf"),
    ("etc/tmpfiles.d", ".conf"),
    ("usr/lib/tmpfiles.d", ".conf"),
    ("etc/modprobe.d", ".conf"),
    ("etc/netplan", ".yaml"),
    ("etc/systemd/network", ""),
    ("run/systemd/network", ""),
    ("etc/tuned", "active_profile"),
];

/// A file that sets something else; and for interfaces, who owns them.
pub(super) fn of_value(s: &Snapshot, path: &str, wanted: &str) -> Option<String> {
    let path = path.trim_start_matches('/');
    let dotted = path.strip_prefix("proc/sys/").map(|p| p.replace('/', "."));
    let parameter = path.strip_prefix("sys/module/").and_then(|p| p.split_once("/parameters/"));
    let mtu = path.strip_prefix("sys/class/net/").and_then(|p| p.strip_suffix("/mtu"));
    for (dir, end) in SETTERS {
        for (file, text) in texts(s, dir, end) {
            let mut section = false;
            for (n, line) in text.lines().map(str::trim).enumerate().filter(|(_, l)| !l.starts_with(['#', ';'])) {
                section |= mtu.is_some_and(|i| line.contains(i));
                let names = dotted.as_ref().is_some_and(|d| line.split('=').next().map(str::trim) == Some(d.as_str()))
                    || line.split_whitespace().nth(1) == Some(&format!("/{path}"))
                    || parameter.is_some_and(|(m, o)| option_line(line, m, o))
                    || section && line.to_ascii_lowercase().starts_with("mtu");
                let value = line.rsplit(['=', ' ', ':']).next().unwrap_or_default().trim();
                if names && value != wanted {
                    return Some(format!("{file}:{} sets it: {}", n + 1, super::prove::clip(line)));
                }
            }
        }
    }
    let governor = path.ends_with("scaling_governor") || path.ends_with("energy_performance_preference");
    let tuned = matches!(at(s, "etc/tuned/active_profile"), Look::Text(..));
    (governor && tuned).then(|| "tuned has an active profile, which sets it at each boot".to_owned())
}

fn option_line(line: &str, module: &str, option: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("options")
        && words.next().is_some_and(|m| same_name(m, module))
        && words.any(|w| w.split('=').next() == Some(option))
}
