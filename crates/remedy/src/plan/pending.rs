//! Settings of NICs' firmware that wait for a reset, and what a plan makes of them.

use super::wish::Wish;
use crate::effect;
use crate::model::{Act, NicFirmwareAct, Plan};
use linerate_formats::mlxconfig::Param;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::nicfw::NicFirmware;
use linerate_rules::{Action, Remedy};
use std::collections::{HashMap, HashSet};

/// The rule that speaks of settings that wait for a reset.
const PENDING: &str = "nicfw/pending-reset";

/// A setting of a NIC's firmware that waits for a reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pending {
    device: String,
    parameter: String,
    now: String,
    next: String,
    /// The value in force, as it is given to the tool.
    back: String,
}

/// All settings that wait, of each card once.
pub(super) struct Waiting {
    all: Vec<Pending>,
    /// Names of those of each card.
    of: HashMap<String, HashSet<String>>,
}

/// Device, parameter, value.
pub(super) type Set = (String, String, String);

/// A card by a word that is the same for all its functions, which share its settings.
fn card(device: &str) -> String {
    match device.parse::<Bdf>() {
        Ok(b) => format!("{:x}:{:x}:{:x}", b.domain, b.bus, b.device),
        Err(_) => device.to_owned(),
    }
}

impl Waiting {
    pub(super) fn of(node: &Node<'_>) -> Waiting {
        let mut first: HashMap<(u32, u8, u8), &str> = HashMap::new();
        let (mut all, mut of) = (Vec::new(), HashMap::<String, HashSet<String>>::new());
        for n in &node.nic_firmware {
            let seen = n.card().map(|card| *first.entry(card).or_insert(&n.name));
            if seen.is_some_and(|name| name != n.name) {
                continue;
            }
            let waiting = n.config.params.iter().filter_map(|p| waits(n, p));
            for p in waiting {
                of.entry(card(&n.name)).or_default().insert(p.parameter.clone());
                all.push(p);
            }
        }
        Waiting { all, of }
    }

    fn waits(&self, device: &str, parameter: &str) -> bool {
        self.of.get(&card(device)).is_some_and(|names| names.contains(parameter))
    }

    /// Those that wishes set anew.
    pub(super) fn set_by(&self, wishes: &[Wish]) -> Vec<Set> {
        let set = wishes.iter().filter_map(|w| match &w.remedy.action {
            Action::NicFirmware { device, parameter, value } if self.waits(device, parameter) => {
                Some((device.to_string(), parameter.to_string(), value.to_string()))
            }
            _ => None,
        });
        set.collect()
    }

    /// A wish; a reset of a NIC of which all that waits is set anew has nothing left to bring into force: what sets it is its fix, too.
    pub(super) fn unless_set(&self, mut w: Wish, set: &[Set]) -> Wish {
        let Action::NicFirmwareReset { device } = &w.remedy.action else { return w };
        let own = card(device);
        let own: Vec<_> = set.iter().filter(|(d, ..)| card(d) == own).collect();
        let names: HashSet<&String> = own.iter().map(|(_, parameter, _)| parameter).collect();
        let left = self.of.get(&card(device)).is_some_and(|all| all.iter().any(|p| !names.contains(p)));
        let Some((device, parameter, value)) = own.first().filter(|_| !left) else { return w };
        w.remedy.action = Action::NicFirmware {
            device: device.clone().into(),
            parameter: parameter.clone().into(),
            value: value.clone().into(),
        };
        w
    }

    /// Those that a plan neither makes nor cancels itself, where it brings them into force.
    pub(super) fn in_force_by(&self, plan: &Plan) -> impl Iterator<Item = &Pending> {
        let resets = || {
            plan.steps.iter().any(|s| effect::of_step(s).iter().any(|e| matches!(e, effect::Effect::NicReset { .. })))
        };
        let all = if effect::reboots(plan) || resets() { self.all.as_slice() } else { &[] };
        let acts = plan.steps.iter().flat_map(|s| &s.change);
        let set: HashSet<(String, &String)> = acts
            .filter_map(|a| match a {
                Act::NicFirmware(NicFirmwareAct { device, parameter, .. }) => Some((card(device), parameter)),
                _ => None,
            })
            .collect();
        all.iter().filter(move |p| !set.contains(&(card(&p.device), &p.parameter)))
    }
}

fn waits(n: &NicFirmware, p: &Param) -> Option<Pending> {
    let (now, next) = (p.current.as_ref()?, p.next.as_ref()?);
    let differs = now.raw != next.raw && (now.number.is_none() || now.number != next.number);
    (differs && !now.is_unavailable() && !next.is_unavailable()).then(|| Pending {
        device: n.name.clone(),
        parameter: p.name.to_string(),
        now: now.raw.to_string(),
        next: next.raw.to_string(),
        back: now.number.map_or_else(|| now.raw.to_string(), |n| n.to_string()),
    })
}

/// That a setting keeps its value: the one for the next reset is set back.
pub(super) fn cancel(p: &Pending, why: &str) -> Wish {
    let remedy = Remedy::new(
        format!("cancel {} {} → {} of {}, which waits for a reset", p.parameter, p.now, p.next, p.device),
        Action::NicFirmware {
            device: p.device.clone().into(),
            parameter: p.parameter.clone().into(),
            value: p.back.clone().into(),
        },
    )
    .because("somebody asked for this setting: it is cancelled because it would make the node worse")
    .prove(format!("mlxconfig -d {} -e q", p.device));
    let message =
        format!("{} {} → {} waits for a reset, and a reboot brings it into force; {why}", p.parameter, p.now, p.next);
    Wish { rule: PENDING.to_owned(), subject: p.device.clone(), message, remedy, proof: None }
}
