//! Columns of a row group as Parquet's pages, run by run: the library's own writer takes each value by itself.

use super::batch::{Cell, Entry};
use super::columns::{Column, described};
use super::hybrid::{Encoder, width};
use super::strings::Strings;
use bytes::Bytes;
use linerate_fleet::Said;
use linerate_formats::bounds;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ColumnChunkMetaDataBuilder};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::collections::HashMap;

/// A row group, encoded.
pub(super) struct Group {
    pub(super) columns: Vec<(Bytes, ColumnCloseResult)>,
    /// Snapshots in it.
    pub(super) snapshots: usize,
}

/// What a row group is made of.
pub(super) struct Rows<'b> {
    pub(super) strings: &'b Strings,
    /// Cells in their order, and how many snapshots have each.
    pub(super) runs: &'b [(Cell, u32)],
    pub(super) entries: &'b [Entry],
    /// For each row the snapshot.
    pub(super) holders: &'b [u32],
}

/// Zstd's level: more takes longer and saves little, as there are runs already.
const LEVEL: i32 = 1;
/// Bytes of a text that a group is skipped by.
const SHORT: usize = 128;

pub(super) fn encode(rows: &Rows<'_>) -> Result<Group> {
    let schema = described()?;
    let mut columns = Vec::with_capacity(Column::ALL.len());
    for (column, described) in Column::ALL.into_iter().zip(schema.columns()) {
        columns.push(chunk(column, described.clone(), rows)?);
    }
    Ok(Group { columns, snapshots: rows.entries.len() })
}

fn chunk(column: Column, described: ColumnDescPtr, rows: &Rows<'_>) -> Result<(Bytes, ColumnCloseResult)> {
    let text = |n: u32| rows.strings.get(n);
    match column {
        Column::Time => entries(described, rows, |e| micros(e.time)),
        Column::Node => entries(described, rows, |e| text(e.node)),
        Column::Label => entries(described, rows, |e| text(e.label)),
        Column::Class => entries(described, rows, |e| text(e.class)),
        Column::Snapshot => entries(described, rows, |e| text(e.snapshot)),
        Column::Subject => cells(described, rows, |c| Some(text(c.subject))),
        Column::Part => cells(described, rows, |c| Some(text(c.part))),
        Column::Fact => cells(described, rows, |c| Some(text(c.fact))),
        Column::Value => cells(described, rows, |c| c.value.map(text)),
        Column::State => cells(described, rows, |c| Some(c.state.name())),
        Column::Verdict => said(described, rows, |s| s.status.name()),
        Column::Severity => said(described, rows, |s| s.severity.name()),
        Column::Rule => said(described, rows, |s| s.rule),
    }
}

/// As Parquet has it. Seconds are below [`super::LATEST`].
fn micros(seconds: u64) -> i64 {
    (seconds * 1_000_000).cast_signed()
}

fn said(
    described: ColumnDescPtr,
    rows: &Rows<'_>,
    of: impl Fn(Said) -> &'static str,
) -> Result<(Bytes, ColumnCloseResult)> {
    cells(described, rows, |c| c.said.map(&of))
}

/// A column that is the same for all who have a cell.
fn cells<'b>(
    described: ColumnDescPtr,
    rows: &Rows<'b>,
    of: impl Fn(&'b Cell) -> Option<&'b str>,
) -> Result<(Bytes, ColumnCloseResult)> {
    let mut dictionary = Dictionary::default();
    let runs: Vec<(Option<u32>, u32)> =
        rows.runs.iter().map(|(cell, n)| (of(cell).map(|value| dictionary.number(value)), *n)).collect();
    let mut pages = Pages::new(width(dictionary.count), described.max_def_level() > 0);
    runs.iter().for_each(|(value, n)| pages.push(*value, *n));
    write(described, dictionary, pages)
}

/// A column that is the same for all rows of a snapshot.
fn entries<'b, V: Plain<'b>>(
    described: ColumnDescPtr,
    rows: &Rows<'b>,
    of: impl Fn(&'b Entry) -> V,
) -> Result<(Bytes, ColumnCloseResult)> {
    let mut dictionary = Dictionary::default();
    let numbers: Vec<u32> = rows.entries.iter().map(|e| dictionary.number(of(e))).collect();
    let mut pages = Pages::new(width(dictionary.count), false);
    for page in rows.holders.chunks(bounds::INDEX_PAGE_ROWS as usize) {
        pages.values.push_each(page.iter().map(|h| numbers.get(*h as usize).copied().unwrap_or(0)));
        pages.rows = page.len() as u32;
        pages.end();
    }
    write(described, dictionary, pages)
}

/// A value as a dictionary page has it.
trait Plain<'b>: Copy + Eq + Ord + std::hash::Hash {
    fn put(self, out: &mut Vec<u8>);
    /// Least and greatest, to skip a group by; `None`: too long to be of use.
    fn range(least: Self, greatest: Self, nulls: u64) -> Option<Statistics>;
}

