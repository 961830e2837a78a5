//! PCI functions beside the paths that an audit judges: performance counters, system peripherals and the like, hundreds on
//! a large machine. Of these an audit reads the header of the configuration space, which tells what they are and whether they
//! answer, their driver and IOMMU group. The rest is noted as not collected. Of the other functions whose header can be read, the
//! files that say the same once more are left out.

use super::file::How;
use super::root::link_target;
use super::walk::Job;
use super::worker::{Stop, Worker, why};
use crate::EntryKind;
use crate::catalogue::{Leaf, Take};
use crate::index::{BYSTANDER_LINKS, Skipped};
use linerate_formats::pci::config::{ConfigSpace, Layout};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// The standard header, which every user may read.
const HEADER: u32 = 64;

/// Reads a function's header; if it is a bystander, reads the rest of what matters of it. False: nothing was added.
pub(super) fn read(w: &mut Worker<'_>, job: &Job, dir: BorrowedFd<'_>) -> Result<bool, Stop> {
    let leaf = Leaf { max: HEADER, binary: true, ..Leaf::new(Take::File) };
    {
        let mut state = w.state()?;
        if state.snapshot.child(job.dir, "config").is_some() {
            return Ok(state.snapshot.is_bystander(job.dir));
        }
        state.leaf.clear();
        state.leaf.push_str("config");
    }
    let trusted = w.s.root.sysfs;
    let good = w.read(dir, "config", leaf, How { trusted, whole: true, unseen: !trusted }).is_ok();
    w.state()?.leaf.clear();
    if !good || !is_bystander(&w.data) {
        if good && has_ids(&w.data) {
            w.state()?.snapshot.mark_skipped(job.dir, Skipped::Ids);
        }
        return Ok(false);
    }
    let header = std::mem::take(&mut w.data);
    {
        let mut state = w.state()?;
        state.snapshot.add_at(job.dir, "config", EntryKind::CutFile, &header);
        state.snapshot.mark_bystander(job.dir);
    }
    w.data = header;
    for name in BYSTANDER_LINKS {
        match link_target(dir, name) {
            Ok(target) => {
                w.state()?.snapshot.add_at(job.dir, name, EntryKind::Link, target.as_bytes());
            }
            // There, but not a link: as if it were not.
            Err(Errno::NOENT | Errno::INVAL) => {}
            Err(e) => {
                w.state()?.snapshot.add_at(job.dir, name, EntryKind::Failed(why(e)), &[]);
            }
        }
    }
    Ok(true)
}

/// Whether the header tells what the function is. A virtual function's shows no vendor of its own.
fn has_ids(header: &[u8]) -> bool {
    header.len() == HEADER as usize
        && ConfigSpace::new(header).header().is_some_and(|h| !matches!(h.vendor, 0 | 0xffff))
}

/// Neither a bridge, nor a GPU, nor a NIC, nor anything that moves bulk data, nor silent.
fn is_bystander(header: &[u8]) -> bool {
    let Some(h) = ConfigSpace::new(header).header() else { return false };
    let interesting_class =
        matches!(h.class.0 >> 16, 0x00 | 0x01 | 0x02 | 0x03 | 0x06 | 0x0b | 0x12 | 0xff) || h.class.0 >> 8 == 0x0c06;
    // Virtual functions show no vendor of their own.
    header.len() == HEADER as usize
        && !interesting_class
        && !matches!(h.vendor, 0x10de | 0x15b3 | 0xffff | 0)
        && matches!(h.layout, Layout::Endpoint { .. })
}
