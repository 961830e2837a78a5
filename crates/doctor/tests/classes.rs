//! Messages that take several lines, or come in dresses of their own: each as its program prints it behind launchers and collectors, and what looks
//! like it and is not.

use crate::common;

use common::{answer, asserted, ids};
use linerate_doctor::answer::Confidence::{self, Likely, Possible};

/// What launchers and collectors put before each line.
const HEADS: &[&str] = &[
    "",
    "[1,3]<stderr>:",
    "[rank3]: ",
    "(RayTrainWorker pid=1234, ip=10.0.0.1) ",
    "12: ",
    "2025-05-16T16:39:55.215Z stderr F ",
];

const ZERO: &str = "00000000 00000000 00000000 00000000";

/// What it is, its first cause, the lines.
const CLASSES: &[(&str, (&str, Confidence), &str)] = &[
    (
        "libmlx5: receiver not ready (syndrome 16)",
        ("ib/rnr-retry-exceeded", Possible),
        "mlx5: node1: got completion with error:\nZERO\nZERO\nZERO\n00000000 00008716 0a001f8e 000027d2",
    ),
    (
        "libmlx5: remote access (syndrome 13), of two ranks at once",
        ("ib/remote-access", Possible),
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
    (
        "NCCL's result in the watchdog's exception",
        ("job/peer-exited", Possible),
        "[Rank 5] NCCL watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.20.5",
    ),
    (
        "a choice that does not exist",
        ("env/algo-or-proto-forced", Possible),
        "n1:1:2 [1] enqueue.cc:422 NCCL WARN Error : no algorithm/protocol available",
    ),
    (
        "a choice that does not exist, with its variable",
        ("env/algo-or-proto-forced", Confidence::Certain),
        "n1:1:2 [1] enqueue.cc:2102 NCCL WARN Error : no algorithm/protocol available for function AllGather with datatype ncclInt8. NCCL_ALGO was set to Tree.",
    ),
    (
        "a choice that does not exist, in an exception",
        ("env/algo-or-proto-forced", Possible),
        "Last error:\nError : no algorithm/protocol available for function AllGather with datatype ncclInt8.",
    ),
    (
        "the loopback's address between two hosts, in NCCL 2.3",
        ("net/wrong-interface", Possible),
        "a1:1:2 [0] NCCL INFO NET : Using interface lo:127.0.0.1<0>\na1:1:2 [0] NCCL INFO NET : Using interface eth0:10.0.0.1<0>\n\
         a1:1:2 [0] NCCL INFO rank 0 nranks 2\nb2:7:8 [0] NCCL INFO rank 1 nranks 2",
    ),
    (
        "the loopback's address between two hosts, and a connection that is refused",
        ("net/wrong-interface", Likely),
        "a1:1:2 [0] NCCL INFO NET : Using interface lo:127.0.0.1<0>\na1:1:2 [0] NCCL INFO rank 0 nranks 2\n\
         b2:7:8 [0] NCCL INFO rank 1 nranks 2\nb2:7:8 [0] include/socket.h:361 NCCL WARN Call to connect timeout : Connection refused",
    ),
    (
        "DeepSpeed's launcher: SIGKILL",
        ("kernel/oom", Possible),
        "[2026-11-21 07:00:00,1] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=7'] exits with return code = -9",
    ),
    (
        "Python's subprocess: SIGKILL",
        ("kernel/oom", Possible),
        "subprocess.CalledProcessError: Command '['/usr/bin/python', 'train.py']' died with <Signals.SIGKILL: 9>.",
    ),
    ("Hydra: SIGKILL", ("kernel/oom", Possible), "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)"),
    ("Intel MPI: SIGKILL", ("kernel/oom", Possible), "=   KILLED BY SIGNAL: 9 (Killed)"),
    (
        "Hydra: SIGBUS",
        ("shm/too-small", Possible),
        "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Bus error (signal 7)",
    ),
    ("bash: SIGKILL", ("kernel/oom", Possible), "/job.sh: line 3:  4711 Killed                  python train.py"),
    (
        "NVSHMEM: a registration",
        ("ib/gpu-registration", Possible),
        "/src/modules/transport/ibrc/ibrc.cpp:512: non-zero status: 7 mem registration failed",
    ),
    (
        "NVSHMEM: an address handle",
        ("ib/verbs-call-failed", Possible),
        "/src/modules/transport/ibgda/ibgda.cpp:1345: NULL value Unable to create ah.",
    ),
    (
        "data over the loopback between two hosts",
        ("net/wrong-interface", Possible),
        "a1:1:2 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>\na1:1:2 [0] NCCL INFO Using network Socket\n\
         b2:7:8 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>\nb2:7:8 [0] NCCL INFO Using network Socket",
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

/// The kernel's log of a NIC whose firmware has no room, line by line and joined to one line by a page.
#[test]
fn a_limit_of_the_firmware_is_possible() {
    let lines = [
        "[Sat Feb  6 16:51:55 2021] infiniband mlx5_0: create_mkey_callback:148:(pid 0): async reg mr failed. status -12",
        "[Sat Feb  6 16:51:55 2021] mlx5_core 0000:81:00.0: mlx5_cmd_check:794:(pid 0): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4)",
    ];
    for text in
        [lines.join("\n"), format!(": {} :", lines.join(" ")), lines[1].replace("mlx5_cmd_check", "mlx5_cmd_out_err")]
    {
        assert_eq!(first(&format!("{text}\n")), Some(("ib/verbs-call-failed", Possible)), "{text}");
    }
    let other = lines[1].replace("limits exceeded(0x8)", "bad parameter(0x3)");
    assert_eq!(ids(&answer(&format!("{other}\n"))), [""; 0]);
    assert_eq!(ids(&answer(&format!("We see {} in dmesg.\n", &lines[1][27..]))), [""; 0]);
}

/// What peer-to-peer costs where it is redirected, by CUDA's own benchmark.
#[test]
fn peer_to_peer_that_is_slower_than_without_is_possible() {
    let text = |on: &str| {
        format!(
            "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 \n     0 838.06  16.34 \n     1  16.34 826.75 \n\
             Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1 \n     0 838.27   {on} \n     1   {on} 845.63 \n"
        )
    };
    assert_eq!(first(&text("2.60")), Some(("p2p/acs-redirects", Possible)));
    assert_eq!(ids(&answer(&text("25.60"))), [""; 0]);
}

/// Nothing but a quote, or what follows the words for "reports": possible at most.
#[test]
fn quotes_that_are_a_line_are_possible() {
    let words = "peer2peer transfer not possible between the selected gpu devices";
    for line in [
        format!("\"**{words}**\"."),
        format!("\"{words}\""),
        format!("**{words}**"),
        format!("运行报错{words}"),
        format!("错误: {words}"),
    ] {
        assert_eq!(first(&format!("{line}\n")), Some(("p2p/refused-by-driver", Possible)), "{line}");
    }
    for line in [format!("It says \"{words}\" on our nodes"), format!("- \"{words}\""), format!("| **{words}** |")] {
        assert_eq!(ids(&answer(&format!("{line}\n"))), [""; 0], "{line}");
    }
}

/// What a class is no evidence of, or not enough.
const LOOKALIKES: &[(&str, &str)] = &[
    ("bytes without their head", "00000000 00000000 00000000 00000000\n00000000 00008716 0a001f8e 000027d2\n"),
    (
        "a sentence about the head",
        "We get mlx5: node1: got completion with error: on both nodes.\n00000000 00008716 0a001f8e 000027d2\n",
    ),
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
    (
        "one host on its loopback",
        "a1:1:2 [0] NCCL INFO NET : Using interface lo:127.0.0.1<0>\na1:1:2 [0] NCCL INFO rank 0 nranks 2\na1:2:3 [1] NCCL INFO rank 1 nranks 2\n",
    ),
    (
        "hosts with an address of their own on lo",
        "a1:1:2 [0] NCCL INFO Bootstrap : Using lo:10.1.1.1<0>\nb2:7:8 [0] NCCL INFO Bootstrap : Using lo:10.1.1.2<0>\n",
    ),
    ("a sentence", "Error : no algorithm/protocol available is what NCCL says with NCCL_ALGO=Tree for broadcast.\n"),
    ("a sentence", "The command died with <Signals.SIGKILL: 9>. Is that the memory?\n"),
    ("a sentence", "job.sh says Killed  python train.py\n"),
    ("another exit code", "[launch.py:321:sigkill_handler] ['python'] exits with return code = 1\n"),
    (
        "a fabric that is joined",
        "    Fabric\n        State                                  : Completed\n        Status                                 : Success\n",
    ),
    ("a state of something else", "    Recovery\n        State                                  : In Progress\n"),
    ("NVSHMEM's words without their place", "mem registration failed\n"),
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

/// `nvidia-smi -q` says of each GPU whether it joined the NVLink fabric.
#[test]
fn a_fabric_that_is_not_joined() {
    for (state, status, want) in [
        ("In Progress", "N/A", Some(("gpu/nvlink", Possible))),
        ("Completed", "Insufficient Resources", Some(("gpu/nvlink", Possible))),
        ("Completed", "Success", None),
    ] {
        let text = format!(
            "    Fabric\n        State                  : {state}\n        Status                 : {status}\n"
        );
        assert_eq!(first(&text), want, "{text}");
    }
}
