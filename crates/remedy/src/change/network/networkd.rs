//! systemd-networkd: a drop-in beside the file that matches.

use super::files::{self, Fit};
use super::{STEP, Want, by_unit, rendered};
use crate::act::head;
use crate::change::{Change, Refusal, ours};
use crate::model::{Act, Condition};
use linerate_node::Node;
use linerate_snapshot::Snapshot;

/// One step for those that a `.network` file is known to match, one for the others: for them a unit does it, which no other file can hide.
pub(super) fn render(good: &[Want<'_>], node: &Node<'_>, s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    let mut out = Vec::new();
    let (mut acts, mut matched, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for w in good {
        let Some(file) = file_of(w, s).filter(|f| is_for(f, w, good, node, s)) else {
            alone.push(w.clone());
            continue;
        };
        match drop_in(&file, w, s) {
            // One file for two interfaces is written once.
            Ok(act) => {
                if !acts.contains(&act) {
                    acts.push(act);
                }
                matched.push(w.clone());
            }
            Err(e) => out.push(Err(e)),
        }
    }
    if !matched.is_empty() {
        let mut change = vec![ours::run(&["networkctl", "reload"], &["networkctl", "reload"], 60)];
        change.extend(matched.iter().flat_map(Want::now));
        change.extend(acts.into_iter().flatten());
        change.push(ours::run(&["networkctl", "reload"], &[], 60));
        let program = Condition::program("networkctl", "systemd");
        out.push(Ok(rendered(&matched, vec![program], change, "networkd reconfigures links whose files changed")));
    }
    if !alone.is_empty() {
        out.push(by_unit::render(&alone, s).map(|r| Change { id: format!("{STEP}-unit"), ..r }));
    }
    out
}

/// The file that networkd takes for an interface: the first whose `[Match]` fits. `None`: none does, or it cannot be decided: a file before it
/// matches by something else than names, or its content is not in the source.
fn file_of(w: &Want<'_>, s: &Snapshot) -> Option<String> {
    let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let first = first(w.name, w.address, s)?;
    (first.len() <= 128 && first.bytes().all(letter)).then_some(first)
}

fn first(interface: &str, address: Option<&str>, s: &Snapshot) -> Option<String> {
    let file = files::networks(s).into_iter().find(|f| f.fits(interface, address) != Fit::No)?;
    (file.fits(interface, address) == Fit::Yes).then(|| file.name.to_owned())
}

/// Whether what is written beside the file reaches nobody else: all others that it is for want the same, and addresses are one's own.
fn is_for(file: &str, w: &Want<'_>, good: &[Want<'_>], node: &Node<'_>, s: &Snapshot) -> bool {
    let others = node.net.known().into_iter().flatten().filter(|d| d.name != w.name);
    let mut users = others.filter(|d| {
        // Whether a file before it is taken for that one cannot be decided where it says "maybe".
        let named = files::networks(s).into_iter().find(|f| f.name == file);
        named.is_none_or(|f| f.fits(d.name, None) != Fit::No)
    });
    let mtu = w.mtu.map(|m| m.after);
    users.all(|d| {
        let same = |o: &Want<'_>| o.name == d.name && o.addresses.is_empty() && o.mtu.map(|m| m.after) == mtu;
        w.addresses.is_empty() && good.iter().any(same)
    })
}

/// The drop-in: what an earlier plan put there stays, but for an MTU that is asked for again.
fn drop_in(file: &str, w: &Want<'_>, s: &Snapshot) -> Result<Option<Act>, Refusal> {
    let path = format!("/etc/systemd/network/{file}.d/90-linerate.conf");
    let old = files::Ini::read(ours::there(s, &path)?.unwrap_or_default());
    let mtu = w.mtu.map(|m| m.after).or_else(|| old.get(&["Link"], "MTUBytes")?.parse().ok());
    let mut addresses = old.addresses();
    addresses.extend(w.addresses.iter().filter(|c| !old.addresses().contains(c)));
    let mut text = head(STEP);
    if let Some(mtu) = mtu {
        text.push_str(&format!("[Link]\nMTUBytes={mtu}\n"));
    }
    if !addresses.is_empty() {
        text.push_str("[Network]\n");
        addresses.iter().for_each(|c| text.push_str(&format!("Address={c}\n")));
    }
    ours::written(s, &path, text, 0o644)
}
