//! How fast outputs of benchmarks are read: `cargo run --profile dist -p linerate-formats --example throughput [MEGABYTES] [WORD]`.
//!
//! The texts are made in memory. Rates are of processor time, because the machines that run this do other things, too; parsers
//! use one core. Exits with 1 where one of the formats with a promise is slower than it.

// A program's output.
#![allow(clippy::print_stdout)]

use linerate_formats::{nccl_tests, nvbandwidth, perftest, series, torchtitan};
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

/// Promised rate of nccl-tests and JSON, in 10⁶ bytes per second, with a margin over the issue's 200.
const PROMISE: f64 = 250.0;

/// Makes a text of at least some bytes, and says how many items it has.
type Make = fn(usize) -> (String, usize);
/// Reads a text, and says how many items it found.
type Read = fn(&[u8]) -> usize;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let megabytes: usize = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(200);
    let word = arguments.next().unwrap_or_default();
    let cases: [(&str, Make, Read, bool); 10] = [
        ("nccl-tests, 13 columns", |n| tables(n, TODAY, 30), nccl, true),
        ("nccl-tests, 17 columns", |n| tables(n, EACH, 30), nccl, true),
        ("nccl-tests, one long table", |n| tables(n, TODAY, usize::MAX), nccl, true),
        ("nccl-tests, tagged by mpirun", |n| tagged(n), nccl, true),
        ("nccl-tests, JSON", nccl_json, nccl, true),
        ("rccl-tests, JSON", rccl_json, nccl, true),
        ("perftest", perftest_text, |b| perftest::parse(b).iter().map(|r| r.rows.len()).sum(), false),
        (
            "TorchTitan",
            titan,
            |b| torchtitan::parse(b).iter().flat_map(|r| &r.ranks).map(|r| r.steps.len()).sum(),
            false,
        ),
        ("CSV", csv, |b| series::parse(b).map_or(0, |t| t.iter().map(|t| t.len()).sum()), false),
        ("JSONL", jsonl, |b| series::parse(b).map_or(0, |t| t.iter().map(|t| t.len()).sum()), true),
    ];
    let _ = nvbandwidth::parse(b"");
    let mut is_slow = false;
    for (name, make, read, is_promised) in cases.into_iter().filter(|c| c.0.contains(&word)) {
        let (text, items) = make(megabytes * 1_000_000);
        // The best of some: others use the machine, too.
        let rates = (0..3).map(|_| {
            let (wall, cpu) = (Instant::now(), cpu_seconds());
            let found = read(text.as_bytes());
            assert_eq!(found, items, "{name}: items");
            let seconds = match (cpu, cpu_seconds()) {
                (Some(a), Some(b)) if b > a => b - a,
                _ => wall.elapsed().as_secs_f64(),
            };
            text.len() as f64 / seconds / 1e6
        });
        let rate = rates.fold(0.0, f64::max);
        let verdict = match () {
            () if !is_promised => "",
            () if rate < PROMISE => "  SLOW",
            () => "  ok",
        };
        is_slow |= is_promised && rate < PROMISE;
        println!("{name:30} {rate:7.0} MB/s, {items} items in {} MB{verdict}", text.len() / 1_000_000);
    }
    if is_slow { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Time that this process had on a processor.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|ns| ns / 1e9)
}

fn nccl(bytes: &[u8]) -> usize {
    let runs = nccl_tests::parse(bytes);
    assert!(runs.iter().all(|r| r.left_out.is_empty() && r.refused.is_empty()), "not all is kept");
    runs.iter().map(|r| r.rows.len()).sum()
}

const TODAY: &str = "\
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       
";
const EACH: &str = "\
#                                                              out-of-place (+ per-iteration)                                        in-place (+ per-iteration)
#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%
";

