//! The file: row groups as they come, those of an earlier index byte for byte, whole or not at all.

use super::batch::Batch;
use super::columns::schema;
use super::encode::Group;
use super::{FORMAT, FileId, Index, IndexError, NAME};
use linerate_fleet::Record;
use linerate_out::file::{Access, Replace};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Key of the format's version.
pub(super) const FORMAT_KEY: &str = "linerate.index";
/// Key of the lists of schedulers that were joined to its snapshots.
pub(super) const LISTS_KEY: &str = "linerate.lists";
/// Key of what the facts and rules were that made it.
pub(super) const CATALOGUE_KEY: &str = "linerate.catalogue";

/// An index that is being written.
pub struct Writer<W: Write + Send = Replace> {
    out: SerializedFileWriter<W>,
    path: PathBuf,
    batch: Batch,
}

/// A row group that is ready to be written: made on any thread.
pub struct Encoded(Group);

impl Encoded {
    /// Snapshots in it.
    #[must_use]
    pub fn snapshots(&self) -> usize {
        self.0.snapshots
    }
}

/// Snapshots that become one row group.
#[derive(Debug, Default)]
pub struct Gathered(Batch);

impl Gathered {
    /// A snapshot, by its path in the directory, and what it says.
    pub fn add(&mut self, snapshot: &str, file: FileId, record: &Record) {
        self.0.add(snapshot, file, record);
    }

    /// A snapshot that could not be read, and why.
    pub fn add_unreadable(&mut self, snapshot: &str, file: FileId, label: &str, why: &str) {
        self.0.add_unreadable(snapshot, file, label, why);
    }

    /// Whether it is as large as a row group should be.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sorted and packed.
    ///
    /// # Errors
    /// The library refuses.
    pub fn encode(self, path: &Path) -> Result<Encoded, IndexError> {
        self.0.encode().map(Encoded).map_err(|e| failed(path, &e))
    }
}

impl Writer {
    /// Begins a file, beside the one that has the name.
    ///
    /// # Errors
    /// The file system's.
    pub fn begin(path: &Path) -> Result<Self, IndexError> {
        Writer::beside(path, "")
    }

    /// The same, of snapshots to which these lists are joined.
    pub(super) fn beside(path: &Path, lists: &str) -> Result<Self, IndexError> {
        let io = |source| IndexError::Io { doing: "write", path: path.to_owned(), source };
        let file = Replace::begin(path, Access::Private).map_err(io)?;
        Writer::into(file, path, lists)
    }

    /// All was written: the file takes its name.
    ///
    /// # Errors
    /// The file system's; then the earlier file is what it was.
    pub fn finish(mut self) -> Result<(), IndexError> {
        self.flush()?;
        let path = self.path;
        let file = self.out.into_inner().map_err(|e| failed(&path, &e))?;
        file.keep().map_err(|source| IndexError::Io { doing: "write", path, source })
    }
}

impl Writer<Vec<u8>> {
    /// Begins one in memory.
    ///
    /// # Errors
    /// The library refuses.
    pub fn memory() -> Result<Self, IndexError> {
        Writer::into(Vec::new(), Path::new(NAME), "")
    }

    /// The whole file.
    ///
    /// # Errors
    /// The library refuses.
    pub fn bytes(mut self) -> Result<Vec<u8>, IndexError> {
        self.flush()?;
        let path = self.path;
        self.out.into_inner().map_err(|e| failed(&path, &e))
    }
}

impl<W: Write + Send> Writer<W> {
    fn into(file: W, path: &Path, lists: &str) -> Result<Self, IndexError> {
        let about = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
        let properties = WriterProperties::builder()
            .set_created_by(concat!("linerate ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(|e| failed(path, &e))?))
            .set_key_value_metadata(Some(vec![
                about(FORMAT_KEY, FORMAT.to_owned()),
                about(LISTS_KEY, lists.to_owned()),
                about(CATALOGUE_KEY, linerate_fleet::catalogue()),
            ]))
            .build();
        let schema = schema().map_err(|e| failed(path, &e))?;
        let out = SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(|e| failed(path, &e))?;
        Ok(Writer { out, path: path.to_owned(), batch: Batch::default() })
    }

    /// A snapshot and what it says. Groups are written as they fill.
    ///
    /// # Errors
    /// The file system's.
    pub fn add(&mut self, snapshot: &str, file: FileId, record: &Record) -> Result<(), IndexError> {
        self.batch.add(snapshot, file, record);
        if self.batch.is_full() { self.flush() } else { Ok(()) }
    }

    /// A snapshot that could not be read, and why.
    ///
    /// # Errors
    /// The file system's.
    pub fn add_unreadable(&mut self, snapshot: &str, file: FileId, label: &str, why: &str) -> Result<(), IndexError> {
        self.batch.add_unreadable(snapshot, file, label, why);
        if self.batch.is_full() { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let group = batch.encode().map_err(|e| failed(&self.path, &e))?;
        self.group(Encoded(group))
    }

    /// A row group that was made elsewhere.
    ///
    /// # Errors
    /// The file system's.
    pub fn group(&mut self, group: Encoded) -> Result<(), IndexError> {
        let write = || {
            let mut out = self.out.next_row_group()?;
            for (bytes, close) in group.0.columns {
                out.append_column(&bytes, close)?;
            }
            out.close().map(drop)
        };
        write().map_err(|e| failed(&self.path, &e))
    }

    /// A row group of another index, byte for byte.
    ///
    /// # Errors
    /// The file system's, or the other index is damaged.
    pub fn copy(&mut self, from: &Index, group: usize) -> Result<(), IndexError> {
        let columns = from.raw(group)?;
        let write = || {
            let mut out = self.out.next_row_group()?;
            for (chunk, close) in columns {
                out.append_column(&chunk, close)?;
            }
            out.close().map(drop)
        };
        write().map_err(|e| failed(&self.path, &e))
    }
}

fn failed(path: &Path, e: &ParquetError) -> IndexError {
    IndexError::Write { path: path.to_owned(), why: e.to_string() }
}
