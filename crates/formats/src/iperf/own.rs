//! Lines that only one of the two programs prints.

use super::{Tool, is_csv_line};

/// What lines of one of the programs begin with, but for the rows of iperf 2 as CSV.
pub(super) const BEGINNINGS: &[&str] =
    &["Accepted connection from ", "iperf3: ", "iperf Done.", "Server listening on ", "Client connecting to "];
/// What stands in the others: the header, connections, rows.
pub(super) const LITERALS: &[&str] = &["[ ID]", "Connecting to host ", "] local ", "bits/sec", "Bytes/sec"];

/// The program of a line.
pub(super) fn program(line: &str) -> Option<Tool> {
    let has = |word: &str| line.contains(word);
    if has("[ ID]") && has("Interval") && has("Transfer") {
        // iperf 2 sets its header differently, and calls the rate by its old name.
        let is_3 = has("Bitrate") || has("[Role]") || has("Interval           Transfer     Bandwidth");
        return Some(if is_3 { Tool::Iperf3 } else { Tool::Iperf2 });
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
        Some(Tool::Iperf3)
    } else if is_2 || is_csv_line(line) {
        Some(Tool::Iperf2)
    } else {
        row(line)
    }
}

/// A row without its header.
fn row(line: &str) -> Option<Tool> {
    let (_, rest) = line.split_once("] ")?;
    let (span, rest) = rest.split_once("sec ")?;
    let is_span =
        span.contains('-') && span.trim().bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b' '));
    let is_row = line.starts_with('[') && is_span && (rest.contains("bits/sec") || rest.contains("Bytes/sec"));
    is_row.then(|| if span.ends_with("  ") { Tool::Iperf3 } else { Tool::Iperf2 })
}
