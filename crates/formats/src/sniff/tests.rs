use super::*;

#[test]
fn short_texts_of_every_kind() {
    for (text, kind) in [
        ("01:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n", Kind::Lspci),
        ("00:00.0 \"Host bridge\" \"Intel Corporation\"\n", Kind::Lspci),
        ("\tACSCtl:\tSrcValid+ TransBlk-\n", Kind::Lspci),
        ("[    0.5] x\n", Kind::Dmesg),
        ("6,1,2,-;x\n", Kind::Dmesg),
        ("<6>[    0.5] x\n", Kind::Dmesg),
        ("DMAR: IOMMU enabled\n", Kind::Dmesg),
        ("Nov 21 07:00:00 h kernel: x\n", Kind::Dmesg),
        ("   ATS_ENABLED       False(0)\n", Kind::MlxconfigText),
        ("-E- Failed to open device: x\n", Kind::MlxconfigText),
        ("{\"Device #1\":{\"tlv_configuration\":{}}}", Kind::MlxconfigJson),
        ("$ nvidia-smi -q\n==============NVSMI LOG==============\n", Kind::NvidiaSmiQuery),
        ("<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"x\">\n<nvidia_smi_log>", Kind::NvidiaSmiXml),
        ("\x1b[4m\tGPU0\tGPU1\tCPU Affinity\x1b[0m\r\nGPU0\t X \tNV12\t0-3\r\n", Kind::NvidiaSmiTopo),
        (" \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n", Kind::NvidiaSmiP2p),
        ("| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: 11.0     |\n", Kind::NvidiaSmiTable),
        ("name, pci.bus_id\nH100, 00000000:1B:00.0\n", Kind::NvidiaSmiCsv),
        ("CA 'mlx5_0'\n", Kind::Ibstat),
        ("Infiniband device 'mlx5_0' port 1 status:\n", Kind::Ibstat),
        ("hca_id:\tmlx5_0\n", Kind::IbvDevinfo),
        ("mlx5_0 port 1 ==> ib0 (Up)\n", Kind::Ibdev2netdev),
        ("BOOT_IMAGE=/vmlinuz root=UUID=x ro quiet\n", Kind::Cmdline),
        ("ro iommu=pt pci=realloc\n", Kind::Cmdline),
        ("[{\"ifname\":\"mlx5_0\",\"port\":1,\"state\":\"ACTIVE\",\"physical_state\":\"LINK_UP\"}]", Kind::RdmaLink),
        ("link mlx5_0/1 state ACTIVE physical_state LINK_UP\n", Kind::RdmaLink),
        ("[ {\n\"ifname\":\"mlx5_0\",\"port\":1,\"rx_write_requests\":0}]", Kind::RdmaStatistic),
        ("netns shared copy-on-fork on\n", Kind::RdmaSystem),
        ("[{\"netns\":\"shared\"}]", Kind::RdmaSystem),
        ("DCBX mode: OS controlled\nPriority trust state: pcp\n", Kind::MlnxQos),
        ("NIC statistics:\n     rx_packets: 1\n", Kind::EthtoolStats),
        ("Pause parameters for eth0:\n", Kind::EthtoolPause),
        ("<domain type='kvm' id='1'>\n", Kind::VirshXml),
        ("<!-- <domain> -->\n<system version=\"1\">\n<cpu numaid=\"0\"/>", Kind::NcclTopoXml),
        ("node:1:1 [0] NCCL INFO Using network IB\n", Kind::NcclLog),
        ("# nThread 1 nGpus 8 minBytes 8\n", Kind::NcclTests),
        ("                    RDMA_Write BW Test\n", Kind::Perftest),
        ("rccl-tests: Version develop:0123456\n", Kind::NcclTests),
        ("# nThreads: 1 nGpus: 8 nRanks: 2 minBytes: 8\n", Kind::NcclTests),
        ("# Collective test starting: all_reduce_perf\n", Kind::NcclTests),
        ("{\"version\":3,\"args\":[\"./all_reduce_perf\"],\"nccl_version\":23007,\"results\":[]}", Kind::NcclTests),
        ("[{\"name\":\"AllReduce\",\"algBw\":1.0,\"busBw\":1.5}]", Kind::NcclTests),
        ("{\n\"test_info\": {\n\"test\": \"Send_BW_Test\",\n", Kind::Perftest),
        ("{\ntest_info: {\ntest: Send_BW_Test,\n", Kind::Perftest),
        ("Connecting to host 10.0.0.2, port 5201\n", Kind::Iperf3),
        ("[  5]   0.00-1.00   sec  2.82 GBytes  24.2 Gbits/sec   27   1023 KBytes\n", Kind::Iperf3),
        ("[ ID][Role] Interval           Transfer     Bitrate         Retr  Cwnd\n", Kind::Iperf3),
        ("iperf3: error - unable to connect to server: Connection refused\n", Kind::Iperf3),
        (
            "{\n\t\"start\":\t{\n\t\t\"connected\":\t[],\n\t\t\"version\":\t\"iperf 3.12\"\n\t},\n\t\"intervals\":\t[]}",
            Kind::Iperf3,
        ),
        ("{\"event\":\"start\",\"data\":{\"connected\":[],\"version\":\"iperf 3.17\"}}\n", Kind::Iperf3),
        ("Client connecting to 10.0.0.2, TCP port 5001\n", Kind::Iperf2),
        ("[  3]  0.0-10.0 sec  1.05 GBytes   905 Mbits/sec\n", Kind::Iperf2),
        ("sockperf: == version #3.7-no.git == \n", Kind::Sockperf),
        ("w: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\n", Kind::Fio),
        ("{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : []}", Kind::Fio),
        ("PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n", Kind::Ping),
        ("[1795294324.960938] 64 bytes from ::1: icmp_seq=1 ttl=64 time=0.217 ms\n", Kind::Ping),
        // Beside a measurement, what tells of the node decides.
        ("PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\nCA 'mlx5_0'\n", Kind::Ibstat),
        ("processor\t: 0\nvendor_id\t: GenuineIntel\n", Kind::Cpuinfo),
        ("nvidia 54000000 12 nvidia_uvm, Live 0xffffffffc0000000 (POE)\n", Kind::Modules),
        ("Module                  Size  Used by\n", Kind::Modules),
        ("kvm\n", Kind::DetectVirt),
        ("filename: /lib/modules/6.8/nvidia.ko\n", Kind::ModinfoNvidia),
        ("root@n:~# sudo /usr/bin/ibstat\ncommand failed\n", Kind::Ibstat),
        (
            "[rank0]:[titan] 2025-07-21 15:57:42,774 - root - INFO - step:  3  loss:  4.9  memory:  0.00GiB(0.00%)  tps: 30,768  mfu: 0.32%\n",
            Kind::TorchTitan,
        ),
        ("nvbandwidth Version: v0.6\n", Kind::Nvbandwidth),
        ("SUM host_to_device_memcpy_ce 845.90\n", Kind::Nvbandwidth),
        ("{\n \"nvbandwidth\" : { \"testcases\" : [] } }\n", Kind::Nvbandwidth),
        ("time,busbw (GB/s)\n0,93.1\n1,93.2\n", Kind::SeriesTable),
        ("| size | GB/s |\n|---|---|\n| 1 MB | 5.91 |\n", Kind::SeriesTable),
        ("{\"step\": 1, \"loss\": 2.5}\n{\"step\": 2, \"loss\": 2.4}\n", Kind::SeriesTable),
        ("1,2\n3,4\n", Kind::Unknown),
        ("", Kind::Unknown),
        ("hello\nworld\n", Kind::Unknown),
        ("{\"a\":1}", Kind::Unknown),
        ("<html>", Kind::Unknown),
    ] {
        assert_eq!(sniff("", text.as_bytes()), kind, "{text}");
        let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(sniff("", &utf16), kind, "UTF-16 {text}");
    }
}

