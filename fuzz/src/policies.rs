//! Policies and conditions of strangers, against a composed node.

use crate::page::inert;
use linerate_compose::Description;
use linerate_fleet::policy::{self, condition};
use linerate_fleet::{Profile, Traits};
use linerate_node::Node;
use linerate_report::Style;
use linerate_report::policy::{Checks, Format};
use linerate_snapshot::Snapshot;
use std::hint::black_box;
use std::path::Path;
use std::sync::LazyLock;

pub(crate) struct Against {
    pub(crate) snapshot: Snapshot,
    profile: Profile,
    traits: Traits,
    facts: condition::Facts,
}

/// A node with something in each list.
pub(crate) static AGAINST: LazyLock<Against> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/nodes/sick-8gpu.toml");
    let tree = Description::load(&path).and_then(|d| d.compose());
    let mut snapshot = Snapshot::new("fuzz");
    for (path, data) in tree.iter().flat_map(|t| t.files()) {
        snapshot.add_file(path, data);
    }
    let node = Node::decode(&snapshot);
    let profile = Profile::of("fuzz", &node, &snapshot, &[]);
    let (traits, facts) =
        (Traits::of(&node), condition::Facts::new(linerate_report::json::node_facts(&node, &snapshot)));
    drop(node);
    Against { snapshot, profile, traits, facts }
});

/// Reads a policy, holds the node to it, writes it, and reads that: it must want the same.
pub(crate) fn policy(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(policy) = policy::read(text) else { return };
    let a = &*AGAINST;
    let checked = policy::check(&policy, &a.profile, &a.traits, Some(&a.facts));
    let node = Node::decode(&a.snapshot);
    black_box(checked.answers.iter().filter_map(|x| policy::wish(x, &node)).count());
    let mut checks = Checks::new(&policy);
    checks.add("fuzz", &checked, &a.snapshot);
    let (report, mut page) = (checks.finish(), Vec::new());
    for format in [Format::Text(Style { verbose: true, ..Style::default() }), Format::Json, Format::Markdown] {
        let _ = report.write(format, &mut page);
    }
    inert(&page, &[]);
    let written = policy::write(&policy);
    let back = policy::read(&written);
    assert!(back.is_ok(), "what was written is not read: {:?}\n{written}", back.err());
    if let Ok(back) = back {
        assert_eq!(policy::diff(&policy, &back), vec![], "written and read back: {written}");
    }
}

/// Reads a condition and asks the node.
pub(crate) fn condition(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(program) = condition::Program::of(text) {
        black_box(program.holds(&AGAINST.facts));
    }
}

/// The example of the page, and conditions of each form.
pub(crate) fn seeds() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/policy.md")).unwrap_or_default();
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let conditions = [
        "node.gpus.known.all(g, size(g.nearest_nics.known) > 0)",
        "has(node.memory.numa_balancing.known) && node.memory.numa_balancing.known == 0",
        "node.kernel.cmdline.known.exists(w, w.startsWith(\"iommu=\")) || !(1 + 2 * 3 - 4 / 5 % 6 < 7)",
        "node.pci.known.all(f, !has(f.driver.known) || f.driver.known in [\"nvidia\", \"mlx5_core\"])",
        "node.pci.known.filter(f, f.kind.known == \"gpu\").map(f, f.bdf).size() == int(\"8\") ? true : false",
        "node.rdma.known.all(d, d.ports.known.exists_one(p, double(p.rate_gbps.known) >= 400.0))",
        "{\"a\": node.cpu.sockets.known}[\"a\"] == 2 && [1, 2][0] == 1",
    ];
    (vec![example.as_bytes().to_vec()], conditions.map(|c| c.as_bytes().to_vec()).into())
}
