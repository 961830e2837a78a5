//! How a fault ends a job: what the rank that is hit prints, and what the others see of it.

use super::network::endpoint;
use super::spec::{Fault, Moment};
use super::writer::Pen;
use crate::forms::Level;
use crate::printf::Value;
use crate::release::Release;

/// Where a job can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Bootstrap,
    Network,
    Peers,
    Topology,
    Connect,
    FirstTraffic,
    Traffic,
}

/// ncclResult_t, as numbers in lines.
const UNHANDLED_CUDA: i32 = 1;
const SYSTEM: i32 = 2;
const INTERNAL: i32 = 3;
const INVALID_USAGE: i32 = 5;
const REMOTE: i32 = 6;

/// Whether the job ends here, for this rank; its last lines are written.
pub(super) fn strikes(pen: &mut Pen<'_>, stage: Stage) -> bool {
    let faults: Vec<&Fault> = pen.facts.job.fault.iter().filter(|f| when(f) == Some(stage)).collect();
    for fault in faults {
        if hits(pen, fault) {
            pen.wait(0.5);
            strike(pen, fault);
        } else if let Some(delay) = spreads(fault) {
            pen.wait(delay);
            consequence(pen, fault);
        } else {
            continue;
        }
        return true;
    }
    false
}

/// The stage that a fault ends, if it ends the job.
fn when(fault: &Fault) -> Option<Stage> {
    let traffic = |at: Moment| Some(if at == Moment::Start { Stage::FirstTraffic } else { Stage::Traffic });
    match fault {
        Fault::NoInterface { .. } => Some(Stage::Bootstrap),
        Fault::WrongInterface { .. } | Fault::Connect { .. } => Some(Stage::Network),
        Fault::Duplicate { .. } | Fault::VersionMismatch { .. } => Some(Stage::Peers),
        Fault::Imex { .. } | Fault::TopoFile { fits: Some(false) } => Some(Stage::Topology),
        Fault::ShmFull { .. } | Fault::ModifyQp { .. } | Fault::Verbs { .. } | Fault::NvlsBind { .. } => {
            Some(Stage::Connect)
        }
        Fault::Completion { at, .. } => traffic(*at),
        Fault::Cuda { at: Moment::Start, .. } => Some(Stage::Peers),
        Fault::Cuda { .. } => Some(Stage::Traffic),
        Fault::PortEvent { .. }
        | Fault::PeerExited { .. }
        | Fault::RemoteClosed { .. }
        | Fault::Watchdog { .. }
        | Fault::SizeMismatch { .. } => Some(Stage::Traffic),
        _ => None,
    }
}

/// Whether this rank is the one that fails first.
fn hits(pen: &Pen<'_>, fault: &Fault) -> bool {
    let (node, gpu) = (pen.rank.node, pen.rank.gpu);
    match fault {
        Fault::NoInterface { node: n }
        | Fault::WrongInterface { node: n, .. }
        | Fault::Connect { node: n, .. }
        | Fault::ShmFull { node: n }
        | Fault::NvlsBind { node: n } => *n == node,
        Fault::ModifyQp { node: n, .. } | Fault::Verbs { node: n, .. } | Fault::SizeMismatch { node: n } => {
            *n == node && gpu == 0
        }
        Fault::PortEvent { node: n, nic } => *n == node && pen.facts.nic_of(node, gpu) == *nic,
        Fault::Completion { node: n, gpu: g, everywhere, .. } => *everywhere || (*n == node && *g == gpu),
        Fault::Cuda { node: n, gpu: g, .. }
        | Fault::PeerExited { node: n, gpu: g, .. }
        | Fault::RemoteClosed { node: n, gpu: g } => *n == node && *g == gpu,
        Fault::Duplicate { node: n } => *n == node && gpu < 2,
        Fault::VersionMismatch { node: n, .. } => *n != node,
        Fault::Imex { .. } | Fault::TopoFile { .. } | Fault::Watchdog { .. } => true,
        _ => false,
    }
}

