//! Peers, topology, GPUDirect decisions, rings and trees, tuning, and the line that the communicator is complete.

use super::facts::Facts;
use super::spec::{Fault, Gpu};
use super::writer::Pen;
use crate::printf::Value;
use crate::release::{Distance, Release};

/// The communicator starts: its line, MNNVL, what ranks have.
pub(super) fn start(pen: &mut Pen<'_>) {
    pen.say("comm.start", &[]);
    pen.wait(0.05);
    pen.say(
        "bootstrap.timings",
        &[
            ("bt0", 0.031_2.into()),
            ("bt1", 0.000_041.into()),
            ("bt2", 0.000_137.into()),
            ("bt3", 0.021_1.into()),
            ("bt4", 0.004_3.into()),
            ("bt5", 0.000_001.into()),
        ],
    );
    if pen.facts.job.gpu == Gpu::Gb200 {
        let clique = 0x7ffe_u64;
        let uuid = pen.facts.seed | 0x1234_0000_0000;
        pen.say(
            "mnnvl.fabric",
            &[
                ("uuid0", uuid.into()),
                ("uuid1", (uuid ^ 0xffff).into()),
                ("clique", clique.into()),
                ("state", 3.into()),
                ("health", 0_u64.into()),
            ],
        );
    }
}

/// Devices of a node's network: its NICs, or its one interface.
fn devices(facts: &Facts<'_>, node: usize) -> usize {
    match facts.network(node) {
        "Socket" => 1,
        "AWS Libfabric" => facts.job.nics.max(1),
        _ => facts.hcas(node).len(),
    }
}

/// Since 2.30.3 ranks compare how many devices they have. Says whether rank 0 ends the job for it.
pub(super) fn compare_devices(pen: &mut Pen<'_>) -> bool {
    let facts = pen.facts;
    let per_node: Vec<usize> = (0..facts.job.nodes).map(|n| devices(facts, n)).collect();
    let (min, max) = (per_node.iter().min().copied().unwrap_or(0), per_node.iter().max().copied().unwrap_or(0));
    pen.say("net.devices", &[("ndevs", devices(facts, pen.rank.node).into())]);
    if pen.rank.release < Release(2, 30, 3) {
        return false;
    }
    if pen.rank.rank == 0 {
        let given = [("netmin", Value::from(min)), ("netmax", max.into())];
        pen.say("net.devices.minmax", &given);
        if min != max {
            for rank in facts.ranks.iter().filter(|r| devices(facts, r.node) < max) {
                pen.say(
                    "net.devices.fewer",
                    &[
                        ("peerrank", rank.rank.into()),
                        ("have", devices(facts, rank.node).into()),
                        ("netmax", max.into()),
                    ],
                );
            }
            pen.say("net.devices.mixed", &given);
        }
    }
    min != max
}

/// The topology, its file, affinity, GPUDirect and NVLS.
pub(super) fn topology(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    for (name, id) in [("NCCL_TOPO_FILE", "env.topofile"), ("NCCL_TOPO_DUMP_FILE", "env.topodump")] {
        if let Some(value) = facts.env(name).map(str::to_owned) {
            pen.say(id, &[("value", value.as_str().into())]);
            if name == "NCCL_TOPO_FILE" {
                let given = [("value", value.into()), ("strerror", "No such file or directory".into())];
                let missing = facts.has(|f| matches!(f, Fault::TopoFile { fits: None }));
                pen.say(if missing { "topo.open" } else { "topo.load" }, &given);
            }
        }
    }
    hca_capability(pen);
    for name in ["NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL"] {
        if let Some(value) = facts.env(name).map(str::to_owned) {
            // Until 2.5 a number, read as any parameter.
            match (pen.rank.release < Release(2, 6, 4), value.parse::<i64>()) {
                (true, Ok(n)) => pen.say("env.param", &[("name", name.into()), ("ivalue", n.into())]),
                _ => pen.say("env.level", &[("name", name.into()), ("value", value.into())]),
            };
        }
    }
    p2p_problems(pen);
    affinity(pen);
    let nvls = facts.job.gpu.sm() >= 90 && facts.job.gpu.nvlink();
    // With 0 NCCL does not ask the driver (`src/transport/nvls.cc`, ncclNvlsInit).
    if facts.env("NCCL_NVLS_ENABLE") != Some("0") {
        let no = if nvls { "" } else { "not " };
        pen.say("nvls.support", &[("notstr", no.into()), ("nnvls", 16.into())]);
    }
    if pen.rank.rank == 0 {
        pen.say(
            "topo.system",
            &[("maxbw", 48.0.into()), ("totalbw", 240.0.into()), ("maxbwi", 48.into()), ("totalbwi", 240.into())],
        );
        pen.say("topo.end", &[]);
    }
    pairs(pen);
    patterns(pen);
    let level = facts.job.gpu == Gpu::Gb200;
    pen.say(
        "mnnvl.clique",
        &[
            ("clique", if level { 0x7ffe_u64 } else { 0 }.into()),
            ("cliquesize", if level { facts.nranks() } else { 0 }.into()),
            ("cliquerank", if level { pen.rank.rank } else { 0 }.into()),
        ],
    );
    pen.say("comm.layout", &[]);
}

