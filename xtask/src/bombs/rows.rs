//! Texts by their rows, and how they are written: `rows.toml`.

use super::random::Random;
use serde::Deserialize;

/// A text of any length.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rows {
    pub(super) name: String,
    pub(super) file: String,
    #[serde(default)]
    pub(super) head: String,
    pub(super) row: String,
    #[serde(default)]
    end: String,
}

#[derive(Deserialize)]
struct Table {
    rows: Vec<Rows>,
}

/// All of them.
pub(super) fn all() -> Result<Vec<Rows>, String> {
    toml::from_str(include_str!("rows.toml")).map(|t: Table| t.rows).map_err(|e| format!("rows.toml: {e}"))
}

/// The text, of so many bytes or a little more.
pub(super) fn text(of: &Rows, bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut out = String::with_capacity(bytes + 512);
    out.push_str(&of.head);
    let mut n = 1_u64;
    while out.len() < bytes {
        row(&mut out, &of.row, n, random.next() % 1_000_000_007);
        n += 1;
    }
    out.push_str(&of.end);
    out.into_bytes()
}

fn row(out: &mut String, row: &str, n: u64, r: u64) {
    use std::fmt::Write as _;
    let mut rest = row;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let made = [("{}", 0), ("{r}", 1), ("{x}", 2), ("{x2}", 3), ("{x4}", 4), ("{x8}", 5)]
            .into_iter()
            .find_map(|(sign, kind)| from.strip_prefix(sign).map(|after| (kind, after)));
        let Some((kind, after)) = made else {
            out.push('{');
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        // A string takes what it is given.
        let _ = match kind {
            0 => write!(out, "{n}"),
            1 => write!(out, "{r}"),
            2 => write!(out, "{n:x}"),
            3 => write!(out, "{:02x}", n % 256),
            4 => write!(out, "{:04x}", n / 256 % 65536),
            _ => write!(out, "{n:08x}"),
        };
        rest = after;
    }
    out.push_str(rest);
}