/// Seconds until the others notice; `None` where they never print anything.
fn spreads(fault: &Fault) -> Option<f64> {
    match fault {
        Fault::NoInterface { .. } | Fault::Duplicate { .. } | Fault::VersionMismatch { .. } => Some(1.0),
        Fault::PortEvent { .. } => Some(8.0),
        Fault::Connect { .. } | Fault::WrongInterface { .. } => Some(40.0),
        Fault::ShmFull { .. } | Fault::ModifyQp { .. } | Fault::Verbs { .. } | Fault::NvlsBind { .. } => Some(2.0),
        Fault::Completion { .. } | Fault::Cuda { .. } | Fault::PeerExited { .. } | Fault::SizeMismatch { .. } => {
            Some(4.0)
        }
        Fault::RemoteClosed { .. } => Some(600.0),
        _ => None,
    }
}

fn strike(pen: &mut Pen<'_>, fault: &Fault) {
    match fault {
        Fault::NoInterface { .. } => {
            pen.say("bootstrap.nointerface", &[]);
            unwind(pen, &["bootstrap.cc", "init.cc"], INTERNAL);
        }
        Fault::WrongInterface { .. } => connect(pen, 110),
        Fault::Connect { errno, .. } => connect(pen, *errno),
        Fault::Duplicate { .. } => {
            let peer = pen.facts.job.gpus * pen.rank.node + (1 - pen.rank.gpu.min(1));
            let busid = pen.facts.busid(0);
            pen.say("gpu.duplicate", &[("peerrank", peer.into()), ("busid", busid.into())]);
            unwind(pen, &["init.cc", "init.cc", "group.cc"], INVALID_USAGE);
        }
        Fault::VersionMismatch { node, .. } => version_mismatch(pen, *node),
        Fault::Imex { channel } => {
            let id =
                if *channel && pen.rank.release >= Release(2, 27, 3) { "mnnvl.fail.channel" } else { "mnnvl.fail" };
            let cuda = [("cuerr", Value::from(801)), ("custr", "operation not supported".into())];
            pen.say("cu.fail", &cuda);
            pen.say(id, &[("cliquesize", pen.facts.nranks().into())]);
            unwind(pen, &["mnnvl.cc", "init.cc", "init.cc"], SYSTEM);
        }
        Fault::TopoFile { .. } => {
            pen.say("topo.version", &[("have", 2.into()), ("want", 1.into())]);
            unwind(pen, &["graph/xml.cc", "graph/topo.cc", "init.cc"], UNHANDLED_CUDA.max(SYSTEM));
        }
        Fault::ShmFull { .. } => shm(pen),
        Fault::ModifyQp { errno, .. } => modify_qp(pen, *errno),
        Fault::Verbs { call, errno, .. } => {
            verbs(pen, call, *errno);
            unwind(pen, &["transport/net_ib.cc", "transport/net.cc", "proxy.cc"], SYSTEM);
            proxy(pen, SYSTEM);
        }
        Fault::NvlsBind { .. } => nvls(pen),
        Fault::Completion { status, vendor, everywhere, .. } => completion(pen, *status, *vendor, *everywhere),
        Fault::Cuda { error, .. } => cuda(pen, error),
        Fault::PortEvent { nic, .. } => port(pen, *nic),
        Fault::PeerExited { shown: true, .. } => {
            pen.plain("Traceback (most recent call last):");
            pen.plain("  File \"/workspace/train.py\", line 214, in <module>");
            pen.plain("    main()");
            pen.plain("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.");
        }
        Fault::RemoteClosed { .. } => closed(pen),
        Fault::Watchdog { behind, op } => watchdog(pen, *behind, op),
        Fault::SizeMismatch { .. } => mismatch(pen),
        _ => {}
    }
}

/// What other ranks see: a neighbour's closed connection or a completion that never came; the rest just stop.
fn consequence(pen: &mut Pen<'_>, fault: &Fault) {
    let neighbour = {
        let (prev, next) = super::graph::neighbours(pen.facts, pen.rank.rank);
        let struck = |r: usize| {
            let Some(rank) = pen.facts.ranks.get(r) else { return false };
            let probe = Pen::new(pen.facts, rank, pen.voice);
            hits(&probe, fault)
        };
        struck(prev) || struck(next)
    };
    if !neighbour {
        return;
    }
    if let Fault::Completion { status: 10, .. } = fault {
        access_event(pen);
        return;
    }
    match fault {
        Fault::Completion { .. }
        | Fault::PortEvent { .. }
        | Fault::PeerExited { .. }
        | Fault::Cuda { at: Moment::Run, .. }
            if pen.facts.network(pen.rank.node) == "IB" && pen.draw(2) == 0 =>
        {
            completion(pen, 5, 249, false);
        }
        _ => closed(pen),
    }
}

