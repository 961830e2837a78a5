//! Headings with which programs that run one command on many hosts say whose the text below them is: `dshbak`, `clush -b`, Ansible, `parallel-ssh`; and those
//! of people's own loops.

use crate::host_name::short;
use crate::node_list::names;
use std::net::IpAddr;

/// Dashes that `clush -b` and `dshbak` print above and below names.
const BARS: std::ops::RangeInclusive<usize> = 15..=16;
/// The longest heading.
const MOST: usize = 200;

/// Whether a line is a bar of dashes, which stands above and below the names of hosts.
#[must_use]
pub fn is_bar(line: &str) -> bool {
    BARS.contains(&line.len()) && line.bytes().all(|b| b == b'-')
}

/// The hosts between two bars: `node01`, `node[01-04,07]`, `node[01-04] (4)`. They are a list as [`names`] reads it.
#[must_use]
pub fn between_bars(line: &str) -> Option<&str> {
    let line = line.trim();
    let list = match line.split_once(' ') {
        Some((list, count)) => {
            let digits = count.strip_prefix('(')?.strip_suffix(')')?;
            (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(list)?
        }
        None => line,
    };
    let (first, _) = names(list, 1)?;
    let is_host = |n: &String| n.starts_with(|c: char| c.is_ascii_alphanumeric()) && short(n).is_some();
    first.first().is_some_and(is_host).then_some(list)
}

/// Whether a line that begins with this byte may be a heading.
#[must_use]
pub fn may_begin(first: u8) -> bool {
    matches!(first, b'-' | b'=' | b'*' | b'#' | b'>' | b'~' | b'[')
}

/// Whether a line may be a heading, by its first and last bytes. It is asked of every line of a file.
#[must_use]
pub fn may_be(line: &[u8]) -> bool {
    line.first().is_some_and(|b| may_begin(*b)) || may_end(line)
}

/// Whether a line may be a heading of Ansible, by its last bytes.
#[must_use]
pub fn may_end(line: &[u8]) -> bool {
    matches!(line, [.., b'>', b'>'] | [.., b'>', b' ', b'{'])
}

/// Whether a line is a heading, or may be a part of one.
#[must_use]
pub fn is_part(line: &str) -> bool {
    may_be(line.as_bytes()) && (is_bar(line) || of_program(line).is_some() || of_loop(line).is_some())
}

/// The host that a heading of Ansible's `-m shell` or of `parallel-ssh -i` names: `node01 | CHANGED | rc=0 >>`, `node01 | UNREACHABLE! => {`,
/// `[1] 16:26:29 [SUCCESS] node01`.
#[must_use]
pub fn of_program(line: &str) -> Option<&str> {
    if line.len() > MOST {
        return None;
    }
    let name = match line.as_bytes() {
        [b'[', b'0'..=b'9', ..] => parallel_ssh(line)?,
        bytes if may_end(bytes) => ansible(line)?,
        _ => return None,
    };
    short(name).is_some().then_some(name)
}

fn ansible(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(" | ")?;
    if rest.trim_end() == "UNREACHABLE! => {" || rest.trim_end() == "FAILED! => {" {
        return Some(name);
    }
    let (state, code) = rest.split_once(" | rc=")?;
    let is_state = matches!(state, "SUCCESS" | "CHANGED" | "FAILED" | "FAILED!");
    let digits = code.trim_end().strip_suffix(">>")?.trim_end();
    (is_state && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(name)
}

fn parallel_ssh(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('[')?.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix("] ")?;
    let (clock, rest) = rest.split_at_checked("hh:mm:ss".len())?;
    let rest = rest.strip_prefix(" [SUCCESS] ").or_else(|| rest.strip_prefix(" [FAILURE] "))?;
    let is_clock = clock.bytes().all(|b| b.is_ascii_digit() || b == b':');
    // Behind the host of a failure stands why.
    is_clock.then(|| rest.split(' ').next()).flatten()
}

/// The name in a heading that somebody's loop printed: `=== node01 ===`, `## node01`, `==> node01 <==`, `----- node01`. It may be a host, a device or anything.
#[must_use]
pub fn of_loop(line: &str) -> Option<&str> {
    let is_mark = |b: u8| matches!(b, b'-' | b'=' | b'*' | b'#' | b'>' | b'<' | b'~' | b'+');
    let marks = line.bytes().take(MOST).position(|b| !is_mark(b)).filter(|n| *n >= 2)?;
    if line.len() > MOST {
        return None;
    }
    let inner = line.get(marks..)?;
    let name = inner.trim_end_matches(|c| u8::try_from(c).is_ok_and(is_mark)).trim().trim_end_matches(':');
    for label in ["host:", "Host:", "HOST:", "node:", "Node:", "hostname:", "host", "Host", "node", "Node", "on"] {
        if let Some(behind) = name.strip_prefix(label).and_then(|b| b.strip_prefix(' ')) {
            return named(behind.trim());
        }
    }
    named(name)
}

/// A name that may be a host's: with a letter and a digit, and not one that devices and runs have.
fn named(name: &str) -> Option<&str> {
    let has = |f: fn(&u8) -> bool| name.as_bytes().iter().any(f);
    let may = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !is_numbered(name) && !is_interface(name);
    let is_address = name.parse::<IpAddr>().is_ok();
    ((may || is_address) && short(name).is_some()).then_some(name)
}

/// `GPU0`, `mlx5_0`, `rank3`. `gpu01` is a host: what counts devices puts no zero before them.
fn is_numbered(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "gpu", "nic", "hca", "port", "cpu", "numa", "socket", "mlx4", "mlx5", "bnxt_re", "irdma", "rdmap", "efa",
        "eth", "ib", "bond", "rank", "step", "iter", "test", "run", "size", "part", "v",
    ];
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name.get(word.len()..).unwrap_or_default();
    let is_count = digits == "0" || !digits.starts_with('0');
    is_count && WORDS.iter().any(|w| w.eq_ignore_ascii_case(word.trim_end_matches(['_', '-'])))
}

/// `enp1s0`, `ens1f0np0`, `ibp12s0`, `rocep1s0`, `nvme0n1`.
fn is_interface(name: &str) -> bool {
    const WORDS: &[&str] = &["enp", "ens", "eno", "ibp", "ibs", "rocep", "roceo", "nvme"];
    WORDS.iter().any(|w| name.strip_prefix(w).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_what_is_between_them() {
        for (line, want) in [
            ("-".repeat(15), true),
            ("-".repeat(16), true),
            ("-".repeat(14), false),
            ("-".repeat(80), false),
            ("=".repeat(16), false),
        ] {
            assert_eq!(is_bar(&line), want, "{line}");
        }
        for (line, want) in [
            ("node01", Some("node01")),
            ("login", Some("login")),
            ("node[01-04,07]", Some("node[01-04,07]")),
            ("node[01-04] (4)", Some("node[01-04]")),
            ("node1,node2 (2)", Some("node1,node2")),
            ("gpu-1.example.org", Some("gpu-1.example.org")),
            ("RDMA_Write BW Test", None),
            ("node1 (many)", None),
            ("node[", None),
            ("localhost", None),
            ("", None),
        ] {
            assert_eq!(between_bars(line), want, "{line}");
        }
    }

    #[test]
    fn headings_of_programs() {
        for (line, want) in [
            ("node01 | CHANGED | rc=0 >>", Some("node01")),
            ("10.0.0.1 | SUCCESS | rc=0 >>", Some("10.0.0.1")),
            ("node01 | FAILED | rc=127 >>", Some("node01")),
            ("node01 | UNREACHABLE! => {", Some("node01")),
            ("node01 | SUCCESS => {", None),
            ("a b | CHANGED | rc=0 >>", None),
            ("node01 | CHANGED | rc= >>", None),
            ("[1] 16:26:29 [SUCCESS] node01", Some("node01")),
            ("[2] 16:26:29 [FAILURE] node02 Exited with error code 1", Some("node02")),
            ("[1] 16:26 [SUCCESS] node01", None),
            ("[    1.5] mlx5_core 0000:18:00.0: x", None),
        ] {
            assert_eq!(of_program(line), want, "{line}");
        }
    }

    #[test]
    fn headings_of_loops() {
        for (line, want) in [
            ("=== node01 ===", Some("node01")),
            ("==> node01 <==", Some("node01")),
            ("##### gpu01 #####", Some("gpu01")),
            ("----- host gpu-1.example.org -----", Some("gpu-1.example.org")),
            ("## gpu-h100-3:", Some("gpu-h100-3")),
            ("*** Node: dgx12 ***", Some("dgx12")),
            (">>> 10.0.0.1 <<<", Some("10.0.0.1")),
            ("=== 2.30.3 ===", None),
            ("# node01", None),
            ("=== GPU0 ===", None),
            ("=== GPU 0 ===", None),
            ("--- mlx5_0 ---", None),
            ("=== eth0 ===", None),
            ("=== enp1s0 ===", None),
            ("=== results ===", None),
            ("==============NVSMI LOG==============", None),
            ("=================== End of ROCm SMI Log ===================", None),
            ("node01", None),
            ("", None),
        ] {
            assert_eq!(of_loop(line), want, "{line}");
        }
    }
}
