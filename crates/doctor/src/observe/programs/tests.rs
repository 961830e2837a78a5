use super::*;
use crate::observe::trouble::ToolTrouble;

#[test]
fn failing_calls_of_other_programs() {
    for (line, want) in [
        ("ibv_create_cq(cqe=4096) failed: Cannot allocate memory", ("ibv_create_cq", "Cannot allocate memory")),
        (
            "[1615993133.560153] [n1:12345:0]   ib_md.c:348  UCX  ERROR ibv_exp_reg_mr(address=0x7f, length=1, access=0xf) failed: Cannot allocate memory : Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)",
            ("ibv_reg_mr", "Cannot allocate memory"),
        ),
        (
            "[2017/07/20-04:47:36.231116] xio_rdma_verbs.c:248         [ERROR] - ibv_reg_mr failed, Bad address. addr:0x7f, length:1, access:0x7",
            ("ibv_reg_mr", "Bad address"),
        ),
        ("RuntimeError: ibv_reg_mr failed: Cannot allocate memory", ("ibv_reg_mr", "Cannot allocate memory")),
        ("Couldn't allocate MR", ("ibv_reg_mr", "")),
        (" Unable to Connect the HCA's through the link", ("ibv_modify_qp", "")),
    ] {
        let Some(Failure::Verbs { call, error, .. }) = failure(line) else { panic!("{line}: {:?}", failure(line)) };
        assert_eq!((call, error), want, "{line}");
    }
    for (line, want) in [
        (" Failed status 12: wr_id 0 syndrom 0x81", 12),
        (" Failed status-transport retry counter exceeded (12): wr_id 0 syndrom 0x81", 12),
        ("ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)", 12),
        ("[n1:12:0:12] ib_mlx5_log.c:177  Local protection on mlx5_0:1/IB (synd 0x4 vend 0x52 hw_synd 0/0)", 4),
    ] {
        assert!(
            matches!(failure(line), Some(Failure::Completion(c)) if c.status == want),
            "{line}: {:?}",
            failure(line)
        );
    }
    // NVSHMEM and the names of statuses, each with its source at its reader.
    for (line, want) in [
        (
            "/src/modules/transport/ibgda/ibgda.cpp:1345: non-zero status: 121 Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 29e0df",
            "ibv_modify_qp",
        ),
        ("Error in mlx5dv_devx_obj_modify for RTR2RTS_QP with syndrome 5f9c1b", "ibv_modify_qp"),
    ] {
        assert!(matches!(failure(line), Some(Failure::Verbs { call, .. }) if call == want), "{line}");
    }
    for (line, want) in [
        ("CRITICAL_EVENT:AppCriticalEvents/RdmaError:RECV 93B246F7.0.169 failed: IBV_WC_RETRY_EXC_ERR", 12),
        ("SEND 17 failed: IBV_WC_LOC_PROT_ERR", 4),
    ] {
        assert!(matches!(failure(line), Some(Failure::Completion(c)) if c.status == want), "{line}");
    }
    for prose in [
        "Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 29e0df is what we see",
        // Whether the memory is a GPU's is not in the line.
        "Failed to register memory 0x7f00: Cannot allocate memory [12]",
        "Failed to register memory 0x7f00",
        "IBV_WC_RETRY_EXC_ERR",
        "the transfer of our node 12 failed: IBV_WC_RETRY_EXC_ERR",
        "RECV 12 failed: IBV_WC_RETRY_EXC_ERR means that the peer is gone",
        "if (wc.status == IBV_WC_RETRY_EXC_ERR)",
        "ibv_reg_mr failed, so we gave up",
        "ibv_create_cq failed: see above",
        "we saw that ibv_reg_mr failed, Bad address",
        "Couldn't allocate MR means that memory is short",
        "> ibv_create_cq(cqe=4096) failed: Cannot allocate memory",
        "- Couldn't allocate MR",
        "Failed status 12: that is a retry",
        "Transport retry count exceeded on our cluster",
    ] {
        assert!(failure(prose).is_none(), "{prose}: {:?}", failure(prose));
    }
}

#[test]
fn devices_and_limits() {
    use ToolTrouble::*;
    for (line, want) in [
        ("No IB devices found", NoRdmaDevice),
        (" Unable to find the Infiniband/RoCE device", NoRdmaDevice),
        ("IB device mlx5_9 not found", NoRdmaDevice),
        ("IB device 'mlx5_9' wasn't found", NoRdmaDevice),
        ("Failed to initialize NVML: Driver/library version mismatch", DriverMismatch),
        ("max locked memory       (kbytes, -l) 64", LockedMemory { kib: Some(64), complains: false }),
        ("max locked memory           (kbytes, -l) 65536", LockedMemory { kib: Some(65536), complains: false }),
        ("libibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes.", LockedMemory { kib: Some(32), complains: true }),
    ] {
        assert_eq!(tool(line), Some(want), "{line}");
    }
    for other in [
        "max locked memory       (kbytes, -l) unlimited",
        "If it says No IB devices found, load the driver",
        "> No IB devices found",
        "IB device mlx5_9 was not found by our script",
        "RLIMIT_MEMLOCK is 32768 bytes",
    ] {
        assert_eq!(tool(other), None, "{other}");
    }
}
