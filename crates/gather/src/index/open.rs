//! An index that is open: what its footer says, checked, and the bytes of its columns.

use super::columns::{Column, described};
use super::file::{CATALOGUE_KEY, FORMAT_KEY, LISTS_KEY};
use super::footer::{ChunkAt, Footer};
use super::pages::Chunk;
use super::{FORMAT, IndexError, NAME};
use bytes::Bytes;
use linerate_formats::bounds;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Where an index is.
#[derive(Debug)]
enum Kept {
    File(File),
    Memory(Vec<u8>),
}

impl Kept {
    fn size(&self) -> io::Result<u64> {
        match self {
            Kept::File(file) => file.metadata().map(|m| m.len()),
            Kept::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    fn read(&self, from: u64, size: usize) -> io::Result<Vec<u8>> {
        match self {
            Kept::File(file) => {
                let mut out = vec![0; size];
                file.read_exact_at(&mut out, from).map(|()| out)
            }
            Kept::Memory(bytes) => {
                let from = usize::try_from(from).ok();
                let some = from.and_then(|f| bytes.get(f..f.checked_add(size)?));
                some.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
        }
    }
}

/// An index.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    file: Kept,
    about: Footer,
    /// It was made with this version's facts and rules.
    current: bool,
}

impl Index {
    /// The index of a directory, or the file itself.
    ///
    /// # Errors
    /// There is none, it is of another format, or damaged.
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        let (dir, path) = if path.is_dir() { (Some(path), path.join(NAME)) } else { (None, path.to_owned()) };
        let file = File::open(&path).map_err(|source| match (dir, source.kind()) {
            (Some(dir), io::ErrorKind::NotFound) => IndexError::None { dir: dir.to_owned() },
            _ => IndexError::Io { doing: "read", path: path.clone(), source },
        })?;
        Index::of(path, Kept::File(file))
    }

    /// An index in memory.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Self, IndexError> {
        Index::of(PathBuf::from(NAME), Kept::Memory(bytes))
    }

    fn of(path: PathBuf, file: Kept) -> Result<Self, IndexError> {
        let io = |source| IndexError::Io { doing: "read", path: path.clone(), source };
        let size = file.size().map_err(io)?;
        let foreign = |why: &str| IndexError::Foreign { path: path.clone(), why: why.to_owned() };
        let from = size.checked_sub(12).ok_or_else(|| foreign("it is too short for a Parquet file"))?;
        let tail = file.read(from + 4, 8).map_err(io)?;
        let end = || foreign("it does not end as a Parquet file does");
        let (footer, magic) = tail.split_first_chunk::<4>().ok_or_else(end)?;
        let footer = u64::from(u32::from_le_bytes(*footer));
        if magic != b"PAR1" || footer > from {
            return Err(end());
        }
        if footer > bounds::INDEX_FOOTER {
            let why = format!("its list of row groups has {footer} bytes, INDEX_FOOTER is {}", bounds::INDEX_FOOTER);
            return Err(IndexError::TooLarge { path, why });
        }
        let damaged = |why: String| IndexError::Damaged { path: path.clone(), why };
        let footer = file.read(from + 4 - footer, footer as usize).map_err(io)?;
        let about = Footer::read(&footer).ok_or_else(|| damaged("its list of row groups".to_owned()))?;
        let format = about.key(FORMAT_KEY).ok_or_else(|| foreign("it is a Parquet file of something else"))?;
        if format != FORMAT {
            return Err(IndexError::Format { path, found: format.to_owned() });
        }
        if !about.has_our_columns() {
            return Err(damaged("it has other columns".to_owned()));
        }
        let current = about.key(CATALOGUE_KEY).is_some_and(|c| c == linerate_fleet::catalogue());
        let index = Index { path: path.clone(), file, about, current };
        index.check(size)?;
        Ok(index)
    }

    /// That what the footer says of each chunk can be.
    fn check(&self, size: u64) -> Result<(), IndexError> {
        for group in &self.about.groups {
            let rows = group.rows;
            if rows < 0 || rows.unsigned_abs() > bounds::INDEX_GROUP_ROWS as u64 {
                let why = format!("a row group has {rows} rows, INDEX_GROUP_ROWS is {}", bounds::INDEX_GROUP_ROWS);
                return Err(IndexError::TooLarge { path: self.path.clone(), why });
            }
            for column in &group.chunks {
                let end = column.first.checked_add(column.compressed);
                let fits = column.first >= 4
                    && column.compressed >= 0
                    && column.compressed.unsigned_abs() <= bounds::INDEX_PAGE as u64
                    && end.is_some_and(|end| (column.first..=end).contains(&column.data) && end.unsigned_abs() <= size)
                    && column.values == rows;
                if !fits {
                    return Err(self.damaged("a column is not where it says".to_owned()));
                }
            }
        }
        Ok(())
    }

    pub(super) fn damaged(&self, why: String) -> IndexError {
        IndexError::Damaged { path: self.path.clone(), why }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this version's facts and rules made it. Otherwise what only one of both versions knows is missing.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.current
    }

    /// By which lists of schedulers its snapshots were joined to their entries.
    pub(super) fn lists(&self) -> &str {
        self.about.key(LISTS_KEY).unwrap_or_default()
    }

    /// Number of row groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.about.groups.len()
    }

    /// Rows of a group.
    #[must_use]
    pub fn rows(&self, group: usize) -> u32 {
        self.about.groups.get(group).map_or(0, |g| g.rows.unsigned_abs() as u32)
    }

    fn chunk_at(&self, group: usize, column: Column) -> Result<&ChunkAt, IndexError> {
        let about = self.about.groups.get(group).and_then(|g| g.chunks.get(column as usize));
        about.ok_or_else(|| self.damaged("a column is missing".to_owned()))
    }

    fn bytes(&self, at: &ChunkAt) -> Result<Vec<u8>, IndexError> {
        let io = |source| IndexError::Io { doing: "read", path: self.path.clone(), source };
        self.file.read(at.first.unsigned_abs(), at.compressed.unsigned_abs() as usize).map_err(io)
    }

    pub(super) fn chunk(&self, group: usize, column: Column) -> Result<Chunk, IndexError> {
        let bytes = self.bytes(self.chunk_at(group, column)?)?;
        Ok(Chunk { bytes, optional: column.is_optional(), numbers: column == Column::Time })
    }

    /// All chunks of a group as they are.
    pub(super) fn raw(&self, group: usize) -> Result<Vec<(Bytes, ColumnCloseResult)>, IndexError> {
        let rows_written = u64::from(self.rows(group));
        let library = |e: ParquetError| self.damaged(e.to_string());
        let schema = described().map_err(library)?;
        let each = Column::ALL.into_iter().zip(schema.columns()).map(|(column, described)| {
            let at = self.chunk_at(group, column)?;
            let bytes = self.bytes(at)?;
            let close = ColumnCloseResult {
                bytes_written: bytes.len() as u64,
                rows_written,
                metadata: at.about(column, described.clone()).map_err(library)?,
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            Ok((bytes.into(), close))
        });
        each.collect()
    }
}
