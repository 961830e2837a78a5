//! Which network a job uses, and why it is not the one that was wanted.

use super::{ENV_RST, Found, Known, environment, investigate, nccl, software};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::trouble::{ToolTrouble, Trouble};
use linerate_env::NodeFacts;
use linerate_formats::nccl_log::SocketTrouble;
use linerate_node::nccl::Filter;
use linerate_rules::{Severity, Source};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static ALL: &[&Known] = &[
    &DISABLED,
    &FORCED,
    &NO_VERBS,
    &super::plugin::EFA,
    &super::plugin::PLUGIN,
    &super::plugin::LIBRARY,
    &FILTER_EMPTY,
    &NO_DEVICE,
    &NARROW,
    &WIDE,
    &FEWER,
    &NO_INTERFACE,
    &WRONG_INTERFACE,
];

pub(super) const NET_CC: Source = nccl(
    "NCCL, src/net.cc and src/plugin/net.cc: which network is taken",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/plugin/net.cc",
);
const IB_CC: Source = nccl(
    "NCCL, src/transport/net_ib: which devices are used",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/net_ib/init.cc",
);

static DISABLED: Known = Known {
    id: "net/ib-disabled-by-env",
    title: "NCCL_IB_DISABLE keeps NCCL from InfiniBand and RoCE",
    severity: Severity::High,
    docs: "NCCL tries an external plugin, then its own InfiniBand/RoCE transport, then sockets. With NCCL_IB_DISABLE=1 the second is skipped, and all traffic \
           between nodes goes through TCP. Plugins of their own (IBext of HPC-X, OFI) need not heed the variable.",
    confirm: &["unset NCCL_IB_DISABLE: the log then says `NET/IB : Using …` and `Using network IB`"],
    refute: &["`Using network` names another network than Socket although the variable is set"],
    rules: &["rdma/device-present", "rdma/port-state"],
    sources: &[ENV_RST, NET_CC],
    remedy: || {
        environment("Unset NCCL_IB_DISABLE in the job's environment, image and nccl.conf", &[], &["NCCL_IB_DISABLE"])
    },
    check: |c| {
        let (value, g) = c.env_number("NCCL_IB_DISABLE").filter(|(v, _)| *v != 0)?;
        let sockets = c.socket_processes();
        if sockets.is_empty() && !c.rdma_processes().is_empty() {
            return None;
        }
        let seen = !sockets.is_empty();
        let words = format!("NCCL_IB_DISABLE={value}: traffic between nodes goes through sockets");
        let (sure, why) = match (seen, c.multi_node()) {
            (true, Some(false)) => return None,
            (true, Some(true)) => {
                (Certain, "the variable is set, sockets are used, and NCCL skips InfiniBand exactly then")
            }
            (true, None) => {
                (Likely, "the variable is set and sockets are used; whether the job spans nodes is not shown")
            }
            (false, _) => (Likely, "the variable is set; the line that names the network is missing"),
        };
        Some(Found::new(sure, words, why).with(c.quotes(g)).with(socket_lines(c)).scope(c.scope(sockets)))
    },
    follows: &[],
};

static FORCED: Known = Known {
    id: "net/socket-forced",
    title: "NCCL_NET names sockets, or a network that is not there",
    severity: Severity::High,
    docs: "NCCL_NET is the exact name of the network to use. With `Socket` nothing else is tried.",
    confirm: &["unset NCCL_NET and read which network is chosen"],
    refute: &["`Using network` names RDMA"],
    rules: &["rdma/device-present"],
    sources: &[ENV_RST, NET_CC],
    remedy: || environment("Unset NCCL_NET", &[], &["NCCL_NET"]),
    check: |c| {
        if c.multi_node() == Some(false) {
            return None;
        }
        let sockets = c.socket_processes();
        let Some((value, g)) = c.env("NCCL_NET").filter(|(v, _)| Case::is_socket(v)) else {
            // Most releases do not print the variable. They print what InfiniBand finds, if it is asked.
            let asked = c.of(&c.o.no_device).next().is_some() || verbs_missing(c) || disabled(c);
            let starts = c.of(&c.o.plugins).next().is_some() || c.since(28) == Some(true);
            if asked || !starts || sockets.is_empty() || !c.rdma_processes().is_empty() || c.multi_node() != Some(true)
            {
                return None;
            }
            let words = "sockets are used, and InfiniBand was not even asked for";
            let why = "the log has no word of NET/IB, which is tried before sockets unless NCCL_NET (or the communicator's configuration) names another network";
            return Some(Found::new(Possible, words, why).with(socket_lines(c)).scope(c.scope(sockets)));
        };
        let sure = if sockets.is_empty() { Likely } else { Certain };
        let words = format!("NCCL_NET={value}: only sockets are tried");
        Some(
            Found::new(sure, words, "the variable names the network to use")
                .with(c.quotes(g))
                .with(socket_lines(c))
                .scope(c.scope(sockets)),
        )
    },
    follows: &[],
};

