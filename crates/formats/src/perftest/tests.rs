use super::*;
use crate::bounds::{Limit, PERFTEST_FAILURES, PERFTEST_ROWS, beyond};
use crate::units::{Bytes, Gbps, Microseconds};

fn one(text: &str) -> Run {
    let mut runs = parse(text.as_bytes());
    assert_eq!(runs.len(), 1, "{runs:#?}");
    runs.remove(0)
}

const HEADER: &str = "\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_7
 Number of qps   : 4\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: ON\t\tLock-free      : OFF
 ibv_wr* API     : ON\t\tUsing Enhanced Reorder      : OFF
 TX depth        : 128
 CQ Moderation   : 100
 CQE Poll Batch  : 16
 Mtu             : 4096[B]
 Link type       : Ethernet
 GID index       : 3
 Max inline data : 0[B]
 rdma_cm QPs\t : ON
 Data ex. method : rdma_cm \tTOS    : 106
---------------------------------------------------------------------------------------
 local address: LID 0000 QPN 0x00c6 PSN 0x2986aa RKey 0x002440 VAddr 0x007f2e5f64b000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:168:01:02
 remote address: LID 0x0d06 QPN 0x00c7 PSN 0xb1023e
 GID: 254:128:00:00:00:00:00:00:00:00:00:00:00:00:00:01
---------------------------------------------------------------------------------------
";

#[test]
fn a_paste_without_its_tabs_and_columns_has_the_same_header() {
    let squeezed: String =
        HEADER.lines().map(|l| format!("{}\n", l.split_whitespace().collect::<Vec<_>>().join(" "))).collect();
    assert_eq!(one(&squeezed).header, one(HEADER).header);
}

#[test]
fn the_header() {
    let run = one(HEADER);
    let h = &run.header;
    assert_eq!(
        run.test.as_ref().map(|t| (t.line, t.value.verb.as_str(), t.value.kind)),
        Some((2, "RDMA_Write", Kind::Bandwidth))
    );
    assert_eq!(
        (h.device.as_deref(), h.dual_port, h.qps, h.transport.as_deref()),
        (Some("mlx5_7"), Some(false), Some(4), Some("IB"))
    );
    assert_eq!(
        (h.connection.as_deref(), h.srq, h.relaxed_ordering, h.ibv_wr_api),
        (Some("RC"), Some(false), Some(true), Some(true))
    );
    assert_eq!((h.tx_depth, h.rx_depth, h.cq_moderation), (Some(128), None, Some(100)));
    assert_eq!((h.mtu, h.link.as_deref(), h.gid_index), (Some(Bytes(4096)), Some("Ethernet"), Some(3)));
    assert_eq!(
        (h.max_inline, h.rdma_cm, h.exchange.as_deref(), h.tos),
        (Some(Bytes(0)), Some(true), Some("rdma_cm"), Some(106))
    );
    assert!(!h.is_mixed);
    let [local, remote] = &run.addresses[..] else { panic!("{:?}", run.addresses) };
    assert_eq!((local.side, local.lid, local.qpn, local.psn), (Side::Local, 0, 0xc6, 0x2986aa));
    assert_eq!((local.rkey, local.vaddr), (Some(0x2440), Some(0x7f2e_5f64_b000)));
    assert_eq!(local.gid.map(|g| g.to_string()).as_deref(), Some("0000:0000:0000:0000:0000:ffff:c0a8:0102"));
    assert_eq!((remote.side, remote.lid, remote.rkey), (Side::Remote, 0xd06, None));
    assert_eq!(remote.gid.map(|g| g.to_string()).as_deref(), Some("fe80:0000:0000:0000:0000:0000:0000:0001"));
    // Releases before 4 shift the columns and leave out brackets.
    let old = one(
        "                    Send Bidirectional BW Test\n Connection type : UD\n Mtu             : 2048B\n Link type       : IB\n",
    );
    assert_eq!((old.header.mtu, old.test.map(|t| t.value.bidirectional)), (Some(Bytes(2048)), Some(true)));
    let mixed = one(&format!("{HEADER} Mtu             : 1024[B]\n"));
    assert!(mixed.header.is_mixed);
}

