//! Pages of a column chunk, unpacked within bounds.

use super::hybrid;
use bytes::Bytes;
use linerate_formats::bounds;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::SerializedPageReader;
use std::ops::Range;
use std::sync::Arc;

/// The values of a column, each once.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    at: Vec<Range<usize>>,
}

impl Dictionary {
    pub(super) fn len(&self) -> usize {
        self.at.len()
    }

    fn bytes(&self, n: u32) -> &[u8] {
        self.at.get(n as usize).and_then(|r| self.bytes.get(r.clone())).unwrap_or_default()
    }

    /// A text. All were found to be UTF-8.
    pub(super) fn text(&self, n: u32) -> &str {
        std::str::from_utf8(self.bytes(n)).unwrap_or_default()
    }

    /// A number.
    pub(super) fn number(&self, n: u32) -> i64 {
        self.bytes(n).first_chunk().map_or(0, |b| i64::from_le_bytes(*b))
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|n| self.text(n))
    }
}

/// Rows that are wanted, as ranges in their order.
#[derive(Debug, Clone)]
pub(super) struct Ranges(pub(super) Vec<Range<u32>>);

impl Ranges {
    fn overlap(&self, page: &Range<u32>) -> bool {
        let next = self.0.partition_point(|r| r.end <= page.start);
        self.0.get(next).is_some_and(|r| r.start < page.end)
    }
}

/// Passes on what of runs is in ranges.
struct Clip<'r, F> {
    ranges: &'r [Range<u32>],
    at: u32,
    sink: F,
}

impl<F: FnMut(Option<u32>, u32)> Clip<'_, F> {
    fn push(&mut self, value: Option<u32>, times: u32) {
        let end = self.at.saturating_add(times);
        while let Some(range) = self.ranges.first() {
            let (from, to) = (range.start.max(self.at), range.end.min(end));
            if from < to {
                (self.sink)(value, to - from);
            }
            if range.end > end {
                break;
            }
            self.ranges = self.ranges.get(1..).unwrap_or_default();
        }
        self.at = end;
    }
}

/// Why a column of an index is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadPage {
    /// The library says so.
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A page does not unpack.
    #[error("a page does not unpack: {0}")]
    Zstd(std::io::Error),
    /// It is not as linerate writes it.
    #[error("{0}")]
    Form(&'static str),
}

/// A column chunk: its bytes, with offsets from their beginning.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) about: ColumnChunkMetaData,
    pub(super) optional: bool,
    /// Numbers of eight bytes, not texts.
    pub(super) numbers: bool,
}

impl Chunk {
    /// The values of the wanted rows, as numbers in the dictionary, run by run.
    pub(super) fn decode(
        self,
        rows: u32,
        ranges: &Ranges,
        sink: impl FnMut(Option<u32>, u32),
    ) -> Result<Dictionary, BadPage> {
        // The library is built without codecs: it hands pages out as they are.
        let plain = self.about.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let mut pages = SerializedPageReader::new(Arc::new(self.bytes), &plain, rows as usize, None)?;
        let mut zstd = zstd::bulk::Decompressor::new().map_err(BadPage::Zstd)?;
        let Some(Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN, .. }) = pages.get_next_page()?
        else {
            return Err(BadPage::Form("a column begins without a dictionary"));
        };
        let dictionary = dictionary(unpack(&mut zstd, &buf)?, num_values, self.numbers)?;
        let count = dictionary.len() as u32;
        let mut clip = Clip { ranges: &ranges.0, at: 0, sink };
        let last = ranges.0.last().map_or(0, |r| r.end);
        while clip.at < last {
            let about = pages.peek_next_page()?.ok_or(BadPage::Form("pages end early"))?;
            let n = about
                .num_levels
                .and_then(|n| u32::try_from(n).ok())
                .ok_or(BadPage::Form("a page is of no known kind"))?;
            let end = clip
                .at
                .checked_add(n)
                .filter(|end| *end <= rows && n > 0)
                .ok_or(BadPage::Form("a page has another number of rows"))?;
            if !ranges.overlap(&(clip.at..end)) {
                pages.skip_next_page()?;
                clip.push(None, n);
                continue;
            }
            match pages.get_next_page()? {
                Some(Page::DataPage { buf, num_values, encoding: Encoding::RLE_DICTIONARY, .. }) if num_values == n => {
                    let body = unpack(&mut zstd, &buf)?;
                    page(&body, n, count, self.optional, &mut |v, n| clip.push(v, n))
                        .ok_or(BadPage::Form("a page is cut, or names no value"))?;
                }
                _ => return Err(BadPage::Form("a page is not encoded as linerate does")),
            }
            if clip.at != end {
                return Err(BadPage::Form("a page has another number of rows"));
            }
        }
        Ok(dictionary)
    }
}

