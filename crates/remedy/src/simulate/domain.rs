//! A domain as it would be defined, and as its guest would run after the next start.

use super::Sim;
use crate::model::DomainAct;
use linerate_formats::libvirt;
use linerate_snapshot::{EntryId, OutputKind};

/// The definition, and the text of the running guest in the same words: libvirt would add what it chooses itself, which no rule judges.
pub(super) fn defined(sim: &mut Sim<'_>, act: &DomainAct) {
    let path = act.path();
    let new = sim.text(&path).map(|old| act.edited(&old));
    let text = match new {
        Some(Ok(text)) => text,
        Some(Err(line)) => return sim.cannot(format!("{path}: line {line} is not as the step expects it")),
        None => return sim.cannot(format!("{path} is not in this source")),
    };
    let is_ours = |entry: EntryId| libvirt::parse(sim.s.data(entry)).is_ok_and(|d| d.name == act.domain);
    let texts = sim.s.outputs.iter().filter(|o| o.kind == OutputKind::VirshXml && is_ours(o.entry));
    let running: Vec<String> = texts.map(|o| sim.s.path(o.entry)).collect();
    sim.write(&path, &text);
    running.iter().for_each(|path| {
        sim.write(path, &text);
    });
}
