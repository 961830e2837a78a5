//! The NIC and the fabric.

use super::super::table::When::{Above, Below, Is, On, OneOf};
use super::super::table::{Do, Row, Where, guest, infiniband, no_nvlink, one_nic, roce, row, single_qp};
use crate::judge::Kind::{self, Harmful, Ignored, Undecided};
use crate::judge::Severity::{High, Info, Low, Medium};

/// The rows; the first that fits speaks.
pub(in crate::judge) static ROWS: &[Row] = &[
    Row {
        on: Where::Only(one_nic),
        ..row(
            "NCCL_CROSS_NIC",
            OneOf(&[0, 1]),
            Ignored,
            Info,
            "this node has one NIC for the job: there is none to cross to",
            Do::Delete,
        )
    },
    row(
        "NCCL_CROSS_NIC",
        Is(1),
        Harmful,
        Medium,
        "rings cross from NIC to NIC: on rail fabrics that is traffic through the spine; right only where all NICs of a node share a switch",
        Do::UnsetAnd("2, the default, crosses only where it helps"),
    ),
    row(
        "NCCL_CROSS_NIC",
        Is(0),
        Undecided,
        Info,
        "right on strict rails with a slow spine; elsewhere it takes a choice from NCCL",
        Do::Say("unset it, unless the fabric is such"),
    ),
    row(
        "NCCL_IB_TIMEOUT",
        Is(0),
        Harmful,
        Medium,
        "a lost packet is waited for for ever: a dead link hangs the job",
        Do::Unset,
    ),
    row(
        "NCCL_IB_RETRY_CNT",
        Below(7),
        Harmful,
        Low,
        "fewer retries than the default: small disturbances end the job",
        Do::Unset,
    ),
    Row {
        on: Where::Only(infiniband),
        ..row(
            "NCCL_IB_QPS_PER_CONNECTION",
            Above(1),
            Undecided,
            Info,
            "spreads a connection over several queue pairs: with InfiniBand's adaptive routing there is mostly nothing to gain",
            Do::Say("measure with and without; 1 is the default"),
        )
    },
    // https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-qps-per-connection
    row(
        "NCCL_IB_QPS_PER_CONNECTION",
        Above(1),
        Undecided,
        Info,
        "right where switches hash flows to paths (ECMP, LAG), which RoCE fabrics mostly do; elsewhere it costs queue pairs and gains nothing",
        Do::Say("ask the fabric's owner, or measure with and without"),
    ),
    Row {
        on: Where::Only(single_qp),
        ..row(
            "NCCL_IB_SPLIT_DATA_ON_QPS",
            Is(1),
            Ignored,
            Low,
            "with one queue pair for each connection there is nothing to split",
            Do::Delete,
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
            Do::Unset,
        )
    },
    row(
        "NCCL_IB_PCI_RELAXED_ORDERING",
        Is(0),
        Harmful,
        Medium,
        "strict ordering on PCIe: slower on many machines, much slower in virtual ones",
        Do::Unset,
    ),
    row(
        "NCCL_IB_PCI_RELAXED_ORDERING",
        Is(1),
        Harmful,
        Low,
        "fails where the NIC's library cannot do it; 2, the default, does it where it can",
        Do::Unset,
    ),
    Row {
        on: Where::Only(infiniband),
        ..row(
            "NCCL_IB_ADAPTIVE_ROUTING",
            Is(0),
            Harmful,
            Low,
            "adaptive routing is on by default on InfiniBand, and large fabrics need it",
            Do::Unset,
        )
    },
    Row {
        on: Where::Only(infiniband),
        ..row("NCCL_IB_ADAPTIVE_ROUTING", Is(1), Kind::Redundant, Info, "1 is the default on InfiniBand", Do::Delete)
    },
    Row {
        on: Where::Only(roce),
        ..row(
            "NCCL_IB_ADAPTIVE_ROUTING",
            Is(1),
            Undecided,
            Info,
            "right where the Ethernet switches route adaptively, which they must be set up for",
            Do::Say("ask the fabric's owner"),
        )
    },
    Row {
        on: Where::Only(infiniband),
        ..row(
            "NCCL_IB_TC",
            On,
            Undecided,
            Info,
            "on InfiniBand the service level (NCCL_IB_SL) chooses the lane; the traffic class does so only for routed packets",
            Do::Say("ask the fabric's owner"),
        )
    },
    row(
        "NCCL_IB_TC",
        OneOf(&[3, 24, 26, 34, 46, 48]),
        Undecided,
        Info,
        "the traffic class is the whole ToS byte: this looks like a DSCP or a priority, which is multiplied by 4 there",
        Do::Say("if DSCP 26 is meant, it is NCCL_IB_TC=104, or 106 with ECN"),
    ),
    row(
        "NCCL_IB_TC",
        On,
        Undecided,
        Info,
        "must be what switches and NICs map to the lossless class, which a node does not show",
        Do::Say("compare DSCP (value / 4) with mlnx_qos and the switch"),
    ),
    row(
        "NCCL_IB_SL",
        On,
        Undecided,
        Info,
        "must be a level that the subnet manager or the switches are set up for, which a node does not show",
        Do::Say("ask the fabric's owner"),
    ),
    row(
        "NCCL_IB_RETURN_ASYNC_EVENTS",
        Is(0),
        Harmful,
        Medium,
        "a port that dies is no error then, but a hang",
        Do::Unset,
    ),
    Row {
        on: Where::Unless(no_nvlink),
        ..row(
            "NCCL_PXN_DISABLE",
            Is(1),
            Harmful,
            Medium,
            "traffic that NVLink would put on the right rail goes through the spine",
            Do::Unset,
        )
    },
];
