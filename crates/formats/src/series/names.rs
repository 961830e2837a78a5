//! What a column's name says: its unit, its role.

use serde::Serialize;
use smol_str::SmolStr;

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Time since some start, seconds.
    Time,
    /// Number of a step or iteration.
    Step,
    /// Size of a message, bytes.
    Size,
    /// Which repetition.
    Run,
    /// A measurement.
    Metric,
    /// Tells rows apart: words, ranks, hosts.
    Label,
}

/// A unit as written, and which it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnitText {
    /// As written.
    pub text: SmolStr,
    /// Which; `None` where it is not known, or can be two.
    pub unit: Option<Unit>,
}

/// Units that measurements have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // Named as they are written; prefixes without i are powers of ten.
pub enum Unit {
    BitPerSecond,
    KbitPerSecond,
    MbitPerSecond,
    GbitPerSecond,
    BytePerSecond,
    KbytePerSecond,
    MbytePerSecond,
    GbytePerSecond,
    TbytePerSecond,
    KibibytePerSecond,
    MebibytePerSecond,
    GibibytePerSecond,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Byte,
    Kilobyte,
    Megabyte,
    Gigabyte,
    Kibibyte,
    Mebibyte,
    Gibibyte,
    Percent,
    TokensPerSecond,
    OperationsPerSecond,
    TeraflopPerSecond,
    MessagesPerMicrosecond,
    Watt,
    Celsius,
}

/// Reads a unit. Letters' case counts where it tells bits from bytes; `gbps` in small letters is bits, as it is used.
pub(super) fn unit(text: &str) -> Option<Unit> {
    use Unit::*;
    let text = text.trim();
    if text.is_empty() || text.len() > 24 {
        return None;
    }
    Some(match text {
        "GB/s" | "GBps" | "GB/sec" | "GBytes/s" | "GBytes/sec" => GbytePerSecond,
        "MB/s" | "MBps" | "MB/sec" | "MBytes/s" | "MBytes/sec" => MbytePerSecond,
        "KB/s" | "kB/s" | "KBps" | "kBps" => KbytePerSecond,
        "TB/s" | "TBps" => TbytePerSecond,
        "B/s" | "Bps" | "bytes/s" => BytePerSecond,
        "GiB/s" | "GiBps" | "GiB/sec" => GibibytePerSecond,
        "MiB/s" | "MiBps" | "MiB/sec" => MebibytePerSecond,
        "KiB/s" | "KiBps" | "KiB/sec" => KibibytePerSecond,
        "Gb/s" | "Gbps" | "Gb/sec" | "Gbit/s" | "Gbits/s" | "Gbits/sec" | "gbps" | "gbit/s" => GbitPerSecond,
        "Mb/s" | "Mbps" | "Mb/sec" | "Mbit/s" | "Mbits/s" | "Mbits/sec" | "mbps" | "mbit/s" => MbitPerSecond,
        "Kb/s" | "Kbps" | "kbit/s" | "Kbits/sec" | "kbps" => KbitPerSecond,
        "b/s" | "bps" | "bit/s" | "bits/s" | "bits/sec" | "bits_per_second" => BitPerSecond,
        "s" | "sec" | "secs" | "second" | "seconds" => Second,
        "ms" | "msec" | "millisecond" | "milliseconds" => Millisecond,
        "us" | "usec" | "usecs" | "µs" | "μs" | "microsecond" | "microseconds" => Microsecond,
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => Nanosecond,
        "B" | "bytes" | "Bytes" | "byte" => Byte,
        "KB" | "kB" | "kb" => Kilobyte,
        "MB" | "mb" => Megabyte,
        "GB" | "gb" => Gigabyte,
        "KiB" | "kib" | "K" => Kibibyte,
        "MiB" | "mib" | "M" => Mebibyte,
        "GiB" | "gib" | "G" => Gibibyte,
        "%" | "percent" | "pct" => Percent,
        "tokens/s" | "tok/s" | "tokens/sec" | "tps" => TokensPerSecond,
        "IOPS" | "iops" | "ops/s" | "op/s" => OperationsPerSecond,
        "TFLOPS" | "TFLOP/s" | "tflops" => TeraflopPerSecond,
        "Mpps" => MessagesPerMicrosecond,
        "W" => Watt,
        "°C" | "C" => Celsius,
        _ => return None,
    })
}

