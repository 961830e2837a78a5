//! Pages of a column chunk, unpacked within bounds.

use super::hybrid;
use super::thrift::{Kind, Thrift};
use linerate_formats::bounds;
use std::ops::Range;

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
    /// A page does not unpack.
    #[error("a page does not unpack: {0}")]
    Zstd(std::io::Error),
    /// It is not as linerate writes it.
    #[error("{0}")]
    Form(&'static str),
}

/// Numbers of encodings.
const PLAIN: i64 = 0;
const RLE_DICTIONARY: i64 = 8;
/// Numbers of kinds of pages.
const DATA: i64 = 0;
const DICTIONARY: i64 = 2;

/// A page as it stands.
struct PageAt<'b> {
    kind: i64,
    encoding: i64,
    values: u32,
    packed: &'b [u8],
}

/// The next page. Source of the numbers of fields: `parquet.thrift` of the format's specification.
fn next<'b>(bytes: &mut &'b [u8]) -> Option<PageAt<'b>> {
    let mut thrift = Thrift::new(bytes);
    let (mut kind, mut compressed, mut values, mut encoding) = (-1, -1, -1, -1);
    thrift.fields(Kind::Struct, &mut |t, id, field| {
        match id {
            1 => kind = t.int(field)?,
            3 => compressed = t.int(field)?,
            // The header of a page of rows, or of a dictionary.
            5 | 7 => t.fields(field, &mut |t, id, field| {
                match id {
                    1 => values = t.int(field)?,
                    2 => encoding = t.int(field)?,
                    _ => t.skip(field)?,
                }
                Some(())
            })?,
            _ => t.skip(field)?,
        }
        Some(())
    })?;
    let (packed, rest) = thrift.rest().split_at_checked(usize::try_from(compressed).ok()?)?;
    *bytes = rest;
    Some(PageAt { kind, encoding, values: u32::try_from(values).ok()?, packed })
}

/// A column chunk.
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    pub(super) optional: bool,
    /// Numbers of eight bytes, not texts.
    pub(super) numbers: bool,
}

impl Chunk {
    /// The values of the wanted rows, as numbers in the dictionary, run by run.
    pub(super) fn decode(
        &self,
        rows: u32,
        ranges: &Ranges,
        sink: impl FnMut(Option<u32>, u32),
    ) -> Result<Dictionary, BadPage> {
        let mut rest = self.bytes.as_slice();
        let mut zstd = zstd::bulk::Decompressor::new().map_err(BadPage::Zstd)?;
        let first = next(&mut rest).filter(|page| page.kind == DICTIONARY && page.encoding == PLAIN);
        let first = first.ok_or(BadPage::Form("a column begins without a dictionary"))?;
        let dictionary = dictionary(unpack(&mut zstd, first.packed)?, first.values, self.numbers)?;
        let count = dictionary.len() as u32;
        let mut clip = Clip { ranges: &ranges.0, at: 0, sink };
        let last = ranges.0.last().map_or(0, |r| r.end);
        while clip.at < last {
            let about = next(&mut rest).filter(|page| page.kind == DATA && page.encoding == RLE_DICTIONARY);
            let about = about.ok_or(BadPage::Form("a page is cut, or not encoded as linerate does"))?;
            let n = about.values;
            let end = clip
                .at
                .checked_add(n)
                .filter(|end| *end <= rows && n > 0)
                .ok_or(BadPage::Form("a page has another number of rows"))?;
            if !ranges.overlap(&(clip.at..end)) {
                clip.push(None, n);
                continue;
            }
            let body = unpack(&mut zstd, about.packed)?;
            page(&body, n, count, self.optional, &mut |v, n| clip.push(v, n))
                .ok_or(BadPage::Form("a page is cut, or names no value"))?;
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