/// The lines that say that sockets are used.
pub(super) fn socket_lines(c: &Case<'_>) -> Vec<crate::answer::Evidence> {
    let chosen = c.of(&c.o.networks).filter(|(n, _)| Case::is_socket(c.name(*n)));
    let using = c.of(&c.o.devices).filter(|((n, _), _)| Case::is_socket(c.name(*n))).map(|(_, g)| g);
    chosen.map(|(_, g)| g).chain(using).take(1).flat_map(|g| c.quotes(g).into_iter().take(1)).collect()
}

/// `NET/IB : No device found.`
fn no_device_lines(c: &Case<'_>) -> Vec<crate::answer::Evidence> {
    c.of(&c.o.no_device).flat_map(|(_, g)| c.quotes(g).into_iter().take(1)).collect()
}

/// Processes that found no RDMA device, or list none.
fn without_device(c: &Case<'_>) -> BTreeSet<usize> {
    let told = c.processes().filter(|(_, p)| p.no_device.is_some()).map(|(i, _)| i);
    let empty = c
        .processes()
        .filter(|(_, p)| p.nics.is_some_and(|(net, list, _)| !Case::is_socket(c.name(net)) && c.name(list).is_empty()));
    told.chain(empty.map(|(i, _)| i)).collect()
}

static NO_VERBS: Known = Known {
    id: "net/no-libibverbs",
    title: "libibverbs cannot be opened",
    severity: Severity::High,
    docs: "NCCL opens libibverbs.so at run time. Where the image lacks it, InfiniBand and RoCE are not there for NCCL, whatever the host can do. On machines without RDMA the line is in every log, and means nothing.",
    confirm: &[
        "in the container: `ldconfig -p | grep libibverbs`",
        "install rdma-core's libibverbs1 and ibverbs-providers in the image and run again",
    ],
    refute: &["`NET/IB : Using …` in the same process", "the nodes have no RDMA NIC: then sockets are what there is"],
    rules: &[],
    sources: &[IB_CC],
    remedy: || software("Install libibverbs1 and ibverbs-providers (rdma-core) in the image"),
    check: |c| {
        let found = c.failures(|t| matches!(t, Trouble::Library(n) if c.name(*n).contains("libibverbs")));
        let (_, g) = found.first()?;
        let hit: BTreeSet<usize> = g.processes.iter().copied().filter(|p| c.job.processes.contains(p)).collect();
        if !hit.is_empty() && hit.is_subset(&c.rdma_processes()) || c.multi_node() == Some(false) && !c.failed() {
            return None;
        }
        let words = "libibverbs cannot be opened, so there is no InfiniBand or RoCE for NCCL";
        let found = |sure, why: &str| {
            Found::new(sure, words, why).with(c.quotes(g)).with(socket_lines(c)).scope(c.scope(hit.clone()))
        };
        // A machine without RDMA has no use for the library: the line is in the log of every job there, and they run.
        match wants_rdma(c) {
            Some(why) => Some(found(Certain, &format!("the log says so, and {why}"))),
            None if c.multi_node() == Some(true) => {
                let why = "the log says so; whether these nodes have RDMA is not shown, and where they have none, this is right";
                Some(found(Possible, why).severity(Severity::Medium))
            }
            None => None,
        }
    },
    follows: &[],
};

