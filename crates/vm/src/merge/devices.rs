//! Controllers and devices: those of the layout come to the end of `<devices>`; a device that the domain has already gets another address and keeps the rest.

use super::refuse::{Given, Refused};
use super::user::User;
use super::{Difference, Moved, Replace, Work};
use crate::layout::Placed;
use crate::write::{self, parts};
use linerate_formats::libvirt::{Address, Hostdev};
use linerate_formats::pci::Bdf;
use std::collections::BTreeSet;

/// Whether what the layout does not place can stay where it is.
pub(super) fn stay(user: &User, functions: &BTreeSet<Bdf>) -> Result<(), Refused> {
    let d = &user.domain;
    let mut seen: Vec<(Bdf, u32)> = d.hostdevs.iter().filter_map(|h| Some((h.source?, h.span.line))).collect();
    seen.sort_unstable();
    if let Some([(host, a), (_, b)]) = seen.windows(2).find(|w| matches!(w, [a, b] if a.0 == b.0)) {
        return Err(Refused::Twice { host: *host, lines: vec![user.line(*a), user.line(*b)] });
    }
    let of_hosts = d.hostdevs.iter().filter(|h| !h.source.is_some_and(|s| functions.contains(&s)));
    let all = (of_hosts.filter_map(|h| h.address))
        .chain(d.devices.iter().filter_map(|d| d.address))
        .chain(d.controllers.iter().filter_map(|c| c.address));
    match all.into_iter().find(|a| user.gone.contains(&a.bus)) {
        Some(a) => Err(Refused::Plugged { line: user.line(a.line), index: a.bus }),
        None => Ok(()),
    }
}

pub(super) fn write(work: &mut Work<'_>) -> Result<Vec<Moved>, Refused> {
    let (user, layout) = (work.user, work.layout);
    let mut written = hole(work);
    written.extend(layout.controllers.iter().map(write::controller));
    let (mut moved, mut given) = (Vec::new(), Vec::new());
    for placed in &layout.devices {
        match user.domain.hostdevs.iter().find(|h| h.source == Some(placed.host)) {
            None => written += &write::hostdev(placed),
            Some(theirs) if is_there(theirs.address, placed) => {}
            Some(theirs) => match place(work, theirs, placed) {
                Ok(m) => moved.push(m),
                Err(g) => given.push(g),
            },
        }
    }
    if !given.is_empty() {
        given.sort_by_key(|g| g.line);
        return Err(Refused::Given(given));
    }
    match user.outline.root.child("devices") {
        Some(devices) => work.edits.last_in(devices, &written),
        None => {
            let all = format!("  <devices>\n{written}  </devices>\n");
            work.edits.in_domain(&user.outline.root, "devices", &all);
        }
    }
    Ok(moved)
}

fn is_there(address: Option<Address>, placed: &Placed) -> bool {
    let function = u32::from(placed.guest.function);
    let shares = placed.multifunction && function == 0;
    address.is_some_and(|a| {
        (a.domain, a.bus, a.slot, a.function) == (0, placed.above, 0, function) && a.multifunction == shares
    })
}

/// Moves a device of the domain: only its address changes.
fn place(work: &mut Work<'_>, theirs: &Hostdev, placed: &Placed) -> Result<Moved, Given> {
    let line = work.user.line(theirs.span.line);
    let Some(element) = work.user.device(theirs.span.from) else {
        return Ok(Moved { line, host: placed.host, from: None });
    };
    let from = match (theirs.address, element.child("address")) {
        (Some(a), _) => Some(a.to_string()),
        (None, Some(_)) => Some("an address without numbers".to_owned()),
        (None, None) => None,
    };
    // Where linerate had moved it before, nobody's address is lost.
    let is_ours = theirs.address.is_some_and(|a| work.user.gone.contains(&a.bus));
    let to = write::address(placed);
    match (&from, element.child("address")) {
        (Some(from), _) if work.replace == Replace::Nothing && !is_ours => {
            let to = format!("{:04x}:{:02x}:00.{:x}", 0, placed.above, placed.guest.function);
            return Err(Given { line, host: placed.host, from: from.clone(), to });
        }
        (_, Some(address)) => work.edits.replace(address.span, &to),
        (_, None) => work.edits.last_in(element, &to),
    }
    Ok(Moved { line, host: placed.host, from })
}

/// The window of the root: a part of its controller, or the controller, which is returned.
fn hole(work: &mut Work<'_>) -> String {
    let (user, size) = (work.user, work.layout.window.size);
    let Some(root) = user.domain.controllers.iter().find(|c| c.index == 0) else { return parts::root(size) };
    let Some(element) = user.device(root.span.from) else { return String::new() };
    match element.child("pcihole64") {
        None => work.edits.last_in(element, &parts::hole(size)),
        Some(hole) if root.hole64_kib.is_none_or(|kib| kib < size >> 10) => {
            let has = root.hole64_kib.map_or_else(|| "no size".to_owned(), |kib| format!("{kib} KiB"));
            let difference = Difference::of(
                "<pcihole64>",
                has,
                format!("{} KiB", size >> 10),
                "BARs of the devices may have no room, and their drivers then do not start",
            );
            work.differs(hole.span, difference, Some(&parts::hole(size)));
        }
        Some(_) => {}
    }
    String::new()
}
