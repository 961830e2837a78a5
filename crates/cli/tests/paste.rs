//! Pastes as people bring them: several tools in one file, texts of several nodes in one directory.
#![allow(clippy::unwrap_used)] // a test may stop

use std::path::Path;
use std::process::Command;

/// Exit code and answer as JSON, or the whole answer as text where there is none.
fn audit(path: &Path, format: &str) -> (i32, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["audit", "--format", format])
        .arg(path)
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    (
        out.status.code().unwrap(),
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr),
    )
}

/// What a verb says of a file, in JSON.
fn answer(verb: &[&str], path: &Path) -> serde_json::Value {
    let mut linerate = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let out = linerate.args(verb).args(["--format", "json"]).arg(path).output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap()
}

const GPU: &str = "0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)\n";
const NIC: &str = "0000:19:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]\n";

#[test]
fn one_ticket_with_several_tools_is_judged_as_one_node() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ticket.txt");
    let text = format!(
        "RDMA is slow\n\nroot@u36:~# lspci -D -nn | grep -E 'NVIDIA|Mell'\n{GPU}{NIC}root@u36:~# grep . /sys/class/infiniband/mlx5_0/ports/1/*\n\
         /sys/class/infiniband/mlx5_0/ports/1/state:1: DOWN\n/sys/class/infiniband/mlx5_0/ports/1/phys_state:3: Disabled\n"
    );
    std::fs::write(&path, text).unwrap();
    let (code, json) = audit(&path, "json");
    assert_eq!(code, 1, "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let all = json["verdicts"].as_array().unwrap().iter().filter(|v| v["status"] == "fail");
    let failed: Vec<&str> = all.filter_map(|v| v["rule"].as_str()).collect();
    assert_eq!(failed, ["rdma/port-state"]);
    // What is above a device is not in a list of some devices.
    assert_eq!(json["context"]["topology"]["value"], serde_json::Value::Null);
}

/// Lists of a cluster and scripts make no node of the host on which they were printed, nor of the hosts that they list.
#[test]
fn what_is_about_a_cluster_is_no_node() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ticket.txt");
    let text = "\
[me@login ~]$ cat train.sbatch
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=8 --gres=gpu:8
srun torchrun --nproc_per_node=8 train.py

[me@login ~]$ sinfo -N -l
Fri Nov 20 10:00:00 2026
NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON
gpu006         1      gpu*     drained 224    2:56:2 2051000      0      1   (null) bad cable
gpu007         1      gpu*     drained 224    2:56:2 2051000      0      1   (null) Kill task failed

root@gpu007:~# cat /proc/cmdline
BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro quiet
root@gpu007:~# gpu_burn 60
Burning for 60 seconds.
100.0%  proc'd: 880 (1784 Gflop/s)   errors: 2  (WARNING!)  temps: 70 C

Tested 1 GPUs:
\tGPU 0: FAULTY
";
    std::fs::write(&path, text).unwrap();
    let (code, json) = audit(&path, "json");
    assert_eq!(code, 1, "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let all = json["verdicts"].as_array().unwrap().iter().filter(|v| v["status"] == "fail");
    let mut failed: Vec<_> =
        all.map(|v| [&v["rule"], &v["subject"], &v["severity"]].map(|w| w.as_str().unwrap())).collect();
    failed.sort_unstable();
    let want = [
        ["claims/schedulable", "gpu007 in Slurm", "low"],
        ["gpumem/burn-errors", "GPU 0", "high"],
        ["jobs/gpus-requested", "srun, line 4", "low"],
    ];
    assert_eq!(failed, want);
    assert!(json["context"]["partly_judged"].to_string().contains("env check"), "{}", json["context"]);
}

#[test]
fn texts_of_two_nodes_are_two_nodes() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), GPU).unwrap();
    let other = "0000:18:00.0 Ethernet controller [0200]: Intel Corporation E810 [8086:1592]\n";
    std::fs::write(dir.path().join("b.txt"), other).unwrap();
    let (code, text) = audit(dir.path(), "text");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("2 nodes"), "{text}");
    let (code, text) = audit(&dir.path().join("a.txt"), "text");
    assert_eq!(code, 2, "{text}");
    assert!(!text.contains("2 nodes"), "{text}");
}

#[test]
fn what_was_not_judged_is_not_called_good() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("acs.txt");
    std::fs::write(
        &path,
        "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n",
    )
    .unwrap();
    let (code, text) = audit(&path, "text");
    assert_eq!(code, 2);
    assert!(!text.contains("nothing wrong"), "{text}");
}