/// What shows that there is RDMA to be used, or that the job asks for it.
fn wants_rdma(c: &Case<'_>) -> Option<&'static str> {
    let mut settings = c.of(&c.o.settings).map(|((n, v), _)| (c.name(n), c.name(v)));
    let asked = |(name, value): (&str, &str)| match name {
        "NCCL_IB_DISABLE" => value.trim() == "0",
        "NCCL_NET" => value.trim().eq_ignore_ascii_case("IB"),
        name => name.starts_with("NCCL_IB_") || name.starts_with("NCCL_NET_GDR_") || name == "FI_PROVIDER",
    };
    if settings.any(asked) {
        return Some("the environment prepares for RDMA");
    }
    if !c.rdma_processes().is_empty() {
        return Some("other ranks of the job use RDMA");
    }
    if c.nodes.iter().any(|n| n.node.rdma.known().is_some_and(|d| !d.is_empty())) {
        return Some("the node has RDMA devices");
    }
    // `[0]ib0:10.0.0.1<0>`, `ibp24s0`: IP over InfiniBand.
    let is_ib = |word: &str| {
        let name = word.strip_prefix("ib").and_then(|rest| rest.bytes().next());
        name.is_some_and(|b| b.is_ascii_digit() || matches!(b, b'p' | b's'))
    };
    let listed = c.of(&c.o.devices).flat_map(|(_, g)| &g.quotes).flat_map(|q| q.text.split([' ', ']']));
    let bootstrap = c.processes().filter_map(|(_, p)| p.bootstrap).flat_map(|(list, _)| c.name(list).split([' ', ']']));
    if listed.chain(bootstrap).any(is_ib) {
        return Some("an interface of the host is InfiniBand's");
    }
    None
}

static FILTER_EMPTY: Known = Known {
    id: "net/hca-filter-matches-nothing",
    title: "NCCL_IB_HCA names no NIC that is there",
    severity: Severity::High,
    docs: "NCCL_IB_HCA selects NICs by prefix (`=` exact, `^` exclude). Where nothing that is active matches, NCCL finds no device and goes on with sockets, or stops.",
    confirm: &["`ibv_devices` on the node against the variable", "unset NCCL_IB_HCA: NICs are found"],
    refute: &["no NIC is found without the variable either"],
    rules: &["rdma/device-present", "rdma/port-state"],
    sources: &[ENV_RST, IB_CC],
    remedy: || {
        environment("Name the NICs that are there: NCCL_IB_HCA==mlx5_0,mlx5_1,… or unset it", &[], &["NCCL_IB_HCA"])
    },
    check: |c| {
        let (value, g) = c.env("NCCL_IB_HCA")?;
        let without = without_device(c);
        if without.is_empty() || disabled(c) || verbs_missing(c) || c.multi_node() == Some(false) {
            return None;
        }
        // The same filter finds NICs on other hosts: then the NICs are missing here, not the names wrong.
        if c.rdma_processes().iter().any(|p| !without.contains(p) && g.processes.contains(p)) {
            return None;
        }
        let filter = Filter::parse(value);
        let facts: Vec<NodeFacts> = c.nodes.iter().map(|n| NodeFacts::of(&n.node)).collect();
        let nics = || facts.iter().flat_map(|f| f.nics.iter().flatten());
        let (sure, why) = if nics().next().is_none() {
            (
                Likely,
                "a filter is set and no device is found; that no device is there at all would look the same".to_owned(),
            )
        } else if nics().any(|n| n.taken_by(&filter)) {
            return None;
        } else {
            let names: Vec<&str> = nics().map(|n| n.name.as_str()).collect();
            (Certain, format!("the node has {} and the filter names no active port of them", names.join(", ")))
        };
        let words = format!("NCCL_IB_HCA={value} matches no active NIC");
        Some(
            Found::new(sure, words, why)
                .with(c.quotes(g))
                .with(no_device_lines(c))
                .with(socket_lines(c))
                .scope(c.scope(without)),
        )
    },
    follows: &[],
};

fn disabled(c: &Case<'_>) -> bool {
    c.env_number("NCCL_IB_DISABLE").is_some_and(|(v, _)| v != 0)
        || c.env("NCCL_NET").is_some_and(|(v, _)| Case::is_socket(v))
}

fn verbs_missing(c: &Case<'_>) -> bool {
    !c.failures(|t| matches!(t, Trouble::Library(n) if c.name(*n).contains("libibverbs"))).is_empty()
}

static NO_DEVICE: Known = Known {
    id: "net/no-rdma-device",
    title: "NCCL sees no RDMA device",
    severity: Severity::High,
    docs: "NCCL's InfiniBand/RoCE transport opened the verbs library and found no port that is active. On a cluster with RDMA that is one of: no /dev/infiniband in the container, \
           no device plugin resource in the pod, drivers not loaded, all ports down, an exclusive RDMA network namespace, or a VM without the devices. On a cluster without RDMA it is right.",
    confirm: &[
        "in the same container: `ls /dev/infiniband; ibv_devinfo | grep -e hca_id -e state`",
        "`linerate audit` on the node: rdma/device-present, rdma/port-state, rdma/netns-mode",
    ],
    refute: &["the node has no RDMA NIC at all: then sockets are what there is"],
    rules: &["rdma/device-present", "rdma/port-state", "rdma/netns-mode"],
    sources: &[IB_CC],
    remedy: || investigate("Find out on the node and in the container why there is no active RDMA device"),
    check: |c| {
        let without = without_device(c);
        let unopened = c.failures(|t| matches!(t, Trouble::Other(n) if c.name(*n).contains("Unable to open device")));
        if let Some((_, g)) = c.tools(|t| matches!(t, ToolTrouble::NoRdmaDevice)).first()
            && c.rdma_processes().is_empty()
        {
            // Beside a job of NCCL it matters only if the job wants RDMA.
            let sure = if c.processes().next().is_none() || !without.is_empty() { Likely } else { Possible };
            let words = "the verbs library finds no RDMA device here";
            let why = "a tool that uses the library says so, where it ran";
            return Some(Found::new(sure, words, why).with(c.quotes(g)).with(no_device_lines(c)));
        }
        if without.is_empty() && (unopened.is_empty() || !c.rdma_processes().is_empty())
            || disabled(c)
            || verbs_missing(c)
            || c.multi_node() == Some(false)
            || super::plugin::fails(c)
        {
            return None;
        }
        if (FILTER_EMPTY.check)(c).is_some() || !without.is_empty() && c.rdma_processes().is_superset(&without) {
            return None;
        }
        if let Some((_, g)) = unopened.first() {
            let why =
                "the device is listed and cannot be opened: its file under /dev/infiniband is missing or not permitted";
            let found = Found::new(Likely, "an RDMA device cannot be opened", why);
            return Some(found.with(c.quotes(g)).with(no_device_lines(c)).scope(c.scope(without)));
        }
        // HPC-X's plugin is for RDMA and nothing else.
        let plugin = c.of(&c.o.plugins).any(|((k, n), _)| {
            k == crate::observe::PLUGIN_LOADED && ["RDMA", "IBext"].iter().any(|w| c.name(n).contains(w))
        });
        let wanted = c.env("NCCL_IB_HCA").is_some() || c.env("NCCL_IB_GID_INDEX").is_some() || plugin;
        // Neither that the job spans nodes nor that there should be RDMA: told as undecided.
        if c.multi_node().is_none() && !wanted && c.nodes.is_empty() && c.rdma_processes().is_empty() {
            return None;
        }
        let others = !c.rdma_processes().is_empty();
        let (sure, why) = if others {
            (Likely, "other ranks of the same job use RDMA")
        } else if c.multi_node().is_none() {
            (
                Possible,
                "no device was found; whether the job spans nodes, and whether there should be one, is not shown",
            )
        } else if c.env("NCCL_IB_HCA").is_some() || c.env("NCCL_IB_GID_INDEX").is_some() {
            (Likely, "the environment prepares for RDMA")
        } else {
            (Possible, "the log does not say whether this cluster has RDMA; where it has none, this is right")
        };
        let found =
            Found::new(sure, "no RDMA device is visible to NCCL; traffic between nodes goes through sockets", why);
        let found = found.with(no_device_lines(c)).with(socket_lines(c)).scope(c.scope(without));
        Some(found.join(c, &["rdma/device-present", "rdma/port-state", "rdma/netns-mode"]))
    },
    follows: &[],
};

/// NIC lists of RDMA networks by host.
fn lists<'a>(c: &Case<'a>) -> BTreeMap<String, BTreeSet<&'a str>> {
    let mut by_host: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (_, p) in c.processes() {
        if let Some((net, list, _)) = p.nics
            && !Case::is_socket(c.name(net))
        {
            let names = c.name(list).split(' ').filter(|n| !n.is_empty());
            by_host.entry(c.name(p.host).to_owned()).or_default().extend(names);
        }
    }
    by_host
}

