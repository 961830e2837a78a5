//! One way in: the live host, a tree, an archive, a directory of texts, one text.

use crate::archive::{OpenError, Reader};
use crate::capture::{self, Options, Progress, Purpose};
use crate::{Output, OutputKind, Snapshot};
use std::io::Read;
use std::path::Path;

/// Texts in one directory, and bytes of one text.
const MAX_TEXTS: usize = 1000;
const MAX_TEXT: u64 = 16 << 20;

/// Which tool's output a text is, by its name and its content.
pub(crate) fn kind_of(name: &str, bytes: &[u8]) -> OutputKind {
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(16 << 10)).unwrap_or_default()).into_owned();
    let has = |w: &str| head.contains(w);
    let starts = |w: &str| head.trim_start().starts_with(w);
    let name = name.rsplit('/').next().unwrap_or(name);
    let first_line = head.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    if has("<nvidia_smi_log") {
        OutputKind::NvidiaSmiXml
    } else if has("NVSMI LOG") {
        OutputKind::NvidiaSmiQuery
    } else if has("GPU0") && (has("CPU Affinity") || has(" X ")) {
        if has("P2P") || has(" OK ") { OutputKind::NvidiaSmiP2p } else { OutputKind::NvidiaSmiTopo }
    } else if has("Configurations:") && (has("Next Boot") || has("Next boot") || has("Current")) {
        OutputKind::MlxconfigText
    } else if starts("CA '") || has("\nCA '") {
        OutputKind::Ibstat
    } else if has("hca_id:") {
        OutputKind::IbvDevinfo
    } else if has(" port 1 ==> ") {
        OutputKind::Ibdev2netdev
    } else if starts("<domain") || has("<domain type=") {
        OutputKind::VirshXml
    } else if looks_like_lspci(first_line) {
        OutputKind::Lspci
    } else if name == "cmdline" || name.ends_with("proc_cmdline") || (starts("BOOT_IMAGE=") && head.lines().count() < 3)
    {
        OutputKind::Cmdline
    } else if name.starts_with("dmesg") || name.starts_with("journalctl") || has("Linux version ") || starts("[    0.0")
    {
        OutputKind::Dmesg
    } else if name.starts_with("lspci") && !head.trim().is_empty() && head.contains("Capabilities:") {
        OutputKind::Lspci
    } else {
        OutputKind::Other
    }
}

/// `41:00.0 Ethernet controller: …`, with or without a domain.
fn looks_like_lspci(line: &str) -> bool {
    let Some((bdf, rest)) = line.trim_start().split_once(' ') else { return false };
    let Some((bus, function)) = bdf.rsplit_once('.') else { return false };
    let hex = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_hexdigit());
    function.len() == 1 && bus.split(':').all(hex) && matches!(bus.matches(':').count(), 1 | 2) && rest.contains(':')
}

/// Whether a directory holds a tree (`sys/` or `proc/`) or an unpacked snapshot.
#[must_use]
pub fn is_snapshot_dir(path: &Path) -> bool {
    [
        "linerate/manifest.json",
        "sys/bus",
        "sys/class",
        "sys/devices",
        "sys/kernel",
        "proc/cpuinfo",
        "proc/cmdline",
        "proc/version",
    ]
    .iter()
    .any(|p| path.join(p).symlink_metadata().is_ok())
}

