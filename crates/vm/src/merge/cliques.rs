//! Cliques of GPUs: properties for QEMU, by the alias of the device.

use super::{Difference, Refused, Work};
use crate::clique::PROPERTY;
use crate::write::parts;

pub(super) fn write(work: &mut Work<'_>) -> Result<(), Refused> {
    let (user, layout) = (work.user, work.layout);
    if layout.cliques.is_empty() {
        return Ok(());
    }
    if user.domain.hides_kvm {
        return Err(Refused::Hidden);
    }
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for m in &layout.cliques {
        match user.domain.hostdevs.iter().find(|h| h.source == Some(m.host)) {
            None => ours.extend(layout.devices.iter().find(|d| d.host == m.host).map(|d| (d.alias.as_str(), m.id))),
            Some(h) => match h.alias.as_deref().filter(|a| a.starts_with("ua-")) {
                Some(alias) => theirs.push((alias, m.id)),
                None => return Err(Refused::NoAlias { line: user.line(h.span.line), host: m.host }),
            },
        }
    }
    let set = |alias: &str| {
        let own = user.domain.overrides.iter().find(|o| o.alias == alias)?;
        Some((own.span, own.properties.iter().find(|p| p.name == PROPERTY).map(|p| p.value.clone())))
    };
    let mut add = Vec::new();
    for (alias, id) in theirs {
        match set(alias) {
            None => add.push((alias, id)),
            Some((_, Some(value))) if value == id.to_string() => {}
            Some((span, value)) => {
                let has = value.map_or_else(|| "no clique".to_owned(), |v| format!("clique {v}"));
                let costs = "GPUs of one clique must be below one root port of the host";
                work.differs(span, Difference::of("<qemu:device>", has, format!("clique {id}"), costs), None);
            }
        }
    }
    add.extend(ours);
    match user.of_qemu("override") {
        Some(element) => {
            let prefix = if element.prefix.is_empty() { String::new() } else { format!("{}:", element.prefix) };
            work.edits.last_in(element, &parts::members(&prefix, &add));
        }
        None if add.is_empty() => {}
        None => {
            let prefix = work.prefix()?;
            work.edits.last_in(&user.outline.root, &parts::cliques(&prefix, &add));
        }
    }
    Ok(())
}
