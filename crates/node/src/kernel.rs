//! The kernel: version, command line, configuration, modules and their parameters, its log.

use crate::modprobe;
use linerate_formats::cmdline::{self, Cmdline};
use linerate_formats::dmesg;
use linerate_formats::kernel_config::{self, ConfigOption};
use linerate_formats::kernel_version::{self, KernelVersion};
use linerate_formats::next_boot::{self, NextBoot};
use linerate_formats::uname;
use linerate_snapshot::{EntryId, OutputKind, Place, Reading, Snapshot, Why};

/// A classified line of the kernel's log.
#[derive(Debug, Clone)]
pub struct LogEvent {
    /// What it says.
    pub event: dmesg::Event,
    /// Its line.
    pub place: Place,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Release.
    pub release: Reading<KernelVersion>,
    /// Command line: the kernel's own file, a pasted one, or what the boot log printed.
    pub cmdline: Reading<Cmdline>,
    /// Arguments that a configuration asks for at the next boot: `/etc/default/grub`, a boot entry, a MachineConfig.
    pub next_boot: Reading<NextBoot>,
    /// Names of loaded modules, `-` as `_`.
    pub modules: Reading<Vec<String>>,
    /// RDMA drivers built apart from the kernel: their modules have a version of their own.
    pub foreign: Vec<&'static str>,
    /// Versions of drivers that have one of their own, `NAME=VERSION`: those built apart from the kernel.
    pub module_versions: Reading<Vec<String>>,
    /// Soft and hard limit of open files of the process that captured.
    pub nofile: Reading<(String, String)>,
    /// Soft and hard limit of processes of its user.
    pub nproc: Reading<(String, String)>,
    /// Build configuration: option name and value (`y`, `m`, `n`).
    pub config: Reading<Vec<ConfigOption>>,
    /// Classified lines of the log. Known and empty: the log was read and holds no line of interest. A log buffer wraps: what is
    /// not in it may have been said before.
    pub log: Reading<Vec<LogEvent>>,
}

impl Kernel {
    pub(crate) fn decode(s: &Snapshot) -> Self {
        let root = s.root();
        let release = s
            .text(root, "proc/sys/kernel/osrelease")
            .or(|| s.text(root, "proc/version").parse("no release in it", |t| t.split_whitespace().nth(2)))
            .parse("not a kernel release", kernel_version::parse);
        let log = log(s);
        let release = release.or(|| named_release(s)).or(|| logged_release(&log));
        Kernel {
            release,
            cmdline: output(s, OutputKind::Cmdline, "proc/cmdline").map(cmdline::parse).or(|| logged_cmdline(s, &log)),
            next_boot: next_boot(s),
            modules: s.read(root, "proc/modules").map(|b| {
                String::from_utf8_lossy(b)
                    .lines()
                    .filter_map(|l| Some(l.split_whitespace().next()?.replace('-', "_")))
                    .collect()
            }),
            foreign: ["efa", "bnxt_re", "irdma", "mana_ib"]
                .into_iter()
                .filter(|m| {
                    module(s, m).known().is_some_and(|home| {
                        matches!(s.kind(*home), linerate_snapshot::EntryKind::Dir)
                            && s.text(*home, "version").known().is_some()
                    })
                })
                .collect(),
            module_versions: module_versions(s),
            nofile: limit(s, "Max open files"),
            nproc: limit(s, "Max processes"),
            config: config(s),
            log,
        }
    }

    /// Devices whose drivers say in the log that they start.
    pub fn bound(&self) -> impl Iterator<Item = dmesg::Requester> {
        self.log.known().into_iter().flatten().filter_map(|e| match e.event {
            dmesg::Event::Bound(of) => Some(of),
            _ => None,
        })
    }