/// Hosts with fewer NICs than most, how many they have, how many most have.
fn fewer(c: &Case<'_>) -> Option<(Vec<String>, usize, usize)> {
    let by_host = lists(c);
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    by_host.values().for_each(|l| *counts.entry(l.len()).or_default() += 1);
    let (most, _) = counts.iter().max_by_key(|(n, hosts)| (**hosts, **n))?;
    let less: Vec<String> = by_host.iter().filter(|(_, l)| l.len() < *most).map(|(h, _)| h.clone()).collect();
    let least = by_host.values().map(BTreeSet::len).min()?;
    (!less.is_empty()).then_some((less, least, *most))
}

/// NCCL's own count (`src/init.cc`, 2.28 and later), where the lists are not shown.
fn counts_differ(c: &Case<'_>) -> Option<Found> {
    let told = c.failures(
        |t| matches!(t, Trouble::Other(n) if c.name(*n).starts_with("Detected mixed local Net device counts")),
    );
    // A rank without any device is another matter.
    let (_, g) = told.first().filter(|_| without_device(c).is_empty())?;
    let words = "ranks have different numbers of local NICs";
    Some(Found::new(Certain, words, "NCCL compares the counts of the ranks, and stops").with(c.quotes(g)))
}

static FEWER: Known = Known {
    id: "net/fewer-nics",
    title: "A node uses fewer NICs than the others",
    severity: Severity::High,
    docs: "A collective is as fast as its slowest node. A node whose port is down, whose NIC is missing or filtered away has fewer rails than the others, and all wait for it.",
    confirm: &[
        "`ibv_devinfo | grep -e hca_id -e state` on the node against another node",
        "`linerate audit` on the node: rdma/port-state, rdma/device-present",
    ],
    refute: &["the nodes are built differently"],
    rules: &["rdma/port-state", "rdma/device-present", "rdma/port-rate"],
    sources: &[IB_CC],
    remedy: || investigate("Find out why the NIC is not active on that node: port state, cable, driver, filter"),
    check: |c| {
        let Some((hosts, least, most)) = fewer(c) else { return counts_differ(c) };
        let differing_filter = c.of(&c.o.settings).filter(|((n, _), _)| c.name(*n) == "NCCL_IB_HCA").count() > 1;
        let processes: BTreeSet<usize> =
            c.processes().filter(|(_, p)| hosts.iter().any(|h| h == c.name(p.host))).map(|(i, _)| i).collect();
        let lines = c.of(&c.o.devices).filter(|((_, l), _)| c.name(*l).split(' ').count() < most).take(1);
        let why = if differing_filter {
            "the lists of NICs differ, and so does NCCL_IB_HCA"
        } else {
            "the lists of NICs that the ranks print differ"
        };
        let words = format!("{} uses {least} NIC(s), most nodes {most}", crate::ranges::some(&hosts, 4));
        Some(
            Found::new(Certain, words, why)
                .with(lines.flat_map(|(_, g)| c.quotes(g)))
                .scope(c.scope(processes))
                .join(c, &["rdma/port-state", "rdma/device-present"]),
        )
    },
    follows: &["net/hca-filter-too-narrow"],
};

