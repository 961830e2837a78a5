//! How each rank reaches its neighbours: inside the node by P2P or shared memory, between nodes by the network.

use super::facts::Facts;
use super::graph::neighbours;
use super::spec::{Fault, Gpu};
use super::writer::Pen;
use crate::printf::Value;
use crate::release::Release;

/// Rings, then trees; queue pairs where the network is RDMA.
pub(super) fn all(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let (prev, next) = neighbours(facts, pen.rank.rank);
    for ch in 0..facts.channels {
        if facts.nranks() < 2 {
            break;
        }
        receive(pen, ch, prev);
        send(pen, ch, next);
    }
    if facts.nranks() > 1 {
        queue_pair(pen, prev);
        pen.wait(0.15);
        let (gdr, _) = facts.gdr(pen.rank.node);
        let given = [("pxn", 0.into()), ("gdrflag", i32::from(gdr).into())];
        pen.say("rings.connected", &given);
        pen.say("trees.connected", &[]);
    }
    collnet(pen);
    if facts.job.gpu.sm() >= 90 && facts.job.gpu.nvlink() && facts.env("NCCL_NVLS_ENABLE") != Some("0") {
        let given = [
            ("headrank", Value::from(pen.rank.gpu)),
            ("nheads", facts.job.gpus.into()),
            ("buffsize", 1_048_576.into()),
        ];
        pen.say("nvls.comm", &given);
        if facts.job.nodes > 1 {
            pen.say("nvls.connected", &[]);
        }
    }
}

/// SHARP: a plugin that has CollNet, and the variable that asks for it.
fn collnet(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    if facts.env("NCCL_COLLNET_ENABLE") != Some("1")
        || !facts.network(pen.rank.node).starts_with("IBext")
        || facts.job.nodes < 2
    {
        return;
    }
    let (gdr, _) = facts.gdr(pen.rank.node);
    let nic = super::network::nic(facts, pen.rank.node, pen.rank.gpu);
    for ch in 0..2 {
        let given = [
            ("ch", Value::from(ch)),
            ("nch", 1.into()),
            ("hcadev", nic.into()),
            ("gdr", if gdr { "/GDRDMA" } else { "" }.into()),
            ("pci", "".into()),
        ];
        pen.say("collnet.receive", &given);
        pen.say("collnet.send", &given);
    }
    pen.say("collnet.connected", &[]);
}

fn node_of(facts: &Facts<'_>, rank: usize) -> usize {
    facts.ranks.get(rank).map_or(0, |r| r.node)
}

/// Arguments that name both ends.
fn ends(facts: &Facts<'_>, ch: usize, from: usize, to: usize) -> Vec<(&'static str, Value)> {
    let gpu = |rank: usize| facts.ranks.get(rank).map_or(0, |r| r.gpu);
    vec![
        ("ch", ch.into()),
        ("connidx", 0.into()),
        ("from", from.into()),
        ("to", to.into()),
        ("busfrom", facts.busid(gpu(from)).into()),
        ("busto", facts.busid(gpu(to)).into()),
        ("nvmlfrom", gpu(from).into()),
        ("nvmlto", gpu(to).into()),
        ("read", "".into()),
        ("ce", "".into()),
        ("cumem", "CUMEM".into()),
        ("shared", "".into()),
        ("pci", "".into()),
    ]
}

/// How two GPUs of one node talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Local {
    P2p,
    Shm,
    Net,
}

fn local(facts: &Facts<'_>) -> Local {
    let level = facts.env("NCCL_P2P_LEVEL");
    let p2p_off = facts.env("NCCL_P2P_DISABLE") == Some("1")
        || level == Some("LOC")
        || level == Some("0")
        || (level == Some("NVL") && !facts.job.gpu.nvlink())
        || facts.has(|f| matches!(f, Fault::P2pRefused | Fault::P2pDisabled | Fault::ContainersIsolated))
        || facts.job.gpu == Gpu::Rtx4090;
    let shm_off = facts.env("NCCL_SHM_DISABLE") == Some("1") || facts.has(|f| matches!(f, Fault::ContainersIsolated));
    match (p2p_off, shm_off) {
        (false, _) => Local::P2p,
        (true, false) => Local::Shm,
        (true, true) => Local::Net,
    }
}

fn send(pen: &mut Pen<'_>, ch: usize, to: usize) {
    let facts = pen.facts;
    let from = pen.rank.rank;
    let mut given = ends(facts, ch, from, to);
    let multi_node_nvlink = facts.job.gpu == Gpu::Gb200 && !facts.has(|f| matches!(f, Fault::Imex { .. }));
    let here = node_of(facts, from) == node_of(facts, to);
    if here || (multi_node_nvlink && pen.rank.release >= Release(2, 21, 5)) {
        match local(facts) {
            Local::P2p => return p2p(pen, given),
            Local::Shm => {
                pen.say("conn.shm", &given);
                return;
            }
            Local::Net => {}
        }
    }
    let (_, read) = facts.gdr(pen.rank.node);
    net(pen, &mut given, read, "conn.net.send");
}

