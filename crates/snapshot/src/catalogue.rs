//! The catalogue: what a capture collects. The data is `catalogue.txt`; this is its reader.
//!
//! File patterns become a tree of names (a trie), which a capture walks beside the real tree, so that a directory is listed
//! once however many patterns look into it.

use crate::OutputKind;
use crate::capture::{Purpose, ini};
use linerate_formats::wildcard::star;
use std::sync::OnceLock;

/// Default size limit of a file: what a sysfs attribute can hold.
const DEFAULT_MAX: u32 = 4096;

/// What to take of a matching path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    /// The content.
    File,
    /// The target of the link.
    Link,
    /// Its existence.
    Name,
}

/// What redaction hashes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hide {
    Nothing,
    Mac,
    Guid,
    Gid,
    Host,
    Serial,
    PciConfig,
    Vpd,
    Text,
}

/// Which part of a file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    All,
    FirstLine,
    /// The line of /dev/shm.
    Shm,
    /// Of `/proc/cpuinfo` the first processor, and of the others their number and socket.
    Cpuinfo,
    /// Options of the kernel that matter on this path.
    Kconfig,
    /// Assignments to `GRUB_…` that decide about kernel arguments and the default entry.
    Grub,
    /// Lines of a `grub.cfg` that tell whether it starts an entry once: `next_entry`, and the modules it loads.
    GrubOnce,
    /// Entries of boot loaders, without what is no part of them.
    BootEntry,
    /// A salted digest instead of the content.
    Digest,
    /// Named keys of named sections.
    Ini(ini::Allowed),
}

/// How to take it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaf {
    pub(crate) take: Take,
    pub(crate) max: u32,
    pub(crate) binary: bool,
    pub(crate) hide: Hide,
    pub(crate) keep: Keep,
    /// For archives; an audit skips it.
    pub(crate) collect_only: bool,
    /// Only where `/proc/cpuinfo` names no sockets.
    pub(crate) no_sockets: bool,
}

impl Leaf {
    /// Of the default size, with nothing hidden.
    pub(crate) fn new(take: Take) -> Leaf {
        let (hide, keep) = (Hide::Nothing, Keep::All);
        Leaf { take, max: DEFAULT_MAX, binary: false, hide, keep, collect_only: false, no_sockets: false }
    }
}

/// A name of the patterns, and what is below it.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// Exact names, sorted.
    pub(crate) exact: Vec<(&'static str, usize)>,
    /// Names with `*`.
    pub(crate) globs: Vec<(&'static str, usize)>,
    pub(crate) leaf: Option<Leaf>,
    /// Whether an audit looks for anything below.
    for_audit: bool,
}

/// For what a command is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Each {
    Once,
    MlxPf,
    MlxNetdev,
    PciNetdev,
    Domain,
}

/// A command of the allow-list.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) kind: OutputKind,
    pub(crate) limit_seconds: u32,
    pub(crate) max: u32,
    pub(crate) only_if: Option<&'static str>,
    pub(crate) each: Each,
    pub(crate) collect_only: bool,
    /// Alternatives, in order of preference.
    pub(crate) argv: Vec<Vec<&'static str>>,
}

/// The whole of it.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    /// Steps; the first is the root.
    pub(crate) steps: Vec<Step>,
    /// Patterns as written in manifests: braces expanded.
    pub(crate) patterns: Vec<(String, bool)>,
    pub(crate) commands: Vec<Command>,
    pub(crate) env: Vec<&'static str>,
}

/// The catalogue of this version.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| Catalogue::parse(include_str!("../catalogue.txt")).0)
}

/// The catalogue of a capture for this purpose.
pub(crate) fn catalogue_of(purpose: Purpose) -> &'static Catalogue {
    static COUNTERS: OnceLock<Catalogue> = OnceLock::new();
    match purpose {
        Purpose::Counters => COUNTERS.get_or_init(|| Catalogue::parse(include_str!("../counters.txt")).0),
        Purpose::Audit | Purpose::Collect => catalogue(),
    }
}

/// Whether some capture of this version looks at the path (at its own place, or at its real one below `sys/devices`).
/// A decoder that reads a path of which this is false reads what no capture ever holds.
#[must_use]
pub fn tries(path: &str) -> bool {
    let all = [Purpose::Collect, Purpose::Counters].into_iter().flat_map(|p| &catalogue_of(p).patterns);
    all.into_iter().any(|(p, _)| crate::manifest::covers(p, path))
}