static NARROW: Known = Known {
    id: "net/hca-filter-too-narrow",
    title: "NCCL_IB_HCA leaves NICs unused",
    severity: Severity::High,
    docs: "With fewer NICs than GPUs per node the rails that are left out carry nothing. A filter copied from another machine is the usual reason.",
    confirm: &["`ibv_devices` and `nvidia-smi topo -m` on the node: which NICs are near GPUs and are not in the list"],
    refute: &["the NICs that are left out belong to storage or management"],
    rules: &["numa/no-shared-switch", "numa/cross-socket-nic"],
    sources: &[ENV_RST],
    remedy: || environment("Name all compute NICs: NCCL_IB_HCA==mlx5_0,mlx5_1,…", &[], &["NCCL_IB_HCA"]),
    check: |c| {
        let (value, g) = c.env("NCCL_IB_HCA").filter(|(v, _)| !v.starts_with('^'))?;
        let filter = Filter::parse(value);
        let by_host = lists(c);
        let used = by_host.values().map(BTreeSet::len).min().filter(|n| *n > 0)?;
        for n in c.nodes {
            let facts = NodeFacts::of(&n.node);
            let Some(chosen) = facts.select(&filter).filter(|s| !s.left.is_empty()) else { continue };
            let left: Vec<String> = chosen.left.iter().map(|n| n.name.clone()).collect();
            let words = format!("NCCL_IB_HCA={value} leaves out {} of {}", crate::ranges::some(&left, 4), n.name);
            return Some(
                Found::new(Likely, words, "these NICs are active, nearest to a GPU, and not in the list")
                    .with(c.quotes(g)),
            );
        }
        // What the list takes wherever it is used, it does not leave out here.
        let leaves_out = |nic: &&str| {
            let (name, rest) = nic.split_once(':').unwrap_or((nic, ""));
            !filter.takes(name, rest.split('/').next().and_then(|p| p.parse().ok()))
        };
        if fewer(c).is_some() && !by_host.values().flatten().any(leaves_out) {
            return None;
        }
        // Another host of the job, with another filter, uses more.
        if let Some((hosts, least, most)) = fewer(c) {
            let differing = c.of(&c.o.settings).filter(|((n, _), _)| c.name(*n) == "NCCL_IB_HCA").count() > 1;
            let has_less =
                g.processes.iter().filter_map(|p| c.o.process(*p)).all(|p| hosts.iter().any(|h| h == c.name(p.host)));
            if differing || has_less && g.processes.len() < c.job.processes.len() {
                let words = format!(
                    "NCCL_IB_HCA={value} leaves {least} NIC(s) to {}, where others use {most}",
                    crate::ranges::some(&hosts, 3)
                );
                return Some(
                    Found::new(Certain, words, "the filter differs, and so does the number of NICs").with(c.quotes(g)),
                );
            }
            return None;
        }
        // A driver's prefix takes all there are.
        if !filter.entries.iter().all(linerate_node::nccl::Entry::names_one) {
            return None;
        }
        let gpus = gpus_per_host(c)?;
        if gpus < 4 || used * 2 > gpus {
            return None;
        }
        let words = format!("NCCL_IB_HCA={value}: {used} NIC(s) for {gpus} GPUs per node");
        let why = "nodes with so many GPUs have a NIC for one or two of them, as a rule; the log does not show what the node has";
        Some(Found::new(Possible, words, why).with(c.quotes(g)))
    },
    follows: &[],
};

