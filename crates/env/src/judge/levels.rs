//! `NCCL_NET_GDR_LEVEL` and `NCCL_P2P_LEVEL`: how far GPUDirect and peer-to-peer may reach.

use super::{Case, Change, Judgement, Kind, Severity};
use crate::facts::Distance;
use crate::value::{Level, level};
use linerate_topology::PathType;

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    let gdr = case.name == "NCCL_NET_GDR_LEVEL";
    if !out.is_empty() || !(gdr || case.name == "NCCL_P2P_LEVEL") {
        return;
    }
    let read = level(case.value, case.release());
    match read {
        Level::Unknown => {
            let lower = case.value.to_ascii_uppercase();
            let mut j =
                case.say(Kind::Illegal, Severity::Medium, "not a level: NCCL uses its default, as if it were unset");
            if case.value == "NODE" {
                j = j.suggest("nvidia-smi's NODE is PHB in NCCL");
            } else if level(&lower, case.release()).path().is_some() && lower != case.value {
                j = j.suggest(format!("in capitals: {}={lower}", case.name)).change(Change::Set(lower));
            }
            out.push(j);
            return;
        }
        Level::NameTooEarly => {
            out.push(case.say(
                Kind::Illegal,
                Severity::High,
                "NCCL 2.4 and 2.5 read numbers only here: a name counts as 0, which switches it off",
            ));
            return;
        }
        Level::Named(_) | Level::Old(..) => {}
    }
    let Some(path) = read.path() else { return };
    let before = out.len();
    if gdr {
        gpudirect(case, path, out)
    } else {
        peer(case, path, out)
    }
    // An old number is worth a word where nothing else is said, and part of what is said otherwise.
    if let Level::Old(n, _) = read {
        let why = format!("{n} is an old number, which NCCL reads as {path}");
        let old = case.say(Kind::Obsolete, Severity::Low, why.clone()).set(path.to_string());
        match out.get_mut(before).map(|j| (j.kind, j)) {
            Some((Kind::Undecided, _)) => out.push(old),
            Some((Kind::Fine, j)) => *j = old,
            Some((_, j)) => j.message = format!("{why}: {}", j.message),
            None => out.push(old),
        }
    }
    for j in out.iter_mut().skip(before) {
        j.what = Some(what(gdr, path));
    }
}

fn what(gdr: bool, path: PathType) -> String {
    let reach = match path {
        PathType::Loc => "never",
        PathType::Nvl => "over NVLink only",
        PathType::Nvb => "over NVLink only, through another GPU, too",
        PathType::C2c => "over NVLink and C2C only",
        PathType::Pix => "below one PCIe switch",
        PathType::Pxb => "below PCIe switches, and not through the CPU",
        PathType::P2c => "below PCIe switches, or over C2C and the CPU's NIC",
        PathType::Pxn => "below PCIe switches, or through another GPU",
        PathType::Phb => "through the CPU of one NUMA node, too",
        _ => "everywhere, across CPU sockets, too",
    };
    let who = if gdr { "GPUDirect RDMA between GPU and NIC" } else { "direct copies between GPUs" };
    format!("{path}: {who} {reach}.")
}

