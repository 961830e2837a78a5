//! Why the NIC does not read and write GPU memory itself.

use super::{ENV_RST, Found, Known, environment, investigate, nccl};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::observe::Pair;
use crate::observe::groups::Group;
use crate::observe::trouble::ToolTrouble;
use linerate_formats::nccl_log::{Direction, distance};
use linerate_rules::{Severity, Source};
use linerate_topology::gdr::GdrReason;
use std::collections::BTreeSet;

pub(super) static ALL: &[&Known] =
    &[&DMABUF_OFF, &NO_PEER_MEMORY, &LEVEL_LOW, &READ_OFF, &BY_DESIGN, &BEHIND_CPU, &TOO_FAR, &LEVEL_FAR];

const PATHS_CC: Source = nccl(
    "NCCL, src/graph/paths.cc: ncclTopoCheckGdr",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/paths.cc",
);
const GDR_CC: Source = nccl(
    "NCCL, src/transport/net_ib: ncclIbGdrSupport, ncclIbDmaBufSupport",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/net_ib/gdr.cc",
);

/// What the connections over RDMA show, by direction.
pub(crate) struct Seen {
    /// Receiving without it, by process.
    pub(crate) receive: BTreeSet<usize>,
    /// Sending without it.
    pub(crate) send: BTreeSet<usize>,
    /// With it, either way.
    pub(crate) with: BTreeSet<usize>,
    /// Any connection at all.
    pub(crate) any: bool,
}

pub(crate) fn seen(c: &Case<'_>) -> Seen {
    let mut s = Seen { receive: BTreeSet::new(), send: BTreeSet::new(), with: BTreeSet::new(), any: false };
    for (r, cell) in c.rdma_cells() {
        s.any = true;
        match (cell.gdr, cell.direction) {
            (true, _) => s.with.insert(r.process),
            (false, Some(Direction::Send)) => s.send.insert(r.process),
            (false, _) => s.receive.insert(r.process),
        };
    }
    s
}

/// Whether connections are direct, and none that receives lacks it.
pub(crate) fn works(c: &Case<'_>) -> bool {
    let s = seen(c);
    !s.with.is_empty() && s.receive.is_empty()
}

/// Processes whose GPUDirect is missing altogether: not merely for sending, which may be by design.
pub(crate) fn missing(c: &Case<'_>) -> BTreeSet<usize> {
    let s = seen(c);
    // Where nothing of receiving is seen, and no pair is said to be direct, sending has to tell.
    let pairs = c.of(&c.o.pairs).any(|(p, _)| p.enabled);
    if s.receive.is_empty() && s.with.is_empty() && !pairs { s.send } else { s.receive }
}

/// The connections that lack it.
pub(crate) fn lacking(c: &Case<'_>) -> Vec<crate::answer::Evidence> {
    let mut cells: Vec<_> = c.rdma_cells().filter(|(_, cell)| !cell.gdr).collect();
    cells.sort_by_key(|(_, cell)| cell.direction != Some(Direction::Receive));
    c.cells(cells.into_iter())
}

/// NICs of which NCCL says that they cannot use GPU memory.
fn incapable<'a>(c: &Case<'a>) -> Vec<&'a Group> {
    c.of(&c.o.gdr_nics).filter(|((enabled, _), _)| !enabled).map(|(_, g)| g).collect()
}

fn incapable_processes(c: &Case<'_>) -> BTreeSet<usize> {
    c.processes().filter(|(_, p)| p.gdr_nics.1 > 0 && p.gdr_nics.0 == 0).map(|(i, _)| i).collect()
}