impl<'b> Plain<'b> for &'b str {
    fn put(self, out: &mut Vec<u8>) {
        out.extend((self.len() as u32).to_le_bytes());
        out.extend(self.as_bytes());
    }

    fn range(least: Self, greatest: Self, nulls: u64) -> Option<Statistics> {
        let bytes = |v: &str| Some(ByteArray::from(v));
        let short = least.len().max(greatest.len()) <= SHORT;
        short.then(|| Statistics::byte_array(bytes(least), bytes(greatest), None, Some(nulls), false))
    }
}

impl Plain<'_> for i64 {
    fn put(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn range(least: Self, greatest: Self, nulls: u64) -> Option<Statistics> {
        Some(Statistics::int64(Some(least), Some(greatest), None, Some(nulls), false))
    }
}

/// The values of a column, each once.
struct Dictionary<V> {
    at: HashMap<V, u32>,
    plain: Vec<u8>,
    count: usize,
    range: Option<(V, V)>,
}

impl<V> Default for Dictionary<V> {
    fn default() -> Self {
        Dictionary { at: HashMap::new(), plain: Vec::new(), count: 0, range: None }
    }
}

impl<'b, V: Plain<'b>> Dictionary<V> {
    fn number(&mut self, value: V) -> u32 {
        let next = self.count as u32;
        let n = *self.at.entry(value).or_insert(next);
        if n == next {
            value.put(&mut self.plain);
            self.count += 1;
            let (least, greatest) = self.range.unwrap_or((value, value));
            self.range = Some((least.min(value), greatest.max(value)));
        }
        n
    }
}

/// The pages of a column.
struct Pages {
    width: u8,
    optional: bool,
    values: Encoder,
    levels: Encoder,
    rows: u32,
    nulls: u64,
    done: Vec<(Vec<u8>, u32)>,
}

impl Pages {
    fn new(width: u8, optional: bool) -> Self {
        Pages {
            width,
            optional,
            values: Encoder::new(width),
            levels: Encoder::new(1),
            rows: 0,
            nulls: 0,
            done: Vec::new(),
        }
    }

    fn push(&mut self, value: Option<u32>, mut times: u32) {
        while times > 0 {
            let n = times.min(bounds::INDEX_PAGE_ROWS - self.rows);
            if self.optional {
                self.levels.push(u32::from(value.is_some()), n);
            }
            match value {
                Some(value) => self.values.push(value, n),
                None => self.nulls += u64::from(n),
            }
            self.rows += n;
            times -= n;
            if self.rows == bounds::INDEX_PAGE_ROWS {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        if self.rows == 0 {
            return;
        }
        let mut page = Vec::new();
        if self.optional {
            let levels = self.levels.finish();
            page.extend((levels.len() as u32).to_le_bytes());
            page.extend(levels);
        }
        page.push(self.width);
        page.extend(self.values.finish());
        self.done.push((page, std::mem::take(&mut self.rows)));
    }
}

/// What the library is told of every chunk, with offsets from the chunk's beginning.
pub(super) fn about(described: ColumnDescPtr) -> Result<ColumnChunkMetaDataBuilder> {
    Ok(ColumnChunkMetaData::builder(described)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_dictionary_page_offset(Some(0)))
}

fn write<'b, V: Plain<'b>>(
    described: ColumnDescPtr,
    dictionary: Dictionary<V>,
    mut pages: Pages,
) -> Result<(Bytes, ColumnCloseResult)> {
    pages.end();
    let mut out = TrackedWrite::new(Vec::new());
    let mut writer = SerializedPageWriter::new(&mut out);
    let mut zstd = zstd::bulk::Compressor::new(LEVEL)?;
    let (mut compressed, mut plain) = (0, 0);
    let mut put = |page: Page, size: usize| -> Result<u64> {
        let spec = writer.write_page(CompressedPage::new(page, size))?;
        compressed += spec.compressed_size;
        plain += spec.uncompressed_size;
        Ok(spec.bytes_written)
    };
    let page = Page::DictionaryPage {
        buf: zstd.compress(&dictionary.plain)?.into(),
        num_values: dictionary.count as u32,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    };
    let first = put(page, dictionary.plain.len())?;
    let mut rows = 0;
    for (bytes, n) in &pages.done {
        let page = Page::DataPage {
            buf: zstd.compress(bytes)?.into(),
            num_values: *n,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        put(page, bytes.len())?;
        rows += u64::from(*n);
    }
    let whole = i64::try_from(rows).map_err(|e| ParquetError::General(e.to_string()))?;
    let mut metadata = about(described)?
        .set_num_values(whole)
        .set_total_compressed_size(compressed as i64)
        .set_total_uncompressed_size(plain as i64)
        .set_data_page_offset(first.cast_signed());
    let range = dictionary.range.and_then(|(least, greatest)| V::range(least, greatest, pages.nulls));
    if let Some(range) = range {
        metadata = metadata.set_statistics(range);
    }
    let close = ColumnCloseResult {
        bytes_written: compressed as u64,
        rows_written: rows,
        metadata: metadata.build()?,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((out.into_inner()?.into(), close))
}
