//! Shared memory, CUDA, NVLS, and the watchdog of PyTorch.

use super::super::writer::Pen;
use super::back::{strerror, unwind};
use super::{SYSTEM, UNHANDLED_CUDA};
use crate::printf::Value;
use crate::release::Release;

pub(super) fn shm(pen: &mut Pen<'_>) {
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

pub(super) fn nvls(pen: &mut Pen<'_>) {
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

pub(super) fn cuda(pen: &mut Pen<'_>, error: &str) {
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

/// The error as PyTorch raises it, with NCCL's last words.
pub(super) fn pytorch_error(pen: &mut Pen<'_>, what: &str, class: &str, last: &str) {
    let rank = pen.rank.rank;
    let release = pen.rank.release;
    pen.plain(&format!(
        "[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:317, {what} (run with NCCL_DEBUG=INFO for details), NCCL version {release}"
    ));
    pen.plain(&format!("[rank{rank}]: {class}"));
    pen.plain(&format!("[rank{rank}]: Last error:"));
    pen.plain(&format!("[rank{rank}]: {last}"));
}

pub(super) fn watchdog(pen: &mut Pen<'_>, behind: usize, op: &str) {
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
