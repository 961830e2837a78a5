//! Texts by their rows: a head, a row that is repeated with other numbers, an end. `{}` is the row's number, `{x}` the same in
//! hexadecimal, `{r}` a random number.

pub(super) struct Rows {
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    pub(super) head: &'static str,
    pub(super) row: &'static str,
    pub(super) end: &'static str,
}

const fn rows(
    name: &'static str,
    file: &'static str,
    head: &'static str,
    row: &'static str,
    end: &'static str,
) -> Rows {
    Rows { name, file, head, row, end }
}

pub(super) const ROWS: &[Rows] = &[
    rows(
        "pci-functions",
        "lspci.txt",
        "",
        "{x4}:{x2}:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev a1)\n\tNUMA node: 0\n\n",
        "",
    ),
    rows(
        "pci-nics",
        "lspci.txt",
        "",
        "{x4}:{x2}:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]\n\tIOMMU group: {}\n\tKernel driver in use: mlx5_core\n\n",
        "",
    ),
    rows(
        "pci-bridges",
        "lspci.txt",
        "",
        "{x4}:{x2}:01.0 PCI bridge [0604]: Broadcom PEX890xx [1000:c030] (rev b0)\n\tBus: primary={x2}, secondary=ff, subordinate=ff\n\tCapabilities: [220 v1] Access Control Services\n\t\tACSCtl:\tSrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+\n\n",
        "",
    ),
    rows(
        "pci-lines",
        "lspci.txt",
        "0000:17:00.0 PCI bridge [0604]: Broadcom [1000:c030]\n",
        "\tCapabilities: [{x2}] Express (v2) Downstream Port\n\t\tLnkSta:\tSpeed 32GT/s, Width x{}\n",
        "",
    ),
    rows("pci-short", "lspci.txt", "", "{x2}:00.0 VGA: x\n", ""),
    rows(
        "lspci-hex",
        "lspci.txt",
        "00:00.0 Host bridge: Intel\n",
        "{x2}0: de 10 30 23 06 04 10 00 a1 00 02 03 00 00 00 00\n",
        "",
    ),
    rows(
        "smi-list",
        "nvidia-smi.txt",
        "",
        "GPU {}: NVIDIA H100 80GB HBM3 (UUID: GPU-{x8}-0000-0000-0000-000000000000)\n",
        "",
    ),
    rows(
        "smi-query",
        "nvidia-smi-q.txt",
        "==============NVSMI LOG==============\nDriver Version : 570.133.20\n",
        "GPU {x8}:19:00.0\n    Product Name : NVIDIA H100\n    Bus Id : {x8}:19:00.0\n    PCI\n        GPU Link Info\n            PCIe Generation\n                Max : 5\n                Current : {}\n",
        "",
    ),
    rows(
        "smi-query-lines",
        "nvidia-smi-q.txt",
        "==============NVSMI LOG==============\nGPU 00000000:19:00.0\n",
        "    Key {} : {r}\n",
        "",
    ),
    rows(
        "smi-xml",
        "nvidia-smi.xml",
        "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n",
        "<gpu id=\"{x8}:19:00.0\"><product_name>NVIDIA H100</product_name><pci><pci_bus_id>{x8}:19:00.0</pci_bus_id></pci></gpu>\n",
        "</nvidia_smi_log>\n",
    ),
    rows("smi-csv", "nvidia-smi.csv", "name, pci.bus_id\n", "NVIDIA H100, {x8}:19:00.0\n", ""),
    rows("nvlink", "nvlink.txt", "GPU 0: NVIDIA H100 (UUID: GPU-1)\n", "\t Link {}: 26.562 GB/s\n", ""),
    rows("xml-attributes", "topo.xml", "<system version=\"1\"><cpu numaid=\"0\" ", "a{}=\"1\" ", "/></system>\n"),
    rows(
        "xml-elements",
        "topo.xml",
        "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ff\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"1\">\n",
        "<pci busid=\"{x4}:{x2}:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"{}\" sm=\"90\" rank=\"{}\" gdr=\"1\"/></pci>\n",
        "</cpu></system>\n",
    ),
    rows(
        "xml-nics",
        "topo.xml",
        "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ff\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"1\"><pci busid=\"0000:10:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/></pci>\n",
        "<pci busid=\"{x4}:{x2}:00.0\" class=\"0x020700\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><nic><net name=\"mlx5_{}\" dev=\"{}\" speed=\"400000\" port=\"1\" guid=\"0x{x}\" gdr=\"1\"/></nic></pci>\n",
        "</cpu></system>\n",
    ),
    rows(
        "xml-nvlinks",
        "topo.xml",
        "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ff\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"1\"><pci busid=\"0000:10:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\">\n",
        "<nvlink target=\"{x4}:{x2}:00.0\" count=\"1\" tclass=\"0x068000\"/>\n",
        "</gpu></pci></cpu></system>\n",
    ),
    rows(
        "xml-cpus",
        "topo.xml",
        "<system version=\"1\">\n",
        "<cpu numaid=\"{}\" affinity=\"ff\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"1\"/>\n",
        "</system>\n",
    ),
    rows(
        "xml-deep",
        "topo.xml",
        "<system version=\"1\"><cpu numaid=\"0\">",
        "<pci busid=\"{x4}:{x2}:00.0\" class=\"0x060400\">",
        "",
    ),
    rows("xml-comments", "topo.xml", "<system version=\"1\">", "<!-- {} -->", "</system>"),
    rows("xml-entities", "topo.xml", "<system version=\"1\"><cpu numaid=\"", "&#{};&amp;", "\"/></system>"),
    rows(
        "dmesg-messages",
        "dmesg.txt",
        "[    0.000000] Linux version 6.8.0-60-generic\n",
        "[   {}.{r}] mlx5_core 0000:{x2}:00.0: something distinct happened {r}\n",
        "",
    ),
    rows(
        "dmesg-xids",
        "dmesg.txt",
        "[    0.000000] Linux version 6.8.0-60-generic\n",
        "[   {}.5] NVRM: Xid (PCI:{x4}:{x2}:00): {r}, pid={}, name=python\n",
        "",
    ),
    rows(
        "dmesg-faults",
        "dmesg.txt",
        "[    0.000000] Linux version 6.8.0-60-generic\n",
        "[   {}.5] DMAR: [DMA Write NO_PASID] Request device [{x2}:00.0] fault addr 0x{x} [fault reason 0x05] PTE Write access is not set\n",
        "",
    ),
    rows(
        "dmesg-aer",
        "dmesg.txt",
        "[    0.000000] Linux version 6.8.0-60-generic\n",
        "[   {}.5] pcieport {x4}:{x2}:01.0: AER: Corrected error message received from {x4}:{x2}:00.0\n",
        "",
    ),
    rows(
        "dmesg-hosts",
        "messages",
        "",
        "Nov 22 10:00:00 host{} kernel: [   {}.5] NVRM: Xid (PCI:0000:{x2}:00): 79, pid={}\n",
        "",
    ),
    rows(
        "ibstat",
        "ibstat.txt",
        "",
        "CA 'mlx5_{}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n",
        "",
    ),
    rows(
        "devinfo",
        "ibv_devinfo.txt",
        "",
        "hca_id: mlx5_{}\n\ttransport: InfiniBand (0)\n\tfw_ver: 28.39.1002\n\t\tport: 1\n\t\t\tstate: PORT_ACTIVE (4)\n\t\t\tmax_mtu: 4096 (5)\n\t\t\tactive_mtu: 4096 (5)\n\t\t\tlink_layer: Ethernet\n",
        "",
    ),
    rows(
        "devinfo-gids",
        "ibv_devinfo.txt",
        "hca_id: mlx5_0\n\t\tport: 1\n\t\t\tstate: PORT_ACTIVE (4)\n",
        "\t\t\tGID[{}]: fe80:0000:0000:0000:0000:0000:0000:{x4}, RoCE v2\n",
        "",
    ),
    rows("ibdev", "ibdev2netdev.txt", "", "mlx5_{} port 1 ==> ens{}f0np0 (Up)\n", ""),
    rows(
        "mlxconfig",
        "mlxconfig.txt",
        "",
        "Device #{}:\n----------\nDevice type:    ConnectX7\nDevice:         {x2}:00.0\nConfigurations:   Default Current Next Boot\n        ATS_ENABLED False(0) False(0) True(1)\n",
        "",
    ),
    rows(
        "mlxconfig-values",
        "mlxconfig.txt",
        "Device #1:\n----------\nDevice type:    ConnectX7\nDevice:         41:00.0\nConfigurations:   Default Current Next Boot\n",
        "        KEY_{} False(0) False(0) True(1)\n",
        "",
    ),
    rows(
        "rdma-link",
        "rdma-link.json",
        "[",
        "{\"ifindex\":{},\"ifname\":\"mlx5_{}\",\"port\":1,\"state\":\"ACTIVE\",\"physical_state\":\"LINK_UP\",\"netdev\":\"eth{}\"},\n",
        "{\"ifname\":\"x\"}]",
    ),
    rows(
        "rdma-topo-dump",
        "rdma_topo.json",
        "[",
        "{\"realpath\":\"/sys/devices/pci{x4}:00/{x4}:{x2}:00.0\",\"config\":\"eJy7J7BRiQEMWNgYGBgZRhoAAMq/Ac0=\",\"iommu_group\":{},\"modalias\":\"pci:v000010DEd000022B1sv00000000sd00000000bc06sc04i00\",\"numa_node\":0,\"subsystems\":{\"net\":[\"a{}\"]}},\n",
        "{}]",
    ),
    rows("nvml", "nvml.json", "{\"devices\":[", "{\"index\":{},\"pci\":\"{x8}:19:00.0\"},", "{}]}"),
    rows("cmdline", "cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/vda1 ", "iommu.x{}={r} ", "\n"),
    rows(
        "cpuinfo",
        "cpuinfo",
        "",
        "processor\t: {}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nphysical id\t: {}\ncore id\t\t: {}\n\n",
        "",
    ),
    rows("lsmod", "lsmod.txt", "Module                  Size  Used by\n", "nvidia_{}       65536  1 nvidia\n", ""),
    rows("ethtool", "ethtool-S.txt", "NIC statistics:\n", "     rx_prio{}_pause: {r}\n", ""),
    rows(
        "virsh",
        "domain.xml",
        "<domain type='kvm'><name>a</name><devices>",
        "<hostdev mode='subsystem' type='pci'><source><address domain='0x0000' bus='0x{x2}' slot='0x00' function='0x0'/></source></hostdev>\n",
        "</devices></domain>",
    ),
    rows("nccl-lines", "nccl.log", "", "host:{}:{} [0] NCCL INFO Channel {}/0 : {}[0] -> {}[1] via P2P/IPC\n", ""),
    rows(
        "nccl-hosts",
        "nccl.log",
        "",
        "host{}:1:{} [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.{}<0>\n",
        "",
    ),
    rows(
        "nccl-ranks",
        "nccl.log",
        "h:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n",
        "host{}:1:1 [0] NCCL INFO ncclCommInitRank comm 0x{x} rank {} nranks 200000 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init START\n",
        "",
    ),
    rows(
        "nccl-comms",
        "nccl.log",
        "h:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n",
        "h:1:1 [0] NCCL INFO ncclCommInitRank comm 0x{x} rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x{x} - Init COMPLETE\n",
        "",
    ),
    rows(
        "nccl-net",
        "nccl.log",
        "h:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n",
        "h:1:1 [0] NCCL INFO Channel {}/0 : {}[0] -> {}[1] [send] via NET/IB/{}/GDRDMA\n",
        "",
    ),
    rows(
        "nccl-warns",
        "nccl.log",
        "",
        "h:1:{} [0] transport/net_ib.cc:{} NCCL WARN Got completion from peer 10.0.{}.1<{}> with status={} opcode=0 len={} vendor err {}\n",
        "",
    ),
    rows("nccl-env", "nccl.log", "", "h:1:1 [0] NCCL INFO NCCL_VAR_{} set by environment to {}.\n", ""),
    rows("nccl-rings", "nccl.log", "", "h:1:1 [0] NCCL INFO Channel {}/{} :    0   1   2   3   {}\n", ""),
    rows(
        "torch",
        "torch.log",
        "",
        "[rank{}]:[E227 16:30:43.5 ProcessGroupNCCL.cpp:629] [PG ID {} PG GUID {}(tp) Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n",
        "",
    ),
    rows(
        "words",
        "log.txt",
        "",
        "2026-11-22T10:00:00Z pod-{} something {r} that nobody knows failed with error {r}\n",
        "",
    ),
    rows(
        "endless",
        "app.log",
        "",
        "UCX  ERROR {r} ibv_reg_mr(address=0x{x}, length={}) failed: Cannot allocate memory\n",
        "",
    ),
    rows("env", "env.txt", "", "NCCL_VAR_{}={r}\n", ""),
    rows("env-same", "env.txt", "", "NCCL_IB_HCA=mlx5_{}\n", ""),
    rows("env-list", "env.txt", "NCCL_IB_HCA=", "mlx5_{}:1,", "\n"),
    rows("env-script", "job.sh", "#!/bin/bash\n", "export NCCL_SOCKET_IFNAME=eth{} UCX_TLS=rc,{}\n", ""),
    rows("env-docker", "Dockerfile", "FROM x\nENV A=1 \\\n", "    NCCL_X{}={} \\\n", "    B=2\n"),
    rows("env-mpirun", "job.sh", "#!/bin/bash\nmpirun ", "-x NCCL_ALGO{}=Ring ", "a.out\n"),
    rows(
        "env-pods",
        "pod.yaml",
        "",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p{}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: NCCL_IB_DISABLE\n      value: \"{}\"\n---\n",
        "",
    ),
    rows(
        "env-yaml",
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: c\n    env:\n",
        "    - name: NCCL_VAR_{}\n      value: \"{}\"\n",
        "",
    ),
    rows(
        "env-containers",
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n",
        "  - name: c{}\n    env: [{name: NCCL_NET, value: IB}]\n",
        "",
    ),
    rows(
        "nccl-tests-sizes",
        "all_reduce.log",
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n#  Rank  0 Group  0 Pid 12 on alpha device  0 [0000:1b:00] GPU\n#       size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n",
        "        {}  {}  float  sum  -1  59.24  {}.5  {}.5  0  32.26  1.00  1.00  N/A\n",
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 4.7\n",
    ),
    rows(
        "nccl-tests-ranks",
        "all_reduce.log",
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n",
        "#  Rank  {} Group  0 Pid {} on h{} device  0 [0000:1b:00] GPU\n",
        "        8  2  float  sum  -1  59.24  0.00  0.00  0  32.26  0.00  0.00  N/A\n",
    ),
    rows(
        "nccl-tests-runs",
        "all_reduce.log",
        "",
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n#       size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n        8  2  float  sum  -1  {}.24  1.00  1.00  0  32.26  1.00  1.00  N/A\n# Avg bus bandwidth    : 4.7\n",
        "",
    ),
    rows(
        "perftest",
        "ib_write_bw.log",
        "                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_1\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n",
        " {}      5000    0.00   {}.46   0.346100\n",
        "",
    ),
    rows(
        "perftest-runs",
        "ib_write_bw.log",
        "",
        "                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_1\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      {}    0.00   181.46   0.346100\n",
        "",
    ),
    rows(
        "iperf-intervals",
        "iperf.log",
        "Connecting to host h, port 5201\n[  5] local 10.0.0.1 port 1 connected to 10.0.0.2 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n",
        "[  5]   {}.00-{}.50   sec  1.10 GBytes  9.42 Gbits/sec    0   1.5 MBytes\n",
        "",
    ),
    rows(
        "iperf-streams",
        "iperf.log",
        "Connecting to host h, port 5201\n",
        "[{}] local 10.0.0.1 port {} connected to 10.0.0.2 port 5201\n[{}]   0.00-1.00   sec  1.10 GBytes  9.42 Gbits/sec    0   1.5 MBytes\n",
        "",
    ),
    rows(
        "ping",
        "ping.log",
        "PING h (10.0.0.9) 56(84) bytes of data.\n",
        "64 bytes from 10.0.0.9: icmp_seq={} ttl=64 time=0.{} ms\n",
        "",
    ),
    rows(
        "nvbandwidth",
        "nvbandwidth.log",
        "nvbandwidth Version: v0.8\n",
        "\nRunning device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0       N/A     20.{}\n 1     21.00       N/A\n",
        "",
    ),
    rows(
        "titan",
        "titan.log",
        "",
        "[titan] 2025-08-22 07:53:00,000 - root - INFO - step:  {}  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: {}\n",
        "",
    ),
    rows("csv", "values.csv", "size,time,busbw,host\n", "{},{r},{}.5,h{}\n", ""),
    rows("csv-columns", "values.csv", "a", ",c{}", "\n1,2,3\n"),
    rows("csv-quotes", "values.csv", "a,b\n\"", "{}\n", "\n"),
    rows("jsonl", "values.jsonl", "", "{\"step\":{},\"a\":{\"b\":{}.5},\"c{}\":[1]}\n", ""),
    rows("json-array", "values.json", "[", "{\"size\":\"{}M\",\"v\":{}},\n", "{\"size\":\"1M\",\"v\":1}]"),
    rows("markdown", "values.md", "| size | GB/s |\n|---|:-:|\n", "| {} MB | **{}.91** |\n", ""),
    rows("markdown-tables", "values.md", "", "| size | GB/s |\n|---|:-:|\n| {} MB | 5.91 |\n\n", ""),
    rows(
        "sockperf",
        "sockperf.log",
        "sockperf: == version #3.10 ==\n",
        "sockperf: ---> percentile {}.000 =   {}.5\n",
        "",
    ),
    rows(
        "fio-jobs",
        "fio.log",
        "fio-3.36\nStarting 1 process\n",
        "j{}: (groupid=0, jobs=1): err= 0: pid={}: Sat Nov 22 10:00:00 2026\n  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(1GiB/1000msec)\n",
        "",
    ),
    rows(
        "plan-steps",
        "plan.json",
        "{\"schema\":1,\"steps\":[",
        "{\"id\":\"s{}\",\"rule\":\"iommu/x\",\"acts\":[]},",
        "{}]}",
    ),
    rows("json-deep", "deep.json", "", "{\"a\":[", ""),
    rows("json-brackets", "deep.json", "", "[[[[[[[[[[[[[[[[", ""),
    rows("yaml-deep", "deep.yaml", "apiVersion: v1\nspec: ", "[{a: ", ""),
    rows("blank", "blank.txt", "", "\n\n\n\n\n\n\n\n", ""),
    rows("spaces", "spaces.txt", "GPU0", "                        ", ""),
    rows("tabs", "topo.txt", "\tGPU0\tGPU1\n", "GPU{}\t X \tNV18\tPIX\n", ""),
    rows("ansi", "ansi.log", "", "\x1b[31m{}\x1b[0m\r", ""),
    rows("long-word", "nccl.log", "h:1:1 [0] NCCL INFO ", "{r}", ""),
    rows(
        "ttar",
        "tree.ttar",
        "# Archive created by ttar\n",
        "Directory: sys/devices/pci0000:{x2}/0000:{x2}:{x4}\nMode: 755\nPath: proc/{}\nLines: 1\n{}\nMode: 644\n",
        "",
    ),
];