impl Catalogue {
    /// Parses the data; the second value lists lines that are not understood (a test keeps it empty).
    fn parse(text: &'static str) -> (Self, Vec<String>) {
        let mut c = Catalogue { steps: vec![Step::default()], ..Catalogue::default() };
        let mut bad = Vec::new();
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            if c.line(line).is_none() {
                bad.push(line.to_owned());
            }
        }
        for s in &mut c.steps {
            s.exact.sort_unstable();
        }
        (c, bad)
    }

    fn line(&mut self, line: &'static str) -> Option<()> {
        let (word, rest) = line.split_once(' ')?;
        let take = match word {
            "file" => Take::File,
            "link" => Take::Link,
            "name" => Take::Name,
            "cmd" => return self.command(rest),
            "env" => {
                self.env.extend(rest.split_ascii_whitespace());
                return Some(());
            }
            _ => return None,
        };
        let mut words = rest.split_ascii_whitespace();
        let pattern = words.next()?;
        let mut leaf = Leaf::new(take);
        for w in words {
            match w.split_once('=').unwrap_or((w, "")) {
                ("max", v) => leaf.max = size(v)?,
                ("bin", _) => leaf.binary = true,
                ("collect", _) => leaf.collect_only = true,
                ("if-no-sockets", _) => leaf.no_sockets = true,
                ("hide", v) => leaf.hide = hide(v)?,
                ("keep", v) => leaf.keep = keep(v)?,
                _ => return None,
            }
        }
        let mut names: Vec<Vec<&'static str>> = Vec::new();
        expand(pattern, &mut names)?;
        for path in &names {
            let mut at = 0;
            for name in path.iter().flat_map(|n| n.split('/')) {
                self.steps.get_mut(at)?.for_audit |= !leaf.collect_only;
                at = self.step(at, name)?;
            }
            // The first entry that names a path wins: `name dir/*` after `file dir/x` adds the rest only.
            self.steps.get_mut(at)?.leaf.get_or_insert(leaf);
            self.patterns.push((path.join("/"), leaf.collect_only));
        }
        Some(())
    }

    /// Patterns of files of which something is hashed, in the order of the data.
    pub(crate) fn hiding(&'static self) -> impl Iterator<Item = (&'static str, Hide)> {
        let leaf = |pattern: &str| {
            let mut at = 0;
            for name in pattern.split('/') {
                let step = self.steps.get(at)?;
                at = step.exact.iter().chain(&step.globs).find(|(n, _)| *n == name).map(|(_, i)| *i)?;
            }
            self.steps.get(at)?.leaf
        };
        let all = self.patterns.iter().filter_map(move |(p, _)| Some((p.as_str(), leaf(p)?.hide)));
        all.filter(|(_, hide)| *hide != Hide::Nothing)
    }

    fn step(&mut self, at: usize, name: &'static str) -> Option<usize> {
        let new = self.steps.len();
        let step = self.steps.get_mut(at)?;
        let list = if name.contains('*') { &mut step.globs } else { &mut step.exact };
        if let Some((_, i)) = list.iter().find(|(n, _)| *n == name) {
            return Some(*i);
        }
        list.push((name, new));
        self.steps.push(Step::default());
        Some(new)
    }

    fn command(&mut self, rest: &'static str) -> Option<()> {
        let (head, argv) = rest.split_once(" : ")?;
        let mut words = head.split_ascii_whitespace();
        let mut c = Command {
            kind: OutputKind::from_name(words.next()?)?,
            limit_seconds: 10,
            max: 1 << 20,
            only_if: None,
            each: Each::Once,
            collect_only: false,
            argv: argv.split("||").map(|a| a.split_ascii_whitespace().collect()).collect(),
        };
        for w in words {
            match w.split_once('=').unwrap_or((w, "")) {
                ("limit", v) => c.limit_seconds = v.parse().ok()?,
                ("max", v) => c.max = size(v)?,
                ("if", v) => c.only_if = Some(v),
                ("each", "mlx-pf") => c.each = Each::MlxPf,
                ("each", "mlx-netdev") => c.each = Each::MlxNetdev,
                ("each", "pci-netdev") => c.each = Each::PciNetdev,
                ("each", "domain") => c.each = Each::Domain,
                ("collect", _) => c.collect_only = true,
                _ => return None,
            }
        }
        self.commands.push(c);
        Some(())
    }

    /// The steps below `at` that a name leads to.
    pub(crate) fn below(&self, at: &[usize], name: &str, out: &mut Vec<usize>) {
        out.clear();
        for step in at.iter().filter_map(|i| self.steps.get(*i)) {
            if let Ok(i) = step.exact.binary_search_by(|(n, _)| (*n).cmp(name)) {
                out.extend(step.exact.get(i).map(|(_, s)| *s));
            }
            out.extend(step.globs.iter().filter(|(g, _)| star(g.as_bytes(), name.as_bytes())).map(|(_, s)| *s));
        }
    }

    /// How to take what the steps lead to: the first that says so.
    pub(crate) fn leaf(&self, at: &[usize], audit: bool) -> Option<Leaf> {
        at.iter().filter_map(|i| self.steps.get(*i)?.leaf).find(|l| !(audit && l.collect_only))
    }

    /// Whether anything is looked for below.
    pub(crate) fn goes_on(&self, at: &[usize], audit: bool) -> bool {
        let below = |s: &Step| !s.exact.is_empty() || !s.globs.is_empty();
        at.iter().filter_map(|i| self.steps.get(*i)).any(|s| if audit { s.for_audit } else { below(s) })
    }

    /// The files that are looked for below, by their paths, if they are few and have names without `*`.
    pub(crate) fn few(&self, at: &[usize], audit: bool) -> Option<Vec<(String, Leaf)>> {
        let mut found = Vec::new();
        self.add_few(at, audit, "", &mut found)?;
        (!found.is_empty()).then_some(found)
    }

    fn add_few(&self, at: &[usize], audit: bool, path: &str, found: &mut Vec<(String, Leaf)>) -> Option<()> {
        const FEW: usize = 3;
        for step in at.iter().filter_map(|i| self.steps.get(*i)) {
            let wanted = |i: usize| self.goes_on(&[i], audit) || self.leaf(&[i], audit).is_some();
            if step.globs.iter().any(|(_, i)| wanted(*i)) {
                return None;
            }
            for (name, i) in step.exact.iter().filter(|(_, i)| wanted(*i)) {
                let path = if path.is_empty() { (*name).to_owned() } else { format!("{path}/{name}") };
                if self.goes_on(&[*i], audit) {
                    // What leads on is a directory here; where it is a link, the caller finds out.
                    self.add_few(&[*i], audit, &path, found)?;
                } else if !found.iter().any(|(p, _)| *p == path) {
                    found.push((path, self.leaf(&[*i], audit)?));
                }
            }
        }
        (found.len() <= FEW).then_some(())
    }

    /// Which tool's output a command's is.
    pub(crate) fn kind_of_command(&self, argv: &[String]) -> Option<OutputKind> {
        let same = |c: &[&str]| c.len() == argv.len() && c.iter().zip(argv).all(|(p, a)| *p == "{}" || p == a);
        self.commands.iter().find(|c| c.argv.iter().any(|a| same(a))).map(|c| c.kind)
    }
}

