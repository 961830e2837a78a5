//! Network plugins: missing where one is needed, found and not usable, and libraries that they need.

use super::net::{NET_CC, socket_lines};
use super::{Found, Known, investigate, nccl, software};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::trouble::{ToolTrouble, Trouble};
use crate::observe::{PLUGIN_FAILED, PLUGIN_LOADED, PLUGIN_MISSING, PLUGIN_OFI};
use linerate_formats::dlerror::{LoadError, LoadFault};
use linerate_formats::nccl_log::Plugin;
use linerate_node::rdma::Purpose;
use linerate_rules::{Severity, Source};
use std::collections::BTreeSet;

const OFI: Source = nccl("aws-ofi-nccl: README", "https://github.com/aws/aws-ofi-nccl");
const IB_LINKS: Source = nccl(
    "NCCL, src/transport/net_ib/init.cc: only ports of InfiniBand and Ethernet are taken",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/net_ib/init.cc",
);

/// Lines about plugins of one kind.
fn of<'a>(c: &Case<'a>, kind: u8) -> Vec<&'a Group> {
    c.of(&c.o.plugins).filter(|((k, _), _)| *k == kind).map(|(_, g)| g).collect()
}

/// Plugins that say that they cannot start, or that the loader refused.
fn failed<'a>(c: &Case<'a>) -> Vec<&'a Group> {
    let warned = c.failures(|t| matches!(t, Trouble::Plugin));
    warned.into_iter().map(|(_, g)| g).chain(of(c, PLUGIN_FAILED)).collect()
}

/// Whether a plugin that is needed is missing or fails: then no device of NCCL's own transport is missing.
pub(super) fn fails(c: &Case<'_>) -> bool {
    !failed(c).is_empty() || (EFA.check)(c).is_some()
}

/// Whether a text names EFA or the plugin for it. The same plugin serves other networks of libfabric (cxi of Slingshot).
fn names_efa(text: &str) -> bool {
    let word = |w: &str| text.split(|ch: char| !ch.is_ascii_alphanumeric()).any(|p| p.eq_ignore_ascii_case(w));
    word("efa")
        || text.contains("libefa")
        || text.contains("libfabric")
        || ["nccl-net-ofi", "nccl-net-aws-ofi", "aws-ofi", "find: ofi", "find:ofi"].iter().any(|w| text.contains(w))
        || text.starts_with("NET/OFI") && !word("cxi")
}

/// Lines and nodes that show EFA.
fn efa(c: &Case<'_>) -> Vec<Evidence> {
    let kinds = [PLUGIN_OFI, PLUGIN_FAILED, PLUGIN_MISSING].into_iter().flat_map(|k| of(c, k));
    let warned = c.failures(|t| matches!(t, Trouble::Plugin)).into_iter().map(|(_, g)| g);
    let groups: Vec<&Group> = kinds.chain(warned).collect();
    if groups.iter().flat_map(|g| &g.quotes).any(|q| q.text.contains("cxi")) {
        return Vec::new();
    }
    let lines = groups.iter().filter_map(|g| g.quotes.iter().find(|q| names_efa(&q.text)).map(|q| c.evidence(q)));
    let set = c.of(&c.o.settings).filter(|((n, v), _)| {
        let (name, value) = (c.name(*n), c.name(*v));
        name.starts_with("FI_EFA_")
            || name == "FI_PROVIDER" && value.contains("efa")
            || name == "NCCL_NET_PLUGIN" && value.contains("ofi")
    });
    let set = set.flat_map(|(_, g)| c.quotes(g).into_iter().take(1));
    let asked = c.tools(|t| matches!(t, ToolTrouble::WantsEfa)).into_iter();
    let set = set.chain(asked.flat_map(|(_, g)| c.quotes(g).into_iter().take(1)));
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
fn asked<'a>(c: &Case<'a>) -> Option<(&'a str, &'a Group)> {
    c.env("NCCL_NET_PLUGIN").filter(|(v, _)| !matches!(v.trim(), "" | "none" | "libnccl-net.so"))
}

/// Why the loader refused, in words.
fn reason(groups: &[&Group]) -> Option<String> {
    groups.iter().flat_map(|g| &g.quotes).find_map(|q| {
        let e = LoadError::read(&q.text)?;
        let name = e.name();
        Some(match e.fault {
            LoadFault::NotFound => format!("{name} is not there"),
            LoadFault::NotPermitted => format!("{name} may not be read"),
            LoadFault::UndefinedSymbol => format!("{name} needs a symbol that no library has"),
            LoadFault::Version => format!("the {name} that is found first has another version than is needed"),
            LoadFault::Unusable => format!("{name} cannot be mapped"),
        })
    })
}

