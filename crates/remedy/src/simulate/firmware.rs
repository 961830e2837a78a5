//! Settings of NIC firmware: what waits, what a reset brings into force, and what the card shows then.

use super::{Sim, network, registers};
use linerate_formats::mlxconfig::{self, Param, Value};
use linerate_formats::pci::Bdf;
use linerate_formats::pci::config::{drop_extended, give_extended};
use linerate_snapshot::{EntryId, OutputKind};

/// Address Translation Services, in the extended list.
const ATS: u16 = 0x000f;

/// Settings whose value alone is what rules read: nothing else of the node follows that they judge.
const ALONE: [&str; 6] = ["MAX_ACC_OUT_READ", "PCI_WR_ORDERING", "ROCE_CC_", "CNP_", "ZERO_TOUCH", "ATS_ENABLED"];

/// A column of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Current,
    Next,
}

/// A query of a NIC's firmware: the text, and which function it is about.
struct Query {
    entry: EntryId,
    bdf: Option<Bdf>,
    device: Option<String>,
    params: Vec<Param>,
}

fn queries(sim: &Sim<'_>) -> Vec<Query> {
    let mut out = Vec::new();
    for o in sim.s.outputs.iter().filter(|o| o.kind == OutputKind::MlxconfigText && network::is_whole(&sim.s, o.entry))
    {
        let asked = o.argv.iter().zip(o.argv.iter().skip(1)).find(|(a, _)| *a == "-d").map(|(_, d)| d.clone());
        let found = mlxconfig::parse(sim.s.data(o.entry)).devices;
        let single = found.len() == 1;
        for config in found {
            let asked = asked.clone().filter(|_| single);
            let bdf = config.bdf.or_else(|| asked.as_ref()?.parse().ok());
            let device = asked.or_else(|| config.device.map(|d| d.value));
            out.push(Query { entry: o.entry, bdf, device, params: config.params });
        }
    }
    out
}

/// Whether a query is about a device's card.
fn of(query: &Query, device: &str) -> bool {
    let card = |b: Bdf| (b.domain, b.bus, b.device);
    match (query.bdf, device.parse::<Bdf>()) {
        (Some(a), Ok(b)) => card(a) == card(b),
        _ => query.device.as_deref() == Some(device),
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
    let mut done = false;
    for q in queries(sim).iter().filter(|q| of(q, device)) {
        let Some(p) = q.params.iter().find(|p| p.name == parameter) else { continue };
        let raw = printed(p, value);
        done |= put(sim, q.entry, p, Column::Next, &raw);
    }
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
    for q in queries(sim).into_iter().filter(|q| of(q, device)) {
        restart(sim, &q);
    }
}

/// The node starts: all that waits in any card comes into force.
pub(super) fn start(sim: &mut Sim<'_>) {
    for q in queries(sim) {
        restart(sim, &q);
    }
    let json = sim.s.outputs.iter().any(|o| o.kind == OutputKind::MlxconfigJson);
    if json {
        sim.cannot("settings of NIC firmware that the source shows as JSON: what waits there comes into force");
    }
}

fn restart(sim: &mut Sim<'_>, q: &Query) {
    for p in q.params.iter().filter(|p| waits(p)) {
        let Some(next) = &p.next else { continue };
        let name = q.bdf.map_or_else(|| q.device.clone().unwrap_or_default(), |b| b.to_string());
        if resolves_itself(next) {
            sim.cannot(format!("{} of {name}: the card resolves {} when it starts", p.name, next.raw));
            continue;
        }
        if !put(sim, q.entry, p, Column::Current, &next.raw) {
            sim.cannot(format!("{} of {name} comes into force: its line is not understood", p.name));
            continue;
        }
        follow(sim, q, p, next, &name);
    }
}

/// What a card shows when a setting is in force.
fn follow(sim: &mut Sim<'_>, q: &Query, p: &Param, value: &Value, name: &str) {
    match (p.name.as_str(), value.as_bool(), q.bdf) {
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
    let found: Vec<bool> = queries(sim)
        .iter()
        .filter(|q| of(q, device))
        .filter_map(|q| Some(shows(q.params.iter().find(|p| p.name == parameter)?)))
        .collect();
    if !found.contains(&true) {
        sim.cannot(format!("that {parameter} of {device} is {value} in force"));
    }
}

/// Writes a value into the line of a setting.
fn put(sim: &mut Sim<'_>, entry: EntryId, p: &Param, column: Column, raw: &str) -> bool {
    if !sim.has_room(sim.s.data(entry).len()) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(sim.s.data(entry)) else { return false };
    let old = match column {
        Column::Current => p.current.as_ref(),
        Column::Next => p.next.as_ref(),
    };
    let Some(old) = old.map(|v| v.raw.to_string()) else { return false };
    let mut done = false;
    let mut new: Vec<String> = Vec::new();
    for (n, line) in (1..).zip(text.split('\n')) {
        let changed = (n == p.line).then(|| in_line(line, &old, column, raw)).flatten();
        done |= changed.is_some();
        new.push(changed.unwrap_or_else(|| line.to_owned()));
    }
    let path = sim.s.path(entry);
    done && sim.write(&path, &new.join("\n"))
}

/// The last word of a line is the next value, the one before it the value in force.
fn in_line(line: &str, old: &str, column: Column, raw: &str) -> Option<String> {
    let end = line.trim_end();
    let last = end.rfind(char::is_whitespace)? + 1;
    let at = match column {
        Column::Next => last,
        Column::Current => {
            let before = end.get(..last)?.trim_end();
            before.rfind(char::is_whitespace)? + 1
        }
    };
    let rest = line.get(at..)?.strip_prefix(old)?;
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    Some(format!("{}{raw}{}{rest}", line.get(..at)?, if rest.is_empty() { "" } else { " " }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_column_of_a_line_changes() {
        let line = "*       ATS_ENABLED           False(0)     False(0)     True(1)   ";
        let next = in_line(line, "True(1)", Column::Next, "False(0)").expect("its line");
        assert_eq!(
            next.split_whitespace().collect::<Vec<_>>(),
            ["*", "ATS_ENABLED", "False(0)", "False(0)", "False(0)"]
        );
        let current = in_line(line, "False(0)", Column::Current, "True(1)").expect("its line");
        assert_eq!(
            current.split_whitespace().collect::<Vec<_>>(),
            ["*", "ATS_ENABLED", "False(0)", "True(1)", "True(1)"]
        );
        assert_eq!(in_line(line, "False(0)", Column::Next, "x"), None, "another value is there");
        assert_eq!(in_line("x", "x", Column::Next, "y"), None);
    }
}
