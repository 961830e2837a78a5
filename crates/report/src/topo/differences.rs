//! What two topologies differ in.

use super::names::name;
use super::tables::{Use, short, uses};
use linerate_topology::Analysis;

/// Lines about what is otherwise in the second. The same devices have the same names.
#[must_use]
pub fn lines(before: &Analysis, after: &Analysis) -> Vec<String> {
    let mut out = Vec::new();
    let key = |a: &Analysis, g: &linerate_topology::gdr::Gdr| (name(&a.system, g.gpu), name(&a.system, g.net));
    let direct = |g: &linerate_topology::gdr::Gdr| (g.recv.mode.is_some(), g.send.mode.is_some());
    for old in &before.gdr {
        let (gpu, net) = key(before, old);
        let Some(new) = after.gdr.iter().find(|g| key(after, g) == (gpu.clone(), net.clone())) else {
            out.push(format!("{gpu}–{net}: no longer a pair"));
            continue;
        };
        let mut what = Vec::new();
        if (old.kind, old.bandwidth) != (new.kind, new.bandwidth) {
            let (a, b) = (short(old.bandwidth), short(new.bandwidth));
            what.push(format!("{} {a} GB/s → {} {b} GB/s", old.kind, new.kind));
        }
        if direct(old) != direct(new) {
            what.push(format!("GPUDirect RDMA {} → {}", both(direct(old)), both(direct(new))));
        }
        if !what.is_empty() {
            out.push(format!("{gpu}–{net}: {}", what.join("; ")));
        }
    }
    let nics = |a: &Analysis, u: &Use| u.nets.iter().map(|n| name(&a.system, *n)).collect::<Vec<_>>().join(", ");
    let (old, new) = (uses(before), uses(after));
    for u in &old {
        let gpu = name(&before.system, u.gpu);
        let Some(now) = new.iter().find(|n| name(&after.system, n.gpu) == gpu) else { continue };
        let (a, b) = (nics(before, u), nics(after, now));
        if a != b {
            out.push(format!("{gpu} uses {b} instead of {a}"));
        }
    }
    for p in &before.p2p {
        let pair = (name(&before.system, p.gpus.0), name(&before.system, p.gpus.1));
        let same =
            |q: &&linerate_topology::p2p::P2p| (name(&after.system, q.gpus.0), name(&after.system, q.gpus.1)) == pair;
        if let Some(q) = after.p2p.iter().find(same).filter(|q| q.transport != p.transport) {
            out.push(format!("{} to {}: {} → {}", pair.0, pair.1, p.transport.name(), q.transport.name()));
        }
    }
    if out.is_empty() {
        out.push("nothing: NCCL concludes the same".to_owned());
    }
    out
}

fn both((recv, send): (bool, bool)) -> &'static str {
    match (recv, send) {
        (true, true) => "both ways",
        (true, false) => "for receiving",
        (false, true) => "for sending",
        (false, false) => "no",
    }
}
