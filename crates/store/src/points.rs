//! Points as bytes: columns, so that what repeats is kept once.
//!
//! ```text
//! version 1 · flags · n (u32) · body · CRC-32 of all before       integers and bits of floats little-endian
//! body, bytewise transposed columns, zstd where that makes it smaller:
//!   sizes:  nothing | one for all (8) | n × 8, with a bitmap of those that have one
//!   times:  nothing | n × 8, with a bitmap of those that have one
//!   values: n × 8
//!   valid:  nothing: all are | bitmap
//! ```
//! Floats keep their bits. What is read back may be damaged or hostile: every length is checked against n, n against [`PART`], and the
//! checksum tells the rest, so that a damaged value is never taken for a measured one.

use linerate_bench::{Point, Points};

/// Points in one part at most. It bounds what a hostile file can make a reader allocate (about 2 MiB), and what an export holds.
pub(crate) const PART: usize = 1 << 16;

const VERSION: u8 = 1;
const SIZES: u8 = 1;
const ONE_SIZE: u8 = 1 << 1;
const SOME_SIZES: u8 = 1 << 2;
const TIMES: u8 = 1 << 3;
const SOME_TIMES: u8 = 1 << 4;
const SOME_VALID: u8 = 1 << 5;
const ZSTD: u8 = 1 << 6;
const HEAD: usize = 6;
/// Bytes below which zstd costs more time than it saves space: sweeps over sizes stay as they are.
const WORTH_PACKING: usize = 2048;

/// At most [`PART`] points as bytes.
pub(crate) fn encode(points: &[Point]) -> Vec<u8> {
    let mut flags = 0;
    let mut body = Vec::with_capacity(points.len() * 24 + 8);
    if let Some(first) = points.iter().find_map(|p| p.size) {
        flags |= SIZES;
        if points.iter().all(|p| p.size == Some(first)) {
            flags |= ONE_SIZE;
            body.extend(first.to_le_bytes());
        } else {
            column(&mut body, points, |p| p.size.unwrap_or(0));
            flags |= some(&mut body, points, SOME_SIZES, |p| p.size.is_some());
        }
    }
    if points.iter().any(|p| p.at.is_some()) {
        flags |= TIMES;
        column(&mut body, points, |p| p.at.unwrap_or(0.0).to_bits());
        flags |= some(&mut body, points, SOME_TIMES, |p| p.at.is_some());
    }
    column(&mut body, points, |p| p.value.to_bits());
    flags |= some(&mut body, points, SOME_VALID, |p| p.valid);
    if body.len() >= WORTH_PACKING {
        // A failure of the compressor is not an error: then the bytes stay as they are.
        if let Some(packed) = zstd::bulk::compress(&body, 1).ok().filter(|p| p.len() < body.len()) {
            flags |= ZSTD;
            body = packed;
        }
    }
    let n = u32::try_from(points.len()).unwrap_or(u32::MAX);
    let mut out = Vec::with_capacity(body.len() + HEAD + 4);
    out.extend([VERSION, flags]);
    out.extend(n.to_le_bytes());
    out.extend(body);
    out.extend(crc32fast::hash(&out).to_le_bytes());
    out
}

/// The lowest bytes of all values, then the next: neighbours in a series differ in few of them.
fn column(body: &mut Vec<u8>, points: &[Point], value: impl Fn(&Point) -> u64) {
    let values: Vec<[u8; 8]> = points.iter().map(|p| value(p).to_le_bytes()).collect();
    for byte in 0..8 {
        body.extend(values.iter().map(|v| v[byte]));
    }
}

/// The values of a column; none where there is no column.
fn values(column: &[u8], n: usize) -> Vec<u64> {
    let mut out = vec![0; if column.is_empty() { 0 } else { n }];
    for (byte, bytes) in column.chunks_exact(n.max(1)).enumerate() {
        out.iter_mut().zip(bytes).for_each(|(v, b)| *v |= u64::from(*b) << (8 * byte));
    }
    out
}

/// A bitmap where not all are set, and its flag.
fn some(body: &mut Vec<u8>, points: &[Point], flag: u8, set: impl Fn(&Point) -> bool) -> u8 {
    if points.iter().all(&set) {
        return 0;
    }
    body.extend(points.chunks(8).map(|eight| eight.iter().rev().fold(0, |bits, p| bits << 1 | u8::from(set(p)))));
    flag
}

