//! From what the user named to runs: files, directories, pipes, runs of the history.

use super::super::doctor_walk::{Found, Source, walk};
use super::store::{self, Opened};
use crate::output::Failure;
use crate::progress::Line;
use linerate_bench::Run;
use linerate_bench::facts::Facts;
use linerate_bench::import::{Refused, import};
use linerate_formats::bounds::{HELD as MOST, HELD_ALLOWANCE, HELD_RATIO};
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{Exceeded, Snapshot, Unpacked, charge_holes, is_archive_head};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes by which an archive is known.
const HEAD: usize = 64 << 10;

/// A text and what was read in it.
pub(super) struct Text {
    /// SHA-256 of its bytes.
    pub(super) digest: String,
    pub(super) runs: Vec<Run>,
}

/// What was named, read.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) texts: Vec<Text>,
    pub(super) refused: Vec<Refused>,
    /// Snapshots among the files.
    pub(super) snapshots: Vec<Snapshot>,
    /// Facts that are kept beside runs of the history.
    pub(super) facts: Vec<Facts>,
}

impl Loaded {
    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.texts.iter().flat_map(|t| &t.runs)
    }

    pub(super) fn into_runs(self) -> Vec<Run> {
        self.texts.into_iter().flat_map(|t| t.runs).collect()
    }
}

/// Reads files, directories and `-`. `digests`: texts are named for the history.
pub(super) fn files(named: &[PathBuf], digests: bool, line: &Line) -> Result<Loaded, Failure> {
    let walked = walk(named);
    if walked.found.is_empty() {
        let why = walked.remarks.first().cloned().unwrap_or_else(|| "there is nothing to read".to_owned());
        return Err(Failure::new(why));
    }
    let mut loaded = Loaded::default();
    for remark in walked.remarks {
        loaded.refused.push(Refused { source: String::new(), line: 0, kind: None, why: remark });
    }
    for found in walked.found {
        match found {
            Found::Tree { path, .. } => loaded.snapshots.push(snapshot(&path, line)?),
            Found::Stream(source) => {
                if let Err(e) = stream(&source, digests, &mut loaded) {
                    let why = format!("it cannot be read: {e}");
                    loaded.refused.push(Refused { source: source.name, line: 0, kind: None, why });
                }
            }
        }
    }
    Ok(loaded)
}

/// One file or pipe, at most as long as a text may be that is held as a whole: a benchmark's output, or a snapshot.
fn stream(source: &Source, digests: bool, loaded: &mut Loaded) -> io::Result<()> {
    let (path, name) = (source.path.as_deref(), source.name.as_str());
    let from: Box<dyn Read> = match path {
        None => Box::new(io::stdin().lock()),
        Some(path) => {
            let file = File::open(path)?;
            charge_holes(&file, &crate::budget::budget()).map_err(io::Error::other)?;
            Box::new(file)
        }
    };
    let mut unpacked = Unpacked::new(from, &crate::budget::budget())?;
    let mut bytes: Vec<u8> = Vec::new();
    let plain = source.size.filter(|s| *s <= MOST && unpacked.packing().is_none());
    if let Some(size) = plain {
        // One byte more, so that the end is found without growing.
        bytes.reserve_exact(usize::try_from(size).unwrap_or(0) + 1);
    }
    unpacked.by_ref().take(HEAD as u64).read_to_end(&mut bytes)?;
    if is_archive_head(&bytes) {
        let all = io::Cursor::new(bytes).chain(unpacked);
        match linerate_snapshot::Reader::within(&crate::budget::budget()).read_from(all, name) {
            Ok(s) => loaded.snapshots.push(s),
            Err(e) => loaded.refused.push(Refused { source: name.to_owned(), line: 0, kind: None, why: e.to_string() }),
        }
        return Ok(());
    }
    // A packed file that is cut: what there is counts, and that it is cut is shown.
    let rest = match (path, plain) {
        // A file itself is read without clearing first what it is read into.
        (Some(path), Some(_)) => {
            bytes.clear();
            File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)
        }
        _ => held(&mut unpacked, &mut bytes),
    };
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other("it is larger than 4 GiB: split it"));
    }
    if rest.as_ref().is_err_and(|e| bytes.is_empty() || Exceeded::of(e).is_some()) {
        return rest.map(drop);
    }
    // The digest names the text in the history; it is made while the text is read.
    let (found, digest) = std::thread::scope(|threads| {
        let other = digests.then(|| threads.spawn(|| digest(&bytes)));
        let found = import(name, &bytes);
        (found, other.and_then(|t| t.join().ok()).unwrap_or_default())
    });
    loaded.texts.push(Text { digest, runs: found.runs });
    loaded.refused.extend(found.refused);
    rest.map(drop)
}

