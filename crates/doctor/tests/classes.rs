//! Messages that take several lines, or come in dresses of their own: each as its program prints it behind launchers and collectors, and what looks
//! like it and is not.

mod common;

use common::{answer, asserted, ids};
use linerate_doctor::answer::Confidence::{self, Likely, Possible};

/// What launchers and collectors put before each line.
const HEADS: &[&str] =
    &["", "[1,3]<stderr>:", "[rank3]: ", "(RayTrainWorker pid=1234, ip=10.0.0.1) ", "12: ", "2025-05-16T16:39:55.215Z stderr F "];

const ZERO: &str = "00000000 00000000 00000000 00000000";

/// What it is, its first cause, the lines.
const CLASSES: &[(&str, (&str, Confidence), &str)] = &[
    (
        "libmlx5: receiver not ready (syndrome 16)",
        ("ib/rnr-retry-exceeded", Likely),
        "mlx5: node1: got completion with error:\nZERO\nZERO\nZERO\n00000000 00008716 0a001f8e 000027d2",
    ),
    (
        "libmlx5: remote access (syndrome 13), of two ranks at once",
        ("ib/remote-access", Likely),
        "mlx5: node1: got completion with error:\nmlx5: node1: got completion with error:\nZERO\nZERO\nZERO\nZERO\nZERO\nZERO\n\
         00000000 00008813 100076ab 008ae4d3\n00000000 00008813 100076ac 008ae4d3",
    ),
    (
        "an example of Mellanox's that many programs copied",
        ("ib/retry-exceeded", Likely),
        "completion was found in CQ with status 0xc\ngot bad completion with status: 0xc, vendor syndrome: 0x81",
    ),
    (
        "uDAPL below Intel MPI",
        ("ib/retry-exceeded", Likely),
        "n1:UCM:d600:37cc880: 1890740163 us(1890740163 us!!!): DTO completion ERR: status 12, op RDMA_WRITE, vendor_err 0x81 - 10.0.0.1",
    ),
    (
        "torchrun: SIGKILL",
        ("kernel/oom", Possible),
        "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 0 (pid: 178) of binary: /usr/bin/python",
    ),
    (
        "mpirun: SIGKILL",
        ("kernel/oom", Possible),
        "mpirun noticed that process rank 3 with PID 4711 on node n1 exited on signal 9 (Killed).",
    ),
    ("kubectl get pods", ("kernel/oom", Likely), "train-0   0/1   OOMKilled   3 (2m ago)   10m"),
];

fn first(text: &str) -> Option<(&'static str, Confidence)> {
    answer(text).causes.first().map(|c| (c.id, c.confidence))
}

#[test]
fn classes_are_known_behind_any_head() {
    for (what, want, lines) in CLASSES {
        for head in HEADS {
            let text: String = lines.lines().map(|l| format!("{head}{}\n", l.replace("ZERO", ZERO))).collect();
            assert_eq!(first(&text), Some(*want), "{what}:\n{text}");
            let asked = format!("Hello, here is what we get:\n```\n{text}```\nAny idea?\n");
            assert_eq!(first(&asked), Some(*want), "{what}:\n{asked}");
        }
    }
}

/// What a class is no evidence of, or not enough.
const LOOKALIKES: &[(&str, &str)] = &[
    ("bytes without their head", "00000000 00000000 00000000 00000000\n00000000 00008716 0a001f8e 000027d2\n"),
    ("a sentence about the head", "We get mlx5: node1: got completion with error: on both nodes.\n00000000 00008716 0a001f8e 000027d2\n"),
    ("a sentence", "exitcode: -9 means that somebody killed the process, often the kernel (OOMKilled).\n"),
    ("a sentence", "If mpirun says that a process exited on signal 9 (Killed), look at the memory.\n"),
    ("a table of a document", "| train-0 | 0/1 | OOMKilled | 3 |\n"),
    ("a command", "$ kubectl get pods | grep OOMKilled\n"),
    ("a pod that runs", "train-0   1/1   Running   3 (2m ago)   10m\n"),
    (
        "a job whose time was over",
        "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-11-21T07:00:00 DUE TO TIME LIMIT ***\n\
         failed (exitcode: -9) local_rank: 0 (pid: 178) of binary: /usr/bin/python\n",
    ),
    ("a list of processes", "[4711] 0 4711 python\n[   12]  python train.py\n"),
];

#[test]
fn what_looks_like_a_class_is_none() {
    for (what, text) in LOOKALIKES {
        let a = answer(text);
        assert_eq!(ids(&a), [""; 0], "{what}: {text}");
        assert!(asserted(&a).is_empty());
    }
}
