//! How a fault ends a job: what the rank that is hit prints, and what the others see of it.

mod back;
mod device;
mod rdma;
mod sockets;

use super::spec::{Fault, Moment};
use super::writer::Pen;
use crate::printf::Value;
use crate::release::Release;
use back::{proxy, unwind};
use device::{cuda, nvls, shm, watchdog};
use rdma::{access_event, completion, modify_qp, port, verbs};
use sockets::{accept, closed, connect, mismatch, version_mismatch};

/// Where a job can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Bootstrap,
    Network,
    Peers,
    Topology,
    Connect,
    FirstTraffic,
    Traffic,
}

/// ncclResult_t, as numbers in lines.
const UNHANDLED_CUDA: i32 = 1;

const SYSTEM: i32 = 2;

const INTERNAL: i32 = 3;

const INVALID_USAGE: i32 = 5;

const REMOTE: i32 = 6;

/// The far side failed: a code of its own since 2.13.
fn remote_error(release: Release) -> i32 {
    if release >= Release(2, 13, 4) { REMOTE } else { SYSTEM }
}

/// Whether the job ends here, for this rank; its last lines are written.
pub(super) fn strikes(pen: &mut Pen<'_>, stage: Stage) -> bool {
    let faults: Vec<&Fault> = pen.facts.job.fault.iter().filter(|f| when(f) == Some(stage)).collect();
    for fault in faults {
        if hits(pen, fault) {
            pen.wait(0.5);
            strike(pen, fault);
        } else if let Some(delay) = spreads(fault) {
            pen.wait(delay);
            consequence(pen, fault);
        } else {
            continue;
        }
        return true;
    }
    false
}

/// The stage that a fault ends, if it ends the job.
fn when(fault: &Fault) -> Option<Stage> {
    let traffic = |at: Moment| Some(if at == Moment::Start { Stage::FirstTraffic } else { Stage::Traffic });
    match fault {
        Fault::NoInterface { .. } => Some(Stage::Bootstrap),
        Fault::WrongInterface { .. } | Fault::Connect { .. } | Fault::Accept { .. } => Some(Stage::Network),
        Fault::Duplicate { .. } | Fault::VersionMismatch { .. } => Some(Stage::Peers),
        Fault::Imex { .. } | Fault::TopoFile { fits: Some(false) } => Some(Stage::Topology),
        Fault::ShmFull { .. } | Fault::ModifyQp { .. } | Fault::Verbs { .. } | Fault::NvlsBind { .. } => {
            Some(Stage::Connect)
        }
        Fault::Completion { at, .. } => traffic(*at),
        Fault::Cuda { at: Moment::Start, .. } => Some(Stage::Peers),
        Fault::Cuda { .. } => Some(Stage::Traffic),
        Fault::PortEvent { .. }
        | Fault::PeerExited { .. }
        | Fault::RemoteClosed { .. }
        | Fault::Watchdog { .. }
        | Fault::SizeMismatch { .. } => Some(Stage::Traffic),
        _ => None,
    }
}

/// Whether this rank is the one that fails first.
fn hits(pen: &Pen<'_>, fault: &Fault) -> bool {
    let (node, gpu) = (pen.rank.node, pen.rank.gpu);
    match fault {
        Fault::NoInterface { node: n }
        | Fault::WrongInterface { node: n, .. }
        | Fault::Connect { node: n, .. }
        | Fault::Accept { node: n, .. }
        | Fault::ShmFull { node: n }
        | Fault::NvlsBind { node: n } => *n == node,
        Fault::ModifyQp { node: n, .. } | Fault::Verbs { node: n, .. } | Fault::SizeMismatch { node: n } => {
            *n == node && gpu == 0
        }
        Fault::PortEvent { node: n, nic } => *n == node && pen.facts.nic_of(node, gpu) == *nic,
        Fault::Completion { node: n, gpu: g, everywhere, .. } => *everywhere || (*n == node && *g == gpu),
        Fault::Cuda { node: n, gpu: g, .. }
        | Fault::PeerExited { node: n, gpu: g, .. }
        | Fault::RemoteClosed { node: n, gpu: g } => *n == node && *g == gpu,
        Fault::Duplicate { node: n } => *n == node && gpu < 2,
        Fault::VersionMismatch { node: n, .. } => *n != node,
        Fault::Imex { .. } | Fault::TopoFile { .. } | Fault::Watchdog { .. } => true,
        _ => false,
    }
}

