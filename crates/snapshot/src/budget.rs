//! What packed input may become, over all inputs of one command.

use linerate_formats::bounds::{ALLOWANCE, MEMBER_BYTES, MEMBERS, RATIO, SEARCHED};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A budget of unpacked bytes. Its copies share it.
///
/// So many bytes are free; each packed byte that was read earns [`RATIO`] more. So neither one file that becomes terabytes nor
/// thousands of small ones cost more than a multiple of what lies on the disk.
#[derive(Debug, Clone, Default)]
pub struct Budget(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// In place of the usual rule.
    most: Option<u64>,
    packed: AtomicU64,
    unpacked: AtomicU64,
    members: AtomicU64,
}

/// There is more than the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} more than {} MiB, which is the limit of packed input ({rule}); `--max-input` raises it", .limit >> 20, what = if *.searched { "to search its lines counts as" } else { "it unpacks to" }, rule = rule(*.asked, *.packed))]
pub struct Exceeded {
    /// Bytes that packed input may become.
    pub limit: u64,
    /// Packed bytes that were read.
    pub packed: u64,
    /// Whether the user set the limit.
    pub asked: bool,
    /// Whether searching took it, not unpacking.
    pub searched: bool,
}

fn rule(asked: bool, packed: u64) -> String {
    if asked {
        return "as asked for".to_owned();
    }
    format!("{} MiB and {RATIO} times the {packed} bytes read", ALLOWANCE >> 20)
}

impl Budget {
    /// The usual one, or so many bytes.
    #[must_use]
    pub fn new(most: Option<u64>) -> Self {
        Budget(Arc::new(Inner { most, ..Inner::default() }))
    }

    /// Notes that packed bytes were read.
    pub fn packed(&self, bytes: u64) {
        self.0.packed.fetch_add(bytes, Relaxed);
    }

    /// Whether the user set the limit.
    #[must_use]
    pub fn asked(&self) -> Option<u64> {
        self.0.most
    }

    /// Notes that a member begins whose decoder costs much even where nothing comes out.
    pub(crate) fn member(&self) -> Result<(), TooManyMembers> {
        let packed = self.0.packed.load(Relaxed);
        let limit = MEMBERS.saturating_add(packed / MEMBER_BYTES);
        let members = self.0.members.fetch_add(1, Relaxed) + 1;
        if members <= limit { Ok(()) } else { Err(TooManyMembers { limit, packed }) }
    }

    /// Notes that bytes came out.
    ///
    /// # Errors
    /// They are too many.
    pub fn take(&self, bytes: u64) -> Result<(), Exceeded> {
        self.charge(bytes, false)
    }

    /// Notes that lines of so many bytes, which came out before, are searched for all that programs print: they count [`SEARCHED`] times.
    ///
    /// # Errors
    /// They are too many.
    pub fn search(&self, bytes: u64) -> Result<(), Exceeded> {
        self.charge(bytes.saturating_mul(SEARCHED - 1), true)
    }

    fn charge(&self, bytes: u64, searched: bool) -> Result<(), Exceeded> {
        let unpacked = self.0.unpacked.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let packed = self.0.packed.load(Relaxed);
        let limit = self.0.most.unwrap_or_else(|| ALLOWANCE.saturating_add(packed.saturating_mul(RATIO)));
        if unpacked <= limit {
            return Ok(());
        }
        // What is refused was not read: another input may still fit.
        self.0.unpacked.fetch_sub(bytes, Relaxed);
        Err(Exceeded { limit, packed, asked: self.0.most.is_some(), searched })
    }
}

/// Charges a file with holes, which costs its length and occupies less, as packed input. A file system that knows nothing about holes
/// says that there are none.
///
/// # Errors
/// It is longer than the budget.
pub(crate) fn charge_holes(file: &File, budget: &Budget) -> Result<(), Exceeded> {
    let Ok(meta) = file.metadata() else { return Ok(()) };
    let occupied = meta.blocks().saturating_mul(512);
    if !meta.is_file() || meta.len() <= occupied.saturating_mul(RATIO).saturating_add(1 << 20) {
        return Ok(());
    }
    let hole = rustix::fs::seek(file, rustix::fs::SeekFrom::Hole(0));
    let _ = rustix::fs::seek(file, rustix::fs::SeekFrom::Start(0));
    if hole.is_ok_and(|at| at < meta.len()) {
        budget.packed(occupied);
        return budget.take(meta.len());
    }
    Ok(())
}

/// There are more members than a file of that length has for a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it consists of more than {limit} packed members ({MEMBERS} and one for each {MEMBER_BYTES} of the {packed} bytes read): unpack it, and name what comes out"
)]
pub(crate) struct TooManyMembers {
    limit: u64,
    packed: u64,
}

impl Exceeded {
    /// That an error of a reader is one of these.
    #[must_use]
    pub fn of(e: &io::Error) -> Option<Self> {
        e.get_ref().and_then(|inner| inner.downcast_ref::<Self>()).copied()
    }
}

/// A reader with a function that counts the bytes that come from it, and may end the reading.
pub(crate) struct Counted<R, F> {
    pub(crate) from: R,
    pub(crate) count: F,
}

impl<R: Read, F: FnMut(u64) -> io::Result<()>> Read for Counted<R, F> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buf)?;
        (self.count)(n as u64)?;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_earns_and_what_comes_out_costs() {
        let b = Budget::default();
        assert_eq!(b.take(ALLOWANCE), Ok(()));
        let e = b.take(1).unwrap_err();
        assert_eq!((e.limit, e.packed, e.asked), (ALLOWANCE, 0, false));
        b.clone().packed(10);
        assert_eq!(b.take(10 * RATIO), Ok(()));
        assert!(b.take(1).is_err());
        let asked = Budget::new(Some(5));
        asked.packed(1 << 30);
        let searching = Budget::default();
        assert_eq!(searching.search(ALLOWANCE / (SEARCHED - 1)), Ok(()));
        assert!(searching.search(1).is_err_and(|e| e.searched));
        assert!(asked.take(5).is_ok() && asked.take(1).is_err_and(|e| e.asked && e.limit == 5));
    }
}
