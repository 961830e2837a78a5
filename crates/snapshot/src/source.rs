//! One way in: the live host, a tree, an archive, a directory of texts, one text.

use crate::archive::nested::{Nodes, is_wanted, several};
use crate::archive::{Each, OpenError, PackedText, Reader, is_archive, is_archive_name, of_node, packed_text};
use crate::capture::{self, Options, Progress, Purpose};
use crate::listing::{Source, SourceKind, of_nodes};
use crate::long_text::LongText;
use crate::owners::{Owned, Pasted, by_node};
use crate::quoted::without_quotes;
use crate::recognise::{HEAD, is_lfs_stub, output, recognise};
use crate::redact::secrets;
use crate::texts::join;
use crate::{Budget, EntryId, HostOf, Lines, Output, Snapshot, cut};
use linerate_formats::bounds::{KEPT, TEXT as MAX_TEXT, TEXTS as MAX_TEXTS};
use linerate_formats::{Gives, Kind, sniff};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

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
        return piped(std::io::stdin().lock(), "standard input", path, options);
    }
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(e) => {
            return one_of(path, options).or_else(|| one_of_texts(path, options)).unwrap_or(Err(io(e)));
        }
    };
    if meta.is_dir() {
        return directory(path, options, progress);
    }
    // What a shell makes of `<(…)`.
    if meta.file_type().is_fifo() {
        return piped(std::fs::File::open(path).map_err(io)?, &path.display().to_string(), path, options);
    }
    if !meta.is_file() {
        let why = "it is neither a file nor a directory".to_owned();
        return Err(OpenError::NotASnapshot { what: path.display().to_string(), why });
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(HEAD as u64).read_to_end(&mut head).map_err(io)?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if is_archive(&head) {
        return match packed_text(std::fs::File::open(path).map_err(io)?, MAX_TEXT, &options.budget) {
            Some(packed) => one_packed(&packed, &name, options.host_of.of(path)),
            None => with_texts(path, Reader::within(&options.budget).read(path), options),
        };
    }
    let host = options.host_of.of(path);
    let text = LongText::read(&mut std::fs::File::open(path).map_err(io)?, host).map_err(io)?;
    match one_text(text, &name, host) {
        Err(e) if is_archive_name(&name) => with_texts(path, Err(e), options),
        text => text,
    }
}

/// A text or an archive that can be read once.
fn piped(mut input: impl Read, name: &str, path: &Path, options: &Options) -> Result<Snapshot, OpenError> {
    let io = |source| OpenError::Io { path: path.to_owned(), source };
    let (host, mut head) = (options.host_of.of(path), Vec::new());
    input.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(io)?;
    if is_archive(&head) {
        input.take((64 << 20) - head.len() as u64).read_to_end(&mut head).map_err(io)?;
        return load_within(&head, name, &options.budget, host);
    }
    let text = LongText::read(&mut head.as_slice().chain(input), host).map_err(io)?;
    one_text(text, name, host)
}

/// The node of an archive that a path goes on to: `must-gather.tar.gz/gpu001`. `None`: no file is above it.
fn one_of(path: &Path, options: &Options) -> Option<Result<Snapshot, OpenError>> {
    let file = path.ancestors().skip(1).find(|p| p.is_file())?;
    let wanted = path.strip_prefix(file).ok()?.to_str()?;
    let (mut found, mut names) = (Nodes::default(), Vec::new());
    let read = Reader::within(&options.budget).read_each(file, &mut |at, node| {
        names.push(at.to_owned());
        if is_wanted(at, wanted) {
            found.take(at, node);
        }
    });
    let what = file.display().to_string();
    if names.is_empty()
        && let Some(nodes) = pieces_of(file, &options.host_of)
    {
        return Some(named(&what, wanted, nodes));
    }
    Some(match read {
        Err(e) => Err(e),
        Ok(()) if found.is_empty() => Err(several(&what, Some(wanted), &names)),
        Ok(()) => found.only(&what),
    })
}

/// The node of a directory of texts that a path goes on to: `texts/gpu001`.
fn one_of_texts(path: &Path, options: &Options) -> Option<Result<Snapshot, OpenError>> {
    let dir = path.parent().filter(|p| p.is_dir() && !is_snapshot_dir(p))?;
    let wanted = path.file_name()?.to_str()?;
    let nodes = of_texts(dir, options).ok().filter(|nodes| nodes.len() > 1)?;
    Some(named(&dir.display().to_string(), wanted, nodes))
}

