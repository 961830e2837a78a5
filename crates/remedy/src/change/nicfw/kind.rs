//! Settings of NIC firmware and resets, as kinds of change.

use super::{by_reset, find, reset, resetting, same, set, waiting};
use crate::change::{Change, Kind, Refusal, Setting, Through, each};
use crate::model::{Disruption, Permanence, Risk};
use crate::terms::{On, Terms};
use linerate_rules::Action;

/// Settings of one NIC's firmware.
pub(crate) struct Settings;

impl Kind for Settings {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(|(device, ..)| device.to_owned())
    }

    fn terms(&self, action: &Action, on: &On<'_>) -> Terms {
        of(action).map_or(in_force("", false, on), |(device, parameter, value)| terms(device, parameter, value, on))
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        let claim = |(device, parameter, value)| (format!("{parameter} of {device}"), String::from(value));
        of(action).map(claim).into_iter().collect()
    }

    fn through(&self) -> Through {
        Through::Firmware
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        let Some((device, ..)) = actions.first().and_then(|a| of(a)) else { return Vec::new() };
        let settings = each(actions, |a| of(a).map(|(_, parameter, value)| (parameter, value)));
        let by_card = by_card(self, actions, on);
        set(device, &settings, by_card, on.platform, &on.node.nic_firmware)
    }
}

/// That what waits in a NIC's firmware becomes current.
pub(crate) struct Resets;

impl Kind for Resets {
    fn takes(&self, action: &Action) -> Option<String> {
        match action {
            Action::NicFirmwareReset { device } => Some(device.to_string()),
            _ => None,
        }
    }

    fn terms(&self, action: &Action, on: &On<'_>) -> Terms {
        terms_of_reset(&self.takes(action).unwrap_or_default(), on)
    }

    fn through(&self) -> Through {
        Through::Firmware
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        let Some(device) = actions.first().and_then(|a| self.takes(a)) else { return Vec::new() };
        let by_card = by_card(self, actions, on);
        vec![reset(&device, by_card, &set_anew(&device, on.set), on.platform, &on.node.nic_firmware)]
    }
}

/// Device, parameter, value.
fn of(action: &Action) -> Option<(&str, &str, &str)> {
    match action {
        Action::NicFirmware { device, parameter, value } => Some((device, parameter, value)),
        _ => None,
    }
}

/// Whether a reset of the card is enough for all of them.
fn by_card(kind: &dyn Kind, actions: &[&Action], on: &Setting<'_, '_>) -> bool {
    actions.iter().map(|a| kind.terms(a, &on.on()).disruption).max() == Some(Disruption::Service)
}

/// Settings of a device that another step sets back: they do not become current.
fn set_anew(device: &str, set: &[(String, String)]) -> Vec<String> {
    set.iter().filter(|(d, _)| d == device).map(|(_, p)| p.clone()).collect()
}

/// The terms of a setting. One that waits and is set back to what is in force changes nothing else, and nothing has to be reset.
fn terms(device: &str, parameter: &str, value: &str, on: &On<'_>) -> Terms {
    let shown = find(device, on.firmware).ok().and_then(|nic| nic.config.param(parameter));
    if shown.and_then(|p| p.current.as_ref()).is_some_and(|c| same(c, value)) {
        return Terms { persistence: Permanence::Immediate, disruption: Disruption::None, risk: Risk::Low };
    }
    // A hidden setting takes another one first, which a reset of the card does not bring into force.
    in_force(device, shown.is_some() && by_reset(parameter), on)
}

/// The terms of what waits for a reset of a NIC.
fn terms_of_reset(device: &str, on: &On<'_>) -> Terms {
    let except = set_anew(device, on.set);
    let waiting = find(device, on.firmware).map(|nic| waiting(nic, &except)).unwrap_or_default();
    in_force(device, !waiting.is_empty() && waiting.iter().all(|p| by_reset(&p.name)), on)
}

fn in_force(device: &str, by_reset: bool, on: &On<'_>) -> Terms {
    let by_card = by_reset && on.resets_by.is_some_and(|platform| resetting(device, platform).is_some());
    let disruption = if by_card { Disruption::Service } else { Disruption::DrainReboot };
    Terms { persistence: Permanence::DeviceReset, disruption, risk: Risk::High }
}
