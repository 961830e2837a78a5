//! Tokens by their shape: beginnings that services give their keys, long hexadecimal numbers, long runs of mixed letters and digits.

use super::heads::Heads;
use std::sync::OnceLock;

/// Beginnings, and how many characters follow at least.
const BEGIN: &[(&[u8], usize)] = &[
    (b"AKIA", 16),
    (b"ASIA", 16),
    (b"AROA", 16),
    (b"nvapi-", 20),
    (b"ghp_", 30),
    (b"gho_", 30),
    (b"ghu_", 30),
    (b"ghs_", 30),
    (b"ghr_", 30),
    (b"github_pat_", 20),
    (b"glpat-", 20),
    (b"glrt-", 20),
    (b"hf_", 20),
    (b"sk-", 20),
    (b"sk_live_", 16),
    (b"sk_test_", 16),
    (b"rk_live_", 16),
    (b"xoxb-", 20),
    (b"xoxp-", 20),
    (b"xoxa-", 20),
    (b"xapp-", 20),
    (b"npm_", 30),
    (b"pypi-", 32),
    (b"AIza", 30),
    (b"ya29.", 20),
    (b"SG.", 30),
    (b"hvs.", 20),
    (b"hvb.", 20),
    (b"dckr_pat_", 20),
    (b"dop_v1_", 32),
    (b"tskey-", 16),
    (b"AGE-SECRET-KEY-", 20),
    (b"dapi", 32),
    (b"shpat_", 30),
    (b"r8_", 30),
    (b"gsk_", 30),
    (b"eyJ", 20),
    (b"grub.pbkdf2.", 20),
    (b"DHHC-1:", 16),
    (b"NVMeTLSkey-1:", 16),
];
/// Methods of `crypt(3)` and the like.
const CRYPT: &[&[u8]] =
    &[b"1", b"2a", b"2b", b"2y", b"5", b"6", b"7", b"y", b"gy", b"argon2i", b"argon2d", b"argon2id", b"scrypt"];

/// Characters of a token, other than its first.
pub(super) fn is_char(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
}

static HEADS: Heads = {
    let (mut words, mut row) = ([b"" as &[u8]; BEGIN.len()], 0);
    while row < BEGIN.len() {
        words[row] = BEGIN[row].0;
        row += 1;
    }
    Heads::of(&words)
};

/// Where a token ends that begins here with a known word. `at` is not inside a word.
pub(super) fn begins(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let (head, min) = HEADS.of_text(rest).filter_map(|row| BEGIN.get(row)).find(|(p, _)| rest.starts_with(p))?;
    let colons = head.ends_with(b":");
    let len = rest.get(head.len()..)?.iter().take_while(|b| is_char(**b) || colons && **b == b':').count();
    (len >= *min).then_some(at + head.len() + len)
}

/// `$6$salt$hash`: where it ends.
pub(super) fn crypt(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at + 1..)?;
    let id = rest.iter().take(12).position(|b| *b == b'$')?;
    if !CRYPT.contains(&rest.get(..id)?) {
        return None;
    }
    let len = rest.iter().take_while(|b| is_char(**b) || matches!(b, b'$' | b',')).count();
    (len > id + 16).then_some(at + 1 + len)
}

/// What a run of letters and digits is made of.
#[derive(Default, Clone, Copy)]
struct Mix {
    upper: usize,
    lower: usize,
    digit: usize,
    hex: usize,
    changes: usize,
    len: usize,
}

impl Mix {
    fn of(run: &[u8]) -> Mix {
        let mut m = Mix::default();
        let mut last = 0;
        for b in run {
            let class = match b {
                b'0'..=b'9' => 1,
                b'a'..=b'z' => 2,
                _ => 3,
            };
            m.digit += usize::from(class == 1);
            m.lower += usize::from(class == 2);
            m.upper += usize::from(class == 3);
            m.hex += usize::from(b.is_ascii_hexdigit());
            m.changes += usize::from(last != 0 && last != class);
            last = class;
        }
        m.len = run.len();
        m
    }

    fn add(&mut self, m: Mix) {
        self.upper += m.upper;
        self.lower += m.lower;
        self.digit += m.digit;
        self.hex += m.hex;
        self.changes += m.changes;
        self.len += m.len;
    }

    /// Changes of the class of characters, in a hundred characters.
    fn change(&self) -> usize {
        self.changes * 100 / self.len.max(1)
    }
}