fn gpudirect(case: &Case<'_>, path: PathType, out: &mut Vec<Judgement>) {
    use PathType::{C2c, Loc, Nvb, Nvl, P2c, Phb, Pix, Pxb, Pxn};
    if case.context.node.as_ref().is_some_and(|n| n.no_gpudirect) {
        let why =
            "neither a peer-memory module nor DMA-BUF serves GPUDirect RDMA on this node: no level makes it possible";
        out.push(case.say(Kind::Ignored, Severity::Info, why).delete());
        return;
    }
    let nearest = case
        .context
        .node
        .as_ref()
        .map(|n| n.nearest.as_slice())
        .filter(|n| !n.is_empty() && !n.contains(&Distance::Unknown));
    let farthest = nearest.and_then(|n| n.iter().max().copied());
    out.push(match path {
        Loc | Nvl | Nvb | C2c => case
            .say(Kind::Harmful, Severity::High, "switches GPUDirect RDMA off: all data goes through host memory")
            .unset(),
        Pix => case
            .say(Kind::Harmful, Severity::Low, "narrower than the default: pairs with two switches between them go through host memory")
            .unset(),
        Pxb | P2c | Pxn => {
            let c2c = match case.context.nccl {
                Some(v) if !v.since(2, 26) => "",
                Some(v) if !v.since(2, 27) => "; C2C is reached with NCCL_NET_GDR_C2C=1 in 2.26",
                _ => "; since 2.27 it reaches over C2C, too",
            };
            case.say(Kind::Redundant, Severity::Info, format!("what NCCL uses by itself is PXB{c2c}")).unset()
        }
        Phb => match farthest {
            Some(Distance::Pix | Distance::Pxb) => case
                .say(Kind::Redundant, Severity::Low, "not needed here: every GPU has a NIC below its PCIe switch")
                .unset(),
            Some(Distance::Phb) => {
                let j = case.say(Kind::Fine, Severity::Info, "needed here for GPUDirect: GPUs and NICs are in one NUMA node, below different root ports");
                j.suggest("benchmark with and without: some CPUs move data between root ports more slowly than through memory")
            }
            Some(_) => case.say(Kind::Undecided, Severity::Low, "reaches NICs of the same NUMA node only, and some GPU has none there").suggest("see `linerate topo`"),
            None => undecided(case),
        },
        _ => {
            let here = match farthest {
                Some(Distance::Pix | Distance::Pxb) => "; here every GPU has a NIC below its switch, and needs no more than the default",
                Some(Distance::Phb) => "; here PHB would reach all that is in one NUMA node",
                _ => "",
            };
            let j = case.say(
                Kind::Harmful,
                Severity::Medium,
                format!("GPUDirect across NUMA nodes, which is often slower than host memory; it is not a \"full\" setting{here}"),
            );
            match farthest {
                Some(Distance::Pix | Distance::Pxb) => j.unset(),
                Some(Distance::Phb) => j.suggest("NCCL_NET_GDR_LEVEL=PHB, and benchmark it"),
                _ => j.suggest("unset it; PHB, after a benchmark, where GPU and NIC share a NUMA node but no switch"),
            }
        }
    });
}

fn undecided(case: &Case<'_>) -> Judgement {
    case.say(
        Kind::Undecided,
        Severity::Info,
        "right only where GPU and NIC share a NUMA node and no PCIe switch, and a benchmark says so",
    )
    .suggest("add --node SNAPSHOT")
}

fn peer(case: &Case<'_>, path: PathType, out: &mut Vec<Judgement>) {
    use PathType::{C2c, Loc, Nvb, Nvl, Phb, Pix, Sys};
    let node = case.context.node.as_ref();
    if node.and_then(|n| n.gpus) == Some(1) {
        out.push(
            case.say(Kind::Ignored, Severity::Info, "this node has only one GPU: there is nothing to copy to").delete(),
        );
        return;
    }
    out.push(match (path, node.and_then(|n| n.nvlink)) {
        (Loc, _) => {
            case.say(Kind::Harmful, Severity::High, "forbids direct copies between GPUs, over NVLink, too").unset()
        }
        (Nvl | Nvb | C2c, Some(false)) => case
            .say(
                Kind::Harmful,
                Severity::High,
                "these GPUs have no NVLink: it forbids every direct copy, and all goes through shared memory",
            )
            .unset(),
        (Nvl | Nvb | C2c, Some(true)) => case
            .say(
                Kind::Redundant,
                Severity::Low,
                "GPUs here have NVLink and use it anyway; it only forbids PCIe to those that have none",
            )
            .unset(),
        (Nvl | Nvb | C2c, None) => case
            .say(
                Kind::Undecided,
                Severity::Low,
                "needless with NVSwitch, and on PCIe GPUs it forbids every direct copy",
            )
            .suggest("unset it on PCIe GPUs; add --node SNAPSHOT to get an answer"),
        (Sys, _) => case
            .say(
                Kind::Harmful,
                Severity::Low,
                "direct copies across CPU sockets, too, which some platforms do slowly or not at all",
            )
            .suggest("unset it, unless a benchmark on this machine says so"),
        (Phb, _) => case
            .say(
                Kind::Undecided,
                Severity::Info,
                "direct copies through the CPU: right only where a benchmark on this machine says so",
            )
            .suggest("compare with and without on all_reduce_perf"),
        (Pix, _) => case.say(Kind::Harmful, Severity::Low, "narrower than the default").unset(),
        _ => case.say(Kind::Redundant, Severity::Info, "what NCCL uses by itself on most machines").unset(),
    });
}
