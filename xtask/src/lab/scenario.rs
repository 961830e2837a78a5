//! A scenario file: what it proves, the machine, the preparation, the expectations.

use super::machine::Hardware;
use super::{Paths, Result, relabel};
use regex_lite::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One file of `lab/scenarios`; its name is the file's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    /// The file's name without `.toml`.
    #[serde(skip)]
    pub(super) name: String,
    /// One sentence: what this guest proves.
    pub(super) proves: String,
    #[serde(default)]
    pub(super) machine: Machine,
    /// Is it one of the representative ones that `lab run --ci` boots on every change?
    #[serde(default)]
    pub(super) ci: bool,
    /// Which kernel of setup (an alias of `setup::KERNELS`).
    #[serde(default = "default_kernel")]
    pub(super) kernel: String,
    /// Words added to the kernel's command line.
    #[serde(default)]
    pub(super) cmdline: Vec<String>,
    /// Devices in QEMU's words, with the lab's short names (see lab/README.md).
    #[serde(default)]
    pub(super) devices: Vec<String>,
    /// The link at which each `gpu`, `hca`, `upstream` or `downstream` runs, if not at the Gen4 x16 that it can do.
    #[serde(default)]
    pub(super) links: BTreeMap<String, Link>,
    /// Kernel modules to load, in this order; what they depend on comes by itself.
    #[serde(default)]
    pub(super) modules: Vec<String>,
    /// Shell lines run as root before anything is looked at. A line that fails fails the scenario.
    #[serde(default)]
    pub(super) setup: Vec<String>,
    /// The user that runs linerate: 0 is root.
    #[serde(default)]
    pub(super) run_as: u32,
    /// Seconds to the first line of the guest's init.
    #[serde(default = "default_boot_timeout")]
    pub(super) boot_timeout: u64,
    /// Seconds in all.
    #[serde(default = "default_timeout")]
    pub(super) timeout: u64,
    #[serde(default)]
    pub(super) expect: Expect,
}

impl Scenario {
    /// Its machine.
    pub(super) fn hardware(&self) -> Hardware<'_> {
        Hardware { machine: &self.machine, devices: &self.devices, links: &self.links }
    }
}

/// The machine around the devices.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Machine {
    pub(super) cpus: u32,
    /// MiB.
    pub(super) memory: u32,
    /// "intel", "amd" or absent.
    pub(super) iommu: Option<String>,
    /// Added to the IOMMU's `-device`, such as "device-iotlb=on".
    pub(super) iommu_options: Option<String>,
    /// NUMA nodes; CPUs and memory are divided evenly. 0: the machine does not speak of nodes.
    pub(super) numa: u32,
    /// "intel" (default with an Intel IOMMU or none) or "amd": what cpuid says.
    pub(super) cpu_vendor: Option<String>,
    /// Hide the hypervisor (cpuid and DMI) so that Linux takes the guest for bare metal.
    pub(super) bare_metal: bool,
    /// Further QEMU arguments.
    pub(super) options: Vec<String>,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            cpus: 1,
            memory: 320,
            iommu: None,
            iommu_options: None,
            numa: 0,
            cpu_vendor: None,
            bare_metal: false,
            options: Vec::new(),
        }
    }
}

/// A link's current state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// GT/s: "2.5", "5", "8", "16".
    pub(super) speed: String,
    /// Lanes.
    pub(super) width: u16,
}

/// What must be seen.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expect {
    /// Exit code of `linerate audit`.
    pub(super) exit: Option<i32>,
    pub(super) file: Vec<FileExpectation>,
    pub(super) dmesg: Vec<TextExpectation>,
    pub(super) command: Vec<CommandExpectation>,
    pub(super) verdict: Vec<VerdictExpectation>,
    pub(super) path: Vec<PathExpectation>,
}

