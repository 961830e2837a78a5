//! Settings of a node's firmware, made by the driver over the node's BMC: [`super::elsewhere`] says how, this what they are there.

mod work;

pub(super) use work::{answers, is_back};

use super::elsewhere::{self, Remote};
use super::unsure::Unsure;
use crate::redfish::{Attributes, Bios, Client, Error, Origin, Patience, Registry, System, Task, Transport, same};
use linerate_remedy::bios::{Attribute, Setup};
use linerate_remedy::verify::Told;
use linerate_remedy::{Act, BiosAct, Plan, Proof};
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
    /// After attributes were sent: which, and how the service's task ended, where it made one.
    sent: Vec<String>,
    task: Option<Task>,
}

impl Seen {
    pub(super) fn of(&self, attribute: &str) -> Option<Was> {
        let active = self.bios.attributes.get(attribute)?.clone();
        Some(Was { active, pending: self.pending.as_ref().and_then(|p| p.get(attribute)).cloned() })
    }
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

    /// Whether the system is the machine of this UUID; `None`: one of both does not say.
    ///
    /// # Errors
    /// The BMC cannot be read.
    pub fn is_of(&self, uuid: Option<&str>) -> Result<Option<bool>, Error> {
        Ok(is_of(uuid, self.uuid()?.as_deref()))
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
        Ok(Seen { bios, pending, sent: Vec::new(), task: None })
    }

    pub(super) fn set(&self, wanted: &Attributes) -> Result<Seen, Error> {
        let bios = self.client.bios(&self.system()?)?;
        let registry = self.registry(&bios);
        let done = self.client.set(&bios, registry.as_ref(), wanted, self.patience)?;
        let after = self.look().map_err(Error::after_sending)?;
        Ok(Seen { sent: wanted.keys().cloned().collect(), task: done.task, ..after })
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

impl Remote for BiosAct {
    type Was = Was;

    fn of(act: &Act) -> Option<&BiosAct> {
        if let Act::Bios(bios) = act { Some(bios) } else { None }
    }

    fn was(note: &str) -> Option<Was> {
        serde_json::from_str(note).ok()
    }

    fn names(&self, was: &Was) -> bool {
        [&was.active, was.next()].iter().all(|v| same(v, &self.before) || same(v, &self.after))
    }
}

/// What speaks against a plan that is not yet begun: the firmware is set to something else than it expects.
pub(super) fn stale(bmc: &Bmc, plan: &Plan, chosen: &[String]) -> Result<Option<String>, Error> {
    let seen = bmc.look()?;
    let wrong =
        elsewhere::chosen(plan, chosen).filter_map(|BiosAct { attribute, before, after }| match seen.of(attribute) {
            None => Some(format!("the BMC shows no BIOS attribute {attribute}")),
            Some(is) if !same(&is.active, before) && !same(&is.active, after) => {
                Some(format!("the BIOS attribute {attribute} is {}, but the plan expects {before}", is.active))
            }
            Some(_) => None,
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

/// Whether a BMC is the machine's of a plan; else why not. Unknown is not: what it is told to set would be set on any machine.
pub(super) fn is_sure(plan: &Plan, node: Option<&str>, bmc: Option<&str>) -> Result<(), Unsure> {
    let planned = plan.node.uuid.as_deref().ok_or(Unsure::NoUuid)?;
    let bmc = bmc.ok_or(Unsure::NoUuidOfBmc)?;
    let node = node.ok_or(Unsure::NoUuidOfNode)?;
    let (of_bmc, of_node) = (is_of(Some(planned), Some(bmc)), is_of(Some(planned), Some(node)));
    let (planned, bmc, node) = (planned.to_owned(), bmc.to_owned(), node.to_owned());
    match (of_bmc, of_node) {
        (Some(true), Some(true)) => Ok(()),
        (Some(false), _) => Err(Unsure::OtherBmc { bmc, planned }),
        (_, Some(false)) => Err(Unsure::OtherNode { node, planned }),
        _ => Err(Unsure::NoOnes { planned, bmc }),
    }
}

#[cfg(test)]
pub(super) mod tests;
