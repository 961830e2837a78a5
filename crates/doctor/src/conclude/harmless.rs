//! What people suspect and is not the cause, and what follows from one.

use crate::answer::{Answer, Evidence, Note};
use crate::case::Case;
use crate::causes::gdr::{read_off_by_design, seen as gdr};
use crate::causes::{kernel, net};
use crate::observe::groups::Group;
use crate::observe::keys::PluginEvent;
use crate::observe::trouble::{KernelTrouble, ToolTrouble, Trouble};
use linerate_formats::nccl_log::status::Status;
use std::collections::BTreeSet;

/// Warnings that alarm and mean nothing.
pub(crate) fn is_harmless(g: &Group) -> bool {
    const HARMLESS: &[&str] = &[
        "lib wrapper not initialized",
        "ibv_query_port_speed",
        "Address already in use",
        "dlvsym failed on mlx5dv",
        "[Rem Allocator]",
        "NET/OFI Could not find",
        "Supplying default values for NIC properties",
        // RCCL's advice, and features of it that are off (`src/init.cc: checkHsaEnvSetting`, `src/clique`, `src/mscclpp`).
        "from kernel command line which can lead to",
        "from environment which can lead to low RCCL performance",
        "Disabling clique-based kernels",
        "MSCCL++: ",
        // Limits and features that NCCL goes on without.
        ", ignoring",
        "Limiting value to",
        "cap it to",
        "set both to",
        "set it to 0",
        "defaulting to",
        "using default",
        "Skipping nvlink detection",
        "falling back to",
        "Ignoring SHM locality",
        "trying to use CUDA instead",
        "Max rings reached, limiting",
        "is being ignored because it is not a power of 2",
        "CollNet currently only supports up to",
        "Cannot initialize CollNet, using",
        "ignoring NCCL_ALGO=COLLNET",
        "GDR Flush only supported on",
        "not dumping topology",
        "Could not find a path for pattern",
        "Unable to create thread context due to old driver, disabling",
        "port active",
        "client reregistration",
        "SM change",
        "GID table change",
        "User asked for a",
        "is greater than the maximum allowed",
        "NUMA auto balancing enabled",
        "retrying",
    ];
    g.quotes.iter().all(|q| HARMLESS.iter().any(|h| q.text.contains(h)))
}

/// Flush errors beside a cause: reported as what they are.
pub(super) fn flushed(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    let found = case.failures(|t| matches!(t, Trouble::Completion(Status::Flushed)));
    if let (Some((_, g)), true) =
        (found.first(), ids.iter().any(|id| id.starts_with("ib/") || id.starts_with("kernel/")))
    {
        answer.consequences.push(Note {
            what: format!("{} flushed (status 5){suffix}", linerate_formats::counted(g.count, "request", "requests")),
            why: "all requests of a connection are flushed after its first error".to_owned(),
            evidence: case.quotes(g),
        });
    }
}

