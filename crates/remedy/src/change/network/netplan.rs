//! netplan: a file of ours beside the others. netplan merges definitions of one name over all files, and lists in them.

use super::files::{self, Fit, NetFile};
use super::{STEP, Want, rendered};
use crate::act::head;
use crate::change::{Change, Refusal, ours};
use crate::model::{Act, Condition, FileAct, FileState};
use linerate_snapshot::Snapshot;

const FILE: &str = "/etc/netplan/90-linerate.yaml";

/// One step for the interfaces that netplan knows by their names, or not at all.
pub(super) fn render(good: &[Want<'_>], s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    let (mut ours, mut out) = (Vec::new(), Vec::new());
    for w in good {
        match standing(w, s) {
            Standing::Named => ours.push((w.clone(), false)),
            Standing::New => ours.push((w.clone(), true)),
            Standing::ByHand(how) => out.push(Err(w.by_hand(vec![how, "netplan apply".to_owned()]))),
        }
    }
    if !ours.is_empty() {
        out.push(file(&ours, s));
    }
    out
}

/// How netplan knows an interface. A second definition of one interface would take the place of the first, and with it its addresses.
enum Standing {
    /// By its name.
    Named,
    /// Not at all.
    New,
    /// By another name, or it is not known how: what to write into which definition.
    ByHand(String),
}

fn standing(w: &Want<'_>, s: &Snapshot) -> Standing {
    let (name, lines) = (w.name, w.yaml());
    if !w.physical {
        return Standing::ByHand(format!("in the netplan definition of {name}: {lines}"));
    }
    let (mut own, mut other) = (false, None);
    for (file, id, fit) in made(w, s) {
        match fit {
            Fit::No => {}
            Fit::Yes if id == name => own = true,
            _ => other = other.or(Some((file, id))),
        }
    }
    if let Some((path, id)) = other {
        let id: String = id.chars().take(64).flat_map(char::escape_default).collect();
        return Standing::ByHand(format!(
            "in the netplan definition \"{id}\", which is or may be that of {name} ({path}): {lines}"
        ));
    }
    if own {
        return Standing::Named;
    }
    if !files::looked(s) {
        return Standing::ByHand(format!(
            "in the netplan definition of {name}, whatever its name is: {lines} (the source does not show what netplan made of its files: \
             collect again with this version, as root, to have it planned)"
        ));
    }
    // Not netplan's, and of this interface: netplan's own would come before or behind it.
    let beside = files::networks(s).into_iter().filter(|f| generated(f).is_none());
    let beside = beside.filter(|f| f.fits(name, w.address) != Fit::No).map(|f| f.path);
    let profiles = ["etc/NetworkManager/system-connections", "usr/lib/NetworkManager/system-connections"];
    let profiles = profiles.iter().flat_map(|d| files::within(s, d, "")).filter(|f| profile_fits(f, name) == Fit::Yes);
    match beside.chain(profiles.map(|f| f.path)).next() {
        Some(path) => Standing::ByHand(format!(
            "{path} is or may be for {name}, and netplan does not know it: change that file instead of netplan's"
        )),
        None => Standing::New,
    }
}

/// What netplan made, the name of the definition, and whether it is for the interface.
fn made<'s>(w: &Want<'_>, s: &'s Snapshot) -> Vec<(String, &'s str, Fit)> {
    let networks = files::within(s, "run/systemd/network", ".network").into_iter();
    let networks = networks.filter_map(|f| Some((f.path.clone(), generated(&f)?, by_name(&f, w))));
    let profiles = files::within(s, "run/NetworkManager/system-connections", "").into_iter();
    let profiles = profiles.filter_map(|f| {
        let id = f.name.strip_prefix("netplan-")?;
        Some((f.path.clone(), id.strip_suffix(".nmconnection").unwrap_or(id), profile_fits(&f, w.name)))
    });
    networks.chain(profiles).collect()
}

fn generated<'s>(f: &NetFile<'s>) -> Option<&'s str> {
    f.name.strip_prefix("10-netplan-")?.strip_suffix(".network")
}

/// A pattern that fits is another name than the interface's.
fn by_name(f: &NetFile<'_>, w: &Want<'_>) -> Fit {
    let exact = f.ini.as_ref().and_then(|i| i.get(&["Match"], "Name")) == Some(w.name);
    match f.fits(w.name, w.address) {
        Fit::Yes if !exact => Fit::Maybe,
        fit => fit,
    }
}

fn profile_fits(f: &NetFile<'_>, interface: &str) -> Fit {
    let Some(ini) = &f.ini else { return Fit::Maybe };
    match (ini.get(&["connection"], "interface-name"), ini.get(&["connection"], "type")) {
        (Some(name), _) if name == interface => Fit::Yes,
        (Some(_), _) => Fit::No,
        (None, Some("ethernet" | "802-3-ethernet" | "infiniband") | None) => Fit::Maybe,
        (None, Some(_)) => Fit::No,
    }
}

fn file(good: &[(Want<'_>, bool)], s: &Snapshot) -> Result<Change, Refusal> {
    // Files of netplan can hold secrets: of those only names are collected.
    if !matches!(ours::there(s, FILE), Ok(None)) {
        return Err(Refusal::no(format!("{FILE} is there from an earlier plan: linerate rollback first")));
    }
    let mut text = head(STEP);
    text.push_str("network:\n  version: 2\n  ethernets:\n");
    for (w, new) in good {
        text.push_str(&format!("    \"{}\":\n", w.name));
        if *new {
            // No start waits for a link that nobody managed before.
            text.push_str("      optional: true\n");
        }
        if let Some(m) = w.mtu {
            text.push_str(&format!("      mtu: {}\n", m.after));
        }
        if !w.addresses.is_empty() {
            text.push_str("      addresses:\n");
            w.addresses.iter().for_each(|c| text.push_str(&format!("        - \"{c}\"\n")));
        }
    }
    let Some(Act::File(FileAct { path, after, .. })) = ours::written(s, FILE, text, 0o600)? else {
        return Err(Refusal::Already { reason: format!("{FILE} has this setting") });
    };
    // Undone last, the first makes netplan apply what is there by then.
    let mut change = vec![ours::run(&["netplan", "generate"], &["netplan", "apply"], 120)];
    change.extend(good.iter().flat_map(|(w, _)| w.now()));
    change.push(Act::File(FileAct { path, before: FileState::Absent, after, mode: 0o600 }));
    change.push(ours::run(&["netplan", "generate"], &[], 120));
    change.push(ours::run(&["netplan", "apply"], &[], 120));
    let program = Condition::program("netplan", "netplan.io");
    let wants: Vec<Want<'_>> = good.iter().map(|(w, _)| w.clone()).collect();
    Ok(rendered(&wants, vec![program], change, "netplan applies all of its configuration"))
}