static DMABUF_OFF: Known = Known {
    id: "gdr/dmabuf-disabled-by-env",
    title: "NCCL_DMABUF_ENABLE=0 takes the only way to register GPU memory",
    severity: Severity::High,
    docs: "NICs register GPU memory through nvidia-peermem or through DMA-BUF. Where nvidia-peermem is not loaded, switching DMA-BUF off leaves none.",
    confirm: &[
        "unset NCCL_DMABUF_ENABLE: the log then says `DMA-BUF is available on GPU device 0` and `GPU Direct RDMA Enabled for HCA`",
    ],
    refute: &["`ls /sys/module/nvidia_peermem/version` exists: then peermem should have served"],
    rules: &["gpumem/registration-path"],
    sources: &[ENV_RST, GDR_CC],
    remedy: || environment("Unset NCCL_DMABUF_ENABLE", &[], &["NCCL_DMABUF_ENABLE"]),
    check: |c| {
        let (_, g) = c.env_number("NCCL_DMABUF_ENABLE").filter(|(v, _)| *v == 0)?;
        let groups = incapable(c);
        let without = missing(c);
        if groups.is_empty() && without.is_empty() || c.since(13) == Some(false) {
            return None;
        }
        let (sure, why) = if groups.is_empty() {
            (Likely, "the variable is set and connections lack /GDRDMA")
        } else {
            (Certain, "the variable is set, and no other way was found: NCCL says that its NICs cannot")
        };
        let lines = groups.iter().take(1).flat_map(|g| c.quotes(g).into_iter().take(1));
        let words = "DMA-BUF is switched off, and nvidia-peermem is not there";
        Some(
            Found::new(sure, words, why)
                .with(c.quotes(g))
                .with(lines)
                .with(lacking(c))
                .scope(c.scope(incapable_processes(c))),
        )
    },
    follows: &[],
};

static NO_PEER_MEMORY: Known = Known {
    id: "gdr/no-peer-memory",
    title: "Neither nvidia-peermem nor DMA-BUF lets the NIC use GPU memory",
    severity: Severity::High,
    docs: "NCCL asks for each NIC whether GPU memory can be registered: by the file of a peer-memory module (nv_peer_mem, nvidia-peermem), or by DMA-BUF (NCCL 2.13, open GPU driver, kernel 5.12 or later, CUDA driver 11.7, \
           a NIC driver that can). Where neither is there, all data is copied through host memory. What the log cannot tell is which of the conditions is missing: the node can.",
    confirm: &[
        "on the node: `ls /sys/module/nvidia_peermem/version /sys/kernel/mm/memory_peers/*/version`",
        "`linerate audit` on the node: gpumem/registration-path, gpumem/open-module, gpumem/peermem-symbols",
        "in a container: is the host's /sys visible?",
    ],
    refute: &["`GPU Direct RDMA Enabled for HCA` for the same NIC, or connections with /GDRDMA"],
    rules: NO_PEER_MEMORY_RULES,
    sources: &[GDR_CC, super::TROUBLESHOOTING],
    remedy: || {
        investigate(
            "gpumem/registration-path on the node says which way is open: DMA-BUF (open GPU driver, Turing or later, kernel 5.12, a NIC driver that takes it), or nvidia-peermem at each boot, \
             which needs MLNX_OFED or DOCA-OFED. Volta or Pascal with ConnectX-3, GeForce and DGX Spark have neither",
        )
    },
    check: |c| {
        if c.env_number("NCCL_DMABUF_ENABLE").is_some_and(|(v, _)| v == 0) && c.since(13) != Some(false) {
            return None;
        }
        let groups = incapable(c);
        let lacking_here = |r: &GdrReason| matches!(r, GdrReason::NicLacksGdr { .. });
        let joined: Vec<(&str, String)> =
            c.nodes.iter().flat_map(|n| n.not_direct(lacking_here).into_iter().map(|w| (n.name, w))).collect();
        let lacks = missing(c);
        if let (true, Some((node, words)), false) = (groups.is_empty(), joined.first(), lacks.is_empty()) {
            let why = "the node's own state says so, and the connections agree";
            let line = crate::answer::Evidence { at: (*node).to_owned(), text: words.clone() };
            let found = Found::new(Certain, "the node has neither nvidia-peermem nor DMA-BUF for its NICs", why);
            return Some(found.with([line]).with(lacking(c)).scope(c.scope(lacks)).join(c, NO_PEER_MEMORY_RULES));
        }
        if let (true, Some((_, g))) = (groups.is_empty(), c.tools(|t| matches!(t, ToolTrouble::NoPeerMemory)).first()) {
            if works(c) {
                return None;
            }
            let why = "a program that uses NICs with GPU memory looked for both, and says so";
            return Some(
                Found::new(Likely, "neither DMA-BUF nor a peer-memory module serves here", why)
                    .with(c.quotes(g))
                    .join(c, NO_PEER_MEMORY_RULES),
            );
        }
        let first = groups.first()?;
        let hit = incapable_processes(c);
        let s = seen(c);
        // Where connections show it nevertheless (an external plugin), the line is about something else.
        if hit.is_empty()
            || c.multi_node() == Some(false)
            || s.any && hit.is_subset(&s.with)
            || c.rdma_processes().is_disjoint(&hit)
                && !(c.rdma_processes().is_empty() && c.socket_processes().is_empty())
        {
            return None;
        }
        let alone = hit.len() < c.rdma_processes().len();
        let words = if alone {
            "NICs cannot use GPU memory here, though they can elsewhere in the job"
        } else {
            "NICs cannot use GPU memory: no peer-memory module and no DMA-BUF"
        };
        // Without the line that names the network it may be another one that is used.
        let sure = if c.rdma_processes().is_empty() { Likely } else { Certain };
        let found =
            Found::new(sure, words, "NCCL says so for each NIC; which condition is missing is for the node to tell");
        Some(
            found
                .with(c.quotes(first).into_iter().take(2))
                .with(lacking(c))
                .scope(c.scope(hit))
                .join(c, NO_PEER_MEMORY_RULES),
        )
    },
    follows: &[],
};
const NO_PEER_MEMORY_RULES: &[&str] = &[
    "gpumem/registration-path",
    "gpumem/open-module",
    "gpumem/peermem-symbols",
    "gpumem/peermem-visible-to-nccl",
    "gpumem/peermem-inbox",
];