/// What people suspect, and what is not the cause.
pub(super) fn not_causes(case: &Case<'_>, answer: &mut Answer) {
    let mut note = |what: &str, why: &str, evidence: Vec<Evidence>| {
        if !answer.not_causes.iter().any(|n| n.what == what) {
            answer.not_causes.push(Note { what: what.to_owned(), why: why.to_owned(), evidence });
        }
    };
    let o = case.o;
    let missing = case.of(&o.plugins).find(|(event, _)| *event == PluginEvent::Missing);
    // Only where another network than sockets works without one; on EFA it is the cause.
    if let Some((_, g)) = missing.filter(|_| !net::plugin::may_need(case)) {
        let why = "NCCL looks for an external plugin and goes on with its own transports where there is none; missing symbols of other plugin versions are tried one after the other";
        note(
            "no external network plugin, or one without a symbol of some version",
            why,
            case.quotes(g).into_iter().take(2).collect(),
        );
    }
    if let Some((_, p)) = case.processes().find(|(_, p)| p.dmabuf.is_some() && p.gdr_nics.able > 0)
        && let Some(place) = p.dmabuf
    {
        let why = "DMA-BUF is available and the NICs can use GPU memory: nvidia-peermem is not needed";
        note("nvidia-peermem that is not loaded", why, vec![case.at(place, "DMA-BUF is available on GPU device")]);
    }
    if read_off_by_design::by_design(case) {
        let why = "GPUs before Ampere without NVLink are not read directly by default (NCCL_NET_GDR_READ); receiving is direct, and that is what counts";
        note("sending without /GDRDMA", why, gdr::lacking(case).into_iter().take(2).collect());
    }
    if case.multi_node() == Some(false) && !case.socket_processes().is_empty() {
        let lines = case
            .of(&o.networks)
            .map(|(_, g)| g)
            .next()
            .map(|g| case.first_quote(g).into_iter().collect())
            .unwrap_or_default();
        note("the network Socket", "all ranks are on one node: data does not go through it", lines);
    }
    for Note { what, why, evidence } in kernel::elsewhere(case).into_iter().chain(kernel::xid::harmless(case)) {
        note(&what, &why, evidence);
    }
    let port_active =
        case.failures(|t| matches!(t, Trouble::Async { event, .. } if o.name(*event).contains("port active")));
    if let Some((_, g)) = port_active.first() {
        note("an asynchronous event `port active`", "a port came up", case.quotes(g));
    }
    let gid_change =
        case.failures(|t| matches!(t, Trouble::Async { event, .. } if o.name(*event).contains("GID table change")));
    if let Some((_, g)) = gid_change.first() {
        let why = "an address of the NIC's interface came, went or changed; it matters only to connections that use that entry of the table";
        note("an asynchronous event `GID table change`", why, case.first_quote(g).into_iter().collect());
    }
    if let Some(g) = case.kernel_line(|k| matches!(k, KernelTrouble::NicLate(_))) {
        let why = "the NIC answered: its interrupt was lost or late, and the driver found the answer when it looked. Where it happens again and again, interrupts do not reach that processor";
        note("a command of a NIC's driver that was answered late", why, case.first_quote(g).into_iter().collect());
    }
    if let Some((_, g)) = case.tools(|t| matches!(t, ToolTrouble::OpenibUnused)).first() {
        let why = "openib is Open MPI's old transport, and off by default since 4.0: UCX uses the NIC. `--mca btl ^openib` silences it; where Open MPI was built without UCX, RDMA is not used (`ompi_info | grep ucx`)";
        note("Open MPI's message about its transport openib", why, case.first_quote(g).into_iter().collect());
    }
    if let Some((_, g)) = case.tools(|t| matches!(t, ToolTrouble::DefaultSubnet)).first() {
        let why = "it matters only where the ports are of InfiniBand fabrics that are not connected: each of those needs a subnet prefix of its own, which the subnet manager sets";
        note("Open MPI's message about the default subnet prefix", why, case.first_quote(g).into_iter().collect());
    }
    for (what, why, word) in [
        (
            "`lib wrapper not initialized`",
            "a plugin asked for a library that NCCL had not opened yet; it goes on",
            "lib wrapper not initialized",
        ),
        (
            "a warning of the `[Rem Allocator]`",
            "a stranger (a port scanner, a health check) connected to NCCL's port",
            "[Rem Allocator]",
        ),
    ] {
        let seen = case.failures(|_| true).into_iter().find(|(_, g)| g.quotes.iter().any(|q| q.text.contains(word)));
        if let Some((_, g)) = seen {
            note(what, why, case.first_quote(g).into_iter().collect());
        }
    }
    for n in case.nodes {
        if n.passes("acs/redirect-on-p2p-path") {
            note(
                "ACS",
                "on the node that was given, no port on a GPU-NIC path redirects",
                vec![Evidence { at: n.name.to_owned(), text: "acs/redirect-on-p2p-path passes".to_owned() }],
            );
        }
        if n.passes("iommu/translated-domain") {
            note(
                "the IOMMU",
                "on the node that was given, GPUs and NICs are in identity domains or there is no IOMMU",
                vec![Evidence { at: n.name.to_owned(), text: "iommu/translated-domain passes".to_owned() }],
            );
        }
    }
}