    /// Log events that a filter accepts.
    pub fn events<'a, T>(
        &'a self,
        pick: impl Fn(&'a dmesg::Event) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (T, Place)> + 'a {
        self.log.known().into_iter().flatten().filter_map(move |e| Some((pick(&e.event)?, e.place)))
    }
}

/// Modules whose versions are captured, and where: of each driver the one that the others of it follow.
const VERSIONS: [(&str, &str); 10] = [
    ("nvidia", "sys/module/nvidia/version"),
    ("nv_peer_mem", "sys/module/nv_peer_mem/version"),
    ("gdrdrv", "sys/module/gdrdrv/version"),
    ("mlx5_core", "sys/module/mlx5_core/version"),
    ("mlx4_core", "sys/module/mlx4_core/version"),
    ("ib_core", "sys/module/ib_core/version"),
    ("efa", "sys/module/efa/version"),
    ("bnxt_re", "sys/module/bnxt_re/version"),
    ("irdma", "sys/module/irdma/version"),
    ("mana_ib", "sys/module/mana_ib/version"),
];

/// Known where each of them was looked for: a list with gaps would look like other drivers.
fn module_versions(s: &Snapshot) -> Reading<Vec<String>> {
    s.dir("sys/module").and_then(|_, place| {
        let mut out = Vec::new();
        for (name, path) in VERSIONS {
            match s.text(s.root(), path) {
                Reading::Known(version, _) => out.push(format!("{name}={version}")),
                Reading::Absent(_) => {}
                Reading::Unreadable(place, why) => return Reading::Unreadable(place, why),
            }
        }
        Reading::Known(out, place)
    })
}

/// Soft and hard limit of the process that captured: a number, or `unlimited`.
fn limit(s: &Snapshot, name: &'static str) -> Reading<(String, String)> {
    s.text(s.root(), "proc/self/limits").parse("no such limit", |t| {
        let line = t.lines().find_map(|l| l.strip_prefix(name))?;
        let mut words = line.split_whitespace();
        let mut next = || words.next().filter(|w| *w == "unlimited" || w.parse::<u64>().is_ok()).map(str::to_owned);
        Some((next()?, next()?))
    })
}

/// Whether a module is there: loaded, or built in with parameters or a version (then it has a directory in /sys/module).
/// `name` with underscores. Known: its directory in /sys/module, or its line in /proc/modules.
#[must_use]
pub fn module(s: &Snapshot, name: &str) -> Reading<EntryId> {
    let in_sysfs = s.dir("sys/module").known().and_then(|dir| s.child(*dir, name));
    if let Some(e) = in_sysfs {
        return Reading::Known(e, Place::of(e));
    }
    // The capture takes the directories of the modules it knows; /proc/modules lists all that are loaded.
    s.read(s.root(), "proc/modules").and_then(|text, place| {
        let is_it = |l: &[u8]| l.split(|b| *b == b' ').next() == Some(name.as_bytes());
        match text.split(|b| *b == b'\n').position(is_it) {
            Some(n) => Reading::Known(place.base, place.line(u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1))),
            None => Reading::Absent(place),
        }
    })
}

/// Value of a module's parameter. Absent: the module is there and has no such parameter.
#[must_use]
pub fn module_param<'s>(s: &'s Snapshot, module_name: &str, param: &'static str) -> Reading<&'s str> {
    module(s, module_name).and_then(|home, place| match s.child(home, "parameters") {
        _ if !matches!(s.kind(home), linerate_snapshot::EntryKind::Dir) => {
            Reading::Unreadable(place, Why::NotCollected)
        }
        Some(dir) => s.text(dir, param),
        None => Reading::Absent(place),
    })
}

/// A file of the tree, or the pasted text of that kind.
fn output<'s>(s: &'s Snapshot, kind: OutputKind, path: &'static str) -> Reading<&'s [u8]> {
    s.read(s.root(), path).or(|| match s.outputs.iter().find(|o| o.kind == kind) {
        // The kernel ends its command line with a newline; without it the text may be a part: `amd_iommu=of`.
        Some(o) if !s.data(o.entry).ends_with(b"\n") => {
            let n = u32::try_from(s.data(o.entry).len()).unwrap_or(u32::MAX);
            Reading::Unreadable(Place::of(o.entry), Why::Cut(n))
        }
        Some(o) => Reading::Known(s.data(o.entry), Place::of(o.entry)),
        None => s.missing(s.root(), path),
    })
}

fn config(s: &Snapshot) -> Reading<Vec<ConfigOption>> {
    let Reading::Known(boot, _) = s.dir("boot") else {
        return s.read(s.root(), "proc/config.gz").map(kernel_config::parse);
    };
    match s.children(boot).into_iter().find(|(n, _)| n.starts_with("config-")) {
        Some((_, e)) => Reading::Known(kernel_config::parse(s.data(e)), Place::of(e)),
        None => s.missing(boot, "config-*"),
    }
}

/// The release that `uname` printed.
fn named_release(s: &Snapshot) -> Reading<KernelVersion> {
    let mut texts = s.outputs.iter().filter(|o| o.kind == OutputKind::Uname);
    let hit = texts.find_map(|o| Some((uname::parse(s.data(o.entry))?, Place::of(o.entry))));
    match hit {
        Some((release, place)) => Reading::Known(release.value, place.line(release.line)),
        None => Reading::Unreadable(Place::below(s.root(), "cmd/uname"), Why::NotCollected),
    }
}

/// The release as the last boot in the log printed it: for sources that hold a log only.
fn logged_release(log: &Reading<Vec<LogEvent>>) -> Reading<KernelVersion> {
    let hit = log.known().into_iter().flatten().rev().find_map(|e| match &e.event {
        dmesg::Event::KernelRelease(text) => Some((kernel_version::parse(text)?, e.place)),
        _ => None,
    });
    hit.map_or_else(|| Reading::Unreadable(log.place(), Why::NotCollected), |(v, place)| Reading::Known(v, place))
}

