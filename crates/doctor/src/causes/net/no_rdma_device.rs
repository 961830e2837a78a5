//! `net/no-rdma-device`.

use super::{
    IB_CC, disabled, hca_filter_matches_nothing, no_device_lines, plugin, socket_lines, verbs_missing, without_device,
};
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::keys::PluginEvent;
use crate::observe::trouble::{ToolTrouble, Trouble};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "net/no-rdma-device",
    title: "NCCL sees no RDMA device",
    what: "NCCL's InfiniBand/RoCE transport opened the verbs library and found no active port.",
    shows: &[
        "`NET/IB : No device found.`",
        "`Unable to open device`, `No IB devices found` of a tool of the verbs library",
    ],
    why: "On a cluster with RDMA that is one of: no /dev/infiniband in the container, no device plugin resource in \
          the pod, drivers not loaded, all ports down, an exclusive RDMA network namespace, or a VM without the \
          devices. On a cluster without RDMA it is right.",
    confirm: &[
        "in the same container: `ls /dev/infiniband; ibv_devinfo | grep -e hca_id -e state`",
        "`linerate audit` on the node: rdma/device-present, rdma/port-state, rdma/netns-mode",
    ],
    refute: &["the node has no RDMA NIC at all: then sockets are what there is"],
    remedy: Advice::Investigate("Find out on the node and in the container why there is no active RDMA device"),
    sources: &[IB_CC],
    severity: Severity::High,
    rules: &["rdma/device-present", "rdma/port-state", "rdma/netns-mode"],
    follows: &["ib/nic-not-started"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
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
        || plugin::fails(c)
    {
        return None;
    }
    if (hca_filter_matches_nothing::CAUSE.check)(c).is_some()
        || !without.is_empty() && c.rdma_processes().is_superset(&without)
    {
        return None;
    }
    if let Some((_, g)) = unopened.first() {
        let why =
            "the device is listed and cannot be opened: its file under /dev/infiniband is missing or not permitted";
        let found = Found::new(Likely, "an RDMA device cannot be opened", why);
        return Some(found.with(c.quotes(g)).with(no_device_lines(c)).scope(c.scope(without)));
    }
    // HPC-X's plugin is for RDMA and nothing else.
    let plugin = c.of(&c.o.plugins).any(|(event, _)| {
        matches!(event, PluginEvent::Loaded(name) if ["RDMA", "IBext"].iter().any(|w| c.name(name).contains(w)))
    });
    let wanted = c.env("NCCL_IB_HCA").is_some() || c.env("NCCL_IB_GID_INDEX").is_some() || plugin;
    // Neither that the job spans nodes nor that there should be RDMA: reported as undecided.
    if c.multi_node().is_none() && !wanted && c.nodes.is_empty() && c.rdma_processes().is_empty() {
        return None;
    }
    let others = !c.rdma_processes().is_empty();
    let (sure, why) = if others {
        (Likely, "other ranks of the same job use RDMA")
    } else if c.multi_node().is_none() {
        (Possible, "no device was found; whether the job spans nodes, and whether there should be one, is not shown")
    } else if c.env("NCCL_IB_HCA").is_some() || c.env("NCCL_IB_GID_INDEX").is_some() {
        (Likely, "the environment prepares for RDMA")
    } else {
        (Possible, "the log does not say whether this cluster has RDMA; where it has none, this is right")
    };
    let found = Found::new(sure, "no RDMA device is visible to NCCL; traffic between nodes goes through sockets", why);
    let found = found.with(no_device_lines(c)).with(socket_lines(c)).scope(c.scope(without));
    Some(found.join(c, &["rdma/device-present", "rdma/port-state", "rdma/netns-mode"]))
}