#[test]
fn times_of_the_kernel_are_no_json_and_modules_no_kernel_log() {
    for (text, kind) in [
        ("[    0.000000] Linux version 6.8.0 (gcc \"13\")\n[    1.5] x \"y\"\n", Kind::Dmesg),
        ("[  +0.000012] usb 1-1: Product: \"x\"\n", Kind::Dmesg),
        ("[ {\"ifname\":\"mlx5_0\",\"port\":1,\"rx_write_requests\":0}]", Kind::RdmaStatistic),
        ("[\n {\"netns\":\"shared\"}]", Kind::RdmaSystem),
    ] {
        assert_eq!(sniff("", text.as_bytes()), kind, "{text}");
    }
    for text in [
        "nvidia_peermem         16384  0\nib_core  442368  9 rdma_cm,nvidia_peermem\n",
        "nvidia-peermem-ctr:  CrashLoopBackOff\n",
        "nvidia_peermem is not loaded\n",
        "NVRM: is the prefix of the driver's messages\n",
        "AMD-Vi: faults are gone, no IO_PAGE_FAULT\n",
    ] {
        assert_ne!(sniff("", text.as_bytes()), Kind::Dmesg, "{text}");
    }
}

#[test]
fn the_name_decides_only_without_content() {
    assert_eq!(sniff("dmesg.txt", b""), Kind::Dmesg);
    assert_eq!(sniff("a/rdma_topo.json", b"[{\"x\":1}]"), Kind::RdmaTopo);
    let dump =
        b"[\n    {\n        \"realpath\": \"/sys\",\n        \"config\": \"eJwD\",\n        \"modalias\": \"pci:v\"";
    for name in ["rdma_topo.json", "x.txt"] {
        assert_eq!(sniff(name, dump), Kind::RdmaTopoDump);
    }
    assert_eq!(sniff("dmesg.txt", b"CA 'mlx5_0'\n"), Kind::Ibstat);
    assert_eq!(sniff("dmesg.json", b"{\"x\":1}"), Kind::Unknown);
}
