//! Values that are what they are wherever they are set: one row each.

use super::{Case, Judgement, Kind, Severity};
use crate::context::Fabric;

/// Which values a row is about.
enum When {
    /// This number.
    Is(i64),
    /// A number other than 0.
    On,
    /// A number above this.
    Above(i64),
    /// A number from 0 on and below this.
    Below(i64),
    /// Any value.
    Set,
    /// One of these words, in any case.
    Word(&'static [&'static str]),
    /// One of these numbers.
    OneOf(&'static [i64]),
}

/// On which nodes a row holds.
enum Where {
    /// Everywhere.
    All,
    /// Where the context says this; elsewhere it says nothing, and where it is not known the row is undecided.
    Only(fn(&Case<'_>) -> Option<bool>),
    /// As above, but where it is not known the row holds, too.
    Unless(fn(&Case<'_>) -> Option<bool>),
}

struct Row {
    name: &'static str,
    when: When,
    on: Where,
    kind: Kind,
    severity: Severity,
    says: &'static str,
    do_it: &'static str,
}

const fn row(
    name: &'static str,
    when: When,
    kind: Kind,
    severity: Severity,
    says: &'static str,
    do_it: &'static str,
) -> Row {
    Row { name, when, on: Where::All, kind, severity, says, do_it }
}

fn one_gpu(case: &Case<'_>) -> Option<bool> {
    Some(case.context.node.as_ref()?.gpus? == 1)
}

fn one_nic(case: &Case<'_>) -> Option<bool> {
    let node = case.context.node.as_ref()?;
    let nics = node.nics.as_ref()?;
    nics.iter().all(|n| n.active().is_some()).then(|| node.active().filter(|n| n.compute != Some(false)).count() <= 1)
}

fn infiniband(case: &Case<'_>) -> Option<bool> {
    case.context.fabric().map(|f| f == Fabric::InfiniBand)
}

fn roce(case: &Case<'_>) -> Option<bool> {
    case.context.fabric().map(|f| matches!(f, Fabric::Roce | Fabric::Mixed))
}

fn no_peermem(case: &Case<'_>) -> Option<bool> {
    case.context.node.as_ref()?.peermem.map(|p| !p)
}

fn peermem(case: &Case<'_>) -> Option<bool> {
    case.context.node.as_ref()?.peermem
}

fn no_nvlink(case: &Case<'_>) -> Option<bool> {
    case.context.node.as_ref()?.nvlink.map(|n| !n)
}

fn guest(case: &Case<'_>) -> Option<bool> {
    case.context.node.as_ref()?.guest
}

fn single_qp(case: &Case<'_>) -> Option<bool> {
    let qps = case.other("NCCL_IB_QPS_PER_CONNECTION");
    Some(qps.is_none_or(|s| crate::value::number(&s.value).is_some_and(|n| n.0 <= 1)) && !case.setting.is_logged())
}

use Kind::{Harmful, Ignored, Undecided};
use Severity::{High, Info, Low, Medium};
use When::{Above, Below, Is, On, OneOf, Set, Word};

const FORCED: &str =
    "a choice by hand, which NCCL no longer makes by size and topology; the guide discourages it in production";

/// The rows; the first that fits speaks.
static ROWS: &[Row] = &[
    // Inside the node.
    Row {
        on: Where::Only(one_gpu),
        ..row(
            "NCCL_P2P_DISABLE",
            Is(1),
            Ignored,
            Info,
            "this node has one GPU: there is no other to copy to",
            "delete it",
        )
    },
    row(
        "NCCL_P2P_DISABLE",
        Is(1),
        Harmful,
        High,
        "no direct copies between GPUs, over NVLink, either: all goes through host memory",
        "unset it; if it works around a hang, the cause is ACS, the IOMMU or the driver: `linerate audit`",
    ),
    row("NCCL_P2P_DISABLE", Above(1), Ignored, Low, "NCCL looks for 1 exactly: this changes nothing", "delete it"),
    Row {
        on: Where::Only(one_gpu),
        ..row(
            "NCCL_SHM_DISABLE",
            Is(1),
            Ignored,
            Info,
            "this node has one GPU: there is no rank to share memory with",
            "delete it",
        )
    },
    row(
        "NCCL_SHM_DISABLE",
        Is(1),
        Harmful,
        Medium,
        "what peer-to-peer cannot do inside the node goes out to the NIC and back",
        "unset it; if /dev/shm is too small, make it larger (--shm-size, an emptyDir of medium Memory)",
    ),
    row(
        "NCCL_SHM_DISABLE",
        Is(0),
        Kind::Redundant,
        Info,
        "0 leaves shared memory on, as it is without it",
        "delete it",
    ),
    row(
        "NCCL_IGNORE_DISABLED_P2P",
        On,
        Harmful,
        Medium,
        "silences a warning; the driver still refuses peer-to-peer",
        "find the cause: ACS, the IOMMU or the driver: `linerate audit`",
    ),
    row(
        "NCCL_NVB_DISABLE",
        On,
        Harmful,
        Low,
        "forbids NVLink through a GPU between, which only some machines need at all",
        "unset it",
    ),
    row(
        "NCCL_CUMEM_ENABLE",
        Is(0),
        Harmful,
        Low,
        "without cuMem there is no NVLS, no NVLink across nodes and no registration of buffers",
        "unset it, unless it works around a fault that you know",
    ),
    row(
        "NCCL_NVLS_ENABLE",
        Is(0),
        Harmful,
        Low,
        "no reduction in NVSwitches: on Hopper and later that costs all-reduce bandwidth inside the node",
        "unset it, unless it works around a fault that you know",
    ),
    row(
        "NCCL_MNNVL_ENABLE",
        Is(0),
        Harmful,
        Low,
        "no NVLink across nodes: on GB200 and GB300 racks that is most of the bandwidth; elsewhere it changes nothing",
        "unset it",
    ),
    row(
        "NCCL_LAUNCH_MODE",
        Word(&["GROUP"]),
        Harmful,
        Low,
        "deprecated since 2.9, and slower with one GPU for each process",
        "unset it",
    ),
    // GPUDirect.
    row(
        "NCCL_NET_GDR_READ",
        Is(0),
        Harmful,
        Medium,
        "sends go through host memory, receives do not: half of GPUDirect",
        "unset it",
    ),
    Row {
        on: Where::Only(no_peermem),
        ..row(
            "NCCL_DMABUF_ENABLE",
            Is(0),
            Harmful,
            High,
            "nvidia-peermem is not loaded here, so this leaves no way to GPUDirect RDMA",
            "unset it",
        )
    },
    Row {
        on: Where::Only(peermem),
        ..row(
            "NCCL_DMABUF_ENABLE",
            Is(0),
            Harmful,
            Low,
            "leaves nvidia-peermem, the older way, which is loaded here",
            "unset it, unless it works around a fault that you know",
        )
    },
    row("NCCL_DMABUF_ENABLE", Is(0), Harmful, Medium, "without nvidia-peermem it leaves no GPUDirect RDMA", "unset it"),
    row(
        "NCCL_GDR_FLUSH_DISABLE",
        On,
        Harmful,
        High,
        "received data may be read before it is there: wrong results",
        "unset it",
    ),
    row("NCCL_NET_FORCE_FLUSH", On, Harmful, Low, "a flush that GPUs from Hopper on do not need", "unset it"),
    // The NIC.
    Row {
        on: Where::Only(one_nic),
        ..row(
            "NCCL_CROSS_NIC",
            OneOf(&[0, 1]),
            Ignored,
            Info,
            "this node has one NIC for the job: there is none to cross to",
            "delete it",
        )
    },
    row(
        "NCCL_CROSS_NIC",
        Is(1),
        Harmful,
        Medium,
        "rings cross from NIC to NIC: on rail fabrics that is traffic through the spine; right only where all NICs of a node share a switch",
        "unset it: 2, the default, crosses only where it helps",
    ),
    row(
        "NCCL_CROSS_NIC",
        Is(0),
        Undecided,
        Info,
        "right on strict rails with a slow spine; elsewhere it takes a choice from NCCL",
        "unset it, unless the fabric is such",
    ),
    row(
        "NCCL_IB_TIMEOUT",
        Is(0),
        Harmful,
        Medium,
        "a lost packet is waited for for ever: a dead link hangs the job",
        "unset it",
    ),
    row(
        "NCCL_IB_RETRY_CNT",
        Below(7),
        Harmful,
        Low,
        "fewer retries than the default: small disturbances end the job",
        "unset it",
    ),
    row(
        "NCCL_IB_QPS_PER_CONNECTION",
        Above(1),
        Harmful,
        Low,
        "helps only where switches hash flows to paths (ECMP, LAG); with adaptive routing it costs resources and gains nothing",
        "unset it, unless collisions were measured",
    ),
    Row {
        on: Where::Only(single_qp),
        ..row(
            "NCCL_IB_SPLIT_DATA_ON_QPS",
            Is(1),
            Ignored,
            Low,
            "with one queue pair for each connection there is nothing to split",
            "delete it",
        )
    },
    Row {
        on: Where::Only(guest),
        ..row(
            "NCCL_IB_PCI_RELAXED_ORDERING",
            Is(0),
            Harmful,
            High,
            "in a virtual machine strict ordering costs much of the bandwidth",
            "unset it",
        )
    },
    row(
        "NCCL_IB_PCI_RELAXED_ORDERING",
        Is(0),
        Harmful,
        Medium,
        "strict ordering on PCIe: slower on many machines, much slower in virtual ones",
        "unset it",
    ),
    row(
        "NCCL_IB_PCI_RELAXED_ORDERING",
        Is(1),
        Harmful,
        Low,
        "fails where the NIC's library cannot do it; 2, the default, does it where it can",
        "unset it",
    ),
    Row {
        on: Where::Only(infiniband),
        ..row(
            "NCCL_IB_ADAPTIVE_ROUTING",
            Is(0),
            Harmful,
            Low,
            "adaptive routing is on by default on InfiniBand, and large fabrics need it",
            "unset it",
        )
    },
    Row {
        on: Where::Only(infiniband),
        ..row("NCCL_IB_ADAPTIVE_ROUTING", Is(1), Kind::Redundant, Info, "1 is the default on InfiniBand", "delete it")
    },
    Row {
        on: Where::Only(roce),
        ..row(
            "NCCL_IB_ADAPTIVE_ROUTING",
            Is(1),
            Undecided,
            Info,
            "right where the Ethernet switches route adaptively, which they must be set up for",
            "ask the fabric's owner",
        )
    },
    row(
        "NCCL_IB_TC",
        OneOf(&[3, 24, 26, 34, 46, 48]),
        Harmful,
        Medium,
        "the traffic class is the whole ToS byte: this looks like a DSCP or a priority, which is multiplied by 4 there",
        "DSCP 26 is NCCL_IB_TC=104, or 106 with ECN",
    ),
    Row {
        on: Where::Only(infiniband),
        ..row(
            "NCCL_IB_TC",
            On,
            Undecided,
            Info,
            "on InfiniBand the service level (NCCL_IB_SL) chooses the lane; the traffic class does so only for routed packets",
            "ask the fabric's owner",
        )
    },
    row(
        "NCCL_IB_TC",
        On,
        Undecided,
        Info,
        "must be what switches and NICs map to the lossless class, which a node does not show",
        "compare DSCP (value / 4) with mlnx_qos and the switch",
    ),
    row(
        "NCCL_IB_SL",
        On,
        Undecided,
        Info,
        "must be a level that the subnet manager or the switches are set up for, which a node does not show",
        "ask the fabric's owner",
    ),
    row(
        "NCCL_IB_RETURN_ASYNC_EVENTS",
        Is(0),
        Harmful,
        Medium,
        "a port that dies is no error then, but a hang",
        "unset it",
    ),
    Row {
        on: Where::Unless(no_nvlink),
        ..row(
            "NCCL_PXN_DISABLE",
            Is(1),
            Harmful,
            Medium,
            "traffic that NVLink would put on the right rail goes through the spine",
            "unset it",
        )
    },
    // Choices by hand.
    row(
        "NCCL_ALGO",
        Set,
        Harmful,
        Medium,
        FORCED,
        "unset it; name a fault and its release beside it if you must keep it",
    ),
    row(
        "NCCL_PROTO",
        Word(&["LL128", "LL,LL128", "LL128,LL", "LL128,SIMPLE", "SIMPLE,LL128", "LL,LL128,SIMPLE"]),
        Harmful,
        Medium,
        "forces LL128 on, too, where NCCL would not use it: data can be corrupted there",
        "unset it; `^LL128` to leave it out",
    ),
    row(
        "NCCL_PROTO",
        Set,
        Harmful,
        Medium,
        FORCED,
        "unset it; name a fault and its release beside it if you must keep it",
    ),
    row("NCCL_NTHREADS", On, Harmful, Medium, FORCED, "unset it"),
    row("NCCL_LL128_NTHREADS", On, Harmful, Medium, FORCED, "unset it"),
    row(
        "NCCL_BUFFSIZE",
        On,
        Harmful,
        Medium,
        "a buffer size by hand: memory on every connection, and NCCL's chunks follow it; benchmarks of one machine do not hold for another",
        "unset it",
    ),
    row("NCCL_LL_BUFFSIZE", On, Harmful, Medium, FORCED, "unset it"),
    row("NCCL_LL128_BUFFSIZE", On, Harmful, Medium, FORCED, "unset it"),
    row("NCCL_THREAD_THRESHOLDS", Set, Harmful, Medium, FORCED, "unset it"),
    row(
        "NCCL_MAX_NCHANNELS",
        Above(0),
        Harmful,
        Medium,
        "a limit of channels: too few leave NVLink and NICs unused",
        "unset it; NCCL_MAX_CTAS since 2.17, where computation needs the SMs",
    ),
    row(
        "NCCL_MIN_NCHANNELS",
        Above(0),
        Harmful,
        Medium,
        "more channels take SMs from computation, and memory",
        "unset it; NCCL_MIN_CTAS since 2.17, after a measurement",
    ),
    row(
        "NCCL_MAX_NRINGS",
        Above(0),
        Harmful,
        Medium,
        "the old name of NCCL_MAX_NCHANNELS: too few channels leave NVLink and NICs unused",
        "unset it",
    ),
    row(
        "NCCL_MIN_NRINGS",
        Above(0),
        Harmful,
        Medium,
        "the old name of NCCL_MIN_NCHANNELS: more channels take SMs from computation",
        "unset it",
    ),
    row(
        "NCCL_MAX_CTAS",
        Above(0),
        Harmful,
        Low,
        "a limit of channels: too few leave NVLink and NICs unused",
        "unset it, unless computation needs the SMs and it was measured",
    ),
    row(
        "NCCL_MIN_CTAS",
        Above(0),
        Harmful,
        Low,
        "more channels take SMs from computation, and memory",
        "unset it, unless it was measured",
    ),
    row(
        "NCCL_NCHANNELS_PER_NET_PEER",
        Above(0),
        Harmful,
        Low,
        FORCED,
        "unset it, unless it was measured with all-to-all",
    ),
    row("NCCL_MAX_P2P_NCHANNELS", Above(0), Harmful, Low, FORCED, "unset it"),
    row("NCCL_MIN_P2P_NCHANNELS", Above(1), Harmful, Low, FORCED, "unset it, unless it was measured"),
    row(
        "NCCL_GRAPH_FILE",
        Set,
        Harmful,
        Low,
        "rings and trees from a file: on another machine, or with fewer GPUs, they do not fit",
        "unset it, unless the machine's vendor ships it",
    ),
    row(
        "NCCL_TOPO_FILE",
        Set,
        Undecided,
        Info,
        "right in virtual machines, with the file for exactly this machine type; on bare metal it hides what is there",
        "`linerate topo FILE` shows what NCCL makes of it",
    ),
    row(
        "NCCL_CHECK_POINTERS",
        On,
        Harmful,
        Low,
        "checks on every call, at the price of latency",
        "unset it in production",
    ),
    // Others'.
    row(
        "CUDA_LAUNCH_BLOCKING",
        On,
        Harmful,
        High,
        "every launch waits for its end: communication and computation no longer overlap",
        "unset it",
    ),
    row(
        "FI_PROVIDER",
        Word(&["tcp", "sockets", "tcp;ofi_rxm", "udp"]),
        Harmful,
        High,
        "libfabric over TCP, where there may be EFA or verbs",
        "FI_PROVIDER=efa on AWS, or unset it",
    ),
    row(
        "UCX_TLS",
        Word(&["tcp", "tcp,cuda_copy", "tcp,self", "tcp,sm", "self,tcp"]),
        Harmful,
        Medium,
        "UCX over TCP only; NCCL itself does not read it",
        "unset it",
    ),
];

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if timeout(case, out) {
        return;
    }
    for r in ROWS.iter().filter(|r| r.name == case.name && r.when.fits(case)) {
        let holds = match r.on {
            Where::All => Some(true),
            Where::Only(f) => f(case),
            Where::Unless(f) => f(case).map_or(Some(true), |no| Some(!no)),
        };
        if holds == Some(true) {
            out.push(case.say(r.kind, r.severity, r.says).suggest(r.do_it));
            return;
        }
    }
}

/// A timeout is long or short by the release's default.
fn timeout(case: &Case<'_>, out: &mut Vec<Judgement>) -> bool {
    let Some(n) = case.number().filter(|n| case.name == "NCCL_IB_TIMEOUT" && (1..=31).contains(n)) else {
        return false;
    };
    let default = match case.release().and_then(|r| case.variable?.default(r)) {
        Some(crate::DefaultValue::Number(d)) => d,
        // 14, 18 or 20, by release.
        _ => 20,
    };
    // 4.096 µs × 2^n, eight attempts with the default count of retries.
    let seconds = 4.096e-6 * f64::from(1_u32 << n.clamp(0, 31)) * 7.0;
    let total =
        if seconds < 90.0 { format!("about {seconds:.0} s") } else { format!("about {:.0} min", seconds / 60.0) };
    let unknown = case.release().is_none() && (14..20).contains(&n);
    if n == default || unknown {
        return false;
    }
    out.push(if n > default {
        case.say(
            Kind::Harmful,
            Severity::Low,
            format!("no knob of speed: a broken link is an error only after {total}; the losses behind it stay"),
        )
        .suggest("unset it, unless the fabric reroutes so slowly, and look for the losses")
    } else {
        case.say(
            Kind::Harmful,
            Severity::Medium,
            format!("shorter than the default: {total}, and short disturbances end the job"),
        )
        .suggest("unset it")
    });
    true
}

impl When {
    fn fits(&self, case: &Case<'_>) -> bool {
        let number = || case.number();
        match self {
            When::Is(n) => number() == Some(*n),
            When::On => number().is_some_and(|n| n != 0 && n != -1 && n != -2),
            When::Above(n) => number().is_some_and(|v| v > *n),
            When::Below(n) => number().is_some_and(|v| (0..*n).contains(&v)),
            When::Set => !case.value.is_empty(),
            When::Word(list) => list.iter().any(|w| w.eq_ignore_ascii_case(case.value)),
            When::OneOf(list) => number().is_some_and(|n| list.contains(&n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_about_variables_that_are_known() {
        for r in ROWS {
            assert!(crate::lookup(r.name).is_some(), "{}", r.name);
        }
    }
}
