//! `claims/rdma-port`.

use super::{DEVICE_PLUGINS, at};
use crate::rdma::common;
use crate::{About, Cx, Effect, Finding, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::kubernetes::Resource;
use linerate_node::rdma::{LinkLayer, RdmaDevice, RdmaPort};
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "claims/rdma-port",
    title: "If Kubernetes offers RDMA devices, a port of that kind is ACTIVE",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("pods that ask for RDMA are sent to a node without a working port"),
    sources: &[
        DEVICE_PLUGINS,
        Source {
            title: "k8s-rdma-shared-dev-plugin: rdmaHcaMax, the number that is advertised, is set by the configuration",
            at: "https://github.com/Mellanox/k8s-rdma-shared-dev-plugin",
        },
        Source {
            title: "sriov-network-device-plugin: isRdma, and prefixes of resources",
            at: "https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin",
        },
    ],
    reads: &["kubectl get node NAME -o json", "sys/class/infiniband/*/ports/*/{state,link_layer}", "ibstat", "rdma link"],
    docs: "\
## What it checks
Each resource of the node's object in Kubernetes that pods may ask for and whose name says RDMA: the domain `rdma/`, or a word of the name is
rdma, ib, infiniband, roce or hca; and `nvidia.com/hostdev` of NVIDIA's network operator. A name with ib asks for an InfiniBand port, one with roce for
an Ethernet port, others for any. One ACTIVE port of that kind is enough: the number of a shared resource is a setting, not a number of devices.

## Why it matters
Device plugins look for devices, not for links: a NIC without a cable, or with the wrong link type, is offered like any other. The pod starts, and its
RDMA does not.

## See it yourself
`kubectl get node NAME -o jsonpath='{.status.allocatable}'`, and on the node `ibstat` or `rdma link`.

## Fix
See rdma/port-state and rdma/link-layer for the port. Where the node has none, leave it out of the device plugin's configuration.",
    myths: &[],
    check,
};

/// Which link layer a name asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Any,
    Layer(LinkLayer),
}

/// `None`: the name does not say RDMA.
fn wanted(name: &str) -> Option<Wanted> {
    let lower = name.to_ascii_lowercase();
    let has = |word: &str| lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w == word);
    if has("efa") {
        None
    } else if has("roce") {
        Some(Wanted::Layer(LinkLayer::Ethernet))
    } else if has("ib") || has("infiniband") {
        Some(Wanted::Layer(LinkLayer::InfiniBand))
    } else if has("rdma") || has("hca") || lower == "nvidia.com/hostdev" {
        Some(Wanted::Any)
    } else {
        None
    }
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    super::unreadable(cx, out);
    let mut any = false;
    if let Reading::Known(node, place) = &cx.node.cluster.kubernetes {
        for r in node.resources.iter().flatten() {
            let offered = r.allocatable.as_ref().and_then(|n| n.parse::<u64>().ok()).is_some_and(|n| n > 0);
            if let Some(kind) = wanted(&r.name).filter(|_| offered) {
                any = true;
                judge(cx, r, kind, at(*place, r.line), out);
            }
        }
    }
    if !any && out.is_empty() {
        out.not_applicable("no object of Kubernetes in this source offers RDMA devices").at(cx
            .node
            .cluster
            .kubernetes
            .known()
            .map(|_| cx.node.cluster.kubernetes.place()));
    }
}

fn judge<'o>(cx: &Cx<'_>, r: &Resource, kind: Wanted, place: Place, out: &'o mut Findings) -> &'o mut Finding {
    let subject = Subject::Named(r.name.clone());
    if !cx.node.rdma.is_absent() && cx.node.rdma.known().is_none() {
        return out.unreadable(subject, "list of RDMA devices", &cx.node.rdma).at(place);
    }
    let fits = |p: &RdmaPort| match kind {
        Wanted::Any => Some(true),
        Wanted::Layer(layer) => p.link_layer.known().map(|l| *l == layer),
    };
    let ports: Vec<(&RdmaDevice, &RdmaPort)> = common::ports(cx).collect();
    let active = |p: &RdmaPort| p.state.known().map(|_| common::is_active(p));
    if let Some((d, p)) = ports.iter().find(|(_, p)| fits(p) == Some(true) && active(p) == Some(true)) {
        return out
            .pass(subject, format_args!("offered, and {}/{} is ACTIVE", d.name, p.number))
            .at(place)
            .at(p.state.place());
    }
    let what = match kind {
        Wanted::Any => "RDMA",
        Wanted::Layer(LinkLayer::Ethernet) => "RoCE",
        Wanted::Layer(_) => "InfiniBand",
    };
    let unseen = ports.iter().find(|(_, p)| fits(p).unwrap_or(true) && active(p).unwrap_or(true));
    if let Some((d, p)) = unseen {
        let words = format_args!("offered; state or link layer of {}/{} is not in this source", d.name, p.number);
        return out.unknown(subject, words).at(place).at(p.state.place()).see("`ibstat`, or `rdma link`");
    }
    // A device that was given away is seen by whoever has it.
    let exclusive = linerate_node::rdma::netns_shared(cx.snapshot);
    let given = cx.node.pci.rdma_nics().find(|(_, f)| f.driven_by("vfio-pci")).map(|(_, f)| f.driver.place());
    if let Some(why) = matches!(exclusive, Reading::Known(false, _)).then(|| exclusive.place()).or(given) {
        return out
            .unknown(
                subject,
                "offered; RDMA devices of this node can be in pods or virtual machines, which are not seen here",
            )
            .at(place)
            .at(why)
            .see("`rdma link` in the pods that have the devices");
    }
    out.fail(subject, format_args!("offered, but none of {} RDMA ports is an ACTIVE port of {what}", ports.len()))
        .at(place)
        .at_all(ports.iter().map(|(_, p)| p.state.place()).take(8))
        .at(cx.node.rdma.place())
        .follows("rdma/port-state", About::Any)
        .fix(|| {
            let what = "why no port is ACTIVE, or why the device plugin offers devices on this node";
            Remedy::investigate("bring up a port of this kind, or stop offering it", what)
        })
}
