//! Verbs that fail, completions with an error, events of a NIC.

use super::super::network::endpoint;
use super::super::writer::Pen;
use super::back::{proxy, strerror, unwind};
use super::{SYSTEM, remote_error};
use crate::forms::Level;
use crate::printf::Value;

/// A verb that fails, by the macro that this release calls it with.
pub(super) fn verbs(pen: &mut Pen<'_>, call: &str, errno: i32) {
    let release = pen.rank.release;
    let level = crate::forms::form(&format!("name.{call}"), release).map(|f| f.level);
    let given = [("name", call.into()), ("strerror", strerror(errno).into()), ("errno", errno.into())];
    pen.thread = 500;
    match level {
        Some(Level::Macro("IBV_PTR_CHECK" | "IBV_INT_CHECK")) => {
            pen.say("ibv.fail", &given);
        }
        Some(_) => {
            let _ = pen.say("ibv.fail.errno", &given) || pen.say("ibv.fail.error", &given);
        }
        None => {}
    }
    pen.thread = 0;
}

pub(super) fn modify_qp(pen: &mut Pen<'_>, errno: i32) {
    let nic = format!("mlx5_{}", pen.facts.nic_of(pen.rank.node, pen.rank.gpu));
    let gid = pen.facts.env("NCCL_IB_GID_INDEX").and_then(|v| v.parse::<i64>().ok()).unwrap_or(0);
    let (local, remote) = gids(pen);
    let message = pen.text(
        "part.qpmsg",
        &[
            ("hca", nic.into()),
            ("port", 1.into()),
            ("qpfrom", "INIT".into()),
            ("qpto", "RTR".into()),
            ("gididx", gid.into()),
            ("lgid", local.into()),
            ("rgid", remote.into()),
        ],
    );
    let given = [
        ("errno", Value::from(errno)),
        ("strerror", strerror(errno).into()),
        ("qpmsg", message.unwrap_or_default().into()),
        ("attempt", 1.into()),
        ("attempts", 34.into()),
        ("msec", 100.into()),
    ];
    pen.thread = 500;
    if errno == 110 {
        pen.say("ibv.modify.retry", &given);
    }
    if pen.say("ibv.modify", &given) {
        let hint = if errno == 110 { "rail" } else { "gid" };
        for n in 1..=3 {
            pen.say(&format!("hint.{hint}.{n}"), &[]);
        }
    } else {
        verbs(pen, "ibv_modify_qp", errno);
    }
    pen.thread = 0;
    unwind(pen, &["misc/ibvwrap.cc", "transport/net_ib.cc", "transport/net.cc", "proxy.cc"], SYSTEM);
    proxy(pen, SYSTEM);
}

/// The GIDs of both ends of a RoCE connection, as `inet_ntop` prints them.
pub(super) fn gids(pen: &Pen<'_>) -> (String, String) {
    let facts = pen.facts;
    let of = |node: usize| {
        let (_, address) = facts.address(node);
        match facts.env("NCCL_IB_GID_INDEX") {
            Some("0" | "1") => format!("fe80::ee0d:9aff:fe{:02x}:{:x}", 0x10 + node, 0x1a2b + node),
            _ => format!("::ffff:{address}"),
        }
    };
    (of(pen.rank.node), of((pen.rank.node + 1) % facts.job.nodes.max(1)))
}

