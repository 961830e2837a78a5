//! A key that the operator keeps, so that hashes of many snapshots join, and so that they can be read back.
//!
//! Hashes cannot be inverted: a MAC must stay a MAC, and an address becomes one of 762. So the key's file also lists what each hash stands for,
//! as far as this key made it. It names the fleet's hosts and serial numbers, but nothing that opens a door.

use linerate_out::file::{self, Access};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// First line of a key's file.
const HEAD: &str = "# linerate redact key 1: whoever has this file can read what was hashed with it";

/// What hashes stand for, as many as a key's file may list.
const NAMES: usize = linerate_formats::bounds::REDACTED_NAMES;

/// A key, and what was hashed with it.
#[derive(Clone)]
pub struct RedactKey {
    key: (u64, u64),
    path: PathBuf,
    /// What each hash stands for.
    names: Names,
    /// How many of them the file has, as far as this key knows.
    saved: Arc<AtomicUsize>,
}

/// Hashes, with what they stand for.
pub(crate) type Names = Arc<Mutex<BTreeMap<String, String>>>;

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file could not be read, or not be made.
    #[error("cannot use the key {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others may read it.
    #[error("others may read the key {} (mode {mode:03o}); make it yours alone: chmod 600", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It is no key.
    #[error("{} is not a key of linerate, or is damaged: line {line} is not understood", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
    },
    /// The file has another key than when it was read.
    #[error(
        "{} has another key now than when this command began: what it hashed since cannot be read back; collect again with one key",
        .path.display()
    )]
    Replaced {
        /// The file.
        path: PathBuf,
    },
}

impl fmt::Debug for RedactKey {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedactKey").field("path", &self.path).finish_non_exhaustive()
    }
}

impl RedactKey {
    /// Reads a key; one that is not there is made, readable by its owner only. Of several commands that make it at once, one does.
    ///
    /// # Errors
    /// It cannot be read or made, others may read it, or it is none.
    pub fn open(path: &Path) -> Result<Self, KeyError> {
        if let Some(key) = read(path)? {
            return Ok(key);
        }
        let _lock = lock(path)?;
        // Another command may have made it before the lock was had.
        if let Some(key) = read(path)? {
            return Ok(key);
        }
        let key = chance().map_err(failed(path))?;
        let new = RedactKey { key, path: path.to_owned(), names: Names::default(), saved: Arc::default() };
        new.write()?;
        Ok(new)
    }

    /// Writes what was hashed since to its file. What other commands wrote there is kept: they wait for each other.
    ///
    /// # Errors
    /// It cannot be read or written, or has another key now.
    pub fn save(&self) -> Result<(), KeyError> {
        if self.count() == self.saved.load(Ordering::Relaxed) {
            return Ok(());
        }
        let _lock = lock(&self.path)?;
        if let Some(now) = read(&self.path)? {
            if now.key != self.key {
                return Err(KeyError::Replaced { path: self.path.clone() });
            }
            if let (Ok(from), Ok(mut to)) = (now.names.lock(), self.names.lock()) {
                for (hash, name) in from.iter() {
                    // What is in the file stays there, whatever the limit leaves room for.
                    to.entry(hash.clone()).or_insert_with(|| name.clone());
                }
                while to.len() > NAMES {
                    let Some(last) = to.keys().rev().find(|hash| !from.contains_key(*hash)).cloned() else { break };
                    to.remove(&last);
                }
            }
        }
        self.write()
    }

    /// Hashes that it knows.
    fn count(&self) -> usize {
        self.names.lock().map_or(0, |names| names.len())
    }

    /// The file as it is to be. The lock is held.
    fn write(&self) -> Result<(), KeyError> {
        let mut text = format!("{HEAD}\nkey {:016x}{:016x}\n", self.key.0, self.key.1);
        let mut count = 0;
        if let Ok(names) = self.names.lock() {
            names.iter().for_each(|(hash, name)| text.push_str(&format!("{hash}\t{name}\n")));
            count = names.len();
        }
        file::write(&self.path, Access::Private, text.as_bytes()).map_err(failed(&self.path))?;
        self.saved.store(count, Ordering::Relaxed);
        Ok(())
    }

    /// By which snapshots name it.
    #[must_use]
    pub fn id(&self) -> String {
        let mut h = Sha256::new_with_prefix(b"linerate redact key\0");
        h.update(self.key.0.to_be_bytes());
        h.update(self.key.1.to_be_bytes());
        h.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect()
    }

