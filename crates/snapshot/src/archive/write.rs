//! Writes a snapshot as `tar.zst`: the manifest first, then every entry in the order of paths. The same snapshot gives the
//! same bytes.

use crate::index::{IDS, Skipped};
use crate::{EntryId, EntryKind, Manifest, Snapshot, Unread, Why};
use linerate_out::file::{Access, Replace};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

const BLOCK: usize = 512;
/// Bytes of a tar that are compared at once.
const PIECE: usize = 64 << 10;
/// Of the tar: headers that repeat themselves, of which a higher level makes a tenth less in ten times the time.
const TAR_LEVEL: i32 = 2;
/// Of the pack: good enough; higher levels win a few percent.
const PACK_LEVEL: i32 = 7;
/// Of both, where one process writes the snapshots of many nodes: the time of its processor counts.
const QUICK: (i32, i32) = (1, 3);

/// An entry as it is written. Entries are numbered from 1; 0 is the root.
pub(super) struct Plain<'a> {
    /// Number of the directory it is in.
    pub(super) parent: u32,
    /// As in a tar header: file, link, directory.
    pub(super) kind: u8,
    pub(super) name: &'a str,
    /// Content, or target of the link.
    pub(super) data: &'a [u8],
}

impl Snapshot {
    /// Writes the archive. What could not be read is in its manifest.
    ///
    /// # Errors
    /// The writer's, and the compressor's.
    pub fn write_tar_zst(&self, to: impl Write) -> io::Result<()> {
        self.write_at((TAR_LEVEL, PACK_LEVEL), to)
    }

    /// The same archive in less time and more bytes.
    ///
    /// # Errors
    /// As [`Snapshot::write_tar_zst`].
    pub fn write_tar_zst_quickly(&self, to: impl Write) -> io::Result<()> {
        self.write_at(QUICK, to)
    }

    /// What an archive of it holds, in its order, and the time that all entries bear.
    pub(super) fn written<T>(&self, with: impl FnOnce(&[Plain<'_>], u64) -> io::Result<T>) -> io::Result<T> {
        let manifest = self.full_manifest();
        let json = serde_json::to_vec_pretty(&manifest)?;
        with(&self.entries(&json), manifest.time)
    }

    fn write_at(&self, levels: (i32, i32), mut to: impl Write) -> io::Result<()> {
        let archive = self.written(|entries, time| archive(entries, time, levels))?;
        to.write_all(&archive)?;
        to.flush()
    }

    /// Writes the archive to a file: to a temporary one beside it first, so that an interrupted capture leaves no half
    /// archive under the name ([`crate::capture::abandon`] removes it). The file is readable by its owner only.
    ///
    /// # Errors
    /// The file system's.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = Replace::begin(path, Access::Private)?;
        self.write_tar_zst(&mut file)?;
        file.keep()
    }

    /// Every entry, parents before children, the manifest first.
    fn entries<'a>(&'a self, manifest: &'a [u8]) -> Vec<Plain<'a>> {
        let mut out = Vec::with_capacity(self.len() + 2);
        out.push(Plain { parent: 0, kind: b'5', name: "linerate", data: &[] });
        out.push(Plain { parent: 1, kind: b'0', name: "manifest.json", data: manifest });
        self.list_dir(self.root(), 0, &mut out);
        out
    }

    fn list_dir<'a>(&'a self, dir: EntryId, parent: u32, out: &mut Vec<Plain<'a>>) {
        for (name, id) in self.children(dir) {
            let (kind, data) = match self.kind(id) {
                EntryKind::Dir => (b'5', &[][..]),
                EntryKind::File | EntryKind::CutFile => (b'0', self.data(id)),
                EntryKind::Link => (b'2', self.data(id)),
                EntryKind::Failed(_) => continue,
            };
            let ours = parent == 0 && name == "linerate" && kind == b'5';
            if parent == 1 && name == "manifest.json" {
                continue;
            }
            let number = if ours { 1 } else { out.len() as u32 + 1 };
            if !ours {
                out.push(Plain { parent, kind, name, data });
            }
            if kind == b'5' {
                self.list_dir(id, number, out);
            }
        }
    }