/// Different characters.
fn distinct(run: &[u8]) -> u32 {
    let mut seen = [0_u64; 4];
    for b in run {
        if let Some(s) = seen.get_mut(usize::from(b >> 6)) {
            *s |= 1 << (b & 63);
        }
    }
    seen.iter().map(|s| s.count_ones()).sum()
}

/// Pairs of letters that words are made of.
const PAIRS: &str = "th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa si ar ve ra ld ur ic co me io ro \
    ri li el la ne ce ch ll be ma ec om ct us un ut tr ta pr po pe no na mo mi mp lo il ia ho ge fo fi em ee di da cu ca bl ap am ag ad ac ab ss so sh rs rt \
    ry rm ol op os ot pa pl pu qu ue ul um up va vi wa we wi ns nc nk ni nv cc cl ck bu br by ev ex id if ig im ir iv ke ki ly lt ow oc cr do du ef ep ew ay";

/// Whether at least half of the pairs of letters are such as words have.
fn is_words(run: &[u8]) -> bool {
    static TABLE: OnceLock<[u32; 26]> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut t = [0_u32; 26];
        for pair in PAIRS.split_ascii_whitespace() {
            if let [a, b] = pair.as_bytes()
                && let Some(row) = t.get_mut(usize::from(a - b'a'))
            {
                *row |= 1 << (b - b'a');
            }
        }
        t
    });
    let (mut all, mut common) = (0_usize, 0_usize);
    for pair in run.windows(2) {
        let [a, b] = [pair.first(), pair.get(1)].map(|c| c.copied().unwrap_or_default().to_ascii_lowercase());
        if a.is_ascii_lowercase() && b.is_ascii_lowercase() {
            all += 1;
            let row = table.get(usize::from(a - b'a')).copied().unwrap_or_default();
            common += usize::from(row >> (b - b'a') & 1 == 1);
        }
    }
    all > 0 && common * 100 >= all * 54
}

/// Whether a run of letters and digits alone is a token.
pub(super) fn is_run(run: &[u8]) -> bool {
    if run.len() < 20 {
        return false;
    }
    let bare = run.strip_prefix(b"0x").or_else(|| run.strip_prefix(b"0X")).unwrap_or(run);
    let m = Mix::of(bare);
    if m.hex == m.len {
        return m.len >= 32 && m.digit > 2 && m.upper + m.lower > 2 && distinct(bare) >= 8;
    }
    if distinct(bare) < 10 {
        return false;
    }
    if m.upper > 1 && m.lower > 1 {
        // Names of functions change their case as often, and are made of words.
        let many = m.digit > 1 && m.change() >= 50;
        return many || (m.digit > 0 || m.len >= 32) && m.change() >= 26 && !is_words(bare);
    }
    m.len >= 24 && m.digit >= 3 && m.change() >= 16 && !is_words(bare)
}

/// Whether a UUID is in it, as that of a GPU is.
fn has_uuid(run: &[u8]) -> bool {
    let groups = [8, 4, 4, 4, 12];
    run.windows(36).any(|w| {
        let parts = || w.split(|b| *b == b'-');
        parts().count() == 5 && parts().zip(groups).all(|(p, n)| p.len() == n && p.iter().all(u8::is_ascii_hexdigit))
    })
}

/// What the parts of a run between other characters are made of, the length of the longest, and how many there are.
fn mix_of_parts(run: &[u8]) -> (Mix, usize, usize) {
    let (mut all, mut longest, mut parts) = (Mix::default(), 0, 0);
    for part in run.split(|b| !b.is_ascii_alphanumeric()).filter(|p| !p.is_empty()) {
        all.add(Mix::of(part));
        longest = longest.max(part.len());
        parts += 1;
    }
    (all, longest, parts)
}

/// Whether a run changes its class of characters as often as Base64 does: two thirds of the time. Names of files, of models and serial numbers among
/// them, do in less than a third.
pub(super) fn is_mixed(run: &[u8]) -> bool {
    mix_of_parts(run).0.change() >= 40
}

