//! A part of GPUs that NVSwitches join is one partition of the fabric manager, or refused with those that there are.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use crate::common;

use common::{lab, snapshot};
use linerate_compose::{Description, Tree};
use linerate_formats::fabric_partitions::{Partition, parse};
use linerate_node::Node;
use linerate_node::pci::Kind;
use linerate_vm::fabric::Fabric;
use linerate_vm::split::split;
use linerate_vm::{Refusal, choose};

/// Modules of the eight GPUs, by address: they do not follow it.
const MODULES: [u32; 8] = [3, 4, 1, 2, 8, 7, 6, 5];

/// A host with eight GPUs and NVSwitches. `modules`: nvidia-smi prints where each GPU is on the baseboard.
fn host(modules: bool) -> Tree {
    let path = lab().join("nodes/healthy/dgx-h100.toml");
    let mut tree = Description::load(&path).unwrap().compose().unwrap();
    let smi = tree.files().find(|(_, d)| String::from_utf8_lossy(d).contains("<nvidia_smi_log>"));
    let (path, data) = smi.map(|(p, d)| (p.to_owned(), String::from_utf8_lossy(d).into_owned())).unwrap();
    let mut text = data;
    for (minor, module) in MODULES.iter().enumerate().filter(|_| modules) {
        let minor = format!("<minor_number>{minor}</minor_number>");
        text = text.replace(&minor, &format!("{minor}\n\t\t<gpu_module_id>{module}</gpu_module_id>"));
    }
    tree.file(path, text);
    tree
}

/// What `fmpm -l` prints where the GPUs are held by vfio: nothing but modules.
fn list(partitions: &[&[u32]]) -> Vec<Partition> {
    let gpu = |m: &u32| format!("{{\"pciBusId\":\"00000000:00:00.0\",\"physicalId\":{m},\"uuid\":\"\"}}");
    let one = |(id, gpus): (usize, &&[u32])| {
        let all = gpus.iter().map(gpu).collect::<Vec<_>>().join(",");
        format!("{{\"gpuInfo\":[{all}],\"isActive\":0,\"numGpus\":{},\"partitionId\":{id}}}", gpus.len())
    };
    let all = partitions.iter().enumerate().map(one).collect::<Vec<_>>().join(",");
    parse(format!("{{\"numPartitions\":{},\"partitionInfo\":[{all}]}}", partitions.len()).as_bytes()).unwrap()
}

#[test]
fn a_part_is_a_partition() {
    let s = snapshot(&host(true));
    let node = Node::decode(&s);
    let all = choose(&node, "all").unwrap();
    let halves = Fabric::Listed(list(&[&[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4], &[5, 6, 7, 8], &[1, 3], &[1]]));
    let parts = split(&node, &all, 2, &halves).unwrap();
    let switches = |p: &std::collections::BTreeSet<_>| {
        p.iter().filter(|id| matches!(node.pci.get(**id).kind, Kind::NvSwitch)).count()
    };
    assert_eq!(parts.iter().map(switches).sum::<usize>(), 0, "switches of a shared fabric stay");
    let whole = split(&node, &all, 1, &halves).unwrap();
    assert!(switches(&whole[0]) > 0, "who has all GPUs has the switches");
    // Modules 3 and 4 are the GPUs 0 and 1: half of a partition, and none of its own.
    let two = choose(&node, "gpu:0-1").unwrap();
    let Err(Refusal::Partition { gpus, possible }) = split(&node, &two, 1, &halves) else { panic!() };
    let address = |at: usize| node.pci.gpus().nth(at).unwrap().1.bdf;
    assert_eq!(gpus, [address(0), address(1)]);
    assert_eq!(possible.len(), 5);
    assert_eq!(possible[3], (3, vec![address(0), address(2)]));
    assert_eq!(split(&node, &choose(&node, "gpu:0,gpu:2").unwrap(), 1, &halves).map(|p| p.len()), Ok(1));
    assert_eq!(split(&node, &choose(&node, "gpu:2").unwrap(), 1, &halves).map(|p| p.len()), Ok(1));
    // More than one partition is none.
    let crossed = Fabric::Listed(list(&[&[1, 2, 5, 6], &[3, 4, 7, 8]]));
    assert!(matches!(split(&node, &all, 2, &crossed), Err(Refusal::Partition { .. })));
    assert_eq!(split(&node, &two, 1, &Fabric::Unknown), Err(Refusal::Fabric));
    assert!(split(&node, &two, 1, &Fabric::Said).is_ok());
}

#[test]
fn a_module_that_the_snapshot_does_not_show() {
    let s = snapshot(&host(false));
    let node = Node::decode(&s);
    let all = choose(&node, "all").unwrap();
    let halves = list(&[&[1, 2, 3, 4], &[5, 6, 7, 8]]);
    let refused = split(&node, &all, 2, &Fabric::Listed(halves.clone()));
    assert_eq!(refused, Err(Refusal::Module { partition: 0, module: 1 }));
    // An address is enough where it is the host's.
    let mut named = halves;
    for (place, (_, f)) in node.pci.gpus().enumerate() {
        for g in named.iter_mut().flat_map(|p| p.gpus.iter_mut()).filter(|g| g.module == MODULES[place]) {
            g.bdf = Some(f.bdf);
        }
    }
    assert!(split(&node, &all, 2, &Fabric::Listed(named)).is_ok());
}