fn head(out: &mut String, columns: &str, n: usize) {
    let _ = write!(
        out,
        "# nccl-tests version 2.19.6 nccl-headers=22807 nccl-library=22807\n# Collective test starting: all_reduce_perf\n\
         # nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: {} agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n",
        20 + n % 7
    );
    for rank in 0..8 {
        let _ = writeln!(
            out,
            "#  Rank {rank:2} Group  0 Pid {:6} on    node-a device {rank:2} [0000:{:02x}:00] NVIDIA H100 80GB HBM3",
            4000 + rank,
            16 + rank
        );
    }
    out.push_str("#\n");
    out.push_str(columns);
}

fn row(out: &mut String, i: usize, each: bool) {
    let size = 8_usize << (i % 30);
    let time = 10.0 + size as f64 / 4e5;
    let bw = size as f64 / time / 1e3;
    let _ = write!(out, "{size:12}  {:12}     float     sum      -1", size / 4);
    for shift in [0.0, 0.3] {
        let _ = write!(out, "  {:7.2}  {:6.2}  {:6.2}      0", time + shift, bw, bw * 1.75);
        if each {
            let _ = write!(out, "  {:7.2}  {:7.2}  {:7.2}  {:7.2}", time - 1.0, time + 2.0, time + 1.5, 3.25);
        }
    }
    out.push('\n');
}

fn tables(bytes: usize, columns: &str, rows: usize) -> (String, usize) {
    let (mut out, mut items, mut n) = (String::with_capacity(bytes + 8192), 0, 0);
    while out.len() < bytes {
        head(&mut out, columns, n);
        n += 1;
        for i in 0..rows {
            row(&mut out, i, columns == EACH);
            items += 1;
            if out.len() >= bytes {
                break;
            }
        }
        out.push_str("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 124.061 \n#\n# Collective test concluded: all_reduce_perf\n\n");
    }
    (out, items)
}

fn tagged(bytes: usize) -> (String, usize) {
    let (text, items) = tables(bytes * 9 / 10, TODAY, 30);
    let mut out = String::with_capacity(bytes * 5 / 4);
    for line in text.lines() {
        out.push_str("[1,0]<stdout>:");
        out.push_str(line);
        out.push('\n');
    }
    (out, items)
}