#[test]
fn units_are_exact() {
    let table = |unit: &str, row: &str| {
        let text = format!(
            "{HEADER} #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]\n{row}\n"
        );
        let run = one(&text);
        run.rows.first().map(|r| r.values.clone())
    };
    // 4554.47 of 2^20 bytes are 38.2 Gb/s: a 40G link at its best, not 36.4.
    for unit in ["MB/sec", "MiB/sec"] {
        let Some(Values::Bandwidth(b)) =
            table(unit, " 65536      5000             4554.90            4554.47\t\t   0.072872")
        else {
            panic!("{unit}")
        };
        let gbps = b.average.map(|b| b.gbps().0).unwrap_or_default();
        assert!((gbps - 4554.47 * 1_048_576.0 * 8.0 / 1e9).abs() < 1e-9, "{gbps}");
        assert_eq!(format!("{gbps:.1}"), "38.2");
        assert_eq!(b.messages.map(|m| m.0), Some(0.072872));
    }
    let Some(Values::Bandwidth(b)) =
        table("Gb/sec", " 65536      1765470            185.37              184.94              0.352743")
    else {
        panic!()
    };
    assert_eq!(b.average.map(Bandwidth::gbps), Some(Gbps(184.94)));
    // As tickets have it: what matters is bold.
    let bold = table("Gb/sec", " 1024      1000             0.00               **181.46**            0.346100");
    let Some(Values::Bandwidth(b)) = bold else { panic!() };
    assert_eq!(b.average.map(Bandwidth::gbps), Some(Gbps(181.46)));
    // Tests of a duration print zero for the peak that they did not measure.
    let Some(Values::Bandwidth(b)) =
        table("Gb/sec", " 65536      10384867         0.00               181.46 \t\t     0.346100")
    else {
        panic!()
    };
    assert_eq!((b.peak, b.average.map(Bandwidth::gbps)), (None, Some(Gbps(181.46))));
    let Some(Values::Bandwidth(b)) =
        table("Gb/sec", " 2          5000           0.000000            0.000000            0.000000")
    else {
        panic!()
    };
    assert_eq!(b.peak.map(Bandwidth::gbps), Some(Gbps(0.0)), "measured, and nothing went");
    assert_eq!(
        one(&format!("{HEADER} #bytes #iterations BW peak[furlongs] BW average[furlongs]\n 1 2 3 4\n")).rows.len(),
        0
    );
}