/// Whether a run that also has `+ / _ - =` is a token as a whole: `from..to` of its text.
pub(super) fn is_whole(run: &[u8]) -> bool {
    // Behind a slash that is not part of it.
    if run.len() < 31 || run.starts_with(b"/") || has_uuid(run) {
        return false;
    }
    let (all, longest, parts) = mix_of_parts(run);
    let mixed = all.upper > 2 && all.lower > 2 && all.digit > 0 && longest >= 8;
    mixed && parts * 5 <= all.len && all.change() >= 26 && !is_words(run)
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, begins, is_char, is_run, is_whole};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Row by row, as [`begins`] was before it looked at the first two bytes.
    fn one_by_one(text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        let (head, min) = BEGIN.iter().find(|(p, _)| rest.starts_with(p))?;
        let colons = head.ends_with(b":");
        let len = rest[head.len()..].iter().take_while(|b| is_char(**b) || colons && **b == b':').count();
        (len >= *min).then_some(at + head.len() + len)
    }

    proptest! {
        /// The first two bytes rule out what no word begins, and nothing else.
        #[test]
        fn heads_change_no_answer(pieces in vec((select(BEGIN), 0_usize..20, "[ a-zA-Z0-9:_-]{0,40}"), 1..4)) {
            let text: Vec<u8> = pieces
                .iter()
                .flat_map(|((word, _), len, behind)| [&word[..word.len().min(*len)], behind.as_bytes()].concat())
                .collect();
            for at in 0..=text.len() {
                prop_assert_eq!(begins(&text, at), one_by_one(&text, at));
            }
        }
    }

    #[test]
    fn names_and_numbers_are_no_tokens() {
        for s in [
            "0x0000380000000000",
            "00000000000000000000000000000000",
            "ffffffffffffffffffffffffffffffff",
            "18446744073709551615184467440737",
            "NVregEnablePCIeRelaxedOrderingMode",
            "ncclDevKernelAllReduceSumF32RingLL",
            "533BB7E5866E52F63B9ACCB",
            "infinibandverbsprovidersmlx5",
            "enp65s0f0np0",
            "cudaMemcpyAsyncHostToDevice2D",
            "NVregEnablePCIeGen3",
            "PeerMappingOverrideRMForceStaticBar1",
        ] {
            assert!(!is_run(s.as_bytes()), "{s}");
        }
        for s in [
            "usr/lib/x86_64-linux-gnu/libnccl-net",
            "NVIDIA-H100-80GB-HBM3-SXM5-Server-Module",
            "Mellanox_Technologies_MT2910_Family_ConnectX-7",
            "0a1b2c3d-0011-2233-4455-66778899aabb",
            "GPU-4e65de01-972e-93cf-b077-181a5378972a",
            "Standard_ND96isr_H100_v5-Standard_ND96isr",
        ] {
            assert!(!is_whole(s.as_bytes()), "{s}");
        }
    }

    /// How many of random tokens are seen: nearly all, whatever the seed.
    #[test]
    fn random_tokens_are_seen() {
        let (upper, lower, digit) = ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789");
        let alnum = [upper, lower, digit].concat();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut text = |alphabet: &str, len: usize| -> Vec<u8> {
            let all = alphabet.as_bytes();
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                all[(state >> 11) as usize % all.len()]
            };
            (0..len).map(|_| next()).collect()
        };
        for (what, alphabet, len, at_least) in [
            ("hex 32", "0123456789abcdef".to_owned(), 32, 990),
            ("hex 40", "0123456789abcdef".to_owned(), 40, 999),
            ("alnum 24", alnum.clone(), 24, 950),
            ("alnum 32", alnum.clone(), 32, 990),
            ("lower and digits 40", format!("{lower}{digit}"), 40, 985),
            ("base64url 40", format!("{alnum}-_"), 40, 970),
            ("base64 64", format!("{alnum}+/"), 64, 970),
            ("base64url 128", format!("{alnum}-_"), 128, 990),
            // 24, 32 and 64 bytes whose first six bits are set: nothing tells it from a path but what it is made of.
            ("/base64 31", format!("{alnum}+/"), 31, 900),
            ("/base64 42", format!("{alnum}+/"), 42, 960),
            ("/base64 85", format!("{alnum}+/"), 85, 970),
        ] {
            let first: &[u8] = if what.starts_with('/') { b"x /" } else { b"x " };
            let seen = (0..1000)
                .filter(|_| {
                    let mut t = [first.to_vec(), text(&alphabet, len), b" y".to_vec()].concat();
                    let before = t.clone();
                    super::super::net::remove(&mut t);
                    t != before
                })
                .count();
            assert!(seen >= at_least, "{what}: {seen} of 1000");
        }
    }
}
