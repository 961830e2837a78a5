//! Limits and settings of memory that RDMA registration and jobs meet.

use linerate_formats::size;
use linerate_snapshot::{Reading, Snapshot};

/// A limit of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// No limit.
    Unlimited,
    /// Bytes.
    Bytes(u64),
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::Unlimited => f.write_str("unlimited"),
            Limit::Bytes(b) if *b >= 1 << 30 => write!(f, "{:.1} GiB", *b as f64 / (1u64 << 30) as f64),
            Limit::Bytes(b) => write!(f, "{} KiB", b / 1024),
        }
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Soft and hard limit of locked memory of the process that captured.
    pub memlock: Reading<(Limit, Limit)>,
    /// Size of /dev/shm in bytes, from its mount options; without such an option half of the memory, as the kernel does.
    pub shm_bytes: Reading<u64>,
    /// `kernel.numa_balancing`.
    pub numa_balancing: Reading<u32>,
    /// Selected mode of transparent huge pages.
    pub transparent_hugepages: Reading<String>,
    /// Huge pages of the default size.
    pub huge_pages: Reading<u64>,
    /// MemTotal in KiB.
    pub total_kib: Reading<u64>,
}

impl Memory {
    pub(crate) fn decode(s: &Snapshot) -> Self {
        let root = s.root();
        let total_kib = meminfo(s, "MemTotal:");
        Memory {
            memlock: s.text(root, "proc/self/limits").parse("no line `Max locked memory`", |t| {
                let line = t.lines().find_map(|l| l.strip_prefix("Max locked memory"))?;
                let mut words = line.split_whitespace();
                Some((limit(words.next()?)?, limit(words.next()?)?))
            }),
            shm_bytes: shm(s, &total_kib),
            numa_balancing: s.text(root, "proc/sys/kernel/numa_balancing").parse("not a number", |t| t.parse().ok()),
            transparent_hugepages: s
                .text(root, "sys/kernel/mm/transparent_hugepage/enabled")
                .parse("no selected mode", |t| Some(t.split_once('[')?.1.split_once(']')?.0.to_owned())),
            huge_pages: meminfo(s, "HugePages_Total:"),
            total_kib,
        }
    }
}

fn meminfo(s: &Snapshot, key: &str) -> Reading<u64> {
    s.text(s.root(), "proc/meminfo")
        .parse("no such line", |t| t.lines().find_map(|l| l.strip_prefix(key))?.split_whitespace().next()?.parse().ok())
}

fn shm(s: &Snapshot, total_kib: &Reading<u64>) -> Reading<u64> {
    s.text(s.root(), "proc/mounts").parse("no mount of /dev/shm whose size is shown", |t| {
        let options = t.lines().find_map(|l| {
            let mut w = l.split_whitespace();
            (w.nth(1)? == "/dev/shm").then(|| w.nth(1)).flatten()
        })?;
        match options.split(',').find_map(|o| o.strip_prefix("size=")) {
            // A percentage is resolved by the kernel before it prints.
            Some(text) => size::parse(text),
            None => total_kib.known().and_then(|k| k.checked_mul(1024 / 2)),
        }
    })
}

fn limit(word: &str) -> Option<Limit> {
    if word == "unlimited" { Some(Limit::Unlimited) } else { word.parse().ok().map(Limit::Bytes) }
}
