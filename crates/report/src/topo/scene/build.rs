//! From a topology and what NCCL concludes from it to what is drawn.

use super::super::LinkLookup;
use super::link::{Link, Medium};
use super::words::{count, printed};
use super::{Bottleneck, Cpu, Extras, Gpu, Nic, Pair, Parent, Scene, Switch};
use linerate_topology::from_node::Matrix;
use linerate_topology::from_node::matrix::Device;
use linerate_topology::system::{Arch, CpuVendor, LinkKind, Node, NodeData, NodeId, NodeKind, System};
use linerate_topology::{Analysis, Document, Open, bus_id_text};
use std::collections::HashMap;

mod facts;
mod mark;
mod rdma;

use facts::Facts;

pub(super) fn build(document: &Document, analysis: &Analysis, extras: &Extras<'_>) -> Scene {
    let whole = analysis.whole.as_deref();
    let system = whole.map_or(&analysis.system, |w| &w.system);
    let mut b = Builder {
        system,
        facts: Facts::of(document, &analysis.fused()),
        open: &analysis.open,
        links: extras.links,
        scene: Scene::default(),
        seen: vec![false; system.nodes().len()],
        cpus: HashMap::new(),
        gpus: HashMap::new(),
        nets: HashMap::new(),
        switches: HashMap::new(),
    };
    b.cpus();
    let roots: Vec<NodeId> = system.of(NodeKind::Cpu).to_vec();
    for cpu in roots {
        if let Some(place) = b.cpus.get(&cpu).copied() {
            b.below(cpu, Parent::Cpu(place));
        }
    }
    b.sort();
    b.number(extras.matrix);
    b.joins();
    let Builder { mut scene, gpus, nets, .. } = b;
    rdma::decide(&mut scene, analysis, system, &gpus, &nets);
    scene.title = printed(&extras.title);
    scene.nccl = extras.nccl.as_deref().map(printed);
    scene.notes = analysis.open.iter().map(|o| format!("Not in this input: {}.", o.what())).collect();
    scene.notes.extend(extras.notes.iter().map(|n| printed(n)));
    if whole.is_some() {
        let parts = count(analysis.domains.len(), "node");
        scene.notes.push(format!("NCCL splits this host into {parts}; NICs in use are shown for the first."));
    }
    if let Some(name) = extras.bottleneck.as_deref() {
        let found = mark::mark(&mut scene, name);
        scene.bottleneck = Some(Bottleneck { name: printed(name), found });
    }
    scene
}

struct Builder<'a> {
    system: &'a System,
    facts: Facts,
    open: &'a [Open],
    links: Option<LinkLookup<'a>>,
    scene: Scene,
    seen: Vec<bool>,
    cpus: HashMap<NodeId, usize>,
    /// Of each DEV node: the place of its GPU.
    gpus: HashMap<NodeId, usize>,
    nets: HashMap<NodeId, usize>,
    switches: HashMap<NodeId, usize>,
}

