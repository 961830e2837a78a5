//! `claims/gpu-count`.

use super::{DEVICE_PLUGINS, at};
use crate::{Cx, Effect, Finding, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::kubernetes::{self, Resource};
use linerate_formats::slurm;
use linerate_formats::slurm::gres::is_partition;
use linerate_node::pci::{Kind, PciFunction};
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "claims/gpu-count",
    title: "The scheduler counts as many GPUs as the node shows",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("jobs are sent to GPUs that are not there and fail; GPUs that are not counted stay idle"),
    sources: &[
        DEVICE_PLUGINS,
        Source {
            title: "Slurm src/interfaces/gres.c: _node_config_validate (fewer than configured is an error, an excess is ignored)",
            at: "https://github.com/SchedMD/slurm/blob/master/src/interfaces/gres.c",
        },
        Source {
            title: "NVIDIA GPU Operator, Time-Slicing GPUs in Kubernetes: replicas, and the labels that show them",
            at: "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html",
        },
    ],
    reads: &["kubectl get node NAME -o json", "scontrol show node NAME", "sys/bus/pci/devices", "lspci -D -nn"],
    docs: "\
## What it checks
The number of GPUs that a scheduler hands out against the GPUs on the PCI bus that answer and are not bound to vfio-pci: `gpu` among the
generic resources of the node's record in Slurm, and `nvidia.com/gpu`, `nvidia.com/gpu.shared` and `amd.com/gpu` among what the node's object in
Kubernetes lets pods ask for. Shares of one GPU count as GPUs: the label `nvidia.com/gpu.replicas` says how many. Where GPUs are partitioned (MIG)
the numbers cannot be compared. Fewer on the bus than claimed is high, more on the bus than claimed is low.

## Why it matters
A GPU that fell off the bus stays in slurm.conf, and in the node's object until the device plugin is asked again. Slurm compares the number when
slurmd registers, not later, and not at all with `config_overrides`. A job that gets the missing GPU fails on this node, again and again.

## See it yourself
`scontrol show node NAME | grep Gres=`, `kubectl get node NAME -o jsonpath='{.status.allocatable}'`, and on the node `lspci -d 10de: -nn`.

## Fix
Fewer GPUs than claimed: drain the node, and look for the GPU in the kernel log; `nvidia-smi -L` says which one the driver lost. More than claimed:
correct `Gres=` in slurm.conf, or look at the log of the device plugin.",
    myths: &[],
    check,
};

/// A claim: what it is called, how many, where.
struct Claim {
    name: String,
    /// `Err`: why the number says nothing about GPUs.
    count: Result<u64, &'static str>,
    /// Counted of NVIDIA's GPUs alone.
    nvidia: bool,
    /// It may be a number of shares: nothing says that it is not.
    perhaps_shares: bool,
    place: Place,
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let cluster = &cx.node.cluster;
    let mut claims = Vec::new();
    super::unreadable(cx, out);
    if let Reading::Known(node, place) = &cluster.slurm {
        claims.extend(slurm_claim(node, *place));
    }
    if let Reading::Known(node, place) = &cluster.kubernetes {
        claims.extend(kubernetes_claims(node, *place));
    }
    if claims.is_empty() && out.is_empty() {
        out.not_applicable("no scheduler's claim about GPUs in this source");
    }
    for claim in claims {
        judge(cx, &claim, out);
    }
}

/// `gpu` among the generic resources.
fn slurm_claim(node: &slurm::Node, place: Place) -> Option<Claim> {
    let gres = node.gres.as_ref()?;
    let gpus: Vec<_> = gres.value.iter().filter(|g| g.name == "gpu").collect();
    let partitioned = gpus.iter().any(|g| g.model.as_deref().is_some_and(is_partition));
    let total = gpus.iter().try_fold(0_u64, |n, g| n.checked_add(g.count));
    let count = match total {
        _ if partitioned => Err("they are partitions of GPUs (MIG)"),
        Some(n) => Ok(n),
        None => Err("no node can have this number"),
    };
    let place = at(place, gres.line);
    (!gpus.is_empty()).then(|| Claim {
        name: "gres/gpu".to_owned(),
        count,
        nvidia: false,
        perhaps_shares: false,
        place,
    })
}

/// Resources whose devices are GPUs.
const GPUS: [&str; 3] = ["nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu"];