/// Levels below what NCCL takes by default, by name and by the old numbers (`levelsOldToNew`).
fn is_low(level: &str) -> bool {
    matches!(level.trim().to_ascii_uppercase().as_str(), "LOC" | "NVL" | "NVB" | "C2C" | "PIX" | "0" | "1")
}

static LEVEL_LOW: Known = Known {
    id: "gdr/level-too-low-by-env",
    title: "NCCL_NET_GDR_LEVEL is below what the machine needs",
    severity: Severity::High,
    docs: "NCCL_NET_GDR_LEVEL is the greatest distance between GPU and NIC at which they talk directly. LOC (0) switches GPUDirect RDMA off, PIX (1) allows it below one PCIe switch only. The default is PXB. \
           Numbers are of an old scale: 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 SYS.",
    confirm: &["unset NCCL_NET_GDR_LEVEL", "`linerate topo --explain GPU0 mlx5_0` on the node shows the distance"],
    refute: &["connections lack /GDRDMA without the variable, too"],
    rules: &["numa/no-shared-switch"],
    sources: &[ENV_RST, PATHS_CC],
    remedy: || environment("Unset NCCL_NET_GDR_LEVEL", &[], &["NCCL_NET_GDR_LEVEL"]),
    check: |c| {
        let set = c.env("NCCL_NET_GDR_LEVEL").filter(|(v, _)| is_low(v));
        let Some((value, g)) = set else {
            // The limit that NCCL prints is below its default: somebody set it, though the line that says so is not here.
            let (limit, g) = low_limit(c).filter(|_| c.env("NCCL_NET_GDR_LEVEL").is_none())?;
            let words = format!("the limit for GPUDirect RDMA is {limit}: NCCL_NET_GDR_LEVEL is set below the default");
            let why = "NCCL prints the limit with its decision, and it is below PXB";
            return Some(Found::new(Likely, words, why).with(c.quotes(g).into_iter().take(2)).with(lacking(c)));
        };
        let s = seen(c);
        let hit = missing(c);
        if s.any && hit.is_empty()
            || !incapable(c).is_empty() && incapable_processes(c).is_superset(&hit) && !hit.is_empty()
        {
            return None;
        }
        let disabled = c.of(&c.o.pairs).find(|(p, _)| p.is_too_far());
        let sure = if s.any {
            Certain
        } else if disabled.is_some() {
            Likely
        } else {
            Possible
        };
        let lines = disabled.iter().flat_map(|(_, g)| c.quotes(g).into_iter().take(1)).collect::<Vec<_>>();
        let words = format!("NCCL_NET_GDR_LEVEL={value} keeps GPUs and NICs from talking directly");
        Some(
            Found::new(sure, words, "the limit is set below the default, and connections lack /GDRDMA")
                .with(c.quotes(g))
                .with(lines)
                .with(lacking(c))
                .scope(c.scope(hit)),
        )
    },
    follows: &[],
};