/// The text, of so many bytes or a little more.
pub(super) fn text(of: &Rows, bytes: usize, random: &mut super::random::Random) -> Vec<u8> {
    let mut out = String::with_capacity(bytes + 512);
    out.push_str(of.head);
    let mut n = 1_u64;
    while out.len() < bytes {
        row(&mut out, of.row, n, random.next() % 1_000_000_007);
        n += 1;
    }
    out.push_str(of.end);
    out.into_bytes()
}

fn row(out: &mut String, row: &str, n: u64, r: u64) {
    use std::fmt::Write as _;
    let mut rest = row;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let made = [("{}", 0), ("{r}", 1), ("{x}", 2), ("{x2}", 3), ("{x4}", 4), ("{x8}", 5)]
            .into_iter()
            .find_map(|(sign, kind)| from.strip_prefix(sign).map(|after| (kind, after)));
        let Some((kind, after)) = made else {
            out.push('{');
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        // A string takes what it is given.
        let _ = match kind {
            0 => write!(out, "{n}"),
            1 => write!(out, "{r}"),
            2 => write!(out, "{n:x}"),
            3 => write!(out, "{:02x}", n % 256),
            4 => write!(out, "{:04x}", n / 256 % 65536),
            _ => write!(out, "{n:08x}"),
        };
        rest = after;
    }
    out.push_str(rest);
}
