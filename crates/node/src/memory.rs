//! Limits and settings of memory that RDMA registration and jobs meet.

use linerate_formats::{df, limits, size, ulimit};
use linerate_snapshot::{OutputKind, Place, Reading, Snapshot, Why};

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
    /// Soft and hard limit of locked memory of the process that captured, or of the shell that was asked; shells show the soft one.
    pub memlock: Reading<(Limit, Option<Limit>)>,
    /// Size of /dev/shm in bytes, from its mount options; without such an option half of the memory, as the kernel does. Else as `df` shows it.
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
            memlock: s
                .text(root, "proc/self/limits")
                .parse("no line `Max locked memory`", |t| {
                    let line = t.lines().find_map(|l| l.strip_prefix("Max locked memory"))?;
                    let mut words = line.split_whitespace();
                    Some((limit(words.next()?)?, Some(limit(words.next()?)?)))
                })
                .or(|| by_prlimit(s))
                .or(|| by_ulimit(s)),
            shm_bytes: shm(s, &total_kib).or(|| by_df(s)),
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

/// As `df` printed it.
fn by_df(s: &Snapshot) -> Reading<u64> {
    let mut out = Reading::Unreadable(Place::below(s.root(), "cmd/df"), Why::NotCollected);
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Df) {
        let at = Place::of(o.entry);
        match df::shm(s.data(o.entry)) {
            Some(size) => return Reading::Known(size.value, at.line(size.line)),
            None => out = Reading::Unreadable(at, Why::Malformed("no row of /dev/shm".into())),
        }
    }
    out
}

/// Its own limits, as `prlimit` printed them: not those of a process that its command line names.
fn by_prlimit(s: &Snapshot) -> Reading<(Limit, Option<Limit>)> {
    let mut out = Reading::Unreadable(Place::below(s.root(), "cmd/prlimit"), Why::NotCollected);
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Prlimit) {
        let (table, at) = (ulimit::parse_prlimit(s.data(o.entry)), Place::of(o.entry));
        match table.row("MEMLOCK") {
            Some(_) if table.of_another => {
                out = Reading::Unreadable(at, Why::Malformed("these are the limits of another process".into()));
            }
            Some(r) => return Reading::Known((of(r.soft), Some(of(r.hard))), at.line(r.line)),
            None => out = Reading::Unreadable(at, Why::Malformed("no row MEMLOCK".into())),
        }
    }
    out
}

/// The limit that a shell printed. No hard limit is below the soft one: one that is unlimited shows both.
fn by_ulimit(s: &Snapshot) -> Reading<(Limit, Option<Limit>)> {
    let mut out = Reading::Unreadable(Place::below(s.root(), "cmd/ulimit"), Why::NotCollected);
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Ulimit) {
        let at = Place::of(o.entry);
        match ulimit::parse_ulimit(s.data(o.entry)) {
            Some(m) if !m.hard => {
                let soft = of(m.limit);
                return Reading::Known((soft, (soft == Limit::Unlimited).then_some(soft)), at.line(m.line));
            }
            Some(m) => {
                let why = Why::Malformed("the hard limit alone does not show the one that holds".into());
                out = Reading::Unreadable(at.line(m.line), why);
            }
            None => out = Reading::Unreadable(at, Why::Malformed("no limit of locked memory".into())),
        }
    }
    out
}

fn of(limit: limits::Limit) -> Limit {
    match limit {
        limits::Limit::Unlimited => Limit::Unlimited,
        limits::Limit::Value(bytes) => Limit::Bytes(bytes),
    }
}

fn limit(word: &str) -> Option<Limit> {
    if word == "unlimited" { Some(Limit::Unlimited) } else { word.parse().ok().map(Limit::Bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memlock(kind: OutputKind, text: &str) -> Reading<(Limit, Option<Limit>)> {
        let mut s = Snapshot::new("x");
        let entry = s.add_file("pasted/limits.txt", text.as_bytes()).expect("room");
        s.outputs.push(linerate_snapshot::Output { kind, entry, argv: Vec::new(), status: None });
        Memory::decode(&s).memlock
    }

    #[test]
    fn shm_as_df_printed_it() {
        let mut s = Snapshot::new("x");
        let text = "Filesystem Size Used Avail Use% Mounted on\nshm 64M 20M 45M 31% /dev/shm\n";
        let entry = s.add_file("pasted/df.txt", text.as_bytes()).expect("room");
        s.outputs.push(linerate_snapshot::Output { kind: OutputKind::Df, entry, argv: Vec::new(), status: None });
        let shm = |s: &Snapshot| Memory::decode(s).shm_bytes.known().copied();
        assert_eq!(shm(&s), Some(64 << 20));
        s.add_file("proc/mounts", b"tmpfs /dev/shm tmpfs rw,size=1048576k 0 0\n");
        assert_eq!(shm(&s), Some(1 << 30), "the kernel's own word");
    }

    #[test]
    fn limits_that_tools_printed() {
        let shell = |text| memlock(OutputKind::Ulimit, text);
        let soft = (Limit::Bytes(8 << 20), None);
        assert_eq!(shell("max locked memory (kbytes, -l) 8192\n").known(), Some(&soft));
        let both = (Limit::Unlimited, Some(Limit::Unlimited));
        assert_eq!(shell("$ ulimit -l\nunlimited\n").known(), Some(&both));
        assert!(shell("$ ulimit -Hl\nunlimited\n").is_unreadable(), "the soft limit is not shown");
        let table = "RESOURCE DESCRIPTION SOFT HARD UNITS\nMEMLOCK max locked-in-memory address space 8388608 unlimited bytes\n";
        let known = (Limit::Bytes(8 << 20), Some(Limit::Unlimited));
        assert_eq!(memlock(OutputKind::Prlimit, table).known(), Some(&known));
        assert!(
            memlock(OutputKind::Prlimit, &format!("$ prlimit --pid 7\n{table}")).is_unreadable(),
            "another process"
        );
    }
}