fn receive(pen: &mut Pen<'_>, ch: usize, from: usize) {
    let facts = pen.facts;
    let to = pen.rank.rank;
    let here = node_of(facts, from) == node_of(facts, to);
    let multi_node_nvlink = facts.job.gpu == Gpu::Gb200 && pen.rank.release >= Release(2, 21, 5);
    if (here || multi_node_nvlink) && local(facts) != Local::Net {
        return;
    }
    let mut given = ends(facts, ch, from, to);
    let (gdr, _) = facts.gdr(pen.rank.node);
    net(pen, &mut given, gdr, "conn.net.receive");
}

fn net(pen: &mut Pen<'_>, given: &mut Vec<(&'static str, Value)>, gdr: bool, id: &str) {
    let facts = pen.facts;
    let nic = super::network::nic(facts, pen.rank.node, pen.rank.gpu);
    let c2c = gdr && facts.forced_pci();
    given.retain(|(n, _)| *n != "pci");
    given.extend([
        ("hcadev", nic.into()),
        ("gdr", if gdr { "/GDRDMA" } else { "" }.into()),
        ("pci", if c2c { "(PCI)" } else { "" }.into()),
        ("proxyrank", ((pen.rank.rank + 1) % facts.nranks().max(1)).into()),
    ]);
    // A NIC of another GPU is reached through that GPU (PXN), since 2.12.
    let pxn = facts.hcas(pen.rank.node).len() * 2 == facts.job.gpus
        && pen.rank.gpu.is_multiple_of(2)
        && facts.job.gpu.nvlink()
        && facts.env("NCCL_PXN_DISABLE") != Some("1");
    if id == "conn.net.send" && pxn && pen.say("conn.net.proxy", given) {
        return;
    }
    pen.say(id, given);
}

fn p2p(pen: &mut Pen<'_>, mut given: Vec<(&'static str, Value)>) {
    let sm = pen.facts.job.gpu.sm();
    // Reading is for two GPUs joined by NVLink, of Ampere.
    if pen.facts.job.gpu.nvlink() && sm >= 80 {
        given.retain(|(n, _)| *n != "read");
        given.push(("read", "/read".into()));
    }
    let asked = pen.facts.env("NCCL_CUMEM_ENABLE");
    let cumem = asked == Some("1") || (pen.rank.release >= Release(2, 19, 1) && asked != Some("0"));
    if pen.facts.job.gpus == 2 && pen.facts.job.nodes == 1 && pen.facts.env("NCCL_P2P_DIRECT") == Some("1") {
        pen.say("conn.p2p.direct", &given);
    } else if cumem {
        if !pen.say("conn.p2p.cumem", &given) {
            pen.say("conn.p2p.ipc", &given);
        }
    } else {
        pen.say("conn.p2p.ipc", &given);
    }
}

/// One line for a queue pair per node's edge: it carries the active MTU, and LID or GID.
fn queue_pair(pen: &mut Pen<'_>, prev: usize) {
    let facts = pen.facts;
    let node = pen.rank.node;
    if facts.network(node) != "IB" || node_of(facts, prev) == node || facts.job.gpu == Gpu::Gb200 {
        return;
    }
    let small = facts.has(|f| matches!(f, Fault::SmallMtu));
    let gid = facts.env("NCCL_IB_GID_INDEX").and_then(|v| v.parse::<i64>().ok()).unwrap_or(3);
    let qpn = 300 + pen.draw(90_000) as i64;
    let lid = 1 + pen.draw(400) as i64;
    let rkey = 0x1_0000 + pen.draw(0xff_ffff);
    let given = [
        ("hcadev", Value::from(super::network::nic(facts, node, pen.rank.gpu))),
        ("port", 1.into()),
        ("qpn", qpn.into()),
        ("mtu", if small { 3 } else { 5 }.into()),
        ("lid", lid.into()),
        ("subnet", 0xfe80_0000_0000_0000_u64.into()),
        ("flid", 0.into()),
        ("rkey", rkey.into()),
        ("gididx", gid.into()),
        ("subnetx", if gid >= 2 { 0_u64 } else { 0x80fe }.into()),
        ("ifidx", 0xb00_0a0a_ffff_u64.into()),
        ("ece", 1.into()),
        ("vendorid", 0x15b3_u64.into()),
        ("eceopt", 0x3000_0002_u64.into()),
    ];
    pen.thread += 300;
    pen.say(if facts.job.fabric == "roce" { "ib.qp.gid" } else { "ib.qp.lid" }, &given);
    pen.thread -= 300;
}
