//! The list: ids, paths, and what an empty source answers.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_facts::{Fact, Form, Reading, Subject, Value, compared, defs, each, each_subject, kinds, list_of, moves};
use linerate_node::Node;
use linerate_snapshot::{Coverage, Output, OutputKind, Snapshot};
use std::collections::BTreeSet;

fn tree() -> Snapshot {
    let mut s = Snapshot::new("tree");
    let dev = "sys/devices/pci0000:18/0000:18:00.0";
    for (path, text) in [
        ("proc/cmdline", "quiet iommu=pt\n"),
        ("sys/kernel/iommu_groups/7/type", "DMA-FQ\n"),
        ("sys/devices/system/node/node0/cpulist", "0-3\n"),
        (&format!("{dev}/vendor"), "0x15b3\n"),
        (&format!("{dev}/device"), "0x1021\n"),
        (&format!("{dev}/class"), "0x020700\n"),
        (&format!("{dev}/current_link_speed"), "32.0 GT/s PCIe\n"),
        (&format!("{dev}/infiniband/mlx5_0/ports/1/state"), "4: ACTIVE\n"),
        (&format!("{dev}/infiniband/mlx5_0/ports/1/rate"), "400 Gb/sec (4X NDR)\n"),
        (&format!("{dev}/infiniband/mlx5_0/ports/1/gids/0"), "fe80:0000:0000:0000:0000:0000:0000:0001\n"),
        (&format!("{dev}/net/ib0/mtu"), "2044\n"),
    ] {
        s.add_file(path, text.as_bytes()).unwrap();
    }
    for (link, to) in [
        ("sys/bus/pci/devices/0000:18:00.0", "../../../devices/pci0000:18/0000:18:00.0"),
        ("sys/class/infiniband/mlx5_0", "../../devices/pci0000:18/0000:18:00.0/infiniband/mlx5_0"),
        ("sys/class/net/ib0", "../../devices/pci0000:18/0000:18:00.0/net/ib0"),
    ] {
        s.add_link(link, to.as_bytes()).unwrap();
    }
    s
}