/// Expands `{a,b/c}`; every element is a list of parts to be split at `/`.
fn expand(pattern: &'static str, out: &mut Vec<Vec<&'static str>>) -> Option<()> {
    let mut done: Vec<String> = vec![String::new()];
    let mut rest = pattern;
    while let Some((before, tail)) = rest.split_once('{') {
        let (choices, after) = tail.split_once('}')?;
        done = done.iter().flat_map(|d| choices.split(',').map(move |c| format!("{d}{before}{c}"))).collect();
        rest = after;
    }
    for d in done {
        // Leaked once per process, with the catalogue that refers to it.
        let whole: &'static str = Box::leak(format!("{d}{rest}").into_boxed_str());
        out.push(vec![whole]);
    }
    Some(())
}

fn size(v: &str) -> Option<u32> {
    linerate_formats::size::parse(v)?.try_into().ok()
}

fn hide(v: &str) -> Option<Hide> {
    Some(match v {
        "mac" => Hide::Mac,
        "guid" => Hide::Guid,
        "gid" => Hide::Gid,
        "host" => Hide::Host,
        "serial" => Hide::Serial,
        "pciconfig" => Hide::PciConfig,
        "vpd" => Hide::Vpd,
        "text" => Hide::Text,
        _ => return None,
    })
}

