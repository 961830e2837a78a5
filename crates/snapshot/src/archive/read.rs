//! Reads archives of any maker into snapshots.

use super::Limits;
use super::assemble::{Assembly, InArchive, Item};
use super::beside;
use super::error::{OpenError, Stop, conclude, counted};
use super::nested::{Each, Held, Inner, Nodes};
use super::pack::Bounds;
use super::stream::{Ended, Packing, Stream};
use super::tar::{self, Bad, Kind, Pax};
use crate::Budget;
use crate::Snapshot;
use crate::redact::secrets::Cleaner;
use linerate_formats::bounds::{self, UNPACK_AT_ONCE};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads many archives with the same buffers.
#[derive(Default)]
pub struct Reader {
    limits: Limits,
    budget: Budget,
    file: Vec<u8>,
    unpacked: Vec<u8>,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    /// Reads the tar even where there is a pack.
    pub(super) no_packs: bool,
    names: Names,
    /// A snapshot that is no longer needed: its memory is used again.
    spare: Option<Snapshot>,
    cleaner: Cleaner,
    /// Of the archive that is read now, where it is in the outermost.
    within: Vec<String>,
}

/// Buffers for the names of one entry.
#[derive(Default)]
struct Names {
    path: Vec<u8>,
    link: Vec<u8>,
    long_path: Vec<u8>,
    long_link: Vec<u8>,
    pax: Pax,
}

impl Reader {
    /// One with the usual limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that shares the budget of a command.
    #[must_use]
    pub fn within(budget: &Budget) -> Self {
        Reader { budget: budget.clone(), ..Self::default() }
    }