    /// The manifest with everything that is not in the tar itself.
    fn full_manifest(&self) -> Manifest {
        let mut m = self.manifest.clone();
        m.unread.retain(|u| u.path == "**" || (u.path.ends_with("/**") && u.why != "not-collected"));
        for id in self.ids() {
            let why = match self.kind(id) {
                EntryKind::CutFile => "cut".to_owned(),
                EntryKind::Failed(why) => why.word(),
                _ => continue,
            };
            m.unread.push(Unread { path: self.path(id), why });
        }
        let mut not_collected = |path: String| m.unread.push(Unread { path, why: Why::NotCollected.word() });
        for id in self.ids() {
            match self.skipped(id) {
                Skipped::Nothing => {}
                Skipped::Bystander => not_collected(format!("{}/**", self.path(id))),
                Skipped::Ids => IDS.iter().for_each(|leaf| not_collected(format!("{}/{leaf}", self.path(id)))),
            }
        }
        m.unread.sort_by(|a, b| a.path.cmp(&b.path));
        m.problems.clone_from(&self.problems);
        m.incomplete = self.incomplete;
        m
    }
}

impl Why {
    /// The word of manifests.
    fn word(&self) -> String {
        match self {
            Why::NotCollected => "not-collected".to_owned(),
            Why::Denied => "denied".to_owned(),
            Why::TimedOut => "timed-out".to_owned(),
            Why::TooLarge => "too-large".to_owned(),
            other => other.to_string(),
        }
    }

    /// The reason of a word of manifests.
    pub(super) fn of_word(word: &str) -> Why {
        match word {
            "not-collected" => Why::NotCollected,
            "denied" => Why::Denied,
            "timed-out" => Why::TimedOut,
            "too-large" => Why::TooLarge,
            other => Why::Failed(other.to_owned().into()),
        }
    }
}