/// The rest of a text that is packed, or has no end that is known. It is held as a whole: what is packed may become less than
/// where it is streamed.
fn held(from: &mut Unpacked<'_>, bytes: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        let packed = from.packed_bytes();
        let most = match (from.packing(), crate::budget::budget().asked()) {
            (None, _) | (_, Some(_)) => MOST,
            _ => MOST.min(HELD_ALLOWANCE.saturating_add(HELD_RATIO.saturating_mul(packed))),
        };
        let got = from.by_ref().take(HEAD as u64).read_to_end(bytes)?;
        if got == 0 {
            return Ok(bytes.len());
        }
        if bytes.len() as u64 > most && most < MOST {
            bytes.clear();
            return Err(io::Error::other(format!(
                "it unpacks to more than {} MiB, the limit of a packed text that is held as a whole ({} MiB and {HELD_RATIO} \
                 times the {packed} bytes read); unpack it, or raise the limit by `--max-input`",
                most >> 20,
                HELD_ALLOWANCE >> 20
            )));
        }
        if bytes.len() as u64 > MOST {
            return Ok(bytes.len());
        }
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// A snapshot, a tree, `/` for this machine.
pub(super) fn snapshot(path: &Path, line: &Line) -> Result<Snapshot, Failure> {
    linerate_snapshot::load(path, &crate::budget::options(path, Purpose::Audit), &|p| line.capture(p))
        .map_err(|e| Failure::new(format!("{}: {e}", path.display())))
}

/// A side: files, a directory, a run of the history, a label.
pub(super) fn side(named: &[&str], history: Option<&Path>, line: &Line) -> Result<Loaded, Failure> {
    let mut all = Loaded::default();
    for name in named {
        let path = Path::new(name);
        if *name == "-" || path.exists() {
            let more = files(&[path.to_owned()], false, line)?;
            all.texts.extend(more.texts);
            all.refused.extend(more.refused);
            all.snapshots.extend(more.snapshots);
            continue;
        }
        let looks =
            name.strip_prefix("label:").is_some() || name.len() >= 4 && name.bytes().all(|b| b.is_ascii_hexdigit());
        if !looks {
            return Err(Failure::new(format!("{name}: there is no such file"))
                .hint("a side is a file, a directory, the beginning of a run's name (`linerate bench history` lists them), or label:WORD"));
        }
        let Opened { store, .. } = store::open_to_read(history)?;
        let ids = match name.strip_prefix("label:") {
            Some(label) => {
                let filter =
                    linerate_store::Filter { labels: vec![label.to_owned()], ..linerate_store::Filter::default() };
                let ids: Vec<_> = store.list(&filter)?.into_iter().map(|s| s.id).collect();
                if ids.is_empty() {
                    return Err(Failure::new(format!("no run of the history has the label `{label}`")));
                }
                ids
            }
            None => vec![store.find(name)?],
        };
        for id in ids {
            let run = store.load(id)?;
            all.texts.push(Text { digest: String::new(), runs: vec![run] });
            for s in store.snapshots(id)? {
                let facts = store::facts(&s);
                if !all.facts.contains(&facts) {
                    all.facts.push(facts);
                }
            }
        }
    }
    Ok(all)
}
