//! What can go wrong between the operator and the Kubernetes API.

use linerate_remedy::change::labels::LabelError;
use linerate_transport::{Ran, TransportError};
use std::path::PathBuf;

/// Longest part of what kubectl said that is told.
const SAID: usize = 300;

/// Why labels were not read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No such program.
    #[error(
        "the program kubectl is not installed here (Debian: package kubernetes-client; or the one of your cluster's vendor)"
    )]
    Missing,
    /// The operator may not.
    #[error(
        "{what}: the Kubernetes API does not allow it ({said}): get and patch on nodes are needed; `kubectl auth can-i patch nodes` says whether you may"
    )]
    Denied {
        /// What was asked.
        what: String,
        /// What kubectl said.
        said: String,
    },
    /// No such object.
    #[error(
        "there is no Kubernetes node {0} in this cluster: `kubectl get nodes` lists them, --kube-node names it, --kube-context another cluster"
    )]
    NoNode(String),
    /// The operator named another object than the plan's.
    #[error(
        "the plan was made for the Kubernetes node {known}, but --kube-node names {named}: leave it out, or make a new plan"
    )]
    Other {
        /// Named.
        named: String,
        /// The plan's.
        known: String,
    },
    /// It is not the object that the plan knows.
    #[error(
        "the Kubernetes node {node} was made anew since the plan was made (its uid is {uid}, in the plan it is {known}): make a new plan"
    )]
    Anew {
        /// Object.
        node: String,
        /// Its uid.
        uid: String,
        /// The plan's.
        known: String,
    },
    /// The object was changed by others again and again between reading and writing.
    #[error("others keep changing the Kubernetes node {0}: nothing was written. Try again")]
    Conflict(String),
    /// A label was changed by somebody else between reading and writing.
    #[error(
        "the label {key} of the Kubernetes node {node} was changed by somebody else at this moment: nothing was written. Look at it, then try again"
    )]
    Changed {
        /// Object.
        node: String,
        /// Label.
        key: String,
    },
    /// The API refused it.
    #[error("{what}: the Kubernetes API refused it ({said})")]
    Refused {
        /// What was asked.
        what: String,
        /// What kubectl said.
        said: String,
    },
    /// It took too long.
    #[error("{what}: kubectl did not end within {seconds} s: is the API reached from here? See `kubectl cluster-info`")]
    TimedOut {
        /// What was asked.
        what: String,
        /// Limit.
        seconds: u64,
    },
    /// Anything else that kubectl said.
    #[error("{what}: kubectl ended with status {status} and said: {said}")]
    Failed {
        /// What was asked.
        what: String,
        /// Status.
        status: i32,
        /// What it said.
        said: String,
    },
    /// An answer that is no node.
    #[error("{what}: what kubectl printed is not a node object: {why}")]
    Answer {
        /// What was asked.
        what: String,
        /// Why not.
        why: String,
    },
    /// kubectl could not be heard to its end.
    #[error("{what}: {why}")]
    Lost {
        /// What was asked.
        what: String,
        /// Why.
        why: String,
    },
    /// A word that is given to no program.
    #[error(transparent)]
    Word(#[from] LabelError),
    /// A path that is given to no program.
    #[error("{}: not UTF-8", .0.display())]
    Path(PathBuf),
    /// It was written, and what is there now is not known.
    #[error("the labels were sent, and then: {0}")]
    Sent(Box<Error>),
}

impl Error {
    /// Of a program that did not come to its end.
    pub(super) fn of_transport(what: &str, e: &TransportError) -> Error {
        match e {
            TransportError::TimedOut { seconds, .. } => Error::TimedOut { what: what.to_owned(), seconds: *seconds },
            other => Error::Lost { what: what.to_owned(), why: other.to_string() },
        }
    }

    /// Of a program that ended with a status other than 0.
    pub(super) fn of_status(what: &str, node: &str, ran: &Ran) -> Error {
        let (what, said) = (what.to_owned(), said(ran));
        // `setsid` or `env` did not find it.
        if ran.status == 127 {
            return Error::Missing;
        }
        let reason = said.strip_prefix("Error from server (").and_then(|rest| rest.split_once(')')).map(|(r, _)| r);
        match reason {
            Some("Forbidden" | "Unauthorized") => Error::Denied { what, said },
            Some("NotFound") => Error::NoNode(node.to_owned()),
            Some("Conflict") => Error::Conflict(node.to_owned()),
            Some("Invalid" | "BadRequest" | "MethodNotAllowed" | "TooManyRequests") => Error::Refused { what, said },
            None if said.contains("You must be logged in") => Error::Denied { what, said },
            _ => Error::Failed { what, status: ran.status, said },
        }
    }

    /// Whether it is certain that a failed request changed nothing.
    pub(crate) fn is_unwritten(&self) -> bool {
        match self {
            Error::Missing
            | Error::Denied { .. }
            | Error::NoNode(_)
            | Error::Other { .. }
            | Error::Anew { .. }
            | Error::Conflict(_)
            | Error::Changed { .. }
            | Error::Refused { .. }
            | Error::Word(_)
            | Error::Path(_) => true,
            Error::TimedOut { .. }
            | Error::Failed { .. }
            | Error::Answer { .. }
            | Error::Lost { .. }
            | Error::Sent(_) => false,
        }
    }

    /// Whether the labels went with the object that had them.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Error::NoNode(_) | Error::Anew { .. })
    }

    /// For a journal: not what kubectl said, which may quote what its helpers for credentials print.
    pub(crate) fn brief(&self) -> String {
        match self {
            Error::Denied { what, .. } => format!("{what}: the Kubernetes API does not allow it"),
            Error::Refused { what, .. } => format!("{what}: the Kubernetes API refused it"),
            Error::Failed { what, status, .. } => format!("{what}: kubectl ended with status {status}"),
            Error::Lost { what, .. } => format!("{what}: the output of kubectl was not read to its end"),
            Error::Sent(e) => format!("the labels were sent, and then: {}", e.brief()),
            other => other.to_string(),
        }
    }
}

/// The last line, shortened, without what drives a terminal.
pub(super) fn said(ran: &Ran) -> String {
    linerate_formats::clip::clip(&ran.last_words(), SAID)
}
