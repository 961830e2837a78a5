//! Values under `/sys` and `/proc/sys`: written now, and again at each boot by `tmpfiles.d`, `sysctl.d` or tuned.

use super::{AT_ONCE, Change, Kind, Refusal, Setting, each, ours, words};
use crate::act::head;
use crate::model::{Act, Condition, FileAct, Proof, ValueAct};
use crate::see;
use crate::terms::{On, Terms};
use linerate_formats::wildcard;
use linerate_rules::Action;
use linerate_snapshot::{EntryId, EntryKind, Snapshot};

const TMPFILES: &str = "/etc/tmpfiles.d/linerate.conf";
const SYSCTL: &str = "/etc/sysctl.d/90-linerate.conf";
/// Where profiles of the site are: since tuned 2.23 in a directory of their own.
const TUNED: [&str; 2] = ["/etc/tuned/profiles", "/etc/tuned"];
const ACTIVE: &str = "/etc/tuned/active_profile";

/// Paths that one ask may become: the idle states of a large machine are some thousands.
const MOST: usize = 16 * 1024;

/// Values under `/sys` and `/proc/sys`.
pub(super) struct Values;

impl Kind for Values {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(|_| String::new())
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        AT_ONCE
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        of(action).map(|a| (a.path.to_owned(), a.value.to_owned())).into_iter().collect()
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        vec![values(&each(actions, of), on.snapshot)]
    }
}

/// A value.
#[derive(PartialEq)]
struct Sysfs<'a> {
    /// Path or pattern (`*`), absolute.
    path: &'a str,
    value: &'a str,
}

fn of(action: &Action) -> Option<Sysfs<'_>> {
    match action {
        Action::Sysfs { path, value } => Some(Sysfs { path, value }),
        _ => None,
    }
}

