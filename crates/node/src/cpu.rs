//! The CPU, its frequency and sleep policies.

use crate::printed::Printed;
use linerate_formats::At;
use linerate_formats::cpuinfo::{self, Cpuinfo};
use linerate_formats::cpupower;
use linerate_formats::lscpu;
use linerate_snapshot::{EntryKind, Lookup, OutputKind, Place, Reading, Snapshot, Why};

pub use linerate_formats::cpuinfo::Vendor as CpuVendor;

/// A setting that each CPU has: distinct values with the number of CPUs and one place.
pub type Tally = Vec<(String, u32, Place)>;

/// A sleep state.
#[derive(Debug, Clone)]
pub struct IdleState {
    /// Which one: 2 of `state2`.
    pub number: u8,
    /// Name: `POLL`, `C1`, `C6`.
    pub name: String,
    /// Worst time to wake, µs.
    pub latency_us: Reading<u32>,
    /// Switched off by hand.
    pub disabled: bool,
    /// Where it says whether it is switched off.
    pub place: Place,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Cpu {
    /// Vendor.
    pub vendor: Reading<CpuVendor>,
    /// Family (x86).
    pub family: Reading<u32>,
    /// Model (x86).
    pub model: Reading<u32>,
    /// Marketing name.
    pub model_name: Reading<String>,
    /// Whether the CPU shows the hypervisor flag. Readable on x86 only: other architectures have no such flag.
    pub hypervisor: Reading<bool>,
    /// The hypervisor that runs the whole machine, as `lscpu` names it.
    pub named_hypervisor: Reading<String>,
    /// Logical processors.
    pub processors: Reading<u32>,
    /// Sockets, by distinct physical ids.
    pub sockets: Reading<u32>,
    /// Sockets as runs of processors: the first processor of a run and its physical id. x86 only.
    pub packages: Reading<Vec<(u32, u32)>>,
    /// Frequency governors. Absent in most virtual machines.
    pub governors: Reading<Tally>,
    /// Frequency driver of the first CPU: `intel_pstate`, `amd-pstate-epp`, `acpi-cpufreq`.
    pub frequency_driver: Reading<String>,
    /// Energy-performance preferences.
    pub energy_preferences: Reading<Tally>,
    /// Idle states of the first CPU.
    pub idle_states: Reading<Vec<IdleState>>,
}

impl Cpu {
    pub(crate) fn decode(s: &Snapshot) -> Self {
        let info = s.read(s.root(), "proc/cpuinfo").map(cpuinfo::parse);
        // What counts processors needs all of them; the first one tells the rest.
        let all = match info.place() {
            p if s.kind(p.base) == &EntryKind::CutFile && info.known().is_some() => {
                let kept = u32::try_from(s.data(p.base).len()).unwrap_or(u32::MAX);
                Reading::Unreadable(p, Why::Cut(kept))
            }
            _ => info.clone(),
        };
        let [governors, energy_preferences] = tallies(
            s,
            [
                ("scaling_governor", "cpufreq/scaling_governor"),
                ("energy_performance_preference", "cpufreq/energy_performance_preference"),
            ],
        );
        // A text that is two machines' says nothing.
        let listed = Printed::of(s, OutputKind::Lscpu, "cmd/lscpu", lscpu::parse).only(|l| !l.several);
        let processors = field(&all, |i| (i.processors > 0).then_some((i.processors, 0))).or(|| {
            listed.field(|l| {
                let online = l.online.as_ref()?;
                Some(At::new(u32::try_from(online.value.count()).ok().filter(|n| *n > 0)?, online.line))
            })
        });
        Cpu {
            vendor: field(&info, |i| i.vendor.as_ref().map(|v| (v.value.clone(), v.line)))
                .or(|| listed.field(|l| l.vendor.clone())),
            family: field(&info, |i| i.family.as_ref().map(|v| (v.value, v.line))).or(|| listed.field(|l| l.family)),
            model: field(&info, |i| i.model.as_ref().map(|v| (v.value, v.line))).or(|| listed.field(|l| l.model)),
            model_name: field(&info, |i| i.model_name.as_ref().map(|v| (v.value.clone(), v.line)))
                .or(|| listed.field(|l| l.model_name.clone())),
            hypervisor: field(&info, |i| {
                let flags = i.flags.as_ref().filter(|_| i.vendor.as_ref().is_some_and(|v| is_x86(&v.value)))?;
                Some((i.has_flag("hypervisor")?, flags.line))
            })
            .or(|| {
                listed.field(|l| {
                    let flags = l.flags.as_ref().filter(|_| l.vendor.as_ref().is_some_and(|v| is_x86(&v.value)))?;
                    Some(At::new(l.has_flag("hypervisor")?, flags.line))
                })
            }),
            named_hypervisor: listed.field(|l| l.full_hypervisor().cloned()),
            sockets: field(&all, |i| u32::try_from(i.physical_ids.len()).ok().filter(|n| *n > 0).map(|n| (n, 0)))
                .or(|| listed.field(|l| l.sockets.filter(|n| n.value > 0))),
            packages: field(&all, |i| (!i.sockets.is_empty()).then(|| (i.sockets.clone(), 0))),
            governors: governors.or(|| printed_governors(s, &processors)),
            processors,
            frequency_driver: s
                .text(s.root(), "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver")
                .map(str::to_owned)
                .or(|| printed_driver(s)),
            energy_preferences,
            idle_states: idle_states(s),
        }
    }

