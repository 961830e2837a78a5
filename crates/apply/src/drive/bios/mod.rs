//! Settings of a node's firmware, made by the driver over the node's BMC and written ahead in the node's journal.
//!
//! The BMC, not the journal, says what is so: before anything is sent, what waits and what is in force is read. So a driver that ended
//! between sending and noting finds its change there and sends nothing again.

mod work;

pub(super) use work::{is_back, make, put_back};

use crate::protocol::{ActState, Stands, State, Trouble};
use crate::redfish::{Attributes, Bios, Client, Error, Origin, Patience, Registry, System, Task, Transport, same};
use linerate_remedy::bios::{Attribute, Setup};
use linerate_remedy::verify::Told;
use linerate_remedy::{Act, Plan, Proof};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Looks at attributes after a start: some services read them from the firmware only then.
const LOOKS: u32 = 5;

/// A transport that threads may share.
pub type Carrier = Box<dyn Transport + Send + Sync>;

/// The management controller of a node.
pub struct Bmc {
    client: Client<Carrier>,
    system: Option<String>,
    patience: Patience,
}

/// How one attribute stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Was {
    /// In force.
    pub(super) active: Value,
    /// Waiting for the next start; `None`: not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pending: Option<Value>,
}

impl Was {
    /// What the next start would bring.
    fn next(&self) -> &Value {
        self.pending.as_ref().filter(|p| !p.is_null()).unwrap_or(&self.active)
    }
}

/// All that a BMC shows at one moment.
pub(super) struct Seen {
    bios: Bios,
    pending: Option<Attributes>,
}

impl Seen {
    pub(super) fn of(&self, attribute: &str) -> Option<Was> {
        let active = self.bios.attributes.get(attribute)?.clone();
        Some(Was { active, pending: self.pending.as_ref().and_then(|p| p.get(attribute)).cloned() })
    }
}

/// What became of a change.
pub(super) struct Sent {
    pub(super) after: Seen,
    pub(super) task: Option<Task>,
}

impl Bmc {
    /// A BMC. `system`: which of its systems, by id, UUID, serial number or name; without, it has to be the only one.
    #[must_use]
    pub fn new(origin: Origin, carrier: Carrier, system: Option<String>, patience: Patience) -> Bmc {
        Bmc { client: Client::new(origin, carrier), system, patience }
    }

    fn system(&self) -> Result<System, Error> {
        self.client.system(self.system.as_deref())
    }

    /// UUID of the system, in lower case.
    pub(super) fn uuid(&self) -> Result<Option<String>, Error> {
        Ok(self.system()?.uuid)
    }

    fn registry(&self, bios: &Bios) -> Option<Registry> {
        // A help, not a need: without it the service judges what it is sent.
        self.client.registry(bios).ok().flatten()
    }

    /// Everything that is known of the firmware's settings, for a plan.
    ///
    /// # Errors
    /// The BMC cannot be read, or offers no settings.
    pub fn setup(&self) -> Result<Setup, Error> {
        let seen = self.look()?;
        let registry = self.registry(&seen.bios).unwrap_or_default();
        let attribute = |(name, active): (&String, &Value)| {
            let entry = registry.entries.get(name).cloned().unwrap_or_default();
            let attribute = Attribute {
                active: active.clone(),
                pending: seen.of(name).and_then(|w| w.pending),
                display: entry.display,
                read_only: entry.read_only || entry.kind.as_deref() == Some("Password") || seen.bios.settings.is_none(),
                values: (!entry.values.is_empty()).then_some(entry.values),
            };
            (name.clone(), attribute)
        };
        Ok(Setup { attributes: seen.bios.attributes.iter().map(attribute).collect() })
    }

    pub(super) fn look(&self) -> Result<Seen, Error> {
        let bios = self.client.bios(&self.system()?)?;
        let pending = self.client.pending(&bios);
        Ok(Seen { bios, pending })
    }

    pub(super) fn set(&self, wanted: &Attributes) -> Result<Sent, Error> {
        let bios = self.client.bios(&self.system()?)?;
        let registry = self.registry(&bios);
        let done = self.client.set(&bios, registry.as_ref(), wanted, self.patience)?;
        let after = self.look().map_err(Error::after_sending)?;
        Ok(Sent { after, task: done.task })
    }

    /// What the attributes are that a plan promises. With `wait`, what is not yet in force is looked at again for a while.
    #[must_use]
    pub fn told(&self, plan: &Plan, wait: bool) -> Told {
        let mut told = Told::default();
        let proofs = plan.steps.iter().flat_map(|s| &s.proof);
        let wanted: Vec<(&String, &Value)> = proofs
            .filter_map(|p| match p {
                Proof::Bios { attribute, value } => Some((attribute, value)),
                _ => None,
            })
            .collect();
        if wanted.is_empty() {
            return told;
        }
        for look in 0..if wait { LOOKS } else { 1 } {
            if look > 0 {
                std::thread::sleep(self.patience.pause);
            }
            told = match self.look() {
                Ok(seen) => told_of(&seen, &wanted),
                Err(e) => Told { bios_trouble: Some(e.to_string()), ..Told::default() },
            };
            if wanted.iter().all(|(a, v)| told.bios.get(*a).is_some_and(|t| t == *v)) {
                break;
            }
        }
        told
    }
}

