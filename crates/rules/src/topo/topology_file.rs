//! `topo/topology-file`.

use super::file::{self, Device};
use super::usable;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::clip::clip;
use linerate_node::pci::PciFunction;
use linerate_snapshot::{Place, Reading};
use linerate_topology::Document;
use linerate_topology::xml::Dialect;

pub(super) static RULE: Rule = Rule {
    id: "topo/topology-file",
    title: "The topology file in force is valid for NCCL, and is of this machine",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("a file that NCCL refuses stops every job at its start; devices that it does not name fall back to what /sys shows"),
    sources: &[
        super::NCCL_SYSTEM,
        crate::sources::nccl!(
            "src/graph/xml.cc",
            "ncclTopoGetXmlFromFile, ncclTopoGetPciNode (bus ids are compared as text), ncclTopoTrimXml",
        ),
        crate::sources::nccl!("src/misc/param.cc", "setEnvFile, what a line of nccl.conf means"),
        crate::Source {
            title: "Azure azhpc-images: topology files with bridges ffff:ff:xx.0",
            at: "https://github.com/Azure/azhpc-images/tree/master/topology",
        },
    ],
    reads: &["etc/nccl.conf", "var/run/nvidia-topologyd/virtualTopology.xml", "opt/microsoft/*topo*.xml", "sys/bus/pci/devices/*/{vendor,class}"],
    docs: "\
## What it checks
The file that NCCL_TOPO_FILE in /etc/nccl.conf names, else /var/run/nvidia-topologyd/virtualTopology.xml. It is read with the rules of
NCCL's own reader, which is not an XML parser: tabs, an XML declaration, text between elements or more than 255 elements make it stop. Then: every
GPU and NIC in it must be a device of this node, and every GPU of the node, and every RDMA NIC in use, must be in it. Bus ids are
compared as NCCL does, as text: upper-case digits never match. For NICs the id with device and function zero counts too, by which NCCL merges ports and
virtual functions. Bridges may be invented: `ffff:ff:xx.0` is how Azure's and AWS's files write them. The environment of a job, NCCL_CONF_FILE and
~/.nccl.conf come before /etc/nccl.conf, and are not seen here.

## Why it matters
A file that cannot be opened is passed over with one line at level INFO, and the default place is not tried then. Devices that are not in the file are
placed by /sys, far from those that are; entries without a device are dropped in silence. All this looks like a slow network.

## See it yourself
`NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH,ENV`: `Loading topology file`, `Could not open XML topology file`. NCCL_TOPO_DUMP_FILE shows the result.

## Fix
Take the provider's file for this machine type, or correct the bus ids: `nvidia-smi --query-gpu=pci.bus_id --format=csv`,
`readlink /sys/class/infiniband/*/device`.",
    myths: &[Myth {
        claim: "The bridges in the cloud's topology file do not exist, so the file is wrong.",
        truth: "They are invented on purpose: only the bus ids of GPUs and NICs must be real. NCCL takes bridges as the file gives them.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nccl = &cx.node.nccl;
    if nccl.named.is_none() && nccl.conf.is_unreadable() && nccl.topology.known().is_none() {
        out.unreadable(Subject::Node, "/etc/nccl.conf, which may name a topology file", &nccl.conf);
        return;
    }
    let bytes = match (&nccl.topology, &nccl.named) {
        (Reading::Known(b, _), _) => *b,
        (Reading::Absent(at), None) => {
            out.not_applicable("no topology file: NCCL reads /sys").at(*at);
            return;
        }
        (Reading::Absent(at), Some((path, line))) => {
            out.fail(Subject::Node, || {
                format!("NCCL_TOPO_FILE names {path}, which does not exist: NCCL ignores it and reads /sys")
            })
            .severity(Severity::Medium)
            .at(*line)
            .at(*at)
            .fix(|| remedy("put the file there, or remove the line from /etc/nccl.conf"));
            return;
        }
        (r, Some((path, line))) => {
            out.unreadable(Subject::Node, format_args!("topology file {path}, named in /etc/nccl.conf"), r)
                .at(*line)
                .see(|| format!("add the file to the source: cp --parents {path} ROOT, or NCCL_DEBUG=INFO"));
            return;
        }
        (r, None) => {
            out.unreadable(Subject::Node, "topology file", r);
            return;
        }
    };
    let at = nccl.topology.place();
    match Document::parse(bytes, Dialect::Nccl) {
        Err(e) => {
            out.fail(Subject::Node, || format!("NCCL stops at its topology file: {}", one_line(&e.to_string())))
                .at(at.line(e.at.line))
                .fix(|| remedy("correct the file where NCCL stops, or remove it"));
        }
        Ok(document) => devices(cx, &file::devices(&document), file::invented(&document), at, out),
    }
}

fn devices(cx: &Cx<'_>, listed: &[Device], invented: usize, at: Place, out: &mut Findings) {
    let pci = &cx.node.pci;
    if pci.seen.is_none() {
        out.unknown(
            Subject::Node,
            "NCCL reads the file; whether it is of this machine is not visible: no list of PCI devices",
        )
        .at(at)
        .see("capture with `linerate collect`, or add `lspci -D -nn -vvv`");
        return;
    }
    let nics = usable(cx);
    let names: Vec<(String, &PciFunction<'_>)> = pci.functions.iter().map(|f| (f.bdf.to_string(), f)).collect();
    let merged = |f: &PciFunction<'_>| format!("{:04x}:{:02x}:00.0", f.bdf.domain, f.bdf.bus);
    let is = |d: &Device, name: &str, f: &PciFunction<'_>| {
        d.busid == name || (!d.gpu && !f.kind.is_gpu() && d.busid == merged(f))
    };
    let strange: Vec<&Device> = listed.iter().filter(|d| !names.iter().any(|(n, f)| is(d, n, f))).collect();
    match strange.first() {
        Some(first) => out
            .fail(Subject::Node, || {
                let case = names.iter().any(|(n, _)| n.eq_ignore_ascii_case(&first.busid));
                let why = if case {
                    ", written in upper case, which NCCL does not match"
                } else {
                    ", which this node does not have"
                };
                format!(
                    "{} of {} devices in the topology file have no effect: {}{why}",
                    strange.len(),
                    listed.len(),
                    clip(&first.busid, 20)
                )
            })
            .severity(if strange.len() == listed.len() { Severity::High } else { Severity::Medium })
            .at_all(strange.iter().take(4).map(|d| at.line(d.line)))
            .fix(|| remedy("take the file of this machine type, or correct the bus ids")),
        None if listed.is_empty() => out
            .fail(Subject::Node, "the topology file names no GPU and no NIC: NCCL learns nothing from it")
            .severity(Severity::Medium)
            .at(at)
            .fix(|| remedy("remove the file, or take that of this machine type")),
        None => {
            let gpus = listed.iter().filter(|d| d.gpu).count();
            let bridges =
                if invented > 0 { format!("; {invented} invented bridges (ffff:ff:xx.0)") } else { String::new() };
            out.pass(Subject::Node, || {
                format!("NCCL reads the file: {gpus} GPUs and {} NICs of this node{bridges}", listed.len() - gpus)
            })
            .at(at)
        }
    };
    let ends = pci.iter().filter(|(id, f)| f.kind.is_gpu() || nics.contains(id));
    let rails: Vec<&PciFunction<'_>> =
        nics.iter().map(|id| pci.get(*id)).filter(|f| has(listed, f, &merged(f))).collect();
    for (_, f) in ends {
        if has(listed, f, &merged(f)) {
            out.pass(f.bdf, "in the topology file").at(at);
        } else if !f.kind.is_gpu() && other_use(cx, f, &rails) {
            out.not_applicable_to(f.bdf, "not in the topology file, and not of the rails' kind: a front end").at(at);
        } else {
            let severity = if f.kind.is_gpu() { Severity::High } else { Severity::Medium };
            out.fail(f.bdf, || {
                format!(
                    "{} is not in the topology file: NCCL places it by /sys, apart from the others",
                    cx.node.name_of(f)
                )
            })
            .severity(severity)
            .at(at)
            .at(f.class.place())
            .fix(|| remedy("take the file of this machine type, or add the device below the right bridge"));
        }
    }
}

fn has(listed: &[Device], f: &PciFunction<'_>, merged: &str) -> bool {
    let own = f.bdf.to_string();
    listed.iter().any(|d| d.busid == own || (!f.kind.is_gpu() && !d.gpu && d.busid == merged))
}

/// A NIC that is another product than those in the file, or whose kind or theirs is not known.
fn other_use(cx: &Cx<'_>, f: &PciFunction<'_>, rails: &[&PciFunction<'_>]) -> bool {
    let layer = |f: &PciFunction<'_>| {
        cx.node.rdma_of(f).and_then(|d| d.ports.first()).and_then(|p| p.link_layer.known().copied())
    };
    rails.iter().all(|r| r.device.known() != f.device.known() || layer(r) != layer(f)) && !rails.is_empty()
}

fn remedy(what: &'static str) -> Remedy {
    Remedy::software(what, "NCCL's topology file").prove("NCCL_DEBUG_SUBSYS=GRAPH: Loading topology file")
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