    /// Intel, AMD or another x86.
    #[must_use]
    pub fn is_x86(&self) -> bool {
        self.vendor.known().is_some_and(is_x86)
    }

    /// Arm architecture.
    #[must_use]
    pub fn is_arm(&self) -> bool {
        matches!(self.vendor.known(), Some(CpuVendor::Arm { .. }))
    }
}

/// The driver of the first processor that `cpupower` printed.
fn printed_driver(s: &Snapshot) -> Reading<String> {
    let missing = Reading::Unreadable(Place::below(s.root(), "cmd/cpupower"), Why::NotCollected);
    let texts = s.outputs.iter().filter(|o| o.kind == OutputKind::Cpupower);
    let mut read = texts.flat_map(|o| cpupower::parse(s.data(o.entry)).into_iter().map(|p| (p, Place::of(o.entry))));
    let hit = read.find_map(|(p, at)| p.driver.map(|d| (d, at)));
    hit.map_or(missing, |(d, at)| Reading::Known(d.value, at.line(d.line)))
}

/// The governors that `cpupower` printed, where it printed that of each processor: by default it shows one of them.
fn printed_governors(s: &Snapshot, processors: &Reading<u32>) -> Reading<Tally> {
    let mut out = Reading::Unreadable(Place::below(s.root(), "cmd/cpupower"), Why::NotCollected);
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Cpupower) {
        let (all, at) = (cpupower::parse(s.data(o.entry)), Place::of(o.entry));
        let mut tally = Tally::new();
        for g in all.iter().filter_map(|p| p.governor.as_ref()) {
            match tally.iter_mut().find(|(v, ..)| *v == g.value) {
                Some((_, n, _)) => *n += 1,
                None => tally.push((g.value.clone(), 1, at.line(g.line))),
            }
        }
        let shown: u32 = tally.iter().map(|(_, n, _)| n).sum();
        if processors.known().is_some_and(|n| *n > 0 && *n == shown) {
            return Reading::Known(tally, at);
        }
        out = Reading::Unreadable(at, Why::Malformed("not the governor of each processor".into()));
    }
    out
}

fn is_x86(vendor: &CpuVendor) -> bool {
    matches!(vendor, CpuVendor::Intel | CpuVendor::Amd | CpuVendor::Zhaoxin)
}

fn field<T>(info: &Reading<Cpuinfo>, get: impl FnOnce(&Cpuinfo) -> Option<(T, u32)>) -> Reading<T> {
    info.as_ref().and_then(|i, p| match get(i) {
        Some((v, 0)) => Reading::Known(v, p),
        Some((v, line)) => Reading::Known(v, p.line(line)),
        None => Reading::Unreadable(p, Why::Malformed("not in cpuinfo of this architecture".into())),
    })
}

/// Values of attributes over all `cpuN` directories. Each attribute: its name in `cpufreq`, and its path below `cpuN`.
fn tallies<const N: usize>(s: &Snapshot, leaves: [(&str, &'static str); N]) -> [Reading<Tally>; N] {
    let dir = match s.dir("sys/devices/system/cpu") {
        Reading::Known(d, _) => d,
        Reading::Absent(p) => return leaves.map(|_| Reading::Absent(p)),
        Reading::Unreadable(p, w) => return leaves.map(|_| Reading::Unreadable(p, w.clone())),
    };
    let mut out = leaves.map(|leaf| (leaf, Counted::default()));
    for (name, cpu) in s.children(dir) {
        if !name.strip_prefix("cpu").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
            continue;
        }
        // On most kernels a link to the policy that several CPUs share: it is followed once for all attributes.
        let policy = match s.resolve_from(cpu, "cpufreq") {
            Lookup::Found(d) => Some(d),
            _ => None,
        };
        for ((leaf, path), counted) in &mut out {
            let entry = policy.map(|d| s.child(d, leaf));
            let file = entry.flatten().filter(|e| matches!(s.kind(*e), EntryKind::File));
            match file {
                Some(e) if counted.again(s.data(e)) => {}
                // What one CPU lacks the others lack, too: once is enough.
                None if entry == Some(None) && counted.missing.is_some() => {}
                _ => counted.add(file.map(|e| s.data(e)), s.text(cpu, path)),
            }
        }
    }
    out.map(|(_, c)| {
        if !c.values.is_empty() {
            return Reading::Known(c.values, Place::of(dir));
        }
        c.missing.unwrap_or_else(|| s.missing(dir, "cpu0/cpufreq"))
    })
}

/// The values of one attribute so far.
#[derive(Default)]
struct Counted<'s> {
    values: Tally,
    /// Content of the files that hold `values`, in the same order: nearly all CPUs repeat it byte by byte.
    raw: Vec<Option<&'s [u8]>>,
    missing: Option<Reading<Tally>>,
}