#[test]
fn tables_of_every_kind() {
    let sweep = one(&format!(
        "{HEADER} #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n 2          5000             5.32               5.30               2.778732\n 4          5000            10.65              10.64               2.788833\n"
    ));
    assert_eq!(
        sweep.rows.iter().map(|r| (r.size, r.iterations)).collect::<Vec<_>>(),
        [(Bytes(2), Some(5000)), (Bytes(4), Some(5000))]
    );
    assert_eq!(sweep.best_bandwidth().map(|b| b.0), Some(Bytes(4)));

    let cpu = one(
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]    CPU_Util[%]\n 65536      5000             97.1            97.0   0.185013\t    12.50\n",
    );
    assert_eq!(cpu.rows.first().and_then(|r| r.cpu).map(|c| c.0), Some(12.5));

    let ports = one(
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]\n 65536      10000     76.50            76.40\t\t   0.145721        38.30            0.073051              38.10            0.072670\n",
    );
    let Some(Values::Bandwidth(b)) = ports.rows.first().map(|r| r.values.clone()) else { panic!() };
    assert_eq!(b.ports.map(|p| p.map(|(b, _)| b.gbps().0)), Some([38.3, 38.1]));

    let qos = one(
        " #bytes    #sl      #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n 65536    3           1000           4554.9            4554.4                  0.072872\n",
    );
    assert_eq!(qos.rows.first().map(|r| (r.service_level, r.iterations)), Some((Some(3), Some(1000))));

    let lat = one(
        "                    RDMA_Read Latency Test\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n 2       1000          1.71           5.33         1.74     \t       1.75        \t0.06   \t\t1.91    \t\t5.33   \n",
    );
    assert_eq!(lat.test.map(|t| t.value.kind), Some(Kind::Latency));
    let Some(Values::Latency(l)) = lat.rows.first().map(|r| r.values.clone()) else { panic!() };
    let us = |v: f64| Some(Microseconds(v));
    assert_eq!((l.min, l.max, l.typical, l.average), (us(1.71), us(5.33), us(1.74), us(1.75)));
    assert_eq!((l.stdev, l.p99, l.p999, l.transactions), (us(0.06), us(1.91), us(5.33), None));

    let duration = one(
        " #bytes        #iterations       t_avg[usec]    tps average\n 2       2876543            1.74        287654.30\n",
    );
    let Some(Values::Latency(l)) = duration.rows.first().map(|r| r.values.clone()) else { panic!() };
    assert_eq!((l.average, l.transactions, l.min), (us(1.74), Some(PerSecond(287_654.3)), None));

    let old = one(
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n 2       1000          0.85           9.10         0.88   \n",
    );
    assert_eq!(old.rows.len(), 1);
    let cycles = one(" #bytes #iterations    t_min[cycles]    t_max[cycles]  t_typical[cycles]\n 2 1000 3 4 5\n");
    assert_eq!((cycles.rows.len(), cycles.refused.kept.len()), (0, 1));
    let cut = one(
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      5000             97.1\n 65536      5000   nan nan nan\n",
    );
    assert_eq!((cut.rows.len(), cut.refused.kept.len()), (0, 2));
}

#[test]
fn remarks_and_failures() {
    for (text, kind) in [
        (" Unable to find the Infiniband/RoCE device\n", FailureKind::NoDevice),
        (" IB device mlx5_9 not found\n", FailureKind::NoDevice),
        ("Couldn't allocate MR\n", FailureKind::MemoryRegistration),
        ("Couldn't allocate MR with error=14\n", FailureKind::MemoryRegistration),
        ("cuMemAlloc error=2\n", FailureKind::GpuMemory),
        ("DMA-BUF is not supported on this GPU\n", FailureKind::GpuMemory),
        (" Unable to create QP.\n", FailureKind::QueuePair),
        ("Failed to modify QP 77 to RTR\n", FailureKind::QueuePair),
        ("ethernet_read_keys: Couldn't read remote address\n", FailureKind::Exchange),
        (" Failed status 12: wr_id 0 syndrom 0x81\n", FailureKind::Completion { status: 12, syndrome: Some(0x81) }),
        (
            " Failed status-transport retry counter exceeded (12): wr_id 0 syndrom 0x81\n",
            FailureKind::Completion { status: 12, syndrome: Some(0x81) },
        ),
        ("Error: BW result is below bw limit\n", FailureKind::BelowLimit),
    ] {
        assert_eq!(one(text).failures.first().map(|f| f.kind), Some(kind), "{text}");
    }
    // What other programs say as well, counts inside of a run.
    assert!(parse(b"Couldn't connect to 10.0.0.1:18515\n").is_empty());
    let inside = one(&format!("{HEADER}Couldn't connect to 10.0.0.1:18515\n"));
    assert_eq!(inside.failures.first().map(|f| f.kind), Some(FailureKind::Connection));
    let noted = one(&format!(
        " WARNING: BW peak won't be measured in this run.\nRequested mtu is higher than active mtu \nChanging to active mtu - 3\n{HEADER}Conflicting CPU frequency values detected: 1200.000000 != 3000.000000. CPU Frequency is not max.\n"
    ));
    assert_eq!(
        noted.notes.iter().map(|n| n.kind).collect::<Vec<_>>(),
        [NoteKind::PeakNotMeasured, NoteKind::MtuLowered, NoteKind::CpuFrequency]
    );
}

