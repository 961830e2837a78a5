//! Claims of schedulers in a policy: a lie is found, what is so passes, and what is not seen never passes.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

use crate::common;

use linerate_compose::Description;
use linerate_fleet::policy::condition::Facts;
use linerate_fleet::policy::{self, Policy, Wrong};
use linerate_fleet::{Profile, Traits};
use linerate_node::Node;
use linerate_rules::Status;
use linerate_snapshot::Snapshot;

const OBJECT: &str = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"example.com/iommu":"pt","example.com/zone":"a.b"}},
"spec":{"taints":[{"key":"nvidia.com/gpu","effect":"NoSchedule"}],"unschedulable":true},
"status":{"allocatable":{"nvidia.com/gpu":"8","rdma/hca":"63"},"capacity":{"nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True"}]}}"#;

const RECORD: &str = "NodeName=n1 Arch=x86_64 CoresPerSocket=56 \n   AvailableFeatures=iommu-pt,ib,roce\n   ActiveFeatures=iommu-pt,ib\n   Gres=gpu:h100:8(S:0-1)\n   State=IDLE+DRAIN ThreadsPerCore=2\n   Reason=checked [root@2026-11-20T10:00:00]\n\n";

fn node(patch: &str) -> Snapshot {
    let text = std::fs::read_to_string(common::nodes().join("healthy-8gpu.toml")).unwrap();
    let text = match patch.strip_prefix("iommu = ") {
        Some(domain) => text.replace("iommu = \"identity\"", &format!("iommu = {domain}")),
        None => format!("{text}\n{patch}"),
    };
    let d = Description::parse(&text).unwrap_or_else(|e| panic!("{patch}: {e}"));
    let mut s = common::snapshot(&d.compose().unwrap(), "n1");
    s.add_output(&["kubectl", "get", "node", "n1", "-o", "json"], OBJECT.as_bytes()).unwrap();
    s.add_output(&["scontrol", "show", "node", "n1"], RECORD.as_bytes()).unwrap();
    s
}

fn claims(text: &str) -> String {
    format!("schema = \"linerate.policy/1\"\n[class.a]\nmatch = {{}}\n{text}")
}

fn parsed(text: &str) -> Policy {
    policy::read(text)
        .unwrap_or_else(|m| panic!("{}", m.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))
}

/// The answers of a policy, by the names of its expectations.
fn held(text: &str, s: &Snapshot) -> Vec<(String, Status)> {
    let policy = parsed(&claims(text));
    assert_eq!(parsed(&policy::write(&policy)).classes[0].claims.len(), policy.classes[0].claims.len());
    assert_eq!(policy::write(&parsed(&policy::write(&policy))), policy::write(&policy));
    let node = Node::decode(s);
    let profile = Profile::of(&s.label, &node, s, &policy.rules());
    let facts = Facts::new(serde_json::json!({"memory": {"numa_balancing": {"known": 0}}}));
    let checked = policy::check(&policy, &profile, &Traits::of(&node), Some(&facts));
    let name = |id: &str| id.strip_prefix("policy/a.").unwrap().to_owned();
    checked.answers.iter().map(|a| (name(&a.kind.about().id), a.status)).collect()
}

/// One claim.
fn claim(when: &str, means: &str) -> String {
    format!("[[class.a.claim]]\nname = \"c\"\nwhen = {when}\n{means}\n")
}