/// Ranks have different numbers of devices: rank 0 says so, all end.
pub(super) fn few_devices(pen: &mut Pen<'_>) {
    unwind(pen, &["init.cc", "init.cc"], SYSTEM);
}

fn closed(pen: &mut Pen<'_>) {
    let node = (pen.rank.node + 1) % pen.facts.job.nodes.max(1);
    let port = 30_000 + pen.draw(30_000);
    let peer = endpoint(pen, node, port);
    let given = [("peer", Value::from(peer)), ("strerror", "Connection reset by peer".into())];
    // A process that was killed resets its connections, one that exits closes them.
    let id = if pen.draw(4) == 0 { "sock.recv" } else { "sock.closed" };
    pen.say(id, &given);
    unwind(pen, &["misc/socket.cc", "transport/net_ib.cc", "transport/net.cc", "proxy.cc"], REMOTE);
    pen.thread = 400;
    pen.say("proxy.lost", &[("localrank", pen.rank.gpu.into()), ("res", 3_u64.into()), ("closed", 1.into())]);
    pen.thread = 0;
}

fn connect(pen: &mut Pen<'_>, errno: i32) {
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
    unwind(
        pen,
        &["misc/socket.cc", "bootstrap.cc", "init.cc"],
        if pen.rank.release >= Release(2, 12, 7) { REMOTE } else { SYSTEM },
    );
}