/// The one of this name.
fn named(what: &str, wanted: &str, nodes: Vec<(String, Snapshot)>) -> Result<Snapshot, OpenError> {
    let names: Vec<String> = nodes.iter().map(|(at, _)| at.clone()).collect();
    let found = nodes.into_iter().find(|(at, _)| at == wanted);
    found.map(|(_, s)| s).ok_or_else(|| several(what, Some(wanted), &names))
}

/// The only one.
fn only(what: &str, nodes: Vec<(String, Snapshot)>) -> Result<Snapshot, OpenError> {
    let mut all = Nodes::default();
    nodes.into_iter().for_each(|(at, s)| all.take(&at, Ok(s)));
    all.only(what)
}

/// Loads the nodes of a file or directory, one after the other, with the place of each in it; that of a single one is empty.
///
/// # Errors
/// As [`load`]; nodes that were handed on before are whole.
pub fn load_each(reader: &mut Reader, path: &Path, options: &Options, each: &mut Each<'_>) -> Result<(), OpenError> {
    if path.is_file() {
        let mut count = 0;
        let read = reader.read_each(path, &mut |at, node| {
            count += 1;
            let whole = node.is_ok() && at.is_empty();
            each(at, if whole { with_texts(path, node, options) } else { node });
        });
        match read {
            Ok(()) => return Ok(()),
            Err(e) if count > 0 || matches!(e, OpenError::TooLarge { .. }) => return Err(e),
            Err(_) => {}
        }
    }
    match several_nodes(path, options) {
        Some(nodes) => nodes.into_iter().for_each(|(at, s)| each(&at, Ok(s))),
        None => each("", Ok(load(path, options, &|_| {})?)),
    }
    Ok(())
}

/// The nodes of a text, or of a directory of texts, where those are of several nodes; each with its name behind the path.
fn several_nodes(path: &Path, options: &Options) -> Option<Vec<(String, Snapshot)>> {
    let nodes = if path.is_file() {
        pieces_of(path, &options.host_of)
    } else if is_dir_of_texts(path) {
        of_texts(path, options).ok()
    } else {
        None
    };
    nodes.filter(|nodes| nodes.len() > 1)
}

/// Whether a path is a directory in which texts may lie, and neither a tree nor an archive.
#[must_use]
pub fn is_dir_of_texts(path: &Path) -> bool {
    path.is_dir() && !is_snapshot_dir(path) && of_nodes(path).is_empty()
}

/// The archive of a node with the texts that lie beside it in the node's own directory, `nodes/NAME`; those alone, where it cannot be read.
fn with_texts(path: &Path, node: Result<Snapshot, OpenError>, options: &Options) -> Result<Snapshot, OpenError> {
    let Some((dir, _)) = path.to_str().and_then(of_node) else { return node };
    match node {
        Ok(mut s) => {
            let files = std::fs::read_dir(dir).into_iter().flatten().flatten().take(MAX_TEXTS);
            let mut files: Vec<_> = files.filter(|f| f.file_type().is_ok_and(|t| t.is_file())).collect();
            files.sort_by_key(std::fs::DirEntry::file_name);
            for f in files {
                let (name, mut bytes) = (f.file_name().to_string_lossy().into_owned(), Vec::new());
                let read = std::fs::File::open(f.path()).and_then(|f| f.take(MAX_TEXT + 1).read_to_end(&mut bytes));
                if read.is_ok() && !is_archive(&bytes) && s.size() + bytes.len() <= KEPT {
                    join(&mut s, &name, &bytes);
                }
            }
            Ok(s)
        }
        Err(e) => match texts(Path::new(dir), options) {
            Ok(mut s) => {
                s.left_out(format!("{}: {}", path.display(), e.reason()));
                Ok(s)
            }
            Err(_) => Err(e),
        },
    }
}

/// Loads an archive or a text from memory.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(bytes: &[u8], name: &str) -> Result<Snapshot, OpenError> {
    load_within(bytes, name, &Budget::default(), None)
}

fn load_within(bytes: &[u8], name: &str, budget: &Budget, host: Option<&str>) -> Result<Snapshot, OpenError> {
    if !is_archive(bytes) {
        return one_text(LongText::of(bytes, host), name, host);
    }
    match packed_text(bytes, MAX_TEXT, budget) {
        Some(packed) => one_packed(&packed, name, host),
        None => Reader::within(budget).read_bytes(bytes, name),
    }
}

