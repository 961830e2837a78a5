//! The lines around a table: parameters, participants, verdicts, failures.

use super::run::{Average, BusId, Failure, FailureKind, OutOfBounds, Params, Rank, Step};
use crate::text::{flag, words};
use crate::units::{Bytes, GBps};
use smol_str::SmolStr;

/// Longest message, name or host that is kept.
const MAX_TEXT: usize = 512;

pub(super) fn text(s: &str) -> String {
    cut(s).to_owned()
}

fn short(s: &str) -> SmolStr {
    SmolStr::new(cut(s))
}

fn cut(s: &str) -> &str {
    let s = s.trim();
    if s.len() <= MAX_TEXT {
        return s;
    }
    s.char_indices().nth(MAX_TEXT).and_then(|(at, _)| s.get(..at)).unwrap_or(s)
}

/// `# nThread 1 nGpus 8 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 …`, in all its spellings.
pub(super) fn params(line: &str) -> Option<Params> {
    let start = line.find("nThread")?;
    let mut p = Params::default();
    let mut label = String::new();
    for word in words(line.get(start..)?).take(64) {
        let bare = word.trim_end_matches(':');
        let number = bare.split('(').next().unwrap_or(bare);
        let Ok(value) = number.parse::<u64>() else {
            if !label.is_empty() {
                label.push(' ');
            }
            label.push_str(&bare.to_ascii_lowercase());
            continue;
        };
        let small = u32::try_from(value).ok();
        match label.as_str() {
            "nthread" | "nthreads" => p.threads = small,
            "ngpus" => p.gpus = small,
            "nranks" => p.ranks_per_gpu = small,
            "minbytes" => p.min = Some(Bytes(value)),
            "maxbytes" => p.max = Some(Bytes(value)),
            "step" if bare.ends_with("(factor)") => p.step = Some(Step::Factor(value)),
            "step" => p.step = Some(Step::Bytes(Bytes(value))),
            "warmup iters" | "warmupiters" => p.warmup_iters = small,
            "iters" => p.iters = small,
            "agg iters" => p.agg_iters = small,
            "validation" => p.validation = small,
            "graph" => p.graph = small,
            "unalign" => p.unalign = small,
            _ => {}
        }
        label.clear();
    }
    (p != Params::default()).then_some(p)
}

/// `#  Rank  0 Group  0 Pid 12 on host device  0 [0000:1b:00] NVIDIA H100`; older releases leave out groups, then processes.
pub(super) fn rank(line: u32, text: &str) -> Option<Rank> {
    let rest = text.strip_prefix('#')?.trim_start().strip_prefix("Rank")?;
    let (rest, name) = rest.split_once(']')?;
    let (rest, bus) = rest.rsplit_once('[')?;
    let mut w = words(rest).peekable();
    let rank = w.next()?.parse().ok()?;
    let (mut group, mut pid, mut host) = (None, None, None);
    loop {
        match w.next()? {
            "Group" => group = w.next()?.parse().ok(),
            "Pid" => pid = w.next()?.parse().ok(),
            // Release 1 of the library itself said `uses device`.
            "on" | "uses" => {
                if w.peek() != Some(&"device") {
                    host = w.next().map(short);
                }
            }
            "device" => break,
            _ => return None,
        }
    }
    let device = w.next()?.parse().ok()?;
    let name = self::text(name);
    Some(Rank { line, rank, group, pid, host, device, bus_id: bus_id(bus), name })
}

fn bus_id(text: &str) -> Option<BusId> {
    let hex8 = |s: &str| u8::from_str_radix(s, 16).ok();
    if let Some(bus) = text.strip_prefix("0x") {
        return Some(BusId { domain: None, bus: hex8(bus)?, device: None, function: None });
    }
    let (rest, function) = match text.split_once('.') {
        Some((rest, function)) => (rest, Some(hex8(function)?)),
        None => (text, None),
    };
    let mut parts = rest.split(':');
    let domain = u32::from_str_radix(parts.next()?, 16).ok()?;
    let (bus, device) = (hex8(parts.next()?)?, hex8(parts.next()?)?);
    parts.next().is_none().then_some(BusId { domain: Some(domain), bus, device: Some(device), function })
}