#[test]
fn a_claim_is_true_a_lie_or_cannot_be_told() {
    use Status::{Fail, NotApplicable, Pass, Unknown};
    let pt = "[class.a.claim.on.node]\n\"kernel.cmdline iommu\" = \"iommu=pt\"";
    let (healthy, translated) = (node(""), node("iommu = \"dma-fq\""));
    // Nothing but what the scheduler says.
    let mut denied = Snapshot::new("n1");
    denied.add_output(&["kubectl", "get", "node", "n1", "-o", "json"], OBJECT.as_bytes()).unwrap();
    for (s, when, means, expected) in [
        (&healthy, r#""kubernetes.labels.value[example.com/iommu]=pt""#, pt, Pass),
        (&translated, r#""kubernetes.labels.value[example.com/iommu]=pt""#, pt, Fail),
        (&denied, r#""kubernetes.labels.value[example.com/iommu]=pt""#, pt, Unknown),
        (&translated, r#""kubernetes.labels.value[example.com/iommu]=off""#, pt, NotApplicable),
        (&translated, r#""kubernetes.labels.value[example.com/none]""#, pt, NotApplicable),
        (&translated, r#""kubernetes.labels.value[example.com/io*]~p?""#, pt, NotApplicable),
        (&translated, r#""kubernetes.labels.value[*/iommu]~p*""#, pt, Fail),
        (&translated, r#""slurm.features=iommu-pt""#, pt, Fail),
        (&translated, r#""slurm.features=roce""#, pt, NotApplicable),
        (&translated, r#""slurm.available_features=roce""#, pt, Fail),
        (&translated, r#"["slurm.features=ib", "slurm.state=DRAIN"]"#, pt, Fail),
        (&translated, r#"["slurm.features=ib", "slurm.state=DOWN"]"#, pt, NotApplicable),
        (&translated, r#""slurm.gres.count[gpu*]>=8""#, pt, Fail),
        (&translated, r#""slurm.gres.count[gpu*]>8""#, pt, NotApplicable),
        (&translated, r#""kubernetes.resources.allocatable[rdma/*]>=1""#, pt, Fail),
        (&translated, r#""kubernetes.resources.capacity[rdma/*]>=1""#, pt, NotApplicable),
        (&translated, r#""kubernetes.taints.effect[nvidia.com/gpu]=NoSchedule""#, pt, Fail),
        (&translated, r#""kubernetes.unschedulable=true""#, pt, Fail),
        (&translated, r#""kubernetes.conditions.status[Ready]=True""#, pt, Fail),
        (&translated, r#""slurm.reason=checked""#, pt, Fail),
        // What a device's fact says, what a rule says, what a condition says.
        (
            &healthy,
            r#""slurm.features=ib""#,
            "[class.a.claim.on.\"rail * NIC\"]\n\"rdma.ports.link_layer port 1\" = \"InfiniBand\"",
            Pass,
        ),
        (
            &healthy,
            r#""slurm.features=ib""#,
            "[class.a.claim.on.\"rail * NIC\"]\n\"rdma.ports.link_layer port 1\" = \"Ethernet\"",
            Fail,
        ),
        (&healthy, r#""slurm.features=ib""#, "passes = \"rdma/port-state\"", Pass),
        (&node("[rdma.mlx5_3]\nstate = \"DOWN\""), r#""slurm.features=ib""#, "passes = [\"rdma/port-state\"]", Fail),
        (&healthy, r#""slurm.features=ib""#, "passes = \"rdma/roce-mtu\"", Unknown),
        (&healthy, r#""slurm.features=ib""#, "holds = 'node.memory.numa_balancing.known == 0'", Pass),
        (&healthy, r#""slurm.features=ib""#, "holds = 'node.memory.numa_balancing.known == 1'", Fail),
        (
            &healthy,
            r#""slurm.features=ib""#,
            "holds = 'node.memory.numa_balancing.known == 1'\npasses = \"rdma/port-state\"",
            Fail,
        ),
    ] {
        let text = claim(when, means);
        assert_eq!(held(&text, s), [("c".to_owned(), expected)], "{text}");
    }
}

/// Without a text of the scheduler it cannot be told what it claims.
#[test]
fn what_the_source_does_not_show_is_no_claim_and_no_pass() {
    let text = std::fs::read_to_string(common::nodes().join("healthy-8gpu.toml")).unwrap();
    let s = common::snapshot(&Description::parse(&text).unwrap().compose().unwrap(), "n1");
    let means = "passes = \"rdma/port-state\"";
    for when in [
        "kubernetes.labels.value[a]=b",
        "slurm.features=ib",
        "slurm.gres.count[gpu]>=1",
        "kubernetes.unschedulable=true",
        "slurm.reason",
    ] {
        assert_eq!(held(&claim(&format!("{when:?}"), means), &s), [("c".to_owned(), Status::Unknown)], "{when}");
    }
}

/// Labels and resources can be expected as any fact.
#[test]
fn a_claim_can_be_expected() {
    let rows = "[class.a.on.node]\n\"kubernetes.labels.value example.com/zone\" = { matches = \"a.*\", name = \"zone\" }\n\
                \"kubernetes.resources.allocatable nvidia.com/gpu\" = { at_least = 8, name = \"gpus\" }\n\
                \"kubernetes.labels.value example.com/old\" = { absent = true, name = \"old\" }\n\
                \"slurm.features\" = { contains = [\"ib\"] }\n\"slurm.gres.count gpu:h100\" = { equals = 8, name = \"gres\" }\n\
                \"slurm.memory_mib\" = { at_least = 1, name = \"memory\" }\n";
    let found = held(rows, &node(""));
    let of = |name: &str| found.iter().find(|(n, _)| n == name).map(|(_, s)| *s);
    for (name, status) in [
        ("zone", Status::Pass),
        ("gpus", Status::Pass),
        ("old", Status::Pass),
        ("node.slurm.features.ib", Status::Pass),
        ("gres", Status::Pass),
        ("memory", Status::Unknown),
    ] {
        assert_eq!(of(name), Some(status), "{name}: {found:?}");
    }
    for bad in [
        "[class.a.on.node]\n\"kubernetes.labels.value\" = \"x\"",
        "[class.a.on.\"GPU *\"]\n\"slurm.gres.count gpu\" = 8",
    ] {
        assert!(policy::read(&claims(bad)).is_err(), "{bad}");
    }
}

#[test]
fn mistakes_of_claims_are_said() {
    let wrong = |text: &str| -> Wrong { policy::read(&claims(text)).unwrap_err().remove(0).wrong };
    let means = "passes = \"rdma/port-state\"";
    assert!(matches!(wrong(&claim("\"slurm.featurs=x\"", means)), Wrong::When(_)));
    assert!(matches!(wrong(&claim("\"rdma/port-state\"", means)), Wrong::Claim(_)));
    assert!(matches!(wrong(&claim("\"slurm.features=x\"", "")), Wrong::Claim(_)));
    assert!(matches!(wrong(&claim("\"slurm.features=x\"", "passes = \"rdma/port-stat\"")), Wrong::Unknown { .. }));
    assert!(matches!(wrong(&claim("\"slurm.features=x\"", "holds = 'node.x'")), Wrong::Condition(_)));
    assert!(matches!(wrong("[[class.a.claim]]\nwhen = \"slurm.features=x\"\n"), Wrong::Nothing(_)));
    assert!(matches!(wrong("[[class.a.claim]]\nname = \"c\"\npasses = \"rdma/port-state\"\n"), Wrong::Claim(_)));
}

#[test]
fn the_example_of_the_page_is_a_policy() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policy.md");
    let page = std::fs::read_to_string(page).unwrap();
    let example = page.split("```toml\n").nth(2).and_then(|rest| rest.split("```").next()).unwrap();
    let policy = parsed(example);
    assert_eq!(policy.classes[0].claims.len(), 3);
    assert_eq!(parsed(&policy::write(&policy)).all().count(), policy.all().count());
}
