//! What a kernel logs of a fault, in dmesg's clothes.

use crate::job::{Facts, Fault};

/// The kernel's log of a node, if something there shows in it.
pub(crate) fn dmesg(facts: &Facts<'_>, node: usize) -> Option<String> {
    let mut events = Vec::new();
    for fault in &facts.job.fault {
        match fault {
            Fault::Kernel { node: n, event } if *n == node => events.extend(lines(facts, node, event)),
            Fault::PortEvent { node: n, nic } if *n == node => {
                events.push(format!("mlx5_core 0000:{:02x}:00.0 ens{}np0: Link down", 0x18 + nic * 16, 10 + nic));
            }
            _ => {}
        }
    }
    if events.is_empty() {
        return None;
    }
    let mut out = String::from("[    0.000000] Linux version 5.15.0-105-generic (build@host) #115-Ubuntu SMP\n");
    out += "[   12.402211] mlx5_core 0000:18:00.0: firmware version: 28.39.1002\n";
    out += "[   14.118340] nvidia 0000:07:00.0: enabling device (0000 -> 0002)\n";
    for (i, event) in events.iter().enumerate() {
        out += &format!("[{:>6}.{:06}] {event}\n", 86_400 + i * 2, 4_213 + i * 311);
    }
    Some(out)
}

fn lines(facts: &Facts<'_>, node: usize, event: &str) -> Vec<String> {
    let pid = facts.ranks.iter().find(|r| r.node == node).map_or(1, |r| r.pid);
    let xid = |n: u32, text: &str| format!("NVRM: Xid (PCI:0000:07:00): {n}, pid={pid}, name=python, {text}");
    match event {
        "amd-vi" => (0..3)
            .map(|i| format!("mlx5_core 0000:18:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x001{} address=0x7f3a8{i}000000 flags=0x0030]", 4))
            .collect(),
        "vt-d" => vec![
            "DMAR: DRHD: handling fault status reg 2".into(),
            "DMAR: [DMA Read NO_PASID] Request device [18:00.0] fault addr 0x7f3a80000000 [fault reason 0x06] PTE Read access is not set".into(),
        ],
        "smmu" => vec![
            "arm-smmu-v3 arm-smmu-v3.5.auto: event 0x10 received:".into(),
            "arm-smmu-v3 arm-smmu-v3.5.auto: \t0x0000010000000010".into(),
            "arm-smmu-v3 arm-smmu-v3.5.auto: \t0x0000020900000000".into(),
        ],
        "xid-79" => vec![
            xid(79, "GPU has fallen off the bus."),
            "NVRM: GPU 0000:07:00.0: GPU has fallen off the bus.".into(),
        ],
        "gpu-not-started" => vec![
            "NVRM: GPU 0000:07:00.0: RmInitAdapter failed! (0x24:0x65:1423)".into(),
            "NVRM: GPU 0000:07:00.0: rm_init_adapter failed, device minor number 0".into(),
        ],
        "nic-not-started" => vec![
            "mlx5_core 0000:88:00.0: wait_fw_init:199:(pid 411): Waiting for FW initialization, timeout abort in 100s (0x80000000)".into(),
            "mlx5_core 0000:88:00.0: mlx5_function_setup:1132:(pid 411): Firmware over 120000 MS in pre-initializing state, aborting".into(),
            "mlx5_core 0000:88:00.0: probe_one:1764:(pid 411): mlx5_init_one failed with error code -16".into(),
            "mlx5_core: probe of 0000:88:00.0 failed with error -16".into(),
        ],
        "xid-74" => vec![xid(74, "NVLink: fatal error detected on link 3(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)")],
        "xid-94" => vec![xid(94, "Contained: SM (0x1). RST: No, D-RST: No")],
        "xid-119" => vec![xid(119, "Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800a4c 0x4).")],
        "oom" => vec![
            "python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0".into(),
            format!("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-1f2e.scope,mems_allowed=0-1,oom_memcg=/docker,task_memcg=/docker,task=python,pid={pid},uid=0"),
            format!("Memory cgroup out of memory: Killed process {pid} (python) total-vm:412345678kB, anon-rss:201234567kB, file-rss:123456kB, shmem-rss:65536kB, UID:0 pgtables:812345kB oom_score_adj:0"),
        ],
        _ => Vec::new(),
    }
}
