//! NetworkManager: the profile that an interface uses is changed by `nmcli`, and its keyfile is kept: what is undone comes back byte for byte.
//! The file may hold secrets. Which one it is, is told by its UUID; what is in it, is in no plan.

use super::files::{self, Ini, PROFILES};
use super::{Want, rendered};
use crate::change::{Change, Refusal, ours};
use crate::model::Condition;
use linerate_snapshot::Snapshot;

/// One step for all interfaces whose profile is a keyfile of its own; the others are left to people, with the exact words.
pub(super) fn render(good: &[Want<'_>], s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    let (mut out, mut mine) = (Vec::new(), Vec::new());
    for w in good {
        match profile(w, s) {
            Ok(p) => mine.push((w.clone(), p)),
            Err(Not { why, uuid }) => out.push(Err(by_hand(w, &why, uuid.as_deref()))),
        }
    }
    if mine.is_empty() {
        return out;
    }
    let mut precondition = vec![Condition::program("nmcli", "network-manager")];
    let mut change = Vec::new();
    for (w, p) in &mine {
        precondition.push(Condition::Exists { path: p.path.clone() });
        change.extend(w.now());
        let argv: Vec<String> = ["nmcli", "connection", "modify", "uuid", &p.uuid]
            .into_iter()
            .map(str::to_owned)
            .chain(settings(w, p))
            .collect();
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        change.push(ours::run_writing(&argv, vec![p.path.clone()], &["nmcli", "connection", "load", &p.path], 60));
    }
    let wants: Vec<Want<'_>> = mine.into_iter().map(|(w, _)| w).collect();
    let note = "the connection stays up: NetworkManager uses the profile from its next activation on, until then the values are set directly";
    out.push(Ok(rendered(&wants, precondition, change, note)));
    out
}

/// A profile that is one interface's own.
struct Profile {
    uuid: String,
    /// Its keyfile.
    path: String,
    /// The property of its MTU.
    mtu: &'static str,
    /// Its method has no room for addresses.
    no_addresses: bool,
}

/// Why there is none.
struct Not {
    why: String,
    /// The connection, where it is known.
    uuid: Option<String>,
}

/// Property and value of all that is wanted.
fn settings(w: &Want<'_>, p: &Profile) -> Vec<String> {
    let mut out = Vec::new();
    let mut set = |property: &str, value: String| out.extend([property.to_owned(), value]);
    if let Some(m) = w.mtu {
        set(p.mtu, m.after.to_string());
    }
    w.addresses.iter().for_each(|c| set("+ipv4.addresses", c.to_string()));
    if !w.addresses.is_empty() && p.no_addresses {
        set("ipv4.method", "manual".to_owned());
    }
    out
}

fn profile(w: &Want<'_>, s: &Snapshot) -> Result<Profile, Not> {
    let none = |why: String| Not { why, uuid: None };
    let index = w.index.ok_or_else(|| none(format!("the source does not show the number of {} (ifindex)", w.name)))?;
    let device = files::within(s, "run/NetworkManager/devices", "").into_iter().find(|f| f.name == index.to_string());
    let device = device.and_then(|f| f.ini).ok_or_else(|| {
        none(format!(
            "the source does not show what NetworkManager knows of {}: collect again with this version, as root",
            w.name
        ))
    })?;
    let uuid = device.get(&["device"], "connection-uuid").filter(|u| is_uuid(u));
    let uuid = uuid.ok_or_else(|| none(format!("NetworkManager uses no connection for {}", w.name)))?;
    let not = |why: String| Not { why, uuid: Some(uuid.to_owned()) };
    let has = |ini: &Ini<'_>| ini.get(&["connection"], "uuid") == Some(uuid);
    let mut found = PROFILES.iter().flat_map(|d| files::within(s, d, "")).filter(|f| f.ini.as_ref().is_some_and(has));
    let (file, second) = (found.next(), found.next());
    let Some((ini, file)) = file.and_then(|f| Some((f.ini?, (f.path, f.name)))) else {
        return Err(not(
            "the source shows no keyfile for its profile (it is an ifcfg file, or was not read as root)".into()
        ));
    };
    let (path, name) = file;
    if let Some(second) = second {
        return Err(not(format!("{path} and {} are the same connection", second.path)));
    }
    if !path.starts_with("/etc/") {
        return Err(not(format!(
            "its profile {path} is not NetworkManager's to change in place: nmcli makes a copy in /etc"
        )));
    }
    let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'@' | b'+');
    if name.len() > 128 || name.starts_with('-') || !name.bytes().all(letter) {
        return Err(not("the name of its keyfile cannot be passed to a program".into()));
    }
    if ini.get(&["connection"], "interface-name") != Some(w.name) {
        return Err(not(format!("its profile is not for {} alone: a change of it reaches other interfaces", w.name)));
    }
    let mtu = match ini.get(&["connection"], "type") {
        Some("ethernet" | "802-3-ethernet") => "802-3-ethernet.mtu",
        Some("infiniband") => "infiniband.mtu",
        _ => return Err(not("its profile is neither of Ethernet nor of InfiniBand".into())),
    };
    let no_addresses = match ini.get(&["ipv4"], "method") {
        None | Some("auto" | "manual") => false,
        Some("disabled" | "link-local") => true,
        Some(_) if w.addresses.is_empty() => false,
        Some(_) => return Err(not("its profile shares the network with others (ipv4.method)".into())),
    };
    Ok(Profile { uuid: uuid.to_owned(), path, mtu, no_addresses })
}

fn is_uuid(word: &str) -> bool {
    let groups: Vec<usize> = word.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// The exact words.
fn by_hand(w: &Want<'_>, why: &str, uuid: Option<&str>) -> Refusal {
    let mut how = vec![why.to_owned()];
    let connection = match uuid {
        Some(uuid) => format!("uuid {uuid}"),
        None => {
            how.push(format!("which connection it uses: nmcli -g GENERAL.CONNECTION device show {}", w.name));
            format!("CONNECTION-OF-{}", w.name)
        }
    };
    let modify = |what: String| format!("nmcli connection modify {connection} {what}");
    how.extend(w.mtu.map(|m| modify(format!("802-3-ethernet.mtu {}", m.after))));
    for c in w.addresses {
        how.push(modify(format!("+ipv4.addresses {c}")));
        let both = modify(format!("+ipv4.addresses {c} ipv4.method manual"));
        how.push(format!("where its ipv4.method is disabled or link-local, instead: {both}"));
    }
    how.push(format!("nmcli device reapply {}", w.name));
    w.by_hand(how)
}
