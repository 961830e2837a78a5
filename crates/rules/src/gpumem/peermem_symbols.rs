//! `gpumem/peermem-symbols`.

use super::registration_path::PEERMEM;
use crate::log::{count, no_log, silent_log};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::clip::clip;
use linerate_formats::dmesg::Event;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/peermem-symbols",
    title: "The peer-memory module fits the RDMA stack and reports no error",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("with symbols that do not match the module does not load: GPUDirect RDMA only by DMA-BUF"),
    sources: &[
        PEERMEM,
        Source {
            title: "nv_peer_memory: README, built against MLNX_OFED and the NVIDIA driver; superseded by nvidia-peermem from R470",
            at: "https://github.com/Mellanox/nv_peer_memory",
        },
        Source {
            title: "gpu-operator issue 2868: disagrees about version of symbol ib_register_peer_memory_client",
            at: "https://github.com/NVIDIA/gpu-operator/issues/2868",
        },
    ],
    reads: &["dmesg"],
    docs: "\
## What it checks
Kernel log lines about nvidia_peermem and nv_peer_mem: `disagrees about version of symbol`, `Unknown symbol`, and error messages of the module.

## Why it matters
The module is built against the RDMA stack that was installed at that time (ib_register_peer_memory_client, exported by ib_core of MLNX_OFED and
DOCA-OFED) and against its own driver (nvidia_p2p_*, exported by nvidia.ko). After an update of one without a rebuild the symbols do not match and the
kernel refuses the module: `disagrees about version`, or `Unknown symbol … (err -22)`; `(err -2)` where nobody exports the symbol. On success it
prints nothing. `nv_get_p2p_free_callback … invalid context` is harmless.

## See it yourself
`dmesg | grep -i -E 'peer.?mem|ib_register_peer'`; `modprobe nvidia-peermem; echo $?`.

## Fix
nvidia-peermem: rebuild or reinstall the NVIDIA driver after the RDMA stack, then load the module. nv_peer_mem (drivers before 470): rebuild the package nv_peer_memory itself. With the kernel's own stack use DMA-BUF.",
    myths: &[Myth {
        claim: "`Invalid argument` from modprobe nvidia-peermem is a bug of the driver.",
        truth: "The module was built where the RDMA stack had no peer-memory interface; it can then only refuse.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_log(cx, "messages about peer memory", out) {
        return;
    }
    let is_peer = |m: &str| matches!(m.replace('-', "_").as_str(), "nvidia_peermem" | "nv_peer_mem");
    let loaded = cx.node.peermem.nvidia_peermem.loaded.known().is_some();
    let said = count(cx.node.kernel.events(|e| match e {
        Event::SymbolMismatch { module, symbol } if is_peer(module) => Some((
            is_legacy(module),
            format!("{module} was built against another {} (version of symbol {symbol})", owner(symbol).what()),
            Severity::High,
            Some(owner(symbol)),
        )),
        Event::UnknownSymbol { module, symbol, error } if is_peer(module) => {
            let what = owner(symbol).what();
            // simplify_symbols prints -22 where the symbol is there in another version, -2 where it is not.
            let text = match error {
                Some(-22) => format!("{module} was built against another {what} (symbol {symbol})"),
                _ => format!("{module} needs {symbol}, which the running {what} does not export"),
            };
            Some((is_legacy(module), text, Severity::High, Some(owner(symbol))))
        }
        // The callback came after the program's own cleanup: memory was freed while registered, nothing is broken.
        Event::Peermem { error: true, text } => {
            let severity = if text.contains("invalid context") { Severity::Info } else { Severity::Low };
            Some((text.starts_with(LEGACY), clip(text, 140), severity, None))
        }
        _ => None,
    }));
    for ((legacy, text, severity, owner), count, place) in said {
        // What failed at first and is loaded now was repaired since.
        let severity = if loaded && severity == Severity::High { Severity::Low } else { severity };
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        let now = if loaded { "; the module is loaded now" } else { "" };
        let module = if legacy { LEGACY } else { "nvidia_peermem" };
        let f = out.fail(Subject::Module(module.into()), format_args!("{text}{times}{now}"));
        f.severity(severity).at(place);
        if severity > Severity::Info {
            f.fix(|| if legacy { legacy_remedy(owner) } else { remedy(owner) });
        }
    }
    if out.is_empty() {
        silent_log(cx, "no complaint about peer memory", out);
    }
}

/// Mellanox's module of before R470, in a package of its own: nv_peer_memory.
const LEGACY: &str = "nv_peer_mem";

fn is_legacy(module: &str) -> bool {
    module.replace('-', "_") == LEGACY
}

/// nv_peer_mem is built on the node, against the RDMA stack and the driver's sources; R470 and later have nvidia-peermem in its place.
fn legacy_remedy(owner: Option<Owner>) -> Remedy {
    let (summary, what): (&str, &str) = match owner {
        Some(Owner::RdmaStack) => (
            "see that MLNX_OFED's own ib_core is loaded (ofed_info -s; /etc/init.d/openibd restart), then rebuild nv_peer_memory against it; with driver 470 or later use nvidia-peermem",
            "nv_peer_memory rebuilt for the installed MLNX_OFED",
        ),
        Some(Owner::Driver) => (
            "load the nvidia module first, and rebuild nv_peer_memory against the sources of this driver; with driver 470 or later use nvidia-peermem",
            "nv_peer_memory rebuilt for the installed NVIDIA driver",
        ),
        Some(Owner::Kernel) => (
            "rebuild nv_peer_memory for the running kernel; with driver 470 or later use nvidia-peermem",
            "nv_peer_memory rebuilt for the running kernel",
        ),
        None => return remedy(None),
    };
    Remedy::software(summary, what)
        .because("the RDMA stack and its users are stopped as its modules are loaded again")
        .prove("sys/module/nv_peer_mem/version")
}

/// Whose a symbol is that a peer-memory module needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// ib_core of MLNX_OFED or DOCA-OFED.
    RdmaStack,
    /// nvidia.ko.
    Driver,
    /// The kernel.
    Kernel,
}

impl Owner {
    fn what(self) -> &'static str {
        match self {
            Owner::RdmaStack => "RDMA stack",
            Owner::Driver => "NVIDIA driver",
            Owner::Kernel => "kernel",
        }
    }
}

fn owner(symbol: &str) -> Owner {
    if symbol.starts_with("nvidia_p2p_") {
        Owner::Driver
    } else if symbol.starts_with("ib_") || symbol.starts_with("rdma_") {
        Owner::RdmaStack
    } else {
        Owner::Kernel
    }
}

fn remedy(owner: Option<Owner>) -> Remedy {
    let (summary, what): (&str, &str) = match owner {
        Some(Owner::RdmaStack) => (
            "rebuild the NVIDIA driver against the running RDMA stack, then load nvidia-peermem; or use DMA-BUF",
            "NVIDIA driver rebuilt for the installed RDMA stack",
        ),
        Some(Owner::Driver) => (
            "load the nvidia module first, and take the peer-memory module of the same driver; or use DMA-BUF",
            "NVIDIA driver and peer-memory module of one build",
        ),
        Some(Owner::Kernel) => (
            "rebuild the peer-memory module for the running kernel; or use DMA-BUF",
            "NVIDIA driver rebuilt for the running kernel",
        ),
        None => {
            return Remedy::investigate(
                "look at what ended at that time: a program that exits while the NIC uses its memory causes such lines",
                "errors of the peer-memory module",
            );
        }
    };
    Remedy::software(summary, what)
        .because("the driver is replaced: drain the node")
        .prove("sys/module/nvidia_peermem/version")
}
