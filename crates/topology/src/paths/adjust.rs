//! What becomes of the hardware's paths: around peers that may not talk, through relays, through the CPU
//! (`ncclTopoComputePaths`). The order matters: each step sees what the one before has left.

use super::{Path, Paths};
use crate::error::Error;
use crate::gdr::View;
use crate::local::Locals;
use crate::p2p::Transport;
use crate::path::PathType;
use crate::system::{NodeId, NodeKind, System};

impl Paths {
    /// The CPU near each GPU: the nearest by bandwidth and type, and of those the one with the fewest hops.
    pub(crate) fn local_cpus(&self, system: &System) -> Vec<Option<NodeId>> {
        let nearest = |gpu: &NodeId| {
            let (cpus, _) = self.local(system, *gpu, NodeKind::Cpu);
            // The first of those with the fewest hops.
            cpus.into_iter().min_by_key(|c| self.path(*gpu, *c).hops)
        };
        system.of(NodeKind::Gpu).iter().map(nearest).collect()
    }

    /// Leads a path over another node.
    fn detour(&mut self, system: &System, from: NodeId, over: NodeId, to: NodeId, p2c: bool) {
        let (one, two) = (self.path(from, over), self.path(over, to));
        let mut kind = merge(one.kind, two.kind, p2c);
        if system.node(over).is_some_and(|n| n.kind == NodeKind::Gpu) {
            kind = PathType::Pxn;
        }
        let first = self.join(one, two);
        let bandwidth = one.bandwidth.min(two.bandwidth);
        self.set(from, to, Path { kind, bandwidth, hops: one.hops + two.hops, first });
    }

    /// Adjusts the hardware's paths to what NCCL does with them.
    ///
    /// # Errors
    ///
    /// Where NCCL stops with an internal error.
    pub(crate) fn adjust(&mut self, view: View) -> Result<(), Error> {
        self.around_peers(view)?;
        let v = view.config.version;
        if v.since(2, 27) {
            self.over_c2c(view);
        }
        self.nics(view, v.since(2, 27))
    }

    /// GPUs that are no direct peers: over the CPU near the destination. Pairs for which neither P2P nor shared memory will do
    /// are for the network.
    fn around_peers(&mut self, view: View) -> Result<(), Error> {
        let gpus = view.system.of(NodeKind::Gpu);
        let speeds = view.net_speeds(self);
        let p2c = view.config.version.since(2, 27);
        for to in gpus {
            for from in gpus {
                if !view.p2p(self, *from, *to)?.allowed {
                    let cpu = near(view, *to)?;
                    self.detour(view.system, *from, cpu, *to, p2c);
                }
            }
            for from in gpus.iter().filter(|f| *f != to) {
                let peer = view.p2p(self, *from, *to)?;
                let net = view.net_is_faster(self, &speeds, *from, *to);
                if view.transport(peer, net, *from, *to) == Transport::Net {
                    self.set_kind(*from, *to, PathType::Net);
                }
            }
        }
        Ok(())
    }

    /// NICs behind the CPU to which a GPU has a C2C link.
    fn over_c2c(&mut self, view: View) {
        for gpu in view.system.of(NodeKind::Gpu) {
            let Some(cpu) = view.cpu_of(*gpu) else { continue };
            let (nets, _) = self.local(view.system, *gpu, NodeKind::Net);
            for net in nets {
                let kind = merge(self.path(*gpu, cpu).kind, self.path(net, cpu).kind, true);
                if kind == PathType::P2c {
                    let (there, back) = (self.path(*gpu, net).kind, self.path(net, *gpu).kind);
                    self.set_kind(*gpu, net, there.min(kind));
                    self.set_kind(net, *gpu, back.min(kind));
                }
            }
        }
    }

    /// Relays (PXN), and NICs that may not talk to the GPU directly.
    fn nics(&mut self, view: View, p2c: bool) -> Result<(), Error> {
        let (system, v, env) = (view.system, view.config.version, &view.config.env);
        let pxn = v.since(2, 12) && !env.pxn_disable;
        let near_relay = if env.pxn_c2c_in(v) { PathType::P2c } else { PathType::Pxb };
        // What is farther than this is better reached through a relay.
        let near_net = if v.since(2, 27) { PathType::Pxn } else { PathType::Pxb };
        let mut locals = Locals::new(system, env.netdevs);
        for net in system.of(NodeKind::Net).iter().copied() {
            // The NIC's GPU, found again when a path on which it depends has changed.
            let mut nearest: Option<Option<NodeId>> = None;
            for gpu in system.of(NodeKind::Gpu).iter().copied() {
                let relay = match nearest {
                    Some(found) => found,
                    None if pxn => *nearest.insert(locals.gpu(system, self, net)),
                    None => None,
                };
                if let Some(relay) = relay.filter(|r| *r != gpu) {
                    let direct = view.gdr(self, relay, net, true)?.mode.is_some();
                    let (theirs, own) = (self.path(relay, net), self.path(gpu, net));
                    let host = |id| system.node(id).map(|n| n.host());
                    if theirs.kind <= near_relay
                        && direct
                        && self.path(relay, gpu).kind <= PathType::Nvl
                        && host(relay) == host(gpu)
                        && (theirs.bandwidth > own.bandwidth || own.kind > near_net)
                    {
                        self.detour(system, gpu, relay, net, p2c);
                        locals.changed(gpu);
                        if locals.is_near(system, self, net, gpu) {
                            nearest = None;
                        }
                    }
                }
                if self.path(gpu, net).kind < PathType::Phb && view.gdr(self, gpu, net, false)?.mode.is_none() {
                    let cpu = near(view, gpu)?;
                    self.detour(system, net, cpu, gpu, p2c);
                    self.detour(system, gpu, cpu, net, p2c);
                    locals.changed(gpu);
                    locals.changed(net);
                    nearest = None;
                }
            }
        }
        Ok(())
    }
}

/// The type of two paths in a row.
fn merge(one: PathType, two: PathType, p2c: bool) -> PathType {
    match (one.max(two), one.min(two)) {
        (PathType::Phb, PathType::C2c) if p2c => PathType::P2c,
        (max, _) => max,
    }
}

fn near(view: View, gpu: NodeId) -> Result<NodeId, Error> {
    let name = || view.system.node(gpu).map_or_else(String::new, ToString::to_string);
    view.cpu_of(gpu).ok_or_else(|| Error::Internal(format!("no CPU near {}", name())))
}
