//! What goes wrong between us and a service.

/// Why a request or an answer was no use. No variant holds a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address of the service is none.
    #[error(
        "{0:?} is not an address of a Redfish service: {1}; give https://HOST[:PORT] without a user, and the user by a netrc file"
    )]
    Address(String, &'static str),
    /// A credential that cannot be sent as it is.
    #[error("the credentials cannot be used: {0}")]
    Credentials(&'static str),
    /// The program could not be run.
    #[error("cannot run {program}: {why}; install curl, or give its path")]
    Program {
        /// Program.
        program: String,
        /// Why.
        why: String,
    },
    /// No answer.
    #[error("{method} {path}: no answer: {why}")]
    NoAnswer {
        /// Method.
        method: &'static str,
        /// Path.
        path: String,
        /// What curl says.
        why: String,
    },
    /// The service refused.
    #[error("{method} {path}: the service answered {status}: {why}")]
    Status {
        /// Method.
        method: &'static str,
        /// Path.
        path: String,
        /// HTTP status.
        status: u16,
        /// Its words, shortened.
        why: String,
    },
    /// An answer that is not what Redfish says.
    #[error("{path}: {what}; this service's answer cannot be used")]
    Answer {
        /// Path.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// A link that leads away.
    #[error("{path}: the service links to {link:?}, which is not on this service: refused")]
    Link {
        /// Where it stands.
        path: String,
        /// The link, shortened.
        link: String,
    },
    /// Something was sent, and what became of it is not known.
    #[error("the change was sent, and then: {0}")]
    Sent(Box<Error>),
    /// What the service does not have.
    #[error("{path}: {what}")]
    Missing {
        /// Path.
        path: String,
        /// What, and what to do.
        what: String,
    },
    /// A value that is not sent, because the service says that it cannot be.
    #[error("the BIOS attribute {attribute} is not set: {why}")]
    Refused {
        /// Attribute.
        attribute: String,
        /// Why.
        why: String,
    },
    /// The pending settings were changed by somebody else between reading and writing.
    #[error(
        "{path}: somebody else changed the pending settings meanwhile (ETag differs); nothing was written: look, and plan again"
    )]
    Changed {
        /// Path.
        path: String,
    },
    /// The service's task failed.
    #[error("{path}: the task ended as {state}: {why}")]
    Task {
        /// The task.
        path: String,
        /// `TaskState`.
        state: String,
        /// Its messages, shortened.
        why: String,
    },
}

/// Foreign words for an error: one line of printable characters without secrets, at most 300.
pub(super) fn short(text: &str) -> String {
    let text = linerate_snapshot::without_secrets(text);
    linerate_formats::clip::clip(text.trim(), 300).replace('\t', " ")
}

impl Error {
    /// The same after something was sent. A task that failed says itself what became of it.
    pub(crate) fn after_sending(self) -> Error {
        match self {
            Error::Task { .. } | Error::Sent(_) => self,
            other => Error::Sent(Box::new(other)),
        }
    }
}