    /// One with other limits.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Reader { limits, ..Self::default() }
    }

    /// The budget for what is read from now on.
    pub fn set_budget(&mut self, budget: &Budget) {
        self.budget = budget.clone();
    }

    /// What was unpacked last.
    pub(super) fn unpacked(&self) -> &[u8] {
        &self.unpacked
    }

    /// Takes a snapshot back that is no longer needed. The next one is built in its memory: over thousands of snapshots the
    /// kernel's page faults would otherwise cost as much as the parsing.
    pub fn recycle(&mut self, snapshot: Snapshot) {
        self.spare = Some(snapshot);
    }

    fn blank(&mut self, label: &str) -> Snapshot {
        self.spare.take().map_or_else(|| Snapshot::new(label), |s| s.emptied(label))
    }

    /// Reads an archive of one node.
    ///
    /// # Errors
    /// It cannot be read, is not an archive, or holds nothing useful, or several nodes.
    pub fn read(&mut self, path: &Path) -> Result<Snapshot, OpenError> {
        let label = path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
        only(&label, |each| self.read_each(path, each))
    }

    /// Reads the nodes of an archive, one after the other: trees beside each other, and archives inside it.
    ///
    /// # Errors
    /// It cannot be read to its end, is not an archive, or holds nothing useful. Nodes that were handed on before are whole.
    pub fn read_each(&mut self, path: &Path, each: &mut Each<'_>) -> Result<(), OpenError> {
        let io = |source| OpenError::Io { path: path.to_owned(), source };
        let mut from = File::open(path).map_err(io)?;
        let size = from.metadata().map_err(io)?.len();
        let label = path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
        if size <= UNPACK_AT_ONCE {
            let mut bytes = std::mem::take(&mut self.file);
            bytes.clear();
            let got = from.by_ref().take(UNPACK_AT_ONCE + 1).read_to_end(&mut bytes).map_err(io);
            let result = got.and_then(|_| self.bytes_each(&bytes, &label, each));
            self.file = bytes;
            return result;
        }
        let mut head = [0; 8];
        let n = from.read(&mut head).map_err(io)?;
        let head = head.get(..n).unwrap_or_default().to_vec();
        let whole = std::io::Cursor::new(head.clone()).chain(from);
        let packing = Packing::of(&head);
        let reader = packing.unpack(whole, &self.budget).map_err(io)?;
        self.read_stream(Stream::new(reader, self.limits.unpacked), packing == Packing::Plain, &label, each)
    }

    /// Reads an archive from a stream that is unpacked already and cannot be rewound.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_from(&mut self, unpacked: impl Read, label: &str) -> Result<Snapshot, OpenError> {
        let limit = self.limits.unpacked;
        only(label, |each| self.read_stream(Stream::new(Box::new(unpacked), limit), false, label, each))
    }

    /// Reads an archive of one node in memory.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_bytes(&mut self, bytes: &[u8], label: &str) -> Result<Snapshot, OpenError> {
        only(label, |each| self.bytes_each(bytes, label, each))
    }

    fn bytes_each(&mut self, bytes: &[u8], label: &str, each: &mut Each<'_>) -> Result<(), OpenError> {
        let packing = Packing::of(bytes);
        if super::ttar::is(bytes) {
            let mut assembly = Assembly::new(self.blank(label), self.limits);
            let end = super::ttar::read(bytes, &mut assembly);
            let all = conclude(end, bytes.len() as u64, assembly, label, InArchive::default(), &mut self.cleaner)?;
            hand_on(all, label, each);
            return Ok(());
        }
        if packing == Packing::Plain {
            return self.read_stream(Stream::memory(bytes), true, label, each);
        }
        // Our own archives: the tar's frame, and perhaps the pack that belongs to it.
        let first =
            if packing == Packing::Zstd { zstd::zstd_safe::find_frame_compressed_size(bytes).ok() } else { None };
        if let Some(pack) = first.and_then(|n| super::pack::find(bytes, n)).filter(|_| !self.no_packs)
            && self.unpack_at_once(pack)
        {
            let (Limits { entries, file, kept, .. }, mut snapshot) = (self.limits, self.blank(label));
            let entries = entries.min(bounds::KEPT_ENTRIES);
            if super::pack::read(&mut self.unpacked, &mut snapshot, Bounds { entries, file, kept }) {
                let assembly = Assembly::packed(snapshot, self.limits);
                hand_on(assembly.finish(label, InArchive::default(), &mut self.cleaner)?, label, each);
                return Ok(());
            }
        }
        if first.is_some_and(|n| bytes.get(..n).is_some_and(|frame| self.unpack_at_once(frame))) {
            let unpacked = std::mem::take(&mut self.unpacked);
            let result = self.read_stream(Stream::memory(&unpacked), false, label, each);
            self.unpacked = unpacked;
            return result;
        }
        let limit = self.limits.unpacked;
        let io = |source| OpenError::Io { path: label.into(), source };
        self.read_stream(Stream::new(packing.unpack(bytes, &self.budget).map_err(io)?, limit), false, label, each)
    }

    /// What it becomes, where it is one frame of known and moderate size that the budget has room for; then it is taken from the budget.
    pub(super) fn size_at_once(&self, bytes: &[u8]) -> Option<u64> {
        let size = zstd::zstd_safe::get_frame_content_size(bytes).ok()??;
        if size > UNPACK_AT_ONCE.min(self.limits.unpacked)
            || zstd::zstd_safe::find_frame_compressed_size(bytes) != Ok(bytes.len())
        {
            return None;
        }
        // Where it is too much, the slow way says so.
        self.budget.packed(bytes.len() as u64);
        self.budget.take(size).ok().map(|()| size)
    }

    /// Unpacks one frame of known and moderate size: the way of our own archives. False where it is something else, or damaged: the
    /// slow way then finds out how far it can be read.
    pub(super) fn unpack_at_once(&mut self, bytes: &[u8]) -> bool {
        let Some(size) = self.size_at_once(bytes) else { return false };
        let d = match &mut self.zstd {
            Some(d) => d,
            empty => match zstd::bulk::Decompressor::new() {
                Ok(d) => empty.insert(d),
                Err(_) => return false,
            },
        };
        self.unpacked.clear();
        self.unpacked.reserve(size as usize);
        d.decompress_to_buffer(bytes, &mut self.unpacked).is_ok()
    }

    /// `on_disk`: the bytes of the stream are a file's own.
    fn read_stream(
        &mut self,
        mut stream: Stream<'_>,
        on_disk: bool,
        label: &str,
        each: &mut Each<'_>,
    ) -> Result<(), OpenError> {
        self.within.clear();
        let mut held = Held::new(each);
        let done = self.nodes(&mut stream, on_disk, label, &mut held);
        held.finish();
        done
    }

    /// The nodes of an archive, the outermost or one inside.
    fn nodes(
        &mut self,
        stream: &mut Stream<'_>,
        on_disk: bool,
        label: &str,
        held: &mut Held<'_, '_>,
    ) -> Result<(), OpenError> {
        let before = held.count;
        let mut assembly = Assembly::new(self.blank(label), self.limits);
        assembly.expect(stream.in_memory());
        let mut names = std::mem::take(&mut self.names);
        let end = self.entries(stream, on_disk, &mut assembly, &mut names, held);
        self.names = names;
        let has_others = held.count > before || held.waiting.has_texts();
        let (at, inner, others) = (stream.position(), !self.within.is_empty(), has_others);
        let all = conclude(end, at, assembly, label, InArchive { inner, others }, &mut self.cleaner)?;
        let count = all.len();
        for (place, s) in all {
            // Of an archive that is one node the place of the tree in it says no more.
            let tree = Some(place.as_str()).filter(|p| !p.is_empty() && (count > 1 || others || !inner));
            let path: Vec<&str> = self.within.iter().map(String::as_str).chain(tree).collect();
            let at = path.join("/");
            let node = held.waiting.with(&at, &at, counted(s, label));
            held.take(&at, node);
        }
        Ok(())
    }

    /// The nodes of an archive that lies in the one that is read.
    fn inside(&mut self, path: &str, inner: &mut Inner<'_, '_>, head: &[u8], on_disk: bool, held: &mut Held<'_, '_>) {
        self.within.push(super::prefix::clean(path).to_owned());
        let place = self.within.join("/");
        let too_large = |why: String| OpenError::TooLarge { what: place.clone(), why };
        let packing = Packing::of(head);
        let done = if self.within.len() > bounds::ARCHIVES_DEEP {
            Err(too_large(format!(
                "it lies in {} archives, one in the other, and ARCHIVES_DEEP is {}",
                self.within.len(),
                bounds::ARCHIVES_DEEP
            )))
        } else if let Err(e) = self.budget.member() {
            Err(too_large(e.to_string()))
        } else {
            let io = |source| OpenError::Io { path: place.clone().into(), source };
            let limit = self.limits.unpacked;
            packing.unpack_as(inner, on_disk, &self.budget).map_err(io).and_then(|unpacked| {
                self.nodes(&mut Stream::new(unpacked, limit), on_disk && packing == Packing::Plain, &place, held)
            })
        };
        match done {
            Ok(()) => {}
            Err(e) => held.take(&place, Err(e)),
        }
        self.within.pop();
    }

    fn entries(
        &mut self,
        stream: &mut Stream<'_>,
        on_disk: bool,
        to: &mut Assembly,
        n: &mut Names,
        held: &mut Held<'_, '_>,
    ) -> Result<(), Stop> {
        n.pax = Pax::default();
        n.long_path.clear();
        n.long_link.clear();
        loop {
            let (block, ended) = stream.peek(512);
            let Ok(block) = <&[u8; 512]>::try_from(block) else {
                return match (block.is_empty(), ended) {
                    (true, Some(Ended::End)) if to.seen() > 0 => Ok(()),
                    (_, ended) => Err(stop(ended)),
                };
            };
            let header = match tar::header(block) {
                Ok(h) => h,
                Err(Bad::Zero) => return if to.seen() > 0 { Ok(()) } else { Err(Stop::Damaged("it is empty".into())) },
                Err(Bad::Checksum) if to.seen() == 0 => return Err(Stop::Damaged("it is not a tar archive".into())),
                Err(Bad::Checksum) => return Err(Stop::Damaged("the checksum of a header is wrong".into())),
                Err(Bad::Size) => return Err(Stop::Damaged("a size is not a number".into())),
            };
            let kind = header.kind;
            n.path.clear();
            if !header.prefix.is_empty() {
                n.path.extend_from_slice(header.prefix);
                n.path.push(b'/');
            }
            n.path.extend_from_slice(header.name);
            n.link.clear();
            n.link.extend_from_slice(header.link);
            let special = matches!(kind, Kind::LongName | Kind::LongLink | Kind::Pax | Kind::PaxGlobal);
            let size = if special { header.size } else { n.pax.size.unwrap_or(header.size) };
            let map = (kind == Kind::Sparse).then(|| tar::sparse(block));
            skip(stream, 512)?;
            let padded = size.checked_next_multiple_of(512).ok_or_else(|| Stop::Damaged("a size is absurd".into()))?;
            if special {
                let data = take(stream, size.min(64 << 10))?;
                match kind {
                    Kind::LongName => n.long_path = tar::until_nul(data).to_vec(),
                    Kind::LongLink => n.long_link = tar::until_nul(data).to_vec(),
                    Kind::Pax => n.pax = tar::pax(data),
                    _ => {}
                }
                skip(stream, padded)?;
                continue;
            }
            to.count()?;
            // The next entry's own name, from wherever it came.
            if let Some(p) =
                n.pax.path.take().or_else(|| (!n.long_path.is_empty()).then(|| std::mem::take(&mut n.long_path)))
            {
                n.path = p;
            }
            if let Some(l) =
                n.pax.link.take().or_else(|| (!n.long_link.is_empty()).then(|| std::mem::take(&mut n.long_link)))
            {
                n.link = l;
            }
            n.long_path.clear();
            n.long_link.clear();
            let pax_sparse = std::mem::take(&mut n.pax).sparse;
            let Ok(path) = std::str::from_utf8(&n.path) else {
                to.odd_name();
                if let Some(Some(mut map)) = map {
                    sparse_map(stream, &mut map)?;
                }
                skip(stream, padded)?;
                continue;
            };
            if held.is_waiting() {
                held.enter(&place(&self.within, path));
            }
            match kind {
                Kind::Dir => to.entry(path, Item::Dir)?,
                Kind::Link => to.entry(path, Item::Link(&n.link))?,
                Kind::HardLink => to.entry(path, Item::HardLink(&n.link))?,
                Kind::File if pax_sparse => to.entry(path, Item::NotRead("a sparse file"))?,
                Kind::File if to.takes_archive(path) => {
                    let (head, _) = stream.peek(usize::try_from(size.min(16)).unwrap_or(16));
                    let head = head.to_vec();
                    let mut inner = Inner { stream: &mut *stream, left: size };
                    self.inside(path, &mut inner, &head, on_disk, held);
                    let left = inner.left;
                    skip(stream, left + (padded - size))?;
                    continue;
                }
                Kind::File if to.takes_texts() && beside::may_be_text(path, size) => {
                    // What is cut is no list.
                    let data = take(stream, size)?;
                    held.waiting.text(&place(&self.within, path), data);
                }
                Kind::File => match to.wanted(path, size) {
                    true => {
                        let (data, ended) = stream.peek(size as usize);
                        let whole = data.len() as u64 == size;
                        to.entry(path, if whole { Item::File(data) } else { Item::CutFile(data) })?;
                        if !whole {
                            return Err(stop(ended));
                        }
                    }
                    false => to.left_out(path, size)?,
                },
                Kind::Sparse => {
                    let mut map =
                        map.flatten().ok_or_else(|| Stop::Damaged("the map of a sparse file is not valid".into()))?;
                    sparse_map(stream, &mut map)?;
                    let whole = map.real_size.max(size);
                    if to.wanted(path, whole) && to.may_make(whole as usize) {
                        let data = unsparse(take(stream, size)?, &map);
                        to.entry(
                            path,
                            data.as_deref().map_or(Item::NotRead("a sparse file with a false map"), Item::File),
                        )?;
                    } else {
                        to.left_out(path, map.real_size)?;
                    }
                }
                _ => to.entry(path, Item::NotRead("not a regular file"))?,
            }
            skip(stream, padded)?;
        }
    }
}

