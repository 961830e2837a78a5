//! `net/library-missing`.

use super::NET_CC;
use super::plugin::fails;
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::ToolTrouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "net/library-missing",
    title: "A library that the network's software needs cannot be loaded",
    what: "A library that a network plugin or a network program needs cannot be loaded. NCCL ignores the plugin and goes on with sockets; a program does not start.",
    shows: &[
        "`cannot open shared object file`, `undefined symbol: …`, `version … not found` for a library of the \
         network's software",
        "`libibverbs: Warning: no userspace device-specific driver found for …`",
    ],
    why: "The dynamic loader did not find the library, or found another version first, or libibverbs has no library \
          for the vendor of a device. Images that are made smaller for run time lose such libraries.",
    confirm: &["`ldd PLUGIN_OR_PROGRAM | grep 'not found'` in the same container", "`ldconfig -p | grep NAME`"],
    refute: &["`Using network` names the plugin's network"],
    remedy: Advice::Software(
        "Install the package of the library in the image, or put the right version's directory first in the library path",
    ),
    sources: &[nccl("glibc, elf/dl-load.c", "https://sourceware.org/git/?p=glibc.git;a=blob;f=elf/dl-load.c"), NET_CC],
    severity: Severity::High,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
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