/// A name and its unit: `busbw (GB/s)`, `lat [us]`, `latency_us`, `busbw GB/s`, `bw_gbps`.
#[must_use]
pub fn split(name: &str) -> (SmolStr, Option<UnitText>) {
    let name = name.trim().trim_matches(['*', '`', '_', '#']).trim();
    let of = |text: &str| UnitText { text: SmolStr::new(cut(text.trim())), unit: unit(text) };
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        if let Some((before, inner)) = name.strip_suffix(close).and_then(|n| n.rsplit_once(open))
            && !before.trim().is_empty()
        {
            return (SmolStr::new(cut(before.trim())), Some(of(inner)));
        }
    }
    for separator in [' ', '_', ',', '/'] {
        let Some((before, last)) = name.rsplit_once(separator) else { continue };
        // `tokens/s` and `GB/s` are units themselves; `num_s` and `size_c` are none.
        let is_unit = unit(last).is_some_and(|u| last.len() > 1 || u == Unit::Second && separator == '_')
            && !matches!(last, "tps" | "iops" | "IOPS" | "tflops" | "second" | "byte" | "bytes" | "Bytes");
        if is_unit && separator != '/' && !before.trim().is_empty() {
            return (SmolStr::new(cut(before.trim().trim_end_matches(','))), Some(of(last)));
        }
    }
    let plain = cut(name);
    let implied = match plain.to_ascii_lowercase().as_str() {
        "tps" | "tokens/s" | "tokens_per_second" | "tokens/sec" => Some("tokens/s"),
        "iops" => Some("IOPS"),
        "tflops" => Some("TFLOPS"),
        "bits_per_second" => Some("b/s"),
        "mfu" | "mfu%" => None,
        _ => None,
    };
    (SmolStr::new(plain), implied.map(of))
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(crate::bounds::SERIES_TEXT).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// The role that a name gives; the cells may take it away.
pub(super) fn role(name: &str, unit: Option<Unit>) -> Role {
    let lower = name.to_ascii_lowercase();
    let parts: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|p| !p.is_empty()).take(8).collect();
    let all = parts.join("_");
    let is_clock_unit = matches!(unit, None | Some(Unit::Second));
    match all.as_str() {
        "time" | "t" | "elapsed" | "elapsed_time" | "relative_time" | "wall_time" | "walltime" | "timestamp" | "ts"
        | "datetime" | "date" | "second" | "seconds" | "sec" | "secs" | "interval_start" | "start"
            if is_clock_unit =>
        {
            return Role::Time;
        }
        "timestamp" | "elapsed" | "elapsed_time" | "t" => return Role::Time,
        "step" | "steps" | "iter" | "iteration" | "global_step" | "train_step" | "batch_idx" | "epoch" => {
            return Role::Step;
        }
        "run" | "rep" | "repetition" | "repeat" | "trial" | "replicate" | "run_id" | "run_index" | "run_no"
        | "repetitions" => {
            return Role::Run;
        }
        "bytes" | "nbytes" | "size" | "msg_bytes" | "message_bytes" | "msgsize" | "msg" | "message" | "payload" => {
            return Role::Size;
        }
        _ => {}
    }
    const NO_MESSAGE: &[&str] = &[
        "batch", "world", "sample", "window", "group", "cluster", "queue", "model", "vocab", "hidden", "file", "cache",
        "tp", "pp", "dp",
    ];
    if parts.last() == Some(&"size") && !parts.iter().any(|p| NO_MESSAGE.contains(p)) {
        return Role::Size;
    }
    const APART: &[&str] = &[
        "rank",
        "ranks",
        "gpu",
        "gpus",
        "ngpus",
        "node",
        "nodes",
        "host",
        "hosts",
        "hostname",
        "port",
        "device",
        "dev",
        "pid",
        "channel",
        "stream",
        "streams",
        "parallel",
        "threads",
        "thread",
        "nthreads",
        "qps",
        "np",
        "nranks",
        "world_size",
        "batch_size",
        "local_rank",
        "seed",
        "batch",
        "root",
        "numjobs",
        "iodepth",
        "id",
        "index",
        "version",
        "src",
        "dst",
        "row",
        "column",
        "concurrency",
        "year",
    ];
    let last_is_apart = parts.last().is_some_and(|p| APART.contains(p)) && parts.len() <= 2;
    if APART.contains(&all.as_str()) || last_is_apart && unit.is_none() { Role::Label } else { Role::Metric }
}
