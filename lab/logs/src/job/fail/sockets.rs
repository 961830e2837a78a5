//! Connections that cannot be made or are lost, and messages that do not fit.

use super::super::network::endpoint;
use super::super::writer::Pen;
use super::back::{strerror, unwind};
use super::{INTERNAL, INVALID_USAGE, SYSTEM, remote_error};
use crate::printf::Value;
use crate::release::Release;

pub(super) fn closed(pen: &mut Pen<'_>) {
    let node = (pen.rank.node + 1) % pen.facts.job.nodes.max(1);
    let port = 30_000 + pen.draw(30_000);
    let peer = endpoint(pen, node, port);
    let given = [("peer", Value::from(peer)), ("strerror", "Connection reset by peer".into())];
    // A process that was killed resets its connections, one that exits closes them.
    let id = if pen.draw(4) == 0 { "sock.recv" } else { "sock.closed" };
    pen.say(id, &given);
    unwind(
        pen,
        &["misc/socket.cc", "transport/net_ib.cc", "transport/net.cc", "proxy.cc"],
        remote_error(pen.rank.release),
    );
    pen.thread = 400;
    pen.say("proxy.lost", &[("localrank", pen.rank.gpu.into()), ("res", 3_u64.into()), ("closed", 1.into())]);
    pen.thread = 0;
}

pub(super) fn connect(pen: &mut Pen<'_>, errno: i32) {
    let root = endpoint(pen, 0, 47_113);
    let text = strerror(errno);
    let func = "socketPollConnect";
    let base = |attempt: i64| -> Vec<(&'static str, Value)> {
        vec![
            ("peer", root.as_str().into()),
            ("strerror", text.into()),
            ("func", func.into()),
            ("attempt", attempt.into()),
            ("attempts", 34.into()),
            ("msec", Value::Int(100 * attempt)),
        ]
    };
    if matches!(errno, 110 | 111) {
        for attempt in 1..4 {
            pen.wait(1.0);
            pen.say("sock.retry", &base(attempt));
        }
        pen.wait(20.0);
        let gave_up = if pen.rank.release < Release(2, 16, 2) {
            false
        } else if errno == 110 && pen.rank.release < Release(2, 24, 3) {
            pen.say("sock.timeouts", &base(34))
        } else {
            pen.say("sock.exceeded", &base(34))
        };
        if !gave_up {
            pen.say("sock.connect", &base(34));
        }
    } else {
        pen.say("sock.connect", &base(1));
    }
    unwind(pen, &["misc/socket.cc", "bootstrap.cc", "init.cc"], remote_error(pen.rank.release));
}

/// A connection that another rank makes, and that this one cannot take.
pub(super) fn accept(pen: &mut Pen<'_>, errno: i32) {
    pen.say("sock.accept", &[("strerror", strerror(errno).into())]);
    unwind(pen, &["misc/socket.cc", "bootstrap.cc", "init.cc"], SYSTEM);
}

pub(super) fn version_mismatch(pen: &mut Pen<'_>, node: usize) {
    let peer = node * pen.facts.job.gpus;
    let theirs = pen.facts.ranks.get(peer).map_or(pen.facts.release, |r| r.release);
    let ours = pen.rank.release;
    let given = [
        ("versionnum", Value::from(ours.code())),
        ("peerrank", peer.into()),
        ("peerversionnum", theirs.code().into()),
        ("have", 128.into()),
        ("want", 120.into()),
    ];
    // Until 2.22 only the sizes of what ranks tell each other disagree.
    if !pen.say("version.mismatch", &given) {
        pen.say("boot.truncated", &given);
    }
    unwind(
        pen,
        &["bootstrap.cc", "init.cc", "init.cc"],
        if ours >= Release(2, 23, 4) { INVALID_USAGE } else { INTERNAL },
    );
}

pub(super) fn mismatch(pen: &mut Pen<'_>) {
    let port = 30_000 + pen.draw(30_000);
    let node = (pen.rank.node + 1) % pen.facts.job.nodes.max(1);
    let peer = endpoint(pen, node, port);
    let given = [
        ("have", Value::from(1_048_576)),
        ("want", 524_288.into()),
        ("peer", peer.into()),
        ("rkey", 0x1_2f00_u64.into()),
        ("seq", 0x10_u64.into()),
        ("tag", 0_u64.into()),
    ];
    if pen.facts.network(pen.rank.node) == "Socket" {
        pen.say("sock.truncated", &given);
    } else if !pen.say("ib.mismatch", &given) {
        pen.say("ib.incorrect", &given);
    }
    unwind(pen, &["transport/net.cc", "proxy.cc"], INVALID_USAGE);
}
