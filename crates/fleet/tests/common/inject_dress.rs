//! What a composed node does not show by itself: schedulers, settings of the kernel, idle states, flow control.

use linerate_compose::Tree;

const FILES: [(&str, &str); 20] = [
    ("etc/nccl.conf", "NCCL_SOCKET_IFNAME=eth0\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("proc/sys/net/core/rmem_max", "67108864\n"),
    ("proc/sys/net/core/wmem_max", "67108864\n"),
    ("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n"),
    ("proc/sys/net/ipv4/conf/all/arp_announce", "2\n"),
    ("proc/sys/vm/swappiness", "10\n"),
    ("proc/sys/vm/zone_reclaim_mode", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "1\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C1E\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "2\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "290\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "1\n"),
];

const QOS: &str = "DCBX mode: OS controlled\nPriority trust state: dscp\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\
                   \tenabled     0   0   0   1   0   0   0   0   \n";

const OBJECT: &str = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"NAME","labels":{"kubernetes.io/hostname":"NAME","example.com/fabric":"ib","example.com/iommu":"pt"}},
"spec":{"unschedulable":false},
"status":{"allocatable":{"cpu":"200","nvidia.com/gpu":"8","rdma/hca":"63"},"capacity":{"cpu":"208","nvidia.com/gpu":"8","rdma/hca":"63"},
"conditions":[{"type":"Ready","status":"True"}]}}"#;

const RECORD: &str = "NodeName=NAME Arch=x86_64 CoresPerSocket=52 \n   CPUAlloc=0 CPUTot=208 CPULoad=0.10\n   AvailableFeatures=pt,ib,h100\n   ActiveFeatures=pt,ib,h100\n   Gres=gpu:h100:8(S:0-1)\n   RealMemory=2000000 AllocMem=0 FreeMem=1900000 Sockets=2 Boards=1\n   State=IDLE ThreadsPerCore=2\n\n";

/// Adds it.
pub(super) fn dress(tree: &mut Tree, name: &str) {
    for (path, text) in FILES {
        tree.file(path, text);
    }
    let outputs = [
        (vec!["mlnx_qos", "-i", "eth0"], QOS.to_owned()),
        (vec!["kubectl", "get", "node", name, "-o", "json"], OBJECT.replace("NAME", name)),
        (vec!["scontrol", "show", "node", name], RECORD.replace("NAME", name)),
    ];
    for (at, (argv, text)) in outputs.into_iter().enumerate() {
        tree.file(format!("cmd/{}/argv", 90 + at), serde_json::to_vec(&argv).unwrap());
        tree.file(format!("cmd/{}/stdout", 90 + at), text);
    }
    let report = tree.files().find(|(_, text)| text.starts_with(b"<?xml") && has(text, "<nvidia_smi_log>"));
    let Some((path, text)) = report.map(|(p, t)| (p.to_owned(), String::from_utf8_lossy(t).into_owned())) else {
        return;
    };
    let ecc = "\t\t<ecc_mode>\n\t\t\t<current_ecc>Enabled</current_ecc>\n\t\t</ecc_mode>\n\t\t<fabric>";
    tree.file(path, text.replace("\t\t<fabric>", ecc));
}

fn has(text: &[u8], words: &str) -> bool {
    text.windows(words.len()).any(|w| w == words.as_bytes())
}
