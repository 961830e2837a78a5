//! Nodes that were given beside the logs: verdicts of rules, and NCCL's decisions as the topology crate rebuilds them.

use crate::NodeGiven;
use linerate_formats::host_name;
use linerate_node::Node;
use linerate_node::rdma::PortState;
use linerate_rules::{Audit, Severity, Status, audit, rules};
use linerate_snapshot::{Place, Pos, Snapshot};
use linerate_topology::ceiling::Port;
use linerate_topology::gdr::{Gdr, GdrReason};
use linerate_topology::system::{NodeData, NodeKind};
use linerate_topology::{Analysis, Config, Env, Input, Open, PathType, Version, from_node};

/// A node, judged.
pub(crate) struct NodeView<'a> {
    pub(crate) name: &'a str,
    pub(crate) node: Node<'a>,
    snapshot: &'a Snapshot,
    audit: Audit,
    /// Environment and release of the job, for its decisions.
    analysis: Option<Analysis>,
}

/// A failing verdict, in words.
pub(crate) struct Failing {
    pub(crate) rule: &'static str,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) at: String,
    pub(crate) title: &'static str,
    pub(crate) remedy: Option<linerate_rules::Remedy>,
    pub(crate) sources: &'static [linerate_rules::Source],
}

impl<'a> NodeView<'a> {
    pub(crate) fn new(given: &'a NodeGiven<'a>, version: Option<Version>, env: &[(String, String)]) -> Self {
        let node = Node::decode(given.snapshot);
        let audit = audit(&node, given.snapshot, rules());
        let version = version.unwrap_or_default();
        let pairs = env.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        let mut config = Config { version, env: Env::parse(pairs, version), input: Input::File, ..Config::default() };
        let options = from_node::Options {
            topology_file: env.iter().find(|(k, _)| k == "NCCL_TOPO_FILE").map(|(_, v)| v.clone()),
            release: version,
            ..from_node::Options::default()
        };
        let analysis = from_node::from_node_with(&node, &options).ok().and_then(|f| {
            f.configure(&mut config);
            Analysis::new(&f.document, &config).ok()
        });
        NodeView { name: &given.name, node, snapshot: given.snapshot, audit, analysis }
    }

    /// Whether it can be the node of a host: what names none may be of any.
    pub(crate) fn may_be(&self, host: Option<&str>) -> bool {
        let m = &self.snapshot.manifest;
        let own = if m.redacted { None } else { host_name::short(&m.host) };
        own.is_none() || host.is_none() || own.as_deref() == host
    }

    /// Bare metal, VM host or guest.
    pub(crate) fn role(&self) -> Option<linerate_node::context::Role> {
        self.node.context.role.value
    }

    /// What fails of these rules (`area/slug`, or `area/*`), worst first.
    pub(crate) fn failing(&self, ids: &[&str]) -> Vec<Failing> {
        let wanted =
            |id: &str| ids.iter().any(|w| *w == id || w.strip_suffix('*').is_some_and(|area| id.starts_with(area)));
        let verdicts = self.audit.with(Status::Fail).filter(|v| wanted(v.rule.id) && v.severity() > Severity::Info);
        verdicts
            .map(|v| Failing {
                rule: v.rule.id,
                title: v.rule.title,
                sources: v.rule.sources,
                remedy: v.finding.remedy.as_deref().cloned(),
                severity: v.severity(),
                message: format!("{}: {}", v.finding.subject, v.finding.message),
                at: match v.finding.evidence.first() {
                    Some(e) => place(self.name, self.snapshot, e.place),
                    None => self.name.to_owned(),
                },
            })
            .collect()
    }

    /// Whether a rule passed: what it judges is seen, and right.
    pub(crate) fn passes(&self, id: &str) -> bool {
        self.audit.with(Status::Pass).any(|v| v.rule.id == id)
            && !self
                .audit
                .verdicts
                .iter()
                .any(|v| v.rule.id == id && matches!(v.finding.status, Status::Fail | Status::Unknown))
    }

    /// Whether a rule judged something of this node.
    pub(crate) fn judges(&self, id: &str) -> bool {
        let judged = |s: Status| matches!(s, Status::Pass | Status::Fail);
        self.audit.verdicts.iter().any(|v| v.rule.id == id && judged(v.finding.status))
    }

    /// Whether a rule has nothing to judge on this node.
    pub(crate) fn not_applicable(&self, id: &str) -> bool {
        let mut all = self.audit.verdicts.iter().filter(|v| v.rule.id == id).peekable();
        all.peek().is_some() && all.all(|v| v.finding.status == Status::NotApplicable)
    }

    /// The port of an RDMA device, where it has one that runs.
    pub(crate) fn port_of(&self, device: &str) -> Option<Port> {
        let device = self.node.rdma.known()?.iter().find(|d| d.name == device)?;
        let mut active = device.ports.iter().filter(|p| p.state.known() == Some(&PortState::Active));
        let port = active.next().filter(|_| active.next().is_none())?;
        Some(from_node::port(&self.node, port)).filter(|p| p.rate.is_some())
    }

