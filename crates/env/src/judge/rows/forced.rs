//! Choices by hand, and variables of others.

use super::super::table::When::{self, Above, On, Set, Word};
use super::super::table::{Do, Row, Where, row};
use crate::judge::Kind::{Fine, Harmful, Undecided};
use crate::judge::Severity::{High, Info, Low, Medium};

const FORCED: &str =
    "a choice by hand, which NCCL no longer makes by size and topology; the guide discourages it in production";

const UCX_TCP: When = Word(&["tcp", "tcp,cuda_copy", "tcp,self", "tcp,sm", "self,tcp"]);

/// The rows; the first that fits speaks.
pub(in crate::judge) static ROWS: &[Row] = &[
    row(
        "NCCL_ALGO",
        Set,
        Harmful,
        Medium,
        FORCED,
        Do::UnsetAnd("name a fault and its release beside it if you must keep it"),
    ),
    row(
        "NCCL_PROTO",
        Word(&["LL128", "LL,LL128", "LL128,LL", "LL128,SIMPLE", "SIMPLE,LL128", "LL,LL128,SIMPLE"]),
        Harmful,
        Medium,
        "forces LL128 on, too, where NCCL would not use it: data can be corrupted there",
        Do::UnsetAnd("`^LL128` to leave it out"),
    ),
    row(
        "NCCL_PROTO",
        Set,
        Harmful,
        Medium,
        FORCED,
        Do::UnsetAnd("name a fault and its release beside it if you must keep it"),
    ),
    row("NCCL_NTHREADS", On, Harmful, Medium, FORCED, Do::Unset),
    row("NCCL_LL128_NTHREADS", On, Harmful, Medium, FORCED, Do::Unset),
    row(
        "NCCL_BUFFSIZE",
        On,
        Harmful,
        Medium,
        "a buffer size by hand: memory on every connection, and NCCL's chunks follow it; benchmarks of one machine do not hold for another",
        Do::Unset,
    ),
    row("NCCL_LL_BUFFSIZE", On, Harmful, Medium, FORCED, Do::Unset),
    row("NCCL_LL128_BUFFSIZE", On, Harmful, Medium, FORCED, Do::Unset),
    row("NCCL_THREAD_THRESHOLDS", Set, Harmful, Medium, FORCED, Do::Unset),
    row(
        "NCCL_MAX_NCHANNELS",
        Above(0),
        Harmful,
        Medium,
        "a limit of channels: too few leave NVLink and NICs unused",
        Do::UnsetAnd("NCCL_MAX_CTAS since 2.17, where computation needs the SMs"),
    ),
    row(
        "NCCL_MIN_NCHANNELS",
        Above(0),
        Harmful,
        Medium,
        "more channels take SMs from computation, and memory",
        Do::UnsetAnd("NCCL_MIN_CTAS since 2.17, after a measurement"),
    ),
    row(
        "NCCL_MAX_NRINGS",
        Above(0),
        Harmful,
        Medium,
        "the old name of NCCL_MAX_NCHANNELS: too few channels leave NVLink and NICs unused",
        Do::Unset,
    ),
    row(
        "NCCL_MIN_NRINGS",
        Above(0),
        Harmful,
        Medium,
        "the old name of NCCL_MIN_NCHANNELS: more channels take SMs from computation",
        Do::Unset,
    ),
    row(
        "NCCL_MAX_CTAS",
        Above(0),
        Harmful,
        Low,
        "a limit of channels: too few leave NVLink and NICs unused",
        Do::Say("unset it, unless computation needs the SMs and it was measured"),
    ),
    row(
        "NCCL_MIN_CTAS",
        Above(0),
        Harmful,
        Low,
        "more channels take SMs from computation, and memory",
        Do::Say("unset it, unless it was measured"),
    ),
    row(
        "NCCL_NCHANNELS_PER_NET_PEER",
        Above(0),
        Harmful,
        Low,
        FORCED,
        Do::Say("unset it, unless it was measured with all-to-all"),
    ),
    row("NCCL_MAX_P2P_NCHANNELS", Above(0), Harmful, Low, FORCED, Do::Unset),
    row("NCCL_MIN_P2P_NCHANNELS", Above(1), Harmful, Low, FORCED, Do::Say("unset it, unless it was measured")),
    row(
        "NCCL_GRAPH_FILE",
        Set,
        Harmful,
        Low,
        "rings and trees from a file: on another machine, or with fewer GPUs, they do not fit",
        Do::Say("unset it, unless the machine's vendor ships it"),
    ),
    row(
        "NCCL_TOPO_FILE",
        Set,
        Undecided,
        Info,
        "right in virtual machines, with the file for exactly this machine type; on bare metal it hides what is there",
        Do::Say("`linerate topo FILE` shows what NCCL makes of it"),
    ),
    row(
        "NCCL_CHECK_POINTERS",
        On,
        Harmful,
        Low,
        "checks on every call, at the price of latency",
        Do::Say("unset it in production"),
    ),
    row(
        "CUDA_LAUNCH_BLOCKING",
        On,
        Harmful,
        High,
        "every launch waits for its end: communication and computation no longer overlap",
        Do::Unset,
    ),
    row(
        "FI_PROVIDER",
        Word(&["tcp", "sockets", "tcp;ofi_rxm", "udp"]),
        Harmful,
        High,
        "libfabric over TCP, where there may be EFA or verbs",
        Do::Say("FI_PROVIDER=efa on AWS, or unset it"),
    ),
    // MPI's own messages on an interface that somebody named: in a job of NCCL they only start it.
    Row {
        on: Where::Only(|case| Some(case.other("UCX_NET_DEVICES").is_some())),
        ..row(
            "UCX_TLS",
            UCX_TCP,
            Fine,
            Info,
            "UCX over TCP on the devices of UCX_NET_DEVICES, which is enough for MPI to start a job; NCCL does not read it",
            Do::Say("unset both where the program itself communicates by MPI or UCX"),
        )
    },
    row(
        "UCX_TLS",
        UCX_TCP,
        Harmful,
        Medium,
        "UCX over TCP only; NCCL itself does not read it",
        Do::Say("unset it, unless MPI only starts the job"),
    ),
];
