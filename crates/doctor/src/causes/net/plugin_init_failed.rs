//! `net/plugin-init-failed`.

use super::plugin::{self, asked, failed, fell_back, reason};
use super::{NET_CC, efa_without_plugin, socket_lines};
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use linerate_rules::Severity;
use std::collections::BTreeSet;

pub(super) static CAUSE: Cause = Cause {
    id: "net/plugin-init-failed",
    title: "A network plugin was found but cannot start",
    what: "An external network plugin (IBext of HPC-X, FastSocket, FasTrak, an OFI plugin) was found, but could not \
           be loaded or did not initialise.",
    shows: &[
        "a warning of the plugin itself, or the loader's error for its library",
        "`NCCL_NET_PLUGIN` names a plugin, and NCCL does not find it",
        "a plugin is loaded, and `Using network` names another network",
    ],
    why: "A library that the plugin needs is missing or of another version, a symbol is undefined, or a device is \
          not there. NCCL then goes on with what is left: its own InfiniBand transport, then sockets. A plugin that \
          is merely not found is a failure only where it was asked for.",
    confirm: &[
        "read the plugin's own first warning: it names the missing device, library or setting",
        "`ldd PLUGIN` inside the container: `not found`, and which libibverbs comes first",
    ],
    refute: &["`Using network` names the plugin's network"],
    remedy: Advice::Investigate(
        "Follow the plugin's own first warning: devices in the container, libfabric or OFED version, plugin built for this NCCL",
    ),
    sources: &[NET_CC],
    severity: Severity::High,
    rules: &["rdma/device-present"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if (efa_without_plugin::CAUSE.check)(c).is_some() {
        return None;
    }
    let groups = failed(c);
    // A plugin that was loaded, and another network that is used.
    let passed_over: BTreeSet<usize> = c
        .processes()
        .filter(|(_, p)| {
            let (Some(plugin), Some(network)) = (p.plugin, p.network) else { return false };
            let (plugin, network) = (c.name(plugin.name), c.name(network.name));
            plugin != network
                && (network == "IB" || Case::is_socket(network))
                && !Case::is_socket(plugin)
                && plugin != "IB"
        })
        .map(|(i, _)| i)
        .collect();
    if groups.is_empty() && !passed_over.is_empty() && c.env("NCCL_NET").is_none() && c.multi_node() == Some(true) {
        let loaded = plugin::loaded(c).into_iter().flat_map(|g| c.first_quote(g));
        let chosen = c.of(&c.o.networks).flat_map(|(_, g)| c.first_quote(g));
        let words = "a network plugin was loaded, and another network is used: the plugin did not start";
        let found = Found::new(Likely, words, "both lines are in the log, but not why the plugin did not start");
        return Some(found.with(loaded).with(chosen).scope(c.scope(passed_over)));
    }
    let Some(first) = groups.first() else { return not_found(c) };
    let (hit, fell) = fell_back(c, &groups);
    let in_use = in_use(c);
    let (rest, severity) = match (fell, c.multi_node()) {
        (false, _) if in_use => ("", Severity::Critical),
        (true, Some(false)) => return None,
        (true, _) => ("; sockets are used instead", Severity::High),
        (false, _) if c.failed() => ("", Severity::High),
        (false, _) if !c.rdma_processes().is_empty() => ("; NCCL's own transport is used instead", Severity::Low),
        (false, _) => ("", Severity::High),
    };
    let sure = if rest.is_empty() && !c.failed() { Likely } else { Certain };
    let (words, why) = match reason(&groups) {
        _ if in_use => (
            "the network plugin cannot make an endpoint or a device".to_owned(),
            "the plugin says so itself, in a job that uses it; why it cannot is in the error and in libfabric's own log (FI_LOG_LEVEL=warn)",
        ),
        Some(r) => (format!("the network plugin did not start: {r}{rest}"), "the loader says so itself"),
        None => (
            format!("the network plugin did not start{rest}"),
            "the plugin says so itself; why it did not is in its own warnings",
        ),
    };
    Some(
        Found::new(sure, words, why).severity(severity).with(c.quotes(first)).with(socket_lines(c)).scope(c.scope(hit)),
    )
}

/// Whether connections go through the OFI plugin: then what it fails at comes after its start.
fn in_use(c: &Case<'_>) -> bool {
    let ofi = |net: &str| net.contains("Libfabric") || net.contains("OFI");
    c.rdma_cells().any(|(_, cell)| cell.net.is_some_and(|n| ofi(c.name(n))))
}

/// A plugin that the environment names, and that is not found.
fn not_found(c: &Case<'_>) -> Option<Found> {
    let (value, set) = asked(c)?;
    let missing = plugin::missing(c);
    let missing = missing
        .iter()
        .find(|g| g.quotes.iter().any(|q| q.text.contains("Could not find") || q.text.contains("No plugin found")))?;
    if !plugin::loaded(c).is_empty() || c.multi_node() == Some(false) {
        return None;
    }
    let (hit, fell) = fell_back(c, &[missing]);
    let rest = if fell { "; sockets are used instead" } else { "" };
    let words = format!("the plugin that NCCL_NET_PLUGIN={value} names is not found{rest}");
    let severity = if c.rdma_processes().is_empty() { Severity::High } else { Severity::Low };
    Some(
        Found::new(Likely, words, "the variable asks for a plugin, and NCCL does not find it")
            .severity(severity)
            .with(c.quotes(missing).into_iter().take(2))
            .with(c.first_quote(set))
            .scope(c.scope(hit)),
    )
}
