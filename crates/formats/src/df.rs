//! `df`: the size of /dev/shm. Columns may be wrapped or have the type of the file system in between, so that a row is read from its end.

use crate::size;
use crate::text::{At, decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};

/// `df -h /dev/shm`.
pub const TOOL: Tool = Tool {
    name: "df",
    called: "df",
    run: "df -h /dev/shm",
    gives: Gives::Facts,
    // People paste it beside what matters more.
    marks: &[Mark::aside(|l| unit(l).is_some()).begins(&["Filesys"])],
    commands: &[Command::any("df")],
    read: Some(|b| seen(shm(b))),
    samples: &[
        "Filesystem      Size  Used Avail Use% Mounted on\nshm              64M     0   64M   0% /dev/shm\n",
        "Filesystem     1K-blocks  Used Available Use% Mounted on\ntmpfs          131886548     0 131886548   0% /dev/shm\n",
    ],
    once: true,
    ..Tool::NONE
};

/// The size of the file system at /dev/shm, in bytes. `df -h` rounds up to two digits.
#[must_use]
pub fn shm(bytes: &[u8]) -> Option<At<u64>> {
    let text = decode(bytes);
    let mut unit_of_rows = None;
    for (line, raw) in lines(&text) {
        if raw.trim_start().starts_with("Filesys") {
            unit_of_rows = unit(raw.trim());
        } else if let Some(bytes) = unit_of_rows.and_then(|u| row(raw, u)) {
            return Some(At::new(bytes, line));
        }
    }
    None
}

/// What the numbers below a head are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Bytes in one.
    Blocks(u64),
    /// Each has its own letter, a power of 1024.
    Letters,
}

/// `Filesystem Type 1K-blocks Used Available Use% Mounted on` (coreutils, src/df.c; `-P`: `1024-blocks`, `Capacity`), and busybox's. Other columns are
/// those of `-i` or of `--output`.
fn unit(head: &str) -> Option<Unit> {
    let words: Vec<&str> = head.split_whitespace().take(9).collect();
    let (size, rest) = match words.as_slice() {
        ["Filesystem", "Type", size, rest @ ..] | ["Filesystem", size, rest @ ..] => (*size, rest),
        _ => return None,
    };
    let ["Used", "Avail" | "Available", "Use%" | "Capacity", "Mounted", "on"] = rest else { return None };
    match size {
        "Size" => Some(Unit::Letters),
        "1024-blocks" => Some(Unit::Blocks(1024)),
        blocks => size::parse(blocks.strip_suffix("-blocks")?).map(Unit::Blocks),
    }
}

/// `tmpfs 53G 0 53G 0% /dev/shm`
fn row(raw: &str, unit: Unit) -> Option<u64> {
    let mut words = raw.split_whitespace().rev();
    let (mount, used) = (words.next()?, words.next()?);
    let (_available, _used, number) = (words.next()?, words.next()?, words.next()?);
    if mount != "/dev/shm" || !(used.ends_with('%') || used == "-") {
        return None;
    }
    match unit {
        Unit::Letters => size::parse(number),
        Unit::Blocks(bytes) => number.parse::<u64>().ok()?.checked_mul(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_each_form() {
        let g = |n: u64| Some(n << 30);
        for (head, row, bytes) in [
            (
                "Filesystem      Size  Used Avail Use% Mounted on",
                "shm              64M   20M   45M  31% /dev/shm",
                Some(64 << 20),
            ),
            (
                "Filesystem      Size  Used Avail Use% Mounted on",
                "tmpfs           1.5G     0  1.5G   0% /dev/shm",
                Some(3 << 29),
            ),
            (
                "Filesystem     Type   Size  Used Avail Use% Mounted on",
                "tmpfs          tmpfs  252G     0  252G   0% /dev/shm",
                g(252),
            ),
            (
                "Filesystem     1K-blocks  Used Available Use% Mounted on",
                "tmpfs           65536     0     65536   0% /dev/shm",
                Some(64 << 20),
            ),
            (
                "Filesystem     1024-blocks  Used Available Capacity Mounted on",
                "tmpfs  1048576     0     1048576   0% /dev/shm",
                g(1),
            ),
            (
                "Filesystem     1M-blocks  Used Available Use% Mounted on",
                "tmpfs             1024     0      1024   0% /dev/shm",
                g(1),
            ),
            (
                "Filesystem                Size      Used Available Use% Mounted on",
                "                         64.0M         0     64.0M   0% /dev/shm",
                Some(64 << 20),
            ),
            (
                "Filesystem       Inodes IUsed    IFree IUse% Mounted on",
                "tmpfs          33554432     1 33554431    1% /dev/shm",
                None,
            ),
            (
                "Filesystem      Size  Used Avail Use% Mounted on",
                "tmpfs            53G     0   53G   0% /sys/fs/cgroup",
                None,
            ),
            ("Filesystem      Size  Used Avail Use% Mounted on", "we have 64M of 64M in /dev/shm", None),
            ("Filesystem      Size  Used Avail Use% Mounted on", "tmpfs   -   -   -   - /dev/shm", None),
        ] {
            let text = format!("$ df\n{head}\nudev  1 1 1 1% /dev\n{row}\n");
            assert_eq!(shm(text.as_bytes()), bytes.map(|b| At::new(b, 4)), "{head} {row}");
        }
        assert_eq!(shm(b"shm 64M 0 64M 0% /dev/shm\n"), None, "without its head the unit is not known");
    }
}