/// The command line as the boot log printed it: for sources that hold a log only.
fn logged_cmdline(s: &Snapshot, log: &Reading<Vec<LogEvent>>) -> Reading<Cmdline> {
    let hit = log.known().into_iter().flatten().rev().find_map(|e| match &e.event {
        dmesg::Event::CommandLine(text) => Some((text, e.place)),
        _ => None,
    });
    let Some((text, place)) = hit else {
        return Reading::Unreadable(log.place(), Why::NotCollected);
    };
    let data = s.data(place.base);
    let last = u32::try_from(data.iter().filter(|b| **b == b'\n').count()).unwrap_or(u32::MAX).saturating_add(1);
    let unended = place.pos == linerate_snapshot::Pos::Line(last);
    // printk cuts a record at about 1,000 bytes, and nothing in it tells; a text may end in the middle of a line.
    if text.len() > 900 || unended {
        return Reading::Unreadable(place, Why::Cut(u32::try_from(text.len()).unwrap_or(u32::MAX)));
    }
    let mut cmdline = cmdline::parse(text.as_bytes());
    if let linerate_snapshot::Pos::Line(line) = place.pos {
        for p in &mut cmdline.params {
            p.line = line;
        }
    }
    Reading::Known(cmdline, place)
}

/// What the configurations that were seen ask for. Files below `/etc/default/grub.d` are sourced after the defaults.
fn next_boot(s: &Snapshot) -> Reading<NextBoot> {
    let defaults = s.read(s.root(), "etc/default/grub");
    if let Reading::Known(file, place) = &defaults {
        let dir = s.dir("etc/default/grub.d");
        let mut later: Vec<_> = dir.known().map(|d| s.children(*d)).unwrap_or_default();
        later.retain(|(name, _)| name.ends_with(".cfg"));
        later.sort_unstable_by_key(|(name, _)| *name);
        let later = later.into_iter().filter_map(|(_, entry)| modprobe::file(s, entry));
        let files: Vec<&[u8]> = std::iter::once(*file).chain(later.map(|e| s.data(e))).collect();
        // A word of a later file has that file's line, which is not in this one.
        let one_file = files.len() == 1;
        if let Some(mut asked) = next_boot::grub_defaults(&files) {
            if !one_file {
                asked.cmdline.params.iter_mut().for_each(|p| p.line = 1);
            }
            return Reading::Known(asked, *place);
        }
    }
    for o in &s.outputs {
        let read = match o.kind {
            OutputKind::GrubCfg => next_boot::grub_cfg,
            OutputKind::BootEntry => next_boot::boot_entry,
            OutputKind::MachineConfig => next_boot::machine_config,
            OutputKind::TalosConfig => next_boot::talos,
            _ => continue,
        };
        if let Some(asked) = read(s.data(o.entry)) {
            return Reading::Known(asked, Place::of(o.entry));
        }
    }
    Reading::Unreadable(defaults.place(), Why::NotCollected)
}

/// Whether a text holds no line of a log at all. A running kernel always said something.
fn says_nothing(log: &[u8]) -> bool {
    log.split(|b| *b == b'\n').all(|l| l.trim_ascii().is_empty() || l.starts_with(b"-- "))
}

fn log(s: &Snapshot) -> Reading<Vec<LogEvent>> {
    let mut events = Vec::new();
    let mut first = None;
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Dmesg) {
        if let linerate_snapshot::EntryKind::Failed(why) = s.kind(o.entry) {
            first.get_or_insert(Reading::Unreadable(Place::of(o.entry), why.clone()));
            continue;
        }
        // `dmesg` that was refused prints nothing and fails: that is not an empty log.
        if o.status.is_some_and(|st| st != 0) && s.data(o.entry).is_empty() {
            first.get_or_insert(Reading::Unreadable(Place::of(o.entry), Why::Denied));
            continue;
        }
        // journalctl without the right to read prints nothing, or "-- No entries --", and succeeds.
        if says_nothing(s.data(o.entry)) {
            first.get_or_insert(Reading::Unreadable(Place::of(o.entry), Why::Denied));
            continue;
        }
        let place = Place::of(o.entry);
        events.extend(
            dmesg::scan(s.data(o.entry)).into_iter().map(|f| LogEvent { event: f.event, place: place.line(f.line) }),
        );
        first = Some(Reading::Known(Vec::new(), place));
    }
    match first {
        Some(Reading::Known(_, p)) => Reading::Known(events, p),
        Some(other) => other,
        None => Reading::Unreadable(Place::below(s.root(), "dmesg"), Why::NotCollected),
    }
}
