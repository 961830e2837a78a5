//! What programs say of a cause by themselves, beside what its check found.

use super::{Cause, Found};
use crate::answer::Confidence::{self, Likely, Possible};
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::says::{ALL, Says, Sure};
use crate::observe::trouble::ToolTrouble;
use linerate_formats::nccl_log::status::Status;

/// What is found of a cause: by its check, or in a program's own message where that is surer.
pub(crate) fn found(k: &Cause, c: &Case<'_>) -> Option<Found> {
    let by_check = (k.check)(c);
    let said = said(k, c);
    match (by_check, said) {
        (Some(found), Some(said)) if said.confidence > found.confidence => Some(said),
        (Some(found), _) => Some(found),
        (None, said) => said.or_else(|| entry(k, c)),
    }
}

/// Statuses of failed requests, by the cause that they are of.
const STATUSES: &[(&str, Status)] = &[
    ("ib/local-protection", Status::LocalProtection),
    ("ib/remote-access", Status::RemoteAccess),
    ("ib/retry-exceeded", Status::RetryExceeded),
    ("ib/rnr-retry-exceeded", Status::RnrRetryExceeded),
];

/// What the verbs library prints of a request that failed, where its program says nothing about it.
fn entry(k: &Cause, c: &Case<'_>) -> Option<Found> {
    let (_, status) = STATUSES.iter().find(|(id, _)| *id == k.id)?;
    let g = c.tool(|t| matches!(t, ToolTrouble::Entry(s) if s == status))?;
    let words = format!("a request of a NIC failed with status {}", status.number());
    let why = "libmlx5 prints the entry; a peer that ends leaves such entries behind, too";
    Some(Found::new(Confidence::Possible, words, why).with(c.quotes(g)))
}

fn said(k: &Cause, c: &Case<'_>) -> Option<Found> {
    let all: Vec<(&Says, Sure, &Group)> = c
        .tools(|t| matches!(t, ToolTrouble::Says { .. }))
        .into_iter()
        .filter_map(|(t, g)| match t {
            ToolTrouble::Says { which, headed } => ALL.get(which).map(|s| (s, s.sure(headed), g)),
            _ => None,
        })
        .collect();
    let (says, sure, g) = all.iter().filter(|(s, ..)| s.cause == k.id).max_by_key(|(_, sure, _)| *sure)?;
    let refuted = || all.iter().any(|(s, sure, _)| s.cause == k.id && *sure == Sure::Refutes);
    // With another complaint of its program, what is printed where all is well counts, too.
    let complaint =
        || all.iter().find(|(s, sure, _)| s.program == says.program && s.cause != k.id && *sure >= Sure::Possible);
    let make =
        |sure: Confidence, why: &str| Found::new(sure, says.means, format!("{}{why}", says.program)).with(c.quotes(g));
    match sure {
        Sure::Certain => Some(make(Confidence::Certain, " says so")),
        Sure::Likely => Some(make(Likely, " says so")),
        Sure::Possible if refuted() => None,
        Sure::Possible => Some(make(Possible, " says so; other causes would look the same")),
        Sure::Adds => {
            let (.., other) = complaint()?;
            Some(make(Likely, " says so, and a connection of it fails").with(c.quotes(other)))
        }
        Sure::Refutes => None,
    }
}
