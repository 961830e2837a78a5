//! Settings of NIC firmware: what waits, what a reset brings into force, and what the card shows then.

mod cards;

use super::{Sim, registers};
pub(super) use cards::Cards;
use cards::Column;
use linerate_formats::mlxconfig::{Param, Value};
use linerate_formats::pci::Bdf;
use linerate_formats::pci::config::{drop_extended, give_extended};
use linerate_snapshot::OutputKind;

/// Address Translation Services, in the extended list.
const ATS: u16 = 0x000f;

/// Settings whose value alone is what rules read: nothing else of the node follows that they judge.
const ALONE: [&str; 6] = ["MAX_ACC_OUT_READ", "PCI_WR_ORDERING", "ROCE_CC_", "CNP_", "ZERO_TOUCH", "ATS_ENABLED"];

/// Does something to the settings of all cards: they are read where they are needed first.
fn with_cards<T>(sim: &mut Sim<'_>, f: impl FnOnce(&mut Sim<'_>, &mut Cards) -> T) -> T {
    let mut cards = sim.cards.take().unwrap_or_else(|| Cards::read(&sim.s));
    let out = f(sim, &mut cards);
    sim.cards = Some(cards);
    out
}

/// Writes the texts that changed.
pub(super) fn settle(sim: &mut Sim<'_>) {
    if let Some(cards) = sim.cards.take() {
        cards.write(&mut sim.s);
    }
}

/// Whether a setting waits for a reset. A value that the card resolves by itself when it starts is not one of which is known what it becomes.
fn waits(p: &Param) -> bool {
    match (&p.current, &p.next) {
        (Some(c), Some(n)) if !c.is_unavailable() && !n.is_unavailable() => {
            c.raw != n.raw && (c.number.is_none() || c.number != n.number)
        }
        _ => false,
    }
}

fn resolves_itself(v: &Value) -> bool {
    v.label.as_deref().is_some_and(|l| l.starts_with("DEVICE_DEFAULT"))
}

/// A setting of the next reset is written.
pub(super) fn next(sim: &mut Sim<'_>, device: &str, parameter: &str, value: &str) {
    let done = with_cards(sim, |sim, cards| {
        let mut done = false;
        for q in cards.of(device) {
            let Some((n, p)) = cards.param(q, parameter) else { continue };
            let raw = printed(p, value);
            done |= cards.put(sim, q, n, Column::Next, &raw);
        }
        done
    });
    if !done {
        sim.cannot(format!("{parameter} of {device}: the source shows no text of its settings"));
    }
}

/// As the tool prints a value that it is given: in the form in which it prints others.
fn printed(p: &Param, value: &str) -> String {
    let seen = [&p.current, &p.next, &p.default].into_iter().flatten();
    let wanted = Value::new(value);
    for v in seen.clone() {
        let label = v.label.as_deref().unwrap_or(&v.raw);
        if v.number.is_some() && v.number == wanted.number || label.eq_ignore_ascii_case(value) {
            return v.raw.to_string();
        }
    }
    match wanted.as_bool().filter(|_| seen.clone().any(|v| v.as_bool().is_some() && v.label.is_some())) {
        Some(true) => "True(1)".to_owned(),
        Some(false) => "False(0)".to_owned(),
        None => value.to_owned(),
    }
}

/// A card is reset: all that waits in it comes into force.
pub(super) fn reset(sim: &mut Sim<'_>, device: &str) {
    with_cards(sim, |sim, cards| cards.of(device).into_iter().for_each(|q| restart(sim, cards, q)));
}

/// The node starts: all that waits in any card comes into force.
pub(super) fn start(sim: &mut Sim<'_>) {
    with_cards(sim, |sim, cards| cards.all().for_each(|q| restart(sim, cards, q)));
    let json = sim.s.outputs.iter().any(|o| o.kind == OutputKind::MlxconfigJson);
    if json {
        sim.cannot("settings of NIC firmware that the source shows as JSON: what waits there comes into force");
    }
}

fn restart(sim: &mut Sim<'_>, cards: &mut Cards, q: usize) {
    let Some(query) = cards.query(q) else { return };
    let name = query.name();
    let bdf = query.bdf;
    let waiting: Vec<(usize, Param)> =
        query.params.iter().enumerate().filter(|(_, p)| waits(p)).map(|(n, p)| (n, p.clone())).collect();
    for (n, p) in waiting {
        let Some(next) = &p.next else { continue };
        if resolves_itself(next) {
            sim.cannot(format!("{} of {name}: the card resolves {} when it starts", p.name, next.raw));
            continue;
        }
        if !cards.put(sim, q, n, Column::Current, &next.raw) {
            sim.cannot(format!("{} of {name} comes into force: its line is not understood", p.name));
            continue;
        }
        follow(sim, bdf, &p, next, &name);
    }
}

/// What a card shows when a setting is in force.
fn follow(sim: &mut Sim<'_>, bdf: Option<Bdf>, p: &Param, value: &Value, name: &str) {
    match (p.name.as_str(), value.as_bool(), bdf) {
        ("ATS_ENABLED", Some(on), Some(bdf)) => ats(sim, bdf, on),
        (parameter, ..) if ALONE.iter().any(|a| parameter.starts_with(a)) => {}
        (parameter, ..) => {
            sim.cannot(format!("what else {name} shows when {parameter} is {}", value.raw));
        }
    }
}

/// The capability is there exactly when the setting is in force. It is shown as not enabled: the driver of the IOMMU decides, and kernels differ.
fn ats(sim: &mut Sim<'_>, bdf: Bdf, on: bool) {
    let functions: Vec<Bdf> = sim
        .node
        .pci
        .functions
        .iter()
        .filter(|f| (f.bdf.domain, f.bdf.bus, f.bdf.device) == (bdf.domain, bdf.bus, bdf.device) && !f.is_vf())
        .map(|f| f.bdf)
        .collect();
    for f in functions {
        let shown = registers::bytes(sim, f)
            .is_some_and(|b| linerate_formats::pci::config::ConfigSpace::new(&b).extended_capability(ATS).is_some());
        let done = match (on, shown) {
            (true, false) => registers::change(sim, f, |b| give_extended(b, ATS, 1, [0x20, 0, 0, 0])),
            (false, true) => registers::change(sim, f, |b| drop_extended(b, ATS)),
            _ => Some(()),
        };
        if done.is_none() {
            sim.cannot(format!("the ATS capability of {f}: the source does not show its whole configuration space"));
        }
    }
}

/// A setting that a step promises to have in force. Without a reset in the plan it is so only if it was.
pub(super) fn in_force(sim: &mut Sim<'_>, device: &str, parameter: &str, value: &str) {
    let wanted = Value::new(value);
    let shows = |p: &Param| {
        p.current.as_ref().is_some_and(|c| c.raw == value || c.number.is_some() && c.number == wanted.number)
    };
    let holds = with_cards(sim, |_, cards| {
        cards.of(device).into_iter().any(|q| cards.param(q, parameter).is_some_and(|(_, p)| shows(p)))
    });
    if !holds {
        sim.cannot(format!("that {parameter} of {device} is {value} in force"));
    }
}
