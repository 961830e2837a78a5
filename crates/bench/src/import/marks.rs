//! Which tools' outputs a text holds: found in one pass over it, by words that only they print.

use crate::model::Kind;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
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
    ("PING ", Kind::Ping),
    ("ping statistics", Kind::Ping),
    ("icmp_seq", Kind::Ping),
    ("rtt min/avg/max", Kind::Ping),
    ("round-trip min/avg/max", Kind::Ping),
    ("nvbandwidth", Kind::Nvbandwidth),
    ("memcpy CE ", Kind::Nvbandwidth),
    ("memcpy SM ", Kind::Nvbandwidth),
    ("\"bandwidth_matrix\"", Kind::Nvbandwidth),
    ("tps:", Kind::Torchtitan),
    ("mfu:", Kind::Torchtitan),
    ("wps:", Kind::Torchtitan),
    ("[titan]", Kind::Torchtitan),
];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(MARKS.iter().map(|(mark, _)| *mark)).ok()
});

/// Kinds whose words stand in a text, in the order in which they appear.
pub(super) fn kinds(bytes: &[u8]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let Some(finder) = FINDER.as_ref() else { return Kind::ALL.to_vec() };
    for found in finder.find_overlapping_iter(bytes) {
        let Some((_, kind)) = MARKS.get(found.pattern().as_usize()) else { continue };
        if !kinds.contains(kind) {
            kinds.push(*kind);
        }
    }
    kinds
}
