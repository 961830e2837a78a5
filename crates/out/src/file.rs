//! Files that are written whole or not at all: into a new file beside the target, synced, then renamed. A full disk, a signal or a
//! crash leaves what was there before.

use std::collections::hash_map::RandomState;
use std::fs::{File, FileType, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its owner only: snapshots, plans, and all that holds what was captured.
    Private,
    /// Whom the umask lets.
    Umask,
}

/// Files under their temporary names, and whether nothing new may begin.
struct Open {
    files: Vec<PathBuf>,
    over: bool,
}

static OPEN: Mutex<Open> = Mutex::new(Open { files: Vec::new(), over: false });

fn open() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files that are being written. No other begins, and none takes its name, afterwards: the caller is to end the process.
pub fn abandon() {
    let mut open = open();
    open.over = true;
    for file in open.files.drain(..) {
        let _ = std::fs::remove_file(file);
    }
}

/// A file that is being written. Dropped without [`keep`](Self::keep), it leaves nothing.
#[derive(Debug)]
pub struct Replace {
    file: BufWriter<File>,
    /// The new file and the name that it gets; `None`: a pipe or a device, which is written to as it is.
    names: Option<(PathBuf, PathBuf)>,
}

impl Replace {
    /// Begins a file of this name. A file or a link of that name is replaced when it is kept: no link is followed, whoever put it
    /// there. Pipes, terminals and other character devices are written to, also by the links in `/dev` and `/proc` that name what the
    /// process has open (`/dev/stdout`, `/dev/fd/3`).
    ///
    /// # Errors
    /// The file system's; a directory, a socket or a disk has the name.
    pub fn begin(path: &Path, access: Access) -> io::Result<Self> {
        if let Some(file) = existing(path)? {
            return Ok(Replace { file: BufWriter::new(file), names: None });
        }
        let name = path.file_name().ok_or_else(|| refused("not the name of a file"))?;
        let mode = if access == Access::Private { 0o600 } else { 0o666 };
        let mut open = open();
        if open.over {
            return Err(interrupted());
        }
        let mut tries = 0;
        loop {
            // The beginning of the name tells whose it is; a long one leaves no room for more.
            let part: String = name.to_string_lossy().chars().take(40).collect();
            let temporary =
                path.with_file_name(format!(".{part}.{:016x}.part", RandomState::new().build_hasher().finish()));
            match OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary) {
                Ok(file) => {
                    open.files.push(temporary.clone());
                    return Ok(Replace { file: BufWriter::new(file), names: Some((temporary, path.to_owned())) });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && tries < 8 => tries += 1,
                Err(e) => return Err(e),
            }
        }
    }

    /// What was written is all of it: synced, and under its name.
    ///
    /// # Errors
    /// The file system's; then the earlier file is what it was.
    pub fn keep(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((temporary, path)) = &self.names else { return Ok(()) };
        self.file.get_ref().sync_all()?;
        let mut open = open();
        if open.over {
            return Err(interrupted());
        }
        std::fs::rename(temporary, path)?;
        open.files.retain(|f| f != temporary);
        drop(open);
        if let Some(directory) = directory(path) {
            // The content is safe; some file systems cannot sync a directory.
            let _ = File::open(directory).and_then(|d| d.sync_all());
        }
        self.names = None;
        Ok(())
    }
}

impl Write for Replace {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Replace {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.names {
            open().files.retain(|f| f != temporary);
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// Those of [`Replace`].
pub fn write(path: &Path, access: Access, bytes: &[u8]) -> io::Result<()> {
    let mut file = Replace::begin(path, access)?;
    file.write_all(bytes)?;
    file.keep()
}

/// The directory of a file; `None`: the path names none.
#[must_use]
pub fn directory(path: &Path) -> Option<&Path> {
    path.parent().map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p })
}

/// What has the name already and is written to as it is; `None`: a file or a link that is replaced, or nothing.
fn existing(path: &Path) -> io::Result<Option<File>> {
    let kind = match path.symlink_metadata() {
        Ok(about) => about.file_type(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    if kind.is_symlink() {
        return if is_own(path) { OpenOptions::new().write(true).open(path).map(Some) } else { Ok(None) };
    }
    if kind.is_file() {
        return Ok(None);
    }
    if !is_stream(kind) {
        return Err(refused(if kind.is_dir() {
            "a directory has that name"
        } else {
            "a disk or a socket has that name"
        }));
    }
    let file =
        OpenOptions::new().write(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
    // What was looked at may have been exchanged.
    if is_stream(file.metadata()?.file_type()) {
        Ok(Some(file))
    } else {
        Err(refused("it changed while it was opened"))
    }
}

fn is_stream(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_char_device()
}

/// Whether a link is the kernel's name of a file that this process has open.
fn is_own(path: &Path) -> bool {
    let Some(directory) = directory(path).and_then(|d| d.canonicalize().ok()) else { return false };
    let descriptors = |d: &Path| d.starts_with("/proc") && d.ends_with("fd");
    let standard = ["stdout", "stderr"].iter().any(|n| path.file_name().is_some_and(|f| f == *n));
    descriptors(&directory) || (directory == Path::new("/dev") && standard)
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

fn interrupted() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the process is to end")
}
