//! Mutations that find parser bugs: cuts, flips, splices, repeats, and the tokens that formats trip over.

use linerate_logs::rng::Rng;

/// Small, seedable, good enough to pick mutations.
pub struct Random(Rng);

impl Random {
    /// One sequence for each seed.
    pub fn new(seed: u64) -> Self {
        Random(Rng::new(seed))
    }

    /// The next number.
    #[allow(clippy::should_implement_trait)] // it never ends, so it is no iterator
    pub fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// Below `n`; 0 for an empty range.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }
}

const TOKENS: &[&[u8]] = &[
    b"\0",
    b"\xff\xff\xff\xff",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\"",
    b"-",
    b"0x",
    b"4294967296",
    b"18446744073709551615",
    b"-1",
    b"../",
    b"/",
    b":",
    b"=",
    b",",
    b"[",
    b"]",
    b"(",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x1b[31m",
    b"<!DOCTYPE",
    b"&#x41;",
    b"N/A",
    b"%s",
    b"0000:00:00.0",
    b"ffff:ff:1f.7",
    b"Capabilities:",
    b"<access denied>",
    b"\xc3",
    b"\xe2\x80\xae",
    b"\xcd\x8f",
    b"\xef\xb8\x8f",
    b"1e999",
    b"{",
    b"}",
    b"nan",
];

/// A mutant of one of the seeds, of at most 1 MiB.
pub fn mutate(r: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let seed = seeds.get(r.below(seeds.len())).cloned().unwrap_or_default();
    change(r, seed, seeds)
}

/// A mutant of an input, with pieces of the seeds in it, of at most 1 MiB.
pub fn change(r: &mut Random, mut v: Vec<u8>, seeds: &[Vec<u8>]) -> Vec<u8> {
    for _ in 0..=r.below(6) {
        let at = r.below(v.len() + 1);
        match r.below(9) {
            0 => v.truncate(at),
            1 if !v.is_empty() => {
                let i = r.below(v.len());
                v[i] ^= 1 << r.below(8);
            }
            2 if !v.is_empty() => {
                let i = r.below(v.len());
                v[i] = r.next() as u8;
            }
            3 => {
                let token = TOKENS[r.below(TOKENS.len())];
                v.splice(at..at, token.iter().copied());
            }
            4 => {
                let end = (at + r.below(64)).min(v.len());
                v.drain(at..end);
            }
            5 => {
                let end = (at + r.below(200)).min(v.len());
                let piece = v[at..end].to_vec();
                let times = r.below(40);
                let again = piece.repeat(times);
                v.splice(end..end, again);
            }
            6 => {
                let other = seeds.get(r.below(seeds.len())).map_or(&[][..], Vec::as_slice);
                let from = r.below(other.len() + 1);
                let to = (from + r.below(400)).min(other.len());
                v.splice(at..at, other[from..to].iter().copied());
            }
            7 => {
                // A whole line gone, doubled or moved: what pasting does to texts.
                let mut lines: Vec<&[u8]> = v.split(|b| *b == b'\n').collect();
                let (a, b) = (r.below(lines.len()), r.below(lines.len()));
                lines.swap(a, b);
                v = lines.join(&b'\n');
            }
            _ => {
                let end = (at + 1 + r.below(8)).min(v.len());
                v[at..end].iter_mut().for_each(|b| *b = if r.next() & 1 == 0 { 0xff } else { 0 });
            }
        }
        v.truncate(1 << 20);
    }
    v
}