#[test]
fn several_runs_and_mixed_ones() {
    let table = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      5000             97.1            97.0   0.185013\n";
    let server = "************************************\n* Waiting for client to connect... *\n************************************\n";
    let runs = parse(format!("{HEADER}{table}{server}{HEADER}{table}{HEADER}").as_bytes());
    let shape: Vec<_> = runs.iter().map(|r| (r.is_server, r.rows.len(), r.addresses.len(), r.copies)).collect();
    assert_eq!(shape, [(false, 1, 2, 1), (true, 1, 2, 1), (false, 0, 2, 1)]);
    // Server and client write to one place.
    let head: String = HEADER.lines().take(8).map(|l| format!("{l}\n")).collect();
    let run = one(&format!("{server}{head}{HEADER}{table}"));
    assert_eq!((run.copies, run.rows.len(), run.is_server), (2, 1, true));
    for tag in ["> ", "[1,0]<stdout>:", "0: ", "2026-01-02T03:04:05.1Z stdout F "] {
        let text: String = format!("{HEADER}{table}").lines().map(|l| format!("{tag}{l}\n")).collect();
        let run = one(&text);
        assert_eq!((run.rows.len(), run.addresses.len(), run.header.qps), (1, 2, Some(4)), "{tag}");
        assert!(run.addresses.iter().all(|a| a.gid.is_some()), "{tag}");
    }
}

#[test]
fn reports() {
    let info = "\"test_info\": {\n\"test\": \"RDMA_Write_BW_Test\",\n\"Dual_port\": \"OFF\",\n\"Device\": \"mlx5_7\",\n\"Number_of_qps\": 1,\n\"Mtu\": 4096,\n\"GID_index\": 3,\n\"Data_ex_method\": \"Ethernet\"\n},\n";
    let report = |results: &str| format!("{{\n{info}\"results\": {{\n{results}\n}}\n}}\n");
    let mib = one(&report(
        "\"MsgSize\": 65536,\n\"n_iterations\": 5000,\n\"BW_peak\": 4554.90,\n\"BW_average\": 4554.47,\n\"MsgRate\": 0.072872",
    ));
    assert_eq!(
        (mib.header.device.as_deref(), mib.header.mtu, mib.header.gid_index),
        (Some("mlx5_7"), Some(Bytes(4096)), Some(3))
    );
    // The report names no unit; size times rate does.
    assert_eq!(mib.best_bandwidth().map(|(_, b)| format!("{:.1}", b.0)).as_deref(), Some("38.2"));
    let gb = one(&report(
        "\"MsgSize\": 65536,\n\"n_iterations\": 5000,\n\"BW_peak\": 38.21,\n\"BW_average\": 38.20,\n\"MsgRate\": 0.072872",
    ));
    assert_eq!(gb.best_bandwidth().map(|b| b.1), Some(Gbps(38.2)));
    let unknown = one(&report(
        "\"MsgSize\": 2,\n\"n_iterations\": 5,\n\"BW_peak\": 1.0,\n\"BW_average\": 1.0,\n\"MsgRate\": 0.000000",
    ));
    assert_eq!((unknown.rows.len(), unknown.refused.kept.len()), (0, 1));
    let lat = one(&report(
        "\"MsgSize\": 2,\n\"n_iterations\": 1000,\n\"t_min\": 1.71,\n\"t_max\": 5.33,\n\"t_typical\": 1.74,\n\"t_avg\": 1.75,\n\"t_stdev\": 0.06,\n\"percentile_99\": 1.91,\n\"percentile_99.9\": 5.33",
    ));
    let Some(Values::Latency(l)) = lat.rows.first().map(|r| r.values.clone()) else { panic!("{lat:#?}") };
    assert_eq!((l.p99, l.p999), (Some(Microseconds(1.91)), Some(Microseconds(5.33))));
    // Up to 23.07 it was not JSON.
    let old = one(
        "{\ntest_info: {\ntest: RDMA_Write_BW_Test,\nDevice: mlx5_7,\n},\nresults: {\nMsgSize: 65536,\nn_iterations: 5000,\nBW_peak: 38.21,\nBW_average: 38.20,\nMsgRate: 0.072872,\n}\n},\n",
    );
    assert_eq!((old.rows.len(), old.header.device.as_deref()), (1, Some("mlx5_7")));
    // On one line, twice, between other lines.
    let line = report("\"MsgSize\": 65536,\n\"n_iterations\": 5000,\n\"BW_peak\": 38.21,\n\"BW_average\": 38.20,\n\"MsgRate\": 0.072872").replace('\n', "");
    let runs = parse(format!("hello: 1\n{line}\nDevice: other\n{line}\nMsgSize: 1\n").as_bytes());
    assert_eq!(
        runs.iter().map(|r| (r.rows.len(), r.header.device.as_deref())).collect::<Vec<_>>(),
        [(1, Some("mlx5_7")); 2]
    );
    let cut = one(&format!("{{\n{info}"));
    assert_eq!((cut.rows.len(), cut.refused.kept.len()), (0, 1));
}

