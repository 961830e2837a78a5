//! The CPU, its frequency and sleep policies.

use linerate_snapshot::{Place, Reading, Snapshot};

/// CPU vendor, as far as PCIe behaviour depends on it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuVendor {
    /// GenuineIntel.
    Intel,
    /// AuthenticAMD.
    Amd,
    /// Arm architecture: implementer and part of the first core (NVIDIA Grace: 0x41/0xd4f, Neoverse V2).
    Arm {
        /// MIDR implementer.
        implementer: u32,
        /// MIDR part number.
        part: u32,
    },
    /// CentaurHauls, `  Shanghai  `.
    Zhaoxin,
    /// Another, by name.
    Other(String),
}

/// A setting that each CPU has: distinct values with the number of CPUs and one place.
pub type Tally = Vec<(String, u32, Place)>;

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
    /// Logical processors.
    pub processors: Reading<u32>,
    /// Sockets, by distinct physical ids.
    pub sockets: Reading<u32>,
    /// Frequency governors. Absent in most virtual machines.
    pub governors: Reading<Tally>,
    /// Frequency driver of the first CPU: `intel_pstate`, `amd-pstate-epp`, `acpi-cpufreq`.
    pub frequency_driver: Reading<String>,
    /// Energy-performance preferences.
    pub energy_preferences: Reading<Tally>,
    /// Idle states of the first CPU that has any: name, disabled, place.
    pub idle_states: Reading<Vec<(String, bool, Place)>>,
}

impl Cpu {
    pub(crate) fn decode(s: &Snapshot) -> Self {
        let unread = || Place::below(s.root(), "proc/cpuinfo");
        let no = || linerate_snapshot::Why::NotCollected;
        Cpu {
            vendor: Reading::Unreadable(unread(), no()),
            family: Reading::Unreadable(unread(), no()),
            model: Reading::Unreadable(unread(), no()),
            model_name: Reading::Unreadable(unread(), no()),
            hypervisor: Reading::Unreadable(unread(), no()),
            processors: Reading::Unreadable(unread(), no()),
            sockets: Reading::Unreadable(unread(), no()),
            governors: tally(s, "cpufreq/scaling_governor"),
            frequency_driver: s.text(s.root(), "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver").map(str::to_owned),
            energy_preferences: tally(s, "cpufreq/energy_performance_preference"),
            idle_states: idle_states(s),
        }
    }

    /// Intel, AMD or another x86.
    #[must_use]
    pub fn is_x86(&self) -> bool {
        matches!(self.vendor.known(), Some(CpuVendor::Intel | CpuVendor::Amd | CpuVendor::Zhaoxin))
    }

    /// Arm architecture.
    #[must_use]
    pub fn is_arm(&self) -> bool {
        matches!(self.vendor.known(), Some(CpuVendor::Arm { .. }))
    }
}

/// Values of one attribute over all `cpuN` directories.
fn tally(s: &Snapshot, leaf: &'static str) -> Reading<Tally> {
    let dir = match s.dir("sys/devices/system/cpu") {
        Reading::Known(d, _) => d,
        Reading::Absent(p) => return Reading::Absent(p),
        Reading::Unreadable(p, w) => return Reading::Unreadable(p, w),
    };
    let mut out: Tally = Vec::new();
    let mut missing = None;
    for (name, cpu) in s.children(dir) {
        if !name.strip_prefix("cpu").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
            continue;
        }
        match s.text(cpu, leaf) {
            Reading::Known(value, place) => match out.iter_mut().find(|(v, ..)| v == value) {
                Some((_, n, _)) => *n += 1,
                None => out.push((value.to_owned(), 1, place)),
            },
            other => missing = Some(other.map(|_| Vec::new())),
        }
    }
    if !out.is_empty() {
        return Reading::Known(out, Place::of(dir));
    }
    missing.unwrap_or_else(|| s.missing(dir, "cpu0/cpufreq"))
}

fn idle_states(s: &Snapshot) -> Reading<Vec<(String, bool, Place)>> {
    s.dir("sys/devices/system/cpu/cpu0/cpuidle").map(|dir| {
        s.children(dir)
            .into_iter()
            .filter_map(|(_, state)| {
                let name = s.text(state, "name");
                let disabled = s.text(state, "disable");
                Some(((*name.known()?).to_owned(), *disabled.known()? != "0", disabled.place()))
            })
            .collect()
    })
}