/// Where an entry is, in the outermost archive.
fn place(within: &[String], path: &str) -> String {
    let path = super::prefix::clean(path);
    within.iter().map(String::as_str).chain([path]).collect::<Vec<_>>().join("/")
}

/// The only node of a source.
fn only(what: &str, read: impl FnOnce(&mut Each<'_>) -> Result<(), OpenError>) -> Result<Snapshot, OpenError> {
    let mut nodes = Nodes::default();
    read(&mut |at, node| nodes.take(at, node))?;
    nodes.only(what)
}

fn hand_on(all: Vec<(String, Snapshot)>, label: &str, each: &mut Each<'_>) {
    let mut held = Held::new(each);
    all.into_iter().for_each(|(at, s)| held.take(&at, counted(s, label)));
    held.finish();
}

fn stop(ended: Option<Ended>) -> Stop {
    match ended {
        Some(Ended::TooMuch) => Stop::TooLarge(format!(
            "it unpacks to more than {} MiB, the limit of one archive: unpack it, and name the directory",
            bounds::ARCHIVE >> 20
        )),
        Some(Ended::Exceeded(e)) => Stop::TooLarge(e.to_string()),
        Some(Ended::Broken(e)) => Stop::Damaged(e.to_string()),
        Some(Ended::End) | None => Stop::Damaged("it ends in the middle".into()),
    }
}

fn skip(stream: &mut Stream<'_>, n: u64) -> Result<(), Stop> {
    stream.skip(n).map_or(Ok(()), |e| Err(stop(Some(e))))
}

/// The next bytes, which stay where they are.
fn take<'a>(stream: &'a mut Stream<'_>, n: u64) -> Result<&'a [u8], Stop> {
    let (data, ended) = stream.peek(n as usize);
    if data.len() as u64 == n { Ok(data) } else { Err(stop(ended)) }
}

fn sparse_map(stream: &mut Stream<'_>, map: &mut tar::Map) -> Result<(), Stop> {
    while map.more {
        let block = take(stream, 512)?;
        let good = <&[u8; 512]>::try_from(block).ok().and_then(|b| tar::sparse_more(b, map));
        if good.is_none() || map.pieces.len() > 10_000 {
            return Err(Stop::Damaged("the map of a sparse file is not valid".into()));
        }
        skip(stream, 512)?;
    }
    Ok(())
}

/// Puts the pieces where they belong. The real size was checked against the limit before.
fn unsparse(mut data: &[u8], map: &tar::Map) -> Option<Vec<u8>> {
    let mut out = vec![0; usize::try_from(map.real_size).ok()?];
    for (offset, len) in &map.pieces {
        let (at, len) = (usize::try_from(*offset).ok()?, usize::try_from(*len).ok()?);
        let piece = data.get(..len)?;
        out.get_mut(at..at.checked_add(len)?)?.copy_from_slice(piece);
        data = data.get(len..)?;
    }
    Some(out)
}