fn told_of(seen: &Seen, wanted: &[(&String, &Value)]) -> Told {
    let mut told = Told::default();
    for (attribute, value) in wanted {
        let Some(was) = seen.of(attribute) else { continue };
        // 1 and 1.0 are one value: what is the wanted one is told in the plan's own form.
        let form = |v: Value| if same(&v, value) { (*value).clone() } else { v };
        told.bios.insert((*attribute).clone(), form(was.active));
        if let Some(waits) = was.pending {
            told.bios_pending.insert((*attribute).clone(), form(waits));
        }
    }
    told
}

/// An act of a plan that sets an attribute.
#[derive(Debug, Clone)]
pub(super) struct BiosAct {
    pub(super) step: String,
    pub(super) number: usize,
    pub(super) stands: Stands,
    pub(super) was: Option<Was>,
    pub(super) attribute: String,
    pub(super) before: Value,
    pub(super) after: Value,
    pub(super) what: String,
}

/// Those acts, in order of the plan, as they stand on the node.
pub(super) fn acts(plan: &Plan, state: &State) -> Vec<BiosAct> {
    let one = |a: &ActState| {
        let step = plan.step(&a.step)?;
        let act = step.trial.iter().chain(&step.change).nth(a.number)?;
        let Act::Bios { attribute, before, after } = act else { return None };
        Some(BiosAct {
            step: a.step.clone(),
            number: a.number,
            stands: a.stands,
            was: a.before.as_ref().and_then(|b| serde_json::from_str(b).ok()),
            attribute: attribute.clone(),
            before: before.clone(),
            after: after.clone(),
            what: act.summary(),
        })
    };
    state.acts.iter().filter_map(one).collect()
}

/// Whether steps of a plan set attributes.
pub(super) fn wanted(plan: &Plan, chosen: &[String]) -> bool {
    let steps = plan.steps.iter().filter(|s| chosen.is_empty() || chosen.contains(&s.id));
    steps.flat_map(|s| s.trial.iter().chain(&s.change)).any(|a| matches!(a, Act::Bios { .. }))
}

/// What speaks against a plan that is not yet begun: the firmware is set to something else than it expects.
pub(super) fn stale(bmc: &Bmc, plan: &Plan, chosen: &[String]) -> Result<Option<String>, Error> {
    let seen = bmc.look()?;
    let steps = plan.steps.iter().filter(|s| chosen.is_empty() || chosen.contains(&s.id));
    let acts = steps.flat_map(|s| s.trial.iter().chain(&s.change));
    let wrong = acts.filter_map(|act| match act {
        Act::Bios { attribute, before, after } => match seen.of(attribute) {
            None => Some(format!("the BMC shows no BIOS attribute {attribute}")),
            Some(is) if !same(&is.active, before) && !same(&is.active, after) => {
                Some(format!("the BIOS attribute {attribute} is {}, and the plan expects {before}", is.active))
            }
            Some(_) => None,
        },
        _ => None,
    });
    let wrong: Vec<String> = wrong.collect();
    Ok((!wrong.is_empty()).then(|| format!("{}: make a new plan", wrong.join("; "))))
}

/// The BMC of another machine is not written to. Whether it is this one's; `None`: one of both does not say.
pub(super) fn is_of(node: Option<&str>, bmc: Option<&str>) -> Option<bool> {
    let (node, bmc) = (node?.to_ascii_lowercase(), bmc?.to_ascii_lowercase());
    let bytes = |text: &str| text.bytes().filter(u8::is_ascii_hexdigit).collect::<Vec<u8>>();
    let (node, bmc) = (bytes(&node), bytes(&bmc));
    if node.len() != 32 || bmc.len() != 32 || bmc.iter().all(|b| *b == b'0') {
        return None;
    }
    // SMBIOS keeps the first three fields with the low byte first; some services show them as they lie there.
    let turned = [6, 7, 4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 14, 15, 12, 13];
    let other: Vec<u8> =
        turned.iter().filter_map(|i| bmc.get(*i).copied()).chain(bmc.iter().skip(16).copied()).collect();
    Some(node == bmc || node == other)
}

/// In words, where a BMC is another machine's.
pub(super) fn is_foreign(node: Option<&str>, bmc: Option<&str>) -> Option<String> {
    let (ours, theirs) = (node.unwrap_or_default(), bmc.unwrap_or_default());
    let words = || format!("the BMC is another machine's: it says UUID {theirs}, the node says {ours}");
    (is_of(node, bmc) == Some(false)).then(words)
}

pub(super) fn trouble(code: &str, step: Option<&str>, what: impl Into<String>) -> Trouble {
    Trouble { code: code.to_owned(), step: step.map(str::to_owned), what: what.into() }
}

#[cfg(test)]
mod tests;