/// A snapshot of one text that was packed.
fn one_packed(packed: &PackedText, name: &str, host: Option<&str>) -> Result<Snapshot, OpenError> {
    let mut s = one_text(LongText::of(&packed.bytes, host), PackedText::name(name), host)?;
    host.unwrap_or(name).clone_into(&mut s.label);
    damaged(packed, name).into_iter().for_each(|why| s.left_out(why));
    Ok(s)
}

fn damaged(packed: &PackedText, name: &str) -> Option<String> {
    let why = packed.damage.as_ref()?;
    Some(format!(
        "{name}: its compression is damaged after {} bytes of text: {why}; the rest is missing",
        packed.bytes.len()
    ))
}

/// A snapshot of one text, which may be several tools' one after the other.
fn one_text(text: LongText, name: &str, host: Option<&str>) -> Result<Snapshot, OpenError> {
    let LongText { head, cutter } = text;
    let kind = recognise(name, &head);
    let cut = cutter.map(|c| c.finish(name));
    let beside = cut.as_ref().map(|c| c.beside).unwrap_or_default();
    // Of one tool it is read whole; what a tool printed may stand far behind the head that shows what a text is.
    if let Some(cut) = cut.filter(|c| c.several || !kind.gives().facts() && !c.nodes.is_empty()) {
        drop(head);
        return only(name, of_cut(cut, name));
    }
    let mut s = Snapshot::new(host.unwrap_or(name));
    let why = match kind.gives() {
        Gives::NoFacts(what) => {
            format!("it is {what}: not a source of facts for the audit{}", reader(kind))
        }
        Gives::Unknown => not_recognised(&head).to_owned(),
        Gives::Facts | Gives::KernelLog | Gives::Copy(_) => {
            self::text(&mut s, name, kind, &head);
            s.problems.extend(others(name, beside));
            return Ok(s);
        }
    };
    Err(OpenError::NotASnapshot { what: name.to_owned(), why })
}

/// The nodes of a text that was cut, each with its host or its number as its name.
fn of_cut(cut: cut::Cut, name: &str) -> Vec<(String, Snapshot)> {
    let mut out = Vec::new();
    for ((_, mut s), at) in cut.nodes.into_iter().zip(cut.names) {
        cut.left_out.iter().for_each(|why| s.left_out(format!("{name}: {why}")));
        s.problems.extend(others(name, cut.other));
        out.push((at, s));
    }
    out
}

/// Lines that are of no tool.
fn others(name: &str, other: (usize, usize)) -> Option<String> {
    crate::cut::other_words(other).map(|words| format!("{name}: {words}"))
}

/// The nodes of a file that holds several tools' texts; `None` where it is one tool's, or nobody's.
fn pieces_of(file: &Path, host_of: &HostOf) -> Option<Vec<(String, Snapshot)>> {
    let text = LongText::read(&mut std::fs::File::open(file).ok()?, host_of.of(file)).ok()?;
    let name = file.file_name()?.to_string_lossy();
    let cut = text.cutter?.finish(&name);
    Some(cut).filter(|c| c.several).map(|c| of_cut(c, &name)).filter(|nodes| !nodes.is_empty())
}

fn not_recognised(bytes: &[u8]) -> &'static str {
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    if bytes.is_empty() {
        "it is empty"
    } else if is_lfs_stub(bytes) {
        "it is the stub that Git has in place of a file in Git LFS; `git lfs pull` fetches the file itself"
    } else if sniff::normalise(head).contains(&0) {
        "it is neither an archive that can be read nor a text"
    } else {
        "it is not recognised as a tool's output (`linerate doctor` looks for known messages in any text)"
    }
}

/// Which command reads a text that has no facts.
fn reader(kind: Kind) -> &'static str {
    match kind {
        Kind::NcclLog | Kind::NcclRas => ", but `linerate doctor` reads it",
        Kind::NcclTests | Kind::Perftest => ", but `linerate bench import` and `linerate doctor` read it",
        // Results of benchmarks have words that make their readers look.
        _ if !kind.tool().words.is_empty() => ", but `linerate bench import` reads it",
        _ => "",
    }
}

