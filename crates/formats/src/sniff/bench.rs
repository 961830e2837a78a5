//! Benchmarks of the network and of disks. They decide only where nothing else does: a report of trouble often shows a `ping`, too.

use super::{Kind, MAX_LINES};

/// The first line that only one of the tools prints.
pub(super) fn lines(text: &str) -> Option<Kind> {
    let content = text.lines().take(MAX_LINES).map(|l| l.trim_start_matches(['>', ' ', '\t']).trim_end());
    content.filter(|l| !l.is_empty() && l.len() <= 4096).find_map(line)
}

/// The tool that prints such a line.
pub(super) fn line(line: &str) -> Option<Kind> {
    let starts = |words: &[&str]| words.iter().any(|w| line.starts_with(w));
    let has = |word: &str| line.contains(word);
    if starts(&["sockperf: ", "sockperf[CLIENT]", "**sockperf: "]) {
        Some(Kind::Sockperf)
    } else if has(": (groupid=") && has("err=") || has(": (g=") && has("): rw=") || is_fio(line) {
        Some(Kind::Fio)
    } else if starts(&["PING "]) && has("bytes") && has("(")
        || has(" ping statistics ---")
        || has(" bytes from ") && (has("icmp_seq=") || has("icmp_req=") || has(" seq=") && has("ttl="))
        || starts(&["ping: "])
        || starts(&["Reply from "]) && (has(": bytes=") && has("time") || has(": time"))
        || starts(&["Pinging "]) && has(" bytes of data:")
        || starts(&["Ping statistics for "])
    {
        Some(Kind::Ping)
    } else {
        iperf(line)
    }
}

fn is_fio(line: &str) -> bool {
    let version =
        line.strip_prefix("fio-").is_some_and(|v| v.len() < 40 && v.starts_with(|c: char| c.is_ascii_digit()));
    version && !line.contains(' ')
        || line.starts_with("fio: ")
        || line.contains(";fio-") && line.matches(';').count() > 20
}

fn iperf(line: &str) -> Option<Kind> {
    let has = |word: &str| line.contains(word);
    let is_header = has("[ ID]") && has("Interval") && has("Transfer");
    if is_header {
        // iperf 2 sets its header differently, and calls the rate by its old name.
        let is_3 = has("Bitrate") || has("[Role]") || has("Interval           Transfer     Bandwidth");
        return Some(if is_3 { Kind::Iperf3 } else { Kind::Iperf2 });
    }
    let is_3 = has("Connecting to host ") && has(", port ")
        || line.starts_with("Accepted connection from ") && has(", port ")
        || has("] local ") && has(" port ") && has(" connected to ")
        || line.starts_with("iperf3: ")
        || line == "iperf Done."
        || line.strip_prefix("Server listening on ").is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()));
    let is_2 = line.starts_with("Client connecting to ") && has(" port ")
        || line.starts_with("Server listening on TCP port ")
        || line.starts_with("Server listening on UDP port ")
        || has("] local ") && has(" port ") && has(" connected with ");
    if is_3 {
        Some(Kind::Iperf3)
    } else if is_2 || crate::iperf::is_csv_line(line) {
        Some(Kind::Iperf2)
    } else {
        row(line)
    }
}

/// A row without its header.
fn row(line: &str) -> Option<Kind> {
    let (_, rest) = line.split_once("] ")?;
    let (span, rest) = rest.split_once("sec ")?;
    let is_span =
        span.contains('-') && span.trim().bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b' '));
    let is_row = line.starts_with('[') && is_span && (rest.contains("bits/sec") || rest.contains("Bytes/sec"));
    is_row.then(|| if span.ends_with("   ") || span.ends_with("  ") { Kind::Iperf3 } else { Kind::Iperf2 })
}

/// What a JSON document is of.
pub(super) fn json(text: &str) -> Option<Kind> {
    let has = |key: &str| text.contains(key);
    if has("\"fio version\"") || has("\"jobs\"") && has("\"jobname\"") {
        Some(Kind::Fio)
    } else if has("\"start\"")
        && (has("\"connected\"") || has("\"iperf "))
        && (has("\"intervals\"") || has("\"event\""))
    {
        Some(Kind::Iperf3)
    } else {
        None
    }
}