static READ_OFF: Known = Known {
    id: "gdr/read-disabled-by-env",
    title: "NCCL_NET_GDR_READ=0: sends are copied through host memory",
    severity: Severity::Medium,
    docs: "For sending, the NIC reads GPU memory. NCCL_NET_GDR_READ=0 forbids that; receiving stays direct. Without the variable NCCL reads directly on Ampere and later, and where GPUs have NVLink.",
    confirm: &["unset NCCL_NET_GDR_READ: `[send] … /GDRDMA` appears"],
    refute: &["receiving lacks /GDRDMA as well: then the reason is another one"],
    rules: &[],
    sources: &[ENV_RST, PATHS_CC],
    remedy: || environment("Unset NCCL_NET_GDR_READ", &[], &["NCCL_NET_GDR_READ"]),
    check: |c| {
        let (_, g) = c.env_number("NCCL_NET_GDR_READ").filter(|(v, _)| *v == 0)?;
        let s = seen(c);
        if !s.receive.is_empty() || s.any && s.send.is_empty() {
            return None;
        }
        let sure = if s.send.is_empty() { Likely } else { Certain };
        let words = "NCCL_NET_GDR_READ=0: what is sent is copied through host memory";
        Some(
            Found::new(sure, words, "the variable is set, receiving is direct and sending is not")
                .with(c.quotes(g))
                .with(lacking(c)),
        )
    },
    follows: &[],
};

static BY_DESIGN: Known = Known {
    id: "gdr/read-off-by-design",
    title: "GPUs before Ampere without NVLink are not read directly: no cause",
    severity: Severity::Info,
    docs: "Receiving is direct (`[receive] … /GDRDMA`) and sending is not: on PCIe GPUs before Ampere NCCL decides so by itself, as reads of the NIC would disturb other PCIe traffic. It is not what makes a job slow.",
    confirm: &["the pair's line ends in `read 0`, and the GPU is older than Ampere"],
    refute: &["receiving lacks /GDRDMA, too"],
    rules: &[],
    sources: &[PATHS_CC],
    remedy: || environment("Nothing: it is the default", &[], &[]),
    // Told among what is not the cause.
    check: |_| None,
    follows: &[],
};

/// Whether the job runs on Grace: device names in a benchmark's header, or the nodes that were given.
pub(crate) fn is_grace(c: &Case<'_>) -> bool {
    let named = |n: &str| ["GH200", "GB200", "GB300", "GB10"].iter().any(|g| n.contains(g));
    c.o.nccl_tests.iter().flat_map(|(_, r)| &r.ranks).any(|r| named(&r.name))
        || c.of(&c.o.pairs).any(|(_, g)| g.quotes.iter().any(|q| q.text.contains("C2C")))
}

static BEHIND_CPU: Known = Known {
    id: "gdr/default-off-behind-cpu",
    title: "On Grace machines NCCL before 2.27 does not talk directly by default",
    severity: Severity::Medium,
    docs: "There GPU and NIC meet in the CPU (GPU, C2C, CPU, PCIe, NIC), which NCCL counts as PHB or further. NCCL to 2.25 then copies through host memory by design; 2.26 has NCCL_NET_GDR_C2C (off), 2.27 has it on.",
    confirm: &["NCCL 2.27 or later, or NCCL_NET_GDR_LEVEL=SYS (NCCL_NET_GDR_C2C=1 in 2.26), and the same benchmark"],
    refute: &["the machine is no Grace"],
    rules: &["iommu/arm-peer-to-peer"],
    sources: &[PATHS_CC, Source { title: "NCCL issue 1579", at: "https://github.com/NVIDIA/nccl/issues/1579" }],
    remedy: || {
        environment(
            "Use NCCL 2.27 or later; until then NCCL_NET_GDR_LEVEL=SYS, measured",
            &["NCCL_NET_GDR_LEVEL=SYS"],
            &[],
        )
    },
    check: |c| {
        let hit = missing(c);
        if hit.is_empty()
            || !is_grace(c)
            || c.since(27) == Some(true)
            || c.env("NCCL_NET_GDR_LEVEL").is_some()
            || !incapable(c).is_empty()
        {
            return None;
        }
        let sure = if c.since(27) == Some(false) { Certain } else { Likely };
        let words = "GPU and NIC meet in the Grace CPU, and this release does not talk directly over it by default";
        Some(
            Found::new(sure, words, "the machine is a Grace, the release is before 2.27, and connections lack /GDRDMA")
                .with(lacking(c)),
        )
    },
    follows: &[],
};

