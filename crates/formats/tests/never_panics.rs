//! Every parser takes any bytes. The inputs are random bytes, and random pieces of the words that the formats consist of, which
//! reach deeper than bytes do.

use linerate_formats::parsers::parsers;
use linerate_formats::{Kind, cmdline, dmesg, sniff};
use proptest::prelude::*;

/// Pieces of real formats, joined at random.
const WORDS: &[&str] = &[
    "\n",
    "\n",
    "\r\n",
    "\t",
    " ",
    " : ",
    ":",
    "=",
    "\"",
    ",",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "/",
    "'",
    "-- ",
    "é",
    "\u{1b}[",
    "\0",
    "GPU0",
    "GPU1",
    "GPU 00000000:1B:00.0",
    "X",
    "NV12",
    "NODENODE",
    "NIC0: mlx5_0",
    "CPU Affinity",
    "Device #1:",
    "Device type:",
    "Configurations:",
    "Next Boot",
    "Default",
    "*",
    "RO ",
    "ATS_ENABLED  True(1)",
    "-E- ",
    "mlxconfig -d 1:0.0",
    "NVSMI LOG",
    "PCIe Generation",
    "MIG Device",
    "Max",
    "16x",
    "MiB",
    "<nvidia_smi_log>",
    "</nvidia_smi_log>",
    "<gpu id=",
    "<?xml",
    "CA '",
    "Port 1:",
    "State",
    "Active",
    "hca_id:",
    "port:",
    "GID[  0]",
    "fe80::1",
    ", RoCE v2",
    "==>",
    " port 1 ",
    "{\"ifname\":",
    "\"port\":1",
    "}",
    "netns shared",
    "NodeName=n1 Arch=",
    "Gres=gpu:8(S:0-1)",
    "State=IDLE*+DRAIN",
    "Reason=x [a@b]",
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}",
    "\"allocatable\":{",
    "enabled 0 1",
    "NIC statistics:",
    "[    0.5] ",
    "<6>",
    "6,1,2,-;",
    "Nov 21 07:00:00 h kernel: ",
    "DMAR: ",
    "Request device [41:00.0]",
    "fault addr 0x",
    "AMD-Vi: ",
    "IO_PAGE_FAULT domain=0x",
    "mlx5_core 0000:41:00.0: ",
    "NVRM: Xid (PCI:0000:38:00): ",
    " Gb/s available PCIe bandwidth",
    "limited by 8.0 GT/s PCIe x8 link at ",
    "AER: ",
    "error received: ",
    "BAR 1: can't assign; no space",
    "processor\t: 0",
    "flags\t: a b",
    "CONFIG_IOMMU=y",
    "Max locked memory ",
    "unlimited",
    "0-3",
    "# nThread 1 nGpus 8 minBytes 8 ",
    "#  Rank  0 Group  0 Pid 1 on a device  0 [0000:1b:00] GPU",
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong",
    "  8  2  float  sum  -1  1.0  2.0  3.0  0",
    "  1.0  2.0  3.0  0",
    "N/A",
    "a:1:2 [0] NCCL INFO x",
    "# Avg bus bandwidth : 1",
    "a: Test NCCL failure b.cu:1 'c'",
    "{\"nccl_version\":1,\"args\":[],\"results\":[{\"size\":8}]}",
    "RDMA_Write BW Test",
    " #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]",
    " Mtu : 4096[B]",
    " local address: LID 0x01 QPN 0x02 PSN 0x03 RKey 0x04",
    " GID: 00:",
    " 65536 5000 97.1 97.0 0.18",
    "\"test_info\": {",
    "\"MsgSize\": 8,",
    " Failed status 12: wr_id 0 syndrom 0x81",
    "[1,0]<stdout>:",
    "[rank3]:[E227 16:30:43.5 ProcessGroupNCCL.cpp:1785] [PG ID 2 PG GUID 3 Rank 3] ",
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, ",
    "Timeout(ms)=600000) ran for 600001 milliseconds before timing out.",
    "last enqueued NCCL work: 3, last completed NCCL work: -1.",
    "NCCL error in: a.cpp:1, unhandled system error, NCCL version 2.20.5",
    "ncclSystemError: ",
    "Last error:",
    "Connecting to host h, port 5201",
    "Server listening on 5201",
    "Client connecting to h, UDP port 5001",
    "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd",
    "[  5] local 1.2.3.4 port 5 connected to 1.2.3.4 port 6",
    "[SUM][TX-C]   0.00-1.00   sec  2.82 GBytes  24.2 Gbits/sec   27   1023 KBytes",
    "[  5]   0.00-3.00   sec   357 MBytes  1,5 Gbits/sec  0.004 ms  2/11441 (0.017%)  receiver",
    "[ *1] 0.0000-1.0000 sec   405 MBytes  3.40 Gbits/sec  3239/0  8  895K/331(294) us  1282605",
    "[  4] 0.00-60.00 sec  1 datagrams received out-of-order",
    "iperf3: interrupt - the client has terminated",
    "iperf Done.",
    "\nGroup     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n",
    "\n    0  1  2  7-8  16  15  RUNNING  INCOMPLETE,MISMATCH\n",
    "\nMissing communicator data from 2 job processes\n",
    "\nProcess 22 on node 10.0.0.2 managing GPUs 0,1 (NVML 2,3)\n",
    "\n#0-0 (00000000000000a1) MISMATCH\n",
    "\nCommunicator ranks have different AllReduce operation counts\n",
    "\n4294967295 ranks have launched up to operation 18446744073709551615\n",
    "\nRank 4294967295 has status NOCOMM -- GPU 0 managed by process 1 on node n\n",
    "\n{\"nccl_version\":\"2.29.2\",\"communicators_count\":1,\"communicators\":[{\"hash\":\"0xa1\",\"size\":9,\"ranks\":[",
    "{\"rank\":1,\"status\":{\"init_state\":-9223372036854775808,\"abort_flag\":true},\"collective_counts\":{\"AllReduce\":7}},",
    "],\"missing_ranks\":[{\"rank\":2,\"status\":{\"unresponsive\":true,\"considered_dead\":true}}]}],\"ras\":{\"timeouts_count\":1}}",
    "{\"start\":{\"connected\":[],\"version\":\"iperf 3.1\"},\"intervals\":[{\"streams\":[{\"socket\":5,",
    "{\"event\":\"interval\",\"data\":{\"sum\":{\"start\":0,\"end\":1,\"bits_per_second\":-nan}}}",
    "\"end\":{\"streams\":[{\"sender\":{\"socket\":5}}]}}",
    "sockperf: == version #3.7 ==",
    "sockperf: ====> avg-rtt=1.5 (std-dev=1,2, 99.0% ci=[1.0, 2.0])",
    "sockperf: ---> percentile 99.999 = 1.0",
    "sockperf: Summary: BandWidth is 18.230 MBps (145.842 Mbps)",
    "sockperf: [Valid Duration] RunTime=1.550 sec; SentMessages=2; ReceivedMessages=1",
    "w: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1",
    "w: (groupid=0, jobs=1): err= 0: pid=1: Sat",
    "read: IOPS=21.3k, BW=83.4MiB/s (87.4MB/s)(250MiB/3001msec)",
    "clat (usec): min=33, max=1203.4K, avg=46.38, stdev=15.73",
    "clat percentiles (usec):",
    "|  1.00th=[   39],  5.00th=[   40],",
    "bw (  KiB/s): min=1, max=2, per=3%, avg=4, stdev=5, samples=6",
    "Run status group 0 (all jobs):",
    "READ: bw=83.4MiB/s (87.4MB/s), io=250MiB (262MB), run=3001-3001msec",
    "{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"read\":{\"io_bytes\":1,\"total_ios\":1,\"clat_ns\":{\"N\":1,\"percentile\":{\"1.0\":",
    "\n3;fio-3.33;a;0;0;4096;2048;512;999",
    ";0;0;0.0;0.0;50.000000%=9;0%=0",
    "\n20261122120010,10.0.0.1,40000,10.0.0.2,5001,3,0.0-10.0,1250000000,1000000000",
    "\n20261122120010,10.0.0.1,40001,10.0.0.2,5001,4,0.0-1e300,18446744073709551615,1e308,0.005,9,895,1.006,2",
    "\n99999999999999,,,,,-1,0.0-0.0,0,0",
    "\nPinging h [10.0.0.9] with 32 bytes of data:\n",
    "\nReply from 10.0.0.9: bytes=32 time<1ms TTL=64\n",
    "\nReply from 10.0.0.1: Destination host unreachable.\n",
    "\nPackets: Sent = 2, Received = 1, Lost = 1 (50% loss),\n",
    "\nMinimum = 0ms, Maximum = 1ms, Average = 0ms\n",
    "PING h (1.2.3.4) 56(84) bytes of data.",
    "64 bytes from 1.2.3.4: icmp_seq=1 ttl=64 time=0.078 ms (DUP!)",
    "3 packets transmitted, 3 received, +1 duplicates, 0% packet loss, time 418ms",
    "rtt min/avg/max/mdev = 0.034/0.051/0.078/0.019 ms, ipg/ewma 0.034/0.017 ms",
    "18446744073709551616",
    "-1",
    "NaN",
    "0x",
    "1e999",
    "name, pci.bus_id [x]",
];