/// Appends the points of one part.
///
/// # Errors
/// In words, what is wrong with the bytes; then nothing was appended.
pub(crate) fn decode(bytes: &[u8], out: &mut Points) -> Result<(), &'static str> {
    let (content, sum) = bytes.split_last_chunk::<4>().ok_or("points are cut")?;
    let (head, body) = content.split_at_checked(HEAD).ok_or("points are cut")?;
    let &[version, flags, a, b, c, d] = head else { return Err("points are cut") };
    if version != VERSION {
        return Err("points are in a form that this version does not know");
    }
    if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
        return Err("points do not match their checksum");
    }
    let n = u32::from_le_bytes([a, b, c, d]) as usize;
    if n > PART {
        return Err("more points in a part than there can be");
    }
    let has = |flag| flags & flag != 0;
    let bitmap = n.div_ceil(8);
    let optional = |present: bool, len: usize| if present { len } else { 0 };
    let sizes = if has(ONE_SIZE) { 8 } else { optional(has(SIZES), n * 8) };
    let lengths = [
        sizes,
        optional(has(SOME_SIZES), bitmap),
        optional(has(TIMES), n * 8),
        optional(has(SOME_TIMES), bitmap),
        n * 8,
        optional(has(SOME_VALID), bitmap),
    ];
    let total = lengths.iter().sum::<usize>();
    let unpacked;
    let body = if has(ZSTD) {
        unpacked = zstd::bulk::decompress(body, total).map_err(|_| "points do not unpack")?;
        &unpacked[..]
    } else {
        body
    };
    if body.len() != total {
        return Err("points have another length than they say");
    }
    let mut rest = body;
    let [sizes, some_sizes, times, some_times, values, some_valid] = lengths.map(|len| {
        let (part, after) = rest.split_at_checked(len).unwrap_or_default();
        rest = after;
        part
    });
    let one = sizes.first_chunk::<8>().filter(|_| has(ONE_SIZE)).map(|b| u64::from_le_bytes(*b));
    let sizes = if has(ONE_SIZE) { &[] } else { sizes };
    let [sizes, times, values] = [sizes, times, values].map(|column| self::values(column, n));
    out.extend(values.iter().enumerate().map(|(i, value)| Point {
        size: one.or_else(|| sizes.get(i).copied().filter(|_| bit(some_sizes, i))),
        at: times.get(i).filter(|_| bit(some_times, i)).map(|b| f64::from_bits(*b)),
        value: f64::from_bits(*value),
        valid: bit(some_valid, i),
    }));
    Ok(())
}

/// The i-th bit; set where there is no bitmap.
fn bit(bitmap: &[u8], i: usize) -> bool {
    bitmap.is_empty() || bitmap.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Point> {
        (any::<Option<u64>>(), any::<Option<u64>>(), any::<u64>(), any::<bool>()).prop_map(
            |(size, at, value, valid)| Point { size, at: at.map(f64::from_bits), value: f64::from_bits(value), valid },
        )
    }

    /// NaNs are equal here, with their bits.
    fn bits(points: &[Point]) -> Vec<(Option<u64>, Option<u64>, u64, bool)> {
        points.iter().map(|p| (p.size, p.at.map(f64::to_bits), p.value.to_bits(), p.valid)).collect()
    }

    fn check(points: &[Point]) {
        let mut back = Points::default();
        decode(&encode(points), &mut back).unwrap();
        assert_eq!(bits(points), bits(&back.iter().collect::<Vec<_>>()));
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(points in prop::collection::vec(point(), 0..80)) {
            check(&points);
        }

        #[test]
        fn any_bytes_are_refused_or_read(mut bytes in prop::collection::vec(any::<u8>(), 0..400), sum: bool) {
            if sum && bytes.len() > 6 {
                bytes[0] = VERSION;
                bytes[3..6].fill(0);
                bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            }
            let mut out = Points::default();
            let fine = decode(&bytes, &mut out).is_ok();
            prop_assert!(fine || out.is_empty());
        }

        #[test]
        fn one_wrong_bit_is_noticed(points in prop::collection::vec(point(), 0..60), at: prop::sample::Index, bit in 0..8_u8) {
            let mut bytes = encode(&points);
            let i = at.index(bytes.len());
            bytes[i] ^= 1_u8 << bit;
            prop_assert!(decode(&bytes, &mut Points::default()).is_err());
        }
    }

    #[test]
    fn usual_series_come_back_and_are_small() {
        let series = |size: fn(u32) -> Option<u64>, at: fn(u32) -> Option<f64>| -> Vec<Point> {
            let value = |i| 390.0 + f64::from(i % 97) * 0.01;
            (0..PART as u32).map(|i| Point { size: size(i), at: at(i), value: value(i), valid: true }).collect()
        };
        for points in [series(|_| None, |i| Some(f64::from(i))), series(|i| Some(u64::from(i)), |_| None)] {
            check(&points);
            assert!(encode(&points).len() < points.len() * 6, "{}", encode(&points).len());
        }
        check(&series(|_| Some(8 << 20), |_| None));
        check(&series(|i| (i % 3 == 0).then_some(8), |i| (i % 2 == 0).then_some(1.5)));
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let mut bytes = vec![VERSION, ZSTD, 1, 0, 0, 0];
        bytes.extend(zstd::bulk::compress(&vec![0; 64 << 20], 1).unwrap());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        assert_eq!(decode(&bytes, &mut Points::default()), Err("points do not unpack"));
        let mut bytes = vec![VERSION, 0, 255, 255, 255, 255];
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        assert_eq!(decode(&bytes, &mut Points::default()), Err("more points in a part than there can be"));
    }
}