/// Adds a text under its name, or where the file that it is a copy of belongs.
pub(crate) fn text(s: &mut Snapshot, name: &str, kind: Kind, bytes: &[u8]) -> Option<EntryId> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let pasted = format!("pasted/{name}");
    let copy = if let Gives::Copy(path) = kind.gives() { Some(path) } else { None };
    let path = copy.unwrap_or(&pasted);
    let whole = bytes.get(..MAX_TEXT as usize).is_none_or(|b| b.len() == bytes.len());
    let kept = bytes.get(..MAX_TEXT as usize).unwrap_or(bytes);
    // Windows and terminals leave their traces in what people paste.
    let mut kept = without_quotes(&sniff::normalise(kept), kind).into_owned();
    // A dump's functions are taken from it as it came: packed configuration spaces look like tokens.
    let dump = (kind == Kind::RdmaTopoDump).then(|| kept.clone());
    match copy {
        Some(path) => secrets::file(path, &mut kept),
        None => secrets::output(output(kind), &mut kept),
    }
    let entry = if whole { s.add_file(path, &kept) } else { s.add_cut_file(path, &kept) };
    if !whole {
        s.left_out(format!("{name}: only the first {} MiB were read", MAX_TEXT >> 20));
    }
    match entry {
        None => s.problems.push(format!("{name}: there is another {path} already; left out")),
        Some(_) if copy.is_some() => {}
        Some(entry) => s.outputs.push(Output { kind: output(kind), entry, argv: Vec::new(), status: None }),
    }
    if let (Some(_), Some(dump)) = (entry, dump) {
        crate::rdma_dump::unpack(s, name, &dump);
    }
    if entry.is_some() && matches!(kind, Kind::FileDump | Kind::Sysctl) {
        crate::file_dump::unpack(s, name, &kept);
    }
    entry
}