/// `GPU 7000 and NIC 0: PHB, allowed PXB`, in the release's own scale.
fn distance_words(c: &Case<'_>, p: &Pair, g: &Group) -> Option<(String, String)> {
    let (minor, patch) = c.release_of(g.first_process)?;
    let far = distance::name(minor, patch, p.distance)?;
    let limit = distance::name(minor, patch, p.allowed())?;
    Some((far.to_owned(), limit.to_owned()))
}

/// A pair that is refused at a limit below the default.
fn low_limit<'a>(c: &Case<'a>) -> Option<(String, &'a Group)> {
    c.of(&c.o.pairs).filter(|(p, _)| p.is_too_far()).find_map(|(p, g)| {
        // The lowest of any scale is LOC.
        let limit = distance_words(c, &p, g)
            .map(|(_, limit)| limit)
            .or_else(|| (p.allowed() <= 0).then(|| "LOC".to_owned()))?;
        is_low(&limit).then_some((limit, g))
    })
}

static TOO_FAR: Known = Known {
    id: "gdr/too-far",
    title: "GPU and NIC are further apart than NCCL allows for GPUDirect RDMA",
    severity: Severity::High,
    docs: "By default NCCL lets GPU and NIC talk directly across PCIe switches (PXB), not through a CPU's root complex (PHB) nor across sockets (SYS). On machines without switches, each device behind its own root port, that means never. \
           The numbers in `distance 6 > 4` mean different distances in different releases. Neither the IOMMU nor ACS is asked.",
    confirm: &[
        "`linerate topo --explain GPU0 mlx5_0` on the node",
        "`nvidia-smi topo -m`: PHB, NODE or SYS between the GPU and the NIC that it uses",
        "NCCL_NET_GDR_LEVEL=PHB and a benchmark: it gains on most recent EPYC machines, and may lose on old root complexes",
    ],
    refute: &["`GPU Direct RDMA Disabled for HCA`: then the NIC cannot at all"],
    rules: &["numa/no-shared-switch", "numa/cross-socket-nic", "topo/virtual-hides-affinity", "topo/flat-guest"],
    sources: &[PATHS_CC, ENV_RST],
    remedy: || {
        environment(
            "On hardware where all pairs are PHB apart in one NUMA node: NCCL_NET_GDR_LEVEL=PHB, and measure; in a virtual machine the host's virtual switches or a topology file",
            &["NCCL_NET_GDR_LEVEL=PHB"],
            &[],
        )
    },
    check: |c| {
        if c.env("NCCL_NET_GDR_LEVEL").is_some_and(|(v, _)| is_low(v))
            || low_limit(c).is_some()
            || is_grace(c) && c.since(27) != Some(true)
        {
            return None;
        }
        let s = seen(c);
        let mut hit = missing(c);
        let unable = incapable_processes(c);
        hit.retain(|p| !unable.contains(p));
        let all: Vec<(Pair, &Group)> = c.of(&c.o.pairs).collect();
        let far = all.iter().find(|(p, _)| p.is_too_far());
        let near_too = all.iter().any(|(p, _)| p.enabled);
        let far_here = |r: &GdrReason| matches!(r, GdrReason::TooFar { .. });
        let joined: Vec<String> = c.nodes.iter().flat_map(|n| n.not_direct(far_here)).collect();
        if s.any && hit.is_empty() {
            return None;
        }
        if let Some((p, g)) = far {
            // Far pairs are normal where near ones exist: then only connections tell.
            if !s.any && (near_too || !unable.is_empty()) {
                return None;
            }
            let what = distance_words(c, p, g).map_or_else(
                || {
                    format!(
                        "{} with a limit of {}, on a scale that depends on the release, which is not shown",
                        p.distance, p.limit
                    )
                },
                |(far, limit)| format!("{far} apart, and {limit} is the limit"),
            );
            let words = format!("GPU and NIC are {what}");
            let found = Found::new(Certain, words, "NCCL prints the decision for the pair")
                .with(c.quotes(g).into_iter().take(2))
                .with(lacking(c))
                .scope(c.scope(hit));
            return Some(node_words(found, c, &joined));
        }
        if let Some(first) = joined.first().filter(|_| s.any) {
            let found = Found::new(
                Certain,
                first.clone(),
                "the node's own topology, by NCCL's rules, says so; the connections agree",
            )
            .with(lacking(c))
            .scope(c.scope(hit));
            return Some(node_words(found, c, &joined));
        }
        // The NIC can, no switch in the environment: what is left is the distance.
        let capable = c.of(&c.o.gdr_nics).any(|((enabled, _), _)| enabled);
        let node_denies =
            c.nodes.iter().any(|n| !n.not_direct(|r| matches!(r, GdrReason::NicLacksGdr { .. })).is_empty());
        // A node that was given and would talk directly: then it is not the distance, or not this node.
        let node_allows = c.nodes.iter().any(|n| n.all_direct() == Some(true));
        if s.any && capable && unable.is_empty() && !node_denies && !node_allows {
            let why = "the NICs can use GPU memory and no variable forbids it: distance is what is left; this release does not print it";
            return Some(
                Found::new(
                    Likely,
                    "connections lack /GDRDMA although the NICs can: GPU and NIC are too far apart",
                    why,
                )
                .with(lacking(c))
                .scope(c.scope(hit)),
            );
        }
        None
    },
    follows: &[],
};