/// Processes of some lines, and whether they use sockets now.
fn fell_back(c: &Case<'_>, groups: &[&Group]) -> (BTreeSet<usize>, bool) {
    let hit: BTreeSet<usize> = groups.iter().flat_map(|g| g.processes.iter().copied()).collect();
    let sockets = c.socket_processes();
    let fell = hit.is_empty() && !sockets.is_empty() || hit.iter().any(|p| sockets.contains(p));
    (hit, fell)
}

pub(super) static EFA: Known = Known {
    id: "net/efa-without-plugin",
    title: "EFA without its plugin: NCCL cannot use it by itself",
    severity: Severity::High,
    docs: "NCCL's own InfiniBand transport takes ports of InfiniBand and Ethernet; a port of EFA is neither. Only the OFI plugin (aws-ofi-nccl, libnccl-net-ofi.so) over libfabric uses EFA. Where the plugin is missing, cannot be loaded \
           (libfabric, libefa, libhwloc or libibverbs missing or of another version) or finds no provider, NCCL goes on with sockets, or stops. NCCL_IB_* variables do nothing there.",
    confirm: &[
        "in the container: `ldd /opt/amazon/ofi-nccl/lib/*/libnccl-net*.so | grep -e 'not found' -e libfabric -e libibverbs`",
        "`fi_info -p efa` in the container: the provider, and its devices",
        "with the plugin the log says `NET/OFI Selected provider is efa`",
    ],
    refute: &["`Using network AWS Libfabric` (or `Libfabric`) in the same process"],
    rules: &["rdma/device-present"],
    sources: &[OFI, IB_LINKS, NET_CC],
    remedy: || {
        software(
            "Install aws-ofi-nccl and libfabric of one release (the EFA installer has both), with their directories before others in the library path, and give the container the EFA devices",
        )
    },
    check: |c| {
        let signs = efa(c);
        if signs.is_empty() || !c.rdma_processes().is_empty() || c.multi_node() == Some(false) {
            return None;
        }
        let failed = failed(c);
        // What it fails at with its first connection, or for want of CUDA, has nothing of EFA.
        if !failed.is_empty() && failed.iter().flat_map(|g| &g.quotes).all(|q| Plugin::failed_later(&q.text)) {
            return None;
        }
        let missing: Vec<&Group> = of(c, PLUGIN_MISSING);
        let names = |g: &&&Group| g.quotes.iter().any(|q| names_efa(&q.text));
        let loaded = !of(c, PLUGIN_LOADED).is_empty();
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
    },
    follows: &[],
};

pub(super) static PLUGIN: Known = Known {
    id: "net/plugin-init-failed",
    title: "A network plugin is there and cannot start",
    severity: Severity::High,
    docs: "An external plugin (IBext of HPC-X, FastSocket, FasTrak, an OFI plugin) was found, but could not be loaded or did not initialise: a library that it needs is missing or of another version, a symbol is undefined, a device is not there. NCCL then goes \
           on with what is left: its own InfiniBand transport, then sockets. A plugin that is merely not found is a failure only where it was asked for.",
    confirm: &[
        "read the plugin's own first warning: it names the missing device, library or setting",
        "`ldd PLUGIN` inside the container: `not found`, and which libibverbs comes first",
    ],
    refute: &["`Using network` names the plugin's network"],
    rules: &["rdma/device-present"],
    sources: &[NET_CC],
    remedy: || {
        investigate(
            "Follow the plugin's own first warning: devices in the container, libfabric or OFED version, plugin built for this NCCL",
        )
    },
    check: |c| {
        if (EFA.check)(c).is_some() {
            return None;
        }
        let groups = failed(c);
        // A plugin that was loaded, and another network that is used.
        let passed_over: BTreeSet<usize> = c
            .processes()
            .filter(|(_, p)| {
                let (Some((plugin, _)), Some((network, _))) = (p.plugin, p.network) else { return false };
                let (plugin, network) = (c.name(plugin), c.name(network));
                plugin != network
                    && (network == "IB" || Case::is_socket(network))
                    && !Case::is_socket(plugin)
                    && plugin != "IB"
            })
            .map(|(i, _)| i)
            .collect();
        if groups.is_empty() && !passed_over.is_empty() && c.env("NCCL_NET").is_none() && c.multi_node() == Some(true) {
            let loaded = of(c, PLUGIN_LOADED).into_iter().flat_map(|g| c.quotes(g).into_iter().take(1));
            let chosen = c.of(&c.o.networks).flat_map(|(_, g)| c.quotes(g).into_iter().take(1));
            let words = "a network plugin was loaded, and another network is used: the plugin did not start";
            let found = Found::new(Likely, words, "both lines are in the log; why the plugin did not start is not");
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
            Found::new(sure, words, why)
                .severity(severity)
                .with(c.quotes(first))
                .with(socket_lines(c))
                .scope(c.scope(hit)),
        )
    },
    follows: &[],
};

