//! Inside the node, and GPUDirect.

use super::super::table::When::{Above, Is, On, Word};
use super::super::table::{Do, Row, Where, no_peermem, one_gpu, peermem, row};
use crate::judge::Kind::{self, Harmful, Ignored};
use crate::judge::Severity::{High, Info, Low, Medium};

/// The rows; the first that fits speaks.
pub(in crate::judge) static ROWS: &[Row] = &[
    Row {
        on: Where::Only(one_gpu),
        ..row(
            "NCCL_P2P_DISABLE",
            Is(1),
            Ignored,
            Info,
            "this node has one GPU: there is no other to copy to",
            Do::Delete,
        )
    },
    row(
        "NCCL_P2P_DISABLE",
        Is(1),
        Harmful,
        High,
        "no direct copies between GPUs, over NVLink, either: all goes through host memory",
        Do::UnsetAnd("if it works around a hang, the cause is ACS, the IOMMU or the driver: `linerate audit`"),
    ),
    row("NCCL_P2P_DISABLE", Above(1), Ignored, Low, "NCCL looks for 1 exactly: this changes nothing", Do::Delete),
    Row {
        on: Where::Only(one_gpu),
        ..row(
            "NCCL_SHM_DISABLE",
            Is(1),
            Ignored,
            Info,
            "this node has one GPU: there is no rank to share memory with",
            Do::Delete,
        )
    },
    row(
        "NCCL_SHM_DISABLE",
        Is(1),
        Harmful,
        Medium,
        "what peer-to-peer cannot do inside the node goes out to the NIC and back",
        Do::UnsetAnd("if /dev/shm is too small, make it larger (--shm-size, an emptyDir of medium Memory)"),
    ),
    row("NCCL_SHM_DISABLE", Is(0), Kind::Redundant, Info, "0 leaves shared memory on, as it is without it", Do::Delete),
    row(
        "NCCL_IGNORE_DISABLED_P2P",
        On,
        Harmful,
        Medium,
        "silences a warning; the driver still refuses peer-to-peer",
        Do::Say("find the cause: ACS, the IOMMU or the driver: `linerate audit`"),
    ),
    row(
        "NCCL_NVB_DISABLE",
        On,
        Harmful,
        Low,
        "forbids NVLink through a GPU between, which only some machines need at all",
        Do::Unset,
    ),
    row(
        "NCCL_CUMEM_ENABLE",
        Is(0),
        Harmful,
        Low,
        "without cuMem there is no NVLS, no NVLink across nodes and no registration of buffers",
        Do::Say("unset it, unless it works around a fault that you know"),
    ),
    row(
        "NCCL_NVLS_ENABLE",
        Is(0),
        Harmful,
        Low,
        "no reduction in NVSwitches: on Hopper and later that costs all-reduce bandwidth inside the node",
        Do::Say("unset it, unless it works around a fault that you know"),
    ),
    row(
        "NCCL_MNNVL_ENABLE",
        Is(0),
        Harmful,
        Low,
        "no NVLink across nodes: on GB200 and GB300 racks that is most of the bandwidth; elsewhere it changes nothing",
        Do::Unset,
    ),
    row(
        "NCCL_LAUNCH_MODE",
        Word(&["GROUP"]),
        Harmful,
        Low,
        "deprecated since 2.9, and slower with one GPU for each process",
        Do::Unset,
    ),
    row(
        "NCCL_NET_GDR_READ",
        Is(0),
        Harmful,
        Medium,
        "sends go through host memory, receives do not: half of GPUDirect",
        Do::Unset,
    ),
    Row {
        on: Where::Only(no_peermem),
        ..row(
            "NCCL_DMABUF_ENABLE",
            Is(0),
            Harmful,
            High,
            "nvidia-peermem is not loaded here, so this leaves no way to GPUDirect RDMA",
            Do::Unset,
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
            Do::Say("unset it, unless it works around a fault that you know"),
        )
    },
    row("NCCL_DMABUF_ENABLE", Is(0), Harmful, Medium, "without nvidia-peermem it leaves no GPUDirect RDMA", Do::Unset),
    row(
        "NCCL_GDR_FLUSH_DISABLE",
        On,
        Harmful,
        High,
        "received data may be read before it is there: wrong results",
        Do::Unset,
    ),
    row("NCCL_NET_FORCE_FLUSH", On, Harmful, Low, "a flush that GPUs from Hopper on do not need", Do::Unset),
];