/// Adds what the node's topology says.
fn node_words(mut found: Found, c: &Case<'_>, joined: &[String]) -> Found {
    for n in c.nodes.iter().take(2) {
        let lines =
            joined.iter().take(3).map(|text| crate::answer::Evidence { at: n.name.to_owned(), text: text.clone() });
        found.evidence.extend(lines);
        if let Some(kind) = n.too_far() {
            found.because = format!("{}; the node's topology has them {kind} apart", found.because);
        }
    }
    found
}

static LEVEL_FAR: Known = Known {
    id: "gdr/level-forces-far",
    title: "NCCL_NET_GDR_LEVEL forces GPUDirect RDMA across sockets",
    severity: Severity::Medium,
    docs: "SYS (4, 5 and above) lets GPU and NIC talk across the link between sockets, which on many machines is slower than copying through host memory, and on some does not work. It is often copied from recipes as \"full GPUDirect\".",
    confirm: &[
        "unset NCCL_NET_GDR_LEVEL, or set PHB, and compare the same benchmark",
        "`linerate topo --explain` for the pairs that the level allows",
    ],
    refute: &["all pairs that are used are PXB apart or nearer: then the variable changes nothing"],
    rules: &["numa/cross-socket-nic"],
    sources: &[ENV_RST, PATHS_CC],
    remedy: || environment("Unset NCCL_NET_GDR_LEVEL", &[], &["NCCL_NET_GDR_LEVEL"]),
    check: |c| {
        let (value, g) = c
            .env("NCCL_NET_GDR_LEVEL")
            .filter(|(v, _)| v.trim().eq_ignore_ascii_case("SYS") || v.trim().parse::<i64>().is_ok_and(|n| n >= 4))?;
        let s = seen(c);
        if s.any && s.with.is_empty() || is_grace(c) {
            return None;
        }
        let far =
            c.of(&c.o.pairs).find(|(p, g)| p.enabled && distance_words(c, p, g).is_some_and(|(far, _)| far == "SYS"));
        let lines = far.iter().flat_map(|(_, g)| c.quotes(g).into_iter().take(1)).collect::<Vec<_>>();
        let (sure, why) = match far {
            Some(_) => (Likely, "pairs across sockets are enabled; what that costs is for a benchmark to tell"),
            None => (Possible, "the level allows it; whether such pairs are used is not shown"),
        };
        Some(
            Found::new(sure, format!("NCCL_NET_GDR_LEVEL={value} allows GPUDirect RDMA across sockets"), why)
                .with(c.quotes(g))
                .with(lines),
        )
    },
    follows: &[],
};

/// For the remark that nothing is wrong.
pub(crate) fn by_design(c: &Case<'_>) -> bool {
    let s = seen(c);
    let pairs = c.of(&c.o.pairs).any(|(p, _)| p.enabled);
    !s.send.is_empty() && s.receive.is_empty() && (!s.with.is_empty() || pairs) && c.env("NCCL_NET_GDR_READ").is_none()
}