/// Ranks per host of the largest communicator.
fn gpus_per_host(c: &Case<'_>) -> Option<usize> {
    let world = c.job.world()?;
    let mut by_host: BTreeMap<&str, usize> = BTreeMap::new();
    for r in world.members.values().filter_map(|r| c.o.ranks.all.get(*r)) {
        *by_host.entry(c.o.process(r.process).map_or("", |p| c.name(p.host))).or_default() += 1;
    }
    by_host.values().copied().max()
}

static WIDE: Known = Known {
    id: "net/hca-filter-too-wide",
    title: "NCCL_IB_HCA catches NICs that it should not",
    severity: Severity::Medium,
    docs: "The names in NCCL_IB_HCA are prefixes: `mlx5_1` also takes mlx5_10 to mlx5_19; `mlx5` takes every port, which is right where all of them are for the job. NCCL then sends over links that are \
           slower or lead elsewhere.",
    confirm: &[
        "the list in `NET/IB : Using …` against the NICs that you meant",
        "write `NCCL_IB_HCA==mlx5_1` (two equals signs: exact)",
    ],
    refute: &["all NICs that are listed belong to the compute fabric"],
    rules: &["rdma/port-rate"],
    sources: &[ENV_RST],
    remedy: || environment("Use exact names: NCCL_IB_HCA==mlx5_0,mlx5_1,…", &[], &[]),
    check: |c| {
        let (value, g) = c.env("NCCL_IB_HCA").filter(|(v, _)| !v.starts_with(['^', '=']))?;
        let filter = Filter::parse(value);
        let used: BTreeSet<&str> = lists(c).into_values().flatten().map(|n| n.split(':').next().unwrap_or(n)).collect();
        // `mlx5_1` in `mlx5_10`: nobody means that. `mlx5` means every one.
        let also: Vec<String> = used
            .iter()
            .filter(|u| {
                filter.entries.iter().any(|e| e.is_number_within(u)) && !filter.entries.iter().any(|e| e.name == **u)
            })
            .map(|u| (*u).to_owned())
            .collect();
        let kinds: BTreeSet<&str> =
            lists(c).into_values().flatten().filter_map(|n| n.rsplit_once('/')).map(|(_, k)| k).collect();
        let prefix_only = filter.entries.iter().all(|e| !e.names_one());
        let lines = c.of(&c.o.devices).take(1).flat_map(|(_, g)| c.quotes(g).into_iter().take(1));
        if !also.is_empty() {
            let words = format!("NCCL_IB_HCA={value} also takes {}", crate::ranges::some(&also, 4));
            return Some(
                Found::new(Certain, words, "names are prefixes, and these NICs are in the list that is used")
                    .with(c.quotes(g))
                    .with(lines),
            );
        }
        if prefix_only && kinds.len() > 1 {
            let words = format!("NCCL_IB_HCA={value} mixes InfiniBand and RoCE ports");
            return Some(
                Found::new(Likely, words, "the list that is used has ports of both kinds")
                    .with(c.quotes(g))
                    .with(lines),
            );
        }
        None
    },
    follows: &[],
};

static NO_INTERFACE: Known = Known {
    id: "net/no-interface",
    title: "NCCL finds no network interface for its bootstrap",
    severity: Severity::Critical,
    docs: "Ranks find each other over TCP before anything else. NCCL_SOCKET_IFNAME selects the interfaces by prefix; where it matches none, NCCL stops (or, in some releases, goes on with an address that is none and \
           fails with an odd address family).",
    confirm: &["`ip -brief address` in the same container against NCCL_SOCKET_IFNAME"],
    refute: &[],
    rules: &[],
    sources: &[ENV_RST],
    remedy: || {
        environment(
            "Set NCCL_SOCKET_IFNAME to an interface that the container has, or unset it",
            &[],
            &["NCCL_SOCKET_IFNAME"],
        )
    },
    check: |c| {
        let found = c.failures(|t| matches!(t, Trouble::NoInterface));
        let (_, g) = found.first()?;
        let filter = c.env("NCCL_SOCKET_IFNAME").or_else(|| c.env("NCCL_OOB_NET_IFNAME"));
        let words = match filter {
            Some((value, _)) => format!("no interface matches the filter {value}"),
            None => "no usable interface for the bootstrap".to_owned(),
        };
        let set = filter.into_iter().flat_map(|(_, g)| c.quotes(g).into_iter().take(1));
        // No socket of the family: an address of no family, where no interface was found, or IPv6 that the host has not.
        let no_socket = g.quotes.iter().all(|q| q.text.contains("Address family not supported")) && filter.is_none();
        // An address of no family: another release's handle looks the same.
        let odd = g.quotes.iter().all(|q| q.text.contains("is neither AF_INET")) && filter.is_none();
        let (sure, why) = if odd {
            (Possible, "the address is of no family; ranks of different releases look the same")
        } else if no_socket {
            (
                Likely,
                "no socket can be made for the address: NCCL found no interface, as a rule, or an IPv6 address on a host without IPv6",
            )
        } else {
            (Certain, "the log says so")
        };
        Some(Found::new(sure, words, why).with(c.quotes(g)).with(set).scope(c.scope(g.processes.iter().copied())))
    },
    follows: &[],
};