#[test]
fn memory_has_a_limit() {
    let mut reader = Reader::default();
    for line in
        format!("{HEADER} #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]").lines()
    {
        reader.line(1, line.as_bytes());
    }
    for _ in 0..20_000 {
        reader.line(2, b" 65536      5000             97.1            97.0   0.185013");
        reader.line(2, b" 65536      5000             nan            97.0   0.185013");
        reader.line(2, b" remote address: LID 0000 QPN 0x00c7 PSN 0xb1023e");
        reader.line(2, b" GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:06:145:33");
        reader.line(2, b" Failed status 12: wr_id 0 syndrom 0x81");
    }
    let runs = reader.finish();
    let [run] = &runs[..] else { panic!("{} runs", runs.len()) };
    assert_eq!(
        (run.rows.len(), run.rows.len() as u64 + beyond(&run.left_out, Limit::PERFTEST_ROWS)),
        (PERFTEST_ROWS, 20_000)
    );
    assert_eq!(
        (run.addresses.len() as u64 + beyond(&run.left_out, Limit::PERFTEST_ADDRESSES), run.failures.len()),
        (20_002, PERFTEST_FAILURES)
    );
    assert_eq!(run.refused.kept.len() as u64 + run.refused.not_kept, 20_000);
}

#[test]
fn the_remark_on_processors_stands_inside_the_table() {
    let text = "                    RDMA_Write BW Test\n Link type       : Ethernet\n #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n\
                Conflicting CPU frequency values detected: 1200.000000 != 3600.000000. CPU Frequency is not max.\n 2          5000             7.11               7.01   3.675218\n\
                Conflicting CPU frequency values detected: 1200.000000 != 3600.000000. CPU Frequency is not max.\n 65536      5000             4554.51            4554.47\t\t   0.072872\n";
    let runs = parse(text.as_bytes());
    let [run] = &runs[..] else { panic!("{runs:#?}") };
    assert_eq!(run.rows.iter().map(|r| (r.line, r.size.0)).collect::<Vec<_>>(), [(5, 2), (7, 65536)]);
    assert_eq!(
        run.notes.iter().map(|n| (n.line, n.kind)).collect::<Vec<_>>(),
        [(4, NoteKind::CpuFrequency), (6, NoteKind::CpuFrequency)]
    );
    // What is printed as MB is 2²⁰ bytes: 38.2 Gb/s, not 36.4.
    assert_eq!(run.best_bandwidth().map(|(_, b)| b.to_string()), Some("38.2 Gb/s".to_owned()));
}