    /// Pairs of GPU and the NIC that it would use which do not talk directly for a reason of this kind, in words: `GPU of rank 2 and mlx5_3:
    /// GPU and NIC are PHB apart, and the default allows PXB at most`.
    pub(crate) fn not_direct(&self, is: impl Fn(&GdrReason) -> bool) -> Vec<String> {
        let Some(a) = &self.analysis else { return Vec::new() };
        let name = |id| {
            let net = a.system.node(id).and_then(|n| n.net());
            net.and_then(|n| n.name.clone()).unwrap_or_else(|| "a NIC".to_owned())
        };
        let refused = used(a).filter(|g| g.recv.mode.is_none() && is(&g.recv.reason));
        refused.map(|g| format!("GPU of rank {} and {}: {}", g.rank, name(g.net), g.recv.reason)).collect()
    }

    /// Whether all pairs of a GPU and the NIC that it would use talk directly, by NCCL's rules; `None` where the node shows no such pair.
    pub(crate) fn all_direct(&self) -> Option<bool> {
        let mut pairs = used(self.analysis.as_ref()?).peekable();
        pairs.peek()?;
        Some(pairs.all(|g| g.recv.mode.is_some()))
    }

    /// Whether NCCL would find an NVSwitch and more than two GPUs that can multicast in it (Hopper and later); `None` where the node does not show it.
    pub(crate) fn can_multicast(&self) -> Option<bool> {
        let a = self.analysis.as_ref()?;
        if a.open.iter().any(|o| matches!(o, Open::GpuSm | Open::Nvlink | Open::TopologyFile)) {
            return None;
        }
        let sm = |parent| match a.system.node(parent)?.data {
            NodeData::Dev { sm, .. } => Some(sm),
            _ => None,
        };
        let gpus: Vec<i32> = a.system.gpus().filter_map(|(_, g)| sm(g.parent)).collect();
        Some(gpus.len() > 2 && gpus.iter().all(|sm| *sm >= 90) && !a.system.of(NodeKind::Nvs).is_empty())
    }

    /// GB/s that the rails of the node carry together, for a job with this many ranks on it: the active ports of the NICs nearest to its GPUs. `None`
    /// where the job leaves GPUs out, or a rail's rate is not seen.
    pub(crate) fn nics_of_ranks(&self, ranks: usize) -> Option<f64> {
        let node = &self.node;
        if node.rails.is_empty() || node.rails.len() != ranks {
            return None;
        }
        let mut nics: Vec<_> = node.rails.iter().flat_map(|r| r.nics.iter().copied()).collect();
        nics.sort_unstable();
        nics.dedup();
        let mut sum = 0.0;
        for id in nics {
            for port in node.rdma_of(node.pci.get(id))?.ports.iter() {
                if *port.state.known()? == PortState::Active {
                    sum += port.data_rate_gbps()?;
                }
            }
        }
        (sum > 0.0).then_some(sum / 8.0)
    }

    /// The distance that keeps a GPU from its NIC, where distance is the reason.
    pub(crate) fn too_far(&self) -> Option<PathType> {
        let a = self.analysis.as_ref()?;
        a.gdr.iter().filter(|g| a.open_for_gdr(g).is_empty()).find_map(|g| match g.recv.reason {
            GdrReason::TooFar { kind, .. } => Some(kind),
            _ => None,
        })
    }
}

/// Each GPU with the NICs that it would use, where that and the decision follow from what the node shows.
fn used(a: &Analysis) -> impl Iterator<Item = &Gdr> {
    let known = |g: &&Gdr| a.open_for_gdr(g).is_empty();
    let takes = |g: &&Gdr| {
        a.local_nets.iter().any(|l| l.rank == g.rank && l.channels.contains(&g.net) && a.open_for_local(l).is_empty())
    };
    a.gdr.iter().filter(known).filter(takes)
}

/// `NODE: sys/…`; of a text that a tool printed `FILE:LINE`, as the lines of logs have it, behind the node where that is no file's.
fn place(name: &str, snapshot: &Snapshot, place: Place) -> String {
    let path = snapshot.path(place.base);
    let path = path.trim_start_matches('/');
    let (Some(text), Pos::Line(line)) = (path.strip_prefix("pasted/"), place.pos) else {
        return format!("{name}: {path}");
    };
    let line = snapshot.line_in_file(place.base, line);
    // The second text that was cut out of a file is `FILE#2`, one of two nodes in it `FILE, NODE`.
    let text = text.rsplit_once('#').map_or(text, |(file, _)| file);
    let file = name.split(", ").next().unwrap_or(name);
    if file.rsplit('/').next() == Some(text) { format!("{file}:{line}") } else { format!("{name}: {text}:{line}") }
}
