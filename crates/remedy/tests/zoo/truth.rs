//! What topology, environment and doctor conclude of a machine, against what its description says is true.

use crate::Machine;
use linerate_compose::Gdr as Wanted;
use linerate_doctor::{NodeGiven, Observer, conclude};
use linerate_env::{Context, NodeFacts, judge};
use linerate_node::Node;
use linerate_topology::ceiling::node_ceilings;
use linerate_topology::from_node::{extra, from_node};
use linerate_topology::system::NodeKind;
use linerate_topology::{Analysis, Config};

pub(crate) fn wrong(m: &Machine) -> Vec<String> {
    let node = Node::decode(&m.snapshot);
    let mut out: Vec<String> = role(m, &node).into_iter().collect();
    out.extend(devices(m, &node));
    out.extend(topology(m, &node));
    out.extend(environment(&node));
    out.extend(doctor(m));
    out.into_iter().map(|w| format!("{}: {w}", m.name)).collect()
}

fn role(m: &Machine, node: &Node<'_>) -> Option<String> {
    let role = node.context.role.value.map(|r| r.to_string()).unwrap_or_default();
    (role != m.zoo.role).then(|| format!("its role is {}, not {role:?}", m.zoo.role))
}

fn devices(m: &Machine, node: &Node<'_>) -> Option<String> {
    let gpus = node.pci.gpus().count();
    let told = m.zoo.gpus as usize;
    (m.zoo.role != "VM host" && gpus != told).then(|| format!("{gpus} GPUs, not {told}"))
}

fn topology(m: &Machine, node: &Node<'_>) -> Vec<String> {
    let z = &m.zoo;
    // GPUs of a VM host are the guests'.
    if z.role == "VM host" {
        return Vec::new();
    }
    let made = from_node(node).map_err(|e| e.to_string());
    let analysis = made.and_then(|f| Analysis::new(&f.document, &Config::default()).map_err(|e| e.to_string()));
    let a = match analysis {
        Ok(a) => a,
        Err(_) if node.pci.nvidia_gpus().next().is_none() => return Vec::new(),
        Err(e) => return vec![format!("no topology: {e}")],
    };
    let mut out = Vec::new();
    let nets = a.system.of(NodeKind::Net).len();
    if nets != z.nets as usize {
        out.push(format!("topology has {nets} NICs, not {}", z.nets));
    }
    for local in &a.local_nets {
        for g in a.gdr.iter().filter(|g| g.rank == local.rank && local.set.contains(&g.net)) {
            let does = g.recv.mode.is_some();
            if does != (z.gdr == Wanted::Yes) {
                out.push(format!("GPU {} and NIC {}: GPUDirect {does}: {:?}", g.rank, g.net_dev, g.recv.reason));
            }
        }
    }
    let ceilings = node_ceilings(&a, &extra(node));
    let near = |net| a.local_nets.iter().any(|l| l.set.contains(&net));
    for nic in &ceilings.nics {
        if !near(nic.net) {
            continue;
        }
        let Some(d) = &nic.gpu_receive else { continue };
        let most = d.result.high;
        if most > f64::from(z.port_gbps) || most < f64::from(z.gpu_gbps.unwrap_or(z.port_gbps)) * 0.85 {
            out.push(format!("{} gives a GPU {most:.0} Gb/s at most: {}", nic.name, d.sentence()));
        }
    }
    out
}

fn environment(node: &Node<'_>) -> Vec<String> {
    let context = Context { node: Some(NodeFacts::of(node)), ..Context::default() };
    let settings = Vec::new();
    judge(&settings, &context).iter().map(|j| format!("environment: {j:?}")).collect()
}

fn doctor(m: &Machine) -> Vec<String> {
    let given = [NodeGiven { name: m.name.clone(), snapshot: &m.snapshot }];
    let answer = conclude(&Observer::default(), &given);
    answer.causes.iter().map(|c| format!("doctor: {}", c.id)).collect()
}
