//! Settings of the system's firmware, with the names and values that its BMC shows.

use super::{BY_REBOOT, Change, Kind, Refusal, Setting, Through};
use crate::bios::{Found, Meant, Setup};
use crate::model::{Act, BiosAct, Proof};
use crate::terms::{On, Terms};
use linerate_rules::Action;

/// Settings of the system's firmware.
pub(super) struct Bios;

impl Kind for Bios {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(|(setting, value)| format!("{setting}\n{value}"))
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        BY_REBOOT
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        of(action).map(|(setting, value)| (format!("BIOS {setting}"), value.to_owned())).into_iter().collect()
    }

    fn through(&self) -> Through {
        Through::Beside
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        let Some((setting, value)) = actions.first().and_then(|a| of(a)) else { return Vec::new() };
        vec![match &on.options.redfish {
            Some(setup) => set(setting, value, setup),
            None => Err(by_hand(setting, value)),
        }]
    }
}

/// Setting and value, in the words of vendors.
fn of(action: &Action) -> Option<(&str, &str)> {
    match action {
        Action::Bios { setting, value } => Some((setting, value)),
        _ => None,
    }
}

/// Without a BMC neither the attribute's name nor the value to come back to is known.
fn by_hand(setting: &str, value: &str) -> Refusal {
    let how = vec![
        format!("in the firmware setup: {setting}: {value}"),
        "or give the node's BMC with --redfish, and the plan sets it".into(),
        "then a start through POST: the value is in force when the Bios resource shows it, not when Bios/Settings does"
            .into(),
    ];
    Refusal::ByHand { how, reread: Vec::new() }
}

/// The attributes of a BMC that are to be set.
fn set(setting: &str, value: &str, setup: &Setup) -> Result<Change, Refusal> {
    let found = setup.find(setting, value);
    let mut meant: Vec<&Meant<'_>> = Vec::new();
    let (mut held, mut open) = (Vec::new(), Vec::new());
    for f in &found {
        match f {
            Found::One(m)
                if m.attribute.active == m.value && m.attribute.pending.as_ref().is_none_or(|p| *p == m.value) =>
            {
                held.push(format!("{} is {} in force", m.name, m.value));
            }
            Found::One(m) => meant.push(m),
            Found::Open(s, why) => open.push(format!("{}: {why}", s.id)),
        }
    }
    if meant.is_empty() {
        return Err(nothing(setting, value, held, open));
    }
    let ids: Vec<&str> = meant.iter().map(|m| m.setting.id).collect();
    let words: Vec<String> = meant.iter().map(|m| format!("{} {} → {}", m.name, m.attribute.active, m.value)).collect();
    let waits = meant.iter().filter_map(|m| {
        let waits = m.attribute.pending.as_ref().filter(|p| **p != m.attribute.active)?;
        Some(format!("{} {waits} waits already for the next start", m.name))
    });
    let mut note =
        vec!["names and values are those that the BMC shows; they take effect after a boot through POST".to_owned()];
    note.extend(waits);
    note.extend(held);
    note.extend(open.into_iter().map(|o| format!("to do by hand: {o}")));
    Ok(Change {
        id: format!("bios-{}", ids.join("-")),
        summary: format!("set by Redfish: {}", words.join(", ")),
        acts: meant
            .iter()
            .map(|m| {
                Act::Bios(BiosAct {
                    attribute: m.name.to_owned(),
                    before: m.attribute.active.clone(),
                    after: m.value.clone(),
                })
            })
            .collect(),
        proof: meant.iter().map(|m| Proof::Bios { attribute: m.name.to_owned(), value: m.value.clone() }).collect(),
        note: note.join("; "),
        ..Change::default()
    })
}

fn nothing(setting: &str, value: &str, held: Vec<String>, open: Vec<String>) -> Refusal {
    if open.is_empty() && !held.is_empty() {
        return Refusal::Already {
            reason: format!(
                "{}, and the node does not show its effect: look for what else overrides it",
                held.join(", ")
            ),
        };
    }
    let mut how = vec![format!("in the firmware setup: {setting}: {value}")];
    how.extend(held.into_iter().map(|h| format!("its BMC shows that {h}")));
    how.extend(open);
    if how.len() == 1 {
        how.push("no attribute is known for it".to_owned());
    }
    Refusal::ByHand { how, reread: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bios::Attribute;

    fn setup(active: &str, pending: Option<&str>) -> Setup {
        let values = Some(vec!["Enabled".to_owned(), "Disabled".to_owned()]);
        let pending = pending.map(Into::into);
        let attribute = Attribute { active: active.into(), pending, values, ..Attribute::default() };
        Setup { attributes: [("NodeInterleaving".to_owned(), attribute)].into() }
    }

    #[test]
    fn old_and_new_value_and_what_waits() {
        let r = set("node interleaving; PCIe proximity (_PXM)", "off; reported", &setup("Enabled", Some("Enabled")))
            .unwrap();
        assert_eq!(r.id, "bios-node-interleaving");
        assert_eq!(r.summary, "set by Redfish: NodeInterleaving \"Enabled\" → \"Disabled\"");
        assert!(r.note.contains("to do by hand: proximity"), "{}", r.note);
        let act = Act::Bios(BiosAct {
            attribute: "NodeInterleaving".into(),
            before: "Enabled".into(),
            after: "Disabled".into(),
        });
        assert_eq!(r.acts, [act]);
        let r = set("node interleaving", "off", &setup("Enabled", Some("Disabled"))).unwrap();
        assert!(r.note.contains("waits already"), "{}", r.note);
    }

    #[test]
    fn what_is_so_already_and_what_is_unknown() {
        assert!(matches!(set("node interleaving", "off", &setup("Disabled", None)), Err(Refusal::Already { .. })));
        // In force, and something else waits: that has to be taken back.
        assert!(set("node interleaving", "off", &setup("Disabled", Some("Enabled"))).is_ok());
        for asked in ["ARI Support", "something new"] {
            assert!(matches!(set(asked, "enabled", &setup("Enabled", None)), Err(Refusal::ByHand { .. })));
        }
    }
}
