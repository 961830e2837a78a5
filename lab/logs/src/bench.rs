//! A table as all_reduce_perf prints it, with figures that follow from one bus bandwidth.

use std::fmt::Write as _;

use crate::job::Facts;

/// Start-up time of an operation, µs.
const LATENCY: f64 = 35.0;

/// Sizes from 8 MiB to 8 GiB; time = latency + bytes × 2(n−1)/n ÷ bus bandwidth.
pub(crate) fn table(facts: &Facts<'_>, busbw: f64) -> String {
    let n = facts.nranks().max(1) as f64;
    let factor = 2.0 * (n - 1.0) / n;
    let mut out = String::from(
        "# nThread 1 nGpus 1 minBytes 8388608 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n",
    );
    for r in &facts.ranks {
        let _ = writeln!(
            out,
            "#  Rank {:>2} Group  0 Pid {:>6} on {:>10} device {:>2} [0x{:02x}] {}",
            r.rank,
            r.pid,
            facts.host(r.node),
            r.gpu,
            (facts.busid(r.gpu) >> 12) & 0xff,
            facts.job.gpu.name()
        );
    }
    out += "#\n#                                                              out-of-place                       in-place          \n";
    out += "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n";
    out += "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n";
    let (mut sum, mut rows) = (0.0, 0.0);
    let mut bytes = 8_388_608_u64;
    while bytes <= 8_589_934_592 {
        let time = LATENCY + bytes as f64 * factor / (busbw * 1e3);
        let algbw = bytes as f64 / time / 1e3;
        let bus = algbw * factor;
        let _ = writeln!(
            out,
            "{bytes:>12}  {:>12}     float     sum      -1 {time:>8.1} {algbw:>7.2} {bus:>7.2}      0 {time:>8.1} {algbw:>7.2} {bus:>7.2}      0",
            bytes / 4
        );
        sum += bus;
        rows += 1.0;
        bytes *= 2;
    }
    let _ = writeln!(out, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {:.4} \n#", sum / rows);
    out
}