pub(super) fn completion(pen: &mut Pen<'_>, status: u32, vendor: u32, everywhere: bool) {
    let facts = pen.facts;
    let node = (pen.rank.node + 1) % facts.job.nodes.max(1);
    let port = 30_000 + pen.draw(30_000);
    let peer = endpoint(pen, node, port);
    let roce = facts.job.fabric == "roce";
    let (local, remote) = if roce { gids(pen) } else { (String::new(), String::new()) };
    let sends = matches!(status, 9 | 10 | 12 | 13);
    let (word_l, word_r, word_r18) = if roce { (" localGid ", " remoteGids", " remoteGid ") } else { ("", "", "") };
    let nic = format!("mlx5_{}", facts.nic_of(pen.rank.node, pen.rank.gpu));
    let given = [
        ("status", Value::from(status)),
        ("statusname", status_name(status).into()),
        ("opcode", if sends { 1 } else { 129 }.into()),
        ("opcodename", if sends { "IBV_WC_RDMA_WRITE" } else { "IBV_WC_RECV_RDMA_WITH_IMM" }.into()),
        ("len", 0.into()),
        ("vendor", vendor.into()),
        ("peer", peer.into()),
        ("reqtype", if sends { "Send" } else { "Recv" }.into()),
        ("lgidw", word_l.into()),
        ("lgidw18", word_l.into()),
        ("lgidv", local.into()),
        ("rgidw", word_r.into()),
        ("rgidw18", word_r18.into()),
        ("rgidv", remote.into()),
        ("hca", nic.into()),
        ("side", if sends { "send" } else { "recv" }.into()),
        ("wrid", pen.draw(256).into()),
        ("qpn", Value::from(300 + pen.draw(90_000) as i64)),
    ];
    pen.thread = 600;
    if everywhere {
        pen.wait(f64::from(pen.rank.rank as u32) * 0.01);
    }
    pen.say("wc.error", &given);
    let hints: &[&str] = match status {
        4 => &[
            "hint.acs.1",
            "hint.acs.2",
            "hint.nic.1",
            "hint.timeout.1",
            "hint.timeout.2",
            "hint.timeout.3",
            "hint.timeout.4",
        ],
        5 => &["hint.nic.1", "hint.timeout.1", "hint.timeout.2", "hint.timeout.3", "hint.timeout.4"],
        12 => &["hint.timeout.1", "hint.timeout.2", "hint.timeout.3", "hint.timeout.4"],
        _ => &[],
    };
    for hint in hints {
        pen.say(hint, &[]);
    }
    pen.say("wc.cqe", &given);
    let code = remote_error(pen.rank.release);
    unwind(pen, &["transport/net.cc", "proxy.cc"], code);
    pen.say("trace.proxy", &[("res", code.into())]);
    pen.thread = 0;
}

pub(super) fn port(pen: &mut Pen<'_>, nic: usize) {
    let given = [
        ("hca", Value::from(format!("mlx5_{nic}"))),
        ("port", 1.into()),
        ("eventname", "port error".into()),
        ("event", 10.into()),
    ];
    pen.thread = 800;
    if !pen.say("event.port", &given) {
        pen.say("event", &given);
    }
    pen.wait(5.0);
    completion(pen, 12, 129, false);
}

/// What the side that refused a remote access sees: its queue pair breaks.
pub(super) fn access_event(pen: &mut Pen<'_>) {
    let nic = format!("mlx5_{}", pen.facts.nic_of(pen.rank.node, pen.rank.gpu));
    let given = [
        ("hca", Value::from(nic)),
        ("port", 1.into()),
        ("eventname", "local access violation work queue error".into()),
        ("qpn", Value::from(300 + pen.draw(90_000) as i64)),
        ("handle", 17.into()),
        ("qpstate", 6.into()),
        ("psn", Value::from(pen.draw(0xff_ffff))),
        ("where", "ncclIbStatsCheckFatalCount".into()),
    ];
    pen.thread = 800;
    if !pen.say("event.qp", &given) {
        pen.say("event", &given);
    }
    pen.thread = 0;
    pen.wait(0.2);
    pen.say("comm.fatal", &given);
}

pub(super) fn status_name(status: u32) -> &'static str {
    match status {
        4 => "IBV_WC_LOC_PROT_ERR",
        5 => "IBV_WC_WR_FLUSH_ERR",
        9 => "IBV_WC_REM_INV_REQ_ERR",
        10 => "IBV_WC_REM_ACCESS_ERR",
        11 => "IBV_WC_REM_OP_ERR",
        12 => "IBV_WC_RETRY_EXC_ERR",
        13 => "IBV_WC_RNR_RETRY_EXC_ERR",
        _ => "UNKNOWN_STATUS",
    }
}