impl Expect {
    /// Does this scenario ask for linerate's opinion?
    pub(super) fn needs_linerate(&self) -> bool {
        self.exit.is_some() || !self.verdict.is_empty() || !self.path.is_empty()
    }
}

/// Files of the guest. Regular expressions are multi-line and meet the text without its last newline.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileExpectation {
    /// A path, or a pattern that the guest's shell expands.
    pub(super) path: String,
    /// Every file matches (and there is at least one).
    pub(super) every: Option<String>,
    /// At least one file matches.
    pub(super) some: Option<String>,
    /// No file matches (there may be none).
    pub(super) none: Option<String>,
    /// How many files there are.
    pub(super) count: Option<usize>,
}

/// The kernel's log.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextExpectation {
    pub(super) has: Option<String>,
    pub(super) lacks: Option<String>,
}

/// A shell line run as root in the guest: its output (both streams) and status.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandExpectation {
    pub(super) run: String,
    pub(super) has: Option<String>,
    pub(super) lacks: Option<String>,
    /// Exit status; any, if absent.
    pub(super) status: Option<i32>,
}

/// A verdict in linerate's JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerdictExpectation {
    pub(super) rule: String,
    /// Pattern with `*`.
    pub(super) subject: Option<String>,
    /// pass, fail, unknown, not-applicable; "none": this rule gives no verdict that matches the rest.
    pub(super) status: String,
    pub(super) severity: Option<String>,
    /// Regular expression.
    pub(super) message_has: Option<String>,
}

/// A path in `linerate topo --format json` of the guest's snapshot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathExpectation {
    /// Bus ids of two GPUs.
    pub(super) from: String,
    pub(super) to: String,
    /// Type of the path as the hardware has it: PIX, PXB, PHB, SYS.
    #[serde(rename = "type")]
    pub(super) kind: String,
}

fn default_kernel() -> String {
    "6.1".to_owned()
}
fn default_boot_timeout() -> u64 {
    60
}
fn default_timeout() -> u64 {
    150
}

/// All scenarios, in the order of their names.
pub(super) fn load_all(paths: &Paths) -> Result<Vec<Scenario>> {
    let folder = paths.scenarios();
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("lab: cannot list {}: {e}", folder.display()))?;
    let mut files: Vec<_> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
        .iter()
        .map(|file| {
            let text =
                std::fs::read_to_string(file).map_err(|e| format!("lab: cannot read {}: {e}", file.display()))?;
            let name = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            parse(&name, &text).map_err(|e| format!("{}: {e}", file.display()))
        })
        .collect()
}

/// One scenario from its text; everything that can be wrong without booting is found here.
pub(super) fn parse(name: &str, text: &str) -> Result<Scenario> {
    of(name, toml::from_str(text).map_err(|e| e.to_string())?)
}

