//! Which network: `NCCL_IB_DISABLE`, `NCCL_NET`, and settings of a network that is not used.

use super::{Case, Change, Judgement, Kind, Severity};
use crate::context::Fabric;

/// Settings of the Socket network.
const SOCKET_ONLY: &[&str] =
    &["NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD", "NCCL_SOCKET_INLINE", "NCCL_SOCKET_MIN_TASKSIZE"];
/// Settings that begin so are of the IB network.
const IB_PREFIX: &str = "NCCL_IB_";

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if !out.is_empty() {
        return;
    }
    match case.name {
        "NCCL_IB_DISABLE" if case.number().is_some_and(|n| n != 0) => out.push(off(case, "switches RDMA off")),
        "NCCL_NET" => net(case, out),
        name if SOCKET_ONLY.contains(&name) => sockets(case, out),
        name if name.starts_with(IB_PREFIX) && case.context.fabric() == Some(Fabric::None) => {
            out.push(case.say(Kind::Ignored, Severity::Low, "this node has no RDMA port that NCCL could use").delete());
        }
        _ => {}
    }
}

fn off(case: &Case<'_>, how: &str) -> Judgement {
    match case.context.fabric() {
        Some(Fabric::None) => case
            .say(Kind::Ignored, Severity::Low, "changes nothing here: the node has no RDMA port that NCCL could use")
            .suggest("unset it, so that it does no harm once there is one")
            .change(Change::Unset),
        Some(_) => case
            .say(
                Kind::Harmful,
                Severity::High,
                format!("{how}, on a node that has it: nodes talk over TCP through the CPU"),
            )
            .unset(),
        None => case
            .say(
                Kind::Harmful,
                Severity::High,
                format!("{how}: unless a network plugin is loaded, nodes talk over TCP through the CPU"),
            )
            .unset(),
    }
}

fn net(case: &Case<'_>, out: &mut Vec<Judgement>) {
    let value = case.value.to_ascii_lowercase();
    match value.as_str() {
        "socket" => out.push(off(case, "forces TCP sockets")),
        "ib" if case.context.fabric() == Some(Fabric::None) => {
            out.push(
                case.say(
                    Kind::Harmful,
                    Severity::High,
                    "this node has no RDMA port that NCCL could use: NCCL ends with an error",
                )
                .unset(),
            );
        }
        "ib" => out.push(case.say(Kind::Fine, Severity::Info, "an error instead of a silent fall back to TCP")),
        "tcp" | "sockets" | "ethernet" | "roce" | "rdma" | "infiniband" | "verbs" | "efa" | "libfabric" | "none" => {
            let right = match value.as_str() {
                "tcp" | "sockets" | "ethernet" => "Socket",
                "efa" | "libfabric" => "\"AWS Libfabric\" (its plugin's name), or unset",
                "none" => "unset",
                _ => "IB, which is also RoCE",
            };
            let j = case.say(Kind::Illegal, Severity::High, "not the name of a network: NCCL has IB and Socket, plugins have their own names, and any other name is an error");
            out.push(j.suggest(format!("use {right}")));
        }
        _ => out.push(
            case.say(
                Kind::Undecided,
                Severity::Info,
                "a plugin's network: must be its own name exactly, or NCCL ends with an error",
            )
            .suggest("the log says it: `Using network …`"),
        ),
    }
}

fn sockets(case: &Case<'_>, out: &mut Vec<Judgement>) {
    let plugin = case.context.network.as_deref().is_some_and(|n| !n.eq_ignore_ascii_case("socket"));
    if case.sockets_forced() {
        return;
    }
    match case.context.fabric() {
        _ if plugin => {
            out.push(case.say(Kind::Ignored, Severity::Low, "the log shows another network than Socket").delete())
        }
        Some(Fabric::InfiniBand | Fabric::Roce | Fabric::Mixed) => {
            out.push(
                case.say(Kind::Ignored, Severity::Low, "this node has RDMA: data does not go over sockets").delete(),
            );
        }
        Some(Fabric::None) => {}
        None => out.push(
            case.say(
                Kind::Undecided,
                Severity::Info,
                "for the Socket network only: on InfiniBand and RoCE it means nothing",
            )
            .suggest("add --node SNAPSHOT"),
        ),
    }
    let product = |a: Option<i64>, b: Option<i64>| a.unwrap_or(1).saturating_mul(b.unwrap_or(1));
    let other = case.other("NCCL_NSOCKS_PERTHREAD").and_then(|s| crate::value::number(&s.value)).map(|n| n.0);
    if case.name == "NCCL_SOCKET_NTHREADS" && product(case.number(), other) > 64 {
        out.push(case.say(Kind::Illegal, Severity::Medium, "threads times sockets is more than 64: NCCL reduces it"));
    }
}