    /// A text with what its hashes stand for, as far as this key's file knows. How many were replaced.
    #[must_use]
    pub fn reveal(&self, text: &str) -> (String, usize) {
        let Ok(names) = self.names.lock() else { return (text.to_owned(), 0) };
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '-' | '_');
        let (mut out, mut found) = (String::with_capacity(text.len()), 0);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if len == 0 {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
                continue;
            }
            let (word, tail) = rest.split_at(len);
            match revealed(&names, word) {
                Some(new) => {
                    found += 1;
                    out.push_str(&new);
                }
                None => out.push_str(word),
            }
            rest = tail;
        }
        (out, found)
    }

    pub(crate) fn parts(&self) -> ((u64, u64), Names) {
        (self.key, Arc::clone(&self.names))
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> KeyError + '_ {
    |source| KeyError::Io { path: path.to_owned(), source }
}

/// The key of a file; `None`: there is no file.
fn read(path: &Path) -> Result<Option<RedactKey>, KeyError> {
    let text = match std::fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(path)(e)),
        Ok(m) if m.mode() & 0o077 != 0 => {
            return Err(KeyError::Open { path: path.to_owned(), mode: m.mode() & 0o777 });
        }
        Ok(_) => std::fs::read_to_string(path).map_err(failed(path))?,
    };
    let (key, names) = parse(&text).map_err(|line| KeyError::Form { path: path.to_owned(), line })?;
    let saved = Arc::new(AtomicUsize::new(names.lock().map_or(0, |n| n.len())));
    Ok(Some(RedactKey { key, path: path.to_owned(), names, saved }))
}

/// Held until it is dropped; the kernel lets go of it with the process. The key's own file is renamed over, so a file beside it is locked.
fn lock(path: &Path) -> Result<File, KeyError> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.with_file_name(format!(".{name}.lock"));
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&beside);
    let file = file.map_err(failed(&beside))?;
    file.lock().map_err(failed(&beside))?;
    Ok(file)
}

/// A word that is a hash, or holds one behind `GPU-` or before a full stop.
fn revealed(names: &BTreeMap<String, String>, word: &str) -> Option<String> {
    if let Some(name) = names.get(word) {
        return Some(name.clone());
    }
    let core = word.trim_end_matches(['.', ':', '-']);
    let (head, core) = ["GPU-", "MIG-"].iter().find_map(|h| Some((*h, core.strip_prefix(h)?))).unwrap_or(("", core));
    let bare: String = core.strip_prefix("0x").unwrap_or(core).split([':', '-']).collect();
    let name = names.get(core).cloned().or_else(|| {
        // A GUID is listed in sixteen digits, however it is written.
        let real = names.get(&bare).filter(|_| bare.len() == 16)?;
        let by = |n: usize, sep: &str| {
            let parts: Vec<&str> = (0..16 / n).filter_map(|i| real.get(i * n..(i + 1) * n)).collect();
            parts.join(sep)
        };
        Some(match (core.starts_with("0x"), core.contains(':'), core.contains('-')) {
            (true, ..) => format!("0x{real}"),
            (_, true, _) => by(4, ":"),
            (_, _, true) => by(2, "-"),
            _ => real.clone(),
        })
    })?;
    let end = word.len() - word.trim_end_matches(['.', ':', '-']).len();
    Some(format!("{head}{name}{}", word.get(word.len() - end..).unwrap_or_default()))
}

/// Key and names, or the line that is not understood.
fn parse(text: &str) -> Result<((u64, u64), Names), usize> {
    let mut lines = text.lines().zip(1_usize..);
    if lines.next().is_none_or(|(l, _)| l != HEAD) {
        return Err(1);
    }
    let digits = lines.next().and_then(|(l, _)| l.strip_prefix("key ")).filter(|d| d.len() == 32).ok_or(2_usize)?;
    let half = |at: usize| digits.get(at..at + 16).and_then(|d| u64::from_str_radix(d, 16).ok()).ok_or(2_usize);
    let key = (half(0)?, half(16)?);
    let mut names = BTreeMap::new();
    for (line, at) in lines.filter(|(l, _)| !l.is_empty()).take(NAMES) {
        let (hash, name) = line.split_once('\t').ok_or(at)?;
        names.insert(hash.to_owned(), name.to_owned());
    }
    Ok((key, Arc::new(Mutex::new(names))))
}

/// Random numbers of the kernel.
pub(super) fn chance() -> io::Result<(u64, u64)> {
    let mut b = [0_u8; 16];
    let mut filled = 0;
    while let Some(rest) = b.get_mut(filled..).filter(|r| !r.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    let n = u128::from_le_bytes(b);
    Ok((n as u64, (n >> 64) as u64))
}

/// Notes what a hash stands for.
pub(super) fn note(names: &Names, hash: &str, name: &str) {
    let plain = |t: &str| !t.is_empty() && !t.contains(['\t', '\n', '\r']);
    if hash == name || !plain(hash) || !plain(name) {
        return;
    }
    if let Ok(mut all) = names.lock()
        && (all.len() < NAMES || all.contains_key(hash))
    {
        all.insert(hash.to_owned(), name.to_owned());
    }
}