fn values(asked: &[Sysfs<'_>], s: &Snapshot) -> Result<Change, Refusal> {
    let mut now = Vec::new();
    let mut proof = Vec::new();
    for a in asked {
        words::kernel_path(a.path, true)?;
        words::value(a.value)?;
        // Reads as `Global tclass=106`: what is written there is never what is read.
        if a.path.ends_with("/traffic_class") {
            return Err(Refusal::ByHand {
                how: vec![
                    format!("write {} to {} now, and at each boot after the driver is loaded", a.value, a.path),
                    "(a udev rule or a unit of the fabric's own setup: it has to match the switches)".into(),
                ],
                reread: vec![a.path.to_owned()],
            });
        }
        for (path, there) in expand(s, a.path)? {
            if there != a.value && !there.split_whitespace().any(|w| w == format!("[{}]", a.value)) {
                now.push(Act::Value(ValueAct { path: path.clone(), before: there, after: a.value.to_owned() }));
                proof.push(Proof::Value { path, value: a.value.to_owned() });
            }
            if now.len() > MOST {
                return Err(Refusal::no(format!("{} names more than {MOST} files", a.path)));
            }
        }
    }
    let (files, mut note) = lasting(asked, s)?;
    if now.is_empty() && files.is_empty() {
        return Err(Refusal::Already { reason: "the values are set, and are written at each boot".into() });
    }
    if asked.iter().any(|a| a.path.starts_with("/sys/class/") || a.path.starts_with("/sys/bus/")) {
        note.push_str("; a device that appears later than systemd-tmpfiles-setup at boot is not written: the proof after a reboot shows it");
    }
    let tuned = files.iter().any(|f| matches!(f, Act::File(FileAct { path, .. }) if path.starts_with("/etc/tuned/")));
    Ok(Change {
        id: "values".into(),
        summary: format!(
            "write {} now and at each boot",
            asked.iter().map(|a| format!("{} to {}", a.value, a.path)).collect::<Vec<_>>().join(", ")
        ),
        precondition: tuned.then(|| Condition::program("tuned-adm", "tuned")).into_iter().collect(),
        acts: now.into_iter().chain(files).collect(),
        proof,
        note,
        ..Change::default()
    })
}

/// What writes them at each boot, and what to know of it.
fn lasting(asked: &[Sysfs<'_>], s: &Snapshot) -> Result<(Vec<Act>, String), Refusal> {
    if let Some(old) = tuned(s)? {
        return by_tuned(asked, s, old);
    }
    let (sysctl, sysfs): (Vec<&Sysfs<'_>>, Vec<&Sysfs<'_>>) =
        asked.iter().partition(|a| a.path.starts_with("/proc/sys/"));
    let mut files = Vec::new();
    if !sysfs.is_empty() {
        let lines: Vec<String> = sysfs.iter().map(|a| format!("w- {} - - - - {}", a.path, a.value)).collect();
        let keep = |l: &str| !sysfs.iter().any(|a| l.split_whitespace().nth(1) == Some(a.path));
        files.extend(ours::with_lines(s, TMPFILES, "values", &lines, keep)?);
    }
    if !sysctl.is_empty() {
        let mut lines = Vec::new();
        for a in &sysctl {
            if a.path.contains('*') {
                return Err(Refusal::no(format!("{}: sysctl.d has no patterns", a.path)));
            }
            lines.push(format!("{} = {}", sysctl_name(a.path), a.value));
        }
        let keep = |l: &str| !sysctl.iter().any(|a| l.split_whitespace().next() == Some(sysctl_name(a.path).as_str()));
        files.extend(ours::with_lines(s, SYSCTL, "values", &lines, keep)?);
    }
    Ok((files, "at boot systemd-tmpfiles and systemd-sysctl write them".into()))
}

/// `/proc/sys/kernel/x` as `kernel.x`; with slashes where a name has a dot in it (sysctl.d(5)).
pub(crate) fn sysctl_name(path: &str) -> String {
    let name = path.strip_prefix("/proc/sys/").unwrap_or(path);
    if name.contains('.') { name.to_owned() } else { name.replace('/', ".") }
}

/// The profile in force, where tuned rules: what it sets would be set again after ours.
fn tuned(s: &Snapshot) -> Result<Option<String>, Refusal> {
    let Some(text) = ours::there(s, ACTIVE)? else { return Ok(None) };
    let names: Vec<&str> = text.split_whitespace().collect();
    let good = |n: &&str| {
        n.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) && !n.starts_with(['-', '.'])
    };
    match names.as_slice() {
        [] => Ok(None),
        [name] if good(name) => Ok(Some((*name).to_owned())),
        _ => Err(Refusal::no(format!("{ACTIVE} names more than one profile of tuned, or none that can be included"))),
    }
}

/// A profile of ours that includes the one in force and says only what was asked.
fn by_tuned(asked: &[Sysfs<'_>], s: &Snapshot, old: String) -> Result<(Vec<Act>, String), Refusal> {
    const GOVERNOR: &str = "/cpufreq/scaling_governor";
    if old == "linerate" {
        return Err(Refusal::no("tuned's profile is linerate's own of an earlier plan: linerate rollback first"));
    }
    let mut text = format!("{}[main]\ninclude={old}\n", head("values"));
    let of = |want: &dyn Fn(&str) -> bool| asked.iter().filter(|a| want(a.path)).collect::<Vec<_>>();
    for a in of(&|p| p.ends_with(GOVERNOR)).iter().take(1) {
        text.push_str(&format!("\n[cpu]\ngovernor={}\n", a.value));
    }
    for (section, want) in [
        ("sysfs", &(|p: &str| p.starts_with("/sys/") && !p.ends_with(GOVERNOR)) as &dyn Fn(&str) -> bool),
        ("sysctl", &|p: &str| p.starts_with("/proc/sys/")),
    ] {
        let all = of(want);
        if !all.is_empty() {
            text.push_str(&format!("\n[{section}]\n"));
        }
        for a in all {
            let key = if section == "sysctl" { sysctl_name(a.path) } else { a.path.to_owned() };
            text.push_str(&format!("{key}={}\n", a.value));
        }
    }
    let [own, older] = TUNED;
    let dir = if see::exists(s, own) { own } else { older };
    let file = ours::written(s, &format!("{dir}/linerate/tuned.conf"), text, 0o644)?;
    let switch = ours::run_writing(
        &["tuned-adm", "profile", "linerate"],
        vec![ACTIVE.to_owned(), "/etc/tuned/profile_mode".to_owned()],
        &["tuned-adm", "profile", &old],
        60,
    );
    let note = format!("tuned is active here: a new profile, which includes {old} and adds these values, replaces it");
    Ok((file.into_iter().chain([switch]).collect(), note))
}

/// Files that the source shows for a pattern, with what is in them.
fn expand(s: &Snapshot, pattern: &str) -> Result<Vec<(String, String)>, Refusal> {
    let mut dirs: Vec<(String, EntryId)> = vec![(String::new(), s.root())];
    for name in pattern.split('/').filter(|n| !n.is_empty()) {
        let mut next = Vec::new();
        for (path, dir) in &dirs {
            if !name.contains(['*', '?', '[']) {
                next.extend(s.child(s.follow(*dir).unwrap_or(*dir), name).map(|e| (format!("{path}/{name}"), e)));
                continue;
            }
            let fits = s.children(*dir).into_iter().filter(|(n, _)| wildcard::glob(name.as_bytes(), n.as_bytes()));
            next.extend(fits.map(|(n, e)| (format!("{path}/{n}"), e)));
            if next.len() > MOST {
                return Err(Refusal::no(format!("{pattern} names more than {MOST} files")));
            }
        }
        dirs = next;
    }
    let mut out = Vec::new();
    for (path, e) in dirs {
        let Some(e) = s.follow(e).filter(|e| matches!(s.kind(*e), EntryKind::File)) else { continue };
        let Ok(text) = std::str::from_utf8(s.data(e)) else { continue };
        words::kernel_path(&path, false)?;
        if !text.trim().is_empty() && text.len() <= 4096 {
            out.push((path, text.trim().to_owned()));
        }
    }
    if out.is_empty() {
        return Err(Refusal::no(format!("the source shows no readable {pattern}: what is there now is not known")));
    }
    Ok(out)
}