/// `Avg bus bandwidth    : 464.075 OK`.
pub(super) fn average(line: &str) -> Option<Average> {
    let (_, rest) = line.split_once("Avg bus bandwidth")?;
    let mut w = words(rest.trim_start().strip_prefix(':')?);
    let value = w.next()?.parse::<f64>().ok().filter(|v| v.is_finite())?;
    Some(Average { busbw: GBps(value), ok: w.next().and_then(verdict) })
}

/// `Out of bounds values : 0 OK`.
pub(super) fn out_of_bounds(line: &str) -> Option<OutOfBounds> {
    let (_, rest) = line.split_once("Out of bounds values")?;
    let mut w = words(rest.trim_start().strip_prefix(':')?);
    let count = w.next()?.parse::<u64>().ok()?;
    Some(OutOfBounds { count, ok: w.next().and_then(verdict)? })
}

fn verdict(word: &str) -> Option<bool> {
    flag(word, "OK", "FAILED")
}

/// What a line says that something failed.
pub(super) fn failure(line: u32, text: &str) -> Option<Failure> {
    const KINDS: &[(&str, FailureKind)] = &[
        ("Test NCCL failure ", FailureKind::Nccl),
        ("Test CUDA failure ", FailureKind::Cuda),
        ("Test HIP failure ", FailureKind::Cuda),
        ("Test failure ", FailureKind::Propagated),
        ("Test timeout ", FailureKind::Timeout),
        // The tests of 2017.
        ("NCCL failure ", FailureKind::Nccl),
        ("Cuda failure ", FailureKind::Cuda),
    ];
    for (mark, kind) in KINDS {
        let Some((before, after)) = text.split_once(mark) else { continue };
        let (source, message) = source_and_message(after);
        // NCCL's own warnings (`Cuda failure 2 'out of memory'`) name no source file there.
        source.as_ref()?;
        return Some(Failure { line, kind: *kind, host: host(before), source, message });
    }
    let plain =
        |kind, message: &str| Some(Failure { line, kind, host: None, source: None, message: self::text(message) });
    if let Some((_, error)) = text.split_once("# error: ") {
        return plain(FailureKind::LastError, error);
    }
    if text.contains("want=0x") && text.contains("got=0x") && text.contains("elt[") {
        return plain(FailureKind::WrongData, text);
    }
    let usage = [
        "Invalid number of GPUs: ",
        "The number of requested GPUs (",
        "invalid size specified for '",
        "invalid sizes for 'minbytes'",
        "Incompatible NCCL versions. nccl-tests",
    ];
    if usage.iter().any(|u| text.contains(u)) {
        return plain(FailureKind::Usage, text);
    }
    None
}

/// `node1: `, ` .. node1 pid 77: `.
fn host(before: &str) -> Option<SmolStr> {
    let name = before.trim_end().strip_suffix(':')?;
    let name = name.split_once(" pid ").map_or(name, |(n, _)| n);
    let name = words(name).last()?.trim_start_matches(['.', ' ']);
    (!name.is_empty()).then(|| short(name))
}

/// `common.cu:958 'unhandled system error / Last error'`, `(60s) common.cu:310`.
fn source_and_message(after: &str) -> (Option<(SmolStr, u32)>, String) {
    let (place, quoted) = after.split_once('\'').unwrap_or((after, ""));
    let message = quoted.trim_end().strip_suffix('\'').unwrap_or(quoted);
    let mut w = words(place);
    let source = w.find_map(|word| {
        let (file, number) = word.rsplit_once(':')?;
        Some((short(file), number.parse().ok()?))
    });
    let message = if message.is_empty() { text(place) } else { text(message) };
    (source, message)
}
