//! Labels of Kubernetes nodes, as an operator asks for them. A label is a claim about a node; which claims are false no rule can know.

use super::{Refusal, words};
use crate::model::KubeNode;
use std::collections::BTreeMap;
use std::str::FromStr;

/// A label that is asked for, as kubectl writes it: `KEY=VALUE`, or `KEY-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Key, with its prefix.
    pub key: String,
    /// Value; `None`: no such label.
    pub value: Option<String>,
}

/// What is asked for, beside what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The node's object.
    pub node: KubeNode,
    /// All its labels.
    pub labels: BTreeMap<String, String>,
    /// What is asked for.
    pub wanted: Vec<Wanted>,
}

impl Wanted {
    /// As kubectl writes it.
    #[must_use]
    pub fn word(&self) -> String {
        self.value.as_ref().map_or(format!("{}-", self.key), |value| format!("{}={value}", self.key))
    }
}

/// Why a label is not changed as it is asked for, or a word is not what it has to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// Neither of the two forms.
    #[error("{0:?} is neither KEY=VALUE, which puts a label, nor KEY-, which takes it off")]
    Form(String),
    /// Two of them are about one label.
    #[error("the label {0} is asked for twice")]
    Twice(String),
    /// A key of Kubernetes' own.
    #[error(
        "the prefix {prefix} is reserved for Kubernetes' own components, which set and read the label {key} (zone, role, host name): \
         take another prefix, such as your own domain"
    )]
    Reserved {
        /// The reserved prefix.
        prefix: String,
        /// The whole key.
        key: String,
    },
    /// A word that Kubernetes does not take, and why.
    #[error("{0}")]
    Word(String),
}

impl FromStr for Wanted {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Wanted, LabelError> {
        let (name, value) = match (text.split_once('='), text.strip_suffix('-')) {
            (Some((name, value)), _) => (name, Some(value)),
            (None, Some(name)) => (name, None),
            (None, None) => {
                return Err(LabelError::Form(text.to_owned()));
            }
        };
        let value = value.map(value_of).transpose()?;
        Ok(Wanted { key: key(name)?.to_owned(), value: value.map(str::to_owned) })
    }
}

/// Several, none of them asked for twice.
///
/// # Errors
/// Two of them are about one label.
pub fn distinct(wanted: &[Wanted]) -> Result<(), LabelError> {
    let twice = wanted.iter().enumerate().find(|(at, w)| wanted.iter().take(*at).any(|other| other.key == w.key));
    twice.map_or(Ok(()), |(_, w)| Err(LabelError::Twice(w.key.clone())))
}

/// A key that may be changed.
///
/// # Errors
/// It is no key, or Kubernetes' own.
pub fn key(word: &str) -> Result<&str, LabelError> {
    words::label_key(word).map_err(reason)?;
    let prefix = word.split_once('/').map_or("", |(prefix, _)| prefix);
    let own = ["kubernetes.io", "k8s.io"];
    if own.iter().any(|o| prefix.strip_suffix(o).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))) {
        return Err(LabelError::Reserved { prefix: prefix.to_owned(), key: word.to_owned() });
    }
    Ok(word)
}

/// A value.
///
/// # Errors
/// It is none.
pub fn value_of(word: &str) -> Result<&str, LabelError> {
    words::label_value(word).map_err(reason)
}

/// Name of a node's object.
///
/// # Errors
/// It is none.
pub fn node_name(word: &str) -> Result<&str, LabelError> {
    words::subdomain(word, "name of a Kubernetes node").map_err(reason)
}

fn reason(refusal: Refusal) -> LabelError {
    LabelError::Word(match refusal {
        Refusal::No { reason, .. } | Refusal::Already { reason } => reason,
        Refusal::ByHand { how, .. } => how.join("; "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Wanted, LabelError> {
        text.parse()
    }

    #[test]
    fn as_kubectl_writes_them() {
        let wanted = |key: &str, value: Option<&str>| Ok(Wanted { key: key.into(), value: value.map(str::to_owned) });
        assert_eq!(of("iommu-passthrough-u12-u25-"), wanted("iommu-passthrough-u12-u25", None));
        assert_eq!(of("gpu.example.com/iommu=pt"), wanted("gpu.example.com/iommu", Some("pt")));
        assert_eq!(of("gpu.example.com/ready="), wanted("gpu.example.com/ready", Some("")));
        for word in ["a=b", "a-", "a="] {
            assert_eq!(of(word).unwrap().word(), word);
        }
        for bad in ["a", "", "-", "=b", "a=b=c", "a=b-", "--all=x", "a b-", "a=$(x)"] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
        assert!(distinct(&[of("a=b").unwrap(), of("a-").unwrap()]).is_err());
        assert!(distinct(&[of("a=b").unwrap(), of("c-").unwrap()]).is_ok());
    }

    #[test]
    fn what_is_kubernetes_own_is_left() {
        for bad in [
            "kubernetes.io/hostname=n2",
            "node-role.kubernetes.io/control-plane-",
            "node.kubernetes.io/x=1",
            "topology.k8s.io/zone-",
            "k8s.io/a=",
        ] {
            assert!(of(bad).is_err_and(|why| matches!(why, LabelError::Reserved { .. })), "{bad:?}");
        }
        assert!(of("notkubernetes.io/a=b").is_ok() && of("kubernetes.io.example.com/a=b").is_ok());
    }
}
