//! Public trouble reports: what was pasted, and what may be said of it. The folder is not part of this repository; what is expected of each is
//! judged by its truth.md.
#![allow(clippy::print_stdout)]

use crate::common;

use common::{answer_to_dir, asserted, ids};
use std::path::Path;

/// What is right to say of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// The text shows the cause: it comes first, asserted.
    Asserted(&'static str),
    /// The text shows the cause among others that fit: it comes first, as possible.
    First(&'static str),
    /// The text does not show the cause, and something failed or is open: that is said, and nothing is asserted.
    Undecided,
    /// Nothing is wrong, or it is not for the doctor: nothing is asserted.
    Nothing,
}
use Want::{Asserted, First, Nothing, Undecided};

const CASES: &[(&str, Want)] = &[
    ("awsofi-889-gdr-disabled-p4d", Asserted("net/efa-without-plugin")),
    ("container-toolkit-1877-no-libibverbs", Undecided),
    ("cuda-samples-48-io-page-fault", Asserted("kernel/iommu-fault")),
    ("gpu-operator-2619-peermem-module-missing", Asserted("gdr/peermem-not-loaded")),
    // An iGPU's faults, as a trap.
    ("linux-intel-lts-26-dmar-fault", Nothing),
    ("megatron-bridge-2824-efa-verbs-version", Asserted("net/efa-without-plugin")),
    // Whose address it was, the reporter blanked.
    ("mgbench-8-intel-iommu-p2p-faults", First("kernel/iommu-fault")),
    ("multus-1100-gid-index-differs-per-pod", Nothing),
    // No text.
    ("nccl-120-amd-iommu-soft", Nothing),
    ("nccl-1412-no-gdrdma-peermem", Undecided),
    ("nccl-1435-topo-unbalanced-nics", Nothing),
    ("nccl-1453-interleaved-prefix-table", Nothing),
    ("nccl-1579-gh200-gdr-default-off", Nothing),
    ("nccl-1737-h100-hang-gdr-lsmod", Undecided),
    ("nccl-257-iommu-intel-hang", Nothing),
    ("nccl-304-acs-plx-gdr-crash", First("p2p/acs-redirects")),
    ("nccl-394-roce-loss-counters", Nothing),
    // The first error is what is seen; that a GID index is behind it is not in one line.
    ("nccl-426-roce-gid-index", Asserted("ib/retry-exceeded")),
    ("nccl-523-acs-err4-vendor81", First("p2p/acs-redirects")),
    ("nccl-595-gdr-200g-hdr-topo", Nothing),
    // Negative evidence: a variable that somebody tried is no cause of a hang.
    ("nccl-606-acs-clean-still-hangs", Nothing),
    ("nccl-749-vm-topo-artificial-bottleneck", Asserted("topo/virtual-link-speed")),
    ("nccl-820-topo-glued-columns", Nothing),
    ("nccltests-112-acs-65pct", Nothing),
    ("nccltests-206-memlock", Asserted("ib/memlock")),
    ("nccltests-256-vm-h200-qemu-switch-speed", Asserted("topo/virtual-link-speed")),
    ("nccltests-29-gdr-off-ndv100", Nothing),
    ("nccltests-36-azure-v100-gdr-ok", Nothing),
    ("nvpeermem-79-ofed-reinstall", Nothing),
    ("nvpeermem-8-symbol-version-mismatch", Asserted("gdr/peermem-not-loaded")),
    // Whose address 00:12.0 is, is not shown.
    ("onl-897-dmar-fault", Nothing),
    ("prime-rl-3452-plugin-missing-libhwloc", Asserted("net/library-missing")),
];

#[test]
fn real_reports_are_judged_by_their_truth() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/cases");
    if !root.is_dir() {
        println!("SKIPPED: ../shared/data is not here");
        return;
    }
    let mut wrong = Vec::new();
    for (case, want) in CASES {
        let a = answer_to_dir(&root.join(case));
        let (first, sure) = (ids(&a).first().copied(), asserted(&a));
        let right = match want {
            Asserted(id) => first == Some(*id) && sure.first() == Some(id),
            First(id) => first == Some(*id),
            Undecided => sure.is_empty() && a.exit_code() == 2,
            Nothing => sure.is_empty(),
        };
        if !right {
            wrong.push(format!(
                "{case}: want {want:?}, causes {:?}, sure {sure:?}, {} undecided",
                ids(&a),
                a.undecided.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // All of them are judged.
    let there = std::fs::read_dir(&root).into_iter().flatten().flatten().count();
    assert_eq!(there, CASES.len());
    // Receiving is direct and sending is not: by design, and said so.
    let azure = answer_to_dir(&root.join("nccltests-36-azure-v100-gdr-ok"));
    assert!(azure.not_causes.iter().any(|n| n.what.contains("sending without")), "{:?}", azure.not_causes);
}