/// The tar, which is packed as it is made and never held as a whole, and the pack.
fn archive(entries: &[Plain<'_>], time: u64, (tar_level, pack_level): (i32, i32)) -> io::Result<Vec<u8>> {
    let (mut next, mut size) = (Vec::with_capacity(2 * PIECE), 0);
    tar(entries, time, &mut next, &mut |next| {
        size += next.len() as u64;
        next.clear();
        Ok(())
    })?;
    let mut to = zstd::stream::write::Encoder::new(Vec::new(), tar_level)?;
    to.include_checksum(true)?;
    to.include_contentsize(true)?;
    // Readers unpack at once what says its size.
    to.set_pledged_src_size(Some(size))?;
    tar(entries, time, &mut next, &mut |next| {
        if next.len() >= PIECE {
            to.write_all(next)?;
            next.clear();
        }
        Ok(())
    })?;
    to.write_all(&next)?;
    let mut archive = to.finish()?;
    super::pack::append(&mut archive, entries, pack_level)?;
    Ok(archive)
}

/// Whether what is unpacked is the tar of these entries, to its end. Neither is held as a whole. False where it cannot be unpacked.
pub(super) fn is_tar_of(mut unpacked: impl Read, entries: &[Plain<'_>], time: u64) -> bool {
    let mut read = Vec::new();
    let mut next = Vec::with_capacity(2 * PIECE);
    let mut same = |next: &mut Vec<u8>| {
        read.clear();
        unpacked.by_ref().take(next.len() as u64).read_to_end(&mut read)?;
        if read != *next {
            return Err(io::Error::from(ErrorKind::InvalidData));
        }
        next.clear();
        Ok(())
    };
    let compared = tar(entries, time, &mut next, &mut |next| if next.len() < PIECE { Ok(()) } else { same(next) });
    compared.and_then(|()| same(&mut next)).is_ok() && matches!(unpacked.read(&mut [0]), Ok(0))
}

/// The tar of the entries; `each` may take what is there behind each of them.
fn tar(
    entries: &[Plain<'_>],
    time: u64,
    out: &mut Vec<u8>,
    each: &mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let mut parents = vec![false; entries.len() + 1];
    for e in entries {
        if let Some(p) = parents.get_mut(e.parent as usize) {
            *p = true;
        }
    }
    // Of directories, with a slash behind.
    let mut paths: Vec<String> = vec![String::new()];
    let mut path = String::new();
    for (e, is_parent) in entries.iter().zip(parents.iter().skip(1)) {
        path.clear();
        path.push_str(paths.get(e.parent as usize).map(String::as_str).unwrap_or_default());
        path.push_str(e.name);
        if e.kind != b'5' {
            entry(out, &path, e.kind, e.data, time)?;
            each(out)?;
            paths.push(String::new());
            continue;
        }
        path.push('/');
        // Directories with something in them come into being by themselves.
        if !is_parent {
            entry(out, &path, b'5', &[], time)?;
            each(out)?;
        }
        paths.push(path.clone());
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    each(out)
}

/// Appends one entry. Names that do not fit a header come before it, the way GNU tar does it.
fn entry(out: &mut Vec<u8>, path: &str, kind: u8, data: &[u8], time: u64) -> io::Result<()> {
    let (link, data) = if kind == b'2' { (data, &[][..]) } else { (&[][..], data) };
    if link.len() > 100 {
        long(out, b'K', link, time)?;
    }
    let (prefix, name) = match split(path) {
        Some(s) => s,
        None => {
            long(out, b'L', path.as_bytes(), time)?;
            let start = (0..=100).rev().find_map(|n| path.get(..n));
            ("", start.unwrap_or_default())
        }
    };
    block(out, prefix.as_bytes(), name.as_bytes(), kind, link, data.len(), time)?;
    out.extend_from_slice(data);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
    Ok(())
}

fn long(out: &mut Vec<u8>, kind: u8, text: &[u8], time: u64) -> io::Result<()> {
    block(out, b"", b"././@LongLink", kind, b"", text.len() + 1, time)?;
    out.extend_from_slice(text);
    out.push(0);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
    Ok(())
}

/// Prefix and name of a header: 155 and 100 bytes, split at a slash.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= 100 {
        return Some(("", path));
    }
    let at = path.match_indices('/').map(|(i, _)| i).find(|i| path.len() - i - 1 <= 100)?;
    let (prefix, name) = (path.get(..at)?, path.get(at + 1..)?);
    (prefix.len() <= 155 && !name.is_empty()).then_some((prefix, name))
}

/// What all headers have in common: that of a file, before its checksum is known.
const HEADER: [u8; BLOCK] = {
    const FIELDS: [(usize, &[u8]); 5] =
        [(100, b"0000644"), (108, b"0000000"), (116, b"0000000"), (148, b"        "), (257, b"ustar\x0000")];
    let mut header = [0; BLOCK];
    let mut field = 0;
    while field < FIELDS.len() {
        let (at, text) = FIELDS[field];
        let mut i = 0;
        while i < text.len() {
            header[at + i] = text[i];
            i += 1;
        }
        field += 1;
    }
    header
};
/// The sum of its bytes.
const HEADER_SUM: u32 = {
    let (mut sum, mut i) = (0, 0);
    while i < BLOCK {
        sum += HEADER[i] as u32;
        i += 1;
    }
    sum
};

/// The digits of a number, octal.
fn octal<const N: usize>(mut number: u64) -> [u8; N] {
    let mut out = [0; N];
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number & 7) as u8;
        number >>= 3;
    }
    out
}

/// Appends a header. A tree of a node has thousands, so only what differs is written and added up.
fn block(
    out: &mut Vec<u8>,
    prefix: &[u8],
    name: &[u8],
    kind: u8,
    link: &[u8],
    size: usize,
    time: u64,
) -> io::Result<()> {
    if size > 0o77_777_777_777 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too large for a tar header"));
    }
    let start = out.len();
    out.extend_from_slice(&HEADER);
    let Some(header) = out.get_mut(start..) else { return Ok(()) };
    let mut sum = HEADER_SUM;
    let mut put = |at: usize, max: usize, text: &[u8]| {
        for (to, from) in header.iter_mut().skip(at).take(max).zip(text) {
            sum = sum + u32::from(*from) - u32::from(*to);
            *to = *from;
        }
    };
    put(0, 100, name);
    if kind == b'5' {
        put(100, 8, b"0000755");
    }
    put(124, 12, &octal::<11>(size as u64));
    put(136, 12, &octal::<11>(time.min(0o77_777_777_777)));
    put(156, 1, &[kind]);
    put(157, 100, link);
    put(345, 155, prefix);
    for (to, from) in header.iter_mut().skip(148).zip(octal::<6>(u64::from(sum)).iter().chain(b"\0 ")) {
        *to = *from;
    }
    Ok(())
}
