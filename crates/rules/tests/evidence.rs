//! Evidence shows the very bytes that decided.

use crate::common;

use linerate_rules::Status;

/// Rule, subject, what the bytes at the first place must contain.
const EXPECTED: &[(&str, &str, &str)] = &[
    // ACS control 0x1d little-endian: SV, RR, CR, UF.
    ("acs/redirect-on-p2p-path", "0000:17:01.0", "1d 00"),
    ("iommu/translated-domain", "0000:18:00.0", "DMA-FQ"),
    (
        "cmdline/acs-override",
        "pcie_acs_override=downstream,multifunction",
        "pcie_acs_override=downstream,multifunction",
    ),
    ("rdma/port-state", "mlx5_5/1", "1: DOWN"),
];

#[test]
fn the_bytes_shown_are_the_bytes_judged() {
    let snapshot = common::base("sick-8gpu");
    let node = linerate_node::Node::decode(&snapshot);
    let audit = linerate_rules::audit(&node, &snapshot, linerate_rules::rules());
    for (rule, subject, bytes) in EXPECTED {
        let verdict = audit
            .with(Status::Fail)
            .find(|v| v.rule.id == *rule && v.finding.subject.to_string() == *subject)
            .unwrap_or_else(|| panic!("{rule} does not fail on {subject}"));
        let shown: Vec<String> = verdict.finding.evidence.iter().map(|e| snapshot.excerpt(e.place)).collect();
        assert!(shown.iter().any(|s| s.contains(bytes)), "{rule} on {subject} shows {shown:?}");
    }
    // Whatever is not unknown shows a place.
    for v in &audit.verdicts {
        if matches!(v.finding.status, Status::Pass | Status::Fail) {
            assert!(!v.finding.evidence.is_empty(), "{} {}", v.rule.id, v.finding.subject);
        }
    }
}
