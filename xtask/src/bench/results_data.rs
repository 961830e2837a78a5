//! Texts of benchmarks: the same bytes in every call, their numbers without a pattern.

use crate::shell::Result;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Sizes of a sweep: 8 bytes to 4 GiB.
const SWEEP: u32 = 30;
/// Sizes of a run of the history, each out of place and in place: 50 samples.
const SIZES: u32 = 25;

/// `tables FILE BYTES`, `json FILE BYTES`: runs of nccl-tests; `sides A B RUNS`: tables to compare; `history FILE RUNS`: one to store.
/// Prints how many runs, and how many rows.
pub(super) fn make(args: &[&str]) -> Result<()> {
    let number = |text: &str| text.parse::<u64>().map_err(|e| format!("{text}: {e}"));
    let (runs, rows) = match args {
        ["tables", file, bytes] => write(file, number(bytes)?, tables)?,
        ["json", file, bytes] => write(file, number(bytes)?, json)?,
        ["sides", a, b, runs] => {
            let n = number(runs)?;
            write(a, n, |out, n| side(out, n, 1, 1.0))?;
            write(b, n, |out, n| side(out, n, 2, 1.015))?
        }
        ["history", file, runs] => write(file, number(runs)?, history)?,
        _ => {
            return Err("bench data results: tables FILE BYTES | json FILE BYTES | sides A B RUNS | history FILE RUNS"
                .to_owned());
        }
    };
    println!("{runs} {rows}");
    Ok(())
}

/// Runs and rows.
type Counts = (u64, u64);

fn write(name: &str, much: u64, make: impl Fn(&mut Counted, u64) -> io::Result<Counts>) -> Result<Counts> {
    let told = |e: io::Error| format!("{name}: {e}");
    let mut out = Counted { to: BufWriter::with_capacity(1 << 20, File::create(name).map_err(told)?), bytes: 0 };
    let counts = make(&mut out, much).map_err(told)?;
    out.flush().map_err(told)?;
    Ok(counts)
}

/// A writer that knows how much it wrote.
struct Counted {
    to: BufWriter<File>,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.to.write(bytes)?;
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Numbers without a pattern.
struct Noise(u64);

impl Noise {
    /// 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 44) as f64 / f64::from(1 << 20)
    }

    /// About 1, by about 1 %: a sum of uniform numbers.
    fn about(&mut self) -> f64 {
        let sum: f64 = (0..4).map(|_| self.next()).sum();
        1.0 + 0.01 * (sum - 2.0) * 3f64.sqrt()
    }

    /// One measurement of 8 ranks: µs, GB/s, GB/s.
    fn measure(&mut self, size: u64) -> (f64, f64, f64) {
        let time = (10.0 + size as f64 / 2.75e5) * self.about();
        let rate = size as f64 / time / 1e3;
        (time, rate, rate * 1.75)
    }
}

/// `all_reduce_perf`'s tables of 13 columns, one run after the other.
fn tables(out: &mut Counted, bytes: u64) -> io::Result<Counts> {
    let (mut noise, mut runs) = (Noise(1), 0);
    while out.bytes < bytes {
        runs += 1;
        out.write_all(
            b"# nccl-tests version 2.19.6 nccl-headers=22807 nccl-library=22807\n\
              # Collective test starting: all_reduce_perf\n\
              # nThread 1 nGpus 1 minBytes 8 maxBytes 4294967296 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
              #\n# Using devices\n",
        )?;
        for rank in 0..8 {
            writeln!(
                out,
                "#  Rank {rank:2} Group  0 Pid {:6} on    node-a device {rank:2} [0000:{:02x}:00] NVIDIA H100 80GB HBM3",
                4000 + (runs * 8 + rank) % 900_000,
                16 + rank
            )?;
        }
        out.write_all(
            b"#\n\
              #                                                              out-of-place                       in-place          \n\
              #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
              #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n",
        )?;
        let mut sum = 0.0;
        for i in 0..SWEEP {
            let size = 8_u64 << i;
            write!(out, "{size:12}  {:12}     float     sum      -1", size / 4)?;
            for _ in 0..2 {
                let (time, alg, bus) = noise.measure(size);
                sum += bus;
                write!(out, "  {:>7}  {alg:6.2}  {bus:6.2}      0", width(time))?;
            }
            out.write_all(b"\n")?;
        }
        write!(
            out,
            "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {:.3} \n#\n# Collective test concluded: all_reduce_perf\n\n",
            sum / f64::from(2 * SWEEP)
        )?;
    }
    Ok((runs, runs * u64::from(SWEEP)))
}

