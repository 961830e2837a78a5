//! The NIC and the fabric.

use super::super::table::When::{Above, Below, Is, On, OneOf};
use super::super::table::{Row, Where, guest, infiniband, no_nvlink, one_nic, roce, row, single_qp};
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
];
