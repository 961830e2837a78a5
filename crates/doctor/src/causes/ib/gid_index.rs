//! `ib/gid-index`.

use super::{failed_call, verbs};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::Trouble;
use crate::place::Place;
use linerate_formats::gid::GidClass;
use linerate_formats::nccl_log::status::Status;
use linerate_rules::{Remedy, Severity};

pub(super) static CAUSE: Cause = Cause {
    id: "ib/gid-index",
    title: "RoCE connects with a GID that does not lead to the peer",
    what: "A RoCE connection uses an entry of the GID table that does not lead to the peer.",
    shows: &[
        "`Call to ibv_modify_qp failed with …` on RoCE, with `GID index …` and the GIDs in the details",
        "`Got completion … with error 12` before any collective, on RoCE",
        "`GID: 00:00:…:00` of perftest on Ethernet, and a queue pair that cannot be connected",
        "`NCCL_IB_GID_INDEX set by environment to …`",
    ],
    why: "An entry is a RoCE version and an address. NCCL_IB_GID_INDEX forces the same number on all hosts, where it \
          may be another entry, an empty one, or a link-local one. Before 2.21 the default was 0, which is \
          link-local RoCE v1. From 2.21 NCCL finds the right entry by itself.",
    confirm: &[
        "`show_gids`, or /sys/class/infiniband/*/ports/1/gids and gid_attrs/types, on both hosts",
        "unset NCCL_IB_GID_INDEX with NCCL 2.21 or later",
    ],
    refute: &[
        "the entry is RoCE v2 with the right address on all hosts, and `rping` or ib_write_bw -x INDEX works between them",
    ],
    remedy: Advice::Environment(
        "Unset NCCL_IB_GID_INDEX (NCCL 2.21 and later); before that, the index of the RoCE v2 entry with the port's address",
        &[],
        &["NCCL_IB_GID_INDEX"],
    ),
    sources: &[
        ENV_RST,
        nccl(
            "NCCL, src/transport/net_ib/connect.cc: ncclIbGetGidIndex",
            "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/net_ib/connect.cc",
        ),
    ],
    severity: Severity::Critical,
    rules: &["rdma/gid-table", "rdma/gid-ndev"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let modify = verbs(c, |call, _| matches!(call, "ibv_modify_qp" | "ibv_create_ah"));
    let early = c.failures(|t| matches!(t, Trouble::Completion(Status::RetryExceeded)));
    let forced = c.env("NCCL_IB_GID_INDEX").filter(|(v, _)| v.trim() != "-1");
    let named =
        modify.iter().any(|(_, _, g)| g.quotes.iter().any(|q| q.text.contains("dev roce") || q.text.contains("ROCE")));
    let roce = c
        .is_roce()
        .or(named.then_some(true))
        .or_else(|| c.of(&c.o.queue_pairs).any(|(pair, _)| pair.gid_index.is_some()).then_some(true));
    if roce == Some(false) {
        return None;
    }
    let set = forced.iter().flat_map(|(_, g)| c.first_quote(g)).collect::<Vec<_>>();
    if let Some((call, error, g)) = modify.first() {
        let zero = zero_gid(c, g);
        let empty_gid = zero.is_some()
            || g.quotes.iter().any(|q| q.text.contains("local GID ::,") || q.text.trim_end().ends_with("local GID ::"));
        let detail = g.quotes.iter().any(|q| q.text.contains("GID index"));
        let timed_out = error.contains("timed out");
        let no_device = error.contains("No such device");
        let (sure, why) = if empty_gid || gid_hint(c).is_some() && forced.is_some() {
            (Certain, "the entry is empty, or NCCL itself names the forced index")
        } else if forced.is_some() && (timed_out || detail || roce == Some(true)) {
            (Likely, "the index is forced, and the connection cannot be set up with it")
        } else if error.contains("No data available") || roce == Some(true) && timed_out {
            (Likely, "the address at this index cannot be resolved")
        } else if no_device
            || roce == Some(true)
            || error.contains("Invalid argument")
            || timed_out
            || error.contains("nreachable")
        {
            (Possible, "the connection cannot be set up; an interface in another network namespace looks the same")
        } else {
            return None;
        };
        let rules = ["rdma/gid-table", "rdma/gid-ndev"];
        if let Some((index, line)) = zero {
            let of = index.map(|i| format!(" of index {i}")).unwrap_or_default();
            let words = format!("{}: the GID{of} is empty: all zeros", failed_call(call, error));
            return Some(
                Found::new(sure, words, "the program prints the GIDs of both ends")
                    .shown(c, g)
                    .with([line])
                    .fix(Some(of_empty()))
                    .join(c, &rules),
            );
        }
        if g.quotes.iter().all(|q| q.text.contains("UCX ")) {
            let words = failed_call(&format!("{call} of UCX"), error);
            return Some(Found::new(sure.min(Likely), words, why).shown(c, g).fix(Some(of_ucx())).join(c, &rules));
        }
        let index = forced.map(|(v, _)| format!(" with NCCL_IB_GID_INDEX={v}")).unwrap_or_default();
        let words = format!("{}{index}", failed_call(call, error));
        return Some(Found::new(sure, words, why).shown(c, g).with(set).join(c, &rules));
    }
    let (_, g) = early.first()?;
    if c.ran() {
        return None;
    }
    let link_local = g.quotes.iter().any(|q| q.text.contains("fe80"));
    let (value, why) = match (forced, roce) {
        (Some((v, _)), Some(true)) => (v, "the peer never answered, at the start, on RoCE, and the index is forced"),
        (None, Some(true)) if c.since(21) == Some(false) => (
            "0",
            "the peer never answered, at the start, on RoCE, and this release takes entry 0 (link-local) by default",
        ),
        (Some((v, _)), None) => {
            (v, "the peer never answered, at the start, and the index is forced; whether this is RoCE is not shown")
        }
        _ => return None,
    };
    let sure = if roce == Some(true) || link_local { Likely } else { Possible };
    Some(
        Found::new(sure, format!("the first message over RoCE got no answer, with GID index {value}"), why)
            .with(c.quotes(g))
            .with(set),
    )
}

/// perftest's table above a failure: on Ethernet, with an empty GID at one end. Its index, and the line of that end.
fn zero_gid(c: &Case<'_>, g: &Group) -> Option<(Option<u32>, Evidence)> {
    let of_file = c.o.perftest.iter().filter(|(file, _)| c.is_first && *file == g.first.file).map(|(_, run)| run);
    let mut on_ethernet = of_file.filter(|run| run.header.link.as_deref() == Some("Ethernet"));
    on_ethernet.find_map(|run| {
        let end = run.addresses.iter().find(|a| a.gid.is_some_and(|gid| gid.class() == GidClass::Zero))?;
        let place = Place { file: g.first.file, line: u64::from(end.line) + 1 };
        Some((run.header.gid_index, c.at(place, "GID: 00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00")))
    })
}

/// An entry is there where an interface of the NIC has an address, in the namespace of the program.
fn of_empty() -> Remedy {
    Advice::Investigate(
        "Look at `show_gids` where the program ran. Without a RoCE v2 entry there, no interface of this NIC has an address in its network namespace: give the container or pod one (the host's network, or SR-IOV, macvlan or ipvlan on the NIC's interface; `rdma system` says whether namespaces share devices). Then take that entry's index",
    )
    .remedy()
}

/// UCX takes variables of its own.
fn of_ucx() -> Remedy {
    Advice::Environment(
        "Unset UCX_IB_GID_INDEX, or set it to the RoCE v2 entry with the port's address; UCX does not read NCCL's variables",
        &[],
        &["UCX_IB_GID_INDEX"],
    )
    .remedy()
}

/// Hints of NCCL that name the GID index.
fn gid_hint<'a>(c: &Case<'a>) -> Option<&'a Group> {
    c.of(&c.o.hints).find(|(n, _)| c.name(*n).contains("GID index") || c.name(*n).contains("GID_INDEX")).map(|(_, g)| g)
}
