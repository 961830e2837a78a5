//! Ports, NICs, PCIe links and modules of a node, in texts of several lines: what is said of each, how sure and how severe.

use crate::common;

use common::answer;
use linerate_doctor::answer::Confidence::{self, Certain, Likely, Possible};
use linerate_rules::Severity::{self, Critical, High, Medium};

/// A cause, how sure, how severe.
type Want = (&'static str, Confidence, Severity);

/// What it is, all causes, the text.
const CASES: &[(&str, &[Want], &str)] = &[
    (
        "perftest: a port that is down; the device was opened",
        &[("ib/port-not-active", Certain, High)],
        " Port number 1 state is Down\n Couldn't set the link layer\n Couldn't get context for the device\n",
    ),
    (
        "perftest: a port that cannot be used, and no state",
        &[("ib/port-not-active", Possible, High)],
        " Couldn't set the link layer\n Couldn't get context for the device\n",
    ),
    (
        "perftest: a device that cannot be opened",
        &[("ib/verbs-call-failed", Possible, Critical)],
        " Couldn't get context for the device\n Couldn't get context for the device\n",
    ),
    (
        "perftest with the connection manager: the error is in a line of its own",
        &[("ib/gpu-registration", Likely, Critical)],
        "initializing CUDA\nCouldn't allocate MR\nfailed to create mr\nFailed to create MR\nFailed to initialize RDMA contexts.\nERRNO: Bad address.\n",
    ),
    ("an error of nothing that failed", &[], "Failed to handle RDMA CM event.\nERRNO: Bad address.\n"),
    (
        "UCX's limit of memory, without the limit and with it",
        &[("ib/memlock", Likely, Critical)],
        "[1652739463.054681] [n1:4071:0]        ib_iface.c:1035 UCX  ERROR ibv_create_cq(cqe=4096) failed: Cannot allocate memory\n",
    ),
    (
        "all lanes, at half the speed",
        &[("kernel/pcie-limited", Likely, Medium)],
        "[    0.6] pci 0000:01:00.0: [10de:2330] type 00 class 0x030200\n\
         [    0.7] pci 0000:01:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at 0000:00:01.1 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)\n",
    ),
    (
        "a quarter of the lanes",
        &[("kernel/pcie-limited", Likely, High)],
        "[    0.7] mlx5_core 0000:3b:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:3a:00.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n",
    ),
    (
        "AER: a GPU or NVSwitch that is handed to a guest, by its vendor",
        &[("kernel/pcie-error", Likely, Critical)],
        "[  589.1] vfio-pci 0000:07:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)\n\
         [  589.2] vfio-pci 0000:07:00.0:   device [10de:2330] error status/mask=00004000/00002000\n",
    ),
    (
        "AER: another vendor's device",
        &[("kernel/pcie-error", Possible, Critical)],
        "[  589.1] vfio-pci 0000:07:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)\n\
         [  589.2] vfio-pci 0000:07:00.0:   device [144d:a808] error status/mask=00004000/00002000\n",
    ),
    (
        "AER: the audio function of a GPU decides nothing",
        &[("kernel/pcie-error", Possible, Critical)],
        "[  589.1] vfio-pci 0000:07:00.1: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)\n\
         [  589.2] vfio-pci 0000:07:00.1:   device [10de:22bc] error status/mask=00004000/00002000\n",
    ),
    (
        "AER: a port of a NIC's own switch",
        &[("kernel/pcie-error", Likely, Critical)],
        "[  589.1] pcieport 0000:07:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)\n\
         [  589.2] pcieport 0000:07:00.0:   device [15b3:1979] error status/mask=00004000/00002000\n",
    ),
    (
        "a NIC that does not send, as kernels of all ages say it",
        &[("ib/transmit-timeout", Possible, High)],
        "[  589.0] ------------[ cut here ]------------\n\
         [  589.1] WARNING: CPU: 6 PID: 0 at net/sched/sch_generic.c:264 dev_watchdog+0x154/0x20a()\n\
         [  589.2] NETDEV WATCHDOG: eth2 (mlx5_core): transmit queue 5 timed out\n\
         [  589.3] mlx5_core 0000:17:00.0 eth2: TX timeout detected\n\
         [  689.3] mlx5_core 0000:17:00.0 eth2: NETDEV WATCHDOG: CPU: 3: transmit queue 0 timed out 5010 ms\n",
    ),
    (
        "an office NIC that does not send",
        &[],
        "[ 1356.296930] r8125 0000:22:04.0 eth4: NETDEV WATCHDOG: CPU: 3: transmit queue 0 timed out 5010 ms\n\
         [  589.2] NETDEV WATCHDOG: eth2 (igb): transmit queue 5 timed out\n",
    ),
    (
        "AER: a root port",
        &[("kernel/pcie-corrected", Possible, Medium)],
        "[  589.1] pcieport 0000:00:03.1: PCIe Bus Error: severity=Correctable, type=Data Link Layer, (Transmitter ID)\n\
         [  589.2] pcieport 0000:00:03.1:   device [1022:1453] error status/mask=00001000/00006000\n",
    ),
    (
        "gdrdrv, and the GPU driver's reason",
        &[("gdr/gdrcopy", Likely, Medium)],
        "[ 1222.5] NVRM: Invalid argument in nv_p2p_get_pages,address or length are not aligned address=0x7f0000, length=0x10008\n\
         [ 1222.6] gdrdrv:__gdrdrv_pin_buffer:nvidia_p2p_get_pages(va=7f0000 len=65544 p2p_token=0 va_space=0 callback=ffffc080a8de0230) failed [ret = -22]\n",
    ),
    (
        "the GPU driver's reason alone: for whom, it does not say",
        &[],
        "[ 1222.5] NVRM: Invalid argument in nv_p2p_get_pages,address or length are not aligned address=0x7f0000, length=0x10008\n",
    ),
    (
        "nvbandwidth checks what it copied",
        &[("gpu/wrong-data", Likely, Critical)],
        "Running device_to_device_memcpy_read_ce.\n Invalid value when checking the pattern at 0x70a640000000\n Current offset : 11136 \n",
    ),
    (
        "bridges of one host",
        &[],
        "n1:402:402 [0] NCCL INFO Bootstrap : Using ens1:10.0.0.1<0>\n\
         n1:402:402 [0] NCCL INFO NET/Socket : Using [0]ens1:10.0.0.1<0> [1]br-03e037269530:172.19.0.1<0> [2]veth18cd3f2:fe80::1453:a2ff:fede:4989%veth18cd3f2<0>\n",
    ),
    (
        "bridges of two hosts",
        &[("net/wrong-interface", Possible, Critical)],
        "n1:402:402 [0] NCCL INFO NET/Socket : Using [0]ens1:10.0.0.1<0> [1]br-03e037269530:172.19.0.1<0>\n\
         n1:402:402 [0] NCCL INFO rank 0 nranks 2\n\
         n2:402:402 [0] NCCL INFO NET/Socket : Using [0]ens1:10.0.0.2<0> [1]br-03e037269530:172.19.0.1<0>\n\
         n2:402:402 [0] NCCL INFO rank 1 nranks 2\n",
    ),
    (
        "a command that was answered late, and one that was not",
        &[("ib/nic-fault", Likely, Critical)],
        "[  230.6] mlx5_core 0000:00:02.0: wait_func_handle_exec_timeout:1113:(pid 3122): cmd[0]: CREATE_CQ(0x400) recovered after timeout\n\
         [  290.6] mlx5_core 0000:00:02.0: wait_func:1134:(pid 3122): cmd[0]: CREATE_CQ(0x400) timeout. Will cause a leak of a command resource\n",
    ),
];

#[test]
fn what_is_said_of_devices() {
    for (what, want, text) in CASES {
        let a = answer(text);
        let got: Vec<_> = a.causes.iter().map(|c| (c.id, c.confidence, c.severity)).collect();
        assert_eq!(got, *want, "{what}:\n{text}");
    }
}

/// The table of perftest shows the GIDs of both ends.
fn perftest(link: &str, gid: &str) -> String {
    let rule = "-".repeat(87);
    format!(
        "{rule}\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n Number of qps   : 1\t\tTransport type : IB\n \
         Connection type : RC\t\tUsing SRQ      : OFF\n TX depth        : 128\n Mtu             : 1024[B]\n Link type       : {link}\n GID index       : 0\n \
         Max inline data : 0[B]\n rdma_cm QPs\t : OFF\n Data ex. method : Ethernet\n{rule}\n \
         local address: LID 0000 QPN 0x00da PSN 0x416f84 RKey 0x1804c1 VAddr 0x007f8de93fe000\n GID: {gid}\n \
         remote address: LID 0000 QPN 0x0132 PSN 0xbaf42b RKey 0x181ddc VAddr 0x007fb24d4d1000\n GID: {gid}\n\
         Failed to modify QP 218 to RTR\n Unable to Connect the HCA's through the link\n"
    )
}

#[test]
fn an_empty_gid_is_the_cause_on_roce_alone() {
    let zero = ["00"; 16].join(":");
    let v4 = "00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:01";
    let first = |text: &str| answer(text).causes.first().map(|c| (c.id, c.confidence));
    assert_eq!(first(&perftest("Ethernet", &zero)), Some(("ib/gid-index", Certain)));
    assert_eq!(first(&perftest("IB", &zero)), Some(("ib/verbs-call-failed", Possible)));
    assert_eq!(first(&perftest("Ethernet", v4)), Some(("ib/verbs-call-failed", Possible)));
}

/// Open MPI's old transport, and a command that was answered late: said, and no cause.
#[test]
fn what_alarms_and_is_no_cause_is_said() {
    for text in [
        "[1630842634.5] [n1:33913:1]      ib_device.c:475  UCX  WARN  IB Async event on mlx5_0: GID table change on port 1\n",
        "By default, for Open MPI 4.0 and later, infiniband ports on a device\nare not used by default.\n",
        "WARNING: There was an error initializing an OpenFabrics device.\n",
        "default subnet GID prefix was detected on more than one of these\nports.\n",
        "[  230.6] mlx5_core 0000:00:02.0: wait_func_handle_exec_timeout:1113:(pid 3122): cmd[0]: CREATE_CQ(0x400) recovered after timeout\n",
    ] {
        let a = answer(text);
        assert_eq!((a.causes.len(), a.not_causes.len()), (0, 1), "{text}: {:?}", a.causes);
    }
}

/// The limit beside the error makes it certain, and no less severe.
#[test]
fn better_proof_does_not_make_it_milder() {
    let fails = "[1652739463.0] [n1:4071:0]        ib_iface.c:1035 UCX  ERROR ibv_create_cq(cqe=4096) failed: Cannot allocate memory\n";
    let limit = "$ ulimit -a\ncore file size          (blocks, -c) 0\nmax locked memory       (kbytes, -l) 64\nopen files                      (-n) 1024\n";
    let a = answer(&format!("{fails}{limit}"));
    let got: Vec<_> = a.causes.iter().map(|c| (c.id, c.confidence, c.severity)).collect();
    assert_eq!(got, [("ib/memlock", Certain, Critical)]);
}

/// The module that the text names is the one that is to be rebuilt; DMA-BUF is not for what is that old.
#[test]
fn the_peer_memory_module_is_named() {
    for (module, old) in [("nv_peer_mem", true), ("nvidia_peermem", false)] {
        let a = answer(&format!("[   12.5] {module}: Unknown symbol ib_register_peer_memory_client (err 0)\n"));
        let c = a.causes.first().unwrap_or_else(|| panic!("{module}"));
        assert_eq!((c.id, c.confidence), ("gdr/peermem-not-loaded", Certain));
        let fix = c.remedy.as_ref().map(|r| format!("{r:?}")).unwrap_or_default();
        assert_eq!((fix.contains("nv_peer_mem"), fix.contains("DMA-BUF")), (old, !old), "{fix}");
    }
}

#[test]
fn ucx_says_whether_only_transports_within_a_host_are_left() {
    let line = |list: &str| {
        format!(
            "[1750835683.5] [n1:1392 :0]          select.c:649  UCX  ERROR   no active messages transport to <no debug data>: {list}\n"
        )
    };
    let mut fixes = Vec::new();
    for list in [
        "rc_verbs/mlx5_0:1 - Destination is unreachable, rc_mlx5/mlx5_0:1 - Destination is unreachable",
        "posix/memory - Destination is unreachable, self/memory - Destination is unreachable, cma/memory - no am bcopy",
    ] {
        let a = answer(&line(list));
        let got: Vec<_> = a.causes.iter().map(|c| (c.id, c.confidence)).collect();
        assert_eq!(got, [("net/ucx-unreachable", Certain)], "{list}");
        fixes.push(format!("{:?}", a.causes[0].remedy));
    }
    assert_ne!(fixes[0], fixes[1]);
}