fn keep(v: &str) -> Option<Keep> {
    Some(match v {
        "first-line" => Keep::FirstLine,
        "shm" => Keep::Shm,
        "cpuinfo" => Keep::Cpuinfo,
        "kconfig" => Keep::Kconfig,
        "grub" => Keep::Grub,
        "grubonce" => Keep::GrubOnce,
        "bootentry" => Keep::BootEntry,
        "digest" => Keep::Digest,
        "nmprofile" => Keep::Ini(ini::NM_PROFILE),
        "nmdevice" => Keep::Ini(ini::NM_DEVICE),
        "networkd" => Keep::Ini(ini::NETWORKD),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        let (c, bad) = Catalogue::parse(include_str!("../catalogue.txt"));
        assert_eq!(bad, Vec::<String>::new());
        assert_eq!(Catalogue::parse(include_str!("../counters.txt")).1, Vec::<String>::new());
        assert!(c.patterns.len() > 150, "{}", c.patterns.len());
        assert!(c.commands.len() >= 15);
        assert!(c.commands.iter().all(|c| c.argv.iter().all(|a| !a.is_empty())));
    }

    #[test]
    fn files_that_may_hold_secrets_are_names_only() {
        let c = catalogue();
        let steps = |path: &str| {
            path.split('/').fold(vec![0], |at, name| {
                let mut below = Vec::new();
                c.below(&at, name, &mut below);
                below
            })
        };
        for path in ["boot/grub/grub.cfg", "etc/netplan/50-site.yaml", "etc/systemd/network/25-wg0.netdev"] {
            assert_eq!(c.leaf(&steps(path), false).map(|l| l.take), Some(Take::Name), "{path}");
            assert!(c.leaf(&steps(path), true).is_none(), "an audit does not look at {path}");
        }
        // Of those that plans have to read, named keys of named sections.
        for (path, allowed) in [
            ("etc/NetworkManager/system-connections/a.nmconnection", ini::NM_PROFILE),
            ("etc/NetworkManager/system-connections/old name", ini::NM_PROFILE),
            ("run/NetworkManager/system-connections/netplan-eth1.nmconnection", ini::NM_PROFILE),
            ("run/NetworkManager/devices/3", ini::NM_DEVICE),
            ("run/systemd/network/10-netplan-eth1.network", ini::NETWORKD),
            ("etc/systemd/network/10-a.network.d/site.conf", ini::NETWORKD),
        ] {
            let leaf = c.leaf(&steps(path), false).map(|l| (l.take, l.keep, l.hide));
            assert_eq!(leaf, Some((Take::File, Keep::Ini(allowed), Hide::Text)), "{path}");
            assert!(c.leaf(&steps(path), true).is_none(), "an audit does not look at {path}");
        }
        // Ours are kept whole: a plan tells what was in them before.
        for path in ["etc/systemd/network/10-a.network.d/90-linerate.conf", "etc/systemd/network/10-linerate.network"] {
            assert_eq!(c.leaf(&steps(path), false).map(|l| (l.take, l.keep)), Some((Take::File, Keep::All)), "{path}");
        }
        let id = ["etc", "machine-id"].iter().fold(vec![0], |at, name| {
            let mut below = Vec::new();
            c.below(&at, name, &mut below);
            below
        });
        assert_eq!(c.leaf(&id, false).map(|l| (l.keep, l.hide)), Some((Keep::Digest, Hide::Serial)));
        for path in
            ["etc/modules-load.d/linerate.conf", "etc/modprobe.d/linerate.conf", "etc/systemd/network/10-linerate.link"]
        {
            let at = path.split('/').fold(vec![0], |at, name| {
                let mut below = Vec::new();
                c.below(&at, name, &mut below);
                below
            });
            assert_eq!(c.leaf(&at, false).map(|l| l.take), Some(Take::File), "{path}");
        }
    }

    #[test]
    fn evidence_of_the_rules_is_collected() {
        for path in [
            "proc/cmdline",
            "sys/bus/pci/devices/0000:01:00.0/config",
            "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/aer_dev_fatal",
            "sys/devices/pci0000:00/0000:01:00.0/infiniband/mlx5_0/ports/1/gid_attrs/types/0",
            "sys/kernel/mm/memory_peers/nv_mem/version",
            "proc/driver/nvidia/gpus/0000:01:00.0/information",
            "etc/default/grub.d/99-site.cfg",
            "usr/sbin/update-grub",
        ] {
            assert!(tries(path), "{path}");
        }
        assert!(!tries("etc/shadow"));
        assert!(!tries("boot/grub/user.cfg"));
        assert!(!tries("home/user/.ssh/id_rsa"));
    }
}
