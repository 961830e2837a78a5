//! The symptoms: each leads from what one sees to the checks that decide, in the order in which they are cheap.

use super::Symptom;

pub(super) const ALL: &[Symptom] = &[
    Symptom {
        id: "symptom/falls-back-to-sockets",
        title: "NCCL uses sockets (TCP) although there are RDMA NICs",
        docs: include_str!("falls_back_to_sockets.md"),
    },
    Symptom {
        id: "symptom/gpudirect-disabled",
        title: "GPUDirect RDMA is off: channels go over NET/IB without /GDRDMA",
        docs: include_str!("gpudirect_disabled.md"),
    },
    Symptom {
        id: "symptom/low-bandwidth-with-gpudirect",
        title: "GPUDirect RDMA is in use, but the bandwidth is low",
        docs: include_str!("low_bandwidth_with_gpudirect.md"),
    },
    Symptom {
        id: "symptom/peermem-does-not-load",
        title: "nvidia_peermem does not load",
        docs: include_str!("peermem_does_not_load.md"),
    },
    Symptom {
        id: "symptom/iommu-groups-too-large",
        title: "IOMMU groups are too large, or GPU and NIC are not in the same one",
        docs: include_str!("iommu_groups_too_large.md"),
    },
    Symptom { id: "symptom/hang", title: "The job hangs, or a watchdog ends it", docs: include_str!("hang.md") },
    Symptom {
        id: "symptom/completion-errors",
        title: "Work completions fail: `Got completion from peer … with status=12`",
        docs: include_str!("completion_errors.md"),
    },
    Symptom {
        id: "symptom/slow-start",
        title: "The job needs minutes before the first collective, or does not get there",
        docs: include_str!("slow_start.md"),
    },
];
