//! Several readings of one node.

use crate::output::Failure;
use linerate_node::counters::{Growth, Sample};
use linerate_snapshot::Snapshot;
use std::path::Path;

/// That two sources are not of two nodes, and in the order of their time, as far as they say.
pub(crate) fn follow(before: &Snapshot, after: &Snapshot) -> Result<(), Failure> {
    let (a, b) = (&before.manifest, &after.manifest);
    // Of two redacted snapshots without a common key the same host has two names.
    let comparable =
        a.redacted == b.redacted && (!a.redacted || a.redact_key.is_some() && a.redact_key == b.redact_key);
    if comparable && !a.host.is_empty() && !b.host.is_empty() && a.host != b.host {
        return Err(Failure::new(format!("{} is of {}, and {} is of {}", before.label, a.host, after.label, b.host))
            .hint("growth is measured between readings of one node; `linerate diff` compares two nodes"));
    }
    if a.time > 0 && b.time > 0 && b.time < a.time {
        return Err(Failure::new(format!("{} was taken before {}", after.label, before.label))
            .hint("name the sources in the order of their time"));
    }
    Ok(())
}

/// What grew since an earlier reading of a node.
pub(crate) fn since(earlier: &Path, now: &Snapshot) -> Result<Growth, Failure> {
    let before = crate::sources::unredacted(earlier)?;
    follow(&before, now)?;
    Ok(Growth::between([Sample::of(&before), Sample::of(now)], None))
}
