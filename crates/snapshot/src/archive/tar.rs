//! Headers of tar: ustar, GNU (long names, sparse files), PAX. Nothing here trusts a byte.

const BLOCK: usize = 512;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Dir,
    Link,
    HardLink,
    /// The long name of the next entry.
    LongName,
    /// The long link target of the next entry.
    LongLink,
    /// Attributes of the next entry.
    Pax,
    /// Attributes of all.
    PaxGlobal,
    /// GNU's old sparse format.
    Sparse,
    /// Devices, FIFOs, others.
    Other,
}

/// One header.
#[derive(Debug, Clone)]
pub(super) struct Header<'a> {
    pub(super) kind: Kind,
    pub(super) size: u64,
    pub(super) prefix: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) link: &'a [u8],
}

/// Why a block is not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// A block of zeros: the end.
    Zero,
    /// The checksum is wrong: this is not a tar, or a damaged one.
    Checksum,
    /// A size that is no number.
    Size,
}

pub(super) fn header(block: &[u8; BLOCK]) -> Result<Header<'_>, Bad> {
    if block[0] == 0 && block.iter().all(|b| *b == 0) {
        return Err(Bad::Zero);
    }
    let stored = octal(&block[148..156]).ok_or(Bad::Checksum)?;
    // The sum of all bytes with the checksum itself as spaces. Old tars summed signed bytes.
    let all = sum(block);
    let own: u32 = block[148..156].iter().map(|b| u32::from(*b)).sum();
    let sum = u64::from(all - own + 8 * 32);
    if stored != sum {
        let signed: i64 =
            block.iter().enumerate().map(|(i, b)| if (148..156).contains(&i) { 32 } else { i64::from(*b as i8) }).sum();
        if i64::try_from(stored) != Ok(signed) {
            return Err(Bad::Checksum);
        }
    }
    let ustar = &block[257..263] == b"ustar\0";
    let kind = match block[156] {
        b'0' | b'7' | 0 => Kind::File,
        b'1' => Kind::HardLink,
        b'2' => Kind::Link,
        b'5' => Kind::Dir,
        b'L' => Kind::LongName,
        b'K' => Kind::LongLink,
        b'x' | b'X' => Kind::Pax,
        b'g' => Kind::PaxGlobal,
        b'S' => Kind::Sparse,
        _ => Kind::Other,
    };
    let size = number(&block[124..136]).ok_or(Bad::Size)?;
    // Links have no content, though some writers give the size of the target.
    let size = if matches!(kind, Kind::Link | Kind::HardLink | Kind::Dir) { 0 } else { size };
    Ok(Header {
        kind,
        size,
        prefix: if ustar { until_nul(&block[345..500]) } else { b"" },
        name: until_nul(&block[..100]),
        link: until_nul(&block[157..257]),
    })
}

/// Sum of all bytes, eight at a time: every header of every archive passes here.
fn sum(block: &[u8; BLOCK]) -> u32 {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    // 64 words, two bytes of each into every 16-bit lane: at most 64 × 2 × 255 < 65536.
    let lanes = block.chunks_exact(8).filter_map(|c| <[u8; 8]>::try_from(c).ok()).fold(0_u64, |n, c| {
        let word = u64::from_le_bytes(c);
        n + (word & EVEN) + (word >> 8 & EVEN)
    });
    (0..4).map(|i| (lanes >> (16 * i)) as u32 & 0xffff).sum()
}

pub(super) fn until_nul(b: &[u8]) -> &[u8] {
    b.split(|b| *b == 0).next().unwrap_or_default()
}

fn octal(field: &[u8]) -> Option<u64> {
    let mut n = 0_u64;
    let mut digits = false;
    for b in field {
        match b {
            b' ' | 0 if !digits => {}
            b' ' | 0 => return Some(n),
            b'0'..=b'7' => {
                digits = true;
                n = n.checked_mul(8)?.checked_add(u64::from(b - b'0'))?;
            }
            _ => return None,
        }
    }
    Some(n)
}

/// Octal, or GNU's base 256 for large ones. Negative numbers are refused.
fn number(field: &[u8]) -> Option<u64> {
    match field.first()? {
        0x80 => field.iter().skip(1).try_fold(0_u64, |n, b| n.checked_mul(256)?.checked_add(u64::from(*b))),
        0xff => None,
        _ => octal(field),
    }
}

/// The attributes of PAX that matter.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Pax {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    /// A sparse file in one of PAX's ways, which is not unpacked.
    pub(super) sparse: bool,
}

/// Records: `LENGTH KEY=VALUE\n`. What is not well formed ends the list.
pub(super) fn pax(mut data: &[u8]) -> Pax {
    let mut out = Pax::default();
    while let Some((key, value, rest)) = pax_record(data) {
        match key {
            b"path" if !out.sparse => out.path = Some(value.to_vec()),
            b"GNU.sparse.name" => out.path = Some(value.to_vec()),
            b"linkpath" => out.link = Some(value.to_vec()),
            b"size" => out.size = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok()),
            k if k.starts_with(b"GNU.sparse.") => out.sparse = true,
            _ => {}
        }
        data = rest;
    }
    out
}

fn pax_record(data: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = data.iter().take(20).position(|b| *b == b' ')?;
    let len: usize = std::str::from_utf8(data.get(..space)?).ok()?.parse().ok()?;
    let record = data.get(space + 1..len)?.strip_suffix(b"\n")?;
    let eq = record.iter().position(|b| *b == b'=')?;
    Some((record.get(..eq)?, record.get(eq + 1..)?, data.get(len..)?))
}

/// Pieces of a sparse file: offset and length in the whole.
#[derive(Debug, Default)]
pub(super) struct Map {
    pub(super) pieces: Vec<(u64, u64)>,
    pub(super) real_size: u64,
    pub(super) more: bool,
}

/// The map in an old GNU sparse header.
pub(super) fn sparse(block: &[u8; BLOCK]) -> Option<Map> {
    let mut map = Map { pieces: Vec::new(), real_size: number(&block[483..495])?, more: block[482] != 0 };
    pieces(&block[386..482], &mut map.pieces)?;
    Some(map)
}

/// The map goes on in a block of its own.
pub(super) fn sparse_more(block: &[u8; BLOCK], map: &mut Map) -> Option<()> {
    map.more = block[504] != 0;
    pieces(&block[..504], &mut map.pieces)
}

fn pieces(area: &[u8], out: &mut Vec<(u64, u64)>) -> Option<()> {
    for piece in area.chunks_exact(24) {
        let (offset, len) = piece.split_at(12);
        if offset.first() == Some(&0) {
            break;
        }
        out.push((number(offset)?, number(len)?));
    }
    Some(())
}