/// A time as the tables show it: five digits.
fn width(time: f64) -> String {
    let digits = match () {
        () if time >= 10_000.0 => 0,
        () if time >= 1000.0 => 1,
        () => 2,
    };
    format!("{time:.digits$}")
}

/// The same as one document of JSON: a run of `-J`, which goes through its sizes again and again.
fn json(out: &mut Counted, bytes: u64) -> io::Result<Counts> {
    let (mut noise, mut rows, mut sum) = (Noise(2), 0, 0.0);
    out.write_all(
        br#"{"version":3,"start_time":"2026-07-10 10:00:00","args":["./all_reduce_perf","-J","x.json"],"env":["HOME=/root","NCCL_DEBUG=WARN"],"nccl_version":22807,"config":{"nthreads":1,"ngpus":1,"minimum_bytes":8,"maximum_bytes":4294967296,"step_factor":2,"warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":1,"graph":0,"devices":["#,
    )?;
    for rank in 0..8 {
        let comma = if rank > 0 { "," } else { "" };
        write!(
            out,
            r#"{comma}{{"rank":{rank},"group":0,"pid":{},"hostname":"node-a","device":{rank},"device_hex":"0000:{:02x}:00","device_info":"NVIDIA H100 80GB HBM3"}}"#,
            4000 + rank,
            16 + rank
        )?;
    }
    out.write_all(br#"]},"results":["#)?;
    while out.bytes < bytes {
        let (size, comma) = (8_u64 << (rows % u64::from(SWEEP)), if rows > 0 { "," } else { "" });
        let (o, p) = (noise.measure(size), noise.measure(size));
        rows += 1;
        sum += o.2 + p.2;
        write!(
            out,
            r#"{comma}{{"size":{size},"count":{},"type":"float","redop":"sum","root":"    -1","out_of_place":{{"time":{:.6},"alg_bw":{:.6},"bus_bw":{:.6},"nwrong":0.000000}},"in_place":{{"time":{:.6},"alg_bw":{:.6},"bus_bw":{:.6},"nwrong":0.000000}},"actual_iterations":20,"experiment_name":""}}"#,
            size / 4,
            o.0,
            o.1,
            o.2,
            p.0,
            p.1,
            p.2
        )?;
    }
    writeln!(
        out,
        r#"],"out_of_bounds":{{"count":0,"okay":"true"}},"average_bus_bandwidth":{{"bandwidth":{:.6},"okay":"true"}},"end_time":"2026-07-10 10:01:00"}}"#,
        sum / (2 * rows.max(1)) as f64
    )?;
    Ok((1, rows))
}

/// One side of a comparison: a sweep a run, a factor apart from the other side.
fn side(out: &mut Counted, runs: u64, seed: u64, factor: f64) -> io::Result<Counts> {
    let mut noise = Noise(seed);
    writeln!(out, "run,size,busbw (GB/s)")?;
    for run in 1..=runs {
        for i in 0..SWEEP {
            let size = 8_u64 << i;
            writeln!(out, "{run},{size},{:.6}", noise.measure(size).2 * factor)?;
        }
    }
    Ok((runs, runs * u64::from(SWEEP)))
}

/// A history: 50 samples a run.
fn history(out: &mut Counted, runs: u64) -> io::Result<Counts> {
    let mut noise = Noise(3);
    writeln!(out, "run,place,size,busbw (GB/s)")?;
    for run in 1..=runs {
        for place in ["out-of-place", "in-place"] {
            for i in 3..3 + SIZES {
                let size = 1_u64 << i;
                writeln!(out, "{run},{place},{size},{:.3}", 194.0 + 115.0 * noise.next())?;
            }
        }
    }
    Ok((runs, runs * u64::from(2 * SIZES)))
}