impl<'s> Counted<'s> {
    /// Counts a content that was there before.
    fn again(&mut self, raw: &[u8]) -> bool {
        let known = self.raw.iter().position(|r| *r == Some(raw)).and_then(|i| self.values.get_mut(i));
        known.map(|(_, n, _)| *n += 1).is_some()
    }

    fn add(&mut self, raw: Option<&'s [u8]>, value: Reading<&str>) {
        match value {
            Reading::Known(value, place) => match self.values.iter_mut().find(|(v, ..)| v == value) {
                Some((_, n, _)) => *n += 1,
                None => {
                    self.values.push((value.to_owned(), 1, place));
                    self.raw.push(raw);
                }
            },
            other => self.missing = Some(other.map(|_| Vec::new())),
        }
    }
}

fn idle_states(s: &Snapshot) -> Reading<Vec<IdleState>> {
    s.dir("sys/devices/system/cpu/cpu0/cpuidle").map(|dir| {
        s.children(dir)
            .into_iter()
            .filter_map(|(dir, state)| {
                let number = dir.strip_prefix("state")?.parse().ok()?;
                let name = s.text(state, "name");
                let disabled = s.text(state, "disable");
                Some(IdleState {
                    number,
                    name: (*name.known()?).to_owned(),
                    latency_us: s.text(state, "latency").parse("not a number", |t| t.parse().ok()),
                    disabled: *disabled.known()? != "0",
                    place: disabled.place(),
                })
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LSCPU: &str = "On-line CPU(s) list: 0-7\nVendor ID: GenuineIntel\nModel name: Xeon\nCPU family: 6\nModel: 143\nSocket(s): 2\nFlags: fpu hypervisor\nHypervisor vendor: KVM\nVirtualization type: full\n";

    fn node(lscpu: &str, cpuinfo: Option<&str>) -> Cpu {
        let mut s = Snapshot::new("x");
        let entry = s.add_file("pasted/lscpu.txt", lscpu.as_bytes()).expect("room");
        s.outputs.push(linerate_snapshot::Output { kind: OutputKind::Lscpu, entry, argv: Vec::new(), status: None });
        if let Some(text) = cpuinfo {
            s.add_file("proc/cpuinfo", text.as_bytes());
        }
        Cpu::decode(&s)
    }

    #[test]
    fn lscpu_serves_where_cpuinfo_is_missing() {
        let c = node(LSCPU, None);
        assert_eq!(
            (c.vendor.known(), c.family.known(), c.model.known()),
            (Some(&CpuVendor::Intel), Some(&6), Some(&143))
        );
        assert_eq!((c.processors.known(), c.sockets.known(), c.hypervisor.known()), (Some(&8), Some(&2), Some(&true)));
        assert_eq!(c.named_hypervisor.known().map(String::as_str), Some("KVM"));
        assert_eq!(c.vendor.place().pos, linerate_snapshot::Pos::Line(2));
        let c = node(LSCPU, Some("processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu\n"));
        assert_eq!(
            (c.vendor.known(), c.hypervisor.known()),
            (Some(&CpuVendor::Amd), Some(&false)),
            "the kernel's file first"
        );
    }

    #[test]
    fn what_lscpu_does_not_show_is_not_known() {
        let c = node("NUMA node(s): 1\nNUMA node0 CPU(s): 0-3\n", None);
        assert!(c.vendor.is_unreadable() && c.hypervisor.is_unreadable() && c.sockets.is_unreadable());
        let two = format!("CPU(s): 8\n{LSCPU}CPU(s): 8\n{LSCPU}");
        assert!(node(&two, None).vendor.is_unreadable(), "two machines in one text");
        let cut = "Vendor ID: GenuineIntel\nFlags: fpu vme";
        assert!(node(cut, None).hypervisor.is_unreadable(), "the flags may go on");
    }

    #[test]
    fn governors_of_all_processors_or_none() {
        let one = |n: u32| {
            format!(
                "analyzing CPU {n}:\n  driver: amd-pstate-epp\n  The governor \"powersave\" may decide which speed to use\n"
            )
        };
        let read = |text: String| {
            let mut s = Snapshot::new("x");
            let mut add = |kind, name: &str, text: &str| {
                let entry = s.add_file(name, text.as_bytes()).expect("room");
                s.outputs.push(linerate_snapshot::Output { kind, entry, argv: Vec::new(), status: None });
            };
            add(OutputKind::Lscpu, "pasted/a", "On-line CPU(s) list: 0-1\n");
            add(OutputKind::Cpupower, "pasted/b", &text);
            Cpu::decode(&s)
        };
        let c = read(one(0) + &one(1));
        let tally: Vec<_> = c.governors.known().into_iter().flatten().map(|(v, n, _)| (v.as_str(), *n)).collect();
        assert_eq!(
            (tally, c.frequency_driver.known().map(String::as_str)),
            (vec![("powersave", 2)], Some("amd-pstate-epp"))
        );
        assert!(read(one(0)).governors.is_unreadable(), "one processor is not all");
    }
}
