//! MTU where systemd-networkd configures the network: a drop-in beside the file that matches.

use super::mtu::{Want, by_unit, rendered};
use super::{Refusal, Rendered, ours};
use crate::model::{Act, Condition};
use linerate_snapshot::Snapshot;

/// One step for those that a `.network` file is known to match, one for the others: for them a unit does it, which no other file can hide.
pub(super) fn mtu(good: &[Want<'_>], s: &Snapshot) -> Vec<Result<Rendered, Refusal>> {
    let mut out = Vec::new();
    let (mut files, mut matched, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for w in good {
        let Some(file) = file_of(w.name, s) else {
            alone.push(w.clone());
            continue;
        };
        let path = format!("/etc/systemd/network/{file}.d/90-linerate.conf");
        let text = format!("{}[Link]\nMTUBytes={}\n", ours::head("mtu"), w.mtu);
        match ours::written(s, &path, text, 0o644) {
            Ok(act) => {
                // One file for two interfaces is written once; for two MTUs there is no such file.
                let other = files.iter().any(|f: &Option<Act>| of(f) == of(&act) && f.is_some() && *f != act);
                if other {
                    alone.push(w.clone());
                    continue;
                }
                if !files.contains(&act) {
                    files.push(act);
                }
                matched.push(w.clone());
            }
            Err(e) => out.push(Err(e)),
        }
    }
    if !matched.is_empty() {
        let mut change = vec![ours::run(&["networkctl", "reload"], &["networkctl", "reload"], 60)];
        change.extend(matched.iter().filter_map(Want::act));
        change.extend(files.into_iter().flatten());
        change.push(ours::run(&["networkctl", "reload"], &[], 60));
        let program = Condition::Program { name: "networkctl".into(), package: "systemd".into() };
        out.push(Ok(rendered(&matched, vec![program], change, "networkd configures links again whose files changed")));
    }
    if !alone.is_empty() {
        out.push(by_unit(&alone, s).map(|r| Rendered { id: "mtu-unit".into(), ..r }));
    }
    out
}

fn of(act: &Option<Act>) -> Option<&str> {
    match act {
        Some(Act::File { path, .. }) => Some(path),
        _ => None,
    }
}

/// The file that networkd takes for an interface: the first whose `[Match]` fits. `None`: none does, or it cannot be told: a file before it
/// matches by something else than names, or its content is not in the source.
fn file_of(interface: &str, s: &Snapshot) -> Option<String> {
    let dir = s.dir("etc/systemd/network").known().copied()?;
    for (name, e) in s.children(dir).into_iter().filter(|(n, _)| n.ends_with(".network")) {
        let text = String::from_utf8_lossy(s.data(s.follow(e)?)).into_owned();
        let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        match fits(&text, interface)? {
            true if name.len() <= 128 && name.bytes().all(letter) => return Some(name.to_owned()),
            true => return None,
            false => {}
        }
    }
    None
}

/// Whether the `[Match]` section fits; `None`: it asks for something else than the name.
fn fits(text: &str, interface: &str) -> Option<bool> {
    let mut section = "";
    let mut names = None;
    for line in text.lines().map(str::trim).filter(|l| !l.starts_with(['#', ';'])) {
        if let Some(s) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = s;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| section == "Match") {
            match key.trim() {
                "Name" => names = Some(value.trim()),
                _ => return None,
            }
        }
    }
    let names = names?;
    if names.contains(['*', '?', '[', '!', '\\', '"']) {
        let prefix = |p: &str| {
            p.strip_suffix('*')
                .is_some_and(|p| !p.contains(['*', '?', '[', '!', '\\', '"']) && interface.starts_with(p))
        };
        return names.split_whitespace().any(|n| n == interface || prefix(n)).then_some(true);
    }
    Some(names.split_whitespace().any(|n| n == interface))
}