/// An address that this host does not have, or that is in no subnet of its own: NCCL_COMM_ID or the root's address names another network.
fn foreign_address(c: &Case<'_>) -> Option<Found> {
    let not_local = c.failures(|t| matches!(t, Trouble::Socket(SocketTrouble::NotLocal)));
    let subnet = c.failures(|t| matches!(t, Trouble::Socket(SocketTrouble::OtherSubnet)));
    let lines =
        |of: &[(Trouble, &Group)]| of.iter().flat_map(|(_, g)| c.quotes(g).into_iter().take(1)).collect::<Vec<_>>();
    if let Some((_, g)) = not_local.first() {
        let words = "a rank is to use an address that none of its host's interfaces has";
        let why = "the kernel refuses the address (EADDRNOTAVAIL): NCCL_COMM_ID, or the interface that was chosen, belongs to another network than this container or host";
        return Some(
            Found::new(Likely, words, why)
                .with(c.quotes(g))
                .with(lines(&subnet))
                .scope(c.scope(g.processes.iter().copied())),
        );
    }
    let (_, g) = subnet.first().filter(|_| !c.ran())?;
    let failed = c.failures(|t| {
        matches!(t, Trouble::Socket(SocketTrouble::TimedOut | SocketTrouble::Unreachable | SocketTrouble::Refused))
    });
    let (sure, why) = if failed.is_empty() {
        (Possible, "NCCL warns of it; where the routing table knows a way, it is harmless")
    } else {
        (Likely, "no interface is in the subnet of the other rank's address, and connections fail")
    };
    let words = "a rank's address is in no subnet that this host has";
    Some(
        Found::new(sure, words, why).with(c.quotes(g)).with(lines(&failed)).scope(c.scope(g.processes.iter().copied())),
    )
}

/// The bootstrap's address is the loopback's, and the job has several hosts; no failure is shown.
fn loopback(c: &Case<'_>) -> Option<Found> {
    if c.ran() || c.job.hosts(c.o).len() < 2 {
        return None;
    }
    let bootstrap = c.processes().filter_map(|(_, p)| p.bootstrap).find_map(|(list, place)| {
        let text = c.name(list).trim_start_matches("[0]");
        text.strip_prefix("lo:").filter(|address| address.starts_with("127.")).map(|_| place)
    });
    // Of an interface NCCL takes the first address, which on lo is this one.
    let data = || {
        c.processes()
            .filter_map(|(_, p)| p.nics)
            .find_map(|(net, list, place)| (Case::is_socket(c.name(net)) && c.name(list) == "lo").then_some(place))
    };
    let place = bootstrap.or_else(data)?;
    let words = "NCCL takes the loopback address, which other hosts do not reach";
    let why =
        "the job's lines are of several hosts; where these are containers of one host that share its network, it works";
    Some(Found::new(Possible, words, why).with([c.at(place, "Using lo")]))
}

/// Data over interfaces of containers, where no failure is shown.
fn bridges(c: &Case<'_>) -> Option<Found> {
    if c.ran() || c.multi_node() == Some(false) || !c.rdma_processes().is_empty() || !without_device(c).is_empty() {
        return None;
    }
    let (names, place) = c.processes().filter_map(|(_, p)| p.nics).find_map(|(net, list, place)| {
        let names = c.name(list).split(' ').filter(|n| BRIDGES.iter().any(|b| n.starts_with(b)));
        let names: Vec<String> = names.filter(|_| Case::is_socket(c.name(net))).map(str::to_owned).collect();
        (!names.is_empty()).then_some((names, place))
    })?;
    let words = format!("sockets use {}, which are local to a host", crate::ranges::some(&names, 3));
    let line = c.at(place, format!("NET/Socket : Using {}", names.join(" ")));
    let why = "NCCL spreads connections over all interfaces in this list; no failed connection is shown";
    Some(Found::new(Possible, words, why).with([line]))
}

/// Interfaces that containers make.
const BRIDGES: &[&str] = &["veth", "br-", "virbr", "cni", "flannel", "vxlan", "cali"];

/// The first two numbers of an address, after the name of an interface or without.
fn prefix(text: &str) -> String {
    let word = text.split([' ', '<']).next().unwrap_or_default();
    let address = word.rsplit_once(':').map_or(word, |(_, address)| address);
    address.split('.').take(2).collect::<Vec<_>>().join(".")
}

