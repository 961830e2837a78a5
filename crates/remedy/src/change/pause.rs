//! Global pause of interfaces: switched off after each boot by a unit, as no file of the kernel holds it.

use super::unit::{Pair, Unit, escaped};
use super::{Change, INTERRUPTS, Kind, Refusal, Setting, each, words};
use crate::model::Condition;
use crate::terms::{On, Terms};
use linerate_node::net::flow_control;
use linerate_rules::Action;
use linerate_snapshot::Snapshot;

const UNIT: &str = "linerate-pause.service";

/// Global pause of interfaces.
pub(super) struct Pause;

impl Kind for Pause {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(|_| String::new())
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        INTERRUPTS
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        of(action).map(|i| (format!("global pause of {i}"), "off".to_owned())).into_iter().collect()
    }

    fn on_talos(&self) -> Option<&'static str> {
        Some(
            "Talos runs no user-defined units: run ethtool -A INTERFACE rx off tx off from a privileged pod at each boot",
        )
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        vec![off(&each(actions, of), on.snapshot)]
    }
}

/// The interface.
fn of(action: &Action) -> Option<&str> {
    match action {
        Action::PauseOff { interface } => Some(interface),
        _ => None,
    }
}

fn off(interfaces: &[&str], s: &Snapshot) -> Result<Change, Refusal> {
    let mut order = vec!["After=network.target".to_owned()];
    let mut pairs = Vec::new();
    for name in interfaces {
        let name = words::interface(name)?;
        let seen = flow_control(s, name).pause;
        let Some((rx, tx)) = seen.known().copied() else {
            return Err(Refusal::no(format!(
                "the source does not show the global pause of {name}: what is there now is not known (ethtool -a {name})"
            )));
        };
        let device = format!("sys-subsystem-net-devices-{}.device", escaped(name));
        order.push(format!("Wants={device}"));
        order.push(format!("After={device}"));
        // Behind `-` the unit goes on after a failure: ethtool fails where there is nothing to change (status 78), and the others are to be set.
        let key = format!("-ethtool -A {name}");
        let word = |on: bool| if on { "on" } else { "off" };
        let stop = format!("{key} rx {} tx {}", word(rx), word(tx));
        pairs.push(Pair { start: format!("{key} rx off tx off"), stop, mask: None, key });
    }
    let description = "Global pause of interfaces, switched off by linerate";
    let acts = Unit { name: UNIT, step: "pause", description, order: &order, pairs }.acts(s)?;
    if acts.is_empty() {
        return Err(Refusal::Already {
            reason: format!("{UNIT} does it at each boot: is it enabled, and did it run?"),
        });
    }
    Ok(Change {
        id: "pause".into(),
        summary: format!("switch the global pause of {} off now and after each boot", interfaces.join(", ")),
        precondition: vec![Condition::program("ethtool", "ethtool"), Condition::program("systemctl", "systemd")],
        acts,
        note: "if a NetworkManager profile or a .link file sets pause, it sets it again when the link comes up: switch it off there instead; the switch port must agree"
            .to_owned(),
        ..Change::default()
    })
}
