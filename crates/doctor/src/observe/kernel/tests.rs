use super::*;
use crate::observe::frameworks::ended;
use linerate_formats::dmesg::DriverClass;
use linerate_formats::pci::Bdf;
use linerate_formats::xid::Detail;

fn bdf(text: &str) -> Option<Bdf> {
    text.parse().ok()
}

fn at(text: &str) -> Requester {
    bdf(text).map_or(Requester::UNNAMED, Requester::at)
}

fn fault(of: Requester) -> KernelTrouble {
    KernelTrouble::IommuFault { of, arm: false }
}

#[test]
fn what_the_kernel_prints_counts_in_any_clothes() {
    use KernelTrouble as K;
    for (text, want) in [
        (
            "NVRM: Xid (PCI:0000:18:00): 79, pid=12, name=python, GPU has fallen off the bus.",
            K::Xid { number: 79, gpu: bdf("18:00.0"), detail: Detail::Number },
        ),
        (
            "nvidia 0000:07:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0003 address=0x80000040 flags=0x0020]",
            fault(Requester { bdf: bdf("07:00.0"), class: DriverClass::Gpu }),
        ),
        (
            "AMD-Vi: Event logged [IO_PAGE_FAULT device=07:00.0 domain=0x0003 address=0x80000040 flags=0x0020]",
            fault(at("07:00.0")),
        ),
        (
            "DMAR: [DMA Write] Request device [02:00.0] fault addr 7f00 [fault reason 05] PTE Write access is not set",
            fault(at("02:00.0")),
        ),
        ("dmar: DMAR:[DMA Write] Request device [02:00.0] fault addr 7f00", fault(at("02:00.0"))),
        ("DMAR:[fault reason 05] PTE Write access is not set", fault(Requester::UNNAMED)),
        ("nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)", K::Peermem(PeermemTrouble::Absent)),
        ("nv_peer_mem: Unknown symbol nvidia_p2p_get_pages (err -22)", K::Peermem(PeermemTrouble::Mismatch)),
        (
            "modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/6.8.0",
            K::Peermem(PeermemTrouble::NotFound),
        ),
        ("insmod: error inserting './nv_peer_mem.ko': -1 Invalid parameters", K::Peermem(PeermemTrouble::Refused)),
        ("modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument", K::Peermem(PeermemTrouble::Refused)),
        ("Memory cgroup out of memory: Killed process 712 (python) total-vm:4kB, anon-rss:2kB", K::OutOfMemory),
        ("python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0", K::OutOfMemory),
        (
            "NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.",
            K::DeviceGone(Requester { bdf: bdf("18:00.0"), class: DriverClass::Gpu }),
        ),
    ] {
        for before in [
            "",
            "   ",
            "[ 1234.567890] ",
            "kern  :err   : [Mon Nov 21 07:00:00 2026] ",
            "Nov 21 07:00:00 host kernel: ",
            "[1,0]<stdout>:",
            "rank0: ",
            "0: ",
            "[pod/x/y] [ 12.5] ",
            "(Worker pid=4) ",
            "/var/log/messages:Nov 21 07:00:00 h kernel: ",
            "> [   12.5] ",
            "kernel: ",
            "6,3973,227996636,-;",
            "2024-01-31T12:00:00.123456789Z stdout F ",
        ] {
            assert_eq!(read(&format!("{before}{text}")), Some(want), "{before}{text}");
        }
    }
}

#[test]
fn what_people_write_does_not() {
    for text in [
        "We checked dmesg: no IO_PAGE_FAULT errors.",
        "dmesg | grep -i -e DMAR -e IO_PAGE_FAULT -e 'NVRM: Xid'",
        "$ dmesg | grep 'NVRM: Xid (PCI:0000:18:00): 79, '",
        "# NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus",
        "- NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus",
        "NVRM: Xid (PCI:0000:18:00): 79 means that the GPU fell off the bus",
        "Look for `NVRM: Xid (PCI:0000:18:00): 79, pid=1` in dmesg",
        "If you see AMD-Vi: Event logged [IO_PAGE_FAULT device=07:00.0 domain=0x0003 address=0x80000040 flags=0x0020], set iommu=pt",
        "AMD-Vi IO_PAGE_FAULT for nvidia 0000:07:00.0",
        "IO_PAGE_FAULT: address=0xfffffffffffffef0",
        "DMAR: faults like [DMA Write] Request device [02:00.0] fault addr are gone",
        "nvidia_peermem         16384  0",
        "nvidia-peermem-ctr:  CrashLoopBackOff",
        "nvidia_peermem: failed to load on node 3, says the colleague",
        "nvidia_peermem: module verification failed: signature and/or required key missing - tainting kernel",
        "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
        "Out of memory: Killing a process is what the kernel does",
        "The GPU has fallen off the bus (NVRM: Xid 79)",
        "mlx5_core says Link down",
        "we run `modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules`",
        "\"Nov 21 07:00:00 h kernel: NVRM: Xid (PCI:0000:18:00): 79, x\" is what I mean",
        "ACS is off. DMAR: IOMMU enabled",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
    for text in [
        "We had a Bus error and a Segmentation fault (core dumped) before",
        "Traceback (most recent call last) is what Python prints",
        "- exited on signal 9",
        "it exited on signal 9 (Killed).",
    ] {
        assert_eq!(ended(text), None, "{text}");
    }
    for text in [
        "Traceback (most recent call last):",
        "[rank0]: Traceback (most recent call last):",
        "[node1:04711] *** Process received signal ***",
        "[node1:04711] Signal: Bus error (7)",
        "Segmentation fault (core dumped)",
        "/job.sh: line 3: 4711 Bus error               (core dumped) python train.py",
        "srun: error: node1: task 3: Segmentation fault (core dumped)",
        "mpirun noticed that process rank 3 with PID 0 on node node1 exited on signal 9 (Killed).",
        "RuntimeError: DataLoader worker (pid 12) is killed by signal: Bus error. ",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        "Fatal Python error: Bus error",
    ] {
        assert!(ended(text).is_some(), "{text}");
    }
}

#[test]
fn quoted_lines_of_the_kernel_are_its_lines() {
    let xid = read("NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus");
    assert!(matches!(xid, Some(KernelTrouble::Xid { number: 79, .. })));
    for mark in ["> ", ">", "> > ", "  > ", ">> [   12.5] ", "> Nov 21 07:00:00 gpu-1 kernel: "] {
        assert_eq!(read(&format!("{mark}NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus")), xid, "{mark}");
    }
}
