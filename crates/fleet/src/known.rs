//! Ids of facts and rules that this version knows.

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::LazyLock;

static IDS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let facts = linerate_facts::defs().map(|d| d.id);
    let rules = linerate_rules::rules().iter().map(|r| r.id);
    facts.chain(rules).map(|id| (id, id)).collect()
});

static CATALOGUE: LazyLock<String> = LazyLock::new(|| {
    let mut ids: Vec<&str> = IDS.keys().copied().collect();
    ids.sort_unstable();
    let digest = Sha256::digest(ids.join("\n"));
    let short: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
    format!("{} {short}", env!("CARGO_PKG_VERSION"))
});

/// The id of a fact or rule that is called so; `None`: this version knows none.
#[must_use]
pub fn id(text: &str) -> Option<&'static str> {
    IDS.get(text).copied()
}

/// What records are made with: this version, and a digest of the ids of its facts and rules.
#[must_use]
pub fn catalogue() -> String {
    CATALOGUE.clone()
}
