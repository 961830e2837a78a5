//! `net/efa-without-plugin`.

use super::plugin::{self, efa, failed, fell_back, names_efa, reason};
use super::{NET_CC, socket_lines};
use crate::answer::Confidence::{Certain, Likely};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use linerate_formats::nccl_log::Plugin;
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "net/efa-without-plugin",
    title: "EFA without its plugin: NCCL cannot use it by itself",
    what: "The node has EFA, and the OFI plugin that NCCL needs for it is missing or does not start. NCCL goes on \
           with sockets, or stops.",
    shows: &[
        "`NET/Plugin: Could not find: libnccl-net.so`, or a warning of `NET/OFI`",
        "settings or nodes that name EFA: `FI_PROVIDER=efa`, `FI_EFA_*`, an RDMA device of EFA",
    ],
    why: "NCCL's own InfiniBand transport takes ports of InfiniBand and Ethernet; a port of EFA is neither. Only the \
          OFI plugin (aws-ofi-nccl, libnccl-net-ofi.so) over libfabric uses EFA. It needs libfabric, libefa, \
          libhwloc and libibverbs of fitting versions, and a provider. NCCL_IB_* variables do nothing there.",
    confirm: &[
        "in the container: `ldd /opt/amazon/ofi-nccl/lib/*/libnccl-net*.so | grep -e 'not found' -e libfabric -e libibverbs`",
        "`fi_info -p efa` in the container: the provider, and its devices",
        "with the plugin the log says `NET/OFI Selected provider is efa`",
    ],
    refute: &["`Using network AWS Libfabric` (or `Libfabric`) in the same process"],
    remedy: Advice::Software(
        "Install aws-ofi-nccl and libfabric of one release (the EFA installer has both), with their directories before others in the library path, and give the container the EFA devices",
    ),
    sources: &[OFI, IB_LINKS, NET_CC],
    severity: Severity::High,
    rules: &["rdma/device-present"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let signs = efa(c);
    if signs.is_empty() || !c.rdma_processes().is_empty() || c.multi_node() == Some(false) {
        return None;
    }
    let failed = failed(c);
    // What it fails at with its first connection, or for want of CUDA, has nothing to do with EFA.
    if !failed.is_empty() && failed.iter().flat_map(|g| &g.quotes).all(|q| Plugin::failed_later(&q.text)) {
        return None;
    }
    let missing: Vec<&Group> = plugin::missing(c);
    let names = |g: &&&Group| g.quotes.iter().any(|q| names_efa(&q.text));
    let loaded = !plugin::loaded(c).is_empty();
    let (groups, words, sure) = if !failed.is_empty() {
        let why = reason(&failed).map(|r| format!(": {r}")).unwrap_or_default();
        (failed, format!("the OFI plugin does not start{why}"), Certain)
    } else if loaded || missing.is_empty() {
        return None;
    } else {
        // Named by the line itself, or by the environment or the node: then the plugin is what is missing.
        let sure = if missing.iter().any(|g| names(&g)) { Certain } else { Likely };
        (missing, "the OFI plugin is not found".to_owned(), sure)
    };
    let (hit, fell) = fell_back(c, &groups);
    let rest = if fell { "; sockets are used instead" } else { "" };
    let lines: Vec<Evidence> = groups.iter().flat_map(|g| c.quotes(g)).collect();
    let signs = signs.into_iter().filter(|e| !lines.contains(e)).take(2).collect::<Vec<_>>();
    Some(
        Found::new(
            sure,
            format!("{words}{rest}"),
            "NCCL itself cannot use EFA; the log shows EFA, and that the plugin for it fails",
        )
        .with(lines.iter().take(4).cloned())
        .with(signs)
        .with(socket_lines(c))
        .scope(c.scope(hit)),
    )
}

const OFI: Source = nccl("aws-ofi-nccl: README", "https://github.com/aws/aws-ofi-nccl");

const IB_LINKS: Source = nccl(
    "NCCL, src/transport/net_ib/init.cc: only ports of InfiniBand and Ethernet are taken",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/net_ib/init.cc",
);