fn directory(path: &Path, options: &Options, progress: &dyn Fn(Progress<'_>)) -> Result<Snapshot, OpenError> {
    let tree = if is_snapshot_dir(path) { Some(path.to_owned()) } else { only_tree(path)? };
    let Some(tree) = tree else {
        // A node's directory of a must-gather is its tree with what is beside that, not texts with an archive among them.
        if let [one] = of_nodes(path).as_slice()
            && one.kind == SourceKind::Archive
            && one.path.to_str().and_then(of_node).is_some_and(|(dir, _)| Path::new(dir) == path)
        {
            return load(&one.path, options, progress);
        }
        return match texts(path, options) {
            // No texts: archives of nodes, or a part of a tree, perhaps.
            Err(e @ OpenError::NotASnapshot { .. }) => match of_nodes(path).as_slice() {
                [] => crate::archive::part_of_tree(path).map_err(|_| e),
                [one] => Reader::within(&options.budget).read(&one.path),
                many => {
                    let names = many.iter().map(|s| s.name.clone()).collect();
                    Err(OpenError::Several { what: path.display().to_string(), wanted: None, names })
                }
            },
            answer => answer,
        };
    };
    // The host itself is read as what it is, whatever lies in its root.
    let ours = tree != Path::new("/") && tree.join(crate::archive::MANIFEST).is_file();
    let options = Options { root: tree, ..options.clone() };
    let s = if ours { crate::archive::unpacked(&options, progress)? } else { capture::capture(&options, progress)? };
    match crate::census::too_many(&s) {
        Some(why) => Err(OpenError::TooLarge { what: path.display().to_string(), why }),
        None => Ok(s),
    }
}

/// The only tree below a directory. A directory of texts is one node, whatever archives are in it.
fn only_tree(path: &Path) -> Result<Option<std::path::PathBuf>, OpenError> {
    let mut trees: Vec<Source> = of_nodes(path).into_iter().filter(|s| s.kind == SourceKind::Tree).collect();
    if trees.len() > 1 {
        let names: Vec<String> = trees.into_iter().map(|s| s.name).collect();
        return Err(OpenError::Several { what: path.display().to_string(), wanted: None, names });
    }
    Ok(trees.pop().map(|s| s.path))
}

/// The texts in a directory by their nodes, each named as people name them; and a snapshot that says what was left out.
fn owned(path: &Path, options: &Options) -> Result<(Snapshot, Vec<Owned>), OpenError> {
    let io = |source| OpenError::Io { path: path.to_owned(), source };
    let mut s = Snapshot::new(path.display().to_string());
    let mut files: Vec<_> = std::fs::read_dir(path).map_err(io)?.flatten().take(MAX_TEXTS + 1).collect();
    if files.len() > MAX_TEXTS {
        files.truncate(MAX_TEXTS);
        s.left_out(format!("the directory has more than {MAX_TEXTS} entries: the rest was left out"));
    }
    files.sort_by_key(std::fs::DirEntry::file_name);
    let mut all: Vec<Pasted> = Vec::new();
    let mut size = 0;
    for f in &files {
        let name = f.file_name().to_string_lossy().into_owned();
        if !f.file_type().is_ok_and(|t| t.is_file()) {
            continue;
        }
        let mut bytes = Vec::new();
        let read = std::fs::File::open(f.path()).and_then(|f| f.take(MAX_TEXT + 1).read_to_end(&mut bytes));
        if let Err(e) = read {
            s.left_out(format!("{name}: {e}"));
            continue;
        }
        let mut name = name.as_str();
        if is_archive(&bytes) {
            // From the file: what is packed may be longer than a text may be.
            let Some(packed) =
                std::fs::File::open(f.path()).ok().and_then(|f| packed_text(f, MAX_TEXT, &options.budget))
            else {
                s.problems.push(format!("{name}: an archive among texts; name it alone to read it"));
                continue;
            };
            damaged(&packed, name).into_iter().for_each(|why| s.left_out(why));
            name = PackedText::name(name);
            bytes = packed.bytes;
        }
        let host = options.host_of.of(&f.path());
        let at = path.join(name);
        let parts = LongText::cutter(&bytes, host).map(|c| c.parts(&at)).unwrap_or_default();
        let parts = match parts.texts.as_slice() {
            [_, ..] => parts,
            [] => {
                let found = recognise(name, &bytes);
                match found.gives() {
                    Gives::Unknown => {
                        s.problems.push(format!("{name}: {}; left out", not_recognised(&bytes)));
                        continue;
                    }
                    Gives::NoFacts(what) => {
                        s.problems.push(format!("{name}: {what}: not a source of facts for the audit"));
                    }
                    Gives::Facts | Gives::KernelLog | Gives::Copy(_) => {}
                }
                let host = host.map(str::to_owned);
                let whole = Pasted { path: at, kind: found, bytes, lines: Lines::default(), host };
                cut::Parts { texts: vec![whole], ..parts }
            }
        };
        let long: usize = parts.texts.iter().map(|t| t.bytes.len()).sum();
        if size + long > KEPT {
            s.left_out(format!("{name}: left out: texts of one directory are read up to {} MiB", KEPT >> 20));
            continue;
        }
        size += long;
        parts.left_out.into_iter().for_each(|why| s.left_out(format!("{name}: {why}")));
        s.problems.extend(others(name, parts.other));
        all.extend(parts.texts);
    }
    let (all, beside): (Vec<_>, Vec<_>) = all.into_iter().partition(|t| t.kind.gives().facts());
    if all.is_empty() {
        let why = format!("none of its {} files is the output of a known tool", files.len());
        return Err(OpenError::NotASnapshot { what: path.display().to_string(), why });
    }
    let mut nodes = by_node(all);
    // What holds no facts is kept where it can be of one node only.
    if let [one] = nodes.as_mut_slice() {
        one.texts.extend(beside);
        one.texts.sort_by(|a, b| a.path.cmp(&b.path));
    }
    Ok((s, nodes))
}

/// The nodes whose texts are in a directory, each with its name behind the path.
fn of_texts(path: &Path, options: &Options) -> Result<Vec<(String, Snapshot)>, OpenError> {
    let (left, nodes) = owned(path, options)?;
    let is_one = nodes.len() == 1;
    let one = |Owned { name, texts }| {
        let at = node_name(path, name);
        let label = if is_one { path.to_owned() } else { path.join(&at) };
        let mut s = Snapshot::new(label.display().to_string());
        s.problems.clone_from(&left.problems);
        s.incomplete = left.incomplete;
        // Redaction makes some longer.
        let bytes: usize = texts.iter().map(|t| t.bytes.len()).sum();
        s.reserve(texts.len(), bytes + bytes / 4);
        let mut parts: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for t in texts {
            let name = t.path.file_name().unwrap_or_default().to_string_lossy();
            let before = parts.entry(t.path.clone()).or_default();
            if let Some(entry) = text(&mut s, &cut::part_name(&name, *before), t.kind, &t.bytes) {
                s.stands_at(entry, t.lines);
            }
            *before += 1;
        }
        (at, s)
    };
    Ok(nodes.into_iter().map(one).collect())
}

/// The only node whose texts are in a directory.
fn texts(path: &Path, options: &Options) -> Result<Snapshot, OpenError> {
    only(&path.display().to_string(), of_texts(path, options)?)
}

/// As it is named behind the directory.
fn node_name(dir: &Path, name: String) -> String {
    Path::new(&name).strip_prefix(dir).map(|p| p.display().to_string()).unwrap_or(name)
}

/// The usual options for reading what is at a path.
#[must_use]
pub fn options_for(path: &Path, purpose: Purpose) -> Options {
    Options::new(path, purpose)
}