fn kubernetes_claims(node: &kubernetes::Node, place: Place) -> Vec<Claim> {
    let label = |name: &str| node.labels.iter().find(|l| l.name == name).map(|l| l.value.as_str());
    let replicas = label("nvidia.com/gpu.replicas").and_then(|n| n.parse::<u64>().ok());
    // Sharing is said by labels of GPU feature discovery: without them nobody says that there is none.
    let perhaps_shares = replicas.is_none() && label("nvidia.com/gpu.count").is_none();
    let all = node.resources.as_deref().unwrap_or_default();
    let amount = |r: &Resource| r.allocatable.as_ref().or(r.capacity.as_ref())?.parse::<u64>().ok();
    let partitioned = label("nvidia.com/gpu.product").is_some_and(|p| p.split('-').any(is_partition))
        || all.iter().any(|r| r.name.starts_with("nvidia.com/mig-") && amount(r).is_some_and(|n| n > 0));
    let of = |r: &Resource| {
        let nvidia = r.name.starts_with("nvidia.com/");
        let shares = replicas.filter(|_| nvidia).unwrap_or(1).max(1);
        let count = match amount(r) {
            _ if nvidia && partitioned => Err("GPUs of this node are partitioned (MIG)"),
            Some(n) if n.is_multiple_of(shares) => Ok(n / shares),
            Some(_) => Err("the number is not a multiple of the shares in nvidia.com/gpu.replicas"),
            None => Err("the number cannot be read"),
        };
        let perhaps_shares = nvidia && perhaps_shares;
        Claim { name: r.name.clone(), count, nvidia, perhaps_shares, place: at(place, r.line) }
    };
    all.iter().filter(|r| GPUS.contains(&r.name.as_str())).map(of).collect()
}

/// GPUs that answer and that this system can use.
fn usable(cx: &Cx<'_>, nvidia: bool) -> usize {
    let fits = |f: &&PciFunction<'_>| {
        (!nvidia || f.kind == Kind::Gpu) && f.physfn.is_none() && f.silent.is_none() && !f.driven_by("vfio-pci")
    };
    cx.node.pci.gpus().map(|(_, f)| f).filter(fits).count()
}

fn judge<'o>(cx: &Cx<'_>, claim: &Claim, out: &'o mut Findings) -> &'o mut Finding {
    let (pci, subject) = (&cx.node.pci, Subject::Named(claim.name.clone()));
    let claimed = match claim.count {
        Ok(n) => n,
        Err(why) => {
            return out
                .not_applicable_to(subject, format_args!("not compared with the PCI bus: {why}"))
                .at(claim.place);
        }
    };
    let seen = usable(cx, claim.nvidia) as u64;
    let Some(list) = pci.seen else {
        return out
            .unknown(subject, format_args!("{claimed} claimed; no list of PCI devices in this source"))
            .at(claim.place)
            .see("capture the node with `linerate collect`, or add the output of `lspci -D -nn` run as root");
    };
    // What an excerpt does not show may be there; what nobody could identify may be a GPU.
    let unsure = cx.is_excerpt(list)
        || pci.functions.iter().any(|f| matches!(f.kind, Kind::Unknown | Kind::Accelerator))
        || (!claim.nvidia && pci.amd_displays().next().is_some());
    if seen == claimed {
        return out
            .pass(subject, format_args!("{claimed} claimed, and {seen} on the PCI bus"))
            .at(claim.place)
            .at(list);
    }
    if seen > claimed {
        return out
            .fail(subject, format_args!("{claimed} claimed, but {seen} on the PCI bus"))
            .severity(Severity::Low)
            .at(claim.place)
            .at(list)
            .fix(|| {
                let what = "Gres= of the node in slurm.conf, or the log of the device plugin on this node";
                Remedy::investigate("find out why GPUs of this node are not offered", what)
            });
    }
    let shares = claim.perhaps_shares && seen > 0 && claimed.is_multiple_of(seen);
    if unsure || shares {
        let why = match unsure {
            true => "the source may not show all",
            false => "they may be shares, as no label of GPU feature discovery says what is counted",
        };
        return out
            .unknown(subject, format_args!("{claimed} claimed, {seen} on the PCI bus: {why}"))
            .at(claim.place)
            .at(list)
            .see("lspci -D -nn -vvv as root (complete output); the configuration of the device plugin (`sharing`)");
    }
    out.fail(subject, format_args!("{claimed} claimed, but {seen} on the PCI bus")).at(claim.place).at(list).fix(|| {
        Remedy::investigate(
            "drain the node, read the kernel log about the missing GPU, power-cycle the node; replace the GPU if it stays away",
            "which GPU is missing, and why",
        )
        .because("running jobs end")
    })
}