/// Loads a snapshot: `/` is the live host; a directory with `sys/` or `proc/` inside (also a few levels deeper) a tree; another
/// directory one of texts; a file an archive or a text; `-` a text or archive on standard input.
///
/// # Errors
/// It cannot be read, or nothing in it is of use.
pub fn load(path: &Path, options: &Options, progress: &dyn Fn(Progress<'_>)) -> Result<Snapshot, OpenError> {
    let io = |source| OpenError::Io { path: path.to_owned(), source };
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(64 << 20).read_to_end(&mut bytes).map_err(io)?;
        return load_bytes(&bytes, "standard input");
    }
    let meta = std::fs::metadata(path).map_err(io)?;
    if meta.is_dir() {
        return directory(path, options, progress);
    }
    if !meta.is_file() {
        let why = "it is neither a file nor a directory".to_owned();
        return Err(OpenError::NotASnapshot { what: path.display().to_string(), why });
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(64 << 10).read_to_end(&mut head).map_err(io)?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if kind_of(&name, &head) == OutputKind::Other || head.starts_with(&[0x1f, 0x8b]) {
        return Reader::new().read(path);
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(io)?.take(MAX_TEXT).read_to_end(&mut bytes).map_err(io)?;
    load_bytes(&bytes, &name)
}

/// Loads an archive or a text from memory.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(bytes: &[u8], name: &str) -> Result<Snapshot, OpenError> {
    let kind = kind_of(name, bytes);
    if kind == OutputKind::Other {
        return Reader::new().read_bytes(bytes, name);
    }
    let mut s = Snapshot::new(name);
    text(&mut s, name, kind, bytes);
    Ok(s)
}

fn text(s: &mut Snapshot, name: &str, kind: OutputKind, bytes: &[u8]) {
    let name = name.rsplit('/').next().unwrap_or(name);
    if let Some(entry) = s.add_file(&format!("pasted/{name}"), bytes) {
        s.outputs.push(Output { kind, entry, argv: Vec::new(), status: None });
    }
}

fn directory(path: &Path, options: &Options, progress: &dyn Fn(Progress<'_>)) -> Result<Snapshot, OpenError> {
    let Some(tree) = find_tree(path, 3) else { return texts(path) };
    if tree.join(crate::archive::MANIFEST).is_file() {
        return crate::archive::unpacked(&tree);
    }
    let options = Options { root: tree, ..options.clone() };
    Ok(capture::capture(&options, progress)?)
}

/// The tree at a path or a few levels deeper; of several, the first by name.
fn find_tree(path: &Path, depth: u32) -> Option<std::path::PathBuf> {
    if is_snapshot_dir(path) {
        return Some(path.to_owned());
    }
    if depth == 0 {
        return None;
    }
    let mut dirs: Vec<_> = std::fs::read_dir(path).ok()?.flatten().take(MAX_TEXTS).collect();
    dirs.sort_by_key(std::fs::DirEntry::file_name);
    dirs.iter().filter(|d| d.file_type().is_ok_and(|t| t.is_dir())).find_map(|d| find_tree(&d.path(), depth - 1))
}

/// A directory of texts, each named as people name them.
fn texts(path: &Path) -> Result<Snapshot, OpenError> {
    let io = |source| OpenError::Io { path: path.to_owned(), source };
    let mut s = Snapshot::new(path.display().to_string());
    let mut files: Vec<_> = std::fs::read_dir(path).map_err(io)?.flatten().take(MAX_TEXTS).collect();
    files.sort_by_key(std::fs::DirEntry::file_name);
    for f in &files {
        let name = f.file_name().to_string_lossy().into_owned();
        if !f.file_type().is_ok_and(|t| t.is_file()) {
            continue;
        }
        let mut bytes = Vec::new();
        let read = std::fs::File::open(f.path()).and_then(|f| f.take(MAX_TEXT).read_to_end(&mut bytes));
        match (read, kind_of(&name, &bytes)) {
            (Err(e), _) => s.problems.push(format!("{name}: {e}")),
            (Ok(_), OutputKind::Other) => {
                s.problems.push(format!("{name}: not recognised as a tool's output; left out"))
            }
            (Ok(_), kind) => text(&mut s, &name, kind, &bytes),
        }
    }
    if s.outputs.is_empty() {
        let why = format!("none of its {} files is the output of a known tool", files.len());
        return Err(OpenError::NotASnapshot { what: path.display().to_string(), why });
    }
    Ok(s)
}

/// The usual options for reading what is at a path.
#[must_use]
pub fn options_for(path: &Path, purpose: Purpose) -> Options {
    Options::new(path, purpose)
}
