//! What logs and nodes show of network plugins.

use super::efa_without_plugin;
use crate::answer::Evidence;
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::keys::PluginEvent;
use crate::observe::trouble::{ToolTrouble, Trouble};
use linerate_formats::dlerror::{LoadError, LoadFault};
use linerate_node::rdma::Purpose;
use std::collections::BTreeSet;

/// Lines that say that a plugin was loaded.
pub(super) fn loaded<'a>(c: &Case<'a>) -> Vec<&'a Group> {
    of(c, |e| matches!(e, PluginEvent::Loaded(_)))
}

/// Lines that say that a plugin was not found.
pub(super) fn missing<'a>(c: &Case<'a>) -> Vec<&'a Group> {
    of(c, |e| *e == PluginEvent::Missing)
}

/// Lines about plugins of one kind.
pub(super) fn of<'a>(c: &Case<'a>, is: impl Fn(&PluginEvent) -> bool) -> Vec<&'a Group> {
    c.of(&c.o.plugins).filter(|(event, _)| is(event)).map(|(_, g)| g).collect()
}

/// Plugins that say that they cannot start, or that the loader refused.
pub(super) fn failed<'a>(c: &Case<'a>) -> Vec<&'a Group> {
    let warned = c.failures(|t| matches!(t, Trouble::Plugin));
    warned.into_iter().map(|(_, g)| g).chain(of(c, |e| *e == PluginEvent::Failed)).collect()
}

/// Whether a plugin that is needed is missing or fails: then no device of NCCL's own transport is missing.
pub(super) fn fails(c: &Case<'_>) -> bool {
    !failed(c).is_empty() || (efa_without_plugin::CAUSE.check)(c).is_some()
}

/// Whether a text names EFA or the plugin for it. The same plugin serves other networks of libfabric (cxi of Slingshot).
pub(super) fn names_efa(text: &str) -> bool {
    let word = |w: &str| text.split(|ch: char| !ch.is_ascii_alphanumeric()).any(|p| p.eq_ignore_ascii_case(w));
    word("efa")
        || text.contains("libefa")
        || text.contains("libfabric")
        || ["nccl-net-ofi", "nccl-net-aws-ofi", "aws-ofi", "find: ofi", "find:ofi"].iter().any(|w| text.contains(w))
        || text.starts_with("NET/OFI") && !word("cxi")
}

/// Lines and nodes that show EFA.
pub(super) fn efa(c: &Case<'_>) -> Vec<Evidence> {
    let kinds =
        [PluginEvent::Ofi, PluginEvent::Failed, PluginEvent::Missing].into_iter().flat_map(|k| of(c, move |e| *e == k));
    let warned = c.failures(|t| matches!(t, Trouble::Plugin)).into_iter().map(|(_, g)| g);
    let groups: Vec<&Group> = kinds.chain(warned).collect();
    if groups.iter().flat_map(|g| &g.quotes).any(|q| q.text.contains("cxi")) {
        return Vec::new();
    }
    let lines = groups.iter().filter_map(|g| g.quotes.iter().find(|q| names_efa(&q.text)).map(|q| c.evidence(q)));
    let set = c.of(&c.o.settings).filter(|(s, _)| {
        let (name, value) = (c.name(s.name), c.name(s.value));
        name.starts_with("FI_EFA_")
            || name == "FI_PROVIDER" && value.contains("efa")
            || name == "NCCL_NET_PLUGIN" && value.contains("ofi")
    });
    let set = set.flat_map(|(_, g)| c.first_quote(g));
    let asked = c.tools(|t| matches!(t, ToolTrouble::WantsEfa)).into_iter();
    let set = set.chain(asked.flat_map(|(_, g)| c.first_quote(g)));
    let nodes = c.nodes.iter().filter_map(|n| {
        let device = n.node.rdma.known()?.iter().find(|d| d.purpose == Purpose::Efa)?;
        Some(Evidence { at: n.name.to_owned(), text: format!("RDMA device {} (EFA)", device.name) })
    });
    lines.chain(set).chain(nodes).collect()
}

/// Whether a missing plugin may be what is wrong: EFA, a plugin that was asked for, or a job that ends on sockets.
pub(crate) fn may_need(c: &Case<'_>) -> bool {
    asked(c).is_some()
        || !failed(c).is_empty()
        || !efa(c).is_empty() && c.rdma_processes().is_empty()
        || c.rdma_processes().is_empty() && c.multi_node() != Some(false)
}

/// The plugin that the environment names.
pub(super) fn asked<'a>(c: &Case<'a>) -> Option<(&'a str, &'a Group)> {
    c.env("NCCL_NET_PLUGIN").filter(|(v, _)| !matches!(v.trim(), "" | "none" | "libnccl-net.so"))
}

/// Why the loader refused, in words.
pub(super) fn reason(groups: &[&Group]) -> Option<String> {
    groups.iter().flat_map(|g| &g.quotes).find_map(|q| {
        let e = LoadError::read(&q.text)?;
        let name = e.name();
        Some(match e.fault {
            LoadFault::NotFound => format!("{name} is missing"),
            LoadFault::NotPermitted => format!("{name} may not be read"),
            LoadFault::UndefinedSymbol => format!("{name} needs a symbol that no library has"),
            LoadFault::Version => format!("the {name} that is found first has another version than is needed"),
            LoadFault::Unusable => format!("{name} cannot be mapped"),
        })
    })
}

/// Processes of some lines, and whether they use sockets now.
pub(super) fn fell_back(c: &Case<'_>, groups: &[&Group]) -> (BTreeSet<usize>, bool) {
    let hit: BTreeSet<usize> = groups.iter().flat_map(|g| g.processes.iter().copied()).collect();
    let sockets = c.socket_processes();
    let fell = hit.is_empty() && !sockets.is_empty() || hit.iter().any(|p| sockets.contains(p));
    (hit, fell)
}