fn nccl_json(bytes: usize) -> (String, usize) {
    let mut out = String::with_capacity(bytes + 8192);
    let _ = write!(
        out,
        r#"{{"version":3,"start_time":"2026-07-10 10:00:00","args":["./all_reduce_perf","-J","x.json"],"env":["HOME=/root","NCCL_DEBUG=WARN"],"nccl_version":22807,"config":{{"nthreads":1,"ngpus":1,"minimum_bytes":8,"maximum_bytes":8589934592,"step_factor":2,"warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":1,"graph":0,"devices":[{{"rank":0,"group":0,"pid":1,"hostname":"a","device":0,"device_hex":"0000:10:00","device_info":"NVIDIA H100"}}]}},"results":["#
    );
    let mut items = 0;
    while out.len() < bytes {
        let size = 8_usize << (items % 30);
        let comma = if items > 0 { "," } else { "" };
        let _ = write!(
            out,
            r#"{comma}{{"size":{size},"count":{},"type":"float","redop":"sum","root":"    -1","out_of_place":{{"time":12.345600,"alg_bw":{:.6},"bus_bw":{:.6},"nwrong":0.000000}},"in_place":{{"time":12.545600,"alg_bw":{:.6},"bus_bw":{:.6},"nwrong":0.000000}},"actual_iterations":20,"experiment_name":""}}"#,
            size / 4,
            1.5 + (items % 97) as f64 * 3.25,
            2.625,
            1.25,
            2.5
        );
        items += 1;
    }
    out.push_str(r#"],"out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidth":{"bandwidth":124.061000,"okay":"true"},"end_time":"2026-07-10 10:01:00"}"#);
    (out, items)
}

fn rccl_json(bytes: usize) -> (String, usize) {
    let (mut out, mut items) = (String::with_capacity(bytes + 8192), 0);
    out.push('[');
    while out.len() < bytes {
        let size = 8_usize << (items % 30);
        for in_place in 0..2 {
            let comma = if out.len() > 1 { "," } else { "" };
            let _ = write!(
                out,
                "{comma}\n {{\"numCycle\": 0, \"name\": \"AllReduce\", \"nodes\": 1, \"ranks\": 8, \"ranksPerNode\": 8, \"gpusPerRank\": 1, \"size\": {size}, \"type\": \"float\", \"redop\": \"sum\", \"inPlace\": {in_place}, \"time\": 24.625, \"algBw\": {:.4}, \"busBw\": 1.25, \"wrong\": \"0\"}}",
                0.5 + (items % 89) as f64
            );
        }
        items += 1;
    }
    out.push_str("\n]\n");
    (out, items)
}

fn perftest_text(bytes: usize) -> (String, usize) {
    let (mut out, mut items) = (String::with_capacity(bytes + 8192), 0);
    while out.len() < bytes {
        out.push_str("---------------------------------------------------------------------------------------\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n Number of qps   : 1\t\tTransport type : IB\n Connection type : RC\t\tUsing SRQ      : OFF\n PCIe relax order: ON\n ibv_wr* API     : ON\n TX depth        : 128\n CQ Moderation   : 1\n Mtu             : 4096[B]\n Link type       : IB\n Max inline data : 0[B]\n rdma_cm QPs\t : OFF\n Data ex. method : Ethernet\n---------------------------------------------------------------------------------------\n local address: LID 0x02 QPN 0x0032 PSN 0x5f2841 RKey 0x002440 VAddr 0x007f2e5f64b000\n remote address: LID 0x03 QPN 0x0033 PSN 0x5f2842 RKey 0x002441 VAddr 0x007f2e5f64c000\n---------------------------------------------------------------------------------------\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n");
        for i in 1..24 {
            let size = 1_usize << i;
            let _ = writeln!(
                out,
                " {size:<10} 5000           {:<10.2}         {:<10.2}           {:<10.6}",
                i as f64 * 3.1,
                i as f64 * 3.0,
                0.5
            );
            items += 1;
        }
    }
    (out, items)
}

fn titan(bytes: usize) -> (String, usize) {
    let (mut out, mut items) = (String::with_capacity(bytes + 8192), 0);
    while out.len() < bytes {
        let step = items / 8 + 1;
        let second = step % 60;
        let _ = writeln!(
            out,
            "[rank{}]:[titan] 2025-07-21 {:02}:{:02}:{second:02},774 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32mloss: {:8.5}  \x1b[38;2;180;60;0mgrad_norm: {:7.4}  \x1b[38;2;54;234;195mmemory: 66.91GiB(37.51%)  \x1b[34mtps: 10,050  \x1b[36mtflops: 314.71  \x1b[35mmfu: 13.99%\x1b[39m",
            items % 8,
            step / 3600 % 24,
            step / 60 % 60,
            7.5,
            1.25
        );
        items += 1;
    }
    (out, items)
}

fn csv(bytes: usize) -> (String, usize) {
    let mut out = String::from("time,rank,size,busbw (GB/s),latency_us,algorithm\n");
    let mut items = 0;
    while out.len() < bytes {
        let _ = writeln!(
            out,
            "{}.25,{},{},{:.2},{:.3},ring",
            items,
            items % 8,
            8_usize << (items % 24),
            93.5 + (items % 13) as f64,
            12.345
        );
        items += 1;
    }
    (out, items)
}

fn jsonl(bytes: usize) -> (String, usize) {
    let (mut out, mut items) = (String::new(), 0);
    while out.len() < bytes {
        let _ = writeln!(
            out,
            "{{\"step\": {items}, \"time\": {}.5, \"rank\": {}, \"busbw_gbps\": {:.2}, \"latency_us\": {:.3}, \"algorithm\": \"ring\"}}",
            items,
            items % 8,
            93.5 + (items % 13) as f64,
            12.345
        );
        items += 1;
    }
    (out, items)
}