fn version_mismatch(pen: &mut Pen<'_>, node: usize) {
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

fn shm(pen: &mut Pen<'_>) {
    let path =
        format!("/dev/shm/nccl-{}", ["A1b2C3", "q7Xk2P", "Zr90tm"].get(pen.rank.gpu % 3).copied().unwrap_or("A1b2C3"));
    let given = [
        ("name", Value::from("posix_fallocate")),
        ("strerror", strerror(28).into()),
        ("errno", 28.into()),
        ("shmpath", path.into()),
        ("shmsize", 9_637_888.into()),
    ];
    let release = pen.rank.release;
    if release < Release(2, 12, 7) {
        pen.say("call.fail", &given);
        pen.say("shm.error", &given);
    } else if release < Release(2, 21, 5) {
        // These grow the file without asking for pages: the first touch of a page that cannot be had is a SIGBUS, and NCCL says nothing.
        let (host, pid) = (pen.facts.host(pen.rank.node).to_owned(), pen.rank.pid);
        pen.plain(&format!("[{host}:{pid:05}] *** Process received signal ***"));
        pen.plain(&format!("[{host}:{pid:05}] Signal: Bus error (7)"));
        pen.plain(&format!("[{host}:{pid:05}] Signal code: Non-existant physical address (2)"));
        return;
    } else {
        pen.say("shm.extend", &given);
        pen.say("shm.error", &given);
    }
    unwind(pen, &["misc/shmutils.cc", "transport/shm.cc", "transport.cc", "init.cc"], SYSTEM);
}

/// A verb that fails, by the macro that this release calls it with.
fn verbs(pen: &mut Pen<'_>, call: &str, errno: i32) {
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

fn modify_qp(pen: &mut Pen<'_>, errno: i32) {
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
fn gids(pen: &Pen<'_>) -> (String, String) {
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

fn nvls(pen: &mut Pen<'_>) {
    let given = [
        ("cuerr", Value::from(1)),
        ("custr", "invalid argument".into()),
        ("size", 2_097_152.into()),
        ("cudastr", "system not yet initialized".into()),
    ];
    if pen.say("nvls.bind", &given) {
        unwind(pen, &["transport/nvls.cc", "init.cc"], UNHANDLED_CUDA);
    } else if pen.rank.release >= Release(2, 27, 3) {
        // 2.27 and 2.28 go on without NVLS: not an end, but this is what tells of it.
        pen.say("nvls.bind.info", &given);
    } else {
        pen.say("cu.fail", &given);
        unwind(pen, &["transport/nvls.cc", "init.cc"], UNHANDLED_CUDA);
    }
}

fn completion(pen: &mut Pen<'_>, status: u32, vendor: u32, everywhere: bool) {
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
    let code = if pen.rank.release >= Release(2, 12, 7) { REMOTE } else { SYSTEM };
    unwind(pen, &["transport/net.cc", "proxy.cc"], code);
    pen.say("trace.proxy", &[("res", code.into())]);
    pen.thread = 0;
}

fn cuda(pen: &mut Pen<'_>, error: &str) {
    let release = pen.rank.release;
    let given = [
        ("cudastr", Value::from(error)),
        ("cuerr", if error == "out of memory" { 2 } else { 802 }.into()),
        ("custr", error.into()),
        ("bytes", 4_194_304.into()),
    ];
    pen.say("cuda.fail", &given);
    if error == "out of memory" && release >= Release(2, 14, 3) {
        let id = ["cuda.calloc", "cuda.malloc", "cuda.calloc.async"].get((pen.facts.seed % 3) as usize).copied();
        pen.say(id.unwrap_or("cuda.calloc"), &given);
    }
    unwind(pen, &["include/alloc.h", "channel.cc", "init.cc"], UNHANDLED_CUDA);
    if release >= Release(2, 16, 2) {
        pytorch_error(
            pen,
            "unhandled cuda error",
            "ncclUnhandledCudaError: Call to CUDA function failed.",
            &format!("Cuda failure '{error}'"),
        );
    }
}

fn port(pen: &mut Pen<'_>, nic: usize) {
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
fn access_event(pen: &mut Pen<'_>) {
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

fn mismatch(pen: &mut Pen<'_>) {
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

fn watchdog(pen: &mut Pen<'_>, behind: usize, op: &str) {
    let late = pen.rank.rank == behind;
    if late && op.is_empty() {
        return;
    }
    pen.wait(600.0);
    let rank = pen.rank.rank;
    // The rank that runs something else waits in it as long as the others wait.
    let (seq, name) = if late { (12, op.to_uppercase()) } else { (12, "ALLREDUCE".to_owned()) };
    let time = pen.facts.clock(pen.time);
    let work = format!("WorkNCCL(SeqNum={seq}, OpType={name}, NumelIn=4194304, NumelOut=4194304, Timeout(ms)=600000)");
    pen.plain(&format!(
        "[rank{rank}]:[E ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: {work} ran for {} milliseconds before timing out.",
        600_010 + rank * 13
    ));
    pen.plain(&format!(
        "[rank{rank}]:[E ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] failure detected by watchdog at work sequence id: {seq} PG status: last enqueued work: {seq}, last completed work: {} ({time})",
        seq - 1
    ));
    pen.say("comm.abort.start", &[]);
    pen.say("comm.abort", &[]);
}

/// The error as PyTorch raises it, with NCCL's last words.
fn pytorch_error(pen: &mut Pen<'_>, what: &str, class: &str, last: &str) {
    let rank = pen.rank.rank;
    let release = pen.rank.release;
    pen.plain(&format!(
        "[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:317, {what} (run with NCCL_DEBUG=INFO for details), NCCL version {release}"
    ));
    pen.plain(&format!("[rank{rank}]: {class}"));
    pen.plain(&format!("[rank{rank}]: Last error:"));
    pen.plain(&format!("[rank{rank}]: {last}"));
}

/// The way back through NCCL's calls: `file:line -> code`.
fn unwind(pen: &mut Pen<'_>, files: &[&str], code: i32) {
    for (i, file) in files.iter().enumerate() {
        let origin = pen.origin(&format!("{file}{i}"), file);
        let given = [("file", Value::from(origin.file)), ("lineno", origin.line.into()), ("res", code.into())];
        pen.say("trace", &given);
    }
    if files.contains(&"init.cc") {
        pen.say("trace.async", &[("res", code.into())]);
    }
}

fn proxy(pen: &mut Pen<'_>, code: i32) {
    pen.thread = 400;
    let given = [("opname", Value::from("Connect")), ("res", code.into())];
    pen.say("proxy.failed", &given);
    pen.say("proxy.error", &given);
    pen.thread = 0;
    pen.say("proxy.call", &given);
}

fn strerror(errno: i32) -> &'static str {
    match errno {
        5 => "Input/output error",
        12 => "Cannot allocate memory",
        14 => "Bad address",
        19 => "No such device",
        22 => "Invalid argument",
        28 => "No space left on device",
        61 => "No data available",
        95 => "Operation not supported",
        101 => "Network is unreachable",
        110 => "Connection timed out",
        111 => "Connection refused",
        113 => "No route to host",
        _ => "Unknown error",
    }
}

fn status_name(status: u32) -> &'static str {
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
