//! `rdma/port-module`.

use super::common::{self, Use};
use crate::log::{no_log, silent_log};
use crate::sources::linux;
use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::dmesg::{Event, Mlx5Event};
use linerate_formats::pci::Bdf;
use linerate_node::rdma::RdmaDevice;
use linerate_snapshot::{Coverage, Place};

pub(super) static RULE: Rule = Rule {
    id: "rdma/port-module",
    title: "No cable or transceiver of an mlx5 NIC reports an error",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only(
        "the NIC keeps the port without a link, or takes the link down when the module is too hot or draws too much power",
    ),
    sources: &[linux!(
        "drivers/net/ethernet/mellanox/mlx5/core/events.c",
        "port_module, mlx5_pme_status_to_string, mlx5_pme_error_to_string",
    )],
    reads: &["dmesg"],
    docs: "\
## What it checks
Lines `Port module event` of the mlx5 driver in the kernel log, for each module (the cable or transceiver in a cage of the card). The last line about a module counts:
`Cable error` is a finding, unless `Cable plugged` or `Cable unplugged` comes after it. The severity follows from what depends on the port: high at the nearest NIC of a GPU; low if the port is ACTIVE again, or if the source does not show what depends on it.

## Why it matters
rdma/port-state shows that a port is down, not why. The card knows: a module that is too hot, takes more power than the cage or the PCIe slot gives, is not accepted by the
firmware, or does not answer. A hot module brings the link down under load only, so the port may be ACTIVE when somebody looks.

## See it yourself
`dmesg | grep 'Port module event'`; `ethtool -m IF` (temperature, power class, part number); `ethtool -S IF | grep module` counts the same events.

## Fix
By the reason in the line. High Temperature: airflow at the cages, dust, fan speed. Power budget exceeded: a module of a lower power class. Insufficient power on the PCIe slot: slot, riser or
auxiliary power, and the firmware of the server. Unknown identifier, Long Range for non MLNX cable, Enforce part number list: a module that the card's firmware accepts. All others: reseat, then swap the cable
or transceiver, then try another cage.",
    myths: &[Myth {
        claim: "A port that is down after `Cable plugged` has a bad switch port.",
        truth: "`Cable plugged` says that a module is in the cage, no more. An error of the module comes as a line of its own.",
    }],
    check,
};

/// Modules that are kept: a card has two at most, a log may say anything.
const MOST: usize = 64;

/// The last event of a module.
struct Module<'a> {
    of: Option<Bdf>,
    number: u8,
    /// Why it was in error, if it ever was, and where.
    error: Option<(&'a str, Place)>,
    last: Last,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Error,
    Plugged,
    Gone,
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_log(cx, "events of cables and transceivers", out) {
        return;
    }
    let modules = modules(cx);
    let mut said: Vec<Option<Bdf>> = Vec::new();
    for m in &modules {
        if m.error.is_none() || said.contains(&m.of) {
            continue;
        }
        said.push(m.of);
        judge(cx, &modules, m.of, out);
    }
    if !out.is_empty() {
        return;
    }
    if cx.node.pci.seen.is_some()
        && !cx.node.pci.rdma_nics().any(|(_, f)| f.vendor.known().is_none_or(|v| *v == 0x15b3))
    {
        out.not_applicable("no NIC of the mlx5 driver").at(cx.node.kernel.log.place());
    } else {
        silent_log(cx, "no error of a cable or transceiver", out);
    }
}

/// Each module once, with its last event.
fn modules<'a>(cx: &Cx<'a>) -> Vec<Module<'a>> {
    let mut all: Vec<Module<'a>> = Vec::new();
    let events = cx.node.kernel.events(|e| match e {
        Event::Mlx5 { bdf, event: Mlx5Event::Module(text) } => Some((*bdf, read(text)?)),
        _ => None,
    });
    for ((of, (number, last, why)), place) in events {
        let error = (last == Last::Error).then_some((why, place));
        if let Some(m) = all.iter_mut().find(|m| m.of == of && m.number == number) {
            m.error = error.or(m.error);
            (m.last, m.place) = (last, place);
        } else if all.len() < MOST {
            all.push(Module { of, number, error, last, place });
        }
    }
    all
}