/// Pieces, and the samples of every text.
fn words() -> Vec<&'static str> {
    let samples = Kind::ALL.iter().flat_map(|k| k.tool().samples);
    WORDS.iter().chain(samples).copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for (_, parse) in parsers() {
            parse(&bytes);
        }
    }

    #[test]
    fn any_words(words in proptest::collection::vec(proptest::sample::select(words()), 0..60)) {
        let text = words.concat();
        for (_, parse) in parsers() {
            parse(text.as_bytes());
        }
        // A cut inside a character or a UTF-16 pair.
        for (_, parse) in parsers() {
            parse(text.as_bytes().get(..text.len() / 2).unwrap_or_default());
        }
    }

    #[test]
    fn normalising_keeps_the_lines(words in proptest::collection::vec(proptest::sample::select(words()), 0..60)) {
        let text = words.concat();
        let clean = sniff::normalise(text.as_bytes());
        let count = |b: &[u8]| b.iter().filter(|b| **b == b'\n').count();
        prop_assert_eq!(count(&clean), count(text.as_bytes()));
        prop_assert!(!clean.contains(&0x1b));
    }

    #[test]
    fn a_scan_finds_what_reading_line_by_line_finds(words in proptest::collection::vec(proptest::sample::select(words()), 0..60)) {
        let text: String = words.concat().replace('\u{1b}', "");
        let slow: Vec<(u32, dmesg::Event)> =
            dmesg::lines(&text).filter_map(|l| Some((l.number, dmesg::classify(l.message)?))).collect();
        let fast: Vec<(u32, dmesg::Event)> = dmesg::scan(text.as_bytes()).into_iter().map(|f| (f.line, f.event)).collect();
        prop_assert_eq!(slow, fast);
    }

    #[test]
    fn a_command_line_survives(params in proptest::collection::vec(("[a-z][a-z_.]{0,8}", proptest::option::of("[a-z0-9, ;:@]{0,8}")), 0..8)) {
        let line: Vec<String> = params.iter().map(|(n, v)| v.as_ref().map_or(n.clone(), |v| format!("{n}=\"{v}\""))).collect();
        let parsed = cmdline::parse(line.join(" ").as_bytes());
        let got: Vec<(String, Option<String>)> = parsed.params.into_iter().map(|p| (p.name, p.value)).collect();
        prop_assert_eq!(got, params);
    }
}

/// One piece repeated, on one line and on many: a parser that is quadratic in its input takes minutes here.
#[test]
#[ignore = "takes minutes in a debug build: run it with --release after a change to a parser; what CI measures is `cargo xtask bombs --growth`"]
fn long_repetitions_take_linear_time() {
    const TIMES: usize = 8_000;
    for word in words() {
        for text in [word.repeat(TIMES), format!("{word}\n").repeat(TIMES), format!("{word} ").repeat(TIMES)] {
            for (name, parse) in parsers() {
                let start = std::time::Instant::now();
                parse(text.as_bytes());
                let took = start.elapsed();
                assert!(took.as_secs() < 10, "{name} took {took:?} on {TIMES} times {word:?}");
            }
        }
    }
}
