//! Labels of a node's object in Kubernetes, by the program kubectl on the operator's machine. Credentials are its own: they are not seen here.

mod error;
mod program;

pub use error::Error;
pub use program::Program;

use linerate_remedy::change::labels::{key, node_name, value_of};
use linerate_remedy::verify::Told;
use linerate_remedy::{KubeNode, Plan, Proof};
use linerate_snapshot::machine_digest;
use linerate_transport::Ran;
use serde_json::Value;
use std::collections::BTreeMap;

/// A way to run kubectl.
pub trait Kubectl: Send + Sync {
    /// Runs it with these arguments to its end.
    ///
    /// # Errors
    /// It does not start, or does not come to an end. A status other than 0 is not an error.
    fn run(&self, what: &str, arguments: &[String]) -> Result<Ran, Error>;
}

/// The Kubernetes API, as kubectl reaches it.
pub struct Kube {
    kubectl: Box<dyn Kubectl>,
    /// The object that the operator named: a plan of another one is refused.
    named: Option<String>,
}

/// A node's object at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Which.
    pub node: KubeNode,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its version: a change is taken only where this is still the present one.
    version: String,
}

/// A label and what it becomes; `None`: it goes.
pub(crate) type Change<'a> = (&'a str, Option<&'a str>);

impl Kube {
    /// The API. `named`: the only object that plans may be about.
    #[must_use]
    pub fn new(kubectl: Box<dyn Kubectl>, named: Option<String>) -> Kube {
        Kube { kubectl, named }
    }

    /// Reads a node's object.
    ///
    /// # Errors
    /// It cannot be read, or there is none.
    pub fn look(&self, node: &str) -> Result<Object, Error> {
        let node = node_name(node)?;
        let what = format!("kubectl get node {node}");
        let ran = self.run(&what, node, &["get", "node", node, "-o", "json"].map(str::to_owned))?;
        if ran.cut {
            return Err(Error::Answer { what, why: "it is longer than 1 MiB".to_owned() });
        }
        object(node, &ran.stdout, &what)
    }

    /// The API's no, where it does not allow to change labels of a node. A dry run would say more, and kubectl before 1.27 makes it only with the
    /// cluster's whole OpenAPI document.
    pub(crate) fn no(&self, node: &str) -> Result<Option<Error>, Error> {
        let node = node_name(node)?;
        let what = format!("kubectl auth can-i patch nodes/{node}");
        let ran = self.kubectl.run(&what, &["auth", "can-i", "patch", &format!("nodes/{node}")].map(str::to_owned))?;
        let said = ran.text();
        match said.split([' ', '\n']).next() {
            Some("yes") => Ok(None),
            Some("no") => Ok(Some(Error::Denied { what, said: said.trim().chars().take(300).collect() })),
            _ => Err(Error::of_status(&what, node, &ran)),
        }
    }

    /// Changes labels, where the object is still as it was read.
    pub(crate) fn set(&self, seen: &Object, changes: &[Change<'_>]) -> Result<(), Error> {
        let node = node_name(&seen.node.name)?;
        let mut arguments = ["label", "node", node].map(str::to_owned).to_vec();
        for (name, value) in changes {
            let name = key(name)?;
            arguments.push(match value {
                Some(value) => format!("{name}={}", value_of(value)?),
                None => format!("{name}-"),
            });
        }
        arguments.push("--overwrite".to_owned());
        arguments.push(format!("--resource-version={}", seen.version));
        self.run(&format!("kubectl label node {node}"), node, &arguments).map(|_| ())
    }

    fn run(&self, what: &str, node: &str, arguments: &[String]) -> Result<Ran, Error> {
        let ran = self.kubectl.run(what, arguments)?;
        if ran.status == 0 { Ok(ran) } else { Err(Error::of_status(what, node, &ran)) }
    }

    /// Reads the object that a plan knows.
    pub(crate) fn look_for(&self, known: &KubeNode) -> Result<Object, Error> {
        if let Some(named) = self.named.as_ref().filter(|n| **n != known.name) {
            return Err(Error::Other { named: named.clone(), known: known.name.clone() });
        }
        let seen = self.look(&known.name)?;
        if seen.node.uid == known.uid {
            return Ok(seen);
        }
        Err(Error::Anew { node: known.name.clone(), uid: seen.node.uid, known: known.uid.clone() })
    }

    /// Adds what the labels are that a plan promises. Why they could not be read is told whole, for people; what is added goes into journals.
    pub fn tell(&self, plan: &Plan, told: &mut Told) -> Option<Error> {
        let known = plan.kubernetes.as_ref().filter(|_| has_labels(plan))?;
        match self.look_for(known) {
            Ok(seen) => {
                told.labels = Some(seen.labels);
                None
            }
            Err(e) => {
                told.labels_trouble = Some(e.brief());
                Some(e)
            }
        }
    }
}

fn has_labels(plan: &Plan) -> bool {
    plan.steps.iter().flat_map(|s| &s.proof).any(|p| matches!(p, Proof::Label { .. }))
}

/// Of the answer to a question.
fn object(node: &str, json: &[u8], what: &str) -> Result<Object, Error> {
    let bad = |why: String| Error::Answer { what: what.to_owned(), why };
    let form: Value = serde_json::from_slice(json).map_err(|e| bad(e.to_string()))?;
    let text = |path: &str| form.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("/kind"), text("/metadata/name"));
    if kind != "Node" || name != node {
        return Err(bad(format!("it is the {kind} {name}")));
    }
    // Opaque words, of which one goes back as it came: they must not be more than a word.
    let word = |w: &str| !w.is_empty() && w.len() <= 128 && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let (uid, version) = (text("/metadata/uid"), text("/metadata/resourceVersion"));
    if !word(version) || !word(uid) {
        return Err(bad("its uid or resourceVersion is not valid".to_owned()));
    }
    let mut labels = BTreeMap::new();
    for (key, value) in form.pointer("/metadata/labels").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().ok_or_else(|| bad(format!("its label {key} is not text")))?;
        labels.insert(key.clone(), value.to_owned());
    }
    let (system, machine) = (text("/status/nodeInfo/systemUUID"), text("/status/nodeInfo/machineID"));
    let node = KubeNode {
        name: name.to_owned(),
        uid: uid.to_owned(),
        system: (!system.is_empty()).then(|| system.to_ascii_lowercase()),
        machine: (!machine.is_empty()).then(|| machine_digest(machine.as_bytes())),
    };
    Ok(Object { node, labels, version: version.to_owned() })
}

#[cfg(test)]
pub(crate) mod tests;
