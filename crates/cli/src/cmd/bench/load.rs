//! From what the user named to runs: files, directories, pipes, runs of the history.

use super::super::doctor_walk::{Found, Source, walk};
use super::store::{self, Opened};
use crate::output::Failure;
use crate::progress::Line;
use linerate_bench::Run;
use linerate_bench::facts::Facts;
use linerate_bench::import::{Refused, import};
use linerate_formats::bounds::HELD as MOST;
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{Exceeded, Input, Snapshot};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
    let mut input = Input::open(path, &crate::budget::budget())?;
    if input.is_archive() {
        match linerate_snapshot::Reader::within(&crate::budget::budget()).read_from(input, name) {
            Ok(s) => loaded.snapshots.push(s),
            Err(e) => loaded.refused.push(Refused { source: name.to_owned(), line: 0, kind: None, why: e.to_string() }),
        }
        return Ok(());
    }
    let mut bytes = input.take_head();
    let plain = source.size.filter(|s| *s <= MOST && input.packing().is_none());
    // A packed file that is cut: what there is counts, and that it is cut is shown.
    let rest = match (path, plain) {
        // A file itself is read without clearing first what it is read into.
        (Some(path), Some(size)) => {
            // One byte more, so that the end is found without growing.
            bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
            File::open(path)?.take(MOST + 1).read_to_end(&mut bytes).map(drop)
        }
        _ => input.hold(&mut bytes, MOST),
    };
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other("it is larger than 4 GiB: split it"));
    }
    if rest.as_ref().is_err_and(|e| bytes.is_empty() || Exceeded::of(e).is_some()) {
        return rest;
    }
    // The digest names the text in the history; it is made while the text is read.
    let (found, digest) = std::thread::scope(|threads| {
        let other = digests.then(|| threads.spawn(|| digest(&bytes)));
        let found = import(name, &bytes);
        (found, other.and_then(|t| t.join().ok()).unwrap_or_default())
    });
    loaded.texts.push(Text { digest, runs: found.runs });
    loaded.refused.extend(found.refused);
    rest
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