/// Seconds until the others notice; `None` where they never print anything.
fn spreads(fault: &Fault) -> Option<f64> {
    match fault {
        Fault::NoInterface { .. } | Fault::Duplicate { .. } | Fault::VersionMismatch { .. } => Some(1.0),
        Fault::PortEvent { .. } => Some(8.0),
        Fault::Connect { .. } | Fault::WrongInterface { .. } => Some(40.0),
        Fault::ShmFull { .. }
        | Fault::ModifyQp { .. }
        | Fault::Verbs { .. }
        | Fault::NvlsBind { .. }
        | Fault::Accept { .. } => Some(2.0),
        Fault::Completion { .. } | Fault::Cuda { .. } | Fault::PeerExited { .. } | Fault::SizeMismatch { .. } => {
            Some(4.0)
        }
        Fault::RemoteClosed { .. } => Some(600.0),
        _ => None,
    }
}

fn strike(pen: &mut Pen<'_>, fault: &Fault) {
    match fault {
        Fault::NoInterface { .. } => {
            pen.say("bootstrap.nointerface", &[]);
            unwind(pen, &["bootstrap.cc", "init.cc"], INTERNAL);
        }
        Fault::WrongInterface { .. } => connect(pen, 110),
        Fault::Connect { errno, .. } => connect(pen, *errno),
        Fault::Accept { errno, .. } => accept(pen, *errno),
        Fault::Duplicate { .. } => {
            let peer = pen.facts.job.gpus * pen.rank.node + (1 - pen.rank.gpu.min(1));
            let busid = pen.facts.busid(0);
            pen.say("gpu.duplicate", &[("peerrank", peer.into()), ("busid", busid.into())]);
            unwind(pen, &["init.cc", "init.cc", "group.cc"], INVALID_USAGE);
        }
        Fault::VersionMismatch { node, .. } => version_mismatch(pen, *node),
        Fault::Imex { channel } => {
            let id =
                if *channel && pen.rank.release >= Release(2, 27, 3) { "mnnvl.fail.channel" } else { "mnnvl.fail" };
            let cuda = [("cuerr", Value::from(801)), ("custr", "operation not supported".into())];
            pen.say("cu.fail", &cuda);
            pen.say(id, &[("cliquesize", pen.facts.nranks().into())]);
            unwind(pen, &["mnnvl.cc", "init.cc", "init.cc"], SYSTEM);
        }
        Fault::TopoFile { .. } => {
            pen.say("topo.version", &[("have", 2.into()), ("want", 1.into())]);
            unwind(pen, &["graph/xml.cc", "graph/topo.cc", "init.cc"], INTERNAL);
        }
        Fault::ShmFull { .. } => shm(pen),
        Fault::ModifyQp { errno, .. } => modify_qp(pen, *errno),
        Fault::Verbs { call, errno, .. } => {
            verbs(pen, call, *errno);
            unwind(pen, &["transport/net_ib.cc", "transport/net.cc", "proxy.cc"], SYSTEM);
            proxy(pen, SYSTEM);
        }
        Fault::NvlsBind { .. } => nvls(pen),
        Fault::Completion { status, vendor, everywhere, .. } => completion(pen, *status, *vendor, *everywhere),
        Fault::Cuda { error, .. } => cuda(pen, error),
        Fault::PortEvent { nic, .. } => port(pen, *nic),
        Fault::PeerExited { shown: true, .. } => {
            pen.plain("Traceback (most recent call last):");
            pen.plain("  File \"/workspace/train.py\", line 214, in <module>");
            pen.plain("    main()");
            pen.plain("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.");
        }
        Fault::RemoteClosed { .. } => closed(pen),
        Fault::Watchdog { behind, op } => watchdog(pen, *behind, op),
        Fault::SizeMismatch { .. } => mismatch(pen),
        _ => {}
    }
}

/// What other ranks see: a neighbour's closed connection or a completion that never came; the rest just stop.
fn consequence(pen: &mut Pen<'_>, fault: &Fault) {
    let neighbour = {
        let (prev, next) = super::graph::neighbours(pen.facts, pen.rank.rank);
        let struck = |r: usize| {
            let Some(rank) = pen.facts.ranks.get(r) else { return false };
            let probe = Pen::new(pen.facts, rank, pen.voice);
            hits(&probe, fault)
        };
        struck(prev) || struck(next)
    };
    if !neighbour {
        return;
    }
    if let Fault::Completion { status: 10, .. } = fault {
        access_event(pen);
        return;
    }
    match fault {
        Fault::Completion { .. }
        | Fault::PortEvent { .. }
        | Fault::PeerExited { .. }
        | Fault::Cuda { at: Moment::Run, .. }
            if pen.facts.network(pen.rank.node) == "IB" && pen.draw(2) == 0 =>
        {
            completion(pen, 5, 249, false);
        }
        _ => closed(pen),
    }
}

/// Ranks have different numbers of devices: rank 0 says so, all end.
pub(super) fn few_devices(pen: &mut Pen<'_>) {
    unwind(pen, &["init.cc", "init.cc"], SYSTEM);
}
