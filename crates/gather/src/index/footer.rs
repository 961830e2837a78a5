//! What the end of an index says: row groups, where their columns are, and the keys of the file. Only files as this crate writes them are read.
//! Source of the numbers of fields: `parquet.thrift` of the format's specification.

use super::columns::Column;
use super::thrift::{Kind, Thrift};
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

/// The footer.
#[derive(Debug, Default)]
pub(super) struct Footer {
    pub(super) groups: Vec<Group>,
    /// Key and value of what the writer said of the file.
    keys: Vec<(String, String)>,
    /// Name, physical type, whether a value may be missing.
    columns: Vec<(String, i64, bool)>,
}

/// A row group.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) rows: i64,
    /// In the order of [`Column::ALL`], where [`Footer::has_our_columns`].
    pub(super) chunks: Vec<ChunkAt>,
}

/// Where a column of a row group is.
#[derive(Debug, Clone, Default)]
pub(super) struct ChunkAt {
    /// Offset of its dictionary, which is its beginning; -1: it has none.
    pub(super) first: i64,
    /// Offset of its first page of rows.
    pub(super) data: i64,
    pub(super) compressed: i64,
    pub(super) uncompressed: i64,
    pub(super) values: i64,
    /// Rows without a value, least and greatest value, as they stand.
    nulls: Option<i64>,
    range: Option<(Vec<u8>, Vec<u8>)>,
}

impl Footer {
    /// Reads it; `None`: it is damaged.
    pub(super) fn read(bytes: &[u8]) -> Option<Footer> {
        let mut out = Footer::default();
        let mut root = true;
        Thrift::new(bytes).fields(Kind::Struct, &mut |t, id, kind| match id {
            2 => t.list(kind, &mut |t, kind| {
                let column = element(t, kind)?;
                // The first one is the message itself.
                if !std::mem::take(&mut root) {
                    out.columns.push(column);
                }
                Some(())
            }),
            4 => t.list(kind, &mut |t, kind| {
                out.groups.push(group(t, kind)?);
                Some(())
            }),
            5 => t.list(kind, &mut |t, kind| {
                let (mut key, mut value) = ("", "");
                t.fields(kind, &mut |t, id, kind| {
                    match id {
                        1 => key = t.text(kind)?,
                        2 => value = t.text(kind)?,
                        _ => t.skip(kind)?,
                    }
                    Some(())
                })?;
                out.keys.push((key.to_owned(), value.to_owned()));
                Some(())
            }),
            _ => t.skip(kind),
        })?;
        Some(out)
    }

    pub(super) fn key(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    pub(super) fn has_our_columns(&self) -> bool {
        self.columns.iter().map(|(name, kind, optional)| (name.as_str(), *kind, *optional)).eq(Column::ALL
            .into_iter()
            .map(|c| (c.name(), if c == Column::Time { INT64 } else { BYTE_ARRAY }, c.is_optional())))
            && self.groups.iter().all(|g| g.chunks.len() == Column::ALL.len())
    }
}

/// Numbers of physical types.
const INT64: i64 = 2;
const BYTE_ARRAY: i64 = 6;
/// Number of the repetition of a column that may lack values.
const OPTIONAL: i64 = 1;

fn element(t: &mut Thrift<'_>, kind: Kind) -> Option<(String, i64, bool)> {
    let (mut name, mut physical, mut repetition) = (String::new(), -1, 0);
    t.fields(kind, &mut |t, id, kind| {
        match id {
            1 => physical = t.int(kind)?,
            3 => repetition = t.int(kind)?,
            4 => t.text(kind)?.clone_into(&mut name),
            _ => t.skip(kind)?,
        }
        Some(())
    })?;
    Some((name, physical, repetition == OPTIONAL))
}

fn group(t: &mut Thrift<'_>, kind: Kind) -> Option<Group> {
    let mut out = Group { rows: -1, chunks: Vec::new() };
    t.fields(kind, &mut |t, id, kind| match id {
        1 => t.list(kind, &mut |t, kind| {
            let mut chunk = None;
            t.fields(kind, &mut |t, id, kind| {
                match id {
                    // Columns in other files are not for us.
                    1 => return None,
                    3 => chunk = Some(chunk_at(t, kind)?),
                    _ => t.skip(kind)?,
                }
                Some(())
            })?;
            out.chunks.push(chunk?);
            Some(())
        }),
        3 => {
            out.rows = t.int(kind)?;
            Some(())
        }
        _ => t.skip(kind),
    })?;
    Some(out)
}

fn chunk_at(t: &mut Thrift<'_>, kind: Kind) -> Option<ChunkAt> {
    let mut out =
        ChunkAt { first: -1, data: -1, compressed: -1, uncompressed: -1, values: -1, nulls: None, range: None };
    t.fields(kind, &mut |t, id, kind| {
        match id {
            5 => out.values = t.int(kind)?,
            6 => out.uncompressed = t.int(kind)?,
            7 => out.compressed = t.int(kind)?,
            9 => out.data = t.int(kind)?,
            11 => out.first = t.int(kind)?,
            12 => {
                let (mut least, mut greatest) = (None, None);
                t.fields(kind, &mut |t, id, kind| {
                    match id {
                        3 => out.nulls = Some(t.int(kind)?),
                        5 => greatest = Some(t.bytes(kind)?.to_vec()),
                        6 => least = Some(t.bytes(kind)?.to_vec()),
                        _ => t.skip(kind)?,
                    }
                    Some(())
                })?;
                out.range = least.zip(greatest);
            }
            _ => t.skip(kind)?,
        }
        Some(())
    })?;
    Some(out)
}

impl ChunkAt {
    /// As the library's writer wants it, with offsets from the chunk's beginning.
    pub(super) fn about(&self, column: Column, described: ColumnDescPtr) -> Result<ColumnChunkMetaData> {
        let mut out = super::encode::about(described)?
            .set_num_values(self.values)
            .set_total_compressed_size(self.compressed)
            .set_total_uncompressed_size(self.uncompressed)
            .set_data_page_offset(self.data - self.first);
        let nulls = self.nulls.map(i64::unsigned_abs);
        if let Some((least, greatest)) = &self.range {
            let number = |b: &[u8]| b.first_chunk().map(|b| i64::from_le_bytes(*b));
            let bytes = |b: &[u8]| Some(ByteArray::from(b.to_vec()));
            out = out.set_statistics(if column == Column::Time {
                Statistics::int64(number(least), number(greatest), None, nulls, false)
            } else {
                Statistics::byte_array(bytes(least), bytes(greatest), None, nulls, false)
            });
        }
        out.build()
    }
}
