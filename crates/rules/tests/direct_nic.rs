//! The kernel argument that a Data Direct tree needs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use linerate_rules::{Action, Severity, Status};

#[test]
fn the_fix_of_a_data_direct_tree_is_the_list_that_rdma_topo_writes() {
    let (d, s) = common::load(&common::nodes().join("broken/acs--direct-nic-2.toml"));
    let names = d.names().unwrap();
    let audit = common::judge(&s);
    let fixes: Vec<&Action> = audit
        .with(Status::Fail)
        .filter(|v| v.rule.id == "acs/direct-nic" && v.severity() == Severity::High)
        .map(|v| &v.finding.remedy.as_ref().expect("a remedy").action)
        .collect();
    assert_eq!(fixes.len(), 4);
    for fix in fixes {
        let Action::KernelArgs { add, remove } = fix else { panic!("{fix:?}") };
        assert!(remove.is_empty());
        let [list] = add.as_slice() else { panic!("{add:?}") };
        let entries: Vec<&str> = list.strip_prefix("pci=config_acs=").unwrap().split(';').collect();
        assert_eq!(entries.len(), 12);
        for n in 0..4 {
            for (port, bits) in [("dma", "xx110x1"), ("gpu", "xx101x1"), ("root", "xx111x0")] {
                let want = format!("{bits}@{}", names[&format!("complex{n}.{port}")]);
                assert!(entries.contains(&want.as_str()), "{want} in {list}");
            }
            let inner = names[&format!("gpu{n}.port")].to_string();
            assert!(!list.contains(&inner), "the port directly above GPU {n} keeps the kernel's value");
        }
    }
}