/// Whether connections go through the OFI plugin: then what it fails at comes after its start.
fn in_use(c: &Case<'_>) -> bool {
    let ofi = |net: &str| net.contains("Libfabric") || net.contains("OFI");
    c.rdma_cells().any(|(_, cell)| cell.net.is_some_and(|n| ofi(c.name(n))))
}

/// A plugin that the environment names, and that is not found.
fn not_found(c: &Case<'_>) -> Option<Found> {
    let (value, set) = asked(c)?;
    let missing = of(c, PLUGIN_MISSING);
    let missing = missing
        .iter()
        .find(|g| g.quotes.iter().any(|q| q.text.contains("Could not find") || q.text.contains("No plugin found")))?;
    if !of(c, PLUGIN_LOADED).is_empty() || c.multi_node() == Some(false) {
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
            .with(c.quotes(set).into_iter().take(1))
            .scope(c.scope(hit)),
    )
}

/// Libraries of the network's software, by the beginnings of their names, and who needs them.
const LIBRARIES: &[(&str, &str)] = &[
    ("libnccl-net", "NCCL's network plugin"),
    ("libnccl_net", "NCCL's network plugin"),
    ("libhwloc", "aws-ofi-nccl, Open MPI"),
    ("libfabric", "aws-ofi-nccl"),
    ("libefa", "libfabric's provider for EFA"),
    ("libibverbs", "NCCL, plugins"),
    ("libmlx5", "libibverbs"),
    ("librdmacm", "plugins, perftest"),
    ("libucs", "HPC-X's plugin"),
    ("libuct", "HPC-X's plugin"),
    ("libucp", "HPC-X's plugin"),
    ("libsharp", "HPC-X's plugin"),
];

pub(super) static LIBRARY: Known = Known {
    id: "net/library-missing",
    title: "A library that the network's software needs cannot be loaded",
    severity: Severity::High,
    docs: "The dynamic loader did not find a library, or found another version first, or libibverbs has none for the vendor of a device. A plugin that needs it is then passed over, and NCCL goes on with sockets; a program that needs it does not start. Images that are made smaller for run time lose such libraries.",
    confirm: &["`ldd PLUGIN_OR_PROGRAM | grep 'not found'` in the same container", "`ldconfig -p | grep NAME`"],
    refute: &["`Using network` names the plugin's network"],
    rules: &[],
    sources: &[nccl("glibc, elf/dl-load.c", "https://sourceware.org/git/?p=glibc.git;a=blob;f=elf/dl-load.c"), NET_CC],
    remedy: || {
        software(
            "Install the package of the library in the image, or put the right version's directory first in the library path",
        )
    },
    check: |c| {
        if fails(c) || !c.rdma_processes().is_empty() {
            return None;
        }
        let found = c.tools(|t| matches!(t, ToolTrouble::Library(..)));
        if let (true, Some((_, g))) = (found.is_empty(), c.tools(|t| matches!(t, ToolTrouble::NoProvider)).first()) {
            // Of a NIC that the job does not use it is harmless.
            let sure = if c.failed() { Likely } else { Possible };
            let words = "no library for the vendor of an RDMA device is installed here (ibverbs-providers: libmlx5, …)";
            let why = "libibverbs says so for a device that the kernel has; of a device that the job does not need it is harmless";
            return Some(Found::new(sure, words, why).with(c.quotes(g)));
        }
        let (name, who, g) = found.iter().find_map(|(t, g)| {
            let ToolTrouble::Library(name, _) = t else { return None };
            let name = c.name(*name);
            let (_, who) = LIBRARIES.iter().find(|(p, _)| name.starts_with(p))?;
            Some((name, *who, *g))
        })?;
        let words = format!("{name} cannot be loaded; {who} needs it");
        Some(
            Found::new(Likely, words, "the dynamic loader says so; which program asked for it is not in the line")
                .with(c.quotes(g)),
        )
    },
    follows: &[],
};