/// Interfaces over which no other host is reached, as a rule.
const LOCAL: &[&str] = &["docker", "virbr", "veth", "cni", "br-", "lo", "flannel", "vxlan", "tailscale", "usb"];

static WRONG_INTERFACE: Known = Known {
    id: "net/wrong-interface",
    title: "Ranks bootstrap over an interface on which they cannot reach each other",
    severity: Severity::Critical,
    docs: "Without NCCL_SOCKET_IFNAME NCCL takes the first interface that is not lo or docker, with ib* before others. A bridge of containers or VMs, or addresses of several subnets, make ranks offer addresses \
           that the others cannot reach.",
    confirm: &[
        "`ip -brief address` on both hosts; `nc -zv ADDRESS PORT` from the other one",
        "set NCCL_SOCKET_IFNAME to the interface of the cluster's network",
    ],
    refute: &["the addresses can be reached from the other hosts"],
    rules: &[],
    sources: &[ENV_RST],
    remedy: || environment("Set NCCL_SOCKET_IFNAME to the interface that reaches all nodes", &[], &[]),
    check: |c| {
        if let Some(found) = foreign_address(c) {
            return Some(found);
        }
        let failed = c.failures(|t| {
            matches!(t, Trouble::Socket(SocketTrouble::TimedOut | SocketTrouble::Unreachable | SocketTrouble::Refused))
        });
        let Some((_, g)) = failed.first() else { return loopback(c).or_else(|| bridges(c)) };
        let mut subnets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let (mut interfaces, mut files) = (BTreeSet::new(), BTreeSet::new());
        let mut local = None;
        for (_, p) in c.processes() {
            let Some((list, place)) = p.bootstrap else { continue };
            let text = c.name(list).trim_start_matches("[0]");
            let (interface, _) = text.split_once(':').unwrap_or((text, ""));
            subnets.entry(prefix(text)).or_default().insert(c.name(p.host).to_owned());
            interfaces.insert(interface);
            files.insert(p.first.file.0);
            if LOCAL.iter().any(|l| interface.starts_with(l)) {
                local = Some((interface.to_owned(), place));
            }
        }
        // Data goes over all interfaces that are listed, the bridges of containers too.
        let listed = c.processes().filter_map(|(_, p)| p.nics).find_map(|(net, list, place)| {
            let names = c.name(list).split(' ').filter(|_| Case::is_socket(c.name(net)));
            let name = names.into_iter().find(|n| LOCAL.iter().any(|l| n.starts_with(l)))?;
            Some((name.to_owned(), place))
        });
        let local = local.or(listed);
        if let Some((interface, place)) = local {
            let words = format!("{interface} is used, which other hosts do not reach");
            let line = c.at(place, format!("Using {interface}"));
            return Some(
                Found::new(Likely, words, "such interfaces are local to a host, and connections fail")
                    .with([line])
                    .with(c.quotes(g)),
            );
        }
        if subnets.len() > 1 && c.job.hosts(c.o).len() > 1 {
            // Without a communicator in common they may be different jobs: then the address that failed has to be of another network.
            let all = c.failures(|t| matches!(t, Trouble::Socket(_)));
            let apart = all.iter().any(|(_, g)| {
                let own = g.first_process.and_then(|p| c.o.process(p)?.bootstrap).map(|(list, _)| prefix(c.name(list)));
                let words = ["onnect to ", "remote peer ", "recv from "];
                let peer = g
                    .quotes
                    .first()
                    .and_then(|q| words.iter().find_map(|w| q.text.split_once(w)))
                    .map(|(_, r)| prefix(r));
                own.zip(peer).is_some_and(|(own, peer)| own != peer && own.contains('.') && peer.contains('.'))
            });
            let of = |r: &usize| {
                c.o.process(c.o.ranks.all.get(*r)?.process)?.bootstrap.map(|(list, _)| prefix(c.name(list)))
            };
            // Who refuses was reached.
            let refused = failed.iter().all(|(t, _)| matches!(t, Trouble::Socket(SocketTrouble::Refused)));
            if refused {
                return None;
            }
            let members: BTreeSet<String> =
                c.job.world().map(|w| w.members.values().filter_map(of).collect()).unwrap_or_default();
            // Before 2.10 the peer is not printed: then interfaces of other names, in the log of one launcher, are as much as it shows.
            let shown = files.len() == 1 && interfaces.len() > 1;
            let sure = if apart || members.len() > 1 || shown { Likely } else { Possible };
            let words = format!(
                "hosts bootstrap over different networks: {}.x",
                subnets.keys().cloned().collect::<Vec<_>>().join(".x, ")
            );
            return Some(
                Found::new(sure, words, "the first two numbers of their addresses differ, and connections fail")
                    .with(c.quotes(g)),
            );
        }
        None
    },
    follows: &[],
};