fn hca_capability(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let network = facts.network(pen.rank.node);
    if network == "Socket" {
        return;
    }
    let state = if facts.gdr_possible() { "Enabled" } else { "Disabled" };
    for (d, name) in facts.hcas(pen.rank.node).iter().enumerate() {
        pen.say("gdr.hca", &[("state", state.into()), ("hcadev", d.into()), ("hca", name.as_str().into())]);
    }
}

fn p2p_problems(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let peer = (pen.rank.gpu + 1) % facts.job.gpus.max(1);
    let given = [
        ("devfrom", Value::from(pen.rank.gpu)),
        ("busfrom", facts.busid(pen.rank.gpu).into()),
        ("devto", peer.into()),
        ("busto", facts.busid(peer).into()),
    ];
    if facts.has(|f| matches!(f, Fault::P2pDisabled)) && pen.rank.gpu < peer {
        let id = if facts.job.gpu.nvlink() { "p2p.disabled.nvlink" } else { "p2p.disabled" };
        pen.say(id, &given);
    }
    if facts.has(|f| matches!(f, Fault::P2pRefused)) && !pen.say("p2p.enable", &given) {
        pen.say("p2p.query", &given);
    }
}

fn affinity(pen: &mut Pen<'_>) {
    let half = pen.rank.gpu * 2 / pen.facts.job.gpus.max(1);
    let masks = if half == 0 {
        "ffff,ffffffff,00000000,0000ffff,ffffffff"
    } else {
        "ffffffff,ffff0000,00000000,ffffffff,ffff0000"
    };
    let ranges = if half == 0 { "0-47,96-143" } else { "48-95,144-191" };
    let line = pen
        .text("part.affinity", &[])
        .map(|l| format!("{l}{ranges}. (GPU affinity = {ranges} ; CPU affinity = 0-191)."))
        .unwrap_or_default();
    let given = [("cpuset", masks.into()), ("line", line.into()), ("func", "ncclTopoGetCpuAffinity".into())];
    pen.say("affinity", &given);
}

/// A decision for each direction of the pair of a GPU and its NIC.
fn pairs(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let node = pen.rank.node;
    let network = facts.network(node);
    if network == "Socket" || facts.job.nodes < 2 || !facts.gdr_possible() {
        return;
    }
    let nic = super::network::nic(facts, node, pen.rank.gpu);
    let release = pen.rank.release;
    let (dist, on) = facts.near();
    // The exception for C2C is told of.
    let c2c = dist == 3 && facts.job.distance == Distance::P2C;
    for read in [0, 1] {
        if read == 1 && !facts.gdr_read() {
            continue;
        }
        let mut given = vec![
            ("hcadev", Value::from(nic)),
            ("dist", dist.into()),
            ("limit", release.distance(facts.gdr_level()).into()),
            ("read", read.into()),
            ("mode", if facts.forced_pci() { "PCI" } else { "Default" }.into()),
            ("numa", 0.into()),
        ];
        if c2c {
            pen.say("gdr.c2c", &given);
        }
        let part = if on { "part.gdr.on" } else { "part.gdr.off" };
        let line = pen.text("part.gdr.pair", &given).unwrap_or_default() + &pen.text(part, &given).unwrap_or_default();
        given.push(("line", line.into()));
        pen.say(if on { "gdr.pair.on" } else { "gdr.pair.off" }, &given);
    }
}