impl Builder<'_> {
    fn cpus(&mut self) {
        let hosts = self.system.hosts();
        let mut cpus: Vec<(i64, i32, NodeId)> =
            self.system.cpus().map(|(id, c)| (self.system.node(id).map_or(0, Node::host), c.numa, id)).collect();
        cpus.sort_unstable();
        for (host, numa, id) in cpus {
            let Some(cpu) = self.system.node(id).and_then(Node::cpu) else { continue };
            let name = if hosts > 1 { format!("host {host} · NUMA {numa}") } else { format!("NUMA {numa}") };
            let mut detail = Vec::new();
            detail.extend(cpu.vendor.map(|v| match v {
                CpuVendor::Intel => "Intel".to_owned(),
                CpuVendor::Amd => "AMD".to_owned(),
                CpuVendor::Zhaoxin => "Zhaoxin".to_owned(),
            }));
            detail.extend(cpu.arch.map(|a| match a {
                Arch::X86 => "x86-64".to_owned(),
                Arch::Power => "POWER".to_owned(),
                Arch::Arm => "Arm".to_owned(),
            }));
            // What was assumed is not shown.
            let mut detail = if self.open.contains(&Open::Cpu) { Vec::new() } else { vec![detail.join(" ")] };
            detail.extend(cpu.affinity.as_deref().and_then(cores).map(|n| count(n, "CPU")));
            detail.retain(|d| !d.is_empty());
            self.cpus.insert(id, self.scene.cpus.len());
            self.scene.cpus.push(Cpu { host, name, detail: detail.join(" · "), limits: false });
        }
    }

    fn link(&self, medium: Medium, gbps: f32, busid: &str) -> Link {
        match medium {
            Medium::Pcie => {
                let state = self.links.and_then(|f| f(busid));
                Link::pcie(gbps, self.facts.pcie(busid), state)
            }
            _ => Link::of(medium, gbps),
        }
    }

    /// Everything that hangs on a node by PCIe, and what hangs on that.
    fn below(&mut self, root: NodeId, parent: Parent) {
        let mut left = vec![(root, parent)];
        while let Some((id, parent)) = left.pop() {
            for link in self.system.links_of(id) {
                if link.kind != LinkKind::Pci {
                    continue;
                }
                let Some(node) = self.system.node(link.to) else { continue };
                let known = matches!(node.kind, NodeKind::Pci | NodeKind::Nic | NodeKind::Dev);
                match self.seen.get_mut(link.to.index()) {
                    Some(seen) if known && !*seen => *seen = true,
                    _ => continue,
                }
                match node.kind {
                    NodeKind::Dev => self.gpu(link.to, node, parent, link.bandwidth),
                    NodeKind::Nic => self.nic(link.to, node, parent, link.bandwidth),
                    _ => {
                        let busid = bus_id_text(node.local_id());
                        let link_up = self.link(Medium::Pcie, link.bandwidth, &busid);
                        let at = self
                            .switch(link.to, Switch { parent, adapter: false, busid, link: link_up, limits: false });
                        left.push((link.to, Parent::Switch(at)));
                    }
                }
            }
        }
    }

    fn switch(&mut self, id: NodeId, switch: Switch) -> usize {
        let at = self.scene.switches.len();
        self.scene.switches.push(switch);
        self.switches.insert(id, at);
        at
    }

    fn gpu(&mut self, id: NodeId, node: &Node, parent: Parent, gbps: f32) {
        let NodeData::Dev { dev, sm, .. } = node.data else { return };
        let gpus: Vec<_> = self.system.gpus().map(|(_, g)| g).filter(|g| g.parent == id).collect();
        let mut ranks: Vec<i32> = gpus.iter().map(|g| g.rank).collect();
        ranks.sort_unstable();
        let busid = gpus.first().map_or_else(|| bus_id_text(node.local_id()), |g| g.busid.clone());
        let link = self.link(Medium::Pcie, gbps, &busid);
        self.gpus.insert(id, self.scene.gpus.len());
        self.scene.gpus.push(Gpu {
            parent,
            name: format!("GPU {dev}"),
            busid: printed(&busid),
            sm,
            ranks,
            link,
            direct: None,
            fabric: None,
            nics: Vec::new(),
            distance: None,
            direct_rdma: super::DirectRdma::Unknown,
            limits: false,
        });
    }

    fn nic(&mut self, id: NodeId, node: &Node, parent: Parent, gbps: f32) {
        let system = self.system;
        let nets: Vec<_> = system.links_of(id).iter().filter_map(|l| Some((l, system.node(l.to)?.net()?))).collect();
        let busid = nets.iter().find_map(|(_, n)| n.busid.clone());
        let medium = if busid.is_some() { Medium::Pcie } else { Medium::Local };
        let text = busid.clone().unwrap_or_else(|| bus_id_text(node.local_id()));
        let own = self.link(medium, gbps, &text);
        let parent = match nets.as_slice() {
            [] => return,
            [_] => parent,
            _ if busid.is_none() => parent,
            _ => {
                let switch = Switch { parent, adapter: true, busid: printed(&text), link: own, limits: false };
                Parent::Switch(self.switch(id, switch))
            }
        };
        let several = nets.len() > 1 && busid.is_some();
        for (link, net) in nets {
            let link_up = if several { Link::of(Medium::Port, link.bandwidth) } else { own };
            self.nets.insert(link.to, self.scene.nics.len());
            self.scene.nics.push(Nic {
                parent,
                number: usize::MAX,
                name: net.name.as_deref().map_or_else(|| format!("NET {}", net.dev), printed),
                busid: net.busid.as_deref().map(printed),
                gbits: (self.facts.has_speed(net.dev, net.name.as_deref()) && !self.open.contains(&Open::NicSpeed))
                    .then_some(net.bandwidth * 8.0),
                gdr: net.gdr,
                link: link_up,
                limits: false,
            });
        }
    }

    /// Devices by their numbers, switches by their bus ids but after their parents.
    fn sort(&mut self) {
        let host = |id: &NodeId| self.system.node(*id).map_or((0, 0), |n| (n.host(), n.local_id()));
        let dev = |id: &NodeId| match self.system.node(*id).map(|n| &n.data) {
            Some(NodeData::Dev { dev, .. }) => *dev,
            Some(NodeData::Net(n)) => n.dev,
            _ => 0,
        };
        let order = |map: &HashMap<NodeId, usize>| {
            let mut ids: Vec<NodeId> = map.keys().copied().collect();
            ids.sort_by_key(|id| (host(id).0, dev(id), host(id).1, id.0));
            ids
        };
        let (gpus, nets) = (order(&self.gpus), order(&self.nets));
        permute(&mut self.scene.gpus, &mut self.gpus, &gpus);
        permute(&mut self.scene.nics, &mut self.nets, &nets);

        let depth = |mut parent: Parent| {
            let mut depth = 0_usize;
            while let Parent::Switch(s) = parent {
                depth += 1;
                let Some(up) = self.scene.switches.get(s) else { break };
                parent = up.parent;
            }
            depth
        };
        let mut ids: Vec<(usize, (i64, i64), NodeId)> = self
            .switches
            .iter()
            .map(|(id, at)| (self.scene.switches.get(*at).map_or(0, |s| depth(s.parent)), host(id), *id))
            .collect();
        ids.sort_unstable();
        let ids: Vec<NodeId> = ids.into_iter().map(|(_, _, id)| id).collect();
        let old = self.switches.clone();
        permute(&mut self.scene.switches, &mut self.switches, &ids);
        let new: HashMap<usize, usize> =
            old.iter().filter_map(|(id, at)| Some((*at, *self.switches.get(id)?))).collect();
        let switches = self.scene.switches.iter_mut().map(|s| &mut s.parent);
        let gpus = self.scene.gpus.iter_mut().map(|g| &mut g.parent);
        let nics = self.scene.nics.iter_mut().map(|n| &mut n.parent);
        for parent in switches.chain(gpus).chain(nics) {
            if let Parent::Switch(s) = parent {
                *s = new.get(s).copied().unwrap_or(*s);
            }
        }
    }

    /// Numbers of NICs as the matrix has them; where it lacks one, all are counted by their place.
    fn number(&mut self, matrix: Option<&Matrix>) {
        let of = |nic: &Nic| {
            let first = nic.name.split('+').next().unwrap_or_default();
            let bus = nic.busid.as_deref().unwrap_or_default();
            let named = |d: &&Device| !d.is_gpu() && (d.name == first || d.bdf.is_some_and(|b| b.to_string() == bus));
            // Fused functions have a bus id of their own; without RDMA devices their names count as the matrix does.
            let counted = |d: &&Device| !d.is_gpu() && d.column == first;
            let devices = &matrix?.devices;
            let column = &devices.iter().find(named).or_else(|| devices.iter().find(counted))?.column;
            column.strip_prefix("NIC")?.parse::<usize>().ok()
        };
        let named: Option<Vec<usize>> = self.scene.nics.iter().map(of).collect();
        for (i, nic) in self.scene.nics.iter_mut().enumerate() {
            nic.number = named.as_ref().and_then(|n| n.get(i).copied()).unwrap_or(i);
        }
    }

    /// Links besides the tree.
    fn joins(&mut self) {
        for link in self.system.links() {
            let (from, to) = (link.from, link.to);
            let Some(kind) = self.system.node(to).map(|n| n.kind) else { continue };
            let forward = from < to;
            match link.kind {
                LinkKind::Sys if forward => {
                    if let (Some(a), Some(b)) = (self.cpus.get(&from), self.cpus.get(&to)) {
                        let link = Link::of(Medium::Smp, link.bandwidth).assumed(self.open.contains(&Open::Cpu));
                        self.scene.smp.push(Pair { a: *a.min(b), b: *a.max(b), count: None, link });
                    }
                }
                LinkKind::Loc if forward => {
                    if let (Some(a), Some(b)) = (self.switches.get(&from), self.switches.get(&to)) {
                        self.scene.crosslinks.push((*a.min(b), *a.max(b)));
                    }
                }
                LinkKind::Nvl | LinkKind::C2c => self.fast(from, to, kind, link.kind, link.bandwidth),
                _ => {}
            }
        }
        self.scene.smp.sort_by_key(|p| (p.a, p.b));
        self.scene.nvlinks.sort_by_key(|p| (p.a, p.b));
    }

    /// NVLink and C2C, from a GPU.
    fn fast(&mut self, from: NodeId, to: NodeId, kind: NodeKind, link: LinkKind, gbps: f32) {
        let Some(at) = self.gpus.get(&from).copied() else { return };
        let Some(busid) = self.scene.gpus.get(at).map(|g| g.busid.clone()) else { return };
        let medium = if link == LinkKind::C2c { Medium::C2c } else { Medium::Nvlink };
        let link = Link::of(medium, gbps).assumed(medium == Medium::Nvlink && self.open.contains(&Open::NvlinkCount));
        match kind {
            NodeKind::Dev => {
                if let (Some(b), true) = (self.gpus.get(&to).copied(), from < to) {
                    let peer = self.scene.gpus.get(b).map(|g| g.busid.clone()).unwrap_or_default();
                    let count = self.facts.links_between(&busid, &peer);
                    self.scene.nvlinks.push(Pair { a: at.min(b), b: at.max(b), count, link });
                }
            }
            NodeKind::Nvs => {
                let known = !self.open.contains(&Open::NvlinkCount);
                let count = self.facts.links_to_switches(&busid).filter(|_| known);
                if let Some(g) = self.scene.gpus.get_mut(at) {
                    g.fabric = Some((count, link));
                }
            }
            _ => {
                // The parts of a split GPU reach the CPU over what they share.
                let cpu = match kind {
                    NodeKind::Cpu => Some(to),
                    NodeKind::Cxb => {
                        let on = self.system.links_of(to).iter().map(|l| l.to);
                        on.into_iter().find(|n| self.cpus.contains_key(n))
                    }
                    _ => None,
                };
                if let (Some(cpu), Some(g)) = (cpu.and_then(|c| self.cpus.get(&c)), self.scene.gpus.get_mut(at)) {
                    g.direct = Some((*cpu, link));
                }
            }
        }
    }
}

/// Puts what `map` knows by node into the order of `ids`.
fn permute<T>(items: &mut Vec<T>, map: &mut HashMap<NodeId, usize>, ids: &[NodeId]) {
    let mut old: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    for id in ids {
        let item = map.get(id).and_then(|at| old.get_mut(*at)).and_then(Option::take);
        if let Some(item) = item {
            map.insert(*id, items.len());
            items.push(item);
        }
    }
}

/// Logical CPUs of a mask in hexadecimal.
fn cores(mask: &str) -> Option<usize> {
    let digits = mask.chars().filter(|c| *c != ',');
    let bits: Option<u32> = digits.map(|c| c.to_digit(16).map(u32::count_ones)).sum();
    bits.map(|n| n as usize).filter(|n| *n > 0)
}