#[test]
fn ids_are_unique_and_begin_with_their_subject() {
    let ids: Vec<&str> = defs().map(|d| d.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    for d in defs() {
        assert!(d.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._".contains(&b)), "{}", d.id);
        assert!(!d.what.is_empty() && !d.what.contains('|'), "{}", d.id);
    }
    let s = tree();
    each(&Node::decode(&s), &mut |f| assert!(f.def.id.starts_with(f.subject.prefix()), "{f}"));
}

#[test]
fn a_fact_is_of_the_list_that_its_subject_is_in() {
    let s = tree();
    each(&Node::decode(&s), &mut |f| {
        assert_eq!(list_of(f.def.id).unwrap_or_default(), f.subject.prefix(), "{f}");
        if let Reading::Known(Value::Members(all), _) = &f.reading {
            assert!(all.iter().all(|m| m.prefix() == f.def.id), "{f}");
        }
    });
    // A list whose members have no facts would be none.
    for list in defs().filter(|d| d.form == Form::Members) {
        assert!(defs().any(|d| list_of(d.id) == Some(list.id)), "{}", list.id);
    }
    for (id, list) in [
        ("kernel.release", None),
        ("pci", None),
        ("pci.link.speed", Some("pci")),
        ("rdma.ports.gids", Some("rdma.ports")),
        ("rdma.ports.gids.gid", Some("rdma.ports.gids")),
        ("iommu.groups.domain", Some("iommu.groups")),
        ("no.such.fact", None),
    ] {
        assert_eq!(list_of(id), list, "{id}");
    }
}

#[test]
fn each_fact_has_the_kind_of_its_id() {
    let sick = include_bytes!("../../../examples/sick-8gpu.tar.zst");
    let mut seen: BTreeSet<(&str, u32)> = BTreeSet::new();
    for s in [tree(), linerate_snapshot::load_bytes(sick, "sick").unwrap()] {
        each_subject(&Node::decode(&s), &mut |_| true, &mut |subject, facts| {
            let kinds = kinds(subject);
            assert_eq!(kinds.len(), facts.len(), "{subject:?}");
            for (fact, kind) in facts.iter().zip(kinds) {
                assert_eq!(kind.how, compared(fact.def.id), "{}", fact.def.id);
                seen.insert((fact.def.id, kind.number));
            }
        });
    }
    assert!(seen.len() > 100 && seen.iter().map(|(_, n)| n).is_sorted(), "numbers are in the order of ids");
}

#[test]
fn a_path_is_one_fact() {
    let s = tree();
    let node = Node::decode(&s);
    let mut paths = BTreeSet::new();
    let mut rate = None;
    each(&node, &mut |f: &Fact<'_>| {
        assert!(paths.insert(f.to_string()), "{f}");
        if f.to_string() == "rdma[mlx5_0].ports[1].rate_gbps" {
            rate = Some((f.reading.known().map(ToString::to_string), f.def.unit.symbol(), f.subject.function()));
            assert!(s.describe(f.reading.place()).ends_with("mlx5_0/ports/1/rate"));
        }
    });
    assert_eq!(rate, Some((Some("400".to_owned()), "Gb/s", "0000:18:00.0".parse().ok())));
    for path in ["kernel.cmdline", "pci[0000:18:00.0].link.speed", "net[ib0].mtu", "iommu.groups[7].domain"] {
        assert!(paths.contains(path), "{path}");
    }
}

#[test]
fn in_an_empty_source_nothing_is_known_and_nothing_is_absent() {
    let s = Snapshot::new("empty");
    each(&Node::decode(&s), &mut |f| assert!(f.reading.is_unreadable(), "{f}: {:?}", f.reading));
}

#[test]
fn lists_lead_to_their_members() {
    let s = tree();
    let node = Node::decode(&s);
    for f in linerate_facts::of(&node, Subject::Node) {
        if let (Reading::Known(Value::Members(all), _), "rdma") = (&f.reading, f.def.id) {
            assert_eq!(all.iter().map(ToString::to_string).collect::<Vec<_>>(), ["rdma[mlx5_0]"]);
            assert_eq!(serde_json::to_value(f.reading.known()).unwrap(), serde_json::json!(["rdma[mlx5_0]"]));
            return;
        }
    }
    panic!("no list of RDMA devices");
}

#[test]
fn what_moves_is_a_fact_of_the_list() {
    for m in moves::MOVING {
        assert!(defs().any(|d| d.id == m.id), "{}", m.id);
        assert!(!m.path.starts_with('/') && m.reason.len() > 10, "{}", m.id);
    }
    assert!(moves::why("rdma.ports.gids.gid").is_some() && moves::why("pci.link.max_speed").is_none());
}

/// What a fact of a tree shows: its value, `absent`, or `?`.
fn shown(s: &Snapshot, path: &str) -> String {
    let mut out = String::new();
    each(&Node::decode(s), &mut |f| {
        if f.to_string() == path {
            out = match &f.reading {
                Reading::Known(v, _) => v.to_string(),
                Reading::Absent(_) => "absent".to_owned(),
                Reading::Unreadable(..) => "?".to_owned(),
            };
        }
    });
    out
}

#[test]
fn drivers_limits_and_qos_are_facts() {
    let mut s = tree();
    s.add_file("sys/module/mlx5_core/version", b"24.10-1.1.4\n").unwrap();
    s.add_file("sys/module/nvidia/version", b"570.86.15\n").unwrap();
    // A source that does not hold the others says nothing: a list with gaps would look like other drivers.
    assert_eq!(shown(&s, "kernel.module_versions"), "?");
    let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
        Max processes             2061530              unlimited            processes \n\
        Max open files            1024                 1048576              files     \n";
    s.add_file("proc/self/limits", limits.as_bytes()).unwrap();
    let qos = "DCBX mode: OS controlled\nPriority trust state: dscp\nPFC configuration:\n\
        \tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   1   0   0   \n";
    for (n, interface) in ["eth9", "ib0"].into_iter().enumerate() {
        let entry = s.add_file(&format!("cmd/{n}/stdout"), qos.as_bytes()).unwrap();
        let argv = ["mlnx_qos", "-i", interface].map(str::to_owned).to_vec();
        s.outputs.push(Output { kind: OutputKind::MlnxQos, entry, argv, status: Some(0) });
        // What is said of another interface is nothing of this one.
        let (trust, pfc) = if interface == "ib0" { ("dscp", "3 5") } else { ("?", "?") };
        assert_eq!((shown(&s, "net[ib0].trust"), shown(&s, "net[ib0].pfc")), (trust.to_owned(), pfc.to_owned()));
    }
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    assert_eq!(shown(&s, "kernel.module_versions"), "nvidia=570.86.15 mlx5_core=24.10-1.1.4");
    let of = |id: &str| shown(&s, &format!("kernel.{id}"));
    assert_eq!((of("nofile_soft"), of("nofile_hard")), ("1024".to_owned(), "1048576".to_owned()));
    assert_eq!((of("nproc_soft"), of("nproc_hard")), ("2061530".to_owned(), "unlimited".to_owned()));
    assert!(moves::why("kernel.nproc_soft").is_some() && moves::why("kernel.nofile_soft").is_none());
}

#[test]
fn ecc_and_mig_of_a_gpu_are_facts() {
    let text = "==============NVSMI LOG==============\n\nDriver Version                            : 570.86.15\n\
        CUDA Version                              : 12.8\n\nAttached GPUs                             : 1\n\
        GPU 00000000:18:00.0\n    Product Name                          : NVIDIA H100 80GB HBM3\n    MIG Mode\n\
        \x20       Current                           : Disabled\n        Pending                           : Enabled\n\
        \x20   ECC Mode\n        Current                           : Enabled\n        Pending                           : Enabled\n";
    let s = linerate_snapshot::load_bytes(text.as_bytes(), "nvidia-smi.txt").unwrap();
    let of = |leaf: &str| shown(&s, &format!("gpus[0000:18:00.0].driver_view.{leaf}"));
    assert_eq!((of("mig"), of("ecc")), ("Disabled".to_owned(), "Enabled".to_owned()));
    // A text that does not say it.
    let without = text.split("    MIG Mode").next().unwrap();
    let s = linerate_snapshot::load_bytes(without.as_bytes(), "nvidia-smi.txt").unwrap();
    assert_eq!(shown(&s, "gpus[0000:18:00.0].driver_view.mig"), "?");
}

/// A GPU on the bus that the driver does not report has no driver's view, where the driver reported as many as are attached; a container may be given a part of them.
#[test]
fn what_the_driver_does_not_report_is_absent() {
    let report = |attached: u32| {
        format!(
            "==============NVSMI LOG==============\n\nDriver Version                            : 570.86.15\n\
            Attached GPUs                             : {attached}\nGPU 00000000:18:00.0\n    Product Name                          : NVIDIA H100 80GB HBM3\n"
        )
    };
    let of = |attached: Option<u32>, virt: &str| {
        let mut s = Snapshot::new("n1");
        for (leaf, value) in [("vendor", "0x10de\n"), ("device", "0x2330\n"), ("class", "0x030200\n")] {
            s.add_file(&format!("sys/bus/pci/devices/0000:2a:00.0/{leaf}"), value.as_bytes()).unwrap();
        }
        s.add_output(&["systemd-detect-virt"], virt.as_bytes()).unwrap();
        if let Some(attached) = attached {
            s.add_output(&["nvidia-smi", "-q"], report(attached).as_bytes()).unwrap();
        }
        let node = Node::decode(&s);
        let mut out = None;
        each(&node, &mut |f| {
            if f.to_string() == "gpus[0000:2a:00.0].driver_view" {
                out = Some(f.reading.is_absent());
            }
        });
        out.unwrap()
    };
    assert!(of(Some(1), "none\n"));
    assert!(!of(None, "none\n") && !of(Some(1), "docker\n"));
    // `nvidia-smi -q -i 0`: the others were not asked.
    assert!(!of(Some(2), "none\n"));
}