fn patterns(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let nvlink = facts.job.gpu.nvlink();
    let inter = match facts.job.distance {
        Distance::LOC => "LOC",
        Distance::PIX => "PIX",
        Distance::PXB => "PXB",
        Distance::P2C if pen.rank.release >= Release(2, 27, 3) => "P2C",
        Distance::P2C | Distance::PHB => "PHB",
        Distance::SYS => "SYS",
    };
    for pattern in [4, 1] {
        pen.say(
            "pattern",
            &[
                ("pattern", pattern.into()),
                ("crossnic", 0.into()),
                ("nch", facts.channels.into()),
                ("bwint", 24.into()),
                ("bwintra", 20.0.into()),
                ("bwinter", 20.0.into()),
                ("nvlink", i32::from(nvlink).into()),
                ("disti", 2.into()),
                ("typeintra", if nvlink { "NVL" } else { "PHB" }.into()),
                ("typeinter", inter.into()),
                ("same", 0.into()),
            ],
        );
    }
}

/// The rank before and after in a ring.
pub(super) fn neighbours(facts: &Facts<'_>, rank: usize) -> (usize, usize) {
    let n = facts.nranks().max(1);
    ((rank + n - 1) % n, (rank + 1) % n)
}

/// Rings (rank 0) and trees (each).
pub(super) fn rings(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let n = facts.nranks();
    if pen.rank.rank == 0 {
        for ch in 0..facts.channels {
            let mut line =
                pen.text("part.ring.head", &[("ch", ch.into()), ("nch", facts.channels.into())]).unwrap_or_default();
            let width = n.saturating_sub(1).to_string().len();
            for value in 0..n {
                if pen.rank.release < Release(2, 23, 4) && value == 20 {
                    break;
                }
                let given = [("value", value.into()), ("width", width.into())];
                line += &pen.text("part.ring.rank", &given).unwrap_or_default();
            }
            if pen.rank.release >= Release(2, 23, 4) && line.len() > 127 {
                // The line has 128 bytes, the last for the end.
                line.truncate(124);
                line.push_str("...");
            }
            pen.say("ring.line", &[("line", line.into())]);
        }
    }
    let (prev, next) = neighbours(facts, pen.rank.rank);
    let mut trees = String::new();
    for ch in 0..facts.channels.min(8) {
        let down = if next == 0 { -1 } else { next as i64 };
        let up = if pen.rank.rank == 0 { -1 } else { prev as i64 };
        let given = [
            ("ch", ch.into()),
            ("t0", down.into()),
            ("t1", Value::Int(-1)),
            ("t2", Value::Int(-1)),
            ("t3", up.into()),
            ("prev", prev.into()),
            ("next", next.into()),
        ];
        pen.say("tree.graph", &given);
        pen.say("ring.graph", &given);
        trees += &pen.text("part.tree", &given).unwrap_or_default();
    }
    if pen.rank.release >= Release(2, 4, 6) || pen.rank.rank == 0 {
        pen.say("tree.line", &[("line", trees.into())]);
    }
    pen.say("p2p.chunk", &[("chunk", 131_072.into())]);
    let nvlink = i32::from(facts.job.gpu.nvlink());
    pen.say("p2p.type", &[("isall", nvlink.into()), ("direct", 0.into())]);
    if pen.rank.rank == 0 && facts.job.nodes < 2 {
        pen.say("collnet.no", &[("threshold", 2.into())]);
    }
}

/// The line that ends a good init.
pub(super) fn complete(pen: &mut Pen<'_>) {
    pen.say("comm.complete", &[]);
    let times: Vec<(&str, Value)> = ["tm0", "tm1", "tm2", "tm3", "tm4", "tm5", "tm6", "tm7", "tm8"]
        .iter()
        .zip(1..)
        .map(|(n, i)| (*n, (f64::from(i) * 0.07).into()))
        .collect();
    pen.say("comm.timings", &times);
    if pen.rank.rank == 0 {
        pen.say("launch", &[("lm0", "Parallel".into()), ("lm1", "".into()), ("lm2", "".into())]);
    }
}