/// The same, of a table that was put together.
pub(super) fn of(name: &str, table: toml::Table) -> Result<Scenario> {
    let mut scenario: Scenario = table.try_into().map_err(|e: toml::de::Error| e.to_string())?;
    scenario.name = name.to_owned();
    let expect = &scenario.expect;
    let mut patterns: Vec<&Option<String>> = Vec::new();
    for file in &expect.file {
        if file.every.is_none() && file.some.is_none() && file.none.is_none() && file.count.is_none() {
            return Err(format!(
                "the file expectation {:?} expects nothing: give every, some, none or count",
                file.path
            ));
        }
        patterns.extend([&file.every, &file.some, &file.none]);
    }
    for text in &expect.dmesg {
        if text.has.is_none() && text.lacks.is_none() {
            return Err("a dmesg expectation needs has or lacks".to_owned());
        }
        patterns.extend([&text.has, &text.lacks]);
    }
    for command in &expect.command {
        if command.has.is_none() && command.lacks.is_none() && command.status.is_none() {
            return Err(format!(
                "the command expectation {:?} expects nothing: give has, lacks or status",
                command.run
            ));
        }
        patterns.extend([&command.has, &command.lacks]);
    }
    for verdict in &expect.verdict {
        if !["pass", "fail", "unknown", "not-applicable", "none"].contains(&verdict.status.as_str()) {
            return Err(format!("{}: no status {:?}", verdict.rule, verdict.status));
        }
        patterns.push(&verdict.message_has);
    }
    for pattern in patterns.into_iter().flatten() {
        regex(pattern)?;
    }
    if expect.file.is_empty() && expect.dmesg.is_empty() && expect.command.is_empty() {
        return Err("no guest fact is expected: a scenario must show that its guest is what it says".to_owned());
    }
    if scenario.machine.numa > 0 && !scenario.machine.cpus.is_multiple_of(scenario.machine.numa) {
        return Err("cpus must be a multiple of numa".to_owned());
    }
    for (name, link) in &scenario.links {
        let known = ["gpu", "hca", "upstream", "downstream"].contains(&name.as_str());
        if !known || relabel::speed_code(&link.speed).is_none() || !(1..=32).contains(&link.width) {
            return Err(format!(
                "links.{name}: a gpu, hca, upstream or downstream with a speed such as \"8\" and a width of 1 to 32"
            ));
        }
        if !relabel::devices(scenario.hardware()) {
            return Err("links need a gpu or an hca among the devices".to_owned());
        }
    }
    Ok(scenario)
}

/// `^` and `$` meet at lines.
pub(super) fn regex(pattern: &str) -> Result<Regex> {
    Regex::new(&format!("(?m){pattern}")).map_err(|e| format!("the regular expression {pattern:?}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenarios_of_this_repository_are_well_formed() {
        let all = load_all(&Paths::new()).unwrap();
        assert!(all.len() >= 24, "{} scenarios", all.len());
        for scenario in &all {
            assert!(scenario.proves.len() > 20, "{}", scenario.name);
            assert!(super::super::setup::KERNELS.iter().any(|k| k.0 == scenario.kernel), "{}", scenario.name);
        }
    }

    /// Two quiet cores boot two guests in about 30 s: the set for every change has a bound.
    #[test]
    fn the_ci_set_is_bounded() {
        let all = load_all(&Paths::new()).unwrap();
        let ci = all.iter().filter(|s| s.ci).count();
        assert!((20..=26).contains(&ci), "{ci} scenarios have ci = true");
    }

    #[test]
    fn every_scenario_asks_linerate() {
        for scenario in load_all(&Paths::new()).unwrap() {
            assert!(scenario.expect.exit.is_some(), "{}: no exit code is expected", scenario.name);
            assert!(!scenario.expect.verdict.is_empty(), "{}: no verdict is expected", scenario.name);
        }
    }

    #[test]
    fn a_scenario_that_expects_nothing_is_refused() {
        let base = "proves = 'x'\n";
        for (rest, word) in [
            ("", "no guest fact"),
            ("[[expect.file]]\npath = '/x'\n", "expects nothing"),
            ("[[expect.command]]\nrun = 'x'\n", "expects nothing"),
            ("[[expect.dmesg]]\nhas = '('\n", "regular expression"),
            ("[[expect.dmesg]]\nhas = 'x'\n[[expect.verdict]]\nrule = 'a/b'\nstatus = 'good'\n", "no status"),
            ("frobnicate = 1\n", "unknown field"),
            ("links.gpu = { speed = '8', width = 8 }\n[[expect.dmesg]]\nhas = 'x'\n", "need a gpu"),
            ("links.gpu = { speed = '9', width = 8 }\n[[expect.dmesg]]\nhas = 'x'\n", "speed"),
            ("[machine]\ncpus = 3\nnuma = 2\n[[expect.dmesg]]\nhas = 'x'\n", "multiple"),
        ] {
            let error = parse("n", &format!("{base}{rest}")).unwrap_err();
            assert!(error.contains(word), "{rest}: {error}");
        }
    }
}