fn page(body: &[u8], n: u32, count: u32, optional: bool, sink: &mut impl FnMut(Option<u32>, u32)) -> Option<()> {
    if !optional {
        let (width, packed) = body.split_first()?;
        let mut good = true;
        hybrid::decode(packed, *width, n, |value, times| {
            good &= value < count;
            sink(Some(value), times);
        })?;
        return good.then_some(());
    }
    let (size, rest) = body.split_first_chunk::<4>()?;
    let (levels, rest) = rest.split_at_checked(u32::from_le_bytes(*size) as usize)?;
    let (width, packed) = rest.split_first()?;
    let mut there: Vec<(bool, u32)> = Vec::new();
    hybrid::decode(levels, 1, n, |level, times| there.push((level == 1, times)))?;
    let known = there.iter().filter(|(there, _)| *there).map(|(_, n)| *n).sum();
    let mut values: Vec<(u32, u32)> = Vec::new();
    hybrid::decode(packed, *width, known, |value, times| values.push((value, times)))?;
    if values.iter().any(|(v, _)| *v >= count) {
        return None;
    }
    let mut values = values.into_iter();
    let mut value = (0, 0);
    for (there, mut times) in there {
        if !there {
            sink(None, times);
            continue;
        }
        while times > 0 {
            if value.1 == 0 {
                value = values.next()?;
            }
            let some = times.min(value.1);
            sink(Some(value.0), some);
            value.1 -= some;
            times -= some;
        }
    }
    Some(())
}

fn unpack(zstd: &mut zstd::bulk::Decompressor<'_>, packed: &[u8]) -> Result<Vec<u8>, BadPage> {
    let size = zstd::zstd_safe::get_frame_content_size(packed)
        .ok()
        .flatten()
        .ok_or(BadPage::Form("a page is not packed by zstd"))?;
    let size =
        usize::try_from(size).ok().filter(|s| *s <= bounds::INDEX_PAGE).ok_or(BadPage::Form("a page is too large"))?;
    zstd.decompress(packed, size).map_err(BadPage::Zstd)
}

fn dictionary(bytes: Vec<u8>, values: u32, numbers: bool) -> Result<Dictionary, BadPage> {
    let cut = || BadPage::Form("a dictionary is cut");
    let mut at = Vec::new();
    let mut from = 0_usize;
    for _ in 0..values {
        let to = if numbers {
            from.checked_add(8)
        } else {
            let size = bytes.get(from..).and_then(|b| b.first_chunk()).ok_or_else(cut)?;
            from += 4;
            from.checked_add(u32::from_le_bytes(*size) as usize)
        };
        let to = to.filter(|to| *to <= bytes.len()).ok_or_else(cut)?;
        let value = bytes.get(from..to).unwrap_or_default();
        if !numbers && std::str::from_utf8(value).is_err() {
            return Err(BadPage::Form("a text is not UTF-8"));
        }
        at.push(from..to);
        from = to;
    }
    Ok(Dictionary { bytes, at })
}
