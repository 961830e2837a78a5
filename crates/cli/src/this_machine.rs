//! What no argument names is this machine. Where something waits on standard input all the same, it was probably meant.

use std::fs::File;
use std::io::Seek;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

static READ: AtomicBool = AtomicBool::new(false);

/// The path of this machine, which is read because no argument names anything else.
pub(crate) fn path() -> &'static Path {
    note_read();
    Path::new("/")
}

/// Notes that this machine is read, because no argument names anything else.
pub(crate) fn note_read() {
    READ.store(true, Ordering::SeqCst);
}

/// Whether this machine was read, and standard input holds what nobody read. Asked at the end: whoever writes a pipe has begun by then.
pub(crate) fn input_is_unread() -> bool {
    READ.load(Ordering::SeqCst) && waits().unwrap_or(false)
}

fn waits() -> std::io::Result<bool> {
    let mut input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let about = input.metadata()?;
    Ok(match about.file_type() {
        kind if kind.is_fifo() => rustix::io::ioctl_fionread(&input)? > 0,
        // A loop of a shell that reads its hosts from a file has read a part of it.
        kind if kind.is_file() => about.len() > 0 && input.stream_position()? == 0,
        _ => false,
    })
}