#[test]
fn a_long_paste_is_judged_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("night.txt");
    let prose = "nothing of any tool, on and on\n".repeat(400_000);
    let list = format!("root@u36:~# lspci -D -nn | grep -E 'NVIDIA|Mell'\n{GPU}{NIC}");
    let port = "root@u36:~# grep . /sys/class/infiniband/mlx5_0/ports/1/*\n\
         /sys/class/infiniband/mlx5_0/ports/1/state:1: DOWN\n/sys/class/infiniband/mlx5_0/ports/1/phys_state:3: Disabled\n";
    std::fs::write(&path, format!("{prose}{list}root@u36:~# cat notes\n{prose}{port}")).unwrap();
    let (code, text) = audit(&path, "text");
    assert_eq!(code, 1, "{text}");
    // The line of the file, far behind its first 8 MiB.
    assert!(text.contains("rdma/port-state") && text.contains("800,000 lines are of no tool"), "{text}");
    std::fs::write(&path, prose).unwrap();
    let (code, text) = audit(&path, "text");
    assert_eq!(code, 3, "{text}");
}

/// What netplan writes against what `ip` shows, in one ticket; a password beside it is in no answer.
#[test]
fn a_written_mtu_is_compared_with_the_one_that_runs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ticket.txt");
    let text = "$ cat /etc/netplan/50-rails.yaml\n# by hand\nnetwork:\n  version: 2\n  ethernets:\n    eth2:\n      mtu: 1500\n      auth: {password: hunter2}\n    eth3: {mtu: 9000}\n\n\
                $ ip -d link show\n2: eth2: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000\n\
                3: eth3: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000\n";
    std::fs::write(&path, text).unwrap();
    let (code, json) = audit(&path, "json");
    assert_eq!(code, 1, "{json}");
    assert!(!json.contains("hunter2"), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let of = |v: &&serde_json::Value| v["rule"] == "rdma/mtu-kept";
    let said: Vec<_> = json["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(of)
        .map(|v| (v["subject"].as_str(), v["status"].as_str()))
        .collect();
    assert!(said.contains(&(Some("eth2"), Some("fail"))) && said.contains(&(Some("eth3"), Some("pass"))), "{said:?}");
    // A file alone says what is written; nothing passes.
    let file = dir.path().join("eth2.nmconnection");
    std::fs::write(&file, "[connection]\ntype=ethernet\ninterface-name=eth2\n\n[ethernet]\nmtu=9000\n").unwrap();
    let (code, json) = audit(&file, "json");
    assert_eq!(code, 2, "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let own: Vec<_> = json["verdicts"].as_array().unwrap().iter().filter(of).map(|v| v["status"].as_str()).collect();
    assert_eq!(own, [Some("unknown")]);
}

/// Scripts print one tool's text behind another's, below headings of their own or none: all of them are read.
#[test]
fn what_a_script_prints_is_read_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.txt");
    let ib = "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n";
    let cmdline = "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro quiet pcie_acs_override=downstream\n";
    let indented = |text: &str| text.lines().map(|l| format!("    {l}\n")).collect::<String>();
    let texts = [
        format!("{ib}{cmdline}"),
        format!("{ib}\n{cmdline}"),
        format!("=== ibstat ===\n{ib}\n=== cat /proc/cmdline ===\n{cmdline}"),
        format!("### ibstat\n{ib}### cat /proc/cmdline\n{cmdline}"),
        format!("+ ibstat\n{ib}+ cat /proc/cmdline\n{cmdline}"),
        format!("ibstat:\n{ib}\ncat /proc/cmdline:\n{cmdline}"),
        format!("**ibstat**\n\n{}\n**cmdline**\n\n{}", indented(ib), indented(cmdline)),
    ];
    for text in texts {
        std::fs::write(&path, &text).unwrap();
        let json = answer(&["audit"], &path);
        let all = json["verdicts"].as_array().unwrap().iter();
        let judged: Vec<&str> = all.filter(|v| v["status"] == "fail").filter_map(|v| v["rule"].as_str()).collect();
        assert!(judged.contains(&"rdma/port-state") && judged.contains(&"cmdline/acs-override"), "{text}\n{judged:?}");
    }
}

/// The log of a job does not hide what else is in the paste.
#[test]
fn a_job_beside_other_texts_hides_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ticket.txt");
    let log = "n1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n";
    let acs = "$ sudo lspci -vvv | grep ACSCtl\nACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n";
    let ib = "$ ibstat\nCA 'mlx5_0'\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n";
    for text in [format!("{log}{acs}"), format!("{log}{ib}{acs}"), format!("{acs}{ib}"), format!("{ib}{acs}")] {
        std::fs::write(&path, &text).unwrap();
        let json = answer(&["doctor"], &path);
        let causes: Vec<&str> = json["causes"].as_array().unwrap().iter().filter_map(|c| c["id"].as_str()).collect();
        assert!(causes.contains(&"p2p/acs-redirects"), "{text}\n{causes:?}");
    }
    let command = "mpirun -np 8 -x NCCL_P2P_DISABLE=1 -x NCCL_NET=IB ./all_reduce_perf -g 1\n";
    std::fs::write(&path, format!("{command}{log}")).unwrap();
    let text = answer(&["env", "check"], &path).to_string();
    assert!(text.contains("NCCL_P2P_DISABLE") && text.contains("NCCL_NET"), "{text}");
}
