//! Capture: a live host, or a tree under a directory, into a snapshot. Read-only, bounded, never blocked for good.

mod bystander;
mod commands;
mod file;
mod filter;
mod groups;
pub(crate) mod ini;
mod nvml;
pub mod posix;
mod root;
mod run;
mod walk;
mod worker;

pub use crate::interrupt::abandon;
pub(crate) use filter::kernel_log;
pub use filter::machine_digest;

use crate::catalogue::catalogue_of;
use crate::redact::Redactor;
use crate::{Coverage, EntryKind, Lookup, Output, OutputKind, Snapshot};
use linerate_formats::bounds;
use linerate_formats::pci::config::ConfigSpace;
use root::Root;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(test)]
pub(crate) fn run_for_test(argv: &[String]) {
    run::run(argv, Duration::from_secs(100), 100);
}

/// Time for the NVML library: waking idle GPUs takes seconds each.
const NVML_LIMIT: Duration = Duration::from_secs(30);

/// What the capture is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// An answer now: skips what only an archive needs.
    Audit,
    /// An archive.
    Collect,
    /// What grows (`counters.txt`), as often as somebody likes: a few files and one quick command.
    Counters,
}

/// How to capture.
#[derive(Debug, Clone)]
pub struct Options {
    /// What for.
    pub purpose: Purpose,
    /// Root directory of the tree; `/` is the live host.
    pub root: PathBuf,
    /// Whether to run the commands of the catalogue. Only ever done for `/`.
    pub commands: bool,
    /// Whether to hash identifying values. Secrets are removed in any case.
    pub redact: bool,
    /// With which key; `None`: one that nobody keeps.
    pub key: Option<crate::RedactKey>,
    /// Time for one file. A read that takes longer is left behind.
    pub file_limit: Duration,
    /// Time for all files.
    pub total_limit: Duration,
    /// Bytes kept.
    pub max_bytes: usize,
    /// Entries kept.
    pub max_entries: usize,
    /// What packed input may become.
    pub budget: crate::Budget,
    /// Whose texts are, where the operator says so.
    pub host_of: crate::HostOf,
}

impl Options {
    /// The usual ones for a root directory.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, purpose: Purpose) -> Self {
        Options {
            purpose,
            root: root.into(),
            commands: true,
            redact: true,
            key: None,
            file_limit: Duration::from_secs(2),
            total_limit: Duration::from_secs(60),
            max_bytes: bounds::KEPT,
            max_entries: bounds::KEPT_ENTRIES,
            budget: crate::Budget::default(),
            host_of: crate::HostOf::default(),
        }
    }

    fn live(&self) -> bool {
        self.root == Path::new("/")
    }
}

/// How far a capture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// So many entries of files.
    Files(usize),
    /// This command was started; so many still run.
    Started(&'a str, usize),
    /// This command ended; so many still run.
    Ended(&'a str, usize),
}

/// The root directory could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot capture {}: {source}; the directory that holds sys/ and proc/ is expected, and it must be readable", .root.display())]
pub struct CaptureError {
    /// The directory.
    pub root: PathBuf,
    /// Why.
    pub source: std::io::Error,
}

/// Captures the live host (`/`), or a tree.
///
/// # Errors
/// The root directory cannot be opened. Everything else that fails is in the snapshot, with its reason.
pub fn capture(options: &Options, progress: &dyn Fn(Progress<'_>)) -> Result<Snapshot, CaptureError> {
    let error = |source: std::io::Error| CaptureError { root: options.root.clone(), source };
    let root = Root::open(&options.root).map_err(|e| error(e.into()))?;
    let mut redactor = Redactor::new(options.redact, options.key.as_ref()).map_err(error)?;
    let host = host_name(options);
    redactor.set_host(&host);
    let audit = options.purpose == Purpose::Audit;
    let with_commands = options.commands && options.live();

    let nvml_to = redactor.clone();
    let nvml = with_commands.then(|| std::thread::spawn(move || nvml::ask(NVML_LIMIT, &nvml_to)));
    let early = with_commands.then(|| commands::start_early(options.purpose));
    let (mut snapshot, root, redactor) = walk::files(root, redactor, options, &|n| progress(Progress::Files(n)));
    if audit {
        groups::members(&mut snapshot);
    }
    progress(Progress::Files(snapshot.len()));
    if let Some(early) = early {
        commands::finish(&mut snapshot, early, options.purpose, &redactor, progress);
    }
    if let Some(json) = nvml.and_then(|n| n.join().ok())
        && let Some(entry) = snapshot.add_file(crate::NVML_PATH, &json)
    {
        snapshot.outputs.push(Output { kind: OutputKind::Nvml, entry, argv: Vec::new(), status: None });
    }
    if options.live() {
        environment(&mut snapshot, options.purpose, &redactor);
    }
    describe(&mut snapshot, &root, options, redactor.host_name(&host));
    Ok(snapshot)
}

/// The files of a tree that was captured before: nothing is redacted again, and no conclusions about coverage are drawn.
pub(crate) fn files_of(options: &Options, watch: &dyn Fn(usize)) -> Result<Snapshot, CaptureError> {
    let error = |source: std::io::Error| CaptureError { root: options.root.clone(), source };
    let mut root = Root::open(&options.root).map_err(|e| error(e.into()))?;
    (root.sysfs, root.procfs) = (false, false);
    let redactor = Redactor::new(false, None).map_err(error)?;
    let mut snapshot = walk::files(root, redactor, options, watch).0;
    if options.purpose == Purpose::Audit {
        groups::members(&mut snapshot);
    }
    Ok(snapshot)
}

fn host_name(options: &Options) -> String {
    if options.live() {
        return rustix::system::uname().nodename().to_string_lossy().into_owned();
    }
    // In a tree it is a plain file; one that is not is not opened.
    let path = options.root.join("proc/sys/kernel/hostname");
    match std::fs::symlink_metadata(&path) {
        Ok(m) if m.is_file() && m.len() < 4096 => std::fs::read_to_string(&path).unwrap_or_default().trim().to_owned(),
        _ => String::new(),
    }
}

/// Variables of this process that matter to NCCL and UCX, as `linerate/env`.
fn environment(snapshot: &mut Snapshot, purpose: Purpose, redactor: &Redactor) {
    let wanted = |name: &str| {
        catalogue_of(purpose)
            .env
            .iter()
            .any(|p| p.strip_suffix('*').map_or(*p == name, |prefix| name.starts_with(prefix)))
    };
    let mut vars: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)))
        .filter(|(n, v)| wanted(n) && !v.contains('\n'))
        .collect();
    vars.sort();
    let mut text: Vec<u8> = vars.iter().flat_map(|(n, v)| format!("{n}={v}\n").into_bytes()).collect();
    crate::redact::secrets::file("linerate/env", &mut text);
    redactor.text(&mut text);
    snapshot.add_file("linerate/env", &text);
}

