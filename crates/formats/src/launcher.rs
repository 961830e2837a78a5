//! What launchers and pasting put before the lines of a benchmark: mpirun's `[1,0]<stdout>:`, srun's `0: `, kubectl's
//! `[pod/x/y] `, container runtimes' time stamps, quotes.

use crate::bounds::BENCH_SHORT_LINE;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// `NCCL INFO`, which most lines of a long log have: built once, because lines are short.
static NCCL_INFO: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b" NCCL INFO "));

/// Where a line of NCCL's log says so: behind host, process, thread and device.
const MAX_LOG_PREFIX: usize = 256;

/// Whether a line is, or ends in, one of NCCL's informative lines.
pub(crate) fn is_nccl_info(line: &[u8]) -> bool {
    nccl_info(line).is_some()
}

/// What such a line says, behind host, process, thread and device.
pub(crate) fn nccl_info(line: &[u8]) -> Option<&[u8]> {
    let at = NCCL_INFO.find(line.get(..MAX_LOG_PREFIX).unwrap_or(line))?;
    line.get(at + NCCL_INFO.needle().len()..)
}

/// A line of a tool whose lines are short, without what stands around it. `None`: it is longer than any of them.
pub(crate) fn short(line: &str) -> Option<&str> {
    (line.len() <= BENCH_SHORT_LINE).then(|| strip(line.trim_end()))
}

/// The line behind the tags that are recognised by their form.
pub(crate) fn strip(line: &str) -> &str {
    let mut rest = line;
    // A quoted paste of a tagged line of a container's log is three deep.
    for _ in 0..4 {
        match one(rest.trim_start()) {
            Some(inner) => rest = inner,
            None => break,
        }
    }
    rest
}

/// The line behind one tag.
pub(crate) fn one(line: &str) -> Option<&str> {
    match line.as_bytes().first()? {
        b'>' => line.get(1..),
        b'[' => bracket(line),
        b'0'..=b'9' => number(line).or_else(|| time(line)),
        b'a'..=b'z' | b'A'..=b'Z' => compose(line),
        _ => None,
    }
}

/// `[1,0]<stdout>:`, `[prterun-host-1@1,0]<stdout>: `, `[pod/worker-0/main] `.
fn bracket(line: &str) -> Option<&str> {
    let (tag, rest) = line.split_once(']')?;
    if let Some(stream) = rest.strip_prefix('<') {
        let (_, rest) = stream.split_once('>')?;
        return Some(rest.strip_prefix(':').unwrap_or(rest));
    }
    tag.starts_with("[pod/").then_some(rest)
}

/// `12: `.
fn number(line: &str) -> Option<&str> {
    let end = line.bytes().position(|b| !b.is_ascii_digit())?;
    let rest = line.get(end..)?.strip_prefix(':')?;
    // `12:34:56` is no tag.
    (!rest.starts_with(|c: char| c.is_ascii_digit())).then_some(rest)
}

/// `2024-01-31T12:00:00.123456789Z `, with the `stdout F ` of a container runtime's log.
fn time(line: &str) -> Option<&str> {
    let (stamp, rest) = line.split_once(' ')?;
    let is_time =
        stamp.len() >= 20 && stamp.as_bytes().get(10) == Some(&b'T') && stamp.as_bytes().get(4) == Some(&b'-');
    let rest = if is_time { rest } else { return None };
    for stream in ["stdout F ", "stderr F ", "stdout P ", "stderr P "] {
        if let Some(rest) = rest.strip_prefix(stream) {
            return Some(rest);
        }
    }
    Some(rest)
}

/// `worker-1  | `.
fn compose(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once('|')?;
    let name = name.strip_suffix(' ')?.trim_end();
    (!name.contains(' ')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_content_stays() {
        for (line, want) in [
            ("0:            8             2", "            8             2"),
            ("   [1,0]<stdout>:# nThread", "# nThread"),
            ("[prterun-h-1@1,3]<stderr>: x", " x"),
            ("[pod/worker-0/main] # x", " # x"),
            ("2024-01-31T12:00:00.123456789Z stdout F  8 2", " 8 2"),
            ("2024-01-31T12:00:00Z 8 2", "8 2"),
            ("worker-1  | # x", " # x"),
            ("> > #bytes", " #bytes"),
            ("        8   2   float", "        8   2   float"),
            ("12:34:56 x", "12:34:56 x"),
            (" GID: 00:00", " GID: 00:00"),
            ("All_Reduce | 79.72GB/s", " 79.72GB/s"),
            ("", ""),
        ] {
            assert_eq!(strip(line), want, "{line}");
        }
    }
}
