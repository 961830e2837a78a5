//! Which tools' outputs a text holds: found in one pass over it, by words that only they print.

use crate::model::Kind;
use aho_corasick::{AhoCorasick, MatchKind, packed};
use std::sync::LazyLock;

/// Words, and whose they are. A word here only makes the reader of that kind look; the reader decides.
const MARKS: &[(&str, Kind)] = &[
    ("# nThread", Kind::NcclTests),
    ("out-of-place", Kind::NcclTests),
    ("busbw", Kind::NcclTests),
    ("\"busBw\"", Kind::NcclTests),
    ("\"nccl_version\"", Kind::NcclTests),
    ("-tests version ", Kind::NcclTests),
    ("Test NCCL failure", Kind::NcclTests),
    ("Test CUDA failure", Kind::NcclTests),
    ("Out of bounds values", Kind::NcclTests),
    (" #bytes", Kind::Perftest),
    ("#bytes ", Kind::Perftest),
    (" BW Test", Kind::Perftest),
    (" Latency Test", Kind::Perftest),
    ("\"BW_average\"", Kind::Perftest),
    ("\"t_avg\"", Kind::Perftest),
    ("\"test_info\"", Kind::Perftest),
    ("IB device", Kind::Perftest),
    ("Couldn't ", Kind::Perftest),
    (" Waiting for client to connect... *", Kind::Perftest),
    ("iperf3:", Kind::Iperf3),
    ("iperf 3.", Kind::Iperf3),
    ("Connecting to host ", Kind::Iperf3),
    ("- - - - - - - - - -", Kind::Iperf3),
    ("iperf Done.", Kind::Iperf3),
    ("Bitrate", Kind::Iperf3),
    ("  Bandwidth  ", Kind::Iperf3),
    ("\"bits_per_second\"", Kind::Iperf3),
    ("\"test_start\"", Kind::Iperf3),
    ("\"system_info\"", Kind::Iperf3),
    ("Client connecting to ", Kind::Iperf2),
    ("Server listening on UDP", Kind::Iperf2),
    ("Server listening on TCP", Kind::Iperf2),
    ("  Bandwidth", Kind::Iperf2),
    ("sockperf", Kind::Sockperf),
    ("fio-", Kind::Fio),
    ("\"fio version\"", Kind::Fio),
    ("fio: ", Kind::Fio),
    (": (groupid=", Kind::Fio),
    ("Run status group", Kind::Fio),
    ("%=0;0%=0;0%=0;", Kind::Fio),
    ("PING ", Kind::Ping),
    ("ping statistics", Kind::Ping),
    ("icmp_seq", Kind::Ping),
    ("rtt min/avg/max", Kind::Ping),
    ("round-trip min/avg/max", Kind::Ping),
    ("Reply from ", Kind::Ping),
    ("Ping statistics for ", Kind::Ping),
    ("Ping request could not find host ", Kind::Ping),
    ("nvbandwidth", Kind::Nvbandwidth),
    ("memcpy CE ", Kind::Nvbandwidth),
    ("memcpy SM ", Kind::Nvbandwidth),
    ("\"bandwidth_matrix\"", Kind::Nvbandwidth),
    ("tps:", Kind::Torchtitan),
    ("mfu:", Kind::Torchtitan),
    ("wps:", Kind::Torchtitan),
    ("[titan]", Kind::Torchtitan),
];

/// Several words at once by vector instructions, where the processor has them.
static PACKED: LazyLock<Option<packed::Searcher>> = LazyLock::new(|| {
    let mut builder = packed::Config::new().match_kind(packed::MatchKind::LeftmostFirst).builder();
    builder.extend(words());
    builder.build()
});
static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words()).ok());

fn words() -> impl Iterator<Item = &'static str> {
    MARKS.iter().map(|(mark, _)| *mark)
}

/// Kinds whose words stand in a text, in the order in which they appear. No word of one kind begins within another's.
pub(super) fn kinds(bytes: &[u8]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut found = |pattern: usize| {
        if let Some((_, kind)) = MARKS.get(pattern).filter(|(_, kind)| !kinds.contains(kind)) {
            kinds.push(*kind);
        }
    };
    match (PACKED.as_ref(), FINDER.as_ref()) {
        (Some(packed), _) => packed.find_iter(bytes).for_each(|m| found(m.pattern().as_usize())),
        (None, Some(finder)) => finder.find_iter(bytes).for_each(|m| found(m.pattern().as_usize())),
        (None, None) => return Kind::ALL.to_vec(),
    }
    // Lines of numbers have no words: they are known by their form.
    if !kinds.contains(&Kind::Iperf2) && head(bytes).any(linerate_formats::iperf::is_csv_line) {
        kinds.push(Kind::Iperf2);
    }
    kinds
}

/// Lines at the beginning of a text.
fn head(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let start = bytes.get(..HEAD).unwrap_or(bytes);
    start.split(|b| *b == b'\n').filter_map(|l| str::from_utf8(l).ok()).map(str::trim)
}

/// Bytes in which lines without words are looked for.
const HEAD: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_searches_find_the_same() {
        let packed = PACKED.as_ref();
        let finder = FINDER.as_ref();
        assert!(finder.is_some());
        for (mark, kind) in MARKS {
            let text = format!("x {mark} y\n{mark}");
            let of = |pattern: usize| MARKS.get(pattern).map(|m| m.1);
            let slow = finder.and_then(|f| of(f.find_iter(&text).next()?.pattern().as_usize()));
            // One of the two programs whose tables are alike stands for both: one reader reads them.
            let like = |k: Option<Kind>| if k == Some(Kind::Iperf2) { Some(Kind::Iperf3) } else { k };
            assert_eq!(like(slow), like(Some(*kind)), "{mark}");
            if let Some(p) = packed {
                assert_eq!(p.find_iter(&text).next().and_then(|m| of(m.pattern().as_usize())), slow, "{mark}");
            }
        }
    }
}