/// `Port module event[error]: module 0, Cable error, High Temperature`: number, state, reason.
fn read(text: &str) -> Option<(u8, Last, &str)> {
    let (_, rest) = text.strip_prefix("Port module event")?.split_once(": module ")?;
    let (number, rest) = rest.split_once(", ")?;
    let (state, why) = rest.split_once(", ").unwrap_or((rest, ""));
    let last = match state.trim_end() {
        "Cable error" => Last::Error,
        "Cable plugged" => Last::Plugged,
        "Cable unplugged" | "Cable disabled" => Last::Gone,
        _ => return None,
    };
    Some((number.parse().ok()?, last, why.trim_end()))
}

/// One answer for a function of which a module was in error.
fn judge(cx: &Cx<'_>, all: &[Module<'_>], of: Option<Bdf>, out: &mut Findings) {
    let subject = of.map_or_else(|| Subject::Named("mlx5_core".into()), Subject::Pci);
    let faulty = || all.iter().filter(|m| m.of == of && m.error.is_some());
    let bad = || faulty().filter(|m| m.last == Last::Error);
    if let Some(first) = bad().next() {
        let device = of.and_then(|b| cx.node.pci.find(b)).and_then(|id| cx.node.rdma_of(cx.node.pci.get(id)));
        let (severity, now) = weigh(cx, device);
        let f =
            out.fail(subject, || format!("{}{now}", bad().map(said).collect::<Vec<_>>().join("; "))).severity(severity);
        for m in bad() {
            f.at(m.place);
        }
        let why = first.error.map_or("", |(why, _)| why);
        f.fix(|| {
            let name = device.map_or("the card's port", |d| d.name.as_str());
            Remedy::new(
                advice(why),
                Action::Physical { what: format!("cable or transceiver in cage {} of {name}", first.number).into() },
            )
            .prove("dmesg")
        });
        return;
    }
    let whole = matches!(cx.snapshot.coverage, Coverage::Full { .. });
    let places = |f: &mut crate::Finding| {
        for m in faulty() {
            f.at(m.error.map(|(_, at)| at)).at(m.place);
        }
    };
    if !whole {
        let f = out.unknown(subject, "the error of a cable or transceiver was followed by another event, in a text that may be an excerpt of the log");
        f.see("dmesg as root, or journalctl -k -b (complete output)");
        places(f);
    } else if faulty().all(|m| m.last == Last::Plugged) {
        places(out.pass(subject, "the cable or transceiver was in error before, and was plugged in again since"));
    } else {
        places(out.not_applicable_to(subject, "the cable or transceiver that was in error is unplugged or disabled"));
    }
}

fn said(m: &Module<'_>) -> String {
    let why = m.error.map_or("", |(why, _)| why);
    if why.is_empty() { format!("module {}: error", m.number) } else { format!("module {}: {why}", m.number) }
}

/// How much depends on the port, and what is seen of it now.
fn weigh(cx: &Cx<'_>, device: Option<&RdmaDevice>) -> (Severity, &'static str) {
    let Some(d) = device else { return (Severity::Low, "") };
    if d.ports.iter().any(common::is_active) {
        return (Severity::Low, "; the port is ACTIVE now");
    }
    match common::usage(cx, d) {
        Use::Unknown => (Severity::Low, ""),
        u => (u.weigh(Severity::High), ""),
    }
}

/// What to do, by the driver's reason.
fn advice(why: &str) -> &'static str {
    match why {
        "High Temperature" => "cool the module: airflow at the cages, dust, fan speed; then swap it",
        "Power budget exceeded" => "use a module of a lower power class, or a card whose cage gives more power",
        "Unknown identifier" | "Long Range for non MLNX cable" | "Enforce part number list" => {
            "use a cable or transceiver that the card's firmware accepts, or update the firmware"
        }
        w if w.contains("power on the PCIe slot") => {
            "give the card its power: another slot or riser, its auxiliary connector, the server's firmware"
        }
        _ => "reseat the cable or transceiver, then swap it, then try another cage",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_drivers_own_sentences_are_read() {
        let read = |t| read(t).map(|(n, last, why)| (n, last == Last::Error, why));
        let hot = "Port module event[error]: module 1, Cable error, High Temperature";
        assert_eq!(read(hot), Some((1, true, "High Temperature")));
        assert_eq!(read("Port module event[error]: module 1, Cable error"), Some((1, true, "")), "a cut line");
        assert_eq!(read("Port module event: module 0, Cable plugged"), Some((0, false, "")));
        assert_eq!(read("Port module event: module 0, Unknown status"), None);
        assert_eq!(read("Port module event: module x, Cable plugged"), None);
        assert_eq!(read("Port module event"), None);
    }
}