fn describe(snapshot: &mut Snapshot, root: &Root, options: &Options, host: String) {
    let text = |s: &Snapshot, path: &'static str| s.text(s.root(), path).known().map(|t| (*t).to_owned());
    let boot_id = text(snapshot, "proc/sys/kernel/random/boot_id").unwrap_or_default();
    let audit = options.purpose == Purpose::Audit;
    let m = &mut snapshot.manifest;
    m.schema = crate::manifest::SCHEMA;
    m.linerate = env!("CARGO_PKG_VERSION").to_owned();
    m.time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    m.boot_id = crate::redact::secrets::boot_digest(&boot_id);
    m.uid = Some(rustix::process::geteuid().as_raw());
    m.origin = if options.live() { "live" } else { "root" }.to_owned();
    m.redacted = options.redact;
    m.redact_key = options.key.as_ref().filter(|_| options.redact).map(crate::RedactKey::id);
    m.host = host;
    let kernel_is_there = root.sysfs && root.procfs;
    if kernel_is_there {
        m.tried = catalogue_of(options.purpose)
            .patterns
            .iter()
            .filter(|(_, c)| !(audit && *c))
            .map(|(p, _)| p.clone())
            .collect();
    }
    let whole = options.purpose == Purpose::Collect;
    let mut not_tried = if whole { Vec::new() } else { crate::manifest::not_tried(&m.tried) };
    not_tried.extend(m.unread.iter().map(|u| u.path.clone()));
    snapshot.label = if options.live() { m.host.clone() } else { options.root.display().to_string() };
    snapshot.coverage = match (&snapshot.coverage, kernel_is_there) {
        (Coverage::Full { .. }, true) => Coverage::Full { not_tried },
        _ => Coverage::Partial,
    };
}

/// Directories of the snapshot's PCI devices, by BDF.
fn pci_devices(snapshot: &Snapshot) -> Vec<(String, crate::EntryId)> {
    let Lookup::Found(dir) = snapshot.resolve("sys/bus/pci/devices") else { return Vec::new() };
    let all = snapshot.children(dir).into_iter();
    all.filter_map(|(name, id)| Some((name.to_owned(), snapshot.follow(id)?))).collect()
}

/// Whether a device directory is a Mellanox network function, and not a virtual one.
fn is_mlx_pf(snapshot: &Snapshot, dir: crate::EntryId) -> bool {
    let text = |leaf| snapshot.text(dir, leaf).known().copied().unwrap_or_default().to_owned();
    let virtual_function = snapshot.child(dir, "physfn").is_some_and(|l| *snapshot.kind(l) == EntryKind::Link);
    // An audit leaves the files out where the header says the same.
    let header = snapshot.read(dir, "config").known().and_then(|c| ConfigSpace::new(c).header());
    let header = header.is_some_and(|h| h.vendor == 0x15b3 && h.class.is_network());
    !virtual_function && (header || (text("vendor") == "0x15b3" && text("class").starts_with("0x02")))
}

/// Whether a device directory is a network function, by the file of its class.
fn is_network(snapshot: &Snapshot, dir: crate::EntryId) -> bool {
    snapshot.text(dir, "class").known().is_some_and(|c| c.starts_with("0x02"))
}
